"""Vectors under faults: killed followers, forks, several processes, a closing store, a missing library."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from embedders import exact, failing_embedder, vector_of, words_embedder
from firsthand import Draft, Kind, Memory
from firsthand.errors import ModelError, ModelUnavailable

HERE = Path(__file__).parent


def append(memory: Memory, first: int, count: int) -> None:
    drafts = [Draft(Kind.USER_MESSAGE, f"text {n} of many".encode()) for n in range(first, first + count)]
    memory.append(drafts, session="s")


def whole(root: Path) -> Memory:
    """Open a store, follow to its end, and assert that every event has its vector and everything verifies."""
    memory = Memory.open(root, embedder=words_embedder())
    memory.follow()
    (space,) = memory.vectors()
    head = int(memory.head().partition(":")[0])
    assert (space.vectors, space.through, space.current) == (head, head, True)
    assert memory.verify(deep=True).problems == ()
    found = memory.near.search.near("text 7 of many", 5)
    truth = exact(((n + 1, f"text {n} of many") for n in range(head)), "text 7 of many")
    assert [cosine for _, cosine in found.rows] == pytest.approx(sorted(truth.values(), reverse=True)[:5], abs=0.02)
    assert found.rows[0][0] == 8
    return memory


def wait_for(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come in time"
        time.sleep(0.01)


@pytest.mark.parametrize("lines", [1, 2, 4])
def test_a_killed_follower_leaves_whole_batches(tmp_path, lines):
    """A follower killed at any moment leaves the vectors of whole batches; the next one goes on behind them."""
    with Memory.open(tmp_path / "store") as memory:
        append(memory, 0, 200)
    command = [sys.executable, str(HERE / "vector_process.py"), str(tmp_path / "store"), "30"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in range(lines):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Memory.open(tmp_path / "store", read_only=True) as memory:
        assert memory.verify(deep=True).problems == ()
    whole(tmp_path / "store").close()


def test_several_processes_share_the_work(tmp_path):
    """Followers of several processes take turns: every event has one vector, and all of them come to the end."""
    with Memory.open(tmp_path / "store") as memory:
        append(memory, 0, 300)
    command = [sys.executable, str(HERE / "vector_process.py"), str(tmp_path / "store"), "5"]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    whole(tmp_path / "store").close()


def test_appends_go_on_while_vectors_are_made(tmp_path):
    """An append returns while a batch is being embedded: no embedder holds the log's lock."""
    entered, leave = threading.Event(), threading.Event()

    def embed(texts):
        entered.set()
        assert leave.wait(20)
        return [vector_of(text) for text in texts]

    with Memory.open(tmp_path / "store", embedder=failing_embedder("words", embed)) as memory:
        append(memory, 0, 1)
        assert entered.wait(20)
        append(memory, 1, 50)
        assert memory.vectors()[0].through == 0
        leave.set()
        wait_for(lambda: memory.vectors()[0].through == 51)
    whole(tmp_path / "store").close()


def test_a_failing_embedder_is_told_and_tried_again(tmp_path, monkeypatch):
    """What fails in the background stands in the figures of the store and in answers, until it works again."""
    monkeypatch.setattr("firsthand.index.background.PAUSE_SECONDS", 0.05)
    monkeypatch.setattr("firsthand.index.vector_search.PAUSE_SECONDS", 0.0)
    broken = [True]

    def embed(texts):
        if broken:
            raise ModelUnavailable("no battery")
        return [vector_of(text) for text in texts]

    with Memory.open(tmp_path / "store", embedder=failing_embedder("words", embed)) as memory:
        append(memory, 0, 10)
        wait_for(lambda: memory.stats().vector_fault == "no battery")
        assert memory.near.search.near("text", 3).fault == "vectors do not follow: no battery"
        with pytest.raises(ModelError, match="no battery"):
            memory.follow()
        broken.clear()
        wait_for(lambda: memory.vectors()[0].through == 10)
        wait_for(lambda: memory.stats().vector_fault == "")
        assert memory.near.search.near("text", 3).fault == ""


def test_a_child_follows_by_itself_after_a_fork(tmp_path):
    """Neither thread nor lock of a parent's follower hinders a forked child, which follows what it appends."""
    with Memory.open(tmp_path / "store", embedder=words_embedder()) as memory:
        append(memory, 0, 5)
        wait_for(lambda: memory.vectors()[0].through == 5)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                append(memory, 5, 5)
                wait_for(lambda: memory.vectors()[0].through == 10)
                memory.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        append(memory, 10, 5)
        wait_for(lambda: memory.vectors()[0].through == 15)
    whole(tmp_path / "store").close()


def test_closing_ends_the_thread(tmp_path):
    """A closed store has no thread left, be it at work, asleep, or never begun; nor has one that was let go."""
    names = lambda: [thread.name for thread in threading.enumerate() if thread.name == "firsthand-vectors"]  # noqa: E731
    for count in (0, 1, 400):
        with Memory.open(tmp_path / "store", embedder=words_embedder()) as memory:
            if count:
                append(memory, 0, count)
        assert names() == []
    memory = Memory.open(tmp_path / "store", embedder=words_embedder())
    append(memory, 0, 1)
    assert names() == ["firsthand-vectors"]
    memory.log.close()
    del memory
    wait_for(lambda: names() == [])


def test_a_reader_makes_no_vectors(tmp_path):
    """A store that is opened for reading is searched by what is there, and never written."""
    with Memory.open(tmp_path / "store") as memory:
        append(memory, 0, 20)
    whole(tmp_path / "store").close()
    with Memory.open(tmp_path / "store") as memory:
        append(memory, 20, 5)
    with Memory.open(tmp_path / "store", read_only=True, embedder=words_embedder()) as memory:
        found = memory.near.search.near("text 7 of many", 3)
        memory.follow()
        assert (found.rows[0][0], found.through, found.fault) == (8, 20, "")
        assert memory.vectors()[0].through == 20


def test_rebuild_and_erase_reach_the_vectors(tmp_path):
    """A rebuild makes all vectors anew; an erased event has none in any file of the store."""
    with Memory.open(tmp_path / "store", embedder=words_embedder()) as memory:
        append(memory, 0, 30)
        memory.follow()
        victim = list(memory.events())[11]
        memory.erase([victim.id])
        assert 12 not in {row for row, _ in memory.near.search.near("text 11 of many", 30).rows}
        memory.rebuild()
        memory.follow()
        (space,) = memory.vectors()
        assert (space.vectors, space.through) == (30, 31)  # 29 of the texts, and the record of the erasure
        assert memory.verify(deep=True).problems == ()


APPENDING = """
import json, sys
from firsthand import Memory
with Memory.open(sys.argv[1], embedder=sys.argv[2] or None) as memory:
    session = memory.session("s")
    said = [session.user(f"text {number} of more") for number in range(40)]
    whole = memory.expand(said[7]) == b"text 7 of more" and memory.stats().events == 60
print(json.dumps([whole, [name for name in ("numpy", "onnxruntime", "http.client") if name in sys.modules]]))
"""


@pytest.mark.parametrize("word", ["", "none"])
def test_appends_load_no_numpy(tmp_path, word):
    """A process that appends, indexes and expands, in a store with vectors, loads neither numpy nor a model."""
    with Memory.open(tmp_path / "store") as memory:
        append(memory, 0, 20)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTHAND")}
    environment |= {"FIRSTHAND_EMBEDDER": "minilm"} if word else {}
    command = [sys.executable, "-c", APPENDING, str(tmp_path / "store"), word]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert json.loads(done.stdout) == [True, []]
