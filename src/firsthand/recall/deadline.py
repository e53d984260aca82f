"""The moment at which a recall stops looking."""

from __future__ import annotations

import time


class Deadline:
    """Counts down from the moment it is made.

    Attributes:
        passed: True once a look at the clock came too late.
    """

    def __init__(self, milliseconds: float) -> None:
        self._at = time.monotonic() + milliseconds / 1000
        self.passed = False

    def __call__(self) -> bool:
        """Say whether it is time to stop."""
        self.passed = self.passed or time.monotonic() >= self._at
        return self.passed
