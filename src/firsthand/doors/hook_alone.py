"""What a hook's process does when no daemon answers: answer by itself, keep what it cannot, start a daemon.

The answer is worked out by a child process, so that a stuck disk or a store that is
held cannot hold the host: when the time is up the child is killed (the log is made
for that) and the call is kept in the store's `hooks/late`, from where the next daemon
records it. The invariant: a call is answered, kept, or named in the log of hooks.

Like `hook_asking` it is loaded without the package; only the child imports that.
"""

import os
import sys
import time

TYPE_CHECKING = False  # known to type checkers by its name; `typing` would cost 3 ms
if TYPE_CHECKING:
    from typing import Any

STARTS_MAX, STARTS_SECONDS = 3, 60.0
"""A daemon that dies as soon as it is started is started so often in so many seconds, and no more."""
ALONE_MAX = 8
"""So many hooks of a user answer by themselves at once; one more keeps its call, which costs a fiftieth.

Each loads the package. Where a daemon is too slow, unbounded ones would take the processor that it needs."""
ALONE_FILE = "alone"
AFTERWARDS_S = 20
"""A child whose answer is given may work so long on what waits, where there is no daemon to do it."""

_WHY = {
    b"E": "its process ended without an answer",
    b"N": f"{ALONE_MAX} hooks answer by themselves already",
}
_HERE = os.path.dirname(os.path.abspath(__file__))


def answer(call: "Any", payload: bytes, folder: str, by: float, files: "Any") -> bytes:
    """Answer without a daemon, in a child process; what is not answered by that time is kept, and nothing is said."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _work(call, payload, folder, writing, by, files)
    os.close(writing)
    said = _until(reading, by)
    if said[:1] == b"A":
        return said[1:]
    os.kill(child, 9)  # it has died, or hangs; it is ours and not waited for, so the number is still its own
    why = _WHY.get(bytes(said), "no answer in time")
    files.apart(lambda: files.keep(call, payload, folder, why))
    return b""


def _place(folder: str, files: "Any") -> int | None:
    """Take one of the places of those who answer by themselves, a lock that ends with its process; None without one.

    Where locks cannot be taken at all nothing is bounded: an answer counts for more.
    """
    import fcntl

    for number in range(ALONE_MAX):
        try:
            files.make_folder(folder)
            place = os.open(os.path.join(folder, f"{ALONE_FILE}.{number}"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            files.log(folder, f"it cannot be counted how many hooks answer by themselves: {error}")
            return os.open(os.devnull, os.O_RDONLY)
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(place)
            continue
        return place
    return None


# a daemon ------------------------------------------------------------------------------------------


def start_daemon(folder: str, files: "Any") -> bool:
    """Start a daemon unless one runs, or too many were started lately; say whether one was.

    The lock that says so is taken here and lives on in the daemon's process: there is
    no moment in which two could start.
    """
    import fcntl

    if not folder:
        return False
    try:
        files.make_folder(folder)
        lock = os.open(os.path.join(folder, files.LOCK_FILE), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        files.log(folder, f"no daemon can be started: {error}")
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    if not may_start(folder, files, count=True):
        os.close(lock)
        return False
    if not os.fork():
        _become(folder, lock, files)
    os.close(lock)
    return True


def may_start(folder: str, files: "Any", *, count: bool) -> bool:
    """Say whether a daemon may be started now; ``count`` it as started then."""
    path = os.path.join(folder, files.STARTS_FILE)
    now = time.time()
    try:
        with open(path, encoding="ascii") as file:
            told = [float(one) for one in file.read(1_000).split()]
    except (OSError, ValueError):
        told = []  # never started, or a file that says nothing: one too many is no harm
    lately = [one for one in told if 0 <= now - one < STARTS_SECONDS]
    if len(lately) >= STARTS_MAX:
        return False
    if count:
        try:
            with open(path, "w", encoding="ascii") as file:
                file.write("\n".join(map(str, [*lately, now])))
        except OSError as error:
            files.log(folder, f"no daemon is started, since starts cannot be counted: {error}")
            return False
    return True


def _become(folder: str, lock: int, files: "Any") -> None:
    """Turn this child into the daemon's process, without the host's streams; never returns."""
    try:
        os.setsid()
        _let_go(lock)
        os.set_inheritable(lock, True)
        client = os.path.join(_HERE, "hook_client.py")
        os.execv(sys.executable, [sys.executable, "-I", client, "--daemon", folder, str(lock)])  # noqa: S606
    except OSError as error:
        files.log(folder, f"the daemon could not be started: {error}")
    finally:
        os._exit(1)


# the child -----------------------------------------------------------------------------------------


def _work(call: "Any", payload: bytes, folder: str, writing: int, by: float, files: "Any") -> None:
    """Answer in a child process; never returns."""
    try:
        import gc

        gc.disable()  # so short a process makes no garbage worth the looking
        os.setsid()
        _let_go(writing)
        place = _place(folder, files)
        if place is None:
            os.write(writing, b"N")
            return
        find_package()
        from firsthand.doors import hook_asking
        from firsthand.doors.hook_answering import afterwards, answer_once

        left_ms = max(1, int((by - time.monotonic()) * 1000) - 50)  # what is left for the answer's way back
        kept: list[object] = []
        hook_asking.write(writing, b"A" + answer_once(call, payload, folder, left_ms, kept))
        os.close(writing)
        os.close(place)
        if not may_start(folder, files, count=False) or not _wanted():
            gc.enable()
            _end_after(AFTERWARDS_S)
            afterwards(kept, call.store, folder, AFTERWARDS_S / 2)
    except BaseException as error:  # noqa: BLE001 - the outermost frame of this process
        files.log(folder, f"answering a hook of {call.host} failed: {type(error).__name__}: {error}{_where(error)}")
        try:
            os.write(writing, b"E")
        except OSError:  # it is closed, since the answer was given
            os._exit(0)
    finally:
        os._exit(0)


def _where(error: BaseException) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return "".join(f" < {os.path.basename(one.filename)}:{one.lineno} {one.name}" for one in reversed(frames))


def _wanted() -> bool:
    from firsthand import environment

    return environment.daemon_wanted()


def _end_after(seconds: float) -> None:
    """Let the system end this process after so long, whatever it is at."""
    import _signal  # type: ignore[import-not-found]  # a C module without stubs; `signal` imports enum: 4 ms

    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def find_package() -> None:
    """Make the package and what it needs importable, in a process that was started without ``site`` too.

    The package is this client's own, also where another one is installed for the interpreter.
    They lie beside each other, or the package lies elsewhere (installed to be edited)
    and the rest in the interpreter's own folder; for any other way ``site`` is run.
    """
    if "firsthand" in sys.modules:
        return
    root = os.path.dirname(os.path.dirname(_HERE))
    if root not in sys.path and any(os.path.isdir(os.path.join(place, "firsthand")) for place in sys.path):
        sys.path.insert(0, root)
    own = os.path.join(os.path.dirname(os.path.dirname(sys.executable)), "lib")
    own = os.path.join(own, f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    for place in dict.fromkeys((root, own)):
        if place not in sys.path and os.path.isdir(place):
            sys.path.append(place)
        if os.path.isdir(os.path.join(place, "apsw")):
            return
    import site

    site.main()


def _let_go(*keep: int) -> None:
    """Give up the host's streams, whose end it may be waiting for, and every other descriptor but these."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    first = 3
    for one in (*sorted(keep), 256):
        os.closerange(first, one)
        first = one + 1


def _until(reading: int, by: float) -> bytes:
    """Read what the child says until it closes or the time is up; ``E`` alone when it ended without an answer."""
    import select

    said = bytearray()
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, by - time.monotonic()))
        if not ready:
            return b""
        piece = os.read(reading, 1 << 18)
        if not piece:
            return bytes(said) or b"E"
        said += piece
