"""The factors of a hit's score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.answer import Conditions
from firsthand.event import Kind
from firsthand.recall.factors import (
    CANDIDATES_MAX,
    NEUTRAL,
    NEWER,
    NEWER_CHANGED,
    NEWER_SETTING,
    NO_STRENGTHS,
    PARTS,
    STRENGTHS,
    Candidate,
    Factors,
    Strengths,
    Task,
    factors,
    kind_shown,
    phase,
    phases,
    premise,
    superseded,
    task_of,
    task_relevances,
)

WHOLE = Strengths(1.0, 1.0, 1.0, 1.0)


def stems(text: str) -> list[str]:
    return text.lower().split()


def said(position: int, text: str, **given) -> Candidate:
    given = {"kind": Kind.USER_MESSAGE, "session": "s", "agent": "", "pointer": f"fh:{position}", **given}
    return Candidate(position, terms=stems(text), text=text, **given)


TEXTS = st.sampled_from(
    [
        "the port is 80",
        "the port is now 81",
        "port = 82",
        "deploy failed",
        "why?",
        "we decided to ship",
        "",
        "ports " * 9,
    ]
)
CANDIDATES = st.lists(
    st.builds(
        said,
        st.integers(1, 99),
        TEXTS,
        kind=st.sampled_from(list(Kind)),
        session=st.sampled_from("st"),
        agent=st.sampled_from(["", "ann"]),
    ),
    max_size=30,
)
CONDITIONS = st.builds(
    Conditions,
    goal=st.sampled_from(["", "deploy the port"]),
    phase=st.sampled_from(["", "debugging", "plan and write", "sleep"]),
    premises=st.sampled_from([(), ("the port is 80",)]),
    key_events=st.sampled_from([(), ("fh:1", "fh:2")]),
)


@given(CANDIDATES, CONDITIONS)
def test_every_factor_is_bounded(candidates, conditions):
    """Each factor is in [0, 1], and none makes a score greater or hides an event."""
    task = task_of(conditions, stems, ["port"])
    for strengths in (STRENGTHS, WHOLE):
        for one in factors(candidates, task, ["port"], strengths):
            parts = one.parts(0.5)
            assert tuple(parts) == PARTS
            assert all(0.0 <= part <= 1.0 for part in parts.values())
            assert 0.0 <= one.total(0.5) <= 0.5
            assert strengths is WHOLE or one.total(0.5) > 0.0


@given(CANDIDATES)
def test_without_a_task_only_what_is_superseded_counts(candidates):
    """With no conditions, or empty ones, premise, phase and task relevance are 1."""
    for conditions in (None, Conditions()):
        task = task_of(conditions, stems, ["port"])
        for one in factors(candidates, task, ["port"], WHOLE):
            assert (one.premise, one.phase, one.task_relevance) == (1.0, 1.0, 1.0)
        assert factors(candidates, task, [], NO_STRENGTHS) == [NEUTRAL] * len(candidates)


@given(CANDIDATES, CONDITIONS)
def test_a_strength_only_scales(candidates, conditions):
    """A greater strength never raises a score, and 0 leaves it alone."""
    task = task_of(conditions, stems, ["port"])
    weak, strong = (factors(candidates, task, ["port"], one) for one in (Strengths(0.2, 0.2, 0.2, 0.2), WHOLE))
    assert all(a.total(1.0) >= b.total(1.0) for a, b in zip(weak, strong, strict=True))
    assert factors(candidates, task, ["port"], NO_STRENGTHS) == [NEUTRAL] * len(candidates)


def test_the_score_is_the_product():
    """The score is the base times the factors, as the paper has it."""
    one = Factors(0.5, 0.8, 0.25, 0.9)
    assert one.total(0.6) == pytest.approx(0.6 * 0.5 * 0.8 * 0.75 * 0.9)
    assert one.parts(0.6) == {"base": 0.6, "premise": 0.5, "phase": 0.8, "superseded": 0.25, "task_relevance": 0.9}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the database is PostgreSQL 16", 1.0),
        ("the database is MySQL 8", 0.0),
        ("the database is MySQL 8. No, the database is PostgreSQL", 1.0),  # of what it says the last stands
        ("the cache is Redis 7", 1.0),
        ("nothing of it", 1.0),
    ],
)
def test_premise(text, expected):
    """Another value for what the task takes as given speaks against a row; what is not related does not."""
    task = task_of(Conditions(premises=("the database is PostgreSQL 16",)), stems, [])
    assert premise(said(1, text), task) == expected


def test_phases_are_read_from_words():
    """A phase is known by the words that people use for it, several at once; what is unknown is none."""
    assert phases("Debugging the login") == ("debug",)
    assert phases("write the docs, then run the tests") == ("verify", "write")
    assert phases("sleeping") == phases("") == ()


@pytest.mark.parametrize(
    ("kind", "text", "meta", "expected"),
    [
        (Kind.TOOL_RESULT, "boom", {"is_error": True}, "failure"),
        (Kind.TOOL_RESULT, "ok", {}, "output"),
        (Kind.TOOL_CALL, "{}", {}, "change"),
        (Kind.AGENT_MESSAGE, "We decided to use Redis.", {}, "statement"),
        (Kind.USER_MESSAGE, "Where is the log file?", {}, "question"),
        (Kind.USER_MESSAGE, "The log file is gone.", {}, "statement"),
        (Kind.NOTE, "x", {}, "other"),
    ],
)
def test_what_a_row_shows(kind, text, meta, expected):
    """A row is a failure, an output, a change, a question, a statement, or other."""
    assert kind_shown(said(1, text, kind=kind, meta=meta)) == expected


def test_phase():
    """When debugging a failure serves more than a question, when writing less; of two phases the better one counts."""
    failure = said(1, "boom", kind=Kind.TOOL_RESULT, meta={"is_error": True})
    question = said(2, "Where is the log file?")
    assert phase(failure, Task(phases=("debug",))) == 1.0
    assert phase(question, Task(phases=("debug",))) < 1.0
    assert phase(failure, Task(phases=("write",))) < 1.0
    assert phase(failure, Task(phases=("write", "debug"))) == 1.0


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("the port is 80", "the port is 81", NEWER),
        ("port = 80", "port = 81", NEWER_SETTING),
        ("the port is 80", "the port is now 81", NEWER_CHANGED),
        ("the port is 80", "the port is 80", 0.0),
        ("the port is 80", "the proxy port is 81", 0.0),
        ("the port is 80", "what is the port now?", 0.0),
        ("the host is db-1", "the host is db-2", 0.0),  # not asked for
    ],
)
def test_superseded(older, newer, expected):
    """A newer value for what is asked takes the older one's place, the surer the plainer it says so."""
    assert superseded([said(1, older), said(2, newer)], ["port"]) == [expected, 0.0]
    assert superseded([said(2, newer), said(1, older)], ["port"]) == [0.0, expected]


def test_superseded_needs_one_voice():
    """Only the same session or the same agent takes back what it said."""
    new = "the port is now 81"
    assert superseded([said(1, "the port is 80"), said(2, new, session="t")], ["port"]) == [0.0, 0.0]
    both = [said(1, "the port is 80", agent="ann"), said(2, new, session="t", agent="ann")]
    assert superseded(both, ["port"]) == [NEWER_CHANGED, 0.0]


def test_the_arguments_of_a_call_are_no_facts():
    """A later call with another path supersedes no earlier one."""
    texts = ['{"path": "a.py"}', '{"path": "b.py"}']
    calls = [said(at, text, kind=Kind.TOOL_CALL) for at, text in enumerate(texts)]
    results = [said(at, text, kind=Kind.TOOL_RESULT) for at, text in enumerate(texts)]
    assert superseded(calls, ["path"]) == [0.0, 0.0]
    assert superseded(results, ["path"]) == [NEWER_SETTING, 0.0]


def test_what_is_said_again_stands():
    """A value that the last word on it gives again is not superseded by what was said between."""
    texts = ["the port is 80", "the port is now 81", "the port is 80 again"]
    assert superseded([said(at, text) for at, text in enumerate(texts)], ["port"]) == [0.0, NEWER, 0.0]


def test_a_note_supersedes_by_name_and_a_task_state_by_age():
    """A note that names another takes its whole place; of two task states of one session the newer one counts."""
    old, new = said(1, "a", kind=Kind.NOTE), said(2, "b", kind=Kind.NOTE, meta={"supersedes": ["fh:1", "fh:2"]})
    assert superseded([old, new], []) == [1.0, 0.0]
    states = [said(at, "goal", kind=Kind.TASK_STATE, session=session) for at, session in ((1, "s"), (2, "s"), (3, "t"))]
    assert superseded(states, []) == [NEWER_SETTING, 0.0, 0.0]


def test_only_the_best_are_compared():
    """What is behind the limit neither supersedes nor is superseded."""
    rows = [said(1, "the port is 80"), *(said(at, "x") for at in range(2, CANDIDATES_MAX + 1))]
    late = said(99, "the port is now 81")
    assert factors([*rows, late], Task(), ["port"])[0].superseded == 0.0
    assert factors([*rows[:-1], late], Task(), ["port"])[0].superseded > 0.0


def test_task_relevance():
    """The row that holds most of the task's words is wholly relevant, one that holds none not at all."""
    task = task_of(Conditions(goal="migrate billing", open_loops=("rename invoices table",)), stems, ["billing"])
    assert task.terms == {"migrate", "rename", "invoices", "table"}
    rows = [said(1, "migrate invoices table today"), said(2, "migrate birds"), said(3, "lunch at noon")]
    found = task_relevances(rows, task)
    assert found[0] == 1.0
    assert 0.0 < found[1] < 1.0
    assert found[2] == 0.0
    assert task_relevances(rows[2:], task) == [1.0]  # where none holds anything, none is put back


def test_a_key_event_is_relevant():
    """An event that the task names is wholly relevant, whatever its words."""
    task = task_of(Conditions(key_events=("fh:2",)), stems, [])
    assert task_relevances([said(1, "a"), said(2, "b")], task) == [0.0, 1.0]
