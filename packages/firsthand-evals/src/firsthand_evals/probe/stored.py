"""Judges notes by what stands in a store: a session, or the events that a note is said to rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firsthand import Appended, Event, Kind, Memory, Pointer, pointer
from firsthand.errors import Erased, InvalidArgument, MalformedPointer, Unresolvable
from firsthand.event import INJECTED, to_text
from firsthand_evals.probe.probe import Verdict, probe

_ROLES = {
    Kind.USER_MESSAGE: "user", Kind.TOOL_RESULT: "tool", Kind.DOCUMENT: "tool", Kind.ATTACHMENT: "tool",
    Kind.OTHER: "tool", Kind.SYSTEM: "system", Kind.AGENT_MESSAGE: "assistant", Kind.SUMMARY: "assistant",
    Kind.NOTE: "assistant", Kind.EPISODE: "assistant",
}  # fmt: skip
"""Who says an event, as the probe takes it: derived text is said by the agent, whoever derived it."""
SPAN_EVENTS_MAX = 200
"""Events of one source span that are read."""
READ_EVENTS_MAX, READ_CHARACTERS_MAX = 2_000, 200_000
"""Events that the probe reads, and characters of them in all: the first ones."""


def probe_in(
    memory: Memory,
    note: str,
    *,
    session: str = "",
    sources: Iterable[str | Pointer | Appended] = (),
    claim: str | None = None,
) -> Verdict:
    """Judge a note by what is in a store: a session, or the events that it is said to rest on.

    Args:
        session, sources: what the note stands on; with neither, what it cites itself.
        claim: words for what is asked for; None judges everything that was asked for or concluded.

    Raises:
        MalformedPointer, Unresolvable: a source is no pointer, or is not in this namespace; `Erased` when erased.
        InvalidArgument: the session has no events.
    """
    told = [event for one in map(_pointer, sources) for event in _whole(memory, one)]
    stands_on = messages_of(memory, told)
    if session:
        stands_on += messages_of(memory, memory.events(session), turns=False)
        if not stands_on:
            raise InvalidArgument(f"session {session!r:.120} has nothing that was said; expected one with events")

    def expand(address: str) -> str | None:
        try:
            return to_text(memory.expand(address))[:READ_CHARACTERS_MAX]
        except (MalformedPointer, Unresolvable, Erased):  # it leads nowhere: that is what None says
            return None

    return probe(note, stands_on, claim=claim, expand=expand)


def messages_of(memory: Memory, events: Iterable[Event], *, turns: bool = True) -> list[dict[str, str]]:
    """Give events as messages with their pointers, each once, in the order of the log, under a bound.

    Args:
        turns: with the user's message that began the turn of each.
    """
    wanted: dict[int, Event] = {}
    for event in events:
        for one in (event, *(_asked(memory, event) if turns else ())):
            if one.kind in _ROLES and one.is_searchable and not one.erased and INJECTED not in one.meta:
                wanted.setdefault(one.position, one)
        if len(wanted) >= READ_EVENTS_MAX:
            break
    found, left = [], READ_CHARACTERS_MAX
    for _, one in sorted(wanted.items()):
        content = one.text[:left]
        left -= len(content)
        if content:
            found.append({"role": _ROLES[one.kind], "content": content, "pointer": f"fh:{one.id}"})
    return found


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


def _asked(memory: Memory, event: Event) -> Iterator[Event]:
    """Yield the user message that began an event's turn, if one did."""
    before = event.position + 1
    for one in memory.events(event.session, before=before, kind=Kind.USER_MESSAGE, limit=1, newest_first=True):
        if one.is_searchable and not one.erased:
            yield one
