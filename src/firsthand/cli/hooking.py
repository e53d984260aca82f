"""The commands hook and daemon.

``firsthand hook HOST`` does what the hooks' own program does, and starts slower:
hosts are told to call that one.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import socket
import time
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

from firsthand import environment
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND, REFUSED
from firsthand.cli.output import Output
from firsthand.server import hook_files, hook_protocol
from firsthand.server.hook_protocol import ANSWERED, STATUS, STOP, VERSION, Call

ASK_S = 2.0
STOP_S = 5.0
_PRESS = (signal.SIGTERM, signal.SIGKILL)


def hook(chosen: argparse.Namespace, out: Output) -> int:
    """Answer one hook of a host: its JSON from standard input, the answer to standard output."""
    out.flush()
    options = [word for name in ("store", "namespace") if (given := getattr(chosen, name))
               for word in (f"--{name}", given)]  # fmt: skip
    hook_protocol.run(_load, [chosen.host, *options])
    return DONE


def daemon(chosen: argparse.Namespace, out: Output) -> int:
    """Show, stop or be the daemon that answers hooks."""
    folder = environment.runtime_folder()
    if not folder:
        out.warn("expected a home folder, where the daemon's socket is; there is none. Set HOME or XDG_RUNTIME_DIR.")
        return REFUSED
    if chosen.foreground:
        return _foreground(folder, out)
    return _stop(folder, out) if chosen.stop else _status(folder, out)


def _foreground(folder: str, out: Output) -> int:
    from firsthand.server.daemon import hold, serve

    lock = hold(folder)
    if lock is None:
        out.warn(f"a daemon runs already ({_pid(folder)}); stop it first: firsthand daemon --stop")
        return REFUSED
    out.remark(f"answering hooks at {shown(folder)}; interrupt to stop")
    out.flush()
    serve(folder, lock)
    return DONE


def _status(folder: str, out: Output) -> int:
    told = _asked(folder, STATUS)
    runs = _runs(folder)
    if out.as_json:
        out.json({"runs": runs, "answers": told is not None, **(json.loads(told) if told else {})})
        return DONE if told else NOTHING_FOUND
    if told is None:
        if runs:
            out.line(
                f"process {_pid(folder)} has the daemon's lock and does not answer; firsthand daemon --stop ends it"
            )
        else:
            out.line("no daemon runs; the next hook starts one")
        return NOTHING_FOUND
    state = json.loads(told)
    out.line(
        f"process {state['pid']}, version {state['version']}, up {state['seconds']:,.0f} s, "
        f"{count(state['calls'], 'call')}, {state['memory_bytes'] / 2**20:.0f} MiB"
    )
    for store in state["stores"]:
        out.line(f"open: {shown(store)}")
    return DONE


def _stop(folder: str, out: Output) -> int:
    """Stop the daemon, and say so."""
    if not _runs(folder):
        out.line("no daemon runs")
        return NOTHING_FOUND
    if end_server():
        out.line("stopped")
        return DONE
    out.warn(f"process {_pid(folder)} holds the daemon's lock and does not end; end it by hand")
    return REFUSED


def end_server() -> bool:
    """Ask the daemon of this user to stop, and end one that does not answer; False where it lives on."""
    folder = environment.runtime_folder()
    if not folder or not _runs(folder):
        return True
    _asked(folder, STOP)
    for press in (None, *_PRESS):
        pid = _pid(folder)
        if press is not None and pid:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, press)
        by = time.monotonic() + STOP_S
        while time.monotonic() < by:
            if not _runs(folder):
                return True
            time.sleep(0.02)
    return False


def _asked(folder: str, operation: str) -> bytes | None:
    """Ask the daemon for something; None when none answers."""
    call = Call(operation=operation, version=VERSION)
    by = time.monotonic() + ASK_S
    try:
        with closing(hook_protocol.connect(socket, folder, call, loopback=environment.loopback())) as connection:
            status, told = hook_protocol.exchange(connection, call, b"", by)
    except (OSError, ValueError):
        return None
    return told if status == ANSWERED else None


def _runs(folder: str) -> bool:
    """Say whether a process has the daemon's lock."""
    try:
        with os.fdopen(hook_files.open_private(str(Path(folder) / hook_files.LOCK_FILE), os.O_RDONLY), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _pid(folder: str) -> int:
    """Give the process that signed the lock; 0 when none did."""
    told = (Path(folder) / hook_files.LOCK_FILE).read_text(encoding="ascii", errors="replace").strip()
    return int(told) if told.isdigit() else 0


def _load(name: str) -> ModuleType:
    return environment if name == "environment" else import_module(f"firsthand.server.{name}")
