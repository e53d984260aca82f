"""A user with an empty home and a shell."""

from __future__ import annotations

from terminal import shell  # noqa: F401 - a fixture
