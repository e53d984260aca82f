"""Facts: line items, amounts, discounts and fees out of statements, and what they say together."""

from __future__ import annotations

from fractions import Fraction

import pytest

from firsthand_evals.probe.facts import basket, facts
from firsthand_evals.probe.statements import statements


def read(*messages: str, role: str = "user"):
    said = statements([{"role": role, "content": message} for message in messages])
    return facts(said), said


def lines(*messages: str) -> list[tuple]:
    found, said = read(*messages)
    return [
        (" ".join(sorted(line.name)), *(one and str(one) for one in (line.count, line.price, line.amount)))
        for line in basket(found, said).lines
    ]


@pytest.mark.parametrize(
    "text",
    [
        "7 notebooks at $4",
        "7 notebooks for $4 each",
        "notebooks: 7 at $4",
        "notebooks: 7 \u00d7 $4",
        "7x$4 notebooks",
        "$4 x 7 notebooks",
        "The notebooks cost $4 apiece and 7 were taken.",
        "There were 7 notebooks, and each cost $4.",
        "seven notebooks at four dollars each",
        "7 notebooks for $28",
        "notebooks 7@$4",
        "| item | qty | each |\n|---|---|---|\n| notebooks | 7 | $4 |",
        "item,each,count\nnotebooks,$4,7",
        '{"item": "notebooks", "qty": 7, "unit_price": 4.0}',
        "notebooks:\n  quantity: 7\n  price_each: 4",
        "We took 7 notebooks, $4 each",
        "Counts: notebooks 7. Unit prices: notebooks $4.",
        "sieben notebooks zu je 4 Dollar",
        "7 Notebooks à 4 €",
    ],
)
def test_a_line_is_the_same_in_every_way_of_writing_it(text):
    """Seven notebooks at four each are read out of prose, tables, JSON, YAML and halves of a line."""
    assert lines(text) == [("notebook", "7", "4", None)]


@pytest.mark.parametrize(
    ("text", "sort", "amount"),
    [
        ("They gave 20 % off the whole order.", "factor", "4/5"),
        ("Sales tax of 8 % on top.", "factor", "27/25"),
        ("Delivery came to $10 on top of it.", "fee", "10"),
        ("A coupon of $5 was taken off.", "fee", "-5"),
        ("One euro was 1.05 dollars that day.", "rate", "21/20"),
        ("1 EUR = 1.05 USD", "rate", "21/20"),
        ("packing 2.5 h", "amount", "9000"),
        ("videos 190 MB", "amount", "190"),
        ("and a tray at $11", "line", "11"),
    ],
)
def test_what_is_no_line_is_read_for_what_it_is(text, sort, amount):
    """A discount, a tax, a fee, a rate, a duration and a size are facts of their own sorts."""
    found, _ = read(text)
    assert [(fact.sort, str(fact.amount)) for fact in found] == [(sort, amount)]


def test_conclusions_are_no_facts():
    """What sums up, concludes or confirms an amount is none of what it is worked out of."""
    for text in (
        "The total comes to $55.",
        "Therefore the pens are $27.",
        "Booked for $30.",
        "A note says the pens come to $27.",
    ):
        assert read(text)[0] == ()


def test_the_later_word_stands_for_the_earlier_one():
    """A corrected count or price takes the place of the old one; what it replaces is named when it is a whole line."""
    found, said = read("7 pens at $4; 2 pads at $3.", "Correction: 9 pens at $4.", "Sorry, it was 5 pads, not 2.")
    joined = basket(found, said)
    assert [(str(line.count), str(line.price)) for line in joined.lines] == [("9", "4"), ("5", "3")]
    assert [said[place].text for place in joined.replaced] == ["7 pens at $4"]


def test_what_is_said_again_changes_nothing_and_what_is_added_adds():
    """A repeated line counts once; another of the same comes on top; two entries of one list are two lines."""
    assert lines("7 pens at $4", "7 pens at $4") == [("pen", "7", "4", None)]
    assert lines("7 pens at $4", "We also got 2 more pens at $4") == [("pen", "9", "4", None)]
    assert len(lines("- 5 red mugs at $6\n- 3 red mugs at $7")) == 2


def test_decoys_are_rejected_and_hearsay_is_heard_last():
    """What was not bought is no line; what somebody is said to have said counts where nobody says it himself."""
    found, said = read("9 pens at $2. We saw 3 lamps at $5, considered but not bought.", "Somebody said: 4 pens at $3.")
    joined = basket(found, said)
    assert [(str(line.count), str(line.price)) for line in joined.lines] == [("9", "2")]
    assert [said[place].text for place in joined.rejected] == ["We saw 3 lamps at $5, considered but not bought."]
    assert lines("Somebody said: 4 pens at $3.") == [("pen", "4", "3", None)]


def test_a_thousand_names_are_told_apart():
    """Every line of a long list is one of the basket, with what it comes to."""
    found, said = read("\n".join(f"- {n % 9 + 1} thing{chr(97 + n % 26)}{chr(97 + n // 26)} at $2" for n in range(600)))
    assert sum((line.comes_to for line in basket(found, said).lines), Fraction(0)) == sum(
        2 * (n % 9 + 1) for n in range(600)
    )
