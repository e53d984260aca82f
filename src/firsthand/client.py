"""Client: the verbs of `Memory`, asked of a server.

    Memory("folder").recall("which port?")        a store of this process
    Client("http://127.0.0.1:8321").recall(...)    the same, of the server that has the store open
    await AsyncClient().recall(...)                the same, without a thread that waits

Each verb is made of the one of `Memory`, and has its arguments, words, types and errors; the two
clients differ in how a request is sent alone. The invariant: what is written carries ids of its own,
so a call that got no answer, or met a busy store or a server that starts anew, is sent again until its time is up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from collections.abc import Sequence as Seq
from importlib import import_module
from typing import Any, Self
from urllib.parse import quote, urlsplit

from firsthand import environment
from firsthand.context.session_log import SessionVerbs
from firsthand.environment import extra_command
from firsthand.errors import InvalidArgument, ServerFailed, StoreBusy
from firsthand.event import Draft, Event, IdMaker
from firsthand.log.results import Appended
from firsthand.memory_verbs import Awaits, Call, Pages, SessionCalls, Steps, Verb, Verbs, Waits, timeline
from firsthand.telemetry import span
from firsthand.value import short_repr

ADDRESS, TIMEOUT_S = "http://127.0.0.1:8321", 30.0
"""Where a server listens unless that port is taken; ``firsthand serve --status`` names it."""
AGAIN_S, AGAIN_MAX_S = 0.05, 1.0
"""Before a call is sent again: at first, at most."""
LOST_S, ABSENT_S = 30.0, 3.0
"""How long a server that has answered and is gone is asked again: it may be starting anew; and one that never has."""
NAMESPACE_HEADER = "firsthand-namespace"
"""Names the tenant, percent-encoded; a server for teams knows that of a principal with one alone."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


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
            yield from timeline(asked | {"before": reached + 1}, lambda each: (each,))


class _Server:
    """Where a server is, and what every request to it carries."""

    def __init__(
        self, address: str, token: str | None, namespace: str | None, timeout_s: float, lost_s: float | None
    ) -> None:
        self.library, self._lost_s, self.has_answered = _library(), lost_s, False
        try:
            parts = urlsplit(address)
            port, is_address = parts.port or 80, parts.scheme in {"http", "https"} and bool(parts.hostname)
            self.library.URL(address)
        except (ValueError, self.library.InvalidURL):
            is_address = False
        if not is_address or parts.hostname is None:
            raise InvalidArgument(f"a server has an address such as {ADDRESS}; got {address!r:.80}")
        if token is not None and not (token and token.isascii() and token.isprintable()):
            what = "other characters" if token else "an empty text"
            raise InvalidArgument(f"a token is ASCII text of one line; got {what}: Client(address, token=...)")
        self.address, self.timeout_s = address.rstrip("/"), timeout_s
        self.place: dict[str, Any] = {"server_address": parts.hostname, "server_port": port}
        self.namespace = environment.default_namespace() if namespace is None else namespace
        named = "" if namespace is None and self.namespace == environment.NAMESPACE else self.namespace
        self._is_local = is_local = parts.hostname in _LOOPBACK
        headers = {"authorization": f"Bearer {_token(parts.hostname) if token is None else token}"}
        headers |= {NAMESPACE_HEADER: quote(named, safe="")} if named else {}
        self.options: dict[str, Any] = {
            "base_url": self.address, "timeout": timeout_s, "trust_env": not is_local,  # no proxy leads to this machine
            "headers": headers, "verify": parts.scheme == "https" or not is_local,  # what TLS needs takes 25 ms to load
        }  # fmt: skip

    def pause_s(self, error: Exception, tries: int, failed: float) -> float:
        """Say in how many seconds a call is sent again, which failed first at a time.

        Raises:
            StoreBusy, ServerFailed: it is not.
        """
        if isinstance(error, self.library.ReadTimeout):  # it may be at it still
            raise ServerFailed(
                f"expected an answer of {self.address} within {self.timeout_s:g} s; Client(timeout_s=...) waits longer"
            ) from error
        is_busy = isinstance(error, StoreBusy)
        again_s: float = min(AGAIN_S * 2**tries, AGAIN_MAX_S)
        lost_s = min(LOST_S if self.has_answered else ABSENT_S, LOST_S, self.timeout_s)
        limit_s = self.timeout_s if is_busy else lost_s if self._lost_s is None else self._lost_s
        if time.monotonic() + again_s - failed < limit_s:
            return again_s
        if is_busy:
            raise error
        own = ". To start this machine's own: firsthand serve" * self._is_local
        raise ServerFailed(
            f"expected a server at {self.address}; it gave no {'further ' * self.has_answered}answer for "
            f"{limit_s:g} s ({error or type(error).__name__}). Client(lost_s=...) waits longer for one that starts{own}"
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


class _Sends:
    """Has a verb make its calls, and sends them."""

    send: Any
    each: Any

    def verb(self, verb: Verb[Any, Any], client: Any) -> Any:
        """Give a verb of a client as a function."""
        return verb.sent(client, self.send)

    def pages(self, verb: Pages[Any, Any], client: Any) -> Any:
        """Give a verb that yields."""
        return verb.sent(client, self.each)


def _next_call(steps: Steps, page: Seq[Any] | None) -> Call | None:
    """Give the next call of a verb that yields; None at its end."""
    try:
        return next(steps) if page is None else steps.send(page)
    except StopIteration:
        return None


class _Wire(_Sends):
    """Sends calls, and waits for what comes of them."""

    def __init__(self, server: _Server) -> None:
        self.server, self.connection = server, server.library.Client(**server.options)

    def send(self, call: Call) -> Any:
        """Send a call until it is answered."""
        with span(call.verb, self.server.namespace, call.fields, **self.server.place) as report:
            report(result := self._send(call))
        return result

    def _send(self, call: Call) -> Any:
        failed, tries = 0.0, 0
        while True:
            try:
                response = self.connection.request(**call.request())
                self.server.has_answered = True
                return call.result(response)
            except (StoreBusy, self.server.library.TransportError) as error:
                failed = failed or time.monotonic()
                time.sleep(self.server.pause_s(error, tries, failed))
                tries += 1

    def each(self, steps: Steps) -> Iterator[Any]:
        """Yield what the calls of a verb give, in order."""
        page = None
        while (call := _next_call(steps, page)) is not None:
            yield from (page := self.send(call))


class _AsyncWire(_Sends):
    """Sends calls, and awaits what comes of them."""

    def __init__(self, server: _Server) -> None:
        self.server, self.connection = server, server.library.AsyncClient(**server.options)

    async def send(self, call: Call) -> Any:
        """Send a call until it is answered."""
        with span(call.verb, self.server.namespace, call.fields, **self.server.place) as report:
            report(result := await self._send(call))
        return result

    async def _send(self, call: Call) -> Any:
        failed, tries = 0.0, 0
        while True:
            try:
                response = await self.connection.request(**call.request())
                self.server.has_answered = True
                return call.result(response)
            except (StoreBusy, self.server.library.TransportError) as error:
                failed = failed or time.monotonic()
                await asyncio.sleep(self.server.pause_s(error, tries, failed))
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
    live = Pages(live, _live)

    def __init__(
        self,
        address: str = ADDRESS,
        *,
        token: str | None = None,
        namespace: str | None = None,
        timeout_s: float = TIMEOUT_S,
        lost_s: float | None = None,
    ) -> None:
        """Make a client; nothing is asked yet.

        Args:
            address: of the server, such as ``http://127.0.0.1:8321``.
            token: None reads the file of the user's own server, where the address is of this machine.
            namespace: the tenant; None is ``$FIRSTHAND_NAMESPACE``, else the one that the token has a grant for, or
                ``default``.
            timeout_s: how long an answer is waited for, and a store that is busy asked again.
            lost_s: how long a server that is not there is asked again, since it may be starting anew; None is
                ``timeout_s``, at most 30 s where it has answered before, else 3 s.

        Raises:
            InvalidArgument: the address or the token is none, the address is of another machine and no token is named,
                or httpx is missing.
            ServerFailed: the file of the token cannot be read.
        """
        server = _Server(address, token, namespace, timeout_s, lost_s)
        self._wire: Any = self._wires(server)
        self.address, self.namespace = server.address, server.namespace

    def __repr__(self) -> str:
        return short_repr(type(self).__name__, {"address": self.address, "namespace": self.namespace})


class Client(Waits, _Client):
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


class AsyncClient(Awaits, _Client):
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


class ClientSession(Waits, SessionCalls, SessionVerbs[Appended]):
    """A session to append to, over a `Client`."""

    def __init__(self, client: Client, name: str, agent: str) -> None:
        super().__init__(name, agent)
        self.client, self._wire = client, client._wire  # noqa: SLF001 - of the same file

    def _append(self, draft: Draft) -> Appended:
        return self.client.append([draft], session=self.name)[0]


class AsyncClientSession(Awaits, SessionCalls, SessionVerbs[Coroutine[Any, Any, Appended]]):
    """A session to append to, over an `AsyncClient`."""

    def __init__(self, client: AsyncClient, name: str, agent: str) -> None:
        super().__init__(name, agent)
        self.client, self._wire = client, client._wire  # noqa: SLF001 - of the same file

    async def _append(self, draft: Draft) -> Appended:
        return (await self.client.append([draft], session=self.name))[0]
