"""What a run requires of a memory, one sentence at a time, each met or not by items that can be looked at.

The invariant: a requirement names the items that do not meet it; it is of a memory under test, never
of a note of the paper, which is there to be compared with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from firsthand.value import value
from firsthand_evals import stats
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.figures import label
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.tables import Cell, Compared, Table, wrong

LEAST = 0.95
"""Of items that must be brought back, unless another share is asked for."""


@value
class Requirement:
    """One requirement.

    Attributes:
        where: the cell it is of, such as ``budget 300, items 8``; empty for all of a memory's items.
        says: what must hold; ``found``: the figures; ``broken``: items that break it.
        chance: how often a memory that meets it comes out so low by chance; 0 of what must hold of every item.
    """

    memory: str
    experiment: str
    where: str
    says: str
    held: bool
    n: int
    found: str
    broken: tuple[Item, ...] = ()
    chance: float = 0.0

    @property
    def name(self) -> str:
        """Say the requirement with its place."""
        return f"{self.where}: {self.says}" if self.where else self.says


def requirements(
    items: Sequence[Item], tables: Sequence[Table], names: Sequence[str], least: float = LEAST
) -> tuple[Requirement, ...]:
    """Make the requirements of each memory of ``names``."""
    found: list[Requirement] = []
    for name in names:
        own = [item for item in items if item.parameters["memory"] == name]
        if own:
            found += _of_memory(name, own)
        for table in tables:
            of_table = [item for item in own if item.parameters["experiment"] == table.name]
            for cell in table.cells:
                if cell.label("memory") == name:
                    found += _of_cell(name, table, cell, [one for one in of_table if _is_of(one, cell)], least)
        found += _beside_nothing(name, items)
    return tuple(found)


def _of_memory(name: str, own: Sequence[Item]) -> Iterator[Requirement]:
    over = tuple(item for item in own if item.over)
    most = max((item.written for item in over), default=0)
    yield Requirement(
        name, "", "", "what it writes fits the budget", not over, len(own),
        f"{len(over)} of {len(own)} texts were cut" + (f"; the longest had {most:,} characters" if over else ""), over,
    )  # fmt: skip
    failed = tuple(item for item in own if item.outcome == scoring.FAILED)
    yield Requirement(
        name, "", "", "it answers every call", not failed, len(own), f"{len(failed)} of {len(own)} items failed", failed
    )


def _of_cell(name: str, table: Table, cell: Cell, own: Sequence[Item], least: float) -> Iterator[Requirement]:
    where = label(cell, ("memory",))
    if cell.label("premise") is False:
        erring = tuple(item for item in own if item.blast)
        yield Requirement(
            name, table.name, where, "no session of a chain without an error is answered wrongly", not erring, cell.n,
            f"{cell.blast.mean:.2f} sessions of a chain", erring,
        )  # fmt: skip
        return
    share = cell.recovered.hits / cell.n
    yield Requirement(
        name, table.name, where, f"a correction brings back at least {least:g} of the items", share >= least, cell.n,
        str(cell.recovered), tuple(item for item in own if item.outcome != scoring.RECOVERED),
        chance(share, cell, least),
    )  # fmt: skip
    false = cell.wrong.hits / cell.n
    says = f"a wrong value is given for at most {1 - least:.2g} of the items"
    yield Requirement(
        name, table.name, where, says, false <= 1 - least + 1e-9, cell.n, f"stale {cell.attractor}, new {cell.silent}",
        tuple(item for item in own if wrong(item)), chance(1 - false, cell, least),
    )  # fmt: skip


def chance(share: float, cell: Cell, least: float) -> float:
    """Give how often so few problems come out right by chance; the items of a problem are alike."""
    return stats.so_low_by_chance(math.ceil(share * cell.problems - 1e-9), cell.problems, least)


def _beside_nothing(name: str, items: Sequence[Item]) -> Iterator[Requirement]:
    own = [item for item in items if item.parameters["experiment"] == "disposition"]
    for pair in Compared(name, "blank", wrong, "commits to a wrong value").pairs(own):
        yield Requirement(
            name, "disposition", "", "it gives no more wrong values than an empty memory", pair.verdict != "more",
            pair.difference.n, str(pair), tuple(one for one in own if one.parameters["memory"] == name and wrong(one)),
        )  # fmt: skip


def _is_of(item: Item, cell: Cell) -> bool:
    return all(item.parameters.get(name) == it for name, it in cell.labels)
