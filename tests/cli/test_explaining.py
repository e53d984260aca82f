"""How an answer is explained."""

from __future__ import annotations

import pytest

from firsthand import Answer, Hit, Kind, Outcome, Query, Trust
from firsthand.answer import Hop
from firsthand.cli.output import Output
from firsthand.cli.recall import explain
from firsthand.value import replace

PARTS = {"base": 0.8, "premise": 1.0, "phase": 0.9, "superseded": 0.25, "task_relevance": 1.0}
HIT = Hit(
    "fh:a", 0.54, PARTS, "p", 0, ("a",), 1, Kind.NOTE, "s", 0, "", "", Trust.AGENT, None, 1,
    found_by={"words": 7.2, "vector": 0.4},
)  # fmt: skip


@pytest.fixture
def explained(capsysbinary):
    """Explain an answer, and give the lines that were said."""

    def run(answer: Answer) -> list[str]:
        numbers = {hit.pointer: number for number, hit in enumerate(answer.hits, 3)}
        explain(answer, numbers, Output())
        return capsysbinary.readouterr().out.decode().splitlines()

    return run


def test_stored_text_cannot_forge_a_line(explained):
    """Line ends and control signs of stored text are escaped."""
    forged = replace(HIT, exact=("x\n1   0.99",), companion_of="fh:z")
    lines = explained(
        Answer(Query("x"), Outcome.FOUND, (forged,), hops=(Hop("as asked", "a\x1b[2J\nb", (), 0.0, False),))
    )
    assert len(lines) == 8
    assert lines[1].endswith("belongs with fh:z; exact: x\\n1   0.99")
    assert "\x1b" not in "".join(lines)
