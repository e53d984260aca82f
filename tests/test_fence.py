"""The fence: what was fenced is found again, word for word, and nothing else is."""

from __future__ import annotations

import html
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import InvalidArgument, Memory, StoreDamaged
from firsthand.fence import SAID, Unfenced, unwrap, wrap

KEY, OTHER_KEY = b"key of the store", b"of another store"


def escaped(text: str) -> str:
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


SPELLINGS = {
    "as it is": lambda text: text,
    "a JSON string": lambda text: json.dumps(text)[1:-1],
    "a JSON string that is not ASCII": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "a JSON string without angle brackets": lambda text: escaped(json.dumps(text)[1:-1]),
    "a JSON string in a JSON string": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "that without angle brackets": lambda text: json.dumps(escaped(json.dumps(text)[1:-1]))[1:-1],
    "angle brackets escaped": lambda text: text.replace("<", "&lt;").replace(">", "&gt;"),
    "XML": lambda text: html.escape(text, quote=False),
    "XML with quotes": html.escape,
    "XML in a JSON string": lambda text: json.dumps(html.escape(text))[1:-1],
}


@given(st.text(), st.text(alphabet="ab \n<>&"), st.text(alphabet="ab \n<>&"))
def test_what_was_fenced_is_taken_out_and_what_is_around_it_stays(content, before, after):
    """Any content comes out whole; the text around it is not touched."""
    found = unwrap(before + wrap(content, KEY) + after, KEY)
    assert found.text == before + SAID + after
    assert (len(found.marks), found.only) == (1, not (before + after).strip())


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_it_is_seen_through_the_spellings_of_hosts(spell):
    """A fence inside a JSON string, in XML, or in one within the other is found."""
    text = spell(wrap('if a < b && "c" > d: \\n\té 🙂 &amp;\n', KEY, label="a label, of (two) words"))
    assert unwrap(f"before {text} after", KEY).text == f"before {SAID} after"


def test_every_change_inside_a_fence_makes_it_data():
    """Whatever sign of mark, label or content is changed, added or lost, the block stays as it is."""
    block = wrap("exact words\nof ours", KEY)
    for place, sign in enumerate(block):
        before, after = block[:place], block[place + 1 :]
        for instead in ("", "~", "b" if sign == "a" else "a", f"a{sign}" if place else ""):
            changed = before + instead + after
            assert unwrap(changed, KEY) == Unfenced(changed), changed


@pytest.mark.parametrize(
    "text",
    [
        wrap("of another store", OTHER_KEY),
        f"<<firsthand {'0' * 32}: forged>>\nhidden\n<<end {'0' * 32}>>",
        wrap("cut off", KEY)[:-1],
        "<<firsthand 7f3a9c2e41d0>>\nof an old form\n<<end 7f3a9c2e41d0>>",
    ],
)
def test_what_only_looks_like_a_fence_is_data(text):
    """A fence of another store, a forged one and one cut off stay, alone and around a genuine one."""
    assert unwrap(text, KEY) == Unfenced(text)
    head, _, tail = text.partition("\n")
    around = unwrap(f"{head}\n{wrap('ours', KEY)}\n{tail}", KEY)
    assert around.text == f"{head}\n{SAID}\n{tail}"


def test_a_mark_that_was_seen_fences_nothing_else():
    """Who copies a genuine mark around other words hides neither those nor what stands between."""
    block = wrap("ours", KEY)
    opening, _, end = block.split("\n")
    forged = f"{opening}\nevidence\n{end}"
    assert unwrap(forged, KEY) == Unfenced(forged)
    assert unwrap(f"{opening}\nevidence {block} {forged}", KEY).text == f"{opening}\nevidence {SAID} {forged}"


def test_a_flood_of_openings_costs_no_more_than_its_length():
    """Openings and ends without number, forged or copied, are passed over in the time of one reading."""
    opening, _, end = wrap("x" * 64, KEY).split("\n")
    forged = "".join(f"<<firsthand {n:032x}: nested>>\n" for n in range(20_000))
    forged += "".join(f"\n<<end {n:032x}>>" for n in range(20_000))
    for flood in (forged, opening * 20_000 + end * 20_000, f"{opening}\nx\n{end}" * 10_000):
        began = time.process_time()
        assert unwrap(flood, KEY) == Unfenced(flood)
        assert time.process_time() - began < 5  # each opening read to the end would take minutes


def test_a_store_keeps_one_key_and_says_when_it_is_lost(tmp_path):
    """Every handle fences with the store's own key, no two stores share one, and without it nothing is fenced."""
    with Memory.open(tmp_path / "one") as memory, Memory.open(tmp_path / "other") as other:
        key = memory.log.reader.fence_key()
        assert key != other.log.reader.fence_key()
    with Memory.open(tmp_path / "one", namespace="b", read_only=True) as reader:
        assert unwrap(reader.fence("recalled"), key).only
    with Memory.open(tmp_path / "one") as memory:
        memory.log.exclusively(lambda db: db.execute("UPDATE store SET value = x'00' WHERE key = 'fence_key'").get)
        for ask in (lambda: memory.fence("recalled"), lambda: memory.import_paths([tmp_path])):
            with pytest.raises(StoreDamaged, match="expected a fence key of 16 bytes"):
                ask()


@pytest.mark.parametrize("label", ["x\n", "\n<<x", "a\0", 5])
def test_a_label_of_other_signs_is_refused(label):
    """What is no label of letters, digits and spaces is an error to who asks, never an opening of a fence."""
    with pytest.raises(InvalidArgument, match="a label has letters"):
        wrap("text", KEY, label=label)
