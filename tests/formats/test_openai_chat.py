"""Messages of OpenAI chat completions."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import BASE64, JSON, TEXT, fields, there_and_back, told

from firsthand.event import Kind, Trust

PNG = b"\x89PNG" + bytes(range(60))
DATA = base64.b64encode(PNG).decode()
BLOCK = st.one_of(
    fields({"type": "text", "text": TEXT}),
    fields({"type": "refusal", "refusal": TEXT}),
    fields(
        {"type": "image_url", "image_url": fields({"url": TEXT | BASE64.map("data:image/png;base64,{}".format)}) | JSON}
    ),
    fields({"type": "input_audio", "input_audio": fields({"data": BASE64, "format": TEXT}) | JSON}),
    fields({"type": "file", "file": fields({}, file_data=BASE64, file_id=TEXT, filename=TEXT)}),
    JSON,
)
CALL = st.one_of(
    fields({"type": "function", "function": fields({"name": TEXT, "arguments": TEXT | JSON})}, id=TEXT),
    fields({"type": "custom", "custom": fields({"name": TEXT, "input": TEXT})}, id=TEXT),
    JSON,
)
MESSAGE = fields(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "odd"])},
    content=TEXT | st.none() | st.lists(BLOCK, max_size=3), name=TEXT, refusal=TEXT, tool_call_id=TEXT,
    tool_calls=st.lists(CALL, max_size=3), function_call=fields({"name": TEXT, "arguments": TEXT}),
    audio=fields({}, id=TEXT, data=BASE64, transcript=TEXT), reasoning_content=TEXT, reasoning=TEXT,
)  # fmt: skip


@given(st.lists(MESSAGE, max_size=4))
def test_every_message_comes_back_equal(messages):
    """Whatever its fields, and whatever is wrong in them, a message goes back as it came."""
    there_and_back("openai-chat", messages)


def test_a_conversation_with_tools_gives_its_events():
    """System, user, parallel calls and results: arguments are the very text the model wrote."""
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": f"tool{n}", "arguments": f'{{"n": {n}, "n": 1}}'}}
        for n in (1, 2)
    ]
    found = there_and_back(
        "openai-chat",
        [
            {"role": "developer", "content": "be kind"},
            {"role": "user", "content": "go", "name": "ada"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c2", "content": "out"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "out 1"}]},
        ],
    )
    assert [told(drafts) for drafts in found] == [
        [("system", b"be kind")],
        [("user_message", b"go")],
        [("tool_call", b'{"n": 1, "n": 1}'), ("tool_call", b'{"n": 2, "n": 1}')],
        [("tool_result", b"out")],
        [("tool_result", b"out 1")],
    ]
    assert found[1][0].meta == {"name": "ada"}
    assert [(found[k][0].origin, found[k][0].meta["call_id"]) for k in (3, 4)] == [
        ("tool:tool2", "c2"),
        ("tool:tool1", "c1"),
    ]
    assert b"n" not in found[2][0].envelope.split(b"arguments")[1][:12]  # the arguments were cut out


@pytest.mark.parametrize(
    ("message", "events"),
    [
        ({"role": "assistant", "content": None}, [("agent_message", b"")]),
        ({"role": "assistant", "content": ""}, [("agent_message", b"")]),
        ({"role": "assistant", "content": None, "refusal": "no"}, [("agent_message", b"no")]),
        (
            {"role": "assistant", "content": "a", "reasoning_content": "r"},
            [("reasoning", b"r"), ("agent_message", b"a")],
        ),
        (
            {"role": "assistant", "content": None, "audio": {"id": "au", "data": DATA, "transcript": "hear"}},
            [("agent_message", b"hear"), ("attachment", PNG)],
        ),
        ({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}, [("tool_call", b"{}")]),
        ({"role": "function", "name": "f", "content": "out"}, [("tool_result", b"out")]),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}]},
            [("attachment", PNG)],
        ),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}}]},
            [("attachment", b"file-1")],
        ),
        ({"role": "user", "content": [{"type": "video"}]}, [("other", b'{"type":"video"}')]),
    ],
)
def test_each_kind_of_message_gives_its_events(message, events):
    """Null and empty content, refusal, audio, the older function call, files and the unknown."""
    assert told(there_and_back("openai-chat", [message])[0]) == events


def test_a_role_that_is_not_known_is_trusted_with_nothing():
    """The words are kept as OTHER, untrusted, under the role's name."""
    ((draft,),) = there_and_back("openai-chat", [{"role": "prophet", "content": "x"}])
    assert (draft.kind, draft.origin, draft.trust) == (Kind.OTHER, "prophet", Trust.UNTRUSTED)


def test_words_of_another_origin_are_trusted_with_nothing():
    """What somebody else said, in the user's role or any other, is under that origin, whatever it calls itself."""
    for role, origin in (("user", "agent:clerk"), ("assistant", "system"), ("prophet", "user")):
        ((draft,),) = there_and_back("openai-chat", [{"role": role, "content": "x", "origin": origin}])
        assert (draft.kind, draft.origin, draft.trust) == (Kind.OTHER, origin, Trust.UNTRUSTED)
