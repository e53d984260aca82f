"""Client: the verbs of `Memory`, asked of a server.

    Memory("folder").recall("which port?")        a store of this process
    Client("http://127.0.0.1:8321").recall(...)    the same, of the server that has the store open
    await AsyncClient().recall(...)                the same, without a thread that waits

Each verb is made of the one of `Memory`, and has its arguments, words, types and errors; the two
clients differ in how a request is sent alone. The invariant: what is written carries ids of its own,
so a call that got no answer, or met a busy store, is sent again until its time is up.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from collections.abc import Sequence as Seq
from importlib import import_module
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, get_type_hints, overload
from urllib.parse import quote, urlsplit

from firsthand import environment, errors
from firsthand.context.anatomy import from_event
from firsthand.context.session_log import SessionVerbs
from firsthand.environment import extra_command
from firsthand.errors import InvalidArgument, ServerFailed, StoreBusy
from firsthand.event import Draft, Event, IdMaker, Kind
from firsthand.json_codec import from_json, to_json
from firsthand.ledger.facts import Fact
from firsthand.log.results import Appended
from firsthand.memory import Memory
from firsthand.moment import now
from firsthand.notes.claim import Claim
from firsthand.pointer import Pointer
from firsthand.session import Session
from firsthand.space import pointer_of
from firsthand.telemetry import span
from firsthand.value import replace, short_repr

ADDRESS, TIMEOUT_S = "http://127.0.0.1:8321", 30.0
"""Where a server listens unless that port is taken; ``firsthand serve --status`` names it."""
AGAIN_S, AGAIN_MAX_S, LOST_S = 0.05, 1.0, 3.0
"""Before a call is sent again: at first, at most; and how long a server that does not answer is asked."""
PIECE_BYTES, PAGE_EVENTS = 1 << 20, 200
_LONG = {"verify", "erase", "live"}
"""Verbs whose answer is waited for however long it takes: they read the whole store, or wait for news."""
_RAW = {"expand", "live"}
"""Verbs whose answer is no JSON."""
NAMESPACE_HEADER = "firsthand-namespace"
"""Names the tenant, percent-encoded; a server for teams knows that of a principal with one alone."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
P = ParamSpec("P")
T = TypeVar("T")


class Call:
    """One request: the verb, what it takes, and how the response is read."""

    def __init__(self, verb: str, fields: Mapping[str, Any], read: Callable[[Any], Any], part: str = "") -> None:
        self.verb, self._read, self._part = verb, read, part
        self.fields = {name: _sent(name, field) for name, field in fields.items() if field is not None}

    def request(self) -> dict[str, Any]:
        """Give the arguments of the library's request."""
        url, more = f"/v1/{self.verb}", {"timeout": None} if self.verb in _LONG else {}
        if self.verb in _RAW:
            return {"method": "GET", "url": url, "params": self.fields, "headers": {"range": self._part}, **more}
        return {"method": "POST", "url": url, "content": json.dumps(self.fields).encode("ascii"), **more}

    def result(self, response: Any) -> Any:
        """Read what came back.

        Raises:
            FirsthandError: what the same verb of `Memory` raises.
            ServerFailed: it is no answer of this protocol.
        """
        if response.status_code >= 400:
            raise problem(response)
        try:
            return self._read(response if self.verb in _RAW else response.json())
        except (ValueError, KeyError, TypeError) as error:
            raise ServerFailed(f"expected an answer to {self.verb}; got {response.text!r:.120} ({error})") from error


def problem(response: Any) -> errors.FirsthandError:
    """Read a problem as the error that the verb of `Memory` raises."""
    try:
        fields = response.json()
        kind = vars(errors).get(str(fields.get("error")), ServerFailed)
        raised: errors.FirsthandError = kind(str(fields["detail"]))
    except (ValueError, KeyError, TypeError, AttributeError):  # no problem of ours: a proxy's page, perhaps
        return ServerFailed(f"the server answered {response.status_code}: {response.text!r:.120}")
    return raised


Steps = Generator[Call, Seq[Any], None]
"""What a verb that yields is made of: it gives calls, and is told what came of each."""


class _Waits:
    """A client, or a session of one, whose verbs give what they read."""

    _wire: _Wire


class _Awaits:
    """A client, or a session of one, whose verbs are awaited."""

    _wire: _AsyncWire


class _Made(Generic[P]):
    """A verb that is made of one of `Memory`; called, it hands the arguments by name to who makes the request."""

    def __init__(self, method: Callable[Concatenate[Any, P], Any], make: Callable[[Any, dict[str, Any]], Any]) -> None:
        self.method, self._make, self.signature = method, make, inspect.signature(method)

    def _bound(self, client: Any, send: Callable[[Any], Any]) -> Any:
        @functools.wraps(self.method)
        def verb(*arguments: Any, **named: Any) -> Any:
            asked: dict[str, Any] = {}
            for name, argument in self.signature.bind(client, *arguments, **named).arguments.items():
                is_more = self.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
                asked |= argument if is_more else {name: argument}
            del asked["self"]
            return send(self._make(client, asked))

        return verb


class Verb(_Made[P], Generic[P, T]):
    """A verb with one answer."""

    def __init__(
        self, method: Callable[Concatenate[Any, P], T], make: Callable[[Any, dict[str, Any]], Call] | None = None
    ) -> None:
        super().__init__(method, make or (lambda _client, asked: Call(method.__name__, asked, reads(method))))

    @overload
    def __get__(self, client: _Waits, owner: object) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: _Awaits, owner: object) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        return self.method if client is None else self._bound(client, client._wire.send)  # noqa: SLF001 - its own


class Pages(_Made[P], Generic[P, T]):
    """A verb that yields, over as many requests as it takes."""

    def __init__(
        self, method: Callable[Concatenate[Any, P], Iterator[T]], make: Callable[[Any, dict[str, Any]], Steps]
    ) -> None:
        super().__init__(method, make)

    @overload
    def __get__(self, client: _Waits, owner: object) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: _Awaits, owner: object) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        return self.method if client is None else self._bound(client, client._wire.each)  # noqa: SLF001 - its own


def _next_call(steps: Steps, page: Seq[Any] | None) -> Call | None:
    """Give the next call of a verb that yields; None at its end."""
    try:
        return next(steps) if page is None else steps.send(page)
    except StopIteration:
        return None


def reads(method: Callable[..., Any]) -> Callable[[Any], Any]:
    """Read an answer into what a method says that it returns."""
    return lambda data: from_json(get_type_hints(method)["return"], data)


def _sent(name: str, argument: Any) -> Any:
    """Write an argument as the server reads it."""
    match argument:
        case Appended() | Pointer():
            return str(pointer_of(argument))
        case Claim():
            return argument.as_json()
        case str() | bytes() | Mapping():
            return to_json(argument)
        case Iterable() if not hasattr(type(argument), "__match_args__"):
            return [_sent(name, member) for member in argument]
        case _ if callable(argument):
            raise InvalidArgument(f"a function cannot be sent to a server; leave {name} out")
    return to_json(argument)


def _append(_client: Any, asked: dict[str, Any]) -> Call:
    id_of, drafts = IdMaker(), list[Draft](asked.pop("drafts"))
    asked["events"] = [
        replace(draft, id=draft.id or id_of(), content=_whole(draft.content)) for draft in drafts
    ]  # fmt: skip

    def read(data: Any) -> tuple[Appended, ...]:  # what has an id of ours is new, however often it was sent
        appended = from_json(tuple[Appended, ...], data)
        return tuple(replace(each, new=each.new or not draft.id) for each, draft in zip(appended, drafts, strict=True))

    return Call("append", asked, read)


def _note(_client: Any, asked: dict[str, Any]) -> Call:
    asked = asked if "id" in asked else {"id": IdMaker()(), "time": now(), **asked}
    return Call("note", asked, reads(Memory.note))


def _note_of_session(session: Any, asked: dict[str, Any]) -> Call:
    by_agent = {"agent": session.agent_name, "origin": "agent", "trust": "agent", "id": IdMaker()(), "time": now()}
    return Call("note", {**by_agent, **asked, "session": session.name}, lambda data: from_json(Appended, data["event"]))


def _of_session(method: Callable[..., Any], **more: Callable[[], Any]) -> Callable[[Any, dict[str, Any]], Call]:
    def make(session: Any, asked: dict[str, Any]) -> Call:
        fields = {name: field() for name, field in more.items()} | asked | {"session": session.name}
        return Call(method.__name__, fields, reads(method))

    return make


def _timeline(asked: dict[str, Any], read: Callable[[Event], Iterable[Any]]) -> Steps:
    """Read events page by page."""
    limit, last = asked.pop("limit", None), "before" if asked.get("newest_first") else "after"
    while limit is None or limit > 0:
        events: list[Event] = []
        size = PAGE_EVENTS if limit is None else min(limit, PAGE_EVENTS)

        def page_of(data: Any, events: list[Event] = events) -> list[Any]:
            events += from_json(tuple[Event, ...], data)
            return [item for each in events for item in read(each)]

        yield Call("timeline", {**asked, "limit": size}, page_of)
        if len(events) < size:
            return
        limit = None if limit is None else limit - size
        asked[last] = events[-1].position


def _stream(_client: Any, asked: dict[str, Any]) -> Steps:
    start = size = 0

    def read(response: Any) -> tuple[bytes, ...]:
        nonlocal size
        size = int(response.headers.get("content-range", "/0").rpartition("/")[2])  # none: it came whole
        return (response.content,)

    while not start or start < size:
        yield Call("expand", asked, read, f"bytes={start}-{start + PIECE_BYTES - 1}")
        start += PIECE_BYTES


def _facts(_client: Any, asked: dict[str, Any]) -> Steps:
    yield Call("facts", asked, lambda data: from_json(tuple[Fact, ...], data))


def _whole(content: Any) -> bytes:
    return content if isinstance(content, bytes) else b"".join(iter(lambda: content.read(PIECE_BYTES), b""))


def live(self: Any, session: str | None = None, *, after: int | None = None) -> Iterator[Event]:  # type: ignore[empty-body]
    """Yield events as they come, without end; after a break, from behind the last one.

    Args:
        after: the position behind which to begin; None begins with what comes from now on.

    Raises:
        ServerFailed: no server answers any longer.
    """


def _live(_client: Any, asked: dict[str, Any]) -> Steps:
    reached, from_now = asked.get("after", 0), asked.get("after") is None

    def read(answer: Any) -> tuple[()]:
        nonlocal reached
        text = answer if isinstance(answer, str) else answer.text
        reached = int(text.rpartition("data: ")[2].partition("\n")[0].partition(":")[0] or 0)
        return ()

    if from_now:
        yield Call("head", {}, read)
    while True:
        asked["after"] = after = reached
        yield Call("live", asked, read)
        if reached > after:
            yield from _timeline(asked | {"before": reached + 1}, lambda each: (each,))


class Verbs:
    """What both clients do."""

    append = Verb(Memory.append, _append)
    note = Verb(Memory.note, _note)  # type: ignore[arg-type] # of `self`, which has a name in any function
    check = Verb(Memory.check)
    check_correction = Verb(Memory.check_correction)
    coverage = Verb(Memory.coverage)
    supersede = Verb(Memory.supersede)
    retract = Verb(Memory.retract)
    assert_fact = Verb(Memory.assert_fact)
    facts = Pages(Memory.facts, _facts)
    recall = Verb(Memory.recall)
    fence = Verb(Memory.fence)
    fenced = Verb(Memory.fenced)
    expand = Verb(Memory.expand, lambda _, asked: Call("expand", asked, lambda response: response.content))
    stream = Pages(Memory.stream, _stream)
    live = Pages(live, _live)
    event = Verb(Memory.event)
    events = Pages(Memory.events, lambda _, asked: _timeline(asked, lambda each: (each,)))
    sessions = Verb(Memory.sessions)
    head = Verb(Memory.head)
    anatomies = Pages(
        Memory.anatomies,
        lambda _, asked: _timeline(
            asked | {"kind": Kind.ANATOMY}, lambda each: () if each.erased else (from_event(each),)
        ),
    )
    anatomy = Verb(
        Memory.anatomy, lambda _, asked: Call("event", asked, lambda data: from_event(from_json(Event, data)))
    )
    verify = Verb(Memory.verify)
    erase = Verb(Memory.erase)


class SessionCalls:
    """What the sessions of both clients do beyond appending an event."""

    note = Verb(Session.note, _note_of_session)  # type: ignore[arg-type] # as above
    append_messages = Verb(Session.append_messages, _of_session(Session.append_messages, key=IdMaker()))
    messages = Verb(Session.messages, _of_session(Session.messages))
    events = Pages(
        Session.events, lambda session, asked: _timeline(asked | {"session": session.name}, lambda each: (each,))
    )


class _Server:
    """Where a server is, and what every request to it carries."""

    def __init__(self, address: str, token: str | None, namespace: str | None, timeout_s: float) -> None:
        self.library = _library()
        try:
            parts = urlsplit(address)
            port, is_address = parts.port or 80, parts.scheme in {"http", "https"} and bool(parts.hostname)
            self.library.URL(address)
        except (ValueError, self.library.InvalidURL):
            is_address = False
        if not is_address or parts.hostname is None:
            raise InvalidArgument(f"a server has an address such as {ADDRESS}; got {address!r:.80}")
        if token is not None and not (token.isascii() and token.isprintable()):
            raise InvalidArgument("a token is ASCII text of one line; got other characters: Client(address, token=...)")
        self.address, self.timeout_s = address.rstrip("/"), timeout_s
        self.place: dict[str, Any] = {"server_address": parts.hostname, "server_port": port}
        self.namespace = environment.default_namespace() if namespace is None else namespace
        named = "" if namespace is None and self.namespace == environment.NAMESPACE else self.namespace
        is_local = parts.hostname in _LOOPBACK
        headers = {"authorization": f"Bearer {_token(parts.hostname) if token is None else token}"}
        headers |= {NAMESPACE_HEADER: quote(named, safe="")} if named else {}
        self.options: dict[str, Any] = {
            "base_url": self.address, "timeout": timeout_s, "trust_env": not is_local,  # no proxy leads to this machine
            "headers": headers, "verify": parts.scheme == "https" or not is_local,  # what TLS needs takes 25 ms to load
        }  # fmt: skip

    def pause_s(self, error: Exception, tries: int, begun: float) -> float:
        """Say in how many seconds a call is sent again.

        Raises:
            StoreBusy, ServerFailed: it is not.
        """
        if isinstance(error, self.library.ReadTimeout):  # it may be at it still
            raise ServerFailed(
                f"expected an answer of {self.address} within {self.timeout_s:g} s; Client(timeout_s=...) waits longer"
            ) from error
        seconds: float = min(AGAIN_S * 2**tries, AGAIN_MAX_S)
        is_busy = isinstance(error, StoreBusy)
        if time.monotonic() + seconds - begun < (self.timeout_s if is_busy else min(LOST_S, self.timeout_s)):
            return seconds
        if is_busy:
            raise error
        raise ServerFailed(
            f"expected a server at {self.address}: {error or type(error).__name__}. Start it with: firsthand serve"
        ) from error


def _token(host: str) -> str:
    """Read the token of the server of this machine."""
    folder = environment.state_folder()
    if host not in _LOOPBACK or folder is None:
        raise InvalidArgument(f"a server at {host} wants its token: Client(address, token=...)")
    try:
        return (folder / "token").read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise ServerFailed(f"expected the server's token in {folder / 'token'}; start it: firsthand serve") from error


def _library() -> Any:
    try:
        return import_module("httpx")
    except ModuleNotFoundError as error:
        raise InvalidArgument(f"a client needs the extra client: {extra_command('client')}") from error


class _Wire:
    """Sends calls, and waits for what comes of them."""

    def __init__(self, server: _Server) -> None:
        self.server, self.connection = server, server.library.Client(**server.options)

    def send(self, call: Call) -> Any:
        """Send a call until it is answered."""
        with span(call.verb, self.server.namespace, call.fields, **self.server.place) as report:
            report(result := self._send(call))
        return result

    def _send(self, call: Call) -> Any:
        begun, tries = time.monotonic(), 0
        while True:
            try:
                return call.result(self.connection.request(**call.request()))
            except (StoreBusy, self.server.library.TransportError) as error:
                time.sleep(self.server.pause_s(error, tries, begun))
                tries += 1

    def each(self, steps: Steps) -> Iterator[Any]:
        """Yield what the calls of a verb give, in order."""
        page = None
        while (call := _next_call(steps, page)) is not None:
            yield from (page := self.send(call))


class _AsyncWire:
    """Sends calls, and awaits what comes of them."""

    def __init__(self, server: _Server) -> None:
        self.server, self.connection = server, server.library.AsyncClient(**server.options)

    async def send(self, call: Call) -> Any:
        """Send a call until it is answered."""
        with span(call.verb, self.server.namespace, call.fields, **self.server.place) as report:
            report(result := await self._send(call))
        return result

    async def _send(self, call: Call) -> Any:
        begun, tries = time.monotonic(), 0
        while True:
            try:
                return call.result(await self.connection.request(**call.request()))
            except (StoreBusy, self.server.library.TransportError) as error:
                await asyncio.sleep(self.server.pause_s(error, tries, begun))
                tries += 1

    async def each(self, steps: Steps) -> AsyncIterator[Any]:
        """Yield what the calls of a verb give, in order."""
        page = None
        while (call := _next_call(steps, page)) is not None:
            page = await self.send(call)
            for item in page:
                yield item


class _Client(Verbs):
    """What both clients are made with."""

    _wires: type[_Wire | _AsyncWire]

    def __init__(
        self,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        namespace: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Make a client; nothing is asked yet.

        Args:
            address: of the server, such as ``http://127.0.0.1:8321``.
            token: None reads the file of the user's own server, where the address is of this machine.
            namespace: the tenant; None is ``$FIRSTHAND_NAMESPACE``, else the one that the token has a grant for, or
                ``default``.
            timeout_s: how long an answer is waited for, and a store that is busy asked again.

        Raises:
            InvalidArgument: the address or the token is none, the address is of another machine and no token is named,
                or httpx is missing.
            ServerFailed: the file of the token cannot be read.
        """
        server = _Server(address, token, namespace, timeout_s)
        self._wire: Any = self._wires(server)
        self.address, self.namespace = server.address, server.namespace

    def __repr__(self) -> str:
        return short_repr(type(self).__name__, {"address": self.address, "namespace": self.namespace})


class Client(_Waits, _Client):
    """The memory of one namespace, asked of a server: the verbs of `Memory`.

    append, note, check, check_correction, coverage, supersede, retract, assert_fact, facts, recall, fence, fenced,
    expand, stream, event, events, sessions, head, anatomy, anatomies, verify and erase are as in `Memory`;
    ``live(session, after=...)`` yields events as they come. Windows, agents, imports and exports want a process with
    the store. Safe to share between threads.
    """

    _wires = _Wire

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the connections go."""
        self._wire.connection.close()

    @property
    def position(self) -> int:
        """The position of this namespace's newest event; 0 before the first one."""
        return int(self.head().partition(":")[0])

    def session(self, name: str | None = None, *, agent: str = "") -> ClientSession:
        """Give a session to append to; a name that is new begins one, None makes a name."""
        return ClientSession(self, name or IdMaker()().lower(), agent)


class AsyncClient(_Awaits, _Client):
    """The memory of one namespace, asked of a server: the verbs of `Client`, awaited.

    What `Client` yields is an asynchronous iterator here.
    """

    _wires = _AsyncWire

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let the connections go."""
        await self._wire.connection.aclose()

    def session(self, name: str | None = None, *, agent: str = "") -> AsyncClientSession:
        """Give a session to append to; a name that is new begins one, None makes a name."""
        return AsyncClientSession(self, name or IdMaker()().lower(), agent)


class ClientSession(_Waits, SessionCalls, SessionVerbs[Appended]):
    """A session to append to, over a `Client`."""

    def __init__(self, client: Client, name: str, agent: str) -> None:
        super().__init__(name, agent)
        self.client, self._wire = client, client._wire  # noqa: SLF001 - of the same file

    def _append(self, draft: Draft) -> Appended:
        return self.client.append([draft], session=self.name)[0]


class AsyncClientSession(_Awaits, SessionCalls, SessionVerbs[Coroutine[Any, Any, Appended]]):
    """A session to append to, over an `AsyncClient`."""

    def __init__(self, client: AsyncClient, name: str, agent: str) -> None:
        super().__init__(name, agent)
        self.client, self._wire = client, client._wire  # noqa: SLF001 - of the same file

    async def _append(self, draft: Draft) -> Appended:
        return (await self.client.append([draft], session=self.name))[0]
