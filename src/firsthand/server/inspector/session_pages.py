"""The pages of sessions: all of them in a list, and one as rows of turns."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, cast

from firsthand.errors import Unresolvable
from firsthand.event import Event, Kind
from firsthand.formats import commands
from firsthand.log.results import SessionInfo
from firsthand.log.sqlite.census import SAMPLES
from firsthand.moment import Moment
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.server.inspector.turns import COMPACTIONS, GAP_US, Turn, chosen, turns_of, view
from firsthand.space import Space
from firsthand.value import replace

SESSIONS_PAGE = 40
TITLES_READ_MAX = 2_000
EVENTS_PAGE = 1_300
TURNS_PAGE = 80
ROOM_BYTES = 45_000
OPEN_MAX = 5
LIVE_S = 10 * 60
OPENINGS, TITLE_BYTES = 3, 4_000
COUNTING_S, COUNTED_AT_ONCE, CALLS_BEFORE = 0.03, 50, 8
"""Of the processor, that a list of sessions may take to count failed calls; what is not counted yet says so."""
_COUNTED_EVENTS_MAX = 150_000
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 10_800, 21_600, 86_400)
_MAP_COLUMNS_MAX = 184
_LABELS = 8
_FROM_BELOW = "rcatumko"
_TEN_MINUTES_US = 600 * 1_000_000
_DAY_US = 36 * 3_600 * 1_000_000


# the list --------------------------------------------------------------------------------------------


def sessions(place: Place, asked: Asked) -> Page:
    """List the sessions, those that went on last first."""
    words = asked.text("q")
    host = asked.text("host")
    before = asked.number("page", 1, low=1)
    infos = sorted(place.memory.sessions(), key=lambda info: (not _is_live(place, info), -info.last_position))
    hosts: dict[str, int] = {}
    for info in infos:
        hosts[host_of(info.name)] = hosts.get(host_of(info.name), 0) + 1
    own = [info for info in infos if not info.turns]
    everything = asked.has("everything")
    picked = [info for info in infos if not host or host_of(info.name) == host]
    picked = picked if everything or host or words else [info for info in picked if info.turns]
    if words:
        picked = [info for info in picked[:TITLES_READ_MAX] if _matches(place, info, words)]
    page = picked[(before - 1) * SESSIONS_PAGE : before * SESSIONS_PAGE]
    is_countable = sum(info.events for info in page) <= _COUNTED_EVENTS_MAX
    counted = place.memory.census().kinds([info.name for info in page]) if is_countable else {}
    failed = failures(place, page)
    listed = [_session_row(place, info, counted.get(info.name), failed.get(info.name)) for info in page]
    position, head = place.memory.position, place.memory.head()
    fields: dict[str, Any] = {
        "sessions": listed, "number": len(picked), "all": len(infos), "events": position, "head": head,
        "bytes": store_bytes(place.memory.path), "hosts": hosts, "host": host, "words": words, "page": before,
        "own": len(own),
        "everything": everything, "verified": place.memo.get(("verified",)),
        "pages": -(-len(picked) // SESSIONS_PAGE), "through": position,
    }  # fmt: skip
    return Page("sessions.html", "Sessions", fields)


def _session_row(place: Place, info: SessionInfo, kinds: dict[Kind, int] | None, failed: int | None) -> dict[str, Any]:
    spread = place.memory.census().times(info.name, info.events)
    number = kinds.get if kinds is not None else lambda *_: None
    compactions = None if kinds is None else kinds.get(Kind.SUMMARY, 0) + kinds.get(Kind.RECEIPT, 0)
    return {
        "name": info.name, "host": host_of(info.name), "title": title(place, info.name), "events": info.events,
        "turns": info.turns, "first": info.first, "last": info.last, "calls": number(Kind.TOOL_CALL, 0),
        "volunteered": number(Kind.INJECTION, 0), "compactions": compactions, "project": project(place, info.name),
        "live": _is_live(place, info), "spark": _spark(spread, info.events), "failed": failed,
        "bytes": place.memory.census().stored_bytes(info.name) if kinds is not None else None,
    }  # fmt: skip


def _is_live(place: Place, info: SessionInfo) -> bool:
    return info.last is not None and 0 <= place.now.microseconds - info.last.microseconds < LIVE_S * 1_000_000


def failures(place: Place, page: Sequence[SessionInfo]) -> dict[str, int]:
    """Count the calls that failed in sessions, as far as a page has time: what was read once is not read again."""
    counts, until = {}, time.process_time() + COUNTING_S
    for info in page:
        through, failed = cast("tuple[int, int]", place.memo.get(("failed", info.name), (0, 0)))
        results = place.memory.events(info.name, kind=Kind.TOOL_RESULT, after=through)
        while through < info.last_position and time.process_time() < until:
            pieces = [*islice(results, COUNTED_AT_ONCE)]
            failed += sum(_failed(place, result) for result in pieces)
            through = pieces[-1].position if len(pieces) == COUNTED_AT_ONCE else info.last_position
            place.memo["failed", info.name] = through, failed
        if through >= info.last_position:
            counts[info.name] = failed
    return counts


def _failed(place: Place, result: Event) -> bool:
    """Say whether a result tells of a failure; the call is looked for only where it might be a quiet one."""
    failure = commands.failure(result.meta, result.text, "")
    if failure is None or failure.code != "1":
        return failure is not None
    calls = place.memory.events(
        result.session, kind=Kind.TOOL_CALL, before=result.position, newest_first=True, limit=CALLS_BEFORE
    )
    name = result.meta.get("call_id")
    action = next((commands.doing(call.text) for call in calls if call.meta.get("call_id") == name), "")
    return commands.failure(result.meta, result.text, action) is not None


def _spark(times: Sequence[int], events: int) -> list[float]:
    """Give how dense a session was over its time, from 0 to 1, from the times of events spread evenly over it."""
    heights = [0.0] * SAMPLES
    begin, width = min(times, default=0), max(1, max(times, default=1) - min(times, default=0))
    for before, after in pairwise(times):
        first, last = sorted(min(SAMPLES - 1, (at - begin) * SAMPLES // width) for at in (before, after))
        for place in range(first, last + 1):
            heights[place] += events / (last - first + 1)
    return [height / (max(heights) or 1.0) for height in heights]


def host_of(name: str) -> str:
    """Give the host that a session's name begins with; "here" for one of a program's own."""
    host, colon, _ = name.partition(":")
    return host if colon and host else "other"


def title(place: Place, session: str) -> str:
    """Give the first words of the user in a session that still hold; empty where there are none."""
    first = place.memory.events(session, kind=Kind.USER_MESSAGE, limit=OPENINGS)
    openings = place.once(
        ("title", session),
        lambda: [replace(event, content=(event.content or b"")[:TITLE_BYTES]) for event in first if not event.erased],
    )
    return next((texts.first_line(left.text) for event in openings if (left := place.effect.text(event))), "")


def project(place: Place, session: str) -> str:
    """Give the folder that a session's host named first; empty where it named none."""
    folders = (event.meta.get("cwd") for event in place.memory.events(session, limit=8))
    return place.once(("project", session), lambda: next((each for each in folders if isinstance(each, str)), ""))


def _matches(place: Place, info: SessionInfo, words: str) -> bool:
    about = f"{info.name} {title(place, info.name)} {project(place, info.name)}".casefold()
    return all(word in about for word in words.casefold().split())


def store_bytes(store: Path) -> int:
    """Give what a store's database takes on the disk."""
    files = (store / name for name in ("firsthand.db", "firsthand.db-wal"))
    return sum(path.stat().st_size for path in files if path.exists())


# one session -----------------------------------------------------------------------------------------


def session(place: Place, asked: Asked) -> Page:
    """Show a session as rows of turns."""
    space = place.memory
    name = asked.text("name")
    info = info_of(space, name)
    opened = asked.numbers("open", OPEN_MAX)
    every = asked.numbers("all", OPEN_MAX)
    only = asked.choice("only", ("", "failures", "edits", "said"))
    find = asked.text("find").casefold()
    turn = asked.number("turn", -1, low=-1)
    begin = asked.number("from", 0, low=0)
    if turn >= 0:
        begin = max(0, space.census().position_of_turn(name, turn) - 1) if info.events > EVENTS_PAGE else 0
    events = list(space.events(name, after=begin, limit=EVENTS_PAGE + 1))
    following = events[EVENTS_PAGE].position - 1 if len(events) > EVENTS_PAGE else 0
    turns = turns_of(map(place.standing, events[:EVENTS_PAGE]))
    if len(turns) > TURNS_PAGE:
        following = turns[TURNS_PAGE].events[0].position - 1
        turns = turns[:TURNS_PAGE]
    room = texts.Room(ROOM_BYTES)
    listed: list[dict[str, Any]] = []
    for number, each in enumerate(turns):
        if number and (gap := _gap(turns[number - 1], each)) > GAP_US:
            listed.append({"gap": texts.duration(gap)})
        if not _wanted(each, only):
            continue
        row = _turn_row(each, find)
        if each.number in opened:
            row["rows"] = [
                entry if isinstance(entry, int) else view(entry, room)
                for entry in chosen(each, every=each.number in every, said=only == "said")
            ]
        listed.append(row)
        listed += [{"compaction": place.line(event)} for event in each.events if event.kind in COMPACTIONS]
    kinds = space.census().kinds([name])[name]
    fields: dict[str, Any] = {
        "name": name, "title": title(place, name) or name, "info": info, "kinds": kinds, "turns": listed,
        "opened": opened, "only": only, "find": find, "map": _map(place, info), "project": project(place, name),
        "failed": sum(len(each.failed) for each in turns), "edits": sum(map(_edits, turns)),
        "compactions": kinds.get(Kind.SUMMARY, 0) + kinds.get(Kind.RECEIPT, 0), "whole": not begin and not following,
        "following": following, "begin": begin,
        "earlier": max(0, turns[0].number - TURNS_PAGE) if begin and turns else 0,
        "anatomies": kinds.get(Kind.ANATOMY, 0), "through": space.position, "every": every,
        "matches": sum(row.get("match", False) for row in listed),
        "lasted": _lasted(info.first, info.last), "bytes": sum(event.size_bytes for event in events[:EVENTS_PAGE]),
    }  # fmt: skip
    if fields["whole"]:
        place.memo["failed", name] = info.last_position, fields["failed"]
    return Page("session.html", str(fields["title"]), fields)


def turn_rows(place: Place, asked: Asked) -> Page:
    """Give the rows of one turn alone, which the script puts below it."""
    name = asked.text("name")
    info_of(place.memory, name)
    number = asked.number("open", 0, low=0)
    first = place.memory.census().position_of_turn(name, number)
    events: list[Event] = []
    for event in place.memory.events(name, after=max(0, first - 1), limit=EVENTS_PAGE) if first else ():
        if event.turn != number:
            break
        events.append(place.standing(event))
    room = texts.Room(2 * ROOM_BYTES)
    turns = turns_of(events)
    entries = chosen(turns[0], every=asked.has("all")) if turns else []
    shown_rows = [entry if isinstance(entry, int) else view(entry, room) for entry in entries]
    return Page("turn.html", name, {"name": name, "turn": {"number": number, "rows": shown_rows}, "every": ()})


def info_of(space: Space, name: str) -> SessionInfo:
    """Give what is known of a session; a name that none has is refused."""
    info = next((info for info in space.sessions() if info.name == name), None)
    if info is None:
        raise Unresolvable(f"no session {name!r:.200} in namespace {space.namespace!r}; all of them: Sessions")
    return info


def _turn_row(turn: Turn, find: str) -> dict[str, Any]:
    dim = bool(find) and not any(find in event.text.casefold() for event in turn.events)
    times = turn.times
    return {
        "number": turn.number, "words": texts.first_line(turn.words), "time": times[0] if times else None,
        "failed": len(turn.failed), "events": len(turn.events), "pointer": turn.events[0].pointer,
        "calls": sum(event.kind is Kind.TOOL_CALL for event in turn.events), "dim": dim,
        "lasted_us": max(times).microseconds - min(times).microseconds if times else 0,
        "cells": "".join(
            "f" if event.position in turn.failed else texts.kind_class(event.kind) for event in turn.events
        ),
        "match": bool(find) and not dim,
    }  # fmt: skip


def _edits(turn: Turn) -> int:
    return sum(row.is_edit for row in turn.rows)


def _wanted(turn: Turn, only: str) -> bool:
    return {"failures": bool(turn.failed), "edits": bool(_edits(turn))}.get(only, True)


def _gap(before: Turn, after: Turn) -> int:
    return min(after.times).microseconds - max(before.times).microseconds if before.times and after.times else 0


def _lasted(first: Moment | None, last: Moment | None) -> str:
    return texts.duration(last.microseconds - first.microseconds) if first is not None and last is not None else ""


def _map(place: Place, info: SessionInfo) -> dict[str, Any] | None:
    """Draw the session's time, a column a minute, or as many minutes as it takes; None where no time is known."""
    if info.first is None or info.last is None or info.events < 2:
        return None
    begin, long = info.first.microseconds, max(1, info.last.microseconds - info.first.microseconds)
    steps = (step * 1_000_000 for step in _STEPS_S)
    width = next((step for step in steps if long // step < _MAP_COLUMNS_MAX), -(-long // _MAP_COLUMNS_MAX))
    number = max(_LABELS, long // width + 1)
    each = -(-number // _LABELS)
    href = f"?name={texts.query(info.name)}&turn="
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    turns: dict[int, int] = {}
    for stretch, kind, events, turn in place.memory.census().stretches(info.name, begin, width):
        counts[stretch][texts.kind_class(kind)] += events
        turns[stretch] = min(turns.get(stretch, turn), turn)
    most = max(sum(count.values()) for count in counts.values())
    stacks = [
        {
            "place": place, "href": f"{href}{turns[place]}#t{turns[place]}",
            "title": f"turn {turns[place]}: {texts.count(sum(count.values()), 'event')}",
            "parts": [(style, count[style] / most) for style in _FROM_BELOW if style in count],
        }
        for place, count in sorted(counts.items())
    ]  # fmt: skip
    form = "%H:%M:%S" if long < _TEN_MINUTES_US else "%H:%M" if long < _DAY_US else "%-d %b"
    moments = (texts.local(Moment(begin + label * each * width)) for label in range(_LABELS))
    labels = [f"{moment:{form}}" for moment in moments]
    return {"stacks": stacks, "number": each * _LABELS, "labels": labels}
