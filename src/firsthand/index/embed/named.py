"""Embedders by a word, as an option or the environment names them.

The invariant: naming one imports no library, reads no weights and asks nobody;
that happens with the first text, and what is missing then is said by name.
"""

from __future__ import annotations

from firsthand.errors import InvalidArgument

from .endpoint import Endpoint
from .minilm import MiniLM
from .port import Embedder
from .static import Static

WORDS = "minilm, static, endpoint:URL#model, or none"


def named(word: str, key: str | None = None) -> Embedder:
    """Give the embedder of a word: ``minilm``, ``static`` or ``endpoint:URL#model``.

    Args:
        key: sent to an endpoint as bearer token.

    Raises:
        InvalidArgument: no embedder has this name.
    """
    if word.startswith("endpoint:"):
        url, _, model = word.removeprefix("endpoint:").partition("#")
        return Endpoint(url, model, key)
    if word == "minilm":
        return MiniLM()
    if word == "static":
        return Static()
    raise InvalidArgument(f"an embedder is named {WORDS}; got {word!r:.100}")
