"""Whose a store is: the rights of what is made, links that lead out of it, and a folder that was moved while open."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from firsthand import Memory
from firsthand.agents import faults, pulse, session_cache, small_files
from firsthand.agents.faults import Fault, keep_fault
from firsthand.agents.hook_answer import answer_hook
from firsthand.agents.settings import switch, user_file
from firsthand.errors import StoreError, StoreFailed
from firsthand.health.doctor import examine
from firsthand.health.job_runner import run_due
from firsthand.server import hook_client
from firsthand.server.hook_client import Call

LARGE = os.urandom(200_000)
CALL = Call(operation="hook", host="cursor", namespace="default", nonce="cd" * 16, moment_ns="1700000000000000000")


@pytest.fixture(params=[0o000, 0o277, 0o777], ids=["000", "277", "777"])
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home without a daemon, in which nothing of this machine is found."""
    (tmp_path / "home").mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "home"))
    return tmp_path / "home"


def hook(memory: Memory, event: str, **fields) -> None:
    payload = {"session_id": "1", "hook_event_name": event, "cwd": str(memory.path.parent), **fields}
    answer_hook("claude-code", json.dumps(payload).encode(), memory, nonce=event)


def modes(root: Path) -> dict[str, str]:
    """Give what is not of its owner alone: the mode of each folder and file that is not 0700 and 0600."""
    wrong = {}
    for path in [root, *root.rglob("*")]:
        status = path.lstat()
        wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
        if stat.S_IMODE(status.st_mode) != wanted:
            wrong[str(path.relative_to(root.parent))] = oct(status.st_mode)
    return wrong


def test_all_that_is_written_is_its_owners_alone_whatever_the_umask(home, tmp_path, umask):
    """Log, artifacts, hooks, episodes, settings, health, kept calls, the accelerator and the hooks' log: 0700, 0600."""
    root, run = tmp_path / "deep" / "store", home / "firsthand"
    with Memory.open(root) as memory:
        memory.session("s").user("the port is 8443")
        memory.session("s").tool_result("t", LARGE)
        memory.agent("shop").learn("knowledge/ports.md", "The port is 8443.\n")
        for event, fields in (
            ("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": "which port?", "prompt_id": "1"}),
            ("SessionEnd", {"reason": "other"}),
        ):  # fmt: skip
            hook(memory, event, **fields)
        run_due(memory, now_ms=4_000_000_000_000)
        memory.follow()
        switch(user_file(root), "cues", on=False)
        examine(root)
        keep_fault(root, Fault("a step", "a reason"))
        call = Call(**{**{name: getattr(CALL, name) for name in Call.__annotations__}, "store": str(root)})
        hook_client.keep(call, b"{}", str(run), "a reason")
        assert memory.verify().ok
        assert modes(root) == {}
        assert modes(run) == {}
        names = {path.name for path in root.rglob("*")} | {path.name for path in run.iterdir()}
    assert {"firsthand.db-wal", "settings.json", "ports.md", "faults.jsonl", "hooks.log"} <= names
    assert any(name.endswith(".call") for name in names)


@pytest.mark.parametrize("name", ["artifacts", "hooks", "agents", "queue", "lock", "firsthand.db", "cache"])
def test_a_store_with_a_link_in_it_is_not_opened(tmp_path, name):
    """What stands behind a link in a store's folder stays as it is, and the error names the link."""
    with Memory.open(tmp_path / "store") as memory:
        memory.session("s").tool_result("t", LARGE)
    outside, place = tmp_path / "outside", tmp_path / "store" / name
    if place.exists():
        place.rename(outside)
    else:
        outside.mkdir()
    place.symlink_to(outside)
    for options in ({}, {"read_only": True}):
        with pytest.raises(StoreFailed, match=f"{name} is a link"):
            Memory.open(tmp_path / "store", **options)
    place.unlink()
    if outside.is_dir() and not any(outside.iterdir()):
        outside.rmdir()
    else:
        outside.rename(place)
    with Memory.open(tmp_path / "store") as memory:
        assert memory.verify().ok


def test_no_payload_is_written_read_swept_or_destroyed_through_a_link(tmp_path):
    """A folder below artifacts/ that is a link is refused by every verb, and what it leads to stays byte for byte."""
    root, outside = tmp_path / "store", tmp_path / "outside"
    with Memory.open(root) as memory:
        kept = memory.session("s").tool_result("t", LARGE)
    (parts,) = (path for path in (root / "artifacts").iterdir() if path.name != "incoming")
    (part,) = parts.iterdir()
    part.rename(outside)
    part.symlink_to(outside)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    with Memory.open(root) as memory:
        for verb in (
            lambda: memory.session("s").tool_result("t", LARGE), lambda: memory.expand(kept.pointer),
            lambda: memory.erase([kept]), lambda: memory.backup(tmp_path / "copy"),
        ):  # fmt: skip
            with pytest.raises(StoreError, match="is a link"):
                verb()
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    part.unlink()
    outside.rename(part)
    (root / "artifacts" / "incoming").rename(outside)
    (outside / "doomed-mine").write_bytes(b"a file of mine")
    (root / "artifacts" / "incoming").symlink_to(outside)
    with pytest.raises(StoreFailed, match="incoming is a link"):
        Memory.open(root)
    assert (outside / "doomed-mine").read_bytes() == b"a file of mine"


def test_no_small_file_of_a_store_is_written_or_read_through_a_link(home, tmp_path):
    """Hooks, settings, agents' files and health follow no link: the write or read is refused, the target unchanged."""
    root, outside = tmp_path / "store", tmp_path / "outside"
    outside.mkdir()
    target = outside / "mine.json"
    target.write_bytes(b'{"recall": false}')
    with Memory.open(root) as memory:
        (root / "hooks").mkdir(mode=0o700, exist_ok=True)
        for name in ("known", "fired"):
            (root / "hooks" / name).symlink_to(outside)
        for name in ("faults.jsonl", "lock"):
            (root / "hooks" / name).symlink_to(target)
        (root / "settings.json").symlink_to(target)
        for verb in (
            lambda: session_cache.keep(root, "default", "s", session_cache.Known()),
            lambda: session_cache.known(root, "default", "s"),
            lambda: keep_fault(root, Fault("where", "text")), lambda: faults.faults(root),
            lambda: pulse.beat(root, "codex", pulse.HookEvent.PROMPT),
            lambda: small_files.alone(root / "hooks" / "lock").__enter__(),
            lambda: switch(user_file(root), "cues", on=False),
        ):  # fmt: skip
            with pytest.raises(StoreError, match="link"):
                verb()
        folder = memory.agent("shop").folder
        for place in (folder, folder.parent):
            shutil.rmtree(place.parent, ignore_errors=True)
            place.parent.mkdir(mode=0o700, parents=True)
            place.symlink_to(outside)
            with pytest.raises(StoreError, match="link"):
                memory.agent("shop").learn("knowledge/ports.md", "The port is 8443.\n")
    assert [path.name for path in outside.iterdir()] == ["mine.json"]
    assert target.read_bytes() == b'{"recall": false}'


@pytest.mark.parametrize("name", [hook_client.LOG_FILE, hook_client.STARTS_FILE, hook_client.LOCK_FILE])
def test_no_file_of_the_runtime_folder_is_written_through_a_link(home, tmp_path, name):
    """hooks.log, starts and the lock that are links: their targets stay, and a hook ends at once all the same."""
    run, target = home / "firsthand", tmp_path / "target"
    run.mkdir(mode=0o700)
    target.write_text("mine")
    (run / name).symlink_to(target)
    client = Path(hook_client.__file__).parent / "hook_client.py"
    payload = {"session_id": "1", "hook_event_name": "UserPromptSubmit", "cwd": str(tmp_path), "prompt": "hello there"}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", str(client), "claude-code", "--store", str(tmp_path / "store")],
        input=json.dumps(payload).encode(), check=False, capture_output=True, timeout=30,
        env={**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home)},
    )  # fmt: skip
    hook_client.log(str(run), "a line")
    subprocess.run([sys.executable, "-m", "firsthand", "serve", "--stop"], check=False, capture_output=True)
    assert done.returncode == 0
    assert target.read_text() == "mine"


@pytest.mark.parametrize("replaced", [False, True], ids=["moved", "replaced"])
def test_a_store_that_was_moved_or_replaced_while_open_takes_nothing_more(tmp_path, replaced):
    """Append, large payload, note, erasure and knowledge are refused with what to do; both stores stay as they were."""
    root, moved = tmp_path / "store", tmp_path / "moved"
    memory = Memory.open(root)
    first = memory.session("s").user("before")
    root.rename(moved)
    if replaced:
        with Memory.open(root) as other:
            other.session("s").user("another store")
    before = sorted(str(path) for path in tmp_path.rglob("*") if "queue" not in str(path))
    for verb in (
        lambda: memory.session("s").user("after"), lambda: memory.session("s").tool_result("t", LARGE),
        lambda: memory.erase([first]), lambda: memory.agent("shop").learn("knowledge/a.md", "x\n"),
        lambda: hook(memory, "UserPromptSubmit", prompt="hello there", prompt_id="1"),
    ):  # fmt: skip
        with pytest.raises(StoreFailed, match="was moved, removed or replaced while it was open"):
            verb()
    assert sorted(str(path) for path in tmp_path.rglob("*") if "queue" not in str(path)) == before
    memory.close()
    for place in (moved, root) if replaced else (moved,):
        with Memory.open(place) as opened:
            assert [event.text for event in opened.events()] == ["another store" if place == root else "before"]
            assert opened.verify().ok
