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
import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from firsthand.errors import FormatError, InvalidDraft, StoreDamaged
from firsthand.event import (
    SALT_BYTES,
    Artifact,
    Kind,
    Trust,
    commit_to,
    decode_body,
    encode_body,
    id_bytes,
    id_text,
)
from firsthand.moment import Moment
from firsthand.value import value

from . import compression
from .payload import PayloadStore
from .prepare import PART_MAX, TURN_MAX, Prepared, Restored, check_name
from .rows import POSITION_MAX, body_of, check_event_types, header_of

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


def damaged_line(namespace: str, first: int, last: int, why: str) -> bytes:
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
    line = _dump({"event": event_fields(row, body, names, {"position": row[0]} if skipped else {})})
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


def end_line(events: int, artifacts: int, damaged: int = 0) -> bytes:
    """Write the last line, which says how much there was."""
    return _dump({"end": {"events": events, "artifacts": artifacts} | ({"damaged": damaged} if damaged else {})})


def event_fields(
    row: tuple[Any, ...], body: bytes | None, names: tuple[str, str, str, str], place: dict[str, int]
) -> dict[str, Any]:
    """Give what an export says of an event: ``row`` as `rows.STORED`, names are namespace, session, agent, origin."""
    namespace, session, agent, origin = names
    out: dict[str, Any] = {
        "id": id_text(row[1]), "namespace": namespace, "session": session, **place, "sequence": row[4], "part": row[5],
        "turn": row[6], "kind": Kind.of(row[7]), "trust": Trust.of(row[8]), "agent": agent, "origin": origin,
        "time": None if row[11] is None else [row[11], row[12]], "ingested": [row[13], row[14]],
        "chain": row[15].hex(), "commitment": row[16].hex(),
    }  # fmt: skip
    if body is None:
        return out | {"erased": True}
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
    return out


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
