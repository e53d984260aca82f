"""firsthand store verify and rebuild."""

from __future__ import annotations

import apsw
import pytest

from firsthand.log.sqlite.index_files import path_of


def test_a_whole_store_verifies(shell):
    """Verify counts what is whole, prints the head, and ends with 0."""
    shell.append("x")
    shell.append(b"y" * 50_000, "t", "tool_result")
    said = shell("store", "verify")
    assert said.code == 0
    assert said.lines[0].startswith("ok: 2 events in 2 sessions and 1 artifact are whole (")
    assert said.lines[1] == "head  " + shell("store", "size", "--json").json["head"]
    found = shell("store", "verify", "--deep", "--json").json
    assert {key: found[key] for key in ("ok", "problems", "events", "sessions", "erased", "artifacts")} == {
        "ok": True, "problems": [], "events": 2, "sessions": 2, "erased": 0, "artifacts": 1,
    }  # fmt: skip


@pytest.mark.files_only("damages firsthand.db")
def test_a_damaged_event_is_named(shell):
    """Verify ends with 3 and names pointer, position and what is wrong, for people and as JSON."""
    shell.append("x")
    pointer = shell.append("the second")
    shell.damaged = True
    db = apsw.Connection(str(shell.store / "firsthand.db"))
    db.execute("UPDATE event SET salt = zeroblob(16) WHERE key = 2")
    db.close()
    said = shell("store", "verify")
    assert said.code == 3
    assert said.lines[0].startswith(f"wrong  event {pointer} at position 2 of namespace 'default': ")
    found = shell("store", "verify", "--json")
    assert found.code == 3
    assert [(one["where"], one["position"], f"fh:{one['id']}") for one in found.json["problems"]] == [
        ("event", 2, pointer)
    ]
    assert found.json["ok"] is False


@pytest.mark.files_only("damages a file of an artifact")
def test_a_damaged_artifact_is_named(shell):
    """A changed byte in an artifact's file is found, and the event that holds it is named."""
    shell.append(b"y" * 50_000 + b"z", "t", "tool_result")
    shell.damaged = True
    (file,) = (shell.store / "artifacts").rglob("*.zst")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    said = shell("store", "verify")
    assert said.code == 3
    assert said.lines[0].startswith("wrong  artifact at position 1 of namespace 'default': ")


def test_a_head_kept_elsewhere_is_found_again(shell):
    """Heads of earlier days verify, one of another past does not, and what is no head is refused."""
    heads = []
    for text in ("a", "b", "c"):
        shell.append(text)
        heads.append(shell("store", "size", "--json").json["head"])
    assert shell("store", "verify", "--head", heads[0], "--head", heads[1]).code == 0
    said = shell("store", "verify", "--head", "2:" + "0" * 64)
    assert said.code == 3
    assert "is not the one that this head was taken of" in said.text
    refused = shell("store", "verify", "--head", "yesterday")
    assert (refused.code, refused.out) == (5, b"")
    assert "a head is position:hash" in refused.error


@pytest.mark.files_only("damages firsthand.db")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_index_is_built_anew(shell, options):
    """After the index is damaged, verify says so; rebuild mends it, and recall finds again."""
    pointer = shell.append("the needle")
    shell("store", "rebuild")  # the newest events are indexed with later ones; now nothing waits
    db = apsw.Connection(str(path_of(shell.store, 1)))
    db.execute("DELETE FROM text_1")
    db.close()
    assert shell("store", "verify").code == 3
    said = shell("store", "rebuild", *options)
    assert said.code == 0
    assert said.json == {"indexed": 1, "damaged": []} if options else said.text.startswith("indexed 1 event anew in ")
    assert shell("store", "verify", "--deep").code == 0
    assert shell("recall", "needle", "--json").json["hits"][0]["pointer"] == pointer


@pytest.mark.files_only("damages firsthand.db")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_rebuild_says_which_events_it_left_out(shell, options):
    """Events that cannot be read are counted and named by a rebuild, which then ends as damage does."""
    for text in ("the needle", "the thimble", "the thread"):
        shell.append(text)
    db = apsw.Connection(str(shell.store / "firsthand.db"))
    db.execute("UPDATE event SET body = x'00414243' WHERE key = 2")
    db.close()
    shell.damaged = True
    said = shell("store", "rebuild", *options)
    assert said.code == 3
    if options:
        assert said.json == {"indexed": 2, "damaged": [2]}
    else:
        assert said.text.startswith("indexed 2 events anew in ")
        assert "1 damaged event left out, at position 2: firsthand store verify says what is wrong" in said.text
    assert len(shell("recall", "the thread needle", "--json").json["hits"]) == 2
