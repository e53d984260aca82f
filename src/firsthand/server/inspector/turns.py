"""A session's events as a person reads them: turns of rows, a call and its result in one row.

The invariant: every event of a turn is in one of its rows or counted by the row that stands
for it; a failure is always a row of its own.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from firsthand.event import Event, Kind
from firsthand.formats import commands
from firsthand.moment import Moment
from firsthand.server.inspector import texts
from firsthand.server.inspector.texts import Cut, Room
from firsthand.value import value

GAP_US = 5 * 60 * 1_000_000
ROWS_MAX = 40
ROWS_AT_END = 5
DIFF_LINES_MAX = 60
_DIFFERING_CHARACTERS_MAX = 20_000
_EDITS = (("old_string", "new_string"), ("oldText", "newText"), ("old_str", "new_str"), ("old", "new"))
_SIGNS = (*(f'"{new}"' for _, new in _EDITS), "*** Begin Patch")
COMPACTIONS = frozenset({Kind.SUMMARY, Kind.RECEIPT})
SAID = frozenset({Kind.USER_MESSAGE, Kind.AGENT_MESSAGE})


@value(frozen=False, eq=False)
class Row:
    """One row of an opened turn: an event, or a call with its result and how it failed.

    ``times`` counts the same call made in a row, ``action`` is its command or file, and an edit gives old and new
    text, or a patch.
    """

    event: Event
    result: Event | None = None
    failure: commands.Failure | None = None
    times: int = 1
    action: str = ""
    is_edit: bool = False
    tool: str = ""


@value(frozen=False, eq=False)
class Turn:
    """One turn: its events in order, the rows that stand for them, positions of results that tell of a failure."""

    number: int
    events: list[Event]
    rows: list[Row]
    failed: frozenset[int] = frozenset()

    @property
    def words(self) -> str:
        """What the user said first in it."""
        return next((event.text for event in self.events if event.kind is Kind.USER_MESSAGE), "")

    @property
    def times(self) -> list[Moment]:
        """When its events happened, as far as that is known."""
        return [event.time for event in self.events if event.time is not None]


def turns_of(events: Iterable[Event]) -> list[Turn]:
    """Sort events into turns."""
    groups: list[list[Event]] = []
    for event in events:
        if not groups or groups[-1][0].turn != event.turn:
            groups.append([])
        groups[-1].append(event)
    turns = []
    for group in groups:
        rows = list(_joined(_rows(group)))
        failed = frozenset(row.result.position for row in rows if row.failure is not None and row.result is not None)
        turns.append(Turn(group[0].turn, group, rows, failed))
    return turns


def _rows(events: Sequence[Event]) -> Iterator[Row]:
    """Join each result to its call."""
    calls: dict[str, Row] = {}
    for event in events:
        name = str(event.meta.get("call_id", ""))
        if event.kind is Kind.TOOL_RESULT and name in calls and calls[name].result is None:
            row = calls[name]
            row.result = event
            row.failure = commands.failure(event.meta, event.text, row.action)
            continue
        row = Row(event, tool=str(event.meta.get("tool", "")))
        if event.kind is Kind.TOOL_CALL:
            row.action, row.is_edit = commands.doing(event.text), bool(pairs(event))
        if event.kind is Kind.TOOL_RESULT:  # its call lies in another turn, or nowhere
            row.result, row.failure = event, commands.failure(event.meta, event.text, "")
        if event.kind is Kind.TOOL_CALL and name:
            calls[name] = row
        yield row


def _joined(rows: Iterable[Row]) -> Iterator[Row]:
    """Make one row of the same call made several times in a row, but for those that failed or change a file."""
    last: Row | None = None
    for row in list(rows):
        calls = last is not None and last.event.kind is row.event.kind is Kind.TOOL_CALL
        whole = calls and last is not None and last.failure is None is row.failure and not row.is_edit
        if whole and last is not None and row.action and (last.action, last.tool) == (row.action, row.tool):
            last.times += 1
            continue
        last = row
        yield row


def chosen(turn: Turn, *, every: bool, said: bool = False) -> list[Row | int]:
    """Give the rows of a turn to be shown: of many the first, last and failed ones, and numbers of the others."""
    rows = [row for row in turn.rows if not said or row.event.kind in SAID]
    if every or len(rows) <= ROWS_MAX:
        return list(rows)
    picked: list[Row | int] = []
    for number, row in enumerate(rows):
        if number < ROWS_AT_END or number >= len(rows) - ROWS_AT_END or row.failure is not None:
            picked.append(row)
        elif picked and isinstance(picked[-1], int):
            picked[-1] += 1
        else:
            picked.append(1)
    return picked


def view(row: Row, room: Room, *, lines_max: int = texts.LINES_MAX) -> dict[str, Any]:
    """Write a row for a page: what it is, its first line, and what opens below it."""
    event, result = row.event, row.result
    about: dict[str, Any] = {
        "kind": texts.kind_name(event.kind), "class": "f" if row.failure is not None else texts.kind_class(event.kind),
        "pointer": event.pointer, "time": event.time, "bytes": event.size_bytes, "erased": event.erased,
        "trust": str(event.trust), "origin": event.origin, "times": row.times, "failed": row.failure is not None,
        "exit": row.failure.code if row.failure is not None else "",
    }  # fmt: skip
    if event.erased:
        return about | {"line": "erased"}
    if event.kind is not Kind.TOOL_CALL:
        text = room.cut(event.text, lines_max=lines_max)
        return about | {"line": texts.first_line(event.text), "text": text}
    about["tool"] = row.tool
    about["line"] = texts.first_line(row.action or event.text)
    about["diff"] = _diff(event, room)
    about["text"] = Cut("") if about["diff"] else room.cut(arguments(event), lines_max=lines_max)
    if result is not None:
        took = result.time.microseconds - event.time.microseconds if result.time and event.time else 0
        about["result"] = {
            "pointer": result.pointer, "bytes": result.size_bytes, "erased": result.erased, "took_us": max(0, took),
            "text": room.cut(result.text, lines_max=lines_max), "origin": result.origin,
        }  # fmt: skip
    return about


def arguments(event: Event) -> str:
    """Write a call's arguments to be read: a line a field, texts as they are."""
    fields = _fields(event)
    if not fields:
        return event.text
    lines = []
    for name, argument in fields.items():
        text = argument if isinstance(argument, str) else json.dumps(argument, ensure_ascii=False)
        lines.append(f"{name}: {text}" if "\n" not in text else f"{name}:\n{text}")
    return "\n".join(lines)


# edits -----------------------------------------------------------------------------------------------


def pairs(event: Event) -> list[tuple[str, str]]:
    """Give the old and new texts that a call names in its arguments; none where it names none."""
    text = event.text
    fields = _fields(event) if any(word in text for word in _SIGNS) else {}
    edits = fields.get("edits")
    each = [entry for entry in edits if isinstance(entry, dict)] if isinstance(edits, list) else []
    edited = []
    for entry in [fields, *each]:
        for old, new in _EDITS:
            if isinstance(entry.get(old), str) and isinstance(entry.get(new), str):
                edited.append((entry[old], entry[new]))
                break
    patch = next((text for text in fields.values() if isinstance(text, str) and "*** Begin Patch" in text), "")
    if patch:
        lines = patch.split("\n")
        minus, plus = ("\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
        edited.append((minus, plus))
    return edited


def _diff(event: Event, room: Room) -> dict[str, Any] | None:
    """Compare what a call takes out and what it puts in, line by line: ``-``, ``+`` or a space, and the text."""
    changed: list[tuple[str, str]] = []
    for old, new in pairs(event):
        before, after = old.split("\n"), new.split("\n")
        if len(old) + len(new) > _DIFFERING_CHARACTERS_MAX:
            changed += [*(("-", line) for line in before), *(("+", line) for line in after)]
            continue
        compared = difflib.ndiff(before, after, None, None)
        changed += [(text[0], text[2:]) for text in compared if text[0] in "-+ "]
    if not changed:
        return None
    lines: list[dict[str, str]] = []
    for sign, line in changed[:DIFF_LINES_MAX]:
        cut = room.cut(line, lines_max=1)
        if room.left < 0:
            break
        lines.append({"sign": sign, "text": cut.text})
    counts = {side: sum(sign == side for sign, _ in changed) for side in "+-"}
    return {"lines": lines, "more": len(changed) - len(lines), "counts": counts}


def _fields(event: Event) -> dict[str, Any]:
    text = event.text
    if not text.startswith("{"):
        return {}
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
