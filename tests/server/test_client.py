"""Clients of a server: the same suite as a memory in a folder, and what only a client can meet."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("starlette", reason="the extra agents is not installed")
pytest.importorskip("jinja2", reason="the extra agents is not installed")
pytest.importorskip("httpx", reason="the extra client is not installed")

from awaited import Awaited
from memory_suite import MemorySuite

from firsthand import AsyncClient, Client, Draft, InvalidArgument, Kind, Memory
from firsthand.environment import default_store
from firsthand.errors import ServerFailed, StoreBusy
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer, listen
from firsthand.server.teams.service import _listening

NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The HTTP side of a server over a store of this module, verified at its end."""
    store = tmp_path_factory.mktemp("served") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIRSTHAND_STORE", str(store))
        patch.setenv("FIRSTHAND_EMBEDDER", "none")
        stores = Stores()
        http = HttpServer(stores, lambda _line: None, port=0)
        http.start()
        yield http
        http.stop()
        stores.close()
    with Memory(store, embedder="none") as memory:
        assert memory.verify().problems == ()


@pytest.fixture
def namespace():
    """A namespace that nobody has."""
    return f"tenant {next(NUMBERS)}"


class TestFolder(MemorySuite):
    """A memory of this process."""

    @pytest.fixture
    def memory(self, tmp_path):
        with Memory(tmp_path / "store", embedder="none") as memory:
            yield memory
            assert memory.verify().problems == ()


class TestClient(MemorySuite):
    """A client that waits."""

    @pytest.fixture
    def memory(self, server, namespace):
        with Client(server.url, namespace=namespace) as client:
            yield client


class TestAsyncClient(MemorySuite):
    """A client that is awaited."""

    @pytest.fixture
    def memory(self, server, namespace):
        loop = asyncio.new_event_loop()
        client = AsyncClient(server.url, namespace=namespace)
        yield Awaited(client, loop)
        loop.run_until_complete(client.close())
        loop.close()


# what only a client can meet -----------------------------------------------------------------------


class Breaking:
    """A way to a server that breaks off the answers of the next connections: what was asked is done all the same."""

    def __init__(self, url, port=0):
        self._to, self.breaks = int(url.rpartition(":")[2]), 0
        self._listener, self._open = socket.create_server(("127.0.0.1", port)), []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut(self):
        """Break every connection now."""
        for end in self._open:
            with contextlib.suppress(OSError):  # it is closed
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Take no more, and break what is open."""
        with contextlib.suppress(OSError):  # it is closed
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._to))
            self._open += [near, far]
            self._threads.append(threading.Thread(target=self._carry, args=(near, far)))
            self._threads[-1].start()

    def _carry(self, near, far):
        with near, far, contextlib.suppress(OSError):
            while True:
                for source in select.select([near, far], [], [])[0]:
                    data = source.recv(65_536)
                    if not data or (source is far and self.breaks > 0):
                        self.breaks -= bool(data)
                        return
                    (near if source is far else far).sendall(data)


@pytest.fixture
def breaking(server):
    """A way to the server of this module that can break."""
    way = Breaking(server.url)
    yield way
    way.close()


def test_a_lost_answer_makes_no_second_event(breaking, namespace):
    """What was asked and got no answer is asked again, and stands once in the log, by whatever verb it was written."""
    writes = [
        lambda client: client.session("s").user("said once"),
        lambda client: client.append([Draft(Kind.NOTE, b"a"), Draft(Kind.NOTE, b"b")], session="s")[-1],
        lambda client: client.note("noted once", session="s").event,
        lambda client: client.session("s").append_messages([{"role": "user", "content": "sent once"}] * 2)[-1],
    ]
    with Client(breaking.url, namespace=namespace) as client:
        for write in writes:
            before, breaking.breaks = client.position, 2
            written = write(client)
            assert (breaking.breaks, written.position) == (0, client.position)
            assert client.position - before == (1 if write in (writes[0], writes[2]) else 2)
        assert client.session("s").user("and new").new
        breaking.breaks = 1
        assert client.session("s").user("new to who writes it").new


def test_a_busy_store_is_asked_again_until_the_time_is_up(server, namespace):
    """A store that another writer holds is asked again; past the client's time the error is the one of `Memory`."""
    with Client(server.url, namespace=namespace) as client, Client(
        server.url, namespace=namespace, timeout_s=1
    ) as hasty:  # fmt: skip
        client.session("s").user("first")
        with (default_store() / "lock").open("rb+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with pytest.raises(StoreBusy):
                hasty.session("s").user("in vain")
            timer = threading.Timer(0.5, lambda: fcntl.flock(lock, fcntl.LOCK_UN))
            timer.start()
            assert client.session("s").user("second").new
            timer.join()
        assert [event.text for event in client.events()] == ["first", "second"]


def test_no_server_and_a_wrong_token_are_said(server, namespace):
    """Nobody listening, a token that is none, an answer of something else: each is an error that says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}", timeout_s=0.2) as client, pytest.raises(
        ServerFailed, match=rf"127.0.0.1:{port}; it gave no answer for 0.2 s.*lost_s=.*firsthand serve"
    ):  # fmt: skip
        client.sessions()
    with Client(f"http://127.0.0.2:{port}", token="x", lost_s=0) as client, pytest.raises(ServerFailed) as failure:
        client.sessions()
    assert "firsthand serve" not in str(failure.value)  # of another machine, which is not to be started here
    with Client(server.url, token="wrong") as client, pytest.raises(ServerFailed, match="Bearer TOKEN"):
        client.sessions()
    with pytest.raises(InvalidArgument, match="token="):
        Client("http://memory.example")
    for address in ("notes", "http://[::1", "http://memory.example:port", "http://a\nb"):
        with pytest.raises(InvalidArgument, match="address"):
            Client(address, token="x")
    for token in ("bäd", "two\nlines", ""):
        with pytest.raises(InvalidArgument, match="a token is ASCII"):
            Client(server.url, token=token)
    with Client(server.url + "/static", token="x") as client, pytest.raises(ServerFailed, match="expected GET"):
        client.sessions()
    with Client(server.url, namespace=namespace) as client, pytest.raises(ServerFailed, match="at most 64 MiB"):
        client.append([Draft(Kind.NOTE, b"\xff" * (50 << 20))], session="s")


def test_the_token_is_read_from_its_file(server, namespace, monkeypatch, tmp_path):
    """A client of this machine needs no token, as long as its user can read the file; without one it says so."""
    with Client(server.url, namespace=namespace) as client:
        assert client.sessions() == ()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(ServerFailed, match="firsthand serve"):
        Client(server.url)


def test_a_connection_sends_at_once(server):
    """Connections of either server do not wait to send, and a client of this machine loads nothing for TLS."""
    for listening in (listen(0), _listening("127.0.0.1", 0)):
        with listening, socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    for address, loads in ((server.url, False), ("https://127.0.0.1:1", True), ("http://example.com", True)):
        with Client(address, token="x") as client:
            assert client._wire.server.options["verify"] is loads


def test_new_events_come_as_they_are_appended(breaking, namespace):
    """A stream gives each event once and in order, those from before it broke and from while it was down included."""
    with Client(breaking.url, namespace=namespace) as client, Client(breaking.url, namespace=namespace) as writer:
        writer.session("s").user("before")
        live = client.live(after=0)
        assert next(live).text == "before"
        writer.session("s").user("now")
        assert next(live).text == "now"
        breaking.cut()
        threading.Timer(0.2, lambda: writer.session("other").user("elsewhere")).start()
        assert next(live).text == "elsewhere"
        assert [event.text for event in itertools.islice(client.live("other", after=0), 1)] == ["elsewhere"]

    async def awaited():
        async with AsyncClient(breaking.url, namespace=namespace) as waiting:
            return [event.text async for event in _some(waiting.live("s", after=0), 2)]

    assert asyncio.run(awaited()) == ["before", "now"]


async def _some(items, number):
    async for item in items:
        yield item
        number -= 1
        if not number:
            return


def test_a_stream_without_a_server_ends_in_words(server, namespace):
    """When no server comes back a stream raises, and does not wait for ever."""
    way = Breaking(server.url)
    with Client(way.url, namespace=namespace, lost_s=1) as client:
        client.session("s").user("first")
        live = client.live(after=0)
        assert next(live).text == "first"
        way.close()
        begun = time.monotonic()
        with pytest.raises(ServerFailed, match=r"no further answer for 1 s.*firsthand serve"):
            next(live)
        assert time.monotonic() - begun < 4


def test_a_server_that_starts_anew_is_waited_for(server, namespace, monkeypatch):
    """A server that has answered is asked again while it starts anew, by a stream too, and by a client told to wait."""
    monkeypatch.setattr("firsthand.client.ABSENT_S", 0.2)
    ways = [Breaking(server.url)]
    url, port = ways[0].url, int(ways[0].url.rpartition(":")[2])
    with (
        Client(url, namespace=namespace) as client,
        Client(url, namespace=namespace, lost_s=20) as told,
        Client(url, namespace=namespace) as fresh,
        Client(server.url, namespace=namespace) as writer,
        ThreadPoolExecutor() as threads,
    ):
        client.session("s").user("before")
        live = client.live(after=0)
        assert next(live).text == "before"
        ways[0].close()
        back = threading.Timer(1, lambda: ways.append(Breaking(server.url, port)))
        back.start()
        try:
            tasks = [threads.submit(client.session("s").user, "after"), threads.submit(next, live)]
            tasks.append(threads.submit(told.sessions))
            with pytest.raises(ServerFailed, match=r"0\.2 s"):
                fresh.sessions()
            written, heard, sessions = (task.result() for task in tasks)
            assert (written.position, heard.text, len(sessions)) == (2, "after", 1)
        finally:
            back.join()
            ways[-1].close()
        assert [event.text for event in writer.events()] == ["before", "after"]


def test_a_proxy_that_waits_for_the_server_is_asked_again(namespace):
    """What a proxy answers while the server starts anew is a store that is busy, and any other page is said at once."""
    pages = ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout", "404 Not Found"]
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor() as threads:
        listener.settimeout(2)

        def proxies():
            for page in pages:
                with listener.accept()[0] as connection:
                    connection.recv(65_536)
                    connection.sendall(f"HTTP/1.1 {page}\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno".encode())

        proxying = threads.submit(proxies)
        with Client(f"http://127.0.0.1:{listener.getsockname()[1]}", token="x", namespace=namespace) as client:
            with pytest.raises(ServerFailed, match="404"):
                client.sessions()
            proxying.result()
            pages[:] = pages[:1] * 3
            proxying = threads.submit(proxies)
        with Client(client.address, token="x", timeout_s=0.2) as client, pytest.raises(StoreBusy, match="502"):
            client.sessions()


def test_threads_and_tasks_share_a_client(server, namespace):
    """Writers that share a client at once lose nothing and get their own answers."""
    with Client(server.url, namespace=namespace) as client:
        threads = [
            threading.Thread(target=lambda name=name: [client.session(name).user(f"{name} {n}") for n in range(10)])
            for name in ("a", "b", "c", "d")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {info.name: info.events for info in client.sessions()} == dict.fromkeys("abcd", 10)

    async def tasks():
        async with AsyncClient(server.url, namespace=namespace) as waiting:
            appended = await asyncio.gather(*(waiting.session("e").user(str(n)) for n in range(20)))
            return [(await waiting.event(each)).text for each in appended]

    assert asyncio.run(tasks()) == [str(n) for n in range(20)]
