"""firsthand demo, in an empty home."""

from __future__ import annotations

from importlib.util import find_spec

from firsthand import Memory
from firsthand.cli import demo


def test_the_demo_shows_a_memory_at_work(shell):
    """In at most 40 lines a second session reads what failed, all checks hold, and the inspector's address is last."""
    done = shell.process("demo", TMPDIR=str(shell.home), FIRSTHAND_STORE="")
    shell("serve", "--stop")
    assert (done.code, done.error) == (0, "")
    assert "NO" not in done.text.split()
    assert len(done.lines) <= 40
    second = done.text.partition("2. ")[2].partition("3. ")[0]
    assert "failed, exit code 1, not run with success since: `python deploy.py`" in second
    assert "broker-7.internal:48213" in second.partition(demo.ASKED_LATER)[2]
    assert ("http://127.0.0.1:" if find_spec("starlette") else "install") in done.lines[-1]
    (store,) = shell.home.glob("firsthand-demo-*/store")
    with Memory.open(store, read_only=True) as memory:
        assert memory.verify().problems == ()
        (result,) = (event for event in memory.events(demo.SESSION) if event.kind == "tool_result")
        assert (result.size_bytes > 50_000, result.meta["exit_code"]) == (True, 1)


def test_a_step_that_fails_is_named(shell, monkeypatch):
    """When the second session is not reminded, the demo says so and ends with 3."""
    monkeypatch.setattr(demo, "ASKED_LATER", "Write a haiku about a lighthouse in winter.")
    monkeypatch.setenv("TMPDIR", str(shell.home))
    done = shell("demo")
    shell("serve", "--stop")
    assert (done.code, "was not reminded of the address" in done.error) == (3, True)
