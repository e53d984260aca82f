"""Runs as one page of HTML: the curves after every update with their bands, and the tables.

The invariant: no memory and keep all are drawn in every picture; a band holds for all
updates of its curve at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from firsthand_evals import pages, plots
from firsthand_evals.pages import Picture
from firsthand_evals.plots import PANEL_WIDTH, Series
from firsthand_evals.reclaim.figures import Figure
from firsthand_evals.stream import curves
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.measure import STRONG, WEAK
from firsthand_evals.stream.report import ABOUT, MODEL, SHARES, Run, short
from firsthand_evals.stream.run import Stream

PLACES_MAX = 11
"""Updates that are marked on a curve."""
OTHERS_MAX = plots.SERIES_MAX - 2
DRAWN = (f"seen {STRONG}", f"seen {WEAK}", f"rule {STRONG}", f"rule {WEAK}", f"p0 {WEAK}", f"variant {WEAK}",
         f"regressed {WEAK}", "characters")  # fmt: skip


def page(runs: Sequence[tuple[Run, Sequence[Check]]]) -> str:
    """Write the page."""
    sections = [_section(run, made) for run, made in runs]
    return pages.render(
        "stream.html", title="Consolidation after every update", about=[ABOUT.replace("*", "")], sections=sections
    )


def _section(run: Run, made: Sequence[Check]) -> dict[str, Any]:
    rows = [
        (name, *(short(curves.end(run.streams, name, it)) for it in run.shares),
         f"{curves.end(run.streams, name, 'characters').mean:,.0f}")
        for name in run.arms
    ]  # fmt: skip
    asked = run.shares != SHARES  # a model answered: its figures stand in place of the strong reader's
    drawn = tuple(one.replace(f" {STRONG}", f" {MODEL}") if asked else one for one in DRAWN)
    return {
        "heading": str(run), "pictures": [*_pictures(run.streams, run.arms, drawn)],
        "heads": ("after the last update", *run.shares, "characters"), "rows": rows, "checks": made,
    }  # fmt: skip


def marked(updates: int) -> list[int]:
    """Choose the updates that are marked, from 1: the first, the last, and some between at equal distance."""
    if updates <= PLACES_MAX:
        return list(range(1, updates + 1))
    return sorted({1 + round(at * (updates - 1) / (PLACES_MAX - 1)) for at in range(PLACES_MAX)})


def _pictures(streams: Sequence[Stream], arms: Sequence[str], figures: Sequence[str]) -> Iterator[Picture]:
    """Draw the curves of figures, some arms in each picture."""
    base = [name for name in (NO_MEMORY, KEEP_ALL) if name in arms]
    others = [name for name in arms if name not in base]
    many = len({one.seed for one in streams}) > 1
    bands = "95 % bands, for a whole curve at once" if many else "one stream, so no bands"
    for at in range(0, len(others), OTHERS_MAX) or (0,):
        for figure in figures:
            series = [_series(streams, name, figure) for name in (*base, *others[at : at + OTHERS_MAX])]
            most = None if figure == "characters" else 1.0
            about = f"{figure} after each update"
            drawn = plots.lines(about, "update", figure, series, most=most, width=PANEL_WIDTH)
            yield Picture(drawn, f"{figure}; {bands}")


def _series(streams: Sequence[Stream], name: str, figure: str) -> Series:
    band = curves.band(streams, name, figure)
    top = float("inf") if figure == "characters" else 1.0
    points = tuple(
        (str(at), Figure(it.mean, max(0.0, it.low), min(top, it.high), share=top == 1))
        for at, it in ((at, band[at - 1]) for at in marked(len(band)))
    )
    return Series(name, points)
