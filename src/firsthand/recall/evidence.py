"""Reads the rows that the index names from the log, and sees what of a query stands in them.

What the index says is a candidate; what the bytes say is the answer. A damaged
event is left out and named, and never hides the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from firsthand.errors import StoreDamaged
from firsthand.event import Event, to_text
from firsthand.index import passages, words
from firsthand.log.read import Reader
from firsthand.value import value

from .plan import Question
from .rank import Match, Wanted, match

_HEAD_BYTES = 4_096


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
        found = match(self._terms, self._wanted, tokens, texts, head)
        counts = any(key in found.times for key in self._leading)
        return found if counts or found.exact or found.folded else None

    def _reading(self, row: Row) -> Callable[[bytes], str]:
        """Say how a row is read: by the first bytes of its payload, wherever it stands in it."""
        event = row.event
        if event.artifact is None:
            return words.reading(row.data, event.media, event.kind)
        if event.position not in self._readings:
            head = b"".join(self._reader.pieces(event, 0, min(_HEAD_BYTES, event.size_bytes)))
            self._readings[event.position] = words.reading(head, event.media, event.kind)
        return self._readings[event.position]
