"""Compares the vectors with the log and themselves: counts, checksums, bits against bytes, rows against events.

Gives sentences, none when all is well. It changes nothing, and embeds nothing:
whether a vector is the right one for its text only the embedder could say.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from struct import unpack
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.log.port import ContentReader, Entry
from firsthand.log.rows import key_of

from . import vectors
from .shape import CHUNK_VECTORS, EMPTY, bit_bytes, position_of
from .vector_texts import VERSION, texts_of

SUM_ERROR = 1e-9
"""Of each vector that was added or taken out: what double precision may lose."""


def check(db: apsw.Connection) -> list[str]:
    """Say what is wrong with the vectors of a store. Reads all of them."""
    faults: list[str] = []
    try:
        with db:  # one snapshot: a follower may be at work
            spaces = vectors.spaces(db)
            faults += [f"vectors by {space.identity}: {fault}" for space in spaces for fault in _check_space(db, space)]
    except (apsw.SQLError, apsw.CorruptError, StoreDamaged) as error:
        faults.append(f"the vectors cannot be read ({error}); {vectors.REPAIR}")
    return faults


def deep_check(
    db: apsw.Connection,
    namespace: int,
    batches: Iterable[Sequence[Entry]],
    contents: ContentReader,
    damaged: Collection[int] = (),
) -> list[str]:
    """Compare the rows of every space with those that the events up to its watermark must have.

    Args:
        batches: the namespace's events, in order of position.
        damaged: positions of events that cannot be read: they are compared on neither side.
    """
    with db:
        spaces = [space for space in vectors.spaces(db, namespace) if space.identity.endswith(f" texts-{VERSION}")]
        there = {space.key: sorted(_rows(db, space, damaged)) for space in spaces}
    wanted = [
        row
        for batch in (batches if spaces else ())
        for entry in batch
        if entry.event.position not in damaged
        for row, _ in texts_of(entry.event, contents)
    ]
    faults = []
    for space in spaces:
        must = sorted(row for row in wanted if position_of(row) <= space.through)
        if must != there[space.key]:
            odd = min(set(must) ^ set(there[space.key]), default=0, key=position_of)
            faults.append(
                f"vectors by {space.identity}: {len(there[space.key]):,} rows are there, the log up to position "
                f"{space.through:,} has {len(must):,}; they part at position {position_of(odd):,}; {vectors.REPAIR}"
            )
    return faults


def _rows(db: apsw.Connection, space: vectors.Space, damaged: Collection[int]) -> Iterator[int]:
    for number, *_ in vectors.outline(db, space):
        try:
            chunk = vectors.read_chunk(db, space, number)
        except StoreDamaged:  # told by `check`
            continue
        yield from (row for row in chunk.rows if row != EMPTY and position_of(row) not in damaged)


def _check_space(db: apsw.Connection, space: vectors.Space) -> Iterator[str]:
    head: Any = db.execute("SELECT head_position FROM namespace WHERE key = ?", (space.namespace,)).get
    if space.through > int(head or 0):
        yield f"they reach position {space.through:,}, the log ends at {head:,}; {vectors.REPAIR}"
    counted, added = 0, bytes(len(space.total))
    for number, *_ in vectors.outline(db, space):
        try:
            chunk = vectors.read_chunk(db, space, number)
            slots = [slot for slot, row in enumerate(chunk.rows) if row != EMPTY]
            vectors_kept = vectors.read_vectors(db, space, [number * CHUNK_VECTORS + slot for slot in slots])
        except StoreDamaged as error:
            yield str(error)
            continue
        counted += len(slots)
        added = _added(added, vectors_kept)
        yield from _check_chunk(db, space, chunk, slots, vectors_kept)
    stored: Any = db.execute(f"SELECT count(*) FROM vector_{space.key}").get  # noqa: S608 - a number
    if space.identity.startswith(vectors.DROPPED):
        stored = 0  # what is left of it goes with the next steps
    if not counted == stored == space.vectors:
        yield (
            f"{space.vectors:,} are said to be there, the chunks hold {counted:,}, the table {stored:,}; "
            f"{vectors.REPAIR}"
        )
    apart = max(map(abs, (a - b for a, b in zip(_doubles(added), _doubles(space.total), strict=True))), default=0)
    if not apart <= SUM_ERROR * max(1, counted):
        yield f"the sum of all vectors is {apart:g} off; {vectors.REPAIR}"


def _doubles(total: bytes) -> tuple[float, ...]:
    return unpack(f"<{len(total) // 8}d", total)


def _added(total: bytes, stored: list[bytes]) -> bytes:
    from . import codes  # noqa: PLC0415 - numpy

    return codes.Codes(tuple(vector[4:] for vector in stored), ()).added_to(total)


def _check_chunk(
    db: apsw.Connection, space: vectors.Space, chunk: vectors.Chunk, slots: list[int], stored: list[bytes]
) -> Iterator[str]:
    width = bit_bytes(space.dimension)
    bits = [chunk.bits[slot * width : (slot + 1) * width] for slot in slots]
    if stored:
        from . import codes  # noqa: PLC0415 - numpy

        if codes.bits_of(codes.small_of(stored, space.dimension)) != bits:
            yield f"chunk {chunk.number}: its bits are not those of its vectors; {vectors.REPAIR}"
    positions = sorted({position_of(chunk.rows[slot]) for slot in slots})
    if positions and not chunk.first <= positions[0] <= positions[-1] <= chunk.last <= space.through:
        yield f"chunk {chunk.number}: it holds events beyond the bounds that it says; {vectors.REPAIR}"
    sql = "SELECT count(*) FROM event WHERE salt IS NOT NULL AND key IN carray(?)"
    keys = array("q", [key_of(space.namespace, position) for position in positions])
    there: Any = db.execute(sql, (apsw.carray(keys),)).get if keys else 0
    if there != len(positions):
        yield f"chunk {chunk.number}: {len(positions) - there:,} events of it are erased or not there; {vectors.REPAIR}"
