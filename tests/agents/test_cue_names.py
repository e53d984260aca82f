"""The kept names: what they give is what reading the agent's whole session gives."""

from __future__ import annotations

from firsthand import Kind, Trust
from firsthand.agents import cue_names
from firsthand.event import Draft


def episode(agent, name: str, session: str) -> str:
    meta = {"name": name, "session": session, "through": 1, "terms": ["zebra"]}
    draft = Draft(Kind.EPISODE, b"# x", "text/markdown", meta, agent=agent.name, trust=Trust.AGENT)
    return agent.space.append([draft], session=agent.session)[0].pointer


def given(agent) -> list[tuple[str, str, str]]:
    return [(one.group, one.name, one.about) for one in cue_names.names(agent)]


def test_the_newest_version_of_each_counts(memory):
    """A session that went on and a file that changed have one name each; a deleted file has none."""
    agent = memory.agent("shop")
    episode(agent, "2026-03-01-old", "a")
    agent.learn("retry", "three")
    assert len(given(agent)) == 2
    newest = episode(agent, "2026-03-02-new", "a")
    agent.learn("retry", "five")
    agent.learn("entities/ada", "owner")
    expected = [
        ("Entities", "ada", "owner"),
        ("Knowledge", "retry", "five"),
        ("Episodes", "2026-03-02-new", "new zebra"),
    ]
    assert given(agent) == expected
    assert cue_names.names(agent)[2].pointer == newest
    (agent.folder / "knowledge/retry.md").unlink()
    agent.follow()
    assert given(agent) == [expected[0], expected[2]]


def test_what_was_erased_has_no_name(memory):
    """After an erasure the names have it no more."""
    agent = memory.agent("shop")
    pointer = episode(agent, "2026-03-01-secret", "a")
    episode(agent, "2026-03-02-other", "b")
    file = agent.learn("secret-file", "words").pointer
    assert len(given(agent)) == 3
    memory.erase([file])
    assert "secret-file" not in [name for _, name, _ in given(agent)]
    memory.erase([pointer])
    assert [name for _, name, _ in given(agent)] == ["2026-03-02-other"]
