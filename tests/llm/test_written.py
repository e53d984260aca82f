"""Tool calls as text: what the model is told, what the grammar admits, what is read back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand.llm import CallExample, ToolCall
from firsthand.llm.written import ARGUMENT_CHARACTERS_MAX, CLOSE, OPEN, grammar, is_answered, is_begun, read, told


def tool(name: str, required: list[str] | None = None, description: str = "", **properties: object) -> dict:
    parameters = {"type": "object", "properties": properties, "required": required or []}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


LOOK_UP = tool("look_up", ["words"], "Look   something\nup.", words={"type": "string"}, most={"type": "integer"})
CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"words": "port"}'}}


def test_messages_become_turns_of_text():
    """Calls and results stand in words, a developer is a system, and neighbours of one role are one message."""
    messages = [
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "Which"}, {"type": "text", "text": "port?"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL, CALL | {"id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "48211"},
        {"role": "tool", "tool_call_id": "c2", "content": "48212"},
    ]
    call = f'{OPEN}{{"name": "look_up", "arguments": {{"words": "port"}}}}{CLOSE}'
    first, *turns = told(messages, [LOOK_UP])
    assert first["content"].startswith("Be short.\n\n")
    assert turns == [
        {"role": "user", "content": "Which\nport?"},
        {"role": "assistant", "content": f"{call}\n{call}"},
        {"role": "user", "content": "Result of look_up:\n48211\n\nResult of look_up:\n48212"},
    ]


def test_calls_are_told_where_there_is_something_to_call():
    """Without tools a call is left out; its result stands behind the question, and words beside a call stay."""
    messages = [
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "48211"},
        {"role": "assistant", "content": "I look again.", "tool_calls": [CALL]},
    ]
    assert told(messages, []) == [
        {"role": "user", "content": "Which port?\n\nResult of look_up:\n48211"},
        {"role": "assistant", "content": "I look again."},
    ]


def test_tools_and_examples_have_their_places():
    """A tool is a line of the system text; an example is a turn before the newest question, if its tool is offered."""
    examples = [CallExample("Who?", "look_up", {"words": "who"}), CallExample("Never", "other", {})]
    first, *rest = told([{"role": "user", "content": "Which port?"}], [LOOK_UP], examples)
    assert first["role"] == "system"
    assert first["content"].splitlines()[-1] == "look_up(words: string, most?: integer) - Look something up."
    assert rest == [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": f'{OPEN}{{"name": "look_up", "arguments": {{"words": "who"}}}}{CLOSE}'},
        {"role": "user", "content": "Which port?"},
    ]
    before = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "!"},
    ]
    kept, *others = told([*before, {"role": "user", "content": "Which port?"}], [LOOK_UP], examples)
    assert kept["content"] == f"Be short.\n\n{first['content']}"
    assert others == [*before[1:], *rest]


def test_what_a_tokenizer_cannot_take_is_shown_as_such():
    """NUL and lone surrogates become U+FFFD; every other sign stays."""
    (message,) = told([{"role": "user", "content": "a\0b\ud800c\U0001f600\u0301"}], [])
    assert message["content"] == "a\ufffdb\ufffdc\U0001f600\u0301"


@pytest.mark.parametrize("content", [[{"type": "image_url", "image_url": {"url": "x"}}], 7, [7]])
def test_what_is_no_text_is_refused(content):
    """A model that reads text refuses an image, or anything else that is none."""
    with pytest.raises(InvalidArgument, match="reads text only"):
        told([{"role": "user", "content": content}], [])


def test_the_grammar_has_the_required_arguments_with_limits():
    """One shape for each tool: its name, the arguments that it must have, no others; a text has a greatest length."""
    kind = {"type": "string", "enum": ["a", "b"]}
    tools = [LOOK_UP, tool("list", ["kinds", "kind"], kinds={"type": "array", "items": {"type": "string"}}, kind=kind)]
    head, start, call = grammar(tools).splitlines()
    assert (head, start) == ("%llguidance {}", f'start: "{OPEN}" call "{CLOSE}"')
    shapes = json.loads(call.removeprefix("call: %json "))["anyOf"]
    assert [shape["properties"]["name"] for shape in shapes] == [{"const": "look_up"}, {"const": "list"}]
    text = {"type": "string", "maxLength": ARGUMENT_CHARACTERS_MAX}
    assert [shape["properties"]["arguments"]["properties"] for shape in shapes] == [
        {"words": text},
        {"kinds": {"type": "array", "items": text}, "kind": kind},
    ]
    assert all(shape["properties"]["arguments"]["additionalProperties"] is False for shape in shapes)


@given(st.text(min_size=1), st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_what_was_told_is_read_back(name, arguments):
    """A call as it is told to the model, for any name and arguments, is read as that call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    _, message = told([{"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}], [LOOK_UP])
    (call,) = read(f"\n{message['content']} ", "c9")
    assert (call.id, call.name, json.loads(call.arguments)) == ("c9", name, arguments)


@pytest.mark.parametrize(
    "words",
    [
        "", "hello", f'{OPEN}{{"name": "look_up"', f"{OPEN}hello{CLOSE}", f"{OPEN}[]{CLOSE}",
        f'{OPEN}{{"name": 7}}{CLOSE}',
        f"{OPEN}{'[' * 100_000}{CLOSE}", f'I would say {OPEN}{{"name": "look_up"}}{CLOSE}',
    ],
)  # fmt: skip
def test_words_are_no_call(words):
    """What is not one whole call and nothing else is taken as words."""
    assert read(words, "c") == ()


def test_a_call_without_arguments_has_none():
    """A call that names no arguments is one with an empty object."""
    assert read(f'{OPEN}{{"name": "list"}}{CLOSE}', "c") == (ToolCall("c", "list", "{}"),)


def test_the_beginning_of_a_call_is_known():
    """A call that was cut anywhere is one that was begun; words and nothing at all are not."""
    assert all(is_begun(f"{OPEN}{{}}"[:length]) for length in range(1, len(OPEN) + 3))
    assert not any(is_begun(words) for words in ("", "hello", f" {OPEN}", "<tool-call>"))


def test_a_user_message_is_answered_by_a_result_behind_it():
    """Only a tool result behind the newest user message answers it."""
    user, result, words = {"role": "user"}, {"role": "tool"}, {"role": "assistant"}
    assert not is_answered([user])
    assert not is_answered([user, result, words, user])
    assert is_answered([user, result, user, words, result])
    assert is_answered([words, result])
