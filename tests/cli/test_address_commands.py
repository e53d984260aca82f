"""The commands of a store in PostgreSQL on one that is not there, and what they refuse before they ask a server."""

from __future__ import annotations

import pytest

NOWHERE = "postgresql://owner@127.0.0.1:9/store?connect_timeout=2"
LIMITS = ("--events", "10", "--bytes", "9", "--day-events", "5", "--day-bytes", "4")
TEAM = (
    "--port", "0", "--host", "127.0.0.1", "--url", "https://memory.example", "--oidc-issuer", "https://issuer.example",
    "--oidc-audience", "memory", "--requests", "5", "--audit-reads", "--proxy-headers", "127.0.0.1",
)  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("migrate", NOWHERE, "--encrypt", "--retention-days", "30", "--beside", NOWHERE),
        ("distribute", NOWHERE, "--shards", "4"),
        ("move", "shop", "--from", NOWHERE, "--to", NOWHERE, "--abandon"),
        ("new-key", "shop", NOWHERE),
        ("key", "ann", "--days", "30", "--postgres", NOWHERE),
        ("grant", "ann", "shop", "read", "--withdraw", "--postgres", NOWHERE),
        (
            "limit",
            "shop",
            "--events",
            "10",
            "--bytes",
            "9",
            "--day-events",
            "5",
            "--day-bytes",
            "4",
            "--postgres",
            NOWHERE,
        ),
    ],
    ids=lambda words: words[0],
)
def test_a_server_that_is_not_there_is_named_at_once(shell, words):
    """Each command ends with the server's own words, not after the time that a busy one is waited for."""
    said = shell("store", *words)
    assert said.code == 4, said
    assert "connection failed" in said.error or "Connection refused" in said.error
    assert "PostgreSQL" in said.error


def test_a_sync_with_no_server_says_what_was_expected(shell):
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
