"""What every figure of a bench run needs: the real texts, a folder to work in, the size of the run.

Stores and files that take minutes to build are kept in the work folder under a
name that says what they hold, with a stamp written last; a folder without its
stamp is built anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

import corpus
from timing import say

SEED = 2
QUICK_SHARE = 20  # a quick run is a twentieth of the size
SESSION_EVENTS = 200
POOL_TEXTS = 50_000


@dataclass(frozen=True, slots=True)
class Setting:
    """One run.

    Attributes:
        data: folder of real texts.
        work: folder for stores; its file system is the one that is measured.
        quick: everything at a twentieth of the size; says whether it runs, not how fast.
        first: the interpreter of the first edition (commit d36c38b); None leaves it out.
        small: whether figures leave out their million events.
    """

    data: Path
    work: Path
    quick: bool
    first: Path | None = None
    small: bool = False

    def scaled(self, count: int, *, at_least: int = 1) -> int:
        """Give a count of full size, or its twentieth in a quick run."""
        return max(at_least, count // QUICK_SHARE) if self.quick else count

    def texts(self, count: int) -> Iterator[str]:
        """Yield ``count`` realistic texts, the same ones each time."""
        return corpus.texts(self.data, count, seed=SEED)

    def texts_between(self, low: int, high: int, count: int) -> list[str]:
        """Give ``count`` texts of a size in bytes between two bounds, over again when there are too few."""
        fitting = [t for t in self.texts(self.scaled(POOL_TEXTS)) if low <= len(t.encode()) <= high]
        if not fitting:
            raise ValueError(f"expected texts of {low} to {high} bytes in {self.data}; found none: give other data")
        return [fitting[k % len(fitting)] for k in range(count)]

    def fresh(self, name: str) -> Path:
        """Make an empty folder; the caller drops it."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.work))

    def drop(self, folder: Path) -> None:
        """Remove a folder made by `fresh`."""
        assert folder.parent == self.work
        shutil.rmtree(folder)

    def page_size(self, store: Path) -> int:
        """Read the page size of a store's database from its header."""
        return int(
            apsw.Connection(str(database(store)), flags=apsw.SQLITE_OPEN_READONLY).execute("PRAGMA page_size").get
        )

    def kept(self, name: str, count: int, build: Callable[[Path], None], *, by: str = "") -> Path:
        """Give a folder that is built once and found again in later runs with the same work folder.

        Args:
            by: what built it, when that is more than its name.
        """
        source = hashlib.sha256(Path(corpus.__file__).read_bytes() + f"{SEED}{by}".encode()).hexdigest()[:12]
        folder = self.work / f"{name}-{count}-{source}"
        stamp = folder / "built.json"
        if stamp.exists():
            say(f"using {folder.name} as an earlier run built it; remove the folder to build it anew")
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        build(folder)
        stamp.write_text(json.dumps({"count": count}))
        return folder

    def jsonl(self, count: int) -> Path:
        """Give a JSONL file of ``count`` events: session, role, timestamp and content, nothing else."""
        return self.kept("events", count, lambda folder: _write_jsonl(folder / "events.jsonl", self.texts(count))) / (
            "events.jsonl"
        )

    def written_texts(self, count: int) -> Iterator[str]:
        """Yield the texts of the JSONL file: the same as `texts`, and faster than to make a million again."""
        with self.jsonl(count).open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)["content"]

    def edition(self, python: Path) -> str:
        """Give a checksum of the package that an interpreter has: its stores are not another one's."""
        code = "import firsthand, pathlib; print(pathlib.Path(firsthand.__file__).parent)"
        files = sorted(Path(run([str(python), "-c", code]).strip()).rglob("*.py"))
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()

    def store(self, count: int) -> Path:
        """Give a store of ``count`` events, imported through the command line."""
        source = self.jsonl(count)

        def build(folder: Path) -> None:
            say(f"importing {count:,} events into a store")
            run_import(source, folder / "store")

        return self.kept("store", count, build) / "store"


def database(store: Path) -> Path:
    """Find the one database file of a store."""
    found = sorted(store.glob("*.db")) + sorted(store.glob("*.sqlite*"))
    files = [path for path in found if not path.name.endswith(("-wal", "-shm"))]
    assert files, f"no database in {store}"
    return max(files, key=lambda path: path.stat().st_size)


def checkpoint(store: Path) -> None:
    """Move a closed store's write-ahead log into its database, as a reader of sizes must."""
    checkpoint_file(database(store))


def checkpoint_file(path: Path) -> None:
    """Move a database's write-ahead log into it."""
    apsw.Connection(str(path)).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def command() -> list[str]:
    """Give the ``firsthand`` command of the interpreter that runs the bench."""
    return [str(Path(sys.executable).with_name("firsthand"))]


def run_import(source: Path, store: Path) -> None:
    """Import a file as a stranger would."""
    run([*command(), "import", str(source), "--store", str(store)])


def run(arguments: list[str]) -> str:
    """Run a program to its end, away from the user's own store; give what it printed.

    Raises:
        RuntimeError: it ended with another code than 0.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FIRSTHAND")}
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout)[-800:]
        raise RuntimeError(f"expected {' '.join(arguments[:2])} to end with 0, got {done.returncode}: {said}")
    return done.stdout


def _write_jsonl(path: Path, texts: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            second = 1_700_000_000 + 7 * number
            line = {
                "session": f"s{number // SESSION_EVENTS:05}",
                "role": ("user", "assistant", "tool")[number % 3],
                "timestamp": second,
                "content": text,
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
