"""Hooks of every host: what each payload is read to, and what each answer is written as."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.hook_hosts import HOSTS, LEFT_OUT, named, replaced
from firsthand.hosts.hook_shape import PAYLOAD_BYTES_MAX
from firsthand.unasked.volunteer import Funnel, Source, Standing
from firsthand.value import replace

SCHEMAS = Path(__file__).parent / "codex_schemas"
ID = "5b0a6c1e-0000-4000-8000-000000000001"
PLACE = {"session_id": ID, "transcript_path": "/home/ada/t/5b0a6c1e.jsonl", "cwd": "/home/ada/proj"}
CODEX = PLACE | {"model": "gpt-5.5", "permission_mode": "default"}
GEMINI = PLACE | {"timestamp": "2026-11-21T01:00:00Z"}
CURSOR = {
    "conversation_id": "c1", "generation_id": "g1", "session_id": "c1", "model": "auto", "cursor_version": "3.0.0",
    "workspace_roots": ["/home/ada/proj"], "user_email": None, "transcript_path": None,
}  # fmt: skip
COPILOT = {"session_id": "s1", "timestamp": "2026-11-21T01:00:00Z", "cwd": "/home/ada/proj"}
VSCODE = {"sessionId": "v1", "timestamp": "2026-11-21T01:00:00.000Z", "cwd": "/home/ada/proj"}
BASH = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_01A"}
OUTPUT = {"stdout": "a\n", "stderr": "", "interrupted": False}
AT = {"cwd": "/home/ada/proj", "transcript": "/home/ada/t/5b0a6c1e.jsonl"}
IN_BASH = {"tool": "Bash", "tool_input": '{"command":"ls"}', "call_id": "toolu_01A"}


def passed(text):
    """Pass a text of our own through the funnel."""
    return Funnel(lambda *_: Source(Standing.WORDS), lambda text, _: text).line(text)


SAID = HookReply(passed("remember"), passed("told"))


def context(event: str) -> dict:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "remember"}}


TOLD = {"systemMessage": "told"}

# host, payload, the call without its key, the key's last parts (None: no key), what SAID is written as (None: nothing)
CASES = {
    "claude start": (
        "claude-code", PLACE | {"hook_event_name": "SessionStart", "source": "startup"},
        HookCall("claude-code", HookEvent.SESSION_START, "SessionStart", ID, source="startup", **AT),
        None, TOLD | context("SessionStart"),
    ),
    "claude start after compaction": (
        "claude-code", PLACE | {"hook_event_name": "SessionStart", "source": "compact", "prompt_id": "p1"},
        HookCall("claude-code", HookEvent.SESSION_START, "SessionStart", ID, source="compact", **AT),
        "session start|p1|*", TOLD | context("SessionStart"),
    ),
    "claude prompt": (
        "claude-code",
        PLACE | {"hook_event_name": "UserPromptSubmit", "prompt": "why?", "prompt_id": "p1", "source": "user"},
        HookCall("claude-code", HookEvent.PROMPT, "UserPromptSubmit", ID, source="user", prompt="why?", **AT),
        "prompt|p1|*", TOLD | context("UserPromptSubmit"),
    ),
    "claude prompt without an id": (
        "claude-code", PLACE | {"hook_event_name": "UserPromptSubmit", "prompt": "<x>", "source": "system"},
        HookCall("claude-code", HookEvent.PROMPT, "UserPromptSubmit", ID, source="system", prompt="<x>", **AT),
        None, TOLD | context("UserPromptSubmit"),
    ),
    "claude before a tool": (
        "claude-code", PLACE | BASH | {"hook_event_name": "PreToolUse"},
        HookCall("claude-code", HookEvent.BEFORE_TOOL, "PreToolUse", ID, **AT, **IN_BASH),
        "before tool|toolu_01A", TOLD | context("PreToolUse"),
    ),
    "claude after a tool": (
        "claude-code", PLACE | BASH | {"hook_event_name": "PostToolUse", "tool_response": OUTPUT},
        HookCall(
            "claude-code", HookEvent.AFTER_TOOL, "PostToolUse", ID, **AT, **IN_BASH,
            tool_output='{"stdout":"a\\n","stderr":"","interrupted":false}',
        ),
        "after tool|toolu_01A", TOLD | context("PostToolUse"),
    ),
    "claude after a tool that failed, in a subagent": (
        "claude-code", PLACE | BASH | {"hook_event_name": "PostToolUseFailure", "error": "Exit 2", "agent_id": "a1"},
        HookCall(
            "claude-code", HookEvent.TOOL_FAILED, "PostToolUseFailure", ID, **AT, **IN_BASH,
            error="Exit 2", agent_id="a1",
        ),
        "tool failed|a1|toolu_01A", TOLD | context("PostToolUseFailure"),
    ),
    "claude before compaction": (
        "claude-code", PLACE | {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": None},
        HookCall("claude-code", HookEvent.BEFORE_COMPACT, "PreCompact", ID, source="auto", **AT),
        None, TOLD,
    ),
    "claude after compaction": (
        "claude-code", PLACE | {"hook_event_name": "PostCompact", "trigger": "manual", "compact_summary": "Sum"},
        HookCall("claude-code", HookEvent.AFTER_COMPACT, "PostCompact", ID, source="manual", message="Sum", **AT),
        None, TOLD,
    ),
    "claude stop": (
        "claude-code",
        PLACE | {"hook_event_name": "Stop", "stop_hook_active": True, "last_assistant_message": "Done."},
        HookCall("claude-code", HookEvent.STOP, "Stop", ID, message="Done.", again=True, **AT), None, TOLD,
    ),
    "claude subagent start": (
        "claude-code", PLACE | {"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "Explore"},
        HookCall("claude-code", HookEvent.SUBAGENT_START, "SubagentStart", ID, source="Explore", agent_id="a1", **AT),
        None, TOLD | context("SubagentStart"),
    ),
    "claude subagent stop": (
        "claude-code",
        PLACE | {
            "hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "Explore", "stop_hook_active": False,
            "agent_transcript_path": "/t/agent-a1.jsonl", "last_assistant_message": "ok",
        },
        HookCall(
            "claude-code", HookEvent.SUBAGENT_STOP, "SubagentStop", ID, source="Explore", agent_id="a1", message="ok",
            cwd="/home/ada/proj", transcript="/t/agent-a1.jsonl",
        ),
        None, TOLD,
    ),
    "claude end": (
        "claude-code", PLACE | {"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
        HookCall("claude-code", HookEvent.SESSION_END, "SessionEnd", ID, source="prompt_input_exit", **AT), None, None,
    ),
    "an event of no use": (
        "claude-code", PLACE | {"hook_event_name": "Notification", "message": "look"},
        HookCall("claude-code", HookEvent.OTHER, "Notification", ID, **AT), None, None,
    ),
    "codex start": (
        "codex", CODEX | {"hook_event_name": "SessionStart", "source": "startup"},
        HookCall("codex", HookEvent.SESSION_START, "SessionStart", ID, source="startup", **AT),
        None, TOLD | context("SessionStart"),
    ),
    "codex prompt": (
        "codex", CODEX | {"hook_event_name": "UserPromptSubmit", "turn_id": "t1", "prompt": "hi"},
        HookCall("codex", HookEvent.PROMPT, "UserPromptSubmit", ID, prompt="hi", **AT),
        "prompt|t1|*", TOLD | context("UserPromptSubmit"),
    ),
    "codex before a tool": (
        "codex", CODEX | BASH | {"hook_event_name": "PreToolUse", "turn_id": "t1"},
        HookCall("codex", HookEvent.BEFORE_TOOL, "PreToolUse", ID, **AT, **IN_BASH),
        "before tool|toolu_01A", TOLD | context("PreToolUse"),
    ),
    "codex after a tool": (
        "codex", CODEX | BASH | {"hook_event_name": "PostToolUse", "turn_id": "t1", "tool_response": "a"},
        HookCall("codex", HookEvent.AFTER_TOOL, "PostToolUse", ID, **AT, **IN_BASH, tool_output="a"),
        "after tool|toolu_01A", TOLD | context("PostToolUse"),
    ),
    "codex before compaction": (
        "codex", CODEX | {"hook_event_name": "PreCompact", "turn_id": "t1", "trigger": "auto"},
        HookCall("codex", HookEvent.BEFORE_COMPACT, "PreCompact", ID, source="auto", **AT),
        "before compact|t1|*", TOLD,
    ),
    "codex after compaction": (
        "codex", CODEX | {"hook_event_name": "PostCompact", "turn_id": "t1", "trigger": "auto"},
        HookCall("codex", HookEvent.AFTER_COMPACT, "PostCompact", ID, source="auto", **AT),
        "after compact|t1|*", TOLD,
    ),
    "codex subagent start": (
        "codex",
        CODEX | {"hook_event_name": "SubagentStart", "turn_id": "t1", "agent_id": "a1", "agent_type": "worker"},
        HookCall("codex", HookEvent.SUBAGENT_START, "SubagentStart", ID, source="worker", agent_id="a1", **AT),
        "subagent start|a1|t1|*", TOLD | context("SubagentStart"),
    ),
    "codex stop": (
        "codex",
        CODEX | {
            "hook_event_name": "Stop", "turn_id": "t1", "stop_hook_active": False, "last_assistant_message": None,
        },
        HookCall("codex", HookEvent.STOP, "Stop", ID, **AT), "stop|t1", TOLD,
    ),
    "codex end": (
        "codex",
        {
            "session_id": ID, "transcript_path": None, "cwd": "/home/ada/proj", "hook_event_name": "SessionEnd",
            "reason": "other",
        },
        HookCall("codex", HookEvent.SESSION_END, "SessionEnd", ID, cwd="/home/ada/proj", source="other"), None, None,
    ),
    "gemini start": (
        "gemini", GEMINI | {"hook_event_name": "SessionStart", "source": "startup"},
        HookCall("gemini", HookEvent.SESSION_START, "SessionStart", ID, source="startup", **AT),
        "session start|2026-11-21T01:00:00Z|*", TOLD | context("SessionStart"),
    ),
    "gemini prompt": (
        "gemini", GEMINI | {"hook_event_name": "BeforeAgent", "prompt": "hi"},
        HookCall("gemini", HookEvent.PROMPT, "BeforeAgent", ID, prompt="hi", **AT),
        "prompt|2026-11-21T01:00:00Z|*", TOLD | context("BeforeAgent"),
    ),
    "gemini stop": (
        "gemini",
        GEMINI | {"hook_event_name": "AfterAgent", "prompt": "hi", "prompt_response": "ok", "stop_hook_active": False},
        HookCall("gemini", HookEvent.STOP, "AfterAgent", ID, message="ok", **AT),
        "stop|2026-11-21T01:00:00Z|*", TOLD,
    ),
    "gemini after a tool": (
        "gemini",
        GEMINI | {
            "hook_event_name": "AfterTool", "tool_name": "read_file", "tool_input": {"path": "a"},
            "tool_response": {"llmContent": "x", "returnDisplay": "x"},
        },
        HookCall(
            "gemini", HookEvent.AFTER_TOOL, "AfterTool", ID, tool="read_file", tool_input='{"path":"a"}',
            tool_output='{"llmContent":"x","returnDisplay":"x"}', **AT,
        ),
        "after tool|2026-11-21T01:00:00Z|*", TOLD | context("AfterTool"),
    ),
    "gemini before compaction": (
        "gemini", GEMINI | {"hook_event_name": "PreCompress", "trigger": "auto"},
        HookCall("gemini", HookEvent.BEFORE_COMPACT, "PreCompress", ID, source="auto", **AT),
        "before compact|2026-11-21T01:00:00Z|*", TOLD,
    ),
    "gemini end": (
        "gemini", GEMINI | {"hook_event_name": "SessionEnd", "reason": "exit"},
        HookCall("gemini", HookEvent.SESSION_END, "SessionEnd", ID, source="exit", **AT),
        "session end|2026-11-21T01:00:00Z|*", None,
    ),
    "cursor start": (
        "cursor", CURSOR | {"hook_event_name": "sessionStart", "composer_mode": "agent"},
        HookCall("cursor", HookEvent.SESSION_START, "sessionStart", "c1", cwd="/home/ada/proj"),
        "session start|g1", {"additional_context": "remember", "user_message": "told"},
    ),
    "cursor prompt": (
        "cursor", CURSOR | {"hook_event_name": "beforeSubmitPrompt", "prompt": "hi", "attachments": []},
        HookCall("cursor", HookEvent.PROMPT, "beforeSubmitPrompt", "c1", cwd="/home/ada/proj", prompt="hi"),
        "prompt|g1", {"additional_context": "remember", "user_message": "told"},
    ),
    "cursor after a tool": (
        "cursor",
        CURSOR | {
            "hook_event_name": "postToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"},
            "tool_output": "a", "tool_use_id": "t1", "cwd": "/home/ada/proj",
        },
        HookCall(
            "cursor", HookEvent.AFTER_TOOL, "postToolUse", "c1", cwd="/home/ada/proj", tool="Shell",
            tool_input='{"command":"ls"}', tool_output="a", call_id="t1",
        ),
        "after tool|g1|t1", {"additional_context": "remember"},
    ),
    "cursor before compaction": (
        "cursor", CURSOR | {"hook_event_name": "preCompact", "trigger": "auto", "message_count": 80},
        HookCall("cursor", HookEvent.BEFORE_COMPACT, "preCompact", "c1", cwd="/home/ada/proj", source="auto"),
        "before compact|g1", {"user_message": "told"},
    ),
    "cursor's agent spoke": (
        "cursor", CURSOR | {"hook_event_name": "afterAgentResponse", "text": "Done."},
        HookCall("cursor", HookEvent.STOP, "afterAgentResponse", "c1", cwd="/home/ada/proj", message="Done."),
        "stop|g1|*", None,
    ),
    "cursor stop": (
        "cursor", CURSOR | {"hook_event_name": "stop", "status": "completed", "loop_count": 0},
        HookCall("cursor", HookEvent.STOP, "stop", "c1", cwd="/home/ada/proj"), "stop|g1", None,
    ),
    "cursor end": (
        "cursor", CURSOR | {"hook_event_name": "sessionEnd", "reason": "completed", "duration_ms": 1000},
        HookCall("cursor", HookEvent.SESSION_END, "sessionEnd", "c1", cwd="/home/ada/proj", source="completed"),
        "session end|g1", None,
    ),
    "vscode prompt": (
        "vscode", VSCODE | {"hookEventName": "UserPromptSubmit", "prompt": "hi"},
        HookCall("vscode", HookEvent.PROMPT, "UserPromptSubmit", "v1", cwd="/home/ada/proj", prompt="hi"),
        "prompt|2026-11-21T01:00:00.000Z|*", TOLD,
    ),
    "vscode start": (
        "vscode", VSCODE | {"hookEventName": "SessionStart", "source": "new"},
        HookCall("vscode", HookEvent.SESSION_START, "SessionStart", "v1", cwd="/home/ada/proj", source="new"),
        "session start|2026-11-21T01:00:00.000Z|*", TOLD | context("SessionStart"),
    ),
    "copilot start": (
        "copilot", COPILOT | {"hook_event_name": "SessionStart", "source": "new", "initial_prompt": "hi"},
        HookCall("copilot", HookEvent.SESSION_START, "SessionStart", "s1", cwd="/home/ada/proj", source="new"),
        "session start|2026-11-21T01:00:00Z|*", {"additionalContext": "remember"},
    ),
    "copilot prompt": (
        "copilot", COPILOT | {"hook_event_name": "UserPromptSubmit", "prompt": "hi"},
        HookCall("copilot", HookEvent.PROMPT, "UserPromptSubmit", "s1", cwd="/home/ada/proj", prompt="hi"),
        "prompt|2026-11-21T01:00:00Z|*", {"additionalContext": "remember"},
    ),
    "copilot after a tool": (
        "copilot",
        COPILOT | {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_result": {"result_type": "success", "text_result_for_llm": "a\n<shellId: 0 completed>"},
        },
        HookCall(
            "copilot", HookEvent.AFTER_TOOL, "PostToolUse", "s1", cwd="/home/ada/proj", tool="Bash",
            tool_input='{"command":"ls"}', tool_output="a\n<shellId: 0 completed>",
        ),
        "after tool|2026-11-21T01:00:00Z|*", {"additionalContext": "remember"},
    ),
    "copilot stop": (
        "copilot",
        COPILOT | {
            "hook_event_name": "Stop", "transcript_path": "/home/ada/t/5b0a6c1e.jsonl", "stop_reason": "end_turn",
            "stop_hook_active": False,
        },
        HookCall("copilot", HookEvent.STOP, "Stop", "s1", **AT),
        "stop|2026-11-21T01:00:00Z", None,
    ),
    "copilot after a tool that failed": (
        "copilot",
        COPILOT | {
            "hook_event_name": "PostToolUseFailure", "tool_name": "bash", "tool_input": {"command": "ls"},
            "error": {"message": "no"},
        },
        HookCall(
            "copilot", HookEvent.TOOL_FAILED, "PostToolUseFailure", "s1", cwd="/home/ada/proj", tool="bash",
            tool_input='{"command":"ls"}', error='{"message":"no"}',
        ),
        "tool failed|2026-11-21T01:00:00Z|*", {"additionalContext": "remember"},
    ),
    "copilot end": (
        "copilot", COPILOT | {"hook_event_name": "SessionEnd", "reason": "complete"},
        HookCall("copilot", HookEvent.SESSION_END, "SessionEnd", "s1", cwd="/home/ada/proj", source="complete"),
        "session end|2026-11-21T01:00:00Z|*", None,
    ),
}  # fmt: skip


def bytes_of(payload) -> bytes:
    return json.dumps(payload).encode()


@pytest.mark.parametrize("case", CASES)
def test_a_payload_is_read_whole(case):
    """Every field of a documented payload is where the contract says, and its key is of what tells it apart."""
    host, payload, wanted, parts, _ = CASES[case]
    call = named(host).parse(bytes_of(payload))
    assert replace(call, key="") == wanted
    if parts is None:
        assert call.key == ""
    else:
        expected = f"{wanted.session}|{parts}"
        assert call.key.rpartition("|")[0] == expected.rpartition("|")[0]
        assert expected.endswith("*") or call.key == expected


@pytest.mark.parametrize("case", CASES)
def test_an_answer_is_what_the_host_reads_there(case):
    """Context and message stand under the host's own names where it reads them, and nowhere else."""
    host, payload, _, _, wanted = CASES[case]
    call = named(host).parse(bytes_of(payload))
    out = named(host).render(call, SAID)
    assert (json.loads(out) if out else None) == wanted
    assert out == b"" or out.endswith(b"}\n")
    assert named(host).render(call, HookReply()) == b""
    reads = wanted is not None and "remember" in json.dumps(wanted)
    assert named(host).reads_context(call.event) is reads


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("codex")])
def test_codex_payloads_and_answers_are_of_its_schemas(case):
    """The payload that is read is one that Codex sends, and the answer one that it takes, by its own schemas."""
    _, payload, _, _, wanted = CASES[case]
    file = "".join("-" + c.lower() if c.isupper() else c for c in payload["hook_event_name"]).lstrip("-")
    sent = json.loads((SCHEMAS / f"{file}.command.input.json").read_bytes())
    optional = {"permission_mode"} - set(sent["properties"])
    known = {name: told for name, told in payload.items() if name in sent["properties"] or name not in CODEX}
    jsonschema.validate(known, sent)
    assert optional <= {"permission_mode"}
    if wanted is not None:
        answer = named("codex").render(named("codex").parse(bytes_of(payload)), SAID)
        jsonschema.validate(json.loads(answer), json.loads((SCHEMAS / f"{file}.command.output.json").read_bytes()))


@pytest.mark.parametrize(
    ("own", "of_claude"),
    [("beforeSubmitPrompt", "UserPromptSubmit"), ("stop", "Stop"), ("sessionStart", "SessionStart")],
)
def test_what_cursor_runs_twice_has_one_key(own, of_claude):
    """Cursor runs Claude Code's hooks too: the same thing is one call of one key, whichever settings it came by."""
    fields = CURSOR | {"prompt": "hi"}
    mine = named("cursor").parse(bytes_of(fields | {"hook_event_name": own}))
    for name in (own, of_claude):
        claudes = named("claude-code").parse(bytes_of(fields | {"hook_event_name": name}))
        assert replace(claudes, name="") == replace(mine, name="")
    other = named("cursor").parse(bytes_of(fields | {"hook_event_name": own, "generation_id": "g2"}))
    assert mine.key
    assert mine.key != other.key


def test_claude_code_answers_cursor_in_claude_codes_shape():
    """What Cursor asks by Claude Code's settings is answered as those settings promise."""
    host = named("claude-code")
    call = host.parse(bytes_of(CURSOR | {"hook_event_name": "beforeSubmitPrompt", "prompt": "hi"}))
    assert json.loads(host.render(call, HookReply(passed("remember")))) == context("UserPromptSubmit")


@pytest.mark.parametrize("spelt", ["camelCase", "snake_case"])
@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart", "PostToolUse", "Stop"])
def test_what_vs_code_runs_twice_has_one_key(event, spelt):
    """VS Code runs Claude Code's hooks too, with the same payload: both settings give one call of one session."""
    names = ("sessionId", "hookEventName") if spelt == "camelCase" else ("session_id", "hook_event_name")
    fields = {names[0]: "v1", names[1]: event, "timestamp": "2026-11-21T01:00:00.000Z", "cwd": "/home/ada/proj",
              "transcript_path": "/home/ada/t/v1.jsonl", "prompt": "hi", **BASH}  # fmt: skip
    mine = named("vscode").parse(bytes_of(fields))
    assert named("claude-code").parse(bytes_of(fields)) == mine
    assert (mine.log_session, mine.event is HookEvent.OTHER, mine.key != "") == ("vscode:v1", False, True)
    later = fields | {"timestamp": "2026-11-21T01:00:07.000Z"}
    assert (named("vscode").parse(bytes_of(later)).key == mine.key) == (event == "PostToolUse")


def test_two_prompts_of_one_id_have_two_keys():
    """Claude Code gives a prompt that was queued the id of the one before it; their words tell them apart."""
    fields = PLACE | {"hook_event_name": "UserPromptSubmit", "prompt_id": "p1"}
    keys = {named("claude-code").parse(bytes_of(fields | {"prompt": prompt})).key for prompt in ("a", "b", "a")}
    assert len(keys) == 2


def test_what_hooks_said_is_no_part_of_geminis_prompt():
    """Without a terminal Gemini CLI writes the start's context before the user's words; only those are the prompt."""
    added = "<hook_context>&lt;&lt;firsthand 12: memory&gt;&gt;\n&lt;/hook_context&gt; x</hook_context>\n\n"
    for prompt, words in ((added + "which port?", "which port?"), (added + added, ""), ("a <hook_context> b", None)):
        call = named("gemini").parse(json.dumps(GEMINI | {"hook_event_name": "BeforeAgent", "prompt": prompt}).encode())
        assert call.prompt == (prompt if words is None else words)


def test_the_name_in_the_log_is_that_of_an_import():
    """A session is named by host and id, a subagent's by its session too, as an import names them."""
    parse = named("claude-code").parse
    main = parse(bytes_of(PLACE | {"hook_event_name": "Stop"}))
    inner = parse(bytes_of(PLACE | {"hook_event_name": "PreToolUse", "agent_id": "a1b2"}))
    assert (main.log_session, inner.log_session) == (f"claude-code:{ID}", f"claude-code:{ID}/agent-a1b2")
    assert parse(b"").log_session == ""


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (b"", "JSON object"), (b"\xff\xfe\x00", "JSON object"), (b'{"hook_event_name":"Stop"', "JSON object"),
        (b"[1]", "got list"), (b"null", "got NoneType"), (b"[" * 200_000, "JSON object"), (b"1" * 5_000, "JSON"),
        (b"{}", "hook_event_name"), (b'{"hook_event_name":7}', "hook_event_name"),
        (b'{"hook_event_name":"Stop","session_id":"a\\u0000b"}', "session id"),
        (bytes_of({"hook_event_name": "Stop", "session_id": "s" * 201}), "session id"),
        (bytes_of({"hook_event_name": "x" * 201}), "name of an event"),
        (b" " * (PAYLOAD_BYTES_MAX + 1), "bytes of JSON"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("host", tuple(HOSTS))
def test_a_payload_that_cannot_be_understood_says_why(host, payload, says):
    """Junk is a call of no event that names its fault, and is answered with nothing."""
    call = named(host).parse(payload)
    assert (call.host, call.event, call.session, call.key) == (host, HookEvent.OTHER, "", "")
    assert says in call.fault
    assert named(host).render(call, SAID) == b""


def test_odd_values_are_read_as_far_as_they_go():
    """A lone surrogate in a tool's input stays an escape of JSON, and only true is true."""
    told = PLACE | {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"a": "\ud800"}}
    assert named("claude-code").parse(bytes_of(told)).tool_input == '{"a":"\\ud800"}'
    stop = PLACE | {"hook_event_name": "Stop", "stop_hook_active": "false"}
    assert named("claude-code").parse(bytes_of(stop)).again is False


def test_a_tool_result_of_ten_megabytes_is_read():
    """A large output comes whole, and what no name or path can be is told by a digest or left out."""
    big = "x" * 10_000_000
    told = PLACE | BASH | {"hook_event_name": "PostToolUse", "tool_response": big, "tool_use_id": "i" * 500}
    call = named("claude-code").parse(bytes_of(told | {"cwd": "a\0b"}))
    assert (call.tool_output, len(call.call_id), call.cwd, call.fault) == (big, 16, "", "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "session_id", "sessionId", "conversation_id", "generation_id", "cwd", "workspace_roots", "transcript_path",
    "source", "trigger", "reason", "prompt", "prompt_id", "turn_id", "timestamp", "tool_name", "tool_input",
    "tool_response", "tool_output", "tool_use_id", "error", "agent_id", "stop_hook_active", "last_assistant_message",
]  # fmt: skip
EVENT_NAMES = sorted({payload.get("hook_event_name", "Stop") for _, payload, *_ in CASES.values()})


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(tuple(HOSTS)),
    st.sampled_from(EVENT_NAMES),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8),
    st.text(st.characters(exclude_categories=()), max_size=50),
)
def test_no_payload_and_no_reply_makes_a_hook_fail(host, event, fields, said):
    """Fields of any type give a call, and any reply gives nothing or one line of JSON in UTF-8."""
    call = named(host).parse(bytes_of(fields | {"hook_event_name": event}))
    assert all(isinstance(getattr(call, name), str) for name in ("session", "prompt", "tool_input", "key", "cwd"))
    out = named(host).render(call, HookReply(*[passed(said)] * 3))
    assert out == b"" or (out.count(b"\n") == 1 and isinstance(json.loads(out.decode()), dict))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(tuple(HOSTS)), st.binary(max_size=200))
def test_no_bytes_make_a_hook_fail(host, payload):
    """Any bytes give a call: of no event, or of one that JSON named."""
    assert named(host).parse(payload).host in {host, "cursor"}


def test_an_unknown_host_is_refused():
    """A name that is no host's is an error that lists the hosts."""
    with pytest.raises(InvalidArgument, match="claude-code, codex, gemini, cursor, vscode, copilot; got 'emacs'"):
        named("emacs")


# a tool's output -----------------------------------------------------------------------------------

LONG = "line\n" * 2_000


@pytest.mark.parametrize(
    ("output", "new"),
    [
        (LONG, "stub"),
        (
            {"stdout": LONG, "stderr": "warning", "interrupted": False},
            {"stdout": "stub", "stderr": "warning", "interrupted": False},
        ),
        ({"stdout": LONG, "stderr": LONG[:6_000]}, {"stdout": "stub", "stderr": LEFT_OUT}),
        ([{"type": "text", "text": LONG}], [{"type": "text", "text": "stub"}]),
        (
            {"type": "text", "file": {"filePath": "a", "content": LONG, "numLines": 2000}},
            {"type": "text", "file": {"filePath": "a", "content": "stub", "numLines": 2000}},
        ),
        ({"source": {"data": LONG}}, None),
        ({"stdout": "ab"}, None),
        ("ab", None),
        ({"filenames": [LONG]}, None),
    ],
)
def test_a_replaced_output_keeps_its_shape(output, new):
    """The new text stands where the largest text stood; what would not get smaller, or is no text, stays as it is."""
    assert replaced(output if isinstance(output, str) else json.dumps(output), "stub") == new


def test_a_tools_output_is_replaced_in_claude_code_alone():
    """``updatedToolOutput`` is said after a tool in Claude Code, and to no other host."""
    payload = PLACE | BASH | {"hook_event_name": "PostToolUse", "tool_response": OUTPUT | {"stdout": LONG}}
    reply = HookReply(tool_output=passed("stub"))
    claude, codex = named("claude-code"), named("codex")
    assert json.loads(claude.render(claude.parse(bytes_of(payload)), reply)) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": OUTPUT | {"stdout": "stub"}}
    }
    assert codex.render(codex.parse(bytes_of(payload)), reply) == b""
    before = claude.parse(bytes_of(payload | {"hook_event_name": "PreToolUse"}))
    assert claude.render(before, reply) == b""
