"""Sessions of pi."""

from __future__ import annotations

import base64
import json

import pytest
from host_suite import HostSuite
from readings import contents, drafts, read, told

from firsthand.event import Kind, Trust
from firsthand.hosts.pi import Pi
from firsthand.moment import parse

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))
TIME = "2026-01-02T03:04:05.678Z"


def line(kind: str, **fields) -> bytes:
    return (
        json.dumps({"type": kind, "timestamp": TIME, **fields}, ensure_ascii=False, separators=(",", ":")).encode()
        + b"\n"
    )


def message(role: str, content=None, **fields) -> bytes:
    return line("message", message={"role": role, **({} if content is None else {"content": content}), **fields})


def said(*words: str) -> list[dict]:
    return [{"type": "text", "text": word} for word in words]


HEADER = line("session", id="5e55-10", cwd="/srv/é", provider="p", modelId="m", branchedFrom="/old.jsonl")


def one(data: bytes):
    return drafts(Pi(), "/x/s.jsonl", HEADER + data)[1:]


def test_the_header_names_the_session_and_where_it_was_forked_from():
    """The header is an event of facts, and its id is the session."""
    (header,) = drafts(Pi(), "/x/2026_s.jsonl", HEADER)
    assert Pi().session("/x/2026_s.jsonl", HEADER) == "5e55-10"
    assert (header.kind, header.content, header.time) == (
        Kind.SESSION,
        "session: cwd /srv/é, provider p, model m, branchedFrom /old.jsonl".encode(),
        parse(TIME),
    )
    assert header.meta == {
        "type": "session", "uuid": "5e55-10", "cwd": "/srv/é", "provider": "p", "model": "m",
        "branchedFrom": "/old.jsonl",
    }  # fmt: skip


def test_a_user_message_is_its_exact_text_and_trusted():
    """Text with line separators, escapes and a lone surrogate comes back byte for byte."""
    words = 'a\u2028b\t"c" \\ é \ud800'
    line_bytes = json.dumps({"type": "message", "message": {"role": "user", "content": said(words)}}).encode() + b"\n"
    (draft,) = one(line_bytes)
    assert (draft.kind, draft.content) == (Kind.USER_MESSAGE, words.encode("utf-8", "surrogatepass"))
    assert (draft.origin, draft.trust, draft.time) == ("user", Trust.TRUSTED, None)


def test_an_answer_is_its_thought_its_text_and_its_calls():
    """Blocks become events in their order; the facts of the answer stand on the first."""
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls", "n": 1.0}}
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "s1g"}
    usage = {"input": 3, "cost": {"total": 0.5}}
    made = one(message("assistant", [thought, *said("Looking."), call], model="m-2", usage=usage, stopReason="toolUse"))
    assert told(made) == [
        ("reasoning", b"hm"), ("agent_message", b"Looking."), ("tool_call", b'{"command":"ls","n":1.0}'),
    ]  # fmt: skip
    assert made[0].meta == {
        "type": "message", "role": "assistant", "model": "m-2", "stopReason": "toolUse", "usage": usage,
    }  # fmt: skip
    assert made[2].meta == {"type": "message", "role": "assistant", "call_id": "c1", "tool": "bash"}
    assert {(d.agent, d.origin, d.trust) for d in made} == {("pi", "agent", Trust.AGENT)}


def test_a_tool_result_is_its_exact_text_with_its_images_as_files():
    """One text is the result's content; an image beside it is decoded."""
    image = {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}
    made = one(message("toolResult", [*said("out\n"), image], toolCallId="c1", toolName="read", isError=True))
    assert told(made) == [("tool_result", b"out\n"), ("attachment", PNG)]
    assert (made[0].meta["call_id"], made[0].meta["tool"], made[0].meta["is_error"]) == ("c1", "read", True)
    assert {(d.origin, d.trust) for d in made} == {("tool:read", Trust.UNTRUSTED)}
    assert made[1].media == "image/png"


@pytest.mark.parametrize(
    ("blocks", "content"),
    [([], b""), (said("a", "b"), b'[{"type":"text","text":"a"},{"type":"text","text":"b"}]'), ("plain", b"plain")],
)
def test_a_tool_result_is_always_one_result(blocks, content):
    """No text, several texts and a bare string are one event each."""
    (draft,) = one(message("toolResult", blocks, toolCallId="c1", toolName="read"))
    assert (draft.kind, draft.content) == (Kind.TOOL_RESULT, content)


def test_a_command_that_the_user_ran_is_a_call_by_the_user_and_its_result():
    """A bash execution is what the user typed and what it printed."""
    made = one(message("bashExecution", command="ls", output="a\nb\n", exitCode=0, cancelled=False))
    assert told(made) == [("tool_call", b"ls"), ("tool_result", b"a\nb\n")]
    assert [(d.origin, d.trust) for d in made] == [("user", Trust.TRUSTED), ("tool:bash", Trust.UNTRUSTED)]
    assert made[1].meta["exitCode"] == 0


def test_a_compaction_is_a_summary_that_an_agent_wrote():
    """The text that replaced history is kept with what it says about itself."""
    (draft,) = one(line("compaction", summary="# Goal\né", tokensBefore=175_000, firstKeptEntryIndex=12))
    assert (draft.kind, draft.content, draft.trust) == (Kind.SUMMARY, "# Goal\né".encode(), Trust.AGENT)
    assert draft.meta == {"type": "compaction", "tokensBefore": 175_000, "firstKeptEntryIndex": 12}


def test_changes_of_model_and_thinking_are_facts_of_the_session():
    """What changes the session says so in words that can be found."""
    made = one(line("model_change", provider="p", modelId="m-3") + line("thinking_level_change", thinkingLevel="high"))
    assert told(made) == [
        ("session", b"model_change: provider p, model m-3"),
        ("session", b"thinking_level_change: thinkingLevel high"),
    ]


def test_an_answer_that_failed_keeps_its_error():
    """An answer without content is the error it ended with."""
    (draft,) = one(message("assistant", [], stopReason="error", errorMessage="529 overloaded"))
    assert (draft.kind, draft.content) == (Kind.SESSION, b"529 overloaded")


@pytest.mark.parametrize(
    "data",
    [
        line("hologram", x=1), message("oracle", said("x")), message("assistant", []), line("message"),
        line("message", message=7), line("custom", customType="t", data={"a": 1}),
    ],
)  # fmt: skip
def test_what_is_not_known_is_kept_verbatim_and_no_fault(data):
    """A line of an unknown type or an empty one is an event of its own bytes."""
    *_, reading = read(Pi(), "/x/s.jsonl", HEADER + data)
    assert told(reading.record.drafts) == [("other", data)]
    assert reading.record.fault == ""


def test_an_unknown_block_is_kept_as_its_json():
    """A block of a new type is an event, and the rest of the message is read."""
    made = one(message("user", [{"type": "smell", "of": "smoke"}, *said("fire")]))
    assert told(made) == [("other", b'{"type":"smell","of":"smoke"}'), ("user_message", b"fire")]


def test_a_line_is_the_same_wherever_it_is_copied():
    """Identity is the line itself, so a fork's copies are known."""
    data = message("user", said("hi"))
    first, second = (
        read(Pi(), path, head + data)[1] for path, head in (("a.jsonl", HEADER), ("b.jsonl", line("session", id="b")))
    )
    assert first.record.identity == second.record.identity == data.strip()
    assert Pi().spans_sessions
    assert contents(first.record.drafts) == [b"hi"]


class TestPi(HostSuite):
    host = Pi()
    path = "/h/.pi/agent/sessions/--srv--/2026.jsonl"
    sample = HEADER + message("user", said("é\u2028")) + line("compaction", summary="s") + line("custom", data=1)
    session = "5e55-10"
