"""Figures from items: one function for each table of the paper, every figure with its n.

The invariant: items are counted by problem, never as many independent ones (the interval
of a mean resamples problems); the outcomes of a cell add up to its n; a zero says how
large it could be (rule of three); a difference whose interval holds 0 says that none
could be detected.

It asks nothing: items come from `run.run` or from a file.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from firsthand import InvalidArgument
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
        hedged: of those that commit to a value, the share whose line doubts it.
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
    hedged: Rate
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
        found = self.difference
        told = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}] {self.verdict}"
        return f"{self.about}: {told} ({found.clusters} problems, {found.n} pairs)"


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
        """Give the one cell of these labels.

        Raises:
            InvalidArgument: there is none, or more than one.
        """
        found = [one for one in self.cells if all(one.label(name) == wanted for name, wanted in labels.items())]
        if len(found) != 1:
            raise InvalidArgument(f"table {self.name} has {len(found)} cells of {labels}; expected one")
        return found[0]


def cells(items: Iterable[Item], by: Sequence[str]) -> tuple[Cell, ...]:
    """Count items by parameters, in the order in which they come.

    Raises:
        InvalidArgument: there is no item.
    """
    found: dict[Labels, list[Item]] = defaultdict(list)
    for item in items:
        found[_labels(item, by)].append(item)
    if not found:
        raise InvalidArgument("a table wants at least one item; got none")
    return tuple(_cell(labels, own) for labels, own in found.items())


def paired(
    items: Sequence[Item], one: str, other: str, worth: Callable[[Item], float], about: str, by: Sequence[str] = ()
) -> tuple[Pair, ...]:
    """Compare two memories over the cases that both were asked; empty where there is none."""
    found = []
    for labels in dict.fromkeys(_labels(item, by) for item in items):
        sides: list[dict[str, Item]] = [{}, {}]
        for item in items:
            if item.parameters["memory"] in (one, other) and _labels(item, by) == labels:
                same = {name: it for name, it in item.parameters.items() if name != "memory"}
                sides[item.parameters["memory"] == other][json.dumps(same, sort_keys=True)] = item
        shared = [name for name in sides[0] if name in sides[1]]
        if shared:
            pairs = [_by_problem([side[name] for name in shared], worth) for side in sides]
            found.append(Pair(f"{about}: {one} minus {other}", labels, stats.difference(*pairs)))
    return tuple(found)


def recovered(item: Item) -> float:
    """Give 1 for the truth."""
    return float(item.outcome == scoring.RECOVERED)


def wrong(item: Item) -> float:
    """Give 1 for a value that is not the truth."""
    return float(item.outcome in {scoring.ATTRACTOR, scoring.WRONG})


# one for each table --------------------------------------------------------------------------------


def wall(items: Sequence[Item]) -> Table:
    """Tables 5, 6, 7."""
    by = ("family", "memory", "integrity")
    return Table(
        "wall", "Tables 5, 6, 7", by, ("reclaim", "attractor", "silent", "abstained"), cells(items, by),
        (*paired(items, "source_first", "lossy", recovered, "recovered", ("family", "integrity")),
         *paired(items, "lossy_padded", "lossy", recovered, "recovered", ("family", "integrity"))),
    )  # fmt: skip


def reclaim(items: Sequence[Item]) -> Table:
    """Tables 8, 18: every memory at the wall."""
    by = ("family", "memory", "correction")
    others = [name for name in _memories(items) if name != "lossy"]
    found = [
        pair
        for name in others
        for pair in paired(items, name, "lossy", recovered, "recovered", ("family", "correction"))
    ]
    columns = ("reclaim", "attractor", "silent", "abstained", "used", "pulls")
    return Table("reclaim", "Tables 8, 18", by, columns, cells(items, by), tuple(found))


def disposition(items: Sequence[Item]) -> Table:
    """Tables 3, 17."""
    by = ("reader", "memory")
    return Table(
        "disposition", "Tables 3, 17", by, ("wrong", "abstained", "attractor", "of_wrong_attractor"), cells(items, by),
        paired(items, "lossy", "blank", wrong, "commits to a wrong value", ("reader",)),
    )  # fmt: skip


def taxonomy(items: Sequence[Item]) -> Table:
    """Tables 4, 18, 19."""
    by = ("correction", "memory")
    return Table("taxonomy", "Tables 4, 18, 19", by, ("reclaim", "attractor", "silent", "abstained"), cells(items, by))


def adversarial(items: Sequence[Item]) -> Table:
    """Table 19."""
    by = ("family", "correction", "memory")
    return Table(
        "adversarial", "Table 19, App. J", by, ("reclaim", "attractor", "silent", "abstained"), cells(items, by)
    )


def both(items: Sequence[Item]) -> Table:
    """Section 5.3."""
    by = ("family", "memory")
    return Table(
        "both", "5.3", by, ("reclaim", "attractor", "abstained"), cells(items, by),
        paired(items, "source_first", "source_plus_conclusion", recovered, "recovered", ("family",)),
    )  # fmt: skip


def window(items: Sequence[Item]) -> Table:
    """Table 2."""
    by = ("depth", "filler", "correction")
    return Table("window", "Table 2", by, ("reclaim", "attractor", "abstained"), cells(items, by))


def size(items: Sequence[Item]) -> Table:
    """Figure 2, Table 14."""
    by = ("memory", "budget", "items")
    columns = ("reclaim", "silent", "abstained", "used", "pulls", "pulled")
    return Table("size", "Figure 2, Table 14", by, columns, cells(items, by))


def completeness(items: Sequence[Item]) -> Table:
    """Table 11."""
    by = ("memory", "budget", "items")
    return Table(
        "completeness", "Table 11", by, ("reclaim", "silent", "abstained", "pulls"), cells(items, by),
        paired(items, "source_first_tagged", "source_first", lambda item: float(item.silent), "silently wrong"),
    )  # fmt: skip


def noise(items: Sequence[Item]) -> Table:
    """Figure 3, Table 15, locating."""
    by = ("memory", "considered")
    columns = ("reclaim", "silent", "abstained", "used", "pulls", "pulled")
    return Table("noise", "Figure 3, Table 15", by, columns, cells(items, by))


def places(items: Sequence[Item]) -> Table:
    """Wherever the source stands; not in the paper, whose source stands in the first message."""
    by = ("family", "memory", "source_at")
    return Table("places", "beside the paper", by, ("reclaim", "silent", "abstained", "pulls"), cells(items, by))


def chain(items: Sequence[Item]) -> Table:
    """Table 12 and its control."""
    by = ("memory", "hops", "premise")
    return Table(
        "cascade", "Table 12", by, ("blast", "blast_abstained", "reclaim", "silent", "used", "pulls", "pulled"),
        cells(items, by), remarks=("premise False is the control: no error is planted, and none should appear",),
    )  # fmt: skip


def free_guess(items: Sequence[Item]) -> Table:
    """Table 16."""
    by = ("correction",)
    return Table(
        "free_guess", "Table 16, App. D", by, ("reclaim", "attractor", "silent", "abstained"), cells(items, by)
    )


def dialogues(items: Sequence[Item]) -> Table:
    """Tables 9, 10."""
    by = ("memory", "exact")
    return Table(
        "dialogues", "Tables 9, 10", by, ("reclaim", "wrong", "attractor", "abstained"), cells(items, by),
        (*paired(items, "source_first", "lossy", recovered, "recovered"),
         *paired(items, "lossy", "blank", wrong, "commits to a wrong time")),
    )  # fmt: skip


def endogenous(items: Sequence[Item]) -> Table:
    """Section 11: only items of sessions that did go wrong."""
    went_wrong = [item for item in items if item.attractor not in {"", item.answer}]
    right = (
        f"{len(items) - len(went_wrong)} of {len(items)} items are left out: their session did not go wrong, or the "
        "memory failed"
    )
    by = ("memory",)
    columns = ("reclaim", "attractor", "abstained")
    return Table("endogenous", "11", by, columns, cells(went_wrong, by) if went_wrong else (), remarks=(right,))


def prompts(items: Sequence[Item]) -> Table:
    """Section 11, prompt sensitivity: the spread between the best and the worst wording."""
    by = ("memory",)
    found = cells(items, by)
    shares = sorted(one.recovered.share or 0.0 for one in found)
    spread = f"spread {shares[-1] - shares[0]:.2f} over {len(found)} wordings, n = {found[0].n} each"
    return Table("prompts", "11", by, ("reclaim", "silent", "abstained"), found, remarks=(spread,))


TABLES: dict[str, Callable[[Sequence[Item]], Table]] = {
    "wall": wall, "reclaim": reclaim, "disposition": disposition, "taxonomy": taxonomy, "adversarial": adversarial,
    "both": both, "window": window, "size": size, "completeness": completeness, "noise": noise, "places": places,
    "cascade": chain, "free_guess": free_guess, "dialogues": dialogues, "endogenous": endogenous, "prompts": prompts,
}  # fmt: skip
"""By the name of the experiment (`Case.experiment`)."""


def tables(items: Iterable[Item]) -> tuple[Table, ...]:
    """Make the table of every experiment that items are of, a reader at a time, in the order in which they come."""
    found: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        name = item.parameters["experiment"]
        found[name, "" if name == "disposition" else item.parameters["reader"]].append(item)
    return tuple(TABLES[name](own) for (name, _), own in found.items() if name in TABLES)


def as_json(table: Table) -> dict[str, Any]:
    """Give a table as JSON values: labels as an object, each figure with its n."""
    return {
        "name": table.name, "where": table.where, "by": list(table.by), "columns": list(table.columns),
        "cells": [{**asdict(one), "labels": dict(one.labels), "regimes": dict(one.regimes)} for one in table.cells],
        "pairs": [
            {
                "about": one.about, "labels": dict(one.labels),
                **asdict(one.difference), "verdict": one.verdict,
            }
            for one in table.pairs
        ],
        "remarks": list(table.remarks),
    }  # fmt: skip


# counting ------------------------------------------------------------------------------------------


def _labels(item: Item, by: Sequence[str]) -> Labels:
    return tuple((name, item.parameters.get(name)) for name in by)


def _memories(items: Sequence[Item]) -> list[str]:
    return list(dict.fromkeys(str(item.parameters["memory"]) for item in items))


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
    emitted = emitted_wrong + counted[scoring.RECOVERED]
    pulled = [pull for item in own for pull in (*item.pulls, *(one for hop in item.hops for one in hop["pulls"]))]
    return Cell(
        labels, n, len({item.parameters["problem"] for item in own}),
        recovered=stats.rate(counted[scoring.RECOVERED], n), reclaim=stats.mean(_by_problem(own, recovered)),
        wrong=stats.rate(emitted_wrong, n), attractor=stats.rate(counted[scoring.ATTRACTOR], n),
        silent=stats.rate(counted[scoring.WRONG], n), abstained=stats.rate(counted[scoring.ABSTAINED], n),
        malformed=stats.rate(counted[scoring.MALFORMED], n), failed=stats.rate(counted[scoring.FAILED], n),
        of_wrong_attractor=stats.rate(counted[scoring.ATTRACTOR], emitted_wrong),
        hedged=stats.rate(sum(item.hedged for item in own), emitted),
        used=sum(item.used for item in own) / n, over=sum(item.over for item in own),
        pulls=len(pulled) / n, pulled=sum(one["characters"] for one in pulled) / n,
        blast=stats.mean(_by_problem(own, lambda item: float(item.blast))),
        blast_abstained=sum(hop["outcome"] == scoring.ABSTAINED for item in own for hop in item.hops) / n,
        regimes=tuple(sorted(Counter(item.regime for item in own if item.regime).items())),
    )  # fmt: skip
