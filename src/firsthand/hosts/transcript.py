"""The port of a host: what a transcript parser is asked, and what it answers.

A host is a pure parser. It is handed bytes and names and gives back records; it
opens no file, reads no clock and no environment. The invariant: the ``raw`` of
all records of one source, joined in order, is the source byte for byte, and the
drafts of each record put its ``raw`` together again (`record.assemble`).

A record that is left out of the log on purpose (blank line, Firsthand's own
words) still comes by with its ``raw``, so that offsets add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from firsthand.formats.fields import to_name
from firsthand.record import Record
from firsthand.value import field, value

__all__ = ["HEAD_BYTES", "STATE_BYTES_MAX", "Host", "Place", "Reading", "Source", "key", "to_name"]

HEAD_BYTES = 65_536  # as much of a source's beginning as `recognises` and `session` are shown
STATE_BYTES_MAX = 65_536  # a parser's state, written as JSON
_LINE_ENDS = b"\r\n"


@value
class Place:
    """Where a host keeps its transcripts, as data; the intake looks there.

    Attributes:
        home: the host's folder, relative to the user's home folder: ``.claude``.
        pattern: glob relative to that folder, ``**`` for any depth: ``projects/*/*.jsonl``.
        variable: environment variable that names another folder in place of ``home``; empty for none.
    """

    home: str
    pattern: str
    variable: str = ""


@value
class Source:
    """One source as its host is told about it.

    Attributes:
        path: the whole path, with ``/``; names are read out of it, it is never opened.
        head: the source's first `HEAD_BYTES`, also when the reading resumes further on.
        offset_bytes: where in the source the pieces begin; 0 unless it is resumed.
        state: the `Reading.state` of the record that ended there; empty at 0.
        final: True when no more will ever come, so that a torn end is to be kept as it is.
    """

    path: str
    head: bytes = b""
    offset_bytes: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)
    final: bool = False


@value
class Reading:
    """One record and where it stood.

    Attributes:
        record: what was read; its ``fault`` is to be reported, also where it has drafts of its own.
        offset_bytes: where its ``raw`` begins in the source; it ends ``len(raw)`` further on.
        line: number of the line or item it begins in, from 1.
        torn: True for a last line that is still being written: do not store it, leave the
            cursor before it, read it again when the source has grown. Only ever the last one.
        state: small JSON values to resume after this record with; opaque to the caller.
    """

    record: Record
    offset_bytes: int
    line: int
    torn: bool = False
    state: Mapping[str, Any] = field(default_factory=dict)


class Host(Protocol):
    """A parser for the transcripts of one host.

    Attributes:
        name: of the host, lower case: ``claude-code``. A session is named ``<host>:<bare id>``.
        places: where its transcripts usually are; empty when there is no usual place.
        resumable: True when `read` may begin behind the start (line files); a host that is not
            is always given the whole source from 0.
        spans_sessions: True when a record with an ``identity`` is the same record in every
            session it stands in (a resumed or forked session copies lines).
    """

    @property
    def name(self) -> str: ...
    @property
    def places(self) -> tuple[Place, ...]: ...
    @property
    def resumable(self) -> bool: ...
    @property
    def spans_sessions(self) -> bool: ...

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether a source with this path and these first `HEAD_BYTES` is one of this host's."""
        ...

    def session(self, path: str, head: bytes) -> str:
        """Give the bare id of the source's main session, for records with an empty ``session``."""
        ...

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        """Parse a source from its offset on; pieces may be cut anywhere, memory stays bounded.

        Raises:
            SourceRejected: the source as a whole is over a limit or not of this host.
        """
        ...


def key(host: Host, record: Record, session: str) -> tuple[bytes, ...]:
    """Give what makes a record the same when it is read again, as the key of `event.derived_id`.

    A record without identity is the same when its bytes are, line end aside (the
    last line of a file gets its end later), in the same session. The caller adds
    the number of its occurrence in the source and the part. Two records of one
    key may differ in ``raw`` (another session id in a copied line): the first stays.
    """
    name = host.name.encode()
    if not record.identity:
        return name, b"raw", to_name(session).encode(), record.raw.rstrip(_LINE_ENDS)
    return name, b"identity", b"" if host.spans_sessions else to_name(session).encode(), record.identity
