"""Distilling: what users and tools said, verbatim, within any budget, and how much of it is missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import Note
from firsthand.errors import InvalidArgument
from firsthand.event import Trust
from firsthand.notes.distill import STATEMENTS_MAX, distill
from firsthand.tokens import estimate

ONE, TWO, THREE, FOUR = (f"fh:01J8ZQ4T9M6V3K2N7P5R8S1WX{last}" for last in "0123")
GOODS = ("ropes", "lamps", "oars", "tarps", "crates", "quilts", "brooms", "anvils")
SAID = [f"We took {n + 2} {good} at ${n + 3} each." for n, good in enumerate(GOODS)]


def user(*contents: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": content} for content in contents]


def with_pointers(messages):
    made = "fh:01J8ZQ4T9M6V3K2N7P5R8S{:04}"
    return [{**message, "pointer": made.format(place)} for place, message in enumerate(messages)]


def test_what_users_and_tools_said_is_kept_and_nothing_of_an_agent():
    """With room every statement stands there in order, with its pointer; what an agent concluded is no source."""
    messages = [
        {"role": "user", "content": "We bought 7 pads at $4, but not the 5 lamps.\nThe total?", "pointer": ONE},
        {"role": "assistant", "content": "The total comes to $55.", "pointer": TWO},
        {"role": "tool", "content": "VAT=0.19\n[done]", "pointer": THREE},
    ]
    assert distill(messages, 400).text == (
        f"3 of 3 statements kept.\n{ONE}\n- We bought 7 pads at $4, but not the 5 lamps.\n{THREE}\n- VAT=0.19\n- [done]"
    )


def test_figures_and_exact_strings_come_first():
    """Where not all fits, statements with a figure or a string that is written in one way alone stay."""
    said = user("It rained. The path is src/app/main.py:12. Nobody came. Port 8443 is open. Who is `root`? Why?")
    assert [piece.text for piece in distill(said, 110).evidence] == [
        "The path is src/app/main.py:12.", "Port 8443 is open."
    ]  # fmt: skip
    assert distill(said, 400).of == 5, "a question counts when it holds an exact string"


def test_every_budget_is_kept_one_by_one():
    """At each budget, from nothing to more than all, the text fits, with pointers and without."""
    for messages in (user(*SAID), with_pointers(user(*SAID))):
        assert all(len(distill(messages, budget).text) <= budget for budget in range(620))


def test_a_statement_that_is_too_long_gives_way_to_shorter_ones():
    """Where one long statement does not fit, the shorter ones behind it are still kept."""
    long = "7 pads at $4 for the room at the very end of the corridor behind the stairs to the second cellar"
    note = distill(user(f"{long}. 9 pens at $2. 3 cups at $1. What is the total?"), 90)
    assert [piece.text for piece in note.evidence] == ["9 pens at $2.", "3 cups at $1."]


def test_what_does_not_fit_is_pointed_to():
    """Where the budget does not hold all, the note says k of n, and the rest is one span of the session."""
    messages = with_pointers(user(*SAID, "What is the total?"))
    pointers = [message["pointer"] for message in messages]
    note = distill(messages, 200)
    assert (note.kept, note.of, note.rest) == (1, 8, "reachable")
    assert note.text == (
        f"1 of 8 statements kept; the rest is at {pointers[1]}..{pointers[7][3:]}.\n{pointers[0]}\n- {SAID[0]}"
    )
    lost = distill(user(*SAID), 100)
    assert (lost.kept, lost.rest) == (1, "lost")
    assert "the rest was not kept" in lost.text


def test_the_rest_of_a_message_that_is_kept_in_part_is_pointed_to():
    """A message of which a statement is kept and another one is not lies within the span that leads to the rest."""
    messages = with_pointers(user(f"{SAID[0]} {SAID[1]} {'x' * 300} 1.", "And then.", "That is all."))
    pointers = [message["pointer"] for message in messages]
    note = distill(messages, 200)
    assert (note.kept, note.of) == (2, 5)
    head = f"2 of 5 statements kept; the rest is at {pointers[0]}..{pointers[2][3:]}."
    assert note.text.startswith(f"{head}\n{pointers[0]}\n- ")


def test_a_note_says_whose_words_it_carries_when_it_is_signed():
    """Signed, a note is as trusted as the least trusted of its sources."""
    messages = [*user("The port is 8443."), {"role": "tool", "content": "port: 9000\nhost: a1"}]
    assert distill(messages[:1], 200, origin="me").trust is Trust.TRUSTED
    assert distill(messages, 200, origin="me").trust is Trust.UNTRUSTED


def test_a_budget_may_be_of_tokens():
    """A budget is counted as the caller counts."""
    assert 0 < estimate(distill(user(*SAID), 60, count=estimate).text) <= 60


def test_beyond_a_number_of_statements_the_note_says_that_it_is_partial():
    """A statement past the limit counts as left out."""
    note = distill(with_pointers(user("\n".join(f"x{n}" for n in range(STATEMENTS_MAX + 5)))), 2_000_000)
    assert (note.kept, note.of, note.rest) == (STATEMENTS_MAX, STATEMENTS_MAX + 5, "reachable")


_CONTENT = st.text(max_size=120) | st.sampled_from(
    ["7 pads at $4, 9 pens at $2", "| a | b |\n|---|---|\n| pens | 7 |", '{"a": [1, {"b": 2}]}', "The total is $55.",
     "not 7 but 9 pens", "What is the total?", "a: 1\n  b: 2", "port 80\u3002\u7aef\u53e3 81\u3002"]
)  # fmt: skip
_MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "odd"]), "content": _CONTENT},
        optional={"pointer": st.sampled_from(["", ONE, TWO, THREE, FOUR, f"{ONE}@1-2"])},
    ),
    max_size=8,
)


@given(_MESSAGES, st.integers(min_value=0, max_value=400))
def test_any_budget_is_kept_and_all_evidence_is_verbatim(messages, budget):
    """Whatever messages and budget: no error, never over it, each piece a substring, read back as it was made."""
    note = distill(messages, budget)
    assert len(note.text) <= budget
    assert all(any(piece.text in message["content"] for message in messages) for piece in note.evidence)
    pointers = {message.get("pointer") for message in messages}
    assert all(piece.pointer in pointers for piece in note.evidence if piece.pointer)
    assert Note.read(note.text) == note
    assert note.conclusion == ""


@pytest.mark.parametrize("budget", [0, 1, 10])
def test_a_tiny_budget_gives_a_blank_note(budget):
    """Where not even the completeness fits, nothing is written: a note that asserts nothing."""
    assert distill(user(*SAID), budget).text == ""


def test_what_cannot_be_distilled_is_refused():
    """A budget below 0 and a message without text are mistakes of the caller."""
    with pytest.raises(InvalidArgument, match="a budget is 0 or more"):
        distill([], -1)
    with pytest.raises(InvalidArgument, match="message 1 has list"):
        distill([{"role": "user", "content": []}], 10)
