"""The facts that are kept beside the log: the same as reading it all, whenever and in whichever steps it is read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import Memory, Trust, facts_of, ledger_of, sweep
from firsthand.consolidate.keys import facts
from firsthand.errors import StoreDamaged
from firsthand.index import fact_rows as kept
from firsthand.index import facts as facts_table
from firsthand.lifecycle import facts_kept
from firsthand.value import replace

TEXTS = (
    "The staging port is 80.", "The staging port is now 81.", "Change it to 82.", "LOG=1", "LOG=2", "Forget the port.",
    "Hello.", "Make that 4 nights.", "I need a hotel for 3 nights.", "How about 2 nights?", "Größe=5",
)  # fmt: skip


def rows(memory, table):
    """Count the rows of a table of the store."""
    return memory._log.reader.db.execute(f"SELECT count(*) FROM {table}").get


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from("ab"), st.booleans()), max_size=14), st.integers(1, 3)
)
def test_reading_on_is_reading_all(tmp_path_factory, said, step):
    """Read in steps of any size, with stops anywhere, as of any position, the facts are those of the whole log."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(facts_kept, "EVENTS_OF_A_STEP", step)
        with Memory.open(tmp_path_factory.mktemp("store") / "s", embedder="none") as memory:
            for text, session, reads in said:
                memory.session(session).user(text)
                if reads:
                    facts_of(memory)
            every = facts(memory.events())
            assert facts_of(memory) == every
            with Memory.open(memory.path, read_only=True, embedder="none") as reading:
                assert facts_of(reading) == every
                for as_of in range(len(said) + 1):
                    assert facts_of(reading, as_of=as_of) == tuple(one for one in every if one.position <= as_of)
            assert memory.verify(deep=True).problems == ()


def test_what_was_read_is_not_read_again(memory, monkeypatch):
    """A second sweep reads the messages that came since, and no other."""
    memory.session("one").user("The port is 80.")
    assert len(sweep(memory).decided) == 0
    memory.session("one").user("The port is now 81.")
    read = []
    monkeypatch.setattr(facts_kept, "TELLING", facts_kept.TELLING)
    telling = facts_kept._telling
    monkeypatch.setattr(
        facts_kept, "_telling", lambda *given: (read.append(one.position) or one for one in telling(*given))
    )
    assert len(sweep(memory).decided) == 1
    assert read == [2]


def test_a_handle_that_only_reads_keeps_nothing(memory):
    """Reading facts where nothing may be written gives them all the same, and writes no table."""
    memory.session("one").user("The port is 80.")
    with Memory.open(memory.path, read_only=True, embedder="none") as reading:
        assert [one.value for one in facts_of(reading)] == ["number:80"]
        assert not facts_table.is_there(reading._log.reader.db)


def test_other_rules_read_all_again(memory, monkeypatch):
    """What rules of another version read is thrown away, and read anew by the next sweep."""
    memory.session("one").user("The port is 80.")
    monkeypatch.setattr(facts_kept, "VERSION", "other")
    facts_of(memory)
    db = memory._log.reader.db
    assert kept.reach(db, 1).version == "other"
    monkeypatch.undo()
    assert len(facts_of(memory)) == 1
    assert kept.reach(db, 1).version == facts_kept.VERSION


def test_an_erasure_takes_the_words_out_of_what_is_kept(memory):
    """No row holds a word of what was erased, what it had decided is told no more, and all is read anew."""
    session = memory.session("one")
    session.user("The port is 80.")
    secret = session.user("The port is now 31337.")
    session.user("Change it to 82.")
    sweep(memory)
    assert rows(memory, "fact_out") == 2
    memory.erase([secret])
    assert b"31337" not in (memory.path / "firsthand.db").read_bytes()
    assert rows(memory, "fact_out") == 0
    assert [one.value for one in facts_of(memory)] == ["number:80", "number:82"]


@pytest.mark.parametrize("swept", [False, True])
def test_an_erasure_takes_the_name_that_later_messages_borrowed(memory, swept):
    """What "change it to 9000" is about was said elsewhere: erased there, it is in no row and no decision."""
    session = memory.session("one")
    named = session.user("The zebra port is 80.")
    session.user("Change it to 9000.")
    session.user("Change it to 9500.")
    assert [one.key for one in facts_of(memory)] == ["port zebra"] * 3
    if swept:
        sweep(memory)
        ledger_of(memory).decide("tombstone", facts_of(memory)[2])
    memory.erase([named])
    assert b"zebra" not in (memory.path / "firsthand.db").read_bytes()
    assert [one.key for one in facts_of(memory)] == []
    assert memory.verify(deep=True).problems == ()


def test_a_rebuild_keeps_what_is_told_of(memory):
    """After a rebuild recall is told of the same facts as before it."""
    for text in ("The port is 80.", "The port is now 81."):
        memory.session("one").user(text)
    sweep(memory)
    db = memory._log.reader.db
    before = [*db.execute("SELECT * FROM fact_out")]
    memory.rebuild()
    assert [*db.execute("SELECT * FROM fact_out")] == before != []


def test_namespaces_stand_apart(tmp_path):
    """What one tenant said and decided is in no row of another's, and erasing one leaves the other's."""
    for name in ("a", "b"):
        with Memory.open(tmp_path / "s", namespace=name, embedder="none") as memory:
            memory.session("one").user("The port is 80.")
            memory.session("one").user(f"The port is now {len(name) + ord(name)}.")
            assert len(sweep(memory).decided) == 1
    with Memory.open(tmp_path / "s", namespace="a", embedder="none") as memory:
        memory.erase([facts_of(memory)[0].event])
        db = memory._log.reader.db
        assert [one.ledger > 0 for one in (kept.reach(db, 1), kept.reach(db, 2))] == [True, True]
        assert [one.name for one in kept.rows(db, 2, 99)] == ["port", "port"]
        assert memory.verify().problems == ()


@pytest.mark.parametrize(
    "damage",
    ["UPDATE fact SET body = replace(body, '80', '81')", "UPDATE fact SET body = x'ff'", "UPDATE fact SET name = 'q'"],
)
def test_damaged_rows_are_named(tmp_path, damage):
    """A row that is not what was written is refused and reported, and a rebuild mends it."""
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        memory.session("one").user("The port is 80.")
        sweep(memory)
        memory._log.exclusively(lambda db: db.execute(damage))
        assert [one.where for one in memory.verify().problems] == ["index"]
        with pytest.raises(Exception, match="firsthand rebuild"):
            facts_of(memory)
        memory.rebuild()
        assert [one.value for one in facts_of(memory)] == ["number:80"]
        assert memory.verify().problems == ()


def test_rows_that_the_log_does_not_give_are_reported(tmp_path):
    """A row whose checksum is right and that no message says is found when the proof goes deep."""
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        memory.session("one").user("The port is 80.")
        sweep(memory)
        forged = next(kept.rows(memory._log.reader.db, 1, 9))
        made = kept._sealed(kept.Row(1, 1, "port", ["number:99", *forged.body[1:]]))
        sql = "INSERT INTO fact VALUES (1, 1, 1, 'port', ?, ?)"
        memory._log.exclusively(lambda db: db.execute(sql, made))
        assert memory.verify(deep=False).problems == ()
        assert ["not those of the log" in one.what for one in memory.verify(deep=True).problems] == [True]


def test_two_that_read_at_once_keep_it_once(memory):
    """Who finds that another has read on keeps nothing twice."""
    memory.session("one").user("The port is 80.")
    db, before = memory._log.reader.db, kept.reach(memory._log.reader.db, 1)
    facts_of(memory)
    took = []
    memory._log.exclusively(lambda db: took.append(kept.write(db, 1, before, before, [], {})))
    assert took == [False]
    assert len([*kept.rows(db, 1, 9)]) == 1


def test_who_is_trusted_comes_back(memory):
    """Trust, origin and session of a fact are what they were when it was read."""
    memory.session("two").user("The port is 80.", trust=Trust.UNTRUSTED)
    for _ in range(2):
        one = facts_of(memory)[0]
        assert (one.trust, one.session, one.origin, one.key) == (Trust.UNTRUSTED, "two", one.origin, "port")
    assert ledger_of(memory).at().latest == {}


def test_a_long_ledger_is_read_at_once(tmp_path, monkeypatch):
    """Whole chunks of decisions come from beside the log, the rest from it: the same, as of any position."""
    monkeypatch.setattr(facts_kept, "DECISIONS_OF_A_CHUNK", 3)
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        session = memory.session("one")
        session.user("The port is 1.")
        for number in range(8):
            session.user(f"The port is now {number + 2}.")
            sweep(memory)
        ledger_of(memory).undo(ledger_of(memory).decisions()[2].id, reason="why not")
        every, head = ledger_of(memory).decisions(), int(memory.head().partition(":")[0])
        ledgers = [ledger_of(memory).at(position) for position in range(head + 1)]
        assert rows(memory, "fact_decisions") == 3
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        assert facts_kept.decisions(memory) == every[:9]
        assert ledger_of(memory).decisions() == every
        assert [ledger_of(memory).at(position) for position in range(head + 1)] == ledgers
        memory.erase(["fh:" + [*memory.events("one")][4].id])
        assert rows(memory, "fact_decisions") < 3
        left = ledger_of(memory).decisions()
        assert len(left) < len(every)
        assert memory.verify(deep=True).problems == ()
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        assert ledger_of(memory).decisions() == left
        memory._log.exclusively(lambda db: db.execute("UPDATE fact_decisions SET body = replace(body, 'port', 'part')"))
        memory.read_once.clear()
        assert [one.where for one in memory.verify(deep=False).problems] == ["index"]
        with pytest.raises(StoreDamaged, match="firsthand rebuild"):
            ledger_of(memory).decisions()
        memory.rebuild()
        assert ledger_of(memory).decisions() == left
        assert memory.verify(deep=True).problems == ()


def test_decisions_that_the_log_does_not_give_are_reported(tmp_path):
    """Kept decisions with the right checksum that are not those of the log are found when the proof goes deep."""
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        for text in ("The port is 80.", "The port is now 81."):
            memory.session("one").user(text)
        sweep(memory)
        (made,) = ledger_of(memory).decisions()
        forged = facts_kept._plain(replace(made, action="tombstone"))
        memory._log.exclusively(lambda db: kept.keep_chunk(db, 1, [made.position], [forged]))
        assert memory.verify(deep=False).problems == ()
        assert ["decisions that are kept" in one.what for one in memory.verify(deep=True).problems] == [True]


def test_what_is_erased_meanwhile_is_not_kept(memory):
    """Neither decisions nor what is out come in when their event, or what they were read of, went in between."""
    for text in ("The port is 80.", "The port is now 81."):
        memory.session("one").user(text)
    sweep(memory)
    db, known = memory._log.reader.db, ledger_of(memory).decisions()
    reached = kept.reach(db, 1)
    memory.erase([facts_of(memory)[0].event])
    took = []
    memory._log.exclusively(lambda db: took.append(kept.keep_chunk(db, 1, [known[0].position], [["x"]])))
    memory._log.exclusively(lambda db: took.append(kept.keep_out(db, 1, reached, 9, [])))
    assert took == [False, False]
