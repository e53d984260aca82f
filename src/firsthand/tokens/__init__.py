"""Counting tokens: one port, estimates that need nothing installed, exact tokenizers behind an extra.

A counter is anything that takes a text and gives its tokens as one model would
count them: a function, an estimate of `tokens.estimates`, a tokenizer of
`tokens.exact`. This module knows no tokenizer and no model.
"""

from __future__ import annotations

from typing import Protocol

from firsthand.tokens.estimates import CLAUDE, OPENAI, Estimate, estimate

__all__ = ["CLAUDE", "OPENAI", "Estimate", "TokenCounter", "estimate", "identity"]


class TokenCounter(Protocol):
    """Counts the tokens of a text as one model would."""

    def __call__(self, text: str, /) -> int: ...


def identity(counter: TokenCounter) -> str:
    """Say what a counter counts with: its own ``identity``, else the name it was defined under."""
    own = getattr(counter, "identity", None)
    if isinstance(own, str) and own:
        return own
    named = counter if hasattr(counter, "__qualname__") else type(counter)
    return f"{named.__module__}.{named.__qualname__}"
