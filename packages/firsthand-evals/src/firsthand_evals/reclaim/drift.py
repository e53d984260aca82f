"""The session that drifts: a wrong premise is used, committed to, and built on (reclaim-evaluation 3.2).

    user       the purchases, and a note with a wrong subtotal that is to be used
    assistant  the wrong total
    user       1 to 8 follow-ups that use the figure and never look at its parts again
    ...

The source stands where it is asked to: in the first message, in the middle, at the end
when all is concluded, or scattered. Unrelated talk may follow. The invariant: every line
of `Problem.listed` stands in the session exactly once, and the wrong conclusion in every
answer of the assistant about it. A real dialogue stays as it was said, with the wrong
value behind it; its source stands where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from firsthand import InvalidArgument
from firsthand_evals.reclaim.tasks import Problem
from firsthand_evals.reclaim.words import words

if TYPE_CHECKING:
    from firsthand_evals.reclaim.seam import Messages

DEPTH_MAX = 8
FILLER_MAX = 64
WORDINGS = (0, 1)
"""Ways of saying the same session; a memory that works by the words of one is found out by the other."""
PLACES = ("first", "middle", "late", "scattered")
SYSTEM = "You help with everyday work. Answer in a few words; when an answer is asked for, end with a line ANSWER: ..."

_WORDS = words("drift")
_PREMISES: tuple[str, ...] = _WORDS["premises"]
_COMMITTED: tuple[str, ...] = _WORDS["committed"]
_FOLLOW_UPS, _FILLER = _WORDS["follow_ups"], _WORDS["filler"]


def dialogue(
    problem: Problem, depth: int = 4, *, filler: int = 0, source_at: str = "first", premise: bool = True,
    wording: int = 0, say: Callable[[Messages], str] | None = None,
) -> list[dict[str, str]]:  # fmt: skip
    """Write the session.

    Args:
        depth: follow-ups, 1 to 8.
        filler: unrelated exchanges behind them, 0 to 64.
        source_at: ``first``, ``middle``, ``late`` or ``scattered``.
        wording: 0 or 1, the words in which premise, conclusion and follow-ups are said.
        premise: False leaves out the wrong note: the assistant then goes wrong by itself, or not.
        say: gives the assistant's words for the messages so far; None commits to the wrong conclusion by script.
    """
    if depth not in range(1, DEPTH_MAX + 1) or filler not in range(FILLER_MAX + 1):
        raise InvalidArgument(f"depth is 1 to {DEPTH_MAX} and filler 0 to {FILLER_MAX}; got {depth!r} and {filler!r}")
    if wording not in WORDINGS:
        raise InvalidArgument(f"a wording is one of {WORDINGS}; got {wording!r}")
    if problem.session:
        return _real(problem, depth, filler, wording)
    told = _told(problem, depth, source_at)
    note = noted(problem, wording) if premise else ""
    opening = f"{problem.about}{_lines(told[0])}{note} Now give me {problem.ask}."
    shown = problem.shown(problem.attractor)
    asked = [(opening, f"{committed(problem.ask, shown, wording)}\nANSWER: {problem.attractor}")]
    asked += [
        (f"{user}{_lines(lines)}", said)
        for (user, said), lines in zip(_later(problem, depth, wording), told[1:], strict=True)
    ]
    asked += [_FILLER[number % len(_FILLER)] for number in range(filler)]
    messages = [{"role": "system", "content": SYSTEM}]
    for user, assistant in asked:
        messages.append({"role": "user", "content": user})
        messages.append({"role": "assistant", "content": assistant if say is None else say(messages)})
    return messages


def noted(problem: Problem, wording: int) -> str:
    """Say the wrong premise, and that it is to be used."""
    return _PREMISES[wording].format(premise=problem.premise)


def committed(ask: str, shown: str, wording: int) -> str:
    """Say the wrong conclusion for the first time."""
    return _COMMITTED[wording].format(ask=ask, shown=shown)


def _real(problem: Problem, depth: int, filler: int, wording: int) -> list[dict[str, str]]:
    """Write a real dialogue, the wrong confirmation behind it, and the follow-ups."""
    said = [{"role": role, "content": text} for role, text in problem.session]
    asked = [("Can you confirm that?", f"Confirmed: {problem.premise}.")]
    asked += [*_later(problem, depth, wording), *(_FILLER[number % len(_FILLER)] for number in range(filler))]
    for user, assistant in asked:
        said += [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
    return [{"role": "system", "content": SYSTEM}, *said]


def _later(problem: Problem, depth: int, wording: int) -> list[tuple[str, str]]:
    """Give the follow-ups, with what they build on."""
    shown = problem.shown(problem.attractor)
    return [(user, said.format(ask=problem.ask, shown=shown)) for user, said in _FOLLOW_UPS[wording][:depth]]


def _told(problem: Problem, depth: int, source_at: str) -> list[Sequence[str]]:
    """Give which lines stand in which message of the user: the opening, then the follow-ups."""
    turns: list[Sequence[str]] = [()] * (depth + 1)
    if source_at not in PLACES:
        raise InvalidArgument(f"the source stands {', '.join(PLACES)}; got {source_at!r}")
    if source_at == "scattered":
        each = -(-len(problem.listed) // len(turns))
        return [problem.listed[each * turn : each * (turn + 1)] for turn in range(len(turns))]
    turns[{"first": 0, "middle": (depth + 1) // 2, "late": depth}[source_at]] = problem.listed
    return turns


def _lines(lines: Sequence[str]) -> str:
    return f" {'; '.join(lines)}." if lines else ""
