"""Ask the daemon what a hook is to answer: the part of a hook's process that runs at every prompt.

    host's JSON -> request -> Unix socket -> daemon -> reply -> standard output

When nobody listens the call is kept durably, a daemon is started and asked within the
same time. The invariants: the process ends within `PROMISE_MS` of its payload's end,
whatever hangs; a call is answered, kept, or named in the log of hooks; and every
repetition of a call carries the same nonce and time, so that it is recorded once.

It imports `os`, `sys`, `time` and C modules, and nothing of the package; the frames
that it writes are read by the daemon with the functions here.
"""

import os
import sys
import time

TYPE_CHECKING = False  # known to type checkers by its name; `typing` would cost 3 ms
if TYPE_CHECKING:
    from typing import Any

VERSION = "0.1.0"
"""Of the package (a test says so); a daemon of an older one steps down when it sees a newer one."""
MAGIC = b"FHK1"
PROMISE_MS = 1_500
"""A hook ends within so long of its payload's end, beside what a bare interpreter takes there; Claude Code gives all
hooks of a session's end so much together."""
LIMIT_MS = 1_000
"""For an answer; what is left is for keeping the call."""
PAYLOAD_MS = 5_000
"""For the host to say its payload whole; the time of the hook itself begins then."""
WAIT_MS = 400
"""For a sign of the daemon; then the call is kept."""
PATIENT_MS = 800
"""For the answer of a daemon that took the call: it is at others."""
NEW_MS = 600
"""For a daemon to be started and to answer: it takes a fifth of that; where many hooks wait, they end before others."""
LOOK_S, START_EVERY_S = 0.02, 0.1
"""Between two looks for a daemon that was started; and between two tries to start one."""
HUNG_S = 10.0
"""A daemon that let a hook wait in vain is not asked for so long."""
PAYLOAD_BYTES_MAX = 64 << 20
HEAD_BYTES_MAX = 65_536
CHUNK_BYTES = 1 << 18
SOCKET_FILE, PORT_FILE, HUNG_FILE = "daemon.sock", "daemon.port", "hung"
SOCKET_PATH_MAX = 100  # bytes; the systems allow 104 to 108
ANSWERED, LEAVE, BUSY, TAKEN = b"A", b"L", b"B", b"T"
HOOK, STATUS, STOP = "hook", "status", "stop"


class Call:
    """One request to the daemon: what it is of, and when it was made.

    Attributes:
        nonce: the same in every repetition of one call.
        moment_ns: since 1970; the time of what the call records.
        token: what proves a loopback caller to be of the same user.
    """

    operation: str
    version: str
    host: str
    store: str
    namespace: str
    embedder: str
    nonce: str
    moment_ns: str
    token: str

    def __init__(self, **given: str) -> None:
        for name in _FIELDS:
            setattr(self, name, given.get(name, ""))

    def frame(self, payload: bytes) -> bytes:
        """Write the request with its payload: magic, the lengths of head and payload, both of them."""
        head = "\0".join(getattr(self, name) for name in _FIELDS).encode("utf-8", "surrogateescape")
        return MAGIC + len(head).to_bytes(4, "big") + len(payload).to_bytes(4, "big") + head + payload


_FIELDS = tuple(Call.__annotations__)  # in the order in which a request has them


def run(load: "Any", arguments: list[str]) -> None:
    """Answer one hook: payload from standard input, answer to standard output."""
    import _signal  # type: ignore[import-not-found]  # a C module without stubs; `signal` imports enum: 4 ms

    environment = load("environment")
    call = call_of(environment, arguments)
    folder = environment.runtime_folder()
    got: list[bytes] = []
    _watch(_signal, lambda: load("hook_files").give_up(call, folder, got[0] if got else None))
    try:
        _answer(_signal, load, environment, call, folder, got)
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _answer(_signal: "Any", load: "Any", environment: "Any", call: Call, folder: str, got: list[bytes]) -> None:
    payload = read(0, PAYLOAD_BYTES_MAX)
    if payload is None:
        load("hook_files").log(folder, f"a payload of more than {PAYLOAD_BYTES_MAX:,} bytes was not recorded")
        return
    got.append(payload)
    begun = time.monotonic()
    _signal.setitimer(_signal.ITIMER_REAL, LIMIT_MS / 1000 + 0.1)
    by, loopback = begun + LIMIT_MS / 1000, environment.loopback()
    output = None
    if environment.daemon_wanted():
        try:
            output = ask(call, payload, folder, by, loopback=loopback)
        except ConnectionError:
            output = _ask_new(load, call, payload, folder, begun + NEW_MS / 1000, loopback=loopback)
    if output is None:
        files = load("hook_files")
        files.apart(lambda: files.keep(call, payload, folder, "no daemon answered in time"))
    else:
        write(1, output)


def _ask_new(load: "Any", call: Call, payload: bytes, folder: str, by: float, *, loopback: bool) -> bytes:
    """Have a daemon started and the call kept, then ask until the time is up; nothing is said where none answers."""
    start, files = load("hook_start"), load("hook_files")
    start.start_server(call, folder, files)  # it loads while the call is written
    files.apart(lambda: files.keep(call, payload, folder, ""))
    started = time.monotonic()
    while (now := time.monotonic()) < by:
        if now - started > START_EVERY_S:
            start.start_server(call, folder, files)  # the one that was there may have been about to end
            started = now
        try:
            return ask(call, payload, folder, by, loopback=loopback) or b""
        except ConnectionError:
            time.sleep(LOOK_S)
    return b""


def call_of(environment: "Any", arguments: list[str]) -> Call:
    """Read a hook's command line: ``HOST [--store PATH] [--namespace NAME]``; what is not said is the variables'.

    Raises:
        ValueError: there is no host, an option is not known or lacks its value, or there is no folder for a store.
    """
    options = {"--store": "", "--namespace": ""}
    hosts = []
    words = iter(arguments)
    for word in words:
        if word in options:
            options[word] = next(words, "")
            if not options[word]:
                raise ValueError(f"expected a value after {word}; install the hooks again: firsthand install")
        else:
            hosts.append(word)
    if len(hosts) != 1 or hosts[0].startswith("-"):
        raise ValueError(f"expected HOST [--store PATH] [--namespace NAME]; got {arguments!r}")
    store = environment.hook_store(options["--store"])
    if not store:
        raise ValueError("expected a home folder for the store; there is none. Install the hooks with --store PATH")
    return Call(
        operation=HOOK,
        version=VERSION,
        host=hosts[0],
        store=store,
        namespace=options["--namespace"] or environment.default_namespace(),
        embedder=environment.default_embedder() or "none",
        nonce=os.urandom(16).hex(),
        moment_ns=str(time.time_ns()),
    )


def ask(call: Call, payload: bytes, folder: str, by: float, *, loopback: bool) -> bytes | None:
    """Give the daemon's answer; None when it is too slow or has too many callers, or its folder is not to be trusted.

    Args:
        by: until when (of the monotonic clock) an answer is of use.

    Raises:
        ConnectionError: nobody listens, or who did has died or is about to end; another may be started and asked.
    """
    import _socket

    hung = os.path.join(folder, HUNG_FILE)
    if not folder or (os.path.lexists(folder) and not is_private(folder)) or _is_fresh(hung):
        return None
    begun = time.monotonic()
    sign_by, patient_by = min(by, begun + WAIT_MS / 1000), min(by, begun + PATIENT_MS / 1000)
    try:
        connection = connect(_socket, folder, call, loopback=loopback)
        status, output = exchange(connection, call, payload, sign_by, patient_by)
    except TimeoutError:
        late = begun + WAIT_MS / 1000 <= time.monotonic() < patient_by
        if late and not os.fork():  # nothing interrupts a wait for a disk, and the host waits
            _mark(hung)
        return None
    except (OSError, ValueError) as error:  # nobody listens, it died, or speaks otherwise
        raise ConnectionError(str(error)) from error
    if status == LEAVE:
        raise ConnectionError("the daemon is about to end")
    return output if status == ANSWERED else None


def is_private(folder: str) -> bool:
    """Say whether a folder is there, the user's own, and not to be written by others."""
    try:
        told = os.stat(folder)
    except OSError:
        return False
    return told.st_uid == os.getuid() and not told.st_mode & 0o022


def _mark(path: str) -> None:
    """Note the time in an empty file, in a child process that ends with it.

    Where that fails, as on a full disk, the next hook waits for the daemon too.
    """
    try:
        os.setsid()
        os.closerange(0, 256)  # the host waits for the end of its streams
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    finally:
        os._exit(0)


def _is_fresh(mark: str) -> bool:
    """Say whether a daemon let a hook wait in vain just now."""
    try:
        return abs(time.time() - os.stat(mark).st_mtime) < HUNG_S
    except OSError:
        return False


# the wire ------------------------------------------------------------------------------------------


def connect(_socket: "Any", folder: str, call: Call, *, loopback: bool) -> "Any":
    """Open a connection to the daemon of a folder; on loopback the call is given its token.

    Raises:
        OSError: nobody listens.
        ValueError: the file that names port and token is damaged.
    """
    if loopback:
        path = os.path.join(folder, PORT_FILE)
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            port, _, token = file.read(200).decode().partition(" ")
        call.token = token
        return _connected(_socket.socket(_socket.AF_INET, _socket.SOCK_STREAM), ("127.0.0.1", int(port)))
    return _connected(_socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM), socket_path(folder))


def _connected(connection: "Any", address: "Any") -> "Any":
    """Connect, or let the socket go."""
    try:
        connection.settimeout(WAIT_MS / 1000)
        connection.connect(address)
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


def exchange(connection: "Any", call: Call, payload: bytes, by: float, patient_by: float = 0.0) -> tuple[bytes, bytes]:
    """Send a request and give the reply's status and bytes.

    Args:
        by, patient_by: until when (of the monotonic clock) a reply is waited for; and that of a daemon which said
            that it took the call, 0 for no other time.

    Raises:
        TimeoutError: the reply was not whole by that time.
        OSError, ValueError: the connection broke, or the reply is none.
    """
    connection.sendall(call.frame(payload))
    head = receive(connection, 9, by)
    if head[4:5] == TAKEN:
        by = patient_by or by
        head = receive(connection, 9, by)
    if head[:4] != MAGIC:
        raise ValueError("the reply is none of this protocol")
    output = receive(connection, int.from_bytes(head[5:9], "big"), by)
    connection.close()
    return head[4:5], output


def lengths(start: bytes) -> tuple[int, int]:
    """Read how long head and payload of a request are from its first 12 bytes.

    Raises:
        ValueError: it is no request, or over the limits.
    """
    head, payload = int.from_bytes(start[4:8], "big"), int.from_bytes(start[8:12], "big")
    if len(start) != 12 or start[:4] != MAGIC or head > HEAD_BYTES_MAX or payload > PAYLOAD_BYTES_MAX:
        raise ValueError(f"expected a request of this protocol within its limits; got {start!r}")
    return head, payload


def parsed(head: bytes) -> Call:
    """Read the head of a request.

    Raises:
        ValueError: it has not the fields of one.
    """
    values = head.decode("utf-8", "surrogateescape").split("\0")
    return Call(**dict(zip(_FIELDS, values, strict=True)))


def reply(status: bytes, output: bytes = b"") -> bytes:
    """Write a reply."""
    return MAGIC + status + len(output).to_bytes(4, "big") + output


def receive(connection: "Any", size: int, by: float) -> bytes:
    """Read so many bytes.

    Raises:
        TimeoutError: they had not come by that time.
        ValueError: the other side closed before.
    """
    got = bytearray()
    while len(got) < size:
        left = by - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        piece = connection.recv(min(size - len(got), CHUNK_BYTES))
        if not piece:
            raise ValueError("the connection was closed before its end")
        got += piece
    return bytes(got)


# files and time ------------------------------------------------------------------------------------


def read(descriptor: int, bytes_max: int) -> bytes | None:
    """Read all that comes from a descriptor; None when it is more than so many bytes."""
    got = bytearray()
    while piece := os.read(descriptor, CHUNK_BYTES):
        got += piece
        if len(got) > bytes_max:
            return None
    return bytes(got)


def write(descriptor: int, data: bytes) -> None:
    """Write all bytes; a reader that went away is its own affair."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except BrokenPipeError:  # the host did not wait: nobody is there to be told
        return


def _watch(_signal: "Any", give_up: "Any") -> None:
    """End this process in time even if it hangs in a system call, as in reading a payload that never ends."""

    def ring(_number: int, _where: object) -> None:
        try:
            give_up()
        finally:
            os._exit(0)

    _signal.signal(_signal.SIGALRM, ring)
    _signal.setitimer(_signal.ITIMER_REAL, PAYLOAD_MS / 1000)


if sys.platform == "win32":
    raise OSError("hooks need a system with Unix processes, as the log needs its locks")
