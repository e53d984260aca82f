"""AsyncMemory: the verbs of `Memory`, awaited; each is done in a thread of its memory.

    async with AsyncMemory("folder") as memory:
        await memory.session("deploy").user("Ship it.")
        answer = await memory.recall("what ships?")

The invariant: calls are done one after the other, in the order in which they were made; those that read the whole
store are done beside them, in a second thread. A cancelled await takes back a call that has not begun, and no other.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from firsthand import environment
from firsthand.context.executors import Executor
from firsthand.context.session_log import SessionLog, SessionVerbs
from firsthand.context.session_window import SessionWindow
from firsthand.errors import StoreClosed
from firsthand.event import Draft, IdMaker
from firsthand.log.results import Appended
from firsthand.memory import Memory
from firsthand.memory_verbs import Awaits, Pages, SessionCalls, Verb, Verbs
from firsthand.session import Session
from firsthand.value import short_repr

LONG = frozenset({"verify", "erase", "rebuild", "follow", "import_paths", "export", "restore", "backup"})
"""Verbs that may take as long as reading the whole store: they have a thread of their own."""
PAGE_ITEMS, PAGE_S = 64, 0.01
"""Of what yields, so much is fetched at once: at most as many, and no longer than that."""
P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")


class Threads:
    """The two threads of a memory; each begins with its first call and ends with `close`, or with the memory."""

    def __init__(self) -> None:
        self._short, self._long = (ThreadPoolExecutor(1, f"firsthand{more}") for more in ("", "-long"))
        self._closed = False

    def submit(self, call: Callable[[], T], *, is_long: bool = False) -> Future[T]:
        """Have a call done behind those before it."""
        if self._closed:
            raise StoreClosed("this AsyncMemory was closed; open it again.")
        return (self._long if is_long else self._short).submit(contextvars.copy_context().run, call)

    async def run(self, call: Callable[[], T], *, is_long: bool = False) -> T:
        """Have a call done, and give what it gives."""
        return await asyncio.wrap_future(self.submit(call, is_long=is_long))

    def let_go(self, items: object) -> None:
        """Close an iterator behind the calls before; nobody waits for it."""
        if not self._closed and (close := getattr(items, "close", None)):
            self.submit(close)

    def close(self) -> None:
        """Take no more calls; those taken are done first."""
        self._closed = True
        for thread in (self._short, self._long):
            thread.shutdown(wait=False)


class Asked(Generic[T]):
    """Somebody whose methods are called in the threads of a memory; opened there, by the first call."""

    def __init__(self, threads: Threads, opened: Callable[[], T]) -> None:
        self.threads, self._opened = threads, opened
        self._target: T | None = None

    def target(self) -> T:
        """Give whose methods they are; called in the first thread alone."""
        if self._target is None:
            self._target = self._opened()
        return self._target

    async def run(self, function: Callable[[T], A], *, is_long: bool = False) -> A:
        """Call a function with it."""
        if not is_long:
            return await self.threads.run(lambda: function(self.target()))
        target = self._target if self._target is not None else await self.threads.run(self.target)
        return await self.threads.run(lambda: function(target), is_long=True)

    def verb(self, verb: Verb[Any, Any], _owner: Any) -> Any:
        """Give a verb as a function that is awaited."""

        @functools.wraps(verb.method)
        async def awaited(*arguments: Any, **named: Any) -> Any:
            is_long = verb.method.__name__ in LONG
            return await self.run(lambda target: verb.method(target, *arguments, **named), is_long=is_long)

        return awaited

    def pages(self, verb: Pages[Any, Any], _owner: Any) -> Any:
        """Give a verb that yields as one whose items are awaited."""

        @functools.wraps(verb.method)
        async def awaited(*arguments: Any, **named: Any) -> AsyncIterator[Any]:
            items = await self.run(lambda target: verb.method(target, *arguments, **named))
            try:
                while page := await self.threads.run(lambda: _page(items)):
                    for item in page:
                        yield item
            finally:
                self.threads.let_go(items)

        return awaited


def _page(items: Iterator[T]) -> list[T]:
    """Take the next items."""
    until, page = time.monotonic() + PAGE_S, list[T]()
    for item in islice(items, PAGE_ITEMS):
        page.append(item)
        if time.monotonic() > until:
            break
    return page


class _Opens(Generic[P, A]):
    """A verb that opens something with verbs of its own; nothing is done before the first of them."""

    def __init__(self, method: Callable[Concatenate[Any, P], Any], kind: Callable[[Asked[Any]], A]) -> None:
        self.method, self._kind = method, kind

    def __get__(self, owner: Any, _class: object) -> Callable[P, A]:
        if owner is None:
            return self.method  # type: ignore[return-value] # for the reference

        @functools.wraps(self.method)
        def opened(*arguments: P.args, **named: P.kwargs) -> A:
            above: Asked[Any] = owner._wire  # noqa: SLF001 - its own
            return self._kind(Asked(above.threads, lambda: self.method(above.target(), *arguments, **named)))

        return opened


class Awaited(Awaits, Generic[T]):
    """What every asynchronous name has."""

    _wire: Asked[T]

    def __init__(self, asked: Asked[T]) -> None:
        self._wire = asked

    async def run(self, function: Callable[[T], A]) -> A:
        """Call a function with what this stands for, in its thread, for all that has no verb here.

        Such as ``await memory.run(lambda memory: memory.agent("ada").preamble())``.
        """
        return await self._wire.run(function)


class AsyncWindow(Awaited[SessionWindow]):
    """A session's window; its properties are read by `run`: ``await window.run(lambda window: window.state)``."""

    add = Verb(SessionWindow.add)
    sync = Verb(SessionWindow.sync)
    request = Verb(SessionWindow.request)
    composed = Verb(SessionWindow.composed)
    answer = Verb(SessionWindow.answer)
    call = Verb(SessionWindow.call)
    usage = Verb(SessionWindow.usage)
    compact = Verb(SessionWindow.compact)
    pack = Verb(SessionWindow.pack)
    set_task = Verb(SessionWindow.set_task)  # type: ignore[arg-type] # of `self`, which has a name in any function
    receipts = Pages(SessionWindow.receipts)
    receipt = Verb(SessionWindow.receipt)
    stays = Verb(SessionWindow.stays)


class AsyncExecutor(Awaited[Executor]):
    """An executor below a session."""

    window = _Opens(Executor.window, AsyncWindow)  # type: ignore[arg-type] # as above
    recall = Verb(Executor.recall)  # type: ignore[arg-type] # as above
    finish = Verb(Executor.finish)


class AsyncSession(SessionCalls, SessionVerbs[Coroutine[Any, Any, Appended]], Awaited[Session]):
    """A run of turns to append to: the verbs of `Session`, awaited.

    ``window(...)`` and ``executor(...)`` give objects whose verbs are awaited; they are opened by the first of these.
    """

    def __init__(self, memory: Asked[Memory], name: str, agent: str) -> None:
        SessionVerbs.__init__(self, name, agent)
        Awaited.__init__(self, Asked(memory.threads, lambda: memory.target().session(name, agent=agent)))

    def __repr__(self) -> str:
        return short_repr("AsyncSession", {"name": self.name} | ({"agent": self.agent_name} if self.agent_name else {}))

    window = _Opens(Session.window, AsyncWindow)
    executor = _Opens(Session.executor, AsyncExecutor)

    async def _append(self, draft: Draft) -> Appended:
        return await self.run(lambda session: SessionLog._append(session, draft))  # noqa: SLF001 - its own verb


class AsyncMemory(Verbs, Awaited[Memory]):
    """The memory of one namespace in one store: the verbs of `Memory`, awaited.

    What `Memory` yields is an asynchronous iterator here. Safe to share between tasks, threads and event loops.
    """

    open_span = Pages(Memory.open_span)
    unfinished = Verb(Memory.unfinished)
    replay = Verb(Memory.replay)
    import_paths = Verb(Memory.import_paths)
    export = Verb(Memory.export)
    restore = Verb(Memory.restore)
    backup = Verb(Memory.backup)
    rebuild = Verb(Memory.rebuild)
    follow = Verb(Memory.follow)
    stats = Verb(Memory.stats)
    _closing: Future[Any] | None = None

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, namespace: str | None = None, **options: Any
    ) -> None:
        """Say which store; it is opened by ``async with``, or by the first call.

        Args:
            path: the store's folder, or the address of one in PostgreSQL.
            namespace: the tenant.
            options: the others of `Memory`, whose errors the first call raises.
        """
        self.namespace = environment.default_namespace() if namespace is None else namespace
        super().__init__(Asked(Threads(), functools.partial(Memory, path, namespace=self.namespace, **options)))

    def __repr__(self) -> str:
        return short_repr(type(self).__name__, {"namespace": self.namespace})

    async def __aenter__(self) -> Self:
        await self.run(lambda memory: memory.namespace)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the store go, behind the calls made before; a second time waits for the first."""
        if self._closing is None:
            self._closing = self._wire.threads.submit(lambda: getattr(self._wire._target, "close", int)())  # noqa: SLF001, PLW0108 - opened by then
            self._wire.threads.close()
        await asyncio.shield(asyncio.wrap_future(self._closing))

    def session(self, name: str | None = None, *, agent: str = "") -> AsyncSession:
        """Give a session to append to; a name that is new begins one, None makes a name.

        Args:
            agent: whose words the session's agent messages and tool calls are.
        """
        return AsyncSession(self._wire, name or IdMaker()().lower(), agent)
