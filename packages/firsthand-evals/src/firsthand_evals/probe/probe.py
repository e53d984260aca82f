r"""The probe: whether what a note concludes can still be corrected, from the note or through its pointers.

    "The total was $55."                                   silent: it concludes, its source is gone
    "They spoke of prices."  "0 of 2 lines kept: $55."     loud: it has nothing, or counts what it lacks
    "The total was $55 (fh:01J8...)"                       reachable, when that event has the line items
    "7 notebooks at $4, 9 pens at $2. The total was $55."  correctable

It compares exact values and quotations, and reads no sentence. What an agent gave last is
the conclusion; what it follows from by arithmetic (`arithmetic`), else every statement
with an exact value that somebody other than an agent said, is what a correction takes.
A statement without any value is there when its words are.

The invariants: a conclusion is never a source; what stands behind a pointer is read, not
believed, and counts where the session has it. It does not know what is relevant, nor
whether a reader would get the answer right. How often it is right: PROBE.md.
Source: reclaim-evaluation 3, 7, 12 (a check at the time of writing).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal

from firsthand import Erased, Event, InvalidArgument, Kind, Memory, Note, Unresolvable, pointer
from firsthand.errors import MalformedPointer
from firsthand.event import INJECTED, to_text
from firsthand.value import value
from firsthand_evals.probe.statements import (
    SESSION_CHARACTERS_MAX,
    Message,
    Statement,
    Value,
    content_of,
    follows,
    plain,
    read,
    statements,
)  # fmt: skip
from firsthand_evals.probe.statements import (
    pairs as pairs_of,
)

Regime = Literal["correctable", "reachable", "uncorrectable_loud", "uncorrectable_silent"]
REGIMES: tuple[Regime, ...] = ("correctable", "reachable", "uncorrectable_loud", "uncorrectable_silent")
"""From the best to the worst."""
NOTE_CHARACTERS_MAX = 100_000
"""Characters of a note that are read; of a longer one the verdict says so."""
HOPS_MAX = 2
"""From the note: a text that the session does not have is derived, and only its own pointers are followed."""
PAIRS_MIN = 2
NAMES_MIN = 2
"""Names of a statement that relates things, in a session without any figure."""
_PART = re.compile(r"(?<![\d.,])(\d{1,9})\s?(?:of|/)\s?(\d{1,9})(?![\d.,])")
_MEANS: dict[Regime, str] = {
    "correctable": "the note has what it takes", "reachable": "its pointers lead to what it takes",
    "uncorrectable_loud": "what it takes is not there, and nothing pretends that it is",
    "uncorrectable_silent": "what it takes is not there, and the note looks as if it were whole",
}  # fmt: skip


@value
class Verdict:
    """What holds of a note.

    Attributes:
        missing: statements of the session that a correction takes and that are neither in the note nor reachable.
        needed: how many it takes in all.
        detail: a sentence.
    """

    regime: Regime
    missing: tuple[str, ...]
    needed: int
    detail: str

    @property
    def correctable(self) -> bool:
        """Whether a correction finds what it needs, in the note or through it."""
        return self.regime in {"correctable", "reachable"}


def probe(
    note: str | Note, messages: Sequence[Message], *, claim: str | None = None,
    expand: Callable[[str], str | None] | None = None,
) -> Verdict:  # fmt: skip
    """Judge whether what a note carries can be corrected.

    Args:
        messages: what the note stands on.
        claim: words for what is asked for; of several turns with figures those that share a word with it are meant.
        expand: gives what stands at a pointer, None for one that leads nowhere; without it, a pointer leads to the
            message that carries it.
    """
    text = note.text if isinstance(note, Note) else note
    if not isinstance(text, str):
        raise InvalidArgument(f"a note is a text or a Note; got {type(note).__name__}")
    if not messages:
        raise InvalidArgument("a note is judged by what it stands on: give messages, a session or sources; got none")
    carried = text[:NOTE_CHARACTERS_MAX]
    needed = needs(messages, claim)
    own = _Text(carried)
    missing = [statement for statement in needed if not own.has(statement)]
    left = missing
    if missing:
        behind = _Text("\n".join([carried, *_reached(carried, messages, expand)]))
        left = [statement for statement in missing if not behind.has(statement)]
    if not missing:
        regime: Regime = "correctable"
    elif not left:
        regime = "reachable"
    else:
        spoken = bool(own.values) or len(missing) < len(needed)
        regime = "uncorrectable_silent" if spoken and not _is_marked(carried) else "uncorrectable_loud"
    return Verdict(
        regime, tuple(statement.text for statement in left), len(needed), _MEANS[regime] + _unread(text, messages)
    )


def needs(messages: Sequence[Message], claim: str | None = None) -> tuple[Statement, ...]:
    """Give the statements that a correction takes."""
    said = statements(messages)
    source = [statement for statement in said if not statement.by_agent]
    concluded = _concluded(said)
    known = {found for statement in source for found in statement.values}
    worked = [source_of for found in concluded if found not in known for source_of in follows(found, source)]
    if worked:
        return tuple(dict.fromkeys(worked))
    looked_up = [source_of for found in concluded if found in known for source_of in follows(found, source)]
    if looked_up:
        return tuple(dict.fromkeys(looked_up))
    pairs = pairs_of(source)
    if len(pairs) >= PAIRS_MIN:
        return tuple(pairs)
    exact = _about([statement for statement in source if statement.values], claim)
    return exact or tuple(statement for statement in source if len(statement.names) >= NAMES_MIN)


class _Text:
    """What a text has: its exact values and its words."""

    def __init__(self, text: str) -> None:
        self.values = frozenset(read(text))
        self._plain = plain(text)

    def has(self, statement: Statement) -> bool:
        """Say whether all values of a statement are there; of one without any, whether its words are."""
        if statement.values:
            return self.values.issuperset(statement.values)
        return plain(statement.text) in self._plain


def _concluded(said: Sequence[Statement]) -> tuple[Value, ...]:
    """Give the values of the agent's last message that has any."""
    turns = [statement.turn for statement in said if statement.by_agent and statement.values]
    values = (found for it in said if turns and it.turn == turns[-1] for found in it.values)
    return tuple(dict.fromkeys(values))


def _about(exact: Sequence[Statement], claim: str | None) -> tuple[Statement, ...]:
    """Take the turns in which a statement shares a word with what is asked for; all when none does."""
    wanted = set(re.findall(r"\w{4,}", (claim or "").casefold()))
    turns = {it.turn for it in exact if wanted & set(re.findall(r"\w{4,}", it.text.casefold()))}
    return tuple(it for it in exact if not turns or it.turn in turns)


def _is_marked(text: str) -> bool:
    """Say whether a note counts how much of its source it has, and that is not all."""
    return any(int(kept) < int(whole) for kept, whole in _PART.findall(text))


def _reached(note: str, messages: Sequence[Message], expand: Callable[[str], str | None] | None) -> list[str]:
    """Read what pointers lead to, of a note and of what it leads to in turn; only what the session has."""
    by_pointer = {str(message["pointer"]): content_of(message) for message in messages if message.get("pointer")}
    session = plain("\n".join(content_of(message) for message in messages))
    found: list[str] = []
    seen: set[str] = set()
    texts = [note]
    for _ in range(HOPS_MAX):
        addresses = dict.fromkeys(address for text in texts for address in pointer.find(text) if address not in seen)
        seen |= set(addresses)
        texts = [there for address in addresses if (there := (expand or by_pointer.get)(address))]
        lines = (line for text in texts for line in text.splitlines())
        found += [line for line in lines if any(it and it in session for it in (plain(line), _said(line)))]
    return found


def _said(line: str) -> str:
    """Give a line without who said it, where it says that: ``user: ...``."""
    return plain(line.partition(": ")[2])


def _unread(text: str, messages: Sequence[Message]) -> str:
    """Say what was too long to be read."""
    size = sum(len(content_of(message)) for message in messages)
    told = f"; the note has {len(text):,} characters, of which {NOTE_CHARACTERS_MAX:,} were read"
    session = f"; of what it stands on {SESSION_CHARACTERS_MAX:,} of {size:,} characters were read"
    return (told if len(text) > NOTE_CHARACTERS_MAX else "") + (session if size > SESSION_CHARACTERS_MAX else "")


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
