"""tau-bench results: a JSON array of episodes, each an OpenAI chat of an agent and a simulated user.

An episode is a session ``<task>-<trial>``. The task that the agent could not see,
and the reward, stay in the envelope of the episode's first record.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from firsthand import Draft, Kind
from firsthand.formats import openai_chat
from firsthand.formats.fields import mapping, picked, to_name
from firsthand.formats.parts import Calls
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.value import replace

_SHAPE = re.compile(rb'\s*\[\s*\{\s*"task_id"\s*:')


class Tau:
    """The host of tau-bench result files."""

    name = "tau"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False

    def recognises(self, path: str, head: bytes) -> bool:
        return path.endswith(".json") and _SHAPE.match(head) is not None and b'"reward"' in head

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return to_name(PurePosixPath(path).stem)

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, _cuts)


def _cuts(file: JsonFile, source: Source) -> Iterator[Cut]:
    for episode in file.items(file.root()):
        places = dict(file.members(episode))
        facts = {name: file.value(at) for name, at in places.items() if name in ("task_id", "trial", "reward")}
        session = to_name(f"{facts.get('task_id')}-{facts.get('trial', 0)}")
        traj = places.get("traj", places.get("messages"))
        meta = picked(facts, "task_id", "trial", "reward", file=PurePosixPath(source.path).name)
        said = json_file.dump({name: facts[name] for name in ("task_id", "trial") if name in facts})
        opening = Draft(Kind.SESSION, said, "application/json", meta, origin="host:tau")
        end = file.end(episode) if traj is None else traj
        held = Cut(end, (opening,), hashlib.sha256(file.data[episode:end]).digest(), session)
        calls: Calls = {}
        for at in file.items(traj) if traj is not None else ():
            yield held
            held = _message(file, at, calls, session)
        yield replace(held, end=file.end(episode))


def _message(file: JsonFile, at: int, calls: Calls, session: str) -> Cut:
    raw = file.slice(at)
    drafts = openai_chat.drafts(mapping(file.value(at)), raw, calls)
    named = (replace(d, agent=Tau.name) if d.origin == "agent" else d for d in drafts)
    return Cut(file.end(at), tuple(named), raw, session)
