"""evals/reclaim/prevalence.py: conversations are found in many shapes, and labelled by what determines their values."""

from __future__ import annotations

import json
import zipfile

import pytest

from firsthand.errors import FormatError, InvalidArgument
from firsthand_evals.reclaim import prevalence
from firsthand_evals.reclaim.prevalence import COMPACT, DIFFUSE, GOLD, NONE

TOTAL, ADVICE, VERSE = (next(one for one, wanted in GOLD if wanted == label) for label in (COMPACT, DIFFUSE, NONE))


def messages(conversation):
    return [dict(one) for one in conversation]


def test_the_plain_conversations_are_labelled_right():
    """At least five of the six gold conversations get the label that they are an example of."""
    right = [prevalence.label(one) == wanted for one, wanted in GOLD]
    assert sum(right) >= prevalence.GOLD_RIGHT_MIN
    assert {wanted for _, wanted in GOLD} == set(prevalence.LABELS)


def test_shares_count_what_was_drawn(tmp_path):
    """A corpus is counted by label, with how many there were; the shares add up to what was drawn."""
    file = tmp_path / "mixed.jsonl"
    rows = [{"messages": messages(one)} for one in (TOTAL, TOTAL, TOTAL, ADVICE)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (whole,) = prevalence.prevalence({"mixed": file})
    assert (whole.found, whole.n, whole.compact.hits, whole.diffuse.hits, whole.none.hits) == (4, 4, 3, 1, 0)
    (part,) = prevalence.prevalence({"mixed": file}, n=2, seed=1)
    assert (part.found, part.n, part.compact.hits + part.diffuse.hits + part.none.hits) == (4, 2, 2)
    assert prevalence.prevalence({"mixed": file}, n=2, seed=1) == (part,)


LONG = "This is long enough to be a conversation that somebody could have had with somebody else."
SHAPES = [
    [{"role": "user", "content": LONG}],
    {"traj": [{"role": "user", "content": LONG}], "task": 1},
    {"name": {"log": [{"text": LONG}, {"text": "Yes."}]}},
    {"trajectory": [{"action": LONG, "observation": "ok"}]},
    {"turns": [[{"role": "user", "content": LONG}], [{"role": "user", "content": LONG}]]},
]


def test_conversations_are_found_in_the_shapes_of_public_sets(tmp_path):
    """Message lists, turns of two speakers and steps of an agent are found at any depth; short ones are passed over."""
    for place, shape in enumerate(SHAPES):
        (tmp_path / f"{place}.json").write_text(json.dumps(shape))
    (tmp_path / "short.json").write_text('[{"role": "user", "content": "hi"}]')
    (tmp_path / "other.txt").write_text("no")
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as packed:
        packed.writestr("in.json", json.dumps(SHAPES[0]))
    found = [[one["role"] for one in conversation] for conversation in prevalence.conversations(tmp_path)]
    user = ["user"]
    assert found == [user, user, ["user", "assistant"], ["assistant", "tool"], user, user, user]


def test_lines_of_json_are_read_in_a_zip_too_and_end_where_lines_end(tmp_path):
    """Each line is a conversation, packed or not; a line separator of Unicode inside a text ends none."""
    said = [{"role": "user", "content": f"{LONG}\u2028{LONG}"}]
    lines = "".join(json.dumps(said, ensure_ascii=False) + "\n" for _ in range(2))
    (tmp_path / "plain.jsonl").write_text(lines, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("in.jsonl", lines)
    assert list(prevalence.conversations(tmp_path / "plain.jsonl")) == [tuple(said)] * 2
    assert list(prevalence.conversations(tmp_path / "packed.zip")) == [tuple(said)] * 2


def test_what_is_too_much_is_refused_and_not_left_out(tmp_path, monkeypatch):
    """Too many files and a file that is too large, packed or not, are named: none is passed over in silence."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(SHAPES[0]))
    monkeypatch.setattr(prevalence, "FILES_MAX", 1)
    with pytest.raises(FormatError, match=r"has 2 files; at most 1 are read"):
        list(prevalence.conversations(tmp_path))
    monkeypatch.setattr(prevalence, "FILE_BYTES_MAX", 10)
    with pytest.raises(FormatError, match=r"a\.json is over"):
        list(prevalence.conversations(tmp_path / "a.json"))
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as packed:
        packed.writestr("in.json", json.dumps(SHAPES[0]))
    with pytest.raises(FormatError, match=r"z\.zip, in\.json is over"):
        list(prevalence.conversations(tmp_path / "z.zip"))


def test_a_label_looks_at_the_beginning_alone(tmp_path):
    """What stands behind the first 1,600 characters, or in instructions of a system, is not labelled."""
    far = [{"role": "user", "content": "x" * 2_000}, *messages(TOTAL)]
    told = [{"role": "system", "content": TOTAL[0]["content"]}, *messages(VERSE)]
    ruled = [{"role": "system", "content": "Be kind. " * 300}, *messages(TOTAL)]
    assert prevalence.label(prevalence._cut(tuple(ruled))) == COMPACT
    for place, one in enumerate((far, told)):
        (tmp_path / f"{place}.json").write_text(json.dumps(one))
    (share,) = prevalence.prevalence({"both": tmp_path})
    assert (share.n, share.none.hits) == (2, 2)


def test_what_cannot_be_labelled_is_refused(tmp_path, monkeypatch):
    """An empty corpus, a broken file, and a labeller that gets plain cases wrong are named."""
    empty = tmp_path / "empty.json"
    empty.write_text("{}")
    with pytest.raises(FormatError, match="no conversation"):
        prevalence.prevalence({"empty": empty})
    empty.write_text("{")
    with pytest.raises(FormatError, match="cannot be read as JSON"):
        prevalence.prevalence({"broken": empty})
    empty.write_text("[" * 100_000)
    with pytest.raises(FormatError, match="cannot be read as JSON"):
        prevalence.prevalence({"deep": empty})
    empty.write_text("[" * 200 + "]" * 200)
    with pytest.raises(FormatError, match="nests over 100 levels"):
        prevalence.prevalence({"nested": empty})
    with pytest.raises(InvalidArgument, match="from 1"):
        prevalence.prevalence({"none": empty}, n=0)
    monkeypatch.setattr(prevalence, "NEEDS_MAX", 0)
    with pytest.raises(InvalidArgument, match="gets 3 of 6 plain conversations right"):
        prevalence.prevalence({"none": empty})
