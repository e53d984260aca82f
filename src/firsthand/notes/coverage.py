"""Which values of a source a text lacks: of a host's summary, another memory's note, or any other text.

    12 of 40 source values are in it; not in it: 8443, /etc/app.toml; the source: fh:01J8...

A value is a number with its unit, a date, an exact string (a path, a version, an identifier)
or a quoted name, as a user or a tool spelled it. The invariant: k of n counts every value of
the span. It is evidence, and no verdict: what a text says beside them, or wrongly, nobody
checked. Source: reclaim-evaluation 3, 12.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from firsthand.errors import InvalidArgument
from firsthand.event import INJECTED, Event, Kind
from firsthand.index.words import exact_strings
from firsthand.notes.quantity import Literal, literals
from firsthand.notes.sources import events_named
from firsthand.space import Address, Space, pointer_of
from firsthand.value import value

SPAN_EVENTS_MAX = 5_000
"""Of a span, its newest events."""
NAMED_MAX = 12
_SAID = (Kind.USER_MESSAGE, Kind.TOOL_RESULT, Kind.DOCUMENT, Kind.ATTACHMENT)
_SPAN = (*_SAID, Kind.AGENT_MESSAGE, Kind.TOOL_CALL)
_QUOTED = re.compile(
    '"([^"\n]{2,80})"|`([^`\n]{2,80})`|\u201c([^\u201d\n]{2,80})\u201d|\u00ab([^\u00bb\n]{2,80})\u00bb'
)


@value
class Coverage:
    """Which values of a span a text holds.

    Attributes:
        missing: those that it lacks, what users said first, the newest first.
        of: how many there are.
        pointer: of the span, to read what is missing.
    """

    missing: tuple[str, ...]
    of: int
    pointer: str

    @property
    def sentence(self) -> str:
        """The count, the first of what is missing, and where all of it is."""
        if not self.of:
            return f"the source holds no values: {self.pointer}"
        named = ", ".join(self.missing[:NAMED_MAX])
        more = f" and {len(self.missing) - NAMED_MAX:,} more" if len(self.missing) > NAMED_MAX else ""
        without = f"; not in it: {named}{more}" if self.missing else ""
        share = f"{self.of - len(self.missing):,} of {self.of:,} source values are in it"
        return f"{share}{without}; the source: {self.pointer}"


def coverage(space: Space, text: str, source: Address) -> Coverage:
    """Count the values of an event or a span that a text holds.

    Raises:
        MalformedPointer, Unresolvable: the source is no pointer of an event here.
    """
    address = pointer_of(source)
    span = events_named(space, address, SPAN_EVENTS_MAX, newest_first=True)
    return _counted(text, span, str(address))


def of_summary(space: Space, address: Address) -> Coverage:
    """Count what a host's summary holds of the span that it took the place of: from the summary before it on.

    Raises:
        InvalidArgument: the event is no summary, or stands for nothing.
        MalformedPointer, Unresolvable: it is no pointer of an event here.
    """
    summary = space.event(address)
    if summary.kind is not Kind.SUMMARY:
        raise InvalidArgument(
            f"fh:{summary.id} is a {summary.kind}; expected a host's summary, or a text and its source"
        )
    before = space.events(summary.session, kind=Kind.SUMMARY, before=summary.position, limit=1, newest_first=True)
    after = next((each.position for each in before), 0)
    events = space.events(
        summary.session, after=after, before=summary.position, limit=SPAN_EVENTS_MAX, newest_first=True
    )
    span = [event for event in events if event.kind in _SPAN]
    if not span:
        raise InvalidArgument(f"nothing stands before fh:{summary.id} in its session, so it took the place of nothing")
    return _counted(summary.text, span, f"fh:{span[-1].id}..{span[0].id}" if len(span) > 1 else f"fh:{span[0].id}")


def _counted(text: str, events: Iterable[Event], pointer: str) -> Coverage:
    said = [event for event in events if event.kind in _SAID and not event.erased and not event.meta.get(INJECTED)]
    said.sort(key=lambda event: (event.kind is not Kind.USER_MESSAGE, -event.position))
    folded, there = text.casefold(), {_amount(literal) for literal in literals(text)}
    values: dict[object, str] = {}
    missing: dict[object, str] = {}
    for event in said:
        for key, spelled in _values(event.text):
            if key not in values:
                values[key] = spelled
                if not (key in there or spelled.casefold() in folded):
                    missing[key] = spelled
    return Coverage(tuple(missing.values()), len(values), pointer)


def _values(text: str) -> Iterator[tuple[object, str]]:
    """Yield the values of a text: by what a number amounts to, and by the letters of anything else."""
    numbers = [(_amount(literal), literal.text) for literal in literals(text)]
    yield from numbers
    spelled = {text for _, text in numbers}
    names = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    for string in dict.fromkeys([*exact_strings(text), *names]):
        if not any(string in number for number in spelled):
            yield string.casefold(), string


def _amount(literal: Literal) -> object:
    quantity = literal.quantity
    return quantity.number, quantity.dimension
