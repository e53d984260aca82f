"""The rows of the text index: of an event, its passages and the situations that a note was learned in.

A row has its terms, each with how often it stands there (`TIMES`), and its place and facts,
which go into the columns. The invariant: the log alone decides the rows of an event, so that
a rebuild gives the same ones, and so does who cuts the newest events in memory.

This module knows no storage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from firsthand.event import Event, Kind
from firsthand.log.payload import ContentReader
from firsthand.value import value

from . import words
from .names import name_tokens
from .passages import PASSAGE_BYTES, Passage, cut

SAID, SITUATION, QUESTION_END, SHORT, ERASED = 1, 2, 4, 8, 128
"""Flags of a row: of a message that somebody said; a situation of a note; its text ends in a question mark; is short;
its event was erased after it was indexed."""
SHORT_CHARACTERS = 400
LEVELS = (2, 3, 5)
"""A term that stands so often in a row has a mark more in the index each: more exact would make no rank better."""
TIMES = (1, 2, 3, 7)
"""How often a term with so many marks is taken to stand in a row."""
MARK = "+"
"""No term has this sign."""
TERM_CHARACTERS_MAX = 256
_SAID = frozenset({Kind.USER_MESSAGE, Kind.AGENT_MESSAGE})
_QUESTION_MARKS = (b"?", b'?"', "\uff1f".encode(), "\u061f".encode())

Stems = Callable[[str], list[str]]
_MARKS = [[MARK * (mark + 1) for mark, least in enumerate(LEVELS) if count >= least] for count in range(LEVELS[-1] + 1)]
"""By how often a term stands in a row: its marks."""


@value
class IndexRow:
    """One row.

    Attributes:
        start, size: where in the event's content its bytes lie; of a situation its number, and 0.
        tokens: words in it.
        flags: as above.
        counts: its terms, and how often each stands in it.
        repeated: those that have marks, with each number of them that they have.
    """

    start: int
    size: int
    tokens: int
    flags: int
    counts: Mapping[str, int]
    repeated: Sequence[str]

    def marked(self) -> str:
        """Write the terms as the index is given them."""
        return " ".join([*self.counts, *self.repeated])


def marks_of(count: int) -> int:
    """Say how many marks a term has that stands so often in a row."""
    return sum(count >= least for least in LEVELS)


def rows_of(event: Event, contents: ContentReader, stems: Stems) -> Iterator[IndexRow]:
    """Yield the rows of an event, in their order; one without terms where nothing of it is to be found.

    Raises:
        StoreDamaged: the payload is not what was written.
    """
    if not event.is_searchable or event.erased:
        yield IndexRow(0, 0, 0, 0, {}, ())
        return
    head, around = words.header(event), stems(words.context(event))
    flags = SAID if event.kind in _SAID else 0
    read = None
    if event.artifact is None:
        content = event.content or b""
        read = words.reading(content, event.media, event.kind)
        most = len(content)  # of signs: four bytes at most are one
        if most < SHORT_CHARACTERS or (most < 4 * SHORT_CHARACTERS and len(read(content)) < SHORT_CHARACTERS):
            flags |= SHORT
        if content[-64:].rstrip().endswith(_QUESTION_MARKS):
            flags |= QUESTION_END
    for passage in passages_of(event, contents):
        read = read or words.reading(passage.data, event.media, event.kind)
        text = read(passage.data)
        called = name_tokens(event.session, event.meta, "" if passage.number else text)
        terms = words.of_text(text, head)
        yield _row(passage.start, len(passage.data), flags, terms, (*around, *called), stems)
    for number, situation in enumerate(words.situations(event)):
        yield _row(number, 0, SITUATION, words.of_text(situation), (), stems)


def passages_of(event: Event, contents: ContentReader) -> Iterator[Passage]:
    """Cut the payload of an event into its passages."""
    if event.artifact is None:
        content = event.content or b""
        return cut((content,), len(content)) if len(content) > PASSAGE_BYTES else iter((Passage(0, 0, content),))
    return cut(contents.pieces(event), event.artifact.size_bytes)


def _row(start: int, size: int, flags: int, terms: words.Words, others: Sequence[str], stems: Stems) -> IndexRow:
    tokens = stems(terms.text)
    counts: dict[str, int] = Counter(tokens)
    repeated = [term + marks for term, count in counts.items() if count > 1 for marks in _MARKS[min(count, LEVELS[-1])]]
    for term in (*terms.exact, *others):
        counts.setdefault(term, 1)
    if max(map(len, counts), default=0) > TERM_CHARACTERS_MAX:
        counts, repeated = dict.fromkeys(shortened([*counts]), 1), []
    return IndexRow(start, size, len(tokens), flags, counts, repeated)


def shortened(terms: list[str]) -> list[str]:
    """Cut what is no word to the length that a term may have."""
    if max(map(len, terms), default=0) <= TERM_CHARACTERS_MAX:
        return terms
    return [term[:TERM_CHARACTERS_MAX] for term in terms]
