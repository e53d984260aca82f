"""The commands ledger and digest, as a person types them."""

from __future__ import annotations

import json

import pytest
from json_server import JsonServer

from firsthand import Memory, ledger_of


@pytest.fixture
def filled(shell):
    """A shell whose store has an agent that was told a port twice."""
    with Memory.open(shell.store, embedder="none") as memory:
        memory.agent("shop").enrol("one")
        session = memory.session("one")
        for text in ("The port is 80.", "The port is now 81.", "My name is Ann."):
            session.user(text)
    return shell


def test_a_ledger_is_swept_shown_undone_and_compared(filled):
    """Sweep decides, list and show say what, undo takes it back, diff names it, and the digest follows."""
    swept = filled("ledger", "sweep", "--agent", "shop", "--json")
    made = swept.json
    assert (swept.code, made["action"], made["key"], made["by"]) == (0, "supersede", "shop/port", "rule:correction")
    assert "The port is 80." not in filled("digest", "--agent", "shop").text
    listed = filled("ledger")
    assert listed.text.split() == ["5", made["id"][-10:], "supersede", "shop/port", "rule:correction"]
    shown = filled("ledger", "show", made["id"][-10:])
    assert [line.partition(" (")[0] for line in shown.text.splitlines()[2:]] == [
        "about: The port is 80.", "in its place: The port is now 81.",
    ]  # fmt: skip
    assert filled("ledger", "undo", made["id"], "--following", "--reason", "two ports").code == 0
    assert "undone" in filled("ledger").text.splitlines()[0]
    assert "The port is 80." in filled("digest", "--agent", "shop").text
    again = filled("ledger", "undo", made["id"])
    assert (again.code, "is undone already; firsthand ledger undo" in again.error) == (1, True)
    diff = filled("ledger", "diff", "5", "6")
    assert diff.text.startswith("shop/port: supersede fh:")
    assert diff.text.rstrip().endswith("-> nothing decided")
    same = filled("ledger", "diff", "6", "6")
    assert (same.code, same.text, same.error) == (1, "", "the same is decided at 6 and at 6\n")


def test_a_person_tombstones_and_restores_a_fact(filled):
    """A fact is named by the pointer that the digest shows."""
    line = next(line for line in filled("digest", "--agent", "shop").text.splitlines() if "Ann" in line)
    address = line.rpartition("(")[2].rstrip(")")
    assert filled("ledger", "tombstone", address, "--agent", "shop", "--reason", "married").code == 0
    assert "Ann" not in filled("digest", "--agent", "shop").text
    assert filled("ledger", "restore", address, "--agent", "shop").code == 0
    assert "Ann" in filled("digest", "--agent", "shop").text
    assert "Ann" not in filled("digest", "--agent", "shop", "--as-of", "5").text
    with Memory.open(filled.store, read_only=True) as memory:
        assert [(one.action, one.reason) for one in ledger_of(memory).decisions()] == [
            ("tombstone", "married"),
            ("restore", ""),
        ]


def test_the_digest_is_written(filled):
    """Written, it stands in the agent's folder; as of a position it is only shown."""
    written = filled("digest", "--agent", "shop", "--write")
    assert (written.code, written.text.strip().endswith("shop/digest.md")) == (0, True)
    assert filled("digest", "--agent", "shop", "--json").json["facts"] == 3
    refused = filled("digest", "--agent", "shop", "--write", "--as-of", "1")
    assert (refused.code, "got both" in refused.error) == (5, True)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("ledger", "undo"), 5, "takes 1 word behind it; got 0"),
        (("ledger", "diff", "1"), 5, "takes 2 words behind it; got 1"),
        (("ledger", "diff", "1", "x"), 5, "takes two positions; got 1 x"),
        (("ledger", "diff", "-1", "1"), 5, "expected a position from 0 to 4, where this store is now; got -1"),
        (("ledger", "diff", "1", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (("ledger", "--as-of", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (("digest", "--agent", "shop", "--as-of", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (
            ("digest", "--agent", "shop", "--as-of", "0"),
            1,
            "no fact of the user's stands and no session has an episode",
        ),
        (("ledger", "--as-of", "0"), 1, "nothing is decided as of position 0"),
        (("ledger", "show", "none"), 1, "expected the id of one decision"),
        (("ledger", "tombstone", "fh:" + "0" * 26, "--agent", "shop"), 1, "has 0"),
        (("ledger",), 1, ""),
        (("digest", "--agent", "nobody"), 5, "no agent 'nobody' has anything in this store"),
        (("digest", "--agent", "shop", "--lines", "3"), 5, "at least 12 lines"),
    ],
)
def test_what_cannot_be_done_is_said(filled, arguments, code, told):
    """Each mistake has its exit code and a sentence that says what was expected."""
    done = filled(*arguments)
    assert (done.code, told in done.error) == (code, True)


# a model ------------------------------------------------------------------------------------------


def finds(body: dict) -> dict:
    """Reply that the second of a pair takes the place of the first, quoting both."""
    text = json.dumps([{"pair": 1, "action": "UPDATE", "earlier": "port is 8080", "later": "port is 8443"}])
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}


@pytest.fixture
def server():
    """A server on the loopback address."""
    pytest.importorskip("httpx", reason="the extra 'llm' is not installed")
    one = JsonServer(finds)
    yield one
    one.close()


def test_a_model_decides_what_the_rules_leave_open(shell, server, tmp_path):
    """It is estimated, asked once and recorded; a replay gives the same decision for nothing, and it can be undone."""
    texts = ("The staging gateway port is 8080.", "The gateway port is 8443.")
    stores = [tmp_path / "one", tmp_path / "two"]
    for store in stores:
        with Memory.open(store, embedder="none") as memory:
            for number, text in enumerate(texts, 1):
                memory.session("one").user(text, id=f"{number:026d}")
            memory.agent("shop").enrol("one")
    model = ("--agent", "shop", "--model", f"{server.url}#tiny", "--replies", str(tmp_path / "replies"))
    said = shell("--store", str(stores[0]), "ledger", "sweep", *model)
    assert (said.code, "supersede" in said.text, "at most 1 calls" in said.error) == (0, True, True)
    with Memory.open(stores[0], embedder="none") as memory:
        (made,) = ledger_of(memory).decisions()
        assert (made.by, made.action) == ("model:tiny", "supersede")
        ledger_of(memory).undo(made.id)
        assert memory.verify().problems == ()
    again = shell("--store", str(stores[0]), "ledger", "sweep", *model)
    assert ("0 new decisions" in again.error + again.text, len(server.seen)) == (True, 1)
    replayed = shell("--store", str(stores[1]), "ledger", "sweep", *model, "--replay")
    assert (replayed.code, "supersede" in replayed.text, len(server.seen)) == (0, True, 1)


@pytest.mark.parametrize("words", [("list", "--model", "local"), ("sweep", "--price", "1,2"), ("sweep", "--replay")])
def test_a_model_goes_with_a_sweep_alone(filled, words):
    """Elsewhere, or its options without one, a model is refused, and nothing is decided."""
    assert filled("ledger", *words, "--agent", "shop").code == 5
    assert filled("ledger").code == 1


def test_what_contradicts_each_other_is_shown_and_decided(shell):
    """Both sides are shown with who said them, in which session and when, and how to decide; then nothing is open."""
    with Memory.open(shell.store, embedder="none") as memory:
        for session, text in (("one", "The port is 80."), ("two", "The port is 81."),
                              ("one", "I just installed Redis on the cache host."),
                              ("two", "I have never installed Redis on any cache host.")):  # fmt: skip
            memory.agent("shop").enrol(session)
            memory.session(session).user(text)
    found = shell("ledger", "conflicts", "--agent", "shop")
    assert found.code == 0
    assert [line.partition(" (fh:")[0] for line in found.text.splitlines()] == [
        "two values: port", "  earlier: The port is 80.", "  later: The port is 81.",
        "  decide: firsthand ledger restore POINTER of what holds",
        "said to be never done",
        "  earlier: I just installed Redis on the cache host.",
        "  later: I have never installed Redis on any cache host.",
        "  decide: firsthand ledger tombstone POINTER of what does not hold",
    ]  # fmt: skip
    assert found.error == "2 open conflicts\n"
    lines = shell("ledger", "conflicts", "--agent", "shop", "--json").text.splitlines()
    values, deeds = map(json.loads, lines)
    assert (values["why"], values["of_one_key"], values["later"]["session"], values["later"]["trust"]) == (
        "two values", True, "two", "trusted",
    )  # fmt: skip
    assert shell("ledger", "restore", values["later"]["pointer"], "--agent", "shop").code == 0
    assert shell("ledger", "tombstone", deeds["later"]["pointer"], "--agent", "shop").code == 0
    none = shell("ledger", "conflicts", "--agent", "shop")
    assert (none.code, none.text, none.error) == (1, "", "0 open conflicts\n")


def test_two_amounts_are_decided_by_the_pointer_that_is_shown(shell):
    """A sentence that tells a deed and an amount is decided by its pointer, and another amount of its kind stays."""
    texts = ("I've improved after completing 8 problems on dice probability.",
             "I've increased my practice to 12 problems on dice probability.")  # fmt: skip
    with Memory.open(shell.store, embedder="none") as memory:
        memory.agent("shop").enrol("one")
        for text in texts:
            memory.session("one").user(text)
    (line,) = shell("ledger", "conflicts", "--agent", "shop", "--json").text.splitlines()
    told = json.loads(line)
    assert (told["why"], told["earlier"]["text"], told["later"]["text"]) == ("two amounts", *texts)
    made = shell("ledger", "tombstone", told["earlier"]["pointer"], "--agent", "shop")
    assert (made.code, made.text.partition("  ")[2]) == (0, "tombstone  shop/mention number problem\n")
    assert shell("ledger", "conflicts", "--agent", "shop").error == "0 open conflicts\n"
    with Memory.open(shell.store, embedder="none") as memory:
        assert memory.verify().ok


def test_conflicts_are_of_no_position_that_never_was(shell):
    """A position behind the end of the store is refused."""
    with Memory.open(shell.store, embedder="none") as memory:
        memory.agent("shop").enrol("one")
        memory.session("one").user("The port is 80.")
    assert shell("ledger", "conflicts", "--agent", "shop", "--as-of", "99").code == 5
