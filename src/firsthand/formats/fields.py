"""Fields of JSON that may have any shape, and what of them fits into an event's meta.

The invariant: nothing here raises for a value of the wrong type; it gives the
empty value of the type asked for, and the bytes stay in the record's envelope.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from firsthand.event import NAME_BYTES_MAX

META_TEXT_MAX = 1_000  # characters of one text in meta; a longer one stays in the envelope
META_ITEMS_MAX = 64  # members of one list or object in meta
_PREFIX_BYTES_MAX = 64  # room in a name for what is put before it: ``tool:``, ``claude-code:``


def text(value: object) -> str:
    """Give a text as it is, anything else as the empty text."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Give an object as it is, anything else as the empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Give a list as it is, anything else as the empty one."""
    return value if isinstance(value, list) else []


def small(value: object, depth: int = 2) -> Any:
    """Give a value as meta can hold it; None for one that is too large, too deep or no JSON."""
    match value:
        case bool():
            return value
        case str():
            return value if 0 < len(value) <= META_TEXT_MAX else None
        case int():  # JSON readers elsewhere keep 53 bits
            return value if abs(value) < 1 << 53 else str(value) if abs(value) < 1 << 256 else None
        case float():
            return value if math.isfinite(value) else None
        case Mapping() if depth and len(value) <= META_ITEMS_MAX:
            small_values = {name: small(inner, depth - 1) for name, inner in value.items() if len(name) <= 100}
            return {name: inner for name, inner in small_values.items() if inner is not None} or None
        case list() if depth and len(value) <= META_ITEMS_MAX:
            members = [small(inner, depth - 1) for inner in value]
            return members if members and None not in members else None
        case _:
            return None


def picked(source: object, *names: str, **others: object) -> dict[str, Any]:
    """Pick named values out of an object as far as meta can hold them, and add others.

    A name such as ``sessionId=session`` is kept under the word after the sign.
    """
    members = mapping(source)
    meta: dict[str, Any] = {}
    for name in names:
        theirs, _, ours = name.partition("=")
        meta[ours or theirs] = small(members.get(theirs))
    meta |= {name: small(value) for name, value in others.items()}
    return {name: value for name, value in meta.items() if value is not None}


def to_name(value: object) -> str:
    """Make text fit to name a session, an agent or an origin: no control signs, within its limit."""
    name = text(value)
    if name.isascii() and name.isprintable() and len(name) <= NAME_BYTES_MAX - _PREFIX_BYTES_MAX:
        return name.strip()
    clean = "".join([character for character in name[:NAME_BYTES_MAX] if character.isprintable()])
    cut = clean.encode("utf-8", "replace")[: NAME_BYTES_MAX - _PREFIX_BYTES_MAX]
    return cut.decode("utf-8", "ignore").strip()
