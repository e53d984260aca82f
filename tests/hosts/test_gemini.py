"""Chats of Gemini CLI, as lines and as one file."""

from __future__ import annotations

import base64
import json

from host_suite import HostSuite
from readings import drafts, read, told

from firsthand.event import REPEATS, Kind, Trust
from firsthand.hosts.gemini import REWRITES_MAX, Gemini, GeminiFile
from firsthand.hosts.transcript import STATE_BYTES_MAX, Source
from firsthand.moment import parse

PATH = "/h/.gemini/tmp/ab12/chats/session-2026-02-03T04-05-g1.jsonl"
TIME = "2026-02-03T04:05:06.000Z"
HEADER = {"sessionId": "g-1", "projectHash": "ab12", "startTime": TIME, "lastUpdated": TIME, "kind": "main"}
USER = {"id": "m1", "timestamp": TIME, "type": "user", "content": [{"text": "read é"}]}
RUNNING = {"id": "c1", "name": "read_file", "args": {"path": "a.txt"}, "status": "executing", "timestamp": TIME}
DONE = RUNNING | {
    "status": "success",
    "result": [{"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "one\ntwo"}}}],
}
ASKED = {
    "id": "m2", "timestamp": TIME, "type": "gemini", "content": "Reading.", "model": "g-3", "toolCalls": [RUNNING],
    "thoughts": [{"subject": "Plan", "description": "look first", "timestamp": TIME}], "tokens": {"input": 3},
}  # fmt: skip
ANSWERED = ASKED | {"toolCalls": [DONE]}


def lines(*values) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def one(*values):
    return drafts(Gemini(), PATH, lines(HEADER, *values))[1:]


def test_the_first_record_names_the_session():
    """The metadata record is an event of facts, and its id the session; a subagent's lies under its parent."""
    head = lines(HEADER)
    (header,) = drafts(Gemini(), PATH, head)
    assert (header.kind, json.loads(header.content), header.time) == (Kind.SESSION, HEADER, parse(TIME))
    assert Gemini().session(PATH, head) == "g-1"
    assert Gemini().session("/h/.gemini/tmp/ab12/chats/parent-7/a.jsonl", head) == "parent-7/g-1"


def test_a_message_is_its_parts_and_an_answer_its_thoughts_text_and_calls():
    """Texts are exact, arguments as they are written, a result is its output."""
    made = one(USER, ANSWERED)
    assert told(made) == [
        ("user_message", "read é".encode()), ("reasoning", b"look first"), ("agent_message", b"Reading."),
        ("tool_call", b'{"path": "a.txt"}'), ("tool_result", b"one\ntwo"),
    ]  # fmt: skip
    assert [(d.origin, d.trust) for d in made] == [
        ("user", Trust.TRUSTED), ("agent", Trust.AGENT), ("agent", Trust.AGENT), ("agent", Trust.AGENT),
        ("tool:read_file", Trust.UNTRUSTED),
    ]  # fmt: skip
    assert made[1].meta == {"uuid": "m2", "type": "gemini", "subject": "Plan", "model": "g-3", "tokens": {"input": 3}}
    assert made[4].meta == {"uuid": "m2", "type": "gemini", "call_id": "c1", "tool": "read_file", "status": "success"}


def test_a_message_written_again_adds_only_what_is_new():
    """The second writing of a message brings the result; text, thought and call are not told twice."""
    made = one(ASKED, ANSWERED, ANSWERED | {"tokens": {"input": 9}})
    assert [d.kind for d in made] == ["reasoning", "agent_message", "tool_call", "tool_result", "session"]
    assert [d.meta.get("rewrites") for d in made] == [None, None, None, "m2", "m2"]
    assert json.loads(made[4].content) == {"model": "g-3", "tokens": {"input": 9}}


def test_what_hooks_added_stands_apart_from_the_users_words():
    """Before the words (without a terminal) and behind them: system events of the host, which begin no turn."""
    added = "<hook_context>&lt;&lt;firsthand 12: memory&gt;&gt;\\nx &lt;/hook_context&gt;</hook_context>".replace(
        "\\n", "\n"
    )
    content = [{"text": f"{added}\n\nread é"}, {"text": "<hook_context>Episodes: one</hook_context>"}]
    made = one(USER | {"content": content, "displayContent": content[:1]})
    assert told(made) == [
        ("system", b"&lt;&lt;firsthand 12: memory&gt;&gt;\nx &lt;/hook_context&gt;"),
        ("user_message", "read é".encode()),
        ("system", b"Episodes: one"),
    ]  # fmt: skip
    assert [(d.origin, d.trust) for d in made] == [
        ("host:gemini", Trust.UNTRUSTED), ("user", Trust.TRUSTED), ("host:gemini", Trust.UNTRUSTED),
    ]  # fmt: skip
    (opening,) = one(USER | {"content": [{"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}]})
    assert (opening.kind, opening.trust) == (Kind.SYSTEM, Trust.UNTRUSTED)
    quoted = "what does <hook_context> mean?"
    assert told(one(USER | {"content": quoted})) == [("user_message", quoted.encode())]


def test_a_result_that_is_handed_on_is_a_copy():
    """The user's message that carries a tool's result is marked as a repeat; one of an unknown call is not."""

    def handed(number: str):
        part = {"functionResponse": {"id": number, "name": "read_file", "response": {"output": "one\ntwo"}}}
        return {"id": f"m-{number}", "timestamp": TIME, "type": "user", "content": [part]}

    made = one(ASKED, ANSWERED, handed("c1"), handed("c9"))[-2:]
    assert [(d.kind, d.meta["call_id"], d.meta.get(REPEATS)) for d in made] == [
        (Kind.OTHER, "c1", True), (Kind.OTHER, "c9", None),
    ]  # fmt: skip


def test_a_compression_is_a_summary_and_the_messages_written_again_are_copies():
    """The snapshot is told once however often the list is written; the list itself is marked as a repeat."""

    def listed(*messages):
        return {"$set": {"messages": list(messages), "lastUpdated": TIME}}

    opening = {"id": "m0", "timestamp": TIME, "type": "user", "content": [{"text": "<session_context>\nx"}]}
    snapshot = opening | {"id": "s1", "content": [{"text": "<state_snapshot><goal>é</goal></state_snapshot>"}]}
    made = one(
        listed(opening), USER, listed(opening, USER), listed(opening, snapshot), listed(opening, snapshot, USER),
        listed(opening, snapshot | {"id": "s2"}),
    )  # fmt: skip
    kinds = [(d.kind, d.meta.get(REPEATS)) for d in made]
    assert kinds == [
        ("session", None), ("user_message", None), ("session", True), ("session", True), ("summary", None),
        ("session", True), ("session", True), ("summary", None),
    ]  # fmt: skip
    assert (made[4].content, made[4].origin, made[4].trust, made[4].meta) == (
        "<state_snapshot><goal>é</goal></state_snapshot>".encode(), "host:gemini", Trust.AGENT,
        {"uuid": "s1", "replaced_by": 2},
    )  # fmt: skip
    assert b"<goal>" in made[3].content


def test_mutations_are_kept_as_facts_and_take_nothing_back():
    """A rewind and a set are events; what was said before stays."""
    made = one(USER, {"$set": {"lastUpdated": TIME}}, {"$rewindTo": "m1"})
    assert told(made)[1:] == [
        ("session", b'{"$set": {"lastUpdated": "%s"}}' % TIME.encode()), ("session", b'{"$rewindTo": "m1"}'),
    ]  # fmt: skip
    assert [d.meta for d in made[1:]] == [{"set": ["lastUpdated"]}, {"rewind_to": "m1"}]


def test_files_results_in_parts_and_unknown_parts_are_kept():
    """Inline data is decoded; a result of several parts is their JSON; an unknown part is its own."""
    data = base64.b64encode(b"\x00\xffpixels").decode()
    user = USER | {"content": ["plain", {"inlineData": {"mimeType": "image/png", "data": data}}, {"odd": 1}]}
    parts = [{"text": "a"}, {"inlineData": {"mimeType": "image/png", "data": data}}]
    answer = {"id": "m3", "type": "gemini", "content": "", "toolCalls": [DONE | {"result": parts}]}
    assert told(one(user, answer)) == [
        ("user_message", b"plain"), ("attachment", b"\x00\xffpixels"), ("other", b'{"odd": 1}'),
        ("tool_call", b'{"path": "a.txt"}'), ("tool_result", json.dumps(parts).encode()),
        ("attachment", b"\x00\xffpixels"),
    ]  # fmt: skip


def test_an_unknown_line_is_kept_verbatim():
    """A record of a type to come is an event of its bytes."""
    strange = lines({"id": "m9", "type": "hologram", "content": "x"})
    assert told(drafts(Gemini(), PATH, lines(HEADER) + strange))[1:] == [("other", strange)]


def test_reading_on_remembers_what_was_written():
    """After a resumed reading a message written again still adds only what is new."""
    first = lines(HEADER, ASKED)
    *_, last = read(Gemini(), PATH, first)
    rest = lines(ANSWERED)
    resumed = Source(PATH, first, len(first), json.loads(json.dumps(last.state)))
    (reading,) = Gemini().read([rest], resumed)
    assert told(reading.record.drafts) == [("tool_result", b"one\ntwo")]


def test_the_state_stays_small_in_a_long_chat():
    """However many messages there are, the parser's state stays within its limit."""
    long = [
        {
            "id": f"{number:036}",
            "type": "gemini",
            "content": "x",
            "toolCalls": [RUNNING | {"args": {"n": k}} for k in range(40)],
        }
        for number in range(REWRITES_MAX * 3)
    ]
    *_, last = read(Gemini(), PATH, lines(HEADER, *long))
    assert len(json.dumps(dict(last.state))) < STATE_BYTES_MAX


def test_the_older_file_gives_the_same_events_as_the_lines():
    """One JSON file with the messages inside: same contents, same identities of messages."""
    path = "/h/.gemini/tmp/ab12/chats/session-2026.json"
    data = json.dumps(HEADER | {"messages": [USER, ANSWERED]}, indent=2, ensure_ascii=False).encode()
    made = drafts(GeminiFile(), path, data)
    assert [d.kind for d in made] == [d.kind for d in drafts(Gemini(), PATH, lines(HEADER, USER, ANSWERED))]
    assert [json.loads(d.content) if d.media == "application/json" else d.content for d in made[1:]] == [
        "read é".encode(), b"look first", b"Reading.", {"path": "a.txt"}, b"one\ntwo",
    ]  # fmt: skip
    old, new = read(GeminiFile(), path, data), read(Gemini(), PATH, lines(HEADER, USER, ANSWERED))
    assert [r.record.identity for r in old[1:]] == [r.record.identity for r in new[1:]]
    assert GeminiFile().session(path, data) == "g-1"


class TestGemini(HostSuite):
    host = Gemini()
    path = PATH
    sample = lines(HEADER, USER, ASKED, ANSWERED, {"$rewindTo": "m1"})
    session = "g-1"


class TestGeminiFile(HostSuite):
    host = GeminiFile()
    path = "/h/.gemini/tmp/ab12/chats/session-2026.json"
    sample = json.dumps(HEADER | {"messages": [USER, ANSWERED]}, indent=2).encode()
    session = "g-1"
