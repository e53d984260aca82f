"""Several processes on one store: killed at random, writing at once, stopped with the lock in hand."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from writer_process import content_of

from firsthand.errors import StoreBusy
from firsthand.event import Draft, Kind
from stores import SOAK, assert_whole, open_log

HERE = Path(__file__).parent
NOTE = [Draft(Kind.NOTE, b"one more")]


@dataclass(frozen=True)
class Acknowledged:
    """One line of a writer."""

    id: str
    seconds: float
    name: str
    number: int


class Writer:
    """A writer's process and what it has said so far."""

    def __init__(self, root: Path, name: str, seconds: float, *, events: int = 1, size: int = 80, threads: int = 1):
        self.size = size
        self.process = subprocess.Popen(
            [sys.executable, HERE / "writer_process.py", root, name, *map(str, (seconds, events, size, threads))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(HERE.parent)},
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        self.lines: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line)

    def go(self) -> None:
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def finish(self) -> list[Acknowledged]:
        """Wait for the end, whatever end it was, and give what was acknowledged."""
        self.process.wait(60)
        self._reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
        fields = [line.decode().split() for line in self.lines if line.endswith(b"\n")]
        return [Acknowledged(one[0], float(one[1]), one[2], int(one[3])) for one in fields]


def assert_all_there(root: Path, writers: list[Writer], said: list[list[Acknowledged]]):
    """Assert that each acknowledged event is there once, with its bytes, and give all events."""
    log = open_log(root)
    verified = assert_whole(log)
    found = {event.id: event for event in log.reader.events("default")}
    assert len(found) == verified.events
    for writer, lines in zip(writers, said, strict=True):
        for line in lines:
            assert log.reader.content(found[line.id]) == content_of(line.name, line.number, writer.size)
    log.close()
    return list(found.values())


@pytest.mark.parametrize("seed", range(30 if SOAK else 2))
def test_kill_at_random_points_loses_nothing_acknowledged(tmp_path, seed):
    """Eight writers killed with -9 at random points: all that was acknowledged is there, chains and index hold."""
    chance = random.Random(seed)
    root = tmp_path / "store"
    open_log(root).close()
    writers = [Writer(root, f"w{k}", 30, events=1 + k % 3, threads=1 + k % 2) for k in range(8)]
    for writer in writers:
        writer.go()
    end = time.monotonic() + 30
    while sum(len(writer.lines) for writer in writers) <= 50 and time.monotonic() < end:
        time.sleep(0.005)
    for writer in chance.sample(writers, len(writers)):
        time.sleep(chance.random() * 0.25)
        writer.process.kill()
    said = [writer.finish() for writer in writers]
    assert sum(map(len, said)) > 50
    assert_all_there(root, writers, said)


def progress(said: list[list[Acknowledged]], start: float, seconds: int) -> bool:
    """Say whether each writer had something acknowledged in every second, or so many as make 20 events for each."""
    counts = [Counter(int(line.seconds - start) for line in lines) for lines in said]
    spans, span = [], [0] * len(said)
    for second in range(seconds):
        span = [before + count[second] for before, count in zip(span, counts, strict=True)]
        if sum(span) >= 20 * len(said):  # fewer on a machine that is busy elsewhere
            spans.append(span)
            span = [0] * len(said)
    return all(map(all, spans or [span]))


ROUNDS = 3  # starvation shows in every round; a second in which the machine was busy elsewhere does not


def fair_round(root, writers, seconds):
    """Let writers run, check that everything is there, and say whether each made progress in every second."""
    start = time.monotonic()
    for writer in writers:
        writer.go()
    said = [writer.finish() for writer in writers]
    assert [writer.process.returncode for writer in writers] == [0] * len(writers)
    events = assert_all_there(root, writers, said)
    return events, said, progress(said, start, seconds)


def test_eight_processes_write_at_once(tmp_path):
    """Eight processes at once: no lock error, each event once, progress for each in every second, shared commits."""
    seconds = 10 if SOAK else 2
    for number in range(ROUNDS):
        root = tmp_path / f"store {number}"
        open_log(root).close()
        events, said, fair = fair_round(root, [Writer(root, f"w{k}", seconds) for k in range(8)], seconds)
        assert len(events) == sum(map(len, said))
        assert len({event.ingested for event in events}) < len(events) * 0.7
        if fair:
            return
    pytest.fail("in every round some process made no progress while the others did")


def test_a_writer_of_large_batches_is_not_starved(tmp_path):
    """One process whose batches are too large to be committed by others makes progress beside seven quick ones."""
    seconds = 10 if SOAK else 2
    for number in range(ROUNDS):
        root = tmp_path / f"store {number}"
        open_log(root).close()
        writers = [Writer(root, f"w{k}", seconds) for k in range(7)]
        writers.append(Writer(root, "large", seconds, events=100, size=15_000))
        if fair_round(root, writers, seconds)[2]:
            return
    pytest.fail("in every round some process made no progress while the others did")


def test_threads_and_processes_mixed(tmp_path):
    """Four threads in each of three processes: every event once, none starved."""
    root = tmp_path / "store"
    open_log(root).close()
    writers = [Writer(root, f"w{k}", 2, threads=4) for k in range(3)]
    for writer in writers:
        writer.go()
    said = [writer.finish() for writer in writers]
    assert [writer.process.returncode for writer in writers] == [0] * 3
    events = assert_all_there(root, writers, said)
    assert len(events) == sum(map(len, said))
    assert {line.name for lines in said for line in lines} == {f"w{k}-{t}" for k in range(3) for t in range(4)}


def test_a_stopped_holder_is_named_and_nothing_is_appended_twice(tmp_path):
    """While the lock's holder is stopped, others get `StoreBusy` in time, naming it; a retry is no second append."""
    root = tmp_path / "store"
    log = open_log(root, timeout_ms=400)
    holder = Writer(root, "holder", 60)
    holder.go()
    time.sleep(0.3)
    busy: StoreBusy | None = None
    for _ in range(200):  # until it is stopped with the lock in hand
        holder.process.send_signal(signal.SIGSTOP)
        started = time.monotonic()
        try:
            log.append(NOTE, namespace="default", session="other")
        except StoreBusy as error:
            busy = error
            break
        finally:
            waited = time.monotonic() - started
            if busy is None:
                holder.process.send_signal(signal.SIGCONT)
        time.sleep(0.003)
    assert busy is not None
    holder.process.send_signal(signal.SIGSTOP)
    assert 0.4 <= waited < 10
    assert str(holder.process.pid) in str(busy)
    assert log.reader.head("default")[0] > 0  # reading goes on
    holder.process.send_signal(signal.SIGCONT)
    first = log.submit(busy.batch)
    again = log.submit(busy.batch)
    assert (again[0].id, again[0].position, again[0].new) == (first[0].id, first[0].position, False)
    holder.process.kill()
    said = holder.finish()
    log.close()
    events = assert_all_there(root, [holder], [said])
    assert sum(event.id == first[0].id for event in events) == 1


def test_a_second_writer_waits_no_longer_than_it_was_told(tmp_path):
    """A writer with a short timeout gets `StoreBusy` after it, with its events, and keeps its handle usable."""
    root = tmp_path / "store"
    first, second = open_log(root), open_log(root, timeout_ms=50)
    second.append(NOTE, namespace="default", session="s")
    inside, leave = threading.Event(), threading.Event()

    def hold(_db) -> None:
        inside.set()
        leave.wait(10)

    holder = threading.Thread(target=first.exclusively, args=(hold,))
    holder.start()
    inside.wait(10)
    with pytest.raises(StoreBusy) as caught:
        second.append([Draft(Kind.NOTE, b"late")], namespace="default", session="s")
    leave.set()
    holder.join()
    assert [one.new for one in second.submit(caught.value.batch)] == [True]
    assert [event.content for event in first.reader.events("default")] == [b"one more", b"late"]
    assert_whole(first)
    first.close()
    second.close()
