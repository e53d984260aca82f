"""Embedders by a word, as an option or the environment names them.

The invariant: naming one imports no library, reads no weights and asks nobody;
that happens with the first text, and what is missing then is said by name.
"""

from __future__ import annotations

from firsthand.errors import InvalidArgument

from .port import Embedder

WORDS = "minilm, static, endpoint:URL#model, or none"


def named(word: str, key: str | None = None) -> Embedder:
    """Give the embedder of a word: ``minilm``, ``static`` or ``endpoint:URL#model``.

    Args:
        key: sent to an endpoint as bearer token.

    Raises:
        InvalidArgument: no embedder has this name.
    """
    if word.startswith("endpoint:"):
        from .endpoint import Endpoint  # noqa: PLC0415 - what is not asked for is not imported

        url, _, model = word.removeprefix("endpoint:").partition("#")
        return Endpoint(url, model, key)
    if word == "minilm":
        from .minilm import MiniLM  # noqa: PLC0415

        return MiniLM()
    if word == "static":
        from .static import Static  # noqa: PLC0415

        return Static()
    raise InvalidArgument(f"an embedder is named {WORDS}; got {word!r:.100}")
