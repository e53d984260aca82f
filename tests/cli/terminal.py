"""Runs the command line in tests: in this process, as a process of its own, and on a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from firsthand import Memory
from firsthand.cli.cli import main

ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "TERM": "xterm", "TZ": "UTC"}


@dataclass(frozen=True)
class Said:
    """What a command said."""

    code: int
    out: bytes
    error: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def json(self) -> Any:
        (line,) = self.lines
        return json.loads(line)

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


class Shell:
    """One user: a home, a store, and commands typed one after the other."""

    def __init__(self, home: Path, capture, monkeypatch) -> None:
        self.home, self.store = home, home / "store"
        self._capture, self._monkeypatch = capture, monkeypatch
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("FIRSTHAND_STORE", str(self.store))
        for name in ("FIRSTHAND_NAMESPACE", "NO_COLOR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            monkeypatch.delenv(name, raising=False)

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Said:
        """Run a command in this process, with nothing but pipes around it."""
        self._capture.readouterr()
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(argument) for argument in arguments])
        said = self._capture.readouterr()
        return Said(code, said.out, said.err.decode())

    def environment(self, **settings: str) -> dict[str, str]:
        return {**ENVIRONMENT, "HOME": str(self.home), "FIRSTHAND_STORE": str(self.store), **settings}

    def process(self, *arguments: object, stdin: bytes = b"", **settings: str) -> Said:
        """Run a command as a process of its own."""
        done = subprocess.run(
            command(arguments), input=stdin, env=self.environment(**settings), cwd=self.home,
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip
        return Said(done.returncode, done.stdout, done.stderr.decode())

    def on_terminal(self, *arguments: object, answer: bytes = b"", **settings: str) -> Said:
        """Run a command on a terminal of 100 columns; what it says comes as one text, in ``out``."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            command(arguments), stdin=slave, stdout=slave, stderr=slave, close_fds=True, cwd=self.home,
            env=self.environment(COLUMNS="100", LINES="30", **settings),
        )  # fmt: skip
        os.close(slave)
        if answer:
            os.write(master, answer)
        said = b""
        while True:
            assert select.select([master], [], [], 60)[0], f"waits for more than was answered: {said.decode()}"
            try:
                piece = os.read(master, 65_536)
            except OSError:  # the terminal's other end is closed
                break
            if not piece:
                break
            said += piece
        os.close(master)
        return Said(process.wait(60), said.replace(b"\r\n", b"\n"), "")

    def append(self, content: str | bytes, session: str = "s", kind: str = "user_message", *more: object) -> str:
        """Append an event and give its pointer."""
        data = content.encode() if isinstance(content, str) else content
        said = self("session", "append", "-", "--session", session, "--kind", kind, *more, stdin=data)
        assert said.code == 0, said.error
        return said.text.strip()


def command(arguments: tuple[object, ...]) -> list[str]:
    return [sys.executable, "-m", "firsthand", *(str(argument) for argument in arguments)]


@pytest.fixture
def shell(tmp_path, capsysbinary, monkeypatch):
    """A user's shell; its store is verified at the end, unless the test has damaged it on purpose."""
    one = Shell(tmp_path, capsysbinary, monkeypatch)
    one.damaged = False
    yield one
    if (one.store / "firsthand.db").exists() and not one.damaged:
        with Memory.open(one.store, read_only=True) as memory:
            assert memory.verify().problems == ()
