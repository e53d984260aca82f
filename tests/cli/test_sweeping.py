"""The command ledger sweep, with a program as its model."""

from __future__ import annotations

import shlex
import sys

import pytest

from firsthand import Memory

MODEL = """
import json, sys
prompt = sys.stdin.read()
newest = next(line for line in prompt.splitlines() if line.startswith("1. "))
made = {"action": "supersede", "old": 2, "quote_old": "Use npm", "quote_new": "we use pnpm"}
print(json.dumps([made, {**made, "quote_old": "Use yarn"}]) if "pnpm" in newest else "[]")
"""


@pytest.fixture
def swept(shell, tmp_path):
    """A shell whose store has two statements of a user, and the command line of a model."""
    with Memory.open(shell.store, embedder="none") as memory:
        memory.session("one").user("Use npm for installs in the shop.")
        memory.session("two").user("For installs in the shop we use pnpm.")
    program = tmp_path / "model.py"
    program.write_text(MODEL)
    yield shell, f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    with Memory.open(shell.store, read_only=True, embedder="none") as memory:
        assert memory.verify().problems == ()


def test_a_sweep_is_counted_tried_and_kept(swept):
    """Without a model it says what would be asked; dry it says what would be decided; kept, it is decided once."""
    shell, model = swept
    assert shell("ledger", "sweep").text == "1 message, 1 pair with an earlier one\n"
    dry = shell("ledger", "sweep", "--model", model)
    assert [line.partition(":")[0] for line in dry.lines] == ["would be decided", "refused"]
    assert "copy from: 'Use npm for installs in the shop.'" in dry.lines[1]
    assert shell("ledger", "list").code == 1
    kept = shell("ledger", "sweep", "--keep", "--json")
    assert (kept.code, kept.json["stated"][0]["by"], kept.json["offers"]) == (0, "model:recorded", 1)
    (row,) = shell("ledger", "list").lines
    assert "supersede" in row
    through = str(kept.json["through"])
    assert shell("ledger", "sweep", "--after", through, "--calls", "3", "--model", model).code == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--keep",), "holds no reply to this prompt; name a model with --model"),
        (("--model", "/nowhere/model"), "could not be run"),
        (("--model", "false"), "it ended with code 1"),
    ],
)
def test_a_model_that_gives_no_reply_is_an_error(swept, arguments, why):
    """What cannot be asked is said, and nothing is decided."""
    shell, _ = swept
    done = shell("ledger", "sweep", *arguments)
    assert (done.code, why in done.error) == (5, True)
    assert shell("ledger", "list").code == 1


def test_an_erasure_takes_the_replies_away(swept):
    """What a model replied repeats words of messages: erasing one leaves none of them in the store's folder."""
    shell, model = swept
    shell("ledger", "sweep", "--model", model)
    assert "we use pnpm" in (shell.store / "sweep.jsonl").read_text()
    assert shell("store", "erase", "--containing", "pnpm", "--yes").code == 0
    assert not (shell.store / "sweep.jsonl").exists()
