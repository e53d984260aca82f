"""The MCP server, asked by a client in this process and by one at its standard streams."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import subprocess
import sys
import time
from importlib.metadata import version

import apsw
import pytest

from firsthand import AgentTools, Memory
from firsthand.server import mcp_server
from firsthand.server.mcp_server import TOKENS_TARGET, Door, Served, described, tokens_of

pytest.importorskip("mcp", reason="the extra agents is not installed")
MAJOR = int(version("mcp").split(".")[0])
NOT = f"mcp {MAJOR}.x is installed: run these tests too where the other major is"
MODES = [
    pytest.param(mode, marks=pytest.mark.skipif(major != MAJOR, reason=NOT))
    for major, mode in ((2, "auto"), (2, "legacy"), (1, "1.x"))
]


def connected(door, mode):
    """Give a client of the installed major."""
    if MAJOR == 2:
        from mcp import Client

        return Client(door.server, mode=mode)
    from mcp.shared.memory import create_connected_server_and_client_session

    return create_connected_server_and_client_session(door.server._mcp_server)


def plain(result):
    """Give a result as the wire has it."""
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.fixture(params=MODES)
def ask(request, tmp_path):
    """Ask a server over a store of one session; each call is a coroutine of the client's."""
    store = tmp_path / "store"
    with Memory.open(store) as memory:
        session = memory.session("host:one")
        session.user("deploy shop-api please")
        session.tool_result(session.tool_call("bash", {"command": "make"}), "error E4711 at db7.internal:5544")
        memory.agent("coder").enrol("host:one")

    def asked(*calls, served=None):
        async def go():
            door = Door(served or Served(store=str(store), agent="coder", cwd=str(tmp_path)))
            try:
                async with connected(door, request.param) as client:
                    return [plain(await call(client)) for call in calls]
            finally:
                door.close()

        found = asyncio.run(go())
        return found[0] if len(found) == 1 else found

    yield asked
    with Memory.open(store, read_only=True) as memory:
        assert memory.verify().problems == ()


def tool(name, **arguments):
    return lambda client: client.call_tool(name, arguments)


@pytest.mark.files_only("changes firsthand.db")
def test_an_event_whose_header_was_changed_is_named(ask, tmp_path):
    """A header that was changed in the database is an error of expand and degrades a recall; none of it is shown."""
    with Memory.open(tmp_path / "store") as memory:
        pointer = next(memory.events()).pointer
    db = apsw.Connection(str(tmp_path / "store" / "firsthand.db"))
    db.execute("UPDATE event SET trust = 3 WHERE key = 1")
    expanded, recalled = ask(tool("expand", pointer=pointer), tool("recall", query="deploy shop-api please"))
    db.execute("UPDATE event SET trust = 1 WHERE key = 1")
    db.close()
    assert "its header" in json.dumps(expanded) and expanded["isError"]  # noqa: PT018 - of one answer
    assert "degraded" in json.dumps(recalled)
    assert "deploy shop-api please" not in json.dumps([expanded, recalled["content"]])


def test_the_tools_are_few_and_described(ask):
    """A client sees six tools with schemas and hints, and only remember and decide may write."""
    tools = ask(lambda client: client.list_tools())["tools"]
    assert [one["name"] for one in tools] == ["recall", "expand", "remember", "decide", "timeline", "health"]
    assert {one["name"]: one["annotations"]["readOnlyHint"] for one in tools} == {
        "recall": True, "expand": True, "remember": False, "decide": False, "timeline": True, "health": True,
    }  # fmt: skip
    assert all(one["outputSchema"]["required"] == ["outcome", "text"] for one in tools)
    assert [one["inputSchema"] for one in tools] == [dict(one.parameters) for one in AgentTools.definitions()]


def test_the_tools_cost_few_tokens(tmp_path):
    """All that a client is told of the tools stays below the stated size."""
    assert tokens_of(described(Door(Served(store=str(tmp_path / "none"))))) < TOKENS_TARGET


def test_recall_answers_in_text_and_as_an_object(ask):
    """A hit stands in the text block, and the object holds the same text with outcome and pointers."""
    found = ask(tool("recall", query="E4711"))
    assert not found.get("isError")
    assert "db7.internal:5544" in found["content"][0]["text"]
    object_ = found["structuredContent"]
    assert (object_["outcome"], object_["text"]) == ("found", found["content"][0]["text"])
    assert object_["hits"][0]["pointer"].startswith("fh:")


def test_what_goes_wrong_is_a_sentence(ask, tmp_path):
    """Wrong arguments, pointers and tools give an error in words, without a traceback or the store's folder."""
    for call, words in (
        (tool("recall", query="x", colour="red"), "recall has no argument 'colour'"),
        (tool("recall"), "recall needs query"),
        (tool("expand", pointer="fh:nope"), "expected a pointer"),
        (tool("timeline", where="host:none"), "no session"),
        (tool("forget"), "forget"),
    ):
        found = ask(call)
        text = found["content"][0]["text"]
        assert (found["isError"], words in text) == (True, True), text
        assert "Traceback" not in text
        assert str(tmp_path) not in text


def test_a_store_that_cannot_be_opened_is_told_at_each_call(ask, tmp_path):
    """A folder that is no store leaves the server alive: every call says what is wrong, and it mends by itself."""
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "cat.jpg").write_bytes(b"x")
    served = Served(store=str(folder), agent="coder")
    told, health = ask(tool("recall", query="x"), tool("health"), served=served)
    assert told["isError"]
    assert health["isError"]
    assert "degraded" in told["content"][0]["text"]
    (folder / "cat.jpg").unlink()
    assert not ask(tool("recall", query="x"), served=served).get("isError")


def test_a_store_that_is_gone_is_told_at_each_call(ask, tmp_path):
    """No empty store takes its place; where it is back, or another one stands there, the calls are answered again."""
    store, away = tmp_path / "store", tmp_path / "away"

    def moves(source, target):
        async def moved(client):
            source.rename(target)
            return await client.call_tool("health", {})

        return moved

    recall = tool("recall", query="E4711")
    answers = ask(recall, moves(store, away), tool("remember", text="a pin"), moves(away, store), recall)
    assert [answer.get("isError", False) for answer in answers] == [False, True, True, False, False]
    assert "nothing stands at its path. Move it back" in answers[2]["content"][0]["text"]
    assert "E4711" in answers[4]["content"][0]["text"]
    Memory.open(tmp_path / "other").close()
    _, _, told, other = ask(recall, moves(store, away), moves(tmp_path / "other", store), recall)
    assert ("another store stands" in told["content"][0]["text"], other.get("isError", False)) == (True, False)
    assert "absent" in other["content"][0]["text"]


def test_resources_and_prompt(ask):
    """Sessions and events are read as resources, names with signs percent-encoded; the prompt is described."""
    pointer = ask(tool("recall", query="E4711"))["structuredContent"]["hits"][0]["pointer"]
    listed, session, event, prompts, preamble = ask(
        lambda client: client.read_resource("firsthand://sessions"),
        lambda client: client.read_resource("firsthand://session/host%3Aone"),
        lambda client: client.read_resource(f"firsthand://event/{pointer.removeprefix('fh:')}"),
        lambda client: client.list_prompts(),
        lambda client: client.get_prompt("preamble"),
    )
    assert "host:one" in listed["contents"][0]["text"]
    assert "deploy shop-api" in session["contents"][0]["text"]
    assert "error E4711 at db7.internal:5544" in event["contents"][0]["text"]
    assert all(one["description"] for one in prompts["prompts"])
    assert "deploy shop-api" in preamble["messages"][0]["content"]["text"]


def test_a_resource_that_is_not_there_is_an_error(ask):
    """An unknown episode is refused with a sentence, and the server lives on."""

    async def unknown(client):
        with pytest.raises(Exception, match="has no episode"):
            await client.read_resource("firsthand://episode/none")
        return await client.call_tool("health", {})

    assert ask(unknown)["structuredContent"]["outcome"] == "found"


def test_calls_at_once_are_all_answered(ask):
    """Twenty calls at the same time over one store give twenty answers."""

    async def many(client):
        found = await asyncio.gather(*(client.call_tool("recall", {"query": "E4711"}) for _ in range(20)))
        assert [plain(one)["structuredContent"]["outcome"] for one in found] == ["found"] * 20
        return found[0]

    assert ask(many)["structuredContent"]["outcome"] == "found"


def test_a_long_call_reports_progress(ask, monkeypatch):
    """While a call lasts, a client that asked for it is told how long, in steps that grow."""
    told = []

    async def heard(progress, total, message):
        told.append((progress, total, message))

    def slow(self, name, arguments):
        time.sleep(0.3)
        return real(self, name, arguments)

    real = AgentTools.call
    monkeypatch.setattr(AgentTools, "call", slow)
    monkeypatch.setattr(mcp_server, "PROGRESS_S", 0.05)
    ask(lambda client: client.call_tool("recall", {"query": "E4711"}, progress_callback=heard))
    assert told[:2] == [(1, None, "recall: 0.05 s"), (2, None, "recall: 0.1 s")]


def test_names_are_completed(ask):
    """The names of sessions are completed from what was typed, as far as they begin so."""
    kind = {"type": "ref/resource", "uri": "firsthand://session/{name}"}

    def complete(text):
        def call(client):
            reference = types_of().ResourceTemplateReference.model_validate(kind)
            return client.complete(reference, {"name": "name", "value": text})

        return call

    one, none = ask(complete("host"), complete("zzz"))
    assert (one["completion"]["values"], none["completion"]["values"]) == (["host:one"], [])


def types_of():
    """Give the module of the protocol's types."""
    return importlib.import_module("mcp_types" if MAJOR == 2 else "mcp.types")


def test_the_server_lives_on_after_a_cancelled_call(ask):
    """A call that its client gives up leaves the next one answered."""

    async def impatient(client):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("recall", {"query": "E4711"}), 0.0001)
        return await client.call_tool("recall", {"query": "E4711"})

    assert ask(impatient)["structuredContent"]["outcome"] == "found"


def test_standard_output_carries_the_protocol_only(tmp_path):
    """A process that is asked at its standard input answers in JSON lines and writes nothing else there."""
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "health", "arguments": {}}},
    ]  # fmt: skip
    command = [sys.executable, "-m", "firsthand", "mcp", "--store", str(tmp_path / "store"), "--agent", "coder"]
    alone = os.environ | {"HOME": str(tmp_path), "FIRSTHAND_DAEMON": "off"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=alone) as one:
        one.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in asked))
        one.stdin.flush()
        answers = [json.loads(one.stdout.readline()) for _ in range(2)]
        one.stdin.close()
        rest = one.stdout.read()
    assert [one["id"] for one in answers] == [1, 2]
    assert answers[0]["result"]["serverInfo"]["name"] == "firsthand"
    assert "recall" in answers[0]["result"]["instructions"]
    assert answers[1]["result"]["structuredContent"]["outcome"] == "found"
    assert rest == b""
