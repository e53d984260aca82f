"""What a correction comes to beside what is stored: told apart by what the sources give."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.notes.correcting import Concluded, equal, judge
from firsthand.notes.correction import correction_of
from firsthand.notes.statements import statements
from firsthand.notes.values import read

ORDER = (
    {"role": "user", "content": "We bought 7 notebooks at $4 and 9 pens at $2. What is the total before tax?"},
    {"role": "assistant", "content": "The pens come to $22, so the total before tax is $50."},
)
LINE = (
    {"role": "user", "content": "Ada, Bram and Cleo stand in a line. Ada stands directly before Bram. Cleo is first in "
                                "the line. Who is last in the line?"},
    {"role": "assistant", "content": "Cleo is last in the line."},
)  # fmt: skip
SORTS = {
    "Something in what we concluded earlier is wrong.": "generic",
    "Are you sure?": "generic",
    "the pens subtotal is wrong": "directed",
    "the total before tax is wrong": "directed",
    "the notebooks subtotal is wrong": "sound part",
    "I checked it twice: it is definitely $50.": "contradicting value",
    "The right answer is $46. Use that from now on.": "agreeing value",
    "I am sure the pens subtotal is $18": "agreeing value",
    "I am sure the pens subtotal is $22": "contradicting value",
    "The receipt lists 11 pens at $2, so the total is $50.": "contradicting source",
    "The receipt lists 9 pens at $2, so the total is $46.": "agreeing value",
    "I am sure the delivery is on 3 May 2026": "unchecked value",
}


def judged(text, messages=ORDER, before=()):
    correction = correction_of(text)
    assert correction is not None
    return judge(correction, statements(messages), before)


@pytest.mark.parametrize(("text", "sort"), SORTS.items())
def test_the_sort_follows_from_what_is_stored(text, sort):
    """Each sort of correction of the paper is told apart by the line items."""
    assert judged(text).sort == sort


def test_the_evidence_is_worked_out_again_beside_what_was_concluded():
    """A named part gives its line, the whole around it, both worked out, and what differs from them."""
    found = judged("the pens subtotal is wrong")
    stored = statements(ORDER)
    assert [stored[place].text for place in found.needs] == ["9 pens at $2.", "We bought 7 notebooks at $4"]
    assert found.part_gives is not None
    assert found.whole_gives is not None
    assert (found.part_gives.amount, found.whole_gives.amount) == (18, 46)
    assert found.concluded == (Concluded(3, "$22"), Concluded(4, "$50"))
    assert found.differing == found.concluded


def test_a_conclusion_that_its_sources_give_does_not_differ():
    """Where the sources give what was concluded, nothing differs, whatever the message says."""
    right = (ORDER[0], {"role": "assistant", "content": "The pens come to $18, so the total before tax is $46."})
    found = judged("the pens subtotal is wrong", right)
    assert found.sort == "sound part"
    assert found.concluded == (Concluded(3, "$18"), Concluded(4, "$46"))
    assert found.differing == ()


def test_what_contradicts_a_source_is_named_with_its_place():
    """Evidence in the message stands beside the very statement that it contradicts."""
    found = judged("The receipt lists 11 pens at $2, so the total is $50.")
    stored = statements(ORDER)
    assert [stored[place].text for _, place in found.against] == ["9 pens at $2."]
    assert [said for said, _ in found.against] == ["The receipt lists 11 pens at $2"]


def test_a_puzzle_is_told_apart_by_its_clues():
    """What breaks the clues contradicts them; a part that goes with them is sound; the answer is worked out."""
    wrong = judged("I checked it twice: it is definitely Cleo. Who is last in the line?", LINE)
    assert wrong.whole_gives is not None
    assert (wrong.sort, wrong.whole_gives.text) == ("contradicting value", "Bram")
    assert judged("The right answer is Bram. Who is last in the line?", LINE).sort == "agreeing value"
    assert judged("I think what was said of Ada was wrong. Who is last in the line?", LINE).sort == "sound part"
    assert judged("I think what was said of Cleo was wrong. Who is last in the line?", LINE).sort == "directed"
    made_up = "The printed solution says that Bram is first in the line, so it is Cleo. Who is last in the line?"
    assert judged(made_up, LINE).sort == "contradicting source"


def test_a_value_of_a_tool_is_looked_up():
    """A setting in a tool's result is the source of what an agent said of it."""
    told = (
        {"role": "tool", "content": '{"images": {"port": 8818}, "cache": {"port": 6379}}'},
        {"role": "assistant", "content": "The images service listens on port 8181."},
    )
    found = judged("the port of images is wrong", told)
    assert found.part_gives is not None
    assert (found.sort, found.part_gives.text) == ("directed", "8818")
    assert [one.text for one in found.differing] == ["8181"]


def test_an_answer_of_few_words_is_looked_up():
    """A time that a user answered with is the source, whatever the agent confirmed, though it shares no word."""
    told = (
        {"role": "user", "content": "I need a table at the Lucky Star for 4 people."},
        {"role": "assistant", "content": "For when?"},
        {"role": "user", "content": "Saturday at 21:30, please."},
        {"role": "assistant", "content": "Done, it is confirmed for 21:00."},
    )
    found = judged("the time of the table is wrong", told)
    assert found.part_gives is not None
    assert (found.sort, found.part_gives.text) == ("directed", "21:30")
    assert [one.text for one in found.differing] == ["21:00"]
    assert judged("the table was booked for 21:30, not 21:00", told).sort == "agreeing value"
    assert judged("I am sure the table is at 20:00", told).sort == "contradicting value"
    made_up = judged("The ticket here shows it, so the table is at 20:00.", told)
    assert made_up.sort == "contradicting source"
    assert [statements(told)[place].text for _, place in made_up.against] == ["Saturday at 21:30, please."]


def test_a_value_that_was_said_in_two_ways_is_not_chosen():
    """Where users said two times, neither is worked out: one that agrees is named, another one is not checked."""
    told = (
        {"role": "user", "content": "I need a train to Leeds after 17:15."},
        {"role": "user", "content": "The train to Leeds may leave at 18:45, too."},
    )
    found = judged("I am sure the train to Leeds is at 18:45", told)
    assert (found.sort, found.part_gives) == ("agreeing value", None)
    assert judged("I am sure the train to Leeds is at 19:00", told).sort == "unchecked value"


@settings(max_examples=20, deadline=None)
@given(times=st.integers(1, 12))
def test_saying_it_again_adds_no_evidence(times):
    """However often a value is said, it is one more sustained push: nothing else of the comparison changes."""
    text = "I checked it twice: it is definitely $50."
    correction = correction_of(text)
    assert correction is not None
    found = judged(text, before=[correction] * times)
    once = judged(text, before=[correction])
    assert (found.sort, found.said_before) == ("sustained", times)
    assert (found.given_agrees, found.whole_gives, found.differing, found.needs) == (
        once.given_agrees, once.whole_gives, once.differing, once.needs,
    )  # fmt: skip


def test_an_amount_is_equal_without_its_unit():
    """46, $46 and 46.00 dollars are one amount; $46 and 46 euros, 46 and 46 percent of time are not."""
    one, other, third, fourth = (read(text)[0] for text in ("46", "$46", "46.00 dollars", "46 euros"))
    assert equal(one, other)
    assert equal(other, third)
    assert not equal(other, fourth)
    assert not equal(read("45")[0], other)
    assert not equal(read("9:30")[0], read("570")[0])
    assert not equal(read("9:30")[0], read("$570")[0])
