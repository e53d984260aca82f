"""A session of a host in our own process: what of its messages is appended, what it is told, and what it survives."""

from __future__ import annotations

import shutil

from hypothesis import given
from hypothesis import strategies as st

from firsthand import AgentTools, Kind, Memory
from firsthand.agents.faults import faults
from firsthand.agents.hosted_session import HostedSession
from firsthand.agents.settings import Settings
from firsthand.errors import StoreFailed


def begun(memory, name="s1", **options):
    session = HostedSession(AgentTools(memory.agent("coder"), Settings(**options)), "hermes", name)
    session.begin()
    return session


def user(text):
    return {"role": "user", "content": text}


def agent(text):
    return {"role": "assistant", "content": text}


def told(memory, name="hermes:s1"):
    return [one.text for one in memory.events(name) if one.kind in {Kind.USER_MESSAGE, Kind.AGENT_MESSAGE}]


def test_a_list_that_grows_is_appended_once(memory):
    """Each message of a growing list is appended once, also by a new process of the same session."""
    session, messages = begun(memory), [user("one"), agent("two")]
    assert session.messages(messages) == 2
    assert session.messages(messages) == 0
    messages += [user("one"), agent("two")]
    assert begun(memory).messages(messages) == 2
    assert told(memory) == ["one", "two", "one", "two"]
    assert memory.agent("coder").sessions() == ("hermes:s1",)


def test_a_list_that_was_compressed_goes_on(memory):
    """After the host replaced its past by a summary, only that and what is new of the last turn is appended."""
    session = begun(memory)
    session.messages([user("one"), agent("two"), user("three"), agent("four")])
    compressed = [agent("summary of the past"), user("three"), agent("four")]
    assert session.messages(compressed) == 1
    assert [event.text for event in memory.events("hermes:s1", kind=Kind.SUMMARY)] == ["summary of the past"]
    assert session.messages([*compressed, user("five"), agent("six")]) == 2
    assert told(memory) == ["one", "two", "three", "four", "five", "six"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=6), st.data())
def test_no_turn_is_lost_or_doubled(tmp_path_factory, turns, data):
    """However often a list of turns is given again, each turn stands in the log once, in order."""
    folder = tmp_path_factory.mktemp("store")
    with Memory.open(folder / "store") as memory:
        session, messages = begun(memory), []
        for asked, answered in turns:
            messages += [user(asked), agent(answered)]
            for _ in range(data.draw(st.integers(1, 2))):
                session.messages(messages)
            if data.draw(st.booleans()):
                session = begun(memory)
        assert told(memory) == [text for turn in turns for text in turn]
    shutil.rmtree(folder)


def test_a_prompt_brings_up_what_another_session_said(memory):
    """An exact string of an earlier session is shown, fenced, in a later one, and kept as shown."""
    for number in range(40):
        begun(memory, f"old{number}").messages([user(f"unrelated talk number {number} about gardens"), agent("yes")])
    first = begun(memory, "first")
    first.messages([user("the staging database is db7.internal:5544"), agent("noted db7.internal:5544")])
    first.end()
    second = begun(memory, "second")
    brought = second.prompt("what was on db7.internal:5544 again, the staging database?")
    assert "db7.internal:5544" in brought.text
    assert brought.text.startswith("<<firsthand ")
    assert second.prompt("what was on db7.internal:5544 again, the staging database?") == brought
    kept = [one for one in memory.events("hermes:second") if one.kind is Kind.INJECTION]
    assert len(kept) == 1
    assert begun(memory, "third").prompt("ok").text == ""


def test_switches_are_heeded(memory):
    """What is switched off is not done: no recall, no cues, no preamble, no episode, no recording."""
    begun(memory).messages([user("the key is QX-99-ALPHA"), agent("noted")])
    off = begun(memory, "off", record=False, preamble=False, cues=False, recall=False)
    assert (off.preamble(), off.prompt("where is QX-99-ALPHA?").text, off.messages([user("x")]), off.end()) == (
        "",
        "",
        0,
        "",
    )
    assert told(memory, "hermes:off") == []


def test_compressing_tells_where_what_leaves_is(memory):
    """Before a compression all is in the log, and the text names the span and what it was about."""
    session = begun(memory)
    text = session.compressing([user("deploy failed with E4711 at db7.internal:5544"), agent("lock table full: E4711")])
    assert told(memory) == ["deploy failed with E4711 at db7.internal:5544", "lock table full: E4711"]
    first, last = [f"fh:{one.id}" for one in memory.events("hermes:s1")]
    assert f"{first}..{last.removeprefix('fh:')}" in text
    assert "E4711" in text


def test_a_store_that_refuses_is_told_once_and_does_not_stop_the_host(memory, monkeypatch):
    """When an append is refused nothing is raised; the fault is kept, and one prompt says so."""
    session = begun(memory)

    def full(*_, **__):
        raise StoreFailed("the disk refused a write")

    with monkeypatch.context() as broken:
        broken.setattr(memory.log, "append", full)
        assert session.messages([user("one"), agent("two")]) == 0
    assert (
        "memory is degraded: record: StoreFailed: the disk refused a write" in session.prompt("what is up here?").text
    )
    assert "degraded" not in session.prompt("and what is up there?").text
    assert [one.where for one in faults(memory.path)] == ["record"]
    assert session.messages([user("one"), agent("two")]) == 2
    assert told(memory) == ["one", "two"]


def test_the_episode_is_found_by_the_next_session(memory):
    """The end of a session writes an episode; the next session's preamble says what was asked, a cue names it."""
    session = begun(memory)
    session.messages([user("move the invoices to the new ledger format"), agent("The invoices are moved.")])
    name = session.end()
    assert name
    assert "move the invoices to the new ledger format" in begun(memory, "s2").preamble()
    assert name in begun(memory, "s2").prompt("what about the invoices?").text
