"""The command ``eval stream`` with a model: a scripted one behind a server makes each preregistered check come out."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest
from json_server import JsonServer

sys.path.insert(0, str(Path(__file__).parent.parent / "evals"))
from stream_models import chatty, completion, faithful

pytest.importorskip("httpx", reason="the extra 'llm' is not installed")
FORCED = "forced: model"


@pytest.fixture
def served():
    """Give a function that serves a scripted model; all servers are closed at the end."""
    servers = []

    def serve(model, tokens=10):
        servers.append(JsonServer(lambda body: completion(model(body["messages"][0]["content"]), tokens)))
        return servers[-1]

    yield serve
    for one in servers:
        one.close()


def checks_of(out: Path) -> dict[str, list[bool]]:
    """Give what came of each check of a run that was kept."""
    kept = json.loads((out / "results" / "stream" / "summary.json").read_text())
    found: dict[str, list[bool]] = {}
    for one in kept["checks"]:
        found.setdefault(one["name"], []).append(one["held"])
    return found


def test_replies_that_cannot_be_read_are_counted_and_do_nothing(shell, served, tmp_path):
    """Prose in every reply: each is counted by its kind, the memories are as if nobody wrote."""
    server = served(chatty)
    found = shell("eval", "stream", "--model", f"{server.url}#m", "--streams", "1", "--episodes", "24", "--schedule",
                  "stream", "--out", str(tmp_path), "--markdown", str(tmp_path / "t.md"), "--html",
                  str(tmp_path / "t.html"))  # fmt: skip
    assert found.code == 0
    kept = json.loads((tmp_path / "results" / "stream" / "summary.json").read_text())
    by_model = {one["arm"]: one["actions"] for one in kept["streams"] if "model" in one["arm"]}
    assert len(by_model) == 5
    assert all(one["unread: prose"] >= 3 for one in by_model.values())
    assert not any("accepted" in word for one in by_model.values() for word in one)
    assert "unread: prose" in (tmp_path / "t.md").read_text()
    assert "m writes, readers by rule answer." in (tmp_path / "t.md").read_text()
    assert (tmp_path / "t.html").read_text().startswith("<!doctype html>")


def test_a_run_is_estimated_capped_recorded_and_replayed(shell, served, tmp_path):
    """It says before what it takes, refuses more calls than are allowed, and a second run asks nobody."""
    server = served(faithful)
    words = ("eval", "stream", "--model", f"{server.url}#m", "--solver-model", f"{server.url}#s", "--streams", "1",
             "--episodes", "16", "--schedule", "stream", "--arm", FORCED, "--out", str(tmp_path))  # fmt: skip
    found = shell(*words, "--calls-max", "5")
    assert (found.code, server.seen) == (5, [])
    assert "estimated over the cap of 5 calls: about " in found.error
    priced = ("--price", "m=1,2", "--price", "s=0.5,1", "--cost-max", "5", "--tokens-max", "1000000", "--temperature",
              "0", "--reply-tokens", "700")  # fmt: skip
    (told,) = shell(*words, *priced, "--estimate", "--json").json_lines
    assert server.seen == []
    found = shell(*words, *priced)
    assert found.code == 0
    assert "m writes, s answers beside the readers by rule. about " in found.error
    assert "at the given price" in found.error
    assert len(server.seen) <= told["estimate"]["calls"] <= 2 * len(server.seen)
    assert {(body["model"], body["max_tokens"]) for _, body in server.seen} == {("m", 700), ("s", 48)}
    assert "p0 model" in found.lines[3]
    asked = len(server.seen)
    (told,) = shell(*words, "--reply-tokens", "700", "--estimate", "--json").json_lines
    assert told["estimate"]["calls"] == 0  # what is recorded costs nothing
    again = shell(*words, "--replay", "--reply-tokens", "700")
    assert (again.lines, len(server.seen)) == (found.lines, asked)
    assert "spent 0 calls" in again.error


def test_a_cap_stops_a_run_and_it_goes_on(shell, served, tmp_path):
    """What was answered before the cap is not asked again by the run that follows."""
    server = served(faithful, tokens=9_000)
    words = ("eval", "stream", "--model", f"{server.url}#m", "--streams", "1", "--episodes", "32", "--schedule",
             "stream", "--arm", FORCED, "--out", str(tmp_path))  # fmt: skip
    stopped = shell(*words, "--tokens-max", "9000")
    assert stopped.code not in {0, 1}
    assert "could pass the cap" in stopped.error
    assert "spent 1 calls, 9,000 tokens of prompts and 2 of replies" in stopped.error
    assert len(server.seen) == 1
    assert shell(*words).code == 0
    assert len(server.seen) == 4


def test_a_server_that_breaks_off_costs_nothing_that_was_answered(shell, served, tmp_path):
    """The run ends with what the server did and what was spent; the next one asks only what is not recorded."""

    def twice(prompt: str) -> str:
        if len(server.seen) == 2:
            server.plan.append(lambda handler: handler.connection.shutdown(socket.SHUT_RDWR))
        return faithful(prompt)

    server = served(twice)
    words = ("eval", "stream", "--model", f"{server.url}#m", "--streams", "1", "--episodes", "32", "--schedule",
             "stream", "--arm", FORCED, "--out", str(tmp_path))  # fmt: skip
    broken = shell(*words)
    assert broken.code not in {0, 1}
    assert "spent 3 calls, 1 without a reply" in broken.error
    assert "was not sent again" in broken.error
    assert not (tmp_path / "results").exists()
    (told,) = shell(*words, "--estimate", "--json").json_lines
    assert (told["estimate"]["calls"], shell(*words).code, len(server.seen)) == (2, 0, 5)


def test_a_model_that_answers_wants_one_that_writes(shell, tmp_path):
    """A solver model alone is refused, and so is a name that is no model."""
    for words in (["--solver-model", "local"], ["--model", "openai/gpt-5-mini"]):
        found = shell("eval", "stream", *words, "--out", str(tmp_path))
        assert found.code == 5
