"""Rollouts of Codex."""

from __future__ import annotations

import json

from host_suite import HostSuite, assert_fits
from hypothesis import given
from hypothesis import strategies as st
from readings import read, told

from firsthand.event import REPEATS, Kind, Trust
from firsthand.hosts.codex import Codex
from firsthand.moment import parse

HOST = Codex()
SESSION = "0198a0b1-0000-7000-8000-0000000000c5"
PATH = f"/home/ada/.codex/sessions/2026/03/04/rollout-2026-03-04T05-06-07-{SESSION}.jsonl"
TIME = "2026-03-04T05:06:07.890Z"


def line(kind: str, payload, **fields) -> bytes:
    entry = {"timestamp": TIME, "type": kind, "payload": payload, **fields}
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def item(kind: str, **fields) -> bytes:
    return line("response_item", {"type": kind, **fields})


def said(role: str, words: str) -> bytes:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": words}])


def event(kind: str, **fields) -> bytes:
    return line("event_msg", {"type": kind, **fields})


META = {
    "id": SESSION,
    "cwd": "/srv/app",
    "originator": "codex_cli",
    "cli_version": "0.169.0",
    "git": {"branch": "main"},
}
ARGUMENTS = '{"command":["ls","é"]}'
SAMPLE = b"".join(
    (
        line("session_meta", META),
        said("user", "<environment_context>\n  <cwd>/srv/app</cwd>\n</environment_context>"),
        line("turn_context", {"turn_id": "t1", "cwd": "/srv/app/sub", "model": "m-1", "effort": "high"}),
        said("user", "Why does é fail?"),
        event("user_message", message="Why does é fail?"),
        item("reasoning", summary=[{"type": "summary_text", "text": "Look first."}], encrypted_content="c2VhbGVk"),
        item("function_call", name="shell", arguments=ARGUMENTS, call_id="c1", id="fc1"),
        item("function_call_output", call_id="c1", output="a.py\n"),
        said("assistant", "It is the encoding."),
        event("agent_message", message="It is the encoding."),
        event("token_count", info={"total": 12}),
        line("compacted", {"message": "So far: é.", "replacement_history": [{"type": "message"}], "window_number": 2}),
        line("never_seen", {"odd": 1}),
    )
)


class TestSuite(HostSuite):
    """Codex holds to what every host holds to."""

    host, path, sample, session = HOST, PATH, SAMPLE, SESSION


def drafts(data: bytes):
    return [draft for reading in read(HOST, PATH, data) for draft in reading.record.drafts]


def test_a_rollout_is_told_in_order_and_no_message_twice():
    """Items become messages, calls and results; events that repeat them stay whole lines."""
    found = drafts(SAMPLE)
    lines = SAMPLE.splitlines(keepends=True)
    assert [draft.kind for draft in found] == [
        Kind.SESSION, Kind.SYSTEM, Kind.SESSION, Kind.USER_MESSAGE, Kind.OTHER, Kind.REASONING, Kind.TOOL_CALL,
        Kind.TOOL_RESULT, Kind.AGENT_MESSAGE, Kind.OTHER, Kind.OTHER, Kind.SUMMARY, Kind.OTHER,
    ]  # fmt: skip
    assert told(found)[3:10] == [
        ("user_message", "Why does é fail?".encode()),
        ("other", lines[4]),
        ("reasoning", b"Look first."),
        ("tool_call", ARGUMENTS.encode()),
        ("tool_result", b"a.py\n"),
        ("agent_message", b"It is the encoding."),
        ("other", lines[9]),
    ]
    assert (found[11].content, found[11].trust, found[11].meta["replaced_by"]) == (
        "So far: é.".encode(),
        Trust.AGENT,
        1,
    )
    assert {(draft.agent, draft.time) for draft in found} == {("codex", parse(TIME))}


def completed(kind: str, **fields) -> bytes:
    item = {"type": kind, "id": "i1", **fields}
    return event("item_completed", thread_id=SESSION, turn_id="t1", item=item, completed_at_ms=1772600767890)


def repeats(found) -> list[bool]:
    return [
        d.meta.get(REPEATS) is True
        for d in found
        if d.kind is Kind.OTHER and d.meta.get("item") not in (None, "token_count")
    ]


def test_an_event_that_repeats_a_message_says_so():
    """Words that an item said are marked as a copy, and words that none said are not."""
    assert repeats(drafts(SAMPLE + event("user_message", message="never an item"))[:-1]) == [True, True]
    assert repeats(drafts(SAMPLE + event("user_message", message="never an item"))[-1:]) == [False]


def test_an_item_that_was_completed_repeats_its_message():
    """The newer events say the user's message after it and the agent's before it; a command's output is no copy."""
    data = (
        said("user", "Why does é fail?")
        + completed("UserMessage", content=[{"type": "text", "text": "Why does é fail?", "text_elements": []}])
        + completed("CommandExecution", command=["bash", "-lc", "ls"], aggregated_output="a.py\n", exit_code=0)
        + completed("AgentMessage", content=[{"type": "Text", "text": "It is the encoding."}])
        + said("assistant", "It is the encoding.")
        + completed("UserMessage", content=[{"type": "text", "text": "never an item"}])
    )
    found = drafts(line("session_meta", META) + data)[1:]
    assert [d.kind for d in found] == [
        Kind.USER_MESSAGE, Kind.OTHER, Kind.OTHER, Kind.OTHER, Kind.AGENT_MESSAGE, Kind.OTHER,
    ]  # fmt: skip
    assert repeats(found) == [True, False, True, False]
    assert found[2].meta["completed"] == "CommandExecution"
    assert b"aggregated_output" in found[2].content


def test_what_codex_put_in_the_users_place_is_not_the_users():
    """Environment, instructions and developer messages are system events of the host, not trusted."""
    data = (
        said("user", "<user_instructions>\nx</user_instructions>") + said("developer", "hook says") + said("user", "hi")
    )
    assert [(d.kind, d.origin, d.trust) for d in drafts(line("session_meta", META) + data)[1:]] == [
        (Kind.SYSTEM, "host:codex", Trust.UNTRUSTED),
        (Kind.SYSTEM, "host:codex", Trust.UNTRUSTED),
        (Kind.USER_MESSAGE, "user", Trust.TRUSTED),
    ]


def test_calls_join_on_call_id_and_carry_folder_turn_and_model():
    """The result is named by its call's tool; the folder is the one of the turn."""
    found = {draft.kind: draft for draft in drafts(SAMPLE)}
    call, result = found[Kind.TOOL_CALL], found[Kind.TOOL_RESULT]
    assert call.meta == {
        "line": "response_item", "item": "function_call", "item_id": "fc1", "cwd": "/srv/app/sub", "turn_id": "t1",
        "model": "m-1", "call_id": "c1", "tool": "shell",
    }  # fmt: skip
    assert (result.origin, result.meta["call_id"], result.meta["tool"]) == ("tool:shell", "c1", "shell")


def test_a_compaction_without_words_keeps_its_history():
    """The replacement history is the summary's content when there is no message."""
    payload = {"message": "", "replacement_history": [{"type": "compaction", "encrypted_content": "eA=="}]}
    (draft,) = drafts(line("session_meta", META) + line("compacted", payload))[1:]
    assert (draft.kind, json.loads(draft.content)) == (Kind.SUMMARY, payload)


def test_a_session_is_named_by_its_file_or_by_its_first_line():
    """The thread id stands in the file's name; a file of another name is asked for its meta line."""
    assert HOST.session(PATH, b"") == SESSION
    assert HOST.session("/backup/copy.jsonl", SAMPLE) == SESSION


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELD = st.sampled_from(
    [
        "type",
        "role",
        "content",
        "summary",
        "output",
        "arguments",
        "call_id",
        "message",
        "text",
        "id",
        "result",
        "error",
        "name",
    ]
)
WORD = st.sampled_from(
    ["message", "reasoning", "function_call", "function_call_output", "mcp_call", "user_message", "compaction"]
)
LINE = st.sampled_from(["response_item", "event_msg", "compacted", "session_meta", "turn_context"])


@given(LINE, JSON | st.dictionaries(FIELD, WORD | JSON | st.lists(st.dictionaries(FIELD, WORD | JSON))))
def test_a_line_of_any_shape_parses(kind, payload):
    """Fields of wrong types raise nothing: the line gives at least one event that the log takes, and its raw again."""
    (reading,) = read(HOST, PATH, line(kind, payload))
    assert reading.record.drafts
    for draft in reading.record.drafts:
        assert_fits(draft)
