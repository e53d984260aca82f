"""What the review of recalls would change on real questions, and what that brings on others of the same store.

Each store holds conversations, and afterwards a user asks half of the questions that people put
to them, each in a session with hooks: what implicit recall answers is recorded as the hook does, and
the agent cites what answers the question. So the review has a log as it would find one, and no labels
but what the log shows. Then the other half, which it never saw, is asked before and after.

The signs are cleaner than life: every question that was asked is answered with a citation.

Run: ``python bench/review_bench.py --data DATA``; it writes REVIEW.md beside itself, or what ``--out`` names. With
``--begun-wrong`` a wrong value is in force at first, and REVIEW-WRONG.md tells what the review does about it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from firsthand import Draft, Kind, Memory, Moment, Outcome, Query, Scope, Trust, TuningDecision, tuning_of
from firsthand.consolidate.trials import COST, Interval, Trial, difference
from firsthand.event import IdMaker
from firsthand.lifecycle.reviewing import Reviewed, review
from firsthand.recall.kept_tuning import tuned_of
from firsthand.recall.tuning import basis_of
from firsthand.value import replace
from quality.ours import APPENDED, Store, _draft
from quality.sets import READERS
from quality.values import HITS, Question, Said, Talk

SEED = 20_261_121
STEP_US = 60_000_000
NIGHTS = 1
SHOWN = 3
SECONDS = 600.0
WRONG: tuple[dict[str, float], ...] = ({"gate_shift": 1.0}, {"gate_shift": -1.0}, {"mmr_lambda": 0.5})
ALONE_QUESTIONS = 80
"""A conversation that was asked fewer is only in the store of all."""
LOOKUPS = 500


@dataclass(frozen=True, slots=True)
class Figures:
    """What one question brought: the share of its evidence among ten hits, and the worth of its outcome."""

    recall: float
    worth: float
    answerable: bool
    found: bool


@dataclass(frozen=True, slots=True)
class Case:
    """One store: what the review saw and changed, night by night, and what it brought."""

    name: str
    nights: tuple[Reviewed, ...]
    before: tuple[Figures, ...]
    after: tuple[Figures, ...]
    seconds: float
    tuned: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds locomo/, beam-100k/ ...")
    parser.add_argument("--out", type=Path, help="the report; default beside this file")
    parser.add_argument(
        "--begun-wrong", action="store_true", help="put wrong values in force first; writes REVIEW-WRONG.md"
    )
    parser.add_argument("--only", nargs="*", default=["locomo", "beam-100k"], choices=sorted(READERS))
    parser.add_argument("--talks", type=int, default=1_000, help="of each set, at most")
    chosen = parser.parse_args()
    cases: list[Case] = []
    for name in chosen.only:
        talks = READERS[name](chosen.data)[: chosen.talks]
        alone = [[one] for one in talks] if len(talks[0].questions) >= ALONE_QUESTIONS else []
        runs: list[tuple[str, Sequence[Talk], dict[str, float]]] = [
            *((f"{name} {number}", some, {}) for number, some in enumerate(alone)), (f"{name}, together", talks, {})
        ]  # fmt: skip
        if chosen.begun_wrong:
            runs = [
                (f"{name}, {' '.join(f'{which} {at:g}' for which, at in one.items())}", talks, one) for one in WRONG
            ]
        for title, some, start in runs:
            cases.append(run(title, some, start))
            print(told(cases[-1]), flush=True)
    text = WRONG_HEAD + report(cases) if chosen.begun_wrong else HEAD + report(cases) + lookups()
    file = "REVIEW-WRONG.md" if chosen.begun_wrong else "REVIEW.md"
    (chosen.out or Path(__file__).with_name(file)).write_text(text, encoding="utf-8")
    print(text)


def apart(talk: Talk, number: int) -> Talk:
    """Give a talk sessions of its own, so that several fit into one store."""
    return Talk(
        talk.name,
        tuple(dataclasses.replace(one, session=f"{number}-{one.session}") for one in talk.said),
        talk.questions,
        talk.half,
    )


def begin_with(memory: Memory, start: Mapping[str, float]) -> None:
    """Put values in force that nothing speaks for."""
    ids, basis = IdMaker(), basis_of(memory._gate())
    now = tuning_of(memory).at()
    tuning_of(memory).keep(
        [TuningDecision(ids(), name, now.get(name), after, basis=basis) for name, after in start.items()]
    )


class Own(Store):
    """A talk as its people said it themselves, a user on one side and an agent on the other: nothing came by a tool."""

    def _append(self, session: str, said: Sequence[tuple[int, Said]]) -> None:
        for start in range(0, len(said), APPENDED):
            part = said[start : start + APPENDED]
            trusts = [Trust.TRUSTED if one.user else Trust.AGENT for _, one in part]
            drafts = [replace(_draft(one), trust=trust) for (_, one), trust in zip(part, trusts, strict=True)]
            for (number, one), at in zip(part, self._memory.append(drafts, session=session), strict=True):
                self._number[at.position] = number
                self._unit[str(at.pointer)] = one.unit


def run(name: str, talks: Sequence[Talk], start: Mapping[str, float]) -> Case:
    """Ask half of the questions, review night by night, and ask the other half before and after.

    Args:
        start: values that are in force before the first night, as if somebody had decided so.
    """
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store", embedder="none") as memory:
        talks = [apart(talk, number) for number, talk in enumerate(talks)]
        stores = [Own(memory, talk) for talk in talks]
        chance = random.Random(SEED)
        asked, kept = [], []
        for store, talk in zip(stores, talks, strict=True):
            drawn = list(talk.questions)
            chance.shuffle(drawn)
            half = len(drawn) // 2
            asked += [(store, one) for one in drawn[:half]]
            kept += [(store, one) for one in drawn[half:]]
        through = int(memory.head().partition(":")[0])
        for number, (store, one) in enumerate(asked):
            record(memory, store, one, number, through)
        begin_with(memory, start)
        before = tuple(figures(memory, store, one, through) for store, one in kept)
        begun = time.process_time()
        nights = tuple(review(memory, deadline=time.monotonic() + SECONDS, keep=True) for _ in range(NIGHTS))
        seconds = time.process_time() - begun
        after = tuple(figures(memory, store, one, through) for store, one in kept)
        changed = memory.recall(Query("what is in force")).tuned
        assert not memory.verify(deep=False).problems
    return Case(name, nights, before, after, seconds, changed)


def record(memory: Memory, store: Own, question: Question, number: int, through: int) -> None:
    """Have a user ask a question, as a host with hooks records it; the agent cites the evidence."""
    when = Moment(1_790_000_000_000_000 + number * STEP_US)
    session = memory.session(f"asked:{number}")
    answer = memory.recall(Query(question.text, Scope(before_position=through + 1), hits_max=8, attempts_max=1))
    passed = answer.outcome is Outcome.FOUND
    shown = [hit.pointer for hit in answer.hits[:SHOWN]] if passed else []
    session.user(question.text, time=when)
    told = json.dumps({"outcome": answer.outcome.value, "shown": shown}).encode()
    meta = {"event": "prompt", "source": "", "host": "bench", "nonce": ""}
    memory.append(
        [Draft(Kind.INJECTION, told, "application/json", meta, origin="firsthand", trust=Trust.TRUSTED, time=when)],
        session=session.name,
    )
    evidence = [pointer for pointer, unit in store._unit.items() if unit in question.evidence]
    session.agent(f"See {', '.join(evidence)}." if evidence else "I do not know that.", time=when)


def figures(memory: Memory, store: Own, question: Question, through: int) -> Figures:
    """Ask as implicit recall asks, of the conversations alone."""
    query = Query(question.text, Scope(before_position=through + 1), hits_max=HITS, attempts_max=1, deadline_ms=60_000)
    answer = memory.recall(query)
    units = [store._unit.get(hit.pointer, "") for hit in answer.hits]
    held = question.evidence & frozenset(units)
    right = bool(question.evidence & frozenset(units[:SHOWN]))
    found = answer.outcome is Outcome.FOUND
    share = len(held) / len(question.evidence) if question.evidence else 0.0
    return Figures(share, (1.0 if right else -COST) if found else 0.0, bool(question.evidence), found)


def gain(case: Case, of: str) -> Interval:
    """Give the paired difference of a figure on the questions that the review never saw."""
    rows = [at for at, one in enumerate(case.before) if one.answerable or of == "worth"]
    sides = (case.before, case.after)
    old, new = ([float(getattr(side[at], of)) for at in rows] for side in sides)
    return difference(old, new)


def told(case: Case) -> str:
    lines = [f"{case.name}: {case.tuned or 'nothing changed'}, {case.seconds:.0f} s of the processor"]
    lines += [f"    {sentence}" for night in case.nights for sentence in night.sentences]
    lines += [f"    unseen: recall@10 {gain(case, 'recall')}, worth {gain(case, 'worth')}"]
    return "\n".join(lines)


def report(cases: Sequence[Case]) -> str:
    """Write the tables."""
    rows = [
        "| store | questions asked, mined | tried | taken | in force | recall@10 | gain | worth | gain | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case in cases:
        tried: list[Trial] = [one for night in case.nights for one in night.trials]
        force = ", ".join(f"{name} {now:g}" for name, now in case.tuned.items()) or "the defaults"
        recall = fmean([one.recall for one in case.before if one.answerable])
        worth = fmean([one.worth for one in case.before])
        rows.append(
            f"| {case.name} | {case.nights[0].questions}, {case.nights[0].mined} | {len(tried)} | "
            f"{sum(one.taken for one in tried)} | {force} | {recall:.3f} | {gain(case, 'recall')} | {worth:+.3f} | "
            f"{gain(case, 'worth')} | {case.seconds / len(case.nights):.0f} |"
        )
    return "\n".join(rows) + "\n" + refusals(cases)


def refusals(cases: Sequence[Case]) -> str:
    """List what was tried, and what came of it."""
    lines = ["", "What was tried on the held-out half of the asked questions:", ""]
    for case in cases:
        for number, night in enumerate(case.nights, 1):
            lines += [f"- {case.name}, night {number}: {sentence}" for sentence in night.sentences[1:]]
    return "\n".join(lines) + "\n"


def lookups() -> str:
    """Tell what a recall pays for reading the values in force."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store", embedder="none") as memory:
        memory.session("one").user("The port of billing is 8443.")
        without = lookup_us(memory)
        decision = TuningDecision(IdMaker()(), "mmr_lambda", 0.8, 0.9)
        tuning_of(memory).keep([decision])
        kept = lookup_us(memory)
        memory._log.exclusively(lambda db: db.execute("DELETE FROM learned").fetchall())
        log = lookup_us(memory)
    return (
        f"\nTo read what is in force takes {without:.0f} microseconds of a recall where nothing was ever tuned, "
        f"{kept:.0f} where something is, and {log:.0f} between an erasure and the next `firsthand follow` (one "
        "decision in the log).\n"
    )


def lookup_us(memory: Memory) -> float:
    """Time the reading of what is in force, at its best of five."""
    reader, best = memory._log.reader, float("inf")
    for _ in range(5):
        begun = time.process_time()
        for _ in range(LOOKUPS):
            tuned_of(reader, memory.namespace)
        best = min(best, (time.process_time() - begun) / LOOKUPS)
    return best * 1e6


HEAD = f"""# What the review of recalls changes on real questions

`python bench/review_bench.py --data DATA`. In each store half of the questions were asked before, and the review ran
once; *recall@10* and *worth* (found and right among the first three +1, found and wrong
-{COST:g}, else 0) are of the other half, which it never saw, with the defaults; *gain* is what the values in force
bring there, with a 90 % interval from a paired bootstrap. Seconds of the processor are of one night.

"""

WRONG_HEAD = """# What the review does about values that are wrong

`python bench/review_bench.py --data DATA --only locomo --begun-wrong`. All conversations in one store, in which a wrong
value was put in force by hand before. Half of the questions were asked before, and the review ran once; *recall@10* and
*worth* are of the other half, which it never saw, with the wrong value; the gains are what the review brings over it.

"""

if __name__ == "__main__":
    main()
