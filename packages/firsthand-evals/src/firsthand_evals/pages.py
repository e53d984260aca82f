"""Pages of HTML from templates: one file each, that runs nothing and fetches nothing.

The invariant: whatever a memory, a reader or a session wrote stands in a page escaped,
without control characters; a picture is the only markup that is put in as it is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from firsthand.printable import shown
from firsthand.value import value
from firsthand_evals.stats import TOO_FEW


@value
class Picture:
    """A picture with what stands below it."""

    svg: Markup
    caption: str


def render(template: str, **context: Any) -> str:
    """Write a page of HTML by a template of this package."""
    written: str = _environment(html=True).get_template(template).render(**context)
    return written


def text(template: str, filters: Mapping[str, Callable[..., Any]] | None = None, **context: Any) -> str:
    """Write a text by a template of this package; what is to be made printable goes through a filter."""
    environment = _environment(html=False)
    environment.filters |= filters or {}
    return str(environment.get_template(template).render(**context)).rstrip("\n") + "\n"


@cache
def _environment(*, html: bool) -> Environment:
    return Environment(
        loader=PackageLoader("firsthand_evals"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=html,  # noqa: S701 - what is no HTML is not escaped
        finalize=_printable if html else None,
    )  # fmt: skip


def _printable(given: object) -> object:
    """Show text without control characters; markup of our own stays as it is."""
    return given if isinstance(given, Markup) else shown(str(given), lines=True)


WIDTH, PANEL_WIDTH, HEIGHT = 7.2, 5.0, 2.9
"""Inches."""
SERIES_MAX = 8
_COLOURS = ("#3b82c4", "#d9772b", "#2a9d83", "#a763c4", "#a08c1a", "#7d8893", "#d1567f", "#4c9a63")
_MARKS = "os^Dv<>P"
_DASHES = ("-", "--", ":", "-.", (0, (1, 1)), (0, (8, 2)), (0, (4, 1)), (0, (3, 5)))
_WORDS = "#010203"
"""Drawn in place of the page's own colour."""
_ON = "#000001"
"""Of words on a segment."""
OUTCOMES = {
    "recovered": "#2f9e5f", "attractor": "#d1463b", "wrong": "#e0a030", "abstained": "#9aa5b1",
    "malformed": "#8f74cf", "failed": "#5b6570",
}  # fmt: skip


@value
class Figure:
    """A number with its interval; ``low`` and ``high`` are None of one that has none: a share of too few items."""

    value: float | None
    low: float | None = None
    high: float | None = None
    share: bool = True

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        if not self.share and self.low is None:
            return f"{self.value:,.1f}" if self.value % 1 else f"{self.value:,.0f}"
        return f"{self.value:.2f}" + (f", {TOO_FEW}" if self.low is None else f" [{self.low:.2f}, {self.high:.2f}]")


@value
class Series:
    """One line: its name, and a figure for each place of the axis that it has one for."""

    name: str
    points: tuple[tuple[str, Figure], ...]


@value
class Bar:
    """One bar: how many of n items came to each outcome, in the order of the outcomes."""

    name: str
    counts: tuple[tuple[str, int], ...]


def lines(
    about: str, axis: str, side: str, series: Sequence[Series], *, most: float | None = 1.0, width: float = WIDTH
) -> Markup:
    """Draw lines over the places of an axis, each with its interval.

    Args:
        axis, side: what is written along them; ``most``: the upper end of the side, None for what the figures take.
    """
    places = list(dict.fromkeys(place for one in series for place, _ in one.points))
    canvas, axes = _canvas(width, HEIGHT)
    for number, one in enumerate(series[:SERIES_MAX]):
        points = [(places.index(place), it) for place, it in one.points if it.value is not None]
        at, middle = [place for place, _ in points], [it.value or 0.0 for _, it in points]
        low = [max(0.0, (it.value or 0.0) - (it.low if it.low is not None else it.value or 0.0)) for _, it in points]
        high = [max(0.0, (it.high if it.high is not None else it.value or 0.0) - (it.value or 0.0)) for _, it in points]
        aside = (number - (len(series) - 1) / 2) * 0.02  # so that equal figures stand beside each other
        axes.errorbar(
            [place + aside for place in at], middle, yerr=[low, high], label=shown(one.name), marker=_MARKS[number],
            linestyle=_DASHES[number], color=_COLOURS[number], markersize=4, linewidth=1.6, elinewidth=0.9,
        )  # fmt: skip
    axes.set_xticks(range(len(places)), places)
    axes.set_ylim(0, most * 1.03 if most is not None else None)
    axes.set_xlabel(axis)
    axes.set_ylabel(side)
    axes.grid(visible=True, axis="y", alpha=0.3)
    if len(series) > 1:
        left = len(series) - SERIES_MAX
        more = f"{left} more are in the table alone" if left > 0 else None
        axes.legend(fontsize=7, frameon=False, ncols=2, title=more, loc="upper left", bbox_to_anchor=(0, -0.22))
    return _svg(canvas, about)


def bars(about: str, rows: Sequence[Bar]) -> Markup:
    """Draw one bar for each row, split by outcome; n stands behind it."""
    canvas, axes = _canvas(WIDTH, 0.9 + 0.26 * len(rows))
    for outcome, colour in OUTCOMES.items():
        shares = [dict(row.counts).get(outcome, 0) / max(1, sum(n for _, n in row.counts)) for row in rows]
        before = [_share_before(row, outcome) for row in rows]
        drawn = axes.barh(range(len(rows)), shares, left=before, color=colour, label=outcome, height=0.8)
        labels = [f"{share:.2f}" if share > 0.05 else "" for share in shares]
        axes.bar_label(drawn, labels=labels, label_type="center", fontsize=7, color=_ON)
    axes.set_yticks(range(len(rows)), [shown(row.name) for row in rows], fontsize=8)
    for place, row in enumerate(rows):
        axes.text(1.01, place, f"n = {sum(n for _, n in row.counts):,}", va="center", fontsize=7)
    axes.set_xlim(0, 1)
    axes.invert_yaxis()
    axes.legend(fontsize=7, frameon=False, ncols=len(OUTCOMES), loc="upper center", bbox_to_anchor=(0.4, 0))
    axes.tick_params(bottom=False, labelbottom=False)
    return _svg(canvas, about)


def _share_before(row: Bar, outcome: str) -> float:
    names = list(OUTCOMES)
    counts = dict(row.counts)
    return sum(counts.get(name, 0) for name in names[: names.index(outcome)]) / max(1, sum(counts.values()))


def _canvas(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 - a second, and only a picture pays
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 - the same

    canvas = Canvas(figsize=(width, height))
    FigureCanvasSVG(canvas)
    axes = canvas.add_subplot()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return canvas, axes


def _svg(canvas: Any, about: str) -> Markup:
    import matplotlib as mpl  # noqa: PLC0415 - the same
    from matplotlib.text import Text  # noqa: PLC0415 - the same

    for axes in canvas.axes:
        for text in canvas.findobj(Text):
            text.set_color(_ON if text.get_color() == _ON else _WORDS)
        for spine in axes.spines.values():
            spine.set_edgecolor(_WORDS)
    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": about}):
        canvas.savefig(file, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None})
    drawn = file.getvalue()
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn[drawn.index("<svg") :], flags=re.DOTALL)
    label = Markup.escape(shown(about))
    drawn = drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).replace(_WORDS, "currentColor")
    return Markup(drawn)  # noqa: S704 - drawn by matplotlib, which escapes the words in it
