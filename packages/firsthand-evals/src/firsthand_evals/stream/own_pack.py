"""The pack ``own-sessions``: lines of your own store with a gap, asked of every memory after every update.

    own sessions: 37 sessions, 2,217 events in 10 updates, 126 questions, 4,000 characters a memory
    memory     seen                  wrong                 abstained  regressed  kept   characters
    no memory  0.000 [0.000, 0.029]  ...
    recalled   0.921 [0.871, 1.000]  ...
    S1 held: ...

The invariant: right is what equals the bytes of the log, and no judge is asked; the store
is opened to read and nothing of it is written anywhere: what is kept of a question is the
pointer of its answer. The session is the unit of all intervals, since the questions of
one are alike. The checks were written down before the first run (consolidation 3.3).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from firsthand import InvalidArgument, Memory
from firsthand.event import to_bytes, to_text
from firsthand.value import asdict, value
from firsthand_evals import pages, stats
from firsthand_evals.pages import Figure, Picture, Series
from firsthand_evals.reclaim.figures import of_mean
from firsthand_evals.stats import Difference, Mean
from firsthand_evals.stream import own_memories, packs
from firsthand_evals.stream.arms import those_named
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.own_memories import (
    ARMS,
    BUDGET_CHARACTERS,
    KEEP_ALL,
    NO_MEMORY,
    RECALLED,
    REWRITTEN,
    Arm,
    Reader,
)  # fmt: skip
from firsthand_evals.stream.own_questions import EVENTS_MAX, KINDS, Part, Question, Source, parts
from firsthand_evals.stream.packs import Options, Report, Section

UPDATES, QUESTIONS = 10, 12
"""Updates that a store's past is cut into, and questions of each."""
UPDATES_MAX, QUESTIONS_MAX = 200, 100
QUESTIONS_MIN = 20
"""Below, a share says nothing; the run is refused."""
READ_BYTES_MAX = 1 << 20
"""Of an event."""
RIGHT, WRONG, ABSTAINED = "right", "wrong", "abstained"
READ_MIN = 0.95
"""Of all questions, what the reader must answer from all lines; below, the questions or the reader are at fault."""
LUCK_MAX = 0.05
HEADS = ("memory", "seen", "wrong", "abstained", "regressed", "kept", "characters")


@value
class Point:
    """The figures after one update; shares from 0 to 1, and what each question came to, by its pointer."""

    seen: float
    wrong: float
    abstained: float
    regressed: float
    kept: float
    characters: float
    outcomes: Mapping[str, str]


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

    def after(self, arm: str, update: int = 0, outcome: str = RIGHT) -> Mean:
        """Give the share of an outcome after an update, from 1; 0 is the last one. Resampled by session."""
        return stats.mean(self._by_session(arm, outcome, update))

    def difference(self, arm: str, other: str) -> Difference:
        """Give what one memory answers more than another, question by question, resampled by session."""
        return stats.difference(self._by_session(arm, RIGHT), self._by_session(other, RIGHT))

    def stream(self, arm: str) -> OwnStream:
        """Give what came of a memory."""
        return next(stream for stream in self.streams if stream.arm == arm)

    def _by_session(self, arm: str, outcome: str, update: int = 0) -> dict[str, list[float]]:
        outcomes = self.stream(arm).points[update - 1].outcomes
        hits: dict[str, list[float]] = defaultdict(list)
        for question in self.questions:
            if question.pointer in outcomes:
                hits[question.session].append(float(outcomes[question.pointer] == outcome))
        return hits

    def __str__(self) -> str:
        sessions = len({question.session for question in self.questions})
        older = f"; events before the newest {EVENTS_MAX:,} were not read" if self.left else ""
        return (
            f"own sessions: {sessions:,} sessions, {self.events:,} events in {self.updates} updates, "
            f"{len(self.questions):,} questions, {self.budget:,} characters a memory{older}"
        )


def chosen(names: Sequence[str]) -> tuple[Arm, ...]:
    """Give memories by name, with no memory and keep all before them; all without names."""
    return those_named(ARMS, names, (NO_MEMORY, KEEP_ALL))


def ask(
    memory: Memory, arms: Sequence[Arm] = ARMS, *, updates: int = UPDATES, questions: int = QUESTIONS,
    budget: int = BUDGET_CHARACTERS, seed: int = 0, progress: Callable[[int, int], None] = lambda _done, _whole: None,
) -> OwnRun:  # fmt: skip
    """Ask every memory after every update.

    Args:
        updates: that the past is cut into; ``questions``: of each.
        budget: characters that a memory may hold, or a reader is given.
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
    sources, left = _sources(memory)
    cut = parts(sources, updates, questions, seed)
    asked = tuple(question for part in cut for question in part.questions)
    if len(asked) < QUESTIONS_MIN:
        raise InvalidArgument(
            f"own sessions need {QUESTIONS_MIN} lines with an exact string that stands nowhere else; "
            f"{len(sources):,} events of this store have {len(asked)}. Import sessions first: firsthand import PATH"
        )
    streams = []
    for number, arm in enumerate(arms, 1):
        streams.append(_stream(arm, memory, cut, budget))
        progress(number, len(arms))
    return OwnRun(asked, len(cut), len(sources), left, budget, tuple(streams), _shuffled(cut, asked, seed))


def _stream(arm: Arm, memory: Memory, cut: Sequence[Part], budget: int) -> OwnStream:
    vocabulary = frozenset(word for part in cut for question in part.questions for word in question.words)
    past: list[str] = []
    lines: Sequence[str] = ()
    asked: list[Question] = []
    once: set[str] = set()
    points: list[Point] = []
    every = Reader(vocabulary)  # of keep all, which only grows: what it had is not read again
    for part in cut:
        asked += part.questions
        new = [line for text in part.texts for line in text.split("\n") if line.strip()]
        past += new
        lines = arm.lines(past, lines, new, budget) if arm.lines is not None else ()
        every.add(new if arm.name == KEEP_ALL else ())
        reader = every if arm.name == KEEP_ALL else Reader(vocabulary, lines)
        size = sum(map(len, lines)) + len(lines)
        outcomes: dict[str, str] = {}
        kept = characters = 0
        for question in asked:
            if arm.lines is None:
                lines = own_memories.recalled(memory, question, part.through, budget)
                reader, size = Reader(question.words, lines), sum(map(len, lines)) + len(lines)
            answer = reader.answer(question)
            outcomes[question.pointer] = ABSTAINED if answer is None else RIGHT if answer == question.answer else WRONG
            kept += arm.name == KEEP_ALL or any(question.answer in line for line in lines)
            characters += size
        right = {pointer for pointer, outcome in outcomes.items() if outcome == RIGHT}
        n, counts = max(1, len(asked)), Counter(outcomes.values())
        points.append(Point(
            counts[RIGHT] / n, counts[WRONG] / n, counts[ABSTAINED] / n, len(once - right) / max(1, len(once)),
            kept / n, characters / n, outcomes,
        ))  # fmt: skip
        once |= right
    return OwnStream(arm.name, tuple(points))


def _shuffled(cut: Sequence[Part], asked: Sequence[Question], seed: int) -> float:
    """Give the share that is right by luck: every memory's lines, each question with the answer of the next one."""
    texts = [text for part in cut for text in part.texts]
    reader = Reader(frozenset(word for question in asked for word in question.words), texts)
    others = [*asked]
    random.Random(f"shuffled {seed}").shuffle(others)  # noqa: S311 - an order that can be made again
    following = zip(others, [*others[1:], others[0]], strict=True)
    return sum(reader.answer(question) == other.answer for question, other in following) / len(asked)


def _sources(memory: Memory) -> tuple[list[Source], bool]:
    """Read the newest events that say something, in order; and whether there are older ones."""
    newest = (event for event in memory.events(newest_first=True) if event.kind in KINDS and not event.erased)
    read = [*islice(newest, EVENTS_MAX + 1)]
    sources: list[Source] = []
    for event in reversed(read[:EVENTS_MAX]):
        if event.size_bytes <= READ_BYTES_MAX and event.is_searchable:
            data = memory.expand(f"fh:{event.id}")
            if to_bytes(to_text(data)) == data:
                sources.append(Source(event.id, event.session, event.position, to_text(data)))
    return sources, len(read) > EVENTS_MAX


def run(options: Options) -> Report:
    """Ask every memory of the store that was named."""
    if options.store is None:
        raise InvalidArgument("the pack own-sessions reads a store; name one with --store")
    with options.store() as memory:
        made = ask(
            memory, chosen(options.arm), updates=options.updates or UPDATES, questions=options.questions or QUESTIONS,
            budget=options.budget or BUDGET_CHARACTERS, seed=options.seed or 0,
            progress=options.progress("own sessions:", "memories"),
        )  # fmt: skip
    asked = checks(made)
    streams = [asdict(stream) for stream in made.streams]
    shares = ", ".join(f"{stream.arm} {made.after(stream.arm).mean:.3f}" for stream in made.streams)
    return Report(
        sections=[Section(str(made), [HEADS, *rows(made)], [str(check) for check in asked])],
        records=[*({"stream": stream} for stream in streams), *({"check": asdict(check)} for check in asked)],
        headline=packs.headline([check.held for check in asked], f"{len(made.questions)} questions: {shares}"),
        failed=[str(check) for check in asked if not check.held],
        kept={
            "checks": [asdict(check) for check in asked],
            "questions": [{"pointer": question.pointer, "sort": question.sort} for question in made.questions],
            "streams": streams,
        },
        markdown=lambda: _markdown(made, asked),
        html=lambda: _page(made, asked),
    )


def checks(made: OwnRun) -> tuple[Check, ...]:
    """Ask the checks; those whose memories did not run are left out."""
    every, none = made.after(KEEP_ALL).mean, made.after(NO_MEMORY).mean
    asked = [
        Check("S1", f"the reader answers at least {READ_MIN:g} from all lines", every >= READ_MIN, f"{every:.3f}"),
        Check("S2", "without memory nothing is answered", none == 0, f"{none:.3f}"),
        Check("S3", f"by luck at most {LUCK_MAX:g}", made.shuffled <= LUCK_MAX, f"{made.shuffled:.3f}"),
    ]
    if {RECALLED, REWRITTEN} <= {stream.arm for stream in made.streams}:
        apart = made.difference(RECALLED, REWRITTEN)
        asked.append(Check("S4", "what is recalled answers more than what is rewritten", apart.low > 0, str(apart)))
    return tuple(asked)


def rows(made: OwnRun) -> list[tuple[str, ...]]:
    """Give a row of figures after the last update for each memory."""
    table_rows = []
    for stream in made.streams:
        last = stream.points[-1]
        shares = (str(of_mean(made.after(stream.arm, outcome=it))) for it in (RIGHT, WRONG, ABSTAINED))
        table_rows.append((stream.arm, *shares, f"{last.regressed:.3f}", f"{last.kept:.3f}", f"{last.characters:,.0f}"))
    return table_rows


def _markdown(made: OwnRun, asked: Sequence[Check]) -> str:
    verdicts = [[check.name, check.says, "held" if check.held else "**FAILED**", check.found] for check in asked]
    return pages.text("stream.md", kind="own", run=str(made), heads=HEADS, rows=rows(made), verdicts=verdicts)


def _page(made: OwnRun, asked: Sequence[Check]) -> str:
    """Write the curves as a page; no memory and keep all are in every picture."""
    section = {
        "heading": str(made), "pictures": [*_pictures(made)], "heads": HEADS, "rows": rows(made), "checks": asked,
    }  # fmt: skip
    return pages.render(
        "stream.html", title="Own sessions after every update", about="about_own.txt", sections=[section]
    )


def _pictures(made: OwnRun) -> Iterator[Picture]:
    for drawn, outcome in (("seen", RIGHT), ("wrong", WRONG), ("regressed", "")):
        series = [
            Series(stream.arm, tuple(
                (str(number), of_mean(made.after(stream.arm, number, outcome)) if outcome else Figure(point.regressed))
                for number, point in enumerate(stream.points, 1) if point.outcomes or not outcome
            )) for stream in made.streams
        ]  # fmt: skip
        picture = pages.lines(f"{drawn} after each update", "update", drawn, series, width=pages.PANEL_WIDTH)
        yield Picture(picture, f"{drawn}; 95 % intervals, each for itself" if outcome else drawn)
