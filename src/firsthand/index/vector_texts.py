"""Which texts of an event are embedded, and for which row of it: its passages, and a note's situations.

A text begins with who said it, as ``Speaker: text [what goes with it]``: without
the speaker dense recall on locomo falls by half.

The invariant: the same event gives the same texts, whatever is installed, and a row at
most one, under the number that it has in the event (`index_rows`). `VERSION` is part of
a space's identity, so other rules are other spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.event import Event
from firsthand.log.payload import ContentReader

from . import words
from .embed.port import Embedder
from .index_rows import passages_of
from .vectors import vector_key

VERSION = 2
TEXT_CHARACTERS_MAX = 2_000
"""Of a passage: more than the 256 tokens that small sentence models read; what lies behind is found by its words."""
PASSAGES_MAX = 64
"""Of one event, that is some 100 kB of it: the rest is found by its words."""
BESIDE_CHARACTERS_MAX = 200
_SPEAKERS = ("name", "tool", "from")
_BESIDE = ("subject", "title", "caption", "file", "filename", "path", "url")


def identity_of(embedder: Embedder) -> str:
    """Name the space of an embedder: its identity and the rules by which texts are cut for it."""
    return f"{embedder.identity} texts-{VERSION}"


def texts_of(event: Event, contents: ContentReader) -> Iterator[tuple[int, str]]:
    """Yield keys of rows and the texts to embed for them; none for one without a letter or a digit.

    Raises:
        StoreDamaged: the payload is not what was written.
    """
    if not event.is_searchable or event.erased:
        return
    speaker, beside = _speaker(event), _beside(event)
    situations = words.situations(event)
    read, rows = None, 0
    for passage in passages_of(event, contents):
        rows = passage.number + 1
        if passage.number >= PASSAGES_MAX:
            if not situations:
                return
            continue
        read = read or words.reading(passage.data, event.media, event.kind)
        text = " ".join(read(passage.data)[: 2 * TEXT_CHARACTERS_MAX].split())[:TEXT_CHARACTERS_MAX]
        if any(map(str.isalnum, text)):
            yield vector_key(event.position, passage.number), f"{speaker}{text}{beside}"
    for number, situation in enumerate(situations, rows):
        if any(map(str.isalnum, situation)):
            yield vector_key(event.position, number), " ".join(situation.split())


def _speaker(event: Event) -> str:
    speaker = event.agent or next((value for key in _SPEAKERS if isinstance(value := event.meta.get(key), str)), "")
    return f"{speaker}: " if speaker else ""


def _beside(event: Event) -> str:
    values = [value for key in _BESIDE if isinstance(value := event.meta.get(key), str)]
    return f" [{' '.join(values)[:BESIDE_CHARACTERS_MAX]}]" if values else ""
