"""The port of embedders: from texts to vectors, by whatever model; and what every vector must be.

The invariant: what leaves `checked` are as many vectors as there were texts, all
of one size, all finite. What an embedder gives beside that is its fault, told as a
`ModelError`, and never reaches a store.

It knows no model and no storage. numpy is imported when vectors are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from firsthand.errors import FirsthandError, InvalidArgument, ModelError, ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IDENTITY_CHARACTERS_MAX = 300
DIMENSION_MAX = 8_192
NUMBER_MAX = 1e18
"""Of a vector's numbers: its length must still be a number of 32 bits."""
BLANK_MIN = 16
"""So many texts in one batch have some word that a model knows."""


class Embedder(Protocol):
    """Turns texts into vectors: texts of like meaning into vectors of a small angle.

    Attributes:
        identity: model, its weights, and how texts are prepared for it: another identity is another space.
        dimension: size of its vectors; 0 where only the first answer tells.
    """

    @property
    def identity(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Any:
        """Give one vector a text, in order, as a table of numbers; of any length, not normalised.

        Raises:
            ModelError: it cannot.
        """
        ...

    def query(self, text: str) -> Any:
        """Give the vector of a question, quickly or not at all: a recall waits for it.

        Raises:
            ModelError: it cannot.
        """
        ...


class _Called:
    """An embedder made of functions."""

    def __init__(
        self,
        identity: str,
        dimension: int,
        function: Callable[[list[str]], Any],
        query: Callable[[str], Any] | None,
    ) -> None:
        self.identity, self.dimension = identity, dimension
        self._function, self._query = function, query

    def __repr__(self) -> str:
        return f"callable_embedder({self.identity.removeprefix('callable:')!r}, {self.dimension})"

    def embed(self, texts: Sequence[str]) -> Any:
        return self._function(list(texts))

    def query(self, text: str) -> Any:
        if self._query is not None:
            return self._query(text)
        return checked(self, self._function([text]), 1)[0]


def callable_embedder(
    name: str,
    dimension: int,
    function: Callable[[list[str]], Any],
    *,
    query: Callable[[str], Any] | None = None,
) -> Embedder:
    """Make an embedder of a function from texts to vectors.

    Args:
        name: of the model and of all that changes its vectors; another name is embedded anew.
        dimension: size of its vectors.
        query: from a question to one vector, for models that treat questions in another way.

    Raises:
        InvalidArgument: no name, no function, or a dimension out of range.
    """
    if not callable(function) or not (query is None or callable(query)):
        raise InvalidArgument(f"an embedder's function takes a list of texts; got {function!r:.100}")
    return accepted(_Called(f"callable:{name}" if isinstance(name, str) else "", dimension, function, query))


def accepted(embedder: Any) -> Embedder:
    """Check that something is an embedder, without asking it for a vector.

    Raises:
        InvalidArgument: it is none.
    """
    identity, dimension = getattr(embedder, "identity", None), getattr(embedder, "dimension", None)
    verbs = all(callable(getattr(embedder, verb, None)) for verb in ("embed", "query"))
    if not verbs or not isinstance(identity, str) or not identity.strip() or identity.endswith(":"):
        raise InvalidArgument(
            "an embedder has identity, dimension, embed(texts) and query(text); got "
            f"{embedder!r:.100}. Wrap a function with callable_embedder(name, dimension, function)."
        )
    if len(identity) > IDENTITY_CHARACTERS_MAX or "\n" in identity:
        raise InvalidArgument(f"an embedder's identity is a line of at most {IDENTITY_CHARACTERS_MAX} characters")
    if isinstance(dimension, bool) or not isinstance(dimension, int) or not 0 <= dimension <= DIMENSION_MAX:
        raise InvalidArgument(f"an embedder's dimension is 0 (unknown) to {DIMENSION_MAX:,}; got {dimension!r}")
    known: Embedder = embedder
    return known


def embedded(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float64]:
    """Have texts embedded, and check what comes: one row a text.

    Raises:
        ModelError: no vectors came; whatever the embedder raised is its cause.
    """
    return checked(embedder, _given(embedder, embedder.embed, texts), len(texts))


def asked(embedder: Embedder, text: str) -> NDArray[np.float64]:
    """Have a question embedded, and check what comes: one vector.

    Raises:
        ModelError: none came; whatever the embedder raised is its cause.
    """
    vector: NDArray[np.float64] = checked(embedder, [_given(embedder, embedder.query, text)], 1)[0]
    return vector


def _given(embedder: Embedder, verb: Callable[[Any], Any], value: Any) -> Any:
    """Ask an embedder; what others' code raises becomes ours in this one place."""
    try:
        return verb(value)
    except FirsthandError:
        raise
    except Exception as error:
        raise ModelUnavailable(
            f"embedder {embedder.identity} raised {type(error).__name__}: {str(error)[:300]}"
        ) from error


def checked(embedder: Embedder, vectors: Any, count: int) -> NDArray[np.float64]:
    """Check what an embedder gave.

    Raises:
        ModelError: another count or size than asked for, or numbers that are none.
    """
    import numpy as np  # noqa: PLC0415 - a store without vectors does not load it

    who = f"embedder {embedder.identity}"
    try:
        table = np.asarray(vectors, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{who} gave what is no table of numbers ({error})") from error
    if table.ndim != 2 or len(table) != count:
        raise ModelError(f"{who} was given {count:,} texts and gave an array of shape {table.shape}")
    if not 1 <= table.shape[1] <= DIMENSION_MAX or embedder.dimension not in {0, table.shape[1]}:
        raise ModelError(f"{who} says it has {embedder.dimension or 'some'} dimensions and gave {table.shape[1]:,}")
    wrong = int((~(np.abs(table) <= NUMBER_MAX)).any(axis=1).sum())
    if wrong:
        raise ModelError(f"{who} gave NaN or infinity in {wrong:,} of {count:,} vectors")
    if count >= BLANK_MIN and not table.any():
        raise ModelError(f"{who} gave {count:,} vectors of zeros alone; what they stand for could never be found")
    return table
