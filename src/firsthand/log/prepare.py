"""From a draft to what the append writes: everything that can be done before the lock is taken.

Checks every field against its limit, streams a large payload into an artifact,
lays out the body, salts and commits to it, compresses it. Two stages so that
waiting writers do their work side by side and hold the lock for little more
than the sync.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from firsthand.errors import InvalidDraft, StoreDamaged
from firsthand.event import (
    META_BYTES_MAX,
    NAME_BYTES_MAX,
    SALT_BYTES,
    Artifact,
    Body,
    Draft,
    Event,
    Header,
    IdMaker,
    Kind,
    Trust,
    commit_to,
    decode_body,
    encode_body,
    id_bytes,
    id_text,
    link,
    to_bytes,
)
from firsthand.moment import Moment
from firsthand.value import value

from . import compression
from .payload import PayloadStore
from .rows import erased_by

ENVELOPE_BYTES_MAX = 60 * 1024 * 1024  # with the rest of a body, within what compression reads again
REASON_CHARACTERS_MAX = 1_000
ERASE_EVENTS_MAX = 10_000
BATCH_EVENTS_MAX = 10_000
PART_MAX = 65_535
TURN_MAX = 2**31 - 1
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_FIXED = struct.Struct("<16sIiBB?qhIIIII")
_E = TypeVar("_E", Kind, Trust)


@value
class Restored:
    """What an event that comes out of an export brings with it.

    Attributes:
        ingested: when the log took it first.
        chain: the link it had; the one derived here must be the same.
        position: the one it had, when there was a gap before it; 0 takes the next one.
    """

    ingested: Moment
    chain: bytes
    position: int = 0


@value
class Prepared:
    """One event, ready to be written.

    Attributes:
        turn: -1 lets the log count.
        body: the plain body that the commitment covers.
        stored: the body as it is kept: codec byte and compressed bytes.
        artifact: where the payload is, when it is not in the body.
        restored: what an export says of the event's past; then salt and body may be None (erased).
    """

    id: bytes
    kind: Kind
    part: int
    turn: int
    trust: Trust
    time: Moment | None
    agent: str
    origin: str
    salt: bytes | None
    commitment: bytes
    body: bytes | None
    stored: bytes | None
    artifact: Artifact | None
    name: str  # the id as text
    parts: Body | None  # the body, not laid out
    restored: Restored | None = None


@value
class DraftGroup:
    """Drafts for one session, as part of an append to several."""

    session: str
    drafts: tuple[Draft, ...]


@value
class Batch:
    """Events that are appended together or not at all, to one session.

    Attributes:
        expected_position: the session's last position as the writer knows it (0 for a new
            session); None does not check.
        derived_ids: the ids were derived from the source records, so an id that is there
            already is the same event, whatever file it was read from.
    """

    namespace: str
    session: str
    events: tuple[Prepared, ...]
    expected_position: int | None = None
    derived_ids: bool = False

    @property
    def size_bytes(self) -> int:
        """What the batch weighs when another process is to commit it; -1 if none may."""
        if any(event.restored is not None for event in self.events):
            return -1
        return sum(len(event.stored or b"") for event in self.events)


def prepare(
    draft: Draft,
    namespace_key: int,
    artifacts: PayloadStore,
    inline_max: int,
    ids: IdMaker,
    *,
    by_log: bool = False,
) -> Prepared:
    """Check a draft and do all the work on it that needs no lock.

    Raises:
        InvalidDraft: a field is of the wrong type or over its limit.
        StoreFull, StoreFailed: its artifact could not be written.
    """
    if not isinstance(draft, Draft):
        raise InvalidDraft(f"expected a Draft; got {type(draft).__name__}")
    kind, trust = _member(Kind, draft.kind, "kind"), _member(Trust, draft.trust, "trust")
    if kind in {Kind.ERASURE, Kind.LOSS} and not by_log:
        raise InvalidDraft(f"an event of kind {kind} is made by the log alone: by erasing, or when events are gone")
    media = check_name(draft.media, "media").encode()
    meta = _meta(draft.meta)
    envelope = draft.envelope
    if not isinstance(envelope, bytes) or len(envelope) > ENVELOPE_BYTES_MAX:
        raise InvalidDraft(f"an envelope is bytes, at most {ENVELOPE_BYTES_MAX:,}; got {_shown(envelope)}")
    _whole(draft.part, "part", PART_MAX)
    if draft.turn is not None:
        _whole(draft.turn, "turn", TURN_MAX)
    if draft.time is not None and not isinstance(draft.time, Moment):
        raise InvalidDraft(f"time is a Moment or None; got {_shown(draft.time)}. Read text with moment.parse.")
    check_name(draft.agent, "agent")
    check_name(draft.origin, "origin")
    name = ids() if draft.id is None else draft.id
    identifier = id_bytes(name)
    payload = _payload(draft, namespace_key, artifacts, inline_max)
    body = encode_body(media, meta, envelope, payload)
    if len(body) > compression.BODY_BYTES_MAX:
        raise InvalidDraft(
            f"content, meta and envelope have at most {compression.BODY_BYTES_MAX:,} bytes together; got {len(body):,}"
        )
    salt = os.urandom(SALT_BYTES)
    return Prepared(
        identifier, kind, draft.part, -1 if draft.turn is None else draft.turn, trust, draft.time,
        draft.agent, draft.origin, salt, commit_to(salt, body), body, compression.compress(body),
        payload if isinstance(payload, Artifact) else None, name.upper(), Body(media, meta, envelope, payload),
    )  # fmt: skip


def check_name(value: object, what: str, *, empty: bool = True) -> str:
    """Check a name that is kept in the header: text, valid UTF-8, at most 512 bytes, no control characters.

    Raises:
        InvalidDraft: it is not.
    """
    if not isinstance(value, str):
        raise InvalidDraft(f"{what} is text; got {_shown(value)}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidDraft(f"{what} is valid Unicode; got a lone surrogate in {value[:40]!r}") from error
    if size > NAME_BYTES_MAX or (not empty and not value):
        raise InvalidDraft(f"{what} has {0 if empty else 1} to {NAME_BYTES_MAX} bytes; got {size:,}")
    if not value.isprintable() and any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise InvalidDraft(f"{what} has no control characters; got {value[:60]!r}")
    return value


def _payload(draft: Draft, namespace_key: int, artifacts: PayloadStore, inline_max: int) -> bytes | Artifact:
    content = draft.content
    if isinstance(content, bytes):
        return content if len(content) <= inline_max else artifacts.put(namespace_key, content)
    if isinstance(content, (bytearray, memoryview)):
        raise InvalidDraft("content is bytes or a binary file to read; make bytes of it: bytes(content)")
    if not callable(getattr(content, "read", None)):
        raise InvalidDraft(f"content is bytes or a binary file to read; got {_shown(content)}. Encode text as UTF-8.")
    return artifacts.take(namespace_key, content, inline_max)


def _meta(meta: object) -> bytes:
    if not isinstance(meta, Mapping):
        raise InvalidDraft(f"meta is a mapping with text keys; got {_shown(meta)}")
    if not meta:
        return b""
    for key in meta:
        if not isinstance(key, str):
            raise InvalidDraft(f"meta is a mapping with text keys; got the key {_shown(key)}")
    try:
        encoded = to_bytes(_ENCODER.encode(dict(meta)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidDraft(f"meta holds JSON values; got {_shown(meta)}: {error}") from error
    if len(encoded) > META_BYTES_MAX:
        raise InvalidDraft(f"meta has at most {META_BYTES_MAX:,} bytes as JSON; got {len(encoded):,}")
    return encoded


def _member(kind: type[_E], value: object, what: str) -> _E:
    try:
        return kind(value)  # type: ignore[arg-type]
    except ValueError as error:
        raise InvalidDraft(f"{what} is one of {', '.join(kind)}; got {_shown(value)}") from error


def _whole(value: object, what: str, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise InvalidDraft(f"{what} is a whole number from 0 to {most:,}; got {_shown(value)}")


def _shown(value: object) -> str:
    try:
        return f"{type(value).__name__} {repr(value)[:60]}"
    except (ValueError, RecursionError):  # an integer of 5,000 digits, a list in itself
        return f"a {type(value).__name__} that cannot be shown"


# between processes ---------------------------------------------------------------------------------


def encode_batch(batch: Batch) -> bytes:
    """Write a batch for another process of the same store to commit."""
    expected = -1 if batch.expected_position is None else batch.expected_position
    out = [struct.pack("<q?I", expected, batch.derived_ids, len(batch.events))]
    out += [_sized(batch.namespace.encode()), _sized(batch.session.encode())]
    for event in batch.events:
        assert event.salt is not None  # restored events are not handed to other processes
        assert event.stored is not None
        agent, origin = event.agent.encode(), event.origin.encode()
        time = event.time
        out.append(
            _FIXED.pack(
                event.id, event.part, event.turn, event.kind.number, event.trust.number,
                time is not None, 0 if time is None else time.microseconds, 0 if time is None else time.offset_minutes,
                len(agent), len(origin), len(event.salt), len(event.commitment), len(event.stored),
            )
        )  # fmt: skip
        out += [agent, origin, event.salt, event.commitment, event.stored]
    return b"".join(out)


def decode_batch(data: bytes) -> Batch:
    """Read a batch that another process wrote.

    Raises:
        ValueError: the bytes are not a whole batch.
    """
    try:
        at = struct.calcsize("<q?I")
        expected, derived, count = struct.unpack_from("<q?I", data)
        names: list[str] = []
        for _ in range(2):
            (size,) = struct.unpack_from("<I", data, at)
            names.append(data[at + 4 : at + 4 + size].decode())
            at += 4 + size
        events: list[Prepared] = []
        for _ in range(count):
            fixed = _FIXED.unpack_from(data, at)
            at += _FIXED.size
            fields: list[bytes] = []
            for size in fixed[8:]:
                fields.append(data[at : at + size])
                at += size
            agent, origin, salt, commitment, stored = fields
            body = compression.decompress(stored)
            if commit_to(salt, body) != commitment:
                raise ValueError("a body is not the one that was committed to")
            parts = decode_body(body)
            payload = parts.payload
            events.append(
                Prepared(
                    fixed[0], Kind.of(fixed[3]), fixed[1], fixed[2], Trust.of(fixed[4]),
                    Moment(fixed[6], fixed[7]) if fixed[5] else None, agent.decode(), origin.decode(),
                    salt, commitment, body, stored, payload if isinstance(payload, Artifact) else None,
                    id_text(fixed[0]), parts,
                )
            )  # fmt: skip
        if at != len(data):
            raise ValueError("lengths do not add up")
    except struct.error as error:
        raise ValueError("cut off") from error
    return Batch(names[0], names[1], tuple(events), None if expected < 0 else expected, derived)


def _sized(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def check_erasure(identifiers: Sequence[str], reason: str) -> None:
    """Check an erasure against its limits.

    Raises:
        InvalidDraft: it is over one.
    """
    if len(reason) > REASON_CHARACTERS_MAX or len(identifiers) > ERASE_EVENTS_MAX:
        raise InvalidDraft(
            f"an erasure takes at most {ERASE_EVENTS_MAX:,} events and a reason of {REASON_CHARACTERS_MAX:,} "
            f"characters; got {len(identifiers):,} and {len(reason):,}"
        )


def erasures(
    events: Sequence[Event], namespace: str, namespace_key: int, artifacts: PayloadStore, ids: IdMaker, reason: str
) -> tuple[Batch, ...]:
    """Make the events that record an erasure: one for each session, with the ids of what goes of it.

    Raises:
        InvalidDraft: one of the events records an erasure or a loss.
    """
    for event in events:
        if event.kind in {Kind.ERASURE, Kind.LOSS}:
            raise InvalidDraft(f"{event.pointer} records an erasure or a loss: it holds no content of others")
    batches = []
    for session in sorted({event.session for event in events}):
        names = [event.id for event in events if event.session == session]
        content = json.dumps({"erased": names, "reason": reason}).encode()
        draft = Draft(Kind.ERASURE, content, "application/json", origin="user", trust=Trust.TRUSTED)
        erasure = prepare(draft, namespace_key, artifacts, len(content), ids, by_log=True)
        batches.append(Batch(namespace, session, (erasure,)))
    return tuple(batches)


def erased_in(batches: Iterable[Batch]) -> tuple[str, ...]:
    """Name what the erasures among events of another log destroyed there, so that it is destroyed here too."""
    return tuple(
        name
        for batch in batches
        for event in batch.events
        if event.restored is not None and event.kind is Kind.ERASURE and event.parts is not None
        for name in erased_by(event.parts.payload)
    )


def chained(
    event: Prepared, session: str, length: int, turns: int, head: bytes, now: Moment
) -> tuple[int, Moment, bytes]:
    """Hang an event on the end of its session; give its turn, its time of ingest and its chain hash.

    Raises:
        StoreDamaged: it is restored, and hung on another end.
    """
    counted = turns + (event.kind is Kind.USER_MESSAGE and event.part == 0)
    turn = event.turn if event.turn >= 0 else counted
    ingested = event.restored.ingested if event.restored is not None else now
    header = Header(
        event.id, length, turn, event.part, event.kind.number, event.trust.number, event.time, ingested,
        event.agent, event.origin,
    )  # fmt: skip
    chain = link(head, header, event.commitment)
    if event.restored is not None and chain != event.restored.chain:
        raise StoreDamaged(
            f"event {event.name} of session {session!r} does not hang on the session as it is here; "
            "restore into an empty store, or one that holds the same beginning of the session"
        )
    return turn, ingested, chain
