"""What a text says to be the value of what: "the port is now 8443", `timeout = 30`.

    the port is now 8443        {port}: 8443, said as a change
    DB_HOST=10.0.0.3            {db, host}: 10.0.0.3, a setting

The invariant: a slot is read only at a word that is asked for, within one line, in
linear time, and only where its value is one of a few words that tell: a number, a
name, a path, something in quotes. "The game is great" says no value. What is doubtful
is left out.

It knows no event and no task; whether two slots of one name contradict each other
is for its callers to judge (total-recall 4, 8.2).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache

from firsthand.value import value

CHARACTERS_MAX = 1_200  # of a text that are looked at
SLOTS_MAX = 8  # of one text
NAME_CHARACTERS_MAX = 80  # before the sign that joins it to its value
NAME_WORDS_MAX = 7
VALUE_WORDS_MAX = 3
STEM_CHARACTERS_MIN = 4

_CHANGES = (
    r"(?:changed|updated|moved|switched|set|raised|lowered|increased|reduced|decreased|improved|dropped|extended|renamed"
    r"|rescheduled|postponed|grown|risen)(?: from [^.,;\n]{1,40}?)? to"
)
_compiled = cache(re.compile)  # when a text is read: a fresh process pays for each
_SETTING = (
    r"(?m)^[ \t>*+|-]*(?:export )?[\"']?([a-z_][\w.-]{0,59}(?: [\w.-]{1,30}){0,2})[\"']?[ \t]*[=:][ \t]*"
    r"[\"']?([^\s\"'#;,{}()\[\]]{1,80})|\"([a-z_][\w.-]{0,59})\" ?: ?\"?([^\s\"#;,{}()\[\]]{1,80})"
)
_NOW = r"(?:now|currently) "
_SAYS = (
    rf" (?P<before>{_NOW})?(?:(?:(?:(?:is|are|was|were|has|have|had)(?: been)?|got) )?(?P<change>{_CHANGES})"
    rf"|is|are|was|were|equals) (?P<behind>{_NOW})?"
)
_ARTICLE = r"(?:a|an|the|at|about|around) "
_VALUE = r"[\"'`]?[^\s,;:!?()\[\]{}=][^,;!?\n()\[\]{}]{0,60}"
_CLAUSE = r"[,;:()\n.!?]+\s|\b(?:that|which|and|but|so|then|because|when|where|while|if|as|says?)\b"
_CHANGED = r"\b(?:now|new|updated?|currently|actually|instead|correction|changed|adjusted|moved|switched|rescheduled)\b"
_TELLING = r"[0-9A-Z\"'`/_@]|\w[.-]\w"
_PRONOUNS = frozenset(["it", "this", "that", "what", "there", "here", "he", "she", "they", "we", "you", "i", "who"])
_OPENS = frozenset(["the", "our", "my", "its", "his", "her", "their", "your", "this", "a", "an"])
_JOINS = frozenset(["of", "for", "in", "on", "at"])
_ENDS = _JOINS | frozenset(
    ["and", "but", "since", "because", "after", "as", "with", "to", "so", "from", "until", "not", "no"]
)
_DROPPED = (
    _OPENS | _JOINS | frozenset(["to", "and", "export", "now", "new", "current", "has", "have", "had", "been", "was"])
)


@value
class Slot:
    """A name and the value that a text gives it.

    Attributes:
        name: its words, in small letters, without plural endings.
        value: in small letters.
        setting: written as a line of settings, with ``=`` or ``:``.
        changed: said as a change: "now", "changed to", "actually".
    """

    name: frozenset[str]
    value: str
    setting: bool = False
    changed: bool = False


def slots(text: str, asked: Collection[str]) -> tuple[Slot, ...]:
    """Read the slots of a text whose names hold one of the words asked for; of one name's values the last."""
    wanted = frozenset(stem(word) for word in asked if len(word) > 1 and not word.isdigit())
    text = text[:CHARACTERS_MAX]
    small = text.lower()
    # A word without its plural ending stands in each of its forms, but for a last y that has become an i.
    signs = tuple(word[:-1] if word[-1] == "y" else word for word in wanted)
    if not any(sign in small for sign in signs):
        return ()
    if len(small) != len(text):  # a few signs have small forms of two
        small = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    found: dict[frozenset[str], Slot] = {}
    for slot in (*_settings(small, text, wanted, signs), *_sayings(small, text, wanted)):
        found[slot.name] = slot
    return tuple(found.values())[:SLOTS_MAX]


def names(text: str) -> frozenset[str]:
    """Give the words of a text that may name a slot."""
    return frozenset(word for word in map(stem, re.findall(r"[^\W_]+", text)) if word not in _DROPPED and len(word) > 1)


def stem(word: str) -> str:
    """Take the plural ending off a word."""
    word = word.lower()
    if len(word) > STEM_CHARACTERS_MIN and word[-1] == "s" and word[-2] not in "su":
        return word[:-3] + "y" if word.endswith("ies") else word[:-1]
    return word


def _settings(small: str, text: str, wanted: frozenset[str], signs: tuple[str, ...]) -> Iterator[Slot]:
    start = 0
    for line in small.split("\n"):
        # To see that a line holds none of the words takes a twentieth of what it takes to read it as settings.
        if ("=" in line or ":" in line) and any(sign in line for sign in signs):
            for match in _compiled(_SETTING).finditer(line):
                at = 1 if match[1] else 3
                name = names(match[at])
                given = _even(text[start + match.start(at + 1) : start + match.end(at + 1)]) if name & wanted else ""
                if given:
                    yield Slot(name, given, setting=True)
        start += len(line) + 1


def _sayings(small: str, text: str, wanted: frozenset[str]) -> Iterator[Slot]:
    for match in _compiled(_SAYS).finditer(small):
        before = small[max(0, match.start() - NAME_CHARACTERS_MAX) : match.start()]
        if not any(word in before for word in wanted):
            continue
        clause = _compiled(_CLAUSE).split(before)[-1]
        name = _name(clause)
        if not name & wanted:
            continue
        article = _compiled(_ARTICLE).match(small, match.end())
        value = _compiled(_VALUE).match(text, article.end() if article is not None else match.end())
        given = _even(value[0]) if value is not None else ""
        if given:
            changed = match["before"] or match["behind"] or match["change"] or _compiled(_CHANGED).search(clause)
            yield Slot(name, given, changed=bool(changed))


def _name(said: str) -> frozenset[str]:
    """Give the words that name what a clause goes on to say the value of; none for a pronoun."""
    words = said.split()[-NAME_WORDS_MAX:]
    for at in range(len(words) - 1, 0, -1):  # "I think the port of the server": from "the port" on
        if words[at] in _OPENS and words[at - 1] not in _JOINS:
            words = words[at:]
            break
    if not words or words[-1] in _PRONOUNS or words[0] in _PRONOUNS:
        return frozenset()
    return names(" ".join(words))


def _even(given: str) -> str:
    """Give the first words of what is said as a value; empty when they tell nothing."""
    words: list[str] = []
    for word in given.split()[: VALUE_WORDS_MAX + 1]:
        if word.lower() in _ENDS or len(words) == VALUE_WORDS_MAX:
            break
        words.append(word)
        if word[-1] in ".!?" and len(word) > 1:
            break
    said = " ".join(words).rstrip(".!?")
    return said.strip("\"'`").lower() if _compiled(_TELLING).search(said) else ""
