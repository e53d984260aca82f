"""What recall makes of the ledger: an event that was replaced stands below, says what took its place, and is found."""

from __future__ import annotations

import pytest

from firsthand import Memory
from firsthand.context.answers import of_recall
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.lineage import lineage_of
from firsthand.ledger.statements import retract, supersede

OLD, NEW = "The staging port is 8080.", "The port of staging is now 8443."


@pytest.fixture
def memory(tmp_path):
    """A store with an old and a new value, and talk around them; verified when the test ends."""
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        session = opened.session("one")
        session.user(OLD)
        for number in range(8):
            session.agent(f"Noted, item {number}.")
        session.user(NEW)
        yield opened
        assert opened.verify().problems == ()


def pointers(memory):
    """Give the pointers of the old and the new message."""
    return [f"fh:{event.id}" for event in memory.events() if event.text in (OLD, NEW)]


def decide(memory):
    """Let the new message take the old one's place."""
    return supersede(memory, *pointers(memory)).decision


def answer(memory, text="What is the staging port?"):
    """Ask, and give the words, the share that was taken off, and what each hit says took its place."""
    hits = memory.recall(text).hits
    shares = [(hit.preview, round(hit.parts.get("replaced", 0.0) / hit.score, 6), hit.replaced_by) for hit in hits]
    return [share for share in shares if "port" in share[0]]


def test_what_was_replaced_stands_below_with_what_took_its_place(memory):
    """After a decision the old value has half its score, names the pointer of the new one, and is still found."""
    assert [replaced for _, _, replaced in answer(memory)] == ["", ""]
    decide(memory)
    new = pointers(memory)[1]
    assert answer(memory) == [(NEW, 0.0, ""), (OLD, -1.0, new)]
    assert f"replaced by {new}" in of_recall(memory.recall("staging port 8080")).text


def test_undoing_gives_the_old_ranking_back(memory):
    """Once the decision is undone every answer is what it was, and again other once the undoing is undone."""
    before = answer(memory, "staging port 8080")
    decision = decide(memory)
    after = answer(memory, "staging port 8080")
    assert after != before
    undoing = ledger_of(memory).undo(decision.id)[0]
    assert answer(memory, "staging port 8080") == before
    ledger_of(memory).undo(undoing.id)
    assert answer(memory, "staging port 8080") == after


def test_what_was_taken_back_or_quarantined_names_the_decision(memory):
    """Where nothing took its place, the pointer is that of the decision."""
    old, new = pointers(memory)
    taken_back = retract(memory, new).decision
    (held,) = lineage_of(memory).quarantine(old)
    assert {text: by for text, _, by in answer(memory)} == {NEW: f"fh:{taken_back.id}", OLD: f"fh:{held.id}"}


def test_a_store_that_was_restored_knows_its_ledger(memory, tmp_path):
    """Decisions of an export count in the store that it comes into, with the first recall."""
    decide(memory)
    with (tmp_path / "out").open("wb") as out:
        memory.export(out)
    with Memory.open(tmp_path / "other", embedder="none") as other, (tmp_path / "out").open("rb") as source:
        other.restore(source)
        assert answer(other) == answer(memory)


def test_another_handle_sees_a_decision_at_once(memory):
    """A handle that has recalled before knows a decision that another one made since."""
    with Memory.open(memory.path, embedder="none", read_only=True) as other:
        assert [by for _, _, by in answer(other)] == ["", ""]
        decide(memory)
        assert answer(other) == answer(memory)


def test_pages_join(memory):
    """The pages of one question give the hits of the whole, also below what the ledger takes out."""
    session = memory.session("many")
    for number in range(60):
        old = session.user(f"The staging port of box{number} is {number}.")
        new = session.user(f"The staging port of box{number} is now {number + 100}.")
        supersede(memory, old.pointer, new.pointer)
    whole = [hit.pointer for hit in memory.recall("staging port", hits_max=40, budget_tokens_max=40_000)]
    pages = [hit.pointer for skip in range(0, 40, 8)
             for hit in memory.recall("staging port", hits_max=8, skip=skip, budget_tokens_max=40_000)]  # fmt: skip
    assert pages == whole
