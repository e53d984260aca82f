"""The digest: pure, bounded, and nothing is dropped or forged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand.ledger.digest import FILE_LINES_MAX, LINES_MIN, Demotion, Item, digest


def note(number: int, text: str = "", section="facts") -> Item:
    """Make an item of its own event."""
    return Item(section, text or f"note {number}", f"fh:{number}", number)


def test_a_digest_lists_what_stands_the_newest_first():
    """Facts, with the words that they rest on, and sessions have a section each, the newest line first."""
    long = Item("facts", "x" * 300, "fh:5", 5, "y" * 300, "fh:4@0-300")
    made = digest([note(1), note(3), note(9, "2026-11-21 cold start", "sessions"), long])
    assert made.text.splitlines() == [
        "# What stands",
        "## Facts: 3 of 3", f'- {"x" * 197}... | "{"y" * 157}..." (fh:4@0-300)', "- note 3 (fh:3)", "- note 1 (fh:1)",
        "## Sessions: 1 of 1", "- 2026-11-21 cold start (fh:9)",
    ]  # fmt: skip
    assert (made.details, made.demoted, made.facts, made.sessions) == ({}, (), 3, 1)


def test_what_does_not_fit_is_linked():
    """The oldest lines stand in a file that the digest links, and each is named as demoted."""
    made = digest([note(number) for number in range(1, 21)], lines_max=LINES_MIN)
    lines = made.text.splitlines()
    assert len(lines) == LINES_MIN
    assert (lines[1], lines[2], lines[-1]) == ("## Facts: 9 of 20", "- note 20 (fh:20)", "- 11 more: digest/facts.md")
    assert made.details["digest/facts.md"].splitlines()[:2] == [
        "# Facts that the digest has no line for: 11 of 11", "- note 11 (fh:11)"
    ]  # fmt: skip
    assert made.demoted[0] == Demotion("fh:11", "digest/facts.md")


def test_no_section_pushes_the_others_out():
    """Of many new facts and some old sessions both have lines."""
    old = (note(number, section="sessions") for number in range(1, 9))
    made = digest([*old, *map(note, range(10, 60))], lines_max=20)
    assert [line for line in made.text.splitlines() if line.startswith("##")] == [
        "## Facts: 8 of 50",
        "## Sessions: 7 of 8",
    ]


def test_details_fall_into_files():
    """More details than a file may have lines stand in further files, and the link names the first and the last."""
    made = digest([note(number) for number in range(FILE_LINES_MAX + 100)], lines_max=20)
    assert list(made.details) == ["digest/facts.md", "digest/facts-2.md"]
    assert made.text.splitlines()[-1] == "- 2083 more: digest/facts.md to digest/facts-2.md"


def test_too_few_lines_are_refused():
    """A bound below the headings and links is an error that says which one is possible."""
    with pytest.raises(InvalidArgument, match=f"at least {LINES_MIN} lines"):
        digest([], lines_max=LINES_MIN - 1)
    assert digest([]).text == "# What stands\n"


ITEMS = st.lists(
    st.builds(
        note,
        st.integers(1, 10_000), st.text(min_size=1, max_size=400) | st.just("a\n# What stands\n- forged (fh:1)"),
        st.sampled_from(["facts", "sessions"]),
    ),
    max_size=60, unique_by=lambda item: item.pointer,
)  # fmt: skip


@given(ITEMS, st.integers(LINES_MIN, 40), st.randoms())
def test_a_digest_is_bounded_whole_and_the_same_in_any_order(items, lines_max, random):
    """For all items: at most so many lines, one of each item here or in a linked file, and order does not matter."""
    made = digest(items, lines_max=lines_max)
    assert len(made.text.splitlines()) <= lines_max
    everything = [line for text in (made.text, *made.details.values()) for line in text.splitlines()]
    entries = [line for line in everything if line.startswith("- ") and line.endswith(")")]
    assert sorted(line.rpartition(" (")[2][:-1] for line in entries) == sorted(item.pointer for item in items)
    assert sum(line.startswith("#") for line in made.text.splitlines()) <= 3
    assert all(name in made.text or "-" in name for name in made.details)
    mixed = [*items]
    random.shuffle(mixed)
    assert digest(mixed, lines_max=lines_max) == made
