"""Pictures of reports: lines and dots as SVG, with the papers' own figures in the same plot.

The invariant: a picture says by shape, dash or word what it says by colour, takes the
page's own colour for its words, and is the same bytes for the same figures. What a paper
gives is a hollow diamond, and its name begins with "paper".
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from firsthand.printable import shown
from firsthand.value import value
from firsthand_evals.stats import TOO_FEW, Mean

WIDTH, HEIGHT = 4.8, 2.7
"""Inches."""
SERIES_MAX = 8
NAME_CHARACTERS = 34
"""Of a row's name, before it is broken."""
ROW_INCHES, LINE_ROWS = 0.25, 0.8
"""Of the height of a row, and of a line of its name in rows."""
_COLOURS = ("#3b82c4", "#d9772b", "#2a9d83", "#a763c4", "#a08c1a", "#7d8893", "#d1567f", "#4c9a63")
_MARKS = "os^Dv<>P"
_PAPER_MARKS = "Ddhp"
_DASHES = ("-", "--", ":", "-.", (0, (1, 1)), (0, (8, 2)), (0, (4, 1)), (0, (3, 5)))
_WORDS = "#010203"
"""Drawn in place of the page's own colour."""


@value
class Picture:
    """A picture with what stands below it; it is drawn when it is shown."""

    draw: Callable[[], Markup]
    caption: str = ""


@value
class Figure:
    """A number with its interval; ``low`` and ``high`` are None of one that has none: a share of too few items."""

    value: float | None
    low: float | None = None
    high: float | None = None
    share: bool = True

    @classmethod
    def of(cls, mean: Mean) -> Figure:
        """Give the figure of a mean share; of a single cluster it has no interval."""
        return cls(mean.mean) if mean.few else cls(mean.mean, mean.low, mean.high)

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        if not self.share and self.low is None:
            return f"{self.value:,.1f}" if self.value % 1 else f"{self.value:,.0f}"
        return f"{self.value:.2f}" + (f", {TOO_FEW}" if self.low is None else f" [{self.low:.2f}, {self.high:.2f}]")


@value
class Series:
    """One line, or dots of one kind: a name, and a figure for each place that it has one for.

    Attributes:
        paper: whether a paper gives the figures; its name says which table or figure.
    """

    name: str
    points: tuple[tuple[str, Figure], ...]
    paper: bool = False


def lines(about: str, axis: str, side: str, series: Sequence[Series], *, most: float | None = 1.0) -> Markup:
    """Draw lines over the places of an axis, each with its interval; a paper's figures are marks without a line.

    Args:
        axis, side: what is written along them; ``most``: the upper end of the side, None for what the figures take.
    """
    places = {place: float(at) for at, place in enumerate(
        dict.fromkeys(place for line in series for place, _ in line.points if not line.paper))}  # fmt: skip
    canvas, axes = _canvas(HEIGHT)
    _draw(axes, series, places, 0.02, joined=True)
    axes.set_xticks([*places.values()], [*places], fontsize=8 if len(places) > 9 else 9)
    axes.set_ylim(0, most * 1.03 if most is not None else None)
    axes.set_xlabel(axis, fontsize=9)
    axes.set_ylabel(side, fontsize=9)
    return _svg(canvas, about, (-0.1, -0.2), series)


def dots(about: str, axis: str, series: Sequence[Series]) -> Markup:
    """Draw one row for each place, with a mark for each series and its interval; figures are shares."""
    names = {place: textwrap.wrap(shown(place), NAME_CHARACTERS) or [""] for kind in series for place, _ in kind.points}
    rows, below = dict[str, float](), -0.5
    for place, lines_of_name in names.items():  # a name of several lines has room for all of them
        room = max(1.0, LINE_ROWS * len(lines_of_name))
        rows[place], below = below + room / 2, below + room
    height = 0.7 + ROW_INCHES * (below + 0.5)
    canvas, axes = _canvas(height)
    _draw(axes, series, rows, 0.16, joined=False)
    axes.set_yticks([*rows.values()], ["\n".join(it) for it in names.values()], fontsize=8, linespacing=1.15)
    axes.set_ylim(below + 0.1, -0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(axis, fontsize=9)
    return _svg(canvas, about, (-0.4, -0.42 / (0.77 * height)), series)


def _draw(axes: Any, series: Sequence[Series], places: Mapping[str, float], apart: float, *, joined: bool) -> None:
    """Draw each series along the places: joined from left to right, or as marks from top to bottom."""
    ours, paper = [kind for kind in series if not kind.paper], [kind for kind in series if kind.paper]
    for number, kind in enumerate(ours[:SERIES_MAX]):
        aside = (number - (min(len(ours), SERIES_MAX) - 1) / 2) * apart  # equal figures stand beside each other
        at, middle, errors = _points(kind, places, aside)
        look = {"label": shown(kind.name), "marker": _MARKS[number], "color": _COLOURS[number], "markersize": 4.5,
                "linewidth": 1.6, "elinewidth": 1}  # fmt: skip
        if joined:
            axes.errorbar(at, middle, yerr=errors, linestyle=_DASHES[number], **look)
        else:
            axes.errorbar(middle, at, xerr=errors, linestyle="none", **look)
    for number, kind in enumerate(paper):
        at, middle, _ = _points(kind, places, 0)
        axes.plot(
            *((at, middle) if joined else (middle, at)), linestyle="none", marker=_PAPER_MARKS[number % 4],
            markerfacecolor="none", markeredgecolor=_WORDS, markersize=8 + 2 * number, clip_on=False,
            label=shown(kind.name),
        )  # fmt: skip
    axes.grid(visible=True, alpha=0.3)


def _points(
    kind: Series, places: Mapping[str, float], aside: float
) -> tuple[list[float], list[float], list[list[float]]]:
    """Give where figures stand along the places, their values, and how far intervals reach below and above."""
    points = [(places[place] + aside, figure) for place, figure in kind.points
              if figure.value is not None and place in places]  # fmt: skip
    middle = [figure.value or 0.0 for _, figure in points]
    reach = [
        [
            max(0.0, sign * ((end if end is not None else value) - value))
            for end, value in zip(ends, middle, strict=True)
        ]
        for sign, ends in ((-1, [figure.low for _, figure in points]), (1, [figure.high for _, figure in points]))
    ]
    return [at for at, _ in points], middle, reach


def _canvas(height: float) -> tuple[Any, Any]:
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 - a second, and only a picture pays
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 - the same

    canvas = Canvas(figsize=(WIDTH, height))
    FigureCanvasSVG(canvas)
    axes = canvas.add_subplot()
    axes.tick_params(labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return canvas, axes


def _svg(canvas: Any, about: str, legend: tuple[float, float], series: Sequence[Series]) -> Markup:
    import matplotlib as mpl  # noqa: PLC0415 - the same
    from matplotlib.text import Text  # noqa: PLC0415 - the same

    (axes,) = canvas.axes
    named = sorted(zip(*axes.get_legend_handles_labels(), strict=True), key=lambda it: it[1].startswith("paper"))
    left = sum(not kind.paper for kind in series) - SERIES_MAX
    more = f"{left} more are in the table alone" if left > 0 else None
    if len(named) > 1:
        axes.legend(
            [handle for handle, _ in named], [name for _, name in named], ncols=2, fontsize=8, frameon=False,
            loc="upper left", labelspacing=0.4, columnspacing=1, bbox_to_anchor=legend,
            title=more,
        )  # fmt: skip
    for text in canvas.findobj(Text):
        text.set_color(_WORDS)
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
