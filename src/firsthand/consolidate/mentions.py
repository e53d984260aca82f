"""Amounts that a story of one's own names, whatever it says of them.

    "I've improved after completing 8 problems on dice"         8 problems
    "I've increased my practice to 12 problems on dice"         12 problems, by a word of change

Neither is a fact: what the amount is of is not known for sure. Where a later one comes with
a word of change, counts the same and has the same words around it, the user is shown both (`conflicts`).

The invariant: at most `MENTIONS_MAX` a sentence, each an amount that stands in it.

It does not know which of two amounts holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from firsthand.consolidate.arranged import Said
from firsthand.consolidate.wording import key_of, stems
from firsthand.notes.values import read

MENTIONS_MAX = 4
"""Of one sentence."""
BEFORE_CHARACTERS, BEHIND_CHARACTERS = 90, 50
"""Around an amount, that tell what it is of."""
CHARACTERS_MAX = 500
"""Of a sentence; a longer one tells of too much."""
LEAD_CHARACTERS = 60
"""Before an amount, in which a word may say that it has changed."""

_compiled = cache(re.compile)
_KINDS = frozenset({"number", "money", "percent", "duration"})
"""Not days: two of them are mostly of two events."""
_OWN = r"(?i)\b(?:i|i'm|i've|we|we've|my|our)\b"
_COUNTED = r" ?((?:[a-z-]+ ){0,3}?)([a-z]{2,}s|people|women|men|children)\b"
_CHANGED = (
    r"(?i)\b(?:now|new|increased|extended|raised|reduced|lowered|decreased|dropped|improved|grew|grown|risen|rose|"
    r"adjusted|updated|revised|rescheduled|moved|postponed|pushed|shifted|changed|expanded|upgraded|reached|reaching|"
    r"already|currently|up to|instead|actually|bumped|boosted|hit)\b"
)
_WISHED = (
    r"(?i)\b(?:if|would|could|should|want|need|goal|aim\w*|target\w*|plan\w*|hope|going to|reach(?= )|by the end)\b"
)


def mentions(text: str) -> Iterator[Said]:
    """Yield the amounts of a sentence that tells of oneself; the value of one is the amount."""
    if not any(map(str.isdigit, text)) or _compiled(_OWN).search(text) is None or len(text) > CHARACTERS_MAX:
        return
    found = 0
    for held in read(text):
        if held.kind not in _KINDS or found >= MENTIONS_MAX:
            continue
        near = text[max(0, held.start - BEFORE_CHARACTERS) : held.start], text[held.end : held.end + BEHIND_CHARACTERS]
        about = " ".join(sorted(one for one in stems(" ".join(near)) if not one[0].isdigit()))
        lead = text[max(0, held.start - LEAD_CHARACTERS) : held.start].rpartition(",")[2]
        counted = _compiled(_COUNTED).match(text, held.end) if held.kind == "number" else None
        if (held.kind == "number" and counted is None) or lead.lower().endswith(("from ", "than ")):
            continue  # "from 85% to 93%" names the old one, too
        found += 1
        noun = key_of(counted[2]) if counted is not None else ""
        changes = _compiled(_CHANGED).search(lead) is not None and _compiled(_WISHED).search(lead) is None
        key = f"mention {held.kind}{f' {noun}' if noun else ''}"
        yield Said(key, held.text, "mention", changes=changes, about=about, near=True)
