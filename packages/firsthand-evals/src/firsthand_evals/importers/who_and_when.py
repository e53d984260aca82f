"""Who&When failure logs: one JSON file for one run of several agents on one question.

The labels (which agent erred, at which step, the right answer) stay in envelopes:
they are a verdict on what was said, no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from firsthand import Draft, Kind, Trust
from firsthand.event import to_bytes
from firsthand.formats.fields import mapping, picked, text, to_name
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Place, Reading, Source

_SHAPE = re.compile(rb'\s*\{.*?"history"\s*:\s*\[\s*\{', re.DOTALL)
_TERMINALS = frozenset({"computer_terminal", "computerterminal"})
_PEOPLE = frozenset({"human", "user"})


class WhoAndWhen:
    """The host of Who&When logs; the session is ``<folder>/<file>``."""

    name = "who-and-when"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        if not path.endswith(".json") or _SHAPE.match(head) is None:
            return False
        return b'"question"' in head or b'"role": "human"' in head

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return to_name(f"{PurePosixPath(path).parent.name}/{PurePosixPath(path).stem}".strip("/"))

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _cuts)


def _cuts(file: JsonFile, source: Source) -> Iterator[Cut]:  # noqa: ARG001 (the parser's shape)
    root = file.root()
    history = dict(file.members(root)).get("history")
    if history is None:
        return
    for step, at in enumerate(file.items(history)):
        yield Cut(file.end(at), (_said(mapping(file.value(at)), step),), file.slice(at))


def _said(message: Any, step: int) -> Draft:
    role, name = text(message.get("role")), text(message.get("name"))
    content = to_bytes(text(message.get("content")))
    meta = picked(message, "role", "name", step=step)
    speaker = to_name(name or role.split(" (", 1)[0])
    if speaker.lower() in _PEOPLE:
        return Draft(Kind.USER_MESSAGE, content, meta=meta, origin="user", trust=Trust.TRUSTED)
    if speaker.lower() in _TERMINALS:
        return Draft(Kind.TOOL_RESULT, content, meta=meta, agent=speaker, origin=f"tool:{speaker}")
    kind = Kind.REASONING if role.endswith("(thought)") else Kind.AGENT_MESSAGE
    return Draft(kind, content, meta=meta, agent=speaker, origin="agent", trust=Trust.AGENT)
