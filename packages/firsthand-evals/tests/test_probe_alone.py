"""What a note concludes, and what that stands on, when its session is not known."""

from __future__ import annotations

import pytest

from firsthand.value import replace
from firsthand_evals.probe import probe_alone
from firsthand_evals.probe.probe_alone import Conclusion, conclusions
from firsthand_evals.probe.probe_reading import Session, read
from firsthand_evals.probe.statements import statements


def found(note: str, *behind: tuple[str, str]) -> list[Conclusion]:
    carried = read(note, Session(()))
    return conclusions(replace(carried, behind=statements([{"role": role, "content": text} for role, text in behind])))


@pytest.mark.parametrize(
    ("note", "behind", "standing"),
    [
        ("The total was $55.", (), "nothing"),
        ("7 pads at $4, 9 pens at $3. The total was $55.", (), "itself"),
        ("The total was $55.", (("user", "7 pads at $4 and 9 pens at $3"),), "pointers"),
        ("The total was $55.", (("assistant", "7 pads at $4 and 9 pens at $3"),), "nothing"),
        ("The total was $55.", (("user", "What was it, $55?"),), "nothing"),
        ("The total was $55.", (("tool", "sum\n---\n$55"),), "pointers"),
        ("The lift works. The total was $55.", (), "nothing"),
    ],
)
def test_a_conclusion_stands_on_what_others_said(note, behind, standing):
    """Line items or the very value, in the note or said by somebody else; not on the agent, not on a question."""
    assert [one.standing for one in found(note, *behind)] == [standing]


def test_what_concludes_nothing_has_no_conclusions(monkeypatch):
    """Facts and wishes are none; of many conclusions the first are judged."""
    assert found("7 pads at $4. Please keep it short.") == []
    monkeypatch.setattr(probe_alone, "CONCLUSIONS_MAX", 2)
    told = [f"The total of day {number} was ${number * 10}." for number in range(1, 5)]
    assert [one.text for one in found("\n".join(told))] == told[:2]
