"""firsthand demo, in an empty home."""

from __future__ import annotations

import json

import pytest

from firsthand import Memory
from firsthand.cli.demo_work import Step, run, string_from_middle


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
    """The demo ends with 0, says nothing on standard error, and no part of it says NO."""
    home, done = shown
    assert (done.returncode, done.stderr) == (0, "")
    assert "NO" not in done.stdout.split()
    assert [line for line in done.stdout.splitlines() if line[:2] in {f"{n}." for n in range(1, 10)}] == [
        "1. Your own agent sessions",
        "2. A live session: real commands on this machine, every byte they print",
        "3. Exact strings from the middle of those outputs, recalled",
        "4. The longest output, expanded to its bytes",
        "5. An empty answer says why it is empty",
        "6. A copy of the store, with one byte changed in an event and one in an artifact",
        "7. A session of over 100,000 tokens under a window of 8,000",
        "8. Two sessions of a coding agent; nobody asks for anything",
        "9. The store",
    ]
    assert len(done.stdout.splitlines()) < 170
    assert sorted(path.name[:15] for path in home.iterdir()) == [".local", "firsthand-demo-"]  # the marks of its heads


def test_the_store_that_it_leaves_is_whole_and_used(shown):
    """The demo's store verifies, holds outputs of 50 kB and more as artifacts, and every result joins its call."""
    home, _ = shown
    (store,) = home.glob("firsthand-demo-*/store")
    with Memory.open(store, read_only=True) as memory:
        assert memory.verify().problems == ()
        events = list(memory.events("demo"))
        calls = [one.meta["call_id"] for one in events if one.kind == "tool_call"]
        results = [one for one in events if one.kind == "tool_result"]
        assert [one.meta["call_id"] for one in results] == calls
        assert sum(one.artifact is not None and one.size_bytes > 50_000 for one in results) >= 3
        assert any(one.meta["exit_code"] for one in results)
        assert all(one.time is not None for one in events)


def test_json_tells_what_was_measured(shell):
    """With --json the demo gives one document: commands with hashes, strings found, what verify named."""
    talk = shell.home / ".pi" / "agent" / "sessions" / "x"
    talk.mkdir(parents=True)
    lines = [{"type": "session", "id": "0a1b", "cwd": "/srv"},
             {"type": "message", "message": {"role": "user", "content": "hello"}}]  # fmt: skip
    (talk / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    facts = shell("demo", "--into", shell.home / "here", "--json", "--quiet").json
    assert facts["ok"] is True
    assert facts["failures"] == []
    assert (facts["sessions_found"], facts["sessions_imported"], facts["events_imported"]) == (1, 1, 2)
    assert facts["store"] == str(shell.home / "here" / "store")
    assert all(one["found"] for one in facts["recalled"])
    assert len(facts["recalled"]) >= 3
    assert facts["expanded"]["same"] is True
    assert facts["broken"]["named"] == facts["broken"]["expected"]
    assert facts["broken"]["damaged"] == 2
    assert facts["absent"] is facts["filtered"] is True
    assert facts["seconds"] < 60


def test_a_file_that_is_no_session_stops_nothing(shell):
    """What lies in a usual place and is no session, or a link to nowhere, is said or passed over; the demo goes on."""
    place = shell.home / ".pi" / "agent" / "sessions" / "x"
    place.mkdir(parents=True)
    (place / "odd.jsonl").write_bytes(bytes(range(256)) * 10)
    (place / "link.jsonl").symlink_to(place / "nowhere")
    said = shell("demo", "--into", shell.home / "here")
    assert (said.code, said.error) == (0, "")
    assert any(line.startswith("   refused: ") and "odd.jsonl" in line for line in said.lines)


def test_a_folder_that_holds_something_is_refused(shell):
    """--into a folder with files in it is refused and nothing is written."""
    (shell.home / "full").mkdir()
    (shell.home / "full" / "x").write_text("mine")
    said = shell("demo", "--into", shell.home / "full")
    assert (said.code, said.out) == (5, b"")
    assert [path.name for path in (shell.home / "full").iterdir()] == ["x"]


def test_a_command_is_run_for_real():
    """A step's output holds both streams, its size and hash are those of the bytes, its exit code is kept."""
    import hashlib
    import sys

    script = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(7)"
    ran = run(Step("", "", "", (sys.executable, "-c", script), ""))
    with ran.output:
        data = ran.output.read()
    assert data == b"out\nerr\n"
    assert (ran.size_bytes, ran.sha256, ran.exit_code) == (8, hashlib.sha256(data).hexdigest(), 7)


def test_a_command_that_does_not_end_is_ended(monkeypatch):
    """A command past its time is killed; what it printed is kept and its exit code says so."""
    import sys

    monkeypatch.setattr("firsthand.cli.demo_work.COMMAND_SECONDS_MAX", 1)
    ran = run(Step("", "", "", (sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"), ""))
    with ran.output:
        assert ran.output.read() == b"begun\n"
    assert ran.exit_code == -9


def test_a_string_comes_from_the_middle():
    """The longest distinctive string of the middle line, or of the nearest that has one; none is taken twice."""
    lines = b"first abc123def\n\nplain words only\nsee /srv/a1/b.py and x9y8z7w6\nlast zzz999zzz\n"
    assert string_from_middle(lines) == "/srv/a1/b.py"
    assert string_from_middle(lines, ["/srv/a1/b.py", "x9y8z7w6"]) == "zzz999zzz"
    assert string_from_middle(b"no such thing here\n") is None
