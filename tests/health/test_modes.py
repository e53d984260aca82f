"""The modes of recall-problem 7: each is made in a store, and named by its sign."""

from __future__ import annotations

import json

import apsw
import pytest

from firsthand import Draft, Kind, Memory
from firsthand.health.modes import DECAYED_PROMPTS, Mode, name_failure
from firsthand.log.sqlite.index_files import path_of
from stores import damage_index

BOOTSTRAP = "the cold start bootstrap is automated now: the launch agent runs the seed script after a reboot"
RULE = "MANDATORY HALT: any finding that could be organ enlargement asks for an infectious screening first"
SESSION = "claude-code:now"


@pytest.fixture
def memory(tmp_path):
    """A store with the paper's two memories, and a session about to contradict one of them."""
    with Memory.open(tmp_path / "store") as one:
        agent = one.agent("noument")
        for name in ("claude-code:morning", "claude-code:clinic", SESSION):
            agent.enrol(name)
        one.session("claude-code:morning").user(BOOTSTRAP)
        one.session("claude-code:clinic").user(RULE)
        one.session(SESSION).user("compare our set-up with that orchestration tool")
        yield one


def target(memory: Memory, session: str = "claude-code:morning") -> str:
    return f"fh:{next(memory.events(session)).id}"


def shown(memory: Memory, **told: object) -> None:
    memory.append([Draft(Kind.INJECTION, json.dumps(told).encode(), "application/json")], session=SESSION)


def prompts(memory: Memory, count: int) -> None:
    memory.append([Draft(Kind.USER_MESSAGE, f"exchange {number}".encode()) for number in range(count)], session=SESSION)


def asks(memory: Memory, query: str) -> None:
    memory.session(SESSION).tool_call("mcp__firsthand__recall", {"query": query})


def named(memory: Memory, pointer: str) -> Mode:
    return name_failure(memory.agent("noument"), SESSION, pointer).mode


def test_recognition_failure(memory):
    """With cues and reminder off nothing is shown, nothing is asked: nobody saw that memory had anything to say."""
    assert named(memory, target(memory)) is Mode.RECOGNITION


def test_pipeline_failure_of_an_index_that_was_orphaned(memory):
    """An index that says that it follows and has no row of the event is the pipeline's failure, whatever was asked."""
    asks(memory, "bootstrap")
    memory.follow()
    db = apsw.Connection(str(path_of(memory.path, 1)))
    db.execute("DELETE FROM text_1_docsize WHERE id BETWEEN 2 AND 6").fetchall()
    db.close()
    assert named(memory, target(memory)) is Mode.PIPELINE


def test_pipeline_failure_of_an_index_that_stopped(memory):
    """An index that stopped before the event is named with its position."""
    damage_index(memory.path, "UPDATE reach SET position = 1, fault = 'cut off' WHERE name = 'text'")
    failure = name_failure(memory.agent("noument"), SESSION, target(memory))
    assert (failure.mode, "stopped at position 1" in failure.sign) == (Mode.PIPELINE, True)


@pytest.mark.parametrize("how", ["preamble", "shown"])
def test_positional_decay(memory, how):
    """What the preamble held ten messages ago, with no reminder since, has decayed; a moment ago it has not."""
    shown(memory, **{how: [target(memory)]})
    prompts(memory, DECAYED_PROMPTS - 1)
    assert named(memory, target(memory)) is Mode.RECOGNITION
    prompts(memory, 1)
    assert named(memory, target(memory)) is Mode.DECAY


def test_query_formulation_failure(memory):
    """A case in clinical words does not find the rule, which its own words find: the query is to blame."""
    asks(memory, "thirty-three year old with a sore left flank and 99 F")
    assert named(memory, target(memory, "claude-code:clinic")) is Mode.QUERY


def test_temporal_aliasing_of_names(memory):
    """Asked for case 032, memory brought case 031: a look-alike in its place is named as such."""
    agent = memory.agent("noument")
    pointers = []
    for number in (31, 32):
        meta = {"name": f"2026-03-15-proving-medqa-{number:03}", "session": f"s{number}", "through": 1}
        draft = Draft(Kind.EPISODE, f"case {number}".encode(), meta=meta, agent="noument")
        pointers.append(str(memory.append([draft], session=agent.session)[0].pointer))
    shown(memory, shown=[pointers[0]], outcome="found")
    assert named(memory, pointers[1]) is Mode.ALIASING


def test_temporal_aliasing_of_versions(memory):
    """An older version of a file in the place of the current one is temporal aliasing too."""
    agent = memory.agent("noument")
    drafts = [Draft(Kind.NOTE, text, meta={"file": "knowledge/port.md"}) for text in (b"port 8080", b"port 9191")]
    old, new = (f"fh:{one.id}" for one in memory.append(drafts, session=agent.session))
    shown(memory, shown=[old], outcome="found")
    assert named(memory, new) is Mode.ALIASING


def episode(memory: Memory, name: str, text: str) -> str:
    """Write an episode under a name; give its pointer."""
    agent = memory.agent("noument")
    meta = {"name": name, "session": f"s-{name}", "through": 1}
    draft = Draft(Kind.EPISODE, text.encode(), meta=meta, agent="noument")
    return str(memory.append([draft], session=agent.session)[0].pointer)


def test_temporal_aliasing_of_what_was_recalled(memory):
    """The agent asked for one case and recall brought its look-alike first: aliasing, before the query is blamed."""
    episode(memory, "2026-03-15-proving-medqa-031", "a swollen spleen after a fever in the tropics")
    wanted = episode(memory, "2026-03-16-proving-medqa-032", "a rash on both shins that came in spring")
    asks(memory, "swollen spleen fever tropics")
    assert named(memory, wanted) is Mode.ALIASING
    memory.session(SESSION).tool_call("grep", {"query": "swollen spleen"})  # no call of recall
    shown(memory, shown=[wanted], outcome="found")
    assert named(memory, wanted) is not Mode.ALIASING


def test_temporal_aliasing_of_an_episodes_versions(memory):
    """An earlier version of the same episode in its place is temporal aliasing."""
    old, new = (episode(memory, "2026-03-15-cold-start", text) for text in ("it is manual", "it is automated"))
    shown(memory, shown=[old], outcome="found")
    failure = name_failure(memory.agent("noument"), SESSION, new)
    assert (failure.mode, "another version of 2026-03-15-cold-start" in failure.sign) == (Mode.ALIASING, True)


def test_pipeline_failure_that_was_mended_since(memory):
    """The index is whole again, but recall was degraded when it mattered: the log of what was shown says so."""
    shown(memory, outcome="degraded")
    failure = name_failure(memory.agent("noument"), SESSION, target(memory))
    assert (failure.mode, "degraded when it was asked" in failure.sign) == (Mode.PIPELINE, True)
    shown(memory, shown=[target(memory)], outcome="found")
    assert named(memory, target(memory)) is Mode.RECOGNITION


def test_pipeline_failure_of_an_index_whose_postings_are_gone(memory):
    """An index that has the event's row and none of its words is the pipeline's failure, not the query's."""
    asks(memory, "thirty-three year old with a sore left flank")
    memory.follow()
    db = apsw.Connection(str(path_of(memory.path, 1)))
    rows = db.execute("SELECT * FROM text_1_docsize").fetchall()
    totals = db.execute("SELECT block FROM text_1_data WHERE id = 1").get
    db.execute("INSERT INTO text_1(text_1) VALUES ('delete-all')").fetchall()
    db.executemany(f"INSERT INTO text_1_docsize VALUES ({', '.join('?' * len(rows[0]))})", rows)
    db.execute("UPDATE text_1_data SET block = ? WHERE id = 1", (totals,)).fetchall()
    db.close()
    failure = name_failure(memory.agent("noument"), SESSION, target(memory))
    assert (failure.mode, "not even its own words" in failure.sign) == (Mode.PIPELINE, True)


def test_pipeline_failure_of_an_event_that_does_not_come_back(memory):
    """An event that was erased cannot be blamed on the agent."""
    gone = target(memory)
    memory.erase([gone])
    failure = name_failure(memory.agent("noument"), SESSION, gone)
    assert (failure.mode, failure.mend, "does not come back" in failure.sign) == (
        Mode.PIPELINE, "firsthand store verify", True,
    )  # fmt: skip
    assert memory.verify().ok
