"""A process that says statements and consolidates them without end, and says of each time when it begins and ends."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from consolidate_worlds import by_lines
from firsthand import Memory
from firsthand.ledger.consolidation import consolidate_in

FAMILIES = ("birch", "cedar", "maple")


def main(store: str) -> None:
    with Memory.open(store, embedder="none") as memory:
        session = memory.session("s")
        number = memory.stats().events
        while True:
            number += 1
            for family in FAMILIES:  # every few rounds the rule changes, so that entries fall and others come
                times = 3 + number // 8 % 2
                session.user(f"{family} level {number % 8 + 1} => {times * (number % 8 + 1) + 2}")
            print("begins", flush=True)
            consolidate_in(memory, by_lines, "test", keep=True)
            print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
