"""Needles over compactions: Firsthand's window beside what people use, on generated and real sessions.

Without a model this takes some minutes and needs no network:

    python bench/compaction_bench.py --data DATA

With a model, those methods that need one join in, on shorter sessions, and answers are
asked for (``local`` is SmolLM2-135M through the extra ``local``; an address is any
OpenAI-compatible endpoint). Replies are kept in the file given and never asked for twice:

    python bench/compaction_bench.py --data DATA --model local --recorded replies.jsonl --minutes 40
    python bench/compaction_bench.py --data DATA --model http://localhost:8080/v1 --model-name NAME
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corpus
from compaction import generated, real, report, whole
from compaction.generated import Shape
from compaction.values import Trace
from compaction.whole import Deadline
from firsthand.llm.compatible import OpenAICompatible
from firsthand.llm.local import LocalModel
from firsthand.llm.port import Model
from firsthand.llm.recorded import Recorded
from machine import describe

HERE = Path(__file__).parent
SEED = 7
FLOOD_SET, FLOOD_TEXTS, FLOOD_CHARACTERS_MIN = "swe-agent", 1_500, 600
SHAPES = {"full": generated.FULL, "small": generated.SMALL, "tiny": generated.TINY}
PARTS = ("generated", "real", "model", "pi")
KEY_VARIABLE = "OPENAI_API_KEY"


def main() -> int:
    arguments = _arguments()
    if arguments.only == ["tiny"]:
        return _record_tiny(arguments)
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
        traces = _traces(arguments.traces, generated.FULL, texts)
        yield whole.free("Generated sessions", traces, whole.methods(), flood_texts=len(texts))
    elif asked == "real" and data:
        for name in real.SETS:
            traces = real.traces(data, name, parts=arguments.parts, seed=SEED)
            yield whole.free(f"Real sessions: {name}", traces, whole.methods(), real_set=True)
    elif asked == "model" and arguments.model:
        traces = _traces(arguments.model_traces, SHAPES[arguments.model_shape], [])
        model = _model(arguments)
        named = arguments.model_name or arguments.model
        deadline = Deadline(arguments.minutes * 60)
        yield whole.with_model(traces, whole.model_methods(model), model, deadline, named=named)
    elif asked == "pi" and data:
        yield whole.pi(data / "pi-sessions" / "before-compaction.jsonl", seed=SEED)


def _texts(data: Path | None) -> list[str]:
    """Give the real texts of the flood; none when there is no folder of them."""
    found = corpus.texts(data / FLOOD_SET, FLOOD_TEXTS, seed=SEED) if data is not None else ()
    return [text for text in found if len(text) >= FLOOD_CHARACTERS_MIN]


def _record_tiny(arguments: argparse.Namespace) -> int:
    """Run what the test runs, so that its file of replies has all that it asks for; nothing is reported."""
    model = _model(arguments)
    traces = [generated.trace(0, generated.TINY, [], seed=SEED)]
    whole.with_model(
        traces, whole.tested_methods(model), model, Deadline(arguments.minutes * 60), named=arguments.model
    )
    print(f"{arguments.recorded} has the replies of the test")
    return 0


def _traces(count: int, shape: Shape, texts: list[str]) -> list[Trace]:
    return [generated.trace(number, shape, texts, seed=SEED) for number in range(count)]


def _model(arguments: argparse.Namespace) -> Model:
    """Give the model asked for; with a file of recorded replies it is only asked what is not in there."""
    named: Model | None = None
    if arguments.model == "local":
        named = LocalModel()
    elif arguments.model != "recorded":
        named = OpenAICompatible(arguments.model, arguments.model_name, key=os.environ.get(KEY_VARIABLE))
    if arguments.recorded is None:
        assert named is not None, "the parser asks for a file of recorded replies"
        return named
    return Recorded(arguments.recorded, named)


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
    shown = ["--data DATA"] if arguments.data and asked != "model" else []
    shown += [f"--only {asked}"]
    shown += {
        "generated": [f"--traces {arguments.traces}"],
        "real": [f"--parts {arguments.parts}"],
        "model": [f"--model {arguments.model} --model-shape {arguments.model_shape}"],
        "pi": [],
    }[asked]
    return " ".join(shown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of real sessions (default: generated ones only)")
    parser.add_argument("--out", type=Path, default=HERE, help="folder for COMPACTION.md and compaction.json")
    told = "measure these parts; tiny, alone, records what the test replays"
    parser.add_argument("--only", nargs="+", choices=(*PARTS, "tiny"), default=PARTS, help=told)
    parser.add_argument("--traces", type=int, default=10, help="generated sessions, 10 as in the paper")
    parser.add_argument("--parts", type=int, default=3, help="sessions cut from each real set, at most")
    parser.add_argument("--model", help="local, recorded, or the address of an OpenAI-compatible endpoint")
    parser.add_argument("--model-name", default="", help="the model's name at that endpoint")
    parser.add_argument("--model-traces", type=int, default=1, help="sessions for the methods with a model")
    parser.add_argument("--model-shape", choices=SHAPES, default="small", help="how long these are")
    parser.add_argument("--minutes", type=float, default=40, help="no model is asked after that long")
    parser.add_argument("--recorded", type=Path, help="file of replies: what is in it is not asked again")
    parser.add_argument("--date", help="date to write beside the results (default: today)")
    arguments = parser.parse_args()
    if arguments.data and not arguments.data.is_dir():
        parser.error(f"--data: expected a folder of real sessions, {arguments.data} is none")
    if "tiny" in arguments.only and (arguments.only != ["tiny"] or not arguments.model or arguments.recorded is None):
        parser.error("--only tiny: expected it alone, with --model and --recorded")
    if arguments.model == "recorded" and arguments.recorded is None:
        parser.error("--model recorded: expected --recorded FILE as well, with the replies")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
