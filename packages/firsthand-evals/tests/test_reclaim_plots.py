"""pages.py: pictures show their figures, look different without colour, and are the same each time."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from firsthand_evals import pages
from firsthand_evals.pages import OUTCOMES, Bar, Figure, Series

LINE = Series("a<b", (("2", Figure(0.0, 0.0, 0.2)), ("4", Figure(None)), ("8", Figure(0.5)), ("9", Figure(1.0))))


def words(svg: str) -> list[str]:
    """Give what is written in a picture."""
    return [it.text for it in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_lines_have_their_places_names_and_the_page_s_colour():
    """Places, axes and names are written as text, with whatever signs; equal figures give equal bytes."""
    other = Series("other", (("2", Figure(0.3)),))
    svg = pages.lines("a & b", "items", "share", [LINE, other])
    assert {"2", "4", "8", "9", "items", "share", "a<b", "other"} <= set(words(svg))
    assert ET.fromstring(svg).get("aria-label") == "a & b"
    assert "currentColor" in svg
    assert "#010203" not in svg
    assert svg == pages.lines("a & b", "items", "share", [LINE, other])
    assert svg != pages.lines("a & b", "items", "share", [LINE, Series("other", (("2", Figure(0.4)),))])


def test_what_is_more_than_can_be_told_apart_is_named_as_left_out():
    """Eight series have marks and dashes of their own; further ones are in the table alone, and the picture says so."""
    many = [Series(name, (("1", Figure(1.0)),)) for name in "abcdefghij"]
    found = words(pages.lines("about", "x", "y", many))
    assert "2 more are in the table alone" in found
    assert {"a", "h"} <= set(found)
    assert not {"i", "j"} & set(found)
    assert len(set(zip(pages._MARKS, map(str, pages._DASHES), strict=True))) == pages.SERIES_MAX


def test_bars_say_their_shares_and_their_n():
    """Each bar has its name, the share of each outcome that is there, and how many items it is of."""
    rows = [Bar("a: one", (("recovered", 1), ("wrong", 3), ("failed", 0))), Bar("b", (("wrong", 4),))]
    found = words(pages.bars("about", rows))
    assert [it for it in found if re.fullmatch(r"\d\.\d\d", it)] == ["0.25", "0.75", "1.00"]
    assert found.count("n = 4") == 2
    assert {"a: one", "b", *OUTCOMES} <= set(found)
