"""A user whose host calls hooks: the program that hosts run, in a home and a runtime folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from firsthand import Kind, Memory
from firsthand.server import hook_client
from firsthand.server.hook_protocol import PROMISE_MS

CLIENT = Path(hook_client.__file__)


@dataclass(frozen=True)
class Answer:
    """What one hook said, and how long it took."""

    code: int
    out: bytes
    error: bytes
    seconds: float


class Hooked:
    """One user."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home, self.store, self.run_folder = home, home / "store", home / "run" / "firsthand"
        (home / "run").mkdir(mode=0o700, parents=True)
        self.environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"),
            "FIRSTHAND_STORE": str(self.store), "TZ": "UTC",
        } | variables  # fmt: skip

    def start(
        self, host: str = "cursor", *, python: str = sys.executable, client: Path = CLIENT, options=(), before=None
    ):
        """Begin a hook, its payload still to come."""
        command = [python, "-I", "-S", "-E", str(client), host, *map(str, options)]
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            preexec_fn=before,  # noqa: PLW1509 - of one test, which has no threads
        )

    def hook(self, payload: dict | bytes, host: str = "cursor", **how) -> Answer:
        """Run a hook to its end."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        begun = time.monotonic()
        process = self.start(host, **how)
        out, error = process.communicate(data, timeout=60)
        return Answer(process.returncode, out, error, time.monotonic() - begun)

    def bare(self) -> float:
        """Run an interpreter that does nothing; say in how many seconds, on this machine as it is now."""
        begun = time.monotonic()
        subprocess.run([sys.executable, "-I", "-S", "-E", "-c", "pass"], env=self.environment, check=True)
        return time.monotonic() - begun

    def promised(self) -> float:
        """Say in how many seconds a hook is promised to end, beside what a bare interpreter takes here and now."""
        return PROMISE_MS / 1000 + max(self.bare() for _ in range(3))

    def said(self, namespace: str = "default", store: Path | None = None) -> list[str]:
        """Give the prompts that are in the log."""
        store = store or self.store
        if not (store / "firsthand.db").exists():
            return []
        with Memory.open(store, namespace=namespace, read_only=True) as memory:
            return sorted(event.text for event in memory.events(kind=Kind.USER_MESSAGE))

    def kept(self, folder: str = "late") -> list[Path]:
        """Give the calls that wait, or that were set aside."""
        return sorted((self.store / "hooks" / folder).glob("*.call"))

    def command(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        command = [sys.executable, "-m", "firsthand", *map(str, arguments)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def status(self) -> dict:
        """Ask the daemon what it is at."""
        return json.loads(self.command("serve", "--status", "--json").stdout)

    def daemon(self) -> int:
        """Wait for a daemon that answers, and give its process."""
        by = time.monotonic() + 20
        while time.monotonic() < by:
            told = self.status()
            if told["answers"]:
                return told["pid"]
            time.sleep(0.05)
        raise AssertionError(f"no daemon: {self.log()}")

    def log(self) -> str:
        """Read the log of hooks."""
        file = self.run_folder / "hooks.log"
        return file.read_text() if file.exists() else ""

    def end(self) -> None:
        """Stop the daemon, whatever state a test left it in."""
        lock = self.run_folder / "daemon.lock"
        if lock.exists() and (pid := lock.read_text().strip()):
            try:
                os.kill(int(pid), signal.SIGCONT)
            except ProcessLookupError:  # it ended already
                return
        self.command("serve", "--stop")


def prompt(number: int, session: str = "s", text: str = "") -> dict:
    """Make what Cursor tells a hook of a prompt: a host without a transcript, so that the hook itself records it."""
    return {
        "hook_event_name": "beforeSubmitPrompt", "conversation_id": session, "generation_id": f"g{number}",
        "prompt": text or f"prompt number {number} of {session}", "workspace_roots": ["/nowhere"],
    }  # fmt: skip


def until(holds, seconds: float = 20.0) -> bool:
    """Wait until something holds; say whether it did."""
    by = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > by:
            return False
        time.sleep(0.02)
    return True
