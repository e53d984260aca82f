"""The commands session window and session anatomy: what a next prompt would hold, and what models were sent.

They read only: nothing is compacted or recorded. A CALL is the number of a call of a session, or the pointer of its
record. The inspector shows the same with every item: `firsthand inspect SESSION`.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from itertools import pairwise
from typing import Any

from firsthand import Anatomy, Kind, Memory, Receipt, SessionWindow, Unresolvable
from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import session_in, to_read
from firsthand.context import task_text
from firsthand.context.anatomy_use import use_of
from firsthand.context.replay import difference
from firsthand.json_codec import to_json
from firsthand.tokens import estimate

BUDGET_TOKENS = 200_000  # of a session that no window was kept for
TASK_TOKENS_MAX = 4_000
ITEMS_SHOWN = 40
PAPER_PERCENT = 22
_ACTIONS = {"diff": 2, "replay": 1}
"""How many calls each takes."""
_NONE = (
    "no call was recorded here; a window records each before it is sent: memory.session(NAME).window(TOKENS).request()"
)


def add(group: Parser) -> None:
    """Add the commands to the group session."""
    command = group.command(
        "window", _window, "Show a session's context window, and why each item is in it.",
        """
        firsthand session window deploy
        firsthand session window deploy --budget 8000               as it would be under another budget
        firsthand session window deploy --receipt fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY    what one compaction took out, and why
        """,
    )  # fmt: skip
    command.add_argument("session", metavar="SESSION", help="the session")
    command.add_argument(
        "--budget", type=number(1, 100_000_000), metavar="TOKENS", help="default: that of its newest call"
    )
    command.add_argument("--receipt", metavar="POINTER", help="only this receipt")
    command = group.command(
        "anatomy", _anatomy, "Show what models were sent, call by call, and why it grew.",
        """
        firsthand session anatomy                       the calls of the session that had the newest one
        firsthand session anatomy deploy                those of this session
        firsthand session anatomy diff 11 12            why the prompt grew; none given: the newest two
        firsthand session anatomy replay 12 | sha256sum     exactly what was sent
        """,
    )  # fmt: skip
    command.add_argument("words", nargs="*", metavar="WHAT", help="a session; or diff, replay, as in the examples")
    command.add_argument("--session", metavar="NAME", help="whose calls the numbers count; default: the newest call's")
    command.add_argument("--limit", type=number(0), default=40, metavar="N", help="most lines, default 40; 0 for all")


# the window ------------------------------------------------------------------------------------------


def _window(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        session = memory.session(session_in(memory, chosen.session))
        newest = next(memory.anatomies(chosen.session, newest_first=True), None)
        budget = chosen.budget or (newest.budget_tokens if newest is not None else BUDGET_TOKENS)
        window = session.window(budget, pull=False)
        if chosen.receipt is not None:
            receipt = window.receipt(chosen.receipt)
            out.json(_receipt(chosen.receipt, receipt)) if out.as_json else out.line(shown(receipt.text, lines=True))
            return DONE
        receipts = [f"fh:{event.id}" for event in memory.events(chosen.session, kind=Kind.RECEIPT) if not event.erased]
        stays = window.stays()
        if out.as_json:
            receipts_json = [_receipt(pointer, window.receipt(pointer)) for pointer in receipts]
            out.json({**_state(window), "session": chosen.session, "task": window.task, "receipts": receipts_json})
            return DONE
        if newest is None and chosen.budget is None:
            out.remark(f"no window was kept for this session; shown under {budget:,} tokens, --budget takes others")
        _say_window(window, receipts, out)
    rows: list[tuple[str, ...]] = [("turn", "tokens", "kind", "event", "why it is there")]
    for stay in stays[-ITEMS_SHOWN:]:
        item, reason = stay.item, stay.reason + (", shortened" if stay.item.shortened else "")
        rows.append((f"{item.turn}", f"{item.tokens:,}", item.kind, f"fh:{item.id}", reason))
    out.table(rows, {0, 1})
    if len(stays) > ITEMS_SHOWN:
        out.remark(f"{len(stays) - ITEMS_SHOWN:,} earlier items: --json")
    return DONE


def _state(window: SessionWindow) -> dict[str, Any]:
    """Give a window as JSON: its budget, markers, and items with the reason why each is there."""
    state, budget = window.state, window.budget
    marks = {"high_tokens": budget.high_tokens, "low_tokens": budget.low_tokens}
    return {
        **to_json(state), "tokens": state.tokens, "budget": to_json(budget) | marks,
        "markers": [to_json(marker) | {"text": marker.text} for marker in state.markers],
        "items": [
            to_json(stay.item) | {"pointer": f"fh:{stay.item.id}", "reason": stay.reason, "protected": stay.protected}
            for stay in window.stays()
        ],
    }  # fmt: skip


def _receipt(pointer: str, receipt: Receipt) -> dict[str, Any]:
    return {**to_json(receipt), "pointer": pointer, "text": receipt.text}


def _say_window(window: SessionWindow, receipts: list[str], out: Output) -> None:
    state, budget = window.state, window.budget
    out.line(
        f"{state.tokens:,} of {budget.tokens_max:,} tokens in {count(len(state.items), 'event')} and "
        f"{count(len(state.markers), 'marker')}; {count(state.cycle, 'compaction')}; the next one above "
        f"{budget.high_tokens:,}, down to {budget.low_tokens:,}"
    )
    if state.tokens > budget.high_tokens:
        out.remark("the next request compacts it first")
    text = task_text.text(window.task, tokens_max=TASK_TOKENS_MAX, count=estimate)
    out.line(shown(text, lines=True) if text else "task state: nothing yet")
    for marker in state.markers:
        out.line(shown(marker.text))
    for pointer in receipts[-1:]:
        out.remark(f"{count(len(receipts), 'receipt')}; what left last, and why: --receipt {pointer}")


# calls -----------------------------------------------------------------------------------------------


def _anatomy(chosen: argparse.Namespace, out: Output) -> int:
    """Show what was sent to models."""
    action, *words = chosen.words or [""]
    if action not in _ACTIONS:
        action, words = "list", chosen.words
    wanted = _ACTIONS.get(action, 1)
    if len(words) > wanted or (wanted == 2 and len(words) == 1):
        single = "one session" if action == "list" else "one call"
        takes = "two calls, or none for the last two" if wanted == 2 else single
        out.warn(f"firsthand: session anatomy {action} takes {takes}; got {shown(' '.join(words))!r}")
        return USAGE
    with to_read(chosen) as memory:
        if action == "list":
            return _list(memory, words[0] if words else chosen.session, chosen.limit, out)
        calls = _calls(memory, words, chosen.session, wanted)
        if len(calls) < wanted:
            why = "this session has one call only, so there is no difference" if calls else _NONE
            out.warn(f"firsthand: {why}")
            return NOTHING_FOUND
        if action == "diff":
            return _diff(memory, calls[0], calls[1], out)
        return _replay(memory, calls[0], out)


def _calls(memory: Memory, words: list[str], session: str | None, newest: int) -> list[Anatomy]:
    """Find the calls that were named, or a session's newest ones, oldest first."""
    name = _session(memory, session)
    if words:
        return [_call(memory, word, name) if word.isdecimal() else memory.anatomy(word) for word in words]
    latest: deque[Anatomy] = deque(maxlen=newest)
    if name is not None:
        latest.extend(memory.anatomies(name))
    return [*latest]


def _call(memory: Memory, word: str, session: str | None) -> Anatomy:
    for anatomy in memory.anatomies(session, newest_first=True) if session is not None else ():
        if anatomy.call == int(word):
            return anatomy
    where = f"session {session!r}" if session is not None else f"namespace {memory.namespace!r}"
    raise Unresolvable(f"no call {word} is recorded in {where}; see them all: firsthand session anatomy")


def _session(memory: Memory, session: str | None) -> str | None:
    """Give the session that was named, or that of the newest call; None when there is no call."""
    newest = None if session is not None else next(memory.anatomies(newest_first=True), None)
    return newest.session if newest is not None else session


def _list(memory: Memory, session: str | None, limit: int, out: Output) -> int:
    name = _session(memory, session)
    calls = [*memory.anatomies(name)] if name is not None else []
    if not calls:
        out.warn(f"firsthand: {_NONE}")
        return NOTHING_FOUND
    growths = [0, *(later.tokens - earlier.tokens for earlier, later in pairwise(calls))]
    rows = [*zip(calls, growths, strict=True)][-limit or None :]
    if out.as_json:
        for anatomy, growth in rows:
            out.json(_record(anatomy) | {"growth_tokens": growth})
        return DONE
    out.line(out.style(f"session {shown(calls[0].session)}", "strong"))
    lines: list[tuple[str, ...]] = [("call", "turn", "cycle", "markers", "tokens", "used", "growth", "topic")]
    lines += [
        (
            f"{call.call}", f"{call.turn}", f"{call.cycle}", f"{call.marker_count}", f"{call.tokens:,}",
            f"{call.utilisation_percent:g} %", f"{growth:+,}", shown(call.topic or "-"),
        )
        for call, growth in rows
    ]  # fmt: skip
    out.table(lines, range(7))
    if len(rows) < len(calls):
        out.remark(f"{len(calls) - len(rows):,} earlier ones: --limit 0")
    use = use_of(calls)
    out.remark(
        f"recall or expand was asked for in {use.calls_using:,} of {count(use.calls, 'call')}, {use.turns_using:,} of "
        f"{count(use.turns, 'turn')} ({use.turns_percent:g} %); the paper: {PAPER_PERCENT} % of turns"
    )
    out.remark("each by its parts: --json, or firsthand inspect; why it grew: session anatomy diff CALL CALL")
    return DONE


def _record(call: Anatomy) -> dict[str, Any]:
    """Give the record of a call as JSON; under ``paper`` its fields as the paper names them (total-recall A.4)."""
    sums = {"tokens": call.tokens, "utilisation_percent": call.utilisation_percent}
    return {**to_json(call), **sums, "paper": call.fields_of_the_paper}


def _diff(memory: Memory, before: Anatomy, after: Anatomy, out: Output) -> int:
    made = difference(memory, before.pointer, after.pointer)
    if out.as_json:
        sums = {"tokens": made.tokens, "bytes": made.bytes, "compactions": made.compactions}
        calls = {"before": made.before.pointer, "after": made.after.pointer}
        out.json(to_json(made) | sums | calls | {"sentences": made.sentences})
        return DONE
    for sentence in made.sentences:
        out.line(shown(sentence))
    if made.changes:
        out.line()
        rows = [("part", f"call {made.before.call}", f"call {made.after.call}", "tokens", "bytes")]
        rows += [
            (change.name, f"{change.tokens_before:,}", f"{change.tokens_after:,}", f"{change.tokens:+,}",
             f"{change.bytes:+,}")
            for change in made.changes
        ]  # fmt: skip
        rows.append(
            ("all", f"{made.before.tokens:,}", f"{made.after.tokens:,}", f"{made.tokens:+,}", f"{made.bytes:+,}")
        )
        out.table(rows, {1, 2, 3, 4}, whole=True)
    return DONE


def _replay(memory: Memory, anatomy: Anatomy, out: Output) -> int:
    """Give what was sent: its exact bytes to a pipe, readable on a terminal."""
    replayed = memory.replay(anatomy.pointer)
    if out.as_json:
        out.json({"pointer": anatomy.pointer, "same": replayed.same, "note": replayed.note, "body": replayed.body})
    elif out.terminal:
        out.line(shown(json.dumps(replayed.body, ensure_ascii=False, indent=2), lines=True))
    else:
        body = json.dumps(replayed.body, ensure_ascii=False, separators=(",", ":"))
        out.binary.write(body.encode("utf-8", "surrogatepass"))
        out.binary.flush()
    (out.remark if replayed.same else out.warn)(f"firsthand: {shown(replayed.note)}")
    return DONE if replayed.same else DAMAGED
