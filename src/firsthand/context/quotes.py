"""Finds what quotes events that are to be erased: copies of their words that Firsthand itself made.

Receipts (topic hints), task states, records of prompts (topic labels), answers of
recall and expand, notes (the situations they were learned in) and episodes repeat words
of the events they stand for. The invariant: after an erasure no event that Firsthand wrote
still says what was erased, as far as it names its source; what a model or a user said
again is theirs and stays. A note, an entry or an episode goes with any of its sources, and what rests on it goes too.

It finds; who erases is the log.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from firsthand.answer import Query
from firsthand.context.anatomy import from_event
from firsthand.context.receipt import from_json
from firsthand.errors import FormatError
from firsthand.event import INJECTED, Event, Kind, texts
from firsthand.notes.writer import rests_on

if TYPE_CHECKING:
    from firsthand.memory import Memory

PARENTS = "parents"
"""The fact in an entry's meta that names the entries whose place it takes."""
HITS_MAX = 20  # among which another event with the same term is looked for


def quoting(memory: Memory, identifiers: Iterable[str]) -> list[str]:
    """Name the events that repeat words of some others, in order; each once, and none of the others."""
    erased = {name: memory.event(f"fh:{name}") for name in identifiers}
    return list(dict.fromkeys(_Search(memory, {n: one for n, one in erased.items() if not one.erased}).found()))


class _Search:
    """The search for what quotes some events."""

    def __init__(self, memory: Memory, erased: Mapping[str, Event]) -> None:
        self._memory, self._erased = memory, erased
        self._positions = {event.position for event in erased.values()}
        self._elsewhere: dict[str, bool] = {}

    def found(self) -> Iterator[str]:
        first: dict[str, int] = {}
        for event in self._erased.values():
            first[event.session] = min(event.position, first.get(event.session, event.position))
        for session, position in sorted(first.items()):
            for kind in (Kind.RECEIPT, Kind.TASK_STATE, Kind.ANATOMY):
                for event in self._readable(session, position, kind):
                    if not event.erased and event.id not in self._erased and self._quotes(event):
                        yield event.id
        after = min(self._positions, default=0)
        notes = self._resting()
        yield from notes
        yield from self._answers(after, {*self._erased, *notes})

    def _resting(self) -> list[str]:
        """Find episodes and notes, in any session, that rest on one of the events, or on such a one, or repeat it."""
        kinds = (Kind.EPISODE, Kind.NOTE, Kind.ENTRY, Kind.LEDGER, Kind.TUNING)
        return [one.id for one in resting_on(self._memory, self._erased.values(), kinds)]

    def _answers(self, after: int, shown: Collection[str]) -> Iterator[str]:
        """Find answers of recall and expand, in any session, that show one of the events or notes that go."""
        for event in self._readable(None, after, Kind.TOOL_RESULT) if shown else ():
            if event.meta.get(INJECTED) is True and not event.erased and event.id not in self._erased:
                text = self._memory.expand(f"fh:{event.id}").decode("utf-8", "replace")
                if any(name in text for name in shown):
                    yield event.id

    def _readable(self, session: str | None, after: int, kind: Kind) -> Iterator[Event]:
        return _readable(self._memory, session, after, kind)

    def _quotes(self, event: Event) -> bool:
        """Say whether a receipt, task state or anatomy repeats words of one of the events, which nobody else says."""
        content = self._memory.expand(f"fh:{event.id}")
        if event.kind is Kind.TASK_STATE:
            return any(name.encode() in content for name in self._erased)
        try:
            if event.kind is Kind.RECEIPT:
                receipt = from_json(content)
                hints = [hint for marker in receipt.markers for hint in marker.hints]
                terms = [hint.term for hint in hints if hint.position in self._positions]
                if any(one.id in self._erased for one in receipt.totals.missed):
                    return True
            else:
                topic = from_event(event).topic
                terms = topic.split(", ") if topic else []
        except FormatError:  # it cannot be read, so that nothing can be ruled out: it goes with them
            return True
        return any(self._stands_in_them(term) and not self._is_said_elsewhere(term) for term in terms)

    def _stands_in_them(self, term: str) -> bool:
        folded = term.casefold()
        return any(folded in one.text.casefold() for one in self._erased.values())

    def _is_said_elsewhere(self, term: str) -> bool:
        """Say whether an event that stays has a term too, so that repeating it tells nothing of those that go."""
        if term not in self._elsewhere:
            hits = self._memory.recall(Query(term, hits_max=HITS_MAX)).hits
            others = (hit.pointer for hit in hits if hit.pointer.removeprefix("fh:") not in self._erased)
            folded = term.casefold()
            self._elsewhere[term] = any(folded in self._memory.event(one).text.casefold() for one in others)
        return self._elsewhere[term]


def resting_on(memory: Memory, events: Iterable[Event], kinds: Collection[Kind]) -> list[Event]:
    """Give the events of some kinds that rest on some others, or on such a one, or came of it, in order."""
    gone = {one.id: one for one in events}
    found: list[Event] = []
    after = min((one.position for one in gone.values()), default=0)  # what rests on something comes after it
    of_each = (_readable(memory, None, after, kind) for kind in kinds) if gone else ()
    for event in heapq.merge(*of_each, key=lambda one: one.position):
        if event.erased or event.id in gone:
            continue
        if not gone.keys().isdisjoint(texts(event.meta.get(PARENTS))) or rests_on(memory, event, gone):
            gone[event.id] = event
            found.append(event)
    return found


def _readable(memory: Memory, session: str | None, after: int, kind: Kind) -> Iterator[Event]:
    """Yield events; what is damaged says nothing that could be read, and stops no erasure."""
    reader = memory._log.reader  # noqa: SLF001 - one room
    return reader.events(memory.namespace, session=session, after=after, kind=kind, damaged=lambda *_: None)
