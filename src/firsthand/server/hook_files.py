"""The files that hooks and daemon leave beside the log: calls kept for later, the log of hooks, a lock's name.

The invariant: what is not kept is named in the log of hooks, and what cannot stand
there goes to standard error. A kept call is on disk when `keep` returns, power loss
included; a process that a host waits for has a child do it, and waits `APART_S` at most.

Like `hook_protocol` it is loaded without the package, and knows no daemon.
"""

import os
import select
import time

TYPE_CHECKING = False  # known to type checkers by its name; `typing` would cost 3 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KEPT_CALLS_MAX = 1_000
KEPT_FOLDER = "late"  # below hooks/ in the store
LOG_FILE, LOG_BYTES_MAX = "hooks.log", 256 << 10
APART_S = 0.2
"""A host waits no longer than this for what a child does on the disk; the child itself goes on."""
LOCK_FILE, STARTS_FILE = "daemon.lock", "starts"
_ASKED = "no daemon was there"


def give_up(call: "Any", folder: str, payload: bytes | None) -> None:
    """Keep a call whose process hangs, or say that its payload never came."""
    if payload is None:
        apart(lambda: log(folder, f"the payload of a hook of {call.host} did not end in time; nothing was recorded"))
    else:
        apart(lambda: keep(call, payload, folder, "the hook hung"))


def apart(work: "Callable[[], object]") -> None:
    """Do something on the disk in a child process, since nothing interrupts a wait for a disk, and the host waits.

    What can only be said on standard error is said there, if it is known in time.
    """
    reading, writing = os.pipe()
    if not os.fork():
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream, now in ((0, nothing), (1, nothing), (2, writing)):  # the host waits for the end of its own
                os.dup2(now, stream)
            os.closerange(3, 256)
            work()
        finally:
            os._exit(0)
    os.close(writing)
    by = time.monotonic() + APART_S
    while select.select([reading], [], [], max(0.0, by - time.monotonic()))[0] and (said := os.read(reading, 4_096)):
        os.write(2, said)
    os.close(reading)


def keep(call: "Any", payload: bytes, folder: str, why: str) -> None:
    """Put a call into the store's folder of late calls, durably; say in the log why, or that it is lost.

    Args:
        why: empty for a call that is asked of a daemon meanwhile; only its loss is worth a line then.
    """
    begun = time.monotonic()
    path = _kept_path(call)
    late = os.path.dirname(path)
    try:
        make_folder(late if call.store else "")  # without a store: no folder below wherever the host stands
        if len(os.listdir(late)) >= KEPT_CALLS_MAX:
            log(
                folder,
                f"{why or _ASKED}; {late} is full ({KEPT_CALLS_MAX:,} calls), so this one is lost: firsthand doctor",
            )
            return
        part = f"{path}.{os.getpid()}.part"  # the daemon may be keeping the same call
        with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(call.frame(payload))
        os.replace(part, path)
        sync(path)
    except OSError as error:
        log(folder, f"{why or _ASKED}; the call could not be kept either and is lost: {error}")
        return
    if not why:
        return
    taken = time.monotonic() - begun
    slowly = f" (the disk took {taken:.1f} s over it)" if taken > APART_S else ""
    log(folder, f"{why}; the call of {call.host} is kept and will be recorded later{slowly}")


def forget(call: "Any") -> None:
    """Remove a call that was kept and is recorded now; one that was tried before is left to whoever tries it."""
    try:
        os.unlink(_kept_path(call))
    except OSError:  # it never was there, as mostly; else it is recorded once more, which changes nothing
        return


def _kept_path(call: "Any") -> str:
    return os.path.join(call.store, "hooks", KEPT_FOLDER, f"{int(call.moment_ns):020d}-{call.nonce}.0.call")


def sync(path: str) -> None:
    """Have a file and its name on disk.

    Raises:
        OSError: the disk refuses.
    """
    for one, flags in ((path, os.O_RDONLY), (os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)):
        descriptor = os.open(one, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def log(folder: str, text: str) -> None:
    """Write a line to the log of hooks, which is moved aside once when it is full; the last resort is stderr."""
    said = " ".join(filter(None, text.splitlines()))  # what a payload says must not pass for a line of ours
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {os.getpid()} {said}\n"
    path = os.path.join(folder, LOG_FILE)
    if not folder:  # the user has no home
        _say(text)
        return
    try:
        make_folder(folder)
        descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, line.encode("utf-8", "backslashreplace"))
        if os.fstat(descriptor).st_size > LOG_BYTES_MAX:
            os.replace(path, f"{path}.1")
        os.close(descriptor)
    except OSError as error:
        _say(f"{text} (and {path} cannot be written: {error})")


def _say(text: str) -> None:
    """Say something on standard error, which hosts show in their own logs alone."""
    try:
        os.write(2, f"firsthand: {text}\n".encode("utf-8", "backslashreplace"))
    except OSError:  # there is none: nobody is there to be told
        return


def open_private(path: str, flags: int) -> int:
    """Open a file of the user's alone, whatever the umask; a link is not followed and a pipe not waited for.

    Raises:
        OSError: the system refuses, or it is a link.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    os.fchmod(descriptor, 0o600)
    return descriptor


def make_folder(path: str) -> None:
    """Make a folder that is the user's alone, and those above it.

    Raises:
        OSError: the system refuses, or there is no path, as for a user without a home.
    """
    if not path:
        raise FileNotFoundError("expected a folder; the user has no home: set HOME, or XDG_RUNTIME_DIR")
    if not os.path.isdir(path):
        make_folder(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
            os.chmod(path, 0o700)  # the umask may have taken rights of the user's too
        except FileExistsError:  # another hook made it just now
            return
