"""No wait of the server on a file or another process is unbounded: what hangs is refused, left, or ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hook_runs import Hooked, prompt, until

from firsthand.agents import jobs
from firsthand.agents.settings import agent_of
from firsthand.server import daemon
from firsthand.server.daemon_stores import Stores
from firsthand.server.hook_client import SESSION_MS, Call

SESSION = "0b6f7f4e-7b2c-4c7e-9a4e-1d2f3a4b5c6d"


def claude(user: Hooked, event: str, **more: str) -> dict:
    """Make what Claude Code tells a hook, of a session whose folders are the test's."""
    path = user.home / "host" / f"{SESSION}.jsonl"
    return {
        "hook_event_name": event, "session_id": SESSION, "transcript_path": str(path), "cwd": str(user.home / "work"),
        **more,
    }  # fmt: skip


def pipe(path: Path) -> None:
    """Put a pipe that nobody writes to in the place of a file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)


PLACES = {
    "what hosts and checkouts have": [
        f"host/{SESSION}.jsonl", f"host/{SESSION}/subagents/agent.jsonl", "work/.firsthand.json", "work/.git/config",
    ],
    "settings": ["store/settings.json"],
    "what hooks keep": [
        "store/hooks/faults.jsonl", "store/hooks/known/*", "store/hooks/waiting/*", "store/hooks/fired/*",
        "store/hooks/late/1-x.0.call", "store/hooks/set-aside/1-x.0.call",
    ],
    "jobs": ["store/hooks/jobs/*", "store/hooks/jobs/lock"],
    "health": ["store/health/status.json", "store/health/history.jsonl", "store/health/canaries.jsonl"],
    "agents": [
        f"store/agents/default/AGENT/{name}"
        for name in ("knowledge/a.md", "rubric.md", ".followed.json", ".written.json")
    ],
    "the runtime folder": ["run/firsthand/hooks.log", "run/firsthand/starts"],
}  # fmt: skip


@pytest.mark.parametrize("places", PLACES)
def test_a_pipe_in_the_place_of_a_file_stops_no_server(user, places):
    """Whatever files hooks and jobs read are pipes that nobody writes to: hooks end, and what others do is done."""
    (user.home / "work").mkdir()
    user.hook(claude(user, "SessionStart", source="startup"), host="claude-code")
    user.hook(claude(user, "UserPromptSubmit", prompt="the port is 8443", prompt_id="1"), host="claude-code")
    server = user.daemon()
    files: list[Path] = []
    for pattern in PLACES[places]:
        whose = pattern.replace("AGENT", agent_of(str(user.home / "work")))
        files += list(user.home.glob(whose)) or [user.home / whose.replace("*", "x")]
    for path in files:
        pipe(path)
    for number, event in enumerate(("SessionStart", "UserPromptSubmit", "SessionEnd")):
        payload = claude(user, event, source="compact", prompt="and the host is blue", prompt_id=f"{number + 2}")
        answer = user.hook(payload, host="claude-code")
        wait_s = SESSION_MS / 1000 if event == "SessionStart" else 0
        assert (answer.code, answer.seconds < user.promised() + wait_s) == (0, True)
    user.hook(prompt(1))
    jobs.leave(user.store, jobs.Job(jobs.PROJECT, "default", "other", host="cursor", path="/nowhere/x"))
    user.hook(prompt(2))
    assert until(lambda: {"prompt number 1 of s", "prompt number 2 of s"} <= set(user.said()))
    if places != "jobs":
        assert until(lambda: not [job for job in jobs.pending(user.store) if job.agent == "other"])
    assert user.daemon() == server


def test_a_lock_that_a_stopped_process_keeps_holds_up_nothing_else(user):
    """A process is stopped while it holds the store and its jobs: hooks end in time, and lose nothing."""
    user.hook(prompt(0))
    assert until(lambda: user.said() and not user.kept())
    (user.store / "hooks" / "jobs").mkdir(parents=True, exist_ok=True)
    source = (
        "import fcntl, os, sys, time\n"
        "held = [os.open(path, os.O_RDWR | os.O_CREAT) for path in sys.argv[1:]]\n"
        "[fcntl.flock(file, fcntl.LOCK_EX) for file in held]\n"
        "print('held', flush=True)\n"
        "time.sleep(60)\n"
    )
    locks = [str(user.store / "lock"), str(user.store / "hooks" / "jobs" / "lock")]
    process = subprocess.Popen([sys.executable, "-c", source, *locks], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    process.send_signal(signal.SIGSTOP)
    try:
        answer = user.hook(prompt(1))
        assert (answer.code, answer.seconds < user.promised()) == (0, True)
        assert until(lambda: len(user.kept()) == 1)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert until(lambda: user.said() == ["prompt number 0 of s", "prompt number 1 of s"])


def served(user: Hooked, *changes: str) -> subprocess.Popen[bytes]:
    """Run a daemon in which some things never come back."""
    folder = str(user.run_folder)
    source = "\n".join([
        "import threading, time",
        "from firsthand.server import daemon, daemon_jobs, hook_answers",
        "answered, work = hook_answers.answered, daemon_jobs.work",
        "def never(*_, **__): threading.Event().wait()",
        "def of_one_store(memory, *rest): return (never if 'hangs' in str(memory.path) else answered)(memory, *rest)",
        *changes,
        f"daemon.serve({folder!r}, daemon.hold({folder!r}))",
    ])  # fmt: skip
    process = subprocess.Popen([sys.executable, "-c", source], env=user.environment)
    assert user.daemon() == process.pid
    return process


def test_calls_that_hang_hold_up_no_other_store(user, tmp_path):
    """More calls that never come back than there are threads: the hook of another store is answered."""
    process = served(user, "hook_answers.answered = of_one_store")
    try:
        hanging = [user.start(options=("--store", tmp_path / "hangs")) for _ in range(daemon.THREADS_MAX + 2)]
        for number, hook in enumerate(hanging):
            hook.communicate(json.dumps(prompt(number)).encode(), timeout=60)
        user.hook(prompt(1))
        assert until(lambda: user.said() == ["prompt number 1 of s"], 5)
        assert user.daemon() == process.pid
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "changes",
    [("daemon.CALL_HANGS_S = daemon.LOOK_S = 0.3", "hook_answers.answered = of_one_store"),
     ("daemon_jobs.HANGS_S = daemon.LOOK_S = 0.3", "daemon_jobs.work = never")],
)  # fmt: skip
def test_a_server_with_a_thread_that_hangs_ends(user, tmp_path, changes):
    """What is at work for too long ends the process, since nothing ends a thread; the next hook has a fresh one."""
    process = served(user, *changes)
    jobs.leave(tmp_path / "hangs", jobs.Job(jobs.FILES, "default", "a"))
    user.hook(prompt(1), options=("--store", tmp_path / "hangs"))
    assert process.wait(20) == 0
    assert "at work for" in user.log()
    user.hook(prompt(2), options=("--store", tmp_path / "hangs"))
    assert until(lambda: len(user.said(store=tmp_path / "hangs")) == 2)


def test_a_store_that_is_being_opened_for_ever_is_waited_for_in_bounds(tmp_path, monkeypatch):
    """A second call of a store whose opening hangs gets an error in time."""
    monkeypatch.setattr("firsthand.server.daemon_stores.OPEN_S", 0.1)
    stores, call = Stores(), Call(store=str(tmp_path / "s"), namespace="default", embedder="none")
    with stores.of(call):
        lock = stores._opening[call.store, "default", "none"]
        with lock, pytest.raises(Exception, match="another thread is still at it"), stores.of(call):
            pass
    stores.close()
