"""What a search by vectors answers, as a value that knows neither vectors nor their storage."""

from __future__ import annotations

from firsthand.value import value


@value
class Nearest:
    """The rows whose vectors are nearest to a text.

    Attributes:
        rows: index rows (`firsthand.index.passages.row_of`) with a cosine from -1 to 1, best first, each row once;
            the cosine is that of both about the middle of all vectors.
        through: every searchable event up to this position has its vectors; 0 when there are none.
        fault: what is wrong and what to do; empty when all is well. ``rows`` may be there all the same.
    """

    rows: tuple[tuple[int, float], ...]
    through: int
    fault: str = ""
