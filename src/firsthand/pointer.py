"""The grammar of addresses: short, stable, the same on every machine that holds the event.

    fh:ID                 one event's content
    fh:ID#source          the source record it came from, as its host wrote it
    fh:ID@100-200         bytes 100 up to, not including, 200 of the content
    fh:ID@L10-20          lines 10 to 20 of the content, counted from 1
    fh:ID..ID             a span of one session, both ends included

An ID is 26 characters. Parsing and formatting are inverse to each other. A
pointer knows nothing of namespaces: who may follow it is decided where it is
expanded.
"""

from __future__ import annotations

import re
from functools import cache, partial

from firsthand.errors import InvalidDraft, MalformedPointer
from firsthand.event import id_bytes, id_text
from firsthand.value import value

_ID = r"[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}"
_GRAMMAR = (
    rf"(?:fh:)?(?P<first>{_ID})(?:\.\.(?P<last>{_ID})|(?P<source>#source)"
    r"|@(?P<unit>L?)(?P<start>\d{1,18})-(?P<end>\d{1,18}))?\Z"
)
_IN_TEXT = rf"fh:{_ID}(?:\.\.{_ID}|#source|@L?\d{{1,18}}-\d{{1,18}})?"

# compiled when it is needed: who only appends or recalls reads no pointer
_compiled = cache(partial(re.compile, flags=re.ASCII))


@value
class Pointer:
    """An address of an event, a span, or a part of an event.

    Attributes:
        first: id of the event, or of the first event of a span.
        last: id of a span's last event; None for one event.
        source: the source record instead of the content.
        unit: ``bytes`` or ``lines`` of a range; empty for the whole.
        start, end: of the range; bytes half open from 0, lines inclusive from 1.
    """

    first: str
    last: str | None = None
    source: bool = False
    unit: str = ""
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        if self.last is not None:
            return f"fh:{self.first}..{self.last}"
        if self.source:
            return f"fh:{self.first}#source"
        if self.unit:
            return f"fh:{self.first}@{'L' if self.unit == 'lines' else ''}{self.start}-{self.end}"
        return f"fh:{self.first}"


def parse(text: str) -> Pointer:
    """Read a pointer; the prefix ``fh:`` may be left out, letters may be lower case.

    Raises:
        MalformedPointer: the text is no pointer, or its range runs backwards.
    """
    match = _compiled(_GRAMMAR).match(text.strip()) if isinstance(text, str) and len(text) < 200 else None
    if match is None:
        raise MalformedPointer(
            "expected a pointer such as fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY, fh:...@100-200 or fh:...@L1-9; "
            f"got {str(text)[:60]!r}"
        )
    first, last = (_canonical(match[name]) for name in ("first", "last"))
    assert first is not None  # the grammar has no match without it
    if match["start"] is None:
        return Pointer(first, last, source=match["source"] is not None)
    start, end = int(match["start"]), int(match["end"])
    if end < start or (match["unit"] and start < 1):
        raise MalformedPointer(f"a range runs forward, lines from 1 and bytes from 0; got {text.strip()!r}")
    return Pointer(first, unit="lines" if match["unit"] else "bytes", start=start, end=end)


def find(text: str) -> list[str]:
    """Find the pointers that stand in a text, as they stand there."""
    return _compiled(_IN_TEXT).findall(text)


def _canonical(identifier: str | None) -> str | None:
    if identifier is None:
        return None
    try:
        return id_text(id_bytes(identifier))
    except InvalidDraft as error:
        raise MalformedPointer(str(error)) from error
