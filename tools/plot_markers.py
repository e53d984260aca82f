"""Draw what markers cost after thousands of compactions: ``python tools/plot_markers.py``.

Reads the figures that `make bench` wrote (``bench/results.json``) and writes
``docs/marker-tokens.svg``: both axes by powers of ten, ours beside one marker kept for
each compaction. `tests/test_bench.py` checks that plot and results agree.
"""

from __future__ import annotations

import json
import re
from math import log10
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLOT = ROOT / "docs" / "marker-tokens.svg"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 320, 70, 48, 24, 150
_FIGURE = re.compile(r"marker tokens after ([\d,]+) compactions")


def plot(results: dict[str, dict[str, object]]) -> str:
    """Write the plot as SVG, of the rows of figure ``compact``."""
    rows = [row for row in results["compact"]["rows"] if _FIGURE.match(row["figure"])]  # type: ignore[attr-defined]
    counts = [int(_FIGURE.match(row["figure"])[1].replace(",", "")) for row in rows]  # type: ignore[index]
    lines = {
        "every marker kept": [row["baseline"] for row in rows],
        "merged, as here": [row["ours"] for row in rows],
    }
    high = max(value for values in lines.values() for value in values)
    decades = range(1, int(log10(high)) + 2)

    def x(count: float) -> float:
        return LEFT + (log10(count) - log10(counts[0])) / (log10(counts[-1]) - log10(counts[0])) * (
            WIDTH - LEFT - RIGHT
        )

    def y(tokens: float) -> float:
        return HEIGHT - BOTTOM - (log10(tokens) - decades[0]) / (decades[-1] - decades[0]) * (HEIGHT - BOTTOM - TOP)

    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    out = [
        f'{opening} font-family="sans-serif" font-size="12">',
        f"<title>Tokens of all markers after {', '.join(f'{count:,}' for count in counts)} compactions</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for decade in decades:
        at = y(10**decade)
        out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10**decade:,}</text>')
    below = HEIGHT - BOTTOM + 18
    out += [f'<text x="{x(count):.1f}" y="{below}" text-anchor="middle">{count:,}</text>' for count in counts]
    out.append(
        f'<text x="{LEFT}" y="{HEIGHT - 10}">compactions; tokens of all markers upwards, both by powers of ten</text>'
    )
    for (name, values), colour in zip(lines.items(), ("#b5651d", "#1f5fa8"), strict=True):
        points = " ".join(f"{x(count):.1f},{y(value):.1f}" for count, value in zip(counts, values, strict=True))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for count, value in zip(counts, values, strict=True):
            title = f"<title>{value:,.0f}</title>"
            out.append(f'<circle cx="{x(count):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}">{title}</circle>')
        label, at = f"{name}: {values[-1]:,.0f}", y(values[-1]) + 4
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{at:.1f}" fill="{colour}">{label}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


if __name__ == "__main__":
    PLOT.write_text(plot(json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))), encoding="utf-8")
