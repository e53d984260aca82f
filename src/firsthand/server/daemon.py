"""The server: answers the hooks of one user from stores that are open already, then does what they left.

    accept -> peer is the user -> a worker: read the request -> answer -> reply
                                            `-> what is left to do -> one thread, one store at a time
    once: the same for one call, in a process of its own, where no server can live

The invariants: at most one a user (the lock that its starter took lives in this
process); it waits in system calls and uses no processor when nothing comes; it stops
by itself when idle, when its own code was replaced, when it has grown too large, or
when a newer version asks; what it leaves undone is on disk. After an erasure it ends, or
where HTTP clients know it executes itself anew: the lock and the port are handed on.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import firsthand
from firsthand import environment
from firsthand.server import frames, hook_client, launcher
from firsthand.server.daemon_jobs import Jobs
from firsthand.server.daemon_stores import Stores
from firsthand.server.hook_answers import Handler, send, work
from firsthand.server.hook_client import ANSWERED, BUSY, LEAVE, PATIENT_MS, TAKEN, VERSION, Call
from firsthand.server.http_server import HttpServer
from firsthand.server.measures import memory_bytes

if TYPE_CHECKING:
    from firsthand.server.mcp_lines import McpLines

IDLE_S = 15 * 60.0
LOOK_S = 5.0
"""Between two looks whether something was erased: what this process has read goes with it. A server that has lived
so long is one that can live here."""
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
ONCE_MARGIN_S = 0.1
"""A hook that has its call answered in a process of its own has so long to hand the answer on."""
_ERASED = "its memory may hold what was erased in"
_SIGNALS = ("told to by a signal", "interrupted")
_SWITCH_S = 0.001  # a thread at long work must not hold up an answer for the usual 5 ms a turn


def main(words: list[str]) -> None:
    """Do what a hook's client starts a process for: ``serve FOLDER LOCK STORE NAMESPACE EMBEDDER`` or ``once ...``."""
    if words[0] == "serve":
        serve(words[1], int(words[2]), Call(store=words[3], namespace=words[4], embedder=words[5]))
    else:
        once(words[1], int(words[2]), int(words[3]), float(words[4]))


def serve(
    folder: str,
    lock: int,
    first: Call | None = None,
    *,
    port: int | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> None:
    """Be the server of a folder until it stops; the lock is held already, and given back by the process's end.

    Args:
        first: the store of the call that it was started for, whose hook may wait no more.
        port: of its HTTP side; None takes the usual one, or any free one.
        say: is told why the server ends.

    Raises:
        InvalidArgument: that port is taken, or what answers there is not installed.
    """
    os.umask(0o077)
    sys.setswitchinterval(_SWITCH_S)
    os.pwrite(lock, f"{os.getpid():>10}\n".encode(), 0)
    try:
        server = _Daemon(folder, lock, port, say)
        server.run(first)
    except BaseException as error:
        hook_client.log(folder, f"the server ends by a fault: {type(error).__name__}: {error} {_last(error)}")
        raise
    finally:
        os.close(lock)


def once(folder: str, descriptor: int, lock: int, by: float) -> None:
    """Answer the one call that comes over a connection, then do what waits in its store while its hook waits.

    Args:
        lock: held while the call is answered.
        by: until when (of the monotonic clock) the hook waits.
    """
    os.umask(0o077)
    stores = Stores()
    handler = Handler(folder, stores)
    with socket.socket(fileno=descriptor) as connection:
        call, payload = frames.request(connection, time.monotonic() + REQUEST_S)
        if call is None:
            send(connection, LEAVE)
            return
        answer_by = by - ONCE_MARGIN_S
        handler.answer(connection, call, payload, recall_by=answer_by, gone_by=by, busy=lambda: False)
        os.close(lock)
        with stores.of(call) as memory:
            work(memory, handler.log, seconds=max(0.0, by - time.monotonic()))
    launcher.renew()


class _Daemon:
    """One run of the server."""

    def __init__(self, folder: str, lock: int, port: int | None, say: Callable[[str], None]) -> None:
        self._folder, self._lock, self._say = folder, lock, say
        self._listener = self._listen()
        self._waker, self._woken = socket.socketpair()
        self._stores = Stores()
        self._handler = Handler(folder, self._stores)
        self._jobs = Jobs(self._stores, self._log, self._failed, self._wake)
        self._mcp: McpLines | None = None
        self._slots = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._workers = ThreadPoolExecutor(THREADS_MAX, "hook")
        self._code, self._begun = _code(), time.time()
        self._calls = self._running = 0
        self._begun_s: dict[int, float] = {}  # by thread, of the calls that are at work
        self._why = self._fault = ""
        self._counting = threading.Lock()
        self._turns: dict[str, threading.BoundedSemaphore] = {}  # by store
        self._http = self._http_server(port)

    def run(self, first: Call | None) -> None:
        """Serve until there is a reason to stop; look first at what waits in a store."""
        self._renew()
        if first is not None:
            self._jobs.look(first, left=True)
        signal.signal(signal.SIGTERM, lambda *_: self._stop(_SIGNALS[0]))
        signal.signal(signal.SIGINT, lambda *_: self._stop(_SIGNALS[1]))
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        gc.set_threshold(50_000, 20, 50)  # one recall makes thousands of objects; collected as usual they cost a tenth
        try:
            self._accept()
        finally:
            self._close()

    def _accept(self) -> None:
        asked = begun = time.monotonic()
        trimmed, lives = 0.0, False
        while not self._why:
            ports = [self._listener, self._woken]
            if self._http is not None and self._http.waiting is not None:
                ports.append(self._http.waiting)
            ready, _, _ = select.select(ports, [], [], LOOK_S)
            if not lives and time.monotonic() - begun >= LOOK_S:
                lives = True
                self._forget_starts()
            if not self._http_works() and (store := self._stores.erased):  # it proves first that all is gone
                self._stop(f"{_ERASED} {store}")
            if hangs := self._hangs():
                self._stop(hangs)
            last = max(asked, *(side.asked for side in (self._mcp, self._http) if side))
            if ready or self._running or self._jobs.busy:
                asked = time.monotonic()
            elif last > trimmed:
                trimmed = time.monotonic()
                _give_memory_back()
            elif time.monotonic() - last > IDLE_S:
                self._stop(f"idle for {IDLE_S / 60:.0f} minutes")
            if self._woken in ready:
                self._woken.recv(4_096)
            if self._listener in ready and not self._why:
                connection, _ = self._listener.accept()
                self._take(connection)
            if self._http is not None and self._http.waiting in ready:
                self._http.start()

    def _hangs(self) -> str:
        """Say what has been at work for too long; empty for nothing."""
        with self._counting:
            since = min(self._begun_s.values(), default=time.monotonic())
        if time.monotonic() - since > CALL_HANGS_S:
            return f"a call has been at work for {CALL_HANGS_S:.0f} s"
        return self._jobs.hangs

    def _take(self, connection: socket.socket) -> None:
        """Hand a caller to a worker, or send it away."""
        if not _same_user(connection):
            self._log("a caller of another user was refused")
            connection.close()
            return
        if not self._slots.acquire(blocking=False):
            with connection:
                send(connection, BUSY)
            return
        send(connection, TAKEN)
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
        call, payload = frames.request(connection, time.monotonic() + REQUEST_S)
        if call is None:
            send(connection, LEAVE)
            self._stop("a newer version asks")
        elif call.operation == "status":
            send(connection, ANSWERED, json.dumps(self._state()).encode())
        elif call.operation == "stop":
            send(connection, ANSWERED)
            self._stop("told to")
        elif call.operation not in {"hook", "link", "mcp"}:
            send(connection, LEAVE)
        elif call.operation == "hook" and time.monotonic() - came > PATIENT_MS / 1000:
            return  # it waits no more, and has kept the call itself: others still wait
        elif reason := self._steps_down(call):
            send(connection, LEAVE)
            self._stop(reason)
        elif call.operation == "link":
            send(connection, ANSWERED, json.dumps(self._link(call, payload)).encode())
        elif call.operation == "mcp":
            self._bridge(connection, call, payload)
        else:
            self._hook(connection, call, payload, came)

    def _bridge(self, connection: socket.socket, call: Call, whose: bytes) -> None:
        """Have a session of MCP served over a connection."""
        from firsthand.server.mcp_lines import McpLines  # noqa: PLC0415 - asyncio: hooks do not pay for it

        with self._counting:
            sessions = self._mcp = self._mcp or McpLines(self._stores, self._log)
        send(connection, ANSWERED, sessions.missing.encode())
        if not sessions.missing:
            sessions.take(connection.dup(), call, whose)

    def _hook(self, connection: socket.socket, call: Call, payload: bytes, came: float) -> None:
        with self._counting:
            self._calls += 1
            turn = self._turns.setdefault(call.store, threading.BoundedSemaphore(AT_ONCE))
        gone_by = came + PATIENT_MS / 1000
        if not turn.acquire(timeout=max(0.0, gone_by - time.monotonic())):
            return  # gone, as above; those before it may hang, and this thread is free for another store
        try:
            left = self._handler.answer(
                connection,
                call,
                payload,
                recall_by=came + RECALL_MS / 1000,
                gone_by=gone_by,
                busy=lambda: self._running > 1,
            )
            self._jobs.look(call, left=left)
        finally:
            turn.release()

    # stopping --------------------------------------------------------------------------------------

    def _steps_down(self, call: Call) -> str:
        """Say why this process is not to answer; empty when it is."""
        if launcher.number(call.version) > launcher.number(VERSION):
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
        if not self._why and memory_bytes() > MEMORY_BYTES_MAX:
            self._why = f"grown over {MEMORY_BYTES_MAX >> 20} MiB"
        try:
            self._waker.send(b"x")
        except BlockingIOError:  # it has more than enough to wake up by
            return

    def _close(self) -> None:
        """Let nobody in, finish what is begun as far as it takes no longer than a moment, and end."""
        (Path(self._folder) / hook_client.SOCKET_FILE).unlink(missing_ok=True)
        self._listener.close()
        again = self._why.startswith(_ERASED) and self._http is not None and self._http.asked > 0
        port = self._http.socket.dup() if again and self._http and self._http.socket else None
        if self._http is not None:
            self._http.stop()
        by = time.monotonic() + CLOSING_S
        while self._running and time.monotonic() < by:
            time.sleep(0.01)
        self._jobs.stop(max(0.0, by - time.monotonic()))
        self._workers.shutdown(wait=False, cancel_futures=True)
        if not self._running and not self._jobs.busy:
            self._stores.close()
        if self._why not in _SIGNALS:  # who ends what a hook leaves behind may begin with a signal
            self._forget_starts()
        how = "ends" if port is None else "begins anew"
        why = f"the server {how}: {self._why or 'a fault'}; {self._calls:,} calls"
        self._log(why)
        with suppress(OSError):  # its terminal is gone
            self._say(why)
        if port is not None:
            self._execute_anew(port)
        os._exit(0)  # a worker that hangs must not hold the lock; a write that is cut short was not acknowledged

    def _execute_anew(self, port: socket.socket) -> None:
        """Replace this process and its memory by a new one of the same command; who connects meanwhile waits."""
        environment.hand_on(self._lock, port.fileno())
        try:
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606
        except OSError as error:  # its interpreter is gone
            self._log(f"the server cannot begin anew: {error}")

    # the rest --------------------------------------------------------------------------------------

    def _listen(self) -> socket.socket:
        folder = Path(self._folder)
        folder.chmod(0o700)
        path = hook_client.socket_path(self._folder)
        (folder / hook_client.SOCKET_FILE).unlink(missing_ok=True)  # of one that died: its lock is ours now
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(BACKLOG)
        return listener

    def _state(self) -> dict[str, object]:
        return {
            "pid": os.getpid(), "version": VERSION, "seconds": round(time.time() - self._begun, 1),
            "calls": self._calls, "memory_bytes": memory_bytes(), "stores": self._stores.names(),
            "waiting": self._jobs.waiting, "fault": self._fault, "http": self._http.url if self._http else "",
            "token_file": str(self._http.token.kept) if self._http and self._http.url else "",
            "missing": self._http.missing if self._http else "",
        }  # fmt: skip

    def _http_server(self, port: int | None) -> HttpServer | None:
        """Open the port of the HTTP side; None where its token cannot be kept, and hooks are answered all the same.

        Raises:
            InvalidArgument: a port was named and is taken, or what answers there is not installed.
        """
        try:
            handed_on = environment.handed_on()
            listening = socket.socket(fileno=handed_on[1]) if handed_on else None
            return HttpServer(self._stores, self._log, port=port, listening=listening)
        except firsthand.InvalidArgument:
            if port is not None:
                raise
            self._log("no port on loopback is free: there are no pages")
            return None
        except firsthand.FirsthandError as error:
            self._log(f"there are no pages: {error}")
            return None

    def _http_works(self) -> bool:
        return self._http is not None and self._http.working > 0

    def _link(self, call: Call, path: bytes) -> dict[str, str]:
        """Make a link for one use that leads to a page of a store."""
        if self._http is None or not self._http.url:
            return {"missing": self._http.missing if self._http else "the port or its token could not be opened"}
        place = self._stores.place(call.store, call.namespace, call.embedder)
        to = quote(f"/{place}/{path.decode()}", safe="")
        return {"url": f"{self._http.url}/open?key={self._http.keys.link()}&to={to}"}

    def _forget_starts(self) -> None:
        """Say that a server can live here."""
        (Path(self._folder) / hook_client.STARTS_FILE).unlink(missing_ok=True)

    def _renew(self) -> None:
        """Have hosts run the client of this version from now on."""
        try:
            launcher.renew()
        except firsthand.FirsthandError as error:
            self._failed(str(error))

    def _log(self, text: str) -> None:
        hook_client.log(self._folder, text)

    def _failed(self, text: str) -> None:
        """Keep a fault of the daemon's own for whoever asks how it is, until it ends."""
        self._fault = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}"
        self._log(text)


def hold(folder: str) -> int | None:
    """Take the lock of the one server; None when another process has it."""
    if handed_on := environment.handed_on():
        return handed_on[0]
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = hook_client.open_private(str(Path(folder) / hook_client.LOCK_FILE), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _give_memory_back() -> None:
    """Have the C library give the system back what is free: of a server over 1,000,000 events some 15 MiB."""
    import ctypes  # noqa: PLC0415 - hooks are answered before it is needed

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)


def _same_user(connection: socket.socket) -> bool:
    """Say whether the other side is a process of this user."""
    if hasattr(socket, "SO_PEERCRED"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        user = struct.unpack("3i", credentials)[1]
    else:  # macOS: LOCAL_PEERCRED gives a version and the user
        credentials = connection.getsockopt(0, 1, 76)
        user = struct.unpack_from("2I", credentials)[1]
    return int(user) == os.getuid()


def _code() -> tuple[int, int]:
    """Tell this package's files from those of another installation at the same place."""
    try:
        status = Path(firsthand.__file__ or "").stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_ino


def _last(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return "".join(f" < {Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
