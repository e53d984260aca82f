"""A fault in each stage of recall: the answer is right all the same, says `degraded`, and names the stage."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import apsw
import pytest

from firsthand import Draft, Kind, Memory, Outcome
from firsthand.errors import ModelUnavailable
from firsthand.index.embed.port import callable_embedder
from firsthand.log.sqlite.index_files import path_of
from firsthand.log.sqlite.schema import DATABASE_FILE

DIMENSION = 16
ASKED = "where does the invoice service keep its ledger"
ANSWER = "the invoice service keeps its ledger in /srv/invoices/ledger.db"
TEXTS = (*(f"worker {number} of the mail queue reported {number * 7} parcels" for number in range(80)), ANSWER)


def letters(texts: Sequence[str]) -> list[list[float]]:
    """Embed texts by the letters in them: near texts are near, and nothing is installed."""
    rows = []
    for text in texts:
        row = [0.01] * DIMENSION
        for sign in text.lower():
            row[ord(sign) % DIMENSION] += 1.0
        rows.append(row)
    return rows


def dead(_: Sequence[str]) -> list[list[float]]:
    raise ModelUnavailable("the endpoint does not answer; start it")


def not_numbers(texts: Sequence[str]) -> list[list[float]]:
    return [[math.nan] * DIMENSION for _ in texts]


def too_short(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] * (DIMENSION - 1) for _ in texts]


def letters_named(fn: Callable[[Sequence[str]], list[list[float]]] = letters, name: str = "letters"):
    return callable_embedder(name, DIMENSION, fn)


@pytest.fixture
def store(tmp_path):
    """A store that was followed to its end, with vectors."""
    root = tmp_path / "store"
    with Memory.open(root, embedder=letters_named()) as memory:
        memory.append([Draft(Kind.TOOL_RESULT, text.encode()) for text in TEXTS], session="s")
        memory.follow()
        whole = memory.recall(ASKED)
        assert whole.outcome is not Outcome.DEGRADED
        assert whole.hits[0].preview == ANSWER
    return root


def break_store(root, *statements: str) -> None:
    """Run SQL on a store's database, as damage would: without the guards that the library sets."""
    for statement in statements:
        of_index = "text_" in statement or "reach" in statement
        db = apsw.Connection(str(path_of(root, 1) if of_index else root / DATABASE_FILE))
        try:
            db.execute(statement).fetchall()
        finally:
            db.close()


@pytest.mark.parametrize(
    ("statement", "stage"),
    [
        ("UPDATE reach SET position = 5, fault = 'was interrupted' WHERE name = 'text'", "text index"),
        ("DROP TABLE text_1", "text index"),
        ("DELETE FROM text_1_docsize", "text index"),
        ("UPDATE text_1_data SET block = x'00ff00ff' WHERE id > 10", "text index"),
        ("UPDATE text_index SET version = '0.0'", "text index"),
    ],
    ids=["behind", "deleted", "rows lost", "corrupt segment", "other version"],
)
def test_without_its_text_index_the_newest_events_answer(store, statement, stage):
    """An index that is behind, gone, damaged or of other rules is named, and the newest events are still searched."""
    break_store(store, statement)
    with Memory.open(store, read_only=True) as memory:
        answer = memory.recall(ASKED)
    assert answer.outcome is Outcome.DEGRADED
    assert any(stage in note for note in answer.notes)
    assert any("firsthand store rebuild" in note for note in answer.notes)
    if "block" not in statement:  # of a list of rows that is damaged nothing is believed
        assert answer.hits[0].preview == ANSWER


@pytest.mark.parametrize("broken", [dead, not_numbers, too_short], ids=lambda one: one.__name__)
def test_without_its_embedder_the_words_answer(store, broken):
    """An embedder that is down, or gives no numbers or too few, is named, and the event is found by its words."""
    with Memory.open(store, embedder=letters_named(broken), read_only=True) as memory:
        answer = memory.recall(ASKED)
    assert answer.outcome is Outcome.DEGRADED
    assert any(note.startswith("vectors: ") for note in answer.notes)
    assert answer.hits[0].preview == ANSWER


def test_vectors_of_another_model_are_not_asked(store):
    """A store whose vectors are of another model says so, and is answered by its words."""
    with Memory.open(store, embedder=letters_named(name="other"), read_only=True) as memory:
        answer = memory.recall(ASKED)
    assert answer.outcome is Outcome.DEGRADED
    assert any(note.startswith("vectors: ") and "letters" in note for note in answer.notes)
    assert answer.hits[0].preview == ANSWER
    assert not any("meaning" in hit.parts for hit in answer.hits)


def test_damaged_vectors_are_not_believed(store):
    """Vectors that do not fit their checksum are named, and the event is found by its words."""
    with Memory.open(store, read_only=True) as memory:
        tables = [
            str(name)
            for (name,) in memory.log.reader.db.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'vector*'"
            )
        ]
    assert tables
    break_store(store, *[f"UPDATE {name} SET bits = zeroblob(length(bits))" for name in tables if "chunk" in name])
    with Memory.open(store, embedder=letters_named(), read_only=True) as memory:
        answer = memory.recall(ASKED)
    assert answer.outcome is Outcome.DEGRADED
    assert any(note.startswith("vectors: ") for note in answer.notes)
    assert answer.hits[0].preview == ANSWER


def test_vectors_whose_spaces_were_lost_are_made_anew(store):
    """Without the table of spaces the vectors are nobody's: following makes them anew, and recall is whole again."""
    break_store(store, "DROP TABLE vector_space")
    with Memory.open(store, embedder=letters_named()) as memory:
        memory.follow()
        assert memory.vectors()[0].vectors == len(TEXTS)
        answer = memory.recall(ASKED)
        assert answer.outcome is not Outcome.DEGRADED
        assert answer.hits[0].preview == ANSWER
        assert memory.verify().problems == ()


def test_a_fault_of_the_background_is_forgotten_once_following_went_well(store):
    """What the thread could not do is told until somebody has done it."""
    broken = [True]

    def sometimes(texts):
        return dead(texts) if broken[0] else letters(texts)

    with Memory.open(store, embedder=letters_named(sometimes, "sometimes")) as memory:
        with pytest.raises(ModelUnavailable):
            memory.follow()
        memory.near._background.fault = "the endpoint does not answer"
        assert memory.recall(ASKED).outcome is Outcome.DEGRADED
        broken[0] = False
        memory.follow()
        memory.near.search._failed = (0.0, "")  # the pause after a failed question is over
        assert memory.recall(ASKED).outcome is not Outcome.DEGRADED


def test_what_was_broken_is_mended_by_what_the_note_says(store):
    """After rebuild and follow the same question is answered as before."""
    break_store(store, "DROP TABLE text_1")
    with Memory.open(store, embedder=letters_named()) as memory:
        memory.rebuild()
        memory.follow()
        answer = memory.recall(ASKED)
        assert answer.outcome is not Outcome.DEGRADED
        assert answer.hits[0].preview == ANSWER
        assert memory.verify().problems == ()


def test_an_event_that_cannot_be_read_is_no_absence(store):
    """The one event that matches is damaged: the answer says degraded and names it, never absent."""
    db = apsw.Connection(str(store / DATABASE_FILE))
    db.execute("UPDATE event SET kind = 5 - kind % 2 WHERE sequence = ?", (len(TEXTS) - 1,))
    db.close()
    with Memory.open(store, read_only=True) as memory:
        answer = memory.recall("/srv/invoices/ledger.db")
        assert not any("/srv/invoices/ledger.db" in hit.preview for hit in answer.hits)
        assert answer.outcome is Outcome.DEGRADED
        assert any("damaged" in note for note in answer.notes)
        assert not memory.verify().ok
