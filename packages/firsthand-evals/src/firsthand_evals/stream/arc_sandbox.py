"""Programs that came from outside are run here: in processes with limits and no network, many of them a second.

    with Sandbox() as sandbox:
        sandbox.load({"a1": task})
        sandbox.run("def solve(grid): return grid", ["a1"])     [Ran(task="a1", fits=False, digest="...", end="done")]

The invariant: a program that is stopped costs its own time and nothing else; each stop
has its name; what ran twice alike is run once. The right answers to what is held out
never enter the process. It does not know what a program is for.
"""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from firsthand.errors import InvalidArgument, SandboxFailed
from firsthand.value import value

SECONDS = 2
"""Of processor time for one program on one task; it is waited for longer, see the worker."""
SECONDS_MAX = 20
"""... and on all of a call."""
TASKS_PER_SECOND = 20
"""How many tasks are reckoned for each second more."""
ANSWER_SECONDS = 300
"""Until a process that should have stopped its child by itself is given up."""
PROGRAM_CHARACTERS_MAX = 20_000
WORKER = "arc_worker.py"
DONE = "done"
_SAID = re.compile(r"(?P<task>.+) (?P<how>fits|not) (?P<digest>[0-9a-f]{16}|-)(?: (?P<raised>[A-Za-z]{1,40}))?")


@value
class Ran:
    """What came of one program on one task.

    Attributes:
        fits: whether it gives every pair, with some parameters.
        digest: of what it makes of the held-out grids; ``-`` when that is no grid.
        end: ``done``, or by what it was stopped.
        raised: of one that does not fit, the error that it failed with, as when its grid was read; empty for none.
    """

    task: str
    fits: bool
    digest: str
    end: str = DONE
    raised: str = ""


class Sandbox:
    """A process that runs programs, each in a child of its own."""

    def __init__(self, *, seconds: int = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._tasks: Mapping[str, Any] = {}
        self._layers: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    @property
    def layers(self) -> tuple[str, ...]:
        """Name what holds programs on this machine."""
        self._started()
        return self._layers

    def load(self, tasks: Mapping[str, Any]) -> None:
        """Take tasks in place of those before, as ARC writes them; of a test its input alone is handed on."""
        self._tasks = {
            name: {"train": task["train"], "test": [{"input": one["input"]} for one in task["test"]]}
            for name, task in tasks.items()
        }
        self.close()

    def run(self, program: str, tasks: Collection[str]) -> list[Ran]:
        """Run a program on tasks.

        Args:
            program: Python with a function ``solve(grid)``; it may take the parameters of `arc_grids.PARAMETERS`.

        Raises:
            InvalidArgument: a task was never loaded.
            SandboxFailed: the process that watches over it is gone.
        """
        unknown = [name for name in tasks if name not in self._tasks]
        if unknown:
            raise InvalidArgument(f"a program runs on tasks that were loaded; {unknown[0]!r} was not")
        if len(program) > PROGRAM_CHARACTERS_MAX:
            return [Ran(name, False, "-", "too long") for name in tasks]
        asked = list(tasks)
        ran, end = self._asked(program, asked)
        done = {one.task: one for one in ran}
        left = [name for name in asked if name not in done]
        if len(asked) > 1 and end != DONE:  # what stopped it on one task says nothing of the others
            for name in left:
                found, alone = self._asked(program, [name])
                done[name] = found[0] if found else Ran(name, False, "-", alone)
        return [done.get(name) or Ran(name, False, "-", end) for name in asked]

    def _asked(self, program: str, tasks: Sequence[str]) -> tuple[list[Ran], str]:
        seconds = min(SECONDS_MAX, self._seconds + len(tasks) // TASKS_PER_SECOND)
        answer = self._answer({"program": program, "tasks": tasks, "seconds": seconds}, ANSWER_SECONDS)
        read = [_SAID.fullmatch(line) for line in answer["said"]]
        found = [
            Ran(one["task"], one["how"] == "fits", one["digest"], raised=one["raised"] or "")
            for one in read if one and one["task"] in tasks
        ]  # fmt: skip
        if len(found) != len(read):  # it wrote to its pipe itself: nothing that it says is taken
            return [], "output"
        return found, answer["end"]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            worker = Path(__file__).with_name(WORKER)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(worker)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, env={}, cwd="/",
            )  # fmt: skip
            self._layers = tuple(self._line(self._process, ANSWER_SECONDS)["layers"])
            self._say(self._process, {"tasks": self._tasks})
        return self._process

    def _answer(self, job: Mapping[str, Any], seconds: float) -> Any:
        process = self._started()
        self._say(process, job)
        return self._line(process, seconds)

    def _say(self, process: subprocess.Popen[bytes], what: Mapping[str, Any]) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(what).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            self.close()
            raise SandboxFailed("the process that runs programs is gone; run it again") from error

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> Any:
        assert process.stdout is not None
        ready = select.select([process.stdout], [], [], seconds)[0]
        line = process.stdout.readline() if ready else b""
        if not line.endswith(b"\n"):
            self.close()
            raise SandboxFailed(
                f"the process that runs programs gave no answer within {seconds:g} seconds; run it again"
            )
        return json.loads(line)
