"""From a row of the event table to an `Event`, checked against its commitment and its chain hash.

A row is read together with the chain hash of the event before it in its session, so that the
header is checked wherever an event is made of a row.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Container, Mapping
from typing import Any

from firsthand.errors import StoreDamaged
from firsthand.event import Artifact, Event, Header, Kind, Trust, commit_to, decode_body, genesis, id_text, link
from firsthand.moment import Moment

from . import compression

POSITION_MAX = (1 << 40) - 1
POSITION = f"(event.key & {POSITION_MAX})"
"""An event's position in its namespace, as SQL."""
STORED = (
    f"{POSITION}, event.id, event.namespace, event.session, event.sequence, event.part, event.turn, event.kind, "
    "event.trust, event.agent, event.origin, event.time, event.time_offset, event.ingested, event.ingested_offset, "
    "event.chain, event.commitment, event.salt, event.body"
)
"""An event's row, for a walk that follows the chains itself."""
_PREVIOUS = "previous.session = event.session AND previous.sequence = event.sequence - 1"
COLUMNS = f"{STORED}, (SELECT CAST(previous.chain AS BLOB) FROM event previous WHERE {_PREVIOUS})"  # noqa: S608 - constants
"""An event's row and the chain hash of the event before it in its session."""
_NOTHING: Mapping[str, Any] = {}
_NONE = type(None)
_UNCHECKED = (
    "the event before it in its session is missing or damaged, so its header (kind, origin, trust, agent, times) "
    "could not be checked; its content was"
)
Types = tuple[type, ...]
_PLACE = (int, bytes, int, int, int, int, int, int, int)  # position to trust
_NAMES = ((int, int), (str, str))  # agent and origin: numbers of names, or in PostgreSQL the names
_TIMES = ((int, int, int, int), (_NONE, _NONE, int, int))
_BODIES = ((bytes, bytes, bytes, bytes), (bytes, bytes, _NONE, _NONE))
_EVENT: frozenset[Types] = frozenset(
    _PLACE + names + times + body for names in _NAMES for times in _TIMES for body in _BODIES
)
SESSION: frozenset[Types] = frozenset(
    (str, int, int, first, last, int, int, bytes) for first in (int, _NONE) for last in (int, _NONE)
)
"""What lists show of a session: name, length, turn, times, positions, head."""


def key_of(namespace: int, position: int) -> int:
    """Give the key of an event's row: those of one namespace lie together, in order of position."""
    return ((namespace - 1) << 40) + position


def check_types(row: tuple[Any, ...], allowed: Container[Types], what: str) -> None:
    """Check that each column of a row holds a value of its own type: SQLite gives what a damaged record says.

    Raises:
        StoreDamaged: one does not.
    """
    if tuple(map(type, row)) not in allowed:
        types = ", ".join(type(cell).__name__ for cell in row)
        raise StoreDamaged(
            f"{what}: a field is of another type than was written ({types}); restore it from a backup or an export"
        )


def check_event_types(row: tuple[Any, ...]) -> None:
    """Check the types of an event's row.

    Raises:
        StoreDamaged: a field is not what was written.
    """
    check_types(row[:19], _EVENT, f"event at position {row[0]}")


def meta_of(data: bytes) -> Mapping[str, Any]:
    """Read an event's meta."""
    if not data:
        return _NOTHING
    meta: Mapping[str, Any] = json.loads(data.decode("utf-8", "surrogatepass"))
    return meta


def header_of(row: tuple[Any, ...], agent: str, origin: str) -> Header:
    """Build the header that the chain covers from an event's row."""
    time = None if row[11] is None else Moment(row[11], row[12])
    return Header(row[1], row[4], row[6], row[5], row[7], row[8], time, Moment(row[13], row[14]), agent, origin)


def body_of(row: tuple[Any, ...]) -> bytes | None:
    """Give the plain body of an event's row, checked against its commitment; None when erased.

    Raises:
        StoreDamaged: the body is not the one that was committed to.
    """
    salt, stored = row[17], row[18]
    if salt is None and stored is None:
        return None
    if not isinstance(salt, bytes) or not isinstance(stored, bytes):
        raise StoreDamaged(f"{_name(row)}: salt or body is missing; restore it from a backup or an export")
    try:
        body = compression.decompress(stored)
    except ValueError as error:
        fault = f"its body cannot be decompressed ({error}); restore it from a backup"
        raise StoreDamaged(f"{_name(row)}: {fault}") from error
    if commit_to(salt, body) != row[16]:
        fault = "its body is not the one that was written; restore it from a backup or an export"
        raise StoreDamaged(f"{_name(row)}: {fault}")
    return body


def _name(row: tuple[Any, ...]) -> str:
    identified = isinstance(row[1], bytes) and len(row[1]) == 16
    return f"event fh:{id_text(row[1])} at position {row[0]}" if identified else f"event at position {row[0]}"


def payload_of(row: tuple[Any, ...]) -> bytes | None:
    """Give the content of an event's row, of a large one its digest; None when it was erased, or is damaged."""
    try:
        body = body_of(row)
        payload = None if body is None else decode_body(body).payload
    except (StoreDamaged, ValueError):
        return None
    return payload.digest if isinstance(payload, Artifact) else payload


def erased_by(payload: bytes | Artifact) -> tuple[str, ...]:
    """Read the ids that an erasure names; empty where it is not of its form, so that it accounts for nothing."""
    try:
        return tuple(name for name in json.loads(payload)["erased"] if isinstance(name, str))  # type: ignore[arg-type]
    except (ValueError, TypeError, LookupError, RecursionError):
        return ()


def event_of(
    row: tuple[Any, ...],
    namespace: str,
    session: str,
    agent: str,
    origin: str,
    previous: Callable[[], bytes | None],
) -> Event:
    """Build an event from its row (`COLUMNS`), checked against its commitment and its chain hash.

    Where the event before it in its session is missing or damaged itself, its header cannot be checked: the
    event says so (`Event.unchecked`) and counts as untrusted.

    Args:
        previous: derives the chain hash of the event before it anew, for when the one in the store does not fit;
            None when that event is sound.

    Raises:
        StoreDamaged: a field, the header or the body is not what was written.
    """
    body = body_of(row)
    check_event_types(row)
    try:
        media, meta, envelope = "", _NOTHING, b""
        content: bytes | None = None
        artifact: Artifact | None = None
        header = header_of(row, agent, origin)
        before = genesis(namespace, session) if row[4] == 0 else row[19]
        unchecked = before is None
        if before is not None and link(before, header, row[16]) != row[15]:
            derived = previous() if row[4] else None
            if derived is None:
                raise StoreDamaged(
                    f"event fh:{id_text(row[1])} at position {row[0]}: its header (kind, origin, trust, agent, session "
                    "or times) is not the one that was written; restore it from a backup or an export"
                )
            unchecked = link(derived, header, row[16]) != row[15]
        if body is not None:
            parts = decode_body(body)
            media, meta, envelope = parts.media.decode(), meta_of(parts.meta), parts.envelope
            if isinstance(parts.payload, Artifact):
                artifact = parts.payload
            else:
                content = parts.payload
        trust = Trust.of(row[8])
        return Event(
            row[0], id_text(row[1]), namespace, session, row[4], row[5], row[6], Kind.of(row[7]), agent, origin,
            Trust.UNTRUSTED if unchecked else trust, header.time, header.ingested,
            media, meta, envelope, content, artifact, erased=body is None, commitment=row[16], chain=row[15],
            unchecked=_UNCHECKED if unchecked else "",
        )  # fmt: skip
    except (ArithmeticError, ValueError, TypeError, struct.error) as error:
        raise StoreDamaged(f"event at position {row[0]}: a field is not what was written ({error})") from error
