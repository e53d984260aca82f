"""How vectors lie in the store: places, chunks, sums, erasure, dropping; damage is never taken for a vector."""

from __future__ import annotations

import numpy as np
import pytest

from embedders import with_vectors
from firsthand.errors import StoreDamaged
from firsthand.event import Draft, Kind
from firsthand.index import codes, vectors
from firsthand.index.vector_check import check
from firsthand.index.vectors import CHUNK_VECTORS, EMPTY, vector_key
from firsthand.log.engine import Entry

WIDTH = 8
NAMESPACE = 1


@pytest.fixture
def store(tmp_path):
    """A store of 40 events, whose vectors a test writes as it likes."""
    log = with_vectors(tmp_path / "store")
    log.append([Draft(Kind.NOTE, b"%d" % n) for n in range(40)], namespace="default", session="s")
    assert log.namespace_key("default") == NAMESPACE
    yield log
    log.close()


def write(log, action):
    """Do something in a write transaction."""

    def run(db):
        with db:
            return action(db)

    return log.exclusively(run)


def vectors_of(rows, seed: int = 0) -> codes.Codes:
    """Make a vector a row."""
    table = np.random.default_rng(seed).standard_normal((len(rows), WIDTH))
    return codes.encode(codes.unit(table))


def extended(log, rows, *, through: int, identity: str = "one", seed: int = 0) -> codes.Codes:
    """Add a vector a row to a space, making it first if need be."""
    made = vectors_of(rows, seed)

    def action(db):
        space = vectors.find(db, NAMESPACE, identity) or vectors.make(db, NAMESPACE, identity, WIDTH)
        vectors.extend(db, space, through, rows, made.coded, made.bits, made.added_to(space.total))

    write(log, action)
    return made


def held(log, identity: str = "one") -> dict[int, bytes]:
    """Read every vector of a space by its row."""
    db = log.reader.db
    space = vectors.find(db, NAMESPACE, identity)
    found: dict[int, bytes] = {}
    for number, *_ in vectors.outline(db, space):
        chunk = vectors.read_chunk(db, space, number)
        slots = [slot for slot, row in enumerate(chunk.rows) if row != EMPTY]
        data = vectors.read_vectors(db, space, [number * CHUNK_VECTORS + slot for slot in slots])
        found |= {chunk.rows[slot]: one[4:] for slot, one in zip(slots, data, strict=True)}
    assert len(found) == space.vectors
    return found


def entries(log, *positions: int) -> list[Entry]:
    """Read events as the log hands them to an index that must forget them."""
    return [one for one in log.reader.entries(1, 0, 100).entries if one.event.position in positions]


def test_vectors_come_back_by_their_rows(store):
    """What was added, in however many batches, is there under its row, in chunks filled one after the other."""
    rows = [vector_key(1 + n % 40, n // 40) for n in range(CHUNK_VECTORS + 900)]
    first = extended(store, rows[:4_000], through=20, seed=1)
    second = extended(store, rows[4_000:], through=40, seed=2)
    assert held(store) == dict(zip(rows, first.coded + second.coded, strict=True))
    space = vectors.find(store.reader.db, NAMESPACE, "one")
    assert (space.through, space.vectors) == (40, len(rows))
    outline = vectors.outline(store.reader.db, space)
    assert [(number, first, last) for number, _, first, last in outline] == [(0, 1, 40), (1, 1, 40)]
    assert check(store.reader.db) == []


def test_an_event_is_forgotten_in_every_space(store):
    """All rows of an event go from all spaces of its namespace; all others keep their places, and the sums fit."""
    rows = [vector_key(1 + n % 40, n // 40) for n in range(120)]
    for identity in ("one", "two"):
        extended(store, rows, through=40, identity=identity)
    before = held(store)
    write(store, lambda db: vectors.Vectors().forget(db, entries(store, 3, 17)))
    for identity in ("one", "two"):
        assert held(store, identity) == {row: one for row, one in before.items() if row % (1 << 40) not in {3, 17}}
    assert check(store.reader.db) == []
    extended(store, [vector_key(3, 0)], through=40, seed=9)
    assert len(held(store)) == 115


def test_a_damaged_space_is_forgotten_as_a_whole(store):
    """Where the rows of an erased event cannot be found any more, the space goes, so that none of it stays."""
    for identity in ("one", "two"):
        extended(store, [vector_key(n, 0) for n in range(1, 41)], through=40, identity=identity)
    write(store, lambda db: db.execute("UPDATE vector_chunk SET rows = zeroblob(length(rows)) WHERE space = 1"))
    write(store, lambda db: vectors.Vectors().forget(db, entries(store, 5)))
    assert [one.identity for one in vectors.spaces(store.reader.db)] == ["two"]
    assert not store.reader.db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vector_1'").get
    write(store, lambda db: db.execute("UPDATE vector_space SET dimension = 'eight'"))
    write(store, lambda db: vectors.Vectors().forget(db, entries(store, 5)))
    assert not vectors.there(store.reader.db)


def test_a_rebuild_drops_every_space(store):
    """Rebuilding begins vectors anew: nothing of any space is left, in any table."""
    for identity in ("one", "two"):
        extended(store, [vector_key(1, 0)], through=40, identity=identity)
    old = vectors.find(store.reader.db, NAMESPACE, "one")
    store.rebuild()
    assert not vectors.there(store.reader.db)
    assert not store.reader.db.execute("SELECT count(*) FROM sqlite_schema WHERE name GLOB 'vector_*'").get
    extended(store, [vector_key(2, 0)], through=40)
    assert list(held(store)) == [vector_key(2, 0)]
    (space,) = vectors.spaces(store.reader.db)
    assert space.key == old.key
    assert space.version != old.version  # what was remembered of the old one is not taken for the new one


DAMAGES = {
    "the end of a vector": (
        "UPDATE vector_1 SET data = substr(data, 1, 15) WHERE number = 3",
        "vector 3 of those by one is",
    ),
    "a vector that is a text": (
        "UPDATE vector_1 SET data = 'sixteen letters!' WHERE number = 3",
        "vector 3 of those by",
    ),
    "a vector that is no text": ("UPDATE vector_1 SET data = CAST(data AS TEXT) WHERE number = 3", "is damaged"),
    "a list of chunks": ("UPDATE vector_chunk SET last = 'z'", "the list of chunks of the vectors by one is damaged"),
    "a vector that is gone": ("DELETE FROM vector_1 WHERE number = 3", "vector 3 of those by one is missing"),
    "a vector in another's place": (
        "UPDATE vector_1 SET data = (SELECT data FROM vector_1 WHERE number = 4) WHERE number = 3",
        "vector 3 of those by one is not what was written",
    ),
    "bits": ("UPDATE vector_chunk SET bits = zeroblob(length(bits))", "chunk 0 of the vectors by one is not what"),
    "a chunk that is gone": ("DELETE FROM vector_chunk", "the chunks hold 0, the table 40"),
    "a sum": ("UPDATE vector_space SET total = zeroblob(length(total))", "the sum of all vectors is"),
    "a count": ("UPDATE vector_space SET vectors = 41", "41 are said to be there, the chunks hold 40, the table 40"),
    "a watermark beyond the log": (
        "UPDATE vector_space SET through = 900",
        "they reach position 900, the log ends at 40",
    ),
    "bounds": ("UPDATE vector_chunk SET first = 9", "chunk 0: it holds events beyond the bounds"),
    "a dimension": ("UPDATE vector_space SET dimension = 9", "what the store says of vectors is damaged"),
    "a table": ("DROP TABLE vector_1", "the vectors cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named(store, damage):
    """Whatever is not what was written is found by the check, and said with what to do."""
    sql, says = DAMAGES[damage]
    extended(store, [vector_key(n, 0) for n in range(1, 41)], through=40)
    write(store, lambda db: db.execute(sql).fetchall())
    found = check(store.reader.db)
    assert any(says in fault for fault in found)
    assert all("firsthand store rebuild" in fault for fault in found)


def test_bits_that_fit_no_vector_are_named(store):
    """Bits with a good checksum that are not the signs of the bytes, and rows of erased events, are found."""
    rows = [vector_key(n, 0) for n in range(1, 41)]
    made, other = vectors_of(rows), vectors_of(rows, 1)

    def action(db):
        space = vectors.make(db, NAMESPACE, "one", WIDTH)
        vectors.extend(db, space, 40, rows, made.coded, other.bits, made.added_to(space.total))
        db.execute("UPDATE event SET salt = NULL, body = NULL WHERE key = 7")

    write(store, action)
    assert [fault.partition(";")[0] for fault in check(store.reader.db)] == [
        "vectors by one: chunk 0: its bits are not those of its vectors",
        "vectors by one: chunk 0: 1 events of it are erased or not there",
    ]


def test_reading_a_damaged_chunk_raises(store):
    """A chunk or a vector that is not what was written is `StoreDamaged`, never an answer."""
    extended(store, [vector_key(n, 0) for n in range(1, 41)], through=40)
    space = vectors.find(store.reader.db, NAMESPACE, "one")
    with pytest.raises(StoreDamaged, match=r"chunk 1 .* is missing"):
        vectors.read_chunk(store.reader.db, space, 1)
    with pytest.raises(StoreDamaged, match=r"vector 99 .* is missing"):
        vectors.read_vectors(store.reader.db, space, [0, 99])
    assert vectors.read_vectors(store.reader.db, space, []) == []
