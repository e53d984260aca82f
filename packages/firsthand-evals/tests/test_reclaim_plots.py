"""evals/reclaim/plots.py: lines and bars are drawn where their figures are."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from firsthand_evals.reclaim import plots
from firsthand_evals.reclaim.figures import Figure
from firsthand_evals.reclaim.plots import Bar, Series


def heights(svg: str) -> list[float]:
    return [float(pair.split(",")[1]) for pair in re.search(r'points="([^"]*)"', svg)[1].split()]


def test_a_line_goes_through_its_figures():
    """More is higher, by the scale; a place without a figure is left out; every mark tells its figure."""
    one = Series("a<b", (("2", Figure(0.0, 0.0, 0.2)), ("4", Figure(None)), ("8", Figure(0.5)), ("9", Figure(1.0))))
    svg = plots.lines("about", "items", "share", [one])
    low, middle, high = heights(svg)
    assert (low - middle, middle - high) == (low - middle, low - middle)
    assert low > middle > high
    ET.fromstring(svg)
    titles = [it.text for it in ET.fromstring(svg).iter("title")]
    assert titles == ["about", "a<b: 0.00 [0.00, 0.20]", "a<b: 0.50", "a<b: 1.00"]
    assert svg.count('class="ci"') == 1
    assert heights(plots.lines("about", "items", "share", [one], most=2.0))[2] == middle


def test_no_two_series_look_alike():
    """Up to eight series differ in mark or dash, whatever their colour; what is more is named as left out."""
    found = {
        re.sub(r"\bs\d\b|>\w+</span>", "", one) for one in re.findall(r"<span>.*?</span>", plots.legend("abcdefgh"))
    }
    assert len(found) == 8
    assert "2 more are in the table alone" in plots.legend("abcdefghij")
    many = [Series(name, (("1", Figure(1.0)),)) for name in "abcdefghij"]
    assert plots.lines("about", "x", "y", many).count("<polyline") == plots.SERIES_MAX


def test_bars_are_as_wide_as_their_shares():
    """Segments stand side by side and fill the bar; groups stand apart, below their names."""
    rows = [Bar("a", "one", (("recovered", 1), ("wrong", 3), ("failed", 0))), Bar("b", "two", (("wrong", 4),))]
    tree = ET.fromstring(plots.bars("about", rows))
    first, second, third = list(tree.iter("rect"))
    assert round(float(second.get("width")) / float(first.get("width"))) == 3
    assert round(float(first.get("x")) + float(first.get("width"))) == round(float(second.get("x")))
    assert round(float(first.get("width")) + float(second.get("width"))) == round(float(third.get("width")))
    assert [it.text for it in tree.iter("text")] == [
        "a", "one", "0.25", "0.75", "n = 4", "b", "two", "1.00", "n = 4",
    ]  # fmt: skip
    alike = plots.bars("about", [rows[0], Bar("a", "two", (("wrong", 4),))])
    tops = [float(it.get("y")) for it in ET.fromstring(alike).iter("rect")]
    assert float(third.get("y")) > tops[2]
    alone = ET.fromstring(plots.bars("about", [Bar("", "one", (("wrong", 4),))]))
    assert [it.text for it in alone.iter("text")] == ["one", "1.00", "n = 4"]
