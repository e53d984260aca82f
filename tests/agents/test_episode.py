"""The readable file: bounded, fair to its sections, and saying what is left out."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from firsthand.agents.episode import BYTES_MAX, CHARACTERS_MAX, SHARES, Line, Section, code, quoted, written


def many(title: str, number: int, width: int = 80, sign: str = "w") -> Section:
    lines = [Line(f"{number_:04} " + sign * width, f"fh:{number_:026}", number_) for number_ in range(number)]
    return Section(title, tuple(lines), number)


def test_the_layout_of_a_small_one():
    """A title, a line at the top, the sections that have lines in their own order, each line with its pointer."""
    sections = (
        Section("Said", (Line("later", "fh:2", 2), Line("earlier", "fh:1", 1)), 2),
        Section("Changed", (), 0),
        Section("Failed", (Line("`x`", "fh:3", 3),), 4),
    )
    laid = written("2026-11-21-cold-start", "today, 2 requests", sections)
    assert laid.text == (
        "# 2026-11-21 cold start\n\ntoday, 2 requests\n\n## Said\n- earlier (fh:1)\n- later (fh:2)\n\n"
        "## Failed: 1 of 4\n- `x` (fh:3)\n"
    )
    assert laid.sources == ("fh:1", "fh:2", "fh:3")


def test_every_section_has_its_share():
    """When there is far too much of everything, no section is crowded out, and each says k of n."""
    laid = written("2026-11-21-x", "f", [many(title, 500) for title in SHARES])
    assert len(laid.text) <= CHARACTERS_MAX
    for title in SHARES:
        kept = laid.text.split(f"## {title}: ")[1].split(" of 500\n")[0]
        assert int(kept) >= 3


def test_wide_scripts_stay_within_the_bytes():
    """Signs of three bytes are kept fewer, so that the event stays inline."""
    laid = written("2026-11-21-x", "f", [many(title, 500, sign="\u5b57") for title in SHARES])
    assert BYTES_MAX * 0.5 < len(laid.text.encode()) <= BYTES_MAX


@given(st.text(max_size=300), st.integers(20, 200))
def test_a_code_span_is_not_closed_from_inside(text, most):
    """Whatever is quoted as code is one line, and its fence of backticks stands in it nowhere."""
    span = code(text, most, "p")
    fence = span[: len(span) - len(span.lstrip("`"))] or "`"
    runs = re.findall("`+", span[len(fence) : -len(fence)])
    assert "\n" not in span
    assert all(len(run) < len(fence) for run in runs)
    assert span.endswith(fence)
    assert len(quoted(text, most, "p").splitlines()) <= 1
