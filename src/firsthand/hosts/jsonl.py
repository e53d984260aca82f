"""Plain JSON lines with a stated mapping: which field is the content, who spoke, when, in which session.

The default fits lines of ``{"role": ..., "content": ...}``. Nothing is guessed
beyond the mapping: a field it does not name stays in the record's envelope.

The same file under another mapping gives other events, so a stated mapping has
a name of its own (``jsonl-`` and a hash of it), which names its sessions too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from firsthand.errors import FormatError
from firsthand.event import Draft, Kind, Trust, to_bytes
from firsthand.formats.canonical import value_in
from firsthand.formats.fields import mapping, small, text, to_name
from firsthand.hosts import lines
from firsthand.hosts.lines import Item
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.moment import parse
from firsthand.record import Record, make, whole
from firsthand.value import fields, value

_NAME = "jsonl"
_BOM = b"\xef\xbb\xbf"
_WORDS = {str(kind): kind for kind in Kind} | {
    "user": Kind.USER_MESSAGE, "human": Kind.USER_MESSAGE,
    "assistant": Kind.AGENT_MESSAGE, "agent": Kind.AGENT_MESSAGE, "ai": Kind.AGENT_MESSAGE,
    "model": Kind.AGENT_MESSAGE, "bot": Kind.AGENT_MESSAGE,
    "system": Kind.SYSTEM, "developer": Kind.SYSTEM,
    "tool": Kind.TOOL_RESULT, "function": Kind.TOOL_RESULT,
}  # fmt: skip
_ORIGINS = {
    Kind.USER_MESSAGE: ("user", Trust.TRUSTED),
    Kind.SYSTEM: ("host:jsonl", Trust.TRUSTED),
    Kind.AGENT_MESSAGE: ("agent", Trust.AGENT),
    Kind.REASONING: ("agent", Trust.AGENT),
    Kind.TOOL_CALL: ("agent", Trust.AGENT),
}


@value
class Fields:
    """Which field of a line says what; a dot leads into an object: ``message.text``.

    Attributes:
        content: the words; a value that is no text is kept as JSON.
        kind: a role (``user``, ``assistant``, ``system``, ``tool``) or a kind's own word.
        time: ISO 8601 or epoch; unknown where it cannot be read.
        session: bare id of the session; the file's name where the line has none.
        agent: who spoke.
        id: what makes a line the same in another file.
    """

    content: str = "content"
    kind: str = "role"
    time: str = "timestamp"
    session: str = "session"
    agent: str = "name"
    id: str = "id"

    @classmethod
    def of(cls, names: Mapping[str, str]) -> Fields:
        """Read a mapping from data; what it leaves out has its default.

        Raises:
            FormatError: a name that a mapping does not have, or a field that is no text.
        """
        known = fields(cls)
        wrong = [name for name in names if name not in known or not isinstance(names[name], str)]
        if wrong:
            raise FormatError(
                f"a mapping gives the names of fields for {', '.join(known)}; got {wrong[0]!r}: {names[wrong[0]]!r}"
            )
        return cls(**names)

    def digest(self) -> str:
        """Give what tells this mapping from others."""
        named = (self.content, self.kind, self.time, self.session, self.agent, self.id)
        return hashlib.sha256(to_bytes(json.dumps(named))).hexdigest()[:8]


class Jsonl:
    """The host of JSON lines in no tool's own format."""

    places: tuple[Place, ...] = ()
    resumable = True
    spans_sessions = False

    def __init__(self, named: Fields | None = None) -> None:
        self._fields = named or Fields()
        self.name = _NAME if self._fields == Fields() else f"{_NAME}-{self._fields.digest()}"

    def recognises(self, path: str, head: bytes) -> bool:
        if not path.endswith((".jsonl", ".ndjson")):
            return False
        for line in head.removeprefix(_BOM).split(b"\n"):
            if line.strip():
                return _first_has(line, self._fields.content)
        return False

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return to_name(PurePosixPath(path).stem)

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return lines.read(pieces, source, _NAME, self._convert)

    def _convert(self, item: Item, state: dict[str, Any]) -> Record:  # noqa: ARG002 (nothing is carried on)
        named, value = self._fields, mapping(item.value)
        words = _field(value, named.content)
        word = text(_field(value, named.kind))
        session = to_name(_field(value, named.session))
        meta = {named.kind: word} if word and small(word) else {}
        if words is None:
            unknown = Draft(Kind.OTHER, b"", "application/json", meta, origin="host:jsonl")
            stated = self.name != _NAME  # who states a mapping is told of lines that it does not fit
            return whole(
                item.raw, unknown, session=session, fault=f"there is no field {named.content!r}" if stated else ""
            )
        kind = _WORDS.get(word.lower(), Kind.OTHER if word else Kind.DOCUMENT)
        origin, trust = _ORIGINS.get(kind, ("tool:unknown" if kind is Kind.TOOL_RESULT else "file", Trust.UNTRUSTED))
        content = to_bytes(words) if isinstance(words, str) else value_in(item.raw, words, _last(named.content))
        draft = Draft(
            kind, content, "text/plain" if isinstance(words, str) else "application/json", meta,
            agent=to_name(_field(value, named.agent)), origin=origin, trust=trust,
            time=parse(_field(value, named.time)),
        )  # fmt: skip
        identifier = _field(value, named.id)
        identity = b""
        if isinstance(identifier, (str, int)):
            identity = to_bytes(str(identifier)) + b" " + hashlib.sha256(content).digest()
        return make(item.raw, (draft,), session=session, identity=identity)


def _field(value: Mapping[str, Any], path: str) -> Any:
    """Follow a field's path; None where it does not lead anywhere."""
    for name in path.split("."):
        value = mapping(value).get(name)  # type: ignore[assignment]
    return value


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _first_has(line: bytes, content: str) -> bool:
    """Say whether a first line is an object with the content field; one cut off by the head has its name in it."""
    try:
        return _field(json.loads(line), content) is not None
    except (ValueError, RecursionError):
        return line.lstrip().startswith(b"{") and f'"{_last(content)}"'.encode() in line
