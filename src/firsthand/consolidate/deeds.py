"""What somebody says that they did, and what they say that they never did.

    "I just downloaded Zotero on March 2"               deed
    "I've never used any citation manager, like Zotero"    denial

Neither says a value, and neither takes the place of anything: where both are said of one
thing the user is shown both (`conflicts`), and asked.

The invariant: at most one deed and one denial a sentence, of the words that stand in it.

It does not know which deed a denial contradicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from firsthand.consolidate.arranged import Said, Sort
from firsthand.consolidate.wording import stems

WORDS_MIN, WORDS_MAX = 2, 48
"""Of what a deed or a denial says, without common words; one that says less is of anything."""
NAME_WORDS_MAX = 8
"""Of the key of one; its value has all its words."""

_compiled = cache(re.compile)
_HOW = r"(?: just| already| now| recently| only| finally| also| actually| really| even| ever| successfully| since)*"
_DENIAL = (
    rf"\b(?:i|we)(?:'ve| have)?{_HOW} never(?: actually| really| even| once| personally)* (?P<what>[a-z]+[^;:!?]*)"
)
_PAST = (
    r"(?:(?!need|feed|speed|indeed|exceed|proceed|succeed)[a-z]{2,}ed|been|began|begun|bought|built|came|chose|did|done|drove|felt|found|gave|given|got|had|held|kept|"
    r"led|left|lost|made|met|paid|put|ran|read|said|sat|sent|set|shot|spent|spoke|spoken|taken|taught|took|went|won|"
    r"wrote|written)"
)
_DEED = (
    rf"\b(?:(?:i|we)(?:'ve| have|'d| had)?{_HOW} {_PAST}\b|"
    r"(?:i|we)(?:'m| am|'re| are|'ve been| have been)(?: now| already| currently| kinda| kind of)* "
    r"(?!trying|wondering|looking|planning|thinking|going|worried|hoping|considering|wanting|asking|aiming|preparing|"
    r"struggling|interested|supposed|excited|tired|confused|concerned|stuck|unsure)[a-z]{2,}(?:ing|ed)\b|"
    rf"\b(?:my|our) [^,;.!?]{{0,80}}?\b{_PAST}\b|\b(?:after|by|since) [a-z]+ing\b)"
)
_STANCE = (
    r"\b(?:i|we)(?:'ve| have|'d| had)? (?:wanted|needed|thought|wondered|hoped|heard|tried to|planned|guessed|wished|"
    r"decided not|liked|loved|preferred|used to)\b"
)
_NOT = r"\b(?:never|not|n't|no longer|haven't|hasn't|didn't|don't|without)\b"
_CLAUSE_END = (
    r",? (?:but|so|which|because|since|and i|and we|although|though|however|what|why|how|can you|could you|"
    r"any advice)\b"
)


def deed(heard: str) -> Iterator[Said]:
    """Yield the deed or the denial of a sentence; its value is its words, each in one spelling."""
    low = heard.lower()
    if not low.startswith(("i ", "i'", "we ", "we'")) and " i" not in low and " we" not in low:
        return
    denied = _compiled(_DENIAL).search(low)
    if denied is not None:
        what = _compiled(_CLAUSE_END).split(denied["what"])[0]
        yield from _made(what, "denial")
        return
    match = _compiled(_DEED).search(low)
    if match is None or _compiled(_STANCE).search(low) or low.startswith(("if ", "suppose", "imagine")):
        return
    if _compiled(_NOT).search(low[max(0, match.start() - 20) : match.end() + 8]):
        return
    yield from _made(low, "deed")


def _made(text: str, sort: Sort) -> Iterator[Said]:
    words = sorted(stems(text))
    if WORDS_MIN <= len(words) <= WORDS_MAX:
        name = " ".join([sort, *words[:NAME_WORDS_MAX]])
        yield Said(name, " ".join(words), sort, about=name, near=True)
