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
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from firsthand import Kind
from firsthand.event import to_bytes
from firsthand.value import value

KINDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT)
"""Kinds of event whose lines are asked about."""
EVENTS_MAX = 50_000
"""Of a store, the newest ones."""
TEXT_CHARACTERS_MAX = 65_536
"""Of an event; what stands behind is not asked about."""
LINE_CHARACTERS = range(20, 301)
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
class Source:
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
        """Give the line as it is asked, with `GAP` in place of the answer."""
        return f"{self.before}{GAP}{self.after}"

    @property
    def words(self) -> frozenset[str]:
        """Give the words of the line, without the answer."""
        return words(self.text)


@value(eq=False)
class Part:
    """One update: the events that come, the questions that can be answered from then on, and its last position."""

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
        for match in pattern.finditer(line):
            start, end = match.span()
            if all(end <= first or last <= start for first, last in taken):
                taken.append((start, end))
                yield sort, start, end


def masked(line: str) -> str:
    """Give a line with a gap for each exact string: lines that differ in these alone are alike."""
    for _, start, end in sorted(strings(line), key=lambda place: -place[1]):
        line = line[:start] + GAP + line[end:]
    return line


def parts(events: Sequence[Source], updates: int, each: int, seed: int = 0) -> tuple[Part, ...]:
    """Cut events into updates of like number, and choose questions of each.

    Args:
        events: in the order in which they happened.
        each: questions of an update at most, of as many sessions as there are.
    """
    questions = _questions(events)
    chance = random.Random(f"own sessions {seed}")  # noqa: S311 - a choice that can be made again
    made: list[Part] = []
    size = max(1, -(-len(events) // updates))
    for at in range(0, len(events), size):
        batch = events[at : at + size]
        asked = [question for event in batch for question in questions[event.position]]
        chance.shuffle(asked)
        texts = tuple(event.text[:TEXT_CHARACTERS_MAX] for event in batch)
        made.append(Part(texts, tuple(_spread(asked, each)), batch[-1].position))
    return tuple(made)


def _questions(events: Sequence[Source]) -> dict[int, list[Question]]:
    """Find every line that can be asked about, by the position of its event."""
    answers: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    candidates: list[Question] = []
    for event in events:
        begins = 0
        for line in event.text[:TEXT_CHARACTERS_MAX].split("\n"):
            lines[masked(line)] += 1
            for sort, start, end in strings(line):
                answers[line[start:end].casefold()] += 1
                first = len(to_bytes(event.text[: begins + start]))
                pointer = f"fh:{event.id}@{first}-{first + len(to_bytes(line[start:end]))}"
                question = Question(
                    pointer, line[start:end], sort, event.session, event.position, line[:start], line[end:]
                )
                if len(line) in LINE_CHARACTERS and len(question.words) >= WORDS_MIN:
                    candidates.append(question)
            begins += len(line) + 1
    by_event: dict[int, list[Question]] = defaultdict(list)
    for question in candidates:
        answer = question.answer.casefold()
        alike = lines[masked(f"{question.before}{question.answer}{question.after}")]
        if answers[answer] == alike == 1 and answer not in question.text.casefold():
            by_event[question.position].append(question)
    return by_event


def _spread(questions: Sequence[Question], most: int) -> list[Question]:
    """Take questions of every session in turn."""
    by_session: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_session[question.session].append(question)
    taken: list[Question] = []
    while len(taken) < most and any(by_session.values()):
        taken += [left.pop() for left in by_session.values() if left]
    return taken[:most]
