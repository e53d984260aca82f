"""Recording: from the transcript where there is one, else from what hooks are told, and never from both."""

from __future__ import annotations

import json

import pytest
from hosts_made import START, Claude

from firsthand import Kind, Memory, Trust
from firsthand.agents import jobs
from firsthand.agents.faults import faults
from firsthand.agents.hook_answer import answer_hook
from firsthand.health.job_runner import run_due
from firsthand.moment import Moment

CURSOR = {"conversation_id": "c1", "generation_id": "g1", "cursor_version": "3", "transcript_path": None}
LATER = 4_000_000_000_000


@pytest.fixture
def memory(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_RUNTIME_DIR"):  # the look at health must not find this machine's own
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    with Memory.open(tmp_path / "store") as opened:
        (tmp_path / "store" / "settings.json").write_text(json.dumps({"episodes": False}))
        yield opened
        assert opened.verify().ok


def said(memory, session):
    """Give kind, text and trust of what a session says."""
    kinds = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)
    return [(one.kind, one.text, one.trust) for one in memory.events(session) if one.kind in kinds]


def test_a_host_without_a_transcript_is_recorded_from_its_payloads_once(memory, tmp_path):
    """Prompt, tool call, result and last message are events; every repetition changes nothing."""
    payloads = [
        {"hook_event_name": "beforeSubmitPrompt", "prompt": "list the folder, will you"},
        {"hook_event_name": "postToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_output": "a b",
         "tool_use_id": "t1"},
        {"hook_event_name": "afterAgentResponse", "text": "There are two files."},
    ]  # fmt: skip
    for round_ in range(2):
        for number, payload in enumerate(payloads):
            told = json.dumps({**CURSOR, "workspace_roots": [str(tmp_path)], **payload}).encode()
            now = Moment(START.microseconds + (round_ * 100 + number) * 1_000_000)
            assert answer_hook("cursor", told, memory, now=now).fault == ""
    assert said(memory, "cursor:c1") == [
        (Kind.USER_MESSAGE, "list the folder, will you", Trust.TRUSTED),
        (Kind.TOOL_CALL, '{"command":"ls"}', Trust.AGENT),
        (Kind.TOOL_RESULT, "a b", Trust.UNTRUSTED),
        (Kind.AGENT_MESSAGE, "There are two files.", Trust.AGENT),
    ]


def test_a_transcript_that_comes_late_is_followed_and_the_spool_dropped(memory, tmp_path):
    """What was told before the file was there is recorded from the file alone."""
    claude = Claude(memory, tmp_path)
    claude.fire("SessionStart", source="startup")
    claude.prompt("the one question of this session")
    claude.fire("Stop", last_assistant_message="the answer")
    run_due(memory, now_ms=LATER)
    assert [text for _, text, _ in said(memory, claude.session)] == ["the one question of this session"]
    assert list((memory.path / "hooks" / "waiting").iterdir()) == []


def test_a_session_that_never_gets_a_transcript_is_recorded_from_its_payloads(memory, tmp_path):
    """The spool is recorded a minute later, and what follows directly; a second run adds nothing."""
    claude = Claude(memory, tmp_path)
    claude.fire("UserPromptSubmit", prompt="first question, kept in the spool", prompt_id="1")
    run_due(memory, now_ms=0)
    assert said(memory, claude.session) == []
    run_due(memory, now_ms=LATER)
    claude.fire("Stop", last_assistant_message="the answer")
    claude.path.write_text("")  # too late: never both
    claude.fire("UserPromptSubmit", prompt="second question", prompt_id="2")
    run_due(memory, now_ms=LATER)
    told = ["first question, kept in the spool", "the answer", "second question"]
    assert [text for _, text, _ in said(memory, claude.session)] == told


def test_a_torn_line_of_a_spool_loses_itself_alone(memory, tmp_path):
    """What was told before and after it is recorded; the line is named among the faults."""
    claude = Claude(memory, tmp_path)
    claude.fire("UserPromptSubmit", prompt="before the disk was full", prompt_id="1")
    (spool,) = (memory.path / "hooks" / "waiting").iterdir()
    with spool.open("ab") as file:
        file.write(spool.read_bytes()[:40])
    claude.fire("UserPromptSubmit", prompt="after it had room again", prompt_id="2")
    assert [one.why for one in run_due(memory, now_ms=LATER) if one.why] == []
    assert [text for _, text, _ in said(memory, claude.session)] == [
        "before the disk was full", "after it had room again",
    ]  # fmt: skip
    assert [one.text.startswith(f"line 2 of {spool} is lost: ") for one in faults(memory.path)] == [True]
    assert not spool.exists()


def test_what_was_fenced_is_left_out_of_payloads(memory, tmp_path):
    """A tool's output that is only our own recall is no event; beside other words only those are kept."""
    fenced = memory.fence("old words about the tower")
    for number, output in enumerate((fenced, f"before {fenced} after")):
        told = {**CURSOR, "hook_event_name": "postToolUse", "tool_name": "recall", "tool_input": {"query": "tower"},
                "tool_output": output, "tool_use_id": f"t{number}"}  # fmt: skip
        answer_hook("cursor", json.dumps(told).encode(), memory, now=START)
    results = [text for kind, text, _ in said(memory, "cursor:c1") if kind is Kind.TOOL_RESULT]
    assert results == ["before [recalled by firsthand, not stored again] after"]


def test_a_new_project_brings_its_other_transcripts(memory, tmp_path):
    """At the first hook of a project the sessions beside it become the agent's, so that memory works on day one."""
    old = Claude(memory, tmp_path, 7)
    old.line("user", message={"role": "user", "content": "an old question about the harbour crane"})
    new = Claude(memory, tmp_path, 8)
    new.fire("SessionStart", source="startup")
    run_due(memory, now_ms=LATER)
    (agent,) = {one.agent for one in jobs.pending(memory.path)} or {""}
    assert agent == ""
    owner = next(one.name.removeprefix("agent:") for one in memory.sessions() if one.name.startswith("agent:"))
    assert set(memory.agent(owner).sessions()) == {old.session, new.session}


def test_a_large_result_becomes_an_artifact_whole(memory):
    """A megabyte told by a hook is kept byte for byte."""
    large = "x y z " * 200_000
    told = {**CURSOR, "hook_event_name": "postToolUse", "tool_name": "Shell", "tool_input": {"command": "big"},
            "tool_output": large, "tool_use_id": "t9"}  # fmt: skip
    answer_hook("cursor", json.dumps(told).encode(), memory, now=START)
    (result,) = memory.events("cursor:c1", kind=Kind.TOOL_RESULT)
    assert result.artifact is not None
    assert memory.expand(f"fh:{result.id}") == large.encode()
