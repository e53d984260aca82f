"""Time to open a store and append one event, with few and with many namespaces, in turns.

python bench/namespaces.py [--many 10000]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from firsthand import Memory
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log.sqlite.log import Log

FEW, ROUNDS = 10, 40


def made(root: Path, namespaces: int) -> Path:
    """Make a store with one event in each namespace, and an index file in the one that is measured."""
    log = Log(root, indexes=(TextIndex(),))
    for number in range(namespaces):
        log.append([Draft(Kind.NOTE, b"first")], namespace=f"tenant {number}", session="s")
    drafts = [Draft(Kind.USER_MESSAGE, b"message %d" % number) for number in range(100)]
    log.append(drafts, namespace="tenant 3", session="s")
    log.close()
    return root


def once(root: Path) -> float:
    """Open, append, close."""
    began = time.perf_counter()
    with Memory(root, namespace="tenant 3", embedder="none") as memory:
        memory.session("s").user("one more message")
    return time.perf_counter() - began


def main() -> None:
    """Print both medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", type=int, default=10_000)
    many = parser.parse_args().many
    with tempfile.TemporaryDirectory() as folder:
        roots = {number: made(Path(folder) / str(number), number) for number in (FEW, many)}
        seconds: dict[int, list[float]] = {number: [] for number in roots}
        for _ in range(ROUNDS):
            for number, root in roots.items():
                seconds[number].append(once(root))
    few, lot = (statistics.median(seconds[number]) * 1_000 for number in (FEW, many))
    print(f"open and append: {few:.2f} ms with {FEW} namespaces, {lot:.2f} ms with {many:,} ({lot / few:.2f} x)")


if __name__ == "__main__":
    main()
