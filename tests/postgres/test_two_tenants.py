"""Two tenants of a server for teams: on no route, tool, page of numbers or line of a log is a word of the other one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any
from urllib.parse import urlencode

import httpx
import planted_faults
import pytest
from api_calls import shapes
from empty_stores import make_database
from postgres_server import installations
from team_server import EVERY, Team

from firsthand.event import Draft, Kind
from firsthand.server.teams.grants import AUDIT, TOOLS

CANARY = "xylophone-4711"
SHAPES = shapes(CANARY)
pytestmark = pytest.mark.parametrize("server", [*installations()][-1:], indirect=True)


@dataclass(frozen=True)
class Tenants:
    """A server with two tenants, the keys of their principals, and what a thief could know of the second one."""

    team: Team
    alice: str
    bob: str
    operator: str
    addresses: tuple[Any, ...]
    ours: str


@pytest.fixture
def tenants(server, tmp_path, monkeypatch) -> Iterator[Tenants]:
    """Alice has everything in `ours`; Bob's `theirs` holds the canary in every kind of event, verified at the end."""
    with httpx.Client() as client, Team(server, make_database(server), tmp_path) as team:
        monkeypatch.setattr(httpx, "request", client.request)  # thousands of calls over one connection
        alice, bob = team.key("alice", ours=EVERY), team.key("bob", theirs=EVERY)
        operator = team.key("operator", **{AUDIT: ["read"]})
        ours = team.client(alice).session("deploy").user("ship the invoice service to db-7")
        of_bob = team.client(bob)
        said = of_bob.session("deploy").user(f"the code is {CANARY}, ship it")
        large = of_bob.append(
            [Draft(Kind.TOOL_RESULT, f"the code is {CANARY}\n".encode() * 5_000, meta={"tool": "sh", "call_id": "c"})],
            session="billing",
        )[0]  # fmt: skip
        of_bob.assert_fact("code", f"it is {CANARY}", f"the code is {CANARY}")
        event = of_bob.event(large.pointer)
        gone = of_bob.session("deploy").user(f"erase {CANARY}")
        of_bob.erase([gone.pointer], reason=f"it named {CANARY}")
        digest = event.artifact.digest.hex() if event.artifact is not None else "00" * 32
        addresses = (
            said.pointer, large.pointer, gone.pointer, said.id, f"{said.pointer}@0-40", digest, of_bob.head(),
            "billing", "the code is", 1, 2, 5, "theirs", "the\0code",
        )  # fmt: skip
        yield Tenants(team, alice, bob, operator, addresses, ours.pointer)
        for namespace in ("ours", "theirs"):
            assert team.verify(namespace).problems == ()
        assert not has_canary("\n".join(team.logged).encode())
        assert not has_canary(json.dumps(team.audit()).encode())


def has_canary(data: bytes) -> bool:
    return any(shape in data for shape in SHAPES)


REQUIRED = {"events": [{"kind": "note", "content": "x"}], "messages": [{"role": "user", "content": "x"}], "size": 5}
LISTS = {"addresses", "heads", "within", "sources", "sessions", "agents", "kinds", "ids", "quoting", "situations"}


def probes(document: dict[str, Any], tenants: Tenants) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give calls of every route, each parameter in turn holding each thing that is known of the other tenant."""
    for path, methods in document["paths"].items():
        for method, about in methods.items():
            query = [each["name"] for each in about["parameters"] if each["in"] == "query"]
            content = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            names = [*query, *content.get("properties", ()), "namespace"]  # which no body may choose
            needed = {each["name"] for each in about["parameters"] if each.get("required")} | {
                *content.get("required", ())
            }
            usual = {name: REQUIRED.get(name, "the code is") for name in needed}
            yield method, path, usual
            for name, value in product(names, tenants.addresses):
                forms = [[value], [[value, 0]]] if name in LISTS or name in {"at", "claims"} else [value]
                for form in forms:
                    members = usual | {name: form}
                    if name != "query" and "query" in members:
                        members["query"] = "code"
                    yield method, path, members


def walk(tenants: Tenants, key: str, only: str = "") -> dict[str, set[int]]:
    """Send every probe, or those of one route; give the routes whose answers held the canary, with their statuses."""
    document = tenants.team.ask(key, "GET", "/v1/openapi.json").json()
    document["paths"] = {path: about for path, about in document["paths"].items() if only in {"", path}}
    leaks: dict[str, set[int]] = {}
    for method, path, members in probes(document, tenants):
        if path in {"/v1/live", "/v1/erase", "/v1/sync/erase"} and key == tenants.bob:
            continue  # he would erase what is looked for; and a stream does not end
        if path == "/v1/live":
            members |= {"after": "x"}
        if method == "get":
            answer = tenants.team.ask(key, "GET", f"{path}?{urlencode(members)}")
        else:
            answer = tenants.team.ask(key, "POST", path, members)
        if answer.status_code == 500:
            leaks.setdefault(f"fault: {path} {members}", set()).add(500)
        if has_canary(answer.content) or has_canary(repr(answer.headers).encode()):
            leaks.setdefault(path, set()).add(answer.status_code)
    return leaks


def test_no_route_answers_with_a_word_of_the_other_tenant(tenants):
    """Every route of the document, each parameter with the other's pointers, ids, digests, heads and positions.

    A route that is added is walked, too. The same walk by the other one's own key finds the word on most of them that
    read. Fails on: a read by id, digest or session that leaves out the namespace.
    """
    assert walk(tenants, tenants.alice) == {}
    assert {"/v1/event", "/v1/timeline", "/v1/recall", "/v1/expand", "/v1/export", "/v1/sync/pull", "/v1/facts"} <= {
        *walk(tenants, tenants.bob)
    }


def test_the_other_namespace_is_not_there(tenants):
    """Named in the header, the other's namespace is answered like one that nobody has, on every route.

    Fails on: a name that is taken from the request instead of from the grant.
    """
    team = tenants.team
    document = team.ask(tenants.alice, "GET", "/v1/openapi.json").json()
    for path, methods in document["paths"].items():
        for method in methods:
            answers = [
                team.ask(
                    tenants.alice, method.upper(), path, b"{}" if method == "post" else None, firsthand_namespace=name
                )
                for name in ("theirs", "nobodys", AUDIT)
            ]
            assert {(answer.status_code, answer.text) for answer in answers} == {(404, answers[0].text)}


def test_no_tool_answers_with_a_word_of_the_other_tenant(tenants):
    """Every tool of MCP, each argument with what is known of the other; by the other's own key the word is found.

    Fails on: a door that is shared by two principals.
    """
    found: dict[str, set[str]] = {tenants.alice: set(), tenants.bob: set()}
    for key in (tenants.bob, tenants.alice):  # his first: a door that were kept for him would be open
        tools = tenants.team.mcp(key, "tools/list").json()["result"]["tools"]
        assert {tool["name"] for tool in tools} <= {*TOOLS}
        for tool in tools:
            schema = tool["inputSchema"]
            usual = dict.fromkeys(schema.get("required", ()), "the code is")
            for name, value in product(schema["properties"], tenants.addresses):
                arguments = usual | {name: value}
                for query in ("", "?agent=bob"):
                    answer = tenants.team.mcp(
                        key, "tools/call", {"name": tool["name"], "arguments": arguments}, query=query
                    )
                    assert answer.status_code < 500
                    if has_canary(answer.content):
                        found[key].add(tool["name"])
    assert found[tenants.alice] == set()
    assert {"recall", "expand", "timeline"} <= found[tenants.bob]


def counted_words(tenants: Tenants) -> list[str]:
    """Give the words of a tenant that stand among the numbers."""
    page = tenants.team.ask(tenants.operator, "GET", "/metrics")
    assert page.status_code == 200
    return [word for word in (CANARY, "theirs", "billing", "bob") if word in page.text]


def test_planted_faults_are_found_by_the_walk(tenants):
    """The walk finds a namespace that a body chooses, a fault on NUL, a tenant's words in the log and in a number.

    Fails on: a walk that sends no namespace in a body, no NUL, or does not look at the log.
    """
    team = tenants.team
    app, of = team.gateway._app, team.gateway._spaces.of

    def mended() -> None:
        team.gateway._app, team.gateway._spaces.of = app, of

    assert (walk(tenants, tenants.alice, "/v1/recall"), team.logged, counted_words(tenants)) == ({}, [], [])
    planted_faults.namespace_from_body(team)
    assert walk(tenants, tenants.alice, "/v1/recall") == {"/v1/recall": {200}}
    mended()
    planted_faults.fault_on_nul(team)
    assert {statuses == {500} for statuses in walk(tenants, tenants.alice, "/v1/recall").values()} == {True}
    mended()
    planted_faults.words_in_log(team)
    planted_faults.names_in_metrics(team)
    walk(tenants, tenants.bob, "/v1/facts")
    assert has_canary("\n".join(team.logged).encode())
    assert counted_words(tenants) == ["theirs"]
    mended()
    team.logged.clear()


def test_what_is_counted_names_nobody(tenants):
    """The numbers are for an operator, and hold no word or name of a tenant; nor does what anybody may read.

    Fails on: a label that is made of what was asked.
    """
    team = tenants.team
    assert team.ask(tenants.alice, "GET", "/metrics").status_code == 403
    assert counted_words(tenants) == []
    for path in ("/healthz", "/readyz", "/.well-known/oauth-protected-resource", "/nothing", "/mcp", "/v1/nothing"):
        for key in ("", tenants.alice):
            answer = team.ask(key, "GET", path)
            assert not has_canary(answer.content)
            assert "theirs" not in answer.text
