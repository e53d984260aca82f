"""evals/stream/arc_sandbox.py and arc_worker.py: what a program may not do is stopped, by name, and costs no other."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from firsthand.errors import InvalidArgument, SandboxFailed
from firsthand_evals.stream import arc_worker
from firsthand_evals.stream.arc_sandbox import PROGRAM_CHARACTERS_MAX, Ran, Sandbox

COPY = "def solve(grid): return grid"
TASK = {"train": [{"input": [[0, 1]], "output": [[0, 1]]}], "test": [{"input": [[2, 0]], "output": [[9, 9]]}]}
TWICE = {"train": [{"input": [[0, 1]], "output": [[0, 1, 0, 1]]}], "test": [{"input": [[2, 0]], "output": [[9, 9]]}]}
OUT_OF_IT = """
def solve(grid):
    for one in ().__class__.__base__.__subclasses__():
        if one.__name__ == "_wrap_close":
            system = one.__init__.__globals__
            {0}
    return grid
"""

LIES = r"""
def solve(grid):
    for one in ().__class__.__base__.__subclasses__():
        if one.__name__ == "_wrap_close":
            for pipe in range(3, 9):
                try:
                    one.__init__.__globals__["write"](pipe, b"a fits whatever\n\xff\n")
                except OSError:
                    pass
    return grid
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(seconds=1) as one:
        one.load({"a": TASK, "b": TWICE})
        yield one


def test_a_program_is_run_on_tasks(sandbox):
    """It is tried on the pairs and asked for the held-out grids, whose right answers it never had."""
    found = sandbox.run(COPY, ["a", "b"])
    assert [(one.task, one.fits, one.end) for one in found] == [("a", True, "done"), ("b", False, "done")]
    assert found[0].digest == found[1].digest != "-"
    doubled = sandbox.run("def solve(grid): return [row + row for row in grid]", ["a", "b"])
    assert [one.fits for one in doubled] == [False, True]
    adapted = sandbox.run(
        "def solve(grid, color): return draw(grid, [o for o in objects(grid) if o.color == color])", ["a"]
    )
    assert adapted[0].fits
    with_imports = "import math\nfrom itertools import chain\ndef solve(grid): return grid if math.pi > 3 else 0"
    assert sandbox.run(with_imports, ["a"])[0].fits


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("import socket\ndef solve(grid): return grid", "import"),
        ("import os\ndef solve(grid): return grid", "import"),
        (OUT_OF_IT.format('system["sys"].modules["posix"].fork()'), "process"),
        (OUT_OF_IT.format('[system["fork"]() for _ in iter(int, 1)]'), "process"),
        (OUT_OF_IT.format('system["system"]("true")'), "process"),
        (OUT_OF_IT.format('system["open"]("/dev/null", 1)'), "file"),
        (OUT_OF_IT.format('__import__("ctypes")'), "import"),
        (OUT_OF_IT.format('system["sys"].modules["ctypes"].CDLL(None)'), "native code"),
        (LIES, "output"),
        ('def solve(grid): open("written", "w")', "file"),
        ("def solve(grid): return bytearray(10 << 30)", "memory"),
        ("def solve(grid): return [[1] * 10_000] * 10_000", "output"),
        ('def solve(grid):\n print("x" * 100_000_000)\n return grid', "output"),
        ("def solve(grid):\n while True: pass", "time"),
        ("def solve(grid):\n while True:\n  try:\n   while True: pass\n  except BaseException: pass", "time"),
        ("def solve(grid): return 9 ** 9 ** 9", "time"),
        ("def solve(grid) return grid", "SyntaxError"),
        ("answer = 1", "no function solve(grid)"),
        ("def solve(grid, speed): return grid", "no parameter speed"),
        ("def solve(grid): raise SystemExit", "SystemExit"),
        (f"{COPY}#{'x' * PROGRAM_CHARACTERS_MAX}", "too long"),
    ],
)  # fmt: skip
def test_what_a_program_may_not_do_is_stopped_and_named(sandbox, program, end):
    """Network, files, processes, native code, time, memory and output each have a name; the next one runs as ever."""
    assert sandbox.run(program, ["a"]) == [Ran("a", False, "-", end)]
    assert sandbox.run(COPY, ["a"])[0].fits
    assert not Path("/written").exists()


def test_a_program_that_fails_has_not_solved_its_task(sandbox):
    """What raises, gives no grid, or no numbers of a grid, does not fit; it is no stop, and the error is named."""
    for made, raised in (
        ("[1, 2]", "TypeError"), ("None", "TypeError"), ("[[10]]", ""), ("[[True, True]]", ""), ("[['1']]", ""),
        ("1 / 0", "ZeroDivisionError"), ("solve(grid)", "RecursionError"),
    ):  # fmt: skip
        assert sandbox.run(f"def solve(grid): return {made}", ["a"]) == [Ran("a", False, "-", raised=raised)]
    forged = "class Odd(Exception): pass\nOdd.__name__ = 'x fits ' + 'a' * 99\ndef solve(grid): raise Odd"
    assert sandbox.run(forged, ["a"]) == [Ran("a", False, "-", raised="xfits" + "a" * 35)]


def test_what_stops_it_on_one_task_says_nothing_of_the_others(sandbox):
    """Each task that is left is asked by itself."""
    hangs = "def solve(grid):\n while grid[0][0] == 7: pass\n return grid"
    with Sandbox(seconds=1) as own:
        stuck = {"train": [{"input": [[7]], "output": [[7]]}], "test": [{"input": [[7]]}]}
        own.load({"a": TASK, "stuck": stuck, "c": TASK})
        assert [(one.fits, one.end) for one in own.run(hangs, ["a", "stuck", "c"])] == [
            (True, "done"), (False, "time"), (True, "done"),
        ]  # fmt: skip


def test_one_program_cannot_spoil_another(sandbox):
    """What a program does to the functions that it was given, or to Python's, is gone with it."""
    spoils = "import math\nmath.pi = 0\ndef solve(grid):\n objects.__globals__['draw'] = None\n return grid"
    assert sandbox.run(spoils, ["a"])[0].fits
    good = "import math\ndef solve(grid): return draw(grid, objects(grid)) if math.pi > 3 else 0"
    assert sandbox.run(good, ["a"])[0].fits


def test_what_holds_programs_is_said(sandbox):
    """Limits and the audit hook hold everywhere; on Linux the kernel's own means are among them or are not named."""
    assert sandbox.layers[-2:] == ("limits", "audit hook")
    assert set(sandbox.layers) <= {"network namespace", "system calls", "limits", "audit hook"}


@pytest.mark.parametrize(
    "call", [socket.socket, lambda: os.open("/", os.O_RDONLY), os.fork, lambda: os.kill(os.getpid(), 0)]
)
def test_the_kernel_kills_at_a_forbidden_call(call):
    """Also without the audit hook a socket, a file, a process and a signal are the end of the process."""
    seccomp = arc_worker._filter()
    if seccomp is None:
        pytest.skip("this kernel takes no filter of system calls")
    child = os.fork()
    if child == 0:
        try:
            arc_worker._filtered(seccomp)
            call()
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGSYS


def test_what_is_not_loaded_and_a_process_that_is_gone_are_said(sandbox):
    """A task that was never loaded is refused; a process that was killed is an error, and the next call starts anew."""
    with pytest.raises(InvalidArgument, match="'x' was not"):
        sandbox.run(COPY, ["x"])
    assert sandbox.run(COPY, ["a"])[0].fits  # its process is there, whichever test came before
    sandbox._process.kill()
    sandbox._process.wait()
    with pytest.raises(SandboxFailed, match="run it again"):
        sandbox.run(COPY, ["a"])
    assert sandbox.run(COPY, ["a"])[0].fits
