"""What one hook may put into a context, brought under every host's limits without breaking a fence.

Hosts measure in their own ways: Claude Code and Cursor in UTF-16 units (10,000,
past which the text is cut or dropped), Codex in tokens of four bytes (2,500).
The limits of `hook` are below all of them, and all three hold for what `fit`
gives. The invariant: a fenced block stands whole or not at all, since a block
that was cut no longer verifies and would be stored again as memory; what was
left out is counted in the text itself.

Pure. It does not know whose fence a block is in, and does not check it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from firsthand.hosts.hook import CONTEXT_BYTES_MAX, CONTEXT_CHARACTERS_MAX, CONTEXT_TOKENS_MAX
from firsthand.tokens import OPENAI

TOLD_CHARACTERS_MAX = 400
_TOLD_OF_LIMITS = 160  # characters kept free for the line that says what was left out
_OPENING = re.compile(r"<<firsthand ([0-9a-f]{32}): [^<>\n]*>>\n")


def fit(context: str) -> str:
    """Leave out what is over the limits: whole blocks from the end, lines of what is not fenced; and say so.

    A block that is too long alone, or that is no valid Unicode, is left out wherever
    it stands; the others keep their order.
    """
    if not context.strip():
        return ""
    if _fits(context, 0):
        return context
    fitting = ""
    left_out = 0
    lines_cut = False
    full = False
    for piece, fenced in _pieces(context):
        if full or not _is_text(piece):
            left_out += fenced
            lines_cut = lines_cut or (not fenced and bool(piece.strip()))
        elif _fits(fitting + piece, _TOLD_OF_LIMITS):
            fitting += piece
        elif fenced:
            left_out += 1
            full = _fits(piece, _TOLD_OF_LIMITS)  # one that is too long alone makes no room for none
        else:
            fitting += _whole_lines(fitting, piece)
            lines_cut = full = True
    return _with_remark(fitting, left_out, lines_cut=lines_cut)


def one_line(text: str) -> str:
    """Make what the user is told one line of valid Unicode, cut at `TOLD_CHARACTERS_MAX`."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= TOLD_CHARACTERS_MAX else line[: TOLD_CHARACTERS_MAX - 3] + "..."


def _pieces(context: str) -> Iterator[tuple[str, bool]]:
    """Yield the fenced blocks and what stands between them, in order; all together are the context."""
    at = 0
    while opening := _OPENING.search(context, at):
        end_line = f"\n<<end {opening[1]}>>"
        end = context.find(end_line, opening.end() - 1)
        if end < 0:  # an opening without its end is plain text
            break
        if opening.start() > at:
            yield context[at : opening.start()], False
        at = end + len(end_line)
        yield context[opening.start() : at], True
    if at < len(context):
        yield context[at:], False


def _fits(text: str, reserve: int) -> bool:
    """Say whether a text is within all three limits with room for a remark; False when it has no UTF-8."""
    if not _is_text(text):
        return False
    size = len(text.encode())
    if size > CONTEXT_BYTES_MAX - reserve or _utf16_units(text) > CONTEXT_CHARACTERS_MAX - reserve:
        return False
    return OPENAI(text) <= CONTEXT_TOKENS_MAX - reserve  # as Codex counts, the one host with a limit in tokens


def _is_text(text: str) -> bool:
    """Say whether a text has a UTF-8: JSON with a lone surrogate fails in hosts that are strict."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _utf16_units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _whole_lines(fitting: str, piece: str) -> str:
    """Give as many whole lines from the beginning of a piece as still fit behind what is kept."""
    lines = piece.splitlines(keepends=True)
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(fitting + "".join(lines[:middle]), _TOLD_OF_LIMITS):
            low = middle
        else:
            high = middle - 1
    return "".join(lines[:low])


def _with_remark(fitting: str, left_out: int, *, lines_cut: bool) -> str:
    gone = [f"{left_out} recalled {'block' if left_out == 1 else 'blocks'}"] if left_out else []
    gone += ["some lines"] if lines_cut else []
    if not gone:
        return fitting
    remark = f"[firsthand: {' and '.join(gone)} left out, over the limit of what a hook may say; recall finds them]"
    return f"{fitting.rstrip()}\n{remark}" if fitting.strip() else remark
