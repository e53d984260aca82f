"""What stands behind an option: numbers within their limits, kinds, pairs and times, each checked as it is typed.

The invariant: what cannot be read is a usage error that says what was expected and
what came. It knows no command and no store.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeVar

from firsthand import Kind, Moment, moment

LIMIT_MAX = 1_000_000_000
_N = TypeVar("_N", int, float)


def number(low: int, high: int = LIMIT_MAX) -> Callable[[str], int]:
    """Take a whole number within limits."""
    return _within(int, low, high, f"a whole number from {low} to {high:,}")


def decimal(low: float, high: float) -> Callable[[str], float]:
    """Take a number within limits."""
    return _within(float, low, high, f"a number from {low:g} to {high:g}")


def _within(read: Callable[[str], _N], low: _N, high: _N, expected: str) -> Callable[[str], _N]:
    def taken(text: str) -> _N:
        try:
            number = read(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"expected {expected}; got {text!r}")
        return number

    return taken


def kind(text: str) -> Kind:
    """Take a kind of event by its word."""
    try:
        return Kind(text.lower().replace("-", "_"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a kind; got {text!r}. Kinds: {', '.join(Kind)}") from None


def pair(text: str) -> tuple[str, str]:
    """Take a name and a field, such as ``content=text``."""
    name, equals, field = text.partition("=")
    if not (name and equals and field):
        raise argparse.ArgumentTypeError(f"expected NAME=FIELD such as content=text; got {text!r}")
    return name, field


def time(text: str) -> Moment:
    """Take a date, a date with a time, or seconds since 1970."""
    seconds = text.replace(".", "", 1).isdigit() and len(text) > len("20260131")
    read = moment.parse(float(text) if seconds else text)
    if read is None:
        raise argparse.ArgumentTypeError(
            f"expected a time such as 2026-01-31, 2026-01-31T12:00:00+01:00 or seconds since 1970; got {text!r}"
        )
    return read


def prices(text: str) -> tuple[float, float]:
    """Take two prices, such as ``0.15,0.6``."""
    read = decimal(0, 1_000_000)
    prompt, comma, reply = text.partition(",")
    if not comma:
        raise argparse.ArgumentTypeError(f"expected PROMPT,REPLY such as 0.15,0.6; got {text!r}")
    return read(prompt), read(reply)
