"""Who may use the proxy, and what it keeps of what passes: no header and no key, in no file and no line."""

import logging
from pathlib import Path

import pytest
from model_stub import PATHS, Said, running
from proxy_client import Client

from firsthand import Memory
from firsthand.errors import InvalidArgument
from firsthand.proxy.app import Proxy
from firsthand.proxy.upstream import Upstream, passed_on

CANARY = "sk-canary-0123456789abcdef"


def test_no_key_is_kept(tmp_path, caplog, capsys):
    """Keys in headers and addresses reach the upstream and stand in no file, no line of a log and no answer."""
    caplog.set_level(logging.DEBUG)
    keys = {"authorization": f"Bearer {CANARY}", "x-api-key": CANARY, "cookie": f"k={CANARY}", "x-own": CANARY}
    seen = []
    with running(tmp_path / "store") as run:
        for format_, path in PATHS.items():
            client = Client(run, format_)
            client.headers = keys
            run.stub.script += [Said("Hm.", (("r", "recall", {"query": "x"}),)), Said("Yes."), Said(status=401)]
            client.say("Is it safe?")
            seen += [run.client.post(f"{path}?key={CANARY}", json=client.body(), headers=keys)]
            seen += [
                run.post(format_, {"messages": CANARY[:0], "input": 1}, **keys),
                run.client.get("/v1/models", headers=keys),
            ]
        run.stub.script.append(Said("half", how="cut"))
        with pytest.raises(Exception, match="peer closed"):
            run.post("anthropic", {**Client(run, "anthropic").body(), "stream": True}, **keys)
        for request in run.stub.requests:
            assert request["headers"]["authorization"] == f"Bearer {CANARY}"
            assert request["headers"]["x-own"] == CANARY
        assert any(CANARY in request["query"] for request in run.stub.requests)
        lines = [*run.log, *(record.getMessage() for record in caplog.records if record.name != "httpx")]
    written = "".join([*lines, *capsys.readouterr(), *(f"{each.headers}{each.text}" for each in seen)])
    assert CANARY not in written
    files = [path for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert len(files) > 3
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
    with Memory(tmp_path / "store") as memory:
        assert memory.verify().ok


def test_strangers_are_refused(tmp_path):
    """Another site's page, another Host, and a client without the token get 403, and nothing reaches the upstream."""
    with running(tmp_path / "store") as run:
        for headers in (
            {"origin": "https://evil.example"}, {"host": "evil.example"}, {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
        ):  # fmt: skip
            assert run.client.get("/v1/models", headers=headers).status_code == 403
        assert run.stub.requests == []
        for headers in (
            {"origin": "http://localhost:3000", "sec-fetch-site": "cross-site"}, {"origin": "vscode-webview://x"},
        ):  # fmt: skip
            assert run.client.get("/v1/models", headers=headers).status_code == 200
    with running(tmp_path / "store", token="secret") as run:
        assert run.client.get("/v1/models").status_code == 403
        assert run.client.get("/v1/models", headers={"X-Firsthand-Token": "wrong"}).status_code == 403
        headers = {"X-Firsthand-Token": "secret", "host": "proxy.example"}
        assert run.client.get("/v1/models", headers=headers).status_code == 200
        assert len(run.stub.requests) == 1
        assert "x-firsthand-token" not in run.stub.requests[0]["headers"]


def test_addresses(tmp_path):
    """An upstream's path stands before the client's, and a version that both name stands there once."""
    for upstream, path, whole in (
        ("https://a.example", "/v1/x", "https://a.example/v1/x"),
        ("https://a.example/v1/", "/v1/x", "https://a.example/v1/x"),
        ("https://a.example/api", "/v1/x", "https://a.example/api/v1/x"),
    ):
        assert Upstream(upstream).address(path, b"") == whole
    for wrong in ("a.example", "ftp://a.example", "https://a.example?key=1"):
        with pytest.raises(InvalidArgument, match="expected the provider's address"):
            Proxy(wrong, store=tmp_path / "store")


def test_headers_of_a_connection_stay():
    """What concerns one connection alone is not passed on, nor what a client says to the proxy."""
    headers = [(b"Connection", b"keep-alive, X-Hop"), (b"X-Hop", b"1"), (b"Host", b"h"), (b"X-Firsthand-Session", b"s"),
               (b"Accept-Encoding", b"br"), (b"Content-Length", b"3"), (b"Authorization", b"k")]  # fmt: skip
    assert passed_on(headers, body=False) == [(b"authorization", b"k")]
    assert passed_on(headers, body=True)[0] == (b"accept-encoding", b"br")
