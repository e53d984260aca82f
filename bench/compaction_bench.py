"""Needles over compactions: Firsthand's window beside what people use, on generated and real sessions.

This takes some minutes and needs no network:

    python bench/compaction_bench.py --data DATA
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corpus
from compaction import generated, real, report, whole
from compaction.values import Trace
from machine import describe

HERE = Path(__file__).parent
SEED = 7
FLOOD_SET, FLOOD_TEXTS, FLOOD_CHARACTERS_MIN = "swe-agent", 1_500, 600
PARTS = ("generated", "real")


def main() -> int:
    arguments = _arguments()
    date = arguments.date or datetime.now(UTC).date().isoformat()
    for asked in arguments.only:
        for part in _measured(asked, arguments):
            command = f"python bench/compaction_bench.py {_shown(asked, arguments)}"
            _write(arguments.out, part | {"measured": f"`{command}`, {date}, {describe(HERE)}."})
    print(f"{arguments.out.name}/COMPACTION.md is written")
    return 0


def _measured(asked: str, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure one of `PARTS`; each part of the report is given as soon as it is there."""
    data = arguments.data
    if asked == "generated":
        texts = _texts(data)
        traces = _traces(arguments.traces, texts)
        yield whole.free("Generated sessions", traces, whole.methods(), flood_texts=len(texts))
    elif asked == "real" and data:
        for name in real.SETS:
            traces = real.traces(data, name, parts=arguments.parts, seed=SEED)
            yield whole.free(f"Real sessions: {name}", traces, whole.methods(), real_set=True)


def _texts(data: Path | None) -> list[str]:
    """Give the real texts of the flood; none when there is no folder of them."""
    found = corpus.texts(data / FLOOD_SET, FLOOD_TEXTS, seed=SEED) if data is not None else ()
    return [text for text in found if len(text) >= FLOOD_CHARACTERS_MIN]


def _traces(count: int, texts: list[str]) -> list[Trace]:
    return [generated.trace(number, generated.FULL, texts, seed=SEED) for number in range(count)]


def _write(out: Path, part: dict[str, Any]) -> None:
    """Put one part into both files; the others stay as they were measured before."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "compaction.json"
    parts = json.loads(file.read_text(encoding="utf-8"))["parts"] if file.exists() else []
    titles = [one["title"] for one in parts]
    at = titles.index(part["title"]) if part["title"] in titles else len(parts)
    parts[at : at + 1] = [part]
    text = report.as_json({"parts": parts, "limits": whole.LIMITS})
    file.write_text(text + "\n", encoding="utf-8")
    (out / "COMPACTION.md").write_text(report.markdown(json.loads(text)), encoding="utf-8")


def _shown(asked: str, arguments: argparse.Namespace) -> str:
    """Give the options that a part depends on."""
    shown = ["--data DATA"] if arguments.data else []
    sizes = {"generated": f"--traces {arguments.traces}", "real": f"--parts {arguments.parts}"}
    return " ".join([*shown, f"--only {asked}", sizes[asked]])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of real sessions (default: generated ones only)")
    parser.add_argument("--out", type=Path, default=HERE, help="folder for COMPACTION.md and compaction.json")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="measure these parts")
    parser.add_argument("--traces", type=int, default=10, help="generated sessions, 10 as in the paper")
    parser.add_argument("--parts", type=int, default=3, help="sessions cut from each real set, at most")
    parser.add_argument("--date", help="date to write beside the results (default: today)")
    arguments = parser.parse_args()
    if arguments.data and not arguments.data.is_dir():
        parser.error(f"--data: expected a folder of real sessions, {arguments.data} is none")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
