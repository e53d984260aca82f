"""Source records: one line of a transcript, one message, one mail, and the events cut out of it.

A host writes one line with several things in it: a thought, a text, two tool
calls. Each becomes an event with its own exact content; what stands around them
in the line is kept as the *envelope* of the record's first event, with a hole
where each content was. `assemble` puts the bytes together again.

The invariant: ``assemble(cut(raw, contents), contents) == raw`` for all bytes.
A content that does not occur in the record in a known spelling gets no hole: its
bytes then stay in the envelope as well, which costs space and loses nothing.
"""

from __future__ import annotations

import base64
import json
import struct
from bisect import bisect
from collections.abc import Sequence

from firsthand.event import Draft, to_bytes
from firsthand.value import replace, value

_LENGTH = struct.Struct("<Q")
_HOLE = struct.Struct("<HB")
_PLAIN = json.JSONEncoder(ensure_ascii=False)
_LITERAL, _OPEN = 0, 1
PARTS_MAX = 65_535
REPEAT_BYTES_MIN = 256  # a shorter repeat costs less to keep than its hole is worth

# How a content can be spelled inside its record; the numbers are on disk.
VERBATIM, JSON_STRING, JSON_ASCII, BASE64, JSON_SLASHED = 0, 1, 2, 3, 4
BASE64_LF, BASE64_CRLF = 5, 6  # in lines of 76 signs, as mails carry it
SPELLINGS = (JSON_STRING, JSON_ASCII, VERBATIM, BASE64, JSON_SLASHED, BASE64_LF, BASE64_CRLF)


@value
class Record:
    """One source record, parsed.

    Attributes:
        raw: its exact bytes, line end included; all records of a source, joined, are the source.
        drafts: its events in order, parts 0, 1, 2 ...; empty for bytes that say nothing (blank lines).
        session: which session of the source it belongs to; empty for the source's main one.
        identity: what makes the record the same when it is read again; empty means ``raw``.
        fault: why it could not be understood; empty when it was. The drafts then keep it verbatim.
        injected: True for what Firsthand itself put there, which is not stored again.
    """

    raw: bytes
    drafts: tuple[Draft, ...]
    session: str = ""
    identity: bytes = b""
    fault: str = ""
    injected: bool = False


@value(order=True)
class _Cut:
    """Bytes of a record that a content stands for."""

    start: int
    end: int
    part: int
    spelling: int


def spell(content: bytes, spelling: int) -> bytes:
    """Write a content the way a record spells it; may raise ValueError where it cannot be."""
    if spelling == VERBATIM:
        return content
    if spelling == BASE64:
        return base64.b64encode(content)
    if spelling in (BASE64_LF, BASE64_CRLF):
        lines = base64.encodebytes(content)[:-1]
        return lines if spelling == BASE64_LF else lines.replace(b"\n", b"\r\n")
    text = content.decode("utf-8", "surrogatepass")
    if spelling == JSON_SLASHED:  # PHP and some JavaScript writers escape the slash
        return json.dumps(text).encode("utf-8").replace(b"/", b"\\/")
    return to_bytes(json.dumps(text) if spelling == JSON_ASCII else _PLAIN.encode(text))


def cut(raw: bytes, contents: Sequence[bytes | None]) -> bytes:
    """Cut the contents out of a record and return the envelope around them.

    A None marks a part that is not to be cut out.
    """
    taken: list[_Cut] = []
    at = 0
    for part, content in enumerate(contents[:PARTS_MAX]):
        span = (_find(raw, content, at) or (_find(raw, content, 0) if at else None)) if content else None
        if span is not None and _take(taken, _Cut(span[0], span[1], part, span[2])):
            at = span[1]
    for first in tuple(taken):
        _take_repeats(raw, taken, first)
    pieces: list[bytes] = []
    at = 0
    for hole in taken:
        pieces.append(_literal(raw[at : hole.start]))
        pieces.append(bytes((_OPEN,)) + _HOLE.pack(hole.part, hole.spelling))
        at = hole.end
    pieces.append(_literal(raw[at:]))
    return b"".join(pieces)


def _take(taken: list[_Cut], wanted: _Cut) -> bool:
    """Add a cut where it overlaps none; the list stays in order."""
    place = bisect(taken, wanted)
    if place and taken[place - 1].end > wanted.start:
        return False
    if place < len(taken) and taken[place].start < wanted.end:
        return False
    taken.insert(place, wanted)
    return True


def _take_repeats(raw: bytes, taken: list[_Cut], first: _Cut) -> None:
    """Cut a long content out wherever its host wrote it again in the same record."""
    spelled = raw[first.start : first.end]
    if len(spelled) < REPEAT_BYTES_MIN:
        return
    start = raw.find(spelled)
    while start >= 0:
        _take(taken, _Cut(start, start + len(spelled), first.part, first.spelling))
        start = raw.find(spelled, start + len(spelled))


def assemble(envelope: bytes, contents: Sequence[bytes]) -> bytes:
    """Put a record together again from its envelope and the contents of its parts.

    Raises:
        ValueError: the envelope is damaged, or asks for a part that is not there.
    """
    out: list[bytes] = []
    at = 0
    try:
        while at < len(envelope):
            tag = envelope[at]
            at += 1
            if tag == _LITERAL:
                (length,) = _LENGTH.unpack_from(envelope, at)
                at += _LENGTH.size
                if at + length > len(envelope):
                    raise ValueError("the envelope is cut off")
                out.append(envelope[at : at + length])
                at += length
            elif tag == _OPEN:
                part, spelling = _HOLE.unpack_from(envelope, at)
                at += _HOLE.size
                out.append(spell(contents[part], spelling))
            else:
                raise ValueError(f"an envelope holds literals and holes, not a tag {tag}")
    except (IndexError, struct.error) as error:
        raise ValueError("the envelope does not fit its parts") from error
    return b"".join(out)


def holes(envelope: bytes) -> frozenset[int]:
    """Say which parts were cut out; the others still have their bytes in the envelope."""
    places: set[int] = set()
    at = 0
    while at < len(envelope):
        if envelope[at] == _LITERAL:
            at += 1 + _LENGTH.size + _LENGTH.unpack_from(envelope, at + 1)[0]
        else:
            places.add(_HOLE.unpack_from(envelope, at + 1)[0])
            at += 1 + _HOLE.size
    return frozenset(places)


def make(raw: bytes, drafts: Sequence[Draft], *, session: str = "", identity: bytes = b"", fault: str = "") -> Record:
    """Number a record's drafts as parts and give the first one the envelope."""
    contents = [d.content if isinstance(d.content, bytes) else None for d in drafts]
    envelope = cut(raw, contents)
    numbered = tuple(replace(d, part=k, envelope=envelope if k == 0 else b"") for k, d in enumerate(drafts))
    return Record(raw, numbered, session, identity, fault)


def whole(raw: bytes, draft: Draft, *, session: str = "", identity: bytes = b"", fault: str = "") -> Record:
    """Make a record of one draft whose content is all of ``raw``, without searching for it."""
    envelope = bytes((_OPEN,)) + _HOLE.pack(0, VERBATIM)
    return Record(raw, (replace(draft, content=raw, part=0, envelope=envelope),), session, identity, fault)


def _literal(data: bytes) -> bytes:
    return bytes((_LITERAL,)) + _LENGTH.pack(len(data)) + data if data else b""


def _find(raw: bytes, content: bytes, at: int) -> tuple[int, int, int] | None:
    """Find the content from ``at`` on, in the first spelling that occurs."""
    for spelling in SPELLINGS:
        if spelling == VERBATIM and len(content) < 8:
            continue  # a short string occurs by chance; a wrong hole would still be lossless, but misleading
        if spelling == BASE64_LF and len(content) <= 57:
            return None  # one line: the same as BASE64, which was not there
        try:
            spelled = spell(content, spelling)
        except ValueError:  # no text has no spelling as a JSON string
            continue
        start = raw.find(spelled, at)
        if start >= 0:
            return start, start + len(spelled), spelling
    return None
