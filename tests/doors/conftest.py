"""A user with an empty home and a shell."""

from __future__ import annotations

import pytest
from terminal import Shell

from firsthand import Memory


@pytest.fixture
def shell(tmp_path, capsysbinary, monkeypatch):
    """A user's shell; its store is verified at the end, unless the test has damaged it on purpose."""
    one = Shell(tmp_path, capsysbinary, monkeypatch)
    one.damaged = False
    yield one
    if (one.store / "firsthand.db").exists() and not one.damaged:
        with Memory.open(one.store, read_only=True) as memory:
            assert memory.verify().problems == ()
