"""What each kind of further attempt wins, what the ladder costs, and whether its confidence can be believed.

Sets: the questions of locomo and beam-100k; of locomo also messages of two questions, and messages
in which another turn of the talk stands before a question. Every kind is tried on every question that
it applies to, whatever the gate says of the first attempt. *Won* are questions of which the first
attempt has no evidence among its ten hits and that attempt has; *beyond* those of which the first
attempt has none among its first twenty either. A question that cannot be answered from the store
counts in the confidences alone.

Run: ``python bench/ladder_bench.py --data DATA``; it prints tables.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from firsthand import Memory, Query, Scope, moment
from firsthand.recall import ladder
from firsthand.recall.attempt import Attempt, Search
from firsthand.recall.gate import DEFAULT
from quality.ours import Store
from quality.sets import beam, locomo
from quality.values import Half, Question, Talk

HITS = 10
EVERYTHING = 1_000.0  # a cost at which no attempt passes
ATTEMPTS = (1, 2, 3, 5)
SEED = 16
MESSAGES = 35  # of each kind, a talk
MESSAGE_WORDS = (20, 80)


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt at one question.

    Attributes:
        judged, own: its confidence against the question as asked, and against its own words; both uncorrected.
        units: of its ranking, best first.
    """

    how: str
    judged: float
    own: float
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with all its attempts, and the page by how many were allowed."""

    half: Half
    evidence: frozenset[str]
    tries: tuple[Tried, ...]
    pages: dict[int, tuple[tuple[str, ...], float, float]]  # units, confidence, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds locomo/ and beam-100k/")
    data = parser.parse_args().data
    talks = {"locomo": locomo(data), "beam-100k": beam(data, "beam-100k")}
    talks |= {"two questions": _messages(talks["locomo"], _two), "said and asked": _messages(talks["locomo"], _chatty)}
    for name, some in talks.items():
        asked = [one for talk in some for one in ask(talk)]
        for half in Half:
            show(f"{name}, {half.value}", [one for one in asked if one.half is half])


def ask(talk: Talk) -> Iterator[Asked]:
    """Ask every question of a talk in every way that applies."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
        store = Store(memory, talk)
        for question in talk.questions:
            pages = {}
            for most in ATTEMPTS:
                begun = time.process_time()
                answer = store.ask(question, attempts=most)
                pages[most] = store.units(answer), answer.confidence, time.process_time() - begun
            yield Asked(talk.half, question.evidence, tuple(_tries(memory, store, talk, question)), pages)


def _tries(memory: Memory, store: Store, talk: Talk, question: Question) -> Iterator[Tried]:
    reader = memory._log.reader  # the attempts one by one are no answer of a memory
    query = Query(question.text, attempts_max=8, cost=EVERYTHING, deadline_ms=120_000)
    key, (head, _) = reader.namespace_key(memory.namespace), reader.head("default")
    search = Search(reader, memory.namespace, key, head, query)
    first = search.attempt(query.text, Scope(), ladder.AS_ASKED)

    def judged(attempt: Attempt) -> float:
        same = attempt is first or attempt.how in ladder.ON_THEIR_OWN
        return DEFAULT.confidence(
            attempt.signals if same else search.judged(attempt, first.question, first.frequencies)
        )

    now = max((one.time for one in talk.said if one.time), default=None) or moment.now()
    climbed = ladder.climb(first, search, judged, query, first_ms=60_000.0, now=now)
    for one in climbed.tries:
        units = tuple(
            store._unit[f"fh:{event.id}"] for row in one.attempt.ranked if (event := search.event(row.position))
        )
        how = one.attempt.how
        yield Tried(how, one.confidence / ladder.RELIANCE[how], DEFAULT.confidence(one.attempt.signals), units)


def show(name: str, asked: Sequence[Asked]) -> None:
    """Print what each kind wins, and what the ladder as a whole gives."""
    print(f"\n{name}: {len(asked):,} questions, {sum(bool(one.evidence) for one in asked):,} of them answerable\n")
    print("| attempt | tried | recall@10 | of the first | first missed | won | beyond | judged | by its words | true |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    kinds: dict[str, list[tuple[Asked, Tried]]] = defaultdict(list)
    for one in asked:
        for tried in one.tries:
            kinds[tried.how].append((one, tried))
    for how, some in kinds.items():
        able = [(one, tried) for one, tried in some if one.evidence]
        if not able:
            continue
        missed = [(one, tried) for one, tried in able if not _share(one, one.tries[0].units)]
        won = [(one, tried) for one, tried in missed if _share(one, tried.units)]
        first = fmean(_share(one, one.tries[0].units) for one, _ in able)
        beyond = sum(not set(one.tries[0].units[: 2 * HITS]) & one.evidence for one, _ in won)
        print(
            f"| {how} | {len(some)} | {fmean(_share(one, tried.units) for one, tried in able):.3f} "
            f"| {first:.3f} | {len(missed)} | {len(won)} | {beyond} "
            f"| {fmean(tried.judged for _, tried in some):.2f} | {fmean(tried.own for _, tried in some):.2f} "
            f"| {fmean(bool(_share(one, tried.units)) for one, tried in some):.2f} |"
        )
    print("\n| attempts at most | recall@10 | confidence | true | calibration error | time, of one attempt |")
    print("|---|---|---|---|---|---|")
    able_too = [one for one in asked if one.evidence]
    alone = median(one.pages[1][2] for one in asked)
    for most in ATTEMPTS:
        recall = fmean(_share(one, one.pages[most][0]) for one in able_too)
        sure = [(one.pages[most][1], float(bool(_share(one, one.pages[most][0])))) for one in asked]
        times = median(one.pages[most][2] for one in asked) / alone
        print(
            f"| {most} | {recall:.3f} | {fmean(a for a, _ in sure):.3f} | {fmean(b for _, b in sure):.3f} "
            f"| {_error(sure):.3f} | {times:.1f} |"
        )


def _share(one: Asked, units: Sequence[str]) -> float:
    return len(set(units[:HITS]) & one.evidence) / len(one.evidence) if one.evidence else 0.0


def _error(sure: Sequence[tuple[float, float]], bins: int = 10) -> float:
    """Expected calibration error over bins of equal size."""
    ordered = sorted(sure)
    cuts = [ordered[len(ordered) * k // bins : len(ordered) * (k + 1) // bins] for k in range(bins)]
    return sum(abs(sum(a - b for a, b in one)) for one in cuts) / len(ordered)


def _messages(talks: Sequence[Talk], make: object) -> tuple[Talk, ...]:
    """Give the same talks with messages made of their questions."""
    assert callable(make)
    chance = random.Random(SEED)
    return tuple(
        Talk(talk.name, talk.said, tuple(make(talk, chance) for _ in range(MESSAGES)), talk.half) for talk in talks
    )


def _two(talk: Talk, chance: random.Random) -> Question:
    one, two = chance.sample(talk.answerable, 2)
    joined = f"{one.text} {two.text}"
    if chance.random() < 0.5:
        joined = f"{one.text.rstrip('?')} and {two.text[:1].lower()}{two.text[1:]}"
    return Question(joined, "two questions", one.evidence | two.evidence)


def _chatty(talk: Talk, chance: random.Random) -> Question:
    low, high = MESSAGE_WORDS
    asked = chance.choice(talk.answerable)
    turns = [said for said in talk.said if low <= len(said.text.split()) <= high and said.unit not in asked.evidence]
    return Question(f"{chance.choice(turns).text} {asked.text}", "said and asked", asked.evidence)


if __name__ == "__main__":
    main()
