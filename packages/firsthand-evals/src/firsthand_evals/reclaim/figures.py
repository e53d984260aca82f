"""Figures of a cell as people read them: a value, its interval, and what it is called.

The invariant: a figure of a share never stands without an interval; where all items or
none count, resampling knows no interval, and the rule of three over problems stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firsthand.cli.display import table as aligned
from firsthand.value import value
from firsthand_evals import pages, stats
from firsthand_evals.pages import Bar, Figure, Picture, Series
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.tables import Cell, Pair, Table, cells
from firsthand_evals.reclaim.words import words
from firsthand_evals.stats import Mean, Rate

_WORDS = words("figures")
HEADS: dict[str, str] = _WORDS["heads"]
SAID: dict[str, str] = _WORDS["outcomes"]
ABOUT: tuple[tuple[str, str], ...] = _WORDS["about"]


def figure(cell: Cell, column: str) -> Figure:
    """Give one figure of a cell by the name of its column."""
    found: Rate | Mean | float | int = getattr(cell, column)
    if isinstance(found, Rate):
        return Figure(found.share) if found.n == 1 else Figure(found.share, found.low, found.high)
    if not isinstance(found, Mean):
        return Figure(float(found), share=False)
    return of_mean(found) if column == "reclaim" else Figure(found.mean, found.low, found.high, share=False)


def of_mean(mean: Mean) -> Figure:
    """Give the figure of a share that was resampled; where all or none count, by the rule of three over clusters."""
    if mean.few:
        return Figure(mean.mean)
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
    return [
        f"{table.name}: {table.where}", *aligned([heads, *rows]), *(f"  {pair_line(pair)}" for pair in table.pairs),
        *(f"  {remark}" for remark in table.remarks),
    ]  # fmt: skip


_COUNTED = {scoring.WRONG: "silent"}  # the name of an outcome's rate in a cell, where it is another one


@value
class _Sweep:
    """How a table is drawn as lines: along which label, a panel for each value of another."""

    along: str
    axis: str
    panels: str = ""
    side: str = "brought back"
    column: str = "reclaim"


_SWEEPS = {
    "wall": (_Sweep("integrity", "integrity of the note", "family"),),
    "size": (_Sweep("items", "items that the source has (not to scale)", "budget"),),
    "noise": (_Sweep("considered", "items that were considered and not bought (not to scale)"),),
    "cascade": (
        _Sweep("hops", "sessions in the chain", "premise", "sessions answered wrongly", "blast"),
        _Sweep("hops", "sessions in the chain", "premise"),
    ),
}


def pictures(table: Table, names: Sequence[str]) -> list[Picture]:
    """Draw a table; none for one without cells."""
    if not table.cells:
        return []
    sweeps = _SWEEPS.get(table.name, ())
    if not sweeps:
        return [_bars(table, names)]
    ordered = _ordered((str(cell.label("memory")) for cell in table.cells), names)
    return [picture for sweep in sweeps for picture in _lines(table, sweep, ordered)]


def _lines(table: Table, sweep: _Sweep, names: Sequence[str]) -> list[Picture]:
    """Draw a sweep, a panel beside the other; all panels have one scale."""
    most = 1.0
    if sweep.column != "reclaim":
        most = max(1.0, *(it.high or it.value or 0.0 for it in (figure(cell, sweep.column) for cell in table.cells)))
    panels = list(_panels(table.cells, sweep))
    width = pages.PANEL_WIDTH if len(panels) > 1 else pages.WIDTH
    return [_panel(table, sweep, own, told, names, most, width) for own, told in panels]


def _panels(cells: Sequence[Cell], sweep: _Sweep) -> Iterable[tuple[list[Cell], str]]:
    """Split the cells by the label of the panels; of a table without it there is one."""
    found: dict[object, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.label(sweep.panels) if sweep.panels else None, []).append(cell)
    for name, own in found.items():
        others = [one for one, _ in own[0].labels if one != sweep.panels]
        yield own, label(own[0], others) if name is not None else ""


def _panel(
    table: Table, sweep: _Sweep, cells: Sequence[Cell], told: str, names: Sequence[str], most: float, width: float
) -> Picture:
    points: dict[str, list[Cell]] = {name: [] for name in names}
    for cell in cells:
        points[str(cell.label("memory"))].append(cell)
    drawn = [
        Series(name, tuple((str(cell.label(sweep.along)), figure(cell, sweep.column)) for cell in own))
        for name, own in points.items()
    ]
    n = sorted({cell.n for cell in cells})
    counted = f"n = {n[0]:,}" if len(n) == 1 else f"n = {n[0]:,} to {n[-1]:,}"
    head = f"{told}; {counted} a point" if told else f"{counted} a point"
    about = f"{table.name}: {sweep.side} by {sweep.axis}, {head}"
    return Picture(pages.lines(about, sweep.axis, sweep.side, drawn, most=most, width=width), head)


def _bars(table: Table, names: Sequence[str]) -> Picture:
    by_memory: dict[str, list[Cell]] = {}
    for cell in table.cells:
        by_memory.setdefault(str(cell.label("memory") or ""), []).append(cell)
    rows = [
        Bar(
            ": ".join(filter(None, (name, label(cell, ("memory",))))) or "all items",
            tuple((one, getattr(cell, _COUNTED.get(one, one)).hits) for one in scoring.OUTCOMES),
        )
        for name in _ordered(by_memory, names)
        for cell in by_memory[name]
    ]
    about = f"{table.name}: outcomes by {', '.join(table.by)}"
    return Picture(pages.bars(about, rows), ", ".join(SAID[outcome] for outcome in scoring.OUTCOMES))


def _ordered(found: Iterable[str], names: Sequence[str]) -> list[str]:
    """Give memories under test first, then the others as they come."""
    return sorted(dict.fromkeys(found), key=lambda name: name not in names)
