"""The hooks' own program: where no daemon runs yet, wherever it is installed, and whatever is in its way."""

from __future__ import annotations

import compileall
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hook_runs import CLIENT, Hooked, prompt, until

import firsthand
from firsthand import Memory
from firsthand.server import hook_files, hook_protocol
from firsthand.server.hook_protocol import Call


@pytest.fixture
def user(tmp_path):
    """A user for whom no daemon runs yet; the one that a hook starts is stopped at the end."""
    one = Hooked(tmp_path)
    yield one
    one.end()
    if (one.store / "firsthand.db").exists():
        with Memory.open(one.store, read_only=True) as memory:
            assert memory.verify().ok


def test_the_first_hook_starts_a_daemon_and_is_answered_by_it(user):
    """The prompt is in the log when the hook ends, which said nothing else, and no kept copy is left."""
    answer = user.hook(prompt(1))
    assert (answer.code, answer.error) == (0, b"")
    assert not answer.out or isinstance(json.loads(answer.out), dict)
    assert user.said() == ["prompt number 1 of s"]
    assert until(lambda: user.kept() == [])
    assert user.status()["runs"]


def test_a_hook_that_may_start_no_daemon_keeps_its_call(user):
    """With FIRSTHAND_DAEMON=off a call is on disk at once, and recorded when the jobs are run by hand."""
    user.environment["FIRSTHAND_DAEMON"] = "off"
    answer = user.hook(prompt(1))
    assert (answer.code, answer.out, answer.error) == (0, b"", b"")
    assert until(lambda: len(user.kept()) == 1)
    assert not (user.run_folder / "daemon.lock").exists()
    assert "1 call recorded" in user.command("agent", "jobs", "--run").stderr
    assert user.said() == ["prompt number 1 of s"]
    assert user.kept() == []


def test_store_and_namespace_of_the_command_line_go_first(user, tmp_path):
    """A hook that was installed for one store and namespace uses them, whatever the variables say."""
    user.hook(prompt(1), options=("--store", tmp_path / "other", "--namespace", "mine"))
    assert user.said("mine", tmp_path / "other") == ["prompt number 1 of s"]
    assert not user.store.exists()


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("cursor", "--store"), ("--what",)])
def test_a_wrong_command_line_does_not_disturb_the_host(user, arguments):
    """A hook that was installed wrongly ends with 0, prints nothing for the host, and says what was expected."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", CLIENT, *arguments],
        input=b"{}", env=user.environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"expected" in done.stderr


def test_a_payload_that_never_ends_holds_nobody(user):
    """A host that does not close the hook's input gets the process back in time, and the log says why."""
    process = user.start()
    begun = time.monotonic()
    assert process.stdin is not None
    process.stdin.write(b'{"hook_event_name"')
    process.stdin.flush()
    assert process.wait(timeout=30) == 0
    assert time.monotonic() - begun < hook_protocol.PAYLOAD_MS / 1000 + user.promised()
    process.communicate()
    assert "did not end in time" in user.log()


def test_what_is_no_json_is_no_fault_of_the_host_s(user):
    """Bytes that are no payload at all end with 0 and nothing said."""
    answer = user.hook(b"\xff\x00 no json")
    assert (answer.code, answer.out) == (0, b"")


def test_the_package_is_the_client_s_own(tmp_path):
    """Where the interpreter has another installation, what a client loads, and its daemon, is the client's own."""
    copied = tmp_path / "other" / "firsthand"
    shutil.copytree(Path(firsthand.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    start = copied / "server" / "hook_start.py"
    source = (
        f"import runpy; runpy.run_path({str(start)!r})['find_package'](); "
        "import apsw, firsthand; print(firsthand.__file__)"
    )
    for site in (["-I"], ["-I", "-S"]):
        told = subprocess.run([sys.executable, *site, "-c", source], capture_output=True, text=True, check=True)
        assert told.stdout.strip() == str(copied / "__init__.py")


def test_no_home_and_no_place_to_write_is_no_fault_of_the_host_s(user, tmp_path):
    """Where nothing can be written at all, the hook ends with 0 and says so on standard error."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    user.environment |= {"HOME": str(blocked), "XDG_RUNTIME_DIR": str(blocked), "FIRSTHAND_STORE": str(blocked / "s")}
    answer = user.hook(prompt(1))
    assert (answer.code, answer.out) == (0, b"")
    assert b"firsthand:" in answer.error


def test_the_client_works_from_an_ordinary_installation(user, tmp_path):
    """Copied beside what it needs, as pip installs it, it records for an interpreter that knows nothing of it."""
    place = tmp_path / "site-packages"
    shutil.copytree(Path(firsthand.__file__).parent, place / "firsthand", ignore=shutil.ignore_patterns("__pycache__"))
    import apsw
    import backports.zstd

    for module in (apsw, backports.zstd):
        source = Path(module.__file__).parent
        target = place / ("backports/zstd" if "backports" in str(source) else source.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source)
    bare = str(Path(sys.executable).resolve())  # the interpreter that the virtual environment was made from
    compileall.compile_dir(place / "firsthand", quiet=1)  # as pip does; to compile within the hook takes its whole time
    client = place / "firsthand" / "server" / "hook_client.py"
    answer = user.hook(prompt(1), python=bare, client=client)
    assert (answer.code, answer.error) == (0, b"")
    assert user.said() == ["prompt number 1 of s"]


def test_what_asks_the_daemon_imports_c_modules_and_os_alone():
    """The part of the client that runs at every prompt loads nothing that costs milliseconds."""
    source = (
        f"import sys; g = {{'__file__': {str(CLIENT)!r}, '__name__': 'client'}}; "
        f"exec(compile(open({str(CLIENT)!r}).read(), 'c', 'exec'), g); "
        "g['load']('environment'); asking = g['load']('hook_protocol'); "
        "asking.is_private('/'); asking.ask(asking.Call(), b'', '', 0.0, loopback=False); print(*sorted(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-I", "-S", "-E", "-c", source], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.split())
    assert loaded & {"json", "re", "enum", "pathlib", "typing", "socket", "apsw", "importlib", "collections"} == set()
    assert loaded & {"firsthand", "site"} == set()


def test_the_client_s_version_is_the_package_s():
    """The client carries the package's version, which it cannot import."""
    assert firsthand.__version__ == hook_protocol.VERSION


def test_a_request_is_read_as_it_was_written():
    """Head and payload of a request come back, whatever bytes a path has; a cut or foreign one is refused."""
    call = Call(
        operation="hook", host="cursor", store=os.fsdecode(b"/odd/\xff"), namespace="n", nonce="1", moment_ns="2"
    )
    data = call.frame(b"payload")
    head, payload = hook_protocol.lengths(data[:12])
    again = hook_protocol.parsed(data[12 : 12 + head])
    assert [getattr(again, name) for name in Call.__annotations__] == [
        getattr(call, name) for name in Call.__annotations__
    ]
    assert data[12 + head :] == b"payload"
    assert payload == 7
    for wrong in (data[:11], b"XXXX" + data[4:12], data[:8] + b"\xff\xff\xff\xff"):
        with pytest.raises(ValueError, match="expected a request"):
            hook_protocol.lengths(wrong)
    with pytest.raises(ValueError, match="zip"):
        hook_protocol.parsed(b"too\0few")


def test_a_daemon_that_hangs_and_cannot_be_marked_costs_no_event(tmp_path):
    """Where the mark of a hung daemon cannot be written the call is kept all the same."""
    user = Hooked(tmp_path)
    user.run_folder.mkdir(mode=0o700)
    mark = user.run_folder / "hung"
    mark.mkdir()
    os.utime(mark, (0, 0))
    with (user.run_folder / "daemon.lock").open("wb") as lock, socket.socket(socket.AF_UNIX) as deaf:
        fcntl.flock(lock, fcntl.LOCK_EX)  # so that none is started
        deaf.bind(str(user.run_folder / "daemon.sock"))
        deaf.listen(1)
        answer = user.hook(prompt(1))
    assert (answer.code, answer.error) == (0, b"")
    assert len(user.kept()) == 1
    assert user.command("agent", "jobs", "--run").returncode == 0
    assert user.said() == ["prompt number 1 of s"]
    with Memory.open(user.store, read_only=True) as memory:
        assert memory.verify().ok


def test_a_user_without_a_home_is_told_and_no_folder_is_taken_for_a_store(tmp_path, monkeypatch):
    """The project's folder never becomes a store; the log of hooks, which has no place either, goes to stderr."""
    monkeypatch.chdir(tmp_path)
    homeless = SimpleNamespace(hook_store=lambda named: named)
    with pytest.raises(ValueError, match="expected a home folder for the store"):
        hook_protocol.call_of(homeless, ["cursor"])
    hook_files.log("", "said to nobody")
    assert list(tmp_path.iterdir()) == []
