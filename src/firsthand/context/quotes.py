"""Finds what quotes events that are to be erased: copies of their words that Firsthand itself made.

Receipts (topic hints), task states, records of prompts (topic labels), answers of
recall and expand, notes (the situations they were learned in) and episodes repeat words
of the events they stand for. The invariant: after an erasure no event that Firsthand wrote
still says what was erased, as far as it names its source; what a model or a user said
again is theirs and stays. A note, an entry or an episode goes with any of its sources, and what rests on it goes too.

It finds; who erases is the log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from firsthand.answer import Query
from firsthand.context.anatomy import from_event
from firsthand.context.receipt import from_json
from firsthand.errors import FormatError
from firsthand.event import INJECTED, Event, Kind
from firsthand.ledger.ledger_recall import recall
from firsthand.ledger.proposals import pending_on
from firsthand.notes.sources import readable, resting_on
from firsthand.space import Space

HITS_MAX = 20  # among which another event with the same term is looked for


def quoting(space: Space, identifiers: Iterable[str]) -> list[str]:
    """Name the events that repeat words of some others, in order; each once, and none of the others."""
    erased = {name: space.event(f"fh:{name}") for name in identifiers}
    return list(dict.fromkeys(_Search(space, {n: event for n, event in erased.items() if not event.erased}).found()))


class _Search:
    """The search for what quotes some events."""

    def __init__(self, space: Space, erased: Mapping[str, Event]) -> None:
        self._space, self._erased = space, erased
        self._positions = {event.position for event in erased.values()}
        self._elsewhere: dict[str, bool] = {}
        self._going: Collection[str] = frozenset(erased)

    def found(self) -> Iterator[str]:
        resting = self._resting()
        self._going = {*self._erased, *resting}
        first: dict[str, int] = {}
        for event in self._erased.values():
            first[event.session] = min(event.position, first.get(event.session, event.position))
        for session, position in sorted(first.items()):
            for kind in (Kind.RECEIPT, Kind.TASK_STATE, Kind.ANATOMY):
                for event in readable(self._space, session, position, kind):
                    if not event.erased and event.id not in self._erased and self._quotes(event):
                        yield event.id
        after = min(self._positions, default=0)
        yield from resting
        yield from self._answers(after, self._going)

    def _resting(self) -> list[str]:
        """Find episodes and notes, in any session, that rest on one of the events, or on such a one, or repeat it."""
        kinds = (Kind.EPISODE, Kind.NOTE, Kind.ENTRY, Kind.LEDGER, Kind.TUNING, Kind.SESSION)
        events = self._erased.values()
        return [*(event.id for event in resting_on(self._space, events, kinds)), *pending_on(self._space, events)]

    def _answers(self, after: int, pointers: Collection[str]) -> Iterator[str]:
        """Find answers of recall and expand, in any session, that show one of the events or notes that go."""
        for event in readable(self._space, None, after, Kind.TOOL_RESULT) if pointers else ():
            if event.meta.get(INJECTED) is True and not event.erased and event.id not in self._erased:
                text = self._space.expand(f"fh:{event.id}").decode("utf-8", "replace")
                if any(name in text for name in pointers):
                    yield event.id

    def _quotes(self, event: Event) -> bool:
        """Say whether a receipt, task state or anatomy repeats words of one of the events, which nobody else says."""
        content = self._space.expand(f"fh:{event.id}")
        if event.kind is Kind.TASK_STATE:
            return any(name.encode() in content for name in self._erased)
        try:
            if event.kind is Kind.RECEIPT:
                receipt = from_json(content)
                hints = [hint for marker in receipt.markers for hint in marker.hints]
                terms = [hint.term for hint in hints if hint.position in self._positions]
                if any(question.id in self._erased for question in receipt.totals.missed):
                    return True
            else:
                topic = from_event(event).topic
                terms = topic.split(", ") if topic else []
        except FormatError:  # it cannot be read, so that nothing can be ruled out: it goes with them
            return True
        return any(self._stands_in_them(term) and not self._is_said_elsewhere(term) for term in terms)

    def _stands_in_them(self, term: str) -> bool:
        folded = term.casefold()
        return any(folded in event.text.casefold() for event in self._erased.values())

    def _is_said_elsewhere(self, term: str) -> bool:
        """Say whether an event that stays has a term too, so that repeating it tells nothing of those that go."""
        if term not in self._elsewhere:
            hits = recall(self._space, Query(term, hits_max=HITS_MAX)).hits
            others = (hit.pointer for hit in hits if hit.pointer.removeprefix("fh:") not in self._going)
            folded = term.casefold()
            self._elsewhere[term] = any(folded in self._space.event(name).text.casefold() for name in others)
        return self._elsewhere[term]
