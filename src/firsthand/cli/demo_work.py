"""The real work that the demo records: commands that every machine with Python can run, with long output.

Nothing here writes outside of temporary files, asks anything, or reaches a
network. What a command prints differs from machine to machine; that is the point.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from firsthand.environment import for_commands
from firsthand.value import value

COMMAND_SECONDS_MAX = 20
_PIECE_BYTES = 1 << 20
_SETTINGS = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",  # else it asks its index, and nothing here may reach a network
    "PIP_NO_CACHE_DIR": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "COLUMNS": "100",
}
_TOKEN = re.compile(r"(?<![\w.:-])/?[A-Za-z0-9_][A-Za-z0-9_./:-]{6,70}[A-Za-z0-9_]")

_HASH_LIBRARY = """
import hashlib, pathlib, sysconfig
root = pathlib.Path(sysconfig.get_path("stdlib"))
for path in sorted(root.rglob("*.py")):
    if "site-packages" not in path.parts and "dist-packages" not in path.parts:
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size, path.relative_to(root))
"""
_GREP_LIBRARY = """
import pathlib, re, sysconfig
root = pathlib.Path(sysconfig.get_path("stdlib"))
for path in sorted(root.glob("*.py")) + sorted(root.glob("[a-s]*/*.py")):
    if "site-packages" not in path.parts and "dist-packages" not in path.parts:
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if re.search(r"\\b(raise|except|assert)\\b", line):
                print(f"{path.relative_to(root)}:{number}:{line}")
"""
_FAILS = """
import json, tempfile, pathlib
folder = pathlib.Path(tempfile.mkdtemp(prefix="deploy-"))
(folder / "settings.json").write_text('{"retries": 3, "timeout_s": 30,}')
try:
    json.loads((folder / "settings.json").read_text())
finally:
    (folder / "settings.json").unlink(); folder.rmdir()
"""
_PAGES = ("argparse", "subprocess", "pathlib", "logging", "unittest.mock", "decimal", "datetime", "asyncio.events")
_IMPORTS = (
    "import asyncio, concurrent.futures, email.message, http.client, logging.config, unittest.mock, xml.dom.minidom"
)


@value
class Step:
    """One thing the session's agent does.

    Attributes:
        asks: what the user says before it; empty when the turn goes on.
        says: what the agent says before it.
        title: what is run, in a few words.
        command: what is run, as words.
        shown: the same as people would type it.
    """

    asks: str
    says: str
    title: str
    command: tuple[str, ...]
    shown: str


@value
class Ran:
    """What a command printed, in a temporary file that stands at its beginning."""

    output: BinaryIO
    size_bytes: int
    sha256: str
    exit_code: int
    seconds: float


def steps() -> list[Step]:
    """List the session's steps, as far as this machine has what they need."""
    python, library = sys.executable, Path(sysconfig.get_path("stdlib"))
    decimal = library / "_pydecimal.py"
    found = [
        _step(
            "Starting our tool feels slow. Which imports cost the time?", "I will measure the imports.",
            "python -X importtime -c 'import asyncio, ...'",
            python, "-X", "importtime", "-c", _IMPORTS,
        ),
        _step(
            "", "Let me see what is installed, with versions and places.", "python -m pip list -v",
            python, "-m", "pip", "list", "-v",
        ),
        _step(
            "Take the hash of every file of the standard library, so that we can tell later whether one changed.",
            "One line a file: hash, size, name.", "python: SHA-256 of every file of the standard library",
            python, "-c", _HASH_LIBRARY,
        ),
        _step(
            "Where does the library raise, catch and assert? I want the whole list.",
            "Searching every module, with file and line.", "python: every raise, except and assert of the library",
            python, "-c", _GREP_LIBRARY,
        ),
        _step(
            "", "And the reference pages of the modules we use.", "python -m pydoc argparse subprocess ...",
            python, "-m", "pydoc", *_PAGES,
        ),
        _step(
            "", "The token stream of the decimal module, to count what its arithmetic is made of.",
            "python -m tokenize -e _pydecimal.py", python, "-m", "tokenize", "-e", str(decimal),
        ),
        _step(
            "Now read the settings of the last deployment.", "Reading them.",
            "python: json.loads of a settings file (it fails)", python, "-c", _FAILS,
        ),
    ]  # fmt: skip
    git = shutil.which("git")
    if git and _is_repository(git):
        history = (git, "log", "-n", "400", "--stat")
        found.append(
            _step("What changed here lately?", "The history with its files.", "git log -n 400 --stat", *history)
        )
    return found


def _step(asks: str, says: str, title: str, *command: str) -> Step:
    return Step(asks, says, title, command, shlex.join((Path(command[0]).name, *command[1:])))


def _is_repository(git: str) -> bool:
    done = subprocess.run(
        [git, "rev-parse", "--git-dir"], capture_output=True, check=False, timeout=COMMAND_SECONDS_MAX
    )
    return done.returncode == 0


def run(step: Step) -> Ran:
    """Run a command and keep all that it prints, both streams in their order.

    A command that does not end in time is ended, and what it printed is kept.
    """
    output = tempfile.TemporaryFile()  # noqa: SIM115 - the caller reads and closes it
    started = time.monotonic()
    process = subprocess.Popen(
        step.command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=for_commands(**_SETTINGS),
    )
    try:
        exit_code = process.wait(COMMAND_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        exit_code = process.wait()  # says that it was ended: less than zero
    seconds = time.monotonic() - started
    digest, size = hashlib.sha256(), 0
    output.seek(0)
    while piece := output.read(_PIECE_BYTES):
        digest.update(piece)
        size += len(piece)
    output.seek(0)
    return Ran(output, size, digest.hexdigest(), exit_code, seconds)


def string_from_middle(data: bytes, taken: Sequence[str] = ()) -> str | None:
    """Draw an exact string from the middle of an output: what a person would later search for word for word.

    Args:
        taken: strings that were drawn already.
    """
    lines = data.decode("utf-8", "replace").splitlines()
    middle = len(lines) // 2
    for line in (*lines[middle:], *reversed(lines[:middle])):
        tokens: list[str] = [token for token in _TOKEN.findall(line) if _is_distinctive(token) and token not in taken]
        if tokens:
            return max(tokens, key=lambda token: (len(token), token))
    return None


def _is_distinctive(token: str) -> bool:
    return any(sign.isalpha() for sign in token) and any(sign.isdigit() for sign in token)
