"""What becomes of the exact strings of a person's own sessions: every memory, after every update (consolidation 3.3).

    seen          questions of all updates so far that are answered right
    wrong         ... that are answered with another string; the rest is abstained
    regressed     of what was answered right after an earlier update, the share that is answered so no more
    kept          answers that stand in what the memory holds; of one that asks the log, in what it is given
    characters    that a reader is given for one question, on average

The invariant: right is what equals the bytes of the log, and no judge is asked; the
store is read and never written. The session is the unit of all intervals, since the
questions of one are alike.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from firsthand import InvalidArgument, Memory
from firsthand.event import to_bytes, to_text
from firsthand.value import value
from firsthand_evals import stats
from firsthand_evals.stats import Difference, Mean
from firsthand_evals.stream.named import those_named
from firsthand_evals.stream.own_memories import ARMS, BUDGET_CHARACTERS, KEEP_ALL, NO_MEMORY, Arm, Held, Lines
from firsthand_evals.stream.own_questions import EVENTS_MAX, TELLING, Part, Question, Told, parts

UPDATES, QUESTIONS = 10, 12
"""Updates that a store's past is cut into, and questions of each."""
UPDATES_MAX, QUESTIONS_MAX = 200, 100
QUESTIONS_MIN = 20
"""Below, a share says nothing; the run is refused."""
READ_BYTES_MAX = 1 << 20
"""Of an event."""
Outcome = str
RIGHT, WRONG, ABSTAINED = "right", "wrong", "abstained"


@value
class Point:
    """The figures after one update; shares from 0 to 1, and what each question came to, by its pointer."""

    seen: float
    wrong: float
    abstained: float
    regressed: float
    kept: float
    characters: float
    outcomes: Mapping[str, Outcome]


@value
class OwnStream:
    """One memory on one store."""

    arm: str
    points: tuple[Point, ...]


@value
class OwnRun:
    """All memories on one store.

    Attributes:
        questions: all that were asked, in order; ``events``: that were read; ``left``: older ones that were not.
        shuffled: of *keep all*, the share that is right when each question is given the answer of another one.
    """

    questions: tuple[Question, ...]
    updates: int
    events: int
    left: bool
    budget: int
    streams: tuple[OwnStream, ...]
    shuffled: float

    def after(self, arm: str, update: int = 0, outcome: Outcome = RIGHT) -> Mean:
        """Give the share of an outcome after an update, from 1; 0 is the last one. Resampled by session."""
        return stats.mean(self._by_session(arm, outcome, update))

    def difference(self, arm: str, other: str) -> Difference:
        """Give what one memory answers more than another, question by question, resampled by session."""
        return stats.difference(self._by_session(arm, RIGHT), self._by_session(other, RIGHT))

    def stream(self, arm: str) -> OwnStream:
        """Give what came of a memory."""
        return next(one for one in self.streams if one.arm == arm)

    def _by_session(self, arm: str, outcome: Outcome, update: int = 0) -> dict[str, list[float]]:
        own = self.stream(arm).points[update - 1].outcomes
        found: dict[str, list[float]] = {}
        for one in self.questions:
            if one.pointer in own:
                found.setdefault(one.session, []).append(float(own[one.pointer] == outcome))
        return found


def chosen(names: Sequence[str]) -> tuple[Arm, ...]:
    """Give memories by name, with no memory and keep all before them; all without names.

    Raises:
        InvalidArgument: one is not there.
    """
    return those_named(ARMS, names, (NO_MEMORY, KEEP_ALL))


def run(
    memory: Memory, arms: Sequence[Arm] = ARMS, *, updates: int = UPDATES, questions: int = QUESTIONS,
    budget: int = BUDGET_CHARACTERS, seed: int = 0, progress: Callable[[int, int], None] = lambda _done, _whole: None,
) -> OwnRun:  # fmt: skip
    """Ask every memory after every update.

    Args:
        updates: that the past is cut into; ``questions``: of each.
        budget: characters that a memory may hold, or a reader is given.

    Raises:
        InvalidArgument: a number is out of its range, or the store has too few lines to ask about.
    """
    for name, number, most in (("updates", updates, UPDATES_MAX), ("questions", questions, QUESTIONS_MAX)):
        if not 1 <= number <= most:
            raise InvalidArgument(f"{name} of own sessions are 1 to {most}; got {number}")
    if budget < 1:
        raise InvalidArgument(f"a budget is at least 1 character; got {budget}")
    if updates * questions < QUESTIONS_MIN:
        raise InvalidArgument(
            f"own sessions are asked at least {QUESTIONS_MIN} questions in all; {updates} updates of {questions} are "
            f"{updates * questions}. Ask more of each (--questions)."
        )
    told, left = _told(memory)
    cut = parts(told, updates, questions, seed)
    asked = tuple(one for part in cut for one in part.questions)
    if len(asked) < QUESTIONS_MIN:
        raise InvalidArgument(
            f"own sessions need {QUESTIONS_MIN} lines with an exact string that stands nowhere else; "
            f"{len(told):,} events of this store have {len(asked)}. Import sessions first: firsthand import PATH"
        )
    vocabulary = frozenset(word for one in asked for word in one.words)
    streams = []
    for number, arm in enumerate(arms):
        streams.append(_stream(arm.name, arm.make(memory, budget), cut, vocabulary))
        progress(number + 1, len(arms))
    return OwnRun(asked, len(cut), len(told), left, budget, tuple(streams), _shuffled(cut, asked, vocabulary, seed))


def _stream(name: str, held: Held, cut: Sequence[Part], vocabulary: frozenset[str]) -> OwnStream:
    asked: list[Question] = []
    once: set[str] = set()
    points: list[Point] = []
    every = Lines(vocabulary)
    for part in cut:
        asked += part.questions
        held.take(part.texts, part.through)
        answers = dict(_answers(name, held, part, asked, vocabulary, every))
        outcomes = {one.pointer: _outcome(answers[one.pointer][0], one.answer) for one in asked}
        right = {pointer for pointer, outcome in outcomes.items() if outcome == RIGHT}
        n = max(1, len(asked))
        told = Counter(outcomes.values())
        points.append(Point(
            seen=told[RIGHT] / n, wrong=told[WRONG] / n, abstained=told[ABSTAINED] / n,
            regressed=len(once - right) / len(once) if once else 0.0,
            kept=sum(answers[one.pointer][1] for one in asked) / n,
            characters=sum(answers[one.pointer][2] for one in asked) / n, outcomes=outcomes,
        ))  # fmt: skip
        once |= right
    return OwnStream(name, tuple(points))


def _answers(
    name: str, held: Held, part: Part, asked: Sequence[Question], vocabulary: frozenset[str], every: Lines
) -> Iterator[tuple[str, tuple[str | None, bool, int]]]:
    """Give by pointer what is answered, whether the answer stood there, and how many characters were given."""
    if held.reads:
        for one in asked:
            text = [*held.text(one)]
            lines = Lines(one.words)
            lines.add(text)
            yield (
                one.pointer,
                (lines.answer(one), any(one.answer in it for it in text), sum(len(it) + 1 for it in text)),
            )
        return
    text = [*held.text()]
    if name == KEEP_ALL:  # it only grows: what it had is not read again
        lines = every
        lines.add(part.texts)
    else:
        lines = Lines(vocabulary)
        lines.add(text)
    size = sum(len(one) + 1 for one in text)
    for one in asked:
        yield one.pointer, (lines.answer(one), name == KEEP_ALL or any(one.answer in it for it in text), size)


def _outcome(answer: str | None, right: str) -> Outcome:
    if answer is None:
        return ABSTAINED
    return RIGHT if answer == right else WRONG


def _shuffled(cut: Sequence[Part], asked: Sequence[Question], vocabulary: frozenset[str], seed: int) -> float:
    """Give the share that is right by luck: every memory's lines, each question with the answer of the next one."""
    lines = Lines(vocabulary)
    for part in cut:
        lines.add(part.texts)
    others = [*asked]
    random.Random(f"shuffled {seed}").shuffle(others)  # noqa: S311 - an order that can be made again
    following = zip(others, [*others[1:], others[0]], strict=True)
    return sum(lines.answer(one) == other.answer for one, other in following) / len(asked)


def _told(memory: Memory) -> tuple[list[Told], bool]:
    """Read the newest events that tell something, in order; and whether there are older ones."""
    newest = (one for one in memory.events(newest_first=True) if one.kind in TELLING and not one.erased)
    read = [*islice(newest, EVENTS_MAX + 1)]
    found: list[Told] = []
    for one in reversed(read[:EVENTS_MAX]):
        if one.size_bytes > READ_BYTES_MAX or not one.is_searchable:
            continue
        data = memory.expand(f"fh:{one.id}")
        text = to_text(data)
        if to_bytes(text) == data:
            found.append(Told(one.id, one.session, one.position, text))
    return found, len(read) > EVENTS_MAX
