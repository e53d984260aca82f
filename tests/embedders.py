"""Embedders for tests: vectors that follow from the text alone, and the exact search that ours is compared with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

import numpy as np

from firsthand.index.embed.port import Embedder, callable_embedder
from firsthand.log.sqlite.log import Log
from stores import open_log

DIMENSION = 48  # no whole number of words of 64 bits


def vector_of(text: str, dimension: int = DIMENSION) -> np.ndarray:
    """Give the sum of one random vector a word, so that texts that share words are near each other."""
    total = np.zeros(dimension)
    for word in text.lower().split():
        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8], "little")
        total += np.random.default_rng(seed).standard_normal(dimension)
    return total


def words_embedder(name: str = "words", dimension: int = DIMENSION, asked: list[str] | None = None) -> Embedder:
    """Make an embedder of `vector_of`; it takes down in ``asked`` what it was given."""

    def embed(texts: list[str]) -> list[np.ndarray]:
        if asked is not None:
            asked.extend(texts)
        return [vector_of(text, dimension) for text in texts]

    return callable_embedder(name, dimension, embed)


def failing_embedder(name: str, gives: Callable[[list[str]], object], dimension: int = DIMENSION) -> Embedder:
    """Make an embedder that gives whatever a function makes of the texts."""
    return callable_embedder(name, dimension, gives)


def exact(rows: Iterable[tuple[int, str]], query: str, dimension: int = DIMENSION) -> dict[int, float]:
    """Give the cosine of every row with a query, both about the mean of all rows, computed in full."""
    return {row: cosine for row, (cosine, _) in exact_with_errors(rows, query, dimension).items()}


def exact_with_errors(
    rows: Iterable[tuple[int, str]], query: str, dimension: int = DIMENSION
) -> dict[int, tuple[float, float]]:
    """Give the cosine of every row as `exact` does, and by how much one of coded vectors may differ from it.

    A component is rounded by half a 127th of the greatest one; what lies close to the mean has hardly a direction,
    so the same error turns it further.
    """
    kept = list(rows)
    if not kept:
        return {}
    table = unit(np.array([vector_of(text, dimension) for _, text in kept]))
    middle = table.mean(axis=0) if len(kept) > 1 else np.zeros(dimension)
    asked = unit(vector_of(query, dimension)[None, :]) - middle
    cosines = unit(table - middle) @ unit(asked)[0]
    rounded = np.sqrt(dimension) * np.abs(table).max() / 254
    from_middle = np.linalg.norm(table - middle, axis=1) + 1e-9
    errors = 2 * rounded * (1 / from_middle + 1 / (np.linalg.norm(asked) + 1e-9))
    return {row: (float(c), float(e)) for (row, _), c, e in zip(kept, cosines, errors, strict=True)}


def unit(table: np.ndarray) -> np.ndarray:
    """Scale rows to length 1; what is as good as nothing stays nothing."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return np.where(lengths > 1e-6, table / np.where(lengths > 1e-6, lengths, 1), 0)


def with_vectors(root, **options) -> Log:
    """Open a store whose log erases vectors along, as the library opens it."""
    from firsthand.index.vectors import Vectors

    return open_log(root, followers=(Vectors(),), **options)
