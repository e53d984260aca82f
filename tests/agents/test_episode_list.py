"""The episodes of an agent are read from its own session; their files go when their sources are erased."""

from __future__ import annotations

import pytest
from sessions_made import bootstrap, plain

from firsthand import Draft, Kind, Memory
from firsthand.agents.agent import agents_of
from firsthand.agents.episode_list import episodes, from_event


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "store") as opened:
        yield opened
        assert opened.verify(deep=True).problems == ()


def test_what_is_told_of_an_episode(memory):
    """Name, session, time, file, topic and terms of an episode come back as they were written."""
    bootstrap(memory)
    agent = memory.agent("me")
    agent.enrol("host:1")
    closed = agent.close("host:1")
    (one,) = episodes(agent)
    assert one == closed.episode
    assert one.session == "host:1"
    assert one.agent == "me"
    assert str(one.moment).startswith("2026-09-21T")
    assert one.name == "2026-09-21-" + one.topic.replace(" ", "-")
    assert {"bootstrap", "scheduler"} <= set(one.topic.split())
    assert "bootstrap" in one.terms[:3]
    assert (one.verified, one.stage) == (True, "")
    event = memory.event(one.pointer)
    assert (event.kind, event.media, event.origin) == (Kind.EPISODE, "text/markdown", "firsthand")


def test_the_newest_version_of_each_oldest_first(memory):
    """A session that went on has one episode, the last one written; the order is that of writing."""
    agent = memory.agent("me")
    for name, about in (("a", "the retry queue"), ("b", "the invoice export")):
        plain(memory, name, about)
        agent.enrol(name)
        agent.close(name)
    memory.session("a").user("And now look into the retry queue of the mail gateway too.")
    agent.close("a")
    assert [one.session for one in episodes(agent)] == ["b", "a"]
    assert len(list(agent.own(Kind.EPISODE))) == 3


def test_what_another_program_wrote_is_no_episode(memory):
    """An event of that kind without name, session and position is left out, and hides none."""
    agent = memory.agent("me")
    memory.append([Draft(Kind.EPISODE, b"x", meta={"name": 5})], session=agent.session)
    assert episodes(agent) == ()
    assert from_event(agent, next(agent.own(Kind.EPISODE))) is None


def test_erasing_a_source_erases_the_episode(memory):
    """Nothing of an erased message is left in log or index; closing again writes an episode without it."""
    session = memory.session("s")
    session.user("Please look into the zebra enclosure.")
    gone = session.agent("We decided that the rhinoceros moves out.")
    session.agent("The zebra enclosure is repaired.")
    agent = memory.agent("me")
    agent.enrol("s")
    first = agent.close("s").episode
    assert b"rhinoceros" in memory.expand(first.pointer)
    memory.erase([gone])
    assert episodes(agent) == ()
    assert all("rhinoceros" not in hit.preview for hit in memory.recall("rhinoceros").hits)
    again = agent.close("s").episode
    text = memory.expand(again.pointer).decode()
    assert "zebra" in text
    assert "rhinoceros" not in text + again.name


def test_erasing_what_no_line_quotes(memory):
    """An event that left no word in the episode takes it too, and the same episode can be written again."""
    plain(memory, "s", "the lock table")
    silent = memory.session("s").append(Kind.SESSION, "window of 80 columns")
    agent = memory.agent("me")
    agent.enrol("s")
    memory.session("s").agent("The lock table is whole.")
    first = agent.close("s").episode
    memory.erase([silent])
    assert episodes(agent) == ()
    again = agent.close("s")
    assert again.new
    assert again.verified
    assert again.episode.name == first.name


def test_the_agents_of_a_namespace(memory):
    """Those that have something of their own are listed, in the order in which they first had."""
    for name in ("b", "a"):
        memory.agent(name).enrol("s")
    memory.session("agents and more").user("x")
    assert [one.name for one in agents_of(memory)] == ["b", "a"]
