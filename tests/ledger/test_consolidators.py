"""Consolidators: what they write, and what they may see."""

from __future__ import annotations

from consolidate_worlds import ODD, episodes
from firsthand.event import Trust
from firsthand.ledger.consolidators import (
    ENTRIES_MAX,
    EPISODES_OF_ORIGIN_MAX,
    Writing,
    none,
    propose,
    rules_plus_exceptions,
    within_quota,
)
from firsthand.ledger.entries import Entry, Episode, Proposal, View, Written
from firsthand.value import replace

EPISODES = episodes()
VIEW = View((), tuple(EPISODES))


def test_by_default_nothing_is_written():
    """The default proposes nothing."""
    assert propose(none, VIEW, EPISODES) == Proposal((), "none")


def test_a_rule_stands_on_the_cases_that_it_gives():
    """Each family with a line has its rule; the cases that follow none are no source and stay shown."""
    proposal = propose(rules_plus_exceptions, VIEW, EPISODES)
    odd = {one.pointer for one in EPISODES if one.scope != "double" and int(one.case.split()[-1]) in ODD}
    assert [one.text for one in proposal.written] == [
        "birch level N => 3 * N + 2",
        "cedar level N => 5 * N + 7",
        "double level N => 2 * N",
    ]
    assert {name for one in proposal.written for name in one.sources} == {one.pointer for one in EPISODES} - odd
    assert set(proposal.operations[-1].targets) == {one.pointer for one in EPISODES} - odd


def test_earlier_entries_are_hidden_from_the_writer():
    """A consolidator that does not say that it reads entries is shown none; of one that does the gate is told."""
    seen = []

    class Looks:
        name, reads_derived, writes = "looks", False, "versions"

        def write(self, episodes: object, shown: View) -> Writing:
            seen.append(shown)
            return Writing()

    view = replace(VIEW, entries=(Entry("earlier", "x", ("fh:1",)),))
    propose(Looks(), view, EPISODES)
    assert seen == [VIEW]
    assert propose(rules_plus_exceptions, view, EPISODES).saw == ()
    Looks.reads_derived = True
    assert propose(Looks(), view, EPISODES).saw == ("earlier",)


def test_our_own_output_is_given_to_no_writer():
    """What Firsthand said or put before an agent is no case, though it says a rule's answers."""
    own = [replace(one, ours=True) for one in EPISODES]
    assert propose(rules_plus_exceptions, VIEW, own).written == ()


def test_no_origin_wins_by_number():
    """Of what one untrusted origin says of one scope the newest are given, in order; what the user says is given."""
    told = [Episode(f"fh:w{n}", "birch", f"birch level {n}", "1", n, "web", Trust.UNTRUSTED) for n in range(100)]
    kept = within_quota([*told[:50], *EPISODES, *told[50:]])
    assert kept == [*EPISODES, *told[-EPISODES_OF_ORIGIN_MAX:]]


def test_a_flood_of_entries_is_a_fault():
    """More entries than one proposal may bring are refused as a whole."""

    class Floods:
        name, reads_derived, writes = "floods", False, "versions"

        def write(self, episodes: object, shown: object) -> Writing:
            return Writing(tuple(Written(str(n), ("fh:1",)) for n in range(ENTRIES_MAX + 1)))

    proposal = propose(Floods(), VIEW, EPISODES)
    assert proposal.operations == ()
    assert [str(one) for one in proposal.faults] == [
        "too many: a proposal brings at most 200 entries; floods wrote 201"
    ]
