"""Counting tokens: one port, estimates that need nothing installed, exact tokenizers behind an extra.

A counter is anything that takes a text and gives its tokens as one model would
count them: a function, an estimate of `tokens.estimates`, a tokenizer of
`tokens.exact`. This module knows no tokenizer and no model.
"""

from __future__ import annotations

from collections.abc import Callable

from firsthand.tokens.estimates import CLAUDE, OPENAI, Estimate, estimate

__all__ = ["CLAUDE", "OPENAI", "CounterOrName", "Estimate", "TokenCounter", "estimate", "identity"]


TokenCounter = Callable[[str], int]
"""Counts the tokens of a text as one model would."""
CounterOrName = TokenCounter | str
"""A counter, or the name of a tokenizer or of a model that one counts for (`tokens.tokenizers.named`)."""


def identity(counter: TokenCounter) -> str:
    """Say what a counter counts with: its own ``identity``, else the name it was defined under."""
    own = getattr(counter, "identity", None)
    if isinstance(own, str) and own:
        return own
    named = counter if hasattr(counter, "__qualname__") else type(counter)
    return f"{named.__module__}.{named.__qualname__}"
