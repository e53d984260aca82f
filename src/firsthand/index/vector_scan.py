"""The scan of a space: the bits of every vector first, then the bytes of the best candidates.

The bits of all are compared with those of the query; of the `rescored` best the
bytes are read and give the cosine. Bits are kept in memory, in blocks of eight
chunks, up to `CACHE_BYTES_MAX`, each for the versions of its chunks that were
read; beyond that bound they are read from the store each time.

The invariant: bits and bytes are of one snapshot of the store; a space of at most
`RESCORED_MIN` vectors is searched exactly, within the error of the bytes.

It knows no embedder. It is imported when a query is there: it needs numpy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import apsw
import numpy as np
from numpy.typing import NDArray

from firsthand.value import value

from . import codes, vectors
from .codes import Floats
from .shape import CHUNK_VECTORS, EMPTY

BLOCK_CHUNKS = 8
CACHE_BYTES_MAX = 128 << 20
RESCORED_MIN, RESCORED_MAX = 400, 1_600

Found = tuple[tuple[int, float], ...]
Inside = Callable[[NDArray[np.int64]], NDArray[np.bool_]]
"""Says of each of some keys whether its vector may be found."""
Outline = list[tuple[int, int, int, int]]


def rescored(count: int, limit: int) -> int:
    """Say how many candidates have their bytes compared: 400 up to 100,000 vectors, 1,264 at 1,000,000."""
    share = RESCORED_MIN * max(1.0, count / 100_000) ** 0.5
    return max(min(int(share), RESCORED_MAX), limit)


@value
class _Block:
    """The bits of up to eight chunks, laid out for the scan."""

    versions: tuple[int, ...]
    rows: NDArray[np.int64]
    words: NDArray[np.uint64]
    empty: NDArray[np.intp]

    @property
    def size_bytes(self) -> int:
        return self.rows.nbytes + self.words.nbytes + self.empty.nbytes


class Scan:
    """Scans spaces, and keeps the bits of the one it scanned last. Threads may share it."""

    def __init__(self, cache_bytes_max: int = CACHE_BYTES_MAX) -> None:
        self._lock = threading.Lock()
        self._blocks: dict[tuple[int, int], _Block] = {}
        self._bytes_max = cache_bytes_max

    @staticmethod
    def query(vector: NDArray[np.float64]) -> Floats:
        """Scale the vector of a question."""
        unit: Floats = codes.unit(vector[None, :])[0]
        return unit

    def nearest(
        self, db: apsw.Connection, space: vectors.Space, query: Floats, limit: int, inside: Inside | None = None
    ) -> tuple[Found, int]:
        """Give the nearest rows with their cosine, best first, and the watermark they belong to.

        Args:
            query: of length 1; cosines are taken about the middle of the space (`codes.about`).
            inside: says of keys whether they may be found; None for all.

        Raises:
            StoreDamaged: a chunk or a vector is not what was written.
        """
        rows, cosines, through = np.empty(0, np.int64), np.empty(0, np.float32), 0
        with db:  # one snapshot for bits and bytes
            now = vectors.find(db, space.namespace, space.identity)
            if now is None or now.key != space.key:  # dropped this moment
                return (), 0
            middle = codes.middle_of(now.total, now.vectors)
            if query.any():  # zeros are a question without a meaning, not one about the middle
                query = codes.about(query[None, :], middle)[0]
            if not query.any():
                return (), now.through
            numbers, rows = self._candidates(db, now, query, rescored(now.vectors, limit), inside)
            order = np.argsort(numbers)  # as they lie in the file
            numbers, rows = numbers[order], rows[order]
            through = now.through
            cosines = codes.cosines(vectors.read_vectors(db, now, numbers.tolist()), query, middle)
        best = np.lexsort((rows, -cosines))[:limit]
        return tuple(zip(rows[best].tolist(), cosines[best].tolist(), strict=True)), through

    def _candidates(
        self, db: apsw.Connection, space: vectors.Space, query: Floats, wanted: int, inside: Inside | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give numbers and rows of the vectors with the fewest differing bits."""
        words, best = codes.query_words(query), _Fewest(wanted)
        outline = vectors.outline(db, space)
        for start in range(0, len(outline), BLOCK_CHUNKS):
            part = outline[start : start + BLOCK_CHUNKS]
            block = self._block(db, space, start // BLOCK_CHUNKS, part)
            distances = codes.distances(block.words, words)
            distances[block.empty] = codes.FAR
            if inside is not None:
                distances[~inside(block.rows)] = codes.FAR
            best.add(distances, start * CHUNK_VECTORS, block.rows)
        return best.numbers, best.rows

    def _block(self, db: apsw.Connection, space: vectors.Space, number: int, outline: Outline) -> _Block:
        """Give the bits of a block, from memory if they were read in these versions."""
        versions = tuple(version for _, version, _, _ in outline)
        with self._lock:
            known = self._blocks.get((space.key, number))
        if known is not None and known.versions == versions:
            return known
        block = _read_block(db, space, versions, [chunk for chunk, *_ in outline])
        with self._lock:
            others = {key: block for key, block in self._blocks.items() if key[0] == space.key and key[1] != number}
            if sum(block.size_bytes for block in others.values()) + block.size_bytes <= self._bytes_max:
                others[space.key, number] = block
            self._blocks = others
        return block


def _read_block(db: apsw.Connection, space: vectors.Space, versions: tuple[int, ...], chunks: list[int]) -> _Block:
    read = [vectors.read_chunk(db, space, chunk) for chunk in chunks]
    rows = np.array([row for chunk in read for row in chunk.rows], np.int64)
    words = codes.words_of(b"".join(chunk.bits for chunk in read), space.dimension)
    return _Block(versions, rows, words, np.flatnonzero(rows == EMPTY))


class _Fewest:
    """Keeps the candidates with the fewest differing bits, the first of those that tie."""

    def __init__(self, wanted: int) -> None:
        self._wanted, self._bound = wanted, codes.FAR - 1
        self._distances = np.empty(0, np.uint16)
        self.numbers = np.empty(0, np.int64)
        self.rows = np.empty(0, np.int64)

    def add(self, distances: NDArray[np.uint16], first: int, rows: NDArray[np.int64]) -> None:
        """Look at further vectors, of which the first has the number ``first``."""
        (taken,) = np.nonzero(distances <= self._bound)
        self._distances = np.concatenate((self._distances, distances[taken]))
        self.numbers = np.concatenate((self.numbers, first + taken))
        self.rows = np.concatenate((self.rows, rows[taken]))
        if len(self._distances) > self._wanted:
            best = np.argsort(self._distances, kind="stable")[: self._wanted]
            self._distances, self.numbers, self.rows = self._distances[best], self.numbers[best], self.rows[best]
            self._bound = int(self._distances[-1])
