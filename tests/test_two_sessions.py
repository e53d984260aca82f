"""Two sessions of a coding agent, whole: installed hooks, a made Claude Code, nothing called but its commands."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from made_claude import MadeClaude

from firsthand import Kind, Memory

BROKER = "amqps://broker-7.internal:48213"
SECONDS_MAX = 60.0


@pytest.fixture
def environment(tmp_path: Path):
    """The environment of a user whose home is empty; no daemon of theirs outlives the test."""
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    home = tmp_path / "home"
    (home / "project" / ".git").mkdir(parents=True)
    told = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(run)}
    yield told
    firsthand(told, "serve", "--stop", check=False)


def firsthand(environment: dict[str, str], *arguments: str, check: bool = True) -> str:
    """Run a command as the user would, in the project."""
    done = subprocess.run(
        [sys.executable, "-m", "firsthand", *arguments], env=environment, cwd=Path(environment["HOME"]) / "project",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout


def session(environment: dict[str, str]) -> MadeClaude:
    home = Path(environment["HOME"])
    return MadeClaude(home, home / "project", home / ".claude" / "settings.json", environment)


def first_session(environment: dict[str, str]) -> MadeClaude:
    """Live through a session with an exact string, a decision, a failure, and a compaction by the host."""
    one = session(environment)
    one.start()
    one.prompt("Find out at which address the message broker listens.")
    one.bash("grep -r broker config/", f"config/prod.toml: broker = '{BROKER}'")
    one.answer(f"The message broker listens at {BROKER}, as config/prod.toml says.")
    one.prompt("We keep the retry limit of the broker client at 7, since 12 flooded the queue.")
    one.bash("make deploy-broker", "error: certificate of broker-7 expired on 2026-11-01", failed=True)
    one.answer("Decided: the retry limit stays at 7. The deploy failed, since the certificate expired.")
    one.compact("The user asked about the message broker and its retry limit.")
    one.prompt("Thanks, that is all.")
    one.answer("Good bye.")
    one.end()
    return one


def wait_for_episode(environment: dict[str, str]) -> str:
    """Wait until the session's episode stands, as the user sees it."""
    began = time.monotonic()
    while time.monotonic() - began < SECONDS_MAX:
        told = firsthand(environment, "agent", "episodes", check=False)
        if "broker" in told:
            return told
        time.sleep(0.2)
    raise AssertionError(
        f"no episode of the first session after {SECONDS_MAX} s: {firsthand(environment, 'doctor', check=False)}"
    )


def test_a_string_of_the_first_session_appears_in_the_second_when_and_only_when_it_matters(environment):
    """Nothing is asked for: the address seen in session one stands before the model when its broker is spoken of."""
    firsthand(environment, "install", "claude-code", "--yes")
    one = first_session(environment)
    after_compaction = next(
        hooked for hooked in one.hooked if hooked.event == "SessionStart" and hooked is not one.hooked[0]
    )
    assert BROKER in after_compaction.output["hookSpecificOutput"]["additionalContext"]
    wait_for_episode(environment)

    two = session(environment)
    preamble = two.start()
    assert "broker" in preamble
    haiku = two.prompt("Write a haiku about a lighthouse in winter.")
    assert BROKER not in haiku
    asked = two.prompt("At which address does the message broker listen?")
    assert BROKER in asked
    again = two.prompt("And once more: at which address does the message broker listen?")
    assert BROKER not in again, "what was shown in this session is not shown again"
    two.end()

    for hooked in (*one.hooked, *two.hooked):
        assert (hooked.code, hooked.stderr) == (0, "")
    with Memory.open(Path(environment["HOME"]) / ".firsthand") as memory:
        assert memory.verify().problems == ()
        prompts = [e.text for e in memory.events(kind=Kind.USER_MESSAGE) if "haiku" in e.text]
        assert len(prompts) <= 1
        copies = [e for e in memory.events() if e.is_searchable and "<<firsthand" in e.text]
        assert copies == []


def test_past_sessions_that_were_imported_are_told_of_in_the_first_session_after_the_install(environment):
    """Install, start the agent, be reminded: the first session has the preamble of the last one, and its reminder."""
    for number, subject, address in ((92, "message broker", BROKER), (91, "session cache", "redis://cache-2:6390")):
        past = replace(session(environment), number=number)  # the newest is not the last by name
        past.prompt(f"Find out at which address the {subject} of this service listens.")
        past.bash("grep -r address config/", f"config/prod.toml: address = '{address}'")
        past.answer(f"The {subject} listens at {address}, as config/prod.toml says.")
    firsthand(environment, "install", "claude-code", "--yes", "--import")

    first = session(environment)
    preamble = first.start()
    assert "session cache" in preamble, first.hooked
    assert "message broker" not in preamble
    assert BROKER in first.prompt("At which address does the message broker listen?")
    assert "daffodil" not in first.prompt("Write a haiku about a daffodil, please.")
    first.end()
    with Memory.open(Path(environment["HOME"]) / ".firsthand") as memory:
        assert memory.verify().problems == ()
