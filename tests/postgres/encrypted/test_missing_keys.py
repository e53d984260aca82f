"""A folder of keys that is missing is named by whoever looks, and made again by nobody."""

from __future__ import annotations

import pytest
from log_suite import NAMESPACE, user
from postgres_server import OWNER
from sealed_stores import events_of, key_file
from team_server import Team

from firsthand import Memory
from firsthand.cli.cli import main
from firsthand.errors import KeyMissing
from firsthand.log.postgres.keys import MARK, KeyFolder
from firsthand.log.postgres.log import make


@pytest.fixture
def doctor(server, database, keys, again, tmp_path, monkeypatch, capsys):
    """Look at the store as a machine whose folders are empty; give the exit code and what was said."""
    for name in ("CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("FIRSTHAND_KEYS", str(keys))
    address = f"postgresql://application@/{database}?host={server.folder}"

    def look() -> tuple[int, str]:
        code = main(["doctor", "--store", address, "--namespace", NAMESPACE])
        said = capsys.readouterr()
        return code, said.out + said.err

    look.address = address
    return look


def test_a_folder_that_is_lost_is_not_made_again(log, again, keys, tmp_path) -> None:
    """A writer of a new namespace is refused, with the folder and its mark, and goes on once the folder is back."""
    log.append([user("one")], namespace=NAMESPACE, session="s")
    folder = key_file(keys, log).parent
    keys.rename(tmp_path / "away")
    for handle in (log, again()):
        with pytest.raises(KeyMissing, match=f"(?s){folder}.*{MARK}"):
            handle.append([user("two")], namespace="new", session="s")
    keys.mkdir()  # where something else was mounted
    with pytest.raises(KeyMissing, match=MARK):
        log.append([user("two")], namespace="new", session="s")
    assert not [*keys.iterdir()]
    keys.rmdir()
    (tmp_path / "away").rename(keys)
    log.append([user("two")], namespace="new", session="s")
    assert events_of(log, "new") == [b"two"]


def test_two_that_begin_a_store_at_once_both_go_on(log, again, monkeypatch) -> None:
    """Who saw no mark, since another was about to begin the same store, makes its key beside the other's.

    Fails on: a folder that was looked at before the store's events were, and not again.
    """
    other, unmarked, looks = again(), KeyFolder.unmarked, list[str]()

    def late(home: KeyFolder) -> str:
        looks.append(look := unmarked(home))
        if len(looks) == 1:
            other.append([user("theirs")], namespace="other", session="s")
        return look

    monkeypatch.setattr(KeyFolder, "unmarked", late)
    log.append([user("ours")], namespace=NAMESPACE, session="s")
    assert "got: No such file" in looks[0]
    assert (events_of(log), events_of(log, "other")) == ([b"ours"], [b"theirs"])
    assert log.seal.lacking() == ""


def test_keys_of_another_store_are_not_taken_for_ours(log, again, keys, tmp_path) -> None:
    """In a folder that bears another store's mark no key is made, and what is said names both stores."""
    log.append([user("one")], namespace=NAMESPACE, session="s")
    folder = key_file(keys, log).parent
    other = tmp_path / "keys of others" / folder.name
    other.mkdir(parents=True)
    (other / MARK).write_text("0123\n")
    handle = again(str(other.parent))
    with pytest.raises(KeyMissing, match=f"expected {folder.name} in .*; got '0123'"):
        handle.append([user("two")], namespace="new", session="s")
    assert "got '0123'" in handle.seal.lacking()


def test_doctor_names_the_key_that_is_missing(log, doctor, keys, tmp_path) -> None:
    """A caught-up replica hides no missing key, its canary makes none, and all is well when the folder is back."""
    with Memory(doctor.address, namespace=NAMESPACE, embedder="none") as memory:
        memory.session("s").user("an order of twelve green lamps")
        memory.recall("lamps")
    file = key_file(keys, log)
    for is_begun in (False, True):  # the canary's own namespace
        keys.rename(tmp_path / "away")
        code, said = doctor()
        assert (code, str(file) in said, keys.exists()) == (3, True, False), said
        (tmp_path / "away").rename(keys)
        code, said = doctor()
        assert (str(file) in said, "KeyMissing" in said) == (False, False), (is_begun, said)


def test_a_canary_whose_key_is_gone_is_begun_anew(log, doctor, keys) -> None:
    """Doctor says what to type, and after `store new-key canary` its canary arrives; no other namespace is given up."""
    for namespace in (NAMESPACE, "canary"):
        log.append([user("one")], namespace=namespace, session="s")
    key_file(keys, log, "canary").unlink()
    assert "store new-key canary DSN" in doctor()[1]
    assert main(["store", "new-key", "canary", doctor.address]) == 0
    assert "KeyMissing" not in doctor()[1]
    assert events_of(log, "canary")[0] is None
    file = key_file(keys, log)
    content = file.read_bytes()
    file.unlink()
    assert main(["store", "new-key", NAMESPACE, doctor.address]) != 0
    file.touch(0o600)
    file.write_bytes(content)


def test_a_server_for_teams_names_the_key_in_its_log_alone(server, database, keys, tmp_path, monkeypatch) -> None:
    """An append without its key is answered 503 in plain words, health is not ok, and the log names the file."""
    make(server.dsn(OWNER, database), encrypted=True)
    monkeypatch.setenv("FIRSTHAND_KEYS", str(keys))
    with Team(server, database, tmp_path) as team:
        key = team.key("alice", shop=["read", "append"])
        event = {"session": "s", "events": [{"kind": "user_message", "content": "one"}]}
        assert team.ask(key, "POST", "/v1/append", event).status_code == 200
        assert team.ask(key, "GET", "/v1/health").json()["ok"] is True
        assert team.ask(key, "GET", "/readyz").status_code == 200
        keys.rename(tmp_path / "away")
        answer = team.ask(key, "POST", "/v1/append", event)
        assert (answer.status_code, str(tmp_path) in answer.text) == (503, False), answer.text
        assert "cannot read the key of this namespace" in answer.json()["detail"]
        assert any("KeyMissing: " in line and str(keys) in line for line in team.logged), team.logged
        health = team.ask(key, "GET", "/v1/health").json()
        assert (health["ok"], "key" in health["line"]) == (False, True)
        assert team.ask(key, "GET", "/readyz").status_code == 503
        (tmp_path / "away").rename(keys)
        assert team.ask(key, "POST", "/v1/append", event).status_code == 200
        assert team.verify("shop").ok
