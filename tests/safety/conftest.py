"""What the tests of safety share: a memory that is verified when the test ends, and an agent in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firsthand import Agent, Memory


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    """One open store that finds by words alone, verified when the test ends."""
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        yield opened
        assert opened.verify().problems == ()


@pytest.fixture
def agent(memory) -> Agent:
    """An agent of that memory."""
    return memory.agent("shop")
