"""Implicit recall: which messages are about nothing, and what a message may bring up."""

from __future__ import annotations

import pytest

from firsthand.agents.reminders import is_trivial, remind
from firsthand.agents.settings import Settings

TRIVIAL = (
    "", "  \n", "ok", "OK.", "yes please", "continue", "go ahead", "thanks!", "/compact", "/model opus", "weiter",
    "ja, danke", "d'accord", "sí", "继续", "はい", "да", "...",
)  # fmt: skip
TELLING = (
    "which port?", "continue with the parser", "fix the bug in io.py", "/etc/hosts is wrong", "no tests ran",
    "ja, aber der Hafen?", "yes " * 40, "why", "42",
)  # fmt: skip


@pytest.mark.parametrize("text", TRIVIAL)
def test_a_trivial_prompt_is_known(text):
    """A message that could recall nothing is skipped."""
    assert is_trivial(text)


@pytest.mark.parametrize("text", TELLING)
def test_a_prompt_that_tells_something_is_not_trivial(text):
    """A message with one word of its own is asked."""
    assert not is_trivial(text)


def test_nothing_comes_back_from_what_the_window_still_holds(memory):
    """The session's own words are shown only after they left its window."""
    agent = memory.agent("a")
    own = memory.session("s", agent="x")
    agent.enrol("s")
    own.agent("The Quarzwerk beacon transmits on frequency 1433.71 MHz.")
    for number in range(30):
        own.user(f"some other message on topic {number}, of gardens and rivers")
    text = "on which frequency does the Quarzwerk beacon transmit?"
    assert remind(agent, text, "s", Settings()).hits == ()
    from firsthand import Kind

    own.append(Kind.SUMMARY, "The conversation so far was about a beacon.")
    assert "1433.71" in remind(agent, text, "s", Settings()).text


def test_other_agents_are_asked_only_where_that_is_allowed(memory):
    """Another agent's session is recalled with ``across``, and not without it."""
    memory.session("theirs", agent="y").agent("The Quarzwerk beacon transmits on frequency 1433.71 MHz.")
    memory.agent("b").enrol("theirs")
    for number in range(30):
        memory.session("theirs", agent="y").user(f"some other message on topic {number}, of gardens")
    text = "on which frequency does the Quarzwerk beacon transmit?"
    agent = memory.agent("a")
    assert remind(agent, text, "s", Settings()).hits == ()
    assert "1433.71" in remind(agent, text, "s", Settings(across=True)).text


def test_what_was_kept_as_it_came_is_not_pushed(memory):
    """A host's own line that says a message again is found when asked for, and never shown unasked."""
    from firsthand import Kind

    agent = memory.agent("a")
    old = memory.session("old", agent="x")
    agent.enrol("old")
    old.append(Kind.OTHER, '{"type":"usage","note":"The Quarzwerk beacon transmits on frequency 1433.71 MHz."}')
    said = old.agent("The Quarzwerk beacon transmits on frequency 1433.71 MHz.")
    for number in range(30):
        old.user(f"some other message on topic {number}, of gardens and rivers")
    text = "on which frequency does the Quarzwerk beacon transmit?"
    assert {hit.kind for hit in memory.recall(text).hits} >= {Kind.OTHER, Kind.AGENT_MESSAGE}
    assert [hit.pointer for hit in remind(agent, text, "s", Settings()).hits] == [f"fh:{said.id}"]
