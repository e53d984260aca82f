"""How often the probe of notes is right, by kind, beside a probe that looks for pieces of the source.

    python bench/probe_bench.py                         the set, which is measured and never looked at
    python bench/probe_bench.py --write bench/PROBE.md  as a report

The set and its gold: bench/probe_set. Leaves with 1 when less than 95 % are right or more
than 2 % of the silent failures are missed. No model, no data.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from firsthand.value import value
from firsthand_evals.stats import Rate, rate
from machine import describe
from probe_set.case import Case
from probe_set.gold import REGIMES, Regime
from probe_set.third import third

RIGHT_MIN = 0.95
MISSED_MAX = 0.02
PIECE = 18
"""Characters of a piece of the source: as much as the public harness looks for (reclaim.md, 4d)."""

SILENT: Regime = "uncorrectable_silent"

INTRODUCTION = """\
Nothing of this set was looked at while the probe was made: it is measured, and no note of it is shown. The four sets
before it, on which the probe was tuned (.950 to .993 right there), are in commit d36c38b.

A probe reads a note and says whether what was concluded can still be corrected: from the note's own text
(*correctable*), with what its pointers lead to (*reachable*), not, and the note says so (*loud*), or not, and it
looks as if it were whole (*silent*). The set is a session, a note and a verdict that is computed from the facts that
were put into the note, never from its text (`bench/probe_set/gold.py`, with what was decided where the definition
leaves room), and found again by a solver of its own (`bench/probe_third_check.py`); its subjects are weighted as an
agent's memory meets them. *Pieces* is a probe that looks for 18 characters of the source, as the public harness of
the paper does; it follows no pointer. *Named*: of what is missing in notes rightly called uncorrectable, the share
that the verdict names in the session's words. The notes are made for this set: what the figures say of notes that a
model wrote, they say by likeness alone."""


@value
class Said:
    """A verdict: the regime, and what is missing, in words."""

    regime: Regime
    missing: Sequence[str] = ()


Judge = Callable[[Case], Said]


@value
class Measured:
    """What one probe said of some cases.

    Attributes:
        said: case and what was said of it.
        seconds: for all of them.
    """

    said: Sequence[tuple[Case, Said]]
    seconds: float

    def right(self, kind: str = "") -> Rate:
        """Share of right verdicts, of one kind or of all."""
        verdicts = [case.gold == said.regime for case, said in self.said if kind in {"", case.kind}]
        return rate(sum(verdicts), len(verdicts))

    def missed(self, kind: str = "") -> Rate:
        """Share of silent failures that were called something else."""
        silent = [said.regime for case, said in self.said if case.gold == SILENT and kind in {"", case.kind}]
        return rate(sum(said != SILENT for said in silent), len(silent))

    def alarms(self) -> Rate:
        """Share of the other notes that were called silent failures."""
        others = [said.regime for case, said in self.said if case.gold != SILENT]
        return rate(sum(said == SILENT for said in others), len(others))

    def named(self) -> Rate:
        """Share of what is missing that was named, of notes rightly called uncorrectable.

        What is missing is looked for by the set's own name, and only where the session uses it.
        """
        found = []
        for case, said in self.said:
            if case.gold == said.regime and case.missing:
                session = " ".join(message["content"] for message in case.messages).lower()
                told = " ".join(said.missing).lower()
                found += [name.lower() in told for name in case.missing if name.lower() in session]
        return rate(sum(found), len(found))


def main(argv: Sequence[str] | None = None, judge: Judge | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", nargs="+", default=(), help="these kinds alone; the limits still count")
    parser.add_argument("--write", type=Path, help="write the report into this file")
    chosen = parser.parse_args(argv)
    known = {case.kind for case in third()}
    if unknown := sorted(set(chosen.kind) - known):
        parser.error(f"no such kind: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    picked = [case for case in third() if not chosen.kind or case.kind in chosen.kind]
    ours, plain = measured(picked, judge or probe_of_firsthand()), measured(picked, pieces)
    print("\n".join([count(ours), "", *report(ours, plain)]))
    if chosen.write:
        command = f"`python bench/probe_bench.py --write bench/PROBE.md`, {datetime.now(UTC):%Y-%m-%d}; "
        rows = [
            "# How often the probe is right", "", *INTRODUCTION.splitlines(), "",
            f"{command}{describe(chosen.write.resolve().parent)}: {count(ours)}.", "", *report(ours, plain),
        ]  # fmt: skip
        chosen.write.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return 0 if good(ours) else 1


def probe_of_firsthand() -> Judge:
    """Give the probe under test."""
    from firsthand_evals.probe.probe import probe

    def judged(case: Case) -> Said:
        verdict = probe(case.note, case.messages, claim=case.claim, expand=case.expand.get)
        return Said(verdict.regime, verdict.missing)

    return judged


def measured(picked: Iterable[Case], judge: Judge) -> Measured:
    """Ask for a verdict on each case.

    Raises:
        Exception: whatever the probe raised, with the case that it was raised on.
    """
    said, begun = [], time.perf_counter()
    for case in picked:
        try:
            said.append((case, judge(case)))
        except Exception as error:
            error.add_note(f"on the case {case.id}")
            raise
    return Measured(said, time.perf_counter() - begun)


def good(ours: Measured) -> bool:
    """Whether the limits are kept."""
    right, missed = ours.right(), ours.missed()
    return right.n > 0 and right.hits >= RIGHT_MIN * right.n and missed.hits <= MISSED_MAX * missed.n


# the baseline -------------------------------------------------------------------------------------------


def pieces(case: Case) -> Said:
    """Judge as a probe of substrings does: a piece of the source stands in the note, or the conclusion does.

    The source is the longest message of the user or of a tool; the conclusion is each number,
    or else each capitalised word, of the agent's first message after it. It follows no pointer.
    """
    said = [message["content"] for message in case.messages]
    given = [place for place, message in enumerate(case.messages) if message["role"] != "assistant"]
    place = max(given, key=lambda at: len(said[at]))
    words = [at for at in range(len(said[place])) if at == 0 or said[place][at - 1].isspace()]
    if any(said[place][at : at + PIECE] in case.note for at in words if len(said[place]) - at >= PIECE):
        return Said("correctable")
    after = next((said[at] for at in range(place + 1, len(said)) if case.messages[at]["role"] == "assistant"), "")
    stripped = [word.strip(".,;:!?$€£") for word in after.split()]
    concluded = [word for word in stripped if any(letter.isdigit() for letter in word)]
    concluded = concluded or [word for word in stripped[1:] if word[:1].isupper()]
    return Said(SILENT if any(word in case.note for word in concluded) else "uncorrectable_loud")


# what is printed ----------------------------------------------------------------------------------------


def count(ours: Measured) -> str:
    """Say how many notes there were and how long one took."""
    n = len(ours.said)
    kinds = {case.kind for case, _ in ours.said}
    return f"{n} notes of {len(kinds)} kinds, {1000 * ours.seconds / max(1, n):.1f} ms a note"


def report(ours: Measured, plain: Measured) -> list[str]:
    """Write the tables, in Markdown."""
    kinds = sorted({case.kind for case, _ in ours.said})
    return [
        "| | probe | pieces of 18 characters |",
        "|---|---|---|",
        f"| right | {ours.right()} | {plain.right()} |",
        f"| silent failures missed | {ours.missed()} | {plain.missed()} |",
        f"| others called silent | {ours.alarms()} | {plain.alarms()} |",
        f"| what is missing, named | {ours.named()} | {plain.named()} |",
        "",
        "| kind | n | probe right | silent missed | pieces right |",
        "|---|---|---|---|---|",
        *(
            f"| {kind} | {ours.right(kind).n} | {ours.right(kind).hits} | "
            f"{ours.missed(kind).hits} of {ours.missed(kind).n} | {plain.right(kind).hits} |"
            for kind in kinds
        ),
        "",
        *confusion(ours),
        "",
        f"At least {RIGHT_MIN:.0%} right, at most {MISSED_MAX:.0%} missed: {'kept' if good(ours) else 'NOT kept'}.",
    ]


def confusion(ours: Measured) -> list[str]:
    """Write what was said of each regime."""
    seen = Counter((case.gold, said.regime) for case, said in ours.said)
    return [
        "| gold \\ said | " + " | ".join(REGIMES) + " |",
        "|---" * (len(REGIMES) + 1) + "|",
        *(f"| {gold} | " + " | ".join(str(seen[gold, said]) for said in REGIMES) + " |" for gold in REGIMES),
    ]


if __name__ == "__main__":
    sys.exit(main())
