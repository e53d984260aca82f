"""The port through which a recall asks for what is near in meaning.

`firsthand.index.vector_search` is what stands behind it where an embedder is
configured. The invariant: no fault leaves it as an exception; it comes back in
`Nearest.fault`, so that the lexical answer stands and says `degraded`.
"""

from __future__ import annotations

from typing import Protocol

from firsthand.index.nearest import Nearest
from firsthand.index.passages import ROW_STEP

__all__ = ["Near", "Nearest"]


class Near(Protocol):
    """Finds rows by the meaning of a text."""

    def near(self, text: str, limit: int, *, low: int = 0, high: int = ROW_STEP) -> Nearest:
        """Give the rows whose vectors are nearest to a text, best first.

        Args:
            limit: most rows.
            low, high: only events from position ``low`` on and before ``high``.
        """
        ...
