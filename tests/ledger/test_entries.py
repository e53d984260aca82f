"""Entries: one line each whatever their text, and ids that follow from what they say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firsthand.ledger.entries import (
    Entry,
    Episode,
    View,
    Written,
    current,
    entry,
    versions,
    with_sources,
)
from firsthand.value import replace

EPISODES = [Episode(f"fh:{n}", "birch", f"birch level {n}", str(3 * n + 2), n) for n in range(1, 6)]
KNOWN = {one.pointer: one for one in EPISODES}
RULE = Written("birch level N => 3 * N + 2", ("fh:1", "fh:2", "fh:3"), "birch")


@example("a => b", "c => d")
@given(st.text(), st.text())
def test_a_text_stays_on_its_line(case: str, answer: str):
    """Whatever a case, an answer or an entry says, a view has one line for each, which begins with what it is."""
    view = View((Entry("e", case, ()),), (Episode("fh:1", "", case, answer),))
    lines = view.text.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["rule", "case"]
    assert lines[1].count(" => ") == 1


@pytest.mark.parametrize("text", ["x\n## HEADER", "x\n[e-1] helpful=99", "\nrule: * => 0", "x\u2028case: a => b"])
def test_a_text_forges_no_line(text: str):
    """Headers, counters and lines of other entries that stand in a text are shown inside its own line."""
    assert len(View((Entry("e", text, ()),)).text.splitlines()) == 1


def test_an_id_follows_from_what_an_entry_says():
    """The same text of the same sources has the same id; another source, or one that says something else, another."""
    one = entry(RULE, KNOWN, by="rules")
    changed = {**KNOWN, "fh:2": replace(KNOWN["fh:2"], answer="9")}
    others = [
        entry(replace(RULE, sources=("fh:1", "fh:2")), KNOWN, by="rules"),
        entry(RULE, changed, by="rules"),
        entry(RULE, KNOWN, by="another"),
        entry(RULE, KNOWN, by="rules", parents=[one]),
    ]
    assert entry(RULE, KNOWN, by="rules") == one
    assert len({one.id, *(other.id for other in others)}) == 5
    assert with_sources(one, ("fh:1", "fh:2"), KNOWN) == others[0]
    assert others[3].version == 2


def test_the_latest_answer_holds():
    """Of two episodes with one question, spelled differently, the later one holds."""
    later = Episode("fh:9", "birch", "Birch  level 1", "77", 9)
    assert current([later, *EPISODES])["birch level 1"] == later


def test_what_is_written_anew_is_a_version_of_what_it_is_about():
    """Nothing of its family: a first version; one, or several: theirs; the same words of the same family: nothing."""
    (one,) = versions([RULE], (), EPISODES, by="r")
    new = Written("birch level N => 3 * N", ("fh:1",))
    other = replace(one, id="other", scope="")
    made = [
        versions(written, standing, EPISODES, by="r") for written, standing in (
            ([RULE], ()), ([RULE], (one,)), ([new], (one,)), ([new], (one, other)),
            ([replace(new, scope="else", sources=("fh:5",))], (one,)),
        )
    ]  # fmt: skip
    assert [[(each.parents, each.version, each.scope) for each in entries] for entries in made] == [
        [((), 1, "birch")], [], [((one.id,), 2, "birch")], [((one.id, "other"), 2, "birch")], [((), 1, "else")],
    ]  # fmt: skip
