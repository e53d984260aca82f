"""A store as one open text file, and back, byte for byte (format: docs/log-format.md, "Export").

JSON Lines in UTF-8. First a header; then, namespace by namespace and in order of
position, each artifact's payload in pieces just before the first event that holds it,
and each event with its salt and hashes; last a line that says how much there was, so that a file cut
short is noticed. Restoring derives every hash again: what was changed in the
file is refused.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from firsthand.errors import FormatError, InvalidDraft, NotAStore, StoreDamaged
from firsthand.event import (
    SALT_BYTES,
    Artifact,
    Kind,
    Trust,
    commit_to,
    decode_body,
    encode_body,
    genesis,
    id_bytes,
    id_text,
    link,
)
from firsthand.moment import Moment
from firsthand.value import value

from . import compression
from .artifacts import ArtifactStore
from .database import read_map
from .disk import Disk
from .loss import SESSION, loss_of
from .port import PayloadStore
from .prepare import PART_MAX, TURN_MAX, Prepared, Restored, check_name
from .rows import POSITION_MAX, STORED, body_of, check_event_types, header_of
from .salvage import Salvage
from .schema import DATABASE_FILE
from .walk import Rows

VERSION = 2
VERSION_1 = 1
"""Its positions count over all namespaces of the store, in the order of the lines."""
PIECE_BYTES = 1 << 20
LINE_BYTES_MAX = 512 << 20


@value
class Exported:
    """What an export wrote, or a restore took in.

    Attributes:
        new: events that were not there before (restore only; for an export, all of them).
        damaged: events that could not be read, in an export that went on past them.
    """

    events: int
    artifacts: int
    new: int
    damaged: int = 0


@value
class Line:
    """One event of an export, read and checked."""

    namespace: str
    session: str
    event: Prepared


def export(
    db: apsw.Connection,
    artifacts: ArtifactStore,
    out: BinaryIO,
    *,
    namespace: str | None,
    session: str | None,
) -> Exported:
    """Write a store, one namespace or one session, out of one snapshot; ``db`` is a connection of its own.

    Raises:
        StoreDamaged: an event or artifact is not what was written; what was exported until there is not whole.
    """
    db.execute("BEGIN")
    facts = read_map(db, "SELECT key, value FROM store")
    namespaces = read_map(db, "SELECT key, name FROM namespace")
    if namespace is not None:
        namespaces = {key: name for key, name in namespaces.items() if name == namespace}
    try:
        out.write(header_line(facts["uuid"], facts["created"], namespaces.values(), session))
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreDamaged(f"what the store says of itself is damaged ({error!r}); restore it from a backup") from error
    texts = read_map(db, "SELECT key, text FROM name")
    sessions = read_map(db, "SELECT key, name FROM session")
    events = 0
    written: set[tuple[int, bytes]] = set()
    walk = Rows(db)
    shared = read_map(db, "SELECT key, shared FROM namespace")
    every = ((key, *each) for key in sorted(namespaces) for each in walk.read(key, walk.last_position(key)))
    before = 0, 0
    ends: dict[int, tuple[int, bytes]] = {}
    lost = {key: _lost(db, key) for key in namespaces}
    for key, position, row in every:
        if row is None and (position <= shared[key] or any(position in each for each in lost[key])):
            continue  # it may be another namespace's, or a loss that follows names it
        try:
            if row is not None and session not in {None, sessions[row[3]]}:
                continue
            skipped = session is None and position != (before[1] if before[0] == key else 0) + 1
            before = key, position
            names = None if row is None else (namespaces[row[2]], sessions[row[3]], texts[row[9]], texts[row[10]])
            lines = event_lines(row, artifacts, names, written, skipped=skipped)
            if row is not None and names is not None:
                _check_chain(row, names, ends, gaps=bool(lost[key]))
            out.writelines(lines)
        except (StoreDamaged, KeyError, ValueError, TypeError, ArithmeticError, struct.error) as error:
            go_on = "Go on past it with 'firsthand store export --salvage'."
            raise StoreDamaged(f"position {position}: {error}. {go_on}") from error
        events += 1
    out.write(end_line(events, len(written)))
    return Exported(events, len(written), events)


def _check_chain(
    row: tuple[Any, ...], names: tuple[str, str, str, str], ends: dict[int, tuple[int, bytes]], *, gaps: bool
) -> None:
    """Check an event's header by the chain of its session.

    Args:
        ends: sequence and chain hash of each session's last event so far; brought up to date.
        gaps: events are recorded as lost, so the one before may be missing.

    Raises:
        StoreDamaged: the header is not the one that was written.
    """
    sequence, chain = ends.get(row[3], (-1, b""))
    if row[4] == sequence + 1 or not gaps:
        previous = chain or genesis(names[0], names[1])
        if link(previous, header_of(row, names[2], names[3]), row[16]) != row[15]:
            raise StoreDamaged("its header, commitment or chain hash is not the one that was written")
    ends[row[3]] = row[4], row[15]


def _lost(db: apsw.Connection, key: int) -> list[range]:
    """Give the positions that the losses of a namespace name."""
    session = "(SELECT key FROM session WHERE namespace = ? AND name = ?)"
    sql = f"SELECT {STORED} FROM event WHERE session = {session}"  # noqa: S608 - constants
    losses = [loss_of(row) for row in db.execute(sql, (key, SESSION))]
    return [each for loss in losses if loss is not None for each in loss.missing]


def export_salvage(root: Path, out: BinaryIO, *, namespace: str | None = None, session: str | None = None) -> Exported:
    """Write what is whole of a damaged store, without SQLite, and a line in the place of what is not.

    A file with such lines cannot be restored; one without can.

    Raises:
        NotAStore: there is no database in the folder.
    """
    if not (root / DATABASE_FILE).exists():
        raise NotAStore(f"there is no store in {root}, so there is nothing to salvage; name its folder with --store")
    salvage = Salvage(root / DATABASE_FILE)
    artifacts = ArtifactStore(root, Disk())
    identity = salvage.facts.get("uuid") or os.urandom(16)  # a copy of what lost its identity is another store
    out.write(header_line(identity, salvage.facts.get("created", 0), salvage.names(), session))
    events = damaged = 0
    written: set[tuple[int, bytes]] = set()
    before = 0, 0
    lost: list[tuple[int, range]] = []
    for key in sorted(salvage.rows):
        tenant, position = (key >> 40) + 1, key & POSITION_MAX
        try:
            names = salvage.names_of(key)
            if namespace not in {None, names.namespace} or session not in {None, names.session}:
                continue
            skipped = session is None and position != (before[1] if before[0] == tenant else 0) + 1
            before = tenant, position
            words = names.namespace, names.session, names.agent, names.origin
            lines = event_lines(salvage.rows[key], artifacts, words, written, skipped=skipped)
            events += 1
            if (loss := loss_of(salvage.rows[key])) is not None:
                lost += [(tenant, each) for each in loss.missing]
        except (StoreDamaged, ValueError, TypeError) as error:
            damaged += 1
            lines = [_damaged(salvage.name(tenant), position, position, str(error))]
        out.writelines(lines)
    for tenant, first, last in salvage.gaps():
        named = any(owner == tenant and first in each and last in each for owner, each in lost)
        if namespace in {None, salvage.name(tenant)} and not named:
            damaged += last - first + 1
            out.write(_damaged(salvage.name(tenant), first, last, "no page that can be read holds it"))
    end = {"events": events, "artifacts": len(written)} | ({"damaged": damaged} if damaged else {})
    out.write(_dump({"end": end}))
    return Exported(events, len(written), events, damaged)


def _damaged(namespace: str, first: int, last: int, why: str) -> bytes:
    """Write a line in the place of events that cannot be had."""
    through = {"through": last} if last > first else {}
    return _dump({"damaged": {"position": first} | through | {"namespace": namespace, "why": why}})


def event_lines(
    row: tuple[Any, ...] | None,
    artifacts: PayloadStore,
    names: tuple[str, str, str, str] | None,
    written: set[tuple[int, bytes]],
    *,
    skipped: bool,
) -> Iterable[bytes]:
    """Give an event's line, with its artifact's lines before it if they were not written yet.

    Args:
        skipped: its position is not the next one of its namespace, so it must be said.
    """
    if row is None or names is None:
        raise StoreDamaged("the event is missing, or its page cannot be read")
    body = body_of(row)
    check_event_types(row)
    header_of(row, names[2], names[3])  # raises for what no restore would take
    line = _event_line(row, body, names, {"position": row[0]} if skipped else {})
    payload = decode_body(body).payload if body is not None else b""
    if not isinstance(payload, Artifact) or (row[2], payload.digest) in written:
        return [line]
    wrong = artifacts.verify(row[2], payload)  # before a byte of it is written: an export has no half artifacts
    if wrong:
        raise StoreDamaged(f"artifact {payload.digest.hex()}: {wrong}")
    written.add((row[2], payload.digest))
    return itertools.chain(_artifact_lines(names[0], payload, artifacts.pieces(row[2], payload)), [line])


def header_line(store_uuid: bytes, created: int, namespaces: Iterable[str], session: str | None) -> bytes:
    """Write the first line."""
    return _dump(
        {
            "firsthand_export": VERSION,
            "store": store_uuid.hex(),
            "created": created,
            "namespaces": sorted(namespaces),
            "session": session,
        }
    )


def end_line(events: int, artifacts: int) -> bytes:
    """Write the last line, which says how much there was."""
    return _dump({"end": {"events": events, "artifacts": artifacts}})


def _event_line(
    row: tuple[Any, ...], body: bytes | None, names: tuple[str, str, str, str], place: dict[str, int]
) -> bytes:
    """Write one event: ``row`` in the order of `rows.STORED`, names are namespace, session, agent, origin."""
    namespace, session, agent, origin = names
    out: dict[str, Any] = {
        "id": id_text(row[1]), "namespace": namespace, "session": session, **place, "sequence": row[4], "part": row[5],
        "turn": row[6], "kind": Kind.of(row[7]), "trust": Trust.of(row[8]), "agent": agent, "origin": origin,
        "time": None if row[11] is None else [row[11], row[12]], "ingested": [row[13], row[14]],
        "chain": row[15].hex(), "commitment": row[16].hex(),
    }  # fmt: skip
    if body is None:
        return _dump({"event": out | {"erased": True}})
    parts = decode_body(body)
    out |= {"salt": row[17].hex(), "media": _text(parts.media), "meta": _text(parts.meta)}
    out["envelope"] = _text(parts.envelope)
    if isinstance(parts.payload, Artifact):
        artifact = parts.payload
        out["artifact"] = {
            "sha256": artifact.digest.hex(), "size": artifact.size_bytes, "preview": _text(artifact.preview),
        }  # fmt: skip
    else:
        out["content"] = _text(parts.payload)
    return _dump({"event": out})


def _artifact_lines(namespace: str, artifact: Artifact, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Write an artifact's payload."""
    name = artifact.digest.hex()
    for piece in pieces:
        yield _dump({"artifact": name, "namespace": namespace, "bytes": base64.b64encode(piece).decode()})
    yield _dump({"artifact": name, "namespace": namespace, "size": artifact.size_bytes})


def parse_event(fields: dict[str, Any]) -> Line:
    """Read one event and check what it says of itself.

    Raises:
        FormatError: a field is missing or not of its form.
        StoreDamaged: its commitment is not that of its content.
    """
    try:
        namespace = check_name(fields["namespace"], "namespace", empty=False)
        session = check_name(fields["session"], "session", empty=False)
        commitment = _hex(fields["commitment"])
        salt = body = stored = artifact = None
        if not fields.get("erased"):
            salt = _hex(fields["salt"], SALT_BYTES)
            payload: bytes | Artifact
            if "artifact" in fields:
                artifact_fields = fields["artifact"]
                payload = artifact = Artifact(
                    _hex(artifact_fields["sha256"]), _whole(artifact_fields["size"]), _bytes(artifact_fields["preview"])
                )
            else:
                payload = _bytes(fields["content"])
            body = encode_body(_bytes(fields["media"]), _bytes(fields["meta"]), _bytes(fields["envelope"]), payload)
            if commit_to(salt, body) != commitment:
                raise StoreDamaged(
                    f"event {fields['id']} of the export is not what was written: its commitment does not fit"
                )
            stored = compression.compress(body)
        time = None if fields["time"] is None else Moment(*fields["time"])
        event = Prepared(
            id_bytes(fields["id"]), Kind(fields["kind"]), _whole(fields["part"], PART_MAX),
            _whole(fields["turn"], TURN_MAX), Trust(fields["trust"]), time, check_name(fields["agent"], "agent"),
            check_name(fields["origin"], "origin"), salt, commitment, body, stored, artifact,
            fields["id"], None if body is None else decode_body(body),
            Restored(
                Moment(*fields["ingested"]), _hex(fields["chain"]), _whole(fields.get("position", 0), POSITION_MAX)
            ),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, struct.error, InvalidDraft) as error:
        raise FormatError(
            f"expected an event of an export (docs/log-format.md); {type(error).__name__} {error} in "
            f"{json.dumps(fields)[:120]}"
        ) from error
    return Line(namespace, session, event)


def _whole(value: object, most: int = (1 << 63) - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"expected a whole number from 0 to {most:,}, not {value!r}")
    return value


def _hex(text: str, size: int = 32) -> bytes:
    data = bytes.fromhex(text)
    if len(data) != size:
        raise ValueError(f"expected {size} bytes in hexadecimal, got {len(data)}")
    return data


def parse_header(fields: dict[str, Any]) -> tuple[bytes, int]:
    """Read the identity of the store that was exported: uuid, and when it was made in microseconds since 1970.

    Raises:
        FormatError: a field is missing or not of its form.
    """
    try:
        identity, created = _hex(fields["store"], 16), Moment(fields["created"]).microseconds
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the first line of the export is not of its form: {type(error).__name__} {error}") from error
    return identity, created


def lines(source: BinaryIO) -> Iterator[dict[str, Any]]:
    """Read an export's lines; the first must be a header of a version known here, the last an end.

    Raises:
        FormatError: it is no export, of a newer version, or cut off.
    """
    ended = False
    number = 0
    for raw in iter(lambda: source.readline(LINE_BYTES_MAX), b""):
        number += 1
        try:
            fields = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"line {number} of the export is not whole ({error}); take a new export") from error
        if not isinstance(fields, dict) or ended:
            raise FormatError(f"line {number} of the export is not expected there: {raw[:80]!r}")
        if number == 1:
            version = fields.get("firsthand_export")
            if version not in (VERSION_1, VERSION) or isinstance(version, bool):
                raise FormatError(
                    f"expected a Firsthand export of version {VERSION_1} or {VERSION}; its first line is {version!r}. "
                    "To import transcripts use 'firsthand import'."
                )
        elif "firsthand_export" in fields:
            raise FormatError(f"line {number} of the export begins another one; restore them one by one")
        ended = "end" in fields
        yield fields
    if not ended:
        raise FormatError(f"the export ends after line {number} without its last line: it was cut off. Take it anew.")


def _dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _text(data: bytes) -> str | dict[str, str]:
    """Bytes as text where they are UTF-8, in base64 where not."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(value: str | dict[str, str]) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)
