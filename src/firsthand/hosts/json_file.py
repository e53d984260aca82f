"""Files that are one JSON value: an array of episodes, a trajectory; cut into records without re-dumping.

The invariant: each record's ``raw`` is its exact slice of the file, with the gap
before it; the last one has the rest. So the records, joined, are the file.

Such a file is read whole, within `FILE_BYTES_MAX`, and from its start each time:
its writer closes brackets behind the last item, so there is no offset to resume
at; equal items get equal ids. Knows no host: what an item says is the parser's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from firsthand.errors import SourceRejected
from firsthand.event import Draft, to_bytes
from firsthand.hosts.lines import kept
from firsthand.hosts.transcript import Reading, Source
from firsthand.record import Record, make
from firsthand.value import replace, value

FILE_BYTES_MAX = 256 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_BOM = "\xef\xbb\xbf"  # as it reads in Latin-1
_DIGITS_MAX = 4_000  # Python refuses to read longer integers
_TORN_WITHIN = 8  # a literal, a number or an escape that the end of the file cut in two is no longer


@value
class Cut:
    """One item of a file, as its host read it.

    Attributes:
        end: where the item's raw ends in the file; it begins where the one before ended.
        drafts: its events; at least one.
        identity: what makes it the same when the file is read again, mostly its own slice.
        session: bare id of its session; empty for the source's main one.
    """

    end: int
    drafts: tuple[Draft, ...]
    identity: bytes
    session: str = ""


class JsonFile:
    """One JSON text and where its values stand, as byte offsets.

    Structure is read in Latin-1, where a character is a byte and all of JSON's
    own signs mean themselves; values are read in UTF-8. Every method raises
    ``json.JSONDecodeError`` at the byte where the text stops being JSON.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._text = data.decode("latin-1")
        self._scan = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode

    def root(self) -> int:
        """Find where the file's one value begins."""
        return self.skip(len(_BOM) if self._text.startswith(_BOM) else 0)

    def end(self, start: int) -> int:
        """Find where the value that begins at ``start`` ends."""
        return self._scan(self._text, start)[1]

    def slice(self, start: int) -> bytes:
        """Give the exact bytes of the value that begins at ``start``."""
        return self.data[start : self.end(start)]

    def value(self, start: int) -> Any:
        """Read the value that begins at ``start``; an integer too long for Python stays text."""
        return json.loads(self.slice(start), parse_int=_integer)

    def items(self, start: int) -> Iterator[int]:
        """Yield where each item of the array at ``start`` begins; nothing for any other value."""
        for at, _ in self._walk(start, "[", "]"):
            yield at

    def members(self, start: int) -> Iterator[tuple[str, int]]:
        """Yield key and place of each value of the object at ``start``; nothing for any other value."""
        for at, key in self._walk(start, "{", "}"):
            yield key, at

    def _walk(self, start: int, opening: str, closing: str) -> Iterator[tuple[int, str]]:
        if not self._text.startswith(opening, start):
            return
        at = self.skip(start + 1)
        if self._text.startswith(closing, at):
            return
        while True:
            key = ""
            if opening == "{":
                key, at = self._key(at)
            yield at, key
            at = self.skip(self.end(at))
            if self._text.startswith(closing, at):
                return
            at = self.skip(self._expect(",", at))

    def _key(self, at: int) -> tuple[str, int]:
        if not self._text.startswith('"', at):
            raise json.JSONDecodeError("expected a key", self._text, at)
        end = self.end(at)
        key = json.loads(self.data[at:end])
        return str(key), self.skip(self._expect(":", self.skip(end)))

    def _expect(self, sign: str, at: int) -> int:
        if not self._text.startswith(sign, at):
            raise json.JSONDecodeError(f"expected {sign!r}", self._text, at)
        return at + 1

    def skip(self, at: int) -> int:
        """Step over white space."""
        match = _SPACE.match(self._text, at)
        assert match is not None  # the pattern matches the empty text
        return match.end()


Parse = Callable[[JsonFile, Source], Iterator[Cut]]


def read(pieces: Iterable[bytes], source: Source, host: str, parse: Parse) -> Iterator[Reading]:
    """Read a whole file as the records its parser cuts out of it.

    From where the file stops being JSON it is one record with a fault, torn where
    that is the file's end. A file without any item is one record kept verbatim.

    Raises:
        SourceRejected: the file is over `FILE_BYTES_MAX`.
    """
    data = _gather(pieces, source.path)
    file = JsonFile(data)
    at = number = 0
    waiting: Cut | None = None
    broken: ValueError | RecursionError | None = None
    try:
        for cut in parse(file, source):
            if waiting is not None:
                number += 1
                yield Reading(_record(data[at : waiting.end], waiting), at, number)
                at = waiting.end
            waiting = cut
        rest_at = file.skip(file.end(file.root())) if data.strip() else len(data)
    except (ValueError, RecursionError) as error:  # reported below, as the fault of what is left
        broken, rest_at = error, waiting.end if waiting is not None else at
    if waiting is not None:
        number += 1
        record = _record(data[at:rest_at], waiting)
        if broken is not None and source.final and rest_at == len(data):  # no bytes are left to carry the fault
            record = replace(record, fault=_unreadable(host, broken))
        yield Reading(record, at, number)
        at = rest_at
    if at < len(data):
        yield _rest(data, at, number + 1, source, host, broken)


def _gather(pieces: Iterable[bytes], path: str) -> bytes:
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > FILE_BYTES_MAX:
            raise SourceRejected(
                f"a file that is one JSON value is read whole, up to {FILE_BYTES_MAX:,} bytes; {path} has more. "
                "Split it, or write one value a line and import it as JSONL"
            )
    return bytes(data)


def _record(raw: bytes, cut: Cut) -> Record:
    return make(raw, cut.drafts, session=cut.session, identity=cut.identity)


def _rest(
    data: bytes, at: int, number: int, source: Source, host: str, broken: ValueError | RecursionError | None
) -> Reading:
    raw = data[at:]
    if broken is None and at == 0:
        if not raw.strip():
            return Reading(Record(raw, ()), at, number)
        fault = f"expected the JSON of {host}, found none of its items"
    elif broken is None:
        fault = f"expected the end of the file at byte {at:,}, found more after its JSON value"
    else:
        fault = _unreadable(host, broken)
    return Reading(kept(raw, host, fault), at, number, torn=not source.final and _at_end(broken, data))


def _unreadable(host: str, broken: ValueError | RecursionError) -> str:
    return f"not readable as the JSON of {host}: {broken}"


def _at_end(broken: ValueError | RecursionError | None, data: bytes) -> bool:
    """Say whether the JSON only stops, so that its writer may still be at it."""
    if not isinstance(broken, json.JSONDecodeError):
        return False
    return broken.msg.startswith("Unterminated string") or broken.pos >= len(data.rstrip()) - _TORN_WITHIN


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _DIGITS_MAX else digits


def dump(value: object) -> bytes:
    """Write a value that is no text as JSON, for a content."""
    return to_bytes(json.dumps(value, ensure_ascii=False))
