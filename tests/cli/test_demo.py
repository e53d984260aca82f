"""firsthand demo, in an empty home."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from terminal import ENVIRONMENT, command

from firsthand import Memory
from firsthand.cli import demo


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user with an empty home would."""
    environment = {**ENVIRONMENT, "HOME": str(home), "TMPDIR": str(home)}
    return subprocess.run(command(words), cwd=home, env=environment, capture_output=True, text=True, timeout=120,
                          check=False)  # fmt: skip


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """One run of the demo, for people, in a home of its own."""
    home = tmp_path_factory.mktemp("home")
    yield home, run(home, "demo")
    run(home, "serve", "--stop")


def test_everything_comes_out_as_it_should(seen):
    """The demo ends with 0 and nothing on standard error, and no part of its at most 40 lines says NO."""
    _, done = seen
    assert (done.returncode, done.stderr) == (0, "")
    assert "NO" not in done.stdout.split()
    assert len(done.stdout.splitlines()) <= 40


def test_the_second_session_reads_what_the_first_one_did(seen):
    """What the demo shows of the second session is the failed command, and the address that the user had named."""
    _, done = seen
    second = done.stdout.partition("2. ")[2].partition("3. ")[0]
    assert "failed, exit code 1, not run with success since: `python deploy.py`" in second
    assert "broker-7.internal:48213" in second.partition(demo.ASKED_LATER)[2]


def test_it_ends_with_the_inspector_or_with_what_to_install(seen):
    """The last line is a link to the pages of the demo's store, or the command that installs them."""
    _, done = seen
    last = done.stdout.splitlines()[-1]
    try:
        import starlette  # noqa: F401
    except ImportError:
        assert "install" in last
    else:
        assert "http://127.0.0.1:" in last
        assert "monday" in last


def test_the_store_that_it_leaves_is_whole_and_used(seen):
    """The demo's store verifies, and holds the whole output of the command that failed."""
    home, _ = seen
    (store,) = home.glob("firsthand-demo-*/store")
    with Memory.open(store, read_only=True) as memory:
        assert memory.verify().problems == ()
        (result,) = (event for event in memory.events(demo.SESSION) if event.kind == "tool_result")
        assert result.size_bytes > 50_000
        assert result.meta["exit_code"] == 1


def test_a_step_that_fails_is_named(shell, monkeypatch):
    """When the second session is not reminded, the demo says so and ends with 3."""
    monkeypatch.setattr(demo, "ASKED_LATER", "Write a haiku about a lighthouse in winter.")
    monkeypatch.setenv("TMPDIR", str(shell.home))
    done = shell("demo")
    shell("serve", "--stop")
    assert done.code == 3
    assert "was not reminded of the address" in done.error
