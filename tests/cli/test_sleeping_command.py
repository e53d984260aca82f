"""The command sleep, as a person types it."""

from __future__ import annotations

import pytest

from firsthand import Memory


@pytest.fixture
def filled(shell):
    """A shell whose store has two agents, one of which was told a port twice."""
    with Memory.open(shell.store, embedder="none") as memory:
        for name, texts in (("shop", ("The port is 80.", "The port is now 81.")), ("web", ("My name is Ann.",))):
            memory.agent(name).enrol(name)
            for text in texts:
                memory.session(name).user(text)
    return shell


def test_an_agent_sleeps_and_the_page_is_shown_again(filled):
    """The page is said, shown later byte for byte, and as JSON with every step; a session that goes on is left."""
    slept = filled("agent", "sleep", "--agent", "shop", "--ended", "--seconds", "60")
    assert slept.code == 0
    assert "## Episodes: done, 1 episode" in slept.text
    shown = filled("agent", "sleep", "--agent", "shop", "--show")
    assert (shown.code, shown.text) == (0, slept.text)
    told = filled("agent", "sleep", "--agent", "shop", "--show", "--json").json
    assert (told["page"], told["last"]["finished"]) == (slept.text, True)
    again = filled("agent", "sleep", "--agent", "shop", "--json").json
    assert [(step["name"], step["state"]) for step in again["steps"]] == [("episodes", "done"), ("digest", "done")]
    assert (again["since"], again["finished"]) == (told["last"]["through"], True)


def test_all_agents_sleep_one_after_the_other(filled):
    """Each has its page; none is begun when the time is up, which is said."""
    slept = filled("agent", "sleep", "--all", "--json")
    assert [(one["agent"], one["finished"]) for one in slept.json_lines] == [("shop", True), ("web", True)]
    cut = filled("agent", "sleep", "--all", "--json", "--seconds", "0.001")
    (begun,) = cut.json_lines
    assert "web and those behind it are left for the next time" in cut.error
    assert ("the sleep was not finished" in cut.error) is not begun["finished"]


def test_what_was_never_done_is_said(filled):
    """No page, no agent: each has its exit code and sentence."""
    none = filled("agent", "sleep", "--agent", "web", "--show")
    assert (none.code, none.text, none.error.strip()) == (1, "", "it has not slept yet: firsthand agent sleep")
    unknown = filled("agent", "sleep", "--agent", "nobody")
    assert (unknown.code, "no agent 'nobody'" in unknown.error) == (5, True)
