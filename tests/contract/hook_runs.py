"""A user whose host calls hooks: the program that hosts run, in a home and a runtime folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from firsthand import Kind, Memory
from firsthand.server import hook_client, launcher
from firsthand.server.hook_client import PROMISE_MS

CLIENT = Path(hook_client.__file__)
RUN = [sys.executable, "-I", "-S", "-E", str(CLIENT)]
"""The client of this package itself, as hosts' settings of earlier versions name it."""

PATIENT = [
    sys.executable,
    "-c",
    "import sys; from firsthand.server import hook_client as c; c.LIMIT_MS = 30_000; c.main(sys.argv[1:])",
]
"""The same, with time enough on any machine for the handler that it starts."""


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
        self.state_folder = home / "state" / "firsthand"
        self.launcher = self.state_folder / "firsthand-hook"
        (home / "run").mkdir(mode=0o700, parents=True)
        self.state_folder.mkdir(mode=0o700, parents=True)
        launcher._put_all(self.state_folder)
        self.environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"),
            "XDG_STATE_HOME": str(home / "state"), "FIRSTHAND_STORE": str(self.store), "TZ": "UTC",
        } | variables  # fmt: skip

    def start(self, host: str = "cursor", *, program: Sequence[object] = (), options=(), before=None):
        """Begin a hook, its payload still to come."""
        return subprocess.Popen(
            [*map(str, program or [self.launcher]), host, *map(str, options)],
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
        """Say in how many seconds a hook is promised to end, beside the few processes that it starts here and now."""
        return PROMISE_MS / 1000 + 5 * max(self.bare() for _ in range(3))

    def said(self, namespace: str = "default", store: Path | None = None) -> list[str]:
        """Give the prompts that are in the log."""
        store = store or self.store
        if not (store / "firsthand.db").exists():
            return []
        with Memory(store, namespace=namespace, read_only=True) as memory:
            return sorted(event.text for event in memory.events(kind=Kind.USER_MESSAGE))

    def kept(self, folder: str = "late") -> list[Path]:
        """Give the calls that wait, or that were set aside."""
        return sorted((self.store / "hooks" / folder).glob("*.call"))

    def command(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        command = [sys.executable, "-m", "firsthand", *map(str, arguments)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def doctor(self, stage: str) -> str:
        """Say what the doctor finds at a stage, once hooks are installed for Cursor."""
        assert self.command("install", "cursor", "--yes").returncode == 0
        report = json.loads(self.command("doctor", "--json", "--no-canary").stdout)
        return "; ".join(finding["what"] for finding in report["findings"] if finding["stage"] == stage)

    def recalls_across_sessions(self) -> None:
        """Have prompts answered from every session of the store."""
        self.store.mkdir(mode=0o700, exist_ok=True)
        (self.store / "settings.json").write_text('{"across": true}')

    def processes(self) -> list[int]:
        """Give the processes that run for this user, whoever started them."""
        mark = f"XDG_RUNTIME_DIR={self.home}/run".encode()
        return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if mark in environment_of(path)]

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

    @contextmanager
    def serving(self, change: str) -> Iterator[int]:
        """Run a server of this user's, for which something of the package was changed; give its process."""
        source = (
            "from firsthand.server import daemon, hook_answers\n"
            f"{change}\nfolder = {str(self.run_folder)!r}\ndaemon.serve(folder, daemon.hold(folder))"
        )
        process = subprocess.Popen([sys.executable, "-c", source], env=self.environment)
        try:
            assert self.daemon() == process.pid
            yield process.pid
        finally:
            process.terminate()
            process.wait(20)

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


def claude_prompt(text: str, session: str = "s") -> dict:
    """Make what Claude Code tells a hook of a prompt; without a transcript, so that the hook itself records it."""
    return {
        "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt_id": f"{session} {text}", "prompt": text,
        "cwd": "/nowhere", "transcript_path": "",
    }  # fmt: skip


def environment_of(path: Path) -> list[bytes]:
    """Read a process's environment; nothing for one that has ended, or is another user's."""
    try:
        return path.read_bytes().split(b"\0")
    except OSError:
        return []


def until(holds, seconds: float = 20.0) -> bool:
    """Wait until something holds; say whether it did."""
    by = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > by:
            return False
        time.sleep(0.02)
    return True
