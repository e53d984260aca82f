"""Implicit recall: what a message may bring up, from whom, and how much of it."""

from __future__ import annotations

import pytest

from firsthand import Kind, Trust
from firsthand.agents.reminders import TOKENS_MAX, remind
from firsthand.agents.settings import Settings
from firsthand.answer import Band
from firsthand.tokens import estimate

ASKED = "on which frequency does the Quarzwerk beacon transmit?"
TOLD = "The Quarzwerk beacon transmits on frequency 1433.71 MHz."


def past(memory, *events, others: int = 30):
    """Give an agent with a session of other matters and of what is said of the beacon."""
    agent = memory.agent("a")
    agent.enrol("old")
    session = memory.session("old", agent="x")
    for number in range(others):
        session.user(f"some other message on topic {number}, of gardens and rivers")
    for event in events:
        event(session)
    return agent


def test_a_request_is_shown_with_its_answer(memory):
    """A message stands in quotes, dated, with its pointer, and behind a request what the agent answered."""

    def talk(session):
        session.user("On which frequency may the Quarzwerk beacon transmit, do you know that?")
        session.agent("Let me look at the Quarzwerk beacon.")
        session.tool_result(session.tool_call("bash", {"command": "cat log"}), "x")
        session.agent("It is 1433.71 MHz.")
        session.user("thanks")

    lines = remind(past(memory, talk), ASKED, "s", Settings(band=Band.POSSIBLE)).text.splitlines()
    assert lines[0] == "From earlier sessions:"
    assert len(lines) == 2
    assert lines[1].startswith("- user, 20")
    assert lines[1].endswith("do you know that?\u201d; the agent said: \u201cIt is 1433.71 MHz.\u201d")


def test_of_a_tools_output_the_call_is_named(memory):
    """Where a result answers best and nobody said it, the call that brought it is shown, by a word in common."""

    def tool(session):
        call = session.tool_call("bash", {"command": "make beacon"})
        session.tool_result(call, f"{TOLD} zorblatt Quarzwerk " + "of the frequency table " * 6, tool="bash")
        edit = session.tool_call("Edit", {"file_path": "a.md"})
        session.tool_result(edit, "edited", tool="Edit")

    text = remind(past(memory, tool), ASKED, "s", Settings(band=Band.POSSIBLE)).text
    assert "- result of `make beacon`, 20" in text
    assert "zorblatt" not in text


@pytest.mark.parametrize(
    ("output", "shown"), [(TOLD, False), (f"exit code 2 {TOLD} " * 9, False), (f"{TOLD} " * 9, True)]
)
def test_a_short_or_failed_result_brings_nothing_up(memory, output, shown):
    """A result that is soon asked for anew, or that tells of a failure, names no call; another one does."""

    def tool(session):
        session.tool_result(session.tool_call("bash", {"command": "make beacon Quarzwerk"}), output, tool="bash")

    text = remind(past(memory, tool), ASKED, "s", Settings(band=Band.UNLIKELY)).text
    assert ("make beacon" in text) == shown


def test_a_message_of_few_words_is_not_shown(memory):
    """What says nothing to who does not know what was said before is left out, however well it fits."""
    agent = past(memory, lambda session: session.agent("Which beacon, the Quarzwerk?"))
    assert "Quarzwerk" not in remind(agent, ASKED, "s", Settings(band=Band.UNLIKELY)).text


def test_what_nobody_said_is_not_shown(memory):
    """Calls, thoughts, summaries, system texts, an agent's notes and untrusted messages bring up nothing unasked."""

    def events(session):
        for kind in (Kind.REASONING, Kind.SUMMARY, Kind.SYSTEM, Kind.OTHER):
            session.append(kind, f"{TOLD} {kind}")
        session.tool_call("bash", {"command": f"echo {TOLD}"})
        session.append(Kind.USER_MESSAGE, f"{TOLD} mail", trust=Trust.UNTRUSTED, origin="mail")

    agent = past(memory, events)
    memory.note(f"{TOLD} noted", session=agent.session)
    assert remind(agent, ASKED, "s", Settings(band=Band.UNLIKELY)).hits == ()
    memory.note(f"{TOLD} of the user", session=agent.session, trust=Trust.TRUSTED)
    assert "of the user" in remind(agent, ASKED, "s", Settings(band=Band.UNLIKELY)).text


def test_only_what_is_likely_is_shown_and_little_of_it(memory):
    """Of long messages at most three passages stand in 300 tokens; a question of something else brings up nothing."""
    agent = past(memory, *(
        (lambda session, number=number: session.agent(f"In week {number} the Quarzwerk beacon transmits at {number} "
                                                      * 40))
        for number in range(6)
    ))  # fmt: skip
    reminder = remind(agent, ASKED, "s", Settings(band=Band.POSSIBLE))
    assert 2 <= len(reminder.hits) <= 3
    assert estimate(reminder.text) <= TOKENS_MAX
    assert remind(agent, "which rivers are there in the other gardens of the north?", "s", Settings()).hits == ()
    assert remind(agent, "/mode", "s", Settings(band=Band.UNLIKELY)).skipped == "a command of the host"
    assert remind(agent, "the beacon?", "s", Settings(band=Band.UNLIKELY)).skipped == "a message of one word"


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
