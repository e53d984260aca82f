"""firsthand import and append."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

from terminal import command

from firsthand import Memory


def talk(*texts: str) -> bytes:
    return b"".join(json.dumps({"role": "user", "content": text}).encode() + b"\n" for text in texts)


def pi_session(*texts: str) -> bytes:
    lines = [{"type": "session", "id": "0a1b", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/srv"}]
    lines += [
        {"type": "message", "timestamp": "2026-01-01T00:00:01Z",
         "message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1767225601000}}
        for text in texts
    ]  # fmt: skip
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_an_import_says_what_was_new_and_again_that_nothing_was(shell, tmp_path):
    """The first import counts new events, the second knows them all, a grown file adds what is new."""
    (tmp_path / "talk.jsonl").write_bytes(talk("one", "two"))
    first = shell("import", tmp_path / "talk.jsonl")
    assert first.code == 0
    assert first.lines[0].split() == ["sources", "unchanged", "sessions", "new", "known", "host"]
    assert first.lines[1].split()[:5] == ["1", "0", "1", "2", "0"]
    assert first.lines[2] == "2 new events, 0 known already"
    assert shell("import", tmp_path / "talk.jsonl").lines[2] == "0 new events, 2 known already"
    with (tmp_path / "talk.jsonl").open("ab") as file:
        file.write(talk("three"))
    report = shell("import", tmp_path / "talk.jsonl", "--json").json
    assert (report["events_new"], report["events_known"], report["ok"], report["refused"]) == (1, 2, True, [])


def test_json_lines_are_read_with_a_stated_mapping(shell, tmp_path):
    """--map says which field is what; a line that lacks its content is kept and said; again there is nothing new."""
    file = tmp_path / "chat.log"
    file.write_text('{"text": "hello crow", "from": {"role": "assistant"}, "ts": 1767225600}\n{"other": 1}\n')
    typed = ("import", file, "--map", "content=text", "--map", "kind=from.role", "--map", "time=ts")
    assert shell("import", file).code == 5
    said = shell(*typed)
    assert (said.code, said.lines[2:4]) == (
        0, ["2 new events, 0 known already", "1 record not understood, kept word for word (quarantined):"]
    )  # fmt: skip
    assert said.lines[4].endswith("chat.log:2 (byte 72): there is no field 'text'")
    hit = shell("recall", "crow", "--json").json["hits"][0]
    assert (hit["kind"], hit["time"]) == ("agent_message", "2026-01-01T00:00:00.000Z")
    assert shell(*typed, "--json").json["events_new"] == 0


def test_a_mapping_that_cannot_be_used_is_refused(shell, tmp_path):
    """No field, a name given twice, an unknown name and no file are each told, and make no store of anything."""
    (tmp_path / "a.jsonl").write_bytes(talk("one"))
    for words, code, said in (
        (["content", tmp_path / "a.jsonl"], 2, "expected NAME=FIELD such as content=text; got 'content'"),
        (["content=a", "--map", "content=b", tmp_path / "a.jsonl"], 2, "for the same thing twice"),
        (["body=a", tmp_path / "a.jsonl"], 5, "content, kind, time, session, agent, id; got 'body': 'a'"),
        (["content=a"], 5, "expected the files to read with this mapping; got none"),
    ):
        refused = shell("import", "--map", *words)
        assert (refused.code, refused.out) == (code, b"")
        assert said in refused.error


def test_without_paths_the_usual_places_are_looked_at(shell):
    """Import says where it looked, takes what it finds there, and ends with 1 when there is nothing."""
    said = shell("import")
    assert (said.code, said.text) == (1, "no sources found\n")
    for folder in (".claude", ".codex", ".gemini", ".pi/agent"):
        assert f"looking in {shell.home / folder} (" in said.error
        assert ": not there" in said.error
    folder = shell.home / ".pi" / "agent" / "sessions" / "x"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(pi_session("hello usual place"))
    again = shell("import")
    assert again.code == 0
    assert f"looking in {shell.home / '.pi/agent'} (pi)\n" in again.error
    assert shell("recall", "usual", "place").code == 0


def test_what_was_not_understood_is_kept_and_said(shell, tmp_path):
    """A broken line is quarantined: said with place and reason, and found again word for word."""
    (tmp_path / "talk.jsonl").write_bytes(talk("one") + b'{"role": "user", "content": "brok\n' + talk("two"))
    said = shell("import", tmp_path / "talk.jsonl")
    assert said.code == 0
    assert "1 record not understood, kept word for word (quarantined):" in said.lines
    assert any(line.startswith(f"  {tmp_path / 'talk.jsonl'}:2 (byte ") for line in said.lines)
    assert (
        b'{"role": "user", "content": "brok'
        in shell("show", shell("recall", "brok", "--json").json["hits"][0]["pointer"]).out
    )


def test_what_cannot_be_imported_is_refused(shell, tmp_path):
    """A path that is not there and a file of no known host end with 5 and a sentence each."""
    missing = shell("import", tmp_path / "missing.jsonl")
    assert (missing.code, missing.out) == (5, b"")
    assert "is not there" in missing.error
    (tmp_path / "picture.bin").write_bytes(bytes(range(256)))
    unknown = shell("import", tmp_path / "picture.bin")
    assert unknown.code == 5
    assert "no host knows the format of" in unknown.error


def test_one_refused_source_stops_no_other(shell, tmp_path):
    """Of two paths the good one is imported, the bad one named, and the code says that something was refused."""
    (tmp_path / "talk.jsonl").write_bytes(talk("one"))
    said = shell("import", tmp_path / "talk.jsonl", tmp_path / "missing.jsonl")
    assert said.code == 5
    assert "1 new event, 0 known already" in said.lines
    assert "1 source refused:" in said.error
    assert "missing.jsonl" in said.error


def test_files_of_no_host_in_a_folder_are_passed_over_aloud(shell, tmp_path):
    """In a folder, what no host knows is counted and named on standard error."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "talk.jsonl").write_bytes(talk("one"))
    (folder / "picture.bin").write_bytes(bytes(range(256)))
    said = shell("import", folder)
    assert said.code == 0
    assert "1 file of no known host passed over: " in said.error


def test_a_terminal_sees_progress_and_a_pipe_does_not(shell, tmp_path):
    """Progress is drawn on a terminal and wiped; neither pipe nor --quiet has any."""
    (tmp_path / "talk.jsonl").write_bytes(talk(*("x" * 50 for _ in range(3000))))
    seen = shell.on_terminal("import", tmp_path / "talk.jsonl")
    assert b"\r\x1b[Kfile " in seen.out
    assert b"\r\x1b[K" in seen.out.rpartition(b"file ")[2]
    shutil.rmtree(shell.store)
    assert b"\x1b[K" not in shell.on_terminal("import", "--quiet", tmp_path / "talk.jsonl").out
    shutil.rmtree(shell.store)
    piped = shell.process("import", tmp_path / "talk.jsonl")
    assert b"\r" not in piped.out
    assert "\r" not in piped.error


def test_an_append_prints_its_pointer(shell):
    """Append prints the pointer alone; the event has the kind, tool, call and agent that were given."""
    said = shell("session", "append", "ls -l", "--session", "s", "--kind", "tool_call", "--agent", "ann",
                 "--tool", "bash", "--call-id", "c1")  # fmt: skip
    assert (said.code, said.error) == (0, "")
    (event,) = shell("timeline", "--json").json_lines
    assert said.text == event["pointer"] + "\n"
    assert (event["kind"], event["agent"], event["origin"], event["trust"]) == ("tool_call", "ann", "agent", "agent")
    assert event["meta"] == {"tool": "bash", "call_id": "c1"}
    assert event["time"] is not None


def test_whose_words_they_are_follows_from_the_kind(shell):
    """A user's words are trusted, a model's are an agent's, what a tool or file brought is not trusted."""
    for kind in ("user_message", "system", "note", "tool_result", "document"):
        shell.append("x", "s", kind, *(("--tool", "web") if kind == "tool_result" else ()))
    labels = [(one["kind"], one["origin"], one["trust"]) for one in shell("timeline", "--json").json_lines]
    assert labels == [
        ("user_message", "user", "trusted"), ("system", "system", "trusted"), ("note", "agent", "agent"),
        ("tool_result", "tool:web", "untrusted"), ("document", "", "untrusted"),
    ]  # fmt: skip


def test_the_same_id_again_changes_nothing(shell):
    """A retry with id and bytes is no second event and says so; other bytes are refused."""
    typed = ("session", "append", "x", "--session", "s", "--id", "0" * 26, "--json")
    assert shell(*typed).json == {
        "pointer": "fh:" + "0" * 26, "position": 1, "session": "s", "new": True, "indexed": True,
    }  # fmt: skip
    assert shell(*typed).json["new"] is False
    assert shell(*typed[:-1]).error == "it was there already; nothing was added\n"
    other = shell("session", "append", "y", *typed[3:])
    assert (other.code, other.out) == (5, b"")
    assert "with other bytes" in other.error


def test_an_append_can_expect_where_the_session_ends(shell):
    """--expect POSITION refuses when someone else has appended since."""
    shell.append("x")
    assert shell("session", "append", "y", "--session", "s", "--expect", "1").code == 0
    said = shell("session", "append", "z", "--session", "s", "--expect", "1")
    assert (said.code, said.out) == (5, b"")
    assert "it ends at 2" in said.error


def test_standard_input_is_taken_byte_for_byte(shell):
    """A pipe's bytes are kept exactly, with or without the dash, and so are an argument's."""
    content = bytes(range(256)) * 1000
    without = shell.process("session", "append", "--session", "s", stdin=content)
    assert shell.process("show", without.text.strip()).out == content
    odd = subprocess.run([*command(("session", "append")), b"caf\xe9 \xff", b"--session", b"s"],
                         env=shell.environment(), capture_output=True, check=True, timeout=60)  # fmt: skip
    assert shell.process("show", odd.stdout.decode().strip()).out == b"caf\xe9 \xff"


def test_a_large_input_is_streamed(shell):
    """A payload of 40 MB is appended by a process that may not hold it in memory."""
    typed = " ".join(command(("session", "append", "--session", "s", "--kind", "tool_result")))
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1].split(), stdin=open(sys.argv[2], 'rb'))\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
        "sys.exit(done.returncode)\n"
    )
    large = shell.home / "large"
    large.write_bytes(b"a line of a log, number 12345\n" * 1_350_000)
    done = subprocess.run([sys.executable, "-c", script, typed, str(large)], env=shell.environment(),
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-1]) < 75_000  # kB: it would be 83,000 with the payload
    with Memory.open(shell.store, read_only=True) as memory:
        assert memory.event(done.stdout.strip()).size_bytes == large.stat().st_size
