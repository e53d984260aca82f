"""Units of eviction: what leaves together and what never leaves."""

from __future__ import annotations

import pytest

from firsthand.context.eviction_units import WEIGHTS, units
from firsthand.value import replace
from firsthand.window import HISTORY, Budget, Item
from windows import made_items, made_window

ROOMY = Budget(1_000_000, hot_turns=1)


def found(letters: str, *, budget: Budget = ROOMY, **options: object) -> list[list[int]]:
    """The positions of each unit."""
    items = made_items(letters, **options)
    return positions(items, budget)


def positions(items: list[Item], budget: Budget = ROOMY, unproven: tuple[str, ...] = ()) -> list[list[int]]:
    made = units(items, budget, now=items[-1].position, unproven=unproven)
    return [[items[index].position for index in unit.indexes] for unit in made]


def test_a_closed_turn_is_a_unit_and_the_newest_user_message_and_steps_are_in_none():
    """A turn leaves whole; of the newest turn the user message and the last two steps never leave."""
    assert found("uacra uaccrr uacracracra") == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [13, 14, 15], [16, 17, 18]]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("ua u", [[1, 2]]), ("ua uacr", [[1, 2]]), ("u", []), ("uacracr", []), ("uac+r+aacracr", [])],
)
def test_a_newest_turn_of_few_steps_stays_whole(letters, expected):
    """With two steps or fewer, nothing of the newest turn is in a unit."""
    assert found(letters) == expected


def test_system_and_persona_are_in_no_unit():
    """What tells the model who it is stays wherever it stands."""
    assert found("sp ua usa u") == [[3, 4], [5, 7]]


def test_a_turn_larger_than_the_low_water_mark_is_cut_into_steps():
    """A giant turn leaves step by step, its user message being one."""
    assert found("uacracra u", budget=Budget(10_000, low=0.5, hot_turns=1)) == [[1], [2, 3, 4], [5, 6, 7], [8]]


def test_a_late_result_joins_two_turns():
    """A call and its result in a later turn leave together, and their turns with them."""
    assert found("uac ua ura u") == [[1, 2, 3, 6, 7, 8], [4, 5]]


def test_a_late_result_among_the_newest_steps_keeps_its_call_and_not_the_rest_of_its_turn():
    """What may not leave keeps its pair only; the turn of the pair leaves without it."""
    assert found("uac ua uacrar") == [[1, 2], [4, 5]]


def test_a_late_result_in_the_same_turn_belongs_to_the_step_of_its_call():
    """Steps of the newest turn are made of calls with their results, wherever these stand."""
    assert found("uacoacrracracr") == [[2, 3, 7], [4], [5, 6, 8]]


def test_a_call_id_used_again_pairs_with_the_call_before_it():
    """A host that numbers the calls of every turn anew does not tie all turns together."""
    items = [replace(item, call_id="call_1" if item.call_id else "") for item in made_items("uacr uacr uacr u")]
    assert positions(items) == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]


def test_a_result_logged_before_its_call_stays_with_it():
    """The order of the log does not part a pair."""
    items = made_items("uxa uca ua u")
    items = [replace(item, call_id="same") if item.call_id else item for item in items]
    assert positions(items) == [[1, 2, 3, 4, 5, 6], [7, 8]]


def test_a_result_without_a_call_is_a_unit_with_its_turn():
    """An orphan leaves with the turn that it stands in."""
    assert found("uxa ua u") == [[1, 2, 3], [4, 5]]


def test_results_without_ids_are_tied_to_nothing():
    """An empty call id names no call."""
    items = [replace(item, call_id="") for item in made_items("uacr uacr u")]
    assert positions(items) == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_the_parts_of_a_message_that_two_turns_share_join_them():
    """A message whose parts the log counts to two turns is not torn."""
    assert found("uacr +u ua u") == [[1, 2, 3, 4, 5], [6, 7]]


def test_what_the_log_does_not_prove_stays_with_its_pair():
    """An unproven item is in no unit, nor is its call; the rest of the turn is."""
    items = made_items("uacra ua u")
    assert positions(items, unproven=(items[3].id,)) == [[1, 2, 5], [6, 7]]


def test_a_pair_that_stays_joins_no_turns():
    """A call and its late result that stay do not tie what leaves of their turns together."""
    items = made_items("uac ua ura u")
    assert positions(items, unproven=(items[2].id,)) == [[1, 2], [4, 5], [6, 8]]


def test_turns_without_a_user_message_are_cut_at_every_step():
    """A session of nothing but unknown events keeps its two newest ones only."""
    assert found("ooooo") == [[1], [2], [3]]


def test_hot_units_are_those_of_the_newest_turns():
    """The newest turns are told apart, the newest one's steps too; a joined unit is as hot as its hottest turn."""
    items = made_items("uac ua ura uacracracr")
    made = units(items, Budget(1_000_000, hot_turns=2), now=20)
    assert [(unit.hot, unit.step) for unit in made] == [(True, False), (False, False), (True, True)]


def test_every_kind_of_a_window_has_a_weight():
    """No kind of the history is without a weight, and only system and persona have none to lose."""
    assert set(WEIGHTS) == HISTORY
    assert {kind for kind, weight in WEIGHTS.items() if weight == 0} == {"system", "persona"}


def test_priority_is_the_mean_weight_by_tokens_times_the_distance():
    """Table A by tokens, times LRU-K's distance: never used is farther than used once, and that than used twice."""
    items = made_items("ur ua ua ua u".replace("r", "x"), tokens=[100, 300, 100, 100, 100, 100, 100, 100, 100])
    items[3] = replace(items[3], accesses=(9,))
    items[5] = replace(items[5], accesses=(9, 7))
    made = units(items, ROOMY, now=9)
    # within the window, 8 positions wide: 0.875 * (8 + 9 - 2), 0.5 * (8 + 9 - 9), 0.5 * (9 - 7), 0.5 * (8 + 9 - 8)
    assert [unit.priority for unit in made] == [13.125, 4.0, 1.0, 4.5]


def test_an_artifact_reference_weighs_little():
    """An item shown as preview and pointer has little to gain."""
    items = made_items("ux ux u", tokens=[1, 999, 1, 999, 1])
    items[1] = replace(items[1], shortened=True)
    first, second = units(items, ROOMY, now=5)
    assert first.priority < second.priority / 2


def test_an_empty_window_has_no_units():
    """No items, no units."""
    assert units((), ROOMY, now=0) == []
    assert units(made_window("s").items, ROOMY, now=1) == []
