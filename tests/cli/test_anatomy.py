"""firsthand anatomy."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from sessions import talk
from terminal import Shell

from firsthand import Memory
from firsthand.window import PARTS


@pytest.fixture
def talked(shell) -> Shell:
    talk(shell.store)
    return shell


def test_the_newest_calls_are_listed_first_when_there_are_many(talked):
    """With a limit the newest are shown, and how many were left out; 0 shows all."""
    said = talked("session", "anatomy", "--limit", "3")
    assert [line.split()[0] for line in said.lines[2:]] == ["6", "7", "8"]
    assert said.error.startswith("5 earlier ones: --limit 0\n")
    assert len(talked("session", "anatomy", "--limit", "0", "--json").json_lines) == 8


def test_the_session_of_the_newest_call_is_taken(talked):
    """Without a name the session of the newest call is meant; a name, or --session, means another."""
    talk(talked.store, turns=2, session="replay")
    assert talked("session", "anatomy").lines[0] == "session replay"
    assert talked("session", "anatomy", "deploy").lines[0] == "session deploy"
    assert len(talked("session", "anatomy", "--session", "replay").lines) == 4
    calls = {
        name: talked("session", "anatomy", "--session", name, "--json").json_lines[1] for name in ("deploy", "replay")
    }
    assert len(talked("session", "anatomy", "replay", "2", "--session", "deploy").out) == calls["deploy"]["bytes"]
    assert len(talked("session", "anatomy", "replay", "2").out) == calls["replay"]["bytes"]


def test_json_has_the_record_and_the_papers_names(talked):
    """The JSON form holds every field, the shares by part, and the schema of the paper; shares sum to the bytes."""
    one = talked("session", "anatomy", "--json").json_lines[2]
    assert sum(share["bytes"] for share in one["shares"]) == one["bytes"]
    assert {share["name"] for share in one["shares"]} <= set(PARTS)
    assert one["paper"] == {
        "turnId": one["turn_id"], "sessionId": "deploy", "compactionCycle": one["cycle"],
        "contextUtilPct": one["utilisation_percent"],
        "systemPromptBytes": next(share["bytes"] for share in one["shares"] if share["name"] == "system"),
        "workspaceFileBytes": 0, "skillBytes": 0,
        "toolSchemaBytes": next(share["bytes"] for share in one["shares"] if share["name"] == "tool schemas"),
        "historyEventCount": one["events"], "markerCount": len(one["markers"]),
        "userMessageBytes": next(share["bytes"] for share in one["shares"] if share["name"] == "user message"),
        "topicLabel": one["topic"], "topicTransition": one["transition"],
    }  # fmt: skip


def test_a_difference_is_explained(talked):
    """`diff` says what came and left between two calls, in sentences and part by part; without names, the last two."""
    found = talked("session", "anatomy", "diff", "1", "8", "--json").json
    said = talked("session", "anatomy", "diff", "1", "8")
    assert said.code == 0
    sentences, _, rows = said.text.partition("\n\n")
    assert sentences.splitlines() == found["sentences"]
    assert sentences.startswith(f"Call 1 to call 8: {found['tokens']:+,} tokens: ")
    assert re.split(r"\s{2,}", rows.splitlines()[-1])[-2:] == [f"{found['tokens']:+,}", f"{found['bytes']:+,}"]
    assert found["events_compared"]
    kinds = {one["kind"] for one in found["came"]}
    assert {"user_message", "tool_call", "tool_result"} <= kinds
    assert found["left"]
    assert found["compactions"] > 0
    assert sum(one["tokens"] for one in found["changes"]) == found["tokens"]
    last = talked("session", "anatomy", "diff", "--json").json
    pointers = [one["pointer"] for one in talked("session", "anatomy", "--json").json_lines]
    assert [last["before"], last["after"]] == pointers[-2:]


def test_a_replay_gives_exactly_what_was_sent(talked):
    """To a pipe come the bytes whose hash was recorded before the call, for every call of the session."""
    for one in talked("session", "anatomy", "--json").json_lines:
        said = talked("session", "anatomy", "replay", one["call"])
        assert hashlib.sha256(said.out).hexdigest() == one["sha256"]
        assert len(said.out) == one["bytes"]
        assert said.code == 0
        assert said.error == f"firsthand: the same {one['bytes']:,} bytes as recorded, sha256 {one['sha256']}\n"
    form = talked("session", "anatomy", "replay", "--json").json
    assert form["same"]
    assert form["body"] == json.loads(talked("session", "anatomy", "replay").out)


def test_a_replay_that_is_not_the_same_says_so(talked):
    """After something of the prompt was erased, the replay ends with 3 and says why it is another one."""
    with Memory.open(talked.store) as memory:
        (first,) = [one for one in memory.session("deploy").events(limit=5) if "Question 0" in one.text]
        memory.erase([f"fh:{first.id}"])
    said = talked("session", "anatomy", "replay", "1")
    assert said.code == 3
    assert said.error.startswith("firsthand: not the recorded prompt: sha256 ")
    assert said.error.endswith("something of this session was erased since\n")
    assert b"Question 0" not in said.out
    assert (
        talked("session", "anatomy", "diff", "1", "2")
        .text.splitlines()[2]
        .startswith("Events and merged markers were not comp")
    )


@pytest.mark.parametrize("words", [(), ("diff",), ("replay",), ("nobody",), ("replay", "1")])
def test_without_calls_nothing_is_found(shell, words):
    """In a store where no call was recorded, each form ends with 1 and says so."""
    shell.append("hello")
    said = shell("session", "anatomy", *words)
    assert (said.code, said.out) == (1, b"")
    assert said.error.startswith(("firsthand: no call was recorded here; ", "firsthand: no call 1 is recorded in "))


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("replay", "1", "2"), 2, "firsthand: session anatomy replay takes one call; got '1 2'\n"),
        (("diff", "1"), 2, "firsthand: session anatomy diff takes two calls, or none for the last two; got '1'\n"),
        (("deploy", "2"), 2, "firsthand: session anatomy list takes one session; got 'deploy 2'\n"),
        (
            ("replay", "9"),
            1,
            "firsthand: no call 9 is recorded in session 'deploy'; see them all: firsthand session anatomy\n",
        ),
        (("replay", "x"), 5, "firsthand: expected a pointer such as fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY, "),
        (("replay", "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"), 1, "firsthand: no event fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY in "),
    ],
)
def test_what_is_not_understood_is_told(talked, words, code, error):
    """Too many words are a usage error; an unknown call is not found; what is no pointer is refused."""
    said = talked("session", "anatomy", *words)
    assert (said.code, said.out) == (code, b"")
    assert said.error.startswith(error)
