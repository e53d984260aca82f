"""The command follow, and how far vectors reach, in words."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable

from firsthand import Memory, VectorSpace
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DAMAGED, DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_write
from firsthand.value import asdict


def follow(chosen: argparse.Namespace, out: Output) -> int:
    """Bring up to date what follows the log."""
    started = time.monotonic()
    with to_write(chosen, create=False) as memory:
        memory.follow(
            progress=lambda done, total: out.progress(lambda: f"embedded through position {done:,} of {total:,}")
        )
        head, spaces = int(memory.head().partition(":")[0]), memory.vectors()
        faults = memory.stats().index_faults
    if out.as_json:
        out.json({"head": head, "vectors": [asdict(one) for one in spaces], "index_faults": faults})
        return DAMAGED if faults else DONE
    for name, fault in faults.items():
        out.line(f"{name} index  does not follow: {shown(fault)}")
    if faults:
        out.remark("recall answers from the log meanwhile; mend the index first: firsthand rebuild")
        return DAMAGED
    for line in lines(spaces, head):
        out.line(f"vectors  {shown(line)}")
    out.line(f"up to date through position {head:,} ({time.monotonic() - started:.1f} s)")
    if not any(one.current for one in spaces):
        out.remark(
            "no embedder is configured, so events are found by their words: FIRSTHAND_EMBEDDER=minilm, static or "
            "endpoint:URL#model finds them by meaning too"
        )
    return DONE


def lines(spaces: Iterable[VectorSpace], head: int) -> list[str]:
    """Say of each space how far it reaches."""
    return [
        f"{count(one.vectors, 'vector')} of {one.dimension} dimensions by {one.embedder}, "
        + ("through the last event" if one.through >= head else f"through position {one.through:,} of {head:,}")
        + ("" if one.current else "; of another embedder, not used")
        for one in spaces
    ]


def behind(memory: Memory) -> str:
    """Say how far the vectors of the embedder at hand are behind; empty when they are not, or without one."""
    head = int(memory.head().partition(":")[0])
    left = [head - one.through for one in memory.vectors() if one.current and one.through < head]
    return f"{count(left[0], 'event')} to go" if left else ""
