"""What the probe says of notes that real memory systems wrote, beside what a strong reader made of them.

    python bench/probe_readers.py --data DATA
    python bench/probe_readers.py --data DATA --half dev --failures    to tune on: half of the problems

DATA is a checkout of the paper's public harness (github.com/collapseindex/reclaim-eval, Apache-2.0): its
problems, the notes that LangChain's summary, mem0, a vector store and the paper's own policies wrote of its
sessions, and what claude-opus-4-8 answered to a directed correction with each of them. Nothing of it is
part of this repository. Its problems are a module of Python, which is run.

A reader is no gold: it may miss what stands in a note, and with a few options to choose from it may guess what
does not. What is asked is whether the notes that the probe calls correctable are those with which the reader
recovered. The sessions are not in the checkout; each is made again of the problem, the wrong premise and the wrong
answer. Intervals: problems are resampled, since notes of one problem are alike.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from firsthand.errors import FormatError
from firsthand.value import replace, value
from firsthand_evals.stats import mean
from probe_bench import Judge, pieces, probe_of_firsthand
from probe_set.case import Case

RESULTS = Path("data") / "results"
READER = "claude_claude-opus-4-8.jsonl"
NOTES = "realworld_meta-llama_*.jsonl"
MODULE = "reclaim.problems"
RECOVERED, WRONG, ABSTAINED = "recovered", "wrong", "abstained"


@value
class Read:
    """A note, and what the reader made of it.

    Attributes:
        kind: the family of the problem and who wrote the note.
        problem: its name, the cluster.
    """

    kind: str
    problem: str
    case: Case
    outcome: str


Verdicts = Sequence[tuple[Read, str]]


@value
class Found:
    """All notes that can be used, and how many could not.

    Attributes:
        ambiguous: the reader's row may belong to more than one note.
        unknown: its problem is not among the present ones, or its note is not there.
    """

    read: Sequence[Read]
    ambiguous: int
    unknown: int


def main(argv: Sequence[str] | None = None, judge: Judge | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a checkout of reclaim-eval")
    parser.add_argument("--half", choices=("dev", "held-out"), default="held-out", help="of the problems, by hash")
    parser.add_argument("--failures", action="store_true", help="show where probe and reader differ; of the dev half")
    chosen = parser.parse_args(argv)
    if chosen.failures and chosen.half != "dev":
        parser.error("what is held out is not looked at: --failures shows the dev half alone")
    everything = notes_of(chosen.data)
    found = replace(everything, read=[each for each in everything.read if half_of_problem(each) == chosen.half])
    verdicts = [(each, (judge or probe_of_firsthand())(each.case).regime) for each in found.read]
    print("\n".join(report(found, verdicts)))
    if chosen.failures:
        print("\n".join(differing(verdicts)))
    return 0


def half_of_problem(read: Read) -> str:
    """Say in which half a note is: all notes of a problem are in the same one."""
    return "dev" if hashlib.sha256(read.problem.encode()).digest()[0] % 2 else "held-out"


def notes_of(folder: Path) -> Found:
    """Read the checkout: one entry a note that the reader was asked about.

    Raises:
        FormatError: the folder holds no checkout of the harness.
    """
    for needed in (RESULTS / READER, Path("src") / "reclaim" / "problems.py"):
        if not (folder / needed).is_file():
            raise FormatError(f"{folder} has no {needed}: give a checkout of github.com/collapseindex/reclaim-eval")
    problems = problems_of(folder)
    texts: dict[tuple[str, ...], set[str]] = {}
    for file in sorted((folder / RESULTS).glob(NOTES)):
        task = "logic" if "_logic" in file.name else "arith"
        for row in rows(file):
            texts.setdefault(key_of(task, row), set()).add(row["memory_text"])
    read, ambiguous, unknown = [], 0, 0
    for row in rows(folder / RESULTS / READER):
        key = key_of(row["task"], row)
        if row["arm"] != "directed":
            continue
        if key not in texts or key[:1] + key[2:3] not in problems:
            unknown += 1
        elif len(texts[key]) > 1:
            ambiguous += 1
        else:
            outcome = RECOVERED if row["correct"] else WRONG if row["answer"] is not None else ABSTAINED
            read.append(noted(key, problems[key[:1] + key[2:3]], next(iter(texts[key])), outcome))
    return Found(read, ambiguous, unknown)


def noted(key: tuple[str, ...], problem: Any, note: str, outcome: str) -> Read:
    """Make the session again and put the note beside it."""
    task, variant, name, seed = key
    told = "The answer is" if problem.kind == "text" else "The total is"
    wrong = problem.drift if problem.kind == "text" else f"${problem.drift:g}"
    messages = (
        {"role": "user", "content": f"{problem.question}\nNote: {problem.wrong_premise}."},
        {"role": "assistant", "content": f"{told} {wrong}."},
    )
    case = Case(f"{task}-{variant}-{name}-{seed}", task, messages, note, {}, problem.ask, "correctable", ())
    return Read(f"{task}, {variant}", f"{task} {name}", case, outcome)


def problems_of(folder: Path) -> dict[tuple[str, ...], Any]:
    """Run the checkout's module of problems, and no other part of its package."""
    package = types.ModuleType("reclaim")
    package.__path__ = [str(folder / "src" / "reclaim")]
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "reclaim"}
    sys.modules["reclaim"] = package
    try:
        tasks = importlib.import_module(MODULE).TASKS
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "reclaim"]:
            del sys.modules[name]
        sys.modules.update(before)
    return {(task, problem.pid): problem for task, several in tasks.items() for problem in several}


def rows(file: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def key_of(task: str, row: dict[str, Any]) -> tuple[str, ...]:
    """Name a note as the reader's rows do."""
    return task, row["variant"], row["pid"], str(row["seed"])


# what is printed ----------------------------------------------------------------------------------------


def report(found: Found, ours: Verdicts) -> list[str]:
    """Write the tables, in Markdown."""
    plain = [(each, pieces(each.case).regime) for each in found.read]
    kinds = sorted({each.kind for each in found.read})
    said = Counter((regime, each.outcome) for each, regime in ours)
    regimes = sorted({regime for _, regime in ours})
    return [
        (f"{len(found.read)} notes with one reader's answer each. Of all, {found.ambiguous} answers fit several notes "
         f"and {found.unknown} none that is there; they are left out."),
        "",
        "| notes | n | reader recovered | called correctable | agree | pieces agree |",
        "|---|---|---|---|---|---|",
        *(row(kind, [e for e in ours if e[0].kind == kind], [e for e in plain if e[0].kind == kind]) for kind in kinds),
        row("all", ours, plain),
        "",
        "| called \\ reader | recovered | wrong | abstained |",
        "|---|---|---|---|",
        *(f"| {regime} | " + " | ".join(str(said[regime, o]) for o in (RECOVERED, WRONG, ABSTAINED)) + " |"
          for regime in regimes),
        "",
        "Of the notes called correctable, the reader recovered with: "
        + share(ours, lambda each, regime: each.outcome == RECOVERED if regime == "correctable" else None),
        "",
        "Of those with which it recovered, were called correctable: "
        + share(ours, lambda each, regime: regime == "correctable" if each.outcome == RECOVERED else None),
    ]  # fmt: skip


def differing(ours: Verdicts) -> list[str]:
    """Write each note on which probe and reader differ, whole."""
    found = []
    for each, regime in ours:
        if not agree(each, regime):
            found += [f"\n== {each.case.id}: the reader {each.outcome}, was called {regime}; claim: {each.case.claim}"]
            found += [f"  {message['role']}: {message['content']}" for message in each.case.messages]
            found += ["  NOTE: " + each.case.note]
    return found


def row(name: str, ours: Verdicts, plain: Verdicts) -> str:
    """Write one row: how often reader and probe are of one mind about what can be corrected."""
    recovered = sum(each.outcome == RECOVERED for each, _ in ours)
    called = sum(regime == "correctable" for _, regime in ours)
    return f"| {name} | {len(ours)} | {recovered} | {called} | {share(ours, agree)} | {share(plain, agree)} |"


def agree(each: Read, regime: str) -> bool:
    """Whether the reader recovered where the note was called correctable, and nowhere else."""
    return (regime == "correctable") == (each.outcome == RECOVERED)


def share(verdicts: Iterable[tuple[Read, str]], holds: Callable[[Read, str], bool | None]) -> str:
    """Give the share of notes for which something holds, resampled by problem; None leaves a note out."""
    clusters: dict[str, list[float]] = {}
    for each, regime in verdicts:
        if (found := holds(each, regime)) is not None:
            clusters.setdefault(each.problem, []).append(float(found))
    return str(mean(clusters)) if clusters else "none"


if __name__ == "__main__":
    sys.exit(main())
