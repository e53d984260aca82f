"""The Claude Agent SDK: its transcripts in the log, and what the memory tells its sessions.

    store = FirsthandSessionStore(Memory("notes"), agent="ada")
    options = await store.options(cwd="/srv/shop")
    async for message in query(prompt="Go on.", options=options): ...
    await store.end()

Each entry becomes the events that a transcript of Claude Code becomes, and comes back equal. The invariant: an
entry that `append` returned for is on disk; one with a uuid stands once in what `load` gives, in its newest form, and
each form stays in the log. What is deleted leaves the lists and stays in the log; `Memory.erase` destroys it.

`append` and `load` raise what the store refuses: the SDK tries again and goes on, and a session that cannot be
loaded must not begin anew unnoticed. The hooks and tools never raise.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from claude_agent_sdk import (
    ClaudeAgentOptions,
    HookMatcher,
    SdkMcpTool,
    SessionStore,
    create_sdk_mcp_server,
    fold_session_summary,
    project_key_for_directory,
)

from firsthand import Draft, Event, Kind, Memory, Trust, fence
from firsthand.adapters.loop import Loop
from firsthand.agent_space import AgentSpace
from firsthand.async_memory import Asked, Threads
from firsthand.event import INJECTED, IdMaker, derived_id, to_bytes, to_text
from firsthand.hosts.claude_code import ClaudeCode
from firsthand.hosts.transcript import Source
from firsthand.log.prepare import DraftGroup
from firsthand.record import Record, whole
from firsthand.value import replace

HOST = "claude"
DELETED = "deleted"
BATCH_EVENTS, LINE_BYTES_MAX = 2_000, 8 << 20
PROMPT_S = 5.0
_T = TypeVar("_T")
Key = Mapping[str, Any]


class FirsthandSessionStore(SessionStore):
    """A `SessionStore` on the log; the memory stays open, and is the caller's to close."""

    def __init__(self, memory: Memory, *, agent: str = HOST) -> None:
        """Make a store.

        Args:
            agent: whose sessions they are.
        """
        self._memory, self._agent = memory, AgentSpace(memory, agent)
        self._asked = Asked(Threads(), lambda: memory)
        self._states: dict[str, Mapping[str, Any]] = {}
        self._summaries: dict[str, tuple[int, Any]] = {}
        self._loops: dict[str, Loop] = {}

    # the protocol --------------------------------------------------------------------------------------

    async def append(self, key: Any, entries: list[Any]) -> None:
        """Append entries, in order."""
        await self._run(lambda: self._append(key, entries))

    async def load(self, key: Any) -> list[Any] | None:
        """Give the entries of a key; None where there never were any, or they were deleted."""
        return await self._run(lambda: self._load(key))

    async def list_sessions(self, project_key: str) -> list[Any]:
        """List the sessions of a project, with when each was written to last."""
        return await self._run(lambda: [*self._sessions(project_key)])

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """Give what the SDK folds of each session; derived from the log, of what is new in it alone."""
        return await self._run(
            lambda: [
                self._summary({"project_key": project_key, "session_id": session["session_id"]}, session["mtime"])
                for session in self._sessions(project_key)
            ]
        )

    async def delete(self, key: Any) -> None:
        """Take a session out of the lists, with all below it, or one subpath; its events stay in the log."""
        await self._run(lambda: self._delete(key))

    async def list_subkeys(self, key: Any) -> list[str]:
        """List the subpaths of a session."""
        return await self._run(lambda: [*self._subkeys(key)])

    # what the sessions are told ------------------------------------------------------------------------

    async def options(self, *, cwd: str | os.PathLike[str] | None = None, **fields: Any) -> ClaudeAgentOptions:
        """Make options of a query: this store, the preamble, what each prompt brings up, and recall and expand.

        Args:
            fields: further ones of `ClaudeAgentOptions`; hooks and servers are added to those named.
        """
        loop = self._loop(_name_in(cwd, "preamble"), records=False)
        preamble = await loop.awaited.preamble()
        system = fields.pop("system_prompt", None) or {"type": "preset", "preset": "claude_code"}
        if isinstance(system, str):
            system = f"{system}\n\n{preamble}".strip()
        elif preamble:
            system = {**system, "append": f"{system.get('append', '')}\n\n{preamble}".strip()}
        hooks = dict(fields.pop("hooks", None) or {})
        told = HookMatcher(hooks=[self._prompted], timeout=PROMPT_S)
        hooks["UserPromptSubmit"] = [*hooks.get("UserPromptSubmit", ()), told]
        servers = {**(fields.pop("mcp_servers", None) or {}), "firsthand": self._server(loop)}
        return ClaudeAgentOptions(
            cwd=cwd, session_store=self, system_prompt=system, hooks=hooks, mcp_servers=servers, **fields
        )

    async def end(self) -> list[str]:
        """Write the episodes of the sessions that were appended to or prompted here; gives their names."""
        loops, self._loops = self._loops, {}
        return [name for loop in loops.values() if (name := await loop.awaited.end())]

    async def _prompted(self, call: Any, _tool: str | None, _context: Any) -> Any:
        loop = self._loop(_name_in(call.get("cwd"), str(call.get("session_id") or "unnamed")))
        text = await loop.awaited.prompt(str(call.get("prompt") or ""))
        told = {"hookEventName": "UserPromptSubmit", "additionalContext": text}
        return {"hookSpecificOutput": told} if text else {}

    def _server(self, loop: Loop) -> Any:
        def tool(name: str, description: str, schema: Mapping[str, Any]) -> Any:
            async def called(arguments: dict[str, Any]) -> dict[str, Any]:
                return {"content": [{"type": "text", "text": await loop.awaited.call(name, arguments)}]}

            return SdkMcpTool(name, description, dict(schema), called)

        offered = [each for each in loop.definitions if each.name in {"recall", "expand"}]
        return create_sdk_mcp_server(
            "firsthand", tools=[tool(each.name, each.description, each.parameters) for each in offered]
        )

    def _loop(self, name: str, *, records: bool = True) -> Loop:
        short = name.removeprefix(f"{HOST}:")
        loop = Loop(self._memory, host=HOST, session=short, agent=self._agent.name, records=records)
        return self._loops.setdefault(name, loop) if records else loop

    # in the memory's thread ----------------------------------------------------------------------------

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await self._asked.run(lambda _memory: work())

    def _append(self, key: Key, entries: Sequence[Mapping[str, Any]]) -> None:
        name, drafts = _name(key), list[Draft]()
        fence_key, life = self._memory.log.reader.fence_key(), self._deleted(name)
        if entries and not key.get("subpath"):
            self._agent.enrol(name, host=HOST)
            self._loop(name)
        for entry in entries:
            drafts += self._drafts(key, entry, fence_key, life)
            if len(drafts) >= BATCH_EVENTS:
                self._memory.append(drafts, session=name)
                drafts = []
        if drafts:
            self._memory.append(drafts, session=name)

    def _drafts(self, key: Key, entry: Mapping[str, Any], fence_key: bytes, life: int) -> Iterator[Draft]:
        """Cut an entry into its events; the same uuid with the same words is the same events."""
        raw = json.dumps(entry).encode("ascii") + b"\n"
        uuid = entry.get("uuid")
        facts = {"uuid": uuid} if isinstance(uuid, str) and uuid else {}
        identity = hashlib.sha256(raw).digest() if facts else to_bytes(IdMaker()())
        for draft in self._record(key, raw).drafts:
            content = to_text(draft.content) if isinstance(draft.content, bytes) else ""
            ours = {INJECTED: True} if fence.unwrap(content, fence_key).only else {}
            parts = to_bytes(_name(key)), identity, f"{life}.{draft.part}".encode()
            named = derived_id(draft.time, b"claude-agent-sdk", *parts)
            yield replace(draft, id=named, meta={**draft.meta, **facts, **ours})

    def _record(self, key: Key, raw: bytes) -> Record:
        if len(raw) > LINE_BYTES_MAX:
            return whole(raw, Draft(Kind.OTHER, b"", "application/json", origin=f"host:{HOST}"))
        name, path = _name(key), f"p/{key['session_id']}{f'/{sub}' if (sub := key.get('subpath')) else ''}.jsonl"
        (reading,) = ClaudeCode().read([raw], Source(path, state=self._states.get(name, {}), final=True))
        self._states[name] = {"host": reading.state.get("host", {})}
        return reading.record

    def _entries(self, key: Key, after: int = 0) -> Iterator[tuple[Event, Any]]:
        """Yield what stands under a key, in order, as it was appended."""
        name, reader = _name(key), self._memory.log.reader
        after = max(after, self._deleted(name))
        for event in self._memory.events(name, after=after):
            if event.part == 0 and event.envelope and not event.erased:
                yield event, json.loads(reader.source_of(event))

    def _load(self, key: Key) -> list[Any] | None:
        entries: dict[object, Any] = {}
        for event, entry in self._entries(key):
            entries[entry.get("uuid") or event.position] = entry
        return [*entries.values()] or None

    def _deleted(self, name: str) -> int:
        """Give the position at which a session was deleted last; 0 for never."""
        marks = self._memory.events(name, kind=Kind.SESSION, newest_first=True)
        return next((mark.position for mark in marks if mark.meta.get("type") == DELETED), 0)

    def _delete(self, key: Key) -> None:
        name = _name(key)
        below = () if key.get("subpath") else [f"{name}/{quote(subpath)}" for subpath in self._subkeys(key)]
        known = {session.name for session in self._memory.sessions()}
        mark = Draft(Kind.SESSION, b"", meta={"type": DELETED}, origin=f"host:{HOST}", trust=Trust.TRUSTED)
        groups = [DraftGroup(session, (replace(mark, id=IdMaker()()),)) for session in (name, *below)]
        self._memory.log.append_group(
            [group for group in groups if group.session in known], namespace=self._memory.namespace
        )

    def _standing(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield what sessions are called behind a prefix, and when each was written to last, in milliseconds."""
        for session in self._memory.sessions():
            if session.name.startswith(prefix) and self._deleted(session.name) < session.last_position:
                event = next(self._memory.events(session.name, newest_first=True, limit=1))
                yield session.name.removeprefix(prefix), event.ingested.milliseconds

    def _sessions(self, project: str) -> Iterator[dict[str, Any]]:
        for name, written in self._standing(_name({"project_key": project, "session_id": ""})):
            if "/" not in name:
                yield {"session_id": unquote(name), "mtime": written}

    def _subkeys(self, key: Key) -> Iterator[str]:
        for name, _ in self._standing(f"{_name({**key, 'subpath': ''})}/"):
            yield unquote(name)

    def _summary(self, key: Key, mtime: int) -> Any:
        name = _name(key)
        through, summary = self._summaries.get(name, (0, None))
        if through < self._deleted(name):
            through, summary = 0, None
        for event, entry in self._entries(key, after=through):
            through, summary = event.position, fold_session_summary(summary, key, [entry])
        self._summaries[name] = (through, summary)
        return {**(summary or {"session_id": key["session_id"], "data": {}}), "mtime": mtime}


def _name(key: Key) -> str:
    """Give the session of the log that a key stands for; a slash parts project, session and subpath."""
    name = f"{HOST}:{quote(key['project_key'], safe='')}/{quote(key['session_id'], safe='')}"
    return f"{name}/{quote(key['subpath'])}" if key.get("subpath") else name


def _name_in(folder: object, session: str) -> str:
    return _name({"project_key": project_key_for_directory(str(folder or ".")), "session_id": session})
