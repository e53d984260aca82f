"""The commands that prove and repair: verify and rebuild."""

from __future__ import annotations

import argparse
import time

from firsthand import Verification
from firsthand.cli import following, json_forms
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DAMAGED, DONE
from firsthand.cli.heads import read_kept
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read, to_write

PROBLEMS_SHOWN = 100


def verify(chosen: argparse.Namespace, out: Output) -> int:
    """Verify the store and say what is wrong with it."""
    started = time.monotonic()
    with to_read(chosen) as memory:
        kept = [read_kept(text, memory, chosen.key) for text in chosen.head]
        found = memory.verify(
            heads=[head.head for head in kept],
            deep=True if chosen.deep else None,
            progress=lambda done, total: out.progress(lambda: f"verified {done:,} of {total:,} events"),
        )
    if out.as_json:
        out.json(json_forms.of_verification(found))
    else:
        for head in kept:
            if head.key:
                out.line(f"head of position {head.head.partition(':')[0]}, signed with the key {head.key}")
        say(found, time.monotonic() - started, out)
    return DONE if found.ok else DAMAGED


def say(found: Verification, seconds: float, out: Output) -> None:
    """Say what a verification saw, for people."""
    for problem in found.problems[:PROBLEMS_SHOWN]:
        out.line(f"{out.style('wrong', 'bad')}  {shown(str(problem))}")
    if len(found.problems) > PROBLEMS_SHOWN:
        out.line(f"... {len(found.problems) - PROBLEMS_SHOWN:,} further problems: --json")
    for loss in found.losses:
        out.line(f"{out.style('lost', 'warn')}  {shown(str(loss))}")
    for note in found.notes:
        out.line(f"note  {shown(note)}")
    whole = f"{count(found.events, 'event')} in {count(found.sessions, 'session')}"
    state = out.style("ok", "good") if found.ok else out.style(count(len(found.problems), "problem"), "bad")
    erased = f" ({found.erased:,} erased)" if found.erased else ""
    out.line(f"{state}: {whole}{erased} and {count(found.artifacts, 'artifact')} are whole ({seconds:.1f} s)")
    out.line(f"head  {found.head}")


def rebuild(chosen: argparse.Namespace, out: Output) -> int:
    """Build the indexes anew."""
    started = time.monotonic()
    with to_write(chosen, create=False) as memory:
        rebuilt = memory.rebuild(
            progress=lambda done, total: out.progress(lambda: f"indexed through position {done:,} of {total:,}")
        )
        behind = following.behind(memory)
    if behind:
        out.remark(f"vectors were dropped and follow behind ({behind}): firsthand follow")
    if out.as_json:
        out.json({"indexed": rebuilt.events, "damaged": list(rebuilt.damaged)})
    else:
        out.line(f"indexed {count(rebuilt.events, 'event')} anew in {time.monotonic() - started:.1f} s")
        if rebuilt.damaged:
            places = ", ".join(map(str, rebuilt.damaged[:PROBLEMS_SHOWN]))
            left_out = f"{count(len(rebuilt.damaged), 'damaged event')} left out, at position {places}"
            out.line(f"{out.style(left_out, 'bad')}: firsthand verify says what is wrong")
    return DAMAGED if rebuilt.damaged else DONE
