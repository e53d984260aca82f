"""The command serve: start, show, stop or be the one process that answers hooks, pages and MCP from open stores."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument, environment
from firsthand.cli import team
from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND, REFUSED
from firsthand.cli.output import Output
from firsthand.server import hook_client
from firsthand.server.hook_client import ANSWERED, VERSION, Call

ASK_S = 2.0
START_S = 10.0
STOP_S = 5.0
_PRESS = (signal.SIGTERM, signal.SIGKILL)


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _serve, "Run the server of hooks, pages and MCP; hooks start it by themselves.",
        """
        firsthand serve                in the background, unless it runs already
        firsthand serve --status       what it is doing; exit code 1 when it does not run
        firsthand serve --stop
        firsthand serve --foreground --port 8321    in this terminal, until interrupted
        firsthand serve --postgres postgresql://application@db.example/store --host 0.0.0.0      for a team
        """,
    )  # fmt: skip
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--foreground", action="store_true", help="run in this terminal, until interrupted")
    how.add_argument("--stop", action="store_true", help="stop it; the next hook starts another")
    how.add_argument("--status", action="store_true", help="show what it is doing")
    parser.add_argument(
        "--port", type=number(0, 65_535), metavar="N", help="of pages and MCP; 0: any; default 8321, or any"
    )
    team.add_server(parser)


def _serve(chosen: argparse.Namespace, out: Output) -> int:
    if chosen.postgres:
        return team.serve(chosen, out)
    if chosen.host != team.THIS_MACHINE:
        raise InvalidArgument("expected --postgres DSN beside --host: only a server with keys listens to others")
    folder = environment.runtime_folder()
    if not folder:
        out.warn("expected a home folder, where the server's socket is; there is none. Set HOME or XDG_RUNTIME_DIR.")
        return REFUSED
    if chosen.foreground:
        return _run(folder, chosen.port, out)
    if chosen.stop:
        return _stop(folder, out)
    if chosen.status or _state():
        return _status(folder, out)
    return _status(folder, out) if start_server(out, chosen.port) else REFUSED


def _run(folder: str, port: int | None, out: Output) -> int:
    """Be the server."""
    from firsthand.server.daemon import hold, serve

    lock = hold(folder)
    if lock is None:
        out.warn(f"firsthand: the server runs already (process {_pid(folder)}); to stop it: firsthand serve --stop")
        return REFUSED
    out.remark(f"answering hooks at {shown(folder)}; interrupt to stop")
    out.flush()
    serve(folder, lock, port=port, say=out.remark)
    return DONE


def start_server(out: Output, port: int | None = None) -> bool:
    """Start the server in the background unless it runs, and wait until it answers; False where it does not."""
    folder = environment.runtime_folder()
    if _state():
        return True
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "firsthand", "--quiet", "serve", "--foreground"]
        + ([] if port is None else [f"--port={port}"]),
        env=environment.for_commands(PYTHONPATH=paths), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    by = time.monotonic() + START_S
    while (process.poll() is None or _runs(folder)) and time.monotonic() < by:  # the one that runs may begin anew
        if _state():
            process.returncode = 0  # it is not waited for: it outlives this process
            return True
        time.sleep(0.05)
    if _runs(folder):
        out.warn(f"firsthand: process {_pid(folder)} does not answer; to end it: firsthand serve --stop")
        return False
    out.warn(f"firsthand: the server did not start; why is said by: firsthand serve --foreground, or in "
             f"{shown(str(Path(folder) / hook_client.LOG_FILE))}")  # fmt: skip
    return False


def _status(folder: str, out: Output) -> int:
    state, runs = _state(), _runs(folder)
    if out.as_json:
        out.json({"runs": runs, "answers": bool(state), **state})
    elif state:
        out.line(
            f"process {state['pid']}, version {state['version']}, up {state['seconds']:,.0f} s, "
            f"{count(state['calls'], 'call')}, {state['memory_bytes'] / 2**20:.0f} MiB"
        )
        for store in state["stores"]:
            out.line(f"open: {shown(store)}")
        if state.get("http"):
            out.line(f"pages at {state['http']}, by a link from: firsthand inspect")
            out.line(f"MCP at {state['http']}/mcp, with the token in {shown(state['token_file'])}")
        elif state.get("missing"):
            out.line(f"no pages: {state['missing']}")
    elif runs:
        out.line(f"process {_pid(folder)} does not answer; to end it: firsthand serve --stop")
    else:
        out.line("the server does not run; the next hook starts it, or: firsthand serve")
    return DONE if state else NOTHING_FOUND


def _stop(folder: str, out: Output) -> int:
    """Stop the server, and say so."""
    if not _runs(folder):
        out.line("the server does not run")
        return NOTHING_FOUND
    if end_server():
        out.line("stopped")
        return DONE
    out.warn(f"firsthand: process {_pid(folder)} holds the server's lock and does not end; end it by hand")
    return REFUSED


def end_server() -> bool:
    """Ask the server of this user to stop, and end one that does not answer; False where it lives on."""
    folder = environment.runtime_folder()
    if not folder or not _runs(folder):
        return True
    _ask("stop")
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


def _state() -> dict[str, Any]:
    """Ask the server what it is doing; empty when none answers."""
    answer = _ask("status")
    state: dict[str, Any] = json.loads(answer) if answer else {}
    return state


def _ask(operation: str) -> bytes | None:
    """Ask the server for something; None when none answers."""
    return ask_server(Call(operation=operation, version=VERSION), b"")


def ask_server(call: Call, payload: bytes) -> bytes | None:
    """Ask the server of this user; None when none answers."""
    by = time.monotonic() + ASK_S
    try:
        with closing(hook_client.connect(environment.runtime_folder())) as connection:
            status, answer = hook_client.exchange(connection, call, payload, by, by)
    except (OSError, ValueError):
        return None
    return answer if status == ANSWERED else None


def _runs(folder: str) -> bool:
    """Say whether a process has the server's lock."""
    try:
        with os.fdopen(hook_client.open_private(str(Path(folder) / hook_client.LOCK_FILE), os.O_RDONLY), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _pid(folder: str) -> int:
    """Give the process that signed the lock; 0 when none did."""
    text = (Path(folder) / hook_client.LOCK_FILE).read_text(encoding="ascii", errors="replace").strip()
    return int(text) if text.isdigit() else 0
