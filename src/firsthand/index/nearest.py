"""What a search by vectors answers, as a value that knows neither vectors nor their storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firsthand.value import value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@value
class Nearest:
    """The passages whose vectors are nearest to a text.

    Attributes:
        rows: keys of passages (`shape`) with a cosine from -1 to 1, best first, each once; the cosine is that of both
            about the middle of all vectors.
        through: every searchable event up to this position has its vectors; 0 when there are none.
        fault: what is wrong and what to do; empty when all is well. ``rows`` may be there all the same.
    """

    rows: tuple[tuple[int, float], ...]
    through: int
    fault: str = ""


@value(eq=False)
class Scores:
    """The rows of the text index whose vectors are nearest to a text.

    Attributes:
        rows: best first, each once.
        cosines: of each, from -1 to 1.
        through, fault: as in `Nearest`.
    """

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]
    through: int
    fault: str
