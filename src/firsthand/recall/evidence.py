"""Reads the rows that the index names from the log, each event once for all attempts of a recall.

What the index says is a candidate; what the bytes say is the answer. A damaged
event is left out and named, and never hides the others. It knows no query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from firsthand.errors import StoreDamaged
from firsthand.event import Event
from firsthand.index import passages, words
from firsthand.log.read import Reader
from firsthand.value import value

_HEAD_BYTES = 4_096


@value
class Row:
    """One passage of one event, read from the log."""

    event: Event
    number: int
    start: int
    data: bytes


class Evidence:
    """Reads rows of one namespace.

    Args:
        stems: cuts a text as the index does.

    Attributes:
        damaged: sentences on the events that could not be read.
    """

    def __init__(self, reader: Reader, namespace: str, stems: Callable[[str], list[str]]) -> None:
        self._reader, self._namespace, self.stems = reader, namespace, stems
        self._events: dict[int, Event] = {}
        self._readings: dict[int, Callable[[bytes], str]] = {}
        self._texts: dict[int, str] = {}
        self._tokens: dict[int, tuple[str, ...]] = {}
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
        self._texts.clear()
        self._tokens.clear()

    def rows_of(self, event: Event) -> Iterator[Row]:
        """Read all passages of an event that is searched; of a damaged artifact those before the damage."""
        if not event.is_searchable:
            return
        if event.artifact is None:
            yield Row(event, 0, 0, event.content or b"")
            return
        try:
            for passage in passages.cut(self._reader.pieces(event)):
                yield Row(event, passage.number, passage.start, passage.data)
        except StoreDamaged as error:
            self.damaged.append(f"an artifact is damaged and was left out from there on: {error}")

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

    def text(self, row: Row) -> str:
        """Give a row as text, its escapes read; empty for what is no text."""
        key = passages.row_of(row.event.position, row.number)
        if key not in self._texts:
            self._texts[key] = self._reading(row)(row.data)
        return self._texts[key]

    def tokens(self, row: Row) -> tuple[str, ...]:
        """Give the stems of a row's text and of who said it, in their order."""
        key = passages.row_of(row.event.position, row.number)
        if key not in self._tokens:
            self._tokens[key] = tuple(self.stems(words.words_of(self.text(row), words.header(row.event)).text))
        return self._tokens[key]

    def _reading(self, row: Row) -> Callable[[bytes], str]:
        """Say how a row is read: by the first bytes of its payload, wherever it stands in it."""
        event = row.event
        if event.artifact is None:
            return words.reading(row.data, event.media, event.kind)
        if event.position not in self._readings:
            head = row.data[:_HEAD_BYTES]
            if row.number:
                head = b"".join(self._reader.pieces(event, 0, min(_HEAD_BYTES, event.size_bytes)))
            self._readings[event.position] = words.reading(head, event.media, event.kind)
        return self._readings[event.position]
