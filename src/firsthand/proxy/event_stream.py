"""Server-sent events as they pass: cut into blocks at once, each with the bytes that it came as.

The invariant: the raw bytes of all blocks, in order, are the bytes that came. It does not
know what events say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from firsthand.value import value

_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_BLANK_LINE_BYTES_MAX = 4
_DECODER = json.JSONDecoder()
_LINE_END = re.compile(r"\r\n|\n|\r")


@value
class Block:
    """One event as it came.

    Attributes:
        raw: its bytes, the blank line behind it included.
        name: of the event; empty where it has none.
        data: empty for a comment.
    """

    raw: bytes
    name: str
    data: str

    @property
    def fields(self) -> dict[str, Any]:
        """The data as a JSON object; empty where it is none."""
        return json_object(self.data)


class Splitter:
    """Cuts bytes into events, however they were cut on their way."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0  # bytes of it in which no blank line begins

    def feed(self, data: bytes) -> Iterator[Block]:
        """Yield the events that are complete with these bytes."""
        self._rest += data
        while (end := _BLANK_LINE.search(self._rest, self._searched)) is not None:
            raw = bytes(self._rest[: end.end()])
            del self._rest[: end.end()]
            self._searched = 0
            yield _block(raw)
        self._searched = max(0, len(self._rest) - _BLANK_LINE_BYTES_MAX + 1)

    def close(self) -> Iterator[Block]:
        """Yield what stands behind the last blank line."""
        if self._rest:
            yield _block(bytes(self._rest))
        self._rest.clear()


def json_object(data: str | bytes) -> dict[str, Any]:
    """Read a JSON object; empty where it is none."""
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {}


def members(data: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a JSON object, and the text that each of its members came as.

    Raises:
        ValueError: it is none.
    """
    values: dict[str, Any] = {}
    texts: dict[str, str] = {}
    at, is_first = _after(data, 0, "{"), True
    while not (data.startswith("}", at) and is_first):
        if not data.startswith('"', at):
            raise ValueError(f"expected a name at {at}")
        name, end = _DECODER.raw_decode(data, at)
        start = _after(data, end, ":")
        values[name], end = _DECODER.raw_decode(data, start)
        texts[name], is_first = data[start:end], False
        at = _after(data, end, "")
        if data.startswith("}", at):
            break
        at = _after(data, at, ",")
    if _after(data, at, "}") < len(data):
        raise ValueError(f"expected the end at {at + 1}")
    return values, texts


def _after(data: str, at: int, sign: str) -> int:
    """Give the place behind a sign and the space around it."""
    found = re.compile(rf"[ \t\r\n]*{re.escape(sign)}[ \t\r\n]*").match(data, at)
    if found is None:
        raise ValueError(f"expected {sign!r} at {at}")
    return found.end()


def event(fields: Mapping[str, Any], name: str = "") -> bytes:
    """Write an event."""
    data = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f"{f'event: {name}{chr(10)}' if name else ''}data: {data}\n\n".encode("utf-8", "backslashreplace")


def summed(first: Any, second: Any) -> Any:
    """Add two accounts of usage, number by number; what is no number is the second's, unless it has none."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        names = dict.fromkeys([*first, *second])
        return {name: summed(first.get(name), second.get(name)) for name in names}
    if {type(first), type(second)} <= {int, float}:
        return first + second
    return first if second is None else second


def _block(raw: bytes) -> Block:
    name, data = "", []
    for line in _LINE_END.split(raw.decode("utf-8", "replace")):
        field, _, text = line.partition(":")
        if field == "data":
            data.append(text.removeprefix(" "))
        elif field == "event":
            name = text.removeprefix(" ")
    return Block(raw, name, "\n".join(data))
