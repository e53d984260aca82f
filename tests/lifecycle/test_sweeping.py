"""The sweep over a store: whose facts are read, that nothing else changes, and that it can die anywhere."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from firsthand import Kind, Memory, Trust, facts_of, ledger_of, sweep
from firsthand.errors import StoreReadOnly
from firsthand.lifecycle.digesting import facts_standing


def test_a_sweep_appends_its_decisions_and_nothing_else(memory):
    """The events before it are the same afterwards, and a second sweep adds nothing."""
    session = memory.session("one")
    session.user("The port is 80.")
    session.agent("Noted.")
    session.user("The port is now 81.")
    before = list(memory.events())
    swept = sweep(memory)
    assert list(memory.events())[: len(before)] == before
    assert (swept.facts, len(swept.decided), swept.through, swept.left_out) == (2, 1, 3, ())
    head = memory.head()
    assert sweep(memory).decided == ()
    assert memory.head() == head


def test_an_agent_has_facts_of_its_own_sessions(memory, agent):
    """The sessions of another agent say nothing of the port of this one."""
    agent.enrol("mine")
    memory.session("mine").user("The port is 80.")
    memory.session("theirs").user("The port is now 81.")
    assert [(one.key, one.value) for one in facts_of(memory, agent.name)] == [("shop/port", "number:80")]
    assert sweep(memory, agent.name).decided == ()
    assert len(sweep(memory).decided) == 1


def test_what_tools_and_the_web_say_decides_nothing(memory):
    """An untrusted message, a tool's result, a document and an agent's word take the place of nothing."""
    session = memory.session("one")
    session.user("The port is 80.")
    session.user("The port is now 1.", trust=Trust.UNTRUSTED)
    session.tool_result("c", "The port is now 2.")
    session.agent("The port is now 3.")
    session.append(Kind.DOCUMENT, "The port is now 4.")
    session.note("The port is now 5.")
    assert sweep(memory).decided == ()
    assert memory.session("one").user("The port is now 6.").new
    assert len(sweep(memory).decided) == 1


def test_what_recall_brought_is_no_evidence(memory):
    """A fact in a fence that comes back with a user's message is not taken for said."""
    session = memory.session("one")
    session.user("The port is 80.")
    session.user(memory.fence("The port is now 81."))
    assert [one.value for one in facts_of(memory)] == ["number:80"]


def test_as_of_reads_no_further(memory):
    """A sweep as of a position decides on what had been said by then."""
    session = memory.session("one")
    for text in ("The port is 80.", "The port is now 81.", "The port is now 82."):
        session.user(text)
    assert len(sweep(memory, as_of=2).decided) == 1
    assert len(sweep(memory).decided) == 1


def test_sweeping_each_night_is_sweeping_once(tmp_path):
    """Night by night or at the end, the same decisions are in the ledger in the same order."""
    texts = ("The port is 80.", "LOG=1", "The port is now 81.", "LOG=2", "Change it to 3.", "Forget the port.")
    kept = []
    for nightly in (True, False):
        with Memory.open(tmp_path / str(nightly), embedder="none") as memory:
            session = memory.session("one")
            for number, text in enumerate(texts, 1):
                session.user(text, id=f"{number:026d}")
                if nightly:
                    sweep(memory)
            sweep(memory)
            kept.append([(one.id, one.action, one.target, one.by_fact) for one in ledger_of(memory).decisions()])
            assert memory.verify().problems == ()
    assert kept[0] == kept[1]
    assert len(kept[0]) >= 3


def test_a_sweep_that_cannot_write_leaves_the_old_ledger(memory):
    """When the append is refused nothing is decided, and the next sweep decides what this one would have."""
    session = memory.session("one")
    session.user("The port is 80.")
    session.user("The port is now 81.")
    with Memory.open(memory.path, read_only=True, embedder="none") as reading, pytest.raises(StoreReadOnly):
        sweep(reading)
    assert ledger_of(memory).decisions() == ()
    assert len(sweep(memory).decided) == 1


def test_a_sweep_that_is_killed_leaves_all_of_its_decisions_or_none(tmp_path):
    """Killed at any moment, a sweep is in the ledger whole or not at all, the log verifies, the next one completes."""
    texts = [
        text for number in range(40) for text in (f"The port of b{number} is 1.", f"The port of b{number} is now 2.")
    ]
    for delay_ms in (150, 250, 350, 450, 600):
        store = tmp_path / str(delay_ms)
        with Memory.open(store, embedder="none") as memory:
            session = memory.session("one")
            for text in texts:
                session.user(text)
            events = [one.chain for one in memory.events("one")]
        child = subprocess.Popen([sys.executable, "-c", _SWEEPS, str(store)])
        time.sleep(delay_ms / 1000)
        child.kill()
        child.wait()
        with Memory.open(store, embedder="none") as memory:
            assert len(ledger_of(memory).decisions()) in (0, 40)
            assert [one.chain for one in memory.events("one")] == events
            sweep(memory)
            assert len(ledger_of(memory).decisions()) == 40
            assert memory.verify().problems == ()


_SWEEPS = "import sys; from firsthand import Memory, sweep; sweep(Memory.open(sys.argv[1], embedder='none'))"


@pytest.mark.parametrize(
    ("other", "first", "second"),
    [
        ("The port is 80.", "The port is 90.", "The port is 91."),
        ("I need a table for 2 people at 18:00.", "I need a table at 19:00.", "Actually, make it 20:00 instead."),
        ("I need a table for 2 people at 19:00.", "I need a table at 19:00.", "Actually, make it 20:00 instead."),
    ],
)
def test_what_one_session_says_anew_takes_nothing_from_another_session(memory, agent, other, first, second):
    """Another session's port or table may be another one's: it stands, also where both said the same before."""
    for name in ("one", "two"):
        agent.enrol(name)
    kept = memory.session("one").user(other)
    session = memory.session("two")
    said = [session.user(text) for text in (first, first, second)]
    (decision,) = sweep(memory, "shop").decided
    standing = {one.event for one in facts_standing(agent)}
    assert (decision.target.partition("@")[0], decision.by_fact.partition("@")[0]) == (said[1].pointer, said[2].pointer)
    assert {kept.pointer, said[2].pointer} <= standing
    assert not {said[0].pointer, said[1].pointer} & standing
    ledger_of(memory).undo(decision.id)
    assert {said[1].pointer, said[2].pointer} <= {one.event for one in facts_standing(agent)}


def test_a_later_decision_on_a_key_counts_over_one_on_a_session(memory, agent):
    """What a session replaced stands again when a person says so, and a correction is of the key in every session."""
    for name in ("one", "two"):
        agent.enrol(name)
    memory.session("one").user("The staging port is 80.")
    session = memory.session("two")
    session.user("The staging port is 90.")
    session.user("The staging port is 91.")
    sweep(memory, "shop")
    assert {one.value for one in facts_standing(agent)} == {"number:80", "number:91"}
    (ninety,) = (one for one in facts_of(memory, "shop") if one.value == "number:90")
    restored = ledger_of(memory).decide("restore", ninety)
    assert {one.value for one in facts_standing(agent)} == {"number:90"}
    ledger_of(memory).undo(restored.id)
    memory.session("one").user("The staging port is now 92.")
    sweep(memory, "shop")
    assert {one.value for one in facts_standing(agent)} == {"number:92"}
