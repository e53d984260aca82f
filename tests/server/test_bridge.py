"""`firsthand mcp` as a bridge: small, one server for all of them, and a server that dies is nobody's loss."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from hook_runs import prompt

from firsthand import Memory
from firsthand.server import frames
from firsthand.server.hook_client import ANSWERED

pytest.importorskip("mcp", reason="the extra agents is not installed")

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}


class Host:
    """A host that talks to a bridge at its standard streams."""

    def __init__(self, process):
        self._process, self._number = process, 0
        self.pid = process.pid
        assert self.ask("initialize", **INITIALIZE)["serverInfo"]["name"] == "firsthand"
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def line(self, line):
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def begin(self, method, **params):
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self):
        return json.loads(self._process.stdout.readline())

    def ask(self, method, **params):
        number = self.begin(method, **params)
        answer = self.answer()
        assert answer["id"] == number
        return answer.get("result", answer.get("error"))

    def remember(self, text):
        return re.search(r"fh:\w{26}", self.tool("remember", text=text)["text"])[0]

    def tool(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["structuredContent"]


@contextmanager
def host(user, *options, **variables):
    """Run a bridge as a host does, until it is done with it."""
    command = [sys.executable, "-P", "-m", "firsthand", "mcp", "--cwd", str(user.home), *options]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": user.environment | variables}
    with (user.home / "errors").open("wb") as errors, subprocess.Popen(command, stderr=errors, **pipes) as process:
        yield Host(process)
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(20) == 0


def state(user):
    return json.loads(user.command("serve", "--status", "--json").stdout)


def test_hosts_share_one_server_and_one_open_store(user):
    """Bridges start a server when none runs, and all of them and the hooks work on the one store that it has open."""
    with host(user) as first, host(user) as second:
        noted = first.remember("the port of the invoices is 5433")
        assert second.tool("recall", query="port invoices")["hits"][0]["pointer"] == noted
        user.hook(prompt(1))
        running = state(user)
        assert running["stores"] == [str(user.store)]
        opened = [fd.readlink() for pid in (first.pid, second.pid) for fd in Path(f"/proc/{pid}/fd").iterdir()]
        assert not [path for path in opened if path.is_relative_to(user.store)]
        assert {running["pid"], first.pid, second.pid} <= set(user.processes())
    assert user.said() == ["prompt number 1 of s"]


def test_a_server_that_is_killed_is_started_again_and_asked_again(user):
    """After kill -9 the same session goes on: nothing that was acknowledged is lost, and the host is told nothing."""
    with host(user) as session:
        pointers = []
        for number in range(2):
            pointers.append(session.remember(f"fact number {number} of this test"))
            before = state(user)["pid"]
            os.kill(before, signal.SIGSTOP if number else signal.SIGKILL)
            if number:  # the next call is on its way when the server dies
                asked = session.begin("tools/call", name="timeline", arguments={"where": pointers[0]})
                os.kill(before, signal.SIGKILL)
                assert (answer := session.answer())["id"] == asked
                assert "fact number 1" in json.dumps(answer["result"])
        assert state(user)["pid"] != before or session.tool("health")
        listed = session.tool("timeline", where=pointers[0])["text"]
    assert all(pointer in listed for pointer in pointers)


def test_a_request_that_ends_each_server_is_given_up(user):
    """What was sent to servers that ended is answered by an error of the protocol, and the session goes on."""
    user.run_folder.mkdir(mode=0o700)
    sessions = []

    def serve(listener):
        while len(sessions) < 4:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                frames.request(connection, time.monotonic() + 20)
                connection.sendall(frames.reply(ANSWERED))
                sessions.append([])
                for line in lines:
                    message = json.loads(line)
                    sessions[-1].append(message["method"])
                    if message["method"] == "tools/call":
                        break
                    if "id" in message:
                        result = {"serverInfo": {"name": "firsthand"}}
                        connection.sendall(json.dumps({"id": message["id"], "result": result}).encode() + b"\n")
                    if message["method"] == "ping":
                        return

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(user.run_folder / "daemon.sock"))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        with host(user) as session:
            error = session.ask("tools/call", name="recall", arguments={})
            assert (error["code"], "ended" in error["message"]) == (-32603, True)
            assert session.ask("ping")["serverInfo"]
        thread.join()
    begins = ["initialize", "notifications/initialized"]
    assert sessions == [[*begins, "tools/call"], [*begins, "tools/call"], [*begins, "tools/call"], [*begins, "ping"]]


def test_every_line_that_cannot_be_read_is_answered(user):
    """What the SDK cannot read gets an error of JSON-RPC, a notification none, and the session goes on."""
    asks = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"recall","arguments":{"query":%s}}}'
    cases = [
        (asks % (10, '"\\ud800"'), 10, -32602),
        (asks % (11, "[" * 400 + "]" * 400), 11, -32602),
        (asks % ("null", '"port"'), None, -32600),
        ('{"jsonrpc":"2.0","id":12}', 12, -32600),
        ("garbage", None, -32700),
        ("[" * 200_000, None, -32700),
        ("[]", None, -32600),
    ]
    with host(user) as session:
        for line, number, code in cases:
            session.line(line.encode())
            answer = session.answer()
            assert (line[:80], answer["id"], answer["error"]["code"]) == (line[:80], number, code)
        session.line(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}')
        session.line(b"")
        assert session.ask("ping") == {}


def test_without_a_server_the_process_serves_by_itself(user):
    """Where no server may run the same command answers from this process, and says so on standard error."""
    with host(user, FIRSTHAND_DAEMON="off") as session:
        session.tool("remember", text="kept without a server")
        assert user.processes() == [session.pid]
    assert "serves MCP by itself" in (user.home / "errors").read_text()
    with Memory(user.store, read_only=True) as memory:
        assert memory.position == 1


def test_a_bridge_is_light(user):
    """A bridge loads no SDK and no room that opens stores, and costs at most .15 s more than a bare interpreter."""
    user.hook(prompt(0))
    with host(user, PYTHONPROFILEIMPORTTIME="1"):
        pass
    modules = set(re.findall(r"\| +([\w.]+)$", (user.home / "errors").read_text(), re.MULTILINE))
    assert "firsthand.server.bridge" in modules
    heavy = {"mcp", "anyio", "starlette", "numpy", "apsw", "asyncio", "firsthand.memory", "firsthand.server.mcp_server"}
    assert modules & heavy == set()

    def processor_s(*words):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *words], env=user.environment, stdin=subprocess.DEVNULL, check=True, capture_output=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    words = ("-P", "-m", "firsthand", "mcp")
    assert min(processor_s(*words) for _ in range(3)) - min(processor_s("-c", "pass") for _ in range(3)) < 0.15
