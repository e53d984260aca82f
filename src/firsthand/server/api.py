"""The HTTP API: the verbs of `Memory` under ``/v1/``, for programs that have the token.

    GET  /v1/sessions?namespace=default          POST /v1/append {"session": ..., "events": [...]}

The invariant: a verb takes what it names and nothing else, gives JSON (or bytes, by ranges),
and fails as problem+json in the sentence that the same verb raises; the document of it
(``/v1/openapi.json``) is made of the same table that requests are answered from.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from firsthand import Answer, Appended, Draft, Event, InvalidArgument, Memory, Query, Trust, __version__
from firsthand.agents import health_line
from firsthand.client import NAMESPACE_HEADER
from firsthand.context.session_log import SessionLog
from firsthand.event import id_bytes, id_text
from firsthand.json_codec import from_json, to_json
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.statements import How
from firsthand.moment import Moment
from firsthand.pointer import parse
from firsthand.space import Address
from firsthand.sync import verbs as sync
from firsthand.value import fields, replace, value

EVENTS_MAX = 1_000
EVENTS_USUAL = 100
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})\Z")
_CALLABLES = {"self", "rewrite", "progress"}
_MORE = {
    "fields": tuple(name for name in fields(Draft) if name not in {"kind", "content"}),
    "how": tuple(How.__annotations__),
}
"""What a verb of `Memory` takes beyond its own arguments, by the name under which it takes them."""
_TYPES: dict[str, Any] = {
    "answer": Answer, "query": str | Query, "time": Moment | None, "trust": Trust, "limit": int, "after": int,
    "before": int | None, "as_of": int | None, "newest_first": bool, "deep": bool | None, "open_turn": bool,
    "keep": bool, "expected_position": int | None, "session": str | None, "situations": list[str] | None,
    **dict.fromkeys(("addresses", "heads", "within", "sources"), list[str]),
    **dict.fromkeys(
        ("reason", "containing", "by", "quote", "quote_old", "quote_new", "target", "old", "new", "subject", "text",
         "label", "sort", "correction"), str),
    **dict.fromkeys(("note", "source", "format"), str | None), "key": str, "messages": list[dict[str, Any]],
}  # fmt: skip
"""Of arguments that are not taken as JSON has them."""
_FLAGS: dict[Any, bool] = {"true": True, "1": True, 1: True, "false": False, "0": False, 0: False}


@value(eq=False)
class Verb:
    """One thing that can be asked for.

    Attributes:
        takes: the names of what it takes; those that it must have end in ``*``.
    """

    method: str
    name: str
    summary: str
    takes: tuple[str, ...]
    answer: Callable[[Memory, dict[str, Any]], Any]

    def asked(self, given_fields: Mapping[str, Any]) -> dict[str, Any]:
        """Read what came, against what the verb takes.

        Raises:
            InvalidArgument: something is missing, unknown, or of another type.
        """
        must = {name[:-1] for name in self.takes if name.endswith("*")}
        known = {name.rstrip("*") for name in self.takes} | {"namespace"}
        wrong = {"missing": must - given_fields.keys(), "unknown": given_fields.keys() - known}
        if faults := [f"{fault}: {', '.join(sorted(names)):.200}" for fault, names in wrong.items() if names]:
            raise InvalidArgument(f"{self.name} takes {', '.join(sorted(known))}; {'; '.join(faults)}")
        members = {name: member for name, member in given_fields.items() if name != "namespace"}
        return {name: self._read(name, member) for name, member in members.items()}

    def _read(self, name: str, member: Any) -> Any:
        if name not in _TYPES:
            return member
        if _TYPES[name] in {bool, bool | None} and isinstance(member, str | int):
            member = _FLAGS.get(member, member)
        elif self.method == "GET" and isinstance(member, str) and member.isascii() and member.isdigit():
            member = int(member[:16])  # a query has only text
        try:
            return from_json(_TYPES[name], member)
        except ValueError as error:
            raise InvalidArgument(f"{name} of {self.name}: {error}") from error


def _of_memory(method: str, name: str) -> Verb:
    """Make the verb of a method of `Memory`, with its arguments."""
    function = getattr(Memory, name)
    takes: list[str] = []
    for argument in inspect.signature(function).parameters.values():
        if argument.kind is argument.VAR_KEYWORD:
            takes += [more for more in _MORE[argument.name] if f"{more}*" not in takes and more not in takes]
        elif argument.name not in _CALLABLES:
            takes.append(argument.name + "*" * (argument.default is argument.empty))
    summary = (inspect.getdoc(function) or "").split("\n")[0]
    return Verb(method, name, summary, tuple(takes), lambda memory, asked: getattr(memory, name)(**asked))


def _health(memory: Memory, _asked: dict[str, Any]) -> Any:
    line = health_line.line(memory.path)
    return {"ok": not line, "line": line, "position": memory.position, "head": memory.head(), "store": str(memory.path)}


def _timeline(memory: Memory, asked: dict[str, Any]) -> list[Event]:
    limit = min(asked.pop("limit", EVENTS_USUAL), EVENTS_MAX)
    return [*memory.events(asked.pop("session", None), limit=limit, **asked)]


def _append(memory: Memory, asked: dict[str, Any]) -> Sequence[Appended]:
    if not isinstance(asked["events"], list) or not isinstance(asked["session"], str):
        raise InvalidArgument("append takes a session, which is a name, and events, which are a list")
    drafts = [_draft(fields_of_event) for fields_of_event in asked.pop("events")]
    return memory.append(drafts, **asked)


def _draft(members: Any) -> Draft:
    """Read an event as it is handed in."""
    if not isinstance(members, dict) or not members.keys() >= {"kind", "content"}:
        raise InvalidArgument("an event is an object with kind, and content (text, or base64 in an object)")
    if unknown := sorted(members.keys() - set(fields(Draft))):
        raise InvalidArgument(f"an event has fields of Draft; got {', '.join(unknown):.120}")
    try:
        draft: Draft = from_json(Draft, members)
    except ValueError as error:
        raise InvalidArgument(f"an event has fields of Draft; got {members!s:.120} ({error})") from error
    return draft


class _Keyed:
    """Appends to a space under ids that count up from a key, so that a retry is no second append."""

    def __init__(self, memory: Memory, key: str) -> None:
        self.log, self.namespace, self._append = memory.log, memory.namespace, memory.append
        self._next = int.from_bytes(id_bytes(key), "big")

    def append(self, drafts: Sequence[Draft], **named: Any) -> tuple[Appended, ...]:
        ids = [id_text((self._next + number).to_bytes(16, "big")) for number in range(len(drafts))]
        self._next += len(drafts)
        return self._append([replace(draft, id=id) for draft, id in zip(drafts, ids, strict=True)], **named)  # noqa: A001


def _append_messages(memory: Memory, asked: dict[str, Any]) -> list[Appended]:
    space: Any = _Keyed(memory, key) if (key := asked.pop("key", "")) else memory
    return SessionLog(space, asked.pop("session"), "").append_messages(asked.pop("messages"), **asked)


def _messages(memory: Memory, asked: dict[str, Any]) -> Any:
    return memory.session(asked["session"]).messages(asked.get("format"))


def _ledger(memory: Memory, asked: dict[str, Any]) -> Any:
    decisions = ledger_of(memory).decisions(asked.get("as_of"))
    return {"decisions": decisions[-EVENTS_MAX:], "facts": _facts(memory, asked)}


def _facts(memory: Memory, asked: dict[str, Any]) -> Any:
    return [*islice(memory.facts(**asked), EVENTS_MAX)]


_MESSAGES = "Append a provider's messages; under the same key they are appended once."
_WRITES = ("note", "check", "check_correction", "coverage", "supersede", "retract", "assert_fact", "erase", "verify")
VERBS = (
    Verb("GET", "health", "How the memory is, as last looked at, and its head.", (), _health),
    _of_memory("GET", "head"),
    _of_memory("GET", "sessions"),
    Verb("GET", "timeline", "Events in order.",
         ("session", "kind", "after", "before", "limit", "newest_first"), _timeline),
    _of_memory("GET", "event"),
    Verb("GET", "facts", "Facts that stand.", ("as_of",), _facts),
    Verb("GET", "ledger", "Decisions, and facts that stand.", ("as_of",), _ledger),
    Verb("GET", "messages", "A session's messages, as they were appended.", ("session*", "format"), _messages),
    _of_memory("GET", "stats"),
    Verb("POST", "append", "Append events to a session; durable when it answers.",
         ("session*", "events*", "expected_position"), _append),
    Verb("POST", "append_messages", _MESSAGES, ("session*", "messages*", "format", "time", "key"), _append_messages),
    _of_memory("POST", "recall"),
    _of_memory("POST", "fence"),
    _of_memory("POST", "fenced"),
    *(_of_memory("POST", name) for name in _WRITES),
    *(Verb("POST", name, (answer.__doc__ or "").split("\n")[0], takes, answer)
      for name, (answer, takes) in sync.VERBS.items()),
)  # fmt: skip
EXPAND = Verb("GET", "expand", "The exact bytes that a pointer addresses, by ranges.", ("address*",), _health)
LIVE = Verb("GET", "live", "The position that was reached, as server-sent events.", ("session", "after"), _health)


def document(more: tuple[Verb, ...] = ()) -> dict[str, Any]:
    """Describe the API (OpenAPI 3.1)."""
    problem = {"description": "what went wrong", "content": {"application/problem+json": {}}}
    paths: dict[str, Any] = {}
    for verb in (*VERBS, EXPAND, LIVE, *more):
        about: dict[str, Any] = {"operationId": verb.name, "summary": verb.summary}
        names, must = [name.rstrip("*") for name in verb.takes], [*verb.takes]
        about["parameters"] = [{"name": NAMESPACE_HEADER, "in": "header", "schema": {"type": "string"}}]
        if verb.method == "GET":
            about["parameters"] += [
                {"name": name, "in": "query", "required": f"{name}*" in must, "schema": {"type": "string"}}
                for name in names
            ]  # fmt: skip
        else:
            required = [name for name in names if f"{name}*" in must]
            schema = {"type": "object", "properties": {name: {} for name in names}, "additionalProperties": False}
            about["requestBody"] = {"content": {"application/json": {"schema": schema | {"required": required}}}}
        about["responses"] = {"200": {"description": verb.summary}, "default": problem}
        paths[f"/v1/{verb.name}"] = {verb.method.lower(): about}
    token = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0", "info": {"title": "Firsthand", "version": __version__}, "paths": paths,
        "components": {"securitySchemes": token}, "security": [{"token": []}],
    }  # fmt: skip


def answer_of(verb: Verb, memory: Memory, asked: Mapping[str, Any]) -> Any:
    """Do what a verb does, and give its answer as JSON."""
    return to_json(verb.answer(memory, dict(asked)))


@value(eq=False)
class Bytes:
    """Bytes that are sent: all of a pointer's, or a range of them.

    Attributes:
        address: what is read, of which so many `skipped` bytes are left out first.
        start, end: of the range, the end exclusive.
        size: of all of them.
    """

    address: Address
    start: int
    end: int
    size: int
    partial: bool
    skipped: int = 0

    def read(self, memory: Memory) -> Iterator[bytes]:
        """Yield them in pieces."""
        at, end = -self.skipped, self.end - self.start
        for piece in memory.stream(self.address):
            yield piece[max(0, -at) : max(0, end - at)]
            at += len(piece)


def bytes_of(memory: Memory, pointer: str, asked: str) -> Bytes | None:
    """Give the bytes that a pointer addresses, or the range of them that a header asks for; None where there are none.

    Raises:
        Unresolvable: nothing answers to the pointer.
    """
    address = parse(pointer)
    plain = address.last is None and not address.source and not address.unit
    size = memory.event(address).size_bytes if plain else sum(map(len, memory.stream(address)))
    match = _RANGE.match(asked.strip())
    if match is None or not (match[1] or match[2]) or not size:  # none, of a form to be passed over, or of nothing
        return Bytes(address, 0, size, size, partial=False)
    start = int(match[1]) if match[1] else max(0, size - int(match[2]))
    end = min(size, int(match[2]) + 1) if match[1] and match[2] else size
    if start >= end:
        return None
    if plain:
        return Bytes(f"{address}@{start}-{end}", start, end, size, partial=True)
    return Bytes(address, start, end, size, partial=True, skipped=start)
