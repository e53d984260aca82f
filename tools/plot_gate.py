"""Draw how far recall's confidence can be believed: ``python tools/plot_gate.py``.

Reads ``bench/gate.json`` and writes ``docs/gate-reliability.svg``: what the gate told against how often it came true,
in ten bins of equal size, for each set with questions of both truths. `tests/recall/test_gate.py` checks that the two
agree.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLOT = ROOT / "docs" / "gate-reliability.svg"
GATE = "other talks, own"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 480, 360, 60, 48, 24, 150
COLOURS = ("#1f5fa8", "#b5651d", "#3a7d44")


def plot(report: dict[str, Any]) -> str:
    """Write the plot as SVG."""

    def x(share: float) -> float:
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
    out = [
        f'{opening} font-family="sans-serif" font-size="12">',
        "<title>Confidence told, and how often it came true</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<path d="M{x(0):.1f} {y(0):.1f}L{x(1):.1f} {y(1):.1f}" stroke="#999" stroke-dasharray="4 4"/>',
    ]
    for tenth in range(0, 11, 2):
        share = tenth / 10
        out.append(f'<path d="M{LEFT} {y(share):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>')
        out.append(f'<text x="{x(share):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{share:g}</text>')
    out.append(f'<text x="{LEFT}" y="{HEIGHT - 10}">confidence told; upwards, how often it came true</text>')
    both = {name: one for name, one in report["sets"].items() if 0 < one["true"] < 1}
    for (name, one), colour, line in zip(both.items(), COLOURS, range(3), strict=False):
        gate = one["gates"][GATE]
        points = [(x(each["told"]), y(each["true"]), each) for each in gate["reliability"]]
        path = " ".join(f"{across:.1f},{up:.1f}" for across, up, _ in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for across, up, each in points:
            title = f"<title>told {each['told']:.2f}, true {each['true']:.2f}</title>"
            out.append(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}">{title}</circle>')
        label = f"{name}: error {gate['calibration error']:.3f}"
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{TOP + 20 + 18 * line}" fill="{colour}">{label}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


if __name__ == "__main__":
    PLOT.write_text(plot(json.loads((ROOT / "bench" / "gate.json").read_text(encoding="utf-8"))), encoding="utf-8")
