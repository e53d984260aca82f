"""Firsthand itself, as a stranger uses it, in a process of its own: this edition, or another one beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .values import HITS, Event, Question, Ranked

SCRIPT = Path(__file__).with_name("store_process.py")
SECONDS_MAX = 7_200
TOKENS = 4_000
"""Of all previews together, what a recall has by default."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One way to open a store.

    Attributes:
        name: as the report shows it.
        python: the interpreter that it is installed in.
        embedder: the word of its embedder; empty for none.
        kept: file that the embedder's vectors are kept in.
    """

    name: str
    python: Path
    embedder: str = ""
    kept: Path = Path("embedded.db")

    def ask(
        self, work: Path, events: Sequence[Event], questions: Sequence[Question], *, base: Path | None = None
    ) -> list[Ranked]:
        """Ask every question of a new store that holds the events, behind those of ``base``."""
        folder = Path(tempfile.mkdtemp(prefix="store-", dir=work))
        try:
            told = self.run(folder, events, [question.text for question in questions], base=base)
        finally:
            shutil.rmtree(folder)
        return [
            Ranked(
                tuple(answer["numbers"]), answer["best"], tuple(answer["shown"]), tuple(answer["said"]),
                answer["band"], answer["seconds"],
            )
            for answer in told["answers"]
        ]  # fmt: skip

    def run(
        self, folder: Path, events: Sequence[Event], texts: Sequence[str], *, base: Path | None = None
    ) -> dict[str, Any]:
        """Fill a store below the folder and ask it; give what the process wrote."""
        job = {
            "folder": str(folder / "store"), "copy_of": str(base) if base else "",
            "events": [asdict(event) for event in events], "questions": list(texts),
            "hits": HITS, "tokens": TOKENS, "embedder": self.embedder, "kept": str(self.kept),
        }  # fmt: skip
        written, out = folder / "job.json", folder / "out.json"
        written.write_text(json.dumps(job), encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FIRSTHAND")}
        done = subprocess.run(
            [str(self.python), str(SCRIPT), str(written), str(out)],
            capture_output=True, text=True, check=False, timeout=SECONDS_MAX,
            env=environment | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{self.name} ended with {done.returncode}: {done.stderr[-2_000:]}")
        return dict(json.loads(out.read_text(encoding="utf-8")))
