"""What one hook may put into a context, brought under every host's limits without breaking a fence.

Hosts measure in their own ways: Claude Code and Cursor in UTF-16 units (10,000,
past which the text is cut or dropped), Codex in tokens of four bytes (2,500).
The limits of `hook` are below all of them, and all three hold for what `fit`
gives. The invariant: a fenced block, and what stands between two, is there whole or
not at all, since a block that was cut no longer verifies and would be stored again as
memory; what was left out is counted in the text itself.

Pure. It does not know whose fence a block is in, and does not check it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from firsthand.hosts.hook import CONTEXT_BYTES_MAX, CONTEXT_CHARACTERS_MAX, CONTEXT_TOKENS_MAX
from firsthand.tokens import OPENAI

TOLD_CHARACTERS_MAX = 400
_TOLD_OF_LIMITS = 160  # characters kept free for the line that says what was left out
_BLOCK = re.compile(r"<<firsthand ([0-9a-f]{32}): [^<>\n]*>>(?=\n).*?\n<<end \1>>", re.DOTALL)


def fit(context: str) -> str:
    """Leave out what is over the limits: whole blocks from the end; and say how many.

    A block that is too long alone, or that is no valid Unicode, is left out wherever
    it stands; the others keep their order.
    """
    if not context.strip():
        return ""
    if _fits(context, 0):
        return context
    fitting = ""
    left_out = 0
    full = False
    for piece in filter(str.strip, _pieces(context)):
        longer = f"{fitting}\n{piece}" if fitting else piece
        if not full and _fits(longer, _TOLD_OF_LIMITS):
            fitting = longer
        else:
            left_out += 1
            full = full or _fits(piece, _TOLD_OF_LIMITS)  # one that is too long alone makes room for others
    gone = f"{left_out} recalled {'block' if left_out == 1 else 'blocks'}"
    remark = f"[firsthand: {gone} left out, over the limit of what a hook may say; recall finds them]"
    return f"{fitting}\n{remark}" if fitting else remark


def one_line(text: str) -> str:
    """Make what the user is told one line of valid Unicode, cut at `TOLD_CHARACTERS_MAX`."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= TOLD_CHARACTERS_MAX else line[: TOLD_CHARACTERS_MAX - 3] + "..."


def is_utf8(text: str) -> bool:
    """Say whether a text can be written in UTF-8; False when it holds a lone surrogate, which strict hosts refuse."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _pieces(context: str) -> Iterator[str]:
    """Yield the fenced blocks and what stands between them, in order."""
    at = 0
    for block in _BLOCK.finditer(context):
        yield context[at : block.start()]
        yield block[0]
        at = block.end()
    yield context[at:]


def _fits(text: str, reserve: int) -> bool:
    """Say whether a text is within all three limits with room for a remark; False when it has no UTF-8."""
    if not is_utf8(text):
        return False
    utf16_units = len(text.encode("utf-16-le")) // 2
    if len(text.encode()) > CONTEXT_BYTES_MAX - reserve or utf16_units > CONTEXT_CHARACTERS_MAX - reserve:
        return False
    return OPENAI(text) <= CONTEXT_TOKENS_MAX - reserve  # as Codex counts, the one host with a limit in tokens
