"""Figures of a cell as people read them: a value, its interval, and what it is called.

The invariant: a figure of a share never stands without an interval.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from firsthand.value import value
from firsthand_evals import pictures as drawings
from firsthand_evals import stats
from firsthand_evals.pictures import Figure, Picture, Series
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.tables import Cell, Pair, Table, cells
from firsthand_evals.reclaim.words import words
from firsthand_evals.stats import Mean, Rate

OURS_AND_PAPER = ("lossy", "source_first")
"""Notes of the paper that stand beside memories under test in the first picture."""
_WORDS = words("figures")
HEADS: dict[str, str] = _WORDS["heads"]
SAID: dict[str, str] = _WORDS["outcomes"]
ABOUT: tuple[tuple[str, str], ...] = _WORDS["about"]


def figure(cell: Cell, column: str) -> Figure:
    """Give one figure of a cell by the name of its column."""
    found: Rate | Mean | float | int = getattr(cell, column)
    if isinstance(found, Rate):
        return _of_rate(found)
    if not isinstance(found, Mean):
        return Figure(float(found), share=False)
    return Figure.of(found) if column == "reclaim" else Figure(found.mean, found.low, found.high, share=False)


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


@value
class _Sweep:
    """How a table is drawn as lines: along which label, a panel for each value of another."""

    along: str
    axis: str
    panels: str = ""
    side: str = "brought back"
    column: str = "reclaim"

    def place(self, cell: Cell) -> str:
        """Give where a cell stands along the sweep."""
        return str(cell.label(self.along))


_SWEEPS = {
    "wall": (_Sweep("integrity", "integrity of the note", "family"),),
    "size": (_Sweep("items", "items that the source has (not to scale)", "budget"),),
    "noise": (_Sweep("considered", "items that were considered and not bought (not to scale)"),),
    "cascade": (
        _Sweep("hops", "sessions in the chain", "premise", "sessions answered wrongly", "blast"),
        _Sweep("hops", "sessions in the chain", "premise"),
    ),
}


@value
class Anchor:
    """Figures that the paper gives for cells of an experiment; see ``anchors.toml``."""

    experiment: str
    source: str
    cells: Sequence[tuple[Mapping[str, Any], float]]
    column: str = "reclaim"
    memory: str = ""

    def of(self, cell: Cell) -> float | None:
        """Give the paper's figure for a cell; None where it has none."""
        if self.memory and cell.label("memory") != self.memory:
            return None
        return next((share for labels, share in self.cells if all(cell.label(a) == b for a, b in labels.items())), None)


@cache
def anchors() -> tuple[Anchor, ...]:
    """Give what the paper has."""
    rows = tomllib.loads(Path(__file__).with_name("anchors.toml").read_text(encoding="utf-8"))["anchor"]
    return tuple(Anchor(**row) for row in rows)


def lead(tables: Sequence[Table], names: Sequence[str]) -> Picture | None:
    """Draw what each memory brought back in each experiment, beside the paper's notes and the paper's own figures."""
    points: dict[str, list[tuple[str, Figure]]] = {name: [] for name in (*names, *OURS_AND_PAPER)}
    paper: dict[str, list[tuple[str, Figure]]] = {}
    for table in tables:
        row = table.name.replace("_", " ")
        for name, of_name in points.items():
            own = [cell for cell in table.cells if cell.label("memory") == name and cell.label("premise") is not False]
            if own:
                rate = stats.rate(sum(cell.recovered.hits for cell in own), sum(cell.n for cell in own))
                of_name.append((row, _of_rate(rate)))
        if table.name not in _SWEEPS:  # of a sweep there is no single figure
            for _, cell, share in _paper(table, table.cells):
                if cell.label("memory") in OURS_AND_PAPER:
                    paper.setdefault(f"paper: {cell.label('memory')}", []).append((row, Figure(share)))
    series = [*_series({name: it for name, it in points.items() if it}), *_series(paper, paper=True)]
    about = "share brought back after a correction, by experiment"
    drawn = partial(drawings.dots, about, "brought back", series)
    return Picture(drawn, f"{about}; the paper's tables are named in the parts below") if series else None


def _paper(table: Table, cells: Sequence[Cell], column: str = "reclaim") -> Iterator[tuple[str, Cell, float]]:
    """Give the paper's figures for cells: where they are from, the cell, the figure."""
    for anchor in anchors():
        if (anchor.experiment, anchor.column) == (table.name, column):
            for cell in cells:
                share = anchor.of(cell)
                if share is not None:
                    yield f"paper: {anchor.source}", cell, share


def pictures(table: Table, names: Sequence[str]) -> list[Picture]:
    """Draw a table; none for one without cells."""
    if not table.cells:
        return []
    ordered = sorted(table.cells, key=lambda cell: cell.label("memory") not in names)  # one's own first
    if table.name not in _SWEEPS:
        return [_dots(table, ordered)]
    return [picture for sweep in _SWEEPS[table.name] for picture in _lines(table, ordered, sweep)]


def _dots(table: Table, cells: Sequence[Cell]) -> Picture:
    """Draw a row for each cell, with its share of each outcome."""
    outcomes = [outcome for outcome in scoring.OUTCOMES if any(_rate(cell, outcome).hits for cell in cells)]
    ours = {SAID[it]: [(_row_of(cell), _of_rate(_rate(cell, it))) for cell in cells] for it in outcomes}
    paper = (row for column in ("reclaim", "wrong") for row in _paper(table, cells, column))
    series = [*_series(ours), *_anchored(paper, _row_of)]
    about = f"{table.name}: outcomes by {', '.join(table.by)}"
    return Picture(partial(drawings.dots, about, "share of items", series), f"{_counted(cells)} a row")


def _counted(cells: Sequence[Cell]) -> str:
    n = sorted({cell.n for cell in cells})
    return f"n = {n[0]:,}" + (f" to {n[-1]:,}" if n[1:] else "")


def _rate(cell: Cell, outcome: str) -> Rate:
    rate: Rate = getattr(cell, "silent" if outcome == scoring.WRONG else outcome)
    return rate


def _of_rate(rate: Rate) -> Figure:
    return Figure(rate.share) if rate.n == 1 else Figure(rate.share, rate.low, rate.high)


def _row_of(cell: Cell) -> str:
    return ": ".join(filter(None, (str(cell.label("memory") or ""), label(cell, ("memory",))))) or "all items"


def _series(points: Mapping[str, Sequence[tuple[str, Figure]]], *, paper: bool = False) -> list[Series]:
    return [Series(name, tuple(of_name), paper) for name, of_name in points.items()]


def _anchored(figures: Iterable[tuple[str, Cell, float]], place: Callable[[Cell], str]) -> list[Series]:
    points: dict[str, list[tuple[str, Figure]]] = {}
    for source, cell, share in figures:
        points.setdefault(source, []).append((place(cell), Figure(share)))
    return _series(points, paper=True)


def _lines(table: Table, cells: Sequence[Cell], sweep: _Sweep) -> Iterator[Picture]:
    """Draw a sweep, a panel for each value of its other label; all panels have one scale."""
    most = 1.0
    if sweep.column != "reclaim":
        most = max(1.0, *(it.high or it.value or 0.0 for it in (figure(cell, sweep.column) for cell in cells)))
    for panel in dict.fromkeys(cell.label(sweep.panels) for cell in cells):
        own = [cell for cell in cells if cell.label(sweep.panels) == panel]
        ours: dict[str, list[tuple[str, Figure]]] = {}
        for cell in own:
            ours.setdefault(str(cell.label("memory")), []).append((sweep.place(cell), figure(cell, sweep.column)))
        series = [*_series(ours), *_anchored(_paper(table, own, sweep.column), sweep.place)]
        counted = f"{_counted(own)} a point"
        head = f"{_label(sweep.panels, panel)}; {counted}" if panel is not None else counted
        about = f"{table.name}: {sweep.side} by {sweep.axis}, {head}"
        yield Picture(partial(drawings.lines, about, sweep.axis, sweep.side, series, most=most), head)
