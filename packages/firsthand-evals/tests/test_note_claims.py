"""Claims: which statements determine what a session asked for or concluded, in orders, puzzles and dialogues."""

from __future__ import annotations

import pytest

from firsthand_evals.probe import slots
from firsthand_evals.probe.determine import claim_of, determine
from firsthand_evals.probe.spoken import PASTED_CHARACTERS_MIN
from firsthand_evals.probe.statements import statements


def talk(*lines: str):
    """Make a session of lines such as "user: hello"."""
    messages = [dict(zip(("role", "content"), line.split(": ", 1), strict=True)) for line in lines]
    return statements(messages)


def needs(said, claim) -> list[str]:
    return [said[place].text for place in claim.needs]


def test_a_sum_needs_its_items_and_nothing_that_was_concluded():
    """Of an order the line items are needed, the wrong premise and the totals are not, a decoy is rejected."""
    said = talk(
        "user: We bought 7 pads at $4 and 9 pens at $2. We saw 3 lamps at $5, but did not buy them.",
        "user: A note says that the pens come to $27. What is the total before tax?",
        "assistant: The total comes to $55.",
        "user: And with 8 % tax on top?",
        "assistant: $55 plus 8 % is $59.40.",
    )
    claim = determine(said)[0]
    assert (claim.how, needs(said, claim)) == ("sum of products", ["We bought 7 pads at $4", "9 pens at $2."])
    assert [said[place].text for place in claim.rejected] == ["We saw 3 lamps at $5, but did not buy them."]
    assert "$55" in [held.text for held in claim.concluded]


def test_a_correction_takes_the_place_of_what_it_corrects():
    """The user's last word is needed, the earlier one is kept as replaced."""
    said = talk(
        "user: 7 pads at $4. The total?", "assistant: $30.", "user: Correction: 8 pads at $4.", "assistant: Noted."
    )
    claim = determine(said)[0]
    assert needs(said, claim) == ["Correction: 8 pads at $4."]
    assert [said[place].text for place in claim.replaced] == ["7 pads at $4."]


def test_rows_need_the_row_of_names_above_them():
    """A row of a table says nothing without the names of its columns."""
    said = talk(
        "tool: | item | qty | each |\n| --- | --- | --- |\n| pens | 9 | $2 |\n| pads | 7 | $4 |",
        "user: What is the total?",
    )
    assert needs(said, determine(said)[0])[0] == "| item | qty | each |"


def test_a_puzzle_needs_its_clues_and_who_there_is():
    """Clues and the listing are needed; what somebody told and what the agent concluded are not."""
    said = talk(
        "user: Ines, Ben and Ana have one job each: cook, driver and clerk. Ben is not the cook.",
        "user: Ana is the driver. Somebody told me that Ben is the cook. Who is the cook?",
        "assistant: Then the cook is Ben.",
    )
    claim = determine(said)[0]
    assert claim.how == "constraints"
    assert needs(said, claim) == [
        "Ines, Ben and Ana have one job each: cook, driver and clerk.", "Ben is not the cook.", "Ana is the driver.",
    ]  # fmt: skip


def test_what_a_user_set_is_needed_and_not_what_the_agent_confirmed():
    """Of a booking the user's words are needed, with what they go on from; a reference only the agent told, too."""
    said = talk(
        "user: I need a table for 4 people. It must be 12:45.",
        "assistant: Booked: a table for 4 people, 13:15. Reference LZ4TVI.",
        "user: Thanks!",
    )
    claims = determine(said)
    everything = {text for claim in claims for text in needs(said, claim)}
    assert everything == {"I need a table for 4 people.", "It must be 12:45.", "Reference LZ4TVI."}


def test_the_last_word_of_a_user_stands():
    """A later wish of the same kinds replaces the earlier one; both places are named."""
    said = talk(
        "user: Book the barn for 3 nights.",
        "assistant: Booked for 3 nights.",
        "user: Sorry, change the barn to 5 nights.",
        "assistant: Done, 5 nights.",
    )
    claim = next(claim for claim in determine(said) if claim.replaced)
    assert needs(said, claim) == ["Sorry, change the barn to 5 nights."]
    assert [said[place].text for place in claim.replaced] == ["Book the barn for 3 nights."]
    assert not any(0 in claim.needs for claim in determine(said))


def test_what_an_agent_took_out_of_a_tool_result_is_needed():
    """A value that an agent tells is looked up in the tool's result that has it; a small number by chance is not."""
    said = talk(
        'tool: {"found": [{"flight": "HAT069", "fare": 121, "bags": 2}, {"flight": "HAT083", "fare": 100, "bags": 2}]}',
        "assistant: Flight HAT069 costs $121; you may bring 2 bags.",
    )
    found = [needs(said, claim) for claim in determine(said)]
    assert found == [['{"flight": "HAT069", "fare": 121, "bags": 2}']]


def test_a_question_is_no_answer_to_itself():
    """A question with a value needs nothing of itself, and a system's words are no source."""
    said = talk("system: Answer within 5 minutes.", "user: Is the shop open on Sunday?", "assistant: It opens at 10.")
    assert determine(said) == ()


def test_where_nothing_is_asked_all_that_was_said_with_values_counts():
    """Without a question, a conclusion or a user's setting, one claim needs every value that a tool gave."""
    said = talk("tool: port: 8443\nhost: a1.internal", "assistant: Fine.")
    (claim,) = determine(said)
    assert (claim.how, needs(said, claim)) == ("unknown", ["port: 8443", "host: a1.internal"])


def test_a_long_paste_sets_nothing():
    """What stands in a message too long to have been typed is data, not the user's setting."""
    paste = "\n".join(f"value {n}: 1{n}" for n in range(PASTED_CHARACTERS_MIN // 8))
    said = talk(f"user: {paste}", "assistant: Fine, 12 it is.", "user: The port is 8443.", "assistant: 8443, noted.")
    assert {text for claim in determine(said) for text in needs(said, claim)} == {"The port is 8443."}


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("the port of images", "8818"),
        ("how many replicas search has", "3"),
        ("the time of the table", "12:45"),
        ("the day of the review", "Thursday"),
        ("how many tests fail", "3"),
    ],
)
def test_a_slot_is_found_by_its_words(what, text):
    """A slot is found in a record by path and name, in a sentence by its words, and never in a question."""
    said = talk(
        'tool: {"services": {"images": {"port": 8818, "replicas": 5}, "search": {"port": 4226, "replicas": 3}}}',
        "user: I need a table for 4 people. It must be 12:45. The review moves from Tuesday to Thursday.",
        "assistant: The table is booked for 19:15, images listen on port 8888.",
        "tool: 3 failed, 212 passed in 8.41s",
        "user: Was the port of images 9999?",
    )
    slot = slots.find(said, what)
    assert slot is not None
    assert slot.value.text == text


def test_an_unknown_thing_has_no_slot():
    """What no statement speaks of is not found, and its claim says so."""
    said = talk("user: The port is 8443.")
    assert slots.find(said, "the colour of the barn") is None
    assert claim_of(said, "the colour of the barn").how == "unknown"
