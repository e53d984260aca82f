"""Conversation collections, each one JSON file: LoCoMo, BEAM and LongMemEval.

One conversation is one session. What a collection says about a conversation
(questions, answers, summaries) is kept in envelopes only: it is not part of what
was said, and would answer for it in recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from firsthand import Draft, Kind, Moment, Trust
from firsthand.event import to_bytes
from firsthand.formats.fields import mapping, picked, text, to_name
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import parse
from firsthand.value import replace

_MONTHS = ("january", "february", "march", "april", "may", "june", "july",
           "august", "september", "october", "november", "december")  # fmt: skip
_SPOKEN_TIME = re.compile(r"(\d{1,2}):(\d\d) ([ap])m on (\d{1,2}) (\w+),? (\d{4})\Z", re.IGNORECASE)
_ANCHOR = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})\Z")
_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d) \(\w+\) (\d\d:\d\d)\Z")
_LOCOMO = re.compile(rb'\s*\[\s*\{\s*"(?:qa|conversation|sample_id)"\s*:')
_BEAM = re.compile(rb'\s*\[\s*\{\s*"batch_number"\s*:\s*\d+\s*,\s*"turns"\s*:\s*\[')
_LONGMEMEVAL = re.compile(rb'\s*\{.*?"data"\s*:\s*\[\s*\{\s*"id"\s*:\s*"[^"]*",\s*"question_type"', re.DOTALL)


class Locomo:
    """The host of LoCoMo: two people over months; the speaker is the event's agent."""

    name = "locomo"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        known = b'"dia_id"' in head or b'"evidence"' in head  # the questions may fill the whole head
        return path.endswith(".json") and known and _LOCOMO.match(head) is not None

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return PurePosixPath(path).stem

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _locomo)


class Beam:
    """The host of BEAM: one long talk of a user and an assistant, in batches of turns."""

    name = "beam"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith(".json") and _BEAM.match(head) is not None

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return to_name("/".join(PurePosixPath(path).parts[-3:-1])) or PurePosixPath(path).stem

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _beam)


class LongMemEval:
    """The host of LongMemEval: many talks of a user and an assistant, each line dated."""

    name = "longmemeval"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith(".json") and _LONGMEMEVAL.match(head) is not None and b'"conversation"' in head

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return PurePosixPath(path).stem

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _longmemeval)


def _locomo(file: JsonFile, source: Source) -> Iterator[Cut]:
    for number, at in enumerate(file.items(file.root())):
        places = dict(file.members(at))
        named = file.value(places["sample_id"]) if "sample_id" in places else None
        session = to_name(named) or f"{PurePosixPath(source.path).stem}-{number}"
        yield from _to_the_end(_locomo_talk(file, places.get("conversation", at), session), file.end(at))


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


def _beam(file: JsonFile, source: Source) -> Iterator[Cut]:  # noqa: ARG001 (the parser's shape)
    anchor: Moment | None = None
    for batch in file.items(file.root()):
        for name, turns in file.members(batch):
            for turn in file.items(turns) if name == "turns" else ():
                for at in file.items(turn):
                    said = mapping(file.value(at))
                    anchor = anchor_time(text(said.get("time_anchor"))) or anchor
                    meta = picked(said, "id=chat_id", "index", "question_type", "time_anchor")
                    yield Cut(file.end(at), (_spoken(said, meta, anchor),), file.slice(at))


def _longmemeval(file: JsonFile, source: Source) -> Iterator[Cut]:
    for name, data in file.members(file.root()):
        for number, at in enumerate(file.items(data)) if name == "data" else ():
            places = dict(file.members(at))
            named = file.value(places["id"]) if "id" in places else None
            session = to_name(named) or f"{PurePosixPath(source.path).stem}-{number}"
            yield from _to_the_end(_longmemeval_talk(file, places.get("conversation", at), session), file.end(at))


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


def spoken_time(told: str) -> Moment | None:
    """Read ``1:56 pm on 8 May, 2023``; None for anything else."""
    match = _SPOKEN_TIME.match(told.strip())
    if match is None or match[5].lower() not in _MONTHS:
        return None
    hour = int(match[1]) % 12 + (12 if match[3] in "pP" else 0)
    month = _MONTHS.index(match[5].lower()) + 1
    return parse(f"{match[6]}-{month:02}-{int(match[4]):02}T{hour:02}:{match[2]}")


def anchor_time(told: str) -> Moment | None:
    """Read ``March-15-2024``; None for anything else."""
    match = _ANCHOR.match(told.strip())
    if match is None or match[1].lower() not in _MONTHS:
        return None
    return parse(f"{match[3]}-{_MONTHS.index(match[1].lower()) + 1:02}-{int(match[2]):02}")


def dated(told: str) -> Moment | None:
    """Read ``2023/05/30 (Tue) 21:48``; None for anything else."""
    match = _DATE.match(told.strip())
    return parse(f"{match[1]}-{match[2]}-{match[3]}T{match[4]}") if match is not None else None
