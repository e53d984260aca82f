"""Reads the rows that the index names from the log, and sees what of a query stands in them.

What the index says is a candidate; what the bytes say is the answer. A damaged
event is left out and named, and never hides the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from firsthand.errors import StoreDamaged
from firsthand.event import Event, to_text
from firsthand.index import passages, words
from firsthand.log.read import Reader
from firsthand.value import value

from .plan import Question
from .rank import Match, Wanted, match

LEAD_CHARACTERS = 64
"""So much of the beginning of a content is read as its name."""
_HEAD_BYTES = 4_096
_DIGITS = re.compile(r"\d+")


@value
class Row:
    """One passage of one event, read from the log."""

    event: Event
    number: int
    start: int
    data: bytes


class Evidence:
    """Matches rows of one namespace against one question.

    Attributes:
        damaged: sentences on the events that could not be read.
    """

    def __init__(
        self,
        reader: Reader,
        namespace: str,
        question: Question,
        wanted: Sequence[Wanted],
        stems: Callable[[str], list[str]],
    ) -> None:
        self._reader, self._namespace = reader, namespace
        self._wanted, self._stems = wanted, stems
        asked = (*question.words, *question.stop_words)
        self._terms = {term.key: 0 for term in asked}
        self._pairs = any(term.key == words.token(term.word) for term in question.words)
        self._leading = {term.key for term in (question.stop_words if question.only_stop_words else question.words)}
        self._series, self._plain = _numbers(question)
        self._strings = {term.key for term in question.strings}
        self._contexts: dict[str, frozenset[str]] = {}
        self._events: dict[int, Event] = {}
        self._readings: dict[int, Callable[[bytes], str]] = {}
        self.damaged: list[str] = []

    def event(self, position: int) -> Event | None:
        """Give one event; None when it is damaged or not of this namespace."""
        if position not in self._events:
            self.load([position])
        return self._events.get(position)

    def load(self, positions: Sequence[int]) -> None:
        """Read events that are wanted soon, all at once."""
        missing = [position for position in dict.fromkeys(positions) if position not in self._events]
        try:
            found = self._reader.events_at(self._namespace, missing)
        except StoreDamaged:
            found = list(self._one_by_one(missing))
        self._events |= {event.position: event for event in found}

    def _one_by_one(self, positions: Sequence[int]) -> Iterator[Event]:
        for position in positions:
            try:
                event = self._reader.event_at(self._namespace, position)
            except StoreDamaged as error:
                self.damaged.append(f"an event is damaged and was left out: {error}")
                continue
            if event is not None:
                yield event

    def drop(self) -> None:
        """Let the events go that were read so far."""
        self._events.clear()

    def rows_of(self, event: Event) -> Iterator[Row]:
        """Read all passages of an event that is searched."""
        if not event.is_searchable:
            return
        if event.artifact is None:
            yield Row(event, 0, 0, event.content or b"")
            return
        for passage in passages.cut(self._reader.pieces(event)):
            yield Row(event, passage.number, passage.start, passage.data)

    def row(self, row: int) -> Row | None:
        """Read the passage that an index row stands for; None when it cannot be had."""
        event = self.event(passages.position_of(row))
        if event is None or event.erased or not event.is_searchable:
            return None
        number = passages.number_of(row)
        if event.artifact is None:
            return Row(event, 0, 0, event.content or b"") if number == 0 else None
        start, total = number * passages.PASSAGE_BYTES, passages.count(event.size_bytes)
        last = number + 1 >= total
        end = event.size_bytes if last else min(event.size_bytes, start + passages.REACH_BYTES)
        try:
            window = b"".join(self._reader.pieces(event, start, end))
        except StoreDamaged as error:
            self.damaged.append(f"an artifact is damaged and was left out: {error}")
            return None
        passage = passages.shape(window, number, last=last)
        return Row(event, number, passage.start, passage.data)

    def match(self, row: Row) -> Match | None:
        """See what of the question stands in a row; None when nothing that counts does."""
        event = row.event
        text = self._reading(row)(row.data)
        head = words.header(event)
        if self._terms:
            indexed = words.words_of(text, head)
            tokens = self._stems(indexed.text)
            if self._pairs:
                tokens += indexed.exact.split()
        else:
            tokens = []
        plain = to_text(row.data) if text else ""
        texts = (plain,) if text is plain or text == plain else (plain, text)
        around = self._context(event)
        found = match(self._terms, self._wanted, tokens, texts, head, around, self._named(row, plain, around))
        counts = any(key in found.times for key in self._leading)
        return found if counts or found.exact or found.folded or found.named else None

    def _context(self, event: Event) -> frozenset[str]:
        text = words.context(event)
        if text not in self._contexts:
            self._contexts[text] = frozenset(self._stems(text))
        return self._contexts[text]

    def _named(self, row: Row, text: str, around: frozenset[str]) -> tuple[str, ...]:
        """Give the numbers and exact strings of the question that the event is called by.

        A content begins with its name as often as not, so its first words count as one. A number
        counts beside a word: in ``medqa 31`` it is a name, alone it may be any number.
        """
        if not (self._series or self._strings):
            return ()
        lead = text[:LEAD_CHARACTERS].partition("\n")[0] if row.number == 0 else ""
        called = words.names(row.event)
        found = around & self._strings
        if self._strings:
            found |= self._strings.intersection(words.of_text(called).exact.split())
        for name in (called, lead):
            stems = frozenset(self._stems(name + words.unpadded(name)))
            if self._series & stems and (not self._plain or self._plain & stems):
                found |= self._series & stems
        return tuple(sorted(found))

    def _reading(self, row: Row) -> Callable[[bytes], str]:
        """Say how a row is read: by the first bytes of its payload, wherever it stands in it."""
        event = row.event
        if event.artifact is None:
            return words.reading(row.data, event.media, event.kind)
        if event.position not in self._readings:
            head = b"".join(self._reader.pieces(event, 0, min(_HEAD_BYTES, event.size_bytes)))
            self._readings[event.position] = words.reading(head, event.media, event.kind)
        return self._readings[event.position]


def _numbers(question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """Give the numbers of a question that may be a place in a series, and its other words.

    Those in a date, a version or an address are none: ``2.10`` of ``v2.10.3`` names nothing by itself.
    """
    parts = [spelled for spelled, _ in words.dates(question.text)]
    parts += [term.word for term in question.strings if len(_DIGITS.findall(term.word)) > 1]
    inside = {number.lstrip("0") for part in parts for number in _DIGITS.findall(part)}
    series = frozenset(
        term.key
        for term in question.words
        if (numbers := {number.lstrip("0") for number in _DIGITS.findall(term.word)}) and not numbers & inside
    )
    plain = frozenset(term.key for term in question.words if not any(map(str.isdigit, term.word)))
    return series, plain
