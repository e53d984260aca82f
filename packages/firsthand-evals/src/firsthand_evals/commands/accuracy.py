"""How often the probe of notes is right, on a set whose notes nobody who works on it has read.

    python -m firsthand_evals.commands.accuracy                          the probe of this package, no model
    python -m firsthand_evals.commands.accuracy --checker ./mine.py:judge   any other: judge(case) -> regime
    python -m firsthand_evals.commands.accuracy --markdown FILE          as a report

A checker is given a case, a mapping with ``note``, ``messages``, ``claim`` and ``expand``
(texts by pointer), and gives one of the four regimes.

Exits with 1 when fewer than 95 % are right or more than 2 % of the silent failures are missed. Neither the table nor
the report shows a note. `probe/third_set.jsonl.gz` holds a session, a note, its verdict and that of a search for 18
characters of the source in each line; commit d36c38b has what made it (`bench/probe_set`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument
from firsthand_evals.probe.probe import REGIMES, probe
from firsthand_evals.reclaim import seam
from firsthand_evals.stats import rate

SET = Path(__file__).parents[1] / "probe" / "third_set.jsonl.gz"
RIGHT_MIN, MISSED_MAX = 0.95, 0.02
SILENT = "uncorrectable_silent"
_HIDDEN = {"gold", "missing", "pieces"}
"""What a checker is not told of a case."""
LOOKED_AT = """\
Looked at while tuning: nothing of this set. It is measured, and no note of it is shown. A probe of 9,000 lines that
read sentences by rule (commit d36c38b) had .735 [.703, .765] right on it, 49 of 221 silent failures missed and .184 of
the others called silent; it is not here any more, since no rule here reads what a sentence means."""

Case = dict[str, Any]
Judge = Callable[[Case], str]


def cases() -> list[Case]:
    """Read the set."""
    return [json.loads(line) for line in gzip.decompress(SET.read_bytes()).splitlines()]


def judge(case: Case) -> str:
    """Give the probe's verdict on a case."""
    return probe(case["note"], case["messages"], claim=case["claim"], expand=case["expand"].get).regime


def verdicts(rows: Sequence[Case], ask: Judge) -> list[tuple[str, str]]:
    """Pair the gold verdict of each case with the one that is given; an error names its case."""
    pairs: list[tuple[str, str]] = []
    for case in rows:
        try:
            given = ask({name: it for name, it in case.items() if name not in _HIDDEN})
        except Exception as error:
            error.add_note(f"on the case {case['id']}")
            raise
        if given not in REGIMES:
            raise InvalidArgument(f"a checker gives one of {', '.join(REGIMES)}; got {given!r:.80} on {case['id']}")
        pairs.append((case["gold"], given))
    return pairs


def is_good(pairs: Sequence[tuple[str, str]]) -> bool:
    """Say whether both limits are kept; no case keeps none."""
    right, silent = sum(gold == given for gold, given in pairs), [given for gold, given in pairs if gold == SILENT]
    return right >= RIGHT_MIN * len(pairs) > 0 and sum(given != SILENT for given in silent) <= MISSED_MAX * len(silent)


def table(ours: Sequence[tuple[str, str]], pieces: Sequence[tuple[str, str]]) -> list[str]:
    """Write the shares of both, and what the probe said of each regime, in Markdown."""
    lines = ["| | checker | pieces of 18 characters |", "|---|---|---|"]
    for name, among, wrong in (("right", REGIMES, ()), ("silent failures missed", (SILENT,), (SILENT,)),
                               ("others called silent", REGIMES[:3], ())):  # fmt: skip
        cells = []
        for pairs in (ours, pieces):
            chosen = [(gold, given) for gold, given in pairs if gold in among]
            hits = (given == SILENT if name.startswith("others") else (gold == given) != bool(wrong)
                    for gold, given in chosen)  # fmt: skip
            cells.append(str(rate(sum(hits), len(chosen))))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    counts = Counter(ours)
    lines += ["", f"| gold \\ said | {' | '.join(REGIMES)} |", "|---" * (len(REGIMES) + 1) + "|"]
    lines += [f"| {gold} | {' | '.join(str(counts[gold, regime]) for regime in REGIMES)} |" for gold in REGIMES]
    kept = "kept" if is_good(ours) else "NOT kept"
    return [*lines, "", f"At least {RIGHT_MIN:.0%} right, at most {MISSED_MAX:.0%} missed: {kept}."]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and, when asked, write the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the report into this file")
    parser.add_argument("--checker", metavar="FILE:NAME", help="judge by ./FILE.py:NAME or MODULE:NAME instead")
    chosen = parser.parse_args(argv)
    rows = cases()
    ours = verdicts(rows, seam.named(chosen.checker) if chosen.checker else judge)
    lines = table(ours, [(case["gold"], case["pieces"]) for case in rows])
    head = f"{len(rows)} notes of {len({case['kind'] for case in rows})} kinds"
    sys.stdout.write("\n".join([head, "", *lines, ""]))
    if chosen.markdown:
        command = f"`python -m firsthand_evals.commands.accuracy --markdown FILE`, {datetime.now(UTC):%Y-%m-%d}"
        report = ["# How often the probe is right", "", LOOKED_AT, "", f"{command}: {len(rows)} notes.", "", *lines, ""]
        chosen.markdown.write_text("\n".join(report), encoding="utf-8")
    return 0 if is_good(ours) else 1


if __name__ == "__main__":
    sys.exit(main())
