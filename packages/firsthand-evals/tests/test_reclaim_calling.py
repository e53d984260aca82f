"""evals/reclaim/readers.py: pulls as tool calls, and back."""

from __future__ import annotations

import pytest

from firsthand_evals.endpoint import Reply
from firsthand_evals.reclaim import readers
from firsthand_evals.reclaim.readers import MAY_RECALL, PULLS_MAX, TOOL, Calling

TOLD = MAY_RECALL.format(most=PULLS_MAX)
SYSTEM = {"role": "system", "content": f"Answer. {TOLD}\n\nMemory of earlier sessions:\nnone"}
BARE = {"role": "system", "content": "Answer.\n\nMemory of earlier sessions:\nnone"}
ASKED = {"role": "user", "content": "What is the total?"}


class Caller:
    """A model that calls its tool when it is offered one, with the arguments it is given, and keeps what it got."""

    def __init__(self, arguments: str) -> None:
        self.arguments, self.got = arguments, []

    def complete(self, messages, *, tools=(), max_tokens=256, temperature=0.0) -> Reply:
        self.got.append((messages, tools, max_tokens, temperature))
        calls = (self.arguments, "{}") if tools else ()
        return Reply("" if calls else "ANSWER: 46", calls, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ('{"query": "pens"}', "RECALL: pens"),
        ('{"query": "the pens\\nand the rest"}', "RECALL: the pens and the rest"),
        ('{"query": ""}', "RECALL: (no words)"),
        ('{"words": "pens"}', "RECALL: {'words': 'pens'}"),
        ('"pens"', "RECALL: pens"),
        ('{"query": "pe', 'RECALL: {"query": "pe'),
    ],
)
def test_the_first_call_becomes_a_line(arguments, line):
    """One query in one line, whatever the model put into its arguments; a second call in the same reply is left."""
    model = Caller(arguments)
    reader = Calling(model, "caller", temperature=0.5, tokens_max=77)
    assert reader.answer([SYSTEM, ASKED]) == line
    assert model.got == [([BARE, ASKED], (TOOL,), 77, 0.5)]


def test_a_session_that_asked_is_sent_with_its_calls():
    """Lines and answers of the memory become calls and their results, joined by id; other texts stay as they are."""
    said = [
        SYSTEM, ASKED, {"role": "assistant", "content": "RECALL: pens"},
        {"role": "user", "content": "Recalled:\n9 pens at $2"}, {"role": "assistant", "content": "ANSWER: 18"},
        {"role": "user", "content": "Recalled: nothing of the kind, I tell you."},
    ]  # fmt: skip
    assert readers.as_calls(said) == [
        BARE, ASKED,
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_2", "type": "function", "function": {"name": "recall", "arguments": '{"query": "pens"}'}}]},
        {"role": "tool", "tool_call_id": "call_2", "name": "recall", "content": "9 pens at $2"},
        *said[4:],
    ]  # fmt: skip


def test_without_a_memory_to_ask_no_tool_is_offered():
    """A session that was not told that it may look something up is sent as it is."""
    model = Caller("{}")
    assert Calling(model, "caller").answer([BARE, ASKED]) == "ANSWER: 46"
    assert model.got == [([BARE, ASKED], (), 300, 0.0)]
