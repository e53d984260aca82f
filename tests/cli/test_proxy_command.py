"""The command proxy: what it takes, and what it refuses before it listens."""

from __future__ import annotations

import pytest

from firsthand.cli.cli import main

for extra in ("httpx", "starlette", "uvicorn"):
    pytest.importorskip(extra, reason="the extra proxy is not installed")

UPSTREAM = ("proxy", "--upstream", "http://127.0.0.1:9", "--port", "0")


def refused(capsys, *arguments: str) -> str:
    """Give what the command says when it refuses arguments."""
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main([*UPSTREAM, *arguments]))
    assert ended.value.code in {2, 5}  # usage, and what cannot be taken
    return capsys.readouterr().err


def test_another_address_needs_a_token_or_a_reason(tmp_path, capsys):
    """To listen at another address than this machine's takes a token that is not empty, or a reason that is not."""
    token = tmp_path / "token"
    token.write_text(" \n")
    away = ("--host", "0.0.0.0")
    assert "expected --token FILE beside --host 0.0.0.0" in refused(capsys, *away)
    assert "expected --token FILE beside --host 0.0.0.0" in refused(capsys, *away, "--without-token", " ")
    assert "the file is empty" in refused(capsys, *away, "--token", str(token))
    assert "not allowed with" in refused(capsys, *away, "--token", str(token), "--without-token", "a test")


def test_a_budget_is_tokens_of_a_model(capsys):
    """A budget that is no number is refused by name, whatever else is chosen."""
    said = refused(capsys, "--budget", "gpt=many", "--agent", "a", "--capture-only", "--no-recall")
    assert "gpt=many" in said
