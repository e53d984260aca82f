"""Pictures as inline SVG: lines over a sweep, and bars of outcomes. Drawn by hand, so that a page needs nothing else.

The invariant: a picture says nothing by colour alone (series differ in mark and dash too,
segments stand in one order with their numbers), and takes every colour from the page, so
that it is readable in light and in dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from firsthand.printable import shown
from firsthand.value import value
from firsthand_evals.reclaim.figures import Figure

WIDTH, PANEL_WIDTH, HEIGHT = 640, 460, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 12, 44
SERIES_MAX = 8
_BAR, _GAP, _BETWEEN, _NAMES = 16, 4, 8, 250
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 3", "10 4", "4 2", "3 6")


@value
class Series:
    """One line: its name, and a figure for each place of the axis that it has one for."""

    name: str
    points: tuple[tuple[str, Figure], ...]


@value
class Bar:
    """One bar: how many of n items came to each outcome, in the order of the outcomes.

    Attributes:
        group: bars of one stand together, below its name; empty for a bar that stands by itself.
    """

    group: str
    name: str
    counts: tuple[tuple[str, int], ...]


def lines(about: str, axis: str, side: str, series: Sequence[Series], *, most: float = 1.0, width: int = WIDTH) -> str:
    """Draw lines over the places of an axis, each with its interval.

    Args:
        axis, side: what is written along them; ``most``: the upper end of the side.
        width: `PANEL_WIDTH` of one that stands beside others.
    """
    places = list(dict.fromkeys(place for one in series for place, _ in one.points))
    wide, high = width - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def x(place: str, number: int) -> float:
        aside = (number - (len(series) - 1) / 2) * 4  # so that equal figures stand beside each other
        return _LEFT + wide * (places.index(place) + 0.5) / len(places) + aside

    def y(number: float) -> float:
        return _TOP + high * (1 - min(number, most) / most)

    drawn = [_grid(places, most, axis, side, width)]
    for number, one in reversed(list(enumerate(series[:SERIES_MAX]))):
        points = [(x(place, number), it) for place, it in one.points if it.value is not None]
        path = " ".join(f"{at:.1f},{y(it.value or 0.0):.1f}" for at, it in points)
        dash = f' stroke-dasharray="{_DASHES[number]}"' if _DASHES[number] else ""
        drawn.append(f'<g class="s{number}"><polyline points="{path}" fill="none" stroke-width="2"{dash}/>')
        for at, it in points:
            if it.low is not None and it.high is not None:
                drawn.append(f'<path d="M{at:.1f} {y(it.low):.1f}V{y(it.high):.1f}" class="ci"/>')
            drawn.append(f"<g>{_mark(number, at, y(it.value or 0.0))}<title>{_plain(f'{one.name}: {it}')}</title></g>")
        drawn.append("</g>")
    return _svg(about, width, HEIGHT, "".join(drawn))


def bars(about: str, rows: Sequence[Bar]) -> str:
    """Draw one bar for each row, split by outcome; n stands behind it."""
    wide = WIDTH - _NAMES - 62
    drawn: list[str] = []
    top, group = -_BAR, ""
    for row in rows:
        if row.group != group:
            top += _BAR + (_BETWEEN if drawn else 0)
            group = row.group
            drawn.append(f'<text x="0" y="{top + 12}" class="group">{_plain(group, 90)}</text>')
        top += _BAR + _GAP
        n = sum(count for _, count in row.counts)
        drawn.append(f'<text x="{_NAMES - 8}" y="{top + 12}" text-anchor="end">{_plain(row.name, 38)}</text>')
        at = float(_NAMES)
        for outcome, count in row.counts:
            if not count:
                continue
            width = wide * count / n
            drawn.append(
                f'<g class="o-{outcome}"><rect x="{at:.1f}" y="{top}" width="{width:.1f}" height="{_BAR}"/>'
                f"<title>{_plain(f'{row.name}: {outcome} {count} of {n}')}</title>"
            )
            if width > 26:
                drawn.append(
                    f'<text x="{at + width / 2:.1f}" y="{top + 12}" text-anchor="middle">{count / n:.2f}</text>'
                )
            drawn.append("</g>")
            at += width
        drawn.append(f'<text x="{WIDTH - 4}" y="{top + 12}" text-anchor="end" class="faint">n = {n:,}</text>')
    return _svg(about, WIDTH, top + _BAR + _GAP, "".join(drawn))


def _grid(places: Sequence[str], most: float, axis: str, side: str, width: int) -> str:
    wide, high = width - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    drawn = []
    for step in range(5):
        at = _TOP + high * (1 - step / 4)
        told = f"{most * step / 4:.2f}" if most <= 1 else f"{most * step / 4:.3g}"
        drawn.append(f'<path d="M{_LEFT} {at:.1f}H{width - _RIGHT}" class="grid"/>')
        drawn.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end" class="faint">{told}</text>')
    for number, place in enumerate(places):
        at = _LEFT + wide * (number + 0.5) / len(places)
        below = HEIGHT - _BOTTOM + 16
        drawn.append(f'<text x="{at:.1f}" y="{below}" text-anchor="middle" class="faint">{_plain(place, 12)}</text>')
    middle = _TOP + high / 2
    drawn.append(f'<text x="{_LEFT + wide / 2:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{_plain(axis, 80)}</text>')
    turned = f'transform="rotate(-90 12 {middle:.0f})"'
    drawn.append(f'<text x="12" y="{middle:.0f}" text-anchor="middle" {turned}>{_plain(side, 40)}</text>')
    return "".join(drawn)


def _mark(number: int, x: float, y: float) -> str:
    """Draw the mark of a series: another shape for each."""
    shape = number % 4
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="mark"/>'
    if shape == 1:
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" class="mark"/>'
    if shape == 2:
        return f'<path d="M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z" class="mark"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z" class="mark"/>'


def legend(names: Sequence[str]) -> str:
    """Tell which line is whose; names stand in the order of the series."""
    told = []
    for number, name in enumerate(names[:SERIES_MAX]):
        dash = f' stroke-dasharray="{_DASHES[number]}"' if _DASHES[number] else ""
        told.append(
            f'<span><svg width="34" height="14" aria-hidden="true"><g class="s{number}">'
            f'<path d="M1 7H33" stroke-width="2"{dash}/>{_mark(number, 17, 7)}</g></svg>{_plain(name, 60)}</span>'
        )
    left = len(names) - SERIES_MAX
    told += [f"<span>{left} more are in the table alone</span>"] if left > 0 else []
    return f'<p class="legend">{" ".join(told)}</p>'


def _svg(about: str, width: int, height: int, body: str) -> str:
    told = _plain(about, 300)
    size = f'style="max-width:{width * 1.15:.0f}px" viewBox="0 0 {width} {height}"'
    return f'<svg class="plot" {size} role="img" aria-label="{told}"><title>{told}</title>{body}</svg>'


def _plain(text: str, signs_max: int = 200) -> str:
    safe = shown(text)
    return escape(safe if len(safe) <= signs_max else f"{safe[: signs_max - 1]}…")
