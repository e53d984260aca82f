"""The text index in the log's transaction."""

from __future__ import annotations

import apsw
import pytest

from firsthand.event import Draft, Kind
from firsthand.index import check as checks
from firsthand.index import text
from firsthand.index.passages import ROW_STEP
from firsthand.index.text import TextIndex
from firsthand.log.index_files import path_of
from firsthand.log.log import Log
from stores import index_problems

BIG = b"".join(b"line %d of value %d\n" % (n, n * 7_919) for n in range(4_000))


@pytest.fixture
def log(tmp_path):
    """A store with a text index."""
    opened = Log(tmp_path / "store", indexes=(TextIndex(),))
    yield opened
    opened.close()


def append(log: Log, *contents: bytes, namespace: str = "default", session: str = "s"):
    drafts = [Draft(Kind.TOOL_RESULT, content) for content in contents]
    return log.append(drafts, namespace=namespace, session=session)


def rows(log: Log, match: str, namespace: int = 1) -> list[int]:
    sql = f"SELECT rowid FROM text_{namespace} WHERE text_{namespace} MATCH ? ORDER BY rowid"
    return [row for (row,) in log.reader.indexed(namespace).execute(sql, (match,)).fetchall()]


def entries(log: Log):
    return log.reader.entries(1, 0, 1_000).entries


def write(log: Log, action, namespace: int = 1):
    def run(db):
        log.index_files.made(namespace)
        with db:
            return action(db)

    return log.exclusively(run)


def deep(log: Log, namespace: int = 1) -> list[str]:
    batch = log.reader.entries(namespace, 0, 1_000).entries
    return checks.deep_check(log.reader.indexed(namespace), namespace, [batch], log.reader)


def test_an_event_is_in_the_index_when_its_append_returns(log):
    """Words, stems and exact strings of an event match in the moment of its commit."""
    append(log, b"Running src/app/main.py", b"other")
    assert rows(log, '"runs"') == rows(log, f'"{text.words.token("app/main.py")}"') == [1]
    assert index_problems(log) == deep(log) == []


def test_the_same_events_again_change_nothing(log):
    """Applying events that are in already leaves every row as it is."""
    append(log, b"one fish", b"two fish")
    index = TextIndex()
    write(log, lambda db: index.apply(db, entries(log), log.reader))
    assert rows(log, '"fish"') == [1, 2]
    assert text.size_of(log.reader.indexed(1), 1) == text.IndexSize(2, 6)  # the session's name is a word of each
    assert deep(log) == []


def test_tenants_share_no_table(log):
    """Each namespace has a file of its own; the same word in one is not in the other."""
    append(log, b"secret alpha", namespace="a")
    append(log, b"secret beta", namespace="b")
    assert rows(log, '"secret"', 1) == [1]
    assert rows(log, '"secret"', 2) == [1]
    assert index_problems(log) == deep(log, 1) == deep(log, 2) == []


def test_a_large_payload_is_indexed_in_passages(log):
    """Every line of an artifact is found, in the row of its passage."""
    append(log, BIG)
    size = text.size_of(log.reader.indexed(1), 1)
    assert size.rows > 3
    for number in (0, 1_999, 3_999):
        found = rows(log, f'"{number * 7_919}"')
        assert found
        assert {row % ROW_STEP for row in found} == {1}
    assert index_problems(log) == deep(log) == []


def test_erased_words_are_gone_from_the_index_and_from_its_pages(log):
    """No term and no page of the index holds a word of an erased event, and a second purge changes nothing."""
    append(log, b"keep these words", b"xylophonequartz and zebrafinchplasma", BIG)
    log.erase("default", [entry.event.id for entry in entries(log)[1:]])
    for _ in range(2):
        assert rows(log, '"xylophonequartz"') == rows(log, '"7919"') == []
        terms = {term for (term,) in log.reader.indexed(1).execute("SELECT term FROM text_1_terms").fetchall()}
        assert {"keep", "these", "word", "s"} <= terms
        blocks = b"".join(b for (b,) in log.reader.indexed(1).execute("SELECT block FROM text_1_data").fetchall())
        assert b"keep" in blocks
        assert b"xylophone" not in blocks
        assert b"zebrafinch" not in blocks
        assert index_problems(log) == deep(log) == []
        log.exclusively(lambda db: TextIndex().purge(db, 1))


def test_a_rolled_back_first_event_does_not_block_the_next(log):
    """A table whose transaction was undone is made again by the next event."""
    append(log, b"first")
    event = entries(log)[0]
    index = TextIndex()

    def undo(db):
        log.index_files.made(7)
        db.execute("BEGIN")
        index.apply(db, [type(event)(7, event.event)], log.reader)
        db.execute("ROLLBACK")

    log.exclusively(undo)
    write(log, lambda db: index.apply(db, [type(event)(7, event.event)], log.reader), 7)
    assert rows(log, '"first"', 7) == [1]


@pytest.mark.parametrize(
    "damage",
    ["DROP TABLE text_1", "UPDATE text_index SET version = '0'", "DROP TABLE text_index"],
    ids=["dropped", "another version", "no version"],
)
def test_a_missing_or_foreign_index_takes_no_events(log, damage):
    """An index that is not whole is left alone and named, and a rebuild makes it whole."""
    append(log, b"before")
    write(log, lambda db: db.execute(damage).fetchall())
    other = Log(log.root, indexes=(TextIndex(),))
    (after,) = append(other, b"after")
    assert not after.indexed
    assert index_problems(other)[0].startswith("the text index reaches position 1 of 2")
    other.rebuild()
    assert index_problems(other) == []
    other.close()
    assert rows(log, '"before" OR "after"') == [1, 2]


def test_a_rebuilt_index_is_the_same(log):
    """Dropping everything and building it from the log gives the same rows, word for word."""
    append(log, b"one getUserName", "東京 two".encode(), BIG)
    append(log, b"three", namespace="other")
    sql = "SELECT id, sz FROM text_1_docsize ORDER BY id"
    before = log.reader.indexed(1).execute(sql).fetchall()
    log.rebuild()
    assert log.reader.indexed(1).execute(sql).fetchall() == before
    assert index_problems(log) == deep(log, 1) == deep(log, 2) == []


@pytest.mark.parametrize(
    ("damage", "said", "counted"),
    [
        ("DELETE FROM text_1 WHERE rowid = 1", "expected 'crow' in row 1", True),
        ("INSERT INTO text_1 (rowid, text) VALUES (9, 'zoo')", "expected nothing more, found 'zoo' in row 9", True),
        ("INSERT INTO text_1 (rowid, text) VALUES (9, 'aaa')", "found 'aaa' in row 9", True),
        (
            "DELETE FROM text_1 WHERE rowid = 1; INSERT INTO text_1 (rowid, text) VALUES (1, 'cow')",
            "found 'cow'",
            False,
        ),
    ],
)
def test_a_check_names_what_is_wrong(log, damage, said, counted):
    """Lost, stray and changed rows are named by the deep check, and by the count where counting can see them."""
    append(log, b"crow", b"finch")
    write(log, lambda db: db.execute(damage).fetchall())
    assert bool(index_problems(log)) == counted
    (problem,) = deep(log)
    assert said in problem


def test_common_terms_are_counted_when_the_index_has_grown(log, monkeypatch):
    """Frequencies are counted once, kept while the index grows little, and counted again at half more."""
    monkeypatch.setattr(text, "COMMON_ROWS_MIN", 2)
    append(log, b"fish crow", b"fish finch")
    assert write(log, lambda db: TextIndex().refresh(db, 1))
    assert not write(log, lambda db: TextIndex().refresh(db, 1))
    append(log, b"fish heron")
    assert write(log, lambda db: TextIndex().refresh(db, 1))
    found = log.reader.indexed(1).execute("SELECT term, df FROM term_df").fetchall()
    assert dict(found) == {"fish": 3, "s": 3, "crow": 1, "finch": 1, "heron": 1}
    assert text.counted_of(log.reader.indexed(1), 1) == 3


def test_a_damaged_total_is_an_error_and_not_a_size(log):
    """Totals that are missing are reported as damage."""
    append(log, b"one")
    log.flush_indexes("default")
    db = apsw.Connection(str(path_of(log.root, 1)))
    db.execute("DELETE FROM text_1_data WHERE id = 1").fetchall()
    with pytest.raises(apsw.CorruptError):
        text.size_of(db, 1)
    db.close()
