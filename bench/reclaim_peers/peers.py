"""The peers as memories under test: a process for each, spoken to by lines of JSON.

The invariant: a peer sees what Firsthand sees, the sessions without what a memory carried or answered itself, and
is asked nothing that a reader did not ask. What a peer raises costs its item; a writer that cannot be reached ends
the run, since that is no fault of the peer.
"""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from firsthand.errors import ModelUnavailable
from firsthand.value import value
from firsthand_evals.reclaim.ours import said
from firsthand_evals.reclaim.seam import Messages, Subject

from .writer import Writer

SCRIPT = Path(__file__).with_name("process.py")
FACTS_TOKENS = 400
"""That a model may write when mem0 asks it for facts; its own default is 2,000."""


@value
class Kind:
    """A peer.

    Attributes:
        package: whose version is told; ``interpreter``: the one of the three that it runs in.
        writes: True when a model writes its memories; ``asked``: True when it can be asked.
    """

    name: str
    label: str
    package: str
    interpreter: str
    writes: bool
    asked: bool


KINDS = (
    Kind("langchain_summary", "LangChain ConversationSummaryMemory", "langchain-classic", "langchain", True, False),
    Kind("langchain_middleware", "LangChain SummarizationMiddleware", "langchain", "langchain", True, False),
    Kind("mem0", "mem0", "mem0ai", "mem0", True, True),
    Kind("mem0_raw", "mem0 (infer=False)", "mem0ai", "mem0", False, True),
    Kind("chromadb", "ChromaDB over turns", "chromadb", "chromadb", False, True),
)
NOT_ASKED = ", not asked"


class Process:
    """A peer's process; started when it is first asked, and again after it died.

    Args:
        keeps: True keeps what was written of a session, so that all readers of it ask one and the same memory; False
            in chains, whose memories are written to again.
    """

    def __init__(
        self, kind: Kind, python: Path, folder: Path, options: dict[str, Any], writer: Writer | None, *, keeps: bool,
        script: Path = SCRIPT,
    ) -> None:  # fmt: skip
        self.kind, self._python, self._folder, self._options, self._writer = kind, python, folder, options, writer
        self.keeps, self._script = keeps, script
        self._written: dict[str, tuple[int, str]] = {}
        self._numbers = itertools.count()
        self._running: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def open(self) -> int:
        """Open a memory."""
        if self._running is None or self._running.poll() is not None:
            self._start()
        number = next(self._numbers)
        self.ask(do="open", memory=number)
        return number

    def write(self, number: int | None, messages: Messages, budget: int) -> tuple[int, str]:
        """Let a memory write, a new one when there is no number; give its number and what it carries."""
        talk = said(messages)
        key = json.dumps([talk, budget])
        if number is None and key in self._written:
            return self._written[key]
        number = self.open() if number is None else number
        written = number, self.ask(do="write", memory=number, said=talk, budget=budget)
        if self.keeps:
            self._written[key] = written
        return written

    def ask(self, **asked: Any) -> str:
        """Ask the peer.

        Raises:
            RuntimeError: what the peer raised, or that its process ended.
            ModelUnavailable: its writer could not be reached.
        """
        running = self._running
        assert running is not None, "open a memory before asking"
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(json.dumps(asked) + "\n")
        running.stdin.flush()
        line = running.stdout.readline()
        told = json.loads(line) if line else {"error": f"its process ended with {running.wait()}"}
        if self._writer is not None and self._writer.fault:
            raise ModelUnavailable(f"the writer of {self.kind.name} gave no reply: {self._writer.fault}")
        if "error" in told:
            raise RuntimeError(told["error"])
        return str(told["text"])

    def _end(self) -> None:
        """End the process by the end of its input, and close what led to it."""
        if self._running is not None:
            self._running.communicate()
            self._running = None

    def _start(self) -> None:
        self._end()
        self._written.clear()
        folder = self._folder / f"{self.kind.name}-{next(self._numbers)}"
        folder.mkdir(parents=True)
        (folder / "options.json").write_text(json.dumps(self._options), encoding="utf-8")
        with (folder / "log.txt").open("w", encoding="utf-8") as log:
            self._running = subprocess.Popen(
                [str(self._python), str(self._script), self.kind.name, str(folder)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip


class Carrying:
    """A peer's memory that is not asked."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._number: int | None = None

    def write(self, messages: Messages, budget: int) -> str:
        """Let it write."""
        self._number, text = self._process.write(self._number, messages, budget)
        return text

    def close(self) -> None:
        """Let it forget, unless it is kept for the next reader."""
        if self._number is not None and not self._process.keeps:
            self._process.ask(do="close", memory=self._number)


class Asked(Carrying):
    """A peer's memory that can be asked."""

    def recall(self, query: str) -> str:
        """Ask it; in the first session of a chain there is nothing in it yet."""
        self._number = self._process.open() if self._number is None else self._number
        return self._process.ask(do="recall", memory=self._number, query=query)


class Maker:
    """Makes the memories of a peer."""

    def __init__(self, process: Process, kind: type[Carrying]) -> None:
        self._process, self._kind = process, kind

    def __call__(self) -> Carrying:
        """Make one."""
        return self._kind(self._process)


def subjects(process: Process, by: str) -> tuple[Subject, ...]:
    """Give a peer as subjects: as it is, and, if it can be asked, also unasked.

    Args:
        by: the writer's name; it stands behind the peer's when a model writes.
    """
    kind = process.kind
    name = named(kind, by)
    if not kind.asked:
        return (Subject(name, Maker(process, Carrying)),)
    return (Subject(name, Maker(process, Asked)), Subject(name + NOT_ASKED, Maker(process, Carrying)))


def named(kind: Kind, by: str) -> str:
    """Name a peer in items; a writer makes another memory of it."""
    return f"{kind.name} by {by}" if kind.writes else kind.name


def versions(python: Path, packages: Sequence[str], ask: Callable[..., Any] = subprocess.run) -> dict[str, str]:
    """Say which versions an interpreter has.

    Raises:
        RuntimeError: one is not installed there.
    """
    code = f"import json, importlib.metadata as m; print(json.dumps({{n: m.version(n) for n in {list(packages)}}}))"
    done = ask([str(python), "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"expected {', '.join(packages)} in {python}; install them there: {done.stderr[-300:]}")
    return dict(json.loads(done.stdout))
