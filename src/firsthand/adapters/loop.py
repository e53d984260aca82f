"""What every framework needs of a memory: one session of an agent, whose faults never end the framework's run.

    preamble, prompt     what the session is told: first, and for a message of the user's
    sync, add, say       the whole list of messages as it is now, or new ones, into the log
    compact              the list under a budget; what left it stands in markers
    fit                  the same with what the session is told, for a call of the model
    definitions, call    recall, expand, task and decide, as functions of a framework
    end                  the episode

The invariant: nothing here raises for a fault of Firsthand's. A fault is logged, kept for `doctor`, and told once
in the next prompt; the list that was to be compacted comes back as it was. Lists and new messages that could not be
recorded wait, and are recorded in the order in which they came, before the next ones.

What comes in the user's role is the user's only where nothing says otherwise: a message with an ``origin``, a loop
whose ``asker`` is an agent, or a run inside an agent's tool (`asked_by`). Such words are untrusted, and begin no turn.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from firsthand import AgentTools, Budget, Kind, Memory, environment
from firsthand.adapters.chat_messages import OWN, newest, text_of
from firsthand.adapters.guard import Guard
from firsthand.adapters.handles import Handles
from firsthand.agents.hosted_session import Brought, HostedSession
from firsthand.async_memory import Asked, Awaited, Threads
from firsthand.context.session_lists import new_name
from firsthand.context.session_window import SessionWindow
from firsthand.context.tools import TOOLS
from firsthand.errors import AppendError, FormatError, StoreClosed, StoreFailed, StoreReadOnly
from firsthand.formats import OPENAI_CHAT
from firsthand.formats.tool_definitions import Tool, schemas
from firsthand.memory_verbs import Verb
from firsthand.session import Session
from firsthand.tokens import CounterOrName
from firsthand.unasked import volunteer
from firsthand.value import replace

BUDGET = Budget(100_000)
UNREACHABLE = "the memory cannot be reached now; go on without it"
UNWRITTEN_MAX = 10_000
LISTS_MAX = 8  # of one session, that are known by what they have in common
THREADS_MAX = 64  # sessions of `Loops` that are open at a time; any other one is opened again when it goes on
WAITING_THREADS_MAX = 1_000  # that stay open beside these because something of them waits for the store
FAULTS_MAX = 100  # of closed sessions, that `Loops` still tells
ASKER: ContextVar[str] = ContextVar("asker", default="")
_T = TypeVar("_T")


@contextmanager
def asked_by(origin: str) -> Iterator[None]:
    """Take what comes in the user's role within as from elsewhere, as what an agent's tool asks another agent is.

    Args:
        origin: ``agent:NAME``, or the name of the framework that says it.
    """
    before = ASKER.get()
    ASKER.set(origin)
    try:
        yield
    finally:
        ASKER.set(before)


class _Waiting:
    """A framework's whole list as it was, or new messages, to be recorded."""

    def __init__(self, messages: list[Any], *, is_list: bool) -> None:
        self.messages, self.is_list = messages, is_list


class Loop(Guard):
    """One session of an agent in a framework; safe to share between threads.

    Attributes:
        faults: what went wrong so far, each once, in sentences.
        recalled: how many events the newest `prompt` brought up.
        is_ended: nothing happened since its episode was written.
    """

    def __init__(
        self,
        store: Memory | Handles | str | os.PathLike[str] | None = None,
        *,
        host: str,
        session: str,
        agent: str = "",
        namespace: str | None = None,
        budget: int | Budget = BUDGET,
        format: str = OPENAI_CHAT,  # noqa: A002 - the package's word
        counter: CounterOrName | None = None,
        records: bool = True,
        across: bool = False,
        asker: str = "",
    ) -> None:
        """Say whose session it is; the store is opened by the first call.

        Args:
            store: an open memory, which stays open; as for `Memory`; or handles, which several loops share.
            host, session: the framework's name, and its own name of the session: ``host:session`` in the log.
            agent: whose sessions, episodes and rules it reads and adds to; empty is the framework's name.
            namespace: of the store; None is the default one.
            budget: of a whole request: system prompt, tools and messages.
            counter: counts tokens as the model does, or its name (``gpt-5``); None is the estimate.
            format: of all messages: ``openai-chat``, ``openai-responses`` or ``anthropic``.
            records: keep what happens; otherwise the session is only told things.
            across: recall from other agents' sessions too.
            asker: ``agent:NAME`` where an agent speaks in the user's role; empty for the user, so far as is known.
        """
        super().__init__()
        self.handles = store if isinstance(store, Handles) else Handles(store)
        self.store, self.agent, self.host, self.session = self.handles.store, agent or host, host, session
        self.namespace = environment.default_namespace() if namespace is None else namespace
        self.budget, self.format, self.counter, self.records = budget, format, counter, records
        self.across, self.asker, self.recalled, self.is_ended = across, asker, 0, True
        self._askers: dict[str, str] = {}  # by what they said
        self._waiting: list[_Waiting] = []
        self._memory: Memory | None = None
        self._hosted: HostedSession | None = None
        self._window: SessionWindow | None = None  # of the list that came last
        self._windows: list[SessionWindow] = []  # of all lists
        self._preamble = ""
        self._compacts = False  # what is in the window need not be in the framework's list

    @property
    def name(self) -> str:
        """The session's name in the log."""
        return f"{self.host}:{self.session}"

    @property
    def unwritten(self) -> list[Any]:
        """The messages of what could not be recorded yet, in order; of lists all."""
        return [message for waiting in self._waiting for message in waiting.messages]

    @property
    def waits(self) -> bool:
        """Whether something could not be recorded yet."""
        return bool(self._waiting)

    @cached_property
    def awaited(self) -> AsyncLoop:
        """The same verbs, awaited; each is done in a thread, in the order of the calls."""
        return AsyncLoop(Asked(Threads(), lambda: self))

    # what the session is told --------------------------------------------------------------------------

    def preamble(self) -> str:
        """Give what the session is to read first, fenced; empty for nothing."""
        return str(self._safely("preamble", lambda: self._host().preamble(), volunteer.NOTHING))

    def prompt(self, text: str) -> str:
        """Give what a message of the user's brings up, fenced, and once what went wrong; empty for nothing."""
        brought = self._safely("recall", lambda: self._host().prompt(text), Brought())
        self.recalled, is_untold, self._is_untold = brought.recalled, self._is_untold, False
        return str(volunteer.joined([volunteer.DEGRADED, brought.text] if is_untold else [brought.text]))

    # what happens --------------------------------------------------------------------------------------

    def sync(self, messages: Sequence[Any]) -> None:
        """Append what is new in the framework's whole list."""
        self._record(messages, is_list=True)

    def add(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Append new messages."""
        self._record(messages, is_list=False)

    def _record(self, messages: Sequence[Any], *, is_list: bool) -> None:
        with self._lock:
            self._wait(messages, is_list=is_list)
            self.flush()
            self._limit()

    def flush(self) -> None:
        """Record what waits, if the store takes it."""
        self._safely("record", self._flush, None)

    def say(self, role: str, text: str) -> None:
        """Append a text that ``user``, ``assistant`` or ``system`` said."""
        typed: dict[str, Any] = {"type": "message"} if self.format == "openai-responses" else {}
        self.add([{**typed, "role": role, "content": text}])

    def compact(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        system: str | None = None,
        contributions: Mapping[str, str] | None = None,
    ) -> list[Any]:
        """Give the list under the budget, appending what is new in it; after a fault the list as it came.

        Args:
            tools: schemas of the framework's own tools, which count against the budget, as ours do.
            system: the system prompt, where it is no message; it counts too.
            contributions: what the window is to place and count, by the name of its part: ``preamble``, ``recall``
                and others of `SessionWindow.request`; none of it is in what comes back after a fault.
        """

        def compacted() -> list[Any]:
            self._flush()
            if not self._records():
                return [*messages]
            self._compacts = True
            sent = self._open().request(tools=tools, system=system, contributions=contributions).messages
            return [
                {name: part for name, part in message.items() if name != "origin"}
                if "origin" in message else message for message in sent
            ]  # fmt: skip

        with self._lock:
            self._wait(messages, is_list=True)
            sent = self._safely("compact", compacted, [*messages])
            self._limit()
            return sent

    def opening(self) -> str:
        """Give the preamble as the session was first given it."""
        with self._lock:
            self._preamble = self._preamble or self.preamble()
            return self._preamble

    def fit(self, messages: Sequence[Any], *, tools: Sequence[Tool], system: str) -> list[Any]:
        """Give the list for a call of the model: under the budget, with what the user's newest message brings up.

        Args:
            tools: the framework's own; the memory's among them are left out, which is not one that only has its name.
            system: the system prompt, where it is no message.
        """
        with self._lock:
            brought = self.prompt(newest(messages))
            if brought in map(text_of, messages):  # already
                brought = ""
            parts = {"preamble": self.opening(), "recall": brought}
            ours = {(tool.name, tool.description) for tool in TOOLS}
            theirs = [tool for tool in tools if (tool.name, tool.description) not in ours]
            own = schemas(
                [replace(tool, name=f"own_{tool.name}") if tool.name in OWN else tool for tool in theirs], self.format
            )
            sent = self.compact(messages, tools=own, system=system, contributions=parts)
            if brought and sent == [*messages]:  # no window was made, so nothing stands in its tail
                sent.append({"role": "user", "content": brought})
            return sent

    def guarded(self, where: str, part: Callable[[Loop], _T], otherwise: _T) -> _T:
        """Do a part that makes something of the framework's own; after a fault give ``otherwise``.

        It is done also while the store is left alone after a fault: what it asks of the store is guarded by itself.
        """
        return super()._safely(where, lambda: part(self), otherwise, rests=False)

    # tools ---------------------------------------------------------------------------------------------

    @property
    def definitions(self) -> tuple[Tool, ...]:
        """The tools: name, description, and JSON schema of the arguments."""
        return TOOLS

    def tools(self, format: str | None = None) -> list[dict[str, Any]]:  # noqa: A002
        """Give the tools as a provider takes them."""
        return schemas(TOOLS, format or self.format)

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Answer a call of one of them; what went wrong is a sentence for the model."""
        refused = f"{name} was not done: {UNREACHABLE}"
        return self._safely(name, lambda: self._open().call(name, arguments, repeats=not self._compacts), refused)

    def ask(self, where: str, question: Callable[[Memory], _T], otherwise: _T) -> _T:
        """Ask the memory anything else; after a fault give ``otherwise``."""
        return self._safely(where, lambda: question(self._host_memory()), otherwise)

    def hosted(self, where: str, part: Callable[[HostedSession], _T], otherwise: _T) -> _T:
        """Do a part with the session as hosts have it; after a fault give ``otherwise``."""
        return self._safely(where, lambda: part(self._host()), otherwise)

    def search(self, query: str) -> str:
        """Recall from the whole namespace: fenced, with what was found, or why nothing was."""
        failed = "the memory could not be searched now; go on without it"
        return self.ask("recall", lambda memory: memory.fenced(memory.recall(query)), failed)

    # the end -------------------------------------------------------------------------------------------

    def end(self) -> str:
        """Append what is left and write the episode; gives its name, empty without one."""

        def ended() -> str:
            self._flush()
            name = self._host().end()
            self.is_ended = True
            return name

        return self._safely("episode", ended, "")

    def close(self) -> None:
        """Let the store go, if it was opened here; a later call opens it again."""
        self._release(is_broken=False)

    def _release(self, *, is_broken: bool) -> None:
        with self._lock:
            opened, self._memory, self._hosted, self._window = self._memory, None, None, None
            if opened is not None:
                self._safely("close", lambda: self.handles.give_back(opened, is_broken=is_broken), None)

    # what is open --------------------------------------------------------------------------------------

    def _host(self) -> HostedSession:
        if self._hosted is None:
            self._memory = self._memory or self._opened()
            tools = AgentTools.of(self._memory, cwd="", agent=self.agent, across=self.across)
            self._hosted = HostedSession(tools, self.host, self.session, records=self.records)
            self._hosted.begin()
        return self._hosted

    def _host_memory(self) -> Memory:
        self._host()
        assert self._memory is not None, "a session has its memory"
        return self._memory

    def _opened(self) -> Memory:
        try:
            return self.handles.take(self.namespace)
        except StoreReadOnly as error:  # what can be read is, and that nothing is kept is said
            self._tell("record", error)
            return self.handles.take(self.namespace, read_only=True)

    def _folder(self) -> Path | None:
        folder = super()._folder()
        return folder if folder is None or not self.handles.was_open or folder.exists() else None

    def _open(self) -> SessionWindow:
        if self._window is None:
            self._window = self._made(self._session_log())
            self._windows = [self._window]
        return self._window

    def _session_log(self) -> Session:
        return Session(self._host().tools.space, self.name, self.agent)

    def _made(self, session: Session) -> SessionWindow:
        return session.window(self.budget, format=self.format, counter=self.counter)

    def _records(self) -> bool:
        return self.records and self._host().records

    # what waits to be recorded -------------------------------------------------------------------------

    def _wait(self, messages: Sequence[Any], *, is_list: bool) -> None:
        """Put a list, or new messages, behind what waits; a list that has all of the newest one takes its place."""
        self.is_ended = False
        messages = [*map(self._with_origin, messages)]
        if not is_list:
            if not self._waiting or self._waiting[-1].is_list:
                self._waiting.append(_Waiting([], is_list=False))
            self._waiting[-1].messages.extend(messages)
            return
        newest = next((at for at in range(len(self._waiting) - 1, -1, -1) if self._waiting[at].is_list), None)
        if newest is not None:
            known = [message for waiting in self._waiting[newest:] for message in waiting.messages]
            if known == [*messages[: len(known)]]:
                del self._waiting[newest:]
        self._waiting.append(_Waiting([*messages], is_list=True))

    def _with_origin(self, message: Any) -> Any:
        """Name whose words stand in the user's role, where they are not the user's; whoever said them first."""
        if not isinstance(message, Mapping) or message.get("role") != "user" or "origin" in message:
            return message
        origin = self._askers.setdefault(text_of(message), self.asker or ASKER.get())
        return {**message, "origin": origin} if origin else message

    def _limit(self) -> None:
        """Let the oldest messages go where too many wait."""
        if (over := len(self.unwritten) - UNWRITTEN_MAX) > 0:
            self._tell("record", f"of more than {UNWRITTEN_MAX:,} messages that wait for the store, the oldest go")
        while over > 0:
            oldest = self._waiting.pop(0)
            if len(oldest.messages) > over:
                self._waiting.insert(0, _Waiting(oldest.messages[over:], is_list=oldest.is_list))
            over -= len(oldest.messages)

    def missing(self) -> None:
        """Say that what waits will never be recorded."""
        self._tell("record", f"{len(self.unwritten):,} messages are missing: too many sessions wait for the store")

    def _flush(self) -> None:
        """Record what waits, in order."""
        if not self._records():
            self._waiting.clear()
        while self._waiting:
            oldest = self._waiting[0]
            try:
                (self._sync if oldest.is_list else self._add)(oldest.messages)
            except (FormatError, AppendError):  # it would be refused again
                del self._waiting[0]
                raise
            del self._waiting[0]

    def _sync(self, messages: list[Any]) -> None:
        """Take a list; one that has nothing in common with the others has a window of its own, and so has each."""
        self._open()
        for window in reversed(self._windows):  # the one that came last stands last
            with contextlib.suppress(FormatError):
                window.sync(messages)
                break
        else:
            session = self._session_log()
            session.list_name = new_name()
            window = self._made(session)
            window.sync(messages)
        others = [each for each in self._windows if each is not window]
        self._window, self._windows = window, [*others[1 - LISTS_MAX :], window]

    def _add(self, messages: list[Any]) -> None:
        """Append messages; what is none of the format is kept as it is, beside the window."""
        try:
            self._open().add(messages)
        except (FormatError, AppendError):  # one by one: which of them it is
            while messages:
                try:
                    self._open().add(messages[:1])
                except (FormatError, AppendError) as error:
                    self._session_log().append(
                        Kind.OTHER, json.dumps(messages[0], default=repr), media="application/json"
                    )
                    self._tell("record", f"a message is kept as it is, and stands in no window: {error}")
                del messages[0]

    # faults --------------------------------------------------------------------------------------------

    def _safely(self, where: str, part: Callable[[], _T], otherwise: _T, *, rests: bool = True) -> _T:
        with self._lock:
            before = self.failures
            answer = super()._safely(where, lambda: self._on_open(part), otherwise, rests=rests)
            if self.failures > before:
                self._window = None  # what it had read may be half of the truth: read anew
            for fault in self._hosted.faults if self._hosted is not None else ():
                self._log(fault)  # what it survived by itself is kept for `doctor` already
            return answer

    def _on_open(self, part: Callable[[], _T]) -> _T:
        """Do a part; after it a handle that takes no more is let go, so that the next one opens what is there then."""
        try:
            return part()
        except (StoreClosed, StoreFailed):
            self._release(is_broken=True)
            raise


_Key = tuple[str | None, str]  # of a thread: its namespace, None for that of all, and its name


class AsyncLoop(Awaited[Loop]):
    """The verbs of `Loop`, awaited."""

    preamble = Verb(Loop.preamble)
    prompt = Verb(Loop.prompt)
    sync = Verb(Loop.sync)
    add = Verb(Loop.add)
    say = Verb(Loop.say)
    compact = Verb(Loop.compact)
    guarded = Verb(Loop.guarded)
    call = Verb(Loop.call)
    search = Verb(Loop.search)
    end = Verb(Loop.end)
    close = Verb(Loop.close)


class Loops:
    """The sessions of an agent in a framework that names them by its threads; each is opened by its first call."""

    host: str

    def __init__(
        self,
        store: Memory | Handles | str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        """Say whose memory it is; the store is opened by the first call of the model.

        Args:
            store: an open memory, which stays open; or as for `Memory`.
            options: ``agent``, ``namespace``, ``budget`` and ``counter`` of `Loop`.
        """
        handles = store if isinstance(store, Handles) else Handles(store)
        self._options: dict[str, Any] = {"budget": BUDGET, **options, "store": handles, "host": self.host}
        Loop(session="", **self._options)  # which refuses what is no option
        self._lock = threading.RLock()
        self._loops: OrderedDict[_Key, Loop] = OrderedDict()
        self._left: dict[_Key, None] = {}  # threads that were closed for others, and have no episode
        self._faults: list[str] = []  # of threads that were closed
        self._worker = ThreadPoolExecutor(1, "firsthand-threads")  # closes them
        self._flushed: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def loop(self, thread: str, namespace: str | None = None) -> Loop:
        """Give the session of a thread, in the namespace of all or another one."""
        key = namespace, thread
        with self._lock:
            if key not in self._loops:
                self._left.pop(key, None)
                self._loops[key] = self._new(key)
            self._loops.move_to_end(key)
            if len(self._loops) > THREADS_MAX:
                self._let_go()
            return self._loops[key]

    def _new(self, key: _Key) -> Loop:
        namespace, thread = key
        return Loop(session=thread, **self._options | ({} if namespace is None else {"namespace": namespace}))

    def _let_go(self) -> None:
        """Close the thread that rested longest, and write the episode of one that was closed long ago.

        A thread of which something waits for the store stays, and one of them tries again.
        """
        *others, _ = self._loops
        waiting = [key for key in others if self._loops[key].waits]
        if waiting and (self._flushed is None or self._flushed.done()):
            self._flushed = self._worker.submit(self._loops[waiting[0]].flush)
        key = next((key for key in others if key not in waiting), None)
        if key is None and len(waiting) > WAITING_THREADS_MAX:
            key = waiting[0]
            self._loops[key].missing()
        if key is None:
            return
        loop = self._loops.pop(key)
        self._worker.submit(self._close, loop)
        self._left |= {} if loop.is_ended else {key: None}
        if len(self._left) > THREADS_MAX:
            del self._left[oldest := next(iter(self._left))]
            self._worker.submit(self._close, self._new(oldest), ends=True)

    def _close(self, loop: Loop, *, ends: bool = False) -> None:
        if ends:
            loop.end()
        loop.close()
        with self._lock:
            self._faults = [*dict.fromkeys([*self._faults, *loop.faults])][-FAULTS_MAX:]

    @property
    def faults(self) -> list[str]:
        """What went wrong so far, in sentences; of threads that were closed the newest."""
        with self._lock:
            own = (fault for loop in self._loops.values() for fault in loop.faults)
            return list(dict.fromkeys([*self._faults, *own]))

    def end(self, thread: str) -> str:
        """End a thread: write its episode, and give its name, empty without one."""
        return self.loop(thread).end()

    def close(self) -> None:
        """End every thread that has no episode yet, and let the store go."""
        with self._lock:
            loops, self._loops = [*self._loops.values(), *map(self._new, self._left)], OrderedDict()
            self._left = {}
        for loop in loops:
            self._close(loop, ends=True)
        self._worker.submit(int).result()  # behind what was closed before
