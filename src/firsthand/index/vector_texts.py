"""Which texts of an event are embedded, and for which index row.

A text begins with who said it, as ``Speaker: text [what goes with it]``: without
the speaker dense recall on locomo falls by half. A long passage is cut into pieces
of some thousand characters, which is what small models read at once; each piece
gets a vector of its own, and a row counts by its best one.

The invariant: the same event gives the same texts, whatever is installed.
`VERSION` is part of a space's identity, so other rules are other spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.event import Event
from firsthand.log.port import ContentReader

from . import words
from .passages import Passage, cut, row_of

VERSION = 1
PIECE_CHARACTERS = 1_000
"""About 250 tokens of English, of which small sentence models read 256."""
PIECES_MAX = 4
"""Of one passage: its beginning; what lies behind is found by its words."""
PASSAGES_MAX = 64
"""Of one event, that is its first mebibyte: the rest is found by its words."""
BESIDE_CHARACTERS_MAX = 200
_SPEAKERS = ("name", "tool", "from")
_BESIDE = ("subject", "title", "caption", "file", "filename", "path", "url")


def texts_of(event: Event, contents: ContentReader) -> Iterator[tuple[int, str]]:
    """Yield index rows and the texts to embed for them; several for a row of a long text, none for what has no words.

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
        for piece in pieces(read(passage.data)):
            yield row_of(event.position, passage.number), f"{speaker}{piece}{beside}"


def pieces(text: str) -> Iterator[str]:
    """Cut a text at spaces into pieces; nothing for one without a letter or a digit."""
    text = " ".join(text[: (PIECES_MAX + 1) * PIECE_CHARACTERS * 2].split())
    at = 0
    for _ in range(PIECES_MAX):
        piece = text[at : at + PIECE_CHARACTERS]
        if len(text) - at > PIECE_CHARACTERS:
            space = piece.rfind(" ", PIECE_CHARACTERS // 2)
            piece = piece[:space] if space > 0 else piece
        if any(map(str.isalnum, piece)):
            yield piece
        at += len(piece)
        if at >= len(text):
            return


def _speaker(event: Event) -> str:
    said = event.agent or next((one for key in _SPEAKERS if isinstance(one := event.meta.get(key), str)), "")
    return f"{said}: " if said else ""


def _beside(event: Event) -> str:
    found = [one for key in _BESIDE if isinstance(one := event.meta.get(key), str)]
    return f" [{' '.join(found)[:BESIDE_CHARACTERS_MAX]}]" if found else ""
