"""What does it cost, and what is it worth, that no tool and no session fills a page of recall?

    python bench/quota_bench.py                            a flood of near-duplicates, made here
    python bench/quota_bench.py --data DATA [--report]     also real sessions, whose hits are mostly tools' results

The flood: 40 things that a user said of settings, and a tool's result in many spellings that says each of them
otherwise, 60 times. Asked for a setting, is what the user said among the first ten hits? Real sessions: the share
of the names that an agent used next which the hits hold, and whether a call and its result both come. Each is asked
with the quota of `firsthand.recall.quota` and without it, in one run, and timed.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from ablation_sets import TASK_SETS, cases, held, imported
from firsthand import Draft, Kind, Memory, Query, Scope, Trust
from firsthand.recall import search
from quality.measures import difference, estimate

REPORT = Path(__file__).with_name("QUOTA.md")
HITS, CASES, PAIRS = 10, 120, 100
THINGS, COPIES = 40, 60
NAMES = ("port", "host", "owner", "region", "limit", "bucket", "branch", "queue")
OF = ("billing", "search", "mobile", "report", "staging")
Values = tuple[list[float], list[float]]
"""With the quota, and without."""


def without() -> Any:
    """Switch the quota off."""
    return mock.patch.object(search._Answering, "_within_quota", lambda _, ranked: ranked)


def both(ask: Callable[[], float], values: Values, times: Values) -> None:
    """Ask with the quota and without it, and note what came and how long it took, in milliseconds."""
    for which in (0, 1):
        begun = time.perf_counter()
        if which:
            with without():
                values[which].append(ask())
        else:
            values[which].append(ask())
        times[which].append((time.perf_counter() - begun) * 1000)


def flood() -> tuple[str, Values, Values]:
    """Ask for what a user said under a flood."""
    chance = random.Random(7)
    values, times = ([], []), ([], [])
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store", embedder="none") as memory:
        said = {}
        for number in range(THINGS):
            thing = f"{NAMES[number % len(NAMES)]} of the {OF[number // len(NAMES)]} service"
            said[thing] = memory.session(f"talk-{number}").user(f"The {thing} is v{number}x.").pointer
        drafts = []
        for number in range(COPIES):
            for thing in said:
                text = f"The {thing} is evil{'!' * (number % 7)}{' ' * chance.randint(1, 5)}"
                text = text.upper() if number % 3 else text
                drafts.append(Draft(Kind.TOOL_RESULT, text.encode(), origin="tool:fetch", trust=Trust.UNTRUSTED))
        for at in range(0, len(drafts), 400):
            memory.append(drafts[at : at + 400], session=f"fetched-{at}")
        for other, pointer in said.items():
            question = Query(f"what is the {other}?", hits_max=HITS)
            both(lambda: float(pointer in [hit.pointer for hit in memory.recall(question).hits]), values, times)  # noqa: B023
    return "found under a flood", values, times


def real(data: Path) -> Iterator[tuple[str, Values, Values]]:
    """Ask what an agent used next in real sessions, and for calls with their results."""
    for name, kind in TASK_SETS.items():
        values, times, paired, at = ([], []), ([], []), ([], []), ([], [])
        with tempfile.TemporaryDirectory() as folder, imported(Path(folder) / "store", data / name) as memory:
            for case in cases(memory, kind)[:CASES]:
                query = Query(
                    case.query, Scope(before_position=case.position), hits_max=HITS, conditions=case.conditions,
                    attempts_max=1, deadline_ms=60_000,
                )  # fmt: skip
                both(lambda: held(memory, [hit.pointer for hit in memory.recall(query).hits], case.used), values, times)  # noqa: B023
            for question, members in _calls(memory):
                wanted = Query(question, hits_max=HITS, attempts_max=1, deadline_ms=60_000)
                both(lambda: float(members <= {hit.pointer for hit in memory.recall(wanted).hits}), paired, at)  # noqa: B023
        yield f"names held, {name}", values, times
        yield f"call and result, {name}", paired, at


def _calls(memory: Memory) -> Iterator[tuple[str, set[str]]]:
    """Yield calls in some of their words, with the pointers of call and result."""
    members: dict[tuple[str, Any], set[str]] = {}
    words: dict[tuple[str, Any], str] = {}
    for one in memory.events():
        key = one.session, one.meta.get("call_id")
        if one.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT} and key[1] and one.is_searchable:
            members.setdefault(key, set()).add(f"fh:{one.id}")
            if one.kind is Kind.TOOL_CALL:
                told = "".join(sign if sign.isalnum() or sign in "_-." else " " for sign in one.text).split()
                words[key] = " ".join([word for word in dict.fromkeys(told) if len(word) > 3][:12])
    whole = [key for key, both_ in members.items() if len(both_) == 2 and len(words.get(key, "")) > 20]
    for key in random.Random(3).sample(whole, min(PAIRS, len(whole))):
        yield words[key], members[key]


def row(name: str, values: Values, times: Values) -> str:
    """Write one row."""
    with_, without_ = (estimate(one).mean for one in values)
    less = difference(*values)
    apart = f"{less.mean:+.3f} [{less.low:+.3f}, {less.high:+.3f}]"
    ms = " / ".join(f"{statistics.median(one):.1f}" for one in times)
    return f"| {name} | {len(values[0])} | {with_:.3f} | {without_:.3f} | {apart} | {ms} |"


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder that holds pi-sessions, tau-airline and swe-agent")
    parser.add_argument("--report", action="store_true", help=f"write {REPORT.name}")
    chosen = parser.parse_args()
    rows = [row(*flood()), *(row(*one) for one in (real(chosen.data) if chosen.data else ()))]
    told = "\n".join([
        "# Quotas by origin in recall", "",
        "By `python bench/quota_bench.py --data DATA --report`: the same questions with the quota and without it.", "",
        "| asked | n | with | without | difference, 95 % | ms, median: with / without |", "|---|--:|--:|--:|---|--:|",
        *rows,
    ]) + "\n"  # fmt: skip
    if chosen.report:
        REPORT.write_text(told, encoding="utf-8")
    sys.stdout.write(told)


if __name__ == "__main__":
    main()
