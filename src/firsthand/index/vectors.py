"""Vectors in the store's own file: one space a namespace and embedder, its bytes in rows, its bits in chunks.

A *space* holds the vectors that one embedder made of one namespace; spaces of
different embedders stand beside each other and are never mixed. Its watermark says
that every searchable event up to there has its vectors. A vector's number is its
place: chunk times 4,096 plus slot; the chunk says which passage each slot holds.

The invariant: what is written here is written in transactions of the log's own
file, so that a crash leaves the vectors of whole batches and the watermark that
goes with them. Every vector and every chunk carries a checksum. Everything can be
dropped and made again from the log.

This module moves bytes: it computes on no vector, so that an erasure needs neither
numpy nor the embedder.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import attrgetter
from struct import pack, unpack, unpack_from
from typing import Any
from zlib import crc32

import apsw

from firsthand.errors import StoreDamaged
from firsthand.log.engine import Entry
from firsthand.value import replace, value

NAME = "vectors"
CHUNK_VECTORS = 4_096
EMPTY = 0
"""The key of a slot whose vector was taken out: no event has position 0."""
HEAD_BYTES = 8
"""Before a kept vector's bytes: a checksum and the scale."""
KEY_STEP = 1 << 40
"""Greater than every position: the key of passage k of the event at position p is ``k * KEY_STEP + p``."""
REPAIR = "'firsthand store rebuild' drops all vectors, and 'firsthand store follow' makes them anew"
Outline = list[tuple[int, int, int, int]]
"""Of the chunks of a space: number, version, least and greatest position."""
_ROW_BYTES = 8
_VERSIONS = (1 << 60) - 1

_TABLES = """
-- One row a space: the vectors that one embedder made of one namespace.
CREATE TABLE IF NOT EXISTS vector_space (
  key       INTEGER PRIMARY KEY,
  namespace INTEGER NOT NULL,
  identity  TEXT NOT NULL,       -- of the embedder and of the rules by which texts are cut for it
  dimension INTEGER NOT NULL,
  through   INTEGER NOT NULL,    -- every searchable event up to here has its vectors
  vectors   INTEGER NOT NULL,    -- how many there are
  version   INTEGER NOT NULL,    -- counts every change, from a random number on
  total     BLOB NOT NULL,       -- sum of them, a float64 a dimension: where the middle of the space lies
  UNIQUE (namespace, identity)
);
-- Bits of up to 4,096 vectors, for the first pass of a search.
CREATE TABLE IF NOT EXISTS vector_chunk (
  space    INTEGER NOT NULL,
  chunk    INTEGER NOT NULL,     -- 0, 1, 2 ...; a chunk is begun when the one before it is full
  version  INTEGER NOT NULL,     -- of its space when it was changed last
  first    INTEGER NOT NULL,     -- least and
  last     INTEGER NOT NULL,     -- greatest position in it
  checksum INTEGER NOT NULL,     -- CRC-32 of both blobs
  rows     BLOB NOT NULL,        -- key of each slot, 8 bytes (`shape`); 0 where one was taken out
  bits     BLOB NOT NULL,        -- bits of each slot; zeros where one was taken out
  PRIMARY KEY (space, chunk)
);
"""
_VECTORS = """
-- The vectors of one space.
CREATE TABLE vector_{key} (
  number INTEGER PRIMARY KEY,    -- chunk * 4,096 + slot
  data   BLOB NOT NULL           -- CRC-32 of number and the rest, scale (float32), a signed byte a dimension
)
"""
_SPACE = "SELECT key, namespace, identity, dimension, through, vectors, version, total FROM vector_space "


@value
class Space:
    """The vectors of one namespace by one embedder: a row of `vector_space`.

    One that is dropped and made again under the same key shares no version with the one before, so that nobody's
    memory of it passes for it.
    """

    key: int
    namespace: int
    identity: str
    dimension: int
    through: int
    vectors: int
    version: int
    total: bytes


@value
class Chunk:
    """Up to 4,096 slots: a row of `vector_chunk`; its bounds include those of vectors that were taken out since."""

    number: int
    version: int
    first: int
    last: int
    rows: tuple[int, ...]
    bits: bytes


def vector_key(position: int, number: int) -> int:
    """Name the vector of a passage: by what stays when the text index numbers its rows anew."""
    return number * KEY_STEP + position


def position_of(key: int) -> int:
    """Give the position of the event that a vector belongs to."""
    return key & (KEY_STEP - 1)


def bit_bytes(dimension: int) -> int:
    """Say how many bytes the bits of a vector take: whole words of 64."""
    return -(-dimension // 64) * 8


def sealed(number: int, coded: bytes) -> bytes:
    """Put a checksum before a coded vector; it covers its place too."""
    return crc32(coded, number & 0xFFFF_FFFF).to_bytes(4, "little") + coded


def intact(number: int, data: bytes, dimension: int) -> bool:
    """Say whether a kept vector is what was written, in its place."""
    return len(data) == HEAD_BYTES + dimension and sealed(number, data[4:]) == data


class Vectors:
    """The vectors of a store as the log knows them; see `firsthand.log.sqlite.index_port.FollowingIndex`."""

    name = NAME

    def forget(self, db: apsw.Connection, entries: Sequence[Entry]) -> None:
        """Take the vectors of events out, in every space.

        A space that is damaged is dropped as a whole: it could hold them where nobody finds them.
        """
        try:
            for namespace, group in groupby(entries, attrgetter("namespace_key")):
                positions = {entry.event.position for entry in group}
                for space in spaces(db, namespace):
                    _forget(db, space, positions)
        except StoreDamaged:
            self.reset(db)

    def reset(self, db: apsw.Connection) -> None:
        """Drop every space."""
        for (name,) in _all(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'vector_*'"):
            db.execute(f'DROP TABLE "{name}"')


def _forget(db: apsw.Connection, space: Space, positions: Collection[int]) -> None:
    try:
        _take_out(db, space, positions)
    except (StoreDamaged, apsw.SQLError, apsw.CorruptError):
        drop(db, space.key)  # and with it whatever went wrong half way


# spaces --------------------------------------------------------------------------------------------


def spaces(db: apsw.Connection, namespace: int | None = None) -> list[Space]:
    """List the spaces of a namespace, or of all, oldest first.

    Raises:
        StoreDamaged: what the store says of one is not what was written.
    """
    if not there(db):
        return []
    known = [Space(*row) for row in _all(db, _SPACE + "ORDER BY key")]
    for space in known:
        numbers = (space.key, space.namespace, space.dimension, space.through, space.vectors, space.version)
        whole = all(isinstance(n, int) and n >= 0 for n in numbers) and isinstance(space.identity, str)
        if not whole or not isinstance(space.total, bytes) or len(space.total) != 8 * space.dimension:
            raise StoreDamaged(f"what the store says of vectors is damaged ({space!r:.200}); {REPAIR}")
    return [space for space in known if namespace in {None, space.namespace}]


def find(db: apsw.Connection, namespace: int, identity: str) -> Space | None:
    """Find the space of an embedder; None when it has none yet."""
    return next((space for space in spaces(db, namespace) if space.identity == identity), None)


def there(db: apsw.Connection) -> bool:
    """Say whether the store has tables for vectors at all."""
    return bool(db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vector_space'").get)


def make(db: apsw.Connection, namespace: int, identity: str, dimension: int) -> Space:
    """Make a space, empty; inside a write transaction."""
    db.execute(_TABLES).fetchall()
    db.execute(
        "INSERT INTO vector_space (namespace, identity, dimension, through, vectors, version, total) "
        "VALUES (?, ?, ?, 0, 0, random() >> 2 & ?, zeroblob(?))",
        (namespace, identity, dimension, _VERSIONS, 8 * dimension),
    )
    made = find(db, namespace, identity)
    assert made is not None
    # Where the table of spaces was lost, what it told of is still there, and belongs to nobody.
    db.execute(f"DROP TABLE IF EXISTS vector_{made.key}")
    db.execute("DELETE FROM vector_chunk WHERE space = ?", (made.key,))
    db.execute(_VECTORS.format(key=made.key))
    return made


def drop(db: apsw.Connection, key: int) -> None:
    """Drop a space; inside a write transaction."""
    db.execute(f"DROP TABLE IF EXISTS vector_{int(key)}")
    db.execute("DELETE FROM vector_chunk WHERE space = ?", (key,))
    db.execute("DELETE FROM vector_space WHERE key = ?", (key,))


def resized(space: Space, dimension: int) -> str:
    """Say that an embedder gives vectors of another size than it did."""
    return (
        f"the vectors by {space.identity} have {space.dimension:,} dimensions, now it gives {dimension:,}: the model "
        f"behind that name has changed; give it another name, or {REPAIR}"
    )


# writing -------------------------------------------------------------------------------------------


def extend(
    db: apsw.Connection,
    space: Space,
    through: int,
    rows: Sequence[int],
    coded: Sequence[bytes],
    bits: Sequence[bytes],
    total: bytes,
) -> None:
    """Add vectors behind the last one and move the watermark; inside a write transaction.

    Args:
        space: as it is in this transaction.
        rows: key of each vector.
        coded, bits: as `codes.Codes` has them.
        total: the sum of all vectors of the space then.

    Raises:
        StoreDamaged: the chunk that was begun is not what was written.
    """
    assert len(rows) == len(coded) == len(bits)
    assert all(len(code) == HEAD_BYTES - 4 + space.dimension for code in coded)
    version = space.version + 1
    first = _next_number(db, space)
    at = 0
    while at < len(rows):
        number, used = divmod(first + at, CHUNK_VECTORS)
        end = min(len(rows), at + CHUNK_VECTORS - used)
        old = read_chunk(db, space, number) if used else Chunk(number, version, KEY_STEP, 0, (), b"")
        positions = [position_of(row) for row in rows[at:end]]
        _write_chunk(db, space, Chunk(
            number, version, min(old.first, *positions), max(old.last, *positions),
            (*old.rows, *rows[at:end]), old.bits + b"".join(bits[at:end]),
        ))  # fmt: skip
        at = end
    db.executemany(
        f"INSERT INTO vector_{space.key} VALUES (?, ?)",  # noqa: S608 - a number
        ((number, sealed(number, code)) for number, code in enumerate(coded, first)),
    )
    db.execute(
        "UPDATE vector_space SET through = ?, vectors = vectors + ?, version = ?, total = ? WHERE key = ?",
        (through, len(rows), version, total, space.key),
    )


def _next_number(db: apsw.Connection, space: Space) -> int:
    sql = "SELECT chunk, length(rows) FROM vector_chunk WHERE space = ? ORDER BY chunk DESC LIMIT 1"
    newest = _all(db, sql, (space.key,))
    return newest[0][0] * CHUNK_VECTORS + newest[0][1] // _ROW_BYTES if newest else 0


def _write_chunk(db: apsw.Connection, space: Space, chunk: Chunk) -> None:
    rows = pack(f"<{len(chunk.rows)}q", *chunk.rows)
    db.execute(
        "INSERT OR REPLACE INTO vector_chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            space.key, chunk.number, chunk.version, chunk.first, chunk.last,
            crc32(chunk.bits, crc32(rows)), rows, chunk.bits,
        ),
    )  # fmt: skip


def _take_out(db: apsw.Connection, space: Space, positions: Collection[int]) -> None:
    """Empty the slots of events; the slots stay, so that every other vector keeps its number."""
    version, gone = space.version + 1, 0
    total = list(unpack(f"<{space.dimension}d", space.total))
    width = bit_bytes(space.dimension)
    for number, _, first, last in outline(db, space):
        if not any(first <= position <= last for position in positions):
            continue
        chunk = read_chunk(db, space, number)
        slots = [slot for slot, row in enumerate(chunk.rows) if row and position_of(row) in positions]
        if not slots:
            continue
        rows, bits = list(chunk.rows), bytearray(chunk.bits)
        for slot in slots:
            rows[slot] = EMPTY
            bits[slot * width : (slot + 1) * width] = bytes(width)
        _write_chunk(db, space, replace(chunk, version=version, rows=tuple(rows), bits=bytes(bits)))
        numbers = [number * CHUNK_VECTORS + slot for slot in slots]
        for data in read_vectors(db, space, numbers):
            (scale,) = unpack_from("<f", data, 4)
            total = [of_all - scale * own for of_all, own in zip(total, array("b", data[HEAD_BYTES:]), strict=True)]
        db.executemany(
            f"DELETE FROM vector_{space.key} WHERE number = ?",  # noqa: S608 - a number
            ((number,) for number in numbers),
        )
        gone += len(slots)
    db.execute(
        "UPDATE vector_space SET vectors = vectors - ?, version = ?, total = ? WHERE key = ?",
        (gone, version, pack(f"<{space.dimension}d", *total), space.key),
    )


# reading -------------------------------------------------------------------------------------------


def outline(db: apsw.Connection, space: Space) -> Outline:
    """List the chunks of a space."""
    sql = "SELECT chunk, version, first, last FROM vector_chunk WHERE space = ? ORDER BY chunk"
    rows: Outline = _all(db, sql, (space.key,))
    if not all(isinstance(number, int) for row in rows for number in row):
        raise StoreDamaged(f"the list of chunks of the vectors by {space.identity} is damaged; {REPAIR}")
    return rows


def read_chunk(db: apsw.Connection, space: Space, number: int) -> Chunk:
    """Read one chunk, checked.

    Raises:
        StoreDamaged: it is missing, or not what was written.
    """
    sql = "SELECT version, first, last, checksum, rows, bits FROM vector_chunk WHERE space = ? AND chunk = ?"
    matches = _all(db, sql, (space.key, number))
    if not matches:
        raise StoreDamaged(f"chunk {number} of the vectors by {space.identity} is missing; {REPAIR}")
    version, first, last, checksum, rows, bits = matches[0]
    if (
        not isinstance(rows, bytes)
        or not isinstance(bits, bytes)
        or crc32(bits, crc32(rows)) != checksum
        or len(rows) // _ROW_BYTES * bit_bytes(space.dimension) != len(bits)
    ):
        raise StoreDamaged(f"chunk {number} of the vectors by {space.identity} is not what was written; {REPAIR}")
    return Chunk(number, version, first, last, unpack(f"<{len(rows) // _ROW_BYTES}q", rows), bits)


def read_vectors(db: apsw.Connection, space: Space, numbers: Sequence[int]) -> list[bytes]:
    """Read vectors by number, in that order, checked.

    Raises:
        StoreDamaged: one is missing, or not what was written.
    """
    sql = f"SELECT number, data FROM vector_{space.key} WHERE number IN carray(?)"  # noqa: S608 - a number
    by_number = dict(_all(db, sql, (apsw.carray(array("q", numbers)),))) if numbers else {}
    vectors = [by_number.get(number, b"") for number in numbers]
    for number, data in zip(numbers, vectors, strict=True):
        if not isinstance(data, bytes) or not intact(number, data, space.dimension):
            what = "is not what was written" if data else "is missing"
            raise StoreDamaged(f"vector {number} of those by {space.identity} {what}; {REPAIR}")
    return vectors


def _all(db: apsw.Connection, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
    try:
        return db.execute(sql, values).fetchall()
    except UnicodeDecodeError as error:  # bytes that have become a text, and are none
        raise StoreDamaged(f"what the store says of vectors is damaged ({error}); {REPAIR}") from error
