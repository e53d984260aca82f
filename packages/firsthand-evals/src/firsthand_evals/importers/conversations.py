"""Conversation collections, each one JSON file: LoCoMo, BEAM and LongMemEval.

One conversation is one session. What a collection says about a conversation
(questions, answers, summaries) is kept in envelopes only: it is not part of what
was said, and would answer for it in recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from firsthand import Draft, Kind, Moment, Trust
from firsthand.event import to_bytes
from firsthand.formats.fields import mapping, picked, text, to_name
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.lines import Line, kept, split
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import MICROSECONDS, parse
from firsthand.record import Record, make
from firsthand.value import replace
from firsthand_evals.importers.json_host import JsonHost


class Locomo(JsonHost):
    """The host of LoCoMo: two people over months; the speaker is the event's agent."""

    name = "locomo"
    shape = re.compile(rb'\s*\[\s*\{\s*"(?:qa|conversation|sample_id)"\s*:')
    holds = (b'"dia_id"', b'"evidence"')  # the questions may fill the whole head

    def cuts(self, file: JsonFile, source: Source) -> Iterator[Cut]:
        for number, at in enumerate(file.items(file.root())):
            places = dict(file.members(at))
            named = file.value(places["sample_id"]) if "sample_id" in places else None
            session = to_name(named) or f"{PurePosixPath(source.path).stem}-{number}"
            yield from _to_the_end(_locomo_talk(file, places.get("conversation", at), session), file.end(at))


class Beam(JsonHost):
    """The host of BEAM: one long talk of a user and an assistant, in batches of turns."""

    name = "beam"
    shape = re.compile(rb'\s*\[\s*\{\s*"batch_number"\s*:\s*\d+\s*,\s*"turns"\s*:\s*\[')

    def session(self, path: str, head: bytes) -> str:
        """Name the session by the two folders above."""
        return to_name("/".join(PurePosixPath(path).parts[-3:-1])) or super().session(path, head)

    def cuts(self, file: JsonFile, source: Source) -> Iterator[Cut]:  # noqa: ARG002 (the parser's shape)
        anchor: Moment | None = None
        for batch in file.items(file.root()):
            for name, turns in file.members(batch):
                for turn in file.items(turns) if name == "turns" else ():
                    for at in file.items(turn):
                        said = mapping(file.value(at))
                        anchor = anchor_time(text(said.get("time_anchor"))) or anchor
                        meta = picked(said, "id=chat_id", "index", "question_type", "time_anchor")
                        yield Cut(file.end(at), (_spoken(said, meta, anchor),), file.slice(at))


class LongMemEval(JsonHost):
    """The host of LongMemEval: many talks of a user and an assistant, each line dated."""

    name = "longmemeval"
    shape = re.compile(rb'\s*\{.*?"data"\s*:\s*\[\s*\{\s*"id"\s*:\s*"[^"]*",\s*"question_type"', re.DOTALL)
    holds = (b'"conversation"',)

    def cuts(self, file: JsonFile, source: Source) -> Iterator[Cut]:
        for name, data in file.members(file.root()):
            for number, at in enumerate(file.items(data)) if name == "data" else ():
                places = dict(file.members(at))
                named = file.value(places["id"]) if "id" in places else None
                session = to_name(named) or f"{PurePosixPath(source.path).stem}-{number}"
                yield from _to_the_end(_longmemeval_talk(file, places.get("conversation", at), session), file.end(at))


def _locomo_talk(file: JsonFile, conversation: int, session: str) -> Iterator[Cut]:
    spoken: Moment | None = None
    for name, at in file.members(conversation):
        if name.endswith("_date_time"):
            spoken = spoken_time(text(file.value(at)))
        for item in file.items(at):
            said = mapping(file.value(item))
            yield Cut(file.end(item), _locomo_line(said, name, spoken), file.slice(item), session)


def _locomo_line(said: Any, chapter: str, spoken: Moment | None) -> tuple[Draft, ...]:
    meta = picked(said, "dia_id", "speaker", chapter=chapter)
    line = Draft(
        Kind.USER_MESSAGE, to_bytes(text(said.get("text"))), meta=meta,
        agent=to_name(said.get("speaker")), origin="chat", time=spoken,
    )  # fmt: skip
    caption = text(said.get("blip_caption"))
    if not caption:
        return (line,)
    shown = picked(said, "dia_id", "query", img_url=said.get("img_url"), described=True)
    return line, replace(line, kind=Kind.ATTACHMENT, content=to_bytes(caption), meta=shown)


def _longmemeval_talk(file: JsonFile, conversation: int, session: str) -> Iterator[Cut]:
    for at in file.items(conversation):
        said = mapping(file.value(at))
        draft = _spoken(said, picked(said, "date"), dated(text(said.get("date"))))
        yield Cut(file.end(at), (draft,), file.slice(at), session)


def _spoken(said: Any, meta: dict[str, Any], time: Moment | None) -> Draft:
    content = to_bytes(text(said.get("content")))
    if said.get("role") == "user":
        return Draft(Kind.USER_MESSAGE, content, meta=meta, origin="user", trust=Trust.TRUSTED, time=time)
    return Draft(
        Kind.AGENT_MESSAGE, content, meta=meta, agent=to_name(said.get("role")), origin="agent", trust=Trust.AGENT,
        time=time,
    )  # fmt: skip


def _to_the_end(cuts: Iterator[Cut], end: int) -> Iterator[Cut]:
    """Give the last cut of one conversation what follows it there, so that no other session has it."""
    held: Cut | None = None
    for cut in cuts:
        if held is not None:
            yield held
        held = cut
    if held is not None:
        yield replace(held, end=end)


def spoken_time(words: str) -> Moment | None:
    """Read ``1:56 pm on 8 May, 2023``; None for anything else."""
    return _time(words.replace(",", ""), "%I:%M %p on %d %B %Y")


def anchor_time(words: str) -> Moment | None:
    """Read ``March-15-2024``; None for anything else."""
    return _time(words, "%B-%d-%Y")


def dated(words: str) -> Moment | None:
    """Read ``2023/05/30 (Tue) 21:48``; None for anything else."""
    return _time(words, "%Y/%m/%d (%a) %H:%M")


def _time(words: str, form: str) -> Moment | None:
    """Read a time of no zone, which is taken for UTC; None where the words have another form."""
    try:
        return parse(datetime.strptime(words.strip(), form).isoformat())  # noqa: DTZ007 - see above
    except ValueError:
        return None


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
