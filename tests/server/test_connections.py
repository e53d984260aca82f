"""Connections that say nothing, or too slowly, or too many at once: they end, and nobody waits for them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection

import pytest

pytest.importorskip("uvicorn", reason="the extra agents is not installed")

import uvicorn

from firsthand.server import connections
from firsthand.server.connections import configured
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import CONNECTIONS_MAX, HttpServer

HEAD = b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"


async def application(scope, receive, send):
    """Answer with the size of the body, before it has come (/early), or with much (/large)."""
    size, more, sent = 0, scope["path"] != "/early", 20 << 20 if scope["path"] == "/large" else 0
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"transfer-encoding", b"chunked")]})
    await send({"type": "http.response.body", "body": b"x" * sent or json.dumps(size).encode()})


@contextmanager
def served(**options) -> Iterator[int]:
    """Run the application; give its port."""
    server = uvicorn.Server(configured(application, **{"connections_max": 512, "closing_s": 1} | options))
    with socket.create_server(("0.0.0.0", 0), backlog=1_024) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def port(monkeypatch) -> Iterator[int]:
    """A server whose patience is short."""
    for name in ("HEAD_S", "BODY_S", "SEND_S", "LOOK_S"):
        monkeypatch.setattr(connections, name, 0.3 if name != "LOOK_S" else 0.1)
    with served() as number:
        yield number


def opened(port, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", port), timeout=5, source_address=(source, 0))


def answer(port) -> int:
    """Give the status that a client is answered with."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as client:
        client.request("POST", "/healthz", b"12345")
        return client.getresponse().status


def ends(connection) -> bool:
    """Say whether the server closes a connection soon, before it has sent all of a large answer."""
    connection.settimeout(3)
    size = 0
    try:
        while data := connection.recv(1 << 16):
            size += len(data)
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True
    return size < 20 << 20


def test_silent_connections_keep_nobody_out():
    """Beside 600 connections that say nothing a client is answered before their time is over, though 512 are taken."""
    with served() as port, ExitStack() as until:
        silent = [until.enter_context(opened(port)) for _ in range(600)]
        begun = time.monotonic()
        assert answer(port) == 200
        assert time.monotonic() - begun < connections.HEAD_S
        assert ends(silent[0])


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST / HT", HEAD % (b"", 9), HEAD % (b"", 9) + b"1234", HEAD % (b"early", 9), HEAD % (b"", 0) + b"P"],
)
def test_what_does_not_come_is_waited_for_a_while(port, sent):
    """Nothing, half a head, a body that ends too early, the rest of one that was answered, half a further request."""
    with opened(port) as connection:
        connection.sendall(sent)
        assert ends(connection)


def test_a_byte_now_and_then_is_no_request(port):
    """A head or a body that comes byte by byte is not waited for longer than one that does not come."""
    for sent in (b"POST / HTTP/1.1\r\n", HEAD % (b"", 1_000), HEAD % (b"", 0) + b"POST"):
        with opened(port) as connection:
            connection.sendall(sent)
            assert drips(connection) < 40


def drips(connection) -> int:
    """Send a byte now and then; say how often that went."""
    for number in range(40):
        try:
            connection.sendall(b"x")
        except OSError:
            return number
        time.sleep(0.05)
    return 40


def test_a_slow_body_that_comes_is_taken(port):
    """A body of which a piece comes in time, each time, may take longer than a piece may."""
    with opened(port) as connection:
        connection.sendall(HEAD % (b"", 5 * 65_536))
        for _ in range(5):
            time.sleep(0.15)
            connection.sendall(b"x" * 65_536)
        answer = b""
        while b"327680" not in answer:
            answer += connection.recv(1_000)


def test_an_answer_that_is_not_taken_is_given_up(port):
    """A client that reads nothing of a large answer is let go, and one that reads slowly gets all of it."""
    with opened(port) as connection, opened(port) as slow:
        for each in (connection, slow):
            each.sendall(HEAD % (b"large", 0))
        size = 0
        while size < 20 << 20:
            size += len(slow.recv(1 << 19))
            time.sleep(0.01)
        time.sleep(0.5)
        assert ends(connection)


@pytest.mark.parametrize("proxy", ["127.0.0.3", "10.0.0.1, 127.0.0.3/32"])
def test_an_address_has_a_number_of_places(monkeypatch, proxy):
    """Of one address so many connections stay at most; loopback and a proxy, or a network of them, are many clients."""
    monkeypatch.setattr(connections, "ADDRESS_MAX", 3)
    with served(proxy=proxy) as port, ExitStack() as until:
        crowd = [until.enter_context(opened(port, "127.0.0.2")) for _ in range(5)]
        others = [until.enter_context(opened(port, source)) for source in ("127.0.0.1", "127.0.0.3") for _ in range(5)]
        assert ends(crowd[0])
        assert ends(crowd[1])
        for connection in (*crowd[2:], *others):
            connection.sendall(HEAD % (b"", 0))
            assert connection.recv(9) == b"HTTP/1.1 "


def test_a_body_that_never_comes_takes_no_place():
    """Connections that were answered and send no body make room for others, before one that waits for its next turn."""
    with served(connections_max=8) as port, ExitStack() as until:
        patient = until.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=5)))
        assert exchanged(patient) == 200
        for _ in range(20):
            connection = until.enter_context(opened(port))
            connection.sendall(HEAD % (b"early", 9_000))
            answer_bytes = b""
            while not answer_bytes.endswith(b"0\r\n\r\n"):
                answer_bytes += (piece := connection.recv(1_000))
                assert piece
            assert answer_bytes.startswith(b"HTTP/1.1 200 ")
        assert (answer(port), exchanged(patient)) == (200, 200)


def exchanged(client) -> int:
    """Give the status of a request over a connection that stays open."""
    client.request("POST", "/", b"12345")
    answer = client.getresponse()
    answer.read()
    return answer.status


def test_the_personal_server_is_not_kept_silent(tmp_path, monkeypatch):
    """Of the server of one user, too, silent connections take no place that a client needs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    stores = Stores()
    http = HttpServer(stores, lambda _line: None, port=0)
    http.start()
    with ExitStack() as until:
        until.callback(stores.close)
        until.callback(http.stop)
        for _ in range(CONNECTIONS_MAX + 20):
            until.enter_context(opened(http.socket.getsockname()[1]))
        assert answer(http.socket.getsockname()[1]) == 405
