"""A model's replies in a file, replayed for the same requests.

The invariant: a request that was recorded gets the reply that was recorded, another
one is refused, and the error says where it differs from the nearest one.

What differs from run to run without meaning anything is given a number before two
requests are compared: the ids in pointers, the marks of fences, times. A recorded
reply that names one of them names the one of the present request. It does not know
which model spoke.

The file is JSON lines: each message and tool once, by its hash, and each reply with
the hashes that its request is made of. A last line that a kill cut off is left out.
Several threads may ask at once; of two that ask the same, the first reply stands.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from firsthand.errors import InvalidArgument, ReplyUnknown
from firsthand.llm.port import Model, Reply, ToolCall, checked
from firsthand.value import asdict, fields, value

HASH_CHARACTERS = 32
SHOWN_CHARACTERS = 60  # of each side, from a little before the place where two requests part
SHOWN_BEFORE = 20

_ZONE = r"(?:Z|[+-]\d\d:\d\d)"
_TIME = rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?{_ZONE}?"
_SHOWN = r"\d{4}-\d\d-\d\d \d\d:\d\d"  # as a marker or a hit shows a time: with its end, or seconds and zone
_PASSING = re.compile(
    r"(?P<mark>(?:(?<=<<firsthand )|(?<=<<end ))[0-9a-f]{32})"
    r"|(?P<id>(?:(?<![0-9A-Za-z])|(?<=\\[nrt]))[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Za-z]))"
    rf"|(?P<time>{_TIME}(?: to (?:{_TIME}|\d\d:\d\d))?)|(?P<shown>{_SHOWN}(?: to (?:{_SHOWN}|\d\d:\d\d)|:\d\d{_ZONE}))"
    r"|(?P<literal>\{\{(?:mark|id|time|shown|literal) \d+\}\})"  # what looks like one of our numbers is numbered itself
)
_APART = "\0"  # between a time and its number
_NUMBER = re.compile(r"\{\{(?:mark|id|time|shown|literal) \d+\}\}")


@value
class _Recording:
    """A reply, and the hashes and numbers that its request is made of; both with passing names numbered."""

    request: dict[str, Any]
    reply: dict[str, Any]


class Recorded:
    """Replay the replies of a file; with a model, ask it what is not in there, and add its reply.

    Args:
        path: of the file; it need not exist when a model is given.

    Raises:
        InvalidArgument: the file is not there, or is none of ours.
    """

    def __init__(self, path: str | PathLike[str], model: Model | None = None) -> None:
        self.path = Path(path)
        self._model = model
        self._parts: dict[str, Any] = {}
        self._recordings: dict[str, _Recording] = {}
        self._cut_at: int | None = None  # where a line that is not whole begins
        self._lock = threading.Lock()
        if self.path.exists():
            self._read()
        elif model is None:
            raise InvalidArgument(
                f"{self.path} should hold recorded replies and is not there; record some with a model"
            )

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
    ) -> Reply:
        """Reply to messages in OpenAI chat shape; see `firsthand.llm.port.Model`.

        Raises:
            InvalidArgument: a message, a tool or a number is none.
            ReplyUnknown: nothing was recorded for this request, and there is no model to ask.
            ModelError: the model that was asked gave no reply.
        """
        request = asdict(checked(messages, tools, max_tokens, temperature, stop))
        numbers: dict[str, str] = {}
        numbered = _renamed(request, _PASSING, lambda found: _number(found, numbers))
        made_of = {name: list(map(_hash, held)) if name in _LISTS else held for name, held in numbered.items()}
        recording = self._recordings.get(_hash(made_of))
        if recording is None:
            if self._model is None:
                raise ReplyUnknown(self._unknown(numbered, made_of))
            said = asdict(self._model.complete(**request))
            reply = _renamed(said, _PASSING, lambda found: numbers.get(found[0], found[0]))
            recording = self._record(numbered, _Recording(made_of, reply))
        names = {number: name.partition(_APART)[0] for name, number in numbers.items()}
        told = _renamed(recording.reply, _NUMBER, lambda found: names.get(found[0], found[0]))
        return Reply(**told | {"tool_calls": tuple(ToolCall(**call) for call in told["tool_calls"])})

    # the file ---------------------------------------------------------------------------------------

    def _read(self) -> None:
        whole = self.path.read_bytes()
        end = whole.rfind(b"\n") + 1
        self._cut_at = end if end < len(whole) else None
        for number, line in enumerate(whole[:end].splitlines(), 1):
            try:
                held = json.loads(line)
                if "part" in held:
                    self._parts[held["part"]] = held["is"]
                else:
                    reply = {name: held["reply"][name] for name in fields(Reply)}
                    self._recordings[_hash(held["request"])] = _Recording(held["request"], reply)
            except (ValueError, KeyError, TypeError) as error:
                raise InvalidArgument(
                    f"line {number} of {self.path} is no recorded reply ({type(error).__name__}: {error}); "
                    "name another file, or delete this one and record it again"
                ) from error

    def _record(self, numbered: Mapping[str, Any], recording: _Recording) -> _Recording:
        """Add the parts that are new and the reply, in one write; give the recording that stands."""
        with self._lock:
            return self._recordings.get(_hash(recording.request)) or self._added(numbered, recording)

    def _added(self, numbered: Mapping[str, Any], recording: _Recording) -> _Recording:
        lines = []
        for name in _LISTS:
            for known, part in zip(recording.request[name], numbered[name], strict=True):
                if known not in self._parts:
                    self._parts[known] = part
                    lines.append({"part": known, "is": part})
        lines.append({"request": recording.request, "reply": recording.reply})
        with self.path.open("ab") as file:
            if self._cut_at is not None:  # else the next line would run into it
                file.truncate(self._cut_at)
                self._cut_at = None
            file.write(b"".join(json.dumps(line, sort_keys=True).encode() + b"\n" for line in lines))
        self._recordings[_hash(recording.request)] = recording
        return recording

    # what differs -----------------------------------------------------------------------------------

    def _unknown(self, numbered: Mapping[str, Any], made_of: Mapping[str, Any]) -> str:
        """Say where a request parts from the recorded one that it has most in common with."""
        what = f"no reply to this request is recorded in {self.path}"
        if not self._recordings:
            return f"{what}: it holds none; record it with a model"
        nearest = max((held.request for held in self._recordings.values()), key=lambda held: _alike(held, made_of))
        parted = "; ".join(
            self._parting(name, nearest[name], made_of[name], numbered[name])
            for name in made_of
            if nearest[name] != made_of[name]
        )
        return f"{what}; the nearest one differs in {parted}; record it again with a model, or ask the same"

    def _parting(self, name: str, recorded: Any, asked: Any, parts: Any) -> str:
        if name not in _LISTS:
            return f"{name}: recorded {recorded!r}, asked {asked!r}"
        if recorded[: len(asked)] == asked or asked[: len(recorded)] == recorded:
            alike = min(len(recorded), len(asked))
            return f"{name}: recorded {len(recorded)}, asked {len(asked)}, the first {alike} alike"
        at = next(place for place, both in enumerate(zip(recorded, asked, strict=False)) if both[0] != both[1])
        one, other = _text(self._parts[recorded[at]]), _text(parts[at])
        same = next((place for place, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1]),
                    min(len(one), len(other)))  # fmt: skip
        window = slice(max(0, same - SHOWN_BEFORE), same + SHOWN_CHARACTERS)
        return f"{name}[{at}] at character {same}: recorded {one[window]!r}, asked {other[window]!r}"


_LISTS = ("messages", "tools")  # of a request, those kept by the hash of each entry


def _renamed(held: Any, pattern: re.Pattern[str], name: Callable[[re.Match[str]], str]) -> Any:
    """Copy JSON values with what the pattern finds in their texts under other names."""
    if isinstance(held, str):
        return pattern.sub(name, held)
    if isinstance(held, Mapping):
        return {key: _renamed(one, pattern, name) for key, one in held.items()}
    if isinstance(held, (list, tuple)):
        return [_renamed(one, pattern, name) for one in held]
    return held


def _number(found: re.Match[str], numbers: dict[str, str]) -> str:
    """Give a passing name the next number of its kind, or the one that it has.

    A time that is shown with a text has a number wherever it stands: which are equal depends on when a program ran.
    """
    kind = found.lastgroup
    if kind == "shown" or found[0] not in numbers:
        before = len({number for number in numbers.values() if number.startswith(f"{{{{{kind} ")})
        number = f"{{{{{kind} {before + 1}}}}}"
        if kind == "shown":
            numbers[f"{found[0]}{_APART}{number}"] = number
            numbers.setdefault(found[0], number)
            return number
        numbers[found[0]] = number
    return numbers[found[0]]


def _text(part: Any) -> str:
    return json.dumps(part, sort_keys=True, ensure_ascii=False)


def _hash(part: Any) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:HASH_CHARACTERS]


def _alike(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> tuple[int, int]:
    """Count what two requests share: messages and tools, then the other fields."""
    shared = sum(len(set(recorded[name]) & set(asked[name])) for name in _LISTS)
    return shared, sum(recorded[name] == asked[name] for name in asked if name not in _LISTS)
