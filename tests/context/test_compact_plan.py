"""The plan of a compaction: what leaves, in which order, how much, and why."""

from __future__ import annotations

import pytest

from firsthand.context.plan import plan
from firsthand.errors import InvalidArgument
from firsthand.value import replace
from firsthand.window import MARKER_TOKENS_MAX, Budget, Plan, Window
from windows import budget_for, left, made_items, made_window

SIX = "uacr uacr uacr ua ua u"  # 17 items: turns 1 to 3 are closed and not hot


def test_nothing_leaves_up_to_the_high_water_mark():
    """At the mark exactly nothing leaves; one token of overhead more and a compaction begins."""
    window = made_window(SIX)
    budget = Budget(20_000, high=0.85, low=0.5)
    assert plan(window, budget) == Plan((), 17_000, 17_000, 0)
    assert left(plan(window, budget, overhead_tokens=1)) == [[1, 2, 3, 4, 5, 6, 7, 8]]


def test_forced_it_goes_down_to_the_low_water_mark_and_no_further():
    """By hand a compaction begins earlier and ends at the same mark; below that nothing leaves."""
    window = made_window(SIX)
    made = plan(window, Budget(20_000, low=0.7), forced=True)
    assert left(made) == [[1, 2, 3, 4]]
    assert (made.tokens_before, made.tokens_after, made.tokens_target) == (17_000, 13_000 + MARKER_TOKENS_MAX, 14_000)
    assert plan(window, Budget(20_000, low=0.85), forced=True) == Plan((), 17_000, 17_000, 17_000)


def test_turns_leave_whole_and_oldest_first():
    """Of turns alike the oldest leaves first; neighbours are one departure with a reason."""
    made = plan(made_window(SIX), budget_for(made_window(SIX), 10_000))
    assert left(made) == [[1, 2, 3, 4, 5, 6, 7, 8]]
    assert [departure.reason for departure in made.leaves] == [
        "closed turns before the newest 3; not least user messages; none was used again"
    ]


def test_tool_results_leave_before_dialogue():
    """Table A: a turn of tool results leaves before an older one of words."""
    window = made_window("uaua uxxx ua ua ua u")
    assert left(plan(window, budget_for(window, 12_500))) == [[5, 6, 7, 8]]


def test_what_was_used_leaves_later():
    """A turn that was recalled is kept before one that was not; one recalled twice, longest."""
    items = made_items("uacr uacr uacr ua ua u")
    items[3] = replace(items[3], accesses=(17, 13))
    items[7] = replace(items[7], accesses=(16,))
    window = Window(tuple(items), through=17)
    assert left(plan(window, budget_for(window, 13_500))) == [[9, 10, 11, 12]]
    made = plan(window, budget_for(window, 9_500))
    assert left(made) == [[5, 6, 7, 8, 9, 10, 11, 12]]
    assert made.leaves[0].reason.endswith("; 1 of 8 were used again")
    assert left(plan(window, budget_for(window, 6_000))) == [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]]


def test_hot_turns_leave_only_when_the_others_do_not_suffice():
    """The newest turns leave after all others, oldest first, whatever they weigh."""
    window = made_window("ua uacr uxxx ua u")
    assert left(plan(window, budget_for(window, 11_500, hot_turns=4))) == [[1, 2]]
    made = plan(window, budget_for(window, 8_500, hot_turns=4))
    assert left(made) == [[1, 2, 3, 4, 5, 6]]
    assert made.leaves[0].reason.startswith("the newest 4 turns, since older ones did not suffice")


def test_steps_of_the_newest_turn_leave_last_and_its_message_and_last_steps_stay():
    """Under pressure the newest turn keeps its user message and its last two steps."""
    window = made_window("ua uacracracracr")
    made = plan(window, budget_for(window, 8_500))
    assert left(made) == [[1, 2], [4, 5, 6, 7, 8, 9]]
    assert made.leaves[1].reason.startswith(
        "steps of the newest 3 turns, since older ones did not suffice; not least agent"
    )
    assert left(plan(window, budget_for(window, 11_000))) == [[1, 2], [4, 5, 6]]
    made = plan(window, budget_for(window, 2_000))
    assert left(made) == [[1, 2], [4, 5, 6, 7, 8, 9]]
    assert [item.position for item in made.excess] == [3, 10, 11, 12, 13, 14, 15]


def test_a_budget_smaller_than_what_is_protected_says_what_stays():
    """When nothing more can leave, the plan names every item that stays, and how far it is over."""
    window = made_window("su ua u")
    made = plan(window, Budget(100))
    assert left(made) == [[2, 3, 4]]
    assert made.tokens_after == 2_000 + MARKER_TOKENS_MAX
    assert [item.position for item in made.excess] == [1, 5]


@pytest.mark.parametrize(("letters", "sizes"), [("ua u", [50_000, 10, 10]), ("ua ua", [10, 10, 10, 50_000])])
def test_one_message_larger_than_the_window(letters, sizes):
    """A closed giant leaves; the newest turn's stays and is named."""
    window = made_window(letters, tokens=sizes)
    made = plan(window, Budget(8_000))
    assert left(made) == ([[1]] if sizes[0] > 8_000 else [])
    assert [item.tokens for item in made.excess] == ([] if sizes[0] > 8_000 else sizes)


def test_what_overshoots_is_put_back():
    """After a large turn has left, a smaller one that was to leave before it can stay."""
    sizes = [100, 300, 300, 300, 2_200, 100, 100, 100, 900, 900, 200]
    window = made_window("uxxx uxxx ua u", tokens=sizes)
    assert left(plan(window, budget_for(window, 4_900, hot_turns=2))) == [[1, 2, 3, 4]]
    assert left(plan(window, budget_for(window, 3_300, hot_turns=2))) == [[5, 6, 7, 8]]


def test_the_same_window_further_on_leaves_in_the_same_order():
    """A plan does not depend on how old the session is."""
    early, late = made_window(SIX), made_window(SIX, begin=1_000_001)
    budget = budget_for(early, 10_000)
    assert left(plan(late, budget)) == [[at + 1_000_000 for at in run] for run in left(plan(early, budget))]


def test_an_unproven_item_stays():
    """What the log does not prove stays, and the plan meets its target with others."""
    window = made_window(SIX)
    made = plan(window, budget_for(window, 13_500), unproven={window.items[1].id})
    assert left(made) == [[5, 6, 7, 8]]


def test_ten_thousand_parallel_calls_leave_together():
    """One message with 10,000 calls and their results is one unit, found in linear time."""
    window = made_window("ua" + "c" * 10_000 + "r" * 10_000 + " ua u", tokens=10)
    made = plan(window, Budget(100_000, hot_turns=1))
    assert left(made) == [list(range(2, 20_003))]
    newest = made_window("ua" + "c" * 10_000 + "r" * 10_000, tokens=10)
    assert [item.position for item in plan(newest, Budget(100_000)).excess] == list(range(1, 20_003))


def test_an_empty_window_over_its_budget_has_nothing_to_give():
    """Overhead alone over the mark: nothing leaves, and the plan says what it would have needed."""
    assert plan(Window(), Budget(100), overhead_tokens=1_000) == Plan((), 1_000, 1_000, 45)


def test_negative_overhead_is_refused():
    """An overhead below zero is an error that says what was expected."""
    with pytest.raises(InvalidArgument, match="overhead_tokens is a number of tokens from 0; got -1"):
        plan(made_window("u"), Budget(100), overhead_tokens=-1)
