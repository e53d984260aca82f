"""The terms of one event that may become topic hints: names, paths, identifiers, error codes, rare words.

The invariant: at most `TERMS_MAX` terms, each of at most `HINT_CHARACTERS_MAX`
printable characters of one line, none of them a bracket or a quotation mark, so
that no term can end the marker that it stands in; the time is bounded whatever the
length of the text. No number and no hash, unless there is nothing better.

This module does not know the store: which of the terms are common is asked when
something leaves. It has no dictionary either: where scripts put no space between
words, a term is the beginning of a run of signs.
"""

from __future__ import annotations

import re

from firsthand.window import HINT_CHARACTERS_MAX, TERMS_MAX

READ_CHARACTERS_MAX = 2_000  # of the head, the middle and the tail each
_WORD_CHARACTERS_MIN = 5  # a shorter lower-case word is hardly ever a topic
_WIDE = "぀-ヿ㐀-䶿一-鿿豈-﫿가-힯"  # kana, Han, Hangul

_TOKENS = re.compile(
    r"(?P<escape>\x1b\[[\d;]{0,16}[A-Za-z])"  # a terminal's colours
    rf"|(?P<wide>[{_WIDE}]{{2,16}})"
    r"|(?P<path>[A-Za-z]:(?:\\[\w.@+-]{1,64}){1,16}|(?:~|\.{1,2})?(?:/[\w.@+-]{1,64}){2,16}"
    r"|\w[\w.-]{0,63}(?:/[\w.@+-]{1,64}){1,16})"
    r"|(?P<code>\b[A-Z]{1,10}[-_]?\d{2,8}\b|\b[A-Z]{2,10}-\d{1,8}\b)"
    r"|(?P<name>\b[A-Z][a-z]{2,19}(?: [A-Z][a-z]{2,19}){1,2}\b)"
    rf"|(?P<word>[^\W{_WIDE}](?:[\w.'\u2019-]{{0,62}}[^\W{_WIDE}])?)"
)
_HASH = re.compile(r"(?=[^\d]*\d)[0-9a-fA-F-]{7,}|(?=(?:[^\d]*\d){3})(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[\w.-]{16,}")
_POINTERS = re.compile(r"\bfh:[0-9A-Za-z]{1,26}(?:\.\.[0-9A-Za-z]{1,26})?")  # in the words of who cites: no topics
_ESCAPES = re.compile(r"\\(?:(\\)|u[0-9a-fA-F]{4}|.)")
_JOINT = re.compile(r"[a-z\d][A-Z]|\w[_.]\w")
_EDGES = "._-'\u2019/\\+"
_DROPPED = frozenset(
    """
    about above after again against already although always another anything args argument assistant because before
    being below between bytes cannot changed characters checking class command const content could course default does
    doing don't during either else enough error errors every everything export false file files first fixed following
    found function further given going great having hello here's however http https i'll i've import input instead
    isn't it's itself just know let's line lines little looks maybe message messages might more most much name need
    needs never none nothing null number object other others otherwise output path please possible probably quite
    rather really result results return returns right same second seems self several shall should since some something
    still string successfully such sure system text thank thanks that that's their them then there there's these they
    thing things think this those though three through together tool tools true type undefined under unnecessary until
    updated user using value values very want wants we'll were what what's when where whether which while will with
    within without won't would wrong wrote you'll you're your yours
    """.split()  # noqa: SIM905 - so many quoted words are harder to read
)


def terms(text: str) -> tuple[str, ...]:
    """Give the most distinctive terms of an event's text, the best first; empty when it has none."""
    counts: dict[str, int] = {}
    scores: dict[str, float] = {}
    plain = ""
    read = _read(text)
    if read.lstrip()[:1] in ("{", "["):  # JSON, whose escapes would stick to words: \tthis, \nAvailable
        read = _ESCAPES.sub(lambda escape: escape[1] or " ", read)
    for match in _TOKENS.finditer(_POINTERS.sub(" ", read)):
        term = match[0]
        if term in counts:
            counts[term] += 1
            continue
        kind = match.lastgroup or ""
        term, score = _scored(term, kind)
        if score > 0:
            if term in counts:
                counts[term] += 1
            else:
                counts[term], scores[term] = 1, score
        elif score < 0 and len(term) > len(plain):
            plain = term
    if not scores:
        return (plain,) if plain else ()
    best: list[str] = []
    for term in sorted(scores, key=lambda term: -scores[term] * (1 + min(counts[term], 8) / 4)):
        folded = term.casefold()
        if not any(folded in other.casefold() for other in best):
            best.append(term)
            if len(best) == TERMS_MAX:
                break
    return tuple(best)


def _read(text: str) -> str:
    """Take head, middle and tail of a text."""
    size = READ_CHARACTERS_MAX
    if len(text) <= 3 * size:
        return text
    middle = (len(text) - size) // 2
    return f"{text[:size]}\n{text[middle : middle + size]}\n{text[-size:]}"


def _scored(term: str, kind: str) -> tuple[str, float]:
    """Give a term as it is shown, and how much it is likely to say: 0 for nothing, -1 for a number or a hash."""
    if kind == "escape":
        return term, 0.0
    if kind == "wide":
        return term[:8], 1.5
    if kind == "path":
        return _short_path(term)
    if kind == "code":
        return term, 3.0
    if kind == "name":
        return (term, 2.5) if len(term) <= HINT_CHARACTERS_MAX else (term, 0.0)
    term = term.strip(_EDGES).removeprefix("this.").removeprefix("self.")
    if not term:
        return term, 0.0
    if term.replace(".", "").replace(",", "").replace("-", "").isdigit():
        return term, -1.0 if 3 <= len(term) <= HINT_CHARACTERS_MAX else 0.0
    if _HASH.fullmatch(term):
        return term[:HINT_CHARACTERS_MAX], -1.0
    if len(term) > HINT_CHARACTERS_MAX or (term.isascii() and len(term) < _WORD_CHARACTERS_MIN):
        return (term, 1.2) if 2 < len(term) <= HINT_CHARACTERS_MAX and term.isupper() else (term, 0.0)
    if _JOINT.search(term):
        return term, 2.2
    if len(term) < 4 or term.casefold() in _DROPPED:
        return term, 0.0
    return term, (1.4 if term[0].isupper() else 0.8) + min(len(term), 14) / 20


def _short_path(path: str) -> tuple[str, float]:
    """Keep the end of a path, which tells it from its neighbours."""
    parts = [part for part in re.split(r"[/\\]", path.rstrip(_EDGES)) if part]
    name = parts[-1] if parts else ""
    if len(parts) > 1 and len(parts[-2]) + 1 + len(name) <= HINT_CHARACTERS_MAX:
        name = f"{parts[-2]}/{name}"
    if not 3 <= len(name) <= HINT_CHARACTERS_MAX or not name.isprintable() or _HASH.fullmatch(name):
        return name, 0.0
    if name.replace("/", "").replace(".", "").replace("-", "").isdigit():
        return name, 0.0
    return name, 2.4 if "." in parts[-1] else 1.6
