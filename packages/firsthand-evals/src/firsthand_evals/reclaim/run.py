"""Runs cases and yields items: resumable, one after the other.

The invariant: items are yielded as they are made, so that a run that breaks off loses
none, and a case that was asked before is not asked again; the outcomes of a run add up
to its cases.

It knows no experiment (`sweeps`) and no table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from firsthand import InvalidArgument
from firsthand.errors import MemoryFault
from firsthand_evals.reclaim import cascade, seam
from firsthand_evals.reclaim.ask import Probe, ask
from firsthand_evals.reclaim.corrections import DIRECTED
from firsthand_evals.reclaim.items import Case, Item, failed, key
from firsthand_evals.reclaim.readers import Reader
from firsthand_evals.reclaim.tasks import Problem

REPETITIONS_MAX = 1_000
CASES_MAX = 1_000_000
STRANGE_LINES, STRANGE_MIN = 4, 2
"""Of each other problem that are looked for, and that make a memory shared: one may be invented by accident."""


def cases(
    memory: Any, problems: Sequence[Problem], *, corrections: Sequence[str] = (DIRECTED,), repetitions: int = 1,
    experiment: str = "reclaim", **same: Any,
) -> tuple[Case, ...]:  # fmt: skip
    """Make the cases of one memory: each problem under each correction.

    Args:
        memory: see `seam.subject`.
        same: further fields of `Case`, the same for all.
    """
    if not problems or not corrections:
        raise InvalidArgument("an evaluation wants at least one problem and one correction; got none")
    if repetitions not in range(1, REPETITIONS_MAX + 1):
        raise InvalidArgument(f"repetitions are a whole number from 1 to {REPETITIONS_MAX:,}; got {repetitions!r}")
    subject = seam.subject(memory)
    return tuple(
        Case(experiment, subject, problem, kind, repetition=repetition, **same)
        for problem in problems
        for kind in corrections
        for repetition in range(repetitions)
    )


def run(
    asked: Sequence[Case], reader: Reader, *, known: Mapping[str, Item] | None = None, probe: Probe | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Item]:  # fmt: skip
    """Ask every case, and yield what came of it, in order.

    Args:
        known: items by their key, such as `load` gives them: these cases are not asked again.
        probe: judges what was carried.
        progress: called with cases done and cases in all.

    Raises:
        InvalidArgument: there are too many cases, or two are the same.
        ModelError: the reader gave no reply. What was yielded before is whole; run again with it as ``known``.
    """
    keys, said = keys_of(asked, reader), said_in(asked)
    for number, (case, name) in enumerate(zip(asked, keys, strict=True), 1):
        kept = (known or {}).get(name)
        yield kept if kept is not None else one(case, reader, probe=probe, said=said)
        if progress is not None:
            progress(number, len(asked))


def keys_of(asked: Sequence[Case], reader: Reader) -> list[str]:
    """Give the keys of the items of cases."""
    keys = [key(case, reader) for case in asked]
    if len(keys) > CASES_MAX or len(set(keys)) < len(keys):
        raise InvalidArgument(f"a run has at most {CASES_MAX:,} cases, all different; got {len(keys):,}, "
                              f"{len(set(keys)):,} of them different")  # fmt: skip
    return keys


Said = Mapping[tuple[str, str], Sequence[str]]
"""The first lines of each problem of an experiment, by experiment and problem."""


def said_in(asked: Iterable[Case]) -> Said:
    """Give what a memory of one problem cannot know of another."""
    return {(case.experiment, case.problem.id): case.problem.listed[:STRANGE_LINES] for case in asked}


def one(case: Case, reader: Reader, *, probe: Probe | None = None, said: Said | None = None) -> Item:
    """Ask one case; a memory that fails, or knows what was ``said`` in other problems, gives an item that says so.

    Raises:
        ModelError: the reader, or a memory that asks a model, got no reply.
    """
    try:
        item = (cascade.ask if case.hops else ask)(case, reader, probe=probe)
    except MemoryFault as fault:
        return failed(case, reader, str(fault))
    strange = _strange(item, case, said or {})
    if len(strange) < STRANGE_MIN:
        return item
    told = (
        f"{case.subject.name} gave {strange[0]!r}, which sessions of another problem alone said: each problem has a "
        "memory of its own, so keep nothing in the class, the module or a place that all of them share"
    )
    return failed(case, reader, told)


def _strange(item: Item, case: Case, said: Said) -> list[str]:
    """Give the lines of other problems that a memory carried or answered; one object may serve for all of them."""
    if case.subject.policy or case.subject.shared:
        return []
    hops = [(str(hop["carried"]), hop["pulls"]) for hop in item.hops]
    given = "\n".join(
        text for carried, pulls in ((item.carried, item.pulls), *hops)
        for text in (carried, *(str(pull["text"]) for pull in pulls))
    )  # fmt: skip
    of_others = (
        lines for (experiment, problem), lines in said.items()
        if experiment == case.experiment and problem != case.problem.id
    )  # fmt: skip
    strange = dict.fromkeys(line for lines in of_others for line in lines if line in given)
    if not strange:
        return []
    own = "\n".join((*case.problem.listed, *(() if case.hops else (it["content"] for it in case.session()))))
    return [line for line in strange if line not in own]
