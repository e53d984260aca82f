"""Calls that hooks kept: each recorded once, none in the way of another, none deleted; what waits is said."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hook_runs import Hooked, prompt, until

from firsthand import Memory
from firsthand.agents import waiting_calls
from firsthand.agents.hook_answer import Answered
from firsthand.agents.pauses import pause, resume
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.server import hook_client, spool
from firsthand.server.hook_answers import answered
from firsthand.server.hook_client import MAGIC, Call

TRIES_MAX = waiting_calls.TRIES_MAX


def kept(user: Hooked, number: int, **changes: str) -> Path:
    """Keep a call as a hook does; by default one that is recorded when it is tried."""
    facts = {
        "host": "cursor", "store": str(user.store), "namespace": "default", "embedder": "none",
        "nonce": f"{number:032x}", "moment_ns": str(1_700_000_000_000_000_000 + number),
    } | changes  # fmt: skip
    before = set(user.kept())
    hook_client.keep(Call(**facts), json.dumps(prompt(number)).encode(), str(user.run_folder), "")
    (path,) = set(user.kept()) - before
    return path


def rewritten(path: Path, old: bytes, new: bytes) -> None:
    """Change a frame, and leave it whole."""
    data = path.read_bytes()
    head = int.from_bytes(data[4:8], "big") + len(new) - len(old)
    path.write_bytes(MAGIC + head.to_bytes(4, "big") + data[8:12] + data[12:].replace(old, new, 1))


def record(user: Hooked, answer=answered) -> tuple[spool.Recorded, list[str]]:
    """Look at the spool once."""
    log: list[str] = []
    with Memory.open(user.store) as memory:
        return spool.record(memory, log.append, time.monotonic() + 60, answer), log


CONTENTS = {
    "torn": lambda data: data[:40], "empty": lambda _: b"", "longer": lambda data: data + b"x",
    "head of 4 GB": lambda _: MAGIC + b"\xff" * 8, "no protocol": lambda _: b"GET / HTTP/1.1\r\n\r\n" * 10,
}  # fmt: skip
FILES = {"a pipe": os.mkfifo, "a link": lambda path: path.symlink_to("/dev/zero"), "a folder": Path.mkdir}
WORDS = {"moment is no number": (b"1700000000000000001", b"yesterday"), "unknown host": (b"cursor", b"nobody")}


def damage(path: Path, how: str) -> None:
    if how in WORDS:
        rewritten(path, *WORDS[how])
    elif how in CONTENTS:
        path.write_bytes(CONTENTS[how](path.read_bytes()))
    else:
        path.unlink()
        FILES[how](path)


@pytest.mark.parametrize("how", [*WORDS, *CONTENTS, *FILES])
def test_a_made_up_frame_is_set_aside_and_holds_up_no_other(user, how):
    """Whatever a kept call raises, those behind it are recorded at once; it is tried some times and set aside whole."""
    damage(kept(user, 1), how)
    kept(user, 2)
    assert record(user)[0] == spool.Recorded(recorded=1, failed=1)
    assert user.said() == ["prompt number 2 of s"]
    for _ in range(TRIES_MAX - 2):
        assert record(user)[0] == spool.Recorded(failed=1)
        assert (len(user.kept()), user.kept("set-aside")) == (1, [])
    told = record(user)[1]
    assert (user.kept(), len(user.kept("set-aside"))) == ([], 1)
    assert "set aside" in told[0]
    assert record(user)[0] == spool.Recorded()


def test_what_no_call_could_foresee_is_set_aside_too(user):
    """An error of any class, out of memory included, counts as a try and is named with its class."""
    kept(user, 1)

    def unforeseen(*_):
        raise MemoryError("no room")

    for _ in range(TRIES_MAX):
        _, log = record(user, unforeseen)
    assert (user.kept(), len(user.kept("set-aside"))) == ([], 1)
    assert "MemoryError: no room" in log[0]


def test_a_call_that_fails_by_its_own_fault_is_set_aside_while_others_go_through(user):
    """A call that cannot be recorded is not taken for recorded, and stays whole."""
    kept(user, 1)

    def refused(memory, call, payload, log):
        return Answered(unrecorded="StoreDamaged: a made fault") if call.nonce.endswith("1") else Answered()

    for _ in range(TRIES_MAX):
        kept(user, 2)
        assert record(user, refused)[0] == spool.Recorded(recorded=1, failed=1)
    assert (user.kept(), len(user.kept("set-aside"))) == ([], 1)


def test_calls_that_fail_go_behind_those_that_were_not_tried(user):
    """So many failing calls in front cannot use up the time of a look before a good one has its turn."""
    for number in range(1, 4):
        damage(kept(user, number), "empty")
    record(user)
    last = kept(user, 9)
    assert KeptCalls(user.store).waiting()[0] == last


def test_a_server_goes_on_behind_a_made_up_frame(user):
    """With one in front, the server itself records what waits behind it, and lives."""
    damage(kept(user, 1), "moment is no number")
    kept(user, 2)
    user.hook(prompt(3))
    pid = user.daemon()
    assert until(lambda: user.said() == ["prompt number 2 of s", "prompt number 3 of s"])
    assert (user.daemon(), user.status()["fault"]) == (pid, "")


def test_a_store_that_takes_nothing_is_no_fault_of_a_call(user, monkeypatch):
    """While another process holds the store, or no file can be written, tries are not counted."""
    path = kept(user, 1)
    for _ in range(2 * TRIES_MAX):
        assert record(user, lambda *_: Answered(unrecorded="busy", again=True))[0] == spool.Recorded(busy=True)
        with monkeypatch.context() as full:
            full.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            assert record(user, lambda *_: Answered(unrecorded="full"))[0].failed == 1
    assert user.kept() == [path]


def test_a_call_whose_process_ends_each_time_is_set_aside(user):
    """The try is counted before it begins, so a call that kills its process is tried no more in the end."""
    path = kept(user, 1)
    for _ in range(TRIES_MAX):
        path = KeptCalls(user.store).count_try(path)
    assert record(user)[0] == spool.Recorded(failed=1)
    assert (user.said(), len(user.kept("set-aside"))) == ([], 1)


def test_what_was_set_aside_can_be_tried_again(user):
    """`firsthand agent jobs --retry` lets them wait as if never tried; the exit code says what failed again."""
    path = kept(user, 1)
    whole = path.read_bytes()
    damage(path, "unknown host")
    for _ in range(TRIES_MAX):
        record(user)
    aside = user.kept("set-aside")[0]
    listed = user.command("agent", "jobs")
    assert f"1 call set aside (--retry): {aside.parent}" in listed.stderr
    assert user.command("agent", "jobs", "--retry").returncode != 0
    (again,) = user.kept()
    assert again.name.endswith(".1.call")
    again.write_bytes(whole)
    assert "1 call recorded" in user.command("agent", "jobs", "--run").stderr
    assert (user.said(), user.kept(), user.kept("set-aside")) == (["prompt number 1 of s"], [], [])


def test_calls_of_another_namespace_are_recorded_without_a_hook_of_it(user):
    """Who keeps a call may never call again: the daemon of a store records what waits in it for anybody."""
    kept(user, 1, namespace="other")
    user.hook(prompt(2))
    assert until(lambda: not user.kept())
    assert user.said("other") == ["prompt number 1 of s"]
    assert user.said() == ["prompt number 2 of s"]


def test_a_daemon_records_what_it_was_started_for(user):
    """A hook whose time was over before its daemon listened has its call recorded by it, without a further hook."""
    kept(user, 1)
    source = Call(host="cursor", store=str(user.store), namespace="default", embedder="none")
    assert hook_client.start_server(source, str(user.run_folder))
    assert until(lambda: not user.kept())
    assert user.said() == ["prompt number 1 of s"]


# what is off the record is not kept ---------------------------------------------------------------


@pytest.fixture
def project(user):
    """A project with a store, for whose hooks no server answers and none can be started."""
    folder = user.home / "work"
    (folder / ".git").mkdir(parents=True)
    (folder / "deep").mkdir()
    Memory(user.store, embedder="none").close()
    user.run_folder.mkdir(mode=0o700)
    with (user.run_folder / "daemon.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def words_of(folder: Path, number: int) -> tuple[dict, dict]:
    """Make what a host tells of a prompt and of its tool."""
    asked = prompt(number, text=f"zorblatt {number}") | {"workspace_roots": [str(folder / "deep")]}
    tool = {"hook_event_name": "postToolUse", "tool_name": "Shell", "tool_input": {"command": f"zorblatt {number}"}}
    return asked, asked | tool


def on_disk(user: Hooked) -> int:
    """Count the files of a user's that hold the word."""
    return sum(b"zorblatt" in path.read_bytes() for path in user.home.rglob("*") if path.is_file())


def paused_once(store: Path) -> None:
    """Have a session's pause be over at a time after the calls of a test."""
    (store / "hooks" / "paused").mkdir()
    (store / "hooks" / "paused" / "cursor%3As.json").write_text("[[0, 9000000000000000]]")


PAUSES = {
    "project": lambda user, folder: pause(user.store, project=folder),
    "session": lambda user, _: pause(user.store, session="cursor:s"),
    "prompt": lambda user, folder: pause(user.store, project=folder, prompt=True),
    "unreadable": lambda user, _: (user.store / "hooks" / "pause.json").write_text("{"),
    "the prompt, as it was told of later": lambda user, _: paused_once(user.store),
    "over": lambda user, folder: (pause(user.store, project=folder), resume(user.store, project=folder)),
    "of another project": lambda user, _: pause(user.store, project=user.home),
}


@pytest.mark.parametrize("what", PAUSES)
def test_what_is_off_the_record_is_not_written_where_no_server_runs(user, project, what):
    """Of a paused project, session or prompt no word is on the disk and the log says so; of any other all waits."""
    (user.store / "hooks").mkdir(exist_ok=True)
    PAUSES[what](user, project)
    with ThreadPoolExecutor(2) as pool:
        assert [answer.code for answer in pool.map(user.hook, words_of(project, 1))] == [0, 0]
    kept_calls = 2 if what in {"over", "of another project"} else 0
    assert until(lambda: user.log().count("is not kept for later") == 2 - kept_calls)
    assert until(lambda: on_disk(user) == len(user.kept()) == kept_calls)


def test_a_prompt_s_pause_holds_for_its_tools_until_the_next_prompt(user, project):
    """Once a server was told of the prompt, neither it nor its tools are kept, whoever fails later; the next one is."""
    pause(user.store, project=project, prompt=True)
    first, second = words_of(project, 1), words_of(project, 2)
    user.environment["FIRSTHAND_DAEMON"] = "off"
    user.hook(first[0])
    del user.environment["FIRSTHAND_DAEMON"]
    user.hook(first[1])
    assert on_disk(user) == 0
    user.hook(second[0])
    assert until(lambda: on_disk(user) == len(user.kept()) == 1)


# what waits is said ----------------------------------------------------------------------------------


def findings(user: Hooked) -> list[str]:
    said = json.loads(user.command("doctor", "--json", "--no-canary").stdout)
    return [one["what"] for one in said["findings"] if "calls of hooks" in one["what"]]


def test_doctor_says_at_once_that_calls_wait_or_were_set_aside(user):
    """The moment a call is kept doctor is degraded and names the folder; of one that was set aside too."""
    with Memory.open(user.store) as memory:
        memory.session("s").user("hello")
    assert findings(user) == []
    moment = str(time.time_ns())
    kept(user, 1, moment_ns=moment)
    (waits,) = findings(user)
    assert waits == f"1 calls of hooks wait in {user.store / 'hooks' / 'late'} to be recorded, the oldest for a moment"
    damage(user.kept()[0], "empty")
    for _ in range(TRIES_MAX):
        record(user)
    (aside,) = findings(user)
    assert aside.endswith(f"set aside in {user.store / 'hooks' / 'set-aside'}")


def test_the_next_answer_says_that_calls_wait(user):
    """The next prompt's answer says it, once a session; a call whose hook may still be asking is not counted."""
    user.hook(prompt(0))
    pid = user.daemon()
    start = {"hook_event_name": "UserPromptSubmit", "session_id": "t", "cwd": "/nowhere", "prompt": "the port is 8080"}
    damage(kept(user, 1), "unknown host")
    first = user.hook(start, host="claude-code").out
    assert b"memory is degraded: calls of hooks wait to be recorded" in first
    assert b"calls of hooks" not in user.hook({**start, "prompt": "and the host is blue"}, host="claude-code").out
    os.kill(pid, signal.SIGTERM)
    assert until(lambda: not user.status()["runs"])
    for path in user.kept():
        path.unlink()
    kept(user, 2, moment_ns=str(time.time_ns() + 1_000_000_000))
    other = user.hook({**start, "session_id": "u"}, host="claude-code").out
    assert b"calls of hooks" not in other
