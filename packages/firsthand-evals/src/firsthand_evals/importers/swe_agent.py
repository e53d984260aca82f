"""SWE-agent trajectories: one ``.traj`` file of JSON for one issue worked on.

A step is a thought, an action and what came back. The file tells the steps first
and repeats them below as the chat history that the model saw; so what opened
that history (system prompt, the issue) is given as events before the first step,
and the repetition is kept only in the last record's envelope.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from firsthand import Draft, Kind, Trust
from firsthand.event import to_bytes
from firsthand.formats.fields import items, mapping, picked, text
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Place, Reading, Source

_SHAPE = re.compile(rb'"(?:trajectory|history)"\s*:\s*\[')
_SHELL = "shell"


class SweAgent:
    """The host of ``.traj`` files."""

    name = "swe-agent"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith(".traj") and head.lstrip().startswith(b"{") and _SHAPE.search(head) is not None

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return PurePosixPath(path).name.removesuffix(".traj")

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _cuts)


def _cuts(file: JsonFile, source: Source) -> Iterator[Cut]:  # noqa: ARG001 (the parser's shape)
    root = file.root()
    places = dict(file.members(root))
    steps = places.get("trajectory")
    if steps is None:
        return
    opening = _opening(file, places)
    yield Cut(steps, opening, _digest(b"opening", *(draft.content for draft in opening)))
    for number, at in enumerate(file.items(steps), 1):
        yield Cut(file.end(at), _step(mapping(file.value(at)), number), file.slice(at))
    info = places.get("info")
    closing = b"{}" if info is None else file.slice(info)
    facts = mapping(file.value(info)) if info is not None else {}
    meta = picked(facts, "exit_status", "model_stats") | picked(facts.get("model_stats"), "api_calls", "instance_cost")
    yield Cut(file.end(root), (_facts(closing, meta),), _digest(b"closing", closing))


def _opening(file: JsonFile, places: dict[str, int]) -> tuple[Draft, ...]:
    """Give what stood before the first step: where it ran, the system prompt, the task."""
    environment = places.get("environment")
    drafts = [_facts(b"{}" if environment is None else file.slice(environment), {"part_of": "opening"})]
    history = items(file.value(places["history"])) if "history" in places else []
    before = itertools.takewhile(lambda message: mapping(message).get("role") != "assistant", history)
    for message in before:
        content = to_bytes(_flat(mapping(message).get("content")))
        meta = picked(message, "role", "agent")
        if mapping(message).get("role") == "system":
            drafts.append(Draft(Kind.SYSTEM, content, meta=meta, origin="host:swe-agent", trust=Trust.TRUSTED))
        else:
            drafts.append(Draft(Kind.USER_MESSAGE, content, meta=meta, origin="user", trust=Trust.TRUSTED))
    return tuple(drafts)


def _step(step: Any, number: int) -> tuple[Draft, ...]:
    drafts: list[Draft] = []
    call = {"call_id": str(number), "tool": _SHELL}
    said = text(step.get("thought")) or text(step.get("response"))
    if said:
        drafts.append(_by_agent(Kind.AGENT_MESSAGE, said, {"step": number}))
    if isinstance(step.get("action"), str):
        drafts.append(_by_agent(Kind.TOOL_CALL, step["action"], call | {"step": number}))
    if isinstance(step.get("observation"), str):
        meta = call | picked(step, "state", "execution_time", step=number)
        drafts.append(
            Draft(Kind.TOOL_RESULT, to_bytes(step["observation"]), meta=meta, origin=f"tool:{_SHELL}")
        )  # fmt: skip
    return tuple(drafts) or (Draft(Kind.OTHER, b"{}", origin="host:swe-agent"),)


def _by_agent(kind: Kind, said: str, meta: dict[str, Any]) -> Draft:
    return Draft(kind, to_bytes(said), meta=meta, agent="swe-agent", origin="agent", trust=Trust.AGENT)


def _facts(content: bytes, meta: dict[str, Any]) -> Draft:
    return Draft(Kind.SESSION, content, "application/json", meta=meta, origin="host:swe-agent")


def _flat(content: object) -> str:
    """Give a message's text, which newer versions write as a list of blocks."""
    if isinstance(content, list):
        return "\n".join(text(mapping(block).get("text")) for block in content)
    return text(content)


def _digest(*fields: object) -> bytes:
    digest = hashlib.sha256()
    for field_bytes in fields:
        assert isinstance(field_bytes, bytes)
        digest.update(len(field_bytes).to_bytes(8, "little") + field_bytes)
    return digest.digest()
