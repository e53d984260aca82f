"""IRC channel logs in text: ``[HH:MM] <nick> words``, ``[HH:MM]  * nick does``, ``=== nick has left``.

The speaker is the event's agent. The clock of a line gets its day from the file's
name (``2011-05-29_19.ascii.txt``) and passes to the next day where it runs back
by more than half a day; without a day there is no time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from firsthand import Draft, Kind, Moment
from firsthand.event import to_bytes
from firsthand.formats.fields import to_name
from firsthand.hosts.lines import Line, kept, split
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import MICROSECONDS, parse
from firsthand.record import Record, make

_LINE = re.compile(r"\[(\d\d):(\d\d)(?::(\d\d))?\]\s+(?:<([^>\n]+)>(?: |$)|(\*) (\S+))(.*)\Z", re.DOTALL)
_FIRST = re.compile(rb"(?:===[^\n]*\r?\n){0,200}\[\d\d:\d\d(?::\d\d)?\] +(?:<[^>\n]+>|\*) ?")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)")
_DAY_SECONDS = 86_400


class Irc:
    """The host of IRC logs; a file is a session."""

    name = "irc"
    places: tuple[Place, ...] = ()
    resumable = True
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith((".txt", ".log")) and _FIRST.match(head) is not None

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return to_name(re.sub(r"(\.ascii)?\.(txt|log)\Z", "", PurePosixPath(path).name))

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        state = dict(source.state)
        day = _DAY.search(PurePosixPath(source.path).name)
        midnight = parse(day[1]) if day is not None else None
        for line in split(pieces, offset_bytes=source.offset_bytes, number=state.get("line", 0) + 1):
            state = state | {"line": line.number}  # a copy: the one yielded before must stay as it was
            record = _record(line, midnight, state)
            yield Reading(record, line.offset_bytes, line.number, line.torn and not source.final, state)


def _record(line: Line, midnight: Moment | None, state: dict[str, Any]) -> Record:
    if not line.raw.strip():
        return Record(line.raw, ())
    try:
        words = line.raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        words = line.raw.decode("latin-1").rstrip("\r\n")  # IRC never agreed on an encoding; the bytes are in raw
    if line.oversize:
        return kept(line.raw, Irc.name, "a line over the limit is kept in pieces, unparsed")
    match = _LINE.match(words)
    if match is None:
        return make(line.raw, (_notice(words, midnight, state),))
    hour, minute, second, nick, star, actor, said = match.groups()
    moment = _moment(int(hour) * 3600 + int(minute) * 60 + int(second or 0), midnight, state)
    meta = {"action": True} if star else {}
    content = to_bytes(f"{actor}{said}" if star else said)
    speaker = to_name(actor if star else nick)
    return make(line.raw, (Draft(Kind.USER_MESSAGE, content, meta=meta, agent=speaker, origin="irc", time=moment),))


def _notice(words: str, midnight: Moment | None, state: dict[str, Any]) -> Draft:
    """Make an event of what the channel itself said; it has the time of the line before."""
    kind = Kind.SESSION if words.startswith("===") else Kind.OTHER
    time = _moment(state["second"], midnight, state) if "second" in state else None
    return Draft(kind, to_bytes(words), origin="host:irc", time=time)


def _moment(second: int, midnight: Moment | None, state: dict[str, Any]) -> Moment | None:
    """Place a second of the day; ``state`` counts the days that have passed."""
    if state.get("second", 0) - second > _DAY_SECONDS // 2:
        state["days"] = state.get("days", 0) + 1
    state["second"] = second
    if midnight is None:
        return None
    return Moment(midnight.microseconds + (state.get("days", 0) * _DAY_SECONDS + second) * MICROSECONDS)
