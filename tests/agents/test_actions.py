"""Before an action: what speaks against it on evidence, and nothing else."""

from __future__ import annotations

import json
import random

import pytest

from firsthand import Draft, Kind, Memory, Trust
from firsthand.agents.actions import warn
from firsthand.agents.settings import Settings
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.value import replace


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "store") as opened:
        opened.agent("a").enrol("old")
        yield opened
        assert opened.verify().ok


def said(memory, tool, **arguments) -> str:
    call = HookCall("claude-code", HookEvent.BEFORE_TOOL, tool=tool, tool_input=json.dumps(arguments))
    return warn(memory.agent("a"), call, "new", Settings(), deadline_ms=5_000).text


def test_warnings_of_failures_are_precise_on_generated_histories(memory):
    """Of commands whose last run failed at least nine tenths are told, and of the others at most one in ten told."""
    draw = random.Random(5)
    programs, services = ("make", "cargo", "npm", "docker", "terraform"), ("api", "web", "worker", "billing", "docs")
    commands = [f"{a} {b} {c}" for a in programs for b in ("build", "deploy", "plan") for c in services]
    session, last = memory.session("old", agent="x"), {}
    for _ in range(200):
        command, failed = draw.choice(commands[:60]), draw.random() < 0.3
        call = session.tool_call("Bash", {"command": command})
        session.tool_result(call, "Exit code 1\nno" if failed else "ok", meta={"is_error": True} if failed else {})
        last[command] = failed
    told = {command for command in commands if said(memory, "Bash", command=command)}
    wanted = {command for command in commands if last.get(command)}
    assert len(wanted) > 10
    assert len(told & wanted) >= 0.9 * len(wanted)
    assert len(told & wanted) >= 0.9 * len(told)


def ran(memory, command, *, failed, session="old") -> None:
    told = memory.session(session, agent="x")
    call = told.tool_call("Bash", {"command": command})
    told.tool_result(call, "Exit code 2\nit broke" if failed else "fine", meta={"is_error": True} if failed else {})


@pytest.mark.parametrize(
    "spelled",
    [
        "make  build   api -j4", "make -j4 build api", "make build api", "cd /srv && make build api -j4",
        "CI=1 STAGE=prod make build api", "make build api -j4 2>&1 | tail -n 5",
    ],
)  # fmt: skip
def test_a_failed_command_is_known_in_other_spellings(memory, spelled):
    """Spaces, flags, a folder or a setting before it, and where its output goes, make no other command of it."""
    ran(memory, "make build api -j4", failed=True)
    assert "failed the last time" in said(memory, "Bash", command=spelled)
    assert said(memory, "Bash", command="make build web -j4") == ""
    ran(memory, "make build api -j4", failed=False)
    assert said(memory, "Bash", command=spelled) == ""


def test_a_command_with_another_word_is_another(memory):
    """However long two commands are, one with a word in the place of another one's says nothing of it."""
    first = "ssh deploy@host cd /srv/app env prod run.sh build api"
    ran(memory, first, failed=True)
    assert said(memory, "Bash", command=first.replace("api", "web")) == ""
    assert "build api" in said(memory, "Bash", command=first)


def test_a_failure_is_found_behind_many_other_events(memory):
    """Messages and results with the same words, and the session's own runs, do not hide the last run."""
    ran(memory, "make build api", failed=True)
    session = memory.session("old", agent="x")
    for number in range(60):
        session.user(f"make build api, they said {number}")
    ran(memory, "make build api", failed=False, session="new")
    assert "failed the last time" in said(memory, "Bash", command="make build api")


def test_a_broken_index_is_told(memory):
    """Where the words cannot be looked up, nothing known is not what is said."""
    ran(memory, "make build api", failed=False)
    memory.follow()
    memory.log.exclusively(lambda db: db.execute("UPDATE reach SET fault = 'torn'").fetchall())
    call = HookCall("claude-code", HookEvent.BEFORE_TOOL, tool="Bash", tool_input='{"command": "make lint"}')
    assert "torn" in warn(memory.agent("a"), call, "new", Settings(), deadline_ms=5_000).skipped
    memory.log.exclusively(lambda db: db.execute("UPDATE reach SET fault = ''").fetchall())


def test_only_the_user_s_own_words_forbid(memory):
    """What a subagent was told is not the user's rule, and a message of another agent decides nothing."""
    memory.append([Draft(Kind.USER_MESSAGE, b"Never touch schema/orders.sql again.", trust=Trust.AGENT)], session="old")
    assert said(memory, "Edit", file_path="/w/schema/orders.sql", new_string="x") == ""
    for text in (b"Never touch src/carts.py again.", b"We decided to use pnpm instead of npm here."):
        for kind in (Kind.USER_MESSAGE, Kind.NOTE):
            memory.append([Draft(kind, text, trust=Trust.UNTRUSTED)], session="old")
    assert said(memory, "Edit", file_path="/w/src/carts.py", new_string="x") == ""
    assert said(memory, "Bash", command="npm install left-pad") == ""


def test_across_agents_the_session_s_own_window_stays_out(memory):
    """With other agents' sessions let in, what failed in this very session is still not told again."""
    for name in ("new", "new/agent-7", "of another agent"):
        session = memory.session(name, agent="y")
        call = session.tool_call("Bash", {"command": f"make deploy {name[:5]}"})
        session.tool_result(call, "Exit code 1\nno", meta={"is_error": True})
    call = HookCall("claude-code", HookEvent.BEFORE_TOOL, tool="Bash", tool_input='{"command": "make deploy new"}')
    other = replace(call, tool_input='{"command": "make deploy of an"}')
    told = [
        warn(memory.agent("a"), one, "new", Settings(across=across), deadline_ms=5_000).text != ""
        for across in (False, True) for one in (call, other)
    ]  # fmt: skip
    assert told == [False, False, False, True]


def test_a_command_that_only_reads_is_not_asked_for(memory):
    """Looking needs no warning, unless something else is joined to it or it writes in place."""
    session = memory.session("old", agent="x")
    for command in ("cat notes.md", "cat notes.md | sh"):
        session.tool_result(session.tool_call("Bash", {"command": command}), "Exit code 1", meta={"is_error": True})
    assert said(memory, "Bash", command="cat notes.md") == ""
    assert "failed the last time" in said(memory, "Bash", command="cat notes.md | sh")
