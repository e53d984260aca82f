"""The HTTP API: the verbs of `Memory` under ``/v1/``, for programs that have the token.

    GET  /v1/sessions?namespace=default          POST /v1/append {"session": ..., "events": [...]}

The invariant: a verb takes what it names and nothing else, gives JSON (or bytes, by ranges),
and fails as problem+json in the sentence that the same verb raises; the document of it
(``/v1/openapi.json``) is made of the same table that requests are answered from.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from firsthand import Draft, InvalidArgument, Kind, Memory, Trust, __version__
from firsthand.agents import health_line
from firsthand.answer import moment_of
from firsthand.event import Event
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.facts import facts_standing
from firsthand.pointer import parse
from firsthand.value import asdict, value

EVENTS_MAX = 1_000
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})\Z")
Answer = Callable[[Memory, Mapping[str, Any]], Any]


@value(eq=False)
class Verb:
    """One thing that can be asked for.

    Attributes:
        takes: the names of what it takes, each with a sentence; those that it must have end in ``*``.
    """

    method: str
    name: str
    summary: str
    takes: Mapping[str, str]
    answer: Answer


def fields_of(verb: Verb, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Check what came against what a verb takes.

    Raises:
        InvalidArgument: something is missing, or nobody knows it.
    """
    must = {name.rstrip("*") for name in verb.takes if name.endswith("*")}
    known = {name.rstrip("*") for name in verb.takes} | {"namespace"}
    wrong = sorted((fields.keys() - known) | (must - fields.keys()))
    if wrong:
        raise InvalidArgument(
            f"{verb.name} takes {', '.join(sorted(known))}; missing or unknown: {', '.join(wrong):.200}"
        )
    return {name: member for name, member in fields.items() if name != "namespace"}


def _health(memory: Memory, _fields: Mapping[str, Any]) -> Any:
    line = health_line.line(memory.path)
    return {"ok": not line, "line": line, "position": memory.position, "head": memory.head(), "store": str(memory.path)}


def _timeline(memory: Memory, fields: Mapping[str, Any]) -> Any:
    limit = min(_number(fields, "limit", 100), EVENTS_MAX)
    events = memory.events(
        fields.get("session"), kind=fields.get("kind"), after=_number(fields, "after", 0), limit=limit,
        before=_number(fields, "before", 0) or None, newest_first=fields.get("newest_first") in (True, "1", "true"),
    )  # fmt: skip
    return {"events": [_event(event) for event in events]}


def _event(event: Event) -> dict[str, Any]:
    """Give an event with its text; of an artifact the preview."""
    known = (
        "pointer", "position", "session", "turn", "part", "kind", "agent", "origin", "trust", "time", "ingested",
        "media", "erased", "size_bytes", "text",
    )  # fmt: skip
    return {name: getattr(event, name) for name in known} | {"meta": dict(event.meta), "chain": event.chain.hex()}


def _recall(memory: Memory, fields: Mapping[str, Any]) -> Any:
    asked = dict(fields)
    return asdict(memory.recall(asked.pop("query"), **asked))


def _append(memory: Memory, fields: Mapping[str, Any]) -> Any:
    if not isinstance(fields["events"], list) or not isinstance(fields["session"], str):
        raise InvalidArgument("append takes a session, which is a name, and events, which are a list")
    drafts = [_draft(each) for each in fields["events"]]
    appended = memory.append(drafts, session=fields["session"], expected_position=fields.get("expected_position"))
    return {"appended": [asdict(each) | {"pointer": each.pointer} for each in appended]}


def _draft(fields: Any) -> Draft:
    """Read an event as it is handed in: its content as text, or in base64."""
    if not isinstance(fields, dict) or ("content" in fields) == ("base64" in fields) or "kind" not in fields:
        raise InvalidArgument("an event is an object with kind, and content (text) or base64")
    members = {name: member for name, member in fields.items() if name not in {"content", "base64"}}
    try:
        content = (
            base64.b64decode(fields["base64"], validate=True) if "base64" in fields else fields["content"].encode()
        )
        members["kind"] = Kind(members["kind"])
        members |= {"trust": Trust(members["trust"])} if "trust" in members else {}
        members |= {"time": moment_of(members["time"])} if "time" in members else {}
        return Draft(content=content, **members)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidArgument(f"an event has fields of Draft; got {fields!s:.120} ({error})") from error


def _anatomy(memory: Memory, fields: Mapping[str, Any]) -> Any:
    newest = memory.anatomies(fields.get("session"), newest_first=True)
    calls = islice(newest, min(_number(fields, "limit", 100), EVENTS_MAX))
    return {"calls": [asdict(call) | {"tokens": call.tokens} for call in calls]}


def _ledger(memory: Memory, fields: Mapping[str, Any]) -> Any:
    as_of = _number(fields, "as_of", 0) or None
    decisions = ledger_of(memory).decisions(as_of)
    return {
        "decisions": [asdict(decision) for decision in decisions[-EVENTS_MAX:]],
        "facts": [asdict(fact) for fact in islice(facts_standing(memory, as_of=as_of), EVENTS_MAX)],
    }


def _erase(memory: Memory, fields: Mapping[str, Any]) -> Any:
    return asdict(memory.erase(fields["pointers"], reason=fields.get("reason", "")))


def _verify(memory: Memory, _fields: Mapping[str, Any]) -> Any:
    verified = memory.verify()
    return {"ok": verified.ok, "events": verified.events, "problems": [str(problem) for problem in verified.problems]}


def _number(fields: Mapping[str, Any], name: str, default: int) -> int:
    text = str(fields.get(name, default))
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise InvalidArgument(f"{name} is a whole number from 0; got {text!r:.60}")
    return int(text)


_SCOPE = dict.fromkeys(("sessions", "agents", "kinds", "since", "until", "hits_max", "budget_tokens_max", "skip"), "")
VERBS = (
    Verb("GET", "health", "How the memory is, as last looked at, and its head.", {}, _health),
    Verb("GET", "sessions", "The sessions of a namespace.", {}, lambda memory, _: {"sessions": memory.sessions()}),
    Verb("GET", "timeline", "Events in order.", dict.fromkeys(
        ("session", "kind", "after", "before", "limit", "newest_first"), ""), _timeline),
    Verb("GET", "event", "One event.", {"pointer*": ""}, lambda memory, asked: _event(memory.event(asked["pointer"]))),
    Verb("GET", "anatomy", "What models were sent, call by call.", {"session": "", "limit": ""}, _anatomy),
    Verb("GET", "ledger", "Decisions, and facts that stand.", {"as_of": "a position"}, _ledger),
    Verb("POST", "recall", "Find events.", {"query*": "", **_SCOPE}, _recall),
    Verb("POST", "append", "Append events to a session; durable when it answers.",
         {"session*": "", "events*": "kind, content or base64, fields of Draft", "expected_position": ""}, _append),
    Verb("POST", "erase", "Destroy the content of events.", {"pointers*": "a list", "reason": ""}, _erase),
    Verb("POST", "verify", "Derive every hash and chain again.", {}, _verify),
)  # fmt: skip


def document() -> dict[str, Any]:
    """Describe the API (OpenAPI 3.1)."""
    problem = {"description": "what went wrong", "content": {"application/problem+json": {}}}
    paths: dict[str, Any] = {}
    expand = Verb("GET", "expand", "The exact bytes that a pointer addresses, by ranges.", {"pointer*": ""}, _health)
    live = Verb("GET", "live", "The position that was reached, as server-sent events.", {"session": ""}, _health)
    for verb in (*VERBS, expand, live):
        takes = {"namespace": "default: default", **verb.takes}
        about: dict[str, Any] = {"operationId": verb.name, "summary": verb.summary}
        if verb.method == "GET":
            about["parameters"] = [
                {"name": name.rstrip("*"), "in": "query", "required": name.endswith("*"), "description": text,
                 "schema": {"type": "string"}}
                for name, text in takes.items()
            ]  # fmt: skip
        else:
            members = {name.rstrip("*"): {"description": text} for name, text in takes.items()}
            must = [name.rstrip("*") for name in takes if name.endswith("*")]
            schema = {"type": "object", "properties": members, "required": must, "additionalProperties": False}
            about["requestBody"] = {"content": {"application/json": {"schema": schema}}}
        about["responses"] = {"200": {"description": verb.summary}, "default": problem}
        paths[f"/v1/{verb.name}"] = {verb.method.lower(): about}
    token = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0", "info": {"title": "Firsthand", "version": __version__}, "paths": paths,
        "components": {"securitySchemes": token}, "security": [{"token": []}],
    }  # fmt: skip


@value(eq=False)
class Bytes:
    """Bytes that are sent: all of a pointer's, or a range of them.

    Attributes:
        start, end: of the range, the end exclusive.
        size: of all of them.
    """

    pieces: Iterator[bytes]
    start: int
    end: int
    size: int
    partial: bool


def bytes_of(memory: Memory, pointer: str, asked: str) -> Bytes | None:
    """Give the bytes that a pointer addresses, or the range of them that a header asks for; None where there are none.

    Raises:
        Unresolvable: nothing answers to the pointer.
    """
    address = parse(pointer)
    plain = address.last is None and not address.source and not address.unit
    size = memory.event(address).size_bytes if plain else sum(map(len, memory.stream(address)))
    match = _RANGE.match(asked.strip())
    if match is None or not (match[1] or match[2]):  # none, or of a form that may be passed over
        return Bytes(memory.stream(address), 0, size, size, partial=False)
    start = int(match[1]) if match[1] else max(0, size - int(match[2]))
    end = min(size, int(match[2]) + 1) if match[1] and match[2] else size
    if start >= end:
        return None
    if plain:
        return Bytes(memory.stream(f"{address}@{start}-{end}"), start, end, size, partial=True)
    return Bytes(iter((b"".join(memory.stream(address))[start:end],)), start, end, size, partial=True)
