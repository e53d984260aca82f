"""Firsthand itself, as a stranger uses it: `Memory.append`, `Memory.follow`, `Memory.recall`.

One store a talk, one session of the store for each session of the talk, the speaker as the agent,
a picture's caption in the event's meta. A question is asked at the time of the talk's last event.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from firsthand import Draft, Kind, Memory
from firsthand.answer import Answer, Query
from firsthand.index.embed.named import named

from .kept import Kept
from .values import HITS, Question, Ranked, Said, Talk

APPENDED = 500  # events an append, at most
PREVIEW_TOKENS = 400  # of all hits together: previews are not measured here
DEADLINE_MS = 120_000  # no answer is cut short because the machine is busy
SURE = 1_000.0  # a cost at which hardly any first attempt passes, so that the ladder makes its second one
TWICE = 2 * HITS
VECTOR = "vector"
"""The name of what a vector adds to a hit, in `Hit.found_by`."""
PLAIN, MINILM, STATIC = "Firsthand, nothing installed", "Firsthand, all-MiniLM", "Firsthand, static"
NAMES = {PLAIN: "", MINILM: "minilm", STATIC: "static"}
"""Our configurations, and the word of each one's embedder."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to open a store.

    Attributes:
        name: as the report shows it.
        opened: opens an empty folder.
        again: whether second attempts are looked at too, which takes as long as all else.
    """

    name: str
    opened: Callable[[Path], Memory]
    again: bool = True


@dataclass(frozen=True, slots=True)
class Attempts:
    """What two attempts found for one question, for Proposition 1.

    Attributes:
        first, second: units of the hits of each; the second is empty where none was made.
        wide: units of twice as many hits of one attempt alone.
        made: the number of attempts.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    wide: tuple[str, ...]
    made: int


@dataclass(frozen=True, slots=True)
class Told:
    """All answers of one configuration on one talk, in the order of the questions.

    Attributes:
        attempts: of the answerable ones only, and of these where they are looked at.
        seconds: of processor time, of each recall as it is by default.
        near: how many answers have a hit that its vector helped to find.
    """

    ranked: list[Ranked]
    attempts: list[Attempts]
    seconds: list[float]
    near: int
    threshold: float
    gate: str


class Store:
    """One talk in a store of its own."""

    def __init__(self, memory: Memory, talk: Talk) -> None:
        self._memory, self._talk = memory, talk
        self._number: dict[int, int] = {}  # of the event at a position
        self._unit: dict[str, str] = {}  # of a pointer
        self._now = max((one.time for one in talk.said if one.time), default=None)
        for session, said in itertools.groupby(enumerate(talk.said), key=lambda entry: entry[1].session):
            self._append(session, list(said))
        memory.follow()

    def _append(self, session: str, said: Sequence[tuple[int, Said]]) -> None:
        for start in range(0, len(said), APPENDED):
            part = said[start : start + APPENDED]
            appended = self._memory.append([_draft(one) for _, one in part], session=session)
            for (number, one), at in zip(part, appended, strict=True):
                self._number[at.position] = number
                self._unit[str(at.pointer)] = one.unit

    def ask(
        self, question: Question, *, hits: int = HITS, attempts: int | None = None, cost: float | None = None
    ) -> Answer:
        """Recall as it is by default, but for what is named."""
        chosen: dict[str, float] = {}
        chosen |= {"attempts_max": attempts} if attempts else {}
        chosen |= {"cost": cost} if cost else {}
        return self._memory.recall(
            Query(
                question.text, hits_max=hits, budget_tokens_max=PREVIEW_TOKENS, deadline_ms=DEADLINE_MS, now=self._now,
                **chosen,  # type: ignore[arg-type]
            )
        )  # fmt: skip

    def ranked(self, answer: Answer) -> Ranked:
        numbers = tuple(self._number[hit.position] for hit in answer.hits[:HITS])
        return Ranked(numbers, answer.confidence, answer.outcome.value)

    def attempts(self, question: Question) -> Attempts:
        """Make a first attempt and, whatever the gate says of it, a second; and one of twice the hits."""
        answer = self.ask(question, attempts=2, cost=SURE)
        wide = self.ask(question, hits=TWICE, attempts=1)
        hops = [tuple(self._unit[pointer] for pointer in hop.hits[:HITS]) for hop in answer.hops]
        first = hops[0] if hops else self.units(answer)
        return Attempts(first, hops[1] if len(hops) > 1 else (), self.units(wide)[:TWICE], max(1, len(hops)))

    def units(self, answer: Answer) -> tuple[str, ...]:
        return tuple(self._unit[hit.pointer] for hit in answer.hits)


def told(configuration: Configuration, folder: Path, talk: Talk, questions: Sequence[Question]) -> Told:
    """Ask every question of a new store that holds one talk."""
    with configuration.opened(folder) as memory:
        store = Store(memory, talk)
        ranked, seconds, near, answer = [], [], 0, None
        for question in questions:
            before = time.process_time()
            answer = store.ask(question)
            seconds.append(time.process_time() - before)
            near += any(VECTOR in hit.found_by for hit in answer.hits)
            ranked.append(store.ranked(answer))
        answerable = [question for question in questions if question.evidence and configuration.again]
        attempts = [store.attempts(question) for question in answerable]
    assert answer is not None, "a talk has questions"
    return Told(ranked, attempts, seconds, near, answer.threshold, answer.gate)


def configurations(names: Sequence[str], keep: Path) -> tuple[Configuration, ...]:
    """Give the ways that are named; their vectors are kept in the folder."""

    def opened(name: str) -> Callable[[Path], Memory]:
        word = NAMES[name]
        if not word:
            return Memory.open
        return lambda folder: Memory(folder, embedder=Kept(named(word), keep / "embedded.db"))

    return tuple(Configuration(name, opened(name), again=name != STATIC) for name in names)


def _draft(one: Said) -> Draft:
    return Draft(
        Kind.USER_MESSAGE if one.user else Kind.AGENT_MESSAGE,
        one.text.encode(),
        agent=one.speaker,
        meta={"caption": one.caption} if one.caption else {},
        time=one.time,
    )
