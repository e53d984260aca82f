"""The words of what is said: names and values in one spelling, and what is only supposed.

    key_of("the port of staging") == key_of("staging's port")
    canonical("half an hour") == canonical("30 minutes")

The invariant: names are equal when they are made of the same words, whatever their order
and articles; amounts are equal when they are as much, of the same unit.

It does not know which sentence says something of what: that is `keys`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from firsthand.notes.statements import stem, subject_of
from firsthand.notes.values import Value, in_base, read

KEY_WORDS_MAX = 6
"""Of a name; a longer one is a story."""
LEAD_CHARACTERS = 80
"""Before what is said, that may say that it is supposed."""

_compiled = cache(re.compile)


def canonical(shown: str) -> str:
    """Give a value in one spelling: amounts with their unit, else small letters without frills."""
    shown = shown.strip()
    if not shown:
        return ""
    values = read(shown)
    if len(values) == 1 and values[0].amount is not None and _is_all(values[0], shown):
        unit, amount = in_base(values[0])
        return f"{values[0].kind}:{amount}{f' {unit}' if unit else ''}"
    if [one.kind for one in values] == ["date", "time"] and not subject_of(_without(shown, values)):
        (of_day, day), (_, minutes) = (in_base(one) for one in values)
        return f"date:{day}{f' {of_day}' if of_day else ''} at {minutes}"
    plain = _compiled(r"[`\"'\u201c\u201d\u2018\u2019]+").sub("", shown).casefold()
    return " ".join(_compiled(r"^(?:the|a|an|my|our|your) ").sub("", plain).split()).strip(" .,;:!")


def _without(shown: str, values: Sequence[Value]) -> str:
    """Give what a text says beside its values."""
    for one in reversed(values):
        shown = f"{shown[: one.start]} {shown[one.end :]}"
    return shown


def _is_all(held: Value, shown: str) -> bool:
    """Say whether a value is all that a text says, but for a word or two of how sure it is."""
    rest = f"{shown[: held.start]} {shown[held.end :]}"
    return len(subject_of(rest) - {"around", "about", "roughly", "exactly", "pm", "am"}) == 0


def kind_of(value: str) -> str:
    """Name the kind of a value in one spelling: money, a date ...; empty for words."""
    kind = value.partition(":")[0]
    return kind if kind in _KINDS else ""


_KINDS = frozenset({"number", "money", "time", "date", "percent", "duration"})


def key_of(words: str) -> str:
    """Give the key of what is spoken of: its words in one spelling and one order; empty when there are too many."""
    plain = _compiled(r"'s\b").sub("", words.lower())
    written = (one.rstrip(".-") for one in _compiled(r"[^\W_][\w.-]*").findall(plain))
    found = {stem(one) for one in written if one not in _NO_KEY}
    return " ".join(sorted(found)) if 0 < len(found) <= KEY_WORDS_MAX else ""


def stems(words: str) -> frozenset[str]:
    """Give the words of a text that say something, each in one spelling."""
    plain = _compiled(r"'s\b").sub("", words.lower())
    written = (one.rstrip(".-") for one in _compiled(r"[^\W_][\w.-]+").findall(plain))
    return frozenset(stem(one) for one in written if one not in _NO_KEY and one not in _COMMON)


_COMMON = frozenset(
    """any before after never ever have has had do does did doing done am my me us what how can could would should will
    like kinda kind sort really make makes making made get gets getting got help me some such more most very much many
    them they he she when where who if while since because about into over under up down out off than too also im ive
    want need know think sure trying tried try use used using go going went work worked working thing things way ways
    related one two first time times lot ve ll re don didn better best good great year years month months
    week weeks day days feel felt feeling advice tips give gives started start wondering""".split()  # noqa: SIM905 - the same
)
"""In what somebody did: said of anything."""


_NO_KEY = frozenset(
    """a an the my our your his her their its this that these those of for in on at to from by with and or new old
    current currently latest updated final actual actually really now right correct which is are was be been i we
    you it all total here there please then just also still so well ok okay yes no not instead""".split()  # noqa: SIM905 - so many quoted words are harder to read
)
DONE = (
    r"(?:changed?|moved|switched|updated|renamed|shifted|migrated|rescheduled|postponed|pushed|extended|raised|lowered|"
    r"increased|decreased|reduced|improved|dropped|grown|grew|risen|rose|bumped|upgraded|downgraded|corrected|adjusted|"
    r"set|reached)"
)
_SUPPOSED = (
    r"(?i)\b(?:if|unless|whether|suppose|assum\w+|imagine|hypothetical\w*|would|could|might|maybe|perhaps|"
    r"probably|example|instance|e\.g|say,|let's say|as if|pretend|wish|hope|used to|dream\w*|jok(?:e|ing)|almost|"
    r"nearly|(?:not|isn't|never) (?:true|correct|right|the case)|"
    rf"(?:was|were|had been)(?! (?:just |recently |already ){{0,2}}{DONE}\b)|mak(?:e|ing) sure|ensur\w+|"
    r"check(?:ing)?|verify\w*|wonder\w*|worr\w+|heard|how|why|so that|when|not sure|once (?:we|i|you|it|the|this|that)|"
    r"as soon as|in case|otherwise|provided|plan(?:s|ning|ned)? (?:to|on)|think(?:ing)? (?:of|about)|consider\w*|"
    r"propos\w+|suggest\w*|(?<!\bi )(?<!\bwe )(?:said|says|told|claim(?:s|ed)|thinks|believes|wrote|writes|asked)|"
    r"according to|wenn|falls|si)\b"
)
_MADE_UP = (
    r"(?i)\W*(?:(?:so|and|but|well|ok|okay),? )?(?:for (?:instance|example)|let'?s (?:say|assume|suppose|pretend)|"
    r"suppose|imagine|assum(?:e|ing)|pretend|hypothetically|what if|if|say,)\b"
)
"""At the head of a sentence: all of it is made up."""


def is_supposed(text: str, start: int, end: int) -> bool:
    """Say whether what a place says is asked or supposed: by what leads to it, or by the mark behind its clause."""
    lead, rest = text[max(0, start - LEAD_CHARACTERS) : end], text[end:]
    if _compiled(_MADE_UP).match(text):
        return True
    return _compiled(_SUPPOSED).search(lead) is not None or (
        rest.rstrip().endswith("?") and not set(",;:-") & set(rest)
    )
