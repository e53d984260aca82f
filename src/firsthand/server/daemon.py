"""The daemon: answers the hooks of one user from stores that are open already, then does what they left.

    accept -> peer is the user -> a worker: read the request -> answer -> reply
                                            `-> what is left to do -> one thread, one store at a time

The invariants: at most one a user (the lock that its starter took lives in this
process); it waits in system calls and uses no processor when nothing comes; it stops
by itself when idle, when its own code was replaced, when it has grown too large, or
when a newer version asks; whatever it leaves undone a hook does by itself, or keeps.
"""

from __future__ import annotations

import fcntl
import gc
import hmac
import json
import os
import resource
import secrets
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import firsthand
from firsthand import FirsthandError, environment
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.server import hook_files, hook_protocol
from firsthand.server.daemon_jobs import Jobs
from firsthand.server.daemon_stores import Stores
from firsthand.server.hook_answers import answered, index
from firsthand.server.hook_protocol import ANSWERED, BUSY, HOOK, LEAVE, PATIENT_MS, STATUS, STOP, TAKEN, VERSION, Call

IDLE_S = 15 * 60.0
LOOK_S = 5.0
"""Between two looks whether something was erased: what this process has read goes with it."""
CONNECTIONS_MAX = 64  # at work or waiting; one more is sent away at once
BACKLOG = 64
RECALL_MS = 600
"""A hook that waited so long is recorded and told nothing more: what is left of its time is for those behind it."""
THREADS_MAX = 6
AT_ONCE = 2
"""So many hooks of a store are answered at the same time: one thread of Python runs, and one may wait for the disk."""
REQUEST_S = 5.0
"""A caller that does not say its request whole in so long is let go."""
CALL_HANGS_S = 30.0
"""What a thread has been at for so long waits for a file or another process for ever: nothing ends a thread, so this
process ends, and the next hook starts a fresh one. Tries are counted before, so what hangs each time is given up."""
MEMORY_BYTES_MAX = 512 << 20
"""Of the process; above it stops when it has nothing to do, and the next hook starts a fresh one."""
CLOSING_S = 2.0
_ERASED = "its memory may hold what was erased in"
_SWITCH_S = 0.001  # a thread at long work must not hold up an answer for the usual 5 ms a turn


def serve(folder: str, lock: int, first: Sequence[str] = ()) -> None:
    """Be the daemon of a folder until it stops; the lock is held already, and given back by the process's end.

    Args:
        first: store, namespace and embedder of the call that it was started for, whose hook may wait no more.
    """
    os.umask(0o077)
    sys.setswitchinterval(_SWITCH_S)
    os.pwrite(lock, f"{os.getpid():>10}\n".encode(), 0)
    try:
        server = _Daemon(folder)
        if len(first) == 3:
            server.look(*first)
        server.run()
    except BaseException as error:
        hook_files.log(folder, f"the daemon ends by a fault: {type(error).__name__}: {error} {_last(error)}")
        raise
    finally:
        os.close(lock)


class _Daemon:
    """One run of the daemon."""

    def __init__(self, folder: str) -> None:
        self._folder, self._loopback = folder, environment.loopback()
        self._token = secrets.token_hex(16) if self._loopback else ""
        self._listener = self._listen()
        self._waker, self._woken = socket.socketpair()
        self._stores = Stores()
        self._jobs = Jobs(self._stores, self._log, self._failed, self._wake)
        self._slots = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._workers = ThreadPoolExecutor(THREADS_MAX, "hook")
        self._code, self._begun = _code(), time.time()
        self._calls = self._running = 0
        self._begun_s: dict[int, float] = {}  # by thread, of the calls that are at work
        self._why = self._fault = ""
        self._counting = threading.Lock()
        self._turns: dict[str, threading.BoundedSemaphore] = {}  # by store

    def look(self, store: str, namespace: str, embedder: str) -> None:
        """Look at what waits in a store."""
        self._jobs.look(Call(store=store, namespace=namespace, embedder=embedder), left=True)

    def run(self) -> None:
        """Serve until there is a reason to stop."""
        signal.signal(signal.SIGTERM, lambda *_: self._stop("told to by a signal"))
        signal.signal(signal.SIGINT, lambda *_: self._stop("interrupted"))
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        gc.set_threshold(50_000, 20, 50)  # one recall makes thousands of objects; collected as usual they cost a tenth
        try:
            self._accept()
        finally:
            self._close()

    def _accept(self) -> None:
        asked = time.monotonic()
        while not self._why:
            ready, _, _ = select.select([self._listener, self._woken], [], [], LOOK_S)
            if store := self._stores.erased:
                self._stop(f"{_ERASED} {store}")
            if hangs := self._hangs():
                self._stop(hangs)
            if ready or self._running or self._jobs.busy:
                asked = time.monotonic()
            elif time.monotonic() - asked > IDLE_S:
                self._stop(f"idle for {IDLE_S / 60:.0f} minutes")
            if self._woken in ready:
                self._woken.recv(4_096)
            if self._listener in ready and not self._why:
                connection, _ = self._listener.accept()
                self._take(connection)

    def _hangs(self) -> str:
        """Say what has been at work for too long; empty for nothing."""
        with self._counting:
            since = min(self._begun_s.values(), default=time.monotonic())
        if time.monotonic() - since > CALL_HANGS_S:
            return f"a call has been at work for {CALL_HANGS_S:.0f} s"
        return self._jobs.hangs

    def _take(self, connection: socket.socket) -> None:
        """Hand a caller to a worker, or send it away."""
        if not self._loopback and not _same_user(connection):
            self._log("a caller of another user was refused")
            connection.close()
            return
        if not self._slots.acquire(blocking=False):
            with connection:
                _say(connection, BUSY)
            return
        if not self._loopback:  # there it has to show its token first
            _say(connection, TAKEN)
        with self._counting:
            self._running += 1
        self._workers.submit(self._work, connection, time.monotonic())

    def _work(self, connection: socket.socket, came: float) -> None:
        """Serve one caller: the outermost frame of a worker, where what went wrong is written down."""
        with self._counting:
            self._begun_s[threading.get_ident()] = time.monotonic()
        try:
            with connection:
                self._serve(connection, came)
        except (OSError, ValueError) as error:
            self._log(f"a caller was let go: {type(error).__name__}: {error}")
        except BaseException as error:  # noqa: BLE001 - a worker must live on; a hook that hears nothing answers alone
            self._failed(f"a fault: {type(error).__name__}: {error} {_last(error)}")
        finally:
            with self._counting:
                self._running -= 1
                del self._begun_s[threading.get_ident()]
            self._slots.release()

    def _serve(self, connection: socket.socket, came: float) -> None:
        by = time.monotonic() + REQUEST_S
        head, size = hook_protocol.lengths(hook_protocol.receive(connection, 12, by))
        call = hook_protocol.parsed(hook_protocol.receive(connection, head, by))
        payload = hook_protocol.receive(connection, size, by)
        if self._loopback and not hmac.compare_digest(call.token.encode(), self._token.encode()):
            raise ValueError("its token is not the daemon's")
        if self._loopback:
            _say(connection, TAKEN)
        if call.operation == HOOK and time.monotonic() - came > PATIENT_MS / 1000:
            return  # it waits no more, and has answered or kept the call itself: others still wait
        if call.operation == STATUS:
            _say(connection, ANSWERED, json.dumps(self._state()).encode())
        elif call.operation == STOP:
            _say(connection, ANSWERED)
            self._stop("told to")
        elif call.operation != HOOK or (reason := self._steps_down(call)):
            _say(connection, LEAVE)
            if call.operation == HOOK:
                self._stop(reason)
        else:
            self._hook(connection, call, payload, came)

    def _hook(self, connection: socket.socket, call: Call, payload: bytes, came: float) -> None:
        with self._counting:
            self._calls += 1
            turn = self._turns.setdefault(call.store, threading.BoundedSemaphore(AT_ONCE))
        if not turn.acquire(timeout=max(0.0, PATIENT_MS / 1000 - (time.monotonic() - came))):
            return  # gone, as above; those before it may hang, and this thread is free for another store
        try:
            self._answer(connection, call, payload, came)
        finally:
            turn.release()

    def _answer(self, connection: socket.socket, call: Call, payload: bytes, came: float) -> None:
        try:
            with self._stores.of(call) as memory:
                waited_ms = 1000 * (time.monotonic() - came)
                if waited_ms > PATIENT_MS:  # gone, as above
                    return
                left_ms = max(1, int(RECALL_MS - waited_ms))
                made = answered(memory, call, payload, self._log, left_ms)
                _say(connection, ANSWERED, made.output)
                if self._running == 1:  # while others are at work it would hold up what they append
                    index(memory, self._log)
        except FirsthandError as error:
            # The hook would meet the same; it is told nothing, and the call is kept.
            hook_files.keep(call, payload, self._folder, f"{type(error).__name__}: {error}")
            _say(connection, ANSWERED)
            return
        if made.unrecorded:
            hook_files.keep(call, payload, self._folder, made.unrecorded)
        else:
            hook_files.forget(call)  # where its hook had kept it, before this process was there
        self._jobs.look(call, left=made.jobs or bool(KeptCalls(Path(call.store)).waiting()))

    # stopping --------------------------------------------------------------------------------------

    def _steps_down(self, call: Call) -> str:
        """Say why this process is not to answer; empty when it is."""
        if _number(call.version) > _number(VERSION):
            return f"a newer version asks: {call.version}"
        if _code() != self._code:
            return "its own code was replaced"
        if store := self._stores.erased:
            return f"{_ERASED} {store}"
        return ""

    def _stop(self, why: str) -> None:
        self._why = self._why or why
        self._wake()

    def _wake(self) -> None:
        """Wake the accepting thread, to look whether it is to go on."""
        if not self._why and _memory_bytes() > MEMORY_BYTES_MAX:
            self._why = f"grown over {MEMORY_BYTES_MAX >> 20} MiB"
        try:
            self._waker.send(b"x")
        except BlockingIOError:  # it has more than enough to wake up by
            return

    def _close(self) -> None:
        """Let nobody in, finish what is begun as far as it takes no longer than a moment, and end."""
        (Path(self._folder) / (hook_protocol.PORT_FILE if self._loopback else hook_protocol.SOCKET_FILE)).unlink(
            missing_ok=True
        )
        self._listener.close()
        by = time.monotonic() + CLOSING_S
        while self._running and time.monotonic() < by:
            time.sleep(0.01)
        self._jobs.stop(max(0.0, by - time.monotonic()))
        self._workers.shutdown(wait=False, cancel_futures=True)
        if not self._running and not self._jobs.busy:
            self._stores.close()
        self._log(f"the daemon ends: {self._why or 'a fault'}; {self._calls:,} calls")
        os._exit(0)  # a worker that hangs must not hold the lock; a write that is cut short was not acknowledged

    # the rest --------------------------------------------------------------------------------------

    def _listen(self) -> socket.socket:
        folder = Path(self._folder)
        folder.chmod(0o700)
        if self._loopback:
            listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
            part = folder / f"{hook_protocol.PORT_FILE}.part"
            with os.fdopen(hook_files.open_private(str(part), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
                file.write(f"{listener.getsockname()[1]} {self._token}")
            part.replace(folder / hook_protocol.PORT_FILE)
            return listener
        path = hook_protocol.socket_path(self._folder)
        (folder / hook_protocol.SOCKET_FILE).unlink(missing_ok=True)  # of one that died: its lock is ours now
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(BACKLOG)
        return listener

    def _state(self) -> dict[str, object]:
        return {
            "pid": os.getpid(), "version": VERSION, "seconds": round(time.time() - self._begun, 1),
            "calls": self._calls, "memory_bytes": _memory_bytes(), "stores": self._stores.names(),
            "waiting": self._jobs.waiting, "socket": "loopback" if self._loopback else "unix", "fault": self._fault,
        }  # fmt: skip

    def _log(self, text: str) -> None:
        hook_files.log(self._folder, text)

    def _failed(self, text: str) -> None:
        """Keep a fault of the daemon's own for whoever asks how it is, until it ends."""
        self._fault = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}"
        self._log(text)


def hold(folder: str) -> int | None:
    """Take the lock of the one daemon; None when another process has it."""
    hook_files.make_folder(folder)
    lock = hook_files.open_private(str(Path(folder) / hook_files.LOCK_FILE), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _say(connection: socket.socket, status: bytes, output: bytes = b"") -> None:
    """Reply; a hook that waits no more has its answer from elsewhere."""
    connection.settimeout(REQUEST_S)
    try:
        connection.sendall(hook_protocol.reply(status, output))
    except (BrokenPipeError, ConnectionResetError):  # it went away, and answered by itself
        return


def _same_user(connection: socket.socket) -> bool:
    """Say whether the other side is a process of this user."""
    if hasattr(socket, "SO_PEERCRED"):
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        user = struct.unpack("3i", told)[1]
    else:  # macOS: LOCAL_PEERCRED gives a version and the user
        told = connection.getsockopt(0, 1, 76)
        user = struct.unpack_from("2I", told)[1]
    return int(user) == os.getuid()


def _code() -> tuple[int, int]:
    """Tell this package's files from those of another installation at the same place."""
    try:
        told = Path(firsthand.__file__ or "").stat()
    except OSError:
        return 0, 0
    return told.st_mtime_ns, told.st_ino


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:4] if part.isdigit() and len(part) < 9)


def _memory_bytes() -> int:
    """Give the memory that this process has; its most so far where the system tells no more."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _last(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return "".join(f" < {Path(one.filename).name}:{one.lineno} {one.name}" for one in reversed(frames))
