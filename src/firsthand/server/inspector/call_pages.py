"""The page of what a model saw: each recorded call by its parts, what changed since the one before, and its bytes.

The invariant: nothing is simulated. Parts come from the anatomy that was recorded before the
call; messages come from a replay, shown as such only where their hash is the recorded one; of
a host's session, whose requests nobody recorded, the page says so and shows what is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, cast

from firsthand import window as parts
from firsthand.agents import injections
from firsthand.context.anatomy import Anatomy, from_event
from firsthand.context.anatomy_diff import diff
from firsthand.context.receipt import Receipt, from_json
from firsthand.context.replay import Replay
from firsthand.errors import FirsthandError, Unresolvable
from firsthand.event import Event, Kind
from firsthand.event import texts as strings
from firsthand.formats import canonical
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.server.inspector.session_pages import info_of, title
from firsthand.value import value
from firsthand.window import Budget

CALLS_MAX = 800
"""Calls of a session that are drawn, its newest."""
COLUMNS_MAX, TICKS_MAX = 200, 14
FIRST_MESSAGES, LAST_MESSAGES = 14, 4
ITEMS_MAX, MESSAGES_MAX, REPLAYS_KEPT = 60, 250, 3
USAGE_EVENTS_MAX = 1_300
_STYLES = {
    parts.SYSTEM: "o", parts.PERSONA: "o", parts.PREAMBLE: "v", parts.FILES: "o", parts.SKILLS: "o", parts.TOOLS: "l",
    parts.MARKERS: "m", parts.TASK: "k", parts.CUES: "v", parts.RECALL: "v", parts.NEWEST: "u", parts.FRAMING: "o",
    **{name: texts.kind_class(kind) for kind, name in parts.HISTORY_PARTS.items()},
}  # fmt: skip
_USAGE = (
    ("cacheRead", "cache_read_input_tokens"), ("cacheWrite", "cache_creation_input_tokens"),
    ("input", "input_tokens"), ("output", "output_tokens"),
)  # fmt: skip
_WORDED = ("text", "content", "output", "summary", "arguments", "input", "description", "tool_calls", "function")
_DRAWN = (
    parts.SYSTEM, parts.PERSONA, parts.FILES, parts.SKILLS, parts.TOOLS, parts.PREAMBLE, parts.MARKERS,
    *parts.HISTORY_PARTS.values(), parts.TASK, parts.RECALL, parts.CUES, parts.NEWEST, parts.FRAMING,
)  # fmt: skip
"""The parts as they stand in a prompt: the stable ones first."""


def calls(place: Place, asked: Asked) -> Page:
    """Show what was sent to a model, call by call."""
    name = asked.text("name")
    info = info_of(place.memory, name)
    number = asked.number("call", 0, low=0)
    against = asked.number("against", 0, low=0)
    part = asked.text("part")
    recorded = [*_calls(place, name)]
    fields: dict[str, Any] = {"name": name, "title": title(place, name) or name, "through": info.last_position}
    if not recorded:
        return Page("unrecorded.html", "What the model saw", fields | _host_fields(place, name))
    chosen = next((place_ for place_, call in enumerate(recorded) if call.call == number), None)
    if number and chosen is None:
        raise Unresolvable(
            f"no call {number:,} of session {name!r:.120} is among its newest {len(recorded):,} recorded ones"
        )
    chosen = len(recorded) - 1 if chosen is None else chosen
    call = recorded[chosen]
    number_before = against or (recorded[chosen - 1].call if chosen else 0)
    before = next((other for other in recorded if other.call == number_before), None)
    receipt = _receipt(place, call) if before is None or call.cycle != before.cycle else None
    fields |= {
        "call": call, "number": len(recorded), "before": before, "receipt": receipt, "parts": _parts(call, before),
        "drawn": _columns(place, name, recorded, chosen), "part": part,
        "previous": recorded[chosen - 1].call if chosen else 0, "estimated": "estimate" in call.counter,
        "next": recorded[chosen + 1].call if chosen + 1 < len(recorded) else 0, "against": against,
        "high": Budget(call.budget_tokens).high_tokens if receipt is None else receipt.budget.high_tokens,
    }  # fmt: skip
    return Page("calls.html", f"What the model saw: call {call.call}", fields)


def sent(place: Place, asked: Asked) -> Page:
    """Show the messages of a call as they were sent."""
    pointer, part, begin = asked.text("pointer"), asked.text("part"), asked.number("from", -1, low=0)
    call = place.memory.anatomy(pointer)
    replayed = _replayed(place, pointer)
    listed = [message for message in _messages(replayed.body) if part in ("", message.part)]
    left_out = 0 if begin >= 0 else max(0, len(listed) - FIRST_MESSAGES - LAST_MESSAGES)
    first = listed[begin : begin + MESSAGES_MAX] if begin >= 0 else listed[:FIRST_MESSAGES] if left_out else listed
    out = _words_out(place, replayed)
    fields: dict[str, Any] = {
        "name": call.session, "call": call, "same": replayed.same, "note": replayed.note, "part": part,
        "first": [message.view(out) for message in first], "left_out": left_out, "number": len(listed),
        "last": [message.view(out) for message in listed[-LAST_MESSAGES:]] if left_out else [],
        "next": begin + MESSAGES_MAX if 0 <= begin < len(listed) - MESSAGES_MAX else 0, "fragment": "messages.html",
    }  # fmt: skip
    return Page("sent.html", f"Call {call.call} as it was sent", fields, part="messages.html")


def compared(place: Place, asked: Asked) -> Page:
    """Show what entered, left and changed between two calls, and what of the later one a cache can reuse."""
    pointer, against = asked.text("pointer"), asked.text("against")
    replays = [_replayed(place, address) for address in (against, pointer)]
    calls_ = [place.memory.anatomy(address) for address in (against, pointer)]
    windows = [replay.window if replay.same else None for replay in replays]
    made = diff(*calls_, window_before=windows[0], window_after=windows[1])
    old, new = (list(_messages(replay.body)) for replay in replays)
    same = next((at for at, (first, second) in enumerate(zip(old, new, strict=False)) if first != second), len(old))
    reused: dict[str, int] = {}
    for message in new[: same if all(windows) else 0]:
        reused[message.part] = reused.get(message.part, 0) + message.bytes
    listed = {
        side: [{**place.line(place.memory.event(f"fh:{item.id}")), "tokens": item.tokens} for item in items[:ITEMS_MAX]]
        for side, items in (("came", made.came), ("went", made.left), ("resized", made.resized))
    }
    fields: dict[str, Any] = {
        "name": calls_[1].session, "call": calls_[1], "before": calls_[0], "sentences": made.sentences, "lists": listed,
        "numbers": {"came": len(made.came), "went": len(made.left), "resized": len(made.resized)},
        "difference": made, "reused": sum(reused.values()), "parts": _parts(calls_[1], calls_[0], reused),
        "fragment": "compared.html",
    }  # fmt: skip
    return Page("sent.html", f"Calls {calls_[0].call} and {calls_[1].call} compared", fields, part="compared.html")


def sent_bytes(place: Place, asked: Asked) -> Page:
    """Give exactly what was sent, where its hash is the recorded one; refuse it where it is not any more."""
    pointer = asked.text("pointer")
    replayed = _replayed(place, pointer)
    if not replayed.same:
        raise Unresolvable(f"the bytes of this call cannot be had back: {replayed.note}")
    return Page("", pointer, {"data": canonical.dump(dict(replayed.body))})


# what was recorded -----------------------------------------------------------------------------------


def _calls(place: Place, session: str) -> Iterator[Anatomy]:
    newest = place.memory.events(session, kind=Kind.ANATOMY, newest_first=True, limit=CALLS_MAX)
    for event in reversed([event for event in newest if not event.erased]):
        yield place.once(("anatomy", event.pointer), partial(from_event, event))


def _receipt(place: Place, call: Anatomy) -> Receipt | None:
    if not call.receipt:
        return None
    try:
        return from_json(place.memory.expand(call.receipt))
    except FirsthandError:  # erased since: None, and the page names its pointer
        return None


def _parts(call: Anatomy, before: Anatomy | None, reused: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    listed = []
    for name in _DRAWN:
        share = call.share(name)
        was = before.share(name) if before is not None else None
        if share.bytes or share.tokens or (was is not None and (was.bytes or was.tokens)):
            change = share.tokens - was.tokens if was is not None else None
            listed.append({
                "name": name, "style": _STYLES[name], "pieces": share.count, "tokens": share.tokens,
                "bytes": share.bytes, "change": change,
                "reused": min(1.0, (reused or {}).get(name, 0) / (share.bytes or 1)),
            })  # fmt: skip
    return listed


def _columns(place: Place, name: str, recorded: Sequence[Anatomy], chosen: int) -> dict[str, Any]:
    """Give all calls as columns, scaled to the budget; of very many the highest of each few."""
    group = -(-len(recorded) // COLUMNS_MAX)
    groups = (recorded[start : start + group] for start in range(0, len(recorded), group))
    highest = [max(each, key=lambda call: call.tokens) for each in groups]
    stacks = [
        {
            "place": place_, "href": f"{place.base}/calls?name={texts.query(name)}&call={call.call}",
            "title": f"call {call.call}: {call.tokens:,} of {call.budget_tokens:,} tokens",
            "parts": [
                (_STYLES[part], min(1.0, call.share(part).tokens / call.budget_tokens))
                for part in reversed(_DRAWN) if call.share(part).tokens
            ],
        }
        for place_, call in enumerate(highest)
    ]  # fmt: skip
    compacted = [later for later, pair in enumerate(pairwise(highest), 1) if pair[0].cycle != pair[1].cycle]
    budget = Budget(recorded[chosen].budget_tokens)
    limit = budget.high_tokens / budget.tokens_max
    step = next(step for step in (1, 5, 10, 20, 50, 100) if len(highest) <= TICKS_MAX * step)
    numbers = [(at, call.call) for at, call in enumerate(highest) if at == 0 or call.call % step == 0]
    return {
        "stacks": stacks, "chosen": chosen // group, "limit": limit, "compacted": compacted, "numbers": numbers,
    }  # fmt: skip


# replays ---------------------------------------------------------------------------------------------


def _replayed(place: Place, pointer: str) -> Replay:
    """Put a call together again; the last few are kept, since one is looked at beside the next."""
    known = cast("dict[str, Replay]", place.memo.get(("replays",), {}))
    replayed = known.get(pointer) or place.memory.replay(pointer)
    recent = [address for address in known if address != pointer][1 - REPLAYS_KEPT :]
    place.memo["replays",] = {**{address: known[address] for address in recent}, pointer: replayed}
    return replayed


def _words_out(place: Place, replayed: Replay) -> list[str]:
    """Give the texts of a window that no longer hold by the ledger; none are looked for while nothing is decided."""
    if not place.effect.decided:
        return []
    events = [place.memory.event(f"fh:{item.id}") for item in replayed.window.items]
    out = [event.text.strip() for event in events if not event.erased and place.effect.mark(event)]
    return [text for text in out if text]


@value
class _Message:
    """One message of a body, as what it is to the window."""

    number: int
    part: str
    style: str
    body: Any

    @property
    def bytes(self) -> int:
        return len(canonical.dump({"m": self.body})) - 6

    def view(self, out: Sequence[str]) -> dict[str, Any]:
        """Write it as a line, or that it no longer holds."""
        words = _words(self.body)
        is_out = any(text in words for text in out)
        return {
            "number": self.number, "part": self.part, "style": self.style, "out": is_out, "bytes": self.bytes,
            "line": "was sent, and no longer holds by the ledger" if is_out else texts.first_line(words, 200),
        }  # fmt: skip


def _messages(body: Mapping[str, Any]) -> Iterator[_Message]:
    """Give what was sent in its order: system and tools as one, then message by message."""
    if body.get("tools"):
        yield _Message(0, parts.TOOLS, "l", body["tools"])
    if body.get("system"):
        yield _Message(0, parts.SYSTEM, "o", body["system"])
    listed = body["input"] if "input" in body else body["messages"]
    for number, message in enumerate(listed, 1):
        newest = number == len(listed) and message.get("role") == "user"
        part, style = (parts.NEWEST, "u") if newest else _part_of(message)
        yield _Message(number, part, style, message)


def _part_of(message: dict[str, Any]) -> tuple[str, str]:
    """Say which part a message belongs to, by the shape that its provider gives it."""
    role, form = message.get("role", ""), message.get("type", "")
    blocks = message.get("content")
    inner = {block.get("type") for block in blocks if isinstance(block, dict)} if isinstance(blocks, list) else set()
    if _words(message).startswith("[Turn") and " evicted, nothing lost: " in _words(message)[:120]:
        return parts.MARKERS, "m"
    if role == "tool" or form.endswith("_output") or "tool_result" in inner:
        return parts.HISTORY_PARTS[Kind.TOOL_RESULT], "r"
    if message.get("tool_calls") or form.endswith("_call") or "tool_use" in inner:
        return parts.HISTORY_PARTS[Kind.TOOL_CALL], "c"
    if role in {"system", "developer"}:
        return parts.SYSTEM, "o"
    kind = Kind.USER_MESSAGE if role == "user" else Kind.REASONING if form == "reasoning" else Kind.AGENT_MESSAGE
    return parts.HISTORY_PARTS[kind], texts.kind_class(kind)


def _words(message: Any) -> str:
    """Give the words of a message for one line; JSON of what has none."""
    if isinstance(message, str):
        return message
    if isinstance(message, list):
        return " ".join(_words(block) for block in message[:20])
    if not isinstance(message, dict):
        return str(message)
    name = f"{message['name']} " if isinstance(message.get("name"), str) else ""
    inner = [message[field] for field in _WORDED if message.get(field)]
    return name + " ".join(map(_words, inner)) if inner else name + json.dumps(message, ensure_ascii=False)[:400]


# sessions of hosts -----------------------------------------------------------------------------------


def _host_fields(place: Place, session: str) -> dict[str, Any]:
    """Give what is known where no request was recorded: the usage that a transcript names, and what was volunteered."""
    volunteered = [
        {**place.line(event), "surface": str(event.meta.get("event", "")), "pointers": pointers[:12]}
        for event in place.memory.events(session, kind=Kind.INJECTION, newest_first=True, limit=100)
        for pointers in [strings(injections.fields_of(event).get("shown"))]
    ]
    usage = [*_usage(place, session)]
    most = max((sum(numbers[:3]) for _, numbers in usage), default=0)
    group = -(-len(usage) // COLUMNS_MAX) or 1
    groups = (usage[start : start + group] for start in range(0, len(usage), group))
    highest = [max(each, key=lambda reply: sum(reply[1][:3])) for each in groups]
    stacks = [
        {
            "place": place_, "href": f"{place.base}/event?pointer={texts.query(event.pointer)}",
            "title": f"turn {event.turn}: {sum(numbers[:3]):,} tokens in, {numbers[3]:,} out",
            "parts": [(style, number / most) for style, number in zip("rcl", numbers[:3], strict=True) if number],
        }
        for place_, (event, numbers) in enumerate(highest)
    ]  # fmt: skip
    return {"volunteered": volunteered, "usage": len(usage), "most": most, "stacks": stacks}


def _usage(place: Place, session: str) -> Iterator[tuple[Event, tuple[int, int, int, int]]]:
    """Yield the replies whose transcript names what they cost: read from a cache, written to it, new, answered."""
    newest = list(place.memory.events(session, newest_first=True, limit=USAGE_EVENTS_MAX))
    for event in reversed(newest):
        usage = event.meta.get("usage")
        if isinstance(usage, dict):
            read, written, new, answered = (
                next((usage[name] for name in pair if isinstance(usage.get(name), int)), 0) for pair in _USAGE
            )
            yield event, (read, written, new, answered)
