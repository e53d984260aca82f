"""firsthand store export, restore and backup."""

from __future__ import annotations

import errno
import json

import apsw
import pytest

from firsthand import FormatError, Memory


@pytest.fixture
def full(shell):
    """A store with a text, bytes, an artifact and an erased event, in two sessions and two namespaces."""
    shell.append("text")
    shell.append(bytes(range(256)) * 200, "t", "tool_result")
    shell("store", "erase", shell.append("gone"), "--yes")
    shell.append("other tenant", "s", "note", "--namespace", "n")
    return shell


@pytest.mark.files_only("all namespaces of a store")
def test_an_export_restores_to_the_same_store(full):
    """Export --all to a file and restore into an empty store give the same head; again there is nothing new."""
    said = full("store", "export", full.home / "all.jsonl", "--all", "--json")
    assert said.json == {"file": str(full.home / "all.jsonl"), "events": 5, "artifacts": 1}
    other = full.home / "other"
    done = full("store", "restore", full.home / "all.jsonl", "--store", other)
    assert (done.code, done.text) == (0, f"restored into {other}: 5 events (5 new) and 1 artifact\n")
    assert (
        full("store", "size", "--store", other, "--json").json["head"] == full("store", "size", "--json").json["head"]
    )
    again = full("store", "restore", full.home / "all.jsonl", "--store", other, "--json").json
    assert (again["events"], again["new"], again["store"]) == (5, 0, str(other))
    assert full("store", "verify", "--store", other).code == 0


@pytest.mark.files_only("all namespaces of a store")
def test_an_export_goes_through_pipes(full):
    """Export to standard output and restore from standard input carry the same bytes as files."""
    piped = full.process("store", "export", "--all")
    assert piped.error == "exported 5 events and 1 artifact\n"
    full("store", "export", full.home / "all.jsonl", "--all")
    assert piped.out == (full.home / "all.jsonl").read_bytes()
    other = full.home / "other"
    assert full.process("store", "restore", "-", "--store", other, stdin=piped.out).code == 0
    assert (
        full("store", "size", "--store", other, "--json").json["head"] == full("store", "size", "--json").json["head"]
    )


def test_a_session_and_a_namespace_are_exported_alone(full):
    """--session takes one session, no option one namespace, and nothing of another tenant."""
    assert full("store", "export", "--session", "t").error == "exported 1 event and 1 artifact\n"
    mine = full("store", "export")
    assert mine.error == "exported 4 events and 1 artifact\n"
    assert b"other tenant" not in mine.out


def test_a_file_that_is_there_is_not_written_over(full):
    """An export to a file that exists is refused and leaves it alone."""
    file = full.home / "mine.txt"
    file.write_text("mine")
    said = full("store", "export", file)
    assert (said.code, said.error) == (5, f"firsthand: {file}: File exists\n")
    assert file.read_text() == "mine"


def test_an_export_that_fails_leaves_no_file(full, monkeypatch):
    """When the disk is full in mid-export, the half of a file is removed and the code is 4."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "export", fail)
        said = full("store", "export", full.home / "all.jsonl")
    assert (said.code, said.error) == (4, "firsthand: No space left on device\n")
    assert not (full.home / "all.jsonl").exists()


@pytest.mark.files_only("damages firsthand.db")
@pytest.mark.parametrize("to_file", [True, False])
def test_a_damaged_store_is_exported_as_far_as_it_goes(full, to_file):
    """Without --salvage no file is made; with it all that is whole is written, the rest counted, and it ends with 3."""
    full.damaged = True
    db = apsw.Connection(str(full.store / "firsthand.db"))
    db.execute("UPDATE event SET salt = zeroblob(16) WHERE key = 1")
    db.close()
    file = full.home / "some.jsonl"
    words = ["store", "export", *([file] if to_file else []), "--all"]
    refused = full(*words)
    assert (refused.code, file.exists()) == (3, False)
    assert "position 1: " in refused.error
    assert "firsthand store export --salvage" in refused.error
    said = full(*words, "--salvage")
    assert said.code == 3
    assert said.error.startswith("exported 4 events and 1 artifact")
    assert "firsthand: 1 damaged event left out, each named in a line of its own" in said.error
    lines = [json.loads(line) for line in (file.read_bytes() if to_file else said.out).splitlines()]
    assert [line["damaged"]["position"] for line in lines if "damaged" in line] == [1]
    assert sum("event" in line for line in lines) == 4


@pytest.mark.files_only("salvages files")
def test_salvaging_a_whole_store_leaves_nothing_out(full):
    """--salvage of a store without damage ends with 0, and its file restores."""
    said = full("store", "export", full.home / "all.jsonl", "--all", "--salvage", "--json")
    assert (said.code, said.json["events"], said.json["damaged"]) == (0, 5, 0)
    assert full("store", "restore", full.home / "all.jsonl", "--store", full.home / "other").code == 0


@pytest.mark.files_only("salvages files")
def test_a_store_that_is_named_by_an_option_is_salvaged(full):
    """`export --salvage --store FOLDER` reads that folder."""
    assert full("store", "export", "--all", "--salvage", "--store", full.store).error.startswith("exported ")


def test_an_export_is_not_poured_onto_a_terminal(full):
    """Without a file, on a terminal, export says how it is used."""
    said = full.on_terminal("store", "export")
    assert said.code == 2
    assert b"an export is made for files" in said.out


def test_what_is_no_export_is_refused(full):
    """A file that is no export, a cut one, and one that is not there are refused, and nothing is taken in."""
    export = full("store", "export").out
    for content in (b"hello\n", export[: len(export) // 2], b""):
        (full.home / "x").write_bytes(content)
        said = full("store", "restore", full.home / "x", "--store", full.home / "new")
        assert said.code in {3, 5}, content
        assert said.error.startswith("firsthand: ")
    missing = full("store", "restore", full.home / "missing", "--store", full.home / "new")
    assert (missing.code, missing.error) == (5, f"firsthand: {full.home / 'missing'}: No such file or directory\n")
    assert issubclass(FormatError, Exception)


@pytest.mark.files_only("copies all namespaces of a store")
def test_a_backup_is_a_store(full):
    """Backup copies everything into a new folder that verifies and has the same head; a full folder is refused."""
    said = full("store", "backup", full.home / "copy")
    head = full("store", "size", "--json").json["head"]
    assert said.code == 0
    assert said.lines[0].startswith(f"copied to {full.home / 'copy'}: 5 events, 1 artifact, ")
    assert said.lines[1] == f"head  {head}  default"
    assert full("store", "verify", "--store", full.home / "copy", "--head", head).code == 0
    again = full("store", "backup", full.home / "copy")
    assert (again.code, again.out) == (4, b"")
    assert "holds something" in again.error
    form = full("store", "backup", full.home / "second", "--json").json
    assert (form["path"], form["events"], form["heads"]["default"]) == (str(full.home / "second"), 5, head)
