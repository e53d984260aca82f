"""These tests look into the index itself, so nothing may wait to be indexed with later events."""

from __future__ import annotations

import pytest

from firsthand.log.sqlite import append


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Index every event in its own transaction."""
    monkeypatch.setattr(append, "BACKLOG_EVENTS", 1)
