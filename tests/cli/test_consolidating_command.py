"""firsthand consolidate and firsthand quarantine."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from json_server import JsonServer

from firsthand import ByModel, Memory, Trust, consolidate_in
from firsthand.errors import ModelUnavailable
from firsthand.llm import OpenAICompatible

LEVELS = (7, 8, 9, 12, 15)


@pytest.fixture
def store(tmp_path):
    """A store with five statements of a user that follow a rule, and one that does not."""
    path = tmp_path / "store"
    with Memory.open(path, embedder="none") as memory:
        for level in LEVELS:
            memory.session("s").user(f"birch level {level} => {3 * level + 2}")
        memory.session("s").user("birch level 20 => 5")
    yield path
    with Memory.open(path, embedder="none") as memory:
        assert memory.verify().problems == ()


def test_a_rule_is_proposed_kept_shown_and_taken_out(shell, store):
    """Each step says what it did; after a quarantine the statements are shown again, and after a release the rule."""
    said = shell("--store", store, "consolidate", "propose")
    assert (said.code, said.lines[0][10:]) == (0, "  rule: birch level N => 3 * N + 2  would be kept")
    assert len(shell("--store", store, "consolidate").lines) == 6
    name = shell("--store", store, "consolidate", "keep").lines[0][:10]
    said = shell("--store", store, "consolidate")
    assert said.lines[0] == f"{name}  rule: birch level N => 3 * N + 2  (5 sources)"
    assert said.lines[1].startswith("            case: birch level 20 => 5  (fh:")
    said = shell("--store", store, "consolidate", "show", name)
    assert [line.partition("  ")[2] for line in said.lines[2:]] == [
        f"birch level {level} => {3 * level + 2}" for level in LEVELS
    ]
    said = shell("--store", store, "quarantine", name, "--reason", "the tariff changed")
    assert (said.code, said.lines[0][26:39]) == (0, "  quarantine ")
    assert shell("--store", store, "quarantine", name).code == 1
    assert len(shell("--store", store, "consolidate").lines) == 6
    said = shell("--store", store, "consolidate", "keep")
    assert said.lines[0].endswith("refused: quarantine")
    assert said.lines[1].strip() == "it was taken out; release it first"
    assert shell("--store", store, "quarantine", name, "--release").code == 0
    assert len(shell("--store", store, "consolidate").lines) == 2


def test_json_gives_entries_and_cases(shell, store):
    """Every line is one value, with all that an entry stands on."""
    judged = json.loads(shell("--store", store, "consolidate", "keep", "--json").lines[0])
    assert (judged["accepted"], judged["reason"], len(judged["entry"]["sources"])) == (True, "", 5)
    entry, case = map(json.loads, shell("--store", store, "consolidate", "--json").lines)
    assert (entry["text"], case["answer"]) == ("birch level N => 3 * N + 2", "5")
    shown = json.loads(shell("--store", store, "consolidate", "show", entry["id"], "--json").lines[0])
    assert next(iter(shown["words"].values())) == "birch level 7 => 23"


@pytest.mark.parametrize(
    ("words", "code"),
    [(("show",), 5), (("list", "x"), 5), (("propose", "--as-of", "3"), 5), (("keep", "--theta", "2"), 2),
     (("show", "nothing"), 1)],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(shell, store, words, code):
    """A word that is missing or too many, a time for a proposal, no share, no such entry: none does anything."""
    assert shell("--store", store, "consolidate", *words).code == code
    assert shell("--store", store, "consolidate", "--json").lines[0].startswith('{"pointer"')


def test_an_empty_store_has_nothing(shell, tmp_path):
    """Without statements there is nothing to show or to propose."""
    Memory.open(tmp_path / "store", embedder="none").close()
    assert shell("--store", tmp_path / "store", "consolidate").code == 1
    assert shell("--store", tmp_path / "store", "consolidate", "propose").code == 1


def test_what_a_page_said_is_let_in_by_name(shell, tmp_path):
    """A rule of untrusted statements is held until its id is approved."""
    path = tmp_path / "store"
    with Memory.open(path, embedder="none") as memory:
        for level in LEVELS:
            memory.session("s").user(f"birch level {level} => {3 * level + 2}", trust=Trust.UNTRUSTED)
    held = json.loads(shell("--store", path, "consolidate", "keep", "--json").lines[0])
    assert (held["accepted"], held["reason"]) == (False, "trust")
    said = shell("--store", path, "consolidate", "keep", "--theta", "0.9", "--approve", held["proposed"])
    assert said.lines[0].endswith("  kept")
    assert shell("--store", path, "consolidate", "--as-of", "5").lines[0].endswith(")")
    assert len(shell("--store", path, "consolidate", "--agent", "nobody").text) == 0


# a model ------------------------------------------------------------------------------------------

RULE = "birch level N => 3 * N + 2"


def completion(text: str, finish: str = "stop") -> dict:
    """Write a reply as servers write it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}


def writes(body: dict) -> dict:
    """Write the rule of the birch; answer a question by it, whatever the notes say."""
    (message,) = body["messages"]
    asked = message["content"].rpartition("Question: ")[2]
    if asked != message["content"]:
        return completion(str(3 * int(asked.splitlines()[0].split()[-1]) + 2))
    return completion(json.dumps([{"text": RULE, "sources": [1, 2, 3, 4, 5]}]))


@pytest.fixture
def server():
    """A server on the loopback address."""
    pytest.importorskip("httpx", reason="the extra 'llm' is not installed")
    one = JsonServer(writes)
    yield one
    one.close()


def test_a_model_is_estimated_asked_and_paid_once(shell, store, server, tmp_path):
    """The size is told before, what was spent after; with recorded replies what was proposed is kept for nothing."""
    model = ("--model", f"{server.url}#tiny", "--replies", str(tmp_path / "replies"), "--price", "1,2")
    said = shell("--store", store, "consolidate", "propose", *model)
    assert (said.code, said.lines[0][10:]) == (0, f"  rule: {RULE}  would be kept")
    assert "tiny: at most 1 calls, about " in said.error
    assert "spent 1 calls, 100 tokens of prompts and 20 of replies, 0.0001 at the given price" in said.error
    assert shell("--store", store, "consolidate").lines[0].startswith("            case: ")
    said = shell("--store", store, "consolidate", "keep", *model)
    assert said.lines[0].endswith("  kept")
    assert "spent 0 calls" in said.error
    assert len(server.seen) == 1
    (shown,) = [one for one in shell("--store", store, "consolidate", "--json").lines if "model:tiny" in one]
    assert json.loads(shown)["created_by"] == "model:tiny"


def test_recorded_replies_need_no_server(shell, store, server, tmp_path):
    """A replay asks nobody; what was not recorded is refused, and nothing is written."""
    words = ("--model", f"{server.url}#tiny", "--replies", str(tmp_path / "replies"))
    shell("--store", store, "consolidate", "propose", *words)
    said = shell("--store", store, "consolidate", "keep", *words, "--replay")
    assert said.lines[0].endswith("  kept")
    assert len(server.seen) == 1
    said = shell("--store", store, "consolidate", "keep", *words, "--solver-model", f"{server.url}#tiny", "--replay")
    assert said.code != 0
    assert "no reply to this request is recorded" in said.error


def test_a_model_answers_what_is_tried(shell, store, server):
    """With a solver model the gate asks it, one call a question, and takes what it answers from."""
    said = shell("--store", store, "consolidate", "propose", "--model", f"{server.url}#a", "--solver-model",
                 f"{server.url}#b")  # fmt: skip
    assert said.lines[0].endswith("  would be kept")
    asked = [body["model"] for _, body in server.seen]
    assert asked.count("a") == 1
    assert asked.count("b") > 5


@pytest.mark.parametrize(
    ("reply", "kind"),
    [("Sure! The rule is 3 * N + 2.", "prose"), ("", "empty"), ("I'm sorry, I can't.", "refusal"),
     ('[{"text": "bir', "truncated"), ('[{"text": "x", "sources": [99]}]', "no such case"),
     ("x" * 1_000_000, "too long"), ('[{"text": "## HEADER", "sources": [1, 2, 3]}]', "forged structure")],
)  # fmt: skip
def test_a_reply_that_cannot_be_read_is_told(shell, store, server, reply, kind):
    """The report names the kind, and nothing is written."""
    server.plan.append((200, {}, json.dumps(completion(reply)).encode()))
    said = shell("--store", store, "consolidate", "keep", "--model", f"{server.url}#tiny")
    assert (said.code, said.lines) == (1, [])
    assert f"1 reply could not be read ({kind} 1); nothing came of that" in said.error
    assert shell("--store", store, "consolidate").lines[0].startswith("            case: ")


def test_a_server_that_fails_leaves_the_store_as_it_was(shell, store, server):
    """Refused, broken off, no chat completion: an error with an exit code, and no entry."""
    failing = [
        (401, {}, b'{"error": "key"}'), (429, {"retry-after": "3600"}, b"later"), (200, {}, b"<html>hotel</html>"),
        lambda handler: handler.connection.shutdown(socket.SHUT_RDWR),
    ]  # fmt: skip
    for one in failing:
        server.plan.append(one)
        said = shell("--store", store, "consolidate", "keep", "--model", f"{server.url}#tiny")
        assert said.code not in {0, 1}
        assert "firsthand: " in said.error
        assert shell("--store", store, "consolidate").lines[0].startswith("            case: ")
    server.plan.append((429, {"retry-after": "0"}, b"later"))
    assert shell("--store", store, "consolidate", "propose", "--model", f"{server.url}#tiny").code == 0


def test_a_server_that_falls_silent_leaves_the_store_as_it_was(store, server):
    """After the time that it is given a silent server is not asked again, and nothing is written."""
    over = threading.Event()
    server.plan.append(lambda _handler: over.wait(10))
    with Memory.open(store, embedder="none") as memory, OpenAICompatible(server.url, "m", timeout_seconds=0.2) as model:
        head = memory.head()

        def complete(prompt: str) -> str:
            return model.complete([{"role": "user", "content": prompt}]).text

        with pytest.raises(ModelUnavailable, match="fell silent"):
            consolidate_in(memory, consolidator=ByModel(complete, "m"), keep=True)
        assert memory.head() == head
        over.set()
        assert len(consolidate_in(memory, consolidator=ByModel(complete, "m"), keep=True).kept) == 1
    assert len(server.seen) == 2


def test_a_cap_stops_before_it_is_passed(shell, store, server):
    """Tokens and cost are held before a call; more calls than are allowed are refused before the first."""
    model = ("--model", f"{server.url}#tiny")
    for words in (("--tokens-max", "50"), ("--price", "1,2", "--cost-max", "0.000001")):
        said = shell("--store", store, "consolidate", "keep", *model, *words)
        assert "could pass the cap" in said.error
        assert (said.code != 0, server.seen) == (True, [])
    with Memory.open(store, embedder="none") as memory:
        for level in (1, 2, 3):
            memory.session("s").user(f"cedar level {level} => {level}")
    said = shell("--store", store, "consolidate", "keep", *model, "--calls-max", "1")
    assert (said.code, server.seen) == (5, [])
    assert "this asks 2 times and at most 1 calls are allowed" in said.error


@pytest.mark.parametrize(
    "words",
    [("propose", "--price", "1,2"), ("propose", "--replay"), ("list", "--model", "local"),
     ("propose", "--model", "local", "--replay"), ("propose", "--model", "openai/gpt-5-mini"),
     ("propose", "--model", "http://127.0.0.1:1/v1"), ("show", "x", "--solver-model", "local")],
)  # fmt: skip
def test_what_is_of_a_model_wants_one(shell, store, words):
    """An option of a model without one, a replay of nothing, a name that is none: refused, and nothing is asked."""
    assert shell("--store", store, "consolidate", *words).code == 5


def test_a_replay_says_where_it_would_look(shell, store):
    """Without a folder of replies there is nothing to answer from, and the error says what to name."""
    said = shell("--store", store, "consolidate", "propose", "--model", "local", "--replay")
    assert "name the folder (--replies DIR)" in said.error
