"""The text index in the log's transaction."""

from __future__ import annotations

import pytest

from firsthand.event import Draft, Kind
from firsthand.index import check as checks
from firsthand.index import text
from firsthand.index.blocks import COLUMNS
from firsthand.index.text import TextIndex
from firsthand.index.vocabulary import words_of
from firsthand.log.sqlite.index_files import path_of
from firsthand.log.sqlite.log import Log
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


def rows(log: Log, term: str, namespace: int = 1) -> list[int]:
    sql = f"SELECT rowid FROM text_{namespace} WHERE text_{namespace} MATCH ? ORDER BY rowid"
    return [row for (row,) in log.reader.indexed(namespace).execute(sql, (f'"{term}"',)).fetchall()]


def columns(log: Log, namespace: int = 1) -> list[dict[str, int]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in checks.columns_of(log.reader.indexed(namespace), namespace)]


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
    assert rows(log, "run") == rows(log, text.words.token("app/main.py")) == [1]
    assert index_problems(log) == deep(log) == []


def test_the_same_events_again_change_nothing(log):
    """Applying events that are in already leaves every row as it is."""
    append(log, b"one fish", b"two fish")
    index = TextIndex()
    write(log, lambda db: index.apply(db, entries(log), log.reader))
    assert rows(log, "fish") == [1, 2]
    assert [row["tokens"] for row in columns(log)] == [2, 2]  # the session's name is no word of their texts
    assert deep(log) == []


def test_tenants_share_no_table(log):
    """Each namespace has a file of its own; the same word in one is not in the other."""
    append(log, b"secret alpha", namespace="a")
    append(log, b"secret beta", namespace="b")
    assert rows(log, "secret", 1) == [1]
    assert rows(log, "secret", 2) == [1]
    assert index_problems(log) == deep(log, 1) == deep(log, 2) == []


def test_a_large_payload_is_indexed_in_passages(log):
    """Every line of an artifact is found, in a row of its own passage; the rows of an event lie together."""
    append(log, b"before", BIG, b"behind")
    placed = columns(log)
    assert [row["position"] for row in placed] == sorted(row["position"] for row in placed)
    assert len(placed) > 30
    for number in (0, 1_999, 3_999):
        holders = rows(log, str(number * 7_919))
        assert holders
        for row in holders:
            start, size = placed[row - 1]["start"], placed[row - 1]["size"]
            assert b"line %d of" % number in BIG[start : start + size]
    assert index_problems(log) == deep(log) == []


def test_what_a_row_leads_to_is_of_its_own_session(log):
    """Each row names the event before it in its session, and the message before it that somebody said."""
    said, result = Kind.USER_MESSAGE, Kind.TOOL_RESULT
    for session, kind in [("a", said), ("b", said), ("a", result), ("a", said), ("b", result), ("a", result)]:
        log.append([Draft(kind, b"some words")], namespace="default", session=session)
    assert [number - row["before"] for number, row in enumerate(columns(log), 1)] == [1, 2, 1, 3, 2, 4]
    assert [number - row["previous"] for number, row in enumerate(columns(log), 1)] == [1, 2, 1, 1, 2, 4]
    log.erase("default", [entries(log)[3].event.id])
    after_erasure = columns(log)
    assert [number - row["before"] for number, row in enumerate(after_erasure, 1)][5] == 3
    assert [number - row["previous"] for number, row in enumerate(after_erasure, 1)][5] == 1
    assert index_problems(log) == deep(log) == []


def test_blocks_are_put_together_and_stay_what_they_were(log, monkeypatch):
    """When enough rows came in blocks of a batch each, they are one block, with the same columns."""
    monkeypatch.setattr(text, "BLOCK_ROWS", 10)
    for number in range(25):
        append(log, b"word%d" % number, session=f"s{number % 3}")
    sql = "SELECT first FROM text_block ORDER BY first"
    assert [first for (first,) in log.reader.indexed(1).execute(sql).fetchall()] == [1, 11, 21, 22, 23, 24, 25]
    assert [row["position"] for row in columns(log)] == list(range(1, 26))
    assert index_problems(log) == deep(log) == []


def test_erased_words_are_gone_from_the_index_and_from_its_pages(log):
    """No term, no word and no page of the index holds a word of an erased event; a second purge changes nothing."""
    append(log, b"keep these words", b"xylophonequartz and zebrafinchplasma", BIG)
    log.erase("default", [entry.event.id for entry in entries(log)[1:]])
    for _ in range(2):
        assert rows(log, "xylophonequartz") == rows(log, "7919") == []
        db = log.reader.indexed(1)
        terms = {term for (term,) in db.execute("SELECT term FROM text_1_terms").fetchall()}
        assert {"keep", "these", "word", "s"} <= terms
        assert {"keep", "these", "word"} <= words_of(db, 1)
        log.index_files.checkpoint()
        held = path_of(log.root, 1).read_bytes()
        assert b"keep" in held
        assert b"xylophone" not in held
        assert b"zebrafinch" not in held
        assert {row["size"] for row in columns(log) if row["position"] in {2, 3}} == {0}
        assert index_problems(log) == deep(log) == []
        log.exclusively(lambda db: TextIndex().purge(db, 1))


def test_words_of_an_undone_transaction_are_words_again(log):
    """What a transaction brought that was undone is not taken as known: the next one adds its words."""
    append(log, b"first")
    index = TextIndex()
    event = append(log, b"zirconium")[0]
    write(log, lambda db: index.begin(db, 1))

    def undo(db):
        db.execute("BEGIN")
        index.apply(db, entries(log), log.reader)
        db.execute("ROLLBACK")

    log.exclusively(undo)
    write(log, lambda db: index.apply(db, entries(log), log.reader))
    assert event.position == 2
    assert words_of(log.reader.indexed(1), 1) == {"first", "zirconium"}


def test_a_rolled_back_first_event_does_not_block_the_next(tmp_path):
    """A table whose transaction was undone is made again by the next event."""
    log = Log(tmp_path / "store")
    append(log, b"first")
    index = TextIndex()

    def undo(db):
        log.index_files.made(1)
        db.execute("BEGIN")
        index.apply(db, entries(log), log.reader)
        db.execute("ROLLBACK")

    log.exclusively(undo)
    write(log, lambda db: index.apply(db, entries(log), log.reader))
    assert rows(log, "first") == [1]
    log.close()


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
    assert rows(log, "befor") + rows(log, "after") == [1, 2]


def test_a_rebuilt_index_is_the_same(log):
    """Dropping everything and building it from the log gives the same rows, word for word."""
    append(log, b"one getUserName", "東京 two".encode(), BIG)
    append(log, b"three", namespace="other")
    before = columns(log), rows(log, "getusernam"), words_of(log.reader.indexed(1), 1)
    log.rebuild()
    assert (columns(log), rows(log, "getusernam"), words_of(log.reader.indexed(1), 1)) == before
    assert index_problems(log) == deep(log, 1) == deep(log, 2) == []


@pytest.mark.parametrize(
    ("damage", "said", "counted"),
    [
        ("DELETE FROM text_1 WHERE rowid = 1", "expected 'crow' in passage 0 of event 1", True),
        ("INSERT INTO text_1 (rowid, terms) VALUES (9, 'zoo')", "expected nothing more, found 'zoo'", True),
        ("INSERT INTO text_1 (rowid, terms) VALUES (9, 'aaa')", "found 'aaa'", True),
        (
            "DELETE FROM text_1 WHERE rowid = 1; INSERT INTO text_1 (rowid, terms) VALUES (1, 'cow')",
            "found 'cow'",
            False,
        ),
        ("DELETE FROM text_block WHERE first = 2", "expected passage 0 of event 2", True),
        ("UPDATE text_block SET data = zeroblob(length(data))", "is not what was written", True),
        ("DELETE FROM vocabulary; DELETE FROM word", "the vocabulary of the text index lacks 2 words", False),
    ],
)
def test_a_check_names_what_is_wrong(log, damage, said, counted):
    """Lost, stray and changed rows are named by the deep check, and by the count where counting can see them."""
    append(log, b"crow")
    append(log, b"finch")
    write(log, lambda db: db.execute(damage).fetchall())
    assert bool(index_problems(log)) == counted
    (problem,) = deep(log)
    assert said in problem
