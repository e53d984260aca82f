"""Sleep and consolidation are ended before calls that change a file: each step is the old one or the new one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from killed_while import AGENT, NOW

from consolidate_worlds import by_lines
from firsthand import Kind, Memory, Moment, Trust
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.sleep import sleep
from firsthand.agents.sleep_log import last_page, sleeps
from firsthand.ledger.consolidation import consolidate_in, entries_known, entries_standing
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.statements import assert_fact
from stores import SOAK

POINTS = {("sleep", "kill"): 10, ("consolidate", "kill"): 5, ("sleep", "full"): 5, ("sleep", "interrupt"): 4}
"""By work and how it is ended: at so many calls, spread over all of them."""
SOAKED = 20
"""Times as many of them where there is time."""
BOXES = 125
PROCESS = Path(__file__).with_name("killed_while.py")


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """A store that has slept once, and in which more was said since."""
    path = tmp_path_factory.mktemp("slept") / "store"
    with Memory.open(path, embedder="none") as memory:
        agent = memory.agent(AGENT)
        for number in range(2):
            agent.enrol(f"s{number}")
            say(memory, f"s{number}", 8000 + number)
        for number in range(BOXES):  # more than a digest has lines for
            noted = memory.note(f"The port of box{number} is {number}.", time=Moment(NOW.microseconds - 90_000_000_000),
                                origin="user", trust=Trust.TRUSTED)  # fmt: skip
            assert_fact(memory, f"box{number}", f"port {number}", f"The port of box{number}", at=noted.pointer)
        sleep(memory, AGENT, now=Moment(NOW.microseconds - 86_400_000_000), quiet_seconds=0)
        consolidate_in(memory, by_lines, "test", keep=True)
        for number in range(1, 4):
            agent.enrol(f"s{number}")
            say(memory, f"s{number}", 9000 + number)
    return path


def say(memory: Memory, name: str, port: int) -> None:
    """Say and note something; the values of levels follow a rule that consolidation finds."""
    session = memory.session(name)
    at = [Moment(NOW.microseconds - 90_000_000_000 + port * 1_000_000 + second) for second in range(9)]
    said = session.user(f"The staging port is {port}.", time=at[0])
    assert_fact(memory, "staging port", str(port), f"The staging port is {port}.", at=said)
    session.agent(f"We decided to keep port {port} in deploy{port}.toml.", time=at[1])
    memory.note(f"The staging port is now {port + 100}.", time=at[2])
    for level in range(4):  # what is said on the second day follows other rules, so that entries fall and others come
        for place, family in enumerate(("birch",) if port < 9000 else ("birch", "cedar")):
            value = (3 if port < 9000 else 4) * level + 2 + place
            session.user(f"{family} level {level} => {value}", time=at[3 + level])


def state(memory: Memory) -> dict[str, object]:
    """Give what deferred work leaves: ids of what it appended, and what stands by it."""
    agent = memory.agent(AGENT)
    return {
        "new": {
            "episode": frozenset(one.id for one in memory.events(kind=Kind.EPISODE)),
            # An entry names the one it takes the place of, unless a kill came when only that one had gone.
            "entry": frozenset((one.text, one.sources) for one in entries_known(memory)),
            "ledger": frozenset((one.action, one.target, one.by_fact) for one in ledger_of(memory).decisions()),
        },
        "digest": digest_of(agent).text,
        "entries": [one.text for one in entries_standing(memory)],
        "decisions": [one.id for one in ledger_of(memory).decisions() if one.by != "rule:gate"],
        "episodes": [(one.session, one.name, one.stage) for one in sorted(agent.episodes(), key=lambda e: e.session)],
    }


def again(memory: Memory, name: str) -> None:
    """Do the work that was interrupted."""
    if name == "sleep":
        assert sleep(memory, AGENT, now=NOW, quiet_seconds=0).finished
    else:
        consolidate_in(memory, by_lines, "test", keep=True)


@pytest.mark.parametrize(("name", "how"), POINTS)
def test_whatever_ends_it_leaves_the_old_state_or_the_new_one(store, tmp_path, name, how):
    """The log is untouched, each step is whole or not there, and doing it again gives what one run gives."""
    points = POINTS[name, how] * (SOAKED if SOAK else 1)
    with Memory.open(store, embedder="none") as memory:
        head, before = memory.head(), state(memory)
        page = last_page(memory.agent(AGENT))
    tmp_path.mkdir(exist_ok=True)
    words = [sys.executable, str(PROCESS), str(store), str(tmp_path), name, how, str(points)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1_200, check=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told[0]["calls"] > POINTS[name, how]
    assert len(told) == min(points, told[0]["calls"]) + 1
    with Memory.open(tmp_path / "whole", embedder="none") as memory:
        assert memory.verify(heads=[head]).ok
        after, new_page = state(memory), last_page(memory.agent(AGENT))
        assert after["new"] != before["new"]
    killed = [one for one in told[1:] if not one["calls"]]
    assert len(killed) >= len(told) * 3 // 4  # a point may lie behind what that run needed, or in its last breath
    for one in killed:
        with Memory.open(tmp_path / one["copy"], embedder="none") as memory:
            assert memory.verify(heads=[head]).ok, one
            left = state(memory)
            for kind, those in left["new"].items():
                assert before["new"][kind] <= those <= after["new"][kind], (one, kind)
            assert left["decisions"] in (before["decisions"], after["decisions"]), one
            if name == "sleep":
                found = last_page(memory.agent(AGENT))
                assert any(_plain(found) <= _plain(whole) for whole in (page, new_page)), one
                assert len([*sleeps(memory.agent(AGENT))]) in (1, 2)
            again(memory, name)
            assert state(memory) == after, one
            assert memory.verify(heads=[head]).ok, one


def _plain(page: str) -> set[str]:
    """Give the lines of a page without what another run says otherwise, seconds, and what the ledger took out since."""
    lines = (line for line in page.splitlines() if "seconds" not in line and "[taken out]" not in line)
    return {plain for line in lines if (plain := line.partition(" (")[0].strip())}
