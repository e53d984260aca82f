"""What the quality bench measures with: talks, their questions, and what a method ranked.

A talk is one store's worth of events. What counts as found is a unit: the event
itself, or its session where a set names no more than that. Knows no method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from firsthand import Moment

HITS = 10
"""Hits that every method is asked for."""


class Half(StrEnum):
    """Whether constants may have been chosen on a talk."""

    TUNED = "tuned"
    HELD_OUT = "held out"


@dataclass(frozen=True, slots=True)
class Said:
    """One event of a talk.

    Attributes:
        unit: what evidence names: the event's own id, or its session.
        speaker: who said it; empty where the set knows roles only.
        caption: what a shared picture shows.
        user: True for the user's side.
    """

    unit: str
    text: str
    session: str
    speaker: str = ""
    caption: str = ""
    time: Moment | None = None
    user: bool = True

    @property
    def plain(self) -> str:
        """The text that methods without fields get, as the data's own measurements had it."""
        shown = f"{self.text} [shares image: {self.caption}]" if self.caption else self.text
        return f"{self.speaker}: {shown}" if self.speaker else shown


@dataclass(frozen=True, slots=True)
class Question:
    """One question; without evidence it cannot be answered from its talk.

    Attributes:
        group: its category or ability.
        evidence: the units that answer it.
    """

    text: str
    group: str
    evidence: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Talk:
    """The events of one store, and what is asked of it."""

    name: str
    said: tuple[Said, ...]
    questions: tuple[Question, ...]
    half: Half

    @property
    def answerable(self) -> tuple[Question, ...]:
        return tuple(one for one in self.questions if one.evidence)

    @property
    def unanswerable(self) -> tuple[Question, ...]:
        return tuple(one for one in self.questions if not one.evidence)


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a method gave for one question: events by number, best first, and how sure it is.

    Attributes:
        best: the score of the first by the method's own measure; ours is the answer's confidence.
        outcome: the word of a method that types its answers; empty for others.
    """

    numbers: tuple[int, ...]
    best: float = 0.0
    outcome: str = ""

    def units(self, said: Sequence[Said]) -> tuple[str, ...]:
        """Give the unit of each hit, in order, repeated where two hits are of one session."""
        return tuple(said[number].unit for number in self.numbers)
