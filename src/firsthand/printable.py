r"""Text that shows every sign that it holds: no control character and nothing that hides or turns text round.

The invariant: `shown` gives text in which every sign is printable and stands where
it stands: no control character, no escape sequence, nothing that changes the
direction of text or hides in it, no pile of combining marks. What is replaced is
visible as an escape (``\x1b``, ``\u202e``), so two different texts never look
the same by trickery, neither to a person nor to a model. The stored bytes are not
touched.

Pure: it knows signs, no terminal and no store.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

COMBINING_MAX = 4  # marks in a row; Vietnamese and Hebrew need up to three
TAB_COLUMNS = 4
_PLAIN, _PLAIN_LINES = re.compile(r"[ -~]*\Z"), re.compile(r"[ -~\n]*\Z")
_AS_EMOJI = "\ufe0f"
_WORKING = "\u200c\u200d" + _AS_EMOJI  # joiners, which Persian, Hindi and emoji need; between such signs only
_SELECTORS = {*range(0xFE00, 0xFE10), *range(0x180B, 0x1810), *range(0xE0100, 0xE01F0)}
_BLANKS = {0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0, 0x034F, 0x17B4, 0x17B5}  # letters by name, nothing to the eye


def shown(text: str, *, lines: bool = False) -> str:
    """Replace what must not reach a terminal by visible escapes.

    Args:
        lines: keep line ends, and tabs as spaces; otherwise the result is one line.
    """
    if (_PLAIN_LINES if lines else _PLAIN).match(text):
        return text
    if lines:
        text = text.replace("\r\n", "\n").expandtabs(TAB_COLUMNS)
        return text if _PLAIN_LINES.match(text) else "\n".join(map(shown, text.split("\n")))
    out: list[str] = []
    marks = 0
    for place, sign in enumerate(text):
        marks = marks + 1 if unicodedata.category(sign) in {"Mn", "Me"} else 0
        may_stand = (_is_safe(sign) and marks <= COMBINING_MAX) or _has_work(text, place)
        out.append(sign if may_stand else escaped(sign))
    return "".join(out)


def escaped(sign: str) -> str:
    r"""Write a sign as its escape: ``\n``, ``\x1b``, ``\u202e``."""
    code = ord(sign)
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(sign)
    return known or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


@lru_cache(maxsize=4096)
def _is_safe(sign: str) -> bool:
    """Say whether a sign may be shown as it is, wherever it stands."""
    if " " <= sign <= "~":
        return True
    if ord(sign) in _BLANKS or ord(sign) in _SELECTORS:
        return False
    category = unicodedata.category(sign)
    # Other (controls, formats, surrogates, private, unassigned) and separators but for the space.
    return category[0] not in "CZ" or category == "Zs"


def _has_work(text: str, place: int) -> bool:
    """Say whether an invisible sign has work to do where it stands, rather than hide there."""
    sign = text[place]
    if place == 0 or sign not in _WORKING:
        return False
    before = text[place - 1]
    if sign == _AS_EMOJI:
        return unicodedata.category(before) in {"So", "Sm"}
    return place + 1 < len(text) and all(
        not other.isascii() and unicodedata.category(other)[0] in "LMS" for other in (before, text[place + 1])
    )
