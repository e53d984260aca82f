"""The command session anatomy: which calls a model was sent, what each was made of, why the next was larger.

    firsthand session anatomy [SESSION]         a line a call, oldest first
    firsthand session anatomy show [CALL]       one call as a bar
    firsthand session anatomy diff [CALL CALL]  what came and left between two
    firsthand session anatomy replay [CALL]     exactly what was sent
    firsthand session anatomy export [SESSION]  the records as JSON lines

A CALL is the number of a call of a session, or the pointer of its record.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from firsthand import Anatomy, Memory, Unresolvable
from firsthand.cli import json_forms
from firsthand.cli.argument_values import number
from firsthand.cli.arguments import Parser
from firsthand.cli.bars import FREE, LETTERS, gauge, runs
from firsthand.cli.display import clock, count, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read
from firsthand.context.anatomy_diff import Difference
from firsthand.context.anatomy_use import use_of
from firsthand.context.replay import difference

COLUMNS = 80  # of a drawing, whatever the terminal
PAPER_PERCENT = 22
_GAUGE = 14
_ACTIONS = ("show", "diff", "replay", "export")
_STYLES = ("name", "good", "warn", "mark", "bad", "strong")


def add(group: Parser) -> None:
    """Add the command to the group session."""
    command = group.command(
        "anatomy", _anatomy, "Show what models were sent, call by call, and why it grew.",
        """
        firsthand session anatomy                       the calls of the session that had the newest one
        firsthand session anatomy deploy                those of this session
        firsthand session anatomy show 12               one call as a bar; none given: the newest
        firsthand session anatomy diff 11 12            why the prompt grew; none given: the newest two
        firsthand session anatomy replay 12 | sha256sum     exactly what was sent
        firsthand session anatomy export > calls.jsonl  every record of every session
        """,
    )  # fmt: skip
    command.add_argument(
        "words", nargs="*", metavar="WHAT", help="a session; or show, diff, replay, export, as in the examples"
    )
    command.add_argument("--session", metavar="NAME", help="whose calls the numbers count; default: the newest call's")
    command.add_argument("--limit", type=number(0), default=40, metavar="N", help="most lines, default 40; 0 for all")


def _anatomy(chosen: argparse.Namespace, out: Output) -> int:
    """Show what was sent to models."""
    action, *words = chosen.words or [""]
    if action not in _ACTIONS:
        action, words = "list", chosen.words
    if len(words) > {"diff": 2}.get(action, 1) or (action == "diff" and len(words) == 1):
        wanted = {"diff": "two calls, or none for the last two", "list": "one session", "export": "one session"}
        takes = wanted.get(action, "one call")
        out.warn(f"firsthand: session anatomy {action} takes {takes}; got {shown(' '.join(words))!r}")
        return USAGE
    with to_read(chosen) as memory:
        if action == "export":
            return _export(memory, words[0] if words else chosen.session, out)
        if action == "list":
            return _list(memory, words[0] if words else chosen.session, chosen.limit, out)
        calls = _calls(memory, words, chosen.session, 2 if action == "diff" else 1)
        if len(calls) < (2 if action == "diff" else 1):
            out.warn(
                f"firsthand: {_NONE if not calls else 'this session has one call only, so there is no difference'}"
            )
            return NOTHING_FOUND
        if action == "diff":
            return _diff(memory, calls[0], calls[1], out)
        return _show(calls[0], out) if action == "show" else _replay(memory, calls[0], out)


_NONE = (
    "no call was recorded here; a window records each before it is sent: memory.session(NAME).window(TOKENS).request()"
)


# which call ----------------------------------------------------------------------------------------


def _calls(memory: Memory, words: list[str], session: str | None, newest: int) -> list[Anatomy]:
    """Find the calls that were named, or a session's newest ones, oldest first."""
    if words:
        return [_call(memory, word, session) for word in words]
    name = _session(memory, session)
    if name is None:
        return []
    found: deque[Anatomy] = deque()
    for one in memory.anatomies(name, newest_first=True):
        found.appendleft(one)
        if len(found) == newest:
            break
    return [*found]


def _call(memory: Memory, word: str, session: str | None) -> Anatomy:
    if not word.isdecimal():
        return memory.anatomy(word)
    name = _session(memory, session)
    for one in memory.anatomies(name, newest_first=True) if name is not None else ():
        if one.call == int(word):
            return one
    where = f"session {name!r}" if name is not None else f"namespace {memory.namespace!r}"
    raise Unresolvable(f"no call {word} is recorded in {where}; see them all: firsthand session anatomy")


def _session(memory: Memory, session: str | None) -> str | None:
    """Give the session that was named, or that of the newest call; None when there is no call."""
    if session is not None:
        return session
    newest = next(memory.anatomies(newest_first=True), None)
    return newest.session if newest is not None else None


# list and export -----------------------------------------------------------------------------------


def _list(memory: Memory, session: str | None, limit: int, out: Output) -> int:
    name = _session(memory, session)
    calls = [*memory.anatomies(name)] if name is not None else []
    if not calls:
        out.warn(f"firsthand: {_NONE}")
        return NOTHING_FOUND
    tokens = [one.tokens for one in calls]
    growths = [0, *(later - earlier for earlier, later in pairwise(tokens))]
    first = max(0, len(calls) - limit) if limit else 0
    rows = [*zip(calls, growths, strict=True)][first:]
    use = use_of(calls)
    if out.as_json:
        for one, growth in rows:
            out.json(json_forms.of_anatomy(one) | {"growth_tokens": growth})
        return DONE
    out.line(out.style(f"session {shown(calls[0].session)}", "strong"))
    lines: list[tuple[str, ...]] = [("call", "turn", "cycle", "markers", "tokens", "used", "", "growth", "topic")]
    lines += [_row(one, growth) for one, growth in rows]
    out.table(lines, {0, 1, 2, 3, 4, 5, 7})
    if first:
        out.remark(f"{first:,} earlier ones: --limit 0")
    if use.calls:
        out.remark(
            f"recall or expand was asked for in {use.calls_using:,} of {count(use.calls, 'call')} "
            f"({use.calls_percent:g} %), {use.turns_using:,} of {count(use.turns, 'turn')} ({use.turns_percent:g} %); "
            f"the paper: {PAPER_PERCENT} % of turns"
        )
    out.remark(
        "look at one: firsthand session anatomy show CALL; why it grew: firsthand session anatomy diff CALL CALL"
    )
    return DONE


def _row(one: Anatomy, growth: int) -> tuple[str, ...]:
    topic = shown(one.topic) if one.topic else "-"
    return (
        f"{one.call}",
        f"{one.turn}",
        f"{one.cycle}",
        f"{one.marker_count}",
        f"{one.tokens:,}",
        f"{one.utilisation_percent:g} %",
        f"[{gauge(one.tokens, one.budget_tokens, 10)}]",
        f"{growth:+,}",
        f"{'now: ' if one.transition else ''}{topic}",
    )


def _export(memory: Memory, session: str | None, out: Output) -> int:
    records = 0
    for call in memory.anatomies(session):
        out.json(json_forms.of_anatomy(call))
        records += 1
    if not records:
        out.warn(f"firsthand: {_NONE}")
        return NOTHING_FOUND
    out.remark(f"{count(records, 'record')}, a line each")
    return DONE


# show ----------------------------------------------------------------------------------------------


def _show(one: Anatomy, out: Output) -> int:
    if out.as_json:
        out.json(json_forms.of_anatomy(one))
        return DONE
    out.line(
        out.style(
            f"call {one.call:,} of session {shown(one.session)}, turn {one.turn:,}, cycle {one.cycle:,}", "strong"
        )
    )
    model = f" to {shown(one.model)}" if one.model else ""
    out.line(out.style(f"{clock(one.time)}  {shown(one.format)}{model}  {one.pointer}", "faint"))
    topic = f"topic: {shown(one.topic)}" if one.topic else "topic: not clear yet"
    out.line(topic + (", since this call" if one.transition else ""))
    over = one.tokens - one.budget_tokens
    left = f"{over:,} over it" if over > 0 else f"{-over:,} free"
    out.line(
        f"{one.tokens:,} of {one.budget_tokens:,} tokens ({one.utilisation_percent:g} %, {left}; counted by "
        f"{shown(one.counter)}), {size(one.bytes)}"
    )
    for line in _drawn(one, out):
        out.line(line)
    asked = " and ".join(f"{calls:,} {name}" for name, calls in (("recall", one.recalls), ("expand", one.expands)))
    out.line(f"{count(one.events, 'event')} of the history; since the call before the model asked for {asked}")
    for marker in one.markers:
        out.line(f"marker {marker}")
    if one.receipt:
        out.line(f"last compaction: firsthand session window {shown(one.session)} --receipt {one.receipt}")
    out.remark(f"exactly what was sent: firsthand session anatomy replay {one.pointer}")
    return DONE


def _drawn(one: Anatomy, out: Output) -> Iterator[str]:
    """Draw the bar, and under it a line for each part."""
    free = one.budget_tokens - one.tokens
    tokens = [(share.name, share.tokens) for share in one.shares] + [(FREE, free)]
    styles = {share.name: _STYLES[number % len(_STYLES)] for number, share in enumerate(one.shares)}
    bar = runs(tokens, COLUMNS - 2)
    yield "[" + "".join(out.style(run.text, styles.get(run.name, "faint")) for run in bar) + "]"
    most = max((share.tokens for share in one.shares), default=0)
    for share in one.shares:
        letter = out.style(LETTERS[share.name], styles[share.name])
        percent = f"{100 * share.tokens / one.budget_tokens:.1f} %"
        line = (
            f"  {share.name:<24}{share.tokens:>10,} tokens {percent:>8}{size(share.bytes):>11}"
            f"  {gauge(share.tokens, most, _GAUGE)}"
        )
        yield letter + line.rstrip()
    if free > 0:
        yield f"{LETTERS[FREE]}  {FREE:<24}{free:>10,} tokens {f'{100 * free / one.budget_tokens:.1f} %':>8}"


# diff ----------------------------------------------------------------------------------------------


def _diff(memory: Memory, before: Anatomy, after: Anatomy, out: Output) -> int:
    found = difference(memory, before.pointer, after.pointer)
    if out.as_json:
        out.json(json_forms.of_difference(found))
        return DONE
    for sentence in found.sentences:
        out.line(shown(sentence))
    if found.changes:
        out.line()
        out.table([*_changes(found)], {1, 2, 3, 4}, whole=True)
    return DONE


def _changes(found: Difference) -> Iterator[tuple[str, ...]]:
    yield "part", f"call {found.before.call}", f"call {found.after.call}", "tokens", "bytes"
    for one in found.changes:
        yield one.name, f"{one.tokens_before:,}", f"{one.tokens_after:,}", f"{one.tokens:+,}", f"{one.bytes:+,}"
    yield "all", f"{found.before.tokens:,}", f"{found.after.tokens:,}", f"{found.tokens:+,}", f"{found.bytes:+,}"


# replay --------------------------------------------------------------------------------------------


def _replay(memory: Memory, one: Anatomy, out: Output) -> int:
    """Give what was sent: its exact bytes to a pipe, readable on a terminal."""
    found = memory.replay(one.pointer)
    if out.as_json:
        out.json({"pointer": one.pointer, "same": found.same, "note": found.note, "body": found.body})
    elif out.terminal:
        for line in _readable(found.body):
            out.line(line)
    else:
        body = json.dumps(found.body, ensure_ascii=False, separators=(",", ":"))
        out.binary.write(body.encode("utf-8", "surrogatepass"))
        out.binary.flush()
    (out.remark if found.same else out.warn)(f"firsthand: {shown(found.note)}")
    return DONE if found.same else DAMAGED


def _readable(body: Any) -> Iterator[str]:
    """Write a request for reading: a heading for each message, its texts as lines, all else as JSON."""
    for name, held in body.items():
        entries = held if isinstance(held, list) else [held]
        for place, entry in enumerate(entries, 1):
            of = f" {place} of {len(entries)}" if isinstance(held, list) else ""
            role = entry.get("role", entry.get("type", "")) if isinstance(entry, dict) else ""
            yield f"--- {shown(name)}{of} {shown(str(role))}".rstrip()
            yield from _texts(entry)


def _texts(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield shown(entry, lines=True)
    elif isinstance(entry, list):
        for one in entry:
            yield from _texts(one)
    elif isinstance(entry, dict):
        text = entry.get("content", entry.get("text"))
        rest = {key: one for key, one in entry.items() if one is not text and key not in {"role", "type"}}
        if text is not None:
            yield from _texts(text)
        if rest:
            yield shown(json.dumps(rest, ensure_ascii=False), lines=True)
    else:
        yield shown(json.dumps(entry))
