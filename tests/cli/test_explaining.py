"""How an answer is explained."""

from __future__ import annotations

import pytest

from firsthand import Answer, Band, Hit, Kind, Outcome, Query, Trust
from firsthand.cli.output import Output
from firsthand.cli.recall import explain
from firsthand.value import replace

HIT = Hit(
    "fh:a", 0.54, {"words": 0.4, "neighbours": 0.14}, "p", (), ("a",), 1, Kind.NOTE, "s", 0, "", "", Trust.AGENT, None,
    1,
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
    forged = replace(HIT, exact=("x\n1   0.99",))
    answer = Answer(
        Query("x"), Outcome.FOUND, (forged,), band=Band.POSSIBLE, likelihood=0.3, signals={"held": 0.5},
        attempts=("x", "a\x1b[2J\nb"),
    )  # fmt: skip
    lines = explained(answer)
    assert lines[0].split() == ["#", "score", "words", "neighbours", "exact", "strings"]
    assert lines[1].split()[:4] == ["3", "0.54", "0.40", "0.14"]
    assert lines[1].endswith("x\\n1   0.99")
    assert "likelihood 0.30 (possible), from: held 0.50" in lines
    assert "\x1b" not in "".join(lines)
