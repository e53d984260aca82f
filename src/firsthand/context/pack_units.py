"""What of a window goes into a pack together, and what is the newest of it.

A unit is a message with all its parts, or an agent's step: its reasoning, words
and calls up to the next of them, with the results of these calls. The invariant:
every item is in exactly one unit, and a tool call is in one with its result,
wherever in the window the result stands.

It knows items by kind, turn, part and call id; no text, no budget.
"""

from __future__ import annotations

from collections import Counter
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
        user: True when a user message is in it.
    """

    items: tuple[Item, ...]
    user: bool

    @property
    def position(self) -> int:
        """Where it ends: what is newest ends last."""
        return self.items[-1].position

    @property
    def asked(self) -> int:
        """Where its newest user message stands; -1 when it has none."""
        return max((item.position for item in self.items if item.kind is Kind.USER_MESSAGE), default=-1)


def units(items: Sequence[Item]) -> tuple[Unit, ...]:
    """Group a window's items, the unit that ends last at the end."""
    groups: list[list[Item]] = []
    into: list[int] = []  # the group that a group was joined to
    calls: dict[str, int] = {}
    early: dict[str, int] = {}  # results that stand before their call
    for item in items:
        if item.kind in OUTSIDE:
            continue
        if _begins(item, groups[-1] if groups else None):
            groups.append([])
            into.append(len(into))
        here = len(groups) - 1
        groups[here].append(item)
        if item.call_id and item.kind is Kind.TOOL_CALL:
            calls[item.call_id] = here  # an id that is used again belongs to the newest call of it
            _join(into, here, early.pop(item.call_id, here))
        elif item.call_id:
            _join(into, here, calls.get(item.call_id, here))
            if item.call_id not in calls:
                _join(into, here, early.setdefault(item.call_id, here))
    joined: dict[int, list[Item]] = {}
    for number, group in enumerate(groups):
        joined.setdefault(_root(into, number), []).extend(group)
    return tuple(sorted(map(_unit, joined.values()), key=lambda unit: unit.position))


def pieces(unit: Unit) -> tuple[Unit, ...]:
    """Take a unit apart as far as may be: each call with its results, each other message by itself."""
    made = Counter(item.call_id for item in unit.items if item.kind is Kind.TOOL_CALL)
    seen: Counter[tuple[Kind, str]] = Counter()
    groups: dict[tuple[str, int], list[Item]] = {}
    last = ("", -1)
    for item in unit.items:
        if item.call_id:
            seen[item.kind, item.call_id] += 1
            key = item.call_id, min(seen[item.kind, item.call_id], made[item.call_id])  # an id may be used twice
        else:
            key = last = last if item.part and last in groups else ("", item.position)
        groups.setdefault(key, []).append(item)
    return tuple(sorted(map(_unit, groups.values()), key=lambda piece: piece.position))


def _unit(items: Sequence[Item]) -> Unit:
    return Unit(tuple(items), any(item.kind is Kind.USER_MESSAGE for item in items))


def _join(into: list[int], index: int, other: int) -> None:
    index, other = _root(into, index), _root(into, other)
    into[max(index, other)] = min(index, other)


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
