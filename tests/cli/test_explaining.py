"""How an answer is explained."""

from __future__ import annotations

import pytest

from firsthand import Answer, Conditions, Hit, Kind, Outcome, Query, Trust
from firsthand.answer import Hop
from firsthand.cli.output import Output
from firsthand.cli.recall import explain
from firsthand.value import replace

PARTS = {"base": 0.8, "premise": 1.0, "phase": 0.9, "superseded": 0.25, "task_relevance": 1.0}
HIT = Hit(
    "fh:a", 0.54, PARTS, "p", 0, ("a",), 1, Kind.NOTE, "s", 0, "", "", Trust.AGENT, None, 1,
    found_by={"words": 7.2, "vector": 0.4},
)  # fmt: skip
OTHER = replace(HIT, pointer="fh:b", score=0.0, parts=PARTS | {"base": 0.0}, exact=(), found_by={}, companion_of="fh:a")
HOPS = (Hop("as asked", "where is\na.db", ("fh:a",), 0.31, False), Hop("key terms", "a.db", ("fh:a",), 0.81, True))


@pytest.fixture
def explained(capsysbinary):
    """Explain an answer, and give the lines that were said."""

    def run(answer: Answer) -> list[str]:
        numbers = {hit.pointer: number for number, hit in enumerate(answer.hits, 3)}
        explain(answer, numbers, Output())
        return capsysbinary.readouterr().out.decode().splitlines()

    return run


def test_an_answer_is_explained(explained):
    """A row for each hit that multiplies out, one for each attempt, the task, and what the confidence rests on."""
    task = Conditions(goal="ship it", phase="verify", premises=("a", "b"), session="s")
    answer = Answer(
        Query("where is\na.db", conditions=task, mmr_lambda=0.8), Outcome.FOUND, (HIT, OTHER), confidence=0.81,
        threshold=0.75, gate="learned on 312 questions", hops=HOPS,
    )  # fmt: skip
    assert explained(answer) == [
        "#  score  = base  x premise  x phase  x (1 - superseded)  x task relevance  found by",
        "3   0.54    0.80       1.00     0.90                0.75              1.00  words 7.20, vector 0.40; exact: a",
        "4   0.00    0.00       1.00     0.90                0.75              1.00  belongs with 3",
        "",
        (
            "in order of score, but for this: what repeats a better hit goes down (lambda 0.8); the surest attempt "
            "comes first; what belongs with a hit comes behind it; a rule that fits has a place kept"
        ),
        "",
        "attempt    confidence   hits  words",
        "as asked   0.31            1  where is a.db",
        "key terms  0.81 passed     1  a.db",
        "",
        "for the task: goal 'ship it', phase 'verify', 2 premises (session s)",
        "confidence 0.81; found is from 0.75 on, as one false memory costs as much as 3 second looks",
        "what the confidence rests on: learned on 312 questions",
        "",
    ]


def test_without_hits_there_is_little_to_explain(explained):
    """No hits, no table; an answer without attempts says nothing at all."""
    assert explained(Answer(Query("x"), Outcome.ABSENT, ())) == []
    assert explained(Answer(Query("x"), Outcome.ABSENT, (), hops=(Hop("as asked", "x", (), 0.0, False),)))[1] == (
        "as asked  0.00           0  x"
    )


def test_stored_text_cannot_forge_a_line(explained):
    """Line ends and control signs of stored text are escaped."""
    forged = replace(HIT, exact=("x\n1   0.99",), companion_of="fh:z")
    lines = explained(
        Answer(Query("x"), Outcome.FOUND, (forged,), hops=(Hop("as asked", "a\x1b[2J\nb", (), 0.0, False),))
    )
    assert len(lines) == 8
    assert lines[1].endswith("belongs with fh:z; exact: x\\n1   0.99")
    assert "\x1b" not in "".join(lines)
