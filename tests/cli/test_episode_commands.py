"""The commands agents, episodes and episode."""

from __future__ import annotations

import pytest

from firsthand import Memory


@pytest.fixture
def two(shell):
    """A store with one agent that has two sessions, and one session of nobody."""
    for name, about in (("s1", "the retry queue"), ("s2", "the zebra enclosure"), ("s3", "nothing")):
        shell.append(f"Please look into {about}.", name)
        shell.append(f"I looked into {about} and mended it.", name, "agent_message")
    with Memory.open(shell.store) as memory:
        for name in ("s1", "s2"):
            memory.agent("web").enrol(name)
    return shell


def test_closing_one_session(two):
    """Its pointer and name are printed, the file is written; again, it says that it was there."""
    said = two("agent", "close", "s1")
    assert said.code == 0, said.error
    pointer, name = said.text.split()
    assert "retry-queue" in name
    assert two("show", pointer).text.startswith(f"# {name[:10]} ")
    assert two("agent", "close", "s1").text == f"{pointer}  {name}  (was there)\n"


def test_closing_all(two):
    """Every session of an agent that has no episode gets one, the newest first; then there is nothing to do."""
    said = two("agent", "close", "--all", "--json")
    assert [(one["session"], one["verified"], one["new"]) for one in said.json_lines] == [
        ("s2", True, True), ("s1", True, True),
    ]  # fmt: skip
    assert two("agent", "close", "--all").error == "every session has its episode\n"
    left = two("session", "append", "once more", "--session", "s1")
    assert left.code == 0
    assert len(two("agent", "close", "--all", "--agent", "web", "--quiet").lines) == 1


def test_whose_session_it_is(two):
    """A session of nobody is refused until it is said whose it is; one that is not there has no episode."""
    refused = two("agent", "close", "s3")
    assert (refused.code, "say whose it is with --agent" in refused.error) == (5, True)
    assert two("agent", "close", "s3", "--agent", "ops").code == 0
    assert two("agent", "close", "none", "--agent", "ops").code == 1
    assert two("agent", "close").code == 5
    assert two("agent", "close", "s1", "--all").code == 5


def test_lists(two):
    """Agents with their numbers, episodes with names and state; of one agent or all; nothing found is exit code 1."""
    assert two("agent", "episodes").code == 1
    two("agent", "close", "s1")
    two("agent", "close", "s3", "--agent", "ops")
    names = [one["agent"] for one in two("agent", "episodes", "--json").json_lines]
    assert names == ["web", "ops"]
    (line,) = two("agent", "episodes", "--agent", "web").lines
    assert "s1" in line
    assert "not found" not in line
    assert two("agent", "list").lines[0].split()[:5] == ["web", "2", "sessions", "1", "episode"]
    assert [one["sessions"] for one in two("agent", "list", "--json").json_lines] == [2, 1]


def test_sessions_become_an_agents_own(two):
    """A name or the beginning of names; what Firsthand keeps of its own and sub-agents are not meant by a star."""
    with Memory.open(two.store) as memory:
        memory.note("Mend the queue first.", session="s1")
        for name in ("s3/agent-7", "talk-1", "talk-2"):
            memory.session(name).user("Please look at the swing.")
    said = two("agent", "enrol", "talk-*", "s3", "--agent", "web")
    assert (said.code, said.text.split()) == (0, ["web", "talk-1", "web", "talk-2", "web", "s3"])
    assert two("agent", "enrol", "*", "--agent", "other", "--json").json_lines == [
        {"agent": "other", "session": name} for name in ("s1", "s2", "s3", "talk-1", "talk-2")
    ]
    again = two("agent", "enrol", "s*", "--agent", "web")
    assert (again.code, again.text) == (0, "")
    assert "0 sessions more of agent web, 3 were its own" in again.error
    assert [one["sessions"] for one in two("agent", "list", "--json").json_lines] == [5, 5]


def test_sessions_of_nobody_are_no_empty_answer(shell):
    """Where the folder's agent has nothing, what asks about it says so, and how sessions become its own."""
    shell.append("The port of staging is 8080.")
    shell.append("The port of staging is now 8443.")
    for words in (("sleep",), ("digest",)):
        said = shell("agent", *words)
        assert (said.code, said.text) == (5, "")
        assert "(the agent of this folder) has anything in this store" in said.error
        assert "firsthand agent enrol 'SESSION*'" in said.error
    assert shell("agent", "enrol", "s*").code == 0
    assert shell("agent", "sleep", "--ended").code == 0
    assert len(shell("agent", "episodes").lines) == 1
