"""What of a window goes into a pack together, and what is the newest of it.

A unit is a message with all its parts, or an agent's step: its reasoning, words
and calls up to the next of them, with the results of these calls. The invariant:
every item is in exactly one unit, and a tool call is in one with its result,
wherever in the window the result stands.

It knows items by kind, turn, part and call id; no text, no budget.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.event import Kind
from firsthand.value import value
from firsthand.window import Item

OUTSIDE = frozenset({Kind.SYSTEM, Kind.PERSONA})
"""Kinds that a pack does not carry: they are sent before it, by whoever sends them."""

_BY_AGENT = frozenset({Kind.REASONING, Kind.AGENT_MESSAGE, Kind.TOOL_CALL})


@value
class Unit:
    """Items that are shown together or not at all.

    Attributes:
        items: in order of position.
        user: True for a user message.
    """

    items: tuple[Item, ...]
    user: bool

    @property
    def position(self) -> int:
        """Where it ends: what is newest ends last."""
        return self.items[-1].position


def units(items: Sequence[Item]) -> tuple[Unit, ...]:
    """Group a window's items, the unit that ends last at the end."""
    groups: list[list[Item]] = []
    of_call: dict[str, int] = {}
    into: list[int] = []  # the group that a group was joined to
    for item in items:
        if item.kind in OUTSIDE:
            continue
        if _begins(item, groups[-1] if groups else None):
            groups.append([])
            into.append(len(into))
        place = _root(into, len(groups) - 1)
        if item.call_id:
            pair = _root(into, of_call.setdefault(item.call_id, place))
            if pair != place:
                into[max(pair, place)] = min(pair, place)
        groups[-1].append(item)
    joined: dict[int, list[Item]] = {}
    for number, group in enumerate(groups):
        joined.setdefault(_root(into, number), []).extend(group)
    made = [Unit(tuple(group), any(item.kind is Kind.USER_MESSAGE for item in group)) for group in joined.values()]
    return tuple(sorted(made, key=lambda unit: unit.position))


def pieces(unit: Unit) -> tuple[Unit, ...]:
    """Take a step apart as far as may be: each call with its results, each other message by itself."""
    groups: dict[object, list[Item]] = {}
    last: object = None
    for item in unit.items:
        key: object = ("call", item.call_id) if item.call_id else last if item.part and last else item.position
        groups.setdefault(key, []).append(item)
        last = None if item.call_id else key
    made = [Unit(tuple(group), any(item.kind is Kind.USER_MESSAGE for item in group)) for group in groups.values()]
    return tuple(sorted(made, key=lambda piece: piece.position))


def _begins(item: Item, group: list[Item] | None) -> bool:
    """Say whether an item begins a unit, given the one before it."""
    if group is None:
        return True
    if item.part:
        return False
    last = group[-1]
    if item.kind is Kind.TOOL_RESULT:
        return last.kind not in {Kind.TOOL_CALL, Kind.TOOL_RESULT}
    if item.kind in _BY_AGENT:
        return last.kind not in _BY_AGENT or last.turn != item.turn
    return True


def _root(into: list[int], number: int) -> int:
    while into[number] != number:
        into[number] = into[into[number]]
        number = into[number]
    return number
