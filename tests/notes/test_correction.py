"""Which messages correct something that was remembered, of what, and what they give instead."""

from __future__ import annotations

import pytest

from firsthand.notes.correction import Correction, correction_of

ABOUT = {
    "the pens subtotal is wrong": "the pens subtotal",
    "No, I think the subtotal of the yokes was wrong. Check that again.": "the subtotal of the yokes",
    "You got the deadline wrong.": "the deadline",
    "You miscounted the pens.": "the pens",
    "The total doesn't add up.": "The total",
    "the delivery date can't be right": "the delivery date",
    "Are you sure about the port?": "the port",
    "Please recheck the total": "the total",
    "Die Summe der Stifte stimmt nicht.": "Die Summe der Stifte",
    "Le montant est faux.": "Le montant",
    "El precio est\u00e1 mal.": "El precio",
    "I think what was said of Ada was wrong.": "Ada",
    'The "pens subtotal" is wrong': "The pens subtotal",
}
NAMING_NOTHING = ("that's wrong", "Your answer is wrong.", "Are you sure?", "Something in what we concluded is wrong.",
                  "Bist du sicher?")  # fmt: skip
GIVES = {
    "I checked it twice: it is definitely $55.": ("", ("$55",), ()),
    "It is 55, I am sure of it.": ("", ("55",), ()),
    "No. I looked it up again, and it is \u20ac425.50.": ("", ("\u20ac425.50",), ()),
    "Everybody here agrees on $55. Please do not argue.": ("", ("$55",), ()),
    "The right answer is $46. Use that from now on.": ("", ("$46",), ()),
    "the port is 8080, not 9090": ("the port", ("8080",), ("9090",)),
    "It's not 55 but 46": ("", ("46",), ("55",)),
    "The table was booked for 9:30 pm, not 9:00 pm": ("The table", ("9:30 pm",), ("9:00 pm",)),
    "I checked it twice: it is definitely Ada.": ("", ("Ada",), ()),
}
NONE = (
    "", "what's wrong with the build?", "What is wrong here", "something is wrong with the build",
    "tell me if the total is wrong", "if this is wrong, revert it", "why is the total wrong?", "what went wrong",
    "use tabs, not spaces", "nothing is wrong", "I might be wrong", "double-check the tests",
    "the file is in the wrong folder", "set the port to 8080", "I am sure the tests pass", "the price is $5",
    "What about the phrase \u201cthe total is wrong\u201d in the mail", "I'm not sure how to use the API",
    "if the heading was `a`, not `b`, it would work",
    "```\nthe total is wrong\n```", "> the total is wrong", 'The log says "the total is wrong".',
)  # fmt: skip


@pytest.mark.parametrize(("text", "about"), ABOUT.items())
def test_what_is_named_as_wrong_is_read(text, about):
    """A message that says that something is wrong names it, in its words."""
    found = correction_of(text)
    assert found is not None
    assert (found.about, found.gives, found.denies) == (about, (), ())


@pytest.mark.parametrize("text", NAMING_NOTHING)
def test_a_bare_doubt_names_nothing(text):
    """A message that doubts without naming what is a correction of nothing it names."""
    found = correction_of(text)
    assert found is not None
    assert (found.about, found.gives) == ("", ())


@pytest.mark.parametrize(("text", "told"), GIVES.items())
def test_what_is_given_instead_is_read(text, told):
    """A value that a message gives in place of another is read as it stands there, and what it denies."""
    found = correction_of(text)
    assert found is not None
    assert (found.about, found.gives, found.denies) == told


@pytest.mark.parametrize("text", NONE)
def test_a_fault_of_the_world_is_no_correction(text):
    """What asks for a fault, supposes one, sets a value, or quotes somebody corrects nothing."""
    assert correction_of(text) is None


def test_evidence_of_its_own_and_the_question_are_told_apart():
    """A message may name its evidence, ask, and speak of an earlier session; each is read for itself."""
    text = (
        "The receipt lists 11 pens at $2, so it comes to $50. That is verified. What is the right answer to this: "
        "the total before tax?"
    )
    assert correction_of(text) == Correction(
        ("The receipt lists 11 pens at $2, so it comes to $50.",), "", ("$50",), (), "the total before tax", False,
        ("The receipt lists 11 pens at $2, so it comes to $50.",),
    )  # fmt: skip
    found = correction_of("Something in what we concluded earlier is wrong.")
    assert found is not None
    assert found.points_back


def test_how_surely_it_is_said_adds_nothing():
    """Insistence changes neither what a correction is about nor what it gives."""
    plain = correction_of("I checked: the total is $50.")
    loud = correction_of("I AM SURE, I checked it ten times, everybody knows it: the total is definitely $50.")
    assert plain is not None
    assert loud is not None
    assert (plain.about, plain.gives, plain.rests_on) == (loud.about, loud.gives, loud.rests_on)
