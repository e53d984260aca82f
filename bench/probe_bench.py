"""How often the probe of notes is right, by kind, beside a probe that looks for pieces of the source.

    python bench/probe_bench.py                       the half that the probe may be tuned on
    python bench/probe_bench.py --failures            ... with every case that it gets wrong
    python bench/probe_bench.py --half held-out       the other half: measured, and then open to tuning
    python bench/probe_bench.py --half unseen         kinds of which the dev half has nothing: the same
    python bench/probe_bench.py --half fresh          a set made after these were used up: the same
    python bench/probe_bench.py --half second         another one, made from the definitions alone: the same
    python bench/probe_bench.py --half third          the newest one, for the report alone: no case is shown
    python bench/probe_bench.py --write bench/PROBE.md    all six, as a report

The set and its gold: bench/probe_set. Leaves with 1 when less than 95 % are right or more
than 2 % of the silent failures are missed, in either half or in one of the three later sets; the kinds
called unseen are measured and bound by no limit. No model, no data.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from firsthand.value import value
from firsthand_evals.stats import Rate, rate
from machine import describe
from probe_set.case import Case, half_of
from probe_set.cases import cases
from probe_set.fresh import fresh
from probe_set.gold import REGIMES, Regime
from probe_set.second import second
from probe_set.third import third
from probe_set.unseen import unseen

RIGHT_MIN = 0.95
MISSED_MAX = 0.02
PIECE = 18
"""Characters of a piece of the source: as much as the public harness looks for (reclaim.md, 4d)."""

PARTS = {
    "dev": "The dev half",
    "held-out": "The held-out half",
    "unseen": "Kinds of other subjects",
    "fresh": "The fresh set",
    "second": "The second set",
    "third": "The third set",
}
NEVER_SHOWN = "third"
SILENT: Regime = "uncorrectable_silent"

INTRODUCTION = """\
A probe reads a note and says whether what was concluded can still be corrected: from the note's own text
(*correctable*), with what its pointers lead to (*reachable*), not, and the note says so (*loud*), or not, and it
looks as if it were whole (*silent*). The set was made before the probe: a session, a note and a verdict that is
computed from the facts that were put into the note, never from its text (`bench/probe_set/gold.py`, with what was
decided where the definition leaves room); those of the kind *hand* are written by hand, each verdict argued.
One half of each kind was there to tune on, by the hash of its ids; the other half and twelve further kinds, of
other subjects, were measured once and were then open to tuning too. *The fresh set* was made after that, by somebody
who has not read the probe: twenty-seven further kinds and ninety-six notes by hand, of other subjects, words and forms.
*The second set* was made later still, from the definitions alone, with a solver that finds its gold again
(`bench/probe_second_check.py`): thirty-six further kinds and two hundred notes by hand; measured, and then open to
tuning. *The third set* came after that, in the same way (`bench/probe_third_check.py`), with its subjects weighted as
an agent's memory meets them: thirty-six further kinds and 199 notes by hand. It is measured once, and it alone says
how the probe does on what it was not made for. *Pieces* is a probe that looks for 18 characters
of the source, as the public harness of the paper does; it follows no pointer. *Named*: of what is missing in notes
rightly called uncorrectable, the share that the verdict names in the session's words. The notes are made for this
set: what the figures say of notes that a model wrote, they say by likeness alone."""


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
    parser.add_argument("--half", choices=tuple(PARTS), default="dev")
    parser.add_argument("--kind", nargs="+", default=(), help="these kinds alone; the limits still count")
    parser.add_argument("--failures", action="store_true", help="show what was wrong; not of the third set")
    parser.add_argument("--write", type=Path, help="measure everything and write the report into this file")
    chosen = parser.parse_args(argv)
    if chosen.failures and chosen.half == NEVER_SHOWN:
        parser.error("the newest set is not looked at: --failures shows the others alone")
    if chosen.write:
        return written(chosen.write, judge or probe_of_firsthand())
    part = part_of(chosen.half)
    known = {case.kind for case in part}
    if unknown := sorted(set(chosen.kind) - known):
        parser.error(f"no such kind: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    picked = [case for case in part if not chosen.kind or case.kind in chosen.kind]
    ours, plain = measured(picked, judge or probe_of_firsthand()), measured(picked, pieces)
    print("\n".join([f"{PARTS[chosen.half]}: {count(ours)}", "", *report(ours, plain)]))
    if chosen.failures:
        print("\n".join(failures(ours)))
    return 0 if good(ours) or chosen.half == "unseen" else 1


def written(path: Path, judge: Judge) -> int:
    """Measure all parts and write the report."""
    parts = {half: part_of(half) for half in ("third", "second", "fresh", "held-out", "dev", "unseen")}
    found = {half: measured(part, judge) for half, part in parts.items()}
    rows = [
        "# How often the probe is right", "",
        f"`python bench/probe_bench.py --write bench/PROBE.md`, {datetime.now(UTC):%Y-%m-%d}; "
        + describe(path.resolve().parent) + ".", "",
        *INTRODUCTION.splitlines(), "",
        *overview(found),
    ]  # fmt: skip
    for half, ours in found.items():
        rows += ["", f"## {PARTS[half]}: {count(ours)}", "", *report(ours, measured(parts[half], pieces))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print("\n".join(f"{PARTS[half]}: right {ours.right()}; missed {ours.missed()}" for half, ours in found.items()))
    return 0 if all(good(found[half]) for half in ("dev", "held-out", "fresh", "second", "third")) else 1


def part_of(half: str) -> list[Case]:
    """Give the cases of one part of the set."""
    later: dict[str, Callable[[], Sequence[Case]]] = {"fresh": fresh, "second": second, "third": third}
    if half in later:
        return list(later[half]())
    return list(unseen()) if half == "unseen" else half_of(cases(), "dev" if half == "dev" else "held-out")


def probe_of_firsthand() -> Judge:
    """Give the probe under test."""
    from firsthand.notes.probe import probe

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


def overview(found: Mapping[str, Measured]) -> list[str]:
    """Write one table with a column for each part."""
    measures: dict[str, Callable[[Measured], object]] = {
        "notes": lambda ours: len(ours.said), "kinds": lambda ours: len({case.kind for case, _ in ours.said}),
        "right": Measured.right, "silent failures missed": Measured.missed, "others called silent": Measured.alarms,
    }  # fmt: skip
    return [
        "| | " + " | ".join(PARTS[half] for half in found) + " |",
        "|---" * (len(found) + 1) + "|",
        *(
            f"| {name} | " + " | ".join(str(of(ours)) for ours in found.values()) + " |"
            for name, of in measures.items()
        ),
    ]


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


def failures(ours: Measured) -> list[str]:
    """Write each case that was judged wrongly, whole."""
    found = []
    for case, said in ours.said:
        if said.regime == case.gold:
            continue
        found += [f"\n== {case.id}: is {case.gold}, was called {said.regime}; claim: {case.claim}"]
        found += [f"  missing: {case.missing}; named: {said.missing}"]
        found += [f"  {message['role']} [{message['pointer']}]: {message['content']}" for message in case.messages]
        found += ["  NOTE: " + case.note]
    return found


if __name__ == "__main__":
    sys.exit(main())
