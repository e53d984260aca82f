"""What recall makes of the ledger: a fact that was replaced stands below, says what took its place, and is found."""

from __future__ import annotations

import pytest

from firsthand import Memory, facts_of, ledger_of, sweep
from firsthand.index import facts
from firsthand.pack.answers import of_recall

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


def answer(memory, text="What is the staging port?"):
    """Ask, and give the words, the share that was taken off, and what each hit says took its place."""
    hits = memory.recall(text).hits
    return [(hit.preview, hit.parts["superseded"], hit.replaced_by) for hit in hits if "port" in hit.preview]


def test_what_was_replaced_stands_below_with_what_took_its_place(memory):
    """After a sweep the old value has half its score, names the pointer of the new one, and is still found."""
    before = answer(memory)
    assert [replaced for _, _, replaced in before] == ["", ""]
    sweep(memory)
    new = facts_of(memory)[-1].pointer
    assert answer(memory) == [(NEW, 0.0, ""), (OLD, 0.5, new)]
    assert memory.expand(new) == NEW.encode()
    assert f"replaced by {new}" in of_recall(memory.recall("staging port 8080")).text


def test_undoing_gives_the_old_ranking_back(memory):
    """Once the decision is undone every answer is what it was, and again other once the undoing is undone."""
    before = answer(memory, "staging port 8080")
    sweep(memory)
    after = answer(memory, "staging port 8080")
    assert after != before
    undoing = ledger_of(memory).undo(ledger_of(memory).decisions()[0].id)[0]
    assert answer(memory, "staging port 8080") == before
    ledger_of(memory).undo(undoing.id)
    assert answer(memory, "staging port 8080") == after


def test_a_fact_that_was_taken_back_names_the_decision(memory):
    """Where nothing took its place, the pointer is that of the decision."""
    decided = ledger_of(memory).decide("tombstone", facts_of(memory)[-1])
    assert {replaced for _, _, replaced in answer(memory)} == {f"fh:{decided.id}"}


def test_what_is_asked_of_something_else_is_not_marked(memory):
    """A message that also says something else is marked only where the replaced fact is what is asked."""
    session = memory.session("two")
    session.user("The retry limit is 3. The billing database is Postgres and it holds all of the invoices since May.")
    session.user("The retry limit is now 5.")
    sweep(memory)
    database = memory.recall("billing database").hits[0]
    limit = [hit for hit in memory.recall("retry limit").hits if "Postgres" in hit.preview]
    assert (database.replaced_by, database.parts["superseded"]) == ("", 0.0)
    assert [bool(hit.replaced_by) for hit in limit] == [True]


def test_what_one_agent_replaced_stands_for_another(memory):
    """A decision on the facts of one agent marks no message of another one that has the same name and value."""
    for name in ("shop", "bank"):
        session = memory.session(name)
        memory.agent(name).enrol(name)
        session.user("The rate is 3.")
    memory.session("shop").user("The rate is now 4.")
    assert len(sweep(memory, "shop").decided) == 1
    hits = [hit for hit in memory.recall("rate is 3").hits if hit.preview == "The rate is 3."]
    marked = {hit.session: bool(hit.replaced_by) for hit in hits}
    assert marked == {"shop": True, "bank": False}


def test_a_message_that_corrects_itself_is_not_marked(memory):
    """Where old and new stand in one message, nothing took its place."""
    memory.session("two").user("The retry limit is 3. Sorry, the retry limit is now 5.")
    assert len(sweep(memory).decided) == 2
    assert [hit.replaced_by for hit in memory.recall("retry limit").hits] == [""]


def test_a_decision_that_recall_does_not_know_is_told(memory, tmp_path):
    """A store that got its ledger by a restore says that its decisions do not count yet, until a sweep."""
    sweep(memory)
    with (tmp_path / "out").open("wb") as out:
        memory.export(out)
    with Memory.open(tmp_path / "other", embedder="none") as other, (tmp_path / "out").open("rb") as source:
        other.restore(source)
        told = other.recall("staging port").notes
        assert [one for one in told if "ledger" in one] == [
            f"decisions of the ledger up to position {11:,} do not count here yet; run 'firsthand ledger sweep'"
        ]
        sweep(other)
        assert other.recall("staging port").notes == memory.recall("staging port").notes
        assert answer(other) == answer(memory)


def test_a_broken_table_hides_nothing(tmp_path):
    """Where what the ledger takes out cannot be read, recall answers without it and says so; a rebuild mends it."""
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        memory.session("one").user(OLD)
        memory.session("one").user(NEW)
        sweep(memory)
        memory._log.exclusively(lambda db: db.execute("UPDATE fact_out SET decision = 'x'"))
        told = memory.recall("staging port")
        assert len(told.hits) == 2
        assert "'firsthand rebuild'" in told.notes[-1]
        memory.rebuild()
        assert [bool(hit.replaced_by) for hit in memory.recall("staging port").hits] == [False, True]


def test_pages_join(memory):
    """The pages of one question give the hits of the whole, also below what the ledger takes out."""
    session = memory.session("many")
    for number in range(60):
        session.user(f"The staging port of box{number} is {number}.")
        session.user(f"The staging port of box{number} is now {number + 100}.")
    sweep(memory)
    whole = [hit.pointer for hit in memory.recall("staging port", hits_max=40, budget_tokens_max=40_000)]
    pages = [hit.pointer for skip in range(0, 40, 8)
             for hit in memory.recall("staging port", hits_max=8, skip=skip, budget_tokens_max=40_000)]  # fmt: skip
    assert pages == whole


def test_a_store_without_a_ledger_pays_one_look(memory):
    """Without a sweep no table is there, and nothing is out."""
    db = memory._log.reader.db
    assert (facts.is_there(db), facts.out_of(db, 1, [1]), facts.behind(db, 1)) == (False, [], 0)


@pytest.fixture
def contradicted(tmp_path):
    """A store with two values of one port in two sessions, and no word of which one holds; verified at the end."""
    with Memory.open(tmp_path / "open", embedder="none") as opened:
        opened.session("one").user("The billing port is 80.")
        opened.session("two").user("The billing port is 81.")
        yield opened
        assert opened.verify().problems == ()


def sides(memory):
    """Give what each hit says contradicts it, by its words."""
    return {hit.preview: (hit.conflicts_with, hit.replaced_by) for hit in memory.recall("billing port").hits}


def test_what_contradicts_each_other_is_found_on_both_sides(contradicted):
    """After a sweep each of two facts that stand names the other; before, and once one is chosen, neither does."""
    memory = contradicted
    assert {*sides(memory).values()} == {("", "")}
    swept = sweep(memory)
    one, other = facts_of(memory)
    assert [(each.earlier, each.later, each.why) for each in swept.open] == [(one, other, "two values")]
    assert sides(memory) == {one.text: (other.pointer, ""), other.text: (one.pointer, "")}
    assert f"open: {other.pointer} says otherwise, ask the user" in of_recall(memory.recall("billing port")).text
    decided = ledger_of(memory).decide("restore", other)
    assert sides(memory) == {one.text: ("", other.pointer), other.text: ("", "")}
    assert sweep(memory).open == ()
    ledger_of(memory).undo(decided.id)
    assert sweep(memory).open == swept.open
    assert sides(memory) == {one.text: (other.pointer, ""), other.text: (one.pointer, "")}


def test_with_an_erased_side_the_other_stands_alone(contradicted):
    """What is erased contradicts nothing any more, at once and after the next sweep."""
    memory = contradicted
    sweep(memory)
    one, other = facts_of(memory)
    memory.erase([one.event])
    assert sides(memory) == {other.text: ("", "")}
    assert sweep(memory).open == ()
    assert sides(memory) == {other.text: ("", "")}


def test_a_sweep_of_one_agent_leaves_what_is_open_of_another(tmp_path):
    """What is open is kept by what was looked at: agents of one store do not wipe each other's."""
    with Memory.open(tmp_path / "two", embedder="none") as memory:
        for agent, port in (("shop", 80), ("blog", 90)):
            for session in ("a", "b"):
                memory.agent(agent).enrol(f"{agent}-{session}")
                memory.session(f"{agent}-{session}").user(f"The {agent} port is {port + (session == 'b')}.")
        for agent in ("shop", "blog"):
            assert len(sweep(memory, agent).open) == 1
        for agent in ("shop", "blog"):
            found = [hit for hit in memory.recall(f"{agent} port").hits if agent in hit.preview]
            assert [bool(hit.conflicts_with) for hit in found] == [True, True]
        assert memory.verify().problems == ()
