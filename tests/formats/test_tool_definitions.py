"""Tools in each provider's shape: schemas, the calls in a reply, the messages that answer them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import formats
from firsthand.errors import FormatError
from firsthand.formats.tool_definitions import Call, Result, Tool, calls, results, schemas

RECALL = Tool("recall", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})
PARAMETERS = {"type": "object", "properties": {"query": {"type": "string"}}}


class Reply:
    """Stands for a provider's own type: it gives what it would send."""

    def __init__(self, held):
        self.held = held

    def model_dump(self, *, mode, exclude_unset):
        assert mode == "json"
        assert exclude_unset
        return self.held


def reply(name, *written):
    """Write a reply with calls of these ids, names and arguments."""
    if name == formats.ANTHROPIC:
        blocks = [{"type": "tool_use", "id": i, "name": n, "input": json.loads(a)} for i, n, a in written]
        return {"role": "assistant", "content": [{"type": "text", "text": "so:"}, *blocks]}
    if name == formats.OPENAI_RESPONSES:
        items = [{"type": "function_call", "call_id": i, "name": n, "arguments": a} for i, n, a in written]
        return {"output": [{"type": "reasoning", "id": "rs_1", "summary": []}, *items]}
    found = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in written]
    return {"role": "assistant", "content": None, "tool_calls": found}


def test_a_schema_has_the_shape_of_its_provider():
    """Each provider gets name, description and parameters under the keys that it reads."""
    function = {"name": "recall", "description": "Search.", "parameters": PARAMETERS}
    assert schemas([RECALL], formats.OPENAI_CHAT) == [{"type": "function", "function": function}]
    assert schemas([RECALL], formats.OPENAI_RESPONSES) == [{"type": "function", **function, "strict": False}]
    assert schemas([RECALL], formats.ANTHROPIC) == [
        {"name": "recall", "description": "Search.", "input_schema": PARAMETERS}
    ]
    assert schemas([], formats.ANTHROPIC) == []


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
@pytest.mark.parametrize("wrap", [lambda held: held, Reply], ids=["dict", "own type"])
def test_all_calls_of_a_reply_are_found_in_order(name, wrap):
    """Several calls in one reply come out as they were made, from objects and from providers' own types."""
    made = reply(name, ("c1", "recall", '{"query": "x"}'), ("c2", "expand", "{}"))
    assert calls(wrap(made), name) == (Call("c1", "recall", {"query": "x"}), Call("c2", "expand", {}))


def test_blocks_and_items_may_come_as_a_list():
    """The content list of Anthropic and the output list of OpenAI responses are replies too, in own types as well."""
    use = {"type": "tool_use", "id": "c1", "name": "recall", "input": {"query": "x"}}
    assert calls([{"type": "text", "text": "a"}, Reply(use)], formats.ANTHROPIC) == (
        Call("c1", "recall", {"query": "x"}),
    )
    item = {"type": "function_call", "call_id": "c1", "name": "recall", "arguments": "{}"}
    assert calls([Reply(item)], formats.OPENAI_RESPONSES) == (Call("c1", "recall", {}),)
    assert calls(item, formats.OPENAI_RESPONSES) == (Call("c1", "recall", {}),)


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
def test_a_reply_without_calls_has_none(name):
    """A reply of text only gives no calls, and no error."""
    said = {"role": "assistant", "content": "done", "tool_calls": None}
    assert calls({"output": [said]} if name == formats.OPENAI_RESPONSES else said, name) == ()


@pytest.mark.parametrize(
    ("written", "said"),
    [("{broken", "which is no JSON"), ("[1]", "got '[1]'"), ('"text"', "got '\"text\"'"), ("[" * 100_000, "no JSON")],
)
def test_malformed_arguments_are_a_fault_and_no_error(written, said):
    """A call with arguments that are no object is found, and says what they are, shortly, and what to do."""
    (call,) = calls(reply(formats.OPENAI_CHAT, ("c1", "recall", written)), formats.OPENAI_CHAT)
    assert (call.id, call.name, call.arguments) == ("c1", "recall", None)
    assert said in call.fault
    assert call.fault.endswith("call again with an object")
    assert len(call.fault) < 400


@pytest.mark.parametrize(("written", "arguments"), [("", {}), (None, {}), ('{"a": "x\ny"}', {"a": "x\ny"})])
def test_what_models_write_for_arguments_is_read(written, arguments):
    """No arguments are an empty object, and a line end inside a string is taken as one."""
    (call,) = calls(reply(formats.OPENAI_CHAT, ("c1", "recall", written)), formats.OPENAI_CHAT)
    assert call == Call("c1", "recall", arguments)


def test_arguments_that_are_no_text_are_a_fault():
    """A number for arguments is named by its type."""
    (call,) = calls({"content": [{"type": "tool_use", "id": "c", "name": "n", "input": 7}]}, formats.ANTHROPIC)
    assert call.fault == "arguments are a JSON object; got int; call again with an object"


def test_a_custom_call_has_its_text_as_input():
    """A call of a custom tool is read in both formats of OpenAI, and its answer has the type that belongs to it."""
    chat = {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
    }
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "sh", "input": "ls"}
    expected = Call("c1", "sh", {"input": "ls"}, custom=True)
    assert calls(chat, formats.OPENAI_CHAT) == calls(item, formats.OPENAI_RESPONSES) == (expected,)
    assert results([Result(expected, "a")], formats.OPENAI_RESPONSES) == [
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "a"}
    ]


def test_results_have_the_shape_of_their_provider():
    """Anthropic takes all results in one user message, the others one message each; an empty text says that it is."""
    given = [Result(Call("c1", "recall", {}), "found"), Result(Call("c2", "expand", {}), "", is_error=True)]
    assert results(given, formats.OPENAI_CHAT) == [
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "tool", "tool_call_id": "c2", "content": "[no output]"},
    ]
    assert results(given, formats.OPENAI_RESPONSES) == [
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"type": "function_call_output", "call_id": "c2", "output": "[no output]"},
    ]
    assert results(given, formats.ANTHROPIC) == [
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "found"},
            {"type": "tool_result", "tool_use_id": "c2", "content": "[no output]", "is_error": True},
        ]},
    ]  # fmt: skip
    assert results([], formats.ANTHROPIC) == []


@pytest.mark.parametrize(
    ("message", "name", "said"),
    [
        ("text", formats.OPENAI_CHAT, "convert it to a dict"),
        ([], formats.OPENAI_CHAT, "pass response.choices[0].message"),
        ({"choices": []}, formats.OPENAI_CHAT, "pass response.choices[0].message"),
        ({"role": "assistant"}, formats.ANTHROPIC, "'content'"),
    ],
)
def test_what_is_no_reply_is_refused(message, name, said):
    """Another object than the reply is told, with what to pass instead."""
    with pytest.raises(FormatError, match="expected") as refused:
        calls(message, name)
    assert said in str(refused.value)


def test_an_unknown_format_is_refused_everywhere():
    """A format that does not exist is named in an error by all three functions."""
    for ask in (lambda: schemas([], "x"), lambda: calls({}, "x"), lambda: results([], "x")):
        with pytest.raises(FormatError, match="a format is one of"):
            ask()


@given(
    st.sampled_from(sorted(formats.FORMATS)),
    st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=4),
)
def test_every_call_that_is_written_is_read(name, arguments):
    """Whatever the arguments are, calls come back with ids, names and arguments, and each gets its result."""
    made = reply(name, *((f"c{n}", "recall", json.dumps(each)) for n, each in enumerate(arguments)))
    found = calls(made, name)
    assert found == tuple(Call(f"c{n}", "recall", each) for n, each in enumerate(arguments))
    answered = json.dumps(results([Result(call, "r") for call in found], name))
    assert [answered.count(f'"c{n}"') for n in range(len(arguments))] == [1] * len(arguments)
