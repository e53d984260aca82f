"""Shortens a text to so many tokens: its head and its tail, and between them what is left out and where it is.

    the first part
    [... 812 lines, 31,204 bytes left out: expand("fh:01J8...") ...]
    the last part

The invariant: the result has at most the tokens asked for, by the counter given,
and no cut goes through what a reader sees as one sign (a letter with its marks, a
joined emoji, a surrogate pair). It knows no storage and not what the text means.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from firsthand.event import to_bytes
from firsthand.printable import shown
from firsthand.tokens import TokenCounter

CHARACTERS_A_TOKEN_MAX = 64  # a text with more of them than the tokens allow is cut without being counted
SIGN_CHARACTERS_MAX = 32  # what stands for one sign; a longer pile of marks is cut
FLAGS_MAX = 2_000  # signs of flags in a row that are counted to find the pairs
HEAD_OF_CUT = 0.6  # the head says more of what a text is than its tail
QUOTE = "| "
_ELLIPSIS = "…"
_JOINER = "\u200d"


def largest(fits: Callable[[int], bool], low: int, high: int, guess: int | None = None) -> int | None:
    """Find a number from low to high that fits, the largest if smaller ones fit whenever it does; None for none.

    Args:
        guess: where it may be: is it near, half as many are tried.
    """
    if high < low or not fits(low):
        return None
    if fits(high):
        return high
    step = 16
    while guess is not None and low < guess < high:
        if fits(guess):
            low, guess = guess, guess + step
        else:
            high, guess = guess, guess - step
        step *= 4
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def shorten(
    text: str, tokens_max: int, count: TokenCounter, pointer: str = "", *, size_bytes: int | None = None
) -> str:
    """Cut a text to a number of tokens, head and tail; the whole text when it fits, an empty one when nothing does.

    Args:
        pointer: where the whole text is; the line about what is left out names it.
        size_bytes: of the whole, when the text is only a preview of it; then a last line says so.
    """
    if size_bytes is not None and size_bytes > len(to_bytes(text)):
        end = f"\n[a preview of {size_bytes:,} bytes{_where(pointer)}]"
        preview = shorten(text, tokens_max, lambda part: count(part + end))
        return preview + end if preview else shorten(text, tokens_max, count)
    if tokens_max < 1:
        return ""
    most = tokens_max * CHARACTERS_A_TOKEN_MAX
    whole = count(text) if len(text) <= most else None
    if whole is not None and whole <= tokens_max:
        return text
    around = _Around(text, pointer)
    most = min(len(text) - 1, most)
    # As much of it as of its tokens, less those of the line between: near enough to begin there.
    guess = len(text) * (tokens_max - count(around(0))) // whole if whole else None
    characters = largest(lambda length: count(around(length)) <= tokens_max, 2, most, guess)
    return around(characters) if characters is not None else _begun(text, tokens_max, count)


def boundary(text: str, at: int) -> int:
    """Step back from a place in a text to where a sign begins."""
    at = max(0, min(at, len(text)))
    for back in range(min(at, SIGN_CHARACTERS_MAX)):
        if at - back == len(text) or not _continues(text, at - back):
            return at - back
    return at if at > SIGN_CHARACTERS_MAX else 0


def quote(text: str) -> str:
    """Put a bar before each line, so that no stored text can pass for a line of ours; what hides in it is shown."""
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in shown(text, lines=True).split("\n"))


def quoted(text: str, tokens_max: int, count: TokenCounter, pointer: str = "", *, size_bytes: int | None = None) -> str:
    """Cut a text so that it has at most so many tokens once it is quoted, and quote it."""
    whole = shorten(text, tokens_max, lambda part: count(quote(part)), pointer, size_bytes=size_bytes)
    return quote(whole) if whole else ""


class _Around:
    """Writes the head and the tail of a text around what is left out, for any number of characters kept."""

    def __init__(self, text: str, pointer: str) -> None:
        self._text, self._pointer = text, pointer
        self._lines, self._bytes = text.count("\n"), len(to_bytes(text))

    def __call__(self, characters: int) -> str:
        head = self._text[: boundary(self._text, int(characters * HEAD_OF_CUT))]
        tail = self._text[boundary(self._text, len(self._text) - characters + len(head)) :]
        lines = self._lines - head.count("\n") - tail.count("\n")
        size = self._bytes - len(to_bytes(head)) - len(to_bytes(tail))
        counted = f"{lines:,} line{'s' if lines != 1 else ''}, " if lines > 0 else ""
        notice = f"[... {counted}{size:,} byte{'s' if size != 1 else ''} left out{_where(self._pointer)} ...]"
        return f"{head}{'' if head.endswith(chr(10)) else chr(10)}{notice}\n{tail}"


def _begun(text: str, tokens_max: int, count: TokenCounter) -> str:
    """Give the beginning of a text, when there is no room to say what is left out."""
    most = min(len(text) - 1, tokens_max * CHARACTERS_A_TOKEN_MAX)
    characters = largest(lambda length: count(text[: boundary(text, length)] + _ELLIPSIS) <= tokens_max, 0, most)
    return "" if characters is None else text[: boundary(text, characters)] + _ELLIPSIS


def _where(pointer: str) -> str:
    return f': expand("{pointer}")' if pointer else ""


def _continues(text: str, at: int) -> bool:
    """Say whether the sign that stands before a place goes on behind it."""
    before, sign = text[at - 1], text[at]
    if before < "\x80" and sign < "\x80":
        return before == "\r" and sign == "\n"
    if unicodedata.category(sign)[0] == "M" or _JOINER in {sign, before}:
        return True
    if "\U0001f3fb" <= sign <= "\U0001f3ff" or "\U000e0020" <= sign <= "\U000e007f":  # a skin, a flag's tag
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= sign <= "\udfff":
        return True
    if _is_flag(before) and _is_flag(sign):  # flags are pairs, counted from where they begin
        start = at
        while start > 0 and at - start < FLAGS_MAX and _is_flag(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 1
    return "\u1160" <= sign <= "\u11ff"  # the vowel or end of a Korean syllable


def _is_flag(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"
