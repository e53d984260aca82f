"""Entries: one line each whatever their text, ids that follow from what they say, a lineage without circles."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand.event import Trust
from firsthand.ledger.entries import (
    Entry,
    Episode,
    Operation,
    Proposal,
    View,
    Written,
    applied,
    check_lineage,
    current,
    descendants,
    entry,
    settled,
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


def test_trust_is_that_of_the_least_trusted_source():
    """One source that a tool brought taints the entry."""
    known = {**KNOWN, "fh:2": replace(KNOWN["fh:2"], trust=Trust.UNTRUSTED)}
    assert entry(RULE, KNOWN, by="rules").trust is Trust.TRUSTED
    assert entry(RULE, known, by="rules").trust is Trust.UNTRUSTED


def test_descendants_are_found_at_any_depth():
    """What came of an entry, and of that, is found; its own ancestors are not."""
    first = entry(RULE, KNOWN, by="a")
    second = entry(RULE, KNOWN, by="b", parents=[first])
    third = entry(RULE, KNOWN, by="c", parents=[second])
    other = entry(RULE, KNOWN, by="d")
    assert descendants([first, second, third, other], first.id) == (second, third)
    assert descendants([first, second, third, other], second.id) == (third,)


def test_a_circle_in_a_lineage_is_refused():
    """An entry among its own ancestors is named; a parent that is not there is none of them."""
    circle = [Entry("a", "x", (), parents=("b",)), Entry("b", "x", (), parents=("c", "gone")),
              Entry("c", "x", (), parents=("a",))]  # fmt: skip
    with pytest.raises(InvalidArgument, match="comes of itself"):
        check_lineage(circle)
    with pytest.raises(InvalidArgument, match="comes of itself"):
        descendants(circle, "a")
    check_lineage(circle[:2])


def test_the_latest_answer_holds():
    """Of two episodes with one question, spelled differently, the later one holds."""
    later = Episode("fh:9", "birch", "Birch  level 1", "77", 9)
    assert current([later, *EPISODES])["birch level 1"] == later


def test_a_writing_becomes_operations_by_what_it_is_about():
    """Nothing of its scope: added; one: a new version; several: a merge; two for one: a split; the same: retained."""
    one = settled([RULE], [], View(), EPISODES, by="r").written[0]
    view = View((one,), tuple(EPISODES))
    new = Written("birch level N => 3 * N", ("fh:1",), "birch")
    other = replace(one, id="other", scope="")
    several = View((one, other))
    told = [
        settled([RULE], ["fh:1", "fh:77"], View(), EPISODES, by="r"),
        settled([RULE], [], view, EPISODES, by="r"),
        settled([new], [], view, EPISODES, by="r"),
        settled([new], [], several, EPISODES, by="r"),
        settled([new, replace(new, text="x")], [], view, EPISODES, by="r"),
        settled([new], [], view, EPISODES, by="r", writes="beside"),
        settled([replace(new, scope="else", sources=("fh:5",))], [], view, EPISODES, by="r", writes="anew"),
    ]
    assert [[(each.action, each.targets) for each in one.operations] for one in told] == [
        [("add", ()), ("delete", ("fh:1",))],
        [("retain", (one.id,))],
        [("merge", (one.id,))],
        [("merge", (one.id, "other"))],
        [("split", (one.id,)), ("split", (one.id,))],
        [("add", ())],
        [("add", ()), ("delete", (one.id,))],
    ]
    assert told[2].written[0].parents == (one.id,)


def test_a_proposal_without_a_gate_does_all_that_it_says():
    """An entry takes the place of its targets, and what is deleted is no longer shown but is not gone."""
    one = entry(RULE, KNOWN, by="r")
    two = entry(replace(RULE, text="x"), KNOWN, by="r", parents=[one])
    proposal = Proposal((Operation("merge", two, (one.id,)), Operation("delete", None, ("fh:1", "fh:4"))))
    view = applied(View((one,), tuple(EPISODES)), proposal, EPISODES)
    assert view == View((two,), tuple(EPISODES[each] for each in (1, 2, 4)), {"fh:1": two.id, "fh:4": ""})
