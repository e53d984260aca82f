"""Taking an export in, through the log's own append (format: docs/log-format.md, "Export")."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, BinaryIO

from firsthand.errors import FormatError, StoreDamaged
from firsthand.event import Artifact

from . import export
from .engine import LogEngine
from .prepare import Batch, Prepared, check_name

BATCH_EVENTS = 500
BATCH_BYTES = 4 << 20


def restore(log: LogEngine, source: BinaryIO) -> export.Exported:
    """Append every event of an export. Into an empty store it gives the same store, hash for hash.

    Raises:
        FormatError: it is no export, or cut off.
        StoreDamaged: an event in it is not what was written.
        StoreReadOnly: the store was opened for reading.
        IdConflict: the store holds one of its events with other bytes.
    """
    log.check_writable()
    pending: list[export.Line] = []
    events = artifacts = new = size = 0
    shared = False
    lines = export.lines(source)
    for fields in lines:
        if "firsthand_export" in fields:
            log.adopt(*export.parse_header(fields))
            one_order = fields["firsthand_export"] == export.VERSION_1 and fields.get("session") is None
            shared = one_order and len(fields.get("namespaces", ())) > 1
        elif "artifact" in fields:
            _take_artifact(log, fields, lines)
            artifacts += 1
        elif "event" in fields:
            events += 1
            if shared and isinstance(fields["event"], dict):
                fields["event"]["position"] = events  # what is hashed names it, so it is kept
            line = export.parse_event(fields["event"])
            if pending and (
                (line.namespace, line.session) != (pending[0].namespace, pending[0].session)
                or len(pending) >= BATCH_EVENTS
                or size >= BATCH_BYTES
            ):
                new += _append(log, pending)
                pending, size = [], 0
            pending.append(line)
            size += len(line.event.stored or b"")
        elif "damaged" in fields:
            raise FormatError(
                f"this export was salvaged from a damaged store and lacks {fields['damaged']}; it can be read, but not "
                "restored. Restore a backup, or an export made before the damage."
            )
        elif fields.get("end") != {"events": events, "artifacts": artifacts}:
            raise FormatError(
                f"the export says it holds {fields.get('end')}, but {events} events and {artifacts} artifacts came; "
                "lines are missing. Take it anew."
            )
    new += _append(log, pending)
    return export.Exported(events, artifacts, new)


def _append(log: LogEngine, lines: list[export.Line]) -> int:
    if not lines:
        return 0
    events: tuple[Prepared, ...] = tuple(line.event for line in lines)
    return sum(appended.new for appended in log.submit((Batch(lines[0].namespace, lines[0].session, events),)))


def _take_artifact(log: LogEngine, first: dict[str, Any], lines: Iterator[dict[str, Any]]) -> None:
    if not isinstance(first["artifact"], str) or not isinstance(first.get("namespace"), str):
        raise FormatError(f"an artifact's line names its hash and its namespace; got {str(first)[:120]}")
    check_name(first["namespace"], "namespace", empty=False)
    pieces = _Pieces(first, lines)
    stored = log.artifacts.put(log.namespace_key(first["namespace"]), pieces)
    if stored.digest.hex() != first["artifact"] or stored.size_bytes != pieces.size:
        raise StoreDamaged(f"artifact {first['artifact']} of the export is not what was written: it hashes otherwise")
    assert isinstance(stored, Artifact)


class _Pieces:
    """An artifact's lines as something to read from."""

    def __init__(self, first: dict[str, Any], lines: Iterator[dict[str, Any]]) -> None:
        self._name, self._fields, self._lines = first["artifact"], first, lines
        self._rest = b""
        self.size = -1

    def read(self, size: int, /) -> bytes:
        while not self._rest and self.size < 0:
            if self._fields.get("artifact") != self._name:
                raise FormatError(f"artifact {self._name} of the export is cut off; take it anew")
            try:
                if "size" in self._fields:
                    self.size = int(self._fields["size"])
                    break
                self._rest = base64.b64decode(self._fields["bytes"], validate=True)
            except (KeyError, TypeError, ValueError) as error:
                raise FormatError(f"artifact {self._name} of the export: a line is not whole ({error})") from error
            self._fields = next(self._lines, {})
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece
