"""Runs of agents, each a JSON file or a list of them: SWE-agent, tau-bench.

What a benchmark says about a run (labels, rewards, the task that the agent could not see)
is kept in envelopes: it is a verdict on what was said, and no part of it.
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
from firsthand.formats import openai_chat
from firsthand.formats.fields import items, mapping, picked, text, to_name
from firsthand.formats.parts import Calls
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Place, Reading, Source
from firsthand.value import replace

_SHELL = "shell"


class JsonHost:
    """A host whose sources are one JSON value each.

    Attributes:
        shape: how a source begins; ``holds``: what stands in its head, one of them.
        suffix: of its name.
    """

    name = ""
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False
    shape: re.Pattern[bytes]
    holds: tuple[bytes, ...] = (b"",)
    suffix = ".json"

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether a source is of this host."""
        known = path.endswith(self.suffix) and any(word in head for word in self.holds)
        return known and self.shape.match(head) is not None

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        """Name the session of a source: as its file is called."""
        return to_name(PurePosixPath(path).name.removesuffix(self.suffix))

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, self.cuts)

    def cuts(self, file: JsonFile, source: Source) -> Iterator[Cut]:
        raise AssertionError(f"{self.name} cuts its own sources; {source.path} of {len(file.data)} bytes was not")


class SweAgent(JsonHost):
    """The host of SWE-agent trajectories: one ``.traj`` file of JSON for one issue worked on.

    A step is a thought, an action and what came back. The file tells the steps first and repeats them below as the
    chat history that the model saw; so what opened that history (system prompt, the issue) is given as events before
    the first step, and the repetition is kept only in the last record's envelope.
    """

    name = "swe-agent"
    suffix = ".traj"
    shape = re.compile(rb'\s*\{.*?"(?:trajectory|history)"\s*:\s*\[', re.DOTALL)

    def cuts(self, file: JsonFile, source: Source) -> Iterator[Cut]:  # noqa: ARG002 (the parser's shape)
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
        meta = picked(facts, "exit_status", "model_stats") | picked(
            facts.get("model_stats"), "api_calls", "instance_cost"
        )
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


class Tau(JsonHost):
    """The host of tau-bench results: a JSON array of episodes, each an OpenAI chat, a session ``<task>-<trial>``."""

    name = "tau"
    shape = re.compile(rb'\s*\[\s*\{\s*"task_id"\s*:')
    holds = (b'"reward"',)

    def cuts(self, file: JsonFile, source: Source) -> Iterator[Cut]:
        for episode in file.items(file.root()):
            places = dict(file.members(episode))
            facts = {name: file.value(at) for name, at in places.items() if name in ("task_id", "trial", "reward")}
            session = to_name(f"{facts.get('task_id')}-{facts.get('trial', 0)}")
            traj = places.get("traj", places.get("messages"))
            meta = picked(facts, "task_id", "trial", "reward", file=PurePosixPath(source.path).name)
            said = json_file.dump({name: facts[name] for name in ("task_id", "trial") if name in facts})
            opening = Draft(Kind.SESSION, said, "application/json", meta, origin="host:tau")
            end = file.end(episode) if traj is None else traj
            cut = Cut(end, (opening,), hashlib.sha256(file.data[episode:end]).digest(), session)
            calls: Calls = {}
            for at in file.items(traj) if traj is not None else ():
                yield cut
                cut = _message(file, at, calls, session)
            yield replace(cut, end=file.end(episode))


def _message(file: JsonFile, at: int, calls: Calls, session: str) -> Cut:
    raw = file.slice(at)
    drafts = openai_chat.drafts(mapping(file.value(at)), raw, calls)
    named = (replace(d, agent=Tau.name) if d.origin == "agent" else d for d in drafts)
    return Cut(file.end(at), tuple(named), raw, session)
