"""The HTTP API: the verbs of a memory for a program with the token, and what it is told when it asks wrongly."""

from __future__ import annotations

import asyncio
import json
import time
import tracemalloc
from contextlib import contextmanager, nullcontext

import pytest

pytest.importorskip("starlette", reason="the extra agents is not installed")
pytest.importorskip("jinja2", reason="the extra agents is not installed")

from page_client import PageClient
from starlette.requests import ClientDisconnect, Request

from firsthand import Draft, Kind, Memory
from firsthand.errors import StoreDamaged
from firsthand.server import api, api_door

LINE = b"0123456789abcdef" * 63 + b"0123456789abcde\n"
TOKEN = {"Authorization": "Bearer sesame", "Cookie": "", "Accept": "application/json"}


@pytest.fixture
def client(tmp_path, monkeypatch):
    """A program that talks to the API of a store, verified at the end."""
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "store"))
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.session("deploy").user("ship the invoice service to db-7")
        memory.session("deploy").agent("shipped")
    made = PageClient(tmp_path / "store")
    made.base = ""
    yield made
    made.stores.close()
    with Memory(tmp_path / "store", read_only=True) as memory:
        assert memory.verify().problems == ()


def get(client, path, **headers):
    return client.ask(path, **TOKEN | headers)


def post(client, path, fields):
    return client.ask(path, "POST", content=json.dumps(fields), **TOKEN)


def test_flags_of_a_query_are_read_and_what_is_erased_is_not_found(client):
    """A timeline is turned round by a flag as text; a pointer to what was erased is answered with 404."""
    newest, first = (get(client, f"/v1/timeline?newest_first={flag}&limit=1").json()[0] for flag in ("1", "false"))
    assert (newest["position"], first["position"]) == (2, 1)
    assert post(client, "/v1/erase", {"addresses": [newest["pointer"]], "reason": "asked"}).json()["erased"]
    assert get(client, f"/v1/expand?address={newest['pointer']}").status_code == 404


def test_bytes_are_given_by_ranges(client):
    """A range gives exactly its bytes and says which of how many they are; one beyond the end is refused."""
    raw = b"0123456789" * 3_000
    with Memory(embedder="none") as memory:
        pointer = memory.session("s").tool_result("c", raw, tool="cat").pointer
    for wanted, data in (("bytes=3-9", raw[3:10]), ("bytes=29990-", raw[29_990:]), ("bytes=-4", raw[-4:])):
        part = get(client, f"/v1/expand?address={pointer}", Range=wanted)
        start = raw.index(data) if wanted == "bytes=3-9" else len(raw) - len(data)
        assert (part.status_code, part.content) == (206, data)
        assert part.headers["content-range"] == f"bytes {start}-{start + len(data) - 1}/{len(raw)}"
    assert get(client, f"/v1/expand?address={pointer}", Range="bytes=40000-").status_code == 416
    whole = get(client, f"/v1/expand?address={pointer}", Range="lines=1-2")
    assert (whole.status_code, whole.content) == (200, raw)


@pytest.mark.parametrize(
    ("path", "fields", "status", "words"),
    [
        ("/v1/recall", {}, 400, "query"),
        ("/v1/recall", {"query": "x", "colour": "red"}, 400, "colour"),
        ("/v1/recall", {"query": "x", "hits_max": 0}, 400, "hits_max"),
        ("/v1/recall", [], 400, "JSON object"),
        ("/v1/append", {"session": "s", "events": [{"kind": "wish", "content": "x"}]}, 400, "wish"),
        ("/v1/append", {"session": "s", "events": [{"content": "x"}]}, 400, "kind"),
        ("/v1/append", {"session": "s", "events": [{"kind": "note", "content": "x", "time": "noon"}]}, 400, "noon"),
        ("/v1/append", {"session": "deploy", "events": [{"kind": "note", "content": "x"}], "expected_position": 1}, 409,
         "position"),
        ("/v1/erase", {"addresses": ["fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"]}, 404, "no event"),
        ("/v1/forget", {}, 404, "/v1/openapi.json"),
        ("/v1/recall?namespace=x", {"query": "x", "namespace": "a\nb"}, 400, "control characters"),
        ("/v1/append", {"session": "s", "events": [{"kind": "note", "content": "x", "colour": "red"}]}, 400, "colour"),
        ("/v1/note", {"text": "x", "colour": "red"}, 400, "colour"),
        ("/v1/note", {"text": "x", "time": "noon"}, 400, "expected a time in ISO 8601 or nothing; got 'noon'"),
        ("/v1/messages", {"session": "m", "format": "zz"}, 400, "got 'zz'"),
        ("/v1/timeline", {"after": [1]}, 400, "after of timeline: expected a whole number; got [1]"),
        ("/v1/timeline", {"before": "x"}, 400, "expected a whole number or nothing; got 'x'"),
        ("/v1/timeline", {"newest_first": "maybe"}, 400, "newest_first of timeline: expected true or false"),
        ("/v1/verify", {"deep": "yes"}, 400, "deep of verify: expected true or false or nothing; got 'yes'"),
        ("/v1/verify", {"wide": True}, 400, "; unknown: wide"),
        ("/v1/expand", {"address": "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY", "wide": 1}, 400, "; unknown: wide"),
        ("/v1/recall", {"colour": "red"}, 400, "; missing: query; unknown: colour"),
        ("/v1/recall", {"query": 5}, 400, "query of recall: expected a text or an object with the fields of Query"),
        ("/v1/append", {"session": "s", "events": [{"kind": "note", "content": 5}]}, 400,
         "expected a text or base64 in an object; got 5"),
        ("/v1/verify", {"heads": 0}, 400, "heads of verify: expected a list; got 0"),
        ("/v1/erase", {"addresses": 164}, 400, "addresses of erase: expected a list; got 164"),
        ("/v1/fence", {"text": ["x"]}, 400, "text of fence: expected a text; got ['x']"),
        ("/v1/retract", {"target": "x", "quote": "x", "by": 276}, 400, "by of retract: expected a text; got 276"),
        ("/v1/append_messages", {"session": "m", "messages": [], "format": {}}, 400, "format of append_messages"),
        ("/v1/append_messages", {"session": "m", "messages": 1}, 400, "messages of append_messages: expected a list"),
        ("/v1/note", {"text": "x", "kind": "note"}, 400, "; unknown: kind"),
        ("/v1/sync/erasures", {}, 400, "expected a list"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_a_problem_in_words(client, path, fields, status, words):
    """A wrong call changes nothing and is answered by a problem that says what was expected, under its status."""
    answer = post(client, path, fields)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]
    with Memory(read_only=True) as memory:
        assert memory.position == 2


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("timeline?newest_first=maybe", "newest_first"), ("messages?session=m&format=zz", "zz"),
        ("live?after=soon", "after"), ("live?wide=1", "wide"), ("expand?address=fh:x&wide=1", "wide"),
        ("sessions?wide=1", "wide"),
    ],
)  # fmt: skip
def test_a_query_is_read_as_strictly_as_a_body(client, path, words):
    """A flag that is none, an unknown field and an unknown format are refused by name in a query too."""
    answer = get(client, f"/v1/{path}")
    assert answer.status_code == 400
    assert words in answer.json()["detail"]


def test_a_store_that_is_gone_is_told(client, tmp_path):
    """No request is answered from an empty store in its place, and all are when it is back."""
    store, away = tmp_path / "store", tmp_path / "away"
    asked = {"query": "invoice service"}
    assert post(client, "/v1/recall", asked).json()["outcome"] == "found"
    store.rename(away)
    gone = post(client, "/v1/recall", asked)
    assert (gone.status_code >= 500, "nothing stands at its path" in gone.text, store.exists()) == (True, True, False)
    away.rename(store)
    assert post(client, "/v1/recall", asked).json()["outcome"] == "found"


def test_a_browser_is_not_a_program(client):
    """The cookie of a page opens no verb of the API: only the token does."""
    assert client.ask("/v1/sessions").status_code == 401
    assert client.ask("/v1/append", "POST", content="{}", Origin="http://127.0.0.1:1").status_code == 401


def test_the_document_names_every_verb(client):
    """The OpenAPI document has every verb with what it takes, by the table that answers."""
    document = get(client, "/v1/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert {f"/v1/{verb.name}" for verb in api.VERBS} | {"/v1/expand", "/v1/live"} == set(document["paths"])
    body = document["paths"]["/v1/append"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert (body["required"], body["additionalProperties"]) == (["session", "events"], False)
    for verb in api.VERBS:
        assert verb.method.lower() in document["paths"][f"/v1/{verb.name}"]
    for path in ("health", "sessions", "timeline", "facts", "ledger", "stats"):
        assert get(client, f"/v1/{path}").status_code == 200


def test_a_namespace_can_be_named_in_the_header(client):
    """The header names the tenant, percent-encoded, so that a body holds nothing but what the verb takes."""
    fields = {"session": "s", "events": [{"kind": "note", "content": "tea at four"}]}
    named = {"firsthand-namespace": "tea%20%26%20cake"}
    client.ask("/v1/append", "POST", content=json.dumps(fields), **TOKEN | named)
    assert get(client, "/v1/head", **named).json().startswith("1:")
    with Memory(namespace="tea & cake", read_only=True) as memory:
        assert [memory.expand(each.pointer) for each in memory.events()] == [b"tea at four"]


def test_a_large_body_is_read_in_time(client):
    """A body that comes in many pieces costs what its bytes cost, however many there are: others wait meanwhile."""
    pieces = [b'{"query": "'] + [b"x" * 4_096] * 900 + [b'"}']
    messages = [{"type": "http.request", "body": piece, "more_body": piece != b'"}'} for piece in pieces]

    async def receive():
        return messages.pop(0)

    scope = {"type": "http", "method": "POST", "path": "/v1/recall", "query_string": b"", "headers": []}
    begun = time.process_time()
    assert len(asyncio.run(api_door.fields_of(Request(scope, receive)))["query"]) == 900 * 4_096
    assert time.process_time() - begun < 0.5


def test_large_bytes_wait_nowhere(client, tmp_path, monkeypatch):
    """What a pointer addresses is sent without all of it in memory or on disk, whole, a range, or a range of lines."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "no such folder"))
    with Memory(tmp_path / "store", embedder="none") as memory:
        pointer = memory.append([Draft(Kind.NOTE, LINE * (16 << 10))], session="large")[0].pointer
        for address, wanted, size in (
            (pointer, "", 16 << 20),
            (pointer, f"bytes=1024-{15 << 20}", (15 << 20) - 1_023),
            (f"{pointer}@L1-9000", "bytes=1024-9000447", 8_999_424),
        ):
            tracemalloc.start()
            answer = api_door._expanded(lambda: nullcontext(memory), str(address), wanted)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert (int(answer.headers["content-length"]), peak < 14 << 20) == (size, True)
            sent = asyncio.run(_all(answer.body_iterator))
            assert len(sent) < 20
            assert (len(b"".join(sent)), sent[1][:1_024]) == (size, LINE)


def test_large_bytes_that_are_others_are_never_sent_whole(client, tmp_path, monkeypatch):
    """Damage that is there is said before the first byte; what becomes damaged while it is sent breaks off."""
    monkeypatch.setattr(api_door, "WHOLE_BYTES", 1 << 20)
    with Memory(tmp_path / "store", embedder="none") as memory:
        drafts = [Draft(Kind.NOTE, letter * (2 << 20)) for letter in (b"a", b"b")]
        first, second = (
            tmp_path / "store" / "artifacts" / "1" / digest[:2] / f"{digest}.zst"
            for appended in memory.append(drafts, session="large")
            for digest in (memory.event(appended.pointer).artifact.digest.hex(),)
        )
        pointer = str(memory.append(drafts[:1], session="large")[0].pointer)
        answer = api_door._expanded(lambda: nullcontext(memory), pointer, "")
        right = first.read_bytes()
        first.write_bytes(second.read_bytes())
        sent = []

        async def send(message):
            sent.append(message.get("body", b""))

        with pytest.raises(StoreDamaged):
            asyncio.run(answer({"type": "http", "asgi": {"spec_version": "2.4"}}, None, send))
        assert 0 < sum(map(len, sent)) < int(answer.headers["content-length"])
        answer = get(client, f"/v1/expand?address={pointer}")
        assert (answer.status_code, answer.json()["error"]) == (500, "StoreDamaged")
        first.write_bytes(right)
        assert get(client, f"/v1/expand?address={pointer}").content == b"a" * (2 << 20)


def test_who_hangs_up_lets_the_store_go(client, tmp_path, monkeypatch):
    """A client that goes while large bytes are sent holds the memory that they are read from no longer."""
    monkeypatch.setattr(api_door, "WHOLE_BYTES", 1 << 20)
    users = []

    @contextmanager
    def opened():
        users.append(memory)
        try:
            yield memory
        finally:
            users.pop()

    async def send(message):
        if message.get("body"):
            assert users == [memory]
            raise OSError("gone")

    async def hangs_up():
        with pytest.raises(ClientDisconnect):
            await answer({"type": "http", "asgi": {"spec_version": "2.4"}}, None, send)
        assert users == []  # now, and not when the garbage is collected

    with Memory(tmp_path / "store", embedder="none") as memory:
        pointer = memory.append([Draft(Kind.NOTE, b"a" * (2 << 20))], session="large")[0].pointer
        answer = api_door._expanded(opened, str(pointer), "")
        asyncio.run(hangs_up())


async def _all(pieces):
    return [piece async for piece in pieces]
