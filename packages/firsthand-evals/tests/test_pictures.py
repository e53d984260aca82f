"""pictures.py: pictures show their figures, look different without colour, and are the same each time."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

from firsthand_evals import pictures
from firsthand_evals.pictures import Figure, Series

LINE = Series("a<b", (("2", Figure(0.0, 0.0, 0.2)), ("4", Figure(None)), ("8", Figure(0.5)), ("9", Figure(1.0))))


def words(svg: str) -> list[str]:
    """Give what is written in a picture."""
    return [it.text for it in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_lines_have_their_places_names_and_the_page_s_colour():
    """Places, axes and names are written as text, with whatever signs; equal figures give equal bytes."""
    other = Series("other", (("2", Figure(0.3)),))
    svg = pictures.lines("a & b", "items", "share", [LINE, other])
    assert {"2", "4", "8", "9", "items", "share", "a<b", "other"} <= set(words(svg))
    assert ET.fromstring(svg).get("aria-label") == "a & b"
    assert "currentColor" in svg
    assert "#010203" not in svg
    assert svg == pictures.lines("a & b", "items", "share", [LINE, other])
    assert svg != pictures.lines("a & b", "items", "share", [LINE, Series("other", (("2", Figure(0.4)),))])


def test_what_is_more_than_can_be_told_apart_is_named_as_left_out():
    """Eight series have marks and dashes of their own; further ones are in the table alone, and the picture says so."""
    many = [Series(name, (("1", Figure(1.0)),)) for name in "abcdefghij"]
    found = words(pictures.lines("about", "x", "y", many))
    assert "2 more are in the table alone" in found
    assert {"a", "h"} <= set(found)
    assert not {"i", "j"} & set(found)
    assert len(set(zip(pictures._MARKS, map(str, pictures._DASHES), strict=True))) == pictures.SERIES_MAX


def test_what_a_paper_gives_is_named_and_stands_in_the_same_plot():
    """Lines and dots name the paper's figures after ours, and draw them at their place."""
    paper = Series("paper: Table 5", (("2", Figure(0.25)), ("16", Figure(0.5))), paper=True)
    for drawn in (
        pictures.lines("about", "x", "y", [LINE, paper]),
        pictures.dots("about", "x", [paper, LINE]),
    ):
        assert [name for name in words(drawn) if name.startswith(("paper", "a<b"))][-1].startswith("paper")
        ours = drawn.replace("stroke: currentColor; stroke-linejoin", "")
        assert drawn.count("stroke-linejoin") > ours.count("stroke-linejoin") > 0
    assert "16" not in words(pictures.lines("about", "x", "y", [LINE, paper])), "an axis is of what was measured here"


def test_a_name_of_several_lines_has_room_for_them():
    """No line of a name is nearer to another than its letters are high, in its own row or beside the next."""
    names = ("short", "a name that is so long that it is broken into lines, of which there are three", "next")
    svg = ET.fromstring(pictures.dots("about", "share", [Series("it", tuple((name, Figure(0.5)) for name in names))]))
    texts = [it for it in svg.iter("{http://www.w3.org/2000/svg}text") if it.text in " ".join(names)]
    heights = sorted(float(it.get("transform").rstrip(")").split()[-1]) for it in texts)
    assert len(heights) == 5
    assert min(below - above for above, below in pairwise(heights)) > 9
