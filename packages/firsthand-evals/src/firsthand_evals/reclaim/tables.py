"""Figures from items: cells of a table, differences between memories, every figure with its n.

The invariant: items are counted by problem, never as many independent ones (the interval
of a mean resamples problems); the outcomes of a cell add up to its n; a zero says how
large it could be (rule of three); a difference whose interval holds 0 says that none
could be detected.

It asks nothing and knows no experiment: items come from `run.run` or from a file.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from firsthand import InvalidArgument
from firsthand.cli.display import count
from firsthand.value import asdict, value
from firsthand_evals import stats
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.items import Item
from firsthand_evals.stats import Difference, Mean, Rate

Labels = tuple[tuple[str, Any], ...]


@value
class Cell:
    """Items of equal parameters, counted.

    Attributes:
        labels: the parameters that the table is split by.
        n, problems: items, and problems among them.
        recovered: the Reclaim Rate, with Wilson's interval; ``reclaim`` is its mean by problem, resampled.
        wrong: of all items, those that commit to a value that is not the truth; ``attractor`` the one that was carried,
            ``silent`` another one, worked out as if all were there.
        abstained, malformed: commit to none; by saying so, or by no readable answer line.
        failed: the memory under test raised or gave no text; counted as not recovered.
        of_wrong_attractor: of those that commit to a wrong value, the share that gives the carried one.
        used: characters carried, on average; ``over``: items whose text was cut to the budget.
        pulls, pulled: questions to the memory an item, and characters of its answers, on average.
        blast, blast_abstained: of a chain, sessions answered wrongly, and not at all.
        regimes: what the probe said, counted.
    """

    labels: Labels
    n: int
    problems: int
    recovered: Rate
    reclaim: Mean
    wrong: Rate
    attractor: Rate
    silent: Rate
    abstained: Rate
    malformed: Rate
    failed: Rate
    of_wrong_attractor: Rate
    used: float
    over: int
    pulls: float
    pulled: float
    blast: Mean
    blast_abstained: float
    regimes: tuple[tuple[str, int], ...]

    def label(self, name: str) -> Any:
        """Give a parameter of this cell; None when the table is not split by it."""
        return dict(self.labels).get(name)


@value
class Pair:
    """One memory minus another one, paired by problem; ``about`` says which, and of what."""

    about: str
    labels: Labels
    difference: Difference

    @property
    def verdict(self) -> str:
        """Say in words whether there is a difference; more is not better of everything that is compared."""
        return {"better": "more", "worse": "fewer"}.get(self.difference.verdict, self.difference.verdict)

    def __str__(self) -> str:
        difference = self.difference
        n = f"{count(difference.clusters, 'problem')}, {count(difference.n, 'pair')}"
        return f"{self.about}: {difference.told(self.verdict)} ({n})"


@value
class Table:
    """One table.

    Attributes:
        name, where: of the experiment, and of the paper's table.
        by: the parameters that its cells are split by; ``columns``: the figures that it is about.
        remarks: sentences on what the figures are and are not.
    """

    name: str
    where: str
    by: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...] = ()
    remarks: tuple[str, ...] = ()

    def cell(self, **labels: Any) -> Cell:
        """Give the one cell of these labels."""
        found = [cell for cell in self.cells if all(cell.label(name) == wanted for name, wanted in labels.items())]
        if len(found) != 1:
            raise InvalidArgument(f"table {self.name} has {len(found)} cells of {labels}; expected one")
        return found[0]


def cells(items: Iterable[Item], by: Sequence[str]) -> tuple[Cell, ...]:
    """Count items by parameters, in the order in which they come."""
    groups: dict[Labels, list[Item]] = defaultdict(list)
    for item in items:
        groups[_labels(item, by)].append(item)
    if not groups:
        raise InvalidArgument("a table wants at least one item; got none")
    return tuple(_cell(labels, own) for labels, own in groups.items())


@value
class Compared:
    """Which two memories are compared, by what; ``memory`` empty takes every one but ``other``.

    Attributes:
        worth: what an item counts; ``about``: its name in the table.
        by: parameters that differences are told apart by.
    """

    memory: str
    other: str
    worth: Callable[[Item], float]
    about: str
    by: tuple[str, ...] = ()

    def pairs(self, items: Sequence[Item]) -> tuple[Pair, ...]:
        """Compare over the cases that both were asked; empty where there is none."""
        names = dict.fromkeys(str(item.parameters["memory"]) for item in items) if not self.memory else (self.memory,)
        return tuple(pair for name in names if name != self.other for pair in self._pairs(items, name))

    def _pairs(self, items: Sequence[Item], memory: str) -> Iterator[Pair]:
        for labels in dict.fromkeys(_labels(item, self.by) for item in items):
            sides: list[dict[str, Item]] = [{}, {}]
            for item in items:
                if item.parameters["memory"] in (memory, self.other) and _labels(item, self.by) == labels:
                    same = {name: it for name, it in item.parameters.items() if name != "memory"}
                    sides[item.parameters["memory"] == self.other][json.dumps(same, sort_keys=True)] = item
            shared = [name for name in sides[0] if name in sides[1]]
            if shared:
                pairs = [_by_problem([side[name] for name in shared], self.worth) for side in sides]
                yield Pair(f"{self.about}: {memory} minus {self.other}", labels, stats.difference(*pairs))


def recovered(item: Item) -> float:
    """Give 1 for the truth."""
    return float(item.outcome == scoring.RECOVERED)


def wrong(item: Item) -> float:
    """Give 1 for a value that is not the truth."""
    return float(item.outcome in {scoring.ATTRACTOR, scoring.WRONG})


def silent(item: Item) -> float:
    """Give 1 for a wrong value that was worked out anew."""
    return float(item.silent)


def as_json(table: Table) -> dict[str, Any]:
    """Give a table as JSON values: labels as an object, each figure with its n."""
    return {
        "name": table.name, "where": table.where, "by": list(table.by), "columns": list(table.columns),
        "cells": [{**asdict(cell), "labels": dict(cell.labels), "regimes": dict(cell.regimes)} for cell in table.cells],
        "pairs": [
            {"about": pair.about, "labels": dict(pair.labels), **asdict(pair.difference), "verdict": pair.verdict}
            for pair in table.pairs
        ],
        "remarks": list(table.remarks),
    }  # fmt: skip


def _labels(item: Item, by: Sequence[str]) -> Labels:
    return tuple((name, item.parameters.get(name)) for name in by)


def _by_problem(items: Sequence[Item], worth: Callable[[Item], float]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for item in items:
        found[item.parameters["problem"]].append(worth(item))
    return found


def _cell(labels: Labels, own: Sequence[Item]) -> Cell:
    n = len(own)
    counted = Counter(item.outcome for item in own)
    assert sum(counted[outcome] for outcome in scoring.OUTCOMES) == n, f"outcomes do not add up: {counted}"
    emitted_wrong = counted[scoring.ATTRACTOR] + counted[scoring.WRONG]
    pulled = [pull for item in own for pull in (*item.pulls, *(one for hop in item.hops for one in hop["pulls"]))]
    return Cell(
        labels, n, len({item.parameters["problem"] for item in own}),
        recovered=stats.rate(counted[scoring.RECOVERED], n), reclaim=stats.mean(_by_problem(own, recovered)),
        wrong=stats.rate(emitted_wrong, n), attractor=stats.rate(counted[scoring.ATTRACTOR], n),
        silent=stats.rate(counted[scoring.WRONG], n), abstained=stats.rate(counted[scoring.ABSTAINED], n),
        malformed=stats.rate(counted[scoring.MALFORMED], n), failed=stats.rate(counted[scoring.FAILED], n),
        of_wrong_attractor=stats.rate(counted[scoring.ATTRACTOR], emitted_wrong),
        used=sum(item.used for item in own) / n, over=sum(item.over for item in own),
        pulls=len(pulled) / n, pulled=sum(one["characters"] for one in pulled) / n,
        blast=stats.mean(_by_problem(own, lambda item: float(item.blast))),
        blast_abstained=sum(hop["outcome"] == scoring.ABSTAINED for item in own for hop in item.hops) / n,
        regimes=tuple(sorted(Counter(item.regime for item in own if item.regime).items())),
    )  # fmt: skip
