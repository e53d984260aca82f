"""Fitting markers into their share of a pack."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pack_windows import conversation, marker, quarter

from firsthand.context.pack_markers import fitted, spread
from firsthand.value import replace
from firsthand.window import Window


def some(number: int, hints: int = 8) -> Window:
    markers = tuple(marker(20 * place + 1, 20 * place + 15, hints=hints) for place in range(number))
    return replace(conversation(2, start=20 * number + 1), markers=markers)


@given(st.integers(0, 40), st.integers(0, 8), st.integers(0, 3_000))
def test_markers_fit_and_open_the_same_ranges(number, hints, tokens_max):
    """Whatever the room: at most that, and either every event that a marker opened is still opened, or none."""
    window = some(number, hints)
    made = fitted(window, tokens_max, quarter)
    assert made.tokens == sum(quarter(one.text) for one in made.markers) <= tokens_max
    if made.markers:
        assert sum(one.events for one in made.markers) == sum(one.events for one in window.markers)
        assert made.markers[0].first == window.markers[0].first
        assert made.markers[-1].last == window.markers[-1].last
        positions = [place for one in made.markers for place in (one.first_position, one.last_position)]
        assert positions == sorted(positions)


def test_the_oldest_are_shown_shorter_first_and_joined_then():
    """With less and less room the newest marker is the last that loses its hints, and one for all is the end."""
    window = some(6)
    whole = fitted(window, 10_000, quarter)
    assert whole.markers == window.markers
    seen = [fitted(window, tokens, quarter).markers for tokens in range(whole.tokens, 0, -1)]
    hints = [[len(one.hints) for one in markers] for markers in seen]
    assert [2, 8, 8, 8, 8, 8] in hints
    assert [2, 2, 2, 2, 2, 8] in hints
    counts = [len(markers) for markers in seen]
    assert counts == sorted(counts, reverse=True)
    assert {1, 2, 3, 6} <= set(counts)
    newest = [markers[-1] == window.markers[-1] for markers in seen if len(markers) > 1]
    assert newest == sorted(newest, reverse=True)
    assert seen[-1] == ()


def test_hints_are_taken_from_all_along():
    """Of a hundred, eight stand for each eighth of them (the paper's code kept the first five)."""
    assert [hint * 8 // 100 for hint in spread(range(100), 8)] == [*range(8)]
    assert spread((1, 2), 8) == (1, 2)
