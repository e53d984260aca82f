"""Transcripts of Claude Code."""

from __future__ import annotations

import base64
import json

from host_suite import HostSuite, assert_fits
from hypothesis import given
from hypothesis import strategies as st
from readings import contents, read, told

from firsthand.event import REPEATS, Kind, Trust
from firsthand.fence import wrap
from firsthand.hosts.claude_code import ClaudeCode
from firsthand.hosts.own_words import unfenced
from firsthand.hosts.transcript import key
from firsthand.moment import parse
from firsthand.record import assemble

HOST = ClaudeCode()
SESSION = "5b0a6c1e-0000-4000-8000-000000000001"
OTHER_SESSION = "5b0a6c1e-0000-4000-8000-000000000002"
PATH = f"/home/ada/.claude/projects/-srv-app/{SESSION}.jsonl"
TIME = "2026-03-04T05:06:07.890Z"
KEY = b"key of the store"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(60))


def line(kind: str, uuid: str | None = "u1", parent: str | None = None, session: str = SESSION, **fields) -> bytes:
    graph = {} if uuid is None else {"parentUuid": parent, "uuid": uuid, "isSidechain": False, "timestamp": TIME}
    entry = {"type": kind, "sessionId": session, **graph, **fields}
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def user(content, uuid: str = "u1", **fields) -> bytes:
    return line("user", uuid, message={"role": "user", "content": content}, cwd="/srv/app", gitBranch="main", **fields)


def assistant(*blocks: dict, uuid: str = "a1", **fields) -> bytes:
    message = {
        "id": "msg_1", "model": "m-1", "role": "assistant", "content": list(blocks), "stop_reason": None,
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }  # fmt: skip
    return line("assistant", uuid, message=message, requestId="req_1", **fields)


CALL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls é", "timeout": 5}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.py\nb.py\u2028" * 24, "is_error": False}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()},
}
SAMPLE = b"".join(
    (
        line("summary", None, summary="An old title", leafUuid="u0"),
        user("Why does é fail?", "u1"),
        assistant({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, uuid="a1"),
        assistant(CALL, uuid="a2"),
        user([RESULT], "u2", toolUseResult={"stdout": RESULT["content"], "stderr": ""}),
        line("system", "s1", subtype="compact_boundary", content="Conversation compacted",
             compactMetadata={"trigger": "auto", "preTokens": 9}),
        user("What was done so far.", "u3", isCompactSummary=True),
        line("file-history-snapshot", None, snapshot={"a": 1}),
        line("never-seen", "n1", odd=[1]),
    )
)  # fmt: skip


class TestSuite(HostSuite):
    """Claude Code holds to what every host holds to."""

    host, path, sample, session = HOST, PATH, SAMPLE, SESSION


def drafts(data: bytes, path: str = PATH):
    return [draft for reading in read(HOST, path, data) for draft in reading.record.drafts]


def records(data: bytes, path: str = PATH):
    return [reading.record for reading in read(HOST, path, data)]


def test_a_session_is_told_in_the_order_of_its_file():
    """Each line gives its events, with exact contents; what is not understood is its whole line."""
    found = drafts(SAMPLE)
    lines = SAMPLE.splitlines(keepends=True)
    assert told(found) == [
        ("session", b"An old title"),
        ("user_message", "Why does é fail?".encode()),
        ("reasoning", b"Hm."),
        ("tool_call", '{"command":"ls é","timeout":5}'.encode()),
        ("tool_result", ("a.py\nb.py\u2028" * 24).encode()),
        ("session", b"Conversation compacted"),
        ("summary", b"What was done so far."),
        ("session", lines[7]),
        ("other", lines[8]),
    ]
    assert {draft.agent for draft in found} == {"claude-code"}
    assert [draft.time for draft in found if "uuid" in draft.meta] == [parse(TIME)] * 7


def test_calls_and_results_join_on_their_id_and_name_their_tool():
    """The result line names no tool; it is the call's, also when reading resumes between them."""
    found = {draft.kind: draft for draft in drafts(SAMPLE)}
    call, result = found[Kind.TOOL_CALL], found[Kind.TOOL_RESULT]
    assert (call.meta["call_id"], call.meta["tool"], call.trust) == ("toolu_1", "Bash", Trust.AGENT)
    assert (result.meta["call_id"], result.meta["tool"], result.origin, result.trust) == (
        "toolu_1", "Bash", "tool:Bash", Trust.UNTRUSTED,
    )  # fmt: skip


def test_what_the_host_says_twice_is_kept_once():
    """The structured result repeats the text; the envelope holds neither copy."""
    (record,) = (r for r in records(SAMPLE) if r.drafts[0].kind == Kind.TOOL_RESULT)
    assert b"b.py" not in record.drafts[0].envelope
    assert assemble(record.drafts[0].envelope, contents(record.drafts)) == record.raw


def test_meta_carries_what_is_needed_to_work_with_a_line():
    """Place in the tree, folder, branch, request, model and usage stand in the meta of the line's event."""
    found = drafts(user("q") + assistant({"type": "text", "text": "yes"}))
    assert found[0].meta == {"uuid": "u1", "cwd": "/srv/app", "git_branch": "main"}
    assert found[1].meta == {
        "model": "m-1", "message_id": "msg_1", "usage": {"input_tokens": 3, "output_tokens": 4}, "uuid": "a1",
        "request_id": "req_1",
    }  # fmt: skip


def test_a_copied_line_is_the_same_and_a_rewritten_one_is_new():
    """The key holds uuid and words: session, version and fork mark do not count, other words do."""

    def keys(data: bytes, session: str):
        return [key(HOST, record, session) for record in records(data, PATH.replace(SESSION, session))]

    copied = user("hello", session=OTHER_SESSION, version="9", forkedFrom={"sessionId": SESSION})
    assert keys(user("hello"), SESSION) == keys(copied, OTHER_SESSION)
    assert keys(user("hello"), SESSION) != keys(user("hello!"), SESSION)
    fact = line("tag", None, tag="x")
    assert keys(fact, SESSION) != keys(fact, OTHER_SESSION)


def test_subagents_have_sessions_of_their_own():
    """A file under subagents, an older file beside, and lines inside their parent's file: each names its agent."""
    head = user("do it", isSidechain=True, agentId="a1b2")
    folder = PATH.removesuffix(".jsonl")
    assert HOST.session(f"{folder}/subagents/agent-a1b2.jsonl", head) == f"{SESSION}/agent-a1b2"
    assert HOST.session(f"{folder}/subagents/deep/agent-c3.jsonl", head) == f"{SESSION}/agent-c3"
    assert HOST.session(PATH.replace(SESSION, "agent-a1b2"), head) == f"{SESSION}/agent-a1b2"
    (inline,) = records(head)
    assert inline.session == f"{SESSION}/agent-a1b2"
    (own,) = records(head, f"{folder}/subagents/agent-a1b2.jsonl")
    assert own.session == ""
    for record in (inline, own):
        (draft,) = record.drafts
        assert (draft.agent, draft.meta["parent_session"], draft.meta["agent_id"]) == (
            "claude-code/agent-a1b2", SESSION, "a1b2",
        )  # fmt: skip
        assert (draft.kind, draft.origin, draft.trust) == (Kind.USER_MESSAGE, "agent", Trust.AGENT)


def test_lines_of_two_subagents_without_id_are_told_apart_by_their_parents():
    """Interleaved sidechains of the oldest layout follow the uuid of their first line."""
    side = {"isSidechain": True}
    data = b"".join(
        (
            line("user", "11111111-a", None, message={"role": "user", "content": "one"}, **side),
            line("user", "22222222-b", None, message={"role": "user", "content": "two"}, **side),
            line("user", "33333333-c", "22222222-b", message={"role": "user", "content": "two again"}, **side),
            line("user", "44444444-d", "11111111-a", message={"role": "user", "content": "one again"}, **side),
        )
    )
    agents = [record.session.removeprefix(f"{SESSION}/agent-") for record in records(data)]
    assert agents == ["11111111", "22222222", "22222222", "11111111"]


def test_words_that_the_host_put_in_the_users_place_are_not_the_users():
    """Meta lines, reminders and command output are system events that are not trusted."""
    data = user("caveat", isMeta=True) + user([{"type": "text", "text": "<system-reminder>x</system-reminder>"}])
    assert [(d.kind, d.origin, d.trust) for d in drafts(data + user("typed"))] == [
        (Kind.SYSTEM, "host:claude-code", Trust.UNTRUSTED),
        (Kind.SYSTEM, "host:claude-code", Trust.UNTRUSTED),
        (Kind.USER_MESSAGE, "user", Trust.TRUSTED),
    ]


def test_what_the_user_says_while_the_agent_works_is_a_message():
    """A queued prompt that a running turn took in is the user's; one of the host, or of a subagent's turn, is not."""

    def queued(prompt, mode: str = "prompt", **fields) -> bytes:
        attachment = {"type": "queued_command", "prompt": prompt, "source_uuid": "q1", "commandMode": mode}
        rendered = [{"content": f"<system-reminder>\nThe user sent a new message: {prompt}\n</system-reminder>"}]
        return line("attachment", "u9", attachment=attachment, rendered=rendered, renderedRole="system", **fields)

    def drafted(data: bytes):
        (record,) = records(data)
        return [(d.kind, d.content, d.origin, d.trust) for d in record.drafts]

    words = "Never retry more than 7 times."
    said = (Kind.USER_MESSAGE, words.encode(), "user", Trust.TRUSTED)
    assert drafted(queued(words)) == [said]
    assert drafted(queued([{"type": "text", "text": words}, {"type": "image", "source": {}}])) == [said]
    assert drafted(queued(words, isSidechain=True)) == [(*said[:2], "agent", Trust.AGENT)]
    assert drafted(queued(words, isMeta=True))[0][0] is Kind.SYSTEM
    assert [one[0] for one in drafted(queued(words, "task-notification"))] == [Kind.OTHER]


def test_an_image_is_an_attachment_of_its_bytes():
    """Base64 is decoded and cut out of the envelope; the user's words come first."""
    (record,) = records(user([IMAGE, {"type": "text", "text": "look"}]))
    assert told(record.drafts) == [("user_message", b"look"), ("attachment", PNG)]
    assert record.drafts[1].media == "image/png"
    assert base64.b64encode(PNG) not in record.drafts[0].envelope


def test_context_that_firsthand_injected_is_recognised():
    """A hook's context of our own fence alone is injected; with other words, only those are left."""

    def hook(*words: str) -> bytes:
        attachment = {"type": "hook_additional_context", "content": list(words), "hookName": "SessionStart"}
        return line("attachment", attachment=attachment)

    ours, mixed, theirs = (
        unfenced(record, KEY)
        for record in records(hook(wrap("old", KEY)) + hook("theirs " + wrap("old", KEY)) + hook("theirs"))
    )
    assert (ours.injected, ours.drafts) == (True, ())
    assert told(mixed.drafts) == [("system", b"theirs [recalled by firsthand, not stored again]")]
    assert mixed.drafts[0].meta["unfenced"] == 1
    assert b"old" not in mixed.drafts[0].envelope
    assert theirs.drafts[0].meta["hook"] == "SessionStart"


def test_what_a_host_writes_once_more_is_kept_and_not_found():
    """Requests, queued prompts, lists of tools and answers of hooks are kept and marked as copies; messages are not."""
    prompt = "Which port does the broker use?"
    copies = (
        line("queue-operation", None, operation="enqueue", content=prompt)
        + line("attachment", "h1", attachment={"type": "hook_success", "content": "", "stdout": prompt})
        + line("attachment", "h2", attachment={"type": "skill_listing", "content": "- a: Use this skill"})
        + line("attachment", "h3", attachment={"type": "prompt_snapshot", "systemPrompt": [prompt]})
        + line("api-request-blob", None, hash="0f", message={"role": "user", "content": prompt})
        + line("last-prompt", None, lastPrompt=prompt, leafUuid="u1")
        + line("system", "s1", subtype="stop_hook_summary", hookCount=1)
    )
    sources = user(prompt) + line("attachment", "f1", attachment={"type": "file", "content": prompt})
    marked = [
        [draft.meta.get(REPEATS) for draft in record.drafts] for record in records(copies + sources) if record.drafts
    ]
    assert marked == [[True]] * 7 + [[None]] * 2
    assert (
        b"".join(assemble(record.drafts[0].envelope, contents(record.drafts)) for record in records(copies)) == copies
    )


def test_only_its_own_lines_are_recognised():
    """Metadata lines first, or a message first, are its own; other JSON lines are not."""
    assert HOST.recognises("/x.jsonl", line("custom-title", None, customTitle="t"))
    assert HOST.recognises("/x.jsonl", user("hello"))
    assert not HOST.recognises("/x.json", user("hello"))
    assert not HOST.recognises("/x.jsonl", b'{"type":"session","id":"x"}\n')
    assert HOST.session("/backup/copy.jsonl", user("hello")) == SESSION


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELD = st.sampled_from(
    [
        "type",
        "uuid",
        "parentUuid",
        "isSidechain",
        "agentId",
        "timestamp",
        "message",
        "attachment",
        "content",
        "compactMetadata",
        "summary",
        "role",
    ]
)
WORD = st.sampled_from(
    ["user", "assistant", "system", "attachment", "summary", "text", "tool_use", "tool_result", "thinking"]
)


@given(
    st.dictionaries(
        FIELD, WORD | JSON | st.dictionaries(FIELD, WORD | JSON | st.lists(st.dictionaries(FIELD, WORD | JSON)))
    )
)
def test_a_line_of_any_shape_parses(entry):
    """Fields of wrong types raise nothing: the line gives at least one event that the log takes, and its raw again."""
    (reading,) = read(HOST, PATH, json.dumps(entry).encode() + b"\n")
    assert reading.record.drafts
    for draft in reading.record.drafts:
        assert_fits(draft)
