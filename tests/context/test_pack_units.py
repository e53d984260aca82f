"""What of a window goes together."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from pack_windows import item, windows

from firsthand.context.pack_units import OUTSIDE, pieces, units
from firsthand.event import Kind
from firsthand.window import Window


@given(windows())
def test_every_item_is_in_one_unit_and_one_piece(window):
    """Units and their pieces hold each item once, in order, whatever the window."""
    history = Counter(one.id for one in window.items if one.kind not in OUTSIDE)
    made = units(window.items)
    assert Counter(one.id for unit in made for one in unit.items) == history
    assert Counter(one.id for unit in made for piece in pieces(unit) for one in piece.items) == history
    for unit in made:
        assert [one.position for one in unit.items] == sorted(one.position for one in unit.items)
    assert [unit.position for unit in made] == sorted(unit.position for unit in made)


def shape(window: Window) -> list[list[int]]:
    return [[one.position for one in unit.items] for unit in units(window.items)]


def test_a_step_is_an_agents_message_with_its_calls_and_their_results():
    """Reasoning, words, parallel calls and results are one unit; the next words after results begin another."""
    kinds = [
        Kind.USER_MESSAGE, Kind.REASONING, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_CALL, Kind.TOOL_RESULT,
        Kind.TOOL_RESULT, Kind.AGENT_MESSAGE, Kind.USER_MESSAGE,
    ]  # fmt: skip
    calls = {3: "a", 4: "b", 5: "b", 6: "a"}
    window = Window(tuple(item(place, 1, kind, 5, call=calls.get(place, "")) for place, kind in enumerate(kinds)))
    assert shape(window) == [[0], [1, 2, 3, 4, 5, 6], [7], [8]]
    assert [[one.position for one in piece.items] for piece in pieces(units(window.items)[1])] == [
        [1],
        [2],
        [4, 5],
        [3, 6],
    ]


def test_parts_of_a_message_stay_with_it():
    """An image that came with a question is part of the question."""
    window = Window(
        (item(1, 1, Kind.USER_MESSAGE, 5), item(2, 1, Kind.ATTACHMENT, 5, part=1), item(3, 1, Kind.SUMMARY, 5))
    )
    assert shape(window) == [[1, 2], [3]]
    assert [unit.user for unit in units(window.items)] == [True, False]


def test_a_result_before_its_call_is_joined_to_it():
    """Where a log has them the wrong way round, they stay together all the same."""
    window = Window((
        item(1, 1, Kind.TOOL_RESULT, 5, call="a"), item(2, 1, Kind.USER_MESSAGE, 5),
        item(3, 2, Kind.TOOL_CALL, 5, call="a"),
    ))  # fmt: skip
    assert shape(window) == [[2], [1, 3]]


def test_parallel_calls_with_one_id_are_taken_apart_in_order():
    """Where a harness gives parallel calls the same id, the first result belongs to the first call."""
    kinds = [Kind.TOOL_CALL, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.TOOL_RESULT, Kind.TOOL_RESULT]
    [unit] = units([item(place, 1, kind, 5, call="same") for place, kind in enumerate(kinds)])
    assert [[one.position for one in piece.items] for piece in pieces(unit)] == [[0, 2], [1, 3, 4]]
