"""Measure every figure of the README beside its baseline: ``python bench/run.py --data FOLDER``.

Each figure runs in a process of its own, so that none leaves threads, memory or
warm caches to the next. A whole figure fails or is shown; a failed one makes the
run end with 1. Results of a full run go to bench/results.json and bench/RESULTS.md;
a quick one writes into the work folder, since it says only that everything runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from machine import describe, versions
from setting import Setting
from table import Row, as_markdown, as_text, as_values, from_values
from timing import say

FIGURES = ("append", "recall", "disk", "compact", "tokens", "window", "hook", "proxy")
HERE = Path(__file__).parent


def main() -> int:
    """Run the figures asked for; 0 when all were measured and every target is met, else 1."""
    arguments = _arguments()
    if arguments.figure:
        return _one(arguments)
    work = arguments.work or Path(tempfile.mkdtemp(prefix="firsthand-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        return _all(arguments, work.resolve())
    finally:
        if arguments.work is None:
            shutil.rmtree(work)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of real text")
    parser.add_argument("--work", type=Path, help="folder for stores, kept for the next run (default: a temporary one)")
    parser.add_argument("--out", type=Path, help="folder for RESULTS.md and results.json (default: bench)")
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=FIGURES, help="measure these figures")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the size: does it run?")
    parser.add_argument("--first", type=Path, help="an interpreter that has the first edition, commit d36c38b")
    parser.add_argument("--small", action="store_true", help="recall at 100,000 events only")
    parser.add_argument("--date", help="date to write beside the results (default: today)")
    parser.add_argument("--figure", choices=FIGURES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.error(f"--data: expected a folder of real text, {arguments.data} is none (make bench DATA=FOLDER)")
    return arguments


def _one(arguments: argparse.Namespace) -> int:
    """Measure one figure in this process and leave its rows in the work folder."""
    setting = Setting(arguments.data, arguments.work, arguments.quick, arguments.first, arguments.small)
    rows = importlib.import_module(f"figure_{arguments.figure}").measure(setting)
    _rows_file(arguments.work, arguments.figure).write_text(json.dumps(as_values(rows)), encoding="utf-8")
    return 0


def _all(arguments: argparse.Namespace, work: Path) -> int:
    out = arguments.out or (work if arguments.quick else HERE)
    date = arguments.date or datetime.now(UTC).date().isoformat()
    out.mkdir(parents=True, exist_ok=True)
    results = _read_results(out / "results.json")
    failed: list[str] = []
    measured: list[Row] = []
    for name in arguments.only:
        say(f"{name}: begins")
        rows = _measured_apart(name, arguments, work)
        if rows is None:
            failed.append(name)
            continue
        measured.extend(rows)
        print(f"\n{as_text(rows)}\n", file=sys.stderr, flush=True)
        about = {"date": date, "machine": describe(work), "versions": versions(), "quick": arguments.quick}
        results[name] = about | {"rows": as_values(rows)}
        _write_results(out, results)
    print(as_text(measured))
    missed = [row.figure for row in measured if row.met is False]
    for name in failed:
        print(f"NOT MEASURED: {name}; its error stands above")
    met = sum(row.met is True for row in measured)
    print(f"{len(measured)} rows, {met} targets met, {len(missed)} missed; see {out.name}/RESULTS.md")
    return 1 if failed or missed else 0


def _measured_apart(name: str, arguments: argparse.Namespace, work: Path) -> list[Row] | None:
    """Measure one figure in a new process; None when that failed."""
    given = ["--data", str(arguments.data), "--work", str(work), "--figure", name]
    command = [sys.executable, str(HERE / "run.py"), *given]
    _rows_file(work, name).unlink(missing_ok=True)
    command += ["--quick"] if arguments.quick else []
    command += ["--small"] if arguments.small else []
    command += ["--first", str(arguments.first)] if arguments.first else []
    done = subprocess.run(command, check=False)
    if done.returncode:
        say(f"{name}: failed with {done.returncode}")
        return None
    return from_values(json.loads(_rows_file(work, name).read_text(encoding="utf-8")))


def _rows_file(work: Path, name: str) -> Path:
    return work / f"rows-{name}.json"


def _read_results(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _write_results(out: Path, results: dict[str, Any]) -> None:
    """Write both files anew; a figure that was not measured this time keeps its rows and its date."""
    ordered = {name: results[name] for name in FIGURES if name in results}
    (out / "results.json").write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    looked_at = (
        "Looked at while tuning: all of it; speed was tuned with these commands on this machine, "
        "and nothing is held back."
    )
    written = "Written by `make bench`. Read the ratios; absolute times are this machine's."
    parts = ["# Measured", "", looked_at, "", written]
    for name, result in ordered.items():
        listed = ", ".join(f"{package} {version}" for package, version in result["versions"].items())
        quick = " --quick" if result["quick"] else ""
        made = (
            f"`python bench/run.py --data DATA --only {name}{quick}`, {result['date']}, {result['machine']}; {listed}."
        )
        parts += ["", f"## {name}", "", made, "", as_markdown(from_values(result["rows"]))]
    (out / "RESULTS.md").write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
