"""Memories of a person's own sessions, each within the same number of characters, and how they are read.

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
from collections.abc import Callable, Iterable, Sequence

from firsthand import Memory, Query, Scope
from firsthand.event import to_text
from firsthand.value import value
from firsthand_evals.stream.own_questions import GAP, KINDS, Question, masked, strings, words

BUDGET_CHARACTERS = 4_000
OVERLAP_MIN = 0.6
"""Of a question's words, the share that a line must have before a reader takes it for the line that is asked for."""
HITS_MAX = 10
_RAREST = 6
NO_MEMORY, KEEP_ALL, RECALLED, REWRITTEN = "no memory", "keep all", "recalled", "rewritten"

Lines = Sequence[str]


class Reader:
    """Reads lines: finds the one that a question was made of, and what stands in its gap.

    Only words that may be asked for are kept, so that a long past can be read.
    """

    def __init__(self, asked: frozenset[str], texts: Iterable[str] = ()) -> None:
        self._asked = asked
        self._lines: list[str] = []
        self._by_word: dict[str, list[int]] = {}
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Take texts, behind those that it has."""
        for line in (line for text in texts for line in text.split("\n")):
            known = words(line) & self._asked
            if known and any(strings(line)):
                for word in known:
                    self._by_word.setdefault(word, []).append(len(self._lines))
                self._lines.append(line)

    def answer(self, question: Question) -> str | None:
        """Give the string in the gap of a question; None when no line is like it.

        Of lines that share as many words the one with more of the same letters around the gap is taken.
        """
        wanted = question.words
        rarest = sorted((word for word in wanted if word in self._by_word), key=lambda word: len(self._by_word[word]))
        near: Counter[int] = Counter(at for word in rarest[:_RAREST] for at in self._by_word[word])
        shared = [(len(wanted & words(self._lines[at])), at) for at, _ in near.most_common(_RAREST * HITS_MAX)]
        most = max((share for share, _ in shared), default=0)
        if most < OVERLAP_MIN * len(wanted):
            return None
        fits = [fit for share, at in sorted(shared) if share == most for fit in _fits(self._lines[at], question)]
        return max(fits)[1] if fits else None


def _fits(line: str, question: Question) -> list[tuple[int, str]]:
    """Give the string of a line that fits a gap best, with how many signs around it are the same."""
    fits = [
        (_alike(line[:start][::-1], question.before[::-1]) + _alike(line[end:], question.after), line[start:end])
        for sort, start, end in strings(line)
        if sort == question.sort
    ]  # fmt: skip
    return [max(fits)] if fits else []


def _alike(text: str, other: str) -> int:
    """Count the signs that two texts begin with alike."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (this, that) in pairs if this != that), min(len(text), len(other)))


@value
class Arm:
    """A memory by its name.

    Attributes:
        lines: gives what it holds after an update, within a budget, from all lines so far, those that it held and
            those that are new; None asks the log for each question.
    """

    name: str
    lines: Callable[[Lines, Lines, Lines, int], Lines] | None


def recalled(memory: Memory, question: Question, through: int, budget: int) -> list[str]:
    """Give the lines of what recall finds that are nearest to a question, within the budget.

    Args:
        through: the last position that has come.
    """
    scope = Scope(kinds=KINDS, before_position=through + 1)
    answer = memory.recall(Query(question.text.replace(GAP, " "), scope, hits_max=HITS_MAX))
    lines = [line for hit in answer.hits for line in to_text(memory.expand(hit.pointer)).split("\n")]
    return within(sorted(lines, key=lambda line: -len(question.words & words(line))), budget)


def within(lines: Iterable[str], budget: int) -> list[str]:
    """Take lines from the first on, those that fit; a line break counts."""
    taken: list[str] = []
    for line in lines:
        if len(line) < budget:
            taken.append(line)
            budget -= len(line) + 1
    return taken


def newest(lines: Lines, budget: int) -> list[str]:
    """Choose the last lines."""
    return within(reversed(lines), budget)[::-1]


def summary(lines: Lines, budget: int) -> list[str]:
    """Choose lines whose words are frequent, once each: a summary by extraction; the order is kept."""
    often: Counter[str] = Counter(word for line in lines for word in words(line))
    first = {line: at for at, line in reversed([*enumerate(lines)])}
    score = {line: sum(often[word] for word in words(line)) / max(1, len(words(line))) for line in first}
    chosen = within(sorted(first, key=lambda line: (-score[line], first[line])), budget)
    return sorted(chosen, key=first.__getitem__)


def merged(lines: Lines, budget: int) -> list[str]:
    """Keep of lines that differ in exact strings alone the last one, the most frequent kinds first."""
    last = {masked(line): line for line in lines}
    return within((last[kind] for kind, _ in Counter(map(masked, lines)).most_common()), budget)


ARMS = (
    Arm(NO_MEMORY, lambda _past, _held, _new, _budget: ()), Arm(KEEP_ALL, lambda past, _held, _new, _budget: past),
    Arm("newest", lambda _past, held, new, budget: newest([*held, *new], budget)),
    Arm("summary", lambda past, _held, _new, budget: summary(past, budget)),
    Arm(REWRITTEN, lambda _past, held, new, budget: summary([*held, *new], budget)),
    Arm("merged", lambda past, _held, _new, budget: merged(past, budget)), Arm(RECALLED, None),
)  # fmt: skip
