"""The preamble: shares, what flows on, the index, and never a token too many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.agents.preamble import (
    COMMITMENTS,
    EPISODIC,
    HEADING,
    PROCEDURAL,
    SECTIONS,
    SEMANTIC,
    SHARES,
    Part,
    Preamble,
    preamble,
)
from firsthand.errors import InvalidArgument
from firsthand.tokens import estimate

POINTER = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"


def words(text: str) -> int:
    """Count words: a counter under which parts add up to the whole."""
    return len(text.split())


def test_sections_stand_in_their_order():
    """What changes least is first, what is open last; health before all, a hint last; earlier sessions are counted."""
    made = preamble(
        [
            Part(EPISODIC, "user: \u201cfix it\u201d", (POINTER,)),
            Part(EPISODIC, "changed: `a`", (POINTER,)),
            Part(COMMITMENTS, "failed: `make`"),
            Part(PROCEDURAL, "never push\n## to main"),
            Part(SEMANTIC, "retry policy: three", name="retry policy"),
            Part(SEMANTIC, "", name="billing"),
        ],
        tokens_max=1_000,
        health="memory is degraded",
        hint="[recall(query)]",
        session="today",
        earlier=2,
    )
    assert made.text.splitlines() == [
        "memory is degraded", HEADING, "## Rules", "- never push ## to main", "## Facts and names",
        "Check before writing new knowledge: retry policy, billing", "- retry policy: three",
        "## The last session: today", "- user: \u201cfix it\u201d", "- changed: `a`", "## Open", "- failed: `make`",
        "[Not in this preamble: 2 earlier sessions]", "[recall(query)]",
    ]  # fmt: skip
    assert (made.tokens, made.left_out, made.names_left_out) == (estimate(made.text), {}, 0)


def test_nothing_to_say_is_no_text():
    """Without items and without a fault there is no preamble."""
    assert preamble([], tokens_max=100) == Preamble()


def test_what_a_section_does_not_use_flows_on():
    """Alone, a section has the whole budget; beside others that want theirs too, about its share."""
    episodes = [Part(EPISODIC, f"episode {number}") for number in range(200)]
    others = [Part(name, f"item {number}") for name in SECTIONS for number in range(200) if name != EPISODIC]
    alone = preamble(episodes, tokens_max=600, count=words)
    beside = preamble([*episodes, *others], tokens_max=600, count=words)
    share = sum(3 for part in beside.parts if part.section == EPISODIC)
    assert 560 < alone.tokens <= 600
    assert 0.8 * 600 * SHARES[EPISODIC] <= share <= 1.1 * 600 * SHARES[EPISODIC]
    assert beside.left_out[EPISODIC] == 200 - share // 3


def test_a_line_is_whole_or_counted():
    """The first line that has no room ends its section; it and those behind it are counted."""
    parts = [Part(COMMITMENTS, "first"), Part(COMMITMENTS, "seven " * 100), Part(COMMITMENTS, "third")]
    made = preamble(parts, tokens_max=60, count=words)
    assert [part.text for part in made.parts] == ["first"]
    assert made.text.endswith("[Not in this preamble: 2 of open]")


def test_the_index_of_names_is_always_in():
    """All names when they fit; of thousands the first and a count; when nothing else fits, the count."""
    parts = [Part(SEMANTIC, "text " * 50, name=f"name-{n}") for n in range(5_000)]
    some = preamble(parts[:5], tokens_max=400, count=words)
    many = preamble(parts, tokens_max=400, count=words)
    least = preamble(parts, tokens_max=40, count=words)
    assert "Check before writing new knowledge: name-0, name-1, name-2, name-3, name-4\n" in some.text
    assert (some.names, some.names_left_out) == (5, 0)
    assert f"and {many.names_left_out:,} more names" in many.text
    assert 50 <= many.names <= 80
    assert least.names < 20
    assert f"{5_000 - least.names:,}" in least.text
    assert least.tokens <= 40


def test_a_budget_that_holds_nothing_is_refused():
    """Too few tokens for what must be said, and no number of tokens, are errors that name what is needed."""
    with pytest.raises(InvalidArgument, match=r"takes \d+ tokens here; got 3"):
        preamble([Part(EPISODIC, "x")], tokens_max=3)
    for wrong in (0, True, 1.5):
        with pytest.raises(InvalidArgument, match="whole number"):
            preamble([Part(EPISODIC, "x")], tokens_max=wrong)
    with pytest.raises(InvalidArgument, match="sections"):
        preamble([Part("other", "x")], tokens_max=100)


PARTS = st.lists(
    st.builds(
        Part,
        section=st.sampled_from(SECTIONS),
        text=st.text(min_size=1, max_size=200),
        name=st.sampled_from(["", "", "one name", "other"]),
    ),
    max_size=25,
)


@given(PARTS, st.integers(120, 900), st.sampled_from(["", "health " * 30]), st.sampled_from([estimate, words, len]))
def test_never_over_the_budget(parts, tokens_max, health, count):
    """Whatever the lines and the counter: at most the tokens asked for, all lines counted, the same text again."""
    if count is len:
        tokens_max *= 4
    made = preamble(parts, tokens_max=tokens_max, health=health, count=count)
    assert made.tokens == count(made.text) <= tokens_max or not made.text
    assert len(made.parts) + sum(made.left_out.values()) == len(parts)
    assert made == preamble(parts, tokens_max=tokens_max, health=health, count=count)
    if any(part.name for part in parts):
        assert "Check before writing new knowledge" in made.text
    lines = made.text.splitlines()
    ours = [line for line in lines if set(line) - set("health ")]  # but for the health line, which is cut anywhere
    assert all(line.startswith(("- ", "## ", "# ", "[", "Check")) for line in ours)
