"""Which texts of an event are embedded, and for which index row.

A text begins with who said it, as ``Speaker: text [what goes with it]``: without
the speaker dense recall on locomo falls by half. Of a long passage the beginning is
embedded, as much as small models read: measured on beam, message-level recall@10 of
all-MiniLM is .575 so, .529 with the mean of all pieces, .50 with the best of them.

The invariant: the same event gives the same texts, whatever is installed, and a row
at most one. `VERSION` is part of a space's identity, so other rules are other spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.event import Event
from firsthand.log.port import ContentReader

from . import words
from .passages import Passage, cut, row_of

VERSION = 1
TEXT_CHARACTERS_MAX = 2_000
"""Of a passage: more than the 256 tokens that small sentence models read; what lies behind is found by its words."""
PASSAGES_MAX = 64
"""Of one event, that is its first mebibyte: the rest is found by its words."""
BESIDE_CHARACTERS_MAX = 200
_SPEAKERS = ("name", "tool", "from")
_BESIDE = ("subject", "title", "caption", "file", "filename", "path", "url")


def texts_of(event: Event, contents: ContentReader) -> Iterator[tuple[int, str]]:
    """Yield index rows and the texts to embed for them; none for a row without a letter or a digit.

    Raises:
        StoreDamaged: the payload is not what was written.
    """
    if not event.is_searchable or event.erased:
        return
    speaker, beside = _speaker(event), _beside(event)
    read = None
    inline = [Passage(0, 0, event.content or b"")]
    for passage in inline if event.artifact is None else cut(contents.pieces(event)):
        if passage.number >= PASSAGES_MAX:
            return
        read = read or words.reading(passage.data, event.media, event.kind)
        text = " ".join(read(passage.data)[: 2 * TEXT_CHARACTERS_MAX].split())[:TEXT_CHARACTERS_MAX]
        if any(map(str.isalnum, text)):
            yield row_of(event.position, passage.number), f"{speaker}{text}{beside}"


def _speaker(event: Event) -> str:
    said = event.agent or next((one for key in _SPEAKERS if isinstance(one := event.meta.get(key), str)), "")
    return f"{said}: " if said else ""


def _beside(event: Event) -> str:
    found = [one for key in _BESIDE if isinstance(one := event.meta.get(key), str)]
    return f" [{' '.join(found)[:BESIDE_CHARACTERS_MAX]}]" if found else ""
