"""The writers' queue by itself: who commits what, and what each is told."""

from __future__ import annotations

import threading
import time

import pytest

from firsthand.errors import FirsthandError, StaleExpectation, StoreBusy, StoreClosed
from firsthand.log.sqlite.queue import SLOT_BYTES_MAX, WriterQueue


class Ledger:
    """Takes batches of text; a batch that is there already is known."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.commits: list[int] = []
        self.pause = 0.0

    def commit(self, tickets) -> None:
        self.commits.append(len(tickets))
        time.sleep(self.pause)
        for ticket in tickets:
            if ticket.batch.startswith("refused"):
                ticket.settle(error=StaleExpectation(ticket.batch))
                continue
            if ticket.batch not in self.taken:
                self.taken.append(ticket.batch)
            ticket.settle(f"{ticket.batch} at {self.taken.index(ticket.batch)}")


def unseal(data: bytes) -> str:
    if data.startswith(b"odd"):
        raise ValueError("of another version")
    return data.decode()


@pytest.fixture
def ledger():
    return Ledger()


@pytest.fixture
def queues(tmp_path, ledger):
    """Two queues on one folder, as two processes have them."""
    made = [
        WriterQueue(
            tmp_path, commit=ledger.commit, seal=str.encode, unseal=unseal, pack=lambda r: r, unpack=lambda r: r,
            timeout_ms=5_000,
        )
        for _ in range(2)
    ]  # fmt: skip
    yield made
    for one in made:
        one.close(lambda: None)


class Held:
    """Holds a queue's lock until told to let go."""

    def __init__(self, queue: WriterQueue) -> None:
        self.inside, self.leave = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=queue.exclusively, args=(self._hold,))
        self.thread.start()
        assert self.inside.wait(5)

    def _hold(self) -> None:
        self.inside.set()
        self.leave.wait(10)

    def let_go(self) -> None:
        self.leave.set()
        self.thread.join()


def submit_all(
    queue: WriterQueue, batches: list[str], size: int = 10
) -> tuple[list[threading.Thread], dict[str, object]]:
    outcomes: dict[str, object] = {}

    def run(batch: str) -> None:
        try:
            outcomes[batch] = queue.submit(batch, size)
        except FirsthandError as error:
            outcomes[batch] = error

    threads = [threading.Thread(target=run, args=(batch,)) for batch in batches]
    for thread in threads:
        thread.start()
    return threads, outcomes


def test_waiting_batches_share_a_commit(queues, ledger):
    """Batches of many threads that wait together are committed together, each once, each with its own result."""
    held = Held(queues[1])
    batches = [f"b{n}" for n in range(20)]
    threads, outcomes = submit_all(queues[0], batches)
    time.sleep(0.1)
    held.let_go()
    for thread in threads:
        thread.join()
    assert sorted(ledger.taken) == sorted(batches)
    assert outcomes == {batch: f"{batch} at {ledger.taken.index(batch)}" for batch in batches}
    assert len(ledger.commits) < 10


def test_a_refused_batch_tells_its_owner_alone(queues, ledger):
    """An error of one batch goes to its owner, from its own process; the others of the commit have their results."""
    held = Held(queues[1])
    threads, outcomes = submit_all(queues[0], ["good", "refused", "fine"])
    time.sleep(0.05)
    held.let_go()
    queues[1].submit("mine", 5)
    for thread in threads:
        thread.join()
    assert isinstance(outcomes["refused"], StaleExpectation)
    assert {outcomes["good"], outcomes["fine"]} == {f"{b} at {ledger.taken.index(b)}" for b in ("good", "fine")}
    assert sorted(ledger.taken) == ["fine", "good", "mine"]


def test_a_batch_of_another_version_is_committed_by_its_owner(queues, ledger):
    """What the holder cannot read it leaves alone; its owner commits it when the lock is free."""
    held = Held(queues[1])
    threads, outcomes = submit_all(queues[0], ["odd one"])
    time.sleep(0.05)
    held.let_go()
    assert queues[1].submit("mine", 5).startswith("mine")
    threads[0].join()
    assert sorted(ledger.taken) == ["mine", "odd one"]
    assert str(outcomes["odd one"]).startswith("odd one at")


@pytest.mark.parametrize("size", [-1, SLOT_BYTES_MAX + 1])
def test_a_batch_that_nobody_may_carry_gets_the_lock(queues, ledger, size):
    """A batch that is too large for a slot, or only its own process may commit, gets its turn beside a busy writer."""
    held = Held(queues[1])
    batch = "x" * max(10, size)
    threads, outcomes = submit_all(queues[0], [batch], size)
    time.sleep(0.05)
    held.let_go()
    ledger.pause = 0.02  # the lock is free for an instant between two commits, which nobody meets by chance
    number = 0
    while threads[0].is_alive() and number < 50:
        queues[1].submit(f"busy {number}", 5)
        number += 1
    threads[0].join()
    assert str(outcomes[batch]).endswith(f" at {ledger.taken.index(batch)}")
    assert ledger.taken.index(batch) <= 4


def test_waiting_ends_with_an_error_that_carries_the_batch(tmp_path, ledger):
    """After the timeout a batch that was not committed comes back on `StoreBusy`, and the queue goes on."""
    options = {
        "commit": ledger.commit,
        "seal": str.encode,
        "unseal": unseal,
        "pack": lambda r: r,
        "unpack": lambda r: r,
    }
    patient = WriterQueue(tmp_path, timeout_ms=5_000, **options)
    hasty = WriterQueue(tmp_path, timeout_ms=60, **options)
    held = Held(patient)
    started = time.monotonic()
    with pytest.raises(StoreBusy, match=r"waited 0.06 s.* firsthand") as caught:
        hasty.submit("late", 5)
    assert 0.06 <= time.monotonic() - started < 4
    assert caught.value.batch == "late"
    with pytest.raises(StoreBusy) as caught:
        hasty.exclusively(lambda: None)
    assert caught.value.batch is None
    held.let_go()
    assert hasty.submit("late", 5) == "late at 0"
    assert ledger.taken == ["late"]
    for one in (patient, hasty):
        one.close(lambda: None)


def test_a_closed_queue_refuses(tmp_path, ledger):
    """After closing, nothing is committed; closing does its last thing once, under the lock."""
    queue = WriterQueue(
        tmp_path, commit=ledger.commit, seal=str.encode, unseal=unseal, pack=lambda r: r, unpack=lambda r: r,
        timeout_ms=100,
    )  # fmt: skip
    done: list[int] = []
    queue.close(lambda: done.append(1))
    assert done == [1]
    for attempt in (lambda: queue.submit("b", 1), lambda: queue.exclusively(lambda: None)):
        with pytest.raises(StoreClosed):
            attempt()
    assert ledger.taken == []


def test_slots_are_gone_with_their_owner(queues, tmp_path):
    """A writer that waited leaves no slot behind when it closes."""
    held = Held(queues[1])
    threads, _ = submit_all(queues[0], ["b"])
    time.sleep(0.05)
    assert len(list((tmp_path / "queue").iterdir())) >= 1
    held.let_go()
    threads[0].join()
    for queue in queues:
        queue.close(lambda: None)
        queue.close = lambda _last: None
    assert list((tmp_path / "queue").iterdir()) == []


def test_wiping_leaves_nothing_and_loses_nothing(queues, tmp_path, ledger):
    """Overwriting the slots under a waiting writer takes its bytes out of them; it commits its batch by itself."""
    held = Held(queues[1])
    threads, outcomes = submit_all(queues[0], ["a secret batch"])
    time.sleep(0.05)
    (slot,) = [path for path in (tmp_path / "queue").iterdir() if b"a secret batch" in path.read_bytes()]
    queues[1].wipe()
    assert b"a secret batch" not in slot.read_bytes()
    held.let_go()
    assert queues[1].submit("mine", 4).startswith("mine")
    threads[0].join()
    assert outcomes == {"a secret batch": f"a secret batch at {ledger.taken.index('a secret batch')}"}
