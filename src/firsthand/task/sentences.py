"""The sentences of a message that its writer said: not code, quotations, logs or pasted documents.

The invariant: a sentence stands in the text exactly as it is given, at the place
that is told with it; masking replaces characters one for one, so places stay.
Time is linear in the text, of which at most `CHARACTERS_MAX` are read.

It does not know what a sentence means.
"""

from __future__ import annotations

import re
from functools import cache, partial

from firsthand.fence import blanked
from firsthand.value import value

CHARACTERS_MAX = 100_000  # of a message; what stands behind them is not read
SENTENCE_CHARACTERS_MAX = 500  # a longer one is no sentence that somebody said
PASTED_CHARACTERS_MIN = 4_000  # a message from here on holds something pasted: its head and tail are the writer's
OWN_CHARACTERS = 1_200  # of head and of tail then

_compiled = cache(partial(re.compile, flags=re.MULTILINE | re.IGNORECASE))

_CODE = r"`[^`\n]{1,300}`"
_NO_SPEECH = (  # of a line without its indent
    r"at .+[(:]\S+:\d+|File \"|Traceback |\.{3} \d+ more"  # a stack trace
    r"|(?:>>>|\.\.\.|\u279c|PS [A-Z]:.*>|[$%]) "  # a prompt with its command
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"  # a log
    r"|\[?(?:debug|info|warn(?:ing)?|error|fatal|trace|hint|note|remote)\]?:|npm err!"
    r"|[+-]{3} [ab]/|@@ "  # a patch
    r"|(?:\* )?(?:copyright|licensed? |permission is hereby)"
)
_SIGNS = frozenset(">#|{}[]<")  # a line that begins so is a quotation, a heading, a table, data or markup
_ITEM = r"[-*+\u2022]|\d+[.)]"
_FAULT = r"\b[\w.]*(?:error|exception|warning|panic|fatal)\b\s*[:\])].*"  # what a program said, to the end of its line
_QUOTED = r"\u201c[^\u201d\n]{1,400}\u201d|\u00ab[^\u00bb\n]{1,400}\u00bb|(?<![\w\"])\"[^\"\n]{1,400}\"(?![\w\"])"
_ENDS = r"[.!?][\"')\]]*(?=\s)|[\u3002\uff01\uff1f]|\n|;(?=\s)"
_BULLET = r"(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?"


@value
class Sentence:
    """One sentence as it stands in a message.

    Attributes:
        text: verbatim.
        start, end: its place, in characters.
        said: what rules look at: the same with quotations and code blanked out, one space for any white space,
            and straight apostrophes.
    """

    text: str
    start: int
    end: int
    said: str


def said(text: str) -> tuple[Sentence, ...]:
    """Give the sentences that the writer of a message said, in order."""
    plain = masked(text[:CHARACTERS_MAX])
    quiet = _compiled(_QUOTED).sub(_blank, _compiled(_CODE).sub(_blank_code, plain))
    found = []
    start = 0
    ends = [match.end() for match in _compiled(_ENDS).finditer(quiet)]
    for end in (*ends, len(quiet)):
        one = _sentence(text, plain, quiet, start, end)
        if one is not None:
            found.append(one)
        start = end
    return tuple(found)


def without_code(text: str) -> str:
    """Blank out fenced code; a fence that is not closed reaches to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if mark in {"```", "~~~"} and fence in {"", mark}:
            fence = "" if fence else mark
            lines.append(_spaces(line))
        else:
            lines.append(_spaces(line) if fence else line)
    return "\n".join(lines)


def masked(text: str) -> str:
    """Blank out what is not speech: fenced code, quotations, logs, the inside of a long paste; inline code stays."""
    plain = without_code(blanked(text))
    if _length(plain) > PASTED_CHARACTERS_MIN:
        plain = _own(plain)
    return "\n".join(map(_speech, plain.split("\n")))


def _speech(line: str) -> str:
    """Blank out a line, or the end of one, that a program wrote or somebody else."""
    bare = line.lstrip()
    if not bare:
        return line
    indented = line.startswith(("    ", "\t")) and not _compiled(_ITEM).match(bare)
    if indented or bare[0] in _SIGNS or bare.rstrip()[-1] in ";{" or _compiled(_NO_SPEECH).match(bare):
        return " " * len(line)
    return _compiled(_FAULT).sub(_blank, line) if ":" in line or ")" in line or "]" in line else line


def _own(text: str) -> str:
    """Keep whole paragraphs at the head and the tail of a long message."""
    head = text.rfind("\n\n", 0, OWN_CHARACTERS)
    tail = text.find("\n\n", len(text) - OWN_CHARACTERS)
    head = max(head, 0)
    tail = len(text) if tail < 0 else tail
    return text[:head] + _spaces(text[head:tail]) + text[tail:]


def _sentence(text: str, plain: str, quiet: str, start: int, end: int) -> Sentence | None:
    piece = plain[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(plain[start:end].rstrip())
    bullet = _compiled(_BULLET).match(plain, start, end)
    if bullet is not None:
        start = bullet.end()
    if not 0 < end - start <= SENTENCE_CHARACTERS_MAX:
        return None
    heard = " ".join(quiet[start:end].split()).replace("\u2019", "'")
    return Sentence(text[start:end], start, end, heard) if heard else None


def _length(text: str) -> int:
    """Count the characters that are not blank."""
    return len(text) - text.count(" ")


def _blank(match: re.Match[str]) -> str:
    return _spaces(match[0])


def _blank_code(match: re.Match[str]) -> str:
    return "`" + "_" * (len(match[0]) - 2) + "`"  # a name stands there, whatever it says


def _spaces(text: str) -> str:
    return "\n".join(" " * len(part) for part in text.split("\n"))
