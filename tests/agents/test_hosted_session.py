"""A session of a host in our own process: what it is told, and what it survives."""

from __future__ import annotations

from firsthand import AgentTools, Kind
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


def said(memory, name, *messages):
    """Have a session in which messages are said."""
    session = begun(memory, name)
    memory.session(session.name, agent="coder").append_messages(messages)
    return session


def test_a_prompt_brings_up_what_another_session_said(memory):
    """An exact string of an earlier session is shown, fenced, in a later one, and kept as shown."""
    for number in range(40):
        said(memory, f"old{number}", user(f"unrelated talk number {number} about gardens"), agent("yes"))
    said(memory, "first", user("the staging database is db7.internal:5544"), agent("noted db7.internal:5544")).end()
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
    said(memory, "s1", user("the key is QX-99-ALPHA"), agent("noted"))
    off = begun(memory, "off", record=False, preamble=False, cues=False, recall=False)
    assert (off.preamble(), off.prompt("where is QX-99-ALPHA?").text, off.records, off.end()) == ("", "", False, "")


def test_compressing_tells_where_what_leaves_is(memory):
    """The text names the span of what is about to leave, and what it was about."""
    deploy = user("deploy failed with E4711 at db7.internal:5544"), agent("lock table full: E4711")
    text = said(memory, "s1", *deploy).compressing()
    first, last = [f"fh:{one.id}" for one in memory.events("hermes:s1")]
    assert f"{first}..{last.removeprefix('fh:')}" in text
    assert "E4711" in text


def test_a_store_that_refuses_is_told_once_and_does_not_stop_the_host(memory, monkeypatch):
    """When a write is refused nothing is raised; the fault is kept, and one prompt says so."""
    session = begun(memory)

    def full(*_, **__):
        raise StoreFailed("the disk refused a write")

    with monkeypatch.context() as broken:
        broken.setattr(memory.log, "append", full)
        session.remember("The port is 5433.")
    text = session.prompt("what is up here?").text
    assert "memory is degraded: note: StoreFailed: the disk refused a write" in text
    assert "degraded" not in session.prompt("and what is up there?").text
    assert [fault.where for fault in faults(memory.path)] == ["note"]


def test_the_episode_is_found_by_the_next_session(memory):
    """The end of a session writes an episode; the next session's preamble says what was asked, a cue names it."""
    messages = user("move the invoices to the new ledger format"), agent("The invoices are moved.")
    name = said(memory, "s1", *messages).end()
    assert name
    assert "move the invoices to the new ledger format" in begun(memory, "s2").preamble()
    assert name in begun(memory, "s2").prompt("what about the invoices?").text
