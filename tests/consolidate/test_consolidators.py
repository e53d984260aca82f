"""Consolidators: what they write, what they may see, and what a model's reply must be."""

from __future__ import annotations

import json

import pytest
from consolidate_worlds import ODD, episodes

from firsthand.consolidate.baselines import FullRewrite
from firsthand.consolidate.consolidators import (
    ENTRIES_MAX,
    EPISODES_OF_ORIGIN_MAX,
    ByModel,
    Writing,
    none,
    propose,
    reply_of,
    rules_plus_exceptions,
    within_quota,
)
from firsthand.consolidate.entries import Entry, Episode, Proposal, View, Written
from firsthand.event import Trust
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
    assert propose(FullRewrite(), view, EPISODES).saw == ("earlier",)


def test_our_own_output_is_given_to_no_writer():
    """What Firsthand said or put before an agent is no case, though it says a rule's answers."""
    own = [replace(one, ours=True) for one in EPISODES]
    assert propose(rules_plus_exceptions, VIEW, own).written == ()


def test_no_origin_wins_by_number():
    """Of what one untrusted origin says of one scope the newest are given, in order; what the user says is given."""
    told = [Episode(f"fh:w{n}", "birch", f"birch level {n}", "1", n, "web", Trust.UNTRUSTED) for n in range(100)]
    kept = within_quota([*told[:50], *EPISODES, *told[50:]])
    assert kept == [*EPISODES, *told[-EPISODES_OF_ORIGIN_MAX:]]


def test_a_model_writes_what_it_is_asked_for():
    """A JSON list with texts and numbers of cases becomes entries of those cases, fenced as code or not."""
    told = [{"text": "birch level N => 3 * N + 2", "sources": [1, 4, 7], "scope": "birch"}]
    asked = []

    def complete(text: str) -> str:
        asked.append(text)
        return f"```json\n{json.dumps(told)}\n```"

    proposal = propose(ByModel(complete, "tiny"), VIEW, EPISODES)
    assert [(one.text, one.sources, one.created_by) for one in proposal.written] == [
        ("birch level N => 3 * N + 2", ("fh:1", "fh:4", "fh:7"), "model:tiny")
    ]
    assert asked[0].splitlines()[-1] == f"36. [double] {EPISODES[-1].line}"


@pytest.mark.parametrize(
    "reply",
    [
        "Sure! Here is the rule: birch level N => 3 * N + 2",
        "",
        "{}",
        '["birch level N => 3 * N + 2"]',
        '[{"text": "x", "sources": []}]',
        '[{"text": "x", "sources": [0]}]',
        '[{"text": "x", "sources": [37]}]',
        '[{"text": "x", "sources": [true]}]',
        '[{"text": "x", "sources": ["fh:1"]}]',
        '[{"text": 5, "sources": [1]}]',
        '[{"text": "x", "sources": [1], "scope": 7}]',
        "[" * 50_000,
    ],
)
def test_a_reply_that_is_not_as_asked_writes_nothing(reply: str):
    """Prose, another form, and numbers of no case are a fault that says what was expected; nothing is guessed."""
    writing = reply_of(reply, EPISODES)
    assert (writing.entries, writing.demoted) == ((), ())
    assert writing.fault.startswith("expected ")
    assert propose(ByModel(lambda _: reply, "tiny"), VIEW, EPISODES).fault == writing.fault


def test_a_flood_of_entries_is_a_fault():
    """More entries than one proposal may bring are refused as a whole."""

    class Floods:
        name, reads_derived, writes = "floods", False, "versions"

        def write(self, episodes: object, shown: object) -> Writing:
            return Writing(tuple(Written(str(n), ("fh:1",)) for n in range(ENTRIES_MAX + 1)))

    proposal = propose(Floods(), VIEW, EPISODES)
    assert proposal.operations == ()
    assert proposal.fault == "a proposal brings at most 200 entries; floods wrote 201"
