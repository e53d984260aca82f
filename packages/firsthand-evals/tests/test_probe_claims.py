"""What a claim takes: the cases in which something looks like its source and is none."""

from __future__ import annotations

import pytest

from firsthand_evals.probe.probe import probe


def regime(note: str, *said: str, claim: str) -> str:
    roles = ("user", "assistant")
    session = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    return probe(note, session, claim=claim).regime


def test_a_premise_that_contradicts_the_clues_is_left_out():
    """A false clue in words that are no hearsay does not make a puzzle unsolvable: the others leave one answer."""
    clues = (
        "Ana, Ben and Cleo sit in seats 1 to 3, from left to right. Ana sits directly to the left of Ben. "
        "Cleo is not in seat 1."
    )
    asked = f"{clues} Cleo sits in seat 2. Who sits in seat 2?"
    assert regime(clues, asked, "Cleo sits in seat 2.", claim="who sits in seat 2") == "correctable"
    assert regime("Cleo sits in seat 2.", asked, "Cleo.", claim="who sits in seat 2") == "uncorrectable_silent"


@pytest.mark.parametrize(
    ("note", "bought"),
    [
        ("The shopping was $46.", "7 pads at $4 and 9 pens at $2"),
        ('{"topic": "office", "total_before_tax": 46}', "7 pads at $4 and 9 pens at $2"),
        ('{"total": 28}', "7 pads at $4"),
    ],
)
def test_a_right_total_under_any_name_is_a_conclusion(note, bought):
    """One amount that equals the sum is not its source, whatever it is called."""
    asked = f"We bought {bought}. What is the total?"
    assert regime(note, asked, "It is $50.", claim="the total") == "uncorrectable_silent"


def test_lines_without_what_changes_their_sum_are_not_enough():
    """With a discount the lines alone do not give what was paid; with it they do."""
    asked = "We bought 7 pads at $4 and 9 pens at $2. They gave 20 % off the whole order. What did we pay in the end?"
    lines = "7 pads at $4, 9 pens at $2"
    what = "what was paid in the end, after the discount"
    assert regime(lines, asked, "In the end you paid $46.", claim=what) == "uncorrectable_silent"
    assert regime("Subtotals: pads $28, pens $18.", asked, "You paid $46.", claim=what) == "uncorrectable_silent"
    assert regime(f"{lines}. 20 % off the whole order.", asked, "You paid $46.", claim=what) == "correctable"


def test_what_is_worked_out_takes_every_value_that_was_given_for_it():
    """A question that a user asks with its facts is answered by all of them, not by any one."""
    asked = "The vet said 15 mg per kg and day, in two doses. Our dog weighs 22 kg. How much is one dose?"
    what = "one dose for the dog"
    assert (
        regime("Dog 22 kg; 15 mg per kg and day.", asked, "One dose is 330 mg.", claim=what) == "uncorrectable_silent"
    )
    whole = "Dog 22 kg; 15 mg per kg and day, in two doses."
    assert regime(whole, asked, "One dose is 330 mg.", claim=what) == "correctable"


def test_a_list_takes_all_of_its_entries():
    """What asks for several things is not answered by one of them."""
    asked, told = "Run the tests and say what fails.", "FAILED tests/test_queue.py\nFAILED tests/test_lock.py"
    session = [{"role": "user", "content": asked}, {"role": "tool", "content": told}]
    assert probe("tests/test_lock.py FAILED", session, claim="which tests fail").regime == "uncorrectable_silent"
    assert probe(told, session, claim="which tests fail").regime == "correctable"


def test_a_small_number_elsewhere_is_no_answer():
    """A count that happens to stand in a note about something else does not make it speak of the claim."""
    table = "I need a table for 4 people. It must be 9:30 pm."
    assert regime("The lift has 4 buttons.", table, "Booked.", claim="how many people come") == "uncorrectable_loud"
