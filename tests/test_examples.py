"""The examples run: with the replies that were recorded, and against a server."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import ChatServer

from firsthand import Memory

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A server of the test's own."""
    server = ChatServer()
    yield server
    server.close()


def run(name: str, *options: str, folder: Path) -> str:
    """Run an example as a user does, and give what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *options],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_loop_with_any_client_gets_back_what_left(tmp_path):
    """A loop with a tool of its own and five marked lines recalls what left its window."""
    printed = run("any_loop.py", "--recorded", folder=tmp_path)
    reading, _, rest = printed.partition("> Which worker lost its disk?")
    assert [f'read_page({{"page": {page}}})' in reading for page in range(1, 5)] == [True] * 4
    assert "w-4471 lost its disk" in next(line for line in rest.splitlines() if line.startswith("  recalled: "))
    assert any(line.startswith("  recall(") for line in rest.splitlines())
    assert "1 compactions:\n  [Turns 1-" in rest


def test_the_session_of_the_example_is_whole(tmp_path):
    """After the example its store verifies, it compacted, and its marker opens to what left, word for word."""
    example = runpy.run_path(str(EXAMPLES / "any_loop.py"))
    assert "w-4471" in example["run"](example["recorded"](), str(tmp_path / "store"))
    with Memory.open(tmp_path / "store") as memory:
        window = memory.session("workers").window(example["BUDGET_TOKENS"])
        (receipt,) = window.receipts()
        assert receipt.tokens_after < receipt.tokens_before <= example["BUDGET_TOKENS"] * 1.5
        (marker,) = window.state.markers
        assert example["read_page"](2).encode() in memory.expand(marker.pointer)
        assert sum(anatomy.recalls for anatomy in memory.anatomies("workers")) == 1
        assert memory.verify().ok


def test_a_loop_runs_against_a_server(tmp_path, chat_server):
    """The same loop asks a server that speaks OpenAI chat completions, with its own tools and the window's."""
    printed = run("any_loop.py", "--url", chat_server.url, "--model", "tiny", folder=tmp_path)
    assert printed.count('read_page({"page": 2})') == 4  # what this server calls is the first tool there is
    assert printed.count('recall({"query": "port"})') == 1
    bodies = [body for _, body in chat_server.seen]
    assert {body["model"] for body in bodies} == {"tiny"}
    own = ["recall", "expand", "task", "decide"]
    names = [[tool["function"]["name"] for tool in body["tools"]] for body in bodies]
    assert names == [["read_page", *own]] * 8 + [own] * 2
