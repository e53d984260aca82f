"""What the tests of models share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chat_server import ChatServer


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A server of the test's own."""
    server = ChatServer()
    yield server
    server.close()
