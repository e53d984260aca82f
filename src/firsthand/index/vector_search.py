"""Finds the passages nearest in meaning to a text: embeds it, and scans the space of its embedder.

The bits of all vectors are compared with those of the question; of the `rescored` best the bytes are
read and give the cosine. Bits are kept in memory, eight chunks together, up to `CACHE_BYTES_MAX`, for
the versions of the chunks that were read; beyond that bound they are read each time.

The invariant: bits and bytes are of one snapshot of the store and of one space, that of the embedder at
hand; a space of at most `RESCORED_MIN` vectors is searched exactly, within the error of the bytes; and
no fault leaves as an exception: it is told in `Nearest.fault`.

It needs numpy: it is imported with the first question, so that a process without an embedder never does.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.errors import ModelError, ModelUnavailable, StoreError
from firsthand.value import value

from . import codes, vectors
from .codes import Floats
from .embed.port import Embedder, asked
from .vector_texts import identity_of

QUERY_CHARACTERS_MAX = 2_000
"""Of a question that is embedded: models read no more."""
QUERIES_KEPT = 64
PAUSE_SECONDS = 10.0
"""An embedder that failed is not asked again for so long: every recall would wait for it."""
BLOCK_CHUNKS = 8
CACHE_BYTES_MAX = 128 << 20
RESCORED_MIN, RESCORED_MAX = 400, 1_600

Inside = Callable[[NDArray[np.int64]], NDArray[np.bool_]]
"""Says of each of some keys whether its vector may be found."""


@value
class Nearest:
    """The passages whose vectors are nearest to a text.

    Attributes:
        rows: keys of passages (`vectors.vector_key`) with a cosine from -1 to 1, best first, each once; the cosine
            is that of both about the middle of all vectors.
        through: every searchable event up to this position has its vectors; 0 when there are none.
        fault: what is wrong and what to do; empty when all is well. ``rows`` may be there all the same.
    """

    rows: tuple[tuple[int, float], ...]
    through: int
    fault: str = ""


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
        self._scan = Scan()
        self._queries: OrderedDict[str, Floats] = OrderedDict()
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
            query = self._query(text)
            if len(query) != space.dimension:
                return Nearest((), 0, vectors.resized(space, len(query)))
            rows, through = self._scan.nearest(db, space, query, limit, inside)
            return Nearest(rows, through, self._behind())
        except (ModelError, StoreError) as error:
            return Nearest((), through, str(error))
        except apsw.Error as error:
            return Nearest((), through, f"the vectors cannot be read ({error}); {vectors.REPAIR}")

    def _others(self, db: apsw.Connection) -> str:
        """Say whose vectors are here when there are none of this embedder; empty when there are none at all."""
        others = [space.identity for space in vectors.spaces(db, self._namespace()) if space.vectors]
        advice = "run 'firsthand store follow' with the embedder that is to be used from now on"
        return f"those here are of {others[0]}, none of {identity_of(self._embedder)} yet; {advice}" if others else ""

    def _query(self, text: str) -> Floats:
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
            query: Floats = codes.unit(asked(self._embedder, text)[None, :])[0]
        except ModelError as error:
            with self._lock:
                self._failed = (time.monotonic() + PAUSE_SECONDS, str(error))
            raise
        with self._lock:
            self._queries[text] = query
            while len(self._queries) > QUERIES_KEPT:
                self._queries.popitem(last=False)
        return query


def rescored(count: int, limit: int) -> int:
    """Say how many candidates have their bytes compared: 400 up to 100,000 vectors, 1,264 at 1,000,000."""
    share = RESCORED_MIN * max(1.0, count / 100_000) ** 0.5
    return max(min(int(share), RESCORED_MAX), limit)


@value(eq=False)
class _Block:
    """The bits of up to eight chunks, as they were in some versions."""

    versions: tuple[int, ...]
    keys: NDArray[np.int64]
    words: NDArray[np.uint64]

    @property
    def size_bytes(self) -> int:
        return self.keys.nbytes + self.words.nbytes


class Scan:
    """Scans spaces, and keeps the bits of the one it scanned last. Threads may share it."""

    def __init__(self, cache_bytes_max: int = CACHE_BYTES_MAX) -> None:
        self._lock = threading.Lock()
        self._blocks: dict[tuple[int, int], _Block] = {}
        self._bytes_max = cache_bytes_max

    def nearest(
        self, db: apsw.Connection, space: vectors.Space, query: Floats, limit: int, inside: Inside | None = None
    ) -> tuple[tuple[tuple[int, float], ...], int]:
        """Give the nearest keys with their cosines, best first, and the watermark they belong to.

        Args:
            query: of length 1; cosines are taken about the middle of the space (`codes.about`).
            inside: says of keys whether they may be found; None for all.

        Raises:
            StoreDamaged: a chunk or a vector is not what was written.
        """
        with db:  # one snapshot for bits and bytes
            now = vectors.find(db, space.namespace, space.identity)
            if now is None or now.key != space.key:  # dropped this moment
                return (), 0
            middle = codes.middle_of(now.total, now.vectors)
            if query.any():  # zeros are a question without a meaning, not one about the middle
                query = codes.about(query[None, :], middle)[0]
            if not query.any():
                return (), now.through
            keys, distances = self._distances(db, now, query, inside)
            numbers = np.sort(_fewest(distances, rescored(now.vectors, limit)))  # as they lie in the file
            keys = keys[numbers]
            cosines = codes.cosines(vectors.read_vectors(db, now, numbers.tolist()), query, middle)
            through = now.through
        best = np.lexsort((keys, -cosines))[:limit]
        return tuple(zip(keys[best].tolist(), cosines[best].tolist(), strict=True)), through

    def _distances(
        self, db: apsw.Connection, space: vectors.Space, query: Floats, inside: Inside | None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
        """Give, by number, the keys of all vectors, and in how many bits each differs from the question."""
        words, outline = codes.query_words(query), vectors.outline(db, space)
        keys, distances = [np.empty(0, np.int64)], [np.empty(0, np.uint16)]
        for start in range(0, len(outline), BLOCK_CHUNKS):
            block = self._block(db, space, start, outline[start : start + BLOCK_CHUNKS])
            differing = codes.distances(block.words, words)
            differing[block.keys == vectors.EMPTY] = codes.FAR
            if inside is not None:
                differing[~inside(block.keys)] = codes.FAR
            keys.append(block.keys)
            distances.append(differing)
        return np.concatenate(keys), np.concatenate(distances)

    def _block(self, db: apsw.Connection, space: vectors.Space, start: int, outline: vectors.Outline) -> _Block:
        """Give the bits of some chunks, from memory if they were read in these versions."""
        versions = tuple(version for _, version, _, _ in outline)
        with self._lock:
            known = self._blocks.get((space.key, start))
        if known is not None and known.versions == versions:
            return known
        read = [vectors.read_chunk(db, space, chunk) for chunk, *_ in outline]
        keys = np.array([key for chunk in read for key in chunk.rows], np.int64)
        block = _Block(versions, keys, codes.words_of(b"".join(chunk.bits for chunk in read), space.dimension))
        with self._lock:
            others = {at: other for at, other in self._blocks.items() if at[0] == space.key and at[1] != start}
            if sum(other.size_bytes for other in others.values()) + block.size_bytes <= self._bytes_max:
                others[space.key, start] = block
            self._blocks = others
        return block


def _fewest(distances: NDArray[np.uint16], wanted: int) -> NDArray[np.intp]:
    """Give the places of the vectors that differ least, the first of those that tie; none that may not be found."""
    below = np.cumsum(np.bincount(distances, minlength=1))
    bound = min(int(np.searchsorted(below, wanted)), codes.FAR - 1)
    near = np.flatnonzero(distances <= bound)
    return near[np.argsort(distances[near], kind="stable")[:wanted]]
