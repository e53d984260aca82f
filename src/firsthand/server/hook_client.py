"""The program that a host runs at each hook: it asks the server, or keeps the call and starts a server.

    payload on standard input -> request -> Unix socket -> server -> reply -> standard output
                  |-> nobody listens: the call goes to STORE/hooks/late, a server is started and asked
                  `-> no server can live here: the server's handler answers in a process of this one call

The invariants: it ends with 0, within `PROMISE_MS` of its payload's end whatever hangs (`SESSION_MS` where a session
begins and no server runs); a call is answered, kept on disk, or named in the log of hooks; every repetition of a call
carries the same nonce and time, so that it is recorded once.

`firsthand install` copies this file to the user's state folder. It runs on Python 3.8 and newer, imports nothing of
the package and nothing that takes milliseconds to load. The server imports it for what both do.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # C modules: `signal` and `socket` import enum, which takes 4 ms
import _socket
import fcntl
import os
import select
import sys
import time
from _collections_abc import Callable

VERSION = "0.1.0"  # of the package (a test compares them); a server steps down when it sees a newer one
MAGIC = b"FHK1"  # the last byte is the protocol's version; a request of a higher one makes a server step down, too
PROMISE_MS = 1_500
"""Claude Code gives all hooks at a session's end so much time together."""
LIMIT_MS, SESSION_MS = 1_000, 4_000
"""For an answer; the same where a session begins, for which each host gives ten seconds, and no server runs."""
PAYLOAD_MS = 5_000
"""For the host to write its payload; the other times begin at its end."""
WAIT_MS, PATIENT_MS, NEW_MS = 400, 800, 800
"""For a sign of the server; for its answer after that sign; for a server that is started now."""
LOOK_S, START_EVERY_S = 0.02, 0.1
"""Between two looks for a server that was started, and between two tries to start one."""
HUNG_S = 10.0
"""A server that did not answer a hook in time is not asked for so long."""
APART_S = 0.2
"""A host waits no longer than this for a write to disk; the process that writes goes on."""
STARTS_MAX, STARTS_SECONDS = 3, 3_600.0
"""So many servers that were started and did not live for a few seconds mean that none can live here for so long."""
PAYLOAD_BYTES_MAX, HEAD_BYTES_MAX, LOG_BYTES_MAX, CHUNK_BYTES = 64 << 20, 65_536, 256 << 10, 1 << 18
KEPT_CALLS_MAX, KEPT_FOLDER = 1_000, "late"
SOCKET_FILE, LOCK_FILE, ALONE_FILE = "daemon.sock", "daemon.lock", "alone.lock"
HUNG_FILE, STARTS_FILE, LOG_FILE = "hung", "starts", "hooks.log"
RECORD_FILE, WARNED_FILE = "installation", "warned"
PAUSES_FILE, PAUSED_FOLDER, PAUSED_CHARACTERS_MAX, PAUSE_EARLIER_US = "pause.json", "paused", 200, 2_000_000
SOCKET_PATH_MAX = 100  # bytes; the systems allow 104 to 108
ANSWERED, LEAVE, BUSY, TAKEN = b"A", b"L", b"B", b"T"
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_SESSION_STARTS = (b'"SessionStart"', b'"sessionStart"')
_PROMPTS = (b'"UserPromptSubmit"', b'"UserPromptSubmitted"', b'"beforeSubmitPrompt"', b'"BeforeAgent"')
_MESSAGE_KEYS = {"cursor": "user_message", "copilot": "additionalContext"}  # systemMessage for the others
_BOOT = """import os, sys
root = sys.argv.pop(1)
places = [number for number, place in enumerate(sys.path) if os.path.isdir(os.path.join(place, 'firsthand'))]
root in sys.path or sys.path.insert(min(places, default=len(sys.path)), root)
from firsthand.server.daemon import main; main(sys.argv[1:])"""  # the recorded package, where another is, too
_GONE = """firsthand: the Python environment that it was installed in is gone. What happens is kept on disk, and is \
recorded when you have run: firsthand install {}"""


class Call:
    """One request. Fields are only added at the end: a reader leaves out what it does not know.

    Attributes:
        operation: ``hook``, ``status`` or ``stop``.
        nonce: the same in every repetition of one call.
        moment_ns: since 1970; the time of what the call records.
    """

    operation: str
    version: str
    host: str
    store: str
    namespace: str
    embedder: str
    nonce: str
    moment_ns: str

    def __init__(self, **values: str) -> None:
        for name in FIELDS:
            setattr(self, name, values.get(name, ""))

    def frame(self, payload: bytes) -> bytes:
        """Write the request with its payload: magic, the lengths of head and payload, both of them."""
        head = "\0".join([*(getattr(self, name) for name in FIELDS), ""]).encode("utf-8", "surrogateescape")
        return MAGIC + len(head).to_bytes(4, "big") + len(payload).to_bytes(4, "big") + head + payload


FIELDS = tuple(Call.__annotations__)  # a field of earlier versions stands empty behind them: their servers want it


def main(arguments: list[str]) -> int:
    """Answer one hook: payload from standard input, answer to standard output; always give 0."""
    try:
        call, folder = _call(arguments), runtime_folder()
        payloads: list[bytes] = []

        def ring(_number: int, _frame: object) -> None:
            try:
                late = f"the payload of a hook of {call.host} did not end in time; nothing was recorded"
                apart(lambda: keep(call, payloads[0], folder, "the hook hung") if payloads else log(folder, late))
            finally:
                os._exit(0)

        _signal.signal(_signal.SIGALRM, ring)
        _signal.setitimer(_signal.ITIMER_REAL, PAYLOAD_MS / 1000)
        payloads.append(sys.stdin.buffer.read(PAYLOAD_BYTES_MAX + 1))
        _signal.setitimer(_signal.ITIMER_REAL, LIMIT_MS / 1000 + 0.1)
        _answer(call, folder, payloads[0], time.monotonic())
    except BaseException as error:  # noqa: BLE001 - the host must not be disturbed by a fault of ours
        _to_stderr(f"{type(error).__name__}: {error}")
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    return 0


def _call(arguments: list[str]) -> Call:
    """Read a hook's command line: ``HOST [--store PATH] [--namespace NAME]``; the rest is the variables'."""
    host = "".join(arguments[:1])
    options = {arguments[place]: arguments[place + 1] for place in range(1, len(arguments) - 1, 2)}
    if not host or host.startswith("-") or len(arguments) % 2 == 0 or options.keys() - {"--store", "--namespace"}:
        raise ValueError(f"expected HOST [--store PATH] [--namespace NAME]; got {arguments!r}: firsthand install")
    store = options.get("--store") or os.environ.get("FIRSTHAND_STORE") or "~/.firsthand"
    store = os.path.expanduser(store_folder(store) if store.startswith(("postgresql://", "postgres://")) else store)
    if store.startswith("~") or (":/" in store and store.partition(":/")[0].isalnum()):
        raise ValueError("expected a home folder for the store, or its path or address: firsthand install --store S")
    return Call(
        operation="hook", version=VERSION, host=host, store=os.path.abspath(store),
        namespace=options.get("--namespace") or os.environ.get("FIRSTHAND_NAMESPACE") or "default",
        embedder=os.environ.get("FIRSTHAND_EMBEDDER") or "none",
        nonce=os.urandom(16).hex(), moment_ns=str(time.time_ns()),
    )  # fmt: skip


def store_folder(address: str) -> str:
    """Give this machine's folder for a store at an address, as ``environment`` has it; made, with the address in it."""
    user, at, rest = address.partition("://")[2].replace("?", "&", 1).rpartition("@")
    fields = f"{user.partition(':')[0]}{at}{rest}".split("&")
    plain = "&".join(field for field in fields if not field.startswith(("password=", "sslpassword=")))
    name = "postgresql-" + "".join(sign if sign.isalnum() or sign in "-." else f"_{ord(sign):02x}" for sign in plain)
    data = os.environ.get("XDG_DATA_HOME", "")
    folder = f"{data if data.startswith('/') else os.path.expanduser('~/.local/share')}/firsthand/stores/{name}"
    if _text(f"{folder}/firsthand.address") != address:
        make_folder(folder)
        with os.fdopen(open_private(f"{folder}/{os.getpid()}.new", os.O_WRONLY | os.O_CREAT), "w") as file:
            file.write(address)
        os.replace(f"{folder}/{os.getpid()}.new", f"{folder}/firsthand.address")
    return folder


def runtime_folder() -> str:
    """Give the folder of the server's socket and the log of hooks, as ``environment`` has it; empty without a home."""
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    path = f"{named}/firsthand" if named.startswith("/") else os.path.expanduser("~/.firsthand/run")
    return "" if path.startswith("~") else path


def server_wanted() -> bool:
    """Say whether hooks may ask and start a server; not with ``FIRSTHAND_DAEMON=off``."""
    return os.environ.get("FIRSTHAND_DAEMON", "") != "off"


def _answer(call: Call, folder: str, payload: bytes, begun: float) -> None:
    if len(payload) > PAYLOAD_BYTES_MAX:
        log(folder, f"a payload of more than {PAYLOAD_BYTES_MAX:,} bytes was not recorded")
        return
    if not server_wanted():
        _answer_anew(call, folder, payload, begun)
        return
    try:
        output = ask(call, payload, folder, begun + LIMIT_MS / 1000)
    except ConnectionError:
        _answer_anew(call, folder, payload, begun)
        return
    if output is None:
        apart(lambda: keep(call, payload, folder, "no server answered in time"))
    else:
        _write(output)


def _answer_anew(call: Call, folder: str, payload: bytes, begun: float) -> None:
    """Keep the call, and have it answered by a server that is started now or, where none can live, without one."""
    python, root = installation()
    if not python:
        apart(lambda: keep(call, payload, folder, f"the installation in {root} is gone"))
        _warn(call.host, payload)
        return
    limit_ms, new_ms = LIMIT_MS, NEW_MS
    if any(name in payload for name in _SESSION_STARTS):
        limit_ms = new_ms = SESSION_MS
        _signal.setitimer(_signal.ITIMER_REAL, limit_ms / 1000 + 0.1)
    lives, started = server_wanted() and start_server(call, folder), time.monotonic()
    apart(lambda: keep(call, payload, folder, ""))  # while the server loads
    while lives and time.monotonic() < begun + new_ms / 1000:
        if time.monotonic() - started > START_EVERY_S:  # the one that was there may have been about to end
            lives, started = start_server(call, folder), time.monotonic()
        try:
            _write(ask(call, payload, folder, begun + new_ms / 1000) or b"")
            return
        except ConnectionError:
            time.sleep(LOOK_S)
    if not lives:
        _answer_alone(call, folder, payload, begun + limit_ms / 1000)


def _answer_alone(call: Call, folder: str, payload: bytes, by: float) -> None:
    """Have the server's handler answer this one call, and wait for what it does afterwards while there is time.

    One call of a user at a time: one that comes to no answer stays on disk, and the next one's process records it.
    """
    make_folder(folder)
    lock = open_private(os.path.join(folder, ALONE_FILE), os.O_RDWR | os.O_CREAT)
    while not _locked(lock):
        if time.monotonic() > by:
            return
        time.sleep(LOOK_S)
    ours, theirs = _socket.socketpair()
    spawn(folder, ("once", folder, str(theirs.fileno()), str(lock), repr(by)), (theirs.fileno(), lock))
    os.close(lock)
    theirs.close()
    try:
        status, output = exchange(ours, call, payload, by, by)
        _write(output if status == ANSWERED else b"")
        receive(ours, 1, by)
    except (OSError, ValueError):  # its process has ended, or goes on after this one: the call is on disk
        return


def ask(call: Call, payload: bytes, folder: str, by: float) -> bytes | None:
    """Give the server's answer; None when it is too slow or has too many callers, or its folder is not to be trusted.

    Args:
        by: until when (of the monotonic clock) an answer is of use.

    Raises:
        ConnectionError: nobody listens, or who did has died or is about to end; another may be started and asked.
    """
    hung = os.path.join(folder, HUNG_FILE)
    if not folder or (os.path.lexists(folder) and not is_private(folder)) or abs(time.time() - _time(hung)) < HUNG_S:
        return None
    begun = time.monotonic()
    patient_by = min(by, begun + PATIENT_MS / 1000)
    try:
        connection = connect(folder)
        try:
            status, output = exchange(connection, call, payload, min(by, begun + WAIT_MS / 1000), patient_by)
        finally:
            connection.close()
    except (TimeoutError, _socket.timeout):  # two classes before Python 3.10
        if begun + WAIT_MS / 1000 <= time.monotonic() < patient_by:
            apart(lambda: os.close(open_private(hung, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)))
        return None
    except (OSError, ValueError) as error:  # nobody listens, it died, or speaks another protocol
        raise ConnectionError(str(error)) from error
    if status == LEAVE:
        raise ConnectionError("the server is about to end")
    return output if status == ANSWERED else None


def connect(folder: str) -> _socket.socket:
    """Open a connection to the server of a folder; an `OSError` says that nobody listens."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(WAIT_MS / 1000)
        connection.connect(socket_path(folder))
    except OSError:
        connection.close()
        raise
    return connection


def socket_path(folder: str) -> str:
    """Give the path of the socket; in a folder too deep for one the process goes there and takes the bare name."""
    path = os.path.join(folder, SOCKET_FILE)
    if len(os.fsencode(path)) <= SOCKET_PATH_MAX:
        return path
    os.chdir(folder)
    return SOCKET_FILE


def exchange(
    connection: _socket.socket, call: Call, payload: bytes, by: float, patient_by: float
) -> tuple[bytes, bytes]:
    """Send a request and give the reply's status and bytes.

    Args:
        by: until when (of the monotonic clock) a sign of the server is waited for.
        patient_by: the same for its answer, once it has said that it took the call.

    Raises:
        TimeoutError: the reply was not whole by that time.
        OSError, ValueError: the connection broke, or the reply is none.
    """
    connection.sendall(call.frame(payload))
    head = receive(connection, 9, by)
    if head[4:5] == TAKEN:
        by = patient_by
        head = receive(connection, 9, by)
    if head[:3] != MAGIC[:3]:
        raise ValueError("the reply is none of this protocol")
    return head[4:5], receive(connection, int.from_bytes(head[5:9], "big"), by)


def receive(connection: _socket.socket, size: int, by: float) -> bytes:
    """Read so many bytes; a `TimeoutError` where they do not come by that time, a `ValueError` at an early end."""
    data = bytearray()
    while len(data) < size:
        left = by - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        piece = connection.recv(min(size - len(data), CHUNK_BYTES))
        if not piece:
            raise ValueError("the connection was closed before its end")
        data += piece
    return bytes(data)


def installation() -> tuple[str, str]:
    """Give the interpreter that this copy was installed with, empty when it or the package is gone, and its folder."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        with open(os.path.join(here, RECORD_FILE), "rb") as file:
            python, root = os.fsdecode(file.read()).split("\n")[:2]
    except FileNotFoundError:  # no copy: this is the package's own file
        python, root = sys.executable, os.path.dirname(os.path.dirname(here))
    whole = os.access(python, os.X_OK) and os.path.isfile(os.path.join(root, "firsthand", "server", "daemon.py"))
    return (python if whole else ""), root


def start_server(call: Call, folder: str) -> bool:
    """Start a server unless one runs or starts already; False where none can live.

    The lock that is taken here lives on in the server's process, so that there is at most one a user.
    """
    try:
        make_folder(folder)
        lock = open_private(os.path.join(folder, LOCK_FILE), os.O_RDWR | os.O_CREAT)
        with os.fdopen(lock, "rb"):
            if not _locked(lock):
                return True
            if len(recent_starts(folder)) >= STARTS_MAX:
                return False
            with os.fdopen(open_private(os.path.join(folder, STARTS_FILE), _APPEND), "w") as file:
                file.write(f"{time.time()}\n")
            spawn(folder, ("serve", folder, str(lock), call.store, call.namespace, call.embedder), (lock,))
    except OSError as error:
        log(folder, f"no server can be started: {error}")
        return False
    return True


def recent_starts(folder: str) -> list[float]:
    """Give the times of late at which servers were started; one that lives for a few seconds empties the list."""
    try:
        with os.fdopen(open_private(os.path.join(folder, STARTS_FILE), os.O_RDONLY), encoding="ascii") as file:
            times = [float(line) for line in file]
    except (OSError, ValueError):  # none was started, or the file is damaged: one start too many does no harm
        return []
    return [moment for moment in times if 0 <= time.time() - moment < STARTS_SECONDS]


def spawn(folder: str, words: tuple[str, ...], keeps: tuple[int, ...]) -> None:
    """Start a process of the installation that has these descriptors, and none of the host's streams."""
    if os.fork():
        return
    try:
        errors = nothing = os.open(os.devnull, os.O_RDWR)
        if not os.path.islink(os.path.join(folder, LOG_FILE)):
            errors = open_private(os.path.join(folder, LOG_FILE), _APPEND)
        _let_go(nothing, errors, keeps)
        python, root = installation()
        os.execv(python, (python, "-I", "-c", _BOOT, root, *words))  # noqa: S606
    except OSError as error:
        log(folder, f"the server could not be started: {error}")
    finally:
        os._exit(1)


def _let_go(nothing: int, errors: int, keeps: tuple[int, ...] = ()) -> None:
    """Leave the host's session and streams, whose end it may wait for; inherit only these descriptors."""
    os.setsid()
    for stream, source in ((0, nothing), (1, nothing), (2, errors)):
        os.dup2(source, stream)
    for descriptor in range(3, 256):
        os.set_inheritable(descriptor, True) if descriptor in keeps else os.closerange(descriptor, descriptor + 1)


def _warn(host: str, payload: bytes) -> None:
    """Say what to type since the installation is gone: on standard error, and once at a place that hosts show."""
    text = _GONE.format(host if host.replace("-", "").isalnum() else "HOST")
    _to_stderr(text[len("firsthand: ") :])
    if any(name in payload for name in (*_SESSION_STARTS, *_PROMPTS)):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), WARNED_FILE)
        try:
            os.close(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except OSError:  # it was said before, or would be said at every prompt
            return
        _write(f'{{"{_MESSAGE_KEYS.get(host, "systemMessage")}": "{text}"}}'.encode())


# files -----------------------------------------------------------------------------------------------


def apart(work: Callable[[], object]) -> None:
    """Do something on the disk in a child process, since nothing interrupts a wait for a disk, and the host waits.

    What can only be said on standard error is said there, if it is known in time.
    """
    reading, writing = os.pipe()
    if not os.fork():
        try:
            _let_go(os.open(os.devnull, os.O_RDWR), writing)
            work()
        finally:
            os._exit(0)
    os.close(writing)
    by = time.monotonic() + APART_S
    while select.select([reading], [], [], max(0.0, by - time.monotonic()))[0] and (text := os.read(reading, 4_096)):
        os.write(2, text)
    os.close(reading)


def keep(call: Call, payload: bytes, folder: str, why: str) -> None:
    """Put a call into the store's folder of late calls, durably; say in the log why, or that it is lost.

    One that is off the record is not put there.

    Args:
        why: empty for a call that is asked of a server meanwhile; only its loss is worth a line then.
    """
    begun, path = time.monotonic(), _kept_path(call)
    if pause := _pause(call, payload):
        log(folder, f"a call of {call.host} is not kept for later: {pause}")
        return
    late = os.path.dirname(path)
    try:
        make_folder(late if call.store else "")  # without a store: no folder where the host stands
        if len(os.listdir(late)) >= KEPT_CALLS_MAX:
            log(folder, f"{late} is full ({KEPT_CALLS_MAX:,} calls), so this one is lost: firsthand doctor")
            return
        part = f"{path}.{os.getpid()}.part"  # the server may be keeping the same call
        with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(call.frame(payload))
        os.replace(part, path)
        for written in (path, late):
            descriptor = os.open(written, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
    except OSError as error:
        log(folder, f"{why or 'no server was there'}; the call could not be kept either and is lost: {error}")
        return
    if why:
        taken = time.monotonic() - begun
        slowly = f" (the disk took {taken:.1f} s over it)" if taken > APART_S else ""
        log(folder, f"{why}; the call of {call.host} is kept and will be recorded later{slowly}")


def _pause(call: Call, payload: bytes) -> str:
    """Say by which pause of `pauses` a call is off the record, or that this cannot be known; empty for none.

    It ends no pause: that of a next prompt holds for all calls of its project until a server was told of the prompt.
    """
    hooks = os.path.join(call.store, "hooks")
    named, seen = os.path.join(hooks, PAUSES_FILE), os.path.join(hooks, PAUSED_FOLDER)
    if not call.store or not (os.path.lexists(named) or os.path.lexists(seen)):
        return ""
    import json  # these two take milliseconds: only where something is paused, or was
    from urllib.parse import quote

    try:
        fields, at = json.loads(payload), int(call.moment_ns) // 1_000
        session = f"{call.host}:{fields.get('session_id') or fields.get('sessionId') or fields.get('conversation_id')}"
        folder = fields.get("cwd") or next(iter(fields.get("workspace_roots") or ()), "")
        event = f'"{fields.get("hook_event_name") or fields.get("hookEventName")}"'.encode()
        state = json.loads(_text(named) or "{}")
        for kind, name in (("sessions", session), ("projects", _project(folder)), ("prompts", _project(folder))):
            if any(start <= at and (end is None or at < end) for start, end in state.get(kind, {}).get(name, ())):
                return f"its {kind[:-1]} is off the record"
        file = quote(session, safe="", errors="surrogateescape")[:PAUSED_CHARACTERS_MAX]
        for entry in os.listdir(seen) if os.path.isdir(seen) and event not in _SESSION_STARTS else ():
            if entry[: -len(".json")][:PAUSED_CHARACTERS_MAX] == file:
                spans = json.loads(_text(os.path.join(seen, entry)) or "[[0, 0]]")
                of_prompt = event not in _PROMPTS or at <= spans[-1][0] + PAUSE_EARLIER_US
                if any(start <= at and (of_prompt if end is None else at < end) for start, end in spans):
                    return "its prompt is off the record"
    except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        return f"it may be off the record ({type(error).__name__}: {error})"
    return ""


def _text(path: str) -> str:
    """Read a file; empty when there is none."""
    try:
        with os.fdopen(open_private(path, os.O_RDONLY), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _project(folder: str) -> str:
    """Give a folder's project, as ``settings`` has it: the nearest above under version control, else the folder."""
    path = whole = os.path.realpath(folder) if folder else ""
    while path and not os.path.lexists(os.path.join(path, ".git")):
        path = os.path.dirname(path) if path != os.path.dirname(path) else ""
    return path or whole


def forget(call: Call) -> None:
    """Remove a call that was kept and is recorded now; one that was tried before is left to whoever tries it."""
    try:
        os.unlink(_kept_path(call))
    except OSError:  # it never was there, as mostly; else it is recorded once more, which changes nothing
        return


def _kept_path(call: Call) -> str:
    return os.path.join(call.store, "hooks", KEPT_FOLDER, f"{int(call.moment_ns):020d}-{call.nonce}.0.call")


def log(folder: str, text: str) -> None:
    """Write a line to the log of hooks, which is moved aside once when it is full; the last resort is stderr."""
    words = " ".join(filter(None, text.splitlines()))  # what a payload says must not pass for a line of ours
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {os.getpid()} {words}\n"
    path = os.path.join(folder, LOG_FILE)
    try:
        make_folder(folder)
        descriptor = open_private(path, _APPEND)
        os.write(descriptor, line.encode("utf-8", "backslashreplace"))
        if os.fstat(descriptor).st_size > LOG_BYTES_MAX:
            os.replace(path, f"{path}.1")
        os.close(descriptor)
    except OSError as error:
        _to_stderr(f"{text} (and {path} cannot be written: {error})" if folder else text)


def open_private(path: str, flags: int) -> int:
    """Open a file of the user's alone, whatever its rights were; a link is not followed and a pipe not waited for."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    os.fchmod(descriptor, 0o600)
    return descriptor


def make_folder(path: str) -> None:
    """Make a folder that is the user's alone, and those above it, whatever the umask."""
    if os.path.isdir(path):
        return
    if path:  # none: a user without a home, for whom `mkdir` says that there is no such folder
        make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
    except FileExistsError:  # another hook made it just now
        return


def is_private(folder: str) -> bool:
    """Say whether a folder is there, the user's own, and not to be written by others."""
    try:
        status = os.stat(folder)
    except OSError:
        return False
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _time(path: str) -> float:
    """Say when a file was written; 0 when there is none."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0


def _locked(descriptor: int) -> bool:
    """Take a lock; False when another process has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(output: bytes) -> None:
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()


def _to_stderr(text: str) -> None:
    """Say something on standard error, which hosts show in their own logs alone."""
    try:
        os.write(2, f"firsthand: {text}\n".encode("utf-8", "backslashreplace"))
    except OSError:  # there is none: nobody is there to be told
        return


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # an interpreter that tidies up takes a millisecond, and lets a late alarm end it
