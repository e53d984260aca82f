"""Whether a note has the values that are needed, each with whose it is."""

from __future__ import annotations

import pytest

from firsthand_evals.probe.probe_match import unheld
from firsthand_evals.probe.statements import statements


def gone(source: str, note: str, *, by_name: bool = False) -> list[str]:
    """Give the statements of a source of which a note lacks a value."""
    facts = statements([{"role": "tool", "content": source}])
    said = statements([{"role": "user", "content": note}])
    return [facts[place].text for place in sorted(unheld(facts, said, by_name=by_name))]


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("I knit 32 rows per 10 cm.", "gauge: 3.2 rows per cm"),
        ("The floor is 3 m by 2.4 m.", "7.2 m² of floor"),
        ("I parked from 09:10 to 15:10.", "parked for six hours"),
        ("Asa 1:02.4\nBo 58.9", "splits (s): Asa 62.4, Bo 58.9"),
        ("65% hydration on 800 g", "flour .8 kg, ratio 0.65"),
        ("open 9 to 16", "9:00 - 16:00"),
        ("tcp 0.0.0.0:6320", "port 6320"),
        ("sent on 2 March", "sent: 2026-03-02"),
        ("pens 4\npads 4", "4 each"),
    ],
)
def test_a_value_is_held_by_what_it_equals_or_what_follows_from_it(source: str, note: str):
    """A rate, an area, a length of time, other units and a value said of all hold what they are made of."""
    assert gone(source, note) == []


@pytest.mark.parametrize(
    ("source", "note", "expected"),
    [
        ("Sol 9\nLuna 15", "Sol: 15, Luna: 9", ["Sol 9", "Luna 15"]),
        ("pens 4\npads 4", "pens 4", ["pads 4"]),
        ("Mill - Forest 3:0", "Mill - Forest 0:3", ["Mill - Forest 3:0"]),
        ("I knit 32 rows per 10 cm.", "gauge: 3.4 rows per cm", ["I knit 32 rows per 10 cm."]),
    ],
)
def test_a_swapped_repeated_or_turned_value_is_not_there(source: str, note: str, expected: list[str]):
    """A value counts once, under its own name and in its own order."""
    assert gone(source, note) == expected


def test_a_value_without_its_name_is_none_where_it_is_asked_whose_it_is():
    """Bare numbers hold what is added up, and not what is asked by name."""
    assert gone("Ann 4\nBo 7", "7, 4") == []
    assert gone("Ann 4\nBo 7", "7, 4", by_name=True) == ["Ann 4", "Bo 7"]
