"""Values as JSON, and back: what the server's /v1 sends and `firsthand.Client` reads.

    to_json(Answer(...)) -> {"outcome": "found", "hits": [{"pointer": "fh:...", ...}], ...}
    from_json(Answer, ...) -> an equal Answer

The invariant: what went in comes out equal. Bytes that are UTF-8 stand as text, others as ``{"base64": ...}``;
a time is ISO 8601 text, a range its two ends. An object has the fields of its value, and its pointer.
"""

from __future__ import annotations

import base64
import types
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from firsthand import moment
from firsthand.moment import Moment
from firsthand.value import fields

_DERIVED = ("pointer", "ok", "size_bytes", "sentence")  # properties that a reader would have to derive
_WORDS: dict[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "true or false", None: "nothing",
    type(None): "nothing", bytes: "a text or base64 in an object", Moment: "a time in ISO 8601",
    range: "a list of two whole numbers",
}  # fmt: skip


def to_json(thing: Any) -> Any:
    """Give a value, or what is made of values, as it stands in JSON."""
    match thing:
        case Moment():
            return str(thing)
        case Enum():
            return thing.value
        case str() | int() | float() | None:
            return thing
        case bytes():
            try:
                return thing.decode("utf-8")
            except UnicodeDecodeError:
                return {"base64": base64.b64encode(thing).decode("ascii")}
        case range():
            return [thing.start, thing.stop]
        case Mapping():
            return {str(name): to_json(member) for name, member in thing.items()}
        case list() | tuple() | set() | frozenset():
            return [to_json(member) for member in thing]
    derived = (name for name in _DERIVED if isinstance(getattr(type(thing), name, None), property))
    return {name: to_json(getattr(thing, name)) for name in (*fields(thing), *derived)}


def from_json(kind: Any, data: Any) -> Any:
    """Read a value of a type, named as an annotation; a `ValueError` where it is none. Unknown fields are left out."""
    origin, arguments = get_origin(kind), get_args(kind)
    match data:
        case _ if kind is Any or (origin is Literal and data in arguments):
            return data
        case _ if origin in {Union, types.UnionType}:
            return _first(kind, data)
        case None if kind in {None, type(None)}:
            return None
        case _ if kind is Moment and (time := moment.parse(data)) is not None:
            return time
        case str() if kind is bytes:
            return data.encode("utf-8", "surrogatepass")
        case {"base64": str(text)} if kind is bytes:
            return base64.b64decode(text, validate=True)
        case bool() | int() | float() | str() if type(data) is kind or (kind is float and type(data) is int):
            return data
        case str() if isinstance(kind, type) and issubclass(kind, Enum) and data in {member.value for member in kind}:
            return kind(data)
        case [int(start), int(stop)] if kind is range:
            return range(start, stop)
        case list() if origin in {tuple, list}:
            return origin(from_json(arguments[0], item) for item in data)
        case dict() if isinstance(origin, type) and issubclass(origin, Mapping):
            return {name: from_json(arguments[1], member) for name, member in data.items()}
        case dict() if hasattr(kind, "__match_args__"):
            hints = _hints(kind)
            if missing := set(fields(kind)) - data.keys() - kind.__value_defaults__.keys():
                raise ValueError(f"expected the fields of {kind.__name__}; missing: {', '.join(sorted(missing))}")
            return kind(**{name: from_json(hints[name], data[name]) for name in fields(kind) if name in data})
    raise ValueError(f"expected {_in_words(kind)}; got {data!r:.80}")


_hints = cache(get_type_hints)


def _first(union: Any, data: Any) -> Any:
    inner = ""
    for kind in get_args(union):
        try:
            return from_json(kind, data)
        except ValueError as error:  # the next one is tried
            if isinstance(data, dict) and hasattr(kind, "__match_args__"):
                inner = f" ({error})"
    raise ValueError(f"expected {_in_words(union)}; got {data!r:.80}{inner}")


def _in_words(kind: Any) -> str:
    """Say what a type is in JSON."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return " or ".join(_in_words(member) for member in arguments if not getattr(member, "_is_protocol", False))
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        members = arguments or tuple(member.value for member in kind)
        return f"one of {', '.join(map(str, members))}"
    if hasattr(kind, "__match_args__") and kind not in _WORDS:
        return f"an object with the fields of {kind.__name__}"
    if isinstance(origin, type):
        return "an object" if issubclass(origin, Mapping) else "a list"
    return _WORDS.get(kind, str(kind))
