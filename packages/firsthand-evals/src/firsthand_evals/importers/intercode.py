"""InterCode result files: a JSON object of episodes, each a query and the turns of a shell or SQL agent.

An episode is one record: its actions stand in one list and what they brought in
another, and events come in the order in which things happened.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from firsthand import Draft, Kind, Trust
from firsthand.event import to_bytes
from firsthand.formats.fields import items, mapping, picked, text, to_name
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Place, Reading, Source

_SHAPE = re.compile(rb'\s*\{\s*"[^"]*"\s*:\s*\{\s*"environment"\s*:')
_TOOLS = {"ic_bash": "bash", "ic_sql": "sql", "ic_python": "python"}


class Intercode:
    """The host of InterCode's result files; each episode is a session ``<file>-<key>``."""

    name = "intercode"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith(".json") and _SHAPE.match(head) is not None and b'"turn_history"' in head

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return PurePosixPath(path).stem

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _cuts)


def _cuts(file: JsonFile, source: Source) -> Iterator[Cut]:
    for key, at in file.members(file.root()):
        yield Cut(
            file.end(at), _episode(mapping(file.value(at))), file.slice(at), f"{PurePosixPath(source.path).stem}-{key}"
        )


def _episode(episode: Any) -> tuple[Draft, ...]:
    environment = to_name(episode.get("environment")) or "environment"
    tool = _TOOLS.get(environment, environment)
    task = picked(episode, "environment", "dataset", "task_id", "hardness") | picked(
        episode.get("summary"), "max_reward", "turns_taken"
    )
    drafts = [
        Draft(Kind.USER_MESSAGE, to_bytes(text(episode.get("query"))), meta=task, origin="user", trust=Trust.TRUSTED)
    ]
    turns = mapping(episode.get("turn_history"))
    columns = (items(turns.get(name)) for name in ("actions", "observations", "rewards", "valid_action"))
    for number, (action, observation, reward, valid) in enumerate(itertools.zip_longest(*columns), 1):
        call = {"call_id": str(number), "tool": tool}
        if action is not None:
            meta = call | picked({}, valid=valid)
            drafts.append(
                Draft(Kind.TOOL_CALL, _exact(action), meta=meta, agent="intercode", origin="agent", trust=Trust.AGENT)
            )
        if observation is not None:
            meta = call | picked({}, reward=reward)
            drafts.append(Draft(Kind.TOOL_RESULT, _exact(observation), meta=meta, origin=f"tool:{tool}"))
    return tuple(drafts)


def _exact(value: object) -> bytes:
    return to_bytes(value) if isinstance(value, str) else json_file.dump(value)
