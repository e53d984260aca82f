"""A word that came in by every way, and is erased, stands in no file that Firsthand keeps, and in no process of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from hook_runs import Hooked, prompt, until

from firsthand import Client, Draft, Kind, Memory
from firsthand.agents import faults, inbox, jobs, session_cache, side_files, small_files
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.log import compression
from firsthand.server import hook_client
from firsthand.server.hook_client import Call

WORD = "canary7f3a9e"
SAID = f'tell nobody that "the {WORD}" sings\nand the port is 8443'
SESSION = "0b6f7f4e-7b2c-4c7e-9a4e-1d2f3a4b5c6d"


@pytest.fixture
def user(tmp_path):
    """A user whose daemon is stopped at the end, and whose store is whole then."""
    one = Hooked(tmp_path)
    yield one
    one.end()
    with Memory.open(one.store, read_only=True) as memory:
        assert memory.verify(deep=True).ok


def keep(user: Hooked, number: int, *, host: str = "cursor") -> Path:
    """Keep a call that says the word, as a hook does; one of an unknown host cannot be recorded."""
    call = Call(
        host=host, store=str(user.store), namespace="default", embedder="none", nonce=f"{number:032x}",
        moment_ns=str(time.time_ns() + number),
    )  # fmt: skip
    before = set(user.kept())
    hook_client.keep(call, json.dumps(prompt(number, text=SAID)).encode(), str(user.run_folder), "")
    (path,) = set(user.kept()) - before
    return path


def transcript(user: Hooked, *texts: str, session: str = SESSION) -> Path:
    """Write what Claude Code keeps of a session itself; it is the host's, and no erasure reaches it."""
    path = user.home / "host" / "projects" / "proj" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for text in texts:
            number = len(path.read_bytes())
            entry = {
                "type": "user", "uuid": f"u{number}", "parentUuid": None, "isSidechain": False, "sessionId": session,
                "cwd": "/nowhere", "version": "2.1.330", "timestamp": f"2026-11-22T04:00:{number % 60:02}.000Z",
                "message": {"role": "user", "content": text},
            }  # fmt: skip
            file.write(json.dumps(entry) + "\n")
            file.flush()
    return path


def claude(user: Hooked, path: Path, text: str) -> bytes:
    """Have Claude Code fire the hook of a prompt."""
    payload = {
        "hook_event_name": "UserPromptSubmit", "session_id": path.stem, "transcript_path": str(path),
        "cwd": "/nowhere", "prompt": text, "prompt_id": f"p{time.time_ns()}",
    }  # fmt: skip
    return user.hook(payload, host="claude-code").out


def holding(user: Hooked) -> set[str]:
    """Name every file of the store, the runtime folder and the state folder that holds the word, compressed or not."""
    found = set()
    for path in user.home.rglob("*"):
        if "host" not in path.relative_to(user.home).parts and path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if WORD.encode() in data.lower() or WORD.encode("utf-16-le") in data:
                found.add(path.relative_to(user.home).as_posix())
            if data[:16] == b"SQLite format 3\0" and WORD.encode() in b"".join(unpacked(path)):
                found.add(f"{path.relative_to(user.home).as_posix()} (compressed)")
    return found


def unpacked(database: Path):
    """Yield every value of bytes of a database that is a body, as what it is the compressed form of."""
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    for table in [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]:
        for row in db.execute(f'SELECT * FROM "{table}"'):
            for body in row:
                if isinstance(body, bytes) and body[:1] in (b"\1", b"\2"):
                    try:
                        yield compression.decompress(body)
                    except ValueError:  # no body
                        continue
    db.close()


def lives(process: int) -> bool:
    """Say whether a process still has a memory; one that nobody has waited for has none."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/statm").read_text().split()[0] != "0"
    except FileNotFoundError:  # another system than Linux
        return True
    except ProcessLookupError:
        return False


def plant(user: Hooked) -> None:
    """Bring the word in by every way there is."""
    # 1) The library: messages, a large result, a note, meta, an agent's episode, preamble, names and inbox.
    (user.store).mkdir(mode=0o700)
    (user.store / "settings.json").write_text(json.dumps({"inbox": True}))
    with Memory.open(user.store) as memory:
        zoo = memory.agent("zoo")
        zoo.enrol("monday")
        session = memory.session("monday")
        session.user("Please plan the move of the animals between the two enclosures.")
        pointer = session.agent(f"We decided to leave the {WORD}. " + "The fence comes last. " * 20).pointer
        session.user(f"No, never move the {WORD} before the fence is closed.")
        session.agent("I will measure the crate of the zebras next.")
        drafts = [
            Draft(Kind.TOOL_RESULT, (f"line {WORD}\n" * 4_000).encode(), meta={"tool": WORD}),
            Draft(Kind.DOCUMENT, b"a page", meta={"about": WORD}),
        ]
        memory.append(drafts, session="monday")
        memory.note(f"Always feed the {WORD} at noon.", sources=[pointer])
        inbox.send(memory, "zoo", f"look after the {WORD}", "other")
        zoo.close("monday")
        zoo.preamble()
        zoo.cues("the move")
    # 2) An import.
    source = user.home / "host" / "talk.jsonl"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(json.dumps({"role": "user", "content": f"import {WORD}", "about": WORD}) + "\n")
    assert user.command("import", source).returncode == 0
    # 3) Hooks: recorded, recalled by the daemon, waiting for a transcript, in a transcript that is to be followed.
    user.hook(prompt(0, text=SAID))
    user.hook(prompt(1, text=f"what was it about the {WORD}?"))
    claude(user, user.home / "host" / "none" / "1b6f7f4e-7b2c-4c7e-9a4e-1d2f3a4b5c6d.jsonl", SAID)
    path = transcript(user, "the port is 8443")
    claude(user, path, "the port is 8443")
    assert until(lambda: not [job for job in jobs.pending(user.store) if job.kind == jobs.FOLLOW])
    transcript(user, SAID)
    late = jobs.Job(
        jobs.FOLLOW, "default", "zoo", f"claude-code:{SESSION}", "claude-code", str(path),
        after_ms=int(time.time() * 1000) + 600_000,
    )  # fmt: skip
    jobs.leave(user.store, late)
    # 4) Calls that wait, were set aside, or were half written; and sentences that quote a part of it.
    kept = KeptCalls(user.store)
    keep(user, 10)
    refused = keep(user, 11, host="nobody")
    kept.put_aside(keep(user, 12, host="nobody"))
    half = refused.with_name(f"{refused.name}.4194399.part")
    half.write_bytes(refused.read_bytes()[:-3])
    small_files.write(user.store / "agents" / "zoo" / ".preamble.md.4194399.0123abcd", SAID.encode())
    faults.keep_fault(user.store, faults.Fault("record", f"expected a name; got 'the {WORD[:9]}' {WORD}", "s"))
    session_cache.keep(user.store, "default", "s", session_cache.Known("zoo", told=(f"expected a name; got {WORD}",)))
    jobs.leave(user.store, jobs.Job(jobs.CATCH_UP, "default", "zoo", after_ms=1 << 50, tries=1, why=f"got {WORD}"))
    hook_client.log(str(user.run_folder), f"expected a name; got {WORD}")


def test_an_erased_word_is_in_no_file_and_no_process(user):
    """By whatever way it came: in no file, as it is or compressed; nor does anything bring it back afterwards."""
    plant(user)
    before = holding(user)
    ways = [
        "late/", "set-aside/", "waiting/", "known/", "jobs/", "faults.jsonl", "hooks.log", "4194399.part", "artifacts/",
        "firsthand.db (comp", "zoo/.preamble.md.4194",
    ]  # fmt: skip
    for way in ways:
        assert any(way in path for path in before), way
    server = user.daemon()
    done = user.command("store", "erase", "--containing", WORD, "--yes", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not lives(server)
    assert holding(user) == set()
    # What comes later brings nothing back: hooks, jobs, the transcript that the host still has.
    path = transcript(user, "and the host is blue")
    said = claude(user, path, "where was it that the animals go?")
    assert WORD.encode() not in said
    assert user.command("agent", "jobs", "--run").returncode == 0
    assert "and the host is blue" in user.said()
    assert until(lambda: not user.kept())
    user.end()
    assert holding(user) == set()
    assert user.command("store", "erase", "--containing", WORD, "--yes").returncode == 1


def test_a_prompt_that_waits_in_the_spool_is_erased(user):
    """Erasing what only a waiting call holds finds it, takes it, and nothing records it afterwards."""
    with Memory.open(user.store) as memory:
        memory.session("s").user("hello")
    keep(user, 1)
    done = json.loads(user.command("store", "erase", "--containing", WORD, "--yes", "--json").stdout)
    assert (len(done["erased"]), done["proof"]["ok"], user.kept()) == (1, True, [])
    damaged = keep(user, 2, host="nobody")
    done = json.loads(
        user.command("store", "erase", "--containing", 'the canary7f3a9e" sings\nand', "--yes", "--json").stdout
    )
    assert (done["erased"], [Path(path).parent for path in done["calls"]]) == ([], [damaged.parent])
    assert user.kept() == []
    user.hook(prompt(3))
    user.daemon()
    assert until(lambda: user.said() == ["", "hello", "prompt number 3 of s"])


def test_an_erasure_by_the_library_ends_a_server_that_has_read_the_store(user):
    """Without any hook, a server that has read what was erased is gone in seconds; one of another store stays."""
    user.hook(prompt(0, text=SAID))
    server = user.daemon()
    with Memory.open(user.store / "other") as memory:
        memory.erase([memory.session("s").user("another store").pointer])
    time.sleep(0.1)
    assert user.daemon() == server
    with Memory.open(user.store) as memory:
        (event,) = memory.events(kind=Kind.USER_MESSAGE)
        memory.erase([f"fh:{event.id}"])
    assert until(lambda: not user.status()["runs"], 30)
    assert "its memory may hold what was erased" in user.log()
    assert holding(user) == set()


def test_a_server_in_a_terminal_begins_anew_after_an_erasure_and_refuses_no_client(user):
    """It says why, and has the same port; an erasure of nothing changes nothing, and what is stopped ends."""
    pytest.importorskip("starlette", reason="the extra agents is not installed")
    pytest.importorskip("httpx", reason="the extra client is not installed")
    command = [sys.executable, "-m", "firsthand", "serve", "--foreground", "--port", "0"]
    with subprocess.Popen(command, env=user.environment, stderr=subprocess.PIPE, text=True) as process:
        server = user.daemon()
        state = user.status()
        with Client(state["http"], token=Path(state["token_file"]).read_text().strip()) as client:
            pointer = client.session("s").user(SAID).pointer
            mark = user.store / "hooks" / side_files.ERASED_FILE
            client.erase([])
            assert not mark.exists()
            client.erase([pointer])
            assert mark.exists()
            while "begins anew" not in user.log():  # asked all the while
                assert client.event(pointer).erased
                assert process.poll() is None
            assert client.event(pointer).erased
        assert (user.daemon(), user.status()["http"]) == (server, state["http"])
        user.end()
        said = process.stderr.read()
    assert f"begins anew: its memory may hold what was erased in {user.store}" in said
    assert "the server ends: told to" in said


def test_a_kept_copy_of_an_erased_event_goes_with_it(user):
    """A call that was kept and recorded too is taken out of the spool when its event is erased by its pointer."""
    with Memory.open(user.store) as memory:
        pointer = memory.session("s").user(SAID).pointer
    keep(user, 1)
    with Memory.open(user.store) as memory:
        assert len(memory.erase([pointer]).calls) == 1
    assert (user.kept(), holding(user)) == ([], set())
