"""firsthand doctor: exit code, the broken stage first, JSON and history."""

from __future__ import annotations

import pytest

from firsthand import Memory
from firsthand.agents.health_line import looks
from firsthand.cli.exits import DAMAGED, DONE
from stores import damage_index


@pytest.fixture
def user(shell, monkeypatch):
    """A user without a daemon, who has said something."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(shell.home))
    monkeypatch.setenv("FIRSTHAND_DAEMON", "off")
    monkeypatch.chdir(shell.home)
    shell.append("the deploy key lives in vault seven behind the blue door")
    return shell


@pytest.mark.files_only("the server of the switch syncs nothing, and doctor says so")
def test_a_healthy_memory_ends_with_0(user):
    """A healthy memory is said in the first line, what was looked at in the second; JSON says the same."""
    said = user("doctor")
    assert (said.code, said.lines[0]) == (DONE, f"memory is healthy  {user.store}")
    assert said.lines[1].startswith(
        "looked at store, hooks, daemon, jobs, log, index, vectors, recall, shown, episodes"
    )
    told = user("doctor", "--json", "--no-canary").json
    assert (told["ok"], told["line"], told["silent"]) == (True, "", {"hits": 0, "of": 1})


@pytest.mark.files_only("damages files of the index")
def test_a_broken_stage_comes_first_and_ends_with_3(user):
    """A stopped index is the first finding with its command under it, and the exit code says so in JSON too."""
    user.damaged = True
    damage_index(user.store, "UPDATE reach SET position = 0, fault = 'cut off' WHERE name = 'text'")
    said = user("doctor", "--no-canary")
    assert said.code == DAMAGED
    assert said.lines[2:4] == [
        "broken  index: the text index stopped at position 0 of 1: cut off", "    -> firsthand store rebuild",
    ]  # fmt: skip
    assert user("doctor", "--no-canary", "--json").code == DAMAGED
    assert user("store", "rebuild").code == DONE
    assert user("doctor", "--no-canary").code == DONE
    rows = looks(user.store)
    assert [(one["severity"], one["stages"][:1]) for one in rows] == [("broken", ["index"])] * 2 + [("note", [])]


def test_why_an_event_was_not_used_is_named(user):
    """With --missed and --session the mode is named by its sign; each alone, and a session of nobody, is refused."""
    with Memory.open(user.store) as memory:
        memory.agent("web").enrol("later")
        memory.agent("web").enrol("earlier")
        memory.session("later").user("where is the deploy key again?")
        pointer = f"fh:{memory.session('earlier').user('the deploy key lives in vault nine').id}"
    said = user("doctor", "--missed", pointer, "--session", "later")
    assert (said.code, said.lines) == (DONE, [
        "recognition failure: nothing about it was shown or asked for in 1 messages",
        "    -> switch cues and recall on: firsthand agent switch recall on",
    ])  # fmt: skip
    told = user("doctor", "--missed", pointer, "--session", "later", "--agent", "web", "--json").json
    assert (told["mode"], told["agent"]) == ("recognition failure", "web")
    assert "expected both --missed POINTER and --session NAME" in user("doctor", "--missed", pointer).error
    for agent in ("", "nobody"):
        refused = user("doctor", "--missed", pointer, "--session", "nowhere", "--agent", agent)
        assert (refused.code != DONE, "'nowhere' is none" in refused.error) == (True, True)


def test_without_a_store_it_says_what_to_type(shell, monkeypatch):
    """Where nothing was ever recorded the doctor says so, and makes no store."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(shell.home))
    said = shell("doctor")
    assert said.text.startswith("memory is ready; nothing recorded yet: start your agent")
    assert (said.code, "firsthand import" in said.text, shell.store.exists()) == (DONE, True, False)
