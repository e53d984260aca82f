"""The process in which programs run: a parent that runs none itself, and for each a child with nothing to lose.

It is run by its path, isolated (``python -I -S``), and reads one JSON value a line:

    {"tasks": {"a1": {"train": [{"input": ..., "output": ...}], "test": [{"input": ...}]}}}
    {"program": "def solve(grid): ...", "tasks": ["a1"], "seconds": 2}

The answer to the second is ``{"said": ["a1 fits 5f3a...", "a2 not - KeyError", ...], "end": "done"}``:
of a program that fits nothing the error that it failed with first is named. The end
may be ``time``, ``memory``, ``output``, ``file``, ``network``, ``process``, ``import``, ``native
code``, ``system call`` or ``died``. The right answers of the tests are never sent here.

The invariant: no program runs in the process that reads jobs; each runs in a child of
its own with a limit of processor time, memory, files and output, and what one does to
its child is gone with it. Where the system allows it, there is a network namespace
without any network, and a filter of system calls that kills whoever asks for a socket, a
file or a process; which of these hold is said in the first line. An audit hook, which
no program can take away, stops the same and names it.
"""

from __future__ import annotations

import builtins
import ctypes
import hashlib
import json
import os
import platform
import resource
import select
import signal
import struct
import sys
import time
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

MEMORY_BYTES_MAX = 512 << 20
OUTPUT_BYTES_MAX = 1 << 20
"""Of what a child says to its parent."""
PRINTED_CHARACTERS_MAX = 64 << 10
ERROR_CHARACTERS_MAX = 40
WAIT_TIMES = 10
"""How much longer than its processor time a child is waited for: a busy machine is no fault of a program."""
FILES_MAX = 16
"""Open at once; those that a program may use are open already."""
GRID_SIDE_MAX = 64
MODULES = frozenset({"math", "itertools", "collections", "functools", "operator", "copy", "heapq"})
STOPPED = 3
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_KILL, _ALLOW = 0x80000000, 0x7FFF0000
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# open openat openat2 creat | socket socketpair connect | clone clone3 fork vfork execve execveat | ptrace kill tkill
# tgkill | unlink unlinkat rename mkdir mkdirat | io_uring_setup
_CALLS = {
    "x86_64": (2, 257, 437, 85, 41, 53, 42, 56, 435, 57, 58, 59, 322, 101, 62, 200, 234, 87, 263, 82, 83, 258, 425),
    "aarch64": (56, 437, 198, 199, 203, 220, 435, 221, 281, 117, 129, 130, 131, 35, 38, 34, 425),
}
_EVENTS = {
    "socket.": "network", "open": "file", "shutil.": "file", "tempfile.": "file", "ctypes.": "native code",
    "subprocess.": "process", "pty.": "process", "import": "import", "sys.addaudithook": "native code",
    "mmap.": "file", "signal.": "process", "sqlite3.": "file", "urllib.": "network", "ftplib.": "network",
    "http.": "network", "code.__new__": "native code", "cpython.": "native code",
}  # fmt: skip
_PROCESSES = ("os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.kill", "os.killpg", "os.startfile")


def main() -> None:
    """Answer jobs until there are no more."""
    prelude = Path(__file__).with_name("arc_grids.py").read_text(encoding="utf-8")
    known: dict[str, Any] = {"__name__": "arc_grids"}
    exec(compile(prelude, "arc_grids", "exec"), known)  # noqa: S102 - our own file
    for name in MODULES:
        __import__(name)
    layers = _no_network()
    seccomp = _filter()
    layers += ["system calls"] if seccomp is not None else []
    _answer({"layers": [*layers, "limits", "audit hook"]})
    tasks: dict[str, Any] = {}
    for line in sys.stdin.buffer:
        job = json.loads(line)
        if "program" not in job:
            tasks = job["tasks"]
            for task in tasks.values():  # what is found in a grid is found once for all programs
                for pair in (*task["train"], *task["test"]):
                    known["objects"](pair["input"])
            continue
        _answer(_run(job, tasks, known, seccomp))


def _answer(found: dict[str, Any]) -> None:
    left = json.dumps(found).encode() + b"\n"
    while left:
        left = left[os.write(1, left) :]


def _no_network() -> list[str]:
    """Go to where there is no network; nothing when the system does not let us."""
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    return ["network namespace"] if unshare is not None and unshare(_NEW_USER | _NEW_NET) == 0 else []


def _filter() -> bytes | None:
    """Give the filter of system calls for this machine, as the kernel reads it; None where there is none."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _CALLS:
        return None
    calls = _CALLS[machine]
    steps = [(0x20, 0, 0, 4), (0x15, 1, 0, _ARCHITECTURE[machine]), (0x06, 0, 0, _KILL), (0x20, 0, 0, 0)]
    steps += [(0x35, len(calls) + 1, 0, 0x40000000)]  # calls of another numbering
    steps += [(0x15, len(calls) - at, 0, call) for at, call in enumerate(calls)]
    steps += [(0x06, 0, 0, _ALLOW), (0x06, 0, 0, _KILL)]
    found = b"".join(struct.pack("HBBI", *step) for step in steps)
    child = os.fork()  # tried once: where the kernel takes no filter, that is said and not found out later
    if child == 0:
        os._exit(0 if _filtered(found) else 1)
    return found if os.waitpid(child, 0)[1] == 0 else None


# one job -----------------------------------------------------------------------------------------


def _run(job: dict[str, Any], tasks: dict[str, Any], known: dict[str, Any], seccomp: bytes | None) -> dict[str, Any]:
    """Run a program in a child, and say how it ended."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        _child(job, tasks, known, writes, seccomp)
    os.close(writes)
    said, end = _heard(reads, time.monotonic() + WAIT_TIMES * job["seconds"])
    os.close(reads)
    if end:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    lines = said.decode("ascii", "replace").splitlines()
    if lines and lines[-1].startswith("stopped "):
        end = end or lines.pop().removeprefix("stopped ")
    return {"said": [line for line in lines if not line.startswith("stopped ")], "end": end or _end(status)}


def _heard(reads: int, until: float) -> tuple[bytes, str]:
    """Hear a child out, up to a time and a length."""
    said = b""
    while (left := until - time.monotonic()) > 0:
        if not select.select([reads], [], [], left)[0]:
            break
        more = os.read(reads, 1 << 16)
        if not more:
            return said, ""
        said += more
        if len(said) > OUTPUT_BYTES_MAX:
            return said[:OUTPUT_BYTES_MAX], "output"
    return said, "time"


def _end(status: int) -> str:
    if os.WIFSIGNALED(status):
        by: dict[int, str] = {signal.SIGXCPU: "time", signal.SIGSYS: "system call", signal.SIGXFSZ: "file"}
        return by.get(os.WTERMSIG(status), "died")
    return "done" if os.WEXITSTATUS(status) == 0 else "died"


# the child ---------------------------------------------------------------------------------------


def _child(
    job: dict[str, Any], tasks: dict[str, Any], known: dict[str, Any], writes: int, seccomp: bytes | None
) -> NoReturn:
    """Run a program on its tasks, and say of each what came of it; never return."""
    stop = _stopper(writes)
    try:
        code = compile(job["program"], "program", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        os.write(writes, f"stopped {type(error).__name__}\n".encode())
        os._exit(0)
    _limit(job["seconds"], seccomp)
    sys.addaudithook(_hook(stop))
    try:
        _solve(code, job["tasks"], tasks, known, writes, stop)
    except MemoryError:
        stop("memory")
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is its answer; the process ends here
        stop(type(error).__name__)
    os._exit(0)


def _stopper(writes: int) -> Any:
    leave, write = os._exit, os.write

    def stop(why: str) -> NoReturn:
        write(writes, f"stopped {why}\n".encode())
        leave(STOPPED)

    return stop


def _limit(seconds: int, seccomp: bytes | None) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nowhere, each)
    for what, most in (
        (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NOFILE, FILES_MAX),
        (resource.RLIMIT_NPROC, 0), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, MEMORY_BYTES_MAX),
    ):  # fmt: skip
        hard = most + 1 if what == resource.RLIMIT_CPU else most
        resource.setrlimit(what, (most, hard))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    if seccomp is not None and not _filtered(seccomp):
        os._exit(1)


def _filtered(seccomp: bytes) -> bool:
    """Let the kernel kill this process at any call of the filter; False when it does not do that here."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))

    held = ctypes.create_string_buffer(seccomp)
    program = Program(len(seccomp) // 8, ctypes.cast(held, ctypes.c_void_p).value)
    library = ctypes.CDLL(None)
    if library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(library.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0)


def _hook(stop: Any) -> Any:
    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import" and arguments and arguments[0] in MODULES:
            return
        if event.startswith("os."):
            stop("process" if event.startswith(_PROCESSES) else "file")
        for begins, why in _EVENTS.items():
            if event.startswith(begins):
                stop(why)

    return hook


def _solve(
    code: CodeType, names: list[str], tasks: dict[str, Any], known: dict[str, Any], writes: int, stop: Any
) -> None:
    given = {name: it for name, it in known.items() if not name.startswith("_")}
    space = {**given, "__builtins__": _builtins(stop), "__name__": "program"}
    exec(code, space)  # noqa: S102 - that is what this process is for
    solve = space.get("solve")
    if not callable(solve):
        stop("no function solve(grid)")
    assert solve is not None  # else it was stopped
    took = solve.__code__.co_varnames[1 : solve.__code__.co_argcount] if hasattr(solve, "__code__") else ()
    unknown = [name for name in took if name not in given["PARAMETERS"]]
    if unknown:
        stop(f"no parameter {unknown[0]}"[:80])
    for name in names:
        os.write(writes, f"{name} {_tried(solve, took, tasks[name], given['tries'], stop)}\n".encode())


def _tried(solve: Any, took: Any, task: dict[str, Any], tries: Any, stop: Any) -> str:
    """Seek the parameters with which a program gives all pairs, and say what it makes of the tests with them."""
    train, first = task["train"], None
    failed: list[str] = []
    for found in tries(took, train[0]["input"], train[0]["output"]) if took else [{}]:
        first = found if first is None else first
        if all(_grid(solve, pair["input"], found, stop, failed) == pair["output"] for pair in train):
            return f"fits {_digest(solve, task, found, stop, failed)}"
    made = _digest(solve, task, first, stop, failed) if first is not None else "-"
    return " ".join(["not", made, *failed[:1]])


def _grid(solve: Any, grid: list[list[int]], found: dict[str, Any], stop: Any, failed: list[str]) -> Any:
    """Give what a program makes of a grid; None when it is no grid, or it raises, which is noted by its name."""
    try:
        made = solve([row[:] for row in grid], **found)
        if isinstance(made, (list, tuple)) and len(made) > GRID_SIDE_MAX:
            stop("output")
        rows = [list(row) for row in made]
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a program that fails on a grid does not solve it, and is told so
        plain = "".join(sign for sign in type(error).__name__ if sign.isascii() and sign.isalpha())
        failed.append(plain[:ERROR_CHARACTERS_MAX] or "error")
        return None
    if any(len(row) > GRID_SIDE_MAX for row in rows):
        stop("output")
    return rows if all(type(it) is int and 0 <= it <= 9 for row in rows for it in row) else None


def _digest(solve: Any, task: dict[str, Any], found: dict[str, Any], stop: Any, failed: list[str]) -> str:
    made = [_grid(solve, pair["input"], found, stop, failed) for pair in task["test"]]
    return "-" if None in made else hashlib.sha256(json.dumps(made).encode()).hexdigest()[:16]


def _builtins(stop: Any) -> dict[str, Any]:
    """Give what a program may use of Python: no files, and of modules those that compute."""
    left = {name: getattr(builtins, name) for name in dir(builtins) if name not in _WITHOUT}
    real, printed = builtins.__import__, [0]

    def import_(name: str, *rest: Any, **more: Any) -> Any:
        if name not in MODULES:
            stop("import")
        return real(name, *rest, **more)

    def print_(*said: Any, sep: str = " ", end: str = "\n", **_: Any) -> None:
        printed[0] += sum(len(str(one)) for one in said) + len(sep) * len(said) + len(end)
        if printed[0] > PRINTED_CHARACTERS_MAX:
            stop("output")

    return {**left, "__import__": import_, "print": print_}


_WITHOUT = frozenset({"input", "breakpoint", "exit", "quit", "help"})

if __name__ == "__main__":
    main()
