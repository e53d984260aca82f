"""The paper's memories: notes written by hand from a problem, at a budget and an integrity (reclaim-evaluation 3.1).

A hand-made note knows what the source is; no memory under test does. It is what a
memory can at best, or at worst, be compared with. The invariant: below an integrity of
.5 no lossy note, padded or not, holds a line of the source, and a padded one is as long
as the source-first note beside it.

At .5 and more every policy keeps source, premise and conclusion; below, `lossy` keeps
premise and conclusion, under .2 the conclusion alone, and `source_first` the source
alone, as many whole lines as the budget holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from firsthand import InvalidArgument
from firsthand_evals.reclaim.seam import Messages, Subject, Writes
from firsthand_evals.reclaim.tasks import Problem
from firsthand_evals.reclaim.words import words

WALL = 0.1
WHOLE_FROM, PREMISE_FROM = 0.5, 0.2
LOSSY, PADDED, SOURCE_FIRST, TAGGED = "lossy", "lossy_padded", "source_first", "source_first_tagged"
BOTH, BLANK, CANDIDATES, DENOISED = "source_plus_conclusion", "blank", "candidates", "denoised"
HEAD = "From the earlier session:"

_FILLER = words("policies")["filler"]

Written = Callable[[Problem, float, int], str]


class Handmade:
    """A note of one problem under one policy."""

    def __init__(self, written: Written, problem: Problem, integrity: float) -> None:
        self._written, self._problem, self._integrity = written, problem, integrity

    def write(self, messages: Messages, budget: int) -> str:  # noqa: ARG002 - it knows the problem instead
        return self._written(self._problem, self._integrity, budget)


def policy(name: str, integrity: float = WALL) -> Subject:
    """Give a policy as a subject, made for each problem."""
    if name not in POLICIES:
        raise InvalidArgument(f"there is no policy {name!r}; these are: {', '.join(POLICIES)}")
    if not 0 <= integrity <= 1:
        raise InvalidArgument(f"an integrity is a number from 0 to 1; got {integrity!r}")
    return Subject(name, lambda problem: Handmade(POLICIES[name], problem, integrity), policy=True)


def _lossy(problem: Problem, integrity: float, budget: int) -> str:
    if integrity >= WHOLE_FROM:
        return _fitted(problem.listed, budget, tail=f"{_premise(problem)} {_conclusion(problem)}")
    return f"{HEAD} {f'{_premise(problem)} ' * (integrity >= PREMISE_FROM)}{_conclusion(problem)}"


def _padded(problem: Problem, integrity: float, budget: int) -> str:
    return pad(_lossy(problem, integrity, budget), len(_source_first(problem, integrity, budget)))


def _source_first(problem: Problem, integrity: float, budget: int) -> str:
    return _lossy(problem, integrity, budget) if integrity >= WHOLE_FROM else _fitted(problem.listed, budget)


def _tagged(problem: Problem, integrity: float, budget: int) -> str:  # noqa: ARG001 - the source, at any integrity
    n = len(problem.listed)
    whole = _fitted(problem.listed, budget) + tag(n, n)
    if len(whole) <= budget and _held(problem.listed, budget) == n:
        return whole
    room = budget - len(tag(n - 1, n))
    return _fitted(problem.listed, room) + tag(_held(problem.listed, room), n)


def _candidates(problem: Problem) -> str:
    candidates = f"the answer is one of {', '.join(problem.options)}." if problem.options else "nothing was kept."
    return f"{HEAD} {candidates}"


POLICIES: dict[str, Written] = {
    LOSSY: _lossy, PADDED: _padded, SOURCE_FIRST: _source_first, TAGGED: _tagged,
    BOTH: lambda problem, _, budget: _fitted(problem.listed, budget, tail=_conclusion(problem)),
    DENOISED: lambda problem, _, budget: pad(_fitted(problem.source, budget), budget),
    BLANK: lambda _problem, _integrity, _budget: f"{HEAD} nothing was kept.",
    CANDIDATES: lambda problem, _integrity, _budget: _candidates(problem),
}  # fmt: skip


def _premise(problem: Problem) -> str:
    return f"A note said that {problem.premise}."


def _conclusion(problem: Problem) -> str:
    return f"You concluded, for {problem.ask}: {problem.shown(problem.attractor)}."


def tag(kept: int, of: int) -> str:
    """Say how many lines were kept."""
    return f" ({kept} of {of} lines kept.)" if kept == of else f" ({kept} of {of} lines kept; the rest was not kept.)"


def _held(lines: Sequence[str], budget: int, tail: str = "") -> int:
    """Count the whole lines that a budget holds."""
    return max((k for k in range(len(lines) + 1) if len(_note(lines[:k], tail)) <= budget), default=0)


def _fitted(lines: Sequence[str], budget: int, tail: str = "") -> str:
    return _note(lines[: _held(lines, budget, tail)], tail)


def _note(lines: Sequence[str], tail: str) -> str:
    told = f" {'; '.join(lines)}." if lines else ""
    return f"{HEAD}{told}{f' {tail}' if tail else ''}"


def pad(text: str, length: int) -> str:
    """Lengthen a text with sentences that say nothing, to exactly so many characters; a longer one stays."""
    padded, number = text, 0
    while len(padded) < length:
        padded += f" {_FILLER[number % len(_FILLER)]}"
        number += 1
    return padded if len(text) >= length else padded[:length]


def head() -> Subject:
    """Give the memory that keeps the beginning of a session."""
    return Subject("head", lambda: Writes(lambda messages, budget: _transcript(messages)[:budget]))


def tail() -> Subject:
    """Give the memory that keeps the end of a session."""
    return Subject("tail", lambda: Writes(lambda messages, budget: _transcript(messages)[-budget:] if budget else ""))


def own_conclusion() -> Subject:
    """Give the memory that keeps what the assistant concluded, whatever that was."""
    return Subject("own_conclusion", lambda: Writes(_concluded))


def _transcript(messages: Messages) -> str:
    return "\n".join(f"{message['role']}: {message['content']}" for message in messages if message["role"] != "system")


def _concluded(messages: Messages, budget: int) -> str:
    replies = [message["content"] for message in messages if message["role"] == "assistant"]
    answers = [reply.rsplit("ANSWER:", 1)[-1].strip() for reply in replies if "ANSWER:" in reply]
    return f"{HEAD} you concluded that the answer is {answers[-1] if answers else 'nothing'}."[:budget]
