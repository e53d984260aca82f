"""Judges notes by what stands in a store: a session, or the events that a note is said to rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from firsthand import Erased, Event, InvalidArgument, Kind, Memory, Unresolvable, pointer
from firsthand.errors import MalformedPointer
from firsthand.event import INJECTED, to_text
from firsthand_evals.probe.probe import Verdict, probe

_ROLES = {
    Kind.USER_MESSAGE: "user", Kind.TOOL_RESULT: "tool", Kind.DOCUMENT: "tool", Kind.ATTACHMENT: "tool",
    Kind.OTHER: "tool", Kind.SYSTEM: "system", Kind.AGENT_MESSAGE: "assistant", Kind.SUMMARY: "assistant",
    Kind.NOTE: "assistant", Kind.EPISODE: "assistant",
}  # fmt: skip
"""Who says an event, as the probe takes it: derived text is said by the agent, whoever derived it."""
READ_EVENTS_MAX, READ_CHARACTERS_MAX = 2_000, 200_000
"""Events that the probe reads, and characters of one: the first ones."""


def probe_in(
    memory: Memory, note: str, *, session: str = "", sources: Iterable[str] = (), claim: str | None = None
) -> Verdict:
    """Judge a note by what is in a store: a session, and events or spans by their pointers.

    Raises:
        MalformedPointer, Unresolvable: a source is no pointer, or is not in this namespace; `Erased` when erased.
        InvalidArgument: nothing was said there.
    """
    events: dict[int, Event] = {}
    for address in sources:
        for below in memory.open_span(pointer.parse(address)):
            events.setdefault(below.event.position, below.event)
    if session:
        events |= {event.position: event for event in islice(memory.events(session), READ_EVENTS_MAX)}
    messages = list(_messages(event for _, event in sorted(events.items())))
    if not messages:
        where = f"session {session!r:.120}" if session else "the sources"
        raise InvalidArgument(f"nothing was said in {where}; expected events with text")

    def expand(address: str) -> str | None:
        try:
            return to_text(memory.expand(address))[:READ_CHARACTERS_MAX]
        except (MalformedPointer, Unresolvable, Erased):  # it leads nowhere: that is what None says
            return None

    return probe(note, messages, claim=claim, expand=expand)


def _messages(events: Iterable[Event]) -> Iterator[dict[str, str]]:
    """Give events as messages with their pointers."""
    for event in events:
        if event.kind in _ROLES and event.is_searchable and not event.erased and INJECTED not in event.meta:
            text = event.text[:READ_CHARACTERS_MAX]
            if text:
                yield {"role": _ROLES[event.kind], "content": text, "pointer": f"fh:{event.id}"}
