"""The MCP server: an agent's tools, resources and preamble, for any host that speaks the protocol.

The invariant: what goes wrong reaches the client as a sentence of ours, never as a
traceback, and never ends the server: a store that cannot be opened is told at each
call, and tried again. Calls run in threads, a stated number at once; one that is
cancelled answers nobody. Texts from the log are fenced by `AgentTools`; this door
adds none of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from firsthand import AgentTools, FirsthandError, Memory, __version__
from firsthand.environment import default_embedder, default_namespace, default_store
from firsthand.errors import StoreBusy, StoreReadOnly
from firsthand.formats.tool_definitions import RECALL
from firsthand.log.engine import TIMEOUT_MS
from firsthand.server import mcp_sdk
from firsthand.server.daemon_stores import NO_IDENTITY, Stores, check_same, identity_of
from firsthand.server.hook_client import Call
from firsthand.tokens import estimate
from firsthand.value import value

CALLS_AT_ONCE_MAX = 8  # further ones wait
PROGRESS_S = 0.5
BUSY_S, BUSY_LOOK_S = 10.0, 0.2
SESSION_EVENTS = 200
EVENT_CHARACTERS = 50_000
COMPLETIONS_MAX = 50
BODY_BYTES_MAX = 4 << 20
IDLE_S = 1_800
TOKENS_TARGET = 830
"""Of all that a client is told of the tools; a test holds it."""

SESSION, EPISODE = "firsthand://session/{name}", "firsthand://episode/{name}"

_T = TypeVar("_T")
_WRITES = {"remember", "decide"}
_GIVES = {"type": "object", "required": ["outcome", "text"]}


@value
class Served:
    """Whose memory is served: the arguments of the command.

    Attributes:
        store, namespace, embedder: None takes the usual ones.
        agent: its name; empty takes that of the folder.
        cwd: the folder that the agent works in.
        across: other agents' sessions may be looked at.
    """

    store: str | None = None
    namespace: str | None = None
    embedder: str | None = None
    agent: str = ""
    cwd: str = ""
    across: bool = False


class Opening:
    """The store, open for the length of a call; a failure to open it is raised to each call anew."""

    def __init__(self, served: Served, stores: Stores | None) -> None:
        self.served, self._own = served, None if stores else Stores(TIMEOUT_MS)
        self.stores = stores or self._own or Stores()
        self._read_only: Memory | None = None
        self._identity = NO_IDENTITY

    @contextmanager
    def tools(self) -> Iterator[AgentTools]:
        """Give the agent's tools.

        Raises:
            FirsthandError: the store cannot be opened; `StoreReplaced` where it is not the one of the call before, at
                each call where it is gone, once where another one stands there.
        """
        served = self.served
        store, namespace = served.store or str(default_store()), served.namespace or default_namespace()
        call = Call(store=store, namespace=namespace, embedder=served.embedder or default_embedder() or "none")
        before, now = self._identity, identity_of(store)
        self._identity = before if now == NO_IDENTITY else now
        check_same(store, before)
        with ExitStack() as until:
            try:
                memory = self._read_only or until.enter_context(self.stores.of(call))
            except StoreReadOnly as refusal:  # what can be read is; `remember` refuses, and `health` says why
                memory = self._read_only = self.stores.read_only(call, refusal)
            self._identity = identity_of(store)
            yield AgentTools.of(memory, cwd=served.cwd, agent=served.agent, across=served.across)

    def close(self) -> None:
        """Let the store go."""
        if self._own is not None:
            self._own.close()
        if self._read_only is not None:
            self._read_only.close()


class Door:
    """One MCP server over one agent's memory."""

    def __init__(
        self, served: Served, stores: Stores | None = None, *, port: int = 0, http: dict[str, Any] | None = None
    ) -> None:
        self.sdk = mcp_sdk.load()
        self.opening = Opening(served, stores)
        self._limiter: Any = None
        limits: dict[str, Any] = {"session_idle_timeout": IDLE_S, "max_request_body_size": BODY_BYTES_MAX}
        self.http = limits | {"host": "127.0.0.1"} | (http or {})
        if self.sdk.major == 1:
            self.http["port"] = port
        tools = [
            mcp_sdk.make_tool(
                self.sdk, self._answering(definition.name), name=definition.name,
                description=definition.description, takes=definition.parameters, gives=_GIVES,
                reads=definition.name not in _WRITES,
            )
            for definition in AgentTools.definitions()
        ]  # fmt: skip
        self.server = mcp_sdk.make_server(
            self.sdk, "firsthand", instructions=AgentTools.instructions(), version=__version__, tools=tools,
            http=self.http,
        )  # fmt: skip
        self._offer_resources()
        self._offer_prompt()
        self._offer_completions()

    def close(self) -> None:
        """Let the store go."""
        self.opening.close()

    # tools -------------------------------------------------------------------------------------------

    def _answering(self, name: str) -> mcp_sdk.Answering:
        async def answering(arguments: Mapping[str, Any], context: Any) -> Any:
            try:
                answer = await self._run(lambda tools: self._called(tools, name, arguments), name, context)
            except FirsthandError as error:
                raise self.sdk.tool_error(self._sentence(name, error)) from error
            return mcp_sdk.make_result(self.sdk, answer.text, answer.structured)

        return answering

    async def _run(self, work: Callable[[AgentTools], _T], name: str, context: Any = None) -> _T:
        """Do work in a thread, and report progress while it lasts, to a client that asked for it."""
        import anyio
        from anyio.to_thread import run_sync

        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(CALLS_AT_ONCE_MAX)
        results: list[_T] = []
        failed: list[FirsthandError] = []

        async def tell() -> None:
            steps = 0
            while True:
                await anyio.sleep(PROGRESS_S)
                steps += 1
                await context.report_progress(steps, None, f"{name}: {steps * PROGRESS_S:g} s")

        async with anyio.create_task_group() as group:
            if context is not None:
                group.start_soon(tell)
            try:
                results.append(await run_sync(lambda: self._work(work), abandon_on_cancel=True, limiter=self._limiter))
            except FirsthandError as error:  # raised below: a group would wrap it
                failed.append(error)
            group.cancel_scope.cancel()
        if failed:
            raise failed[0]
        return results[0]

    def _called(self, tools: AgentTools, name: str, arguments: Mapping[str, Any]) -> Any:
        with self.opening.stores.measures.call("mcp", name):
            answer = tools.call(name, arguments)
        if name == RECALL:
            self.opening.stores.measures.count("firsthand_recall_requests", "tool", answer.outcome)
        return answer

    def _work(self, work: Callable[[AgentTools], _T]) -> _T:
        """Do work while the store is open; one that another process holds is asked again for a while."""
        by = time.monotonic() + BUSY_S
        while True:
            try:
                with self.opening.tools() as tools:
                    return work(tools)
            except StoreBusy:
                if time.monotonic() > by:
                    raise
                time.sleep(BUSY_LOOK_S)

    def _sentence(self, name: str, error: FirsthandError) -> str:
        return AgentTools.sentence(name, error, store=self.opening.served.store or "")

    # resources and prompt ------------------------------------------------------------------------------

    def _offer_resources(self) -> None:
        sdk = self.sdk

        async def read(work: Callable[[AgentTools], str], what: str) -> str:
            try:
                return await self._run(work, what)
            except FirsthandError as error:
                raise sdk.resource_error(self._sentence(what, error)) from error

        async def event(id: str) -> str:  # noqa: A002 - the word of the address
            named = mcp_sdk.decoded(sdk, id)
            address = named if named.startswith("fh:") else f"fh:{named}"
            return await read(lambda tools: tools.expand(address, max_chars=EVENT_CHARACTERS).text, "event")

        async def session(name: str) -> str:
            named = mcp_sdk.decoded(sdk, name)
            return await read(lambda tools: tools.timeline(named, limit=SESSION_EVENTS).text, "session")

        async def episode(name: str) -> str:
            named = mcp_sdk.decoded(sdk, name)
            return await read(lambda tools: tools.episode(named), "episode")

        async def sessions() -> str:
            return await read(AgentTools.listing, "sessions")

        for function, address, title, description in (
            (
                event,
                "firsthand://event/{id}",
                "One event",
                "What was said or done, word for word, by its pointer's id.",
            ),
            (session, SESSION, "A session", "The newest events of a session, a line each."),
            (episode, EPISODE, "An episode", "The record of a past session: decisions, failures, pending work."),
            (sessions, "firsthand://sessions", "Sessions", "Names of the agent's sessions and episodes, newest first."),
        ):
            media = "text/markdown" if function is episode else "text/plain"
            offer = self.server.resource(
                address, name=function.__name__, title=title, description=description, mime_type=media
            )
            offer(function)

    def _offer_prompt(self) -> None:
        async def preamble() -> str:
            try:
                return await self._run(AgentTools.preamble, "preamble")
            except FirsthandError as error:
                return self._sentence("preamble", error)

        about = "The last episodes, open work, rules and knowledge of this project, within a budget of tokens."
        self.server.prompt(name="preamble", title="What to know before starting", description=about)(preamble)

    def _offer_completions(self) -> None:
        named: Mapping[str, Callable[[AgentTools], tuple[str, ...]]] = {
            SESSION: AgentTools.sessions,
            EPISODE: AgentTools.episodes,
        }

        async def complete(ref: Any, argument: Any, _context: Any) -> Any:
            template = str(getattr(ref, "uri", ""))
            if template not in named:
                return None
            try:
                names = await self._run(named[template], "complete")
            except FirsthandError as error:
                raise self.sdk.resource_error(self._sentence("complete", error)) from error
            fitting = [name for name in names if name.startswith(argument.value)]
            completion = {"values": fitting[:COMPLETIONS_MAX], "total": len(fitting)}
            return self.sdk.completion.model_validate(completion | {"hasMore": len(fitting) > COMPLETIONS_MAX})

        self.server.completion()(complete)


def described(door: Door) -> list[dict[str, Any]]:
    """Give the tools as a client is told of them."""
    import anyio

    listed = anyio.run(door.server.list_tools)
    return [item.model_dump(mode="json", by_alias=True, exclude_none=True) for item in listed]


def tokens_of(tools: list[dict[str, Any]]) -> int:
    """Estimate the tokens of tools as a client is told of them."""
    return estimate(json.dumps(tools, separators=(",", ":")))
