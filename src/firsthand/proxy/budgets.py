"""How large a window a model gets: as the user said, else a share of what the model takes.

It knows models by the beginning of their names alone; a name that it does not know gets `TOKENS_MAX`.
"""

from __future__ import annotations

from collections.abc import Iterable

from firsthand.errors import InvalidArgument

TOKENS_MAX = 96_000
SHARE = 0.75  # of a model's context: the rest is for its answer, and for what an estimate misses
CONTEXTS = {
    "claude": 200_000, "gpt-4.1": 1_000_000, "gpt-4o": 128_000, "gpt-4": 128_000, "gpt-5": 400_000, "o1": 200_000,
    "o3": 200_000, "o4": 200_000, "codex": 400_000, "gemini": 1_000_000, "deepseek": 128_000, "kimi": 256_000,
}  # fmt: skip
"""Tokens, by the beginning of a model's name; the longest one that fits counts."""


class Budgets:
    """Tokens of a request, by the model that it is for.

    Args:
        texts: each a number for all models, or ``MODEL=NUMBER`` for those whose names begin so.

    Raises:
        InvalidArgument: one is neither.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._by_name = {name: int(size * SHARE) for name, size in CONTEXTS.items()}
        self._other = TOKENS_MAX
        for text in texts:
            model, is_named, number = text.rpartition("=")
            if not (number.isascii() and number.isdigit() and int(number) > 0) or (is_named and not model):
                raise InvalidArgument(f"expected a budget as TOKENS or MODEL=TOKENS, such as 64000; got {text!r:.60}")
            if is_named:
                self._by_name[model] = int(number)
            else:
                self._by_name, self._other = {}, int(number)

    def of(self, model: str) -> int:
        """Give the budget for a model; a provider's name before it (``openai/gpt-4o``) counts for nothing."""
        names = (model, model.rpartition("/")[2])
        fitting = [name for name in self._by_name if any(each.startswith(name) for each in names)]
        return self._by_name[max(fitting, key=len)] if fitting else self._other
