"""Items of the OpenAI Responses API."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import BASE64, JSON, TEXT, fields, there_and_back, told

PNG = b"\x89PNG" + bytes(range(60))
DATA = base64.b64encode(PNG).decode()
BLOCK = st.one_of(
    fields({"type": st.sampled_from(["input_text", "output_text"]), "text": TEXT}, annotations=JSON),
    fields({"type": "input_image"}, image_url=TEXT | BASE64.map("data:image/png;base64,{}".format), file_id=TEXT),
    fields({"type": "input_file"}, file_data=BASE64, file_url=TEXT, file_id=TEXT, filename=TEXT),
    fields({"type": "refusal", "refusal": TEXT}),
    JSON,
)
ITEM = st.one_of(
    fields({"role": st.sampled_from(["user", "assistant", "system", "developer"])}, type=st.just("message"),
           content=TEXT | st.lists(BLOCK, max_size=3), id=TEXT, status=TEXT),
    fields({"type": "reasoning"}, summary=st.lists(BLOCK, max_size=2), content=st.lists(BLOCK, max_size=2),
           encrypted_content=TEXT, id=TEXT),
    fields({"type": st.sampled_from(["function_call", "custom_tool_call", "local_shell_call", "mcp_call",
                                     "web_search_call",
                                     "code_interpreter_call", "image_generation_call"])},
           call_id=TEXT, id=TEXT, name=TEXT, arguments=TEXT | JSON, input=TEXT, action=JSON, code=TEXT, output=JSON,
           outputs=JSON, error=JSON, result=BASE64),
    fields({"type": st.sampled_from(["function_call_output", "computer_call_output"])}, call_id=TEXT,
           output=TEXT | st.lists(BLOCK, max_size=3)),
    fields({"type": st.sampled_from(["compaction", "item_reference", "odd"])}, encrypted_content=TEXT, id=TEXT),
)  # fmt: skip


@given(st.lists(ITEM, max_size=4))
def test_every_item_comes_back_equal(items):
    """Whatever its type, and whatever is wrong in it, an item goes back as it came."""
    there_and_back("openai-responses", items)


@pytest.mark.parametrize(
    ("item", "events"),
    [
        ({"role": "user", "content": "hi"}, [("user_message", b"hi")]),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]},
            [("agent_message", b"yes")],
        ),
        (
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "a"}], "encrypted_content": "eA=="},
            [("reasoning", b"a")],
        ),
        ({"type": "reasoning", "summary": [], "encrypted_content": "eA=="}, [("reasoning", b"eA==")]),
        ({"type": "custom_tool_call", "name": "sql", "input": "select 1"}, [("tool_call", b"select 1")]),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, [("tool_call", b'{"command":["ls"]}')]),
        (
            {"type": "mcp_call", "name": "q", "arguments": "{}", "output": "out", "id": "m"},
            [("tool_call", b"{}"), ("tool_result", b"out")],
        ),
        ({"type": "image_generation_call", "id": "i", "result": DATA}, [("tool_call", b"{}"), ("attachment", PNG)]),
        (
            {"type": "function_call_output", "call_id": "c", "output": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
            ]},
            [("tool_result", b"see"), ("attachment", PNG)],
        ),
        ({"type": "compaction", "encrypted_content": "eA=="}, [("summary", b"eA==")]),
        ({"type": "item_reference", "id": "x"}, [("other", b'{"type":"item_reference","id":"x"}')]),
    ],
)  # fmt: skip
def test_each_type_of_item_gives_its_events(item, events):
    """Messages, readable and sealed reasoning, calls of every kind, results with files, compaction, the unknown."""
    assert told(there_and_back("openai-responses", [item])[0]) == events


def test_a_result_is_named_by_its_call():
    """The output item says only the call's id; the tool is the one that was called."""
    call = {"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "c"}
    output = {"type": "function_call_output", "call_id": "c", "output": "a"}
    _, (result,) = there_and_back("openai-responses", [call, output])
    assert (result.origin, result.meta) == ("tool:ls", {"call_id": "c", "tool": "ls"})
