"""An agent: whose session is whose, and what it may recall."""

from __future__ import annotations

from firsthand import Kind, Memory, Scope
from firsthand.agent_space import NOTES, OURS, sessions_like
from firsthand.ledger import consolidation
from firsthand.ledger.decision_log import SESSION as LEDGER_SESSION


def test_a_session_is_enrolled_once_and_seen_by_every_handle(tmp_path):
    """A second enrolment changes nothing; a handle that has read before sees what another one enrolled since."""
    with Memory.open(tmp_path) as one, Memory.open(tmp_path) as other:
        assert one.agent("a").enrol("s", host="codex", cwd="/w")
        assert not one.agent("a").enrol("s", host="codex", cwd="/elsewhere")
        assert one.agent("a").sessions() == ("s",)
        assert other.agent("a").enrol("t")
        other.agent("b").enrol("u")
        assert one.agent("a").sessions() == other.agent("a").sessions() == ("s", "t")
        assert one.agent("a").scope().sessions == ("s", "t", "agent:a", "notes")
        assert one.agent("a").scope(across=True) == Scope()
        assert one.verify().ok


def test_an_agent_of_thousands_of_sessions_can_be_asked(tmp_path):
    """A scope of five thousand names finds what stands in one of them, and nothing outside."""
    with Memory.open(tmp_path) as memory:
        agent = memory.agent("a")
        names = tuple(f"s{number}" for number in range(5_000))
        memory.session("s4321", agent="x").agent("the lighthouse of Arkona has 9 steps")
        memory.session("else", agent="x").agent("the lighthouse of Arkona has 8 steps")
        answer = memory.recall("lighthouse Arkona", sessions=names)
        assert [hit.session for hit in answer] == ["s4321"]
        assert agent.folder.parts[-3:] == ("agents", "default", "a")
        assert list(agent.own(Kind.SESSION)) == []
        assert memory.verify().ok


def test_no_session_of_ours_is_an_agents(tmp_path):
    """The sessions in which notes, decisions, entries and old tuning stand are the ones that are left out."""
    assert {NOTES, LEDGER_SESSION, consolidation.SESSION, "tuning"} == OURS
    with Memory.open(tmp_path) as memory:
        memory.session("one").user("The port is 80.")
        memory.note("Ask first.")
        memory.agent("web").enrol("one")
        assert sessions_like(memory, "*") == ("one",)
        assert sessions_like(memory, "notes") == ()
        assert memory.verify().ok
