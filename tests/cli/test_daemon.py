"""The daemon: one a user, gone when it is not needed, and never in a hook's way."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hook_runs import Hooked, prompt, until

from firsthand import Kind, Memory
from firsthand.server import daemon, hook_answers, hook_client
from firsthand.server.frames import reply
from firsthand.server.hook_client import ANSWERED, TAKEN, VERSION, Call


@pytest.fixture
def served(user):
    """A user whose daemon runs."""
    user.hook(prompt(0))
    user.pid = user.daemon()
    assert until(lambda: user.said() and not user.kept())
    return user


def asked(user, call: Call, payload: bytes = b"") -> tuple[bytes, bytes]:
    by = time.monotonic() + 60
    with closing(hook_client.connect(str(user.run_folder))) as connection:
        return hook_client.exchange(connection, call, payload, by, by)


def hook_call(user, number: int) -> Call:
    """Make the request of a hook."""
    return Call(
        operation="hook", version=VERSION, host="cursor", store=str(user.store), namespace="default",
        embedder="none", nonce=f"{number:032x}", moment_ns=str(time.time_ns()),
    )  # fmt: skip


def test_a_call_that_comes_twice_is_recorded_once(served):
    """A repetition with the same nonce and time changes nothing."""
    call = hook_call(served, 7)
    assert {asked(served, call, json.dumps(prompt(7)).encode())[0] for _ in range(2)} == {ANSWERED}
    assert served.said() == ["prompt number 0 of s", "prompt number 7 of s"]


def test_few_hooks_of_a_store_are_answered_at_the_same_time(user):
    """What comes meanwhile waits for its turn, and is answered too."""
    change = (
        "import threading, time\n"
        "from firsthand.agents.hook_answer import Answered\n"
        "at_work, most, lock = [], [0], threading.Lock()\n"
        "def answered(*_):\n"
        "    with lock:\n"
        "        at_work.append(1)\n"
        "        most[0] = max(most[0], len(at_work))\n"
        "    time.sleep(0.1)\n"
        "    at_work.pop()\n"
        "    return Answered(str(most[0]).encode())\n"
        "hook_answers.answered, daemon.PATIENT_MS = answered, 60_000"
    )
    with user.serving(change), ThreadPoolExecutor(2 * daemon.THREADS_MAX) as pool:
        replies = list(pool.map(lambda n: asked(user, hook_call(user, n)), range(2 * daemon.THREADS_MAX)))
    assert {status for status, _ in replies} == {ANSWERED}
    assert max(int(most) for _, most in replies) <= daemon.AT_ONCE


def test_a_hook_that_waits_no_more_is_not_worked_for(served):
    """What a busy server comes to when its hook has gone is left out: that hook has kept its call itself."""
    silent = [hook_client.connect(str(served.run_folder)) for _ in range(daemon.THREADS_MAX)]  # each holds a worker
    with closing(hook_client.connect(str(served.run_folder))) as waiting:
        waiting.sendall(hook_call(served, 8).frame(json.dumps(prompt(8)).encode()))
        time.sleep(hook_client.PATIENT_MS / 1000 + 0.2)
        for connection in silent:
            connection.close()
        waiting.settimeout(10)
        assert (waiting.recv(100), waiting.recv(100)) == (reply(TAKEN), b"")
    served.hook(prompt(1))
    assert until(lambda: served.said() == ["prompt number 0 of s", "prompt number 1 of s"])


def test_the_newest_events_are_indexed_when_the_answer_is_out(served):
    """After a hook that a server answered, the index reaches the last event, long before a block of them is full."""
    served.hook(prompt(1))
    with Memory(served.store, read_only=True) as memory:
        last = int(memory.head().partition(":")[0])
        assert last < 32
        assert until(lambda: memory.log.reader.reached(1, "text").position == last)


def test_two_users_runtime_folders_are_two_servers(served, tmp_path):
    """Each runtime folder has its own server and lock."""
    other = Hooked(tmp_path / "other")
    try:
        other.hook(prompt(5))
        assert other.daemon() != served.pid
        assert served.said() == ["prompt number 0 of s"]
    finally:
        other.end()


def test_there_is_one_daemon_however_many_hooks_start_it(user):
    """Ten first hooks at once start one daemon, and each prompt is recorded once."""
    running = [user.start() for _ in range(10)]
    for number, process in enumerate(running):
        process.communicate(json.dumps(prompt(number)).encode(), timeout=60)
        assert process.returncode == 0
    assert len((user.run_folder / "starts").read_text().split()) == 1  # at once: a server that lives forgets them
    pid = user.daemon()
    assert user.command("serve", "--foreground").returncode == 5
    assert user.daemon() == pid
    assert until(lambda: len(user.said()) == 10)


def test_a_daemon_that_hangs_costs_the_first_hook_its_wait_alone(served):
    """While the daemon is stopped, a hook keeps its call in time, and the next does not wait for it at all."""
    os.kill(served.pid, signal.SIGSTOP)
    first = served.hook(prompt(1))
    assert (first.code, first.seconds < served.promised()) == (0, True)
    assert until((served.run_folder / "hung").exists)
    assert served.hook(prompt(2)).code == 0
    assert until(lambda: len(served.kept()) == 2)
    os.kill(served.pid, signal.SIGCONT)
    (served.run_folder / "hung").unlink()
    served.hook(prompt(3))
    assert until(lambda: len(served.said()) == 4)
    assert until(lambda: served.kept() == [])
    assert served.said() == [f"prompt number {n} of s" for n in range(4)]


def test_a_store_that_was_deleted_is_another_one_when_it_is_there_again(served):
    """A daemon that has a store open writes to the one that is at its path now, also what it was at work on."""
    served.hook(prompt(1))
    assert until(lambda: len(served.said()) == 2 and not served.kept())
    served.store.rename(served.home / "gone")  # at once: the server may be at work in it
    assert served.hook(prompt(2)).code == 0
    assert served.daemon() == served.pid
    assert until(lambda: "prompt number 2 of s" in served.said())
    assert "prompt number 0 of s" not in served.said()


def test_a_request_that_is_none_does_no_harm(served):
    """Bytes of another protocol, half a request and nothing at all are let go; the next call is answered."""
    for data in (b"GET / HTTP/1.1\r\n\r\n", Call().frame(b"x" * 100)[:20], b""):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(served.run_folder / "daemon.sock"))
            connection.sendall(data)
    assert served.hook(prompt(1)).code == 0
    assert (served.status()["pid"], served.status()["calls"]) == (served.pid, 2)


def test_a_runtime_folder_that_others_may_write_to_is_not_used(served):
    """A socket in a folder that others can write to may be anybody's: the call is kept."""
    calls = served.status()["calls"]
    served.run_folder.chmod(0o777)
    assert served.hook(prompt(1)).code == 0
    served.run_folder.chmod(0o700)
    assert (served.status()["calls"], len(served.kept())) == (calls, 1)
    assert served.command("agent", "jobs", "--run").returncode == 0
    assert served.said() == ["prompt number 0 of s", "prompt number 1 of s"]


def test_a_kept_call_is_recorded_with_the_time_it_was_made(served):
    """What a hook could not record in time, the daemon records when it next looks, once."""
    call = Call(
        operation="hook", version=VERSION, host="cursor", store=str(served.store), namespace="default",
        embedder="none", nonce="cd" * 16, moment_ns="1700000000000000000",
    )  # fmt: skip
    hook_client.keep(call, json.dumps(prompt(9)).encode(), str(served.run_folder), "a test")
    os.kill(served.pid, signal.SIGTERM)
    assert until(lambda: not served.status()["runs"])
    served.hook(prompt(1))
    served.daemon()
    served.hook(prompt(2))
    assert until(lambda: len(served.said()) == 4)
    with Memory.open(served.store, read_only=True) as memory:
        late = [one for one in memory.events(kind=Kind.USER_MESSAGE) if one.text.startswith("prompt number 9")]
    assert [str(one.time) for one in late] == ["2023-11-14T22:13:20.000Z"]
    assert until(lambda: not any((served.store / "hooks" / "late").iterdir()))


def test_a_kept_call_is_on_disk_when_keeping_returns(tmp_path, monkeypatch):
    """File and folder of a kept call are synced."""
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    late = tmp_path / "s" / "hooks" / "late"
    call = Call(host="cursor", store=str(tmp_path / "s"), nonce="n", moment_ns="1")
    hook_client.keep(call, b"{}", str(tmp_path), "a test")
    assert synced == [str(late / f"{1:020d}-n.0.call"), str(late)]


def test_a_disk_that_hangs_holds_no_host(tmp_path, capfd):
    """What is done apart is waited for a moment only, and goes on; what it says on standard error comes through."""
    answers, done = tmp_path / "answers", tmp_path / "done"
    begun = time.monotonic()
    hook_client.apart(lambda: until(answers.exists) and done.touch())
    assert time.monotonic() - begun >= hook_client.APART_S
    answers.touch()
    assert until(done.exists)
    hook_client.apart(lambda: hook_client.log("", "nowhere to write"))
    assert "firsthand: nowhere to write" in capfd.readouterr().err


def test_a_fault_of_the_daemon_s_own_is_told_by_it(user):
    """What nobody foresaw in a worker stands in the daemon's state; the call is kept, and both live on."""
    assert user.command("install", "cursor", "--yes").returncode == 0
    with user.serving("def answered(*_): raise RuntimeError('unforeseen')\nhook_answers.answered = answered"):
        assert user.status()["fault"] == ""
        assert user.hook(prompt(3)).code == 0
        assert "a fault: RuntimeError: unforeseen" in user.status()["fault"]
        assert until(lambda: len(user.kept()) == 1)
        told = json.loads(user.command("doctor", "--json", "--no-canary").stdout)
        assert [one["what"] for one in told["findings"] if one["stage"] == "daemon"] == [user.status()["fault"]]


def test_a_hook_whose_time_is_nearly_over_is_recorded_and_told_that_nothing_was_recalled(tmp_path):
    """What waited too long at a busy daemon goes into the log, and that nothing was looked for is said."""
    call = Call(operation="hook", host="claude-code", nonce="0c" * 16, moment_ns=str(time.time_ns()))
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "the port of the server"}
    faults: list[str] = []
    with Memory.open(tmp_path / "store") as memory:
        made = hook_answers.answered(memory, call, json.dumps(payload).encode(), faults.append, 0)
        assert [one.text for one in memory.events(kind=Kind.USER_MESSAGE)] == ["the port of the server"]
        assert memory.verify().ok
    late = "left out: the hook's time was over before it began"
    assert faults == [f"claude-code: cues: {late}; recall: {late}"]
    assert f"memory is degraded: cues: {late}" in json.loads(made.output)["hookSpecificOutput"]["additionalContext"]


def test_a_call_that_was_taken_and_not_answered_in_time_is_kept(user):
    """A daemon that takes a call and never answers it holds no host; it is no hung one, and nothing is lost."""
    user.run_folder.mkdir(mode=0o700)
    source = (
        "from firsthand.server import hook_client\n"
        "hook_client.WAIT_MS = hook_client.LIMIT_MS = 60_000\n"
        "hook_client.PATIENT_MS = 100\n"
        "hook_client.main(['cursor'])"
    )
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(user.run_folder / "daemon.sock"))
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, "-c", source], env=user.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        process.stdin.write(json.dumps(prompt(7)).encode())
        process.stdin.close()
        connection, _ = listener.accept()
        with connection:
            connection.sendall(reply(TAKEN))
            assert process.stdout.read() == b""
            assert process.wait(60) == 0
        process.stdout.close()
    assert not (user.run_folder / "hung").exists()
    assert until(lambda: "no server answered in time; the call of cursor is kept" in user.log(), 60)
    user.hook(prompt(1))
    assert user.daemon()
    user.hook(prompt(2))
    assert until(lambda: len(user.said()) == 3, 60)
    assert user.said() == [f"prompt number {n} of s" for n in (1, 2, 7)]


def test_a_deep_runtime_folder_has_a_socket_too(tmp_path):
    """A path longer than a socket's may be is no reason to go without a daemon."""
    user = Hooked(tmp_path / ("d" * 120))
    try:
        user.hook(prompt(1))
        user.daemon()
        user.hook(prompt(2))
        assert user.status()["calls"] >= 1
    finally:
        user.end()


def test_stopping_and_asking_when_none_runs(served):
    """Stop ends it and the lock is free; asked again, the commands say that none runs."""
    assert served.command("serve", "--status").returncode == 0
    assert served.command("serve", "--stop").stdout == "stopped\n"
    assert served.command("serve", "--stop").stdout == "the server does not run\n"
    status = served.command("serve", "--status")
    assert (status.returncode, "does not run" in status.stdout) == (1, True)


def test_an_idle_daemon_uses_no_processor(served):
    """When nothing comes, the daemon's processor time stands still, and its memory is small."""
    served.hook(prompt(1))
    assert served.status()["memory_bytes"] < 150 << 20
    time.sleep(0.5)

    def ticks() -> int:
        fields = Path(f"/proc/{served.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    if not Path("/proc/self/stat").exists():
        pytest.skip("the system does not tell")
    before = ticks()
    time.sleep(2)
    assert ticks() - before <= 1


def test_the_log_of_hooks_is_bounded(tmp_path):
    """The log is moved aside when it is full, once: two files of its size at most."""
    for number in range(3_000):
        hook_client.log(str(tmp_path), f"{number} {'x' * 300}")
    sizes = [one.stat().st_size for one in tmp_path.iterdir()]
    assert len(sizes) == 2
    assert max(sizes) <= hook_client.LOG_BYTES_MAX + 1_000
    assert "2999 xxx" in (tmp_path / "hooks.log").read_text()


def test_a_fault_is_one_line_of_the_log_whatever_it_quotes(tmp_path):
    """What a payload says in a fault cannot pass for a line of the log."""
    hook_client.log(str(tmp_path), "expected a name; got a\n2026-01-01T00:00:00Z 1 all is well\r\u2028yes")
    (line,) = (tmp_path / "hooks.log").read_text().splitlines()
    assert line.endswith(" expected a name; got a 2026-01-01T00:00:00Z 1 all is well yes")


def test_kept_calls_are_bounded(tmp_path, monkeypatch):
    """Beyond so many kept calls one more is named as lost."""
    monkeypatch.setattr(hook_client, "KEPT_CALLS_MAX", 3)
    for number in range(5):
        call = Call(host="cursor", store=str(tmp_path / "s"), nonce=str(number), moment_ns="1")
        hook_client.keep(call, b"{}", str(tmp_path), "a test")
    assert len(list((tmp_path / "s" / "hooks" / "late").iterdir())) == 3
    assert (tmp_path / "hooks.log").read_text().count("is lost") == 2
