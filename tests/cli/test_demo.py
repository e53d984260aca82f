"""firsthand demo, in an empty home."""

from __future__ import annotations

import pytest

from firsthand import Memory
from firsthand.cli import demo


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """One run of the demo, for people."""
    import subprocess

    from terminal import ENVIRONMENT, command

    home = tmp_path_factory.mktemp("home")
    done = subprocess.run(command(("demo",)), cwd=home, env={**ENVIRONMENT, "HOME": str(home)}, capture_output=True,
                          text=True, timeout=120, check=False)  # fmt: skip
    return home, done


def test_everything_comes_out_as_it_should(shown):
    """The demo ends with 0, says nothing on standard error, no part of it says NO, and it fits a screen or two."""
    home, done = shown
    assert (done.returncode, done.stderr) == (0, "")
    assert "NO" not in done.stdout.split()
    assert len(done.stdout.splitlines()) <= 40
    assert sorted(path.name[:15] for path in home.iterdir()) == [".local", "firsthand-demo-"]  # the marks of its heads


def test_the_store_that_it_leaves_is_whole_and_used(shown):
    """The demo's store verifies, holds a long output and a failure, and every result joins its call."""
    home, _ = shown
    (store,) = home.glob("firsthand-demo-*/store")
    with Memory.open(store, read_only=True) as memory:
        assert memory.verify().problems == ()
        events = list(memory.events(demo.SESSION))
        calls = [event.meta["call_id"] for event in events if event.kind == "tool_call"]
        results = [event for event in events if event.kind == "tool_result"]
        assert [event.meta["call_id"] for event in results] == calls
        assert any(event.size_bytes > 50_000 for event in results)
        assert any(event.meta["exit_code"] for event in results)
        assert all(event.time is not None for event in events)


def test_a_folder_that_holds_something_is_refused(shell):
    """--into a folder with files in it is refused and nothing is written."""
    (shell.home / "full").mkdir()
    (shell.home / "full" / "x").write_text("mine")
    said = shell("demo", "--into", shell.home / "full")
    assert (said.code, said.out) == (5, b"")
    assert [path.name for path in (shell.home / "full").iterdir()] == ["x"]
