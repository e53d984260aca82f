"""The command inspect, and the HTTP side of the server that hooks started."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from pathlib import Path
from threading import Timer

import httpx
import pytest
from hook_runs import prompt, until

from firsthand import InvalidArgument, Kind, Memory
from firsthand.cli import serve
from firsthand.cli.output import Output
from firsthand.environment import extra_command
from firsthand.server import http_server
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer, listen

for extra in ("starlette", "uvicorn", "jinja2"):
    pytest.importorskip(extra, reason="the extra agents is not installed")


def test_the_server_of_hooks_gives_pages_and_mcp_at_one_port(user):
    """The process that answers hooks opens a page by a link, once, and speaks MCP with a token, within bounds."""
    pytest.importorskip("mcp", reason="the extra agents is not installed")
    user.hook(prompt(0))
    user.daemon()
    shown = json.loads(user.command("inspect", "--no-open", "--json").stdout)
    state = json.loads(user.command("serve", "--status", "--json").stdout)
    with httpx.Client(timeout=20, base_url=state["http"]) as client:
        assert client.get("/healthz").json()["ok"] is True
        assert client.get("/default/sessions").status_code == 401
        page = client.get(shown["url"], follow_redirects=True)
        assert (page.status_code, page.url.path) == (200, "/default/session")
        assert "prompt number 0" in page.text
        assert "key=" not in str(page.url)
        assert httpx.get(shown["url"]).status_code == 401
        token = Path(state["token_file"]).read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        me = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": me}
        assert client.post("/mcp?agent=a", json=hello).status_code == 401
        begun = client.post("/mcp?agent=a", json=hello, headers=headers)
        assert begun.status_code == 200
        headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        client.post("/mcp?agent=a", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "health", "arguments": {}}}
        assert '"outcome":"found"' in client.post("/mcp?agent=a", json=call, headers=headers).text
        large = call | {"params": {"name": "recall", "arguments": {"query": "x" * (5 << 20)}}}
        assert client.post("/mcp?agent=a", json=large, headers=headers).status_code == 413
        assert client.post("/mcp?agents=a", json=call, headers=headers).status_code == 400
    with Memory.open(user.store, read_only=True) as memory:
        assert memory.verify().problems == ()


def test_a_link_leads_to_the_page_that_was_named(user):
    """Without a server one is started at the port that was named; a page is named by a word, a store by its folder."""
    with Memory(user.home / "other", embedder="none") as memory:
        memory.session("deploy").user("ship it")
        memory.session("lint").user("format it")
    user.command("serve", "--port", "0")
    for words, path, text in (
        (["--page", "sessions"], "sessions", "ship it"), (["deploy"], "session", "ship it"),
        ([], "session", "format it"),
    ):  # fmt: skip
        shown = user.command("inspect", *words, "--no-open", "--store", user.home / "other")
        assert (shown.returncode, shown.stderr.count("\n")) == (0, 1)
        page = httpx.get(shown.stdout.strip(), follow_redirects=True, timeout=20)
        assert (page.status_code, page.url.path.rpartition("/")[2]) == (200, path)
        assert text in page.text
    assert user.command("serve", "--stop").stdout == "stopped\n"


def test_the_server_begins_anew_when_a_page_has_erased_something(user):
    """The page that erases proves it to its end; then the server, which has read it, begins anew where it was."""
    with user.serving("daemon.LOOK_S = 0.1") as pid, httpx.Client(timeout=20) as client:
        user.hook(prompt(0))
        link = user.command("inspect", "--no-open").stdout.strip()
        page = client.get(link, follow_redirects=True)
        base = f"http://{page.url.host}:{page.url.port}/default"
        form = client.get(f"{base}/erase?session=cursor:s")
        proof = re.search(r'name="proof" value="(\w+)"', form.text)[1]
        number = re.search(r"type ([\d,]+) to confirm", form.text)[1]
        fields = {"proof": proof, "session": "cursor:s", "count": number}
        origin = base.removesuffix("/default")
        gone = client.post(f"{base}/erase", data=fields, headers={"Origin": origin})
        assert (gone.status_code, "the chain still verifies" in gone.text) == (200, True)
        environment = Path(f"/proc/{pid}/environ")  # of the program that the process runs now
        assert until(lambda: b"FIRSTHAND_HANDED" in environment.read_bytes())
        assert pid in user.processes()
        assert user.command("inspect", "--no-open").stdout.startswith("http://127.0.0.1:")
    with Memory.open(user.store, read_only=True) as memory:
        assert not any(event.kind is Kind.USER_MESSAGE and not event.erased for event in memory.events())


def test_a_server_that_does_not_answer_yet_is_waited_for(user, monkeypatch, capsys):
    """A command that needs the server waits for one that begins anew, and names one that does not answer in time."""
    user.hook(prompt(0))
    pid = user.daemon()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(user.run_folder.parent))
    monkeypatch.setattr(serve, "ASK_S", 0.2)
    monkeypatch.setattr(serve, "START_S", 1)
    os.kill(pid, signal.SIGSTOP)
    assert not serve.start_server(Output())
    assert f"process {pid} does not answer; to end it: firsthand serve --stop" in capsys.readouterr().err
    monkeypatch.setattr(serve, "START_S", 60)
    going_on = Timer(2, os.kill, (pid, signal.SIGCONT))
    going_on.start()
    assert serve.start_server(Output())
    going_on.join()


def test_a_port_that_is_taken_is_said_when_it_was_named(tmp_path):
    """A port of another program is an error where it was named; where none was, any free one is taken."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InvalidArgument, match=f"port {port} of 127.0.0.1 cannot be listened at"):
            listen(port)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(http_server, "PORT", port)
            listening = listen(None)
        assert listening.getsockname()[1] != port
        listening.close()


def test_without_the_extra_there_is_no_port_and_the_server_says_what_is_missing(monkeypatch):
    """Where a library of the extra is not installed hooks have a server without a port, which names what to type."""
    monkeypatch.setattr(http_server, "EXTRA", ("starlette", "no_such_library"))
    server = HttpServer(Stores(), lambda _text: None)
    assert (server.url, server.waiting) == ("", None)
    assert server.missing.endswith("no_such_library is not installed: " + extra_command("agents"))
    with pytest.raises(InvalidArgument, match="no_such_library"):
        HttpServer(Stores(), lambda _text: None, port=0)
