"""The whole set: twenty-odd generated cases of each kind, and those written by hand.

The same set on every machine: each case draws from a chance of its own, which depends on
its kind and its number alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from . import carried, hand_amounts, hand_facts, hand_pointers, ledgers, measures, puzzles
from .case import Case

EACH = 20
MORE = {"pointers": 36, "tags": 28, "truncation": 25, "times": 24, "dates": 24, "tool_json": 24}
"""Kinds with more ways for a note to end than twenty cases show."""

GENERATED: dict[str, Callable[[int], Case]] = ledgers.KINDS | measures.KINDS | puzzles.KINDS | carried.KINDS


@cache
def cases() -> tuple[Case, ...]:
    """Make the set."""
    made = [make(number) for kind, make in GENERATED.items() for number in range(MORE.get(kind, EACH))]
    return (*made, *hand_amounts.WRITTEN, *hand_facts.WRITTEN, *hand_pointers.WRITTEN)
