"""Old and new statements of a user, and echoes of questions: what stands beside and among the hits of a recall.

    python bench/said_bench.py --data DATA [--held-back] [--beside NAME=PYTHON]

*Said*: in fifty made-up pairs of coding sessions a user states a thing, later its opposite, inside 7,000 real events;
counted is how often both statements stand among the user messages that a recall gives beside its hits, and among ten
hits. *Echoes*: a LoCoMo conversation whose every question was asked three times before; counted is the reciprocal rank
of the first evidence among ten hits, identical texts being one hit.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from machine import describe
from quality import bm25, coding, sets
from quality.baselines import order
from quality.counts import values
from quality.measures import estimate
from quality.ours import Edition
from quality.values import AGENT, HITS, USER, Event, Half, Question, Ranked, Talk
from timing import say

PAIRS = Path(__file__).parent / "quality" / "statement_pairs.json"
EVENTS, SAID, ECHOES, SEED = 7_000, 5, 3, 9
REPLIES = ("Understood, I'll do it that way.", "Done. Anything else?", "Changed, and the checks pass.", "Okay, noted.")
AGAIN = ("{}", "I asked this before: {}", "Once more, {}")
LOOKED_AT = (
    "Looked at while tuning: the development halves only. The held-back halves were opened twice, the second time for "
    "BM25 over the words of our index; nothing was chosen after either."
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo, swe-agent and so on")
    parser.add_argument("--held-back", action="store_true", help="also the halves that nobody tunes on")
    parser.add_argument("--beside", action="append", default=[], help="NAME=PYTHON of another edition")
    parser.add_argument("--minilm", type=Path, help="folder of embedded.db: also with minilm, its vectors kept there")
    parser.add_argument("--pairs", type=Path, default=PAIRS, help="old and new statements with a question, as JSON")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for SAID.md and said.json")
    chosen = parser.parse_args()
    editions = [Edition("Firsthand", Path(sys.executable))]
    editions += [Edition(name, Path(python)) for name, _, python in (one.partition("=") for one in chosen.beside)]
    if chosen.minilm:
        editions += [
            replace(one, name=f"{one.name} with minilm", embedder="minilm", kept=chosen.minilm / "embedded.db")
            for one in editions
        ]  # fmt: skip
    halves = [half for half in Half if chosen.held_back or half is Half.DEVELOPMENT]
    measured = {"said": said(chosen.data, editions, halves, chosen.pairs)}
    if chosen.pairs == PAIRS:
        measured["echoes"] = echoes(chosen.data, editions, halves)
    lines = [
        "# What was said, and asked before", "", LOOKED_AT, "",
        f"`python bench/said_bench.py --data DATA`, {datetime.now(UTC).date()}, {describe(chosen.out)}.", "",
        *_report(measured), "",
    ]  # fmt: skip
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "SAID.md").write_text("\n".join(lines), encoding="utf-8")
    (chosen.out / "said.json").write_text(json.dumps(values(measured), indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return 0


def said(data: Path, editions: Sequence[Edition], halves: Sequence[Half], file: Path = PAIRS) -> dict[str, Any]:
    """Count the pairs of which both statements are given, by half and method."""
    talk = pairs_in(data, file)
    out: dict[str, Any] = {}
    for half in halves:
        questions = [question for question in talk.questions if question.half is half]
        rows: dict[str, Any] = {}
        for edition in editions:
            say(f"said: {edition.name}, {half.value}")
            with tempfile.TemporaryDirectory(prefix="firsthand-said-") as work:
                ranked = edition.ask(Path(work), talk.events, questions)
            rows[edition.name] = {
                "both beside the hits": _both(talk, questions, [one.said[:SAID] for one in ranked]),
                "both among ten hits": _both(talk, questions, [one.numbers[:HITS] for one in ranked]),
                "both in either": _both(talk, questions, [one.said[:SAID] + one.numbers[:HITS] for one in ranked]),
            }
        rows["BM25 with dates, neighbours, speakers"] = _words(talk, questions)
        out[half.value] = rows
    return out


def pairs_in(data: Path, file: Path = PAIRS) -> Talk:
    """Put the pairs into sessions of their own among the real events: the old ones in the first half of them."""
    pairs = json.loads(file.read_text(encoding="utf-8"))
    real = [
        Event("", one.text, one.session, one.kind, time=None, tool=one.tool, call=one.call)
        for name in coding.READERS for one in islice(coding.READERS[name](data), EVENTS // 3)
    ][:EVENTS]  # fmt: skip
    chance = random.Random(SEED)
    starts = [number for number, event in enumerate(real) if not number or real[number - 1].session != event.session]
    places: dict[int, list[Event]] = {}
    questions = []
    for name, old, new, question in pairs:
        half = Half.HELD_BACK if zlib.crc32(name.encode()) % 2 else Half.DEVELOPMENT
        questions.append(Question(question, name, frozenset((f"{name} old", f"{name} new")), half))
        for text, word, part in ((old, "old", (0.0, 0.5)), (new, "new", (0.5, 1.0))):
            at = chance.choice(starts[int(part[0] * len(starts)) : int(part[1] * len(starts))])
            session = f"{name} {word}"
            places.setdefault(at, []).extend((
                Event("", chance.choice(REPLIES), session, AGENT),
                Event(f"{name} {word}", text, session, USER),
                Event("", chance.choice(REPLIES), session, AGENT),
            ))  # fmt: skip
    events = [event for number, own in enumerate(real) for event in (*places.get(number, ()), own)]
    return Talk("statements", tuple(events), tuple(questions))


def echoes(data: Path, editions: Sequence[Edition], halves: Sequence[Half]) -> dict[str, Any]:
    """Give the mean reciprocal rank of the first evidence with and without echoes of the questions."""
    out: dict[str, Any] = {}
    for half in halves:
        rows: dict[str, Any] = {}
        for edition in editions:
            found: dict[str, list[float]] = {"without echoes": [], f"{ECHOES} echoes": []}
            for talk in sets.locomo(data):
                questions = [one for one in talk.questions if one.evidence and one.half is half]
                if not questions:
                    continue
                say(f"echoes: {edition.name}, {talk.name}")
                asked = tuple(
                    Event("", AGAIN[number].format(question.text), f"later-{number}", USER)
                    for number in range(ECHOES) for question in questions
                )  # fmt: skip
                for name, events in (("without echoes", talk.events), (f"{ECHOES} echoes", (*talk.events, *asked))):
                    with tempfile.TemporaryDirectory(prefix="firsthand-echoes-") as work:
                        ranked = edition.ask(Path(work), events, questions)
                    found[name] += [_reciprocal(*pair, events) for pair in zip(questions, ranked, strict=True)]
            rows[edition.name] = {name: estimate(row) for name, row in found.items()}
        out[half.value] = rows
    return out


def _reciprocal(question: Question, ranked: Ranked, events: Sequence[Event]) -> float:
    units = ranked.units(events)[:HITS]
    return next((1 / place for place, unit in enumerate(units, 1) if unit in question.evidence), 0.0)


def _words(talk: Talk, questions: Sequence[Question]) -> dict[str, Any]:
    """Give the same of the strong BM25: ten events, and the first five messages of the user."""
    strong = bm25.Strong(talk.events, bm25.stems())
    best = [order(strong.scores(question.text), above=0.0) for question in questions]
    users = [[number for number in row if talk.events[number].kind == USER][:SAID] for row in best]
    ten = [row[:HITS] for row in best]
    return {
        "both beside the hits": _both(talk, questions, users), "both among ten hits": _both(talk, questions, ten),
        "both in either": _both(talk, questions, [[*a, *b] for a, b in zip(users, ten, strict=True)]),
    }  # fmt: skip


def _both(talk: Talk, questions: Sequence[Question], numbers: Sequence[Sequence[int]]) -> Any:
    return estimate([
        float(question.evidence <= {talk.events[number].unit for number in row})
        for question, row in zip(questions, numbers, strict=True)
    ])  # fmt: skip


def _report(measured: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for what, halves in measured.items():
        for half, rows in halves.items():
            heads = list(next(iter(rows.values())))
            count = next(iter(next(iter(rows.values())).values())).count
            lines += [f"## {what}, {half}: {count} questions", "", f"| method | {' | '.join(heads)} |"]
            lines += ["|---" * (len(heads) + 1) + "|"]
            lines += [
                f"| {name} | {' | '.join(f'{row[head].mean:.3f}' for head in heads)} |" for name, row in rows.items()
            ]
            lines += [""]
    return lines


if __name__ == "__main__":
    sys.exit(main())
