"""The hooks' client: where no server runs yet or none can live, and whatever is in its way."""

from __future__ import annotations

import ast
import compileall
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hook_runs import CLIENT, PATIENT, RUN, Hooked, claude_prompt, prompt, until

import firsthand
from firsthand.server import frames, hook_client
from firsthand.server.hook_client import ANSWERED, LEAVE, STARTS_MAX, Call

TOLD_AND_ASKED = (
    ("the door of the cellar is green", "s"),
    ("the port of the billing server is 8714", "s"),
    ("which port has the billing server?", "t"),
)


def test_with_the_server_switched_off_a_hook_is_answered_by_itself(user):
    """With FIRSTHAND_DAEMON=off the call is recorded and the answer shown when the hook ends; no server is left."""
    user.environment["FIRSTHAND_DAEMON"] = "off"
    user.recalls_across_sessions()
    answers = [
        user.hook(claude_prompt(text, session), host="claude-code", program=PATIENT) for text, session in TOLD_AND_ASKED
    ]
    assert {(answer.code, answer.error) for answer in answers} == {(0, b"")}
    assert b"8714" in answers[-1].out
    assert user.said() == sorted(text for text, _ in TOLD_AND_ASKED)
    assert user.kept() == []
    assert not (user.run_folder / "daemon.lock").exists()
    assert "no server answers hooks (FIRSTHAND_DAEMON=off)" in user.doctor("daemon")


def test_where_no_server_lives_on_its_handler_answers_and_no_call_is_lost(user):
    """In a sandbox that kills what a hook leaves, hooks soon answer by themselves, doctor says so, all is recorded."""
    user.recalls_across_sessions()
    texts = [f"number {number} of the list is blue" for number in range(STARTS_MAX)] + [
        text for text, _ in TOLD_AND_ASKED
    ]
    for number, text in enumerate(texts, 1):
        answer = user.hook(claude_prompt(text, str(number)), host="claude-code", program=PATIENT)
        for pid in user.processes():
            os.kill(pid, signal.SIGKILL)
        assert until(lambda: not user.processes())
        assert len({*user.said(), *(path.name for path in user.kept())}) >= number
    assert b"8714" in answer.out
    assert "no server answers hooks (3 servers were started within an hour" in user.doctor("daemon")
    (user.run_folder / "starts").write_text(f"{time.time() - 3_600}\n" * STARTS_MAX)  # an hour later one is tried
    user.hook(claude_prompt("last"), host="claude-code")
    assert user.daemon()
    assert user.doctor("daemon") == ""
    assert until(lambda: user.said() == sorted([*texts, "last"]) and not user.kept())


def test_hooks_at_once_without_a_server_are_each_recorded(user):
    """Ten at once are answered one after the other or kept, and each is recorded once."""
    user.environment["FIRSTHAND_DAEMON"] = "off"
    with ThreadPoolExecutor(10) as pool:
        assert {answer.code for answer in pool.map(user.hook, map(prompt, range(10)))} == {0}
    assert until(lambda: user.command("agent", "jobs", "--run").returncode == 0 and not user.kept())
    assert user.said() == [f"prompt number {number} of s" for number in range(10)]


def test_a_server_that_lives_on_is_no_evidence_against_servers(user):
    """One that lived for some seconds empties the list of starts; one that is ended by a signal before does not."""
    starts = user.run_folder / "starts"
    starts.parent.mkdir(mode=0o700)
    starts.write_text(f"{time.time()}\n")
    with user.serving("daemon.LOOK_S = 600"):
        pass
    assert len(starts.read_text().split()) == 1
    with user.serving("daemon.LOOK_S = 0.1"):
        assert until(lambda: not starts.exists())


def test_the_first_answer_is_waited_for_where_a_session_begins(user):
    """A server that takes longer than a prompt waits for is waited for at a session's start, and its answer shown."""
    assert user.command("install", "claude-code", "--yes").returncode == 0
    slow = user.home / "python"
    slow.write_text(f'#!/bin/sh\nsleep 0.9\nexec {sys.executable} "$@"\n')
    slow.chmod(0o755)
    record = user.state_folder / "installation"
    record.write_text(record.read_text().replace(sys.executable, str(slow)))
    start = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": str(user.home)}
    answer = user.hook(start, host="claude-code", program=[user.launcher])
    assert (answer.code, answer.error) == (0, b"")
    assert hook_client.NEW_MS / 1000 < answer.seconds < hook_client.SESSION_MS / 1000 + user.promised()
    assert user.status()["calls"] == 1
    assert until(lambda: user.kept() == [])


def test_store_and_namespace_of_the_command_line_go_first(user, tmp_path):
    """A hook that was installed for one store and namespace uses them, whatever the variables say."""
    user.hook(prompt(1), options=("--store", tmp_path / "other", "--namespace", "mine"))
    assert until(lambda: user.said("mine", tmp_path / "other") == ["prompt number 1 of s"])
    assert not user.store.exists()


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("cursor", "--store"), ("--what",), ("cursor", "--what", "x")])
def test_a_wrong_command_line_does_not_disturb_the_host(user, arguments):
    """A hook that was installed wrongly ends with 0, prints nothing for the host, and says what was expected."""
    done = subprocess.run(
        [*RUN, *arguments],
        input=b"{}", env=user.environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"expected" in done.stderr


def test_a_payload_that_never_ends_holds_nobody(user):
    """A host that does not close the hook's input gets the process back in time, and the log says why."""
    source = "from firsthand.server import hook_client as client; client.PAYLOAD_MS = 300; client.main(['cursor'])"
    process = user.start(program=[sys.executable, "-c", source])
    assert process.stdin is not None
    process.stdin.write(b'{"hook_event_name"')
    process.stdin.flush()
    assert process.wait(timeout=30) == 0
    process.communicate()
    assert "did not end in time" in user.log()


def test_the_server_is_of_the_recorded_package(tmp_path):
    """Where the interpreter has another installation, a server is of the one that the client was installed with."""
    copied = tmp_path / "other" / "firsthand"
    shutil.copytree(Path(firsthand.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    source = hook_client._BOOT.replace("main(sys.argv[1:])", "import apsw, firsthand; print(firsthand.__file__)")
    done = subprocess.run(
        [sys.executable, "-I", "-c", source, str(copied.parent)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(copied / "__init__.py")


def test_hooks_work_from_an_ordinary_installation(user, tmp_path):
    """Installed from where pip puts the package, hooks record by an interpreter that knows nothing of it."""
    place = tmp_path / "site-packages"
    shutil.copytree(Path(firsthand.__file__).parent, place / "firsthand", ignore=shutil.ignore_patterns("__pycache__"))
    import apsw
    import backports.zstd

    for module, target in ((apsw, place / "apsw"), (backports.zstd, place / "backports" / "zstd")):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(Path(module.__file__).parent)
    compileall.compile_dir(place / "firsthand", quiet=1)  # as pip does
    bare = str(Path(sys.executable).resolve())  # the interpreter that the virtual environment was made from
    command = [bare, "-m", "firsthand", "install", "cursor", "--yes"]
    subprocess.run(command, env=user.environment | {"PYTHONPATH": str(place)}, capture_output=True, check=True)
    assert (user.state_folder / "installation").read_text() == f"{bare}\n{place}\n"
    answer = user.hook(prompt(1))
    assert (answer.code, answer.error) == (0, b"")
    assert until(lambda: user.said() == ["prompt number 1 of s"] and not user.kept())


def test_a_server_that_hangs_and_cannot_be_marked_costs_no_event(user):
    """Where the mark of a hung server cannot be written the call is kept all the same."""
    mark = user.run_folder / "hung"
    mark.mkdir(mode=0o700, parents=True)
    os.utime(mark, (0, 0))
    user.run_folder.chmod(0o700)
    with (user.run_folder / "daemon.lock").open("wb") as lock, socket.socket(socket.AF_UNIX) as deaf:
        fcntl.flock(lock, fcntl.LOCK_EX)  # so that none is started
        deaf.bind(str(user.run_folder / "daemon.sock"))
        deaf.listen(1)
        answer = user.hook(prompt(1))
        assert (answer.code, answer.error) == (0, b"")
        assert until(lambda: len(user.kept()) == 1)
    assert user.command("agent", "jobs", "--run").returncode == 0
    assert user.said() == ["prompt number 1 of s"]


def test_no_home_and_no_place_to_write_is_no_fault_of_the_host_s(user, tmp_path):
    """Where nothing can be written at all, the hook ends with 0 and says so on standard error."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    user.environment |= {"HOME": str(blocked), "XDG_RUNTIME_DIR": str(blocked), "FIRSTHAND_STORE": str(blocked / "s")}
    answer = user.hook(prompt(1))
    assert (answer.code, answer.out) == (0, b"")
    assert b"firsthand:" in answer.error


def test_the_client_loads_c_modules_of_the_standard_library_alone():
    """What runs at every prompt loads nothing that costs milliseconds, and nothing of the package."""
    source = f"import sys; sys.path.append({str(CLIENT.parent)!r}); import hook_client; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-S", "-E", "-c", source], capture_output=True, text=True, check=True)
    slow = {"json", "re", "enum", "pathlib", "typing", "socket", "apsw", "importlib", "collections", "firsthand"}
    assert set(done.stdout.split()) & slow == set()


def test_the_client_is_written_for_python_3_8():
    """Whatever Python a machine has runs the client, so it uses nothing that is newer than 3.8."""
    ast.parse(CLIENT.read_text(encoding="utf-8"), feature_version=(3, 8))
    old = shutil.which("python3.8")
    if old is None or subprocess.run([old, "-c", "pass"], capture_output=True, check=False).returncode:
        pytest.skip("no Python 3.8 is here")
    source = f"import sys; sys.path.append({str(CLIENT.parent)!r}); import hook_client; print(hook_client.main([]))"
    done = subprocess.run([old, "-I", "-S", "-E", "-B", "-c", source], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr[:30]) == ("0\n", "firsthand: ValueError: expecte")


def test_the_client_s_version_is_the_package_s():
    """The client carries the package's version, which it cannot import."""
    assert firsthand.__version__ == hook_client.VERSION


def test_a_request_is_read_as_it_was_written():
    """Head and payload of a request come back, whatever bytes a path has; a cut or foreign one is refused."""
    call = Call(
        operation="hook", host="cursor", store=os.fsdecode(b"/odd/\xff"), namespace="n", nonce="1", moment_ns="2"
    )
    data = call.frame(b"payload")
    head, payload = frames.lengths(data[:12])
    again = frames.parsed(data[12 : 12 + head])
    assert [getattr(again, name) for name in Call.__annotations__] == [
        getattr(call, name) for name in Call.__annotations__
    ]
    assert data[12 + head :] == b"payload"
    assert payload == 7
    assert len(data[12:].split(b"\0")) == 9  # servers of the first version read so many, no more and no fewer
    for wrong in (data[:11], b"XXXX" + data[4:12], data[:8] + b"\xff\xff\xff\xff"):
        with pytest.raises(ValueError, match="expected a request"):
            frames.lengths(wrong)


def test_requests_of_other_versions_are_read(user):
    """An older client's request, with fewer fields, is answered; a newer protocol's makes the server step down."""
    user.hook(prompt(0))
    user.daemon()
    call = Call(operation="hook", version="0.0.1", host="cursor", store=str(user.store), namespace="default",
                embedder="none", nonce="1", moment_ns="1700000000000000000")  # fmt: skip
    payload = json.dumps(prompt(1)).encode()
    head = call.frame(b"")[12:]
    older = b"\0".join(head.split(b"\0")[:8])  # without the field that stood last
    for data in (older, head + b"\0a field of the future\0another"):
        frame = hook_client.MAGIC + len(data).to_bytes(4, "big") + len(payload).to_bytes(4, "big") + data + payload
        assert answer_to(user, frame)[4:5] == ANSWERED
    assert user.said() == ["prompt number 0 of s", "prompt number 1 of s"]
    assert answer_to(user, b"FHK2 what ev")[4:5] == LEAVE


def answer_to(user: Hooked, frame: bytes) -> bytes:
    """Send bytes to the server, and give its reply without the sign that it took them."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(str(user.run_folder / "daemon.sock"))
        connection.sendall(frame)
        data = b""
        while piece := connection.recv(4_096):
            data += piece
    return data[9:]


def test_a_user_without_a_home_is_told_and_no_folder_is_taken_for_a_store(tmp_path, monkeypatch, capfd):
    """The project's folder never becomes a store; the log of hooks, which has no place either, goes to stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "~")
    monkeypatch.delenv("FIRSTHAND_STORE", raising=False)
    with pytest.raises(ValueError, match="expected a home folder for the store"):
        hook_client._call(["cursor"])
    with pytest.raises(ValueError, match="expected a home folder for the store, or its path or address"):
        hook_client._call(["cursor", "--store", "mysql://a@b/c"])
    hook_client.log("", "said to nobody")
    assert "firsthand: said to nobody" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
