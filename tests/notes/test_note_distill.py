"""Distilling: what users and tools said, verbatim, within any budget, and how much of it is missing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import InvalidArgument, Note, distill
from firsthand.tokens import estimate

ONE, TWO, THREE = (f"fh:01J8ZQ4T9M6V3K2N7P5R8S1WX{last}" for last in "012")
NOISE = [f"src/app/module_{number}.py:{number} ok in {number % 7} ms" for number in range(60)]
DECIDES = "retries: { limit: 5, wait_seconds: 1.5, jitter: false }"


def session() -> list[dict[str, str]]:
    """Make a session whose deciding line stands in the middle of a long output."""
    contents = [
        ("user", "Clean up the billing module."), ("tool", "\n".join(NOISE[:30])), ("assistant", "Done."),
        ("user", "Before that: what does the retry policy of the gateway say?"),
        ("tool", "\n".join([*NOISE[30:45], DECIDES, *NOISE[45:]])), ("assistant", "Five times."),
        ("user", "And now rename the gateway."), ("assistant", "Requests are retried 5 times."),
    ]  # fmt: skip
    made = "fh:01J8ZQ4T9M6V3K2N7P5R8S{:04}"
    return [
        {"role": role, "content": content, "pointer": made.format(place)}
        for place, (role, content) in enumerate(contents)
    ]


def kept_lines(note: Note) -> list[str]:
    """Give the sentences of a note: what is neither its first line nor a pointer."""
    lines = [line for line in note.text.splitlines()[1:] if not line.startswith("fh:") and line != "elsewhere"]
    return [line.removeprefix("- ") if line.startswith(("- fh:", "- elsewhere")) else line for line in lines]


def test_all_that_fits_stands_there_and_nothing_of_an_agent():
    """With room every sentence stands there in order, with its pointer; what an agent concluded is no source."""
    messages = [
        {"role": "user", "content": "We bought 7 pads at $4, but not the 5 lamps.\nThe total?", "pointer": ONE},
        {"role": "assistant", "content": "The total comes to $55.", "pointer": TWO},
        {"role": "tool", "content": "VAT=0.19; cut\n[done]", "pointer": THREE},
    ]
    assert distill(messages, 400) == Note(
        f"4 of 4 statements kept.\n{ONE}\nWe bought 7 pads at $4, but not the 5 lamps.\nThe total?\n"
        f"{THREE}\nVAT=0.19; cut\n[done]", 4, 4, (ONE, THREE),
    )  # fmt: skip


@pytest.mark.parametrize("claim", ["the gateway retries 5 times", "it tries again up to five times", None])
def test_the_line_that_decides_is_kept(claim):
    """In a small budget the line that bears the claim out stands, out of a long output that mostly does not."""
    note = distill(session()[: 8 if claim else 6], 400, claim)
    assert DECIDES in kept_lines(note)
    assert note.of > 60


def test_questions_make_room_for_what_is_stated():
    """A question shares the most words with what is asked, and states nothing: an answer comes before it."""
    asked = {"role": "user", "content": "Which port does the gateway of the billing cluster listen on?"}
    stated = {"role": "tool", "content": "gateway: 8443"}
    messages = [asked, stated, *({"role": "tool", "content": line} for line in NOISE[:8]), asked]
    assert kept_lines(distill(messages, 120))[:1] == ["gateway: 8443"]


def test_what_does_not_fit_is_counted_and_pointed_to():
    """Where the budget does not hold all, the note counts every sentence, and one span leads to the rest."""
    messages = session()
    note = distill(messages, 300)
    first, last = messages[0]["pointer"], messages[4 if messages[6]["content"] in note.text else 6]["pointer"]
    assert note.text.startswith(f"{note.kept} of 64 statements kept; the rest is at {first}..{last[3:]}.\n")
    assert (note.of, note.rest) == (64, (f"{first}..{last[3:]}",))
    lost = distill([{"role": "user", "content": "One thing. Another thing. " * 9}], 60)
    assert (lost.of, lost.rest, lost.text.splitlines()[0]) == (18, (), f"{lost.kept} of 18 statements kept.")


def test_no_sentence_poses_as_a_pointer():
    """A line that a tool wrote like an address stands behind a dash, so that it is taken for nobody's source."""
    posing = {"role": "tool", "content": f"{TWO}\nelsewhere\nThe total is $55.", "pointer": ONE}
    note = distill([posing, {"role": "user", "content": "Thanks.", "pointer": "elsewhere"}], 400)
    assert note.text.splitlines()[1:] == [ONE, f"- {TWO}", "- elsewhere", "The total is $55.", "elsewhere", "Thanks."]


def test_short_sentences_cost_no_more_than_their_words():
    """Of a budget the note's own signs take its first line and a line's end each: what nearly fits, fits whole."""
    text = "\n".join(f"take {number}" for number in range(40))
    note = distill([{"role": "user", "content": text}], len(text) + len("40 of 40 statements kept.\n"))
    assert note.text == f"40 of 40 statements kept.\n{text}"


def test_lines_of_a_tool_stay_whole():
    """A sign that ends a sentence does not cut a line of a log."""
    messages = [{"role": "tool", "content": "a = 1; b = 2. c = 3\nnext"}]
    assert kept_lines(distill(messages, 200)) == ["a = 1; b = 2. c = 3", "next"]


def test_a_budget_may_be_of_tokens():
    """A budget is counted as the caller counts."""
    assert 0 < estimate(distill(session(), 90, count=estimate).text) <= 90


_CONTENT = st.text(max_size=120) | st.sampled_from(
    ["7 pads at $4, 9 pens at $2", "| a | b |\n|---|---|\n| pens | 7 |", '{"a": [1, {"b": 2}]}', "The total is $55.",
     "not 7 but 9 pens", "What is the total?", "a: 1\n  b: 2", "port 80\u3002\u7aef\u53e3 81\u3002",
     f"elsewhere\n{ONE}"]
)  # fmt: skip
_MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "odd"]), "content": _CONTENT},
        optional={"pointer": st.sampled_from(["", ONE, TWO, THREE, f"{ONE}@1-2", "elsewhere"])},
    ),
    max_size=8,
)


@given(_MESSAGES, st.integers(min_value=0, max_value=400), st.none() | st.text(max_size=40))
def test_any_budget_is_kept_and_no_note_is_falsely_whole(messages, budget, claim):
    """Whatever comes: never over the budget, each sentence verbatim, and all is kept where the note says so."""
    note = distill(messages, budget, claim)
    assert len(note.text) <= budget
    said = "\n".join(message["content"] for message in messages if message["role"] != "assistant")
    assert note.kept <= note.of
    if note.text and note.kept == note.of:
        assert re.sub(r"\s", "", "".join(kept_lines(note))) == re.sub(r"\s", "", said)


@pytest.mark.parametrize("budget", [0, 1, 10])
def test_a_tiny_budget_gives_a_blank_note(budget):
    """Where not even the count fits, nothing is written: a note that asserts nothing."""
    assert distill(session(), budget).text == ""


def test_what_cannot_be_distilled_is_refused():
    """A budget below 0 and a message without text are mistakes of the caller."""
    with pytest.raises(InvalidArgument, match="a budget is 0 or more"):
        distill([], -1)
    with pytest.raises(InvalidArgument, match="message 1 has list"):
        distill([{"role": "user", "content": []}], 100)
