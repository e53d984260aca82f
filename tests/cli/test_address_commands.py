"""The commands of a store in PostgreSQL on one that is not there, and what they refuse before they ask a server."""

from __future__ import annotations

import sys

import pytest

from firsthand import Memory
from firsthand.errors import InvalidArgument

NOWHERE = "postgresql://owner@127.0.0.1:9/store?connect_timeout=2"
LIMITS = ("--events", "10", "--bytes", "9", "--day-events", "5", "--day-bytes", "4")
TEAM = (
    "--port", "0", "--host", "127.0.0.1", "--url", "https://memory.example", "--oidc-issuer", "https://issuer.example",
    "--oidc-audience", "memory", "--requests", "5", "--audit-reads", "--proxy-headers", "127.0.0.1",
)  # fmt: skip


@pytest.fixture
def impatient(monkeypatch):
    """Ask a server that is not there for a moment only."""
    monkeypatch.setattr("firsthand.client.LOST_S", 0.1)


@pytest.mark.parametrize(
    "words",
    [
        ("migrate", NOWHERE, "--encrypt", "--retention-days", "30", "--beside", NOWHERE),
        ("distribute", NOWHERE, "--shards", "4"),
        ("move", "shop", "--from", NOWHERE, "--to", NOWHERE, "--abandon"),
        ("new-key", "shop", NOWHERE),
        ("key", "ann", "--days", "30", "--postgres", NOWHERE),
        ("grant", "ann", "shop", "read", "--withdraw", "--postgres", NOWHERE),
        ("limit", "shop", *LIMITS, "--postgres", NOWHERE),
    ],
    ids=lambda words: words[0],
)
def test_a_server_that_is_not_there_is_named_at_once(shell, words):
    """Each command ends with the server's own words, not after the time that a busy one is waited for."""
    said = shell("store", *words)
    assert said.code == 4, said
    assert "connection failed" in said.error or "Connection refused" in said.error
    assert "PostgreSQL" in said.error


def test_a_sync_with_no_server_says_what_was_expected(shell, impatient):
    """Every option of a sync is taken, and the address that does not answer is named."""
    said = shell("store", "sync", "http://127.0.0.1:9", "--token", "t", "--fork", "theirs", "--push-lost")
    assert said.code != 0
    assert "127.0.0.1:9" in said.error


def test_a_store_that_cannot_be_reached_is_told_at_once(shell):
    """A recall of a store at an address that does not answer ends with the reason, and so does its server."""
    assert "127.0.0.1" in shell("--store", NOWHERE, "recall", "x").error
    said = shell("serve", "--postgres", NOWHERE, *TEAM)
    assert said.code == 4
    assert "127.0.0.1" in said.error


def test_options_of_a_server_for_teams_want_its_store(shell):
    """A server that would listen to others without keys is not started."""
    said = shell("serve", "--host", "0.0.0.0")
    assert said.code in {2, 5}
    assert "--postgres" in said.error


@pytest.mark.parametrize("words", [("key", "--revoke", ""), ("key", ""), ("grant", "", "shop", "read"), ("limit", "")])
def test_an_empty_name_is_refused(shell, words):
    """An unset variable of a script never turns an act into a list."""
    said = shell("store", *words, "--postgres", NOWHERE)
    assert said.code in {2, 5}
    assert "empty" in said.error


@pytest.mark.files_only("a folder that is made for a wrong address")
@pytest.mark.parametrize("store", ["mysql://a:secret@b/c", "sqlite:///x", "postgres:/a@/b", "https://memory.example"])
def test_another_kind_of_address_makes_no_folder(shell, store, tmp_path, monkeypatch):
    """What is no address of PostgreSQL is refused, by option and by variable, and never a folder of that name."""
    monkeypatch.chdir(tmp_path)
    before = {*tmp_path.iterdir()}
    said = shell("--store", store, "session", "append", "x", "--session", "s")
    assert said.code == 2
    assert "postgresql://application@db.example/store" in said.error
    assert "secret" not in said.error
    monkeypatch.setenv("FIRSTHAND_STORE", store)
    with pytest.raises(InvalidArgument, match="expected a folder, or the address"):
        Memory()
    with pytest.raises(InvalidArgument, match="expected a folder, or the address"):
        Memory(store)
    assert {*tmp_path.iterdir()} == before


def test_an_address_that_is_too_long_is_told_without_a_traceback(shell):
    """What cannot name a folder is refused as any other argument is."""
    said = shell("--store", "postgresql://h/" + "x" * 300, "recall", "x")
    assert said.code == 2
    assert "service file" in said.error


@pytest.mark.parametrize("dsn", ["/tmp/folder", "mysql://a:secret@b/c", "postgresql://h/d?nonsense=1"])
def test_what_is_no_address_of_a_database_is_named(shell, dsn):
    """A folder or another kind of address is refused with what was expected, and no password of it is shown."""
    said = shell("store", "migrate", dsn)
    assert said.code == 5
    assert "expected the address of a database, such as postgresql://owner@db.example/store" in said.error
    assert "secret" not in said.error


def test_a_server_that_cannot_be_asked_is_named_with_the_command_that_tries_it(shell):
    """Nothing was sent, so nothing is said of a write."""
    said = shell("--store", "postgresql://ann:secret@127.0.0.1:9/store?connect_timeout=2", "recall", "x")
    assert said.code == 4
    assert "psql 'postgresql://ann@127.0.0.1:9/store?connect_timeout=2' -c 'SELECT 1'" in said.error
    assert "same ids" not in said.error


@pytest.mark.parametrize(
    "token", ["/nowhere/token", "~/token-that-is-not-there", "~nobody-at-all/x", "./token", "/" + "x" * 5_000]
)
def test_a_token_file_that_is_not_there_is_no_token(shell, token):
    """A path is not sent to a server as if it were the token, nor shown: it may be one all the same."""
    said = shell("store", "sync", "http://127.0.0.1:9", "--token", token)
    assert said.code == 5
    assert "begins as a path does" in said.error
    assert token not in said.error


@pytest.mark.parametrize("token", ["c2VjcmV0/dG9rZW4=", "secret/" + "x" * 5_000, "ann"])
def test_a_token_with_a_slash_is_a_token(shell, impatient, token):
    """What does not begin as a path does, and is no file, goes to the server as it is."""
    said = shell("store", "sync", "http://127.0.0.1:9", "--token", token)
    assert "127.0.0.1:9" in said.error
    assert "path" not in said.error
    assert token not in said.error.replace("127.0.0.1", "")


def test_an_address_without_its_extra_says_how_to_install_it(monkeypatch, tmp_path):
    """A missing driver is an answer, not a fault."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "firsthand.log.postgres.replicas", None)
    with pytest.raises(InvalidArgument, match="needs the extra postgres"):
        Memory(NOWHERE)
