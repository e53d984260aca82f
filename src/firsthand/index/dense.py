"""The vectors of one namespace of an opened store: searched, followed, told of.

Joins an embedder, the search over its space, and the thread that follows the log.
The invariant: what one of them learns to be wrong, every answer and the figures of
the store say.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from firsthand.log.sqlite.local import LocalLog
from firsthand.value import value

from . import vectors
from .background import Background
from .embed.port import Embedder
from .follower import Step, VectorFollower
from .vector_texts import identity_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .columns import Columns
    from .vector_search import VectorSearch

ELSEWHERE_SECONDS = 0.2
SCORES_MAX = 1_000


@value
class VectorSpace:
    """How far the vectors by one embedder reach.

    Attributes:
        embedder: its identity and the rules by which texts are cut for it.
        through: every searchable event up to this position has its vectors.
        current: True for the embedder at hand; vectors of others are dropped once its own are complete.
    """

    embedder: str
    dimension: int
    vectors: int
    through: int
    current: bool


@value(eq=False)
class Scores:
    """The rows of the text index whose vectors are nearest to a text.

    Attributes:
        rows: best first, each once.
        cosines: of each, from -1 to 1, about the middle of all vectors.
        through: every searchable event up to this position has its vectors; 0 when there are none.
        fault: what is wrong and what to do; empty when all is well.
    """

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]
    through: int
    fault: str


class Dense:
    """What a namespace has of vectors, with the embedder at hand. Threads may share it."""

    def __init__(self, log: LocalLog, namespace: str, embedder: Embedder) -> None:
        self._log, self._namespace, self.embedder = log, namespace, embedder
        self._background = Background(VectorFollower(log, namespace, embedder).step)

    def scores(self, text: str, columns: Columns, mask: NDArray[np.bool_] | None = None) -> Scores:
        """Give the rows of the text index whose vectors are nearest to a text, some `SCORES_MAX` of them.

        Args:
            columns: of the moment that is asked.
            mask: which rows may be found; None for all.
        """
        import numpy as np  # noqa: PLC0415 - no store that only appends loads it

        def rows_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
            return columns.rows_at(keys & (vectors.KEY_STEP - 1), keys // vectors.KEY_STEP)

        self.wake()
        nearest = self.search.near(text, SCORES_MAX, None if mask is None else lambda keys: mask[rows_of(keys)])
        rows = rows_of(np.array([key for key, _ in nearest.rows], np.int64))
        cosines = np.array([cosine for _, cosine in nearest.rows], np.float32)
        return Scores(rows[rows > 0], cosines[rows > 0], nearest.through, nearest.fault)

    @cached_property
    def search(self) -> VectorSearch:
        """What finds passages by meaning."""
        from .vector_search import VectorSearch  # noqa: PLC0415 - numpy

        log, name = self._log, self._namespace
        return VectorSearch(lambda: log.reader.db, lambda: log.reader.namespace_key(name), self.embedder, self._behind)

    def wake(self) -> None:
        """Have the vectors of what is new made in the background."""
        if not self._log.read_only:
            self._background.wake()

    def follow(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Make the vectors of everything, and drop those of other embedders; returns when it is done.

        Args:
            progress: called with the position reached and the last one.

        Raises:
            ModelError: the embedder failed; what was made before that is kept.
        """
        follower = VectorFollower(self._log, self._namespace, self.embedder)
        while (did := follower.step()) is not Step.DONE:
            if did is Step.ELSEWHERE:
                time.sleep(ELSEWHERE_SECONDS)
            if progress is not None:
                progress(follower.through, self._log.reader.head(self._namespace)[0])
        self._background.fault = ""  # it went well since

    def stop(self) -> None:
        """End the thread."""
        self._background.stop()

    @property
    def fault(self) -> str:
        """Why the thread does not follow; empty while all is well."""
        return self._background.fault

    def _behind(self) -> str:
        return f"vectors do not follow: {self.fault}" if self.fault else ""


def states(log: LocalLog, namespace: str, dense: Dense | None) -> tuple[VectorSpace, ...]:
    """Tell the spaces of a namespace, oldest first; that of the embedder at hand too when it is not begun yet."""
    current = None if dense is None else identity_of(dense.embedder)
    followed = [
        VectorSpace(space.identity, space.dimension, space.vectors, space.through, space.identity == current)
        for space in vectors.spaces(log.reader.db, log.reader.namespace_key(namespace))
    ]
    if dense is not None and not any(state.current for state in followed):
        followed.append(VectorSpace(identity_of(dense.embedder), dense.embedder.dimension, 0, 0, True))
    return tuple(followed)
