"""Reading a sample with a host and checking what must hold of every reading."""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.event import Draft
from firsthand.hosts.registry import recognise
from firsthand.hosts.transcript import HEAD_BYTES, Host, Reading, Source
from firsthand.record import assemble


def read(host: Host, path: str, data: bytes, *, size: int = 1 << 20, final: bool = False) -> list[Reading]:
    """Read all of a source in pieces of a size; the records, joined, are the source, and give their raw again."""
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    found = list(host.read(pieces, Source(path, data[:HEAD_BYTES], final=final)))
    at = 0
    for reading in found:
        record = reading.record
        assert reading.offset_bytes == at
        at += len(record.raw)
        if record.drafts:
            assert assemble(record.drafts[0].envelope, contents(record.drafts)) == record.raw
            assert [draft.part for draft in record.drafts] == list(range(len(record.drafts)))
    assert b"".join(reading.record.raw for reading in found) == data
    assert all(not reading.torn for reading in found[:-1])
    return found


def drafts(host: Host, path: str, data: bytes, **options) -> list[Draft]:
    """Give the events of a source that its host recognises, and no other host before it."""
    known = recognise(path, data[:HEAD_BYTES])
    assert type(known) is type(host)
    return [draft for reading in read(host, path, data, **options) for draft in reading.record.drafts]


def contents(some: Sequence[Draft]) -> list[bytes]:
    return [bytes(draft.content) for draft in some]


def told(some: Sequence[Draft]) -> list[tuple[str, bytes]]:
    """Give kind and content of each event."""
    return [(draft.kind, bytes(draft.content)) for draft in some]


def cuts(host: Host, path: str, data: bytes) -> None:
    """Read every prefix of a source, to a finished and to an unfinished end; nothing raises, nothing is lost."""
    whole = read(host, path, data)
    for cut in range(len(data) + 1):
        read(host, path, data[:cut], final=True)
        part = [reading for reading in read(host, path, data[:cut], size=7) if not reading.torn]
        ends = [reading.offset_bytes + len(reading.record.raw) for reading in whole]
        complete = [reading for reading, end in zip(whole, ends, strict=True) if end <= cut and host.resumable]
        assert [reading.record for reading in part[: len(complete)]] == [reading.record for reading in complete]
