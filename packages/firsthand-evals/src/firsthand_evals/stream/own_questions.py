"""Questions that are mined from a store's own sessions, with an answer that code can check (consolidation 3.3).

    the line        built wheel dist/tool-4.2.whl in 18342 ms for the release
    the question    built wheel dist/tool-4.2.whl in ___ ms for the release
    the answer      18342, the bytes fh:01M7...@24-29

A line is taken when the string left out of it stands nowhere else in what was read, and
no other line is like it: then the string can be had from a memory alone, and by no luck.
The invariant: equal events and an equal seed give equal questions, and the bytes of an
answer's pointer are the answer. It knows no memory.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from firsthand import Kind
from firsthand.event import to_bytes
from firsthand.value import value

TELLING = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT)
"""Kinds of event whose lines are asked about."""
EVENTS_MAX = 50_000
"""Of a store, the newest ones."""
TEXT_CHARACTERS_MAX = 65_536
"""Of an event; what stands behind is not asked about."""
LINE_CHARACTERS = (20, 300)
WORDS_MIN = 4
"""Words beside the string that is left out, each once; with fewer a line says too little of what is asked."""
GAP = "___"
_SORTS = (
    ("path", re.compile(r"(?<![\w./-])[\w.-]*(?:/[\w.-]+)+\.\w{1,8}(?![\w/])")),
    ("flag", re.compile(r"(?<![\w-])--[a-z][\w-]{3,40}(?![\w-])")),
    ("id", re.compile(r"(?<![\w.-])(?=[a-z-]*\d)(?=[\d-]*[a-z])[0-9a-z-]{7,64}(?![\w-])")),
    ("number", re.compile(r"(?<![\w.,:-])\d[\d.,]{2,18}\d(?![\w-])")),
)
_WORD = re.compile(r"[^\W\d_]{3,}")


@value
class Told:
    """One event: its id, whose it is, where it stands, and all of its text."""

    id: str
    session: str
    position: int
    text: str


@value
class Question:
    """A line with a gap.

    Attributes:
        pointer: of the bytes of the answer.
        text: the line, with `GAP` in place of the answer.
        sort: path, flag, id or number.
        session: whose event it is; position: of that event.
        before, after: what stands in the line on either side of the answer.
    """

    pointer: str
    answer: str
    sort: str
    session: str
    position: int
    before: str
    after: str

    @property
    def text(self) -> str:
        """Give the line as it is asked."""
        return f"{self.before}{GAP}{self.after}"

    @property
    def words(self) -> frozenset[str]:
        """Give the words of the line, without the answer."""
        return words(self.text)


@value(eq=False)
class Part:
    """One update: the events that come, and the questions that can be answered from then on.

    Attributes:
        through: the position of its last event.
    """

    texts: tuple[str, ...]
    questions: tuple[Question, ...]
    through: int


def words(text: str) -> frozenset[str]:
    """Give the words of a text, folded."""
    return frozenset(_WORD.findall(text.casefold()))


def strings(line: str) -> Iterator[tuple[str, int, int]]:
    """Find the exact strings of a line: the sort of each, and where it begins and ends; none within another."""
    taken: list[tuple[int, int]] = []
    for sort, pattern in _SORTS:
        for found in pattern.finditer(line):
            start, end = found.span()
            if all(end <= one or other <= start for one, other in taken):
                taken.append((start, end))
                yield sort, start, end


def parts(told: Sequence[Told], updates: int, each: int, seed: int = 0) -> tuple[Part, ...]:
    """Cut events into updates of like number, and choose questions of each.

    Args:
        told: in the order in which they happened.
        each: questions of an update at most, of as many sessions as there are.
    """
    asked = _questions(told)
    chance = random.Random(f"own sessions {seed}")  # noqa: S311 - a choice that can be made again
    made: list[Part] = []
    size = max(1, -(-len(told) // updates))
    for at in range(0, len(told), size):
        own = told[at : at + size]
        found = [question for one in own for question in asked.get(one.position, ())]
        chance.shuffle(found)
        made.append(Part(
            tuple(one.text[:TEXT_CHARACTERS_MAX] for one in own), tuple(_spread(found, each)), own[-1].position
        ))  # fmt: skip
    return tuple(made)


def _questions(events: Sequence[Told]) -> dict[int, list[Question]]:
    """Find every line that can be asked about, by the position of its event."""
    told: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    found: list[Question] = []
    for event in events:
        for line, begins in _lines(event.text):
            masked = line
            for sort, start, end in strings(line):
                answer = line[start:end]
                told[answer.casefold()] += 1
                one = Question("", answer, sort, event.session, event.position, line[:start], line[end:])
                masked = masked.replace(answer, GAP)
                if LINE_CHARACTERS[0] <= len(line) <= LINE_CHARACTERS[1] and len(one.words) >= WORDS_MIN:
                    found.append(_placed(one, event, begins + start))
            lines[masked] += 1
    by_event: dict[int, list[Question]] = {}
    for one in found:
        alone = told[one.answer.casefold()] == 1
        if alone and lines[_masked(one)] == 1 and one.answer.casefold() not in one.text.casefold():
            by_event.setdefault(one.position, []).append(one)
    return by_event


def _placed(one: Question, event: Told, at: int) -> Question:
    """Give a question the pointer of its answer's bytes."""
    start = len(to_bytes(event.text[:at]))
    end = start + len(to_bytes(one.answer))
    return Question(
        f"fh:{event.id}@{start}-{end}", one.answer, one.sort, one.session, one.position, one.before, one.after
    )  # fmt: skip


def _masked(one: Question) -> str:
    line = f"{one.before}{one.answer}{one.after}"
    masked = line
    for _, start, end in strings(line):
        masked = masked.replace(line[start:end], GAP)
    return masked


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield the lines of an event with where each begins, in characters."""
    at = 0
    for line in text[:TEXT_CHARACTERS_MAX].split("\n"):
        yield line, at
        at += len(line) + 1


def _spread(found: Sequence[Question], most: int) -> list[Question]:
    """Take questions of every session in turn."""
    by_session: dict[str, list[Question]] = {}
    for one in found:
        by_session.setdefault(one.session, []).append(one)
    taken: list[Question] = []
    while len(taken) < most and any(by_session.values()):
        for own in by_session.values():
            if own and len(taken) < most:
                taken.append(own.pop())
    return taken
