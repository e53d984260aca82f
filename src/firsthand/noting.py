"""Notes with their sources: what was learned, from which events, and in which situations (DESIGN 2.7, Triggers).

A rule is found by the situations it was learned in: by default what the user said in
the turns of its sources. They are kept in the note's meta, so that the index is a
function of the event alone; each names the event whose words it repeats, so that an
erasure finds the copy.

It decides what is kept of a situation; it does not know how notes are indexed or found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firsthand import moment, pointer
from firsthand.errors import Erased, InvalidArgument, MalformedPointer
from firsthand.event import Draft, Event, Kind, Trust, texts, to_bytes
from firsthand.index.words import SITUATION_CHARACTERS_MAX, SITUATIONS, SITUATIONS_MAX
from firsthand.log.append import Appended
from firsthand.pointer import Pointer
from firsthand.value import value

if TYPE_CHECKING:
    from firsthand.memory import Memory

NOTES = "notes"
"""The session that `Memory.note` writes to when none is named; every agent of the namespace reads it."""
SORTS = ("note", "rule", "lesson")
SOURCES_MAX = 64
SPAN_EVENTS_MAX = 200
"""Events of one source span whose turns are looked at for situations."""
SOURCES, REPEATS, SORT = "sources", "situations_of", "sort"
"""Facts in a note's meta: pointers it rests on; of each situation the event it repeats; which sort of note it is."""


@value
class Noted:
    """What `note` kept.

    Attributes:
        event: the note.
        sources: pointers it rests on.
        situations: the texts it is found by, as kept.
        left_out: sentences on what was cut or could not be had.
    """

    event: Appended
    sources: tuple[str, ...]
    situations: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def pointer(self) -> str:
        """The pointer of the note."""
        return self.event.pointer


@value
class _Told:
    """Situations, the pointer of the event that each repeats (empty for one that was given), and what was left out."""

    texts: tuple[str, ...]
    repeats: tuple[str, ...]
    left_out: tuple[str, ...]


def note(
    memory: Memory,
    text: str | bytes,
    *,
    session: str,
    sources: Iterable[str | Pointer | Appended],
    situations: Sequence[str] | None,
    sort: str,
    fields: dict[str, Any],
) -> Noted:
    """Append a note with its sources and situations; see `Memory.note`."""
    if sort not in SORTS:
        raise InvalidArgument(f"the sort of a note is one of {', '.join(SORTS)}; got {sort!r}")
    if isinstance(sources, (str, bytes)) or not isinstance(sources, Iterable):
        raise InvalidArgument(f"sources is a list of pointers; got {sources!r:.60}")
    more = fields.pop("meta", {})
    if not isinstance(more, Mapping) or {SOURCES, REPEATS, SORT, SITUATIONS} & set(more):
        raise InvalidArgument(
            f"meta is a mapping without {SORT}, {SOURCES}, {SITUATIONS} and {REPEATS}, which come from the other "
            f"arguments; got {more!r:.60}"
        )
    pointers = list(dict.fromkeys(map(_pointer, sources)))
    if len(pointers) > SOURCES_MAX:
        raise InvalidArgument(f"a note has at most {SOURCES_MAX} sources; got {len(pointers):,}. Name spans instead.")
    events = [_whole(memory, one) for one in pointers]
    told = _from_turns(memory, pointers, events) if situations is None else _given(situations)
    meta: dict[str, Any] = {**more, SORT: sort}
    meta |= {SOURCES: [str(one) for one in pointers]} if pointers else {}
    meta |= {SITUATIONS: list(told.texts), REPEATS: list(told.repeats)} if told.texts else {}
    if "id" not in fields:
        fields.setdefault("time", moment.now())
    given: dict[str, Any] = {"origin": "agent", "trust": Trust.AGENT} | fields
    draft = Draft(Kind.NOTE, to_bytes(text) if isinstance(text, str) else text, meta=meta, **given)
    appended = memory.append([draft], session=session)[0]
    return Noted(appended, tuple(map(str, pointers)), told.texts, told.left_out)


def rests_on(memory: Memory, one: Event, erased: Mapping[str, Event]) -> bool:
    """Say whether a note names one of some events as its source, or repeats its words in a situation."""
    named = [*texts(one.meta.get(SOURCES)), *texts(one.meta.get(REPEATS))]
    for text in named:
        try:
            address = pointer.parse(text)
        except MalformedPointer:  # what another program wrote there, or nothing for a situation that was given
            continue
        if address.first in erased or address.last in erased:
            return True
        if address.last is not None:
            ends = memory.event(Pointer(address.first)), memory.event(Pointer(address.last))
            session, low, high = ends[0].session, ends[0].position, ends[1].position
            if any(event.session == session and low <= event.position <= high for event in erased.values()):
                return True
    return False


def _pointer(address: str | Pointer | Appended) -> Pointer:
    if isinstance(address, Appended):
        return Pointer(address.id)
    return address if isinstance(address, Pointer) else pointer.parse(address)


def _whole(memory: Memory, address: Pointer) -> tuple[Event, ...]:
    """Read the events of a source, up to a number; it must be there."""
    first = memory.event(Pointer(address.first))
    if first.erased:
        raise Erased(f"fh:{first.id} was erased; a note cannot rest on it. Name a source that is there.")
    if address.last is None:
        return (first,)
    last = memory.event(Pointer(address.last))
    found = memory.events(first.session, after=first.position - 1, before=last.position + 1, limit=SPAN_EVENTS_MAX)
    return tuple(event for event in found if not event.erased)


def _given(situations: Sequence[str]) -> _Told:
    if isinstance(situations, (str, bytes)) or not isinstance(situations, Sequence):
        raise InvalidArgument(f"situations is a list of texts; got {situations!r:.60}")
    if any(not isinstance(one, str) for one in situations):
        raise InvalidArgument(f"situations is a list of texts; got {situations!r:.60}")
    return _cut([(one, "") for one in situations if one.strip()], [])


def _from_turns(memory: Memory, pointers: Sequence[Pointer], sources: Sequence[tuple[Event, ...]]) -> _Told:
    """Take what the user said in the turn of each source."""
    found: dict[str, str] = {}  # text by the pointer of its event
    left_out = []
    for address, events in zip(pointers, sources, strict=True):
        said = {f"fh:{one.id}": one.text for event in events for one in _asked(memory, event)}
        if not said:
            left_out.append(f"nobody asked anything in the turn of {address}: it gives no situation")
        found |= said
    return _cut([(text, name) for name, text in found.items() if text.strip()], left_out)


def _asked(memory: Memory, event: Event) -> Iterator[Event]:
    """Yield the user message that began an event's turn, if one did."""
    before = event.position + 1
    for one in memory.events(event.session, before=before, kind=Kind.USER_MESSAGE, limit=1, newest_first=True):
        if one.is_searchable and not one.erased:
            yield one


def _cut(told: Sequence[tuple[str, str]], left_out: list[str]) -> _Told:
    """Keep situations within their limits; say what was cut."""
    if len(told) > SITUATIONS_MAX:
        left_out.append(f"{len(told):,} situations: the first {SITUATIONS_MAX} were kept")
    kept = told[:SITUATIONS_MAX]
    long = sum(len(text) > SITUATION_CHARACTERS_MAX for text, _ in kept)
    if long:
        left_out.append(f"{long} of the situations were cut to {SITUATION_CHARACTERS_MAX:,} characters")
    texts = tuple(text[:SITUATION_CHARACTERS_MAX] for text, _ in kept)
    return _Told(texts, tuple(name for _, name in kept), tuple(left_out))
