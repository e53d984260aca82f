"""Which picture goes with which table: a sweep is drawn as lines, anything else as bars of outcomes.

The invariant: a picture shows cells of its table and nothing else; memories under test
stand first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firsthand.value import value
from firsthand_evals import plots
from firsthand_evals.pages import Picture
from firsthand_evals.plots import Bar, Series
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.figures import figure, label
from firsthand_evals.reclaim.tables import Cell, Table

SAID = {
    scoring.RECOVERED: "brought back", scoring.ATTRACTOR: "stale value", scoring.WRONG: "new wrong value",
    scoring.ABSTAINED: "abstained", scoring.MALFORMED: "unreadable", scoring.FAILED: "memory failed",
}  # fmt: skip
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
    width = plots.PANEL_WIDTH if len(panels) > 1 else plots.WIDTH
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
    return Picture(plots.lines(about, sweep.axis, sweep.side, drawn, most=most, width=width), head)


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
    return Picture(plots.bars(about, rows), ", ".join(SAID[outcome] for outcome in scoring.OUTCOMES))


def _ordered(found: Iterable[str], names: Sequence[str]) -> list[str]:
    """Give memories under test first, then the others as they come."""
    return sorted(dict.fromkeys(found), key=lambda name: name not in names)
