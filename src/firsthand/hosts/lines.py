r"""Bytes to lines to records, for hosts that write one JSON object a line; tolerant, and lossless.

The invariant: the ``raw`` of all lines, and of all items of a line, joined, is
what came in. Only a ``\n`` byte ends a line: U+2028 inside a string does not,
nor does a bare ``\r``. What cannot be parsed is handed on as it is, with the
reason; nothing is dropped and nothing raised for bad bytes.

A line longer than `LINE_BYTES_MAX` is not held: it comes as pieces of that size,
each a record of its own kept verbatim, with a fault that says so.

This module knows no host: what an object means is said by the `Convert` it is given.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from firsthand.event import Draft, Kind, Trust
from firsthand.hosts.transcript import Reading, Source
from firsthand.record import Record, whole
from firsthand.value import field, replace, value

LINE_BYTES_MAX = 48 << 20
SCAN_BYTES_MAX = 16 << 20  # work spent on finding whole objects in one broken line
DUPLICATE_KEYS_MAX = 16  # named in the flags of one object
_BOM = b"\xef\xbb\xbf"
_NULS = re.compile(rb"\0+")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@value
class Line:
    """One line, or one piece of a line that is too long to hold.

    Attributes:
        raw: its bytes, line end included.
        offset_bytes: where it begins in the source.
        number: from 1; the pieces of one line share it.
        torn: True when the source ends before its line end.
        oversize: True for a piece of a line over the limit.
    """

    raw: bytes
    offset_bytes: int
    number: int
    torn: bool = False
    oversize: bool = False


@value
class Item:
    """One JSON object of a line, or bytes of a line that are none.

    Attributes:
        raw: its bytes with the space around it; the items of a line, joined, are the line.
        value: the object; None when there is none.
        fault: why there is no object, or what was wrong around it; empty otherwise, and for blanks.
        flags: what is odd about an object that parses: ``duplicate_keys``, ``invalid_utf8``, ``fused``.
    """

    raw: bytes
    value: dict[str, Any] | None
    fault: str = ""
    flags: Mapping[str, Any] = field(default_factory=dict)


class Convert(Protocol):
    """Turns one JSON object (``item.value`` is there) into its record; ``record.raw`` is ``item.raw``.

    It may keep small JSON values in ``state``, nested one dict deep at most.
    Flags, fault and resuming are seen to by `read`.
    """

    def __call__(self, item: Item, state: dict[str, Any], /) -> Record: ...


def read(pieces: Iterable[bytes], source: Source, host: str, convert: Convert) -> Iterator[Reading]:
    """Read a line file from ``source.offset_bytes`` on, record by record."""
    state, parse = _copy(source.state.get("host", {})), _Parser()
    began = source.state.get("line", 0)
    inside = source.state.get("inside", False)
    for line in split(pieces, offset_bytes=source.offset_bytes, number=began + 1, inside=inside):
        entries = items(line, parse)
        if line.torn and not source.final and any(item.value is None for item in entries):
            yield Reading(
                kept(line.raw, host, "the last line has no end yet"), line.offset_bytes, line.number, torn=True
            )
            return
        offset = line.offset_bytes
        for item in entries:
            record = _record(item, state, host, convert)
            offset += len(item.raw)
            ended = item.raw.endswith(b"\n")
            after = {"line": line.number if ended else line.number - 1, "host": _copy(state)}
            if line.oversize and not ended:
                after["inside"] = True
            yield Reading(record, offset - len(item.raw), line.number, state=after)


def split(
    pieces: Iterable[bytes],
    *,
    offset_bytes: int = 0,
    number: int = 1,
    inside: bool = False,
    limit: int = LINE_BYTES_MAX,
) -> Iterator[Line]:
    """Cut pieces into lines, holding one line of at most ``limit`` bytes.

    ``inside`` says that the offset lies within a line that is over the limit.
    """
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        begin = 0
        while begin < len(piece):
            end = piece.find(b"\n", begin) + 1
            stop = end or len(piece)
            full = stop - begin > limit - size
            if full:
                stop = begin + limit - size
            parts.append(piece[begin:stop])
            size += stop - begin
            begin = stop
            if full or end:
                yield Line(b"".join(parts), offset_bytes, number, oversize=full or inside)
                offset_bytes += size
                number += 0 if full else 1
                parts, size, inside = [], 0, full
    if size:
        yield Line(b"".join(parts), offset_bytes, number, torn=True, oversize=inside)


def items(line: Line, parse: _Parser | None = None) -> tuple[Item, ...]:
    """Take a line apart: one object as a rule; what a broken line still holds otherwise."""
    parse = parse or _Parser()
    if line.oversize:
        return (Item(line.raw, None, f"a line over {LINE_BYTES_MAX >> 20} MiB is kept in pieces, unparsed"),)
    if not line.raw.strip():
        return (Item(line.raw, None),)
    mark = len(_BOM) if line.offset_bytes == 0 and line.raw.startswith(_BOM) else 0
    item = parse(line.raw[mark:])
    if item.value is not None or "nested" in item.fault:
        return (replace(item, raw=line.raw) if mark else item,)
    slices = _slices(line.raw, mark)
    if len(slices) == 1:
        return (replace(item, raw=line.raw),)
    parsed = [parse(line.raw[start:end]) for start, end in slices]
    objects = sum(part.value is not None for part in parsed)
    if objects < 2:
        return tuple(parsed)
    fault = f"one of {objects} records fused on one line"
    return tuple(
        replace(p, fault=fault, flags={**p.flags, "fused": objects}) if p.value is not None else p for p in parsed
    )


def kept(raw: bytes, host: str, fault: str) -> Record:
    """Make the record of bytes that were not understood: one event with all of them."""
    meta = {"quarantine": fault}
    draft = Draft(Kind.OTHER, raw, meta=meta, agent=host, origin=f"host:{host}", trust=Trust.UNTRUSTED)
    return whole(raw, draft, fault=fault)


def _record(item: Item, state: dict[str, Any], host: str, convert: Convert) -> Record:
    if item.value is None:
        return kept(item.raw, host, item.fault) if item.fault else Record(item.raw, ())
    try:
        record = convert(item, state)
    except RecursionError:  # parsed just so, but a step of the conversion needs more depth
        return kept(item.raw, host, "unparsed: nested too deeply")
    if item.flags and record.drafts:
        first = record.drafts[0]
        flagged = replace(first, meta={**first.meta, **item.flags})
        record = replace(record, drafts=(flagged, *record.drafts[1:]))
    return replace(record, fault=item.fault) if item.fault and not record.fault else record


class _Parser:
    """Parses bytes as one JSON object; bytes that are not UTF-8 show as U+FFFD and are flagged. For one thread."""

    def __init__(self) -> None:
        self._duplicates: set[str] = set()
        self._decode = json.JSONDecoder(object_pairs_hook=self._pairs).decode

    def __call__(self, raw: bytes) -> Item:
        if not raw.strip():
            return Item(raw, None)
        if not raw.strip(b"\0"):
            return Item(raw, None, f"a block of {len(raw):,} NUL bytes")
        flags: dict[str, Any] = {}
        self._duplicates.clear()
        try:
            text = raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = raw.decode("utf-8", "replace")
            flags["invalid_utf8"] = True
        try:
            value = self._decode(text)
        except RecursionError:
            return Item(raw, None, "unparsed: nested too deeply")
        except ValueError as error:  # no JSON, or an integer of more digits than Python reads
            return Item(raw, None, f"unparsed: {error}")
        if not isinstance(value, dict):
            return Item(raw, None, f"a record is a JSON object, not of type {type(value).__name__}")
        if self._duplicates:
            flags["duplicate_keys"] = sorted(self._duplicates)[:DUPLICATE_KEYS_MAX]
        return Item(raw, value, flags=flags)

    def _pairs(self, listed: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(listed)
        if len(value) != len(listed):
            self._duplicates.update(key for key, times in Counter(key for key, _ in listed).items() if times > 1)
        return value


def _slices(raw: bytes, mark: int) -> list[tuple[int, int]]:
    """Find NUL blocks and whole objects in a broken line; the slices, joined, are the line."""
    spans: list[tuple[int, int]] = []
    at = 0
    for block in (*_NULS.finditer(raw), None):
        start, end = block.span() if block is not None else (len(raw), len(raw))
        if at < start:
            spans += _objects(raw, at, start, mark if at == 0 else 0)
        if start < end:
            spans.append((start, end))
        at = end
    return spans


def _objects(raw: bytes, begin: int, end: int, skip: int) -> list[tuple[int, int]]:
    """Find whole objects from ``begin`` on, and at most one stretch of bytes that are none.

    After a stretch that does not parse, an object counts only if it runs to the
    very end: so an inner part of a broken record is not taken for a record.
    """
    text = raw[begin:end].decode("latin-1")  # a character a byte; the structure of JSON is ASCII
    spans: list[tuple[int, int]] = []
    at, budget = 0, SCAN_BYTES_MAX
    while at < len(text):
        stop = _object_end(text, at + (skip if at == 0 else 0))
        if stop.end < 0:
            break
        spans.append((begin + at, begin + stop.end))
        at = stop.end
    candidate = text.find('{"', at + 1)
    while at < len(text) and candidate >= 0 and budget > 0:
        stop = _object_end(text, candidate)
        if stop.end == len(text):
            return [*spans, (begin + at, begin + candidate), (begin + candidate, end)]
        budget -= stop.read + 64
        candidate = text.find('{"', candidate + 1)
    return [*spans, (begin + at, end)] if at < len(text) else spans


@value
class _Stop:
    end: int  # behind the object and the space after it; -1 for none
    read: int  # characters looked at


def _object_end(text: str, at: int) -> _Stop:
    space = _SPACE.match(text, at)
    start = space.end() if space else at
    if not text.startswith("{", start):
        return _Stop(-1, 1)
    try:
        _, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:  # making it counts the lines of all the text before it: not for nothing
        return _Stop(-1, error.pos - start + error.pos // 64)
    except (RecursionError, ValueError):
        return _Stop(-1, len(text) - start)
    space = _SPACE.match(text, end)
    return _Stop(space.end() if space else end, end - start)


def _copy(state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: dict(value) if isinstance(value, dict) else value for name, value in state.items()}
