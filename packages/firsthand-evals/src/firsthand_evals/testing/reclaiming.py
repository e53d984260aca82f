"""What a memory is asked of sessions that went wrong, and what came of it, item by item.

The invariant: every memory is asked the same cases for the same arguments; an item is
broken by what is in it, and nothing is left out of the count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firsthand import InvalidArgument, pointer
from firsthand.value import value
from firsthand_evals.probe.probe import probe
from firsthand_evals.reclaim import run, scoring, seam, tasks
from firsthand_evals.reclaim.drift import PLACES, WORDINGS
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.readers import Recomputing

if TYPE_CHECKING:
    from firsthand_evals.probe.probe import Verdict
    from firsthand_evals.reclaim.readers import Reader
    from firsthand_evals.reclaim.seam import Memory, Subject

FILLER = 4
SIZES = (4, 8, 16, 32)
CONSIDERED = (8, 16, 32)
CHAINS = (4, 8)
WRONG = (scoring.WRONG, scoring.ATTRACTOR)
SILENT = "uncorrectable_silent"
CORRECTABLE, NO_SILENT_PARTIAL = "correctable", "no_silent_partial"


@value
class Asked:
    """A case, what came of it, and what the probe says of what was carried."""

    case: Case
    item: Item
    verdict: Verdict | None


@value
class Reclaimed:
    """What came of all cases of an assertion.

    Attributes:
        of: which assertion; ``name``: of the memory; ``address``: for the command line, empty when it has none.
        shared: True when one object served for all problems.
        broken: those that do not hold, in order.
        least: share that must hold.
    """

    of: str
    name: str
    address: str
    shared: bool
    budget: int
    asked: tuple[Asked, ...]
    broken: tuple[Asked, ...]
    least: float

    @property
    def held(self) -> bool:
        """Whether the assertion holds."""
        return len(self.asked) - len(self.broken) >= self.least * len(self.asked)

    @property
    def figures(self) -> str:
        """Say how many were brought back, or were wrong."""
        if self.of == CORRECTABLE:
            return f"{len(self.asked) - len(self.broken)} of {len(self.asked)} items were brought back"
        return f"{len(self.broken)} of {len(self.asked)} items were wrong, or looked whole, without a sign"


def correctable(
    memory: Any,
    *,
    budget: int = 600,
    problems: int = 6,
    seed: int = 0,
    least: float = 1.0,
    reader: Reader | None = None,
) -> Reclaimed:
    """Ask for sums and puzzles whose source stands anywhere in the session; see `assert_correctable`.

    Raises:
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    if not 0 < least <= 1:
        raise InvalidArgument(f"least is a share of the items, over 0 and at most 1; got {least!r}")
    subject = seam.subject(memory)
    cases = [
        Case(CORRECTABLE, subject, problem, filler=FILLER, source_at=place, wording=number % len(WORDINGS),
             budget=budget)
        for problems_of in (tasks.arithmetic(problems, seed), tasks.logic(problems, seed))
        for number, problem in enumerate(problems_of)
        for place in PLACES
    ]  # fmt: skip
    asked = tuple(_ask(cases, reader))
    broken = tuple(one for one in asked if one.item.outcome != scoring.RECOVERED)
    return Reclaimed(CORRECTABLE, subject.name, address(memory), subject.shared, budget, asked, broken, least)


def no_silent_partial(
    memory: Any, *, budget: int = 300, problems: int = 3, seed: int = 0, reader: Reader | None = None
) -> Reclaimed:
    """Ask where the source does not fit, is hidden, or comes bit by bit; see `assert_no_silent_partial`.

    Raises:
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    subject = seam.subject(memory)
    asked = tuple(_ask(list(_outgrowing(subject, budget, problems, seed)), reader))
    broken = tuple(one for one in asked if _is_silent(one.item))
    return Reclaimed(NO_SILENT_PARTIAL, subject.name, address(memory), subject.shared, budget, asked, broken, 1.0)


def address(memory: Any) -> str:
    """Give what the command line takes for a function or class; empty for what has no such name.

    ``./file.py:name`` for a module that stands in the current folder, else ``module:name``.
    """
    module, name = getattr(memory, "__module__", ""), getattr(memory, "__qualname__", "")
    if not module or not name or "<" in name or module == "__main__":
        return ""
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    here = file.suffix == ".py" and file.parent == Path.cwd()
    return f"./{file.name}:{name}" if here else f"{module}:{name}"


def _outgrowing(subject: Subject, budget: int, problems: int, seed: int) -> Iterator[Case]:
    for items in SIZES:
        for problem in tasks.ledger(problems, items, seed):
            yield Case(NO_SILENT_PARTIAL, subject, problem, budget=budget, extra=(("items", items),))
    for decoys in CONSIDERED:
        for problem in tasks.noisy(problems, decoys, seed):
            yield Case(NO_SILENT_PARTIAL, subject, problem, budget=budget, extra=(("considered", decoys),))
    for hops in CHAINS:  # nobody errs in them: what goes wrong there, the memory did
        for problem in tasks.ledger(problems, hops, seed):
            yield Case(NO_SILENT_PARTIAL, subject, problem, budget=budget, premise=False, hops=hops)


def _is_silent(item: Item) -> bool:
    """Say whether an item is wrong without a sign: a wrong value was given, or the note looks as if it were whole."""
    if item.outcome == scoring.FAILED or item.outcome in WRONG or item.blast:
        return True
    return item.outcome != scoring.RECOVERED and item.regime == SILENT


def _ask(cases: Sequence[Case], reader: Reader | None) -> Iterator[Asked]:
    """Ask the cases one by one, and let the probe judge what each carried."""
    for case in cases:
        judged: list[Verdict] = []
        item = run.one(case, reader or Recomputing(), probe=_judge(case.problem.ask, judged))
        yield Asked(case, item, judged[-1] if judged else None)


def _judge(claim: str, judged: list[Verdict]) -> Callable[[str, Sequence[Mapping[str, str]], Memory], str]:
    """Make the probe of a case, which leaves its verdict in a list."""

    def judge(text: str, session: Sequence[Mapping[str, str]], memory: Memory) -> str:
        expand = (lambda at: _pulled(memory, at)) if seam.recalls(memory) else None
        judged.append(probe(text, [dict(one) for one in session], claim=claim, expand=expand))
        return judged[-1].regime

    return judge


def _pulled(memory: Memory, at: str) -> str | None:
    """Ask a memory for what stands at a pointer of ours; None for another address, or when it answers nothing."""
    return (seam.pull(memory, at).text or None) if pointer.find(at) else None
