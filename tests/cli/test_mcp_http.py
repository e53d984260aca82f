"""The guard of the MCP server's HTTP side: hosts, origins, token, and a real client through all of it."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys

import httpx
import pytest

from firsthand import Memory
from firsthand.errors import StoreFailed
from firsthand.server.mcp_http import Guard, is_local, is_local_origin, token_of

pytest.importorskip("mcp", reason="the extra mcp is not installed")


async def through(scope, receive, send):
    """Stand for the server behind the guard."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


def status(**headers):
    async def go():
        transport = httpx.ASGITransport(app=Guard(through, "sesame"))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            return (await client.post("/mcp", headers=headers)).status_code

    return asyncio.run(go())


def test_only_this_machine_with_the_token_comes_in():
    """A foreign Host gets 421, a foreign Origin 403, no token or a wrong one 401, and the right one is let through."""
    right = {"Authorization": "Bearer sesame"}
    assert status(**right) == 200
    assert status(**right, Origin="http://localhost:3000") == 200
    assert status(**right, Host="evil.example.com") == 421
    assert status(**right, Host="127.0.0.1.evil.example.com") == 421
    assert status(**right, Origin="https://evil.example.com") == 403
    assert status(**right, Origin="null") == 403
    assert status() == 401
    assert status(Authorization="Bearer sesam") == 401
    assert status(Authorization="Basic sesame") == 401


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True), ("127.0.0.1:80", True), ("localhost:1", True), ("[::1]:1", True), ("LOCALHOST", True),
        ("", False), ("localhost.evil.example", False), ("127.0.0.1:x", False), ("a@localhost", False),
        ("localhost/x", False), ("10.0.0.1", False), ("[::1", False),
    ],
)  # fmt: skip
def test_hosts(host, local):
    """Only names of loopback are this machine, whatever stands around them."""
    assert is_local(host) is local
    assert is_local_origin(f"http://{host}") is local
    assert is_local_origin(host) is False


def test_the_token_is_kept_for_its_owner_alone(tmp_path):
    """A token is made once, in a file of mode 0600; one that others could read is replaced."""
    first = token_of(tmp_path)
    assert stat.S_IMODE(first.kept.stat().st_mode) == 0o600
    assert token_of(tmp_path) == first
    first.kept.chmod(0o644)
    second = token_of(tmp_path)
    assert second.text != first.text
    assert stat.S_IMODE(second.kept.stat().st_mode) == 0o600
    assert token_of(tmp_path, keep=False).kept is None
    second.kept.write_text("short")
    assert len(token_of(tmp_path).text) >= 32


def test_a_token_that_cannot_be_kept_is_an_error(tmp_path):
    """Where the token's folder is a file, the error says where it should have been."""
    (tmp_path / "mcp").write_text("x")
    with pytest.raises(StoreFailed, match="token"):
        token_of(tmp_path)


def test_a_client_speaks_to_the_server_over_http(tmp_path):
    """A client with the token initialises and calls the command's server; one without gets 401, a large body 413."""
    command = [
        sys.executable,
        "-m",
        "firsthand",
        "mcp",
        "--http",
        "0",
        "--store",
        str(tmp_path / "store"),
        "--agent",
        "a",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"HOME": str(tmp_path)}) as one:
        try:
            url = one.stderr.readline().split(" at ")[1].strip()
            token = one.stderr.readline().partition("Bearer ")[2].rstrip("'\n")
            assert (tmp_path / "store" / "mcp" / "token").read_text().strip() == token
            headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
            me = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": me}
            with httpx.Client(timeout=20) as client:
                assert client.post(url, json=hello).status_code == 401
                begun = client.post(url, json=hello, headers=headers)
                assert begun.status_code == 200
                headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
                client.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
                call = {
                    "jsonrpc": "2.0",
                    "id": 2,
                    "method": "tools/call",
                    "params": {"name": "health", "arguments": {}},
                }
                assert '"outcome":"found"' in client.post(url, json=call, headers=headers).text
                large = call | {"params": {"name": "recall", "arguments": {"query": "x" * (5 << 20)}}}
                assert client.post(url, json=large, headers=headers).status_code == 413
        finally:
            one.terminate()
            one.wait()
    with Memory.open(tmp_path / "store", read_only=True) as memory:
        assert memory.verify().problems == ()
