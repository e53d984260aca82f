"""A proof that is taken while others write."""

from __future__ import annotations

import threading
from pathlib import Path

from firsthand import Draft, Kind, Memory

PROOFS = 4
EVENTS = 1_500  # so that a proof takes some time


def test_a_store_that_is_written_to_is_proven_as_it_stood_at_one_moment(tmp_path: Path):
    """Events that are appended while the index is derived again are no difference between it and the log."""
    done = threading.Event()
    with Memory.open(tmp_path / "store") as memory:
        drafts = [
            Draft(Kind.USER_MESSAGE, f"address {number} that was there before".encode()) for number in range(EVENTS)
        ]
        memory.append(drafts, session="first")

        def write() -> None:
            with Memory.open(tmp_path / "store") as other:
                number = 0
                while not done.is_set():
                    other.session(f"agent-{number % 7}").user(f"address {number} of the broker")
                    number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            problems = [memory.verify(deep=True).problems for _ in range(PROOFS)]
        finally:
            done.set()
            writer.join()
        assert problems == [()] * PROOFS
        assert memory.verify().ok
