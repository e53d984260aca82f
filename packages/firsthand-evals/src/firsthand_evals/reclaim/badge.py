"""A badge: one line of a README, as an SVG file that needs nothing from elsewhere, and its Markdown.

The invariant: it says how many items the share is of.
"""

from __future__ import annotations

from html import escape

from firsthand_evals.reclaim.figures import figure
from firsthand_evals.reclaim.tables import Cell

LABEL = "reclaim"
_GOOD, _FAIR = 0.95, 0.6
_COLOURS = ("#2e7d32", "#8a6100", "#b3261e")
_SIGN_WIDTH, _MARGIN = 6.6, 7


def message(cell: Cell) -> str:
    """Say a memory's score in a few words."""
    return f"{figure(cell, 'reclaim').value:.2f} of {cell.n:,}"


def badge(cell: Cell) -> str:
    """Draw the badge of a memory's score."""
    told = message(cell)
    left, right = (round(len(text) * _SIGN_WIDTH + 2 * _MARGIN) for text in (LABEL, told))
    share = cell.recovered.hits / cell.n
    colour = _COLOURS[0 if share >= _GOOD else 1 if share >= _FAIR else 2]
    about = escape(f"{LABEL}: {told} items brought back by a correction")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{about}">'
        f"<title>{about}</title>"
        f'<rect width="{left + right}" height="20" rx="3" fill="#444c56"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14">{LABEL}</text><text x="{left + right / 2:g}" y="14">{told}</text></g></svg>\n'
    )


def markdown(cell: Cell, file: str, page: str = "") -> str:
    """Write the line that shows the badge, as a link to a report if there is one."""
    picture = f"![{LABEL}: {message(cell)}]({file})"
    return f"[{picture}]({page})" if page else picture
