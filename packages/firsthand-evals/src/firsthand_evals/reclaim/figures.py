"""Figures of a cell as people read them: a value, its interval, and what it is called.

The invariant: a figure of a share never stands without an interval; where all items or
none count, resampling knows no interval, and the rule of three over problems stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firsthand.value import value
from firsthand_evals import stats
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.tables import Cell, Pair, Table, cells
from firsthand_evals.stats import Mean, Rate

HEADS = {
    "reclaim": "brought back", "wrong": "wrong value", "attractor": "stale value", "silent": "new wrong value",
    "abstained": "abstained", "malformed": "unreadable", "failed": "memory failed",
    "of_wrong_attractor": "stale of wrong", "used": "characters carried", "pulls": "questions to the memory",
    "pulled": "characters answered", "blast": "sessions answered wrongly", "blast_abstained": "sessions not answered",
}  # fmt: skip
ABOUT = (
    ("brought back", "the truth is given after the correction: the reclaim rate"),
    ("stale value", "the wrong conclusion of the session is given again"),
    ("new wrong value", "another wrong value is worked out, as if all were there: a silent partial answer"),
    ("abstained", "no value is committed to, and that is said"),
    ("unreadable", "no answer line that can be read, or two values on it"),
)


@value
class Figure:
    """A number with its interval; ``low`` and ``high`` are None of one that has none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    share: bool = True

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        if not self.share and self.low is None:
            return f"{self.value:,.1f}" if self.value % 1 else f"{self.value:,.0f}"
        return f"{self.value:.2f}" + (f" [{self.low:.2f}, {self.high:.2f}]" if self.low is not None else "")


def figure(cell: Cell, column: str) -> Figure:
    """Give one figure of a cell by the name of its column."""
    found: Rate | Mean | float | int = getattr(cell, column)
    if isinstance(found, Rate):
        return Figure(found.share, found.low, found.high)
    if not isinstance(found, Mean):
        return Figure(float(found), share=False)
    return of_mean(found) if column == "reclaim" else Figure(found.mean, found.low, found.high, share=False)


def of_mean(mean: Mean) -> Figure:
    """Give the figure of a share that was resampled; where all or none count, by the rule of three over clusters."""
    if mean.low == mean.high and mean.mean in (0.0, 1.0):
        bound = stats.none_seen(mean.clusters)
        return Figure(mean.mean, 1 - bound if mean.mean else 0.0, 1.0 if mean.mean else bound)
    return Figure(mean.mean, mean.low, mean.high)


def label(cell: Cell, without: Sequence[str] = ()) -> str:
    """Name a cell by its labels, such as ``size 300, items 8``."""
    told = [(name, it) for name, it in cell.labels if name not in without and it is not None]
    return ", ".join(_label(name, it) for name, it in told)


def _label(name: str, it: object) -> str:
    if name in {"memory", "family", "correction", "reader"}:
        return str(it)
    if name == "premise":
        return "with an error" if it else "no error (control)"
    if name == "exact":
        return "exact time" if it else "hedged time"
    return f"{name.replace('_', ' ')} {it}"


def pair_line(pair: Pair) -> str:
    """Say a difference in a line, with the cell it is of."""
    where = ", ".join(_label(name, it) for name, it in pair.labels if it is not None)
    return f"{where}: {pair}" if where else str(pair)


def scores(items: Iterable[Item], names: Sequence[str]) -> dict[str, Cell]:
    """Count all items of each memory, whatever they were asked; those without any are left out."""
    own = [item for item in items if item.parameters["memory"] in names]
    return {str(cell.label("memory")): cell for cell in (cells(own, ("memory",)) if own else ())}


def headline(table: Table, names: Sequence[str]) -> str:
    """Say a table in a line: what each memory of ``names`` brought back, or every memory when it has none of them."""
    found: dict[str, list[Cell]] = {}
    for cell in table.cells:
        if cell.label("premise") is not False:
            found.setdefault(str(cell.label("memory") or "all"), []).append(cell)
    chosen = {name: own for name, own in found.items() if name in names} or found
    told = []
    for name, own in chosen.items():
        n = sum(cell.n for cell in own)
        told.append(f"{name} {sum(cell.recovered.hits for cell in own) / n:.2f} (n = {n})")
    return ", ".join(told) or "no item counts"


def lines(table: Table) -> list[str]:
    """Write a table as lines of text: labels, n, figures; then differences and remarks."""
    heads = [*(name.replace("_", " ") for name in table.by), "n", *(HEADS[column] for column in table.columns)]
    rows = [
        [*(str(it) if it is not None else "" for _, it in cell.labels), f"{cell.n:,}",
         *(str(figure(cell, column)) for column in table.columns)]
        for cell in table.cells
    ]  # fmt: skip
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    told = [
        "  ".join(one.ljust(width) for one, width in zip(row, widths, strict=True)).rstrip() for row in (heads, *rows)
    ]
    return [
        f"{table.name}: {table.where}", *told, *(f"  {pair_line(one)}" for one in table.pairs),
        *(f"  {one}" for one in table.remarks),
    ]  # fmt: skip
