"""A server for teams: who is let in, what each may do, what is recorded, and that servers are interchangeable."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing

import httpx
import psycopg
import pytest
from empty_stores import make_database
from memory_suite import MemorySuite
from oidc_publisher import AUDIENCE, Publisher, token
from postgres_server import PostgresServer, installations
from starlette.routing import Route
from team_server import EVERY, Team

from firsthand import Draft, Kind
from firsthand.agents.agent_tools import AgentTools
from firsthand.cli.cli import main
from firsthand.errors import InvalidArgument, ServerFailed, StoreFull, Unresolvable
from firsthand.event import IdMaker
from firsthand.log.postgres import access
from firsthand.server import api, api_door
from firsthand.server.teams import identity
from firsthand.server.teams.audit import PRINCIPALS_MAX
from firsthand.server.teams.gateway import AT_ONCE_MAX, EXPORT, GRANTS, METADATA, OPEN
from firsthand.server.teams.grants import AUDIT, ROUTES, TOOLS
from firsthand.server.teams.service import TeamServer

NUMBERS = itertools.count(1)
VERBS = {verb.name: verb for verb in (*api.VERBS, api.EXPAND, api.LIVE, EXPORT, GRANTS)}


@pytest.fixture(scope="module")
def server():
    """One PostgreSQL for the tests of this file; how versions of it differ is tested with the engine."""
    started = PostgresServer(installations()["embedded"], fsync="off")
    yield started
    started.close()


@pytest.fixture
def team(server, tmp_path):
    with Team(server, make_database(server), tmp_path) as team:
        yield team
        check(team)


@pytest.fixture(scope="module")
def served(server, tmp_path_factory):
    """A team for tests that each take a namespace of their own."""
    with Team(server, make_database(server), tmp_path_factory.mktemp("served")) as team:
        yield team
        check(team)


def check(team):
    """Verify every namespace, the audit log among them."""
    for row in team.owner.usage():
        verification = team.verify(row["name"])
        assert (row["name"], verification.problems) == (row["name"], ())


# grants --------------------------------------------------------------------------------------------------


def test_every_route_and_tool_needs_a_right():
    """Each verb of the API and each tool of MCP stands in the table of rights, and nothing else does."""
    assert {*ROUTES} == {*VERBS}
    assert {*TOOLS} == {definition.name for definition in AgentTools.definitions()}


def test_nothing_is_answered_to_a_stranger(served):
    """Every route without exception wants a token, but for those that are open, and says where tokens come from."""
    app = served.gateway._app
    paths = {re.sub(r"\{.*\}", "append", route.path) for route in app.routes if isinstance(route, Route)}
    assert {"/mcp", "/metrics", "/v1/append", "/v1/openapi.json"} == paths - OPEN
    for path in [*(paths - OPEN), "/", "/v1/nothing", "/default/sessions", "/healthz/"]:
        for key in ("", "fhk_000000000000_00", "sesame", "eyJhbGciOiJub25lIn0.e30."):
            answer = served.ask(key, "POST" if path in {"/mcp", "/v1/append"} else "GET", path)
            assert (path, answer.status_code) == (path, 401)
            assert answer.headers["www-authenticate"] == (
                f'Bearer resource_metadata="https://memory.example.com{METADATA}/mcp"'
            )
    for path in (METADATA, f"{METADATA}/mcp"):
        assert served.ask("", "GET", path).json()["resource"] == "https://memory.example.com/mcp"


def ask_verb(team, key, name, namespace):
    verb = VERBS[name]
    if verb.method == "GET":
        return team.ask(key, "GET", f"/v1/{name}", firsthand_namespace=namespace)
    return team.ask(key, "POST", f"/v1/{name}", {}, firsthand_namespace=namespace)


@pytest.mark.parametrize("name", ROUTES)
def test_a_verb_is_refused_without_its_right(served, name):
    """With every right but the one of a verb it is refused; with that one alone it is not."""
    without, alone = f"without {name}", f"alone {name}"
    served.owner.grant("lacks", without, [right for right in EVERY if right != ROUTES[name]])
    served.owner.grant("has", alone, [ROUTES[name]])
    refused = ask_verb(served, served.key("lacks"), name, without)
    assert (refused.status_code, refused.json()["detail"]) == (
        403, f"expected a grant of {ROUTES[name]} in this namespace"
    )  # fmt: skip
    if name != "live":  # which goes on without end
        assert ask_verb(served, served.key("has"), name, alone).status_code not in {401, 403, 404}


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_refused_without_its_right(served, name):
    """A tool of MCP is refused without its right, whatever its arguments are."""
    namespace = f"tools without {name}"
    served.owner.grant("toolless", namespace, [right for right in EVERY if right != TOOLS[name]])
    query = f"?namespace={namespace.replace(' ', '%20')}"
    answer = served.mcp(served.key("toolless"), "tools/call", {"name": name, "arguments": {}}, query=query)
    assert answer.status_code == 403


def test_what_is_not_granted_is_not_known(team):
    """A namespace of others and one that is not there are refused by the same words, on every route."""
    team.client(team.key("bob", theirs=EVERY)).session("s").user("a secret of bob")
    key = team.key("alice", mine=EVERY)
    for name in ROUTES:
        answers = {ask_verb(team, key, name, namespace).text for namespace in ("theirs", "nobodys")}
        assert len(answers) == 1
        assert '"status": 404' in answers.pop()
    assert team.ask(key, "GET", "/v1/sessions?namespace=theirs").status_code == 404
    assert team.mcp(key, "tools/list", query="?namespace=theirs").status_code == 404


def test_the_namespace_comes_from_the_grant(team):
    """With one grant it need not be named, with several it must be, and a body names it never."""
    key = team.key("alice", shop=["read", "append"])
    team.client(key).session("s").user("of the shop")
    assert team.ask(key, "GET", "/v1/head").json().startswith("1:")
    team.owner.grant("alice", "garden", ["read"])
    several = team.key("alice")
    assert team.ask(several, "GET", "/v1/head").status_code == 400
    assert team.ask(several, "GET", "/v1/head?namespace=garden").json().startswith("0:")
    assert team.ask(several, "GET", "/v1/head", firsthand_namespace="shop").json().startswith("1:")
    both = team.ask(several, "GET", "/v1/head?namespace=garden", firsthand_namespace="shop")
    assert both.status_code == 400
    events = [{"kind": "note", "content": "x"}]
    fields = {"session": "s", "events": events, "namespace": "garden"}
    assert team.ask(several, "POST", "/v1/append", fields, firsthand_namespace="shop").status_code == 400


class TestTeamClient(MemorySuite):
    """A client of a server for teams: what holds for a folder holds there."""

    @pytest.fixture
    def memory(self, served):
        namespace = f"tenant {next(NUMBERS)}"
        served.owner.grant(f"who has {namespace}", namespace, EVERY)
        return served.client(served.key(f"who has {namespace}"), namespace)


# servers -------------------------------------------------------------------------------------------------


def test_a_client_that_changes_servers_sees_its_own_writes(team):
    """What one server acknowledged the next one gives at once, by every way of reading; an id is one event on both."""
    key = team.key("alice", shop=EVERY)
    other = team.server()
    ways = itertools.cycle((team.client(key), team.client(key, url=other.url)))
    for number in range(20):
        writer, reader = next(ways), next(ways)
        next(ways)
        draft = Draft(Kind.NOTE, f"crate {number:04} is at the dock".encode(), id=f"01J8ZQ4T9M6V3K2N7P5R8S1{number:03}")
        appended = writer.append([draft], session="s")[0]
        assert reader.expand(appended) == draft.content
        assert reader.recall(f"crate {number:04}", hits_max=1).hits[0].pointer == appended.pointer
        assert reader.append([draft], session="s")[0].position == appended.position == number + 1
        assert reader.head() == writer.head()
    assert {each["name"]: each["events"] for each in team.owner.usage()}["shop"] == 20


def test_messages_of_mcp_go_to_any_server(team):
    """MCP has no session here: what one server was told the next one answers, in the namespace of the grant alone."""
    key, other = team.key("alice", shop=EVERY), team.server()
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert "tools" in team.mcp(key, "initialize", about).json()["result"]["capabilities"]
    kept = {"name": "remember", "arguments": {"text": "crates of tea stand at dock 7"}}
    assert team.mcp(key, "tools/call", kept, url=other.url).json()["result"]["structuredContent"]["outcome"]
    asked = {"name": "recall", "arguments": {"query": "crates of tea"}}
    for url in ("", other.url):
        assert "dock 7" in team.mcp(key, "tools/call", asked, url=url).text
    team.owner.grant("bob", "garden", EVERY)
    assert "dock 7" not in team.mcp(team.key("bob"), "tools/call", asked).text
    assert len(team.mcp(key, "tools/list").json()["result"]["tools"]) == len(TOOLS)
    assert team.ask(key, "GET", "/mcp").status_code == 405
    assert team.mcp(key, "tools/call", {"name": "forget", "arguments": {}}).status_code == 404
    assert team.mcp(key, "sampling/createMessage").status_code == 404


class Process:
    """`firsthand serve --postgres` in a process of its own."""

    def __init__(self, team, folder, *options):
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "HOME": str(folder)}
        command = [sys.executable, "-m", "firsthand", "serve", "--postgres", team.dsn, "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, env=self._environment)
        line = self.process.stderr.readline().decode()
        self.url = re.search(r"http://[\d.:]+", line)[0]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def test_a_killed_server_loses_nothing(team, tmp_path):
    """What a server acknowledged before kill -9 is there, and what it did not answer is one event when sent again."""
    key = team.key("alice", shop=EVERY)
    with closing(Process(team, tmp_path)) as server:
        client, acknowledged = team.client(key, url=server.url), []
        client.head()
        killer = threading.Timer(0.5, server.close)
        killer.start()
        drafts = [Draft(Kind.NOTE, b"crate %d" % number, id=IdMaker()()) for number in range(3_000)]
        with contextlib.suppress(ServerFailed):
            for draft in drafts:
                acknowledged += [appended.position for appended in client.append([draft], session="s")]
        killer.join()
    assert 0 < len(acknowledged) < 3_000
    after = team.client(key)
    for draft in drafts[: len(acknowledged) + 1]:
        after.append([draft], session="s")
    events = [*after.events()]
    assert [event.content for event in events] == [draft.content for draft in drafts[: len(acknowledged) + 1]]
    assert [event.position for event in events][: len(acknowledged)] == acknowledged


# who is let in -------------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    """Have servers believe what they read of a key for no time at all."""
    monkeypatch.setattr(identity, "FRESH_S", 0.0)


def test_a_key_holds_until_it_is_revoked_or_expires(team, server, quick):
    """The database has no key but its hash; a revoked key, an expired one and a changed one are refused."""
    keys = [team.key("alice", shop=["read"]) for _ in range(3)]
    assert {team.ask(key, "GET", "/v1/head").status_code for key in keys} == {200}
    with psycopg.connect(team.owner_dsn, autocommit=True) as db:
        stored = db.execute("SELECT * FROM firsthand.api_key").fetchall()
        assert not any(key.rpartition("_")[2] in str(stored) for key in keys)
        prefix = keys[1].rpartition("_")[0]
        db.execute("UPDATE firsthand.api_key SET expires = now() - interval '1 second' WHERE prefix = %s", (prefix,))
    team.owner.revoke_key(keys[0].rpartition("_")[0])
    assert "was revoked" in team.ask(keys[0], "GET", "/v1/head").text
    assert "has expired" in team.ask(keys[1], "GET", "/v1/head").text
    assert team.ask(keys[2], "GET", "/v1/head").status_code == 200
    changed = keys[2][:-1] + ("0" if keys[2][-1] != "0" else "1")
    for wrong in (changed, keys[2] + "0", keys[2].upper(), keys[2].rpartition("_")[0] + "_", "fhk_"):
        assert team.ask(wrong, "GET", "/v1/head").status_code == 401
    rows = {row["prefix"]: row for row in access.keys(team.owner.log.connections)}
    assert rows[keys[2].rpartition("_")[0]]["used"] is not None
    assert team.owner.add_key("bob", 90).startswith("fhk_")
    with pytest.raises(Unresolvable):
        team.owner.revoke_key("fhk_nobody")


def test_a_withdrawn_grant_ends(team, quick):
    """A right that is taken back is refused from the next request on, and ends a stream that is under way."""
    key = team.key("alice", shop=["read", "append"])
    ended = threading.Event()

    def listen():
        with contextlib.suppress(httpx.HTTPError):
            team.ask(key, "GET", "/v1/live")
        ended.set()

    threading.Thread(target=listen).start()
    team.owner.withdraw("alice", "shop", ["append"])
    assert team.ask(key, "POST", "/v1/append", {"session": "s", "events": []}).status_code == 403
    assert team.ask(key, "GET", "/v1/head").status_code == 200
    team.owner.withdraw("alice", "shop")
    assert team.ask(key, "GET", "/v1/head").status_code == 403
    assert ended.wait(10)


def test_a_key_belief_is_short(team):
    """Without a look at the database a key is believed for seconds at most."""
    assert 0 < identity.FRESH_S <= 2


def test_tokens_of_an_issuer_are_principals_of_their_subject(server, tmp_path):
    """A token of the issuer that is named acts as oidc:SUBJECT; one for another server does not; MCP is told of it."""
    publisher = Publisher()
    with Team(server, make_database(server), tmp_path, issuer=publisher.url, audience=AUDIENCE) as team:
        team.owner.grant("oidc:alice", "shop", ["read", "append"])
        times = {"exp": int(time.time()) + 60, "nbf": None, "iat": None}
        right = token(publisher, **times)
        team.client(right).session("s").user("by a token")
        assert team.ask(right, "GET", "/v1/head").json().startswith("1:")
        assert "tools" in team.mcp(right, "tools/list").json()["result"]
        assert (
            team.ask(token(publisher, aud="https://other.example.com", **times), "GET", "/v1/head").status_code == 401
        )
        assert team.ask(token(publisher, sub="bob", **times), "GET", "/v1/head").status_code == 403
        assert team.ask("", "GET", f"{METADATA}/mcp").json() == {
            "resource": "https://memory.example.com/mcp", "resource_name": "Firsthand",
            "bearer_methods_supported": ["header"], "authorization_servers": [publisher.url],
        }  # fmt: skip
        check(team)
    publisher.close()


def test_decisions_are_appended_with_the_right_to_decide(team):
    """An event that decides cannot be slipped in by a principal that may only append, nor an erasure by anybody."""
    key = team.key("alice", shop=["read", "append"])
    for kind, status in (("ledger", 403), ("erasure", 403), ("note", 200)):
        fields = {"session": "s", "events": [{"kind": "note", "content": "x"}, {"kind": kind, "content": "{}"}]}
        assert (kind, team.ask(key, "POST", "/v1/append", fields).status_code) == (kind, status)
    for kind in (15, "15", "LEDGER", ["ledger"], {"ledger": 1}):
        fields = {"session": "s", "events": [{"kind": kind, "content": "{}"}]}
        assert team.ask(key, "POST", "/v1/append", fields).status_code == 400
    assert [event.kind for event in team.client(key).events()] == ["note", "note"]


# limits --------------------------------------------------------------------------------------------------


def test_a_principal_that_asks_too_fast_waits(server, tmp_path):
    """Beyond its rate a principal is answered 429 with when to come again, and the others are not kept waiting."""
    with Team(server, make_database(server), tmp_path, requests_per_s=0.5) as team:
        fast, slow = team.key("fast", shop=["read"]), team.key("slow", shop=["read"])
        answers = [team.ask(fast, "GET", "/v1/head") for _ in range(4)]
        late = [answer for answer in answers if answer.status_code == 429]
        assert late
        assert answers[0].status_code == 200
        assert all(1 <= int(answer.headers["retry-after"]) <= 2 for answer in late)
        assert team.ask(slow, "GET", "/v1/head").status_code == 200
        assert team.client(fast).head()  # which waits and asks again
        check(team)


def test_one_principal_leaves_room_for_the_others(served):
    """A principal has so many requests at once at most, streams among them; further ones are told to come again."""
    namespace = "streams"
    served.owner.grant("greedy", namespace, ["read"])
    key = served.key("greedy")
    with ExitStack() as until:
        client = until.enter_context(httpx.Client(headers={"authorization": f"Bearer {key}"}, timeout=10))
        for _ in range(AT_ONCE_MAX):
            until.enter_context(client.stream("GET", f"{served.url}/v1/live"))
        assert served.ask(key, "GET", "/v1/head").status_code == 429
        assert served.ask(served.key("modest", modest=["read"]), "GET", "/v1/head").status_code == 200
    deadline = time.monotonic() + 10
    while served.ask(key, "GET", "/v1/head").status_code == 429:
        assert time.monotonic() < deadline


def test_a_full_namespace_is_told_so(team):
    """Over its namespace's limit an append is answered 429 with when to come again; the client raises StoreFull."""
    key = team.key("alice", shop=EVERY)
    team.owner.limit("shop", {"day_events_max": 2})
    client = team.client(key)
    first = client.append([Draft(Kind.NOTE, b"1"), Draft(Kind.NOTE, b"2")], session="s")
    with pytest.raises(StoreFull, match="a day"):
        client.append([Draft(Kind.NOTE, b"3")], session="s")
    answer = team.ask(key, "POST", "/v1/append", {"session": "s", "events": [{"kind": "note", "content": "3"}]})
    assert (answer.status_code, 0 < int(answer.headers["retry-after"]) <= 86_400) == (429, True)
    assert client.erase([first[0]]).erased
    team.owner.limit("shop", {"day_events_max": None})
    assert client.append([Draft(Kind.NOTE, b"3")], session="s")[0].position == 4


def test_a_body_that_is_too_large_is_refused(served):
    """A body over its limit is refused by what it says of itself, and one that says nothing when it has come so far."""
    key = served.key("large", large=EVERY)

    def pieces():
        for _ in range(5):
            yield b"x" * (1 << 20)

    headers = {"authorization": f"Bearer {key}"}
    for content in (b"x" * (5 << 20), pieces()):
        answer = httpx.post(f"{served.url}/v1/recall", content=content, headers=headers, timeout=30)
        assert answer.status_code == 413
    answer = httpx.post(f"{served.url}/mcp", content=pieces(), headers=headers, timeout=30)
    assert answer.status_code == 413


# the audit log -------------------------------------------------------------------------------------------


def test_acts_are_recorded_and_proven(server, tmp_path):
    """Keys, grants, limits, refusals, exports, erasures and reads are events of the audit log; no word or key is."""
    with Team(server, make_database(server), tmp_path, audit_reads=True) as team:
        key = team.key("alice", shop=[right for right in EVERY if right != "ledger"])
        client = team.client(key)
        secret = client.session("s").user("the sesame password")
        client.recall("sesame")
        client.erase([secret])
        team.ask(key, "GET", "/v1/export")
        team.ask(key, "POST", "/v1/retract", {"target": "sesame", "quote": "sesame"})
        team.ask("fhk_sesame_sesame", "GET", "/v1/sesame?sesame=sesame", firsthand_namespace="sesame")
        team.owner.limit("shop", {"bytes_max": 10**9})
        team.owner.revoke_key(key.rpartition("_")[0])
        records = team.audit()
        assert [(record["act"], record["principal"]) for record in records] == [
            ("granted", "owner:owner"), ("key added", "owner:owner"), ("read", "alice"), ("erase", "alice"),
            ("export", "alice"), ("refused", "alice"), ("refused", ""), ("limited", "owner:owner"),
            ("key revoked", "owner:owner"),
        ]  # fmt: skip
        assert records[2] | {"time": 0} == {
            "act": "read", "principal": "alice", "namespace": "shop", "route": "recall", "time": 0,
        }  # fmt: skip
        assert (records[5]["route"], records[5]["reason"]) == ("retract", "ledger")
        assert "sesame" not in json.dumps(records)
        assert key.rpartition("_")[2] not in json.dumps(records)
        team.owner.grant("ops", AUDIT, ["read"])
        ops = team.client(team.key("ops"))
        assert ops.verify().ok
        assert len([*ops.events()]) == len(records) + 4  # the grant, the key, and two reads
        check(team)


@pytest.mark.parametrize("right", [right for right in EVERY if right != "read"])
def test_nobody_writes_the_audit_log(team, right, quick):
    """Nothing but reading can be granted in the audit log, not even behind the back of the command."""
    with pytest.raises(InvalidArgument):
        team.owner.grant("alice", AUDIT, [right])
    key = team.key("alice")
    with psycopg.connect(team.owner_dsn, autocommit=True) as db:
        db.execute("INSERT INTO firsthand.access VALUES ('alice', %s, %s)", (AUDIT, right))
    for name in (name for name, needed in ROUTES.items() if needed == right):
        assert ask_verb(team, key, name, AUDIT).status_code == 403


def test_a_flood_of_refusals_is_a_number(team):
    """Of each principal the first refusal in a minute is an event, and all others are one more when it is over."""
    key = team.key("alice", shop=["read"])
    before = len(team.audit())
    for _ in range(30):
        team.ask(key, "POST", "/v1/erase", {})
        team.ask("fhk_wrong", "GET", "/v1/head")
    assert len(team.audit()) == before + 2
    team.gateway._audit.flush(now=True)
    counts = {record["principal"]: record.get("count") for record in team.audit()[before + 2 :]}
    assert counts == {"alice": 29, "": 29}
    team.gateway._audit._refusals |= {f"name {number}": Counter() for number in range(PRINCIPALS_MAX)}
    for number in range(20):
        team.gateway._audit.refusal(f"other {number}", "head", "read")
    assert len(team.audit()) == before + 5


def test_an_act_that_cannot_be_recorded_is_not_done(team, monkeypatch):
    """Where the audit log takes nothing, an erasure, an export and an owner's grant do not happen either."""
    key = team.key("alice", shop=EVERY)
    client = team.client(key)
    pointer = client.session("s").user("kept").pointer
    with pytest.raises(InvalidArgument):
        team.owner.limit(AUDIT, {"events_max": 1})
    with psycopg.connect(team.owner_dsn, autocommit=True) as db:
        db.execute("UPDATE firsthand.namespace SET events_max = 1 WHERE name = %s", (AUDIT,))
    assert team.ask(key, "POST", "/v1/erase", {"addresses": [pointer]}).status_code in {429, 507}
    assert team.ask(key, "GET", "/v1/export").status_code in {429, 507}
    with pytest.raises(StoreFull):
        team.owner.grant("bob", "shop", ["read"])
    assert client.expand(pointer) == b"kept"
    assert [row["principal"] for row in team.owner.grants()] == ["alice"]


# health --------------------------------------------------------------------------------------------------


def test_metrics_name_no_tenant_and_are_for_operators(team):
    """What is counted is shown to who may read the audit log alone, and holds no name of a tenant or principal."""
    key = team.key("principal-canary", namespace_canary=EVERY)
    client = team.client(key)
    client.session("session-canary").user("word-canary")
    client.recall("word-canary")
    assert team.ask(key, "GET", "/metrics").status_code == 403
    page = team.ask(team.key("ops", **{AUDIT: ["read"]}), "GET", "/metrics").text
    assert 'firsthand_recall_requests_total{outcome="found",trigger="api"}' in page
    assert "canary" not in page


def test_a_server_without_its_database_says_so(tmp_path):
    """While the database is away the process is alive and not ready, and answers 503 in words that name nothing."""
    postgres = PostgresServer(installations()["embedded"], fsync="off")
    try:
        with Team(postgres, make_database(postgres), tmp_path) as team:
            key = team.key("alice", shop=EVERY)
            team.client(key).session("s").user("before")
            assert team.ask("", "GET", "/readyz").json() == {"ready": True}
            postgres.kill()
            assert team.ask("", "GET", "/healthz").json()["ok"]
            assert team.ask("", "GET", "/readyz").status_code == 503
            postgres.start()
            assert team.client(key).session("s").user("after").position == 2
            assert team.ask("", "GET", "/readyz").status_code == 200
            check(team)
    finally:
        postgres.close()


def test_a_fault_is_logged_without_words(team, monkeypatch):
    """A fault of ours is answered 500, and neither the answer nor the log has what was sent or what it said."""
    key = team.key("alice", shop=EVERY)

    def fails(*_):
        raise ZeroDivisionError("the sesame password")

    monkeypatch.setattr(api_door, "reached", fails)
    monkeypatch.setattr(api_door, "_expanded", fails)
    answer = team.ask(key, "GET", "/v1/expand?address=sesame")
    assert (answer.status_code, "sesame" in answer.text) == (500, False)
    assert len(team.logged) == 1
    assert "ZeroDivisionError at " in team.logged[0]
    assert "sesame" not in team.logged[0]


def test_the_owner_decides_by_commands(team, capsys):
    """Keys, grants and limits are made, listed and taken back by the commands of the group store."""

    def run(*words):
        code = main(["store", *words, "--postgres", team.owner_dsn])
        return code, capsys.readouterr().out

    assert run("grant", "alice", "shop", "read", "append")[0] == 0
    key = run("key", "alice", "--days", "2")[1].strip()
    team.client(key).session("s").user("by a key of the command")
    assert run("limit", "shop", "--events", "1", "--day-bytes", "1000000")[0] == 0
    with pytest.raises(StoreFull):
        team.client(key).session("s").user("one too many")
    assert "alice" in run("key")[1]
    assert key.rpartition("_")[2] not in run("key")[1]
    rows = {row["name"]: row for row in map(json.loads, run("limit", "--json")[1].splitlines())}
    assert (rows["shop"]["events"], rows["shop"]["events_max"], rows["shop"]["day_bytes_max"]) == ("1", "1", "1000000")
    assert run("limit", "shop", "--events", "0")[0] == 0
    assert team.client(key).session("s").user("room again").position == 2
    assert run("grant", "alice", "shop", "append", "--withdraw")[0] == 0
    assert "append" not in run("grant")[1]
    assert run("key", "--revoke", key.rpartition("_")[0])[0] == 0
    assert run("key", "--revoke", "fhk_nobody")[0] == 1
    assert [
        run(*words)[0] for words in (("grant", "alice", "shop"), ("grant", "a", "b", "own"), ("limit", "shop"))
    ] == [5] * 3


def test_the_owner_is_no_role_to_serve_with(team, tmp_path):
    """A server for teams refuses the address of a role that no row-level security binds, and says what to do."""
    said = "the role owner owns the store.* CREATE ROLE app LOGIN.* serve with its address"
    with pytest.raises(InvalidArgument, match=said):
        TeamServer(team.owner_dsn, replicas=tmp_path)


def test_no_answer_names_a_folder_of_the_server(team):
    """Health, statistics and errors hold no path of the machine that answers."""
    key = team.key("alice", shop=EVERY)
    for name in ROUTES:
        if name != "live":
            assert str(team.gateway._spaces.folder) not in ask_verb(team, key, name, "shop").text
    asked = {"name": "health", "arguments": {}}
    assert str(team.gateway._spaces.folder) not in team.mcp(key, "tools/call", asked).text
