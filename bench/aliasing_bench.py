"""Semantic recall rate on numbered series: how often a name finds the very member among near-identical ones.

    python bench/aliasing_bench.py

The rate is that of recall-problem 8.2 (a question made of the name, the member among the first three hits), beside
the share where it is the first. No model, no data. The paper's system reached .40 on such series.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from firsthand import Memory
from numbered_series import SERIES, Member, Series, members

SIZES = (10, 100, 1_000)
ASKED_MAX = 50  # members asked for, of each series
TOP = 3
SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="members of each series")
    sizes = parser.parse_args().sizes
    print("| series | " + " | ".join(f"{size:,}: first {TOP} | first" for size in sizes) + " |")
    print("|---|" + "---|" * 2 * len(sizes))
    totals: list[list[int]] = [[] for _ in sizes]
    for series in SERIES:
        row = []
        for size, total in zip(sizes, totals, strict=True):
            ranks = measure(series, size)
            total.extend(ranks)
            row.append(_rates(ranks))
        print(f"| {series.name} | " + " | ".join(row) + " |")
    print("| all | " + " | ".join(map(_rates, totals)) + " |")


def measure(series: Series, size: int) -> list[int]:
    """Give the rank of the right member for each question; `TOP` + 1 where it is not among the first."""
    made = members(series, size, SEED)
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "store") as memory:
        positions = fill(memory, made)
        chosen = random.Random(SEED).sample(range(size), min(ASKED_MAX, size))
        return [rank(memory, question, positions[at]) for at in chosen for question in made[at].questions]


def fill(memory: Memory, made: Sequence[Member]) -> list[int]:
    """Append the members, in order, and give their positions."""
    return [
        memory.session(one.session).user(one.text, meta={"file": one.file} if one.file else {}).position for one in made
    ]


def rank(memory: Memory, question: str, position: int) -> int:
    """Say where a member stands among the first hits."""
    found = [hit.position for hit in memory.recall(question, hits_max=TOP)]
    return found.index(position) + 1 if position in found else TOP + 1


def _rates(ranks: Sequence[int]) -> str:
    return f"{sum(one <= TOP for one in ranks) / len(ranks):.3f} | {sum(one == 1 for one in ranks) / len(ranks):.3f}"


if __name__ == "__main__":
    main()
