"""A server for teams: who is let in, what each may do, what is recorded, and that servers are interchangeable."""

from __future__ import annotations

import itertools
import re

import pytest
from memory_suite import MemorySuite
from postgres_server import PostgresServer, installations
from starlette.routing import Route
from team_server import EVERY, Team

from conftest import make_database
from firsthand import Draft, Kind
from firsthand.agents.agent_tools import AgentTools
from firsthand.server import api
from firsthand.server.teams.gateway import EXPORT, GRANTS, METADATA, OPEN
from firsthand.server.teams.grants import ROUTES, TOOLS

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
