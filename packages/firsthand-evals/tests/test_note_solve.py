"""Recomputing: sums, averages, subtotals, discounts, spans, puzzles and slots out of statements alone."""

from __future__ import annotations

from fractions import Fraction

import pytest
from note_sessions import order, puzzle

from firsthand_evals.probe.determine import claim_of
from firsthand_evals.probe.solve import recompute
from firsthand_evals.probe.statements import statements

ORDERS = 60
PUZZLES = 40


def solved(what: str, *messages: str):
    said = statements([{"role": "user", "content": message} for message in messages])
    found = recompute(said, claim_of(said, what))
    return None if found is None else (found.kind, str(found.amount if found.amount is not None else found.text))


@pytest.mark.parametrize(
    ("what", "text", "expected"),
    [
        ("the total", "7 pads at $4, 9 pens at $2", ("money", "46")),
        ("the total before tax", "7 pads at $4, 9 pens at $2. Sales tax of 10 % applies.", ("money", "46")),
        ("the total with tax", "7 pads at $4, 9 pens at $2. Sales tax of 10 % applies.", ("money", "253/5")),
        ("what was paid after the discount", "5 pads at $4. They gave 20 % off the whole order.", ("money", "16")),
        ("what was paid in the end", "5 pads at $4. Delivery came to $10 on top of it.", ("money", "30")),
        ("the total in dollars", "5 pads at 4 €. One euro was 1.05 dollars.", ("money", "21")),
        ("the subtotal of the pens", "7 pads at $4, 9 pens at $2", ("money", "18")),
        ("the subtotal of the pens", "What each came to: pads $28, pens $18", None),
        ("the total", "What each came to: pads $28, pens $18", ("money", "46")),
        ("the average of the marks", "My marks: maths 2, physics 1, history 4, art 2.", ("number", "9/4")),
        ("the total working time", "painting 1.75 h, cleaning 45 min and packing 2 h", ("duration", "16200")),
        ("the total weight", "oats 400 g, sugar 1.5 kg and coffee 250 g", ("number", "2150")),
        ("the date on which they leave", "We arrive on 21.11.2026 and stay 10 nights.", ("date", "739951")),
        ("the total", "Nothing was bought.", None),
    ],
)
def test_each_way_of_working_out(what, text, expected):
    """What is asked for decides what is done with the same statements."""
    assert solved(what, text) == expected


def test_the_order_of_messages_changes_no_sum():
    """A sum is the same whichever message comes first."""
    parts = ("7 pads at $4", "9 pens at $2", "3 lamps at $5")
    assert {solved("the total", *(parts[n:] + parts[:n])) for n in range(3)} == {("money", "61")}


def test_generated_orders_are_solved():
    """Sums in six ways of writing, their list in any message, among decoys, hearsay and talk: all are right."""
    wrong = []
    for number in range(ORDERS):
        session = order(number, items=2 + number % 7, decoys=number % 4 * 3)
        said = statements(session.messages)
        found = recompute(said, claim_of(said, session.asked))
        if found is None or found.amount != session.answer:
            wrong.append((number, found, session.answer))
    assert wrong == []


def test_generated_puzzles_are_solved():
    """Queues and jobs, clues scattered over the session: the one solution is found, the wrong conclusion ignored."""
    wrong = []
    for number in range(PUZZLES):
        session = puzzle(number, people=3 + number // 2 % 2)
        said = statements(session.messages)
        found = recompute(said, claim_of(said, session.asked))
        if found is None or found.text != session.answer:
            wrong.append((number, found, session.answer))
    assert wrong == []


def test_a_missing_item_gives_another_sum_and_a_missing_clue_none():
    """Left out of what is needed, an item changes the sum by itself, and a clue leaves no answer."""
    session = order(0, items=3)
    said = statements(session.messages)
    claim = claim_of(said, session.asked)
    less = recompute([one for place, one in enumerate(said) if place != claim.needs[-1]], claim)
    assert less is not None
    assert less.amount != session.answer
    session = puzzle(3)
    said = statements(session.messages)
    claim = claim_of(said, session.asked)
    clues = [place for place in claim.needs if " is " in said[place].text]
    assert recompute([one for place, one in enumerate(said) if place != clues[0]], claim) is None


def test_amounts_stay_exact():
    """Thirds of a unit are no floating point numbers."""
    assert solved("the total", "3 pads at $0.10, 3 pens at $0.20") == ("money", str(Fraction(9, 10)))


@pytest.mark.parametrize("length", ["99999999999 days", "40 days", "9" * 30 + " hours"])
def test_a_span_beyond_the_years_that_dates_have_gives_no_day(length):
    """There is no day to give, and no error."""
    assert solved("the date on which they leave", f"We arrive on 31.12.9999 and stay {length}.") is None
