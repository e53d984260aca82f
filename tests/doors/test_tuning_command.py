"""The command tuning, as a person types it."""

from __future__ import annotations

import pytest

from firsthand import Memory, TuningDecision, tuning_of
from firsthand.event import IdMaker
from recalls_made import THINGS, ask, at, tell

FORM = "which port does {thing} have?"


@pytest.fixture
def asked(shell):
    """A shell whose store was asked for a few facts, one of which was found."""
    with Memory.open(shell.store, embedder="none") as memory:
        facts = tell(memory, THINGS[:4])
        ask(memory, facts[:3], FORM, shown=False, outcome="weak")
        ask(memory, facts[3:], FORM, shown=True, outcome="found", begin=5_000)
        memory.agent("shop").enrol("host:asked-5000-0")
    return shell


@pytest.fixture
def tuned(asked):
    """Such a shell with one decision on a value; and its id."""
    with Memory.open(asked.store, embedder="none") as memory:
        one = TuningDecision(IdMaker()(), "mmr_lambda", 0.8, 0.9, "better", "rule:review", figures={"gain": 0.25},
                             sources=(f"fh:{next(memory.events()).id}",))  # fmt: skip
        asked.decision = tuning_of(memory).keep([one])[0]
    return asked


def test_a_review_tells_what_became_of_recalls(asked):
    """Verdicts are counted, examples named by pointer and sign, and what was not done said; nothing is written."""
    before = asked("stats", "--json").json["events"]
    told = asked("tuning", "review")
    assert told.code == 0
    lines = told.text.splitlines()
    assert lines[0].startswith("7 recalls (7 unasked): 1 found, ")
    assert "3 missed" in lines[0]
    assert lines[1].startswith("nothing is tuned: too few questions of users whose answer is known")
    assert "which port does ledger have?" in told.text
    assert "the user said '41277' afterwards" in told.text
    assert asked("stats", "--json").json["events"] == before


def test_a_review_is_bounded_by_time_agent_and_seconds(asked):
    """Only recalls of the time and the agent are counted; as JSON every part is there."""
    told = asked(
        "tuning", "review", "--since", str(at(4_000)), "--until", str(at(9_000)), "--seconds", "30", "--json"
    ).json
    assert (told["recalls"], told["verdicts"]["found"], told["questions"]) == (1, 1, 4)
    assert set(told) == {
        "recalls", "unasked", "corrected", "verdicts", "patterns", "examples", "questions", "mined", "trials",
        "decisions", "left_out",
    }  # fmt: skip
    assert asked("tuning", "review", "--agent", "shop", "--keep", "--json").json["recalls"] == 1
    unknown = asked("tuning", "review", "--agent", "nobody")
    assert (unknown.code, "no agent 'nobody' has anything" in unknown.error) == (5, True)


def test_what_is_in_force_is_listed_and_shown(tuned):
    """List gives each decision and what is in force; show gives what was measured and what it rests on."""
    identity = tuned.decision.id
    listed = tuned("tuning")
    assert listed.text.split() == [
        str(tuned.decision.position), identity[-10:], "mmr_lambda", "0.8", "to", "0.9", "rule:review",
    ]  # fmt: skip
    assert listed.error.strip().endswith(f"mmr_lambda is 0.9 (default 0.8) by fh:{identity}")
    assert tuned("tuning", "--json").json["in_force"] == {"mmr_lambda": 0.9}
    shown = tuned("tuning", "show", identity[-8:]).text.splitlines()
    assert shown[:3] == [f"{identity}  mmr_lambda 0.8 to 0.9", "by rule:review: better", "gain: 0.25"]
    assert shown[3] == f"rests on {tuned.decision.sources[0]}"
    assert tuned("tuning", "show", identity, "--json").json["figures"] == {"gain": 0.25}


def test_a_decision_is_undone_and_the_past_stays_readable(tuned):
    """Undone it is in force no more and is marked; as of its position it still is; undone again it is refused."""
    identity, position = tuned.decision.id, tuned.decision.position
    assert tuned("tuning", "undo", identity, "--reason", "not here").code == 0
    assert tuned("tuning", "--json").json["in_force"] == {}
    assert "undone" in tuned("tuning").text.splitlines()[0]
    assert tuned("tuning", "show", identity).text.splitlines()[-1].startswith("undone by ")
    assert tuned("tuning", "--as-of", str(position), "--json").json["in_force"] == {"mmr_lambda": 0.9}
    assert tuned("tuning", "undo", identity).code == 1


def test_recall_and_doctor_say_what_is_tuned(tuned):
    """Explain names the value and the lambda that was used, JSON has it, doctor notes it."""
    text = tuned("recall", "port", "--explain").text
    assert "tuned on this store: mmr_lambda 0.9 (firsthand tuning)" in text
    assert "(lambda 0.9)" in text
    told = tuned("recall", "port", "--json").json
    assert (told["tuned"], told["lambda"]) == ({"mmr_lambda": 0.9}, 0.9)
    chosen = tuned("recall", "port", "--lambda", "0.7", "--json").json
    assert (chosen["tuned"], chosen["lambda"]) == ({"mmr_lambda": 0.9}, 0.7)
    findings = tuned("doctor", "--no-canary", "--json").json["findings"]
    notes = [one["what"] for one in findings if one["stage"] == "recall"]
    assert notes == [f"tuned: mmr_lambda is 0.9 (default 0.8) by fh:{tuned.decision.id}"]


def test_what_is_typed_wrong_is_said(asked):
    """A missing id, one too many and one that nothing has are refused with what to do."""
    assert asked("tuning").code == 1  # nothing was ever decided
    assert "takes the id of a decision behind it" in asked("tuning", "show").error
    assert "takes nothing behind it" in asked("tuning", "list", "5GZ8K2N7").error
    assert "expected the id of one decision" in asked("tuning", "undo", "5GZ8K2N7").error
