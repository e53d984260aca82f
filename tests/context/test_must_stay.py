"""Why each item of a window is there."""

from __future__ import annotations

from firsthand.context.eviction_units import units
from firsthand.context.must_stay import stays
from firsthand.context.plan import plan
from firsthand.window import Budget, Window
from windows import made_items

BUDGET = Budget(100_000, hot_turns=2)


def reasons(letters: str, budget: Budget = BUDGET) -> list[tuple[str, bool]]:
    items = made_items(letters, tokens=10)
    return [(one.reason, one.protected) for one in stays(Window(tuple(items), through=len(items)), budget)]


def test_each_item_has_its_reason():
    """System text, the newest message and steps never leave; hot turns leave last; others have room."""
    assert reasons("sp ua ua ua uacr") == [
        ("system text never leaves", True), ("persona text never leaves", True),
        ("there is room for it", False), ("there is room for it", False),
        ("there is room for it", False), ("there is room for it", False),
        ("of the newest 2 turns, which leave last", False), ("of the newest 2 turns, which leave last", False),
        ("the newest user message", True),
        *[("one of the newest steps", True)] * 3,
    ]  # fmt: skip


def test_what_belongs_to_a_kept_item_stays_with_it():
    """A late result in the newest steps keeps its call of an earlier turn."""
    assert reasons("ua uac uar") == [
        ("there is room for it", False), ("there is room for it", False),
        ("of the newest 2 turns, which leave last", False), ("of the newest 2 turns, which leave last", False),
        ("belongs with what stays", True),
        ("the newest user message", True), ("one of the newest steps", True), ("one of the newest steps", True),
    ]  # fmt: skip


def test_what_the_next_plan_takes_is_told():
    """Above the high-water mark the items that the plan takes say that they leave; the others keep their reasons."""
    window = Window(tuple(made_items("s ua ua ua ua uacr", tokens=1_000)), through=13)
    budget = Budget(13_000, low=0.6, hot_turns=1)
    taken = {item.id for departure in plan(window, budget).leaves for item in departure.items}
    found = stays(window, budget)
    assert taken
    assert {one.item.id for one in found if one.reason == "leaves with the next request"} == taken
    assert {one.reason for one in found if one.item.id not in taken} == {
        "system text never leaves", "there is room for it", "the newest user message", "one of the newest steps",
    }  # fmt: skip


def test_protected_is_what_no_plan_takes():
    """An item is protected exactly when it is in no unit; an empty window has nothing."""
    items = tuple(made_items("sp ua ua uacr uacracr ua", tokens=10))
    taken = {index for unit in units(items, BUDGET, now=len(items)) for index in unit.indexes}
    found = stays(Window(items, through=len(items)), BUDGET)
    assert [one.item for one in found] == list(items)
    assert [not one.protected for one in found] == [index in taken for index in range(len(items))]
    assert stays(Window(), BUDGET) == ()
