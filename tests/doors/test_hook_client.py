"""The hooks' own program: without a daemon, wherever it is installed, and whatever is in its way."""

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
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from hook_runs import CLIENT, Hooked, prompt, until

import firsthand
from firsthand import Kind, Memory
from firsthand.doors import hook_alone, hook_asking, hook_files
from firsthand.doors.hook_asking import LIMIT_MS, Call

SLACK_S = 5.0  # for the start of an interpreter on a machine with much else to do


@pytest.fixture
def alone(tmp_path):
    """A user without a daemon."""
    one = Hooked(tmp_path, FIRSTHAND_DAEMON="off")
    yield one
    if (one.store / "firsthand.db").exists():
        with Memory.open(one.store, read_only=True) as memory:
            assert memory.verify().ok


def said(store: Path) -> list[str]:
    with Memory.open(store, read_only=True) as memory:
        return [one.text for one in memory.events(kind=Kind.USER_MESSAGE)]


def test_a_hook_without_a_daemon_records_and_says_nothing_else(alone):
    """The prompt is in the log, the hook ended with 0, and its output is nothing or one JSON object."""
    for number in (1, 2):
        answer = alone.hook(prompt(number))
        assert (answer.code, answer.error) == (0, b"")
        assert not answer.out or isinstance(json.loads(answer.out), dict)
    assert said(alone.store) == ["prompt number 1 of s", "prompt number 2 of s"]
    assert not (alone.run_folder / "daemon.sock").exists()


def test_store_and_namespace_of_the_command_line_go_first(alone, tmp_path):
    """A hook that was installed for one store and namespace uses them, whatever the variables say."""
    alone.hook(prompt(1), options=("--store", tmp_path / "other", "--namespace", "mine"))
    with Memory.open(tmp_path / "other", namespace="mine", create=False) as memory:
        assert [one.text for one in memory.events(kind=Kind.USER_MESSAGE)] == ["prompt number 1 of s"]
        assert memory.verify().ok
    assert not alone.store.exists()


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("cursor", "--store"), ("--what",)])
def test_a_wrong_command_line_does_not_disturb_the_host(alone, arguments):
    """A hook that was installed wrongly ends with 0, prints nothing for the host, and says what was expected."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", CLIENT, *arguments],
        input=b"{}", env=alone.environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"expected" in done.stderr


def test_a_payload_that_never_ends_holds_nobody(alone):
    """A host that does not close the hook's input gets the process back in time, and the log says why."""
    process = alone.start()
    begun = time.monotonic()
    assert process.stdin is not None
    process.stdin.write(b'{"hook_event_name"')
    process.stdin.flush()
    assert process.wait(timeout=30) == 0
    assert time.monotonic() - begun < hook_asking.PAYLOAD_MS / 1000 + SLACK_S
    process.communicate()
    assert "did not end in time" in alone.log()


def test_what_is_no_json_is_no_fault_of_the_host_s(alone):
    """Bytes that are no payload at all end with 0 and nothing said."""
    answer = alone.hook(b"\xff\x00 no json")
    assert (answer.code, answer.out) == (0, b"")


def test_an_unknown_host_is_told_in_the_log(alone):
    """A host that there is no module for ends with 0; the log names it."""
    answer = alone.hook(prompt(1), host="nobody")
    assert (answer.code, answer.out) == (0, b"")
    assert "nobody" in alone.log()


def test_a_store_that_is_held_keeps_the_call_and_not_the_host(alone):
    """While another process holds the store, a hook ends in time; the next one that may write records both, once."""
    alone.hook(prompt(1))
    with (alone.store / "lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = alone.hook(prompt(2))
    assert answer.code == 0
    assert answer.seconds < LIMIT_MS / 1000 + SLACK_S
    alone.hook(prompt(3))
    assert until(lambda: len(said(alone.store)) == 3)
    assert sorted(said(alone.store)) == [f"prompt number {n} of s" for n in (1, 2, 3)]


def test_the_package_is_the_client_s_own(tmp_path):
    """Where the interpreter has another installation, what a client loads, and its daemon, is the client's own."""
    copied = tmp_path / "other" / "firsthand"
    shutil.copytree(Path(firsthand.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    alone = copied / "doors" / "hook_alone.py"
    source = (
        f"import runpy; runpy.run_path({str(alone)!r})['find_package'](); "
        "import apsw, firsthand; print(firsthand.__file__)"
    )
    for site in (["-I"], ["-I", "-S"]):
        told = subprocess.run([sys.executable, *site, "-c", source], capture_output=True, text=True, check=True)
        assert told.stdout.strip() == str(copied / "__init__.py")


def test_so_many_hooks_answer_by_themselves_and_one_more_keeps_its_call(alone):
    """When every place is taken a hook loads nothing: its call is kept, and recorded by the next that has a place."""
    alone.hook(prompt(1))
    with ExitStack() as places:
        for number in range(hook_alone.ALONE_MAX):
            place = places.enter_context((alone.run_folder / f"alone.{number}").open("wb"))
            fcntl.flock(place, fcntl.LOCK_EX)
        answer = alone.hook(prompt(2))
        assert (answer.code, answer.out, answer.error) == (0, b"", b"")
        assert f"{hook_alone.ALONE_MAX} hooks answer by themselves already" in alone.log()
    alone.hook(prompt(3))
    assert until(lambda: len(said(alone.store)) == 3)
    assert sorted(said(alone.store)) == [f"prompt number {n} of s" for n in (1, 2, 3)]
    assert until(lambda: not list((alone.store / "hooks" / "late").iterdir()))


def test_no_home_and_no_place_to_write_is_no_fault_of_the_host_s(alone, tmp_path):
    """Where nothing can be written at all, the hook ends with 0 and says so on standard error."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    alone.environment |= {"HOME": str(blocked), "XDG_RUNTIME_DIR": str(blocked), "FIRSTHAND_STORE": str(blocked / "s")}
    answer = alone.hook(prompt(1))
    assert (answer.code, answer.out) == (0, b"")
    assert b"firsthand:" in answer.error


def test_the_client_works_from_an_ordinary_installation(alone, tmp_path):
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
    client = place / "firsthand" / "doors" / "hook_client.py"
    answer = alone.hook(prompt(1), python=bare, client=client)
    assert (answer.code, answer.error) == (0, b"")
    assert said(alone.store) == ["prompt number 1 of s"]


def test_what_asks_the_daemon_imports_c_modules_and_os_alone():
    """The part of the client that runs at every prompt loads nothing that costs milliseconds."""
    source = (
        f"import sys; g = {{'__file__': {str(CLIENT)!r}, '__name__': 'client'}}; "
        f"exec(compile(open({str(CLIENT)!r}).read(), 'c', 'exec'), g); "
        "g['load']('environment'); asking = g['load']('hook_asking'); "
        "asking.ask(asking.Call(), b'', '/', loopback=False); print(*sorted(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-I", "-S", "-E", "-c", source], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.split())
    assert loaded & {"json", "re", "enum", "pathlib", "typing", "socket", "apsw", "importlib", "collections"} == set()
    assert loaded & {"firsthand", "site"} == set()


def test_a_hook_that_answers_alone_loads_nothing_heavy(alone):
    """A prompt answered without a daemon loads neither OpenSSL nor archives, nor what only other commands use."""
    alone.hook(prompt(1))
    source = (
        "import sys; from firsthand.doors import hook_answering as a, hook_asking; "
        f"call = hook_asking.Call(host='cursor', store={str(alone.store)!r}, namespace='default', nonce='n', "
        "moment_ns=str(10**18)); "
        "from firsthand.lifecycle import hooking; "  # on a busy machine a prompt's time is over before its recall
        "hooking.DEADLINES_MS = dict.fromkeys(hooking.DEADLINES_MS, 60_000); "
        f"a.answer_once(call, {json.dumps(prompt(2)).encode()!r}, {str(alone.run_folder)!r}, 60_000, []); "
        "print(*sorted(sys.modules))"
    )
    client = [sys.executable, "-I", "-S", "-E", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {source}"]
    loaded = set(
        subprocess.run(client, capture_output=True, text=True, check=True, env=alone.environment).stdout.split()
    )
    assert "firsthand.recall.search" in loaded
    assert loaded & {
        "_hashlib", "shutil", "bz2", "lzma", "dataclasses", "inspect", "asyncio", "subprocess", "socket", "argparse",
        "logging", "tempfile", "random", "numpy", "tantivy", "httpx", "site",
    } == set()  # fmt: skip
    assert {
        one for one in loaded if one.startswith(("firsthand.intake", "firsthand.health", "firsthand.live"))
    } == set()


def test_the_client_s_version_is_the_package_s():
    """The client carries the package's version, which it cannot import."""
    assert firsthand.__version__ == hook_asking.VERSION


def test_a_request_is_read_as_it_was_written():
    """Head and payload of a request come back, whatever bytes a path has; a cut or foreign one is refused."""
    call = Call(
        operation="hook", host="cursor", store=os.fsdecode(b"/odd/\xff"), namespace="n", nonce="1", moment_ns="2"
    )
    data = call.frame(b"payload")
    head, payload = hook_asking.lengths(data[:12])
    again = hook_asking.parsed(data[12 : 12 + head])
    assert [getattr(again, name) for name in Call.__annotations__] == [
        getattr(call, name) for name in Call.__annotations__
    ]
    assert data[12 + head :] == b"payload"
    assert payload == 7
    for wrong in (data[:11], b"XXXX" + data[4:12], data[:8] + b"\xff\xff\xff\xff"):
        with pytest.raises(ValueError, match="expected a request"):
            hook_asking.lengths(wrong)
    with pytest.raises(ValueError, match="zip"):
        hook_asking.parsed(b"too\0few")


def test_a_daemon_that_hangs_and_cannot_be_marked_costs_no_event(tmp_path):
    """Where the mark of a hung daemon cannot be written the hook answers by itself all the same."""
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
    assert said(user.store) == ["prompt number 1 of s"]
    with Memory.open(user.store, read_only=True) as memory:
        assert memory.verify().ok


def test_a_user_without_a_home_is_told_and_no_folder_is_taken_for_a_store(tmp_path, monkeypatch):
    """The project's folder never becomes a store; the log of hooks, which has no place either, goes to stderr."""
    monkeypatch.chdir(tmp_path)
    homeless = SimpleNamespace(hook_store=lambda named: named)
    with pytest.raises(ValueError, match="expected a home folder for the store"):
        hook_asking.call_of(homeless, ["cursor"])
    hook_files.log("", "said to nobody")
    assert list(tmp_path.iterdir()) == []
