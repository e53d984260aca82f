"""Which way round two sentences put the same two names."""

from __future__ import annotations

import pytest

from firsthand_evals.probe.direction import goes_the_same_way


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Falk finished before Boris.", "Boris came in after Falk.", True),
        ("Falk finished before Boris.", "Falk came in after Boris.", False),
        ("Falk beat Boris.", "Boris went out against Falk.", True),
        ("Falk beat Boris.", "Falk lost to Boris.", False),
        ("Falk reports to Boris.", "Falk's manager: Boris", True),
        ("Falk reports to Boris.", "Boris's manager: Falk", False),
        ("Falk reports to Boris.", "The manager of Falk is Boris.", True),
        ("Falk is Boris's child.", "Boris is a parent of Falk.", True),
        ("Falk is taller than Boris.", "Boris < Falk", True),
        ("Falk is taller than Boris.", "Boris > Falk", False),
    ],
)
def test_a_relation_and_its_opposite_are_told_apart(one: str, other: str, same: bool):
    """Two sentences go the same way when relation and order of names agree, or both are turned round."""
    assert goes_the_same_way(one, other, ["Falk", "Boris"], known=True) is same
    assert goes_the_same_way(other, one, ["Falk", "Boris"], known=True) is same


def test_the_order_of_names_stands_for_a_relation_that_is_not_known():
    """Where a text names no known relation, the same words in another order say something else."""
    assert goes_the_same_way("Falk zorps Boris", "Falk zorps Boris", ["Falk", "Boris"], known=True)
    assert not goes_the_same_way("Falk zorps Boris", "Boris zorps Falk", ["Falk", "Boris"], known=True)
    assert goes_the_same_way("Falk zorps Boris", "Boris -> Falk", ["Falk", "Boris"], known=True)
