"""Finds the rows nearest in meaning to a text: embeds it, and has the space of its embedder scanned.

The invariant: all that is found is of one space, that of the embedder at hand, as
the store holds it in the moment of the search; and no fault leaves as an
exception: it is told in `Nearest.fault`, and what was found stands beside it.

It does not know how a scan is done. numpy is imported with `vector_scan`, at the
first search, so that a process without an embedder never does.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import apsw

from firsthand.errors import ModelError, ModelUnavailable, StoreError

from . import vectors
from .embed.port import Embedder, asked
from .nearest import Nearest
from .vector_texts import VERSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .vector_scan import Inside, Scan

QUERY_CHARACTERS_MAX = 2_000
"""Of a question that is embedded: models read no more."""
QUERIES_KEPT = 64
PAUSE_SECONDS = 10.0
"""An embedder that failed is not asked again for so long: every recall would wait for it."""


def identity_of(embedder: Embedder) -> str:
    """Name the space of an embedder: its identity and the rules by which texts are cut for it."""
    return f"{embedder.identity} texts-{VERSION}"


class VectorSearch:
    """Searches the space of one embedder in one namespace. Threads may share it.

    Args:
        connection: gives this thread's read connection.
        behind: says why following stopped; empty while all is well.
    """

    def __init__(
        self,
        connection: Callable[[], apsw.Connection],
        namespace: Callable[[], int],
        embedder: Embedder,
        behind: Callable[[], str] = str,
    ) -> None:
        self._connection, self._namespace, self._embedder, self._behind = connection, namespace, embedder, behind
        self._lock = threading.Lock()
        self._scan: Scan | None = None
        self._queries: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._failed: tuple[float, str] = (0.0, "")

    def near(self, text: str, limit: int, inside: Inside | None = None) -> Nearest:
        """Give the passages whose vectors are nearest to a text, best first.

        Args:
            limit: most passages.
            inside: says of keys whether they may be found; None for all.
        """
        through = 0
        try:
            db = self._connection()
            space = vectors.find(db, self._namespace(), identity_of(self._embedder))
            if space is None:
                return Nearest((), 0, self._behind() or self._others(db))
            through = space.through
            if not space.vectors:
                return Nearest((), through, self._behind())
            scan = self._scanner()
            query = self._query(text, scan)
            if len(query) != space.dimension:
                return Nearest((), 0, vectors.resized(space, len(query)))
            rows, through = scan.nearest(db, space, query, limit, inside)
            return Nearest(rows, through, self._behind())
        except (ModelError, StoreError) as error:
            return Nearest((), through, str(error))
        except apsw.Error as error:
            return Nearest((), through, f"the vectors cannot be read ({error}); {vectors.REPAIR}")

    def _others(self, db: apsw.Connection) -> str:
        """Say whose vectors are here when there are none of this embedder; empty when there are none at all."""
        others = [space.identity for space in vectors.spaces(db, self._namespace()) if space.vectors]
        if not others:
            return ""
        return (
            f"those here are of {others[0]}, none of {identity_of(self._embedder)} yet; run 'firsthand store follow' "
            "with the embedder that is to be used from now on"
        )

    # the query -------------------------------------------------------------------------------------

    def _scanner(self) -> Scan:
        if self._scan is None:
            from .vector_scan import Scan  # noqa: PLC0415 - numpy

            self._scan = Scan()
        return self._scan

    def _query(self, text: str, scan: Scan) -> NDArray[np.float32]:
        """Have a question embedded, unless it was a moment ago.

        Raises:
            ModelError: it cannot be.
        """
        text = " ".join(text[:QUERY_CHARACTERS_MAX].split())
        with self._lock:
            known = self._queries.get(text)
            until, why = self._failed
        if known is not None:
            return known
        if time.monotonic() < until:
            raise ModelUnavailable(f"{why} (not asked again for {PAUSE_SECONDS:.0f} s after that)")
        try:
            query = scan.query(asked(self._embedder, text))
        except ModelError as error:
            with self._lock:
                self._failed = (time.monotonic() + PAUSE_SECONDS, str(error))
            raise
        with self._lock:
            self._queries[text] = query
            while len(self._queries) > QUERIES_KEPT:
                self._queries.popitem(last=False)
        return query
