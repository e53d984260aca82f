"""Reading fields of values that came from a file and may have any shape.

The invariant: nothing here raises for a value of the wrong type; it gives the
empty value of the type asked for, and the bytes stay in the record's envelope.
Pure; knows no host.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

META_TEXT_MAX = 2_000  # characters of one text in an event's meta; a longer one stays in the envelope


def text(value: object) -> str:
    """Give a text as it is, anything else as the empty text."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Give an object as it is, anything else as the empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Give a list as it is, anything else as the empty one."""
    return value if isinstance(value, list) else []


def scalar(value: object) -> str | int | float | bool | None:
    """Give a value that fits into meta as it is; None for one that does not, or is empty."""
    if isinstance(value, str):
        return value if 0 < len(value) <= META_TEXT_MAX else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):  # bool too
        return value if abs(value) < 1 << 63 else str(value)
    return None


def picked(source: object, *names: str, **others: object) -> dict[str, Any]:
    """Pick the named scalars out of an object, and add others, leaving out what is empty.

    A name such as ``toolCallId=call_id`` is kept under the word after the sign.
    """
    found = mapping(source)
    meta: dict[str, Any] = {}
    for name in names:
        theirs, _, ours = name.partition("=")
        meta[ours or theirs] = scalar(found.get(theirs))
    meta |= {name: value if isinstance(value, (dict, list)) else scalar(value) for name, value in others.items()}
    return {name: value for name, value in meta.items() if value is not None}


def stem(path: str) -> str:
    """Give a path's last name without its last suffix."""
    return PurePosixPath(path).stem
