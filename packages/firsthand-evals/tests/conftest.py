"""What the tests of the evaluations share with those of the package: a user's shell, and a store that is verified."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from terminal import shell  # noqa: F401 - a fixture

from firsthand import Memory

SOAK = bool(os.environ.get("FIRSTHAND_SOAK"))
settings.register_profile("firsthand", deadline=None, derandomize=not SOAK, max_examples=1_000 if SOAK else 50)
settings.load_profile("firsthand")


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    """One open memory that finds by words alone, verified when the test ends."""
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        yield opened
        assert opened.verify().problems == ()
