"""Events as a session holds them, made without a store."""

from __future__ import annotations

import json
from typing import Any

from firsthand.context.task_observer import observe
from firsthand.context.task_state import TaskState
from firsthand.event import Artifact, Event, Kind, Trust, id_text, to_bytes
from firsthand.moment import Moment

TRUSTS = {Kind.USER_MESSAGE: Trust.TRUSTED, Kind.AGENT_MESSAGE: Trust.AGENT, Kind.TOOL_CALL: Trust.AGENT}


def pointer(position: int) -> str:
    """The pointer of the event at a position."""
    return f"fh:{id_text(position.to_bytes(16, 'big'))}"


def happened(position: int, kind: Kind, content: str | bytes | None, **fields: Any) -> Event:
    """Make one event; its id is its position."""
    told: dict[str, Any] = {
        "namespace": "default", "session": "work", "sequence": position, "part": 0, "turn": 1, "agent": "",
        "origin": "", "trust": TRUSTS.get(kind, Trust.UNTRUSTED), "time": None, "ingested": Moment(0),
        "media": "text/plain", "meta": {}, "envelope": b"", "artifact": None, "erased": False, "commitment": b"",
        "chain": b"",
    } | fields  # fmt: skip
    data = to_bytes(content) if isinstance(content, str) else content
    return Event(position=position, id=pointer(position)[3:], kind=kind, content=data, **told)


class Story:
    """A session told event by event, and the state that was observed of it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.state = TaskState()
        self.turn = 0

    def user(self, text: str, **fields: Any) -> Story:
        self.turn += 1
        return self.add(Kind.USER_MESSAGE, text, origin="user", **fields)

    def agent(self, text: str, **fields: Any) -> Story:
        return self.add(Kind.AGENT_MESSAGE, text, origin="agent", **fields)

    def call(self, tool: str, arguments: Any, call_id: str = "") -> Story:
        content = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return self.add(Kind.TOOL_CALL, content, meta={"tool": tool, "call_id": call_id or f"c{len(self.events)}"})

    def result(self, content: str, call_id: str = "", **meta: Any) -> Story:
        last = next(e for e in reversed(self.events) if e.kind is Kind.TOOL_CALL)
        told = {"call_id": call_id or last.meta["call_id"]} | meta
        return self.add(Kind.TOOL_RESULT, content, meta=told)

    def run(self, command: str, output: str = "", **meta: Any) -> Story:
        """A command in a shell, and what came of it."""
        return self.call("bash", {"command": command}).result(output, **meta)

    def add(self, kind: Kind, content: str | bytes | None, **fields: Any) -> Story:
        one = happened(len(self.events) + 1, kind, content, **({"turn": self.turn} | fields))
        self.events.append(one)
        self.state = observe(self.state, one)
        return self

    def add_artifact(self, kind: Kind, preview: str, **fields: Any) -> Story:
        artifact = Artifact(bytes(32), 1_000_000, to_bytes(preview))
        return self.add(kind, None, artifact=artifact, **fields)

    def texts(self, field: str) -> list[str]:
        return [entry.text for entry in getattr(self.state, field)]
