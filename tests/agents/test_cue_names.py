"""The kept names: what they give is what reading the agent's whole session gives, whatever became of the file."""

from __future__ import annotations

import json

import pytest

from firsthand import Kind, Memory, Trust
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


@pytest.mark.parametrize("harm", ["", "{", "[]", '{"version": 1}', '{"version": 9}', '{"version": 1, "names": 3}'])
def test_a_lost_or_torn_file_changes_nothing(memory, harm):
    """The names are read from the log again, and the file is made anew."""
    agent = memory.agent("shop")
    episode(agent, "2026-03-01-old", "a")
    before = given(agent)
    path = agent.folder / ".names.json"
    path.write_text(harm)
    assert given(agent) == before
    assert json.loads(path.read_text())["through"] > 0


def test_a_file_that_is_too_large_is_none_of_ours(memory, monkeypatch):
    """It is not loaded whole: the names are read from the log."""
    agent = memory.agent("shop")
    episode(agent, "2026-03-01-old", "a")
    before = given(agent)
    path = agent.folder / ".names.json"
    path.write_text(path.read_text().replace("2026-03-01-old", "2026-03-01-bad"))
    monkeypatch.setattr(cue_names, "BYTES_MAX", path.stat().st_size - 1)
    assert given(agent) == before


def test_names_of_another_log_are_not_taken_over(memory):
    """A folder that is left over from another store, or a store that was put back, gives none of its names."""
    agent = memory.agent("shop")
    episode(agent, "2026-03-01-old", "a")
    path = agent.folder / ".names.json"
    given(agent)
    told = json.loads(path.read_text())
    told["last"], told["names"]["session x"] = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY", [1, "forged", "Episodes", "", ""]
    path.write_text(json.dumps(told))
    assert [name for _, name, _ in given(agent)] == ["2026-03-01-old"]


def test_what_was_erased_has_no_name(memory):
    """After an erasure neither the names nor the file hold it."""
    agent = memory.agent("shop")
    pointer = episode(agent, "2026-03-01-secret", "a")
    episode(agent, "2026-03-02-other", "b")
    file = agent.learn("secret-file", "words").pointer
    assert len(given(agent)) == 3
    memory.erase([file])
    assert "secret-file" not in [name for _, name, _ in given(agent)]
    memory.erase([pointer])
    assert [name for _, name, _ in given(agent)] == ["2026-03-02-other"]
    assert "secret" not in (agent.folder / ".names.json").read_text()


def test_a_store_that_cannot_be_written_gives_the_same(memory):
    """A reader without rights to write reads all, and leaves no file."""
    agent = memory.agent("shop")
    episode(agent, "2026-03-01-old", "a")
    with Memory.open(memory.path, read_only=True, embedder="none") as reader:
        assert given(reader.agent("shop")) == [("Episodes", "2026-03-01-old", "old zebra")]
    assert not (agent.folder / ".names.json").exists()
