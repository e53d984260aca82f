"""What recall makes of the ledger: what is out is left out and said, what took its place stands in it."""

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
    """Ask, and give the words of each hit on ports, and whose place it took."""
    return [(hit.preview, hit.replaces) for hit in memory.recall(text).hits if "port" in hit.preview]


def test_what_replaced_an_event_stands_in_its_place(memory):
    """After a decision the new value has the better place of the two, names the old one, and the old one is no hit."""
    assert {replaces for _, replaces in answer(memory)} == {""}
    old, new = pointers(memory)
    best = max(hit.score for hit in memory.recall("staging port 8080").hits)
    decide(memory)
    found = memory.recall("staging port 8080")
    assert [(hit.pointer, hit.replaces) for hit in found.hits if "port" in hit.preview] == [(new, old)]
    assert found.hits[0].pointer == new
    assert found.hits[0].score == pytest.approx(best, abs=0.01)
    assert round(sum(found.hits[0].parts.values()), 6) == round(found.hits[0].score, 6)
    assert f"in the place of {old}" in of_recall(found).text
    assert f"left out, since it no longer holds: {old} ({new} holds instead); expand opens it" in found.notes


def test_what_replaced_an_event_is_found_by_its_words(memory):
    """A question that only the old event answers finds the new one, though it shares no word with it."""
    old = memory.session("two").user("zanzibar quagga").pointer
    new = memory.session("two").user("Let it be.").pointer
    supersede(memory, old, new)
    assert [(hit.preview, hit.replaces) for hit in memory.recall("zanzibar quagga").hits] == [("Let it be.", old)]
    outside = memory.recall("zanzibar quagga", since="2200-01-01")
    assert (outside.outcome, outside.hits) == ("filtered", ())


def test_nothing_is_called_absent_that_is_left_out(memory):
    """Where all that matches was taken back the answer is filtered, and says what and why."""
    old = memory.session("two").user("zanzibar quagga").pointer
    retract(memory, old)
    answer = memory.recall("zanzibar quagga")
    assert (answer.outcome, answer.hits, answer.said) == ("filtered", (), ())
    assert answer.notes == (f"left out, since it no longer holds: {old}; expand opens it",)


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


def test_what_was_taken_back_or_quarantined_is_left_out(memory):
    """Where nothing took its place, no hit says a word of it."""
    old, new = pointers(memory)
    retract(memory, new)
    lineage_of(memory).quarantine(old)
    assert answer(memory) == []
    assert not any(text in str(memory.recall("staging port").said) for text in (OLD, NEW))


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
        assert {by for _, by in answer(other)} == {""}
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
