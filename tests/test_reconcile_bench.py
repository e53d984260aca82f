"""The bench of reconciliation: its gold is what it says, and the rules keep to it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from reconcile_bench import Tally, arranged, generated, table


def test_no_fact_that_holds_is_taken_out_of_generated_sessions():
    """Among questions, quotations, tools and like names no decision takes out a fact that still holds."""
    tally = generated(20)
    assert tally.wrong == 0
    assert tally.right > 0.9 * tally.decided
    assert tally.found > 0.6 * tally.gold
    assert tally == generated(20)


def test_no_count_or_booking_that_holds_is_taken_out():
    """Among other people's, questions, refusals and further bookings no decision takes out what still holds."""
    tally = arranged(20)
    assert tally.wrong == 0
    assert tally.right > 0.8 * tally.decided
    assert tally.found > 0.8 * tally.gold


def test_a_row_says_what_was_counted():
    """Shares are of what they say, and nothing decided is no division by zero."""
    row = Tally(facts=200, decided=10, right=8, wrong=2, gold=16, found=4).row("made")
    assert (row[0], row[3], row[4], row[5][:6], row[6]) == ("made", "8 (0.800)", "2", "1.00 %", "4 of 16 (0.250)")
    assert Tally().row("none")[3] == "0 (0.000)"
    assert table(("a", "b"), [("1", "2")]).splitlines() == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]
