"""What the quality bench measures with: talks, their questions, and what a method ranked.

A talk is one store's worth of events. What counts as found is a unit: the event
itself, or its session where a set names no more than that. Knows no method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

HITS = 10
"""Hits that every method is asked for."""
USER, AGENT, CALL = "user_message", "agent_message", "tool_call"


class Half(StrEnum):
    """Whether constants may have been chosen on a question."""

    DEVELOPMENT = "development"
    HELD_BACK = "held back"


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a talk.

    Attributes:
        unit: what evidence names: the event's own id, or its session.
        kind: the word of its `firsthand.Kind`.
        speaker: who said it; empty where the set knows roles only.
        caption: what a shared picture shows.
        time: seconds since 1970; None for unknown.
        tool, call: of a call or a result: the tool, and the id that both share.
    """

    unit: str
    text: str
    session: str
    kind: str = USER
    speaker: str = ""
    caption: str = ""
    time: float | None = None
    tool: str = ""
    call: str = ""

    @property
    def plain(self) -> str:
        """The text that methods without fields get, as the data's own measurements had it."""
        shown = f"{self.text} [shares image: {self.caption}]" if self.caption else self.text
        if self.kind == CALL:
            shown = f"{self.tool} {shown}"
        return f"{self.speaker}: {shown}" if self.speaker else shown

    @property
    def is_said(self) -> bool:
        """Whether somebody said it: a message, no call, result or mark of a host."""
        return self.kind in (USER, AGENT)


@dataclass(frozen=True, slots=True)
class Question:
    """One question; without evidence it cannot be answered from its talk.

    Attributes:
        group: its category or ability.
        evidence: the units that answer it.
    """

    text: str
    group: str
    evidence: frozenset[str]
    half: Half


@dataclass(frozen=True, slots=True)
class Talk:
    """The events of one store, and what is asked of it."""

    name: str
    events: tuple[Event, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a method gave for one question: events by number, best first, and how sure it is.

    Attributes:
        best: the score of the first by the method's own measure; ours is the answer's likelihood.
        shown: characters shown of each hit; empty for methods that give events whole.
        said: numbers of the user messages given beside the hits.
        band: our word for how likely an answer stands among the hits.
        seconds: of processor time.
    """

    numbers: tuple[int, ...]
    best: float = 0.0
    shown: tuple[int, ...] = ()
    said: tuple[int, ...] = ()
    band: str = ""
    seconds: float = 0.0

    def units(self, events: Sequence[Event]) -> tuple[str, ...]:
        """Give the unit of each hit, in order; a hit on what is no event of the talk stands as an empty one."""
        return tuple(events[number].unit if number >= 0 else "" for number in self.numbers)
