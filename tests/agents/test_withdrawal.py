"""An erasure takes the files that Firsthand wrote with the erased words, and names those of a person that hold them."""

from __future__ import annotations

import json

import pytest

from firsthand import Kind, Memory
from firsthand.agents.hook_answer import answer_hook
from firsthand.agents.settings import user_file

WORD = "rhinoceros-4417"
CORRECTED = f"No, never move the {WORD} before the fence is closed."


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "store") as opened:
        (tmp_path / "store" / "settings.json").write_text(json.dumps({"inbox": True}))
        yield opened
        assert opened.verify(deep=True).ok


@pytest.fixture
def agent(memory):
    """An agent one of whose messages stands in its preamble, episode and names."""
    zoo = memory.agent("zoo")
    zoo.enrol("monday")
    session = memory.session("monday")
    session.user("Please plan the move of the animals between the two enclosures.")
    session.agent("We decided to begin with the zebras. The fence comes last.")
    session.user(CORRECTED)
    session.agent("I will measure the crate of the zebras next.")
    zoo.close("monday")
    return zoo


def holding(agent, text: str = WORD) -> set[str]:
    """Name the files of the agent's folder, hidden ones too, in which a text stands."""
    every = (path for path in agent.folder.rglob("*") if path.is_file())
    return {path.relative_to(agent.folder).as_posix() for path in every if text.encode() in path.read_bytes()}


def corrected(memory) -> str:
    (found,) = (one for one in memory.events("monday", kind=Kind.USER_MESSAGE) if one.text == CORRECTED)
    return f"fh:{found.id}"


def test_no_file_that_firsthand_wrote_keeps_an_erased_word(memory, agent):
    """The word stood in what the agent learned and in a file of the first edition; after the erasure in no file."""
    agent.learn("moves", f"{CORRECTED} ({corrected(memory)})")
    (agent.folder / "inbox.jsonl").write_text(WORD)
    assert holding(agent) == {"knowledge/moves.md", "inbox.jsonl"}
    erasure = memory.erase([corrected(memory)])
    assert holding(agent) == set()
    assert erasure.files == ()
    assert not [one for one in memory.events() if not one.erased and WORD in one.text]
    agent.close("monday")
    assert "zebras" in agent.preamble().text
    assert WORD not in agent.preamble().text


def test_what_a_person_changed_stays_and_is_named(memory, agent):
    """A rubric, notes and a page of a person's own are not touched; the erasure names each."""
    (agent.folder / "knowledge").mkdir(parents=True)
    (agent.folder / "preamble.md").write_text(f"mine now\n{CORRECTED}\n")
    (agent.folder / "rubric.md").write_text(f"- {CORRECTED} ({corrected(memory)})\n")
    (agent.folder / "knowledge" / "moves.md").write_text(f"{CORRECTED}\n")
    (agent.folder / "knowledge" / "links.md").write_text(f"what he said: {corrected(memory)}\n")
    (agent.folder / "knowledge" / "zebras.md").write_text("Zebras go first.\n")
    before = {path: path.read_bytes() for path in agent.folder.rglob("*.md")}
    erasure = memory.erase([corrected(memory)])
    assert {path: path.read_bytes() for path in agent.folder.rglob("*.md")} == before
    assert set(erasure.files) == {str(path) for path in before if path.name != "zebras.md"}
    agent.follow()  # what was edited and not followed before goes from the log, and is not taken in again
    left = [one.meta.get("file") for one in memory.events(agent.session) if not one.erased and WORD in one.text]
    assert "rubric.md" not in left


def test_knowledge_that_the_agent_wrote_goes_and_a_persons_is_named(memory, agent):
    """Erasing the newest version removes the file that `learn` wrote; one that a person wrote is theirs."""
    mine = agent.learn("zebras", "Zebras are moved before noon.").pointer
    (agent.folder / "knowledge" / "fence.md").write_text("The fence is closed by Ada at nine.\n")
    (theirs,) = agent.follow().changes
    agent.cues("fence")
    erasure = memory.erase([mine, theirs.pointer])
    assert holding(agent, "before noon") == set()
    assert erasure.files == (str(agent.folder / "knowledge" / "fence.md"),)
    assert agent.follow().changes == ()
    assert agent.cues("what of the zebras before noon?").text.count("zebras") == 0


def test_the_kept_look_forgets_names_and_keeps_how_bad_it_was(memory, agent, tmp_path):
    """The status of health names episodes; after an erasure it says how bad it was, and no name."""
    from firsthand.agents import health_line

    told = {
        "time_s": 1.0,
        "severity": "degraded",
        "line": f"memory is degraded: {WORD}",
        "findings": [["a", "b", WORD]],
    }
    path = tmp_path / "store" / "health" / "status.json"
    path.parent.mkdir()
    path.write_text(json.dumps(told))
    memory.erase([corrected(memory)])
    assert WORD not in path.read_text()
    assert health_line.line(tmp_path / "store", now_s=61.0).startswith("memory was degraded when it was last looked at")


def test_the_next_session_is_told_nothing_that_was_erased(memory, agent, tmp_path):
    """What a session's start injects after the erasure is made of what is left."""
    payload = {"session_id": "2", "hook_event_name": "SessionStart", "cwd": str(tmp_path), "source": "startup"}
    tables = {"projects": {str(tmp_path.resolve()): {"agent": "zoo"}}}
    user_file(memory.path).write_text(json.dumps(tables))
    before = answer_hook("claude-code", json.dumps(payload).encode(), memory, nonce="a").output
    memory.erase([corrected(memory)])
    payload["session_id"] = "3"
    after = answer_hook("claude-code", json.dumps(payload).encode(), memory, nonce="b").output
    assert WORD.encode() in before
    assert b"two enclosures" in after
    assert WORD.encode() not in after
