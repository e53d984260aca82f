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
from firsthand.log.engine import Entry
from firsthand.log.payload import ContentReader
from firsthand.log.rows import key_of

from . import vectors
from .vector_texts import VERSION, texts_of
from .vectors import CHUNK_VECTORS, EMPTY, bit_bytes, position_of

SUM_ERROR = 1e-9
"""Of each vector that was added or taken out: what double precision may lose."""


def check(db: apsw.Connection) -> list[str]:
    """Say what is wrong with the vectors of a store. Reads all of them."""
    faults: list[str] = []
    try:
        with db:  # one snapshot: a follower may be at work
            for space in vectors.spaces(db):
                faults += [f"vectors by {space.identity}: {fault}" for fault in _check_space(db, space)]
    except (apsw.SQLError, apsw.CorruptError, StoreDamaged) as error:
        faults.append(f"the vectors cannot be read ({error})")
    return [fault if vectors.REPAIR in fault else f"{fault}; {vectors.REPAIR}" for fault in faults]


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
    events = (entry.event for batch in (batches if spaces else ()) for entry in batch)
    wanted = [row for event in events if event.position not in damaged for row, _ in texts_of(event, contents)]
    faults = []
    for space in spaces:
        must, has = sorted(row for row in wanted if position_of(row) <= space.through), there[space.key]
        if must != has:
            odd = min(set(must) ^ set(has), default=0, key=position_of)
            faults.append(
                f"vectors by {space.identity}: {len(has):,} rows are there, the log up to position {space.through:,} "
                f"has {len(must):,}; they part at position {position_of(odd):,}; {vectors.REPAIR}"
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
    from . import codes  # noqa: PLC0415 - numpy

    head: Any = db.execute("SELECT head_position FROM namespace WHERE key = ?", (space.namespace,)).get
    if space.through > int(head or 0):
        yield f"they reach position {space.through:,}, the log ends at {head:,}"
    counted, total = 0, bytes(len(space.total))
    for number, *_ in vectors.outline(db, space):
        try:
            chunk = vectors.read_chunk(db, space, number)
            slots = [slot for slot, row in enumerate(chunk.rows) if row != EMPTY]
            sealed = vectors.read_vectors(db, space, [number * CHUNK_VECTORS + slot for slot in slots])
        except StoreDamaged as error:
            yield str(error)
            continue
        counted += len(slots)
        total = codes.Codes(tuple(vector[4:] for vector in sealed), ()).added_to(total)
        width = bit_bytes(space.dimension)
        bits = [chunk.bits[slot * width : (slot + 1) * width] for slot in slots]
        if sealed and codes.bits_of(codes.small_of(sealed, space.dimension)) != bits:
            yield f"chunk {number}: its bits are not those of its vectors"
        yield from _check_positions(db, space, chunk, sorted({position_of(chunk.rows[slot]) for slot in slots}))
    stored: Any = db.execute(f"SELECT count(*) FROM vector_{space.key}").get  # noqa: S608 - a number
    if not counted == stored == space.vectors:
        yield f"{space.vectors:,} are said to be there, the chunks hold {counted:,}, the table {stored:,}"
    sums = (unpack(f"<{space.dimension}d", summed) for summed in (total, space.total))
    apart = max((abs(ours - theirs) for ours, theirs in zip(*sums, strict=True)), default=0)
    if not apart <= SUM_ERROR * max(1, counted):
        yield f"the sum of all vectors is {apart:g} off"


def _check_positions(
    db: apsw.Connection, space: vectors.Space, chunk: vectors.Chunk, positions: list[int]
) -> Iterator[str]:
    if positions and not chunk.first <= positions[0] <= positions[-1] <= chunk.last <= space.through:
        yield f"chunk {chunk.number}: it holds events beyond the bounds that it says"
    sql = "SELECT count(*) FROM event WHERE salt IS NOT NULL AND key IN carray(?)"
    keys = array("q", [key_of(space.namespace, position) for position in positions])
    there: Any = db.execute(sql, (apsw.carray(keys),)).get if keys else 0
    if there != len(positions):
        yield f"chunk {chunk.number}: {len(positions) - there:,} events of it are erased or not there"
