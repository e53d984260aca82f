"""The commands of derived memory on full and read-only disks, and into pipes that nobody reads: old state or new."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from firsthand import Memory
from firsthand.cli.cli import main

LEVELS = (7, 8, 9, 12, 15)
SLEEP = ("agent", "sleep", "--agent", "shop")


def writing(root: Path, pointers: list[str]) -> tuple[tuple[str, ...], ...]:
    """Give commands that write; the rule that one of them proposes lies outside the store's disk."""
    rules = root.parent.parent / "rules.json"
    rules.write_text(json.dumps([{"text": "birch level N => 3 * N + 2", "sources": pointers[: len(LEVELS)]}]))
    return (
        ("ledger", "propose", str(rules), "--keep"),
        SLEEP,
        ("ledger", "quarantine", pointers[0]),
    )


def made(root: Path) -> list[str]:
    """Make a store with a note and cases that a rule is made of; give the pointers of its events."""
    with Memory.open(root, embedder="none") as memory:
        memory.agent("shop").enrol("s")
        session = memory.session("s", agent="shop")
        said = [session.user(f"birch level {level} => {3 * level + 2}") for level in LEVELS]
        said.append(session.user("STAGING_PORT=80"))
        memory.note("The port is 80.")
        memory.assert_fact("port", "80", "STAGING_PORT=80")
        return [one.pointer for one in said]


def typed(root: Path, *arguments: str) -> tuple[int, str]:
    """Type a command; give its exit code and what it says on standard error."""
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(["--store", str(root), *arguments])
    error.flush()
    return code, error.buffer.getvalue().decode()


def head(root: Path) -> str:
    with Memory.open(root, read_only=True, embedder="none") as memory:
        assert memory.verify().problems == ()
        return memory.head()


@pytest.fixture
def disk(tmp_path, monkeypatch) -> Iterator[Path]:
    """A small file system of its own, which only root can mount; the home of a user."""
    path = tmp_path / "disk"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    mount = shutil.which("mount")
    done = mount and subprocess.run([mount, "-t", "tmpfs", "-o", "size=3m", "none", path], check=False)
    if os.geteuid() != 0 or not done or done.returncode != 0:
        pytest.skip("a small file system can only be mounted by root")
    yield path
    subprocess.run(["umount", path], check=True)


def test_on_a_full_disk_nothing_is_done_by_half(disk):
    """Each command that writes fails with an error and its exit code, the store verifies, and later it all works."""
    root = disk / "store"
    said = made(root)
    before = head(root)
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4_096))
    for command in (*writing(root, said), ("ledger", "retract", said[-1])):
        code, error = typed(root, *command)
        assert code in {0, 4}, (command, error)
        assert "Traceback" not in error
    ballast.unlink()
    assert int(head(root).partition(":")[0]) >= int(before.partition(":")[0])
    for command in writing(root, said):
        assert typed(root, *command)[0] in {0, 1}, command
    assert head(root) != before


def test_a_store_that_may_not_be_written_says_so(disk):
    """On a read-only disk each command that writes is refused with exit code 5, and those that read answer."""
    root = disk / "store"
    said = made(root)
    before = head(root)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for command in (*writing(root, said), ("ledger", "approve", said[0])):
        code, error = typed(root, *command)
        assert (code, "Traceback" in error) == (5, False), (command, error)
    for command in (("agent", "digest", "--agent", "shop"), ("ledger", "entries"), writing(root, said)[0][:3]):
        assert typed(root, *command)[0] == 0
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    assert head(root) == before


@pytest.mark.parametrize("command", [("ledger", "entries"), ("agent", "digest", "--agent", "shop"), SLEEP])
def test_a_closed_pipe_ends_a_command_quietly(tmp_path, command):
    """Whoever reads the output went away: exit code 141 or the command's own, no traceback, and the store is whole."""
    root = tmp_path / "store"
    made(root)
    read, write = os.pipe()
    os.close(read)
    environment = {**os.environ, "HOME": str(tmp_path), "FIRSTHAND_STORE": str(root)}
    words = [sys.executable, "-m", "firsthand", *command]
    told = subprocess.run(words, env=environment, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert told.returncode in {0, 1, 141}
    assert "Traceback" not in told.stderr
    head(root)
