"""What a provider would refuse: one body that breaks each rule, and one of each provider that breaks none."""

from __future__ import annotations

from copy import deepcopy

import pytest

from firsthand import formats
from firsthand.errors import FormatError
from firsthand.formats.check import FAULTS_MAX, faults

PNG = "iVBORw0KGgo="
CHAT = {
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
    "messages": [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": [
            {"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}},
        ]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
            {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls"}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "two \\u0000 is no NUL"}]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "thanks"},
    ],
}  # fmt: skip
ANTHROPIC = {
    "tools": [{"name": "bash", "input_schema": {}, "cache_control": {"type": "ephemeral"}}],
    "system": [{"type": "text", "text": "be good", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "c1", "name": "bash", "input": {}},
            {"type": "tool_use", "id": "c2", "name": "bash", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [
                {"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}},
            ]},
            {"type": "tool_result", "tool_use_id": "c2", "content": "two", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "go on"},
        ]},
        {"role": "assistant", "content": "done"},
    ],
}  # fmt: skip
RESPONSES = {
    "input": [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": [
            {"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": "https://a.b/c.png"},
        ]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        {"type": "computer_call", "call_id": "c2", "action": {"type": "screenshot"}},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "computer_call_output", "call_id": "c2", "output": {"type": "computer_screenshot"}},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ],
}  # fmt: skip
WHOLE = {formats.OPENAI_CHAT: CHAT, formats.ANTHROPIC: ANTHROPIC, formats.OPENAI_RESPONSES: RESPONSES}


def changed(name, path, held):
    """Give a body without faults with one place changed; a callable changes what is there."""
    body = deepcopy(WHOLE[name])
    inner = body
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = held(inner[path[-1]]) if callable(held) else held
    return body


def without(number):
    return lambda members: members[:number] + members[number + 1 :]


def swapped(first):
    return lambda members: [*members[:first], members[first + 1], members[first], *members[first + 2 :]]


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_body_that_breaks_no_rule_has_no_fault(name):
    """What all providers' contracts allow passes, each kind of block among it."""
    assert faults(WHOLE[name], name) == ()


BROKEN_CHAT = [
    (("messages",), [], "messages is no list with at least one member"),
    (("messages", 0), "text", "a member of messages is no object"),
    (("messages", 0, "role"), "odd", "messages[0] has the role 'odd'"),
    (("messages", 0), {"role": "user", "content": "x"}, "messages[1] is a second message of the user in a row"),
    (("messages", 6, "role"), "assistant", "messages[6] is a second message of the assistant in a row"),
    (("messages",), without(1), "messages[1] is the agent's, with no user's before it"),
    (("messages",), lambda held: held[1:] + held[:1], "is a system message behind the first place"),
    (("messages",), lambda held: held[:1], "messages hold nothing beside the system's"),
    (("messages", 6, "content"), " \n", "messages[6] has an empty text"),
    (("messages", 6, "content"), None, "messages[6] has no content"),
    (("messages", 6, "content"), [], "messages[6] has no content"),
    (("messages", 5, "content"), None, "messages[5] has neither content nor calls"),
    (("messages", 1, "content", 0, "text"), "", "messages[1].content[0] has an empty text"),
    (("messages", 1, "content", 0, "type"), "odd", "messages[1].content[0] has the type 'odd'"),
    (("messages", 1, "content", 1, "image_url"), {}, "messages[1].content[1] has no image_url"),
    (("messages",), swapped(3), "messages[3] answers the call 'c2'; expected 'c1'"),
    (("messages",), without(4), "messages[4] stands where the results of 1 calls are expected, first 'c2'"),
    (("messages",), lambda held: held[:4], "messages end before the results of 1 calls, first 'c2'"),
    (("messages",), without(2), "messages[2] answers the call 'c1'; expected None"),
    (("messages", 2, "tool_calls"), [], "messages[2].tool_calls is no list of calls of the agent"),
    (("messages", 2, "tool_calls", 1, "id"), "c1", "messages[2].tool_calls[1] has the id 'c1' of another call"),
    (("messages", 2, "tool_calls", 0, "id"), "", "messages[2].tool_calls[0] has no id"),
    (("messages", 2, "tool_calls", 0, "function", "name"), "a b", "messages[2].tool_calls[0] names a tool 'a b'"),
    (("messages", 2, "tool_calls", 0, "function", "arguments"), "[1]", "arguments that are no JSON object"),
    (("messages", 2, "tool_calls", 0, "function", "arguments"), "{", "arguments that are no JSON object"),
    (("messages", 2, "tool_calls", 1, "custom", "input"), 7, "neither of a function nor of a custom tool"),
    (("messages", 6, "content"), "a\ud800", "a lone surrogate, which has no UTF-8"),
    (("messages", 6, "content"), "a\0", "a NUL stands in the body"),
    (("tools",), lambda held: held * 2, "2 tools have the name 'bash'"),
]
BROKEN_ANTHROPIC = [
    (("system",), [], "system is neither a text nor a list"),
    (("system", 0, "text"), " ", "system[0] is no text, or an empty one"),
    (("system", 0, "type"), "image", "system[0] is no text, or an empty one"),
    (("messages", 0, "content", 0, "cache_control"), {}, "5 cache breakpoints; expected at most 4"),
    (("messages",), without(0), "messages[0] is not the user's"),
    (("messages",), without(1), "messages[1] is a second message of the user in a row"),
    (("messages",), without(1), "messages[1] has results of 2 calls, first 'c1'; the message before calls no call"),
    (("messages", 2, "content"), without(0), "the message before calls 2 calls, first 'c1'"),
    (("messages", 2, "content"), swapped(1), "messages[2] has other blocks before the results"),
    (("messages",), lambda held: held[:2], "messages end before the results of 2 calls, first 'c1'"),
    (("messages", 0, "role"), "system", "messages[0] has the role 'system'"),
    (("messages", 0, "name"), "x", "messages[0] has fields beside role and content: ['name']"),
    (("messages", 3, "content"), "", "messages[3] has no content"),
    (("messages", 3, "content"), [], "messages[3] has no content"),
    (("messages", 3, "content"), "done ", "the last message is the agent's and ends with space"),
    (("messages", 3, "content"), [{"type": "thinking", "signature": "s"}], "messages[3] ends with a thought"),
    (("messages", 1, "content", 0, "signature"), "", "messages[1].content[0] is a thought without its signature"),
    (("messages", 1, "content", 0, "cache_control"), {}, "messages[1].content[0] is a thought with a cache breakpoint"),
    (("messages", 0, "content", 0, "text"), "\t", "messages[0].content[0] has an empty text"),
    (("messages", 0, "content", 0, "type"), "tool_use", "has the type 'tool_use', which the user cannot have"),
    (("messages", 1, "content", 1, "id"), "c 1", "has the id 'c 1'; expected letters, digits, _ and -"),
    (("messages", 1, "content", 2, "id"), "c1", "messages[1].content[2] has the id 'c1' of another call"),
    (("messages", 1, "content", 1, "name"), "a" * 65, "messages[1].content[1] names a tool 'aaa"),
    (("messages", 1, "content", 1, "input"), "{}", "messages[1].content[1] has an input that is no object"),
    (("messages", 2, "content", 0, "content", 0, "text"), "", "messages[2].content[0].content[0] has an empty text"),
    (("messages", 0, "content", 1, "source", "data"), "=", "has data that is no base64"),
    (("messages", 0, "content", 1, "source", "media_type"), "image/tiff", "has the media type 'image/tiff'"),
    (("messages", 0, "content", 1, "source"), {}, "has no source that the provider knows"),
]
BROKEN_RESPONSES = [
    (("input",), {}, "input is no list with at least one member"),
    (("input", 0, "role"), "tool", "input[0] has the role 'tool'"),
    (("input", 0, "content"), "", "input[0] has an empty text"),
    (("input", 1, "content", 0, "type"), "output_text", "input[1].content[0] has the type 'output_text'"),
    (("input",), without(3), "input[4] answers the call 'c1'; no such call of its type is open before it"),
    (("input",), without(5), "the call 'c1' has no output"),
    (("input", 5, "type"), "custom_tool_call_output", "input[5] answers the call 'c1'; no such call of its type"),
    (("input", 5, "output"), " ", "input[5] has an empty text"),
    (("input", 4, "call_id"), "c1", "input[4] has the id 'c1' of another call"),
    (("input", 3, "name"), "", "input[3] names a tool ''"),
    (("input", 3, "arguments"), "", "input[3] has arguments that are no JSON object"),
    (("input",), swapped(1), "input[1] is a reasoning item without the item that it led to"),
    (("input", 7, "type"), "odd", "input[7] has the type 'odd'"),
]


@pytest.mark.parametrize(
    ("name", "path", "held", "fault"),
    [
        *((formats.OPENAI_CHAT, *case) for case in BROKEN_CHAT),
        *((formats.ANTHROPIC, *case) for case in BROKEN_ANTHROPIC),
        *((formats.OPENAI_RESPONSES, *case) for case in BROKEN_RESPONSES),
    ],
)
def test_a_broken_rule_is_a_fault_that_says_where(name, path, held, fault):
    """Each rule, broken in one place of a body without faults, gives a sentence with its place."""
    found = faults(changed(name, path, held), name)
    assert [said for said in found if fault in said], found


def test_the_faults_of_a_body_are_limited():
    """A body with very many faults tells the first hundred."""
    body = {"messages": [{"role": "odd", "content": ""}] * 10_000}
    assert len(faults(body, formats.OPENAI_CHAT)) == FAULTS_MAX


def test_an_unknown_format_is_refused():
    """There are no rules of a format that does not exist."""
    with pytest.raises(FormatError, match="a format is one of"):
        faults(CHAT, "x")
