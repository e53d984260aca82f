"""Runs as one page of HTML: the curves after every update with their bands, and the tables.

The invariant: the page runs nothing and fetches nothing; no memory and keep all are drawn
in every picture; a band holds for all updates of its curve at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from firsthand_evals.reclaim import plots
from firsthand_evals.reclaim.figures import Figure
from firsthand_evals.reclaim.page_style import SERIES, STYLE
from firsthand_evals.reclaim.plots import PANEL_WIDTH, Series
from firsthand_evals.stream import curves
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.measure import STRONG, WEAK
from firsthand_evals.stream.report import ABOUT, MODEL, SHARES, Run, short
from firsthand_evals.stream.run import Stream

QUARTERS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
"""Of the side of a picture, in units of a power of ten."""
PLACES_MAX = 11
"""Updates that are marked on a curve."""
OTHERS_MAX = plots.SERIES_MAX - 2
DRAWN = (f"seen {STRONG}", f"seen {WEAK}", f"rule {STRONG}", f"rule {WEAK}", f"p0 {WEAK}", f"variant {WEAK}",
         f"regressed {WEAK}", "characters")  # fmt: skip
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(runs: Sequence[tuple[Run, Sequence[Check]]]) -> str:
    """Write the page."""
    parts = [f"<p>{escape(ABOUT.replace('*', ''))}</p>"]
    for run, made in runs:
        parts += [f"<h2>{escape(str(run))}</h2>", *pictures(run.streams, run.arms, _drawn(run))]
        parts += [_table(run), *checked(made)]
    return document("Consolidation after every update", parts)


def _drawn(run: Run) -> tuple[str, ...]:
    """Give the figures that are drawn; where a model answers, its own in place of the strong reader's."""
    asked = run.shares != SHARES
    return tuple(one.replace(f" {STRONG}", f" {MODEL}") if asked else one for one in DRAWN)


def document(title: str, parts: Sequence[str]) -> str:
    """Write parts, HTML each, as a page that fetches nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{SERIES}</style></head><body>\n<h1>{escape(title)}</h1>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def marked(updates: int) -> list[int]:
    """Choose the updates that are marked, from 1: the first, the last, and some between at equal distance."""
    if updates <= PLACES_MAX:
        return list(range(1, updates + 1))
    return sorted({1 + round(at * (updates - 1) / (PLACES_MAX - 1)) for at in range(PLACES_MAX)})


def pictures(streams: Sequence[Stream], arms: Sequence[str], figures: Sequence[str]) -> Iterator[str]:
    """Draw the curves of figures, some arms in each picture; no memory and keep all are in every one."""
    base = [name for name in (NO_MEMORY, KEEP_ALL) if name in arms]
    others = [name for name in arms if name not in base]
    groups = [others[at : at + OTHERS_MAX] for at in range(0, len(others), OTHERS_MAX)] or [[]]
    number = len({one.seed for one in streams})
    drawn = {figure: {name: _series(streams, name, figure) for name in arms} for figure in figures}
    for group in groups:
        names = [*base, *group]
        yield plots.legend(names)
        panels = "".join(_panel(figure, [drawn[figure][name] for name in names], number) for figure in figures)
        yield f'<div class="panels">{panels}</div>'


def even(most: float) -> float:
    """Give the end of a side that holds a number, such that its quarters are short to write; 1 for nothing."""
    if most <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most / 4))
    return 4 * unit * next(one for one in QUARTERS if 4 * unit * one >= most * (1 - 1e-9))


def _panel(figure: str, series: Sequence[Series], number: int) -> str:
    side = figure if figure != "characters" else "thousand characters"
    most = 1.0 if figure != "characters" else even(max((it.high or 0.0) for one in series for _, it in one.points))
    drawn = plots.lines(f"{figure} after each update", "update", side, series, most=most, width=PANEL_WIDTH)
    bands = "95 % bands, for a whole curve at once" if number > 1 else "one stream, so no bands"
    return f"<figure>{drawn}<figcaption>{escape(figure)}; {bands}</figcaption></figure>"


def _series(streams: Sequence[Stream], name: str, figure: str) -> Series:
    band = curves.band(streams, name, figure)
    top, unit = (1.0, 1) if figure != "characters" else (float("inf"), 1_000)
    points = tuple(
        (str(at), Figure(one.mean / unit, max(0.0, one.low / unit), min(top, one.high / unit), share=top == 1))
        for at, one in ((at, band[at - 1]) for at in marked(len(band)))
    )
    return Series(name, points)


def _table(run: Run) -> str:
    heads = "".join(f'<th class="number">{escape(it)}</th>' for it in (*run.shares, "characters"))
    rows = "".join(
        f'<tr><td class="name">{escape(name)}</td>'
        + "".join(f'<td class="number">{short(curves.end(run.streams, name, it))}</td>' for it in run.shares)
        + f'<td class="number">{curves.end(run.streams, name, "characters").mean:,.0f}</td></tr>'
        for name in run.arms
    )
    head = f"<thead><tr><th>after the last update</th>{heads}</tr></thead>"
    return f'<div class="wide"><table>{head}<tbody>{rows}</tbody></table></div>'


def checked(made: Sequence[Check]) -> Iterator[str]:
    """List the checks, where there are any."""
    if made:
        rows = "".join(f'<li class="{"good" if one.held else "bad"}">{escape(str(one))}</li>' for one in made)
        yield f"<h3>Checks</h3><ul>{rows}</ul>"
