"""Closing a session: the episode is written once, found by its own topic, and nothing of a person's is lost."""

from __future__ import annotations

import pytest
from sessions_made import at, bootstrap, plain

from firsthand import InvalidArgument, Kind, Query
from firsthand.agents.episode import CHECK
from firsthand.agents.episode_names import aliases
from firsthand.agents.episode_writer import FOUND_WITHIN, catch_up, close, due


def closed(agent, name: str, about: str):
    plain(agent.space, name, about)
    agent.enrol(name)
    return close(agent, name)


def test_an_episode_is_found_by_its_own_topic(memory, agent):
    """After closing, its topic brings the episode back among the first hits of what the agent may recall."""
    bootstrap(memory)
    agent.enrol("host:1")
    done = close(agent, "host:1")
    assert (done.new, done.verified, done.why) == (True, True, "")
    answer = memory.recall(Query(done.episode.topic, agent.scope(), hits_max=FOUND_WITHIN))
    assert done.episode.pointer in [hit.pointer for hit in answer.hits]


def test_closing_again_changes_nothing(memory, agent):
    """A second closing of a session that did not go on appends no event and gives the same episode."""
    first = closed(agent, "s", "the retry queue")
    head = memory.head()
    again = close(agent, "s")
    assert memory.head() == head
    assert (again.episode, again.new, again.verified) == (first.episode, False, True)


def test_a_session_that_went_on_has_a_new_version_of_the_same_name(memory, agent):
    """What came later is in the new version, which takes the place of the one before."""
    first = closed(agent, "s", "the retry queue").episode
    memory.session("s").agent("We decided that the retry queue holds 512 entries.", time=at(9))
    second = close(agent, "s")
    assert second.new
    assert second.episode.name == first.name
    assert second.episode.pointer != first.pointer
    assert memory.event(second.episode.pointer).meta["supersedes"] == [first.pointer]
    assert "512 entries" in memory.expand(second.episode.pointer).decode()
    assert "512 entries" not in memory.expand(first.pointer).decode()


def test_a_session_is_named_by_its_first_request_that_says_something(memory, agent):
    """A session that began with a greeting alone has no topic in its name until something is asked."""
    agent.enrol("s")
    memory.session("s").user("hi", time=at(0))
    assert close(agent, "s").episode.name == "2026-09-21-session"
    memory.session("s").user("Please build the zebra enclosure with giraffe fences.", time=at(1))
    assert close(agent, "s").episode.topic == "please build zebra enclosure giraffe fences"


def test_like_sessions_have_names_that_tell_them_apart(memory, agent):
    """Twenty sessions of one series are told apart by what they were about, and each is found by its own name."""
    matters = (
        "mitral stenosis", "swollen knee", "spider bite", "night sweats", "broken wrist", "hay fever", "lead poisoning",
        "ear infection", "whooping cough", "iron deficiency", "kidney stones", "sleep apnea", "gout attack",
        "frozen shoulder", "heat stroke", "snow blindness", "sea sickness", "tennis elbow", "scarlet rash",
        "cluster headache",
    )  # fmt: skip
    done = [closed(agent, f"s{n}", f"case medqa {n:03}: {about}") for n, about in enumerate(matters)]
    assert aliases([one.episode.name for one in done]) == ()
    assert [one.why for one in done] == [""] * len(matters)
    for number, one in enumerate(done):
        assert f"{number:03}" in one.episode.name


def test_an_index_that_is_behind_is_named(memory, agent):
    """When the index does not take the episode, the result says so, it is kept, and a rebuild mends it."""
    plain(memory, "s", "the retry queue")
    agent.enrol("s")
    memory.follow()
    memory.log.exclusively(lambda db: db.execute("DROP TABLE text_1").fetchall())
    done = close(agent, "s")
    assert (done.verified, done.episode.stage) == (False, "indexed")
    assert "run 'firsthand store rebuild'" in done.why
    assert agent.episodes()[0].stage == "indexed"
    memory.rebuild()
    assert close(agent, "s").verified
    checks = [one.meta["stage"] for one in agent.own(Kind.SESSION) if one.meta.get("type") == CHECK]
    assert checks[-1] == ""


def test_a_session_without_words_has_no_episode(memory, agent):
    """Nothing said, nothing done: no episode, and the result says why."""
    memory.session("s").append(Kind.SESSION, "settings")
    done = close(agent, "s")
    assert (done.episode, done.new, done.verified) == (None, False, False)
    assert "nothing was said or done in session 's'" in done.why
    with pytest.raises(InvalidArgument, match="holds what is the agent's own"):
        close(agent, agent.session)


def test_catching_up(memory, agent):
    """Quiet sessions of the agent are closed, each once; those that go on, of others, or below another are not."""
    for name in ("old", "running", "parent", "parent/agent-1", "foreign"):
        plain(memory, name, f"the {name} matter")
        if name != "foreign":
            agent.enrol(name)
    memory.session("running").agent("still at it", time=at(100))
    now = at(105)
    assert due(agent, now=now) == ("parent", "old")
    done = catch_up(agent, now=now)
    assert ([one.episode.session for one in done.closed], done.left) == (["parent", "old"], 0)
    assert due(agent, now=now) == ()
    assert due(agent, quiet_seconds=0, now=now) == ("running",)


def test_catching_up_stops_in_time(memory, agent):
    """With no time left one session is closed and the others are counted; the next call goes on."""
    for name in ("a", "b", "c"):
        plain(memory, name, f"the {name}{name}{name}{name} matter")
        agent.enrol(name)
    first = catch_up(agent, quiet_seconds=0, deadline_seconds=0)
    assert (len(first.closed), first.left) == (1, 2)
    assert len(catch_up(agent, quiet_seconds=0).closed) == 2
    assert catch_up(agent, quiet_seconds=0).closed == ()
