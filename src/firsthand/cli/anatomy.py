"""The command session anatomy: which calls a model was sent, what each was made of, why the next was larger.

A CALL is the number of a call of a session, or the pointer of its record.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from firsthand import Anatomy, Memory, Unresolvable
from firsthand.cli import json_forms
from firsthand.cli.argument_values import number
from firsthand.cli.arguments import Parser
from firsthand.cli.display import clock, count, gauge, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read
from firsthand.context.anatomy_diff import Difference
from firsthand.context.anatomy_use import use_of
from firsthand.context.replay import difference

PAPER_PERCENT = 22
_GAUGE = 14
_ACTIONS = ("show", "diff", "replay")


def add(group: Parser) -> None:
    """Add the command to the group session."""
    command = group.command(
        "anatomy", _anatomy, "Show what models were sent, call by call, and why it grew.",
        """
        firsthand session anatomy                       the calls of the session that had the newest one
        firsthand session anatomy deploy                those of this session
        firsthand session anatomy show 12               one call by its parts; none given: the newest
        firsthand session anatomy diff 11 12            why the prompt grew; none given: the newest two
        firsthand session anatomy replay 12 | sha256sum     exactly what was sent
        firsthand session anatomy --json --limit 0      every record, as JSON lines
        """,
    )  # fmt: skip
    command.add_argument(
        "words", nargs="*", metavar="WHAT", help="a session; or show, diff, replay, as in the examples"
    )
    command.add_argument("--session", metavar="NAME", help="whose calls the numbers count; default: the newest call's")
    command.add_argument("--limit", type=number(0), default=40, metavar="N", help="most lines, default 40; 0 for all")


def _anatomy(chosen: argparse.Namespace, out: Output) -> int:
    """Show what was sent to models."""
    action, *words = chosen.words or [""]
    if action not in _ACTIONS:
        action, words = "list", chosen.words
    if len(words) > {"diff": 2}.get(action, 1) or (action == "diff" and len(words) == 1):
        wanted = {"diff": "two calls, or none for the last two", "list": "one session"}
        takes = wanted.get(action, "one call")
        out.warn(f"firsthand: session anatomy {action} takes {takes}; got {shown(' '.join(words))!r}")
        return USAGE
    with to_read(chosen) as memory:
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
    calls: deque[Anatomy] = deque()
    for anatomy in memory.anatomies(name, newest_first=True):
        calls.appendleft(anatomy)
        if len(calls) == newest:
            break
    return [*calls]


def _call(memory: Memory, word: str, session: str | None) -> Anatomy:
    if not word.isdecimal():
        return memory.anatomy(word)
    name = _session(memory, session)
    for anatomy in memory.anatomies(name, newest_first=True) if name is not None else ():
        if anatomy.call == int(word):
            return anatomy
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
    tokens = [call.tokens for call in calls]
    growths = [0, *(later - earlier for earlier, later in pairwise(tokens))]
    first = max(0, len(calls) - limit) if limit else 0
    rows = [*zip(calls, growths, strict=True)][first:]
    use = use_of(calls)
    if out.as_json:
        for anatomy, growth in rows:
            out.json(json_forms.of_anatomy(anatomy) | {"growth_tokens": growth})
        return DONE
    out.line(out.style(f"session {shown(calls[0].session)}", "strong"))
    lines: list[tuple[str, ...]] = [("call", "turn", "cycle", "markers", "tokens", "used", "", "growth", "topic")]
    lines += [_row(anatomy, growth) for anatomy, growth in rows]
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


def _row(anatomy: Anatomy, growth: int) -> tuple[str, ...]:
    topic = shown(anatomy.topic) if anatomy.topic else "-"
    return (
        f"{anatomy.call}",
        f"{anatomy.turn}",
        f"{anatomy.cycle}",
        f"{anatomy.marker_count}",
        f"{anatomy.tokens:,}",
        f"{anatomy.utilisation_percent:g} %",
        f"[{gauge(anatomy.tokens, anatomy.budget_tokens, 10)}]",
        f"{growth:+,}",
        f"{'now: ' if anatomy.transition else ''}{topic}",
    )


# show ----------------------------------------------------------------------------------------------


def _show(anatomy: Anatomy, out: Output) -> int:
    if out.as_json:
        out.json(json_forms.of_anatomy(anatomy))
        return DONE
    out.line(
        out.style(
            f"call {anatomy.call:,} of session {shown(anatomy.session)}, turn {anatomy.turn:,}, "
            f"cycle {anatomy.cycle:,}",
            "strong",
        )
    )
    model = f" to {shown(anatomy.model)}" if anatomy.model else ""
    out.line(out.style(f"{clock(anatomy.time)}  {shown(anatomy.format)}{model}  {anatomy.pointer}", "faint"))
    topic = f"topic: {shown(anatomy.topic)}" if anatomy.topic else "topic: not clear yet"
    out.line(topic + (", since this call" if anatomy.transition else ""))
    over = anatomy.tokens - anatomy.budget_tokens
    left = f"{over:,} over it" if over > 0 else f"{-over:,} free"
    out.line(
        f"{anatomy.tokens:,} of {anatomy.budget_tokens:,} tokens ({anatomy.utilisation_percent:g} %, {left}; "
        f"counted by {shown(anatomy.counter)}), {size(anatomy.bytes)}"
    )
    for line in _parts(anatomy):
        out.line(line)
    asked = " and ".join(
        f"{calls:,} {name}" for name, calls in (("recall", anatomy.recalls), ("expand", anatomy.expands))
    )
    out.line(f"{count(anatomy.events, 'event')} of the history; since the call before the model asked for {asked}")
    for marker in anatomy.markers:
        out.line(f"marker {marker}")
    if anatomy.receipt:
        out.line(f"last compaction: firsthand session window {shown(anatomy.session)} --receipt {anatomy.receipt}")
    out.remark(f"exactly what was sent: firsthand session anatomy replay {anatomy.pointer}")
    return DONE


def _parts(call: Anatomy) -> Iterator[str]:
    """Give a line for each part of the prompt, and one for what is free."""
    most = max((share.tokens for share in call.shares), default=0)
    parts = [(share.name, share.tokens, size(share.bytes)) for share in call.shares]
    free = call.budget_tokens - call.tokens
    for name, tokens, size_bytes in [*parts, *([("free", free, "")] if free > 0 else [])]:
        percent = f"{100 * tokens / call.budget_tokens:.1f} %"
        drawn = gauge(tokens, most, _GAUGE) if size_bytes else ""
        yield f"  {name:<24}{tokens:>10,} tokens {percent:>8}{size_bytes:>11}  {drawn}".rstrip()


# diff ----------------------------------------------------------------------------------------------


def _diff(memory: Memory, before: Anatomy, after: Anatomy, out: Output) -> int:
    made = difference(memory, before.pointer, after.pointer)
    if out.as_json:
        out.json(json_forms.of_difference(made))
        return DONE
    for sentence in made.sentences:
        out.line(shown(sentence))
    if made.changes:
        out.line()
        out.table([*_changes(made)], {1, 2, 3, 4}, whole=True)
    return DONE


def _changes(difference: Difference) -> Iterator[tuple[str, ...]]:
    yield "part", f"call {difference.before.call}", f"call {difference.after.call}", "tokens", "bytes"
    for change in difference.changes:
        yield (
            change.name,
            f"{change.tokens_before:,}",
            f"{change.tokens_after:,}",
            f"{change.tokens:+,}",
            f"{change.bytes:+,}",
        )
    yield (
        "all",
        f"{difference.before.tokens:,}",
        f"{difference.after.tokens:,}",
        f"{difference.tokens:+,}",
        f"{difference.bytes:+,}",
    )


# replay --------------------------------------------------------------------------------------------


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
