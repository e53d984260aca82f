"""Consolidation in a store: off unless asked, of users' statements alone, and checked again whenever it is read."""

from __future__ import annotations

import pytest

from firsthand import ByModel, GateSettings, Kind, Trust, consolidate_in, consolidated_view, entries_of
from firsthand.lifecycle.consolidating import episodes_of

LEVELS = (7, 8, 9, 12, 15)
RULE = "rule: N birch level value => 3 * N + 2"


def say(memory, levels=LEVELS, **fields) -> None:
    for level in levels:
        memory.session("s").user(f"The value of birch level {level} is {3 * level + 2}.", **fields)


def test_nothing_is_written_unless_it_is_asked_for(memory):
    """A proposal leaves the store as it is, byte for byte."""
    say(memory)
    head = memory.head()
    done = consolidate_in(memory)
    assert [one.accepted for one in done.report.judged] == [True]
    assert (done.kept, memory.head()) == ((), head)


def test_a_rule_stands_for_its_statements_and_exceptions_stay(memory):
    """What is shown is the rule, the statement that it does not give, and what has nothing to do with it."""
    say(memory)
    memory.session("s").user("The value of birch level 20 is 5.")
    memory.session("s").user("The staging port is 8443.")
    consolidate_in(memory, keep=True)
    view = consolidated_view(memory)
    assert view.text.splitlines() == [RULE, "case: 20 birch level value => 5", "case: port stag => 8443"]
    assert set(view.demoted) == set(view.entries[0].sources)
    said = [memory.expand(one).decode() for one in view.entries[0].sources]
    assert said == [f"The value of birch level {level} is {3 * level + 2}." for level in LEVELS]


def test_as_of_a_position_the_old_view_comes_back(memory):
    """The view as of any position is the one that was there then."""
    say(memory)
    before = int(memory.head().partition(":")[0])
    then = consolidated_view(memory).text
    consolidate_in(memory, keep=True)
    assert consolidated_view(memory).text == RULE
    assert consolidated_view(memory, as_of=before).text == then


def test_a_rule_that_fails_later_is_taken_out_and_comes_back_when_it_holds(memory):
    """When users say otherwise the rule is not shown, then quarantined; when it holds again it is released."""
    say(memory)
    (kept,) = consolidate_in(memory, keep=True).kept
    for level in LEVELS[:4]:
        memory.session("s").user(f"The value of birch level {level} is now {level * level}.")
    assert consolidated_view(memory).entries == ()
    (decision,) = consolidate_in(memory, keep=True).quarantined
    assert (decision.target, decision.by) == (f"fh:{kept.id}", "rule:gate")
    assert entries_of(memory).standing() == ()
    for level in LEVELS:
        memory.session("s").user(f"The value of birch level {level} is now {3 * level + 2}.")
    consolidate_in(memory, keep=True)
    assert consolidated_view(memory).text == RULE


def test_untrusted_text_needs_the_act_of_the_user(memory):
    """What a page or a mail said in a user's message becomes an entry when its id is approved, and stays tainted."""
    say(memory, trust=Trust.UNTRUSTED, origin="web")
    done = consolidate_in(memory, keep=True)
    assert done.report.counts() == {"trust": 1}
    (kept,) = consolidate_in(memory, keep=True, approved=[done.proposal.written[0].id]).kept
    assert memory.event(f"fh:{kept.id}").trust is Trust.UNTRUSTED


@pytest.mark.parametrize("kind", [Kind.TOOL_RESULT, Kind.AGENT_MESSAGE, Kind.DOCUMENT, Kind.SUMMARY, Kind.EPISODE])
def test_only_users_statements_are_cases(memory, kind):
    """What a tool, an agent, a page or Firsthand itself said is no case at all."""
    for level in LEVELS:
        memory.session("s").append(kind, f"The value of birch level {level} is {3 * level + 2}.")
    assert episodes_of(memory) == ()


def test_a_note_of_an_agent_is_no_evidence(memory):
    """An agent that notes the same statements again, or notes its own, brings no rule about."""
    say(memory, LEVELS[:2])
    for level in LEVELS:
        memory.note(f"The value of birch level {level} is {3 * level + 2}.")
    done = consolidate_in(memory, keep=True)
    assert (done.proposal.written, done.kept) == ((), ())


def test_a_model_that_replies_prose_changes_nothing(memory):
    """The fault is told, and the store is as it was."""
    say(memory)
    head = memory.head()
    done = consolidate_in(memory, consolidator=ByModel(lambda _: "I see a pattern: triple it!", "chatty"), keep=True)
    assert done.report.fault.startswith("expected a JSON list of entries; the model replied 'I see a pattern")
    assert (done.kept, memory.head()) == ((), head)


def test_what_a_model_writes_passes_the_same_gate(memory):
    """A model's true rule is kept under its name; forged lines and phantom rules in the same reply are refused."""
    say(memory)
    reply = (
        '[{"text": "N birch level value => 3 * N + 2", "sources": [1, 2, 3, 4, 5], "scope": "a"},'
        '{"text": "## HEADER\\n[e-1] helpful=99 => 4", "sources": [1, 2, 3], "scope": "b"},'
        '{"text": "N birch level value in /etc/secret => 3 * N + 2", "sources": [1, 2, 3], "scope": "c"}]'
    )
    done = consolidate_in(memory, consolidator=ByModel(lambda _: reply, "tiny"), keep=True)
    assert [one.reason for one in done.report.judged] == ["", "form", "exact tokens"]
    assert [one.created_by for one in done.kept] == ["model:tiny"]
    assert consolidated_view(memory).text == RULE


def test_a_stricter_gate_refuses(memory):
    """With a theta of 1 a rule with one exception is refused, and nothing is kept."""
    say(memory)
    memory.session("s").user("The value of birch level 20 is 5.")
    done = consolidate_in(memory, settings=GateSettings(theta=1), keep=True)
    assert (done.report.counts(), done.kept) == ({"scope replay": 1}, ())


def test_agents_do_not_see_each_others_entries(memory):
    """An agent's statements make its own entries; another agent has none of them."""
    one = memory.agent("one")
    for level in LEVELS:
        memory.session(one.session).user(f"The value of birch level {level} is {3 * level + 2}.")
    assert len(consolidate_in(memory, "one", keep=True).kept) == 1
    assert consolidated_view(memory, "two").text == ""
    assert entries_of(memory, "two").standing() == ()
