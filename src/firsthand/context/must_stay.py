"""Why each item of a window is still there: what never leaves, and what has room.

The invariant: an item is protected exactly when `units` puts it into no unit, so what is
said here is what the next plan goes by.

What is sent beside the window (tools, task state) is not known here: with it, more may leave.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.context.eviction_units import units
from firsthand.context.plan import plan
from firsthand.event import Kind
from firsthand.value import value
from firsthand.window import Budget, Item, Window


@value
class Stay:
    """One item of a window and why it stays.

    Attributes:
        reason: a short phrase.
        protected: it never leaves, as things are; otherwise the next compaction may take it.
    """

    item: Item
    reason: str
    protected: bool


def stays(window: Window, budget: Budget) -> tuple[Stay, ...]:
    """Say of each item of a window why it stays, in order of position."""
    items = window.items
    leaving = {item.id for departure in plan(window, budget).leaves for item in departure.items}
    hot: dict[int, bool] = {}
    for unit in units(items, budget, now=max(window.through, items[-1].position if items else 0)):
        hot |= dict.fromkeys(unit.indexes, unit.hot)
    return tuple(
        Stay(item, _why_protected(items, index), protected=True)
        if index not in hot
        else Stay(item, _why_not_yet(budget, leaves=item.id in leaving, hot=hot[index]), protected=False)
        for index, item in enumerate(items)
    )


def _why_protected(items: Sequence[Item], index: int) -> str:
    item, newest = items[index], items[-1].turn
    if item.kind in {Kind.SYSTEM, Kind.PERSONA}:
        return f"{item.kind} text never leaves"
    if item.turn != newest:
        return "belongs with what stays"
    return "the newest user message" if item.kind is Kind.USER_MESSAGE else "one of the newest steps"


def _why_not_yet(budget: Budget, *, leaves: bool, hot: bool) -> str:
    if leaves:
        return "leaves with the next request"
    if hot:
        return f"of the newest {budget.hot_turns:,} turns, which leave last" if budget.hot_turns > 1 else "newest turn"
    return "there is room for it"
