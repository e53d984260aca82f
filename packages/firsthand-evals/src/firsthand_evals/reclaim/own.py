"""What a run is asked, from what a person chose: memories by their names, and cases changed as was asked for.

The invariant: a memory that is asked otherwise than it was written has another name, so
that an item never stands for another memory; changed cases are all different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from firsthand import pointer
from firsthand.value import replace, value
from firsthand_evals.probe.probe import probe
from firsthand_evals.reclaim import experiments, ours, seam
from firsthand_evals.reclaim.experiments import Options
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.policies import Handmade
from firsthand_evals.reclaim.seam import Memory, Messages, Subject
from firsthand_evals.reclaim.tasks import DIALOGUE

OURS: dict[str, Callable[[], Subject]] = {"firsthand": ours.pointers, "firsthand_note": ours.note_alone}
"""Memories that come with us, by the name that is typed for them."""
JUDGED_MAX = 1_000
"""Verdicts of the probe that are kept for a text that is carried again."""


@value
class Changes:
    """What is asked in place of what the paper asks; empty leaves everything as it is.

    Attributes:
        budget: characters; places: where the source stands; corrections: what is said.
    """

    budget: int | None = None
    places: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()


def memories(addresses: Iterable[str], *, may_recall: bool = True) -> tuple[Subject, ...]:
    """Give memories under test by their names: ours, or addresses as `seam.named` takes them.

    Args:
        may_recall: False leaves out what a memory answers, so that what it carries must do.
    """
    subjects = [OURS[address]() if address in OURS else seam.load(address) for address in dict.fromkeys(addresses)]
    return tuple(subjects) if may_recall else tuple(_silenced(subject) for subject in subjects)


def cases(names: Sequence[str], given: Options, changes: Changes) -> tuple[Case, ...]:
    """Make the cases of experiments and change them; those that become the same are asked once."""
    made = experiments.cases(names, given)
    if changes.budget is not None:
        made = tuple(case if case.budget is None else replace(case, budget=changes.budget) for case in made)
    if changes.places:
        made = tuple(
            replace(case, source_at=place) if _movable(case) else case for case in made for place in changes.places
        )
    if changes.corrections:
        made = tuple(replace(case, correction=kind) for case in made for kind in changes.corrections)
    return tuple({_same(case): case for case in made}.values())


def regime(text: str, session: Messages, memory: Memory) -> str:
    """Let the probe judge what a memory under test carries; empty for a note of the paper's, which is none."""
    if isinstance(memory, Handmade):
        return ""
    if not seam.recalls(memory):
        return _judged(text, tuple((one["role"], one["content"]) for one in session))
    return probe(text, [dict(one) for one in session], expand=_expanding(memory)).regime


@lru_cache(maxsize=JUDGED_MAX)
def _judged(text: str, session: tuple[tuple[str, str], ...]) -> str:
    """Judge a text without pointers; one session is asked about in many ways, and judged once."""
    return probe(text, [{"role": role, "content": content} for role, content in session]).regime


def _expanding(memory: Memory) -> Callable[[str], str | None]:
    """Give how pointers are followed: the memory is asked for them."""
    return lambda address: (seam.pull(memory, address).text or None) if pointer.find(address) else None


def _movable(case: Case) -> bool:
    """Say whether the source may stand elsewhere: a chain has one in each session, a real dialogue its own."""
    return not case.hops and case.problem.family != DIALOGUE


def _same(case: Case) -> tuple[Any, ...]:
    return (
        case.experiment, case.subject.name, case.problem.id, case.correction, case.depth, case.filler, case.source_at,
        case.premise, case.wording, case.budget, case.repetition, case.hops, case.extra, case.said_by,
    )  # fmt: skip


class _Silenced:
    """A memory that cannot be asked: what it carries must do."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def write(self, messages: Messages, budget: int) -> str:
        return self.memory.write(messages, budget)

    def close(self) -> None:
        """Close the memory, if it can be closed."""
        close = getattr(self.memory, "close", None)
        if callable(close):
            close()


def _silenced(subject: Subject) -> Subject:
    return replace(subject, name=f"{subject.name} without recall", make=lambda: _Silenced(subject.make()))
