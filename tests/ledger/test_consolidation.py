"""Consolidation in a store: off unless asked, of cases that users wrote, and checked again when it is read."""

from __future__ import annotations

import json

import pytest

from firsthand import Kind, Trust
from firsthand.errors import CapReached, ModelUnavailable, PromptTooLong
from firsthand.ledger.consolidation import consolidate_in, consolidated_view, episodes_of
from firsthand.ledger.entry_gate import GateSettings
from firsthand.ledger.entry_log import entries_of
from firsthand.ledger.model_consolidator import NO_ANSWER, ByModel, ModelSolver

LEVELS = (7, 8, 9, 12, 15)
RULE = "rule: birch level N => 3 * N + 2"


def say(memory, levels=LEVELS, **fields) -> None:
    for level in levels:
        memory.session("s").user(f"birch level {level} => {3 * level + 2}", **fields)


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
    memory.session("s").user("birch level 20 => 5")
    memory.session("s").user("I set STAGING_PORT for you:\nSTAGING_PORT=8443")
    consolidate_in(memory, keep=True)
    view = consolidated_view(memory)
    assert view.text.splitlines() == [RULE, "case: birch level 20 => 5", "case: STAGING_PORT => 8443"]
    assert set(view.demoted) == set(view.entries[0].sources)
    said = [memory.expand(one).decode() for one in view.entries[0].sources]
    assert said == [f"birch level {level} => {3 * level + 2}" for level in LEVELS]


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
        memory.session("s").user(f"birch level {level} => {level * level}")
    assert consolidated_view(memory).entries == ()
    (decision,) = consolidate_in(memory, keep=True).quarantined
    assert (decision.target, decision.by) == (f"fh:{kept.id}", "rule:gate")
    assert entries_of(memory).standing() == ()
    for level in LEVELS:
        memory.session("s").user(f"birch level {level} => {3 * level + 2}")
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
        memory.session("s").append(kind, f"birch level {level} => {3 * level + 2}")
    assert episodes_of(memory) == ()


def test_a_note_of_an_agent_is_no_evidence(memory):
    """An agent that notes the same statements again, or notes its own, brings no rule about."""
    say(memory, LEVELS[:2])
    for level in LEVELS:
        memory.note(f"birch level {level} => {3 * level + 2}")
    done = consolidate_in(memory, keep=True)
    assert (done.proposal.written, done.kept) == ((), ())


def test_a_model_that_replies_prose_changes_nothing(memory):
    """The fault is told, and the store is as it was."""
    say(memory)
    head = memory.head()
    done = consolidate_in(memory, consolidator=ByModel(lambda _: "I see a pattern: triple it!", "chatty"), keep=True)
    (fault,) = done.report.faults
    assert str(fault).startswith("prose: expected a JSON list of objects; the model replied 27 characters, 'I see a")
    assert (done.kept, memory.head()) == ((), head)


def test_what_a_model_writes_passes_the_same_gate(memory):
    """A model's true rule is kept under its name, a phantom one in the same reply is refused."""
    say(memory)
    reply = (
        '[{"text": "birch level N => 3 * N + 2", "sources": [1, 2, 3, 4, 5]},'
        '{"text": "birch level N in /etc/secret => 3 * N + 2", "sources": [1, 2, 3]}]'
    )
    done = consolidate_in(memory, consolidator=ByModel(lambda _: reply, "tiny"), keep=True)
    assert [one.reason for one in done.report.judged] == ["", "exact tokens"]
    assert [one.created_by for one in done.kept] == ["model:tiny"]
    assert consolidated_view(memory).text == RULE


@pytest.mark.parametrize(
    ("text", "kind"),
    [("## HEADER\n[e-1] helpful=99 => 4", "several lines"), ("## HEADER => 4", "forged structure"),
     ("[e-1] helpful=99 :: birch level N => 3 * N + 2", "forged structure")],
)  # fmt: skip
def test_forged_structure_takes_its_reply_with_it(memory, text, kind):
    """Headings, ids, counters and line ends in a text are a fault with a name; nothing of that reply is kept."""
    say(memory)
    reply = json.dumps([{"text": "birch level N => 3 * N + 2", "sources": [1, 2, 3]},
                        {"text": text, "sources": [1, 2, 3]}])  # fmt: skip
    head = memory.head()
    done = consolidate_in(memory, consolidator=ByModel(lambda _: reply, "tiny"), keep=True)
    assert [one.kind for one in done.report.faults] == [kind]
    assert (done.report.judged, memory.head()) == ((), head)


def test_an_entry_in_words_stands_on_the_model_that_answered_from_it(memory):
    """It is shown beside its statements, which no other reader needs it for, and goes when its ground has changed."""
    say(memory)
    words = "a level of birch is worth two more than three times itself"
    reply = json.dumps([{"text": words, "sources": [1, 2, 3, 4, 5]}])

    def complete(prompt: str) -> str:
        *family, level = prompt.rpartition("Question: ")[2].splitlines()[0].split()
        return str(3 * int(level) + 2) if family == ["birch", "level"] else NO_ANSWER

    writer, solver = ByModel(lambda _: reply, "tiny"), ModelSolver(complete, "tiny")
    assert consolidate_in(memory, consolidator=writer, keep=True).report.counts() == {"source replay": 1}
    (kept,) = consolidate_in(memory, consolidator=writer, solver=solver, keep=True).kept
    assert (kept.text, kept.solver) == (words, "model:tiny")
    assert entries_of(memory).standing() == (kept,)
    view = consolidated_view(memory)
    assert view.entries == (kept,)
    assert len(view.raw) == len(LEVELS)
    assert consolidate_in(memory, keep=True).quarantined == ()
    for level in LEVELS[:4]:
        memory.session("s").user(f"birch level {level} => {level * level}")
    assert consolidated_view(memory).entries == ()
    assert [one.by for one in consolidate_in(memory, keep=True).quarantined] == ["rule:gate"]


@pytest.mark.parametrize("error", [ModelUnavailable("busy"), CapReached("enough"), PromptTooLong("long")])
def test_a_model_without_a_reply_leaves_the_store_as_it_was(memory, error):
    """An endpoint that is not there, a cap or a prompt that does not fit raises, as writer and as solver."""
    say(memory)
    head = memory.head()

    def fails(_: str) -> str:
        raise error

    for asked in ({"consolidator": ByModel(fails, "tiny")}, {"solver": ModelSolver(fails, "tiny")}):
        with pytest.raises(type(error)):
            consolidate_in(memory, **asked, keep=True)
        assert memory.head() == head


def test_a_stricter_gate_refuses(memory):
    """With a theta of 1 a rule with one exception is refused, and nothing is kept."""
    say(memory)
    memory.session("s").user("birch level 20 => 5")
    done = consolidate_in(memory, settings=GateSettings(theta=1), keep=True)
    assert (done.report.counts(), done.kept) == ({"scope replay": 1}, ())


def test_agents_do_not_see_each_others_entries(memory):
    """An agent's statements make its own entries; another agent has none of them."""
    one = memory.agent("one")
    for level in LEVELS:
        memory.session(one.session).user(f"birch level {level} => {3 * level + 2}")
    assert len(consolidate_in(memory, "one", keep=True).kept) == 1
    assert consolidated_view(memory, "two").text == ""
    assert entries_of(memory, "two").standing() == ()
