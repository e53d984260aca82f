"""The digest: pure, bounded, and nothing is dropped unsaid or forged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand.ledger.digest import LINES_MIN, Item, digest


def note(number: int, text: str = "") -> Item:
    """Make an item of its own event."""
    return Item(text or f"note {number}", f"fh:{number}", number)


def test_a_digest_lists_what_stands_the_newest_first():
    """Facts have a line each, with the words that they rest on, the newest first, cut to its length."""
    long = Item("x" * 300, "fh:5", 5, "y" * 300, "fh:4@0-300")
    made = digest([note(1), note(3), long])
    assert made.text.splitlines() == [
        "# What stands",
        "## Facts: 3 of 3", f'- {"x" * 197}... | "{"y" * 157}..." (fh:4@0-300)', "- note 3 (fh:3)", "- note 1 (fh:1)",
    ]  # fmt: skip
    assert (made.facts, made.left_out) == (3, ())
    assert digest([]).text == "# What stands\n"


def test_what_does_not_fit_is_counted_and_named():
    """The oldest facts have no line; how many they are is said, with the command that lists all."""
    made = digest([note(number) for number in range(1, 21)], lines_max=LINES_MIN)
    lines = made.text.splitlines()
    assert len(lines) == LINES_MIN
    assert lines[1:3] == ["## Facts: 9 of 20", "- note 20 (fh:20)"]
    assert lines[-1] == "- 11 more: firsthand ledger facts"
    assert made.left_out == tuple(f"fh:{number}" for number in range(11, 0, -1))
    with pytest.raises(InvalidArgument, match=f"at least {LINES_MIN} lines"):
        digest([], lines_max=LINES_MIN - 1)


ITEMS = st.lists(
    st.builds(
        note, st.integers(1, 10_000), st.text(min_size=1, max_size=400) | st.just("a\n# What stands\n- forged (fh:1)")
    ),
    max_size=60, unique_by=lambda item: item.pointer,
)  # fmt: skip


@given(ITEMS, st.integers(LINES_MIN, 40), st.randoms())
def test_a_digest_is_bounded_whole_and_the_same_in_any_order(items, lines_max, random):
    """For all items: at most so many lines, each item has one or is named as left out, and order does not matter."""
    made = digest(items, lines_max=lines_max)
    lines = made.text.splitlines()
    assert len(lines) <= lines_max
    entries = [line.rpartition(" (")[2][:-1] for line in lines if line.startswith("- ") and line.endswith(")")]
    assert sorted([*entries, *made.left_out]) == sorted(item.pointer for item in items)
    assert sum(line.startswith("#") for line in lines) <= 2
    mixed = [*items]
    random.shuffle(mixed)
    assert digest(mixed, lines_max=lines_max) == made
