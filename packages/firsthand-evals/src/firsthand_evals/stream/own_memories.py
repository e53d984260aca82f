"""Memories that hold a person's own sessions, each within the same number of characters, and how they are read.

    no memory        nothing
    keep all         every line: what can be had at all
    newest           the end of it
    summary          lines chosen from all that happened, anew each time
    rewritten        lines chosen from what it says itself and what is new, as a cheatsheet is rewritten
    merged           lines that differ in numbers, paths and ids alone are one
    recalled         what Firsthand's recall finds in the log for the question

The invariant: whatever a memory holds, a reader is given no more of it than the budget,
and *keep all* all of it. Choosing is by rule, without a model, so this shows what
becomes of exact strings when a memory is made short in these ways, and nothing about
how well a model would choose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from firsthand import Hit, Memory, Query, Scope
from firsthand.event import to_text
from firsthand.value import value
from firsthand_evals.stream.own_questions import GAP, TELLING, Question, strings, words

BUDGET_CHARACTERS = 4_000
OVERLAP_MIN = 0.6
"""Of a question's words, the share that a line must have before a reader takes it for the line that is asked for."""
HITS_MAX = 10
_RAREST = 6
NO_MEMORY, KEEP_ALL, RECALLED, REWRITTEN = "no memory", "keep all", "recalled", "rewritten"


class Lines:
    """Reads lines: finds the one that a question was made of, and what stands in its gap.

    Only words that may be asked for are kept, so that a long past can be read.
    """

    def __init__(self, asked: frozenset[str]) -> None:
        self._asked = asked
        self._lines: list[str] = []
        self._by_word: dict[str, list[int]] = {}

    def add(self, texts: Iterable[str]) -> None:
        """Take texts, behind those that it has."""
        for line in (line for text in texts for line in text.split("\n")):
            found = words(line) & self._asked
            if found and any(strings(line)):
                for word in found:
                    self._by_word.setdefault(word, []).append(len(self._lines))
                self._lines.append(line)

    def answer(self, question: Question) -> str | None:
        """Give the string in the gap of a question; None when no line is like it.

        Of lines that share as many words the one with more of the same letters around the gap is taken.
        """
        wanted = question.words
        rarest = sorted((word for word in wanted if word in self._by_word), key=lambda one: len(self._by_word[one]))
        shared: Counter[int] = Counter(at for word in rarest[:_RAREST] for at in self._by_word[word])
        found = [(len(wanted & words(self._lines[at])), at) for at, _ in shared.most_common(_RAREST * HITS_MAX)]
        most = max((share for share, _ in found), default=0)
        if most < OVERLAP_MIN * len(wanted):
            return None
        best = [self._fitting(self._lines[at], question) for share, at in sorted(found) if share == most]
        return max((one for one in best if one is not None), default=(0, None))[1]

    def _fitting(self, line: str, question: Question) -> tuple[int, str] | None:
        """Give the string of a line that fits a gap best, with how well."""
        fits = [
            (_alike(line[:start][::-1], question.before[::-1]) + _alike(line[end:], question.after), line[start:end])
            for sort, start, end in strings(line)
            if sort == question.sort
        ]
        return max(fits, default=None)


def _alike(one: str, other: str) -> int:
    """Count the signs that two texts begin with alike."""
    for at, (this, that) in enumerate(zip(one, other, strict=False)):
        if this != that:
            return at
    return min(len(one), len(other))


class Held(Protocol):
    """A memory under test.

    Attributes:
        reads: True when its reader is given something else for each question.
    """

    reads: bool

    def take(self, texts: Sequence[str], through: int) -> None:
        """Take what is new, up to a position of the store."""

    def text(self, question: Question | None = None) -> Iterable[str]:
        """Give what it holds, or what it gives for a question."""


class Nothing:
    """Holds nothing."""

    reads = False

    def take(self, texts: Sequence[str], through: int) -> None:
        """Take nothing."""

    def text(self, question: Question | None = None) -> Iterable[str]:  # noqa: ARG002 - see `Held`
        """Give nothing."""
        return ()


class All:
    """Holds everything."""

    reads = False

    def __init__(self) -> None:
        self._texts: list[str] = []

    def take(self, texts: Sequence[str], through: int) -> None:  # noqa: ARG002 - see `Held`
        """Take all of it."""
        self._texts += texts

    def text(self, question: Question | None = None) -> Iterable[str]:  # noqa: ARG002 - see `Held`
        """Give all of it."""
        return self._texts


class Chosen:
    """Holds lines that were chosen: from all that happened, or from what it holds and what is new.

    Args:
        choose: gives lines of a past, in order, within a budget.
        rewrites: whether it chooses from its own lines.
    """

    reads = False

    def __init__(self, choose: Callable[[Sequence[str], int], list[str]], budget: int, *, rewrites: bool) -> None:
        self._choose, self._budget, self._rewrites = choose, budget, rewrites
        self._past: list[str] = []
        self._held: list[str] = []

    def take(self, texts: Sequence[str], through: int) -> None:  # noqa: ARG002 - see `Held`
        """Choose again."""
        new = [line for text in texts for line in text.split("\n") if line.strip()]
        if not self._rewrites:
            self._past += new
        self._held = self._choose([*self._held, *new] if self._rewrites else self._past, self._budget)

    def text(self, question: Question | None = None) -> Iterable[str]:  # noqa: ARG002 - see `Held`
        """Give what was chosen last."""
        return self._held


class Recalled:
    """Holds nothing itself: asks the log, up to where the stream has come."""

    reads = True

    def __init__(self, memory: Memory, budget: int) -> None:
        self._memory, self._budget, self._through = memory, budget, 0

    def take(self, texts: Sequence[str], through: int) -> None:  # noqa: ARG002 - see `Held`
        """Note how far the stream has come."""
        self._through = through

    def text(self, question: Question | None = None) -> Iterable[str]:
        """Give the lines of what is found that are nearest to a question, within the budget."""
        if question is None:
            return ()
        asked = question.text.replace(GAP, " ")
        scope = Scope(kinds=TELLING, before_position=self._through + 1)
        answer = self._memory.recall(Query(asked, scope, hits_max=HITS_MAX))
        return within(self._nearest(answer.hits, question.words), self._budget)

    def _nearest(self, hits: Sequence[Hit], wanted: frozenset[str]) -> Iterator[str]:
        found: list[tuple[int, int, str]] = []
        for hit in hits:
            text = to_text(self._memory.expand(hit.pointer))
            for line in text.split("\n"):
                found.append((-len(wanted & words(line)), len(found), line))
        for _, _, line in sorted(found):
            yield line


def within(lines: Iterable[str], budget: int) -> list[str]:
    """Take lines from the first on, those that fit; a line break counts."""
    taken: list[str] = []
    left = budget
    for line in lines:
        if len(line) < left:
            taken.append(line)
            left -= len(line) + 1
    return taken


def newest(lines: Sequence[str], budget: int) -> list[str]:
    """Choose the last lines."""
    return within(reversed(lines), budget)[::-1]


def telling(lines: Sequence[str], budget: int) -> list[str]:
    """Choose lines whose words are frequent, once each: a summary by extraction; the order is kept."""
    often: Counter[str] = Counter(word for line in lines for word in words(line))
    whole = sum(often.values()) or 1
    first = {line: at for at, line in reversed([*enumerate(lines)])}
    score = {line: sum(often[one] for one in words(line)) / whole / max(1, len(words(line))) for line in first}
    chosen = within(sorted(first, key=lambda one: (-score[one], first[one])), budget)
    return sorted(chosen, key=first.__getitem__)


def merged(lines: Sequence[str], budget: int) -> list[str]:
    """Keep of lines that differ in exact strings alone the last one, the most frequent kinds first."""
    last: dict[str, str] = {}
    times: Counter[str] = Counter()
    for line in lines:
        kind = line
        for _, start, end in sorted(strings(line), key=lambda one: -one[1]):
            kind = kind[:start] + GAP + kind[end:]
        times[kind] += 1
        last[kind] = line
    return within((last[kind] for kind, _ in times.most_common()), budget)


@value
class Arm:
    """A memory by its name; ``make`` is given the store and the budget."""

    name: str
    make: Callable[[Memory, int], Held]


ARMS = (
    Arm(NO_MEMORY, lambda _, __: Nothing()),
    Arm(KEEP_ALL, lambda _, __: All()),
    Arm("newest", lambda _, budget: Chosen(newest, budget, rewrites=True)),
    Arm("summary", lambda _, budget: Chosen(telling, budget, rewrites=False)),
    Arm(REWRITTEN, lambda _, budget: Chosen(telling, budget, rewrites=True)),
    Arm("merged", lambda _, budget: Chosen(merged, budget, rewrites=False)),
    Arm(RECALLED, Recalled),
)
