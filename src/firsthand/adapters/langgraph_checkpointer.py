"""LangGraph's checkpoints on the log: each checkpoint, channel value and pending write is an event.

    graph = builder.compile(checkpointer=FirsthandSaver(Memory("notes")))

The invariant: a checkpoint that `put` returned for is on disk, with the values of its channels; both are
appended together. Deleting and pruning append what is no longer offered; the events stay in the thread's session.
No recall finds a checkpoint: it repeats what messages and tools said elsewhere.

While the log fails, threads go on from what this process has of them, and what they put waits (`adapters.standby`):
no failure of the store's ends a run, and each is told.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any
from urllib.parse import unquote

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)

from firsthand import Draft, Kind, Memory, moment
from firsthand.adapters.langgraph_store import quoted
from firsthand.adapters.standby import Standby, Unread
from firsthand.event import NAME_BYTES_MAX, REPEATS, to_bytes, to_text
from firsthand.log.prepare import DraftGroup
from firsthand.value import replace

PREFIX = "langgraph-thread:"
DIGESTED = f"{PREFIX}/"  # before the digest of a name that is too long for a session's; no quoted name has the sign
THREAD = "langgraph-thread"  # the fact of its events that has the name
FORMAT = "langgraph"  # the fact of an event's meta which holds what we know of it
DROPPED_AT_ONCE = 1_000  # checkpoints that one event names
COPIED_AT_ONCE = 1_000
THREADS_MAX = 1_000  # that are kept in mind; any other one is read again from its session
SNAPSHOTS = "counters_since_delta_snapshot"

Config = dict[str, Any]
Where = tuple[str, str]
"""A checkpoint of a thread: LangGraph's namespace (of a subgraph), and its id."""


class _Thread:
    """What of a thread's session is offered, by the positions of its events."""

    def __init__(self) -> None:
        self.reached, self.is_read = 0, True
        self.points: dict[Where, tuple[int, Mapping[str, Any]]] = {}
        self.values: dict[tuple[str, str, str], int] = {}  # namespace, channel, version
        self.writes: dict[Where, dict[tuple[str, int], tuple[int, Mapping[str, Any]]]] = {}

    def take(self, position: int, meta: Mapping[str, Any]) -> None:
        """Take in the next event of the session; one that was erased says nothing any more."""
        facts = meta.get(FORMAT)
        if not isinstance(facts, dict):
            return
        where = facts.get("ns", ""), facts.get("id", "")
        match facts["sort"]:
            case "point":
                self.points[where] = position, facts
            case "value":
                self.values[facts["ns"], facts["channel"], _version(facts["version"])] = position
            case "write":
                writes, name = self.writes.setdefault(where, {}), (facts["task"], facts["index"])
                if name[1] < 0 or name not in writes:  # an error or an interrupt replaces the one before it
                    writes[name] = position, facts
            case "drop":
                for ns, identifier in facts["points"]:
                    self.points.pop((ns, identifier), None)
                    self.writes.pop((ns, identifier), None)
            case "delete":
                self.points, self.values, self.writes = {}, {}, {}

    def newest(self, ns: str) -> str:
        """Name the newest checkpoint of a namespace; empty without any."""
        return max((identifier for name, identifier in self.points if name == ns), default="")


def _threaded(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Give a method that does another one in a thread."""

    async def awaited(self: Any, *arguments: Any, **named: Any) -> Any:
        return await asyncio.to_thread(getattr(self, name), *arguments, **named)

    return awaited


class FirsthandSaver(Standby, BaseCheckpointSaver[str]):
    """Keeps the checkpoints of LangGraph's threads in one namespace of a Firsthand store."""

    def __init__(self, memory: Memory, *, serde: Any = None) -> None:
        Standby.__init__(self, memory, f"{PREFIX}*")
        BaseCheckpointSaver.__init__(self, serde=serde)
        self._threads: dict[str, _Thread] = {}

    # writing -----------------------------------------------------------------------------------------

    def put(self, config: Config, checkpoint: Any, metadata: Any, new_versions: Mapping[str, Any]) -> Config:
        """Append a checkpoint, and the values of the channels that are new in it."""
        thread, ns = _thread_of(config), config["configurable"].get("checkpoint_ns", "")
        values = checkpoint["channel_values"]
        drafts = [
            self._kept(values[channel], sort="value", ns=ns, channel=channel, version=version)
            for channel, version in new_versions.items()
            if channel in values
        ]
        about = get_checkpoint_metadata(config, metadata)
        content = {"checkpoint": {**checkpoint, "channel_values": {}}, "metadata": about}
        facts = {"ns": ns, "id": checkpoint["id"], "parent": get_checkpoint_id(config), "run": about.get("run_id")}
        self._append(thread, [*drafts, self._kept(content, sort="point", **facts)])
        return _config(thread, ns, checkpoint["id"])

    def put_writes(self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Append what a task wrote, for the checkpoint that it ran on; the same write again changes nothing."""
        facts = {
            "sort": "write", "ns": config["configurable"].get("checkpoint_ns", ""), "id": get_checkpoint_id(config),
            "task": task_id, "path": task_path,
        }  # fmt: skip
        drafts = [
            self._kept(content, **facts, index=WRITES_IDX_MAP.get(channel, index), channel=channel)
            for index, (channel, content) in enumerate(writes)
        ]
        self._append(_thread_of(config), drafts)

    def delete_thread(self, thread_id: str) -> None:
        """Offer nothing of a thread any more."""
        if self._followed(thread_id).points:
            self._append(thread_id, [_draft(b"", sort="delete")])

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Offer no checkpoint of these runs any more, in whichever thread."""
        runs = {*run_ids}
        with self._lock:
            for thread in self._names() if runs else ():
                points = self._followed(thread).points.items()
                self._drop(thread, [where for where, (_, facts) in points if facts.get("run") in runs])

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Append all that is offered of a thread to another one.

        Raises:
            Unread: it cannot be read.
        """
        with self._lock:
            source = self._followed(source_thread_id)
            positions = {position for position, _ in source.points.values()} | {*source.values.values()}
            positions |= {position for writes in source.writes.values() for position, _ in writes.values()}
        ordered = sorted(positions, key=lambda position: (position < 0, abs(position)))
        for start in range(0, len(ordered), COPIED_AT_ONCE):
            self._append(target_thread_id, [*self._read(ordered[start : start + COPIED_AT_ONCE]).values()])

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Offer the newest checkpoint of each namespace alone, or (``delete``) none.

        Older ones stay as far as a channel that keeps differences needs them.

        Raises:
            ValueError: there is no such strategy.
            Unread: what must stay cannot be read.
        """
        if strategy not in {"keep_latest", "delete"}:
            raise ValueError(f"expected the strategy keep_latest or delete; got {strategy!r}")
        for thread in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread)
                continue
            with self._lock:
                points = self._followed(thread).points
                staying = {where for ns in {ns for ns, _ in points} for where in self._needed(thread, ns)}
                self._drop(thread, [where for where in points if where not in staying])

    def _needed(self, thread: str, ns: str) -> Iterator[Where]:
        """Yield the newest checkpoint, and those above it up to a whole value of each channel of differences."""
        offered = self._followed(thread)
        where, missing = (ns, offered.newest(ns)), None
        while where in offered.points and missing != set():
            yield where
            state = self._read_tuple(thread, where)
            assert state is not None, "it is offered"
            missing = set(state.metadata.get(SNAPSHOTS, ())) if missing is None else missing
            missing -= state.checkpoint["channel_values"].keys()
            where = ns, str(offered.points[where][1]["parent"])

    def _drop(self, thread: str, points: list[Where]) -> None:
        pages = [points[start : start + DROPPED_AT_ONCE] for start in range(0, len(points), DROPPED_AT_ONCE)]
        self._append(thread, [_draft(b"", sort="drop", points=page) for page in pages])

    def _kept(self, content: Any, **facts: Any) -> Draft:
        name, data = self.serde.dumps_typed(content)
        return _draft(data, **facts, type=name)

    def _append(self, thread: str, drafts: Sequence[Draft]) -> None:
        if drafts:
            with self._lock:
                self._catch_up()
                offered = self._threads.get(thread) or self._followed(thread)
                session = _session(thread)
                if session.startswith(DIGESTED):
                    drafts = [replace(draft, meta={**draft.meta, THREAD: thread}) for draft in drafts]
                group = DraftGroup(session, (*drafts,))
                for position, (_, draft) in self._write([group], is_read=offered.is_read).items():
                    offered.take(position, draft.meta)

    def _named(self, drafts: Sequence[Draft]) -> str:
        points = [draft.meta[FORMAT]["id"] for draft in drafts if draft.meta[FORMAT]["sort"] == "point"]
        return f"{super()._named(drafts)} (checkpoints: {', '.join(points) or 'none'})"

    # reading -----------------------------------------------------------------------------------------

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """Give the checkpoint that is named, or the newest one; None where there is none."""
        thread, ns = _thread_of(config), config["configurable"].get("checkpoint_ns", "")
        return self._tuple(thread, (ns, get_checkpoint_id(config) or self._followed(thread).newest(ns)))

    def list(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's word
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the newest first."""
        asked = config["configurable"] if config else {}
        threads = [_thread_of(config)] if config else self._names()
        end = get_checkpoint_id(before) if before else None
        with self._lock:
            places = [
                (where, thread)
                for thread in threads
                for where in self._followed(thread).points
                if asked.get("checkpoint_ns", where[0]) == where[0]
                and (asked.get("checkpoint_id") or where[1]) == where[1]
                and (not end or where[1] < end)
            ]
        places.sort(key=lambda place: place[0][1], reverse=True)
        states = (self._tuple(thread, where) for where, thread in places)
        wanted = (
            state for state in states
            if state and all(state.metadata.get(name) == content for name, content in (filter or {}).items())
        )  # fmt: skip
        yield from wanted if limit is None else islice(wanted, max(limit, 0))

    def _tuple(self, thread: str, where: Where) -> CheckpointTuple | None:
        """Put a checkpoint together from its events; None where it is not offered, was erased, or cannot be read."""
        try:
            return self._read_tuple(thread, where)
        except Unread:  # which is told
            return None

    def _read_tuple(self, thread: str, where: Where) -> CheckpointTuple | None:
        ns, identifier = where
        with self._lock:
            offered = self._followed(thread)
            position, facts = offered.points.get(where, (0, {}))
            named = sorted(offered.writes.get(where, {}).items(), key=_order)
            point = self._contents([position] if position else []).get(position)
            if point is None:
                return None
            versions = point["checkpoint"]["channel_versions"].items()
            places = {channel: offered.values.get((ns, channel, _version(version))) for channel, version in versions}
        writes = [write for _, write in named]
        contents = self._contents([place for place in places.values() if place] + [place for place, _ in writes])
        values = {channel: contents[place] for channel, place in places.items() if place in contents}
        return CheckpointTuple(
            config=_config(thread, ns, identifier),
            checkpoint={**point["checkpoint"], "channel_values": values},
            metadata=point["metadata"],
            parent_config=_config(thread, ns, facts["parent"]) if facts["parent"] else None,
            pending_writes=[
                (about["task"], about["channel"], contents[place]) for place, about in writes if place in contents
            ],
        )

    def _contents(self, positions: Sequence[int]) -> dict[int, Any]:
        """Read what events hold, by position; without what was erased."""
        return {
            position: self.serde.loads_typed((draft.meta[FORMAT]["type"], draft.content))
            for position, draft in self._read(positions).items()
        }

    def _followed(self, thread: str) -> _Thread:
        """Give what a thread offers, with what was appended since, by whichever process."""
        with self._lock:
            self._catch_up()
            if thread not in self._threads and len(self._threads) >= THREADS_MAX and not self._waiting:
                self._threads.clear()
            offered = self._threads.setdefault(thread, _Thread())
            offered.is_read = self._safely("read", lambda: self._follow(thread, offered), False)
            return offered

    def _follow(self, thread: str, offered: _Thread) -> bool:
        head = self._memory.position
        if head > offered.reached:
            for event in self._memory.events(_session(thread), after=offered.reached, before=head + 1):
                offered.take(event.position, event.meta)
                self._saw(event.session, event.position)
            offered.reached = head
        return True

    def _renew(self) -> None:
        self._threads.clear()

    def _names(self) -> Sequence[str]:
        known = self._safely("read", lambda: [*map(self._thread, self._sessions())], list[str]())
        return [*dict.fromkeys([*known, *self._threads])]

    def _sessions(self) -> Sequence[str]:
        return [info.name for info in self._memory.sessions() if info.name.startswith(PREFIX)]

    def _thread(self, session: str) -> str:
        """Give the thread of a session, of whose name too long a one is in the session's events."""
        if not session.startswith(DIGESTED):
            return unquote(session.removeprefix(PREFIX))
        return str(next(self._memory.events(session, limit=1)).meta[THREAD])

    # the same in a thread ------------------------------------------------------------------------------

    def get_next_version(self, current: str | int | None, channel: None) -> str:  # noqa: ARG002 - LangGraph's signature
        """Give a version above the present one, which no other fork of the thread has."""
        return f"{int(str(current or 0).partition('.')[0]) + 1:032}.{secrets.token_hex(8)}"

    async def alist(self, config: Config | None, **conditions: Any) -> AsyncIterator[CheckpointTuple]:
        read: Callable[[], Sequence[CheckpointTuple]] = lambda: [*self.list(config, **conditions)]  # noqa: E731
        for state in await asyncio.to_thread(read):
            yield state

    aput = _threaded("put")
    aput_writes = _threaded("put_writes")
    aget_tuple = _threaded("get_tuple")
    adelete_thread = _threaded("delete_thread")
    adelete_for_runs = _threaded("delete_for_runs")
    acopy_thread = _threaded("copy_thread")
    aprune = _threaded("prune")
    aget_delta_channel_history = _threaded("get_delta_channel_history")


def _session(thread: str) -> str:
    name = to_bytes(f"{PREFIX}{quoted(thread)}")
    return to_text(name) if len(name) <= NAME_BYTES_MAX else f"{DIGESTED}{sha256(name).hexdigest()}"


def _thread_of(config: Config) -> str:
    return str(config["configurable"]["thread_id"])


def _config(thread: str, ns: str, identifier: str) -> Config:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": identifier}}


def _order(write: tuple[tuple[str, int], tuple[int, Mapping[str, Any]]]) -> tuple[str, str, int]:
    (task, index), (_, facts) = write
    key: tuple[str, str, int] = writes_sort_key(facts["path"], task, index)
    return key


def _version(version: Any) -> str:
    """Write a channel's version so that a number and a text of the same digits differ, as JSON gives both back."""
    return repr(version)


def _draft(content: bytes, **facts: Any) -> Draft:
    meta = {FORMAT: facts, REPEATS: True}
    return Draft(Kind.SESSION, content, "application/octet-stream", meta, origin=FORMAT, time=moment.now())
