"""evals/reclaim/badge.py: one line that says how many items a share is of."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from reclaim_runs import Head, ran

from firsthand_evals.reclaim import badge, figures


def cell(names):
    return figures.scores(ran(names, Head, "head", 2)[1], ("head",))["head"]


def test_the_badge_says_share_and_n():
    """Text, label and Markdown say the same; the file needs nothing from elsewhere."""
    tree = ET.fromstring(badge.badge(cell(("reclaim",))))
    assert [one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")] == ["reclaim", "1.00 of 8"]
    assert tree.get("aria-label") == "reclaim: 1.00 of 8 items brought back by a correction"
    assert badge.markdown(cell(("reclaim",)), "b.svg") == "![reclaim: 1.00 of 8](b.svg)"
    assert badge.markdown(cell(("reclaim",)), "b.svg", "r.html") == "[![reclaim: 1.00 of 8](b.svg)](r.html)"


def test_its_colour_is_of_its_share():
    """What brings everything back, something, and little have three colours."""
    colours = {
        ET.fromstring(badge.badge(cell(names))).findall("{http://www.w3.org/2000/svg}path")[0].get("fill")
        for names in (("reclaim",), ("reclaim", "taxonomy", "completeness"), ("completeness",))
    }
    assert len(colours) == 3
