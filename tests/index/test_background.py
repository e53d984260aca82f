"""The thread that follows: it works when woken, sleeps when done, and comes back after a fault."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest

from firsthand.errors import ModelUnavailable, StoreClosed
from firsthand.index import background
from firsthand.index.background import Background
from firsthand.index.follower import Step


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    for name in ("GATHER_SECONDS", "ELSEWHERE_SECONDS", "PAUSE_SECONDS"):
        monkeypatch.setattr(background, name, 0.005)


def wait_for(condition) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not come in time"
        time.sleep(0.002)


def test_it_works_until_nothing_is_left_and_sleeps():
    """Steps are done until one says that it is done; nothing more happens until it is woken again."""
    plan, done = [Step.TOOK, Step.ELSEWHERE, Step.TOOK, Step.DONE], []

    def step() -> Step:
        done.append(threading.current_thread().name)
        return plan[(len(done) - 1) % 4]

    one = Background(step)
    assert done == []
    one.wake()
    wait_for(lambda: len(done) == 4)
    time.sleep(0.05)
    assert done == ["firsthand-vectors"] * 4
    one.wake()
    wait_for(lambda: len(done) == 8)
    one.stop()


def test_a_fault_is_kept_until_it_works_again():
    """What went wrong is told while it is tried again by itself, and forgotten when it works."""
    faults = [ModelUnavailable("no battery"), ModelUnavailable("still none")]
    seen: list[str] = []

    def step() -> Step:
        seen.append(one.fault)
        if faults:
            raise faults.pop(0)
        return Step.DONE

    one = Background(step)
    one.wake()
    wait_for(lambda: len(seen) == 3 and not one.fault)
    assert seen == ["", "no battery", "still none"]
    one.stop()


def test_the_pause_after_a_fault_doubles(monkeypatch):
    """What goes on failing is tried ever more seldom."""
    monkeypatch.setattr(background, "PAUSE_SECONDS", 0.05)
    times: list[float] = []

    def step() -> Step:
        times.append(time.monotonic())
        raise ModelUnavailable("no battery")

    one = Background(step)
    one.wake()
    wait_for(lambda: len(times) == 4)
    one.stop()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert all(gap >= least for gap, least in zip(gaps, (0.05, 0.1, 0.2), strict=True)), gaps


def test_a_closed_store_ends_it():
    """A store that is closed under the thread ends it without a word."""
    closed = threading.Event()

    def step() -> Step:
        closed.set()
        raise StoreClosed("gone")

    one = Background(step)
    one.wake()
    assert closed.wait(20)
    wait_for(lambda: all(thread.name != "firsthand-vectors" for thread in threading.enumerate()))
    assert one.fault == ""
    one.stop()


def test_stopping_waits_for_the_step_and_does_no_other():
    """Stop returns when the step at hand is done, begins no further one, and waking afterwards does nothing."""
    entered, leave = threading.Event(), threading.Event()
    done: list[int] = []

    def step() -> Step:
        entered.set()
        leave.wait(20)
        done.append(1)
        return Step.TOOK

    one = Background(step)
    one.wake()
    assert entered.wait(20)
    threading.Timer(0.05, leave.set).start()
    one.stop()
    assert done == [1]
    one.wake()
    time.sleep(0.05)
    assert done == [1]
    assert all(thread.name != "firsthand-vectors" for thread in threading.enumerate())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ends_by_an_error_of_its_own_says_so():
    """What no one foresaw ends the thread, and is told from then on instead of nothing."""

    def step() -> Step:
        raise RuntimeError("the moon is full")

    one = Background(step)
    one.wake()
    wait_for(lambda: one.fault)
    assert one.fault == "their thread ended (RuntimeError: the moon is full); open the store anew"
    one.stop()
