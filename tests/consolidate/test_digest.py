"""The digest: pure, bounded, and nothing is dropped or forged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.consolidate.digest import FILE_LINES_MAX, LINES_MIN, Demotion, Summary, digest
from firsthand.consolidate.keys import Fact
from firsthand.errors import InvalidArgument


def fact(number: int, text: str = "", *, sort="assignment", importance: float = 0.5, about: str = "") -> Fact:
    """Make a fact of its own event."""
    return Fact(f"k{number}", "v", f"fh:{number}@0-5", number, text or f"fact {number}", sort, importance=importance,
                about=about)  # fmt: skip


def test_a_digest_lists_what_stands_by_importance():
    """Facts, settings, arrangements and sessions have a section each, the most important and newest line first."""
    made = digest(
        [fact(1), fact(2, importance=0.9), fact(3), fact(4, "LOG=1", sort="config"),
         fact(5, "2 nights?", sort="slot", about="hotel nights")],
        [Summary("2026-11-21 cold start", "fh:9", 9)],
    )  # fmt: skip
    assert made.text.splitlines() == [
        "# What stands",
        "## Facts: 3 of 3", "- fact 2 (fh:2@0-5)", "- fact 3 (fh:3@0-5)", "- fact 1 (fh:1@0-5)",
        "## Settings: 1 of 1", "- LOG=1 (fh:4@0-5)",
        "## Arrangements: 1 of 1", "- hotel nights: 2 nights? (fh:5@0-5)",
        "## Sessions: 1 of 1", "- 2026-11-21 cold start (fh:9)",
    ]  # fmt: skip
    assert (made.details, made.demoted, made.facts, made.sessions) == ({}, (), 5, 1)


def test_what_does_not_fit_is_linked():
    """The least important lines stand in a file that the digest links, and each is named as demoted."""
    made = digest([fact(number, importance=number / 100) for number in range(1, 21)], lines_max=LINES_MIN)
    lines = made.text.splitlines()
    assert len(lines) == LINES_MIN
    assert (lines[1], lines[2], lines[-1]) == (
        "## Facts: 9 of 20",
        "- fact 20 (fh:20@0-5)",
        "- 11 more: digest/facts.md",
    )
    assert made.details["digest/facts.md"].splitlines()[:2] == [
        "# Facts that the digest has no line for: 11 of 11", "- fact 11 (fh:11@0-5)"
    ]  # fmt: skip
    assert made.demoted[0] == Demotion("fh:11@0-5", "digest/facts.md", 0.11)


def test_of_equal_importance_the_newest_have_a_line():
    """Where facts and sessions are equally important, the newest of both keep their lines."""
    made = digest([fact(number) for number in range(1, 20)], [Summary("a session", "fh:30", 30)], lines_max=LINES_MIN)
    assert made.text.splitlines() == [
        "# What stands", "## Facts: 6 of 19", *(f"- fact {number} (fh:{number}@0-5)" for number in range(19, 13, -1)),
        "- 13 more: digest/facts.md", "## Sessions: 1 of 1", "- a session (fh:30)",
    ]  # fmt: skip


def test_details_fall_into_files():
    """More details than a file may have lines stand in further files, and the link names the first and the last."""
    made = digest([fact(number) for number in range(FILE_LINES_MAX + 100)], lines_max=20)
    assert list(made.details) == ["digest/facts.md", "digest/facts-2.md"]
    assert made.text.splitlines()[-1] == "- 2083 more: digest/facts.md to digest/facts-2.md"


def test_a_sentence_of_several_facts_is_one_line():
    """Two facts of the same bytes are one line, the words of the sentence."""
    one, other = (
        fact(1, "3 nights in the north", sort="slot", about="hotel nights"),
        fact(1, "x", sort="slot", about="y"),
    )
    made = digest([one, Fact("k9", "v", one.pointer, 1, one.text, "slot", about="hotel area")])
    assert made.text.splitlines()[2:] == ["- 3 nights in the north (fh:1@0-5)"]
    assert other.pointer == one.pointer


def test_too_few_lines_are_refused():
    """A bound below the headings and links is an error that says which one is possible."""
    with pytest.raises(InvalidArgument, match=f"at least {LINES_MIN} lines"):
        digest([], lines_max=LINES_MIN - 1)
    assert digest([]).text == "# What stands\n"


FACTS = st.lists(
    st.builds(
        lambda number, text, sort, importance: fact(number, text, sort=sort, importance=importance),
        st.integers(1, 10_000), st.text(min_size=1, max_size=400) | st.just("a\n# What stands\n- forged (fh:1)"),
        st.sampled_from(["assignment", "config", "slot", "correction"]), st.floats(0, 1).map(lambda one: round(one, 2)),
    ),
    max_size=60, unique_by=lambda one: one.pointer,
)  # fmt: skip


@given(FACTS, st.integers(LINES_MIN, 40), st.randoms())
def test_a_digest_is_bounded_whole_and_the_same_in_any_order(facts, lines_max, random):
    """For all facts: at most so many lines, one of each fact here or in a linked file, and order does not matter."""
    made = digest(facts, lines_max=lines_max)
    assert len(made.text.splitlines()) <= lines_max
    everything = [line for text in (made.text, *made.details.values()) for line in text.splitlines()]
    entries = [line for line in everything if line.startswith("- ") and line.endswith(")")]
    assert sorted(line.rpartition(" (")[2][:-1] for line in entries) == sorted(one.pointer for one in facts)
    assert sum(line.startswith("#") for line in made.text.splitlines()) <= 5
    assert all(name in made.text or "-" in name for name in made.details)
    mixed = [*facts]
    random.shuffle(mixed)
    assert digest(mixed, lines_max=lines_max) == made
