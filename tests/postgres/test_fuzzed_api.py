"""The HTTP API of both servers under calls that nobody should make: no fault, no hang, nothing of another tenant."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import planted_faults
import pytest
import requests
import schemathesis
from api_calls import Call, Judge, attack
from empty_stores import make_database
from hypothesis import HealthCheck, Phase, given, settings
from postgres_server import installations
from team_server import EVERY, Team

from firsthand import Memory
from firsthand.server import api
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer
from stores import SOAK

CALLS = 50_000 if SOAK else 3_000
CALLS_PLANTED = 300
CASES = 200 if SOAK else 6
CANARY = "xylophone-4711-of-theirs"


@pytest.fixture
def personal(tmp_path, monkeypatch) -> Iterator[tuple[Judge, dict[str, Any], list[str]]]:
    """The server of one user, by its token: its judge, its document, and words that mean something to it."""
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "none")
    with Memory(tmp_path / "store", embedder="none") as memory:
        said = memory.session("deploy").user("ship the invoice service to db-7")
    stores = Stores()
    http = HttpServer(stores, lambda _line: None, port=0)
    http.start()
    judge = Judge(http.url, {"Authorization": f"Bearer {http.token.text}"})
    yield judge, api.document(), ["deploy", "default", said.pointer, said.id]
    judge.close()
    http.stop()
    stores.close()
    with Memory(tmp_path / "store", read_only=True) as memory:
        assert memory.verify().problems == ()


@pytest.fixture
def team(server, tmp_path) -> Iterator[Team]:
    """A server for teams over an empty store."""
    with Team(server, make_database(server), tmp_path) as served:
        yield served


@pytest.fixture
def ours(team) -> Iterator[tuple[Judge, dict[str, Any], list[str]]]:
    """The server for teams, by a key that may do everything in one namespace, beside another tenant's canary."""
    theirs = team.client(team.key("bob", theirs=EVERY)).session(f"session {CANARY}").user(f"the word is {CANARY}")
    key = team.key("alice", ours=EVERY)
    said = team.client(key).session("deploy").user("ship the invoice service to db-7")
    judge = Judge(team.url, {"Authorization": f"Bearer {key}"}, [CANARY])
    document = team.ask(key, "GET", "/v1/openapi.json").json()
    yield judge, document, ["deploy", "ours", said.pointer, said.id, theirs.pointer, theirs.id, "theirs"]
    judge.close()
    for namespace in ("ours", "theirs"):
        assert team.verify(namespace).problems == ()
    assert not any(CANARY in line for line in team.logged)


def assert_nothing_found(judge: Judge) -> None:
    assert judge.findings == []
    assert {200, 400, 404} <= judge.statuses


def test_the_personal_server_answers_every_hostile_call(personal):
    """NUL, surrogates, huge numbers, deep nesting, wrong types, twice the same key, odd headers: never a 500 or a hang.

    Fails on: a value that a verb takes for another type than it is.
    """
    judge, document, known = personal
    attack(judge, document, known, CALLS)
    assert_nothing_found(judge)


@pytest.mark.parametrize("server", [*installations()][-1:], indirect=True)
def test_the_server_for_teams_answers_every_hostile_call(ours):
    """The same at the server for teams, with another tenant's pointers and name among the values: no leak either."""
    judge, document, known = ours
    attack(judge, document, known, CALLS)
    assert_nothing_found(judge)


def conform(judge: Judge, document: dict[str, Any]) -> None:
    """Send what schemathesis makes of a document, right and wrong."""
    schema = schemathesis.openapi.from_dict(document)
    for result in schema.get_all_operations():

        @settings(
            max_examples=CASES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(result.ok().as_strategy())
        def send(case: Any) -> None:
            request = requests.Request(**case.as_transport_kwargs(base_url=judge.url)).prepare()
            body = request.body.encode() if isinstance(request.body, str) else request.body
            left_out = {"content-length", "authorization"}
            named = {name: str(text) for name, text in request.headers.items() if name.lower() not in left_out}
            judge.send(Call(request.method, request.url.removeprefix(judge.url), body, named))

        send()


def test_the_personal_server_keeps_to_its_document(personal):
    """Calls that schemathesis makes from the OpenAPI document are answered without a fault."""
    judge, document, _ = personal
    conform(judge, document)
    assert judge.findings == []
    assert judge.calls >= len(document["paths"])


@pytest.mark.parametrize("server", [*installations()][-1:], indirect=True)
def test_the_server_for_teams_keeps_to_its_document(ours):
    """The same at the server for teams."""
    judge, document, _ = ours
    conform(judge, document)
    assert judge.findings == []
    assert judge.calls >= len(document["paths"])


def _hang(team: Team) -> None:
    """A route never ends where a number is huge."""

    async def answer(fields: Any) -> None:
        if str(fields.get("hits_max")).startswith("9" * 19):
            await asyncio.sleep(3)

    planted_faults.before(team, answer)


@pytest.mark.parametrize("server", [*installations()][-1:], indirect=True)
@pytest.mark.parametrize(
    ("plant", "kind"),
    [(planted_faults.namespace_from_body, "leak"), (planted_faults.fault_on_nul, "fault"), (_hang, "hang")],
)
def test_planted_faults_are_found(team, monkeypatch, plant, kind):
    """The same calls find a namespace that a body chooses, a fault on NUL, and an answer that never comes."""
    monkeypatch.setattr("api_calls.HANG_S", 1.0)
    theirs = team.client(team.key("bob", theirs=EVERY)).session("s").user(f"the word is {CANARY}")
    key = team.key("alice", ours=EVERY)
    plant(team)
    judge = Judge(team.url, {"Authorization": f"Bearer {key}"}, [CANARY])
    recalls = {path: about for path, about in api.document()["paths"].items() if path in {"/v1/recall", "/v1/head"}}
    attack(judge, {"paths": recalls}, ["ours", "theirs", theirs.pointer], CALLS_PLANTED)
    judge.close()
    assert {finding.partition(":")[0] for finding in judge.findings} == {kind}
    assert team.verify("theirs").ok
