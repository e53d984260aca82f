"""Start the server: what a hook's process does when nobody listens.

The invariant: at most one server a user. The lock that says so is taken here and lives on
in the server's process, so there is no moment in which two could start.

Like `hook_protocol` it is loaded without the package.
"""

import os
import sys
import time

TYPE_CHECKING = False  # known to type checkers by its name; `typing` would cost 3 ms
if TYPE_CHECKING:
    from typing import Any

STARTS_MAX, STARTS_SECONDS = 3, 60.0
"""A server that dies as soon as it is started is started so often in so many seconds, and no more."""
_HERE = os.path.dirname(os.path.abspath(__file__))


def start_server(call: "Any", folder: str, files: "Any") -> bool:
    """Start a server unless one runs, or too many were started lately; say whether one was.

    Args:
        call: its store is looked at first, for what waits there.
    """
    import fcntl

    try:
        files.make_folder(folder)
        lock: int = files.open_private(os.path.join(folder, files.LOCK_FILE), os.O_RDWR | os.O_CREAT)
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
        _become(call, folder, lock, files)
    os.close(lock)
    return True


def may_start(folder: str, files: "Any", *, count: bool) -> bool:
    """Say whether a daemon may be started now; ``count`` it as started then."""
    path = os.path.join(folder, files.STARTS_FILE)
    now = time.time()
    try:
        with os.fdopen(files.open_private(path, os.O_RDONLY), encoding="ascii") as file:
            told = [float(one) for one in file.read(1_000).split()]
    except (OSError, ValueError):
        told = []  # never started, or a file that says nothing: one too many is no harm
    lately = [one for one in told if 0 <= now - one < STARTS_SECONDS]
    if len(lately) >= STARTS_MAX:
        return False
    if count:
        try:
            with os.fdopen(files.open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
                file.write("\n".join(map(str, [*lately, now])))
        except OSError as error:
            files.log(folder, f"no daemon is started, since starts cannot be counted: {error}")
            return False
    return True


def _become(call: "Any", folder: str, lock: int, files: "Any") -> None:
    """Turn this child into the server's process, without the host's streams; never returns."""
    try:
        os.setsid()
        _let_go(lock)
        os.set_inheritable(lock, True)
        client = os.path.join(_HERE, "hook_client.py")
        words = [sys.executable, "-I", client, "--daemon", folder, str(lock), call.store, call.namespace, call.embedder]
        os.execv(sys.executable, words)  # noqa: S606
    except OSError as error:
        files.log(folder, f"the daemon could not be started: {error}")
    finally:
        os._exit(1)


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


def _let_go(keep: int) -> None:
    """Give up the host's streams, whose end it may be waiting for, and every other descriptor but this."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.closerange(3, keep)
    os.closerange(keep + 1, 256)
