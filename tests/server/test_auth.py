"""The guard of the server's HTTP side: hosts, origins, tokens, cookies and links."""

from __future__ import annotations

import asyncio
import stat

import httpx
import pytest

from firsthand.errors import StoreFailed
from firsthand.server.auth import (
    COOKIE_S,
    LINK_S,
    LINKS_MAX,
    SAFE_HEADERS,
    Guard,
    Keys,
    cookie_name,
    is_local,
    is_local_origin,
    is_own_path,
    token_of,
)

HOST = "127.0.0.1:1"


async def through(scope, receive, send):
    """Stand for the application behind the guard."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


def answer(path="/mcp", method="POST", keys=None, **headers):
    async def go():
        transport = httpx.ASGITransport(app=Guard(through, keys or Keys("sesame")))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(go())


def status(path="/mcp", method="POST", keys=None, **headers):
    return answer(path, method, keys, **headers).status_code


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


def test_a_rebound_page_is_refused_everywhere():
    """A request under another host's name gets nothing at all, neither health nor the style sheet."""
    for path in ("/healthz", "/static/style.css", "/open", "/default/sessions", "/mcp"):
        assert status(path, "GET", Host="rebound.example:8321") == 421


def test_a_page_wants_a_cookie_and_a_form_the_same_origin():
    """A page is read with a cookie alone; what changes something comes from a page of this very port."""
    keys = Keys("sesame")
    cookie = {"Cookie": f"{cookie_name(HOST)}={keys.cookie()}"}
    assert status("/default/sessions", "GET", keys) == 401
    assert status("/default/sessions", "GET", keys, **cookie) == 200
    assert status("/default/sessions", "GET", keys, Cookie=f"firsthand_2={keys.cookie()}") == 401
    assert status("/default/erase", "POST", keys, **cookie) == 403
    assert status("/default/erase", "POST", keys, **cookie, Origin="http://127.0.0.1:2") == 403
    assert status("/default/erase", "POST", keys, **cookie, Origin=f"http://{HOST}") == 200
    assert status("/mcp", "POST", keys, **cookie, Origin=f"http://{HOST}") == 401
    assert status("/healthz", "POST", keys) == 405


def test_every_answer_keeps_a_page_to_itself():
    """Answers and refusals carry the strict policy, may not be framed, sniffed or stored, and name no referrer."""
    for response in (answer("/healthz", "GET"), answer("/default/sessions", "GET")):
        assert {name: response.headers[name] for name in SAFE_HEADERS} == SAFE_HEADERS
    assert "unsafe" not in SAFE_HEADERS["content-security-policy"]


def test_a_link_holds_once_and_a_cookie_for_its_time():
    """A link's key is taken once, within ten minutes; a cookie holds until its time, and only as it was made."""
    now = [1_000.0]
    keys = Keys("sesame", lambda: now[0])
    link, cookie = keys.link(), keys.cookie()
    assert keys.use(link)
    assert not keys.use(link)
    late = keys.link()
    now[0] += LINK_S + 1
    assert not keys.use(late)
    assert keys.is_cookie(cookie)
    assert not keys.is_cookie(cookie[:-1] + ("0" if cookie[-1] != "0" else "1"))
    assert not keys.is_cookie("9" + cookie)
    assert not keys.is_cookie("")
    assert not Keys("other").is_cookie(cookie)
    now[0] += COOKIE_S
    assert not keys.is_cookie(cookie)
    links = [keys.link() for _ in range(LINKS_MAX + 1)]
    assert [keys.use(key) for key in (links[0], links[-1])] == [False, True]


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


@pytest.mark.parametrize(
    ("path", "own"),
    [("/default/sessions", True), ("//evil.example", False), ("/\\evil.example", False), ("http://evil.example", False),
     ("/a\nb", False), ("", False)],
)  # fmt: skip
def test_a_link_leads_to_pages_of_this_server_alone(path, own):
    """Where a link leads is a path of this server, never another host."""
    assert is_own_path(path) is own


def test_the_token_is_kept_for_its_owner_alone(tmp_path):
    """A token is made once, in a file of mode 0600; one that others could read is replaced."""
    first = token_of(tmp_path)
    assert stat.S_IMODE(first.kept.stat().st_mode) == 0o600
    assert token_of(tmp_path) == first
    first.kept.chmod(0o644)
    second = token_of(tmp_path)
    assert second.text != first.text
    assert stat.S_IMODE(second.kept.stat().st_mode) == 0o600
    second.kept.write_text("short")
    assert len(token_of(tmp_path).text) >= 32


def test_a_token_that_cannot_be_kept_is_an_error(tmp_path):
    """Where the token's folder is a file, the error says where it should have been."""
    (tmp_path / "server").write_text("x")
    with pytest.raises(StoreFailed, match="token"):
        token_of(tmp_path / "server")
