"""What the user asked, as far as hosts mark the rest as their own."""

from __future__ import annotations

import json

import pytest

from firsthand import Kind, Trust
from firsthand.event import REPEATS
from firsthand.hosts.requests import is_answer, is_asked, is_refused, is_request


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("/mode", False),
        ("/fix-issue 12 now", False),
        ("/etc/hosts is wrong", True),
        ("<command-name>/clear</command-name>", False),
        ("[Request interrupted by user for tool use]", False),
        ("<environment_context>\n<cwd>/x</cwd>", False),
        ("  ", False),
        ("ok", True),
    ],
)
def test_marks_of_hosts_are_no_requests(prompt, asked):
    """Commands, tags and marks of an interruption are the host's; all else is the user's, however short."""
    assert is_asked(prompt) is asked


def test_flags_and_trust_of_an_event_count(memory):
    """What the host flags, what repeats, what another wrote, and an answer that was broken off, count for nothing."""
    session = memory.session("s")
    asked = session.user("mend the lock")
    answered = session.agent("mended")
    session.user("a caveat", meta={"isMeta": True})
    session.user("mend the lock", meta={REPEATS: True})
    session.append(Kind.USER_MESSAGE, "from a mail", trust=Trust.UNTRUSTED, origin="mail")
    session.append(Kind.USER_MESSAGE, "from the parent", trust=Trust.AGENT, origin="agent")
    session.agent("I was about", meta={"stopReason": "aborted"})
    session.agent("API error", meta={"isApiErrorMessage": True})
    events = list(memory.events("s"))
    assert [event.pointer for event in events if is_request(event)] == [asked.pointer]
    assert [event.pointer for event in events if is_answer(event)] == [answered.pointer]


def test_a_command_in_a_transcript_is_no_request(memory, tmp_path):
    """A session that Claude Code wrote: its commands and their output are none of the user's requests."""
    texts = ["<command-name>/mode</command-name>", "<local-command-stdout>set</local-command-stdout>", "mend the lock",
             "[Request interrupted by user]"]  # fmt: skip
    lines = [
        {"type": "user", "uuid": f"00000000-0000-0000-0000-00000000000{number}", "parentUuid": None, "sessionId": "a",
         "timestamp": f"2026-09-21T10:00:0{number}Z", "message": {"role": "user", "content": text}}
        for number, text in enumerate(texts)
    ]  # fmt: skip
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    memory.import_paths([file])
    assert [event.text for event in memory.events() if is_request(event)] == ["mend the lock"]


def test_a_refused_call(memory):
    """A result that says the user did not let a call run says nothing of the call."""
    session = memory.session("s")
    call = session.tool_call("bash", {"command": "git push"})
    refused = session.tool_result(call, "The user doesn't want to proceed with this tool use.", tool="bash")
    assert is_refused(memory.event(refused))
