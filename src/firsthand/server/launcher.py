"""The program that hosts' settings name: a launcher in the user's state folder, with the hooks' client beside it.

    STATE/firsthand-hook   a shell script: runs the client by the Python it was installed with, else any other
    STATE/hook.py          the client, a copy of `hook_client`
    STATE/installation     the interpreter and the package's folder, which the client starts a server with
    STATE/hosts.json       the settings files that name the launcher
    STATE/unanswered       written by the launcher where no Python was found

Settings outlive an environment: that of ``uvx`` is deleted, a project's is made anew. So nothing in them is in one.
The invariants: each file is put in its place whole, for the user alone, and never through a link; a folder that others
may write to is refused. The copies go when no settings file names them any longer.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import tempfile
from pathlib import Path

from firsthand import environment
from firsthand.errors import InvalidArgument, StoreFailed
from firsthand.server import hook_client
from firsthand.server.auth import TOKEN_FILE

LAUNCHER_FILE, CLIENT_FILE, HOSTS_FILE, UNANSWERED_FILE = "firsthand-hook", "hook.py", "hosts.json", "unanswered"
_SCRIPT = """#!/bin/sh
# Written by "firsthand install"; "firsthand uninstall" takes it away.
here=${{0%/*}}
python={python}
if [ -r "$here/hook.py" ]; then
  if [ -x "$python" ]; then
    exec "$python" -I -S -E -c {run} "$here" "$@"
  fi
  command -v python3 >/dev/null 2>&1 && python3 -I -S -E -c {run} "$here" "$@" && exit 0
fi
echo "firsthand: nothing is recorded: no Python 3.8 or newer was found. Install it, or run: firsthand install" >&2
(umask 077; echo "$1" >"$here/unanswered") 2>/dev/null
exit 0
"""
_RUN = "import os, sys; sys.path.append(sys.argv.pop(1)); import hook; os._exit(hook.main(sys.argv[1:]))"
"""Imported and not run, so that the interpreter keeps it compiled."""


def path() -> Path:
    """Give the program's path.

    Raises:
        InvalidArgument: the user has no home.
    """
    folder = environment.state_folder()
    if folder is None:
        raise InvalidArgument(
            "expected a home folder for the hooks' program; there is none. Set HOME, or XDG_STATE_HOME"
        )
    return folder / LAUNCHER_FILE


def write(settings: Path) -> None:
    """Put launcher and client in their place, for one more settings file.

    Raises:
        InvalidArgument: others may write to the folder, or it cannot be written.
    """
    folder = _private_folder()
    _put_all(folder)
    put(folder / HOSTS_FILE, json.dumps(sorted({*_used(folder), str(settings)})).encode(), 0o600)
    for name in (hook_client.WARNED_FILE, UNANSWERED_FILE):
        (folder / name).unlink(missing_ok=True)


def remove(settings: Path) -> None:
    """Take a settings file off the list, and the copies away when none is left that names them.

    Raises:
        InvalidArgument: others may write to the folder, or it cannot be written.
    """
    program = path()
    if not program.parent.is_dir():
        return
    folder = _private_folder()
    used = {name for name in _used(folder) - {str(settings)} if _names(Path(name), program)}
    if used:
        put(folder / HOSTS_FILE, json.dumps(sorted(used)).encode(), 0o600)
        return
    mine = (LAUNCHER_FILE, CLIENT_FILE, HOSTS_FILE, UNANSWERED_FILE, TOKEN_FILE)
    for name in (*mine, hook_client.RECORD_FILE, hook_client.WARNED_FILE):
        (folder / name).unlink(missing_ok=True)
    _forget_compiled(folder)
    for empty in (folder / "__pycache__", folder):
        if empty.is_dir() and not any(empty.iterdir()):
            empty.rmdir()


def renew() -> None:
    """Put the client of this installation in the place of another version of it, and take over from one that is gone.

    Raises:
        StoreFailed: it cannot be written.
    """
    folder = environment.state_folder()
    if folder is None or not (folder / CLIENT_FILE).is_file():
        return
    _, root = _recorded(folder)
    gone = _gone(folder)
    if root != _root() and not gone:
        return  # another installation's hooks
    try:
        if gone or (folder / CLIENT_FILE).read_bytes() != Path(hook_client.__file__).read_bytes():
            _put_all(_private_folder())
    except (OSError, InvalidArgument) as error:
        raise StoreFailed(f"the hooks' client in {folder} could not be renewed: {error}") from error


def faults() -> tuple[str, ...]:
    """Say what keeps hooks from being answered: no installation, or no Python at all."""
    folder = environment.state_folder()
    if folder is None or not (folder / LAUNCHER_FILE).exists():
        return ()
    faults_ = (
        [f"hooks were installed with {gone}, which is gone: calls wait on disk"] if (gone := _gone(folder)) else []
    )
    note = folder / UNANSWERED_FILE
    if note.is_file():
        host = note.read_text(encoding="utf-8", errors="replace").strip()
        faults_.append(f"a hook of {host[:60]} found no Python 3.8 or newer: what it was told is lost")
    return tuple(faults_)


def _gone(folder: Path) -> str:
    """Name what hooks were installed with and is not there any longer; empty when all is."""
    python, root = _recorded(folder)
    wanted = {python: os.access(python, os.X_OK), root: (Path(root) / "firsthand").is_dir()}
    return next((name or hook_client.RECORD_FILE for name, there in wanted.items() if not there), "")


def number(version: str) -> tuple[int, ...]:
    """Give a version as numbers, to be compared."""
    return tuple(int(part) for part in version.split(".")[:4] if part.isdigit() and len(part) < 9)


# files ---------------------------------------------------------------------------------------------


def _root() -> str:
    return str(Path(hook_client.__file__).parents[2])


def _recorded(folder: Path) -> tuple[str, str]:
    """Give the interpreter and the package's folder that the client starts a server with."""
    try:
        python, root = os.fsdecode((folder / hook_client.RECORD_FILE).read_bytes()).split("\n")[:2]
    except (FileNotFoundError, ValueError):  # taken away, or damaged: nothing is installed any longer
        return "", ""
    return python, root


def _used(folder: Path) -> set[str]:
    """Name the settings files that were installed to; none for a list that cannot be read."""
    try:
        names = json.loads((folder / HOSTS_FILE).read_bytes())
    except (FileNotFoundError, ValueError):  # nothing was installed, or it is damaged
        return set()
    return set(map(str, names)) if isinstance(names, list) else set()


def _names(settings: Path, program: Path) -> bool:
    """Say whether a settings file that was installed to still names the launcher; one that cannot be read may."""
    try:
        return str(program) in settings.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _put_all(folder: Path) -> None:
    """Write launcher, client and record."""
    if "\n" in sys.executable + _root():
        raise InvalidArgument(f"expected a Python without a line end in its path; got {sys.executable!r}")
    put(folder / CLIENT_FILE, Path(hook_client.__file__).read_bytes(), 0o600)
    put(folder / hook_client.RECORD_FILE, os.fsencode(f"{sys.executable}\n{_root()}\n"), 0o600)
    script = _SCRIPT.format(python=shlex.quote(sys.executable), run=shlex.quote(_RUN))
    put(folder / LAUNCHER_FILE, os.fsencode(script), 0o700)
    _forget_compiled(folder)


def _forget_compiled(folder: Path) -> None:
    """Have the client compiled anew: Python tells a new one by its time in seconds and its size."""
    for compiled in (folder / "__pycache__").glob("hook.*"):
        compiled.unlink(missing_ok=True)


def _private_folder() -> Path:
    """Make the folder, or see that nobody else may put a program there.

    Raises:
        InvalidArgument: others may, or it cannot be made.
    """
    folder = path().parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise InvalidArgument(f"expected a folder for the hooks' program at {folder}: {error}") from error
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InvalidArgument(
            f"expected {folder} to be writable by you alone; run: chmod go-w {shlex.quote(str(folder))}"
        )
    return folder


def put(target: Path, content: bytes, mode: int) -> None:
    """Put a new file in the place of another one, at once; a link is replaced and not followed.

    Raises:
        OSError: the system refuses.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
