"""The peers' rankings, measured in an interpreter of their own and kept in the work folder.

A peer's answers depend on its version, the texts, the model and the script that runs it; while these are
the same, a later run takes what was measured before.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import encoder, peers_process
from .baselines import Embed
from .values import Question, Ranked, Talk

LABELS = {"chromadb": "ChromaDB", "mempalace": "MemPalace", "mem0ai": "mem0 (infer=False)"}
SCRIPT = Path(__file__).with_name("peers_process.py")
SECONDS_MAX = 7_200


def versions(python: Path) -> dict[str, str]:
    """Say which versions of the peers an interpreter has.

    Raises:
        RuntimeError: one of them is not installed there.
    """
    code = f"import json, importlib.metadata as m; print(json.dumps({{n: m.version(n) for n in {list(LABELS)}}}))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        wanted = "bench/requirements-quality-peers.txt"
        raise RuntimeError(f"expected the peers of {wanted} in {python}; install them there: {done.stderr[-300:]}")
    return dict(json.loads(done.stdout))


def measured(
    python: Path, work: Path, model: Path, embed: Embed, talks: Mapping[str, tuple[Talk, Sequence[Question]]]
) -> dict[str, dict[str, list[Ranked]]]:
    """Give the rankings of each peer, by label and talk; questions in their order."""
    found = versions(python)
    work.mkdir(parents=True, exist_ok=True)
    return {
        label: _one(name, found[name], python, work, _job(model, work, embed, talks)) for name, label in LABELS.items()
    }


def _job(model: Path, work: Path, embed: Embed, talks: Mapping[str, tuple[Talk, Sequence[Question]]]) -> dict[str, Any]:
    """Write down what a peer is to store and to find; the vectors are in files that the peer reads."""
    stores = []
    for name, (talk, questions) in talks.items():
        one: dict[str, Any] = {"name": name}
        one["texts"] = [event.plain for event in talk.events]
        one["questions"] = [question.text for question in questions]
        for part in ("texts", "questions"):
            file = work / f"{name}-{part}.npy"
            np.save(file, embed(one[part]))
            one[f"{part} vectors"] = str(file)
        stores.append(one)
    return {"model": str(model), "stores": stores}


def _one(name: str, version: str, python: Path, work: Path, job: dict[str, Any]) -> dict[str, list[Ranked]]:
    """Run one peer on each store, unless it was run on the same before."""
    script = SCRIPT.read_bytes() + Path(encoder.__file__).read_bytes()
    out = {}
    for store in job["stores"]:
        given = json.dumps([name, version, {key: store[key] for key in ("name", "texts", "questions")}]).encode()
        kept = work / f"{name}-{store['name']}-{hashlib.sha256(script + given).hexdigest()[:16]}.json"
        if not kept.exists():
            _run(name, python, {"model": job["model"], "stores": [store]}, kept)
        ranked = json.loads(kept.read_text(encoding="utf-8"))["ranked"][store["name"]]
        out[store["name"]] = [Ranked(tuple(numbers)) for numbers in ranked]
    return out


def _run(name: str, python: Path, job: dict[str, Any], kept: Path) -> None:
    assert name in peers_process.PEERS, name
    asked, unfinished = kept.with_suffix(".job"), kept.with_suffix(".part")
    asked.write_text(json.dumps(job), encoding="utf-8")
    done = subprocess.run(
        [str(python), str(SCRIPT), name, str(asked), str(unfinished)],
        capture_output=True, text=True, check=False, timeout=SECONDS_MAX,
    )  # fmt: skip
    asked.unlink()
    if done.returncode:
        raise RuntimeError(f"expected {name} to be measured, it ended with {done.returncode}: {done.stderr[-1500:]}")
    unfinished.rename(kept)
