"""Turns a query into terms, and decides which of them the index is asked for.

Any text is a query: it is cut by the index's own tokenizer, every word is quoted
again, so no character of it is an operator. FTS5 pays for every posting it ranks
(about 0.7 us), so the rarest terms are asked for first, until a budget of
postings is spent; the others still count when candidates are ranked.

The invariant: the same query against the same frequencies gives the same plan.
This module knows no storage: the tokenizer and the frequencies come in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from firsthand.index import words
from firsthand.index.tokenizer import Tokenize
from firsthand.value import value

from .stop_words import STOP_WORDS

TERMS_MAX = 32
LOOKUPS_MAX = 512
"""Most terms whose frequency is looked up; of a longer query the longest words are taken."""
STRINGS_MAX = 16
PHRASE_WORDS_MAX = 64
POSTINGS_INTERACTIVE = 30_000
"""Most postings ranked for somebody who waits for the answer."""
_POSTINGS_SMALL = 6_000
_ROWS_A_POSTING = 40

_QUOTED = re.compile(r'"([^"\n]{2,1000})"|“([^”\n]{2,1000})”|`([^`\n]{2,1000})`')
_ABBREVIATED_HASH = re.compile(r"(?=[0-9a-f]*\d)[0-9a-f]{7,39}\Z")


@value
class Term:
    """One thing the index can be asked for.

    Attributes:
        key: the token in the index: a stem, or the token of an exact string.
        word: as it stood in the query.
        match: how FTS5 is asked for it.
    """

    key: str
    word: str
    match: str


@value
class Question:
    """A query, cut up.

    Attributes:
        text: as asked.
        words: the terms that may find something by themselves.
        stop_words: terms that only count beside others.
        strings: exact strings, as the index names them; ``word`` is the string as spelled.
        phrases: what stood in quotes, and the whole query when it is of several words.
        cut: how many distinct terms were left aside because there were too many.
    """

    text: str
    words: tuple[Term, ...]
    stop_words: tuple[Term, ...]
    strings: tuple[Term, ...]
    phrases: tuple[str, ...]
    cut: int

    @property
    def only_stop_words(self) -> bool:
        """True when nothing in it could find something by itself."""
        return not self.words and not self.strings


@value
class Plan:
    """What the index is asked.

    Attributes:
        terms: all terms with their frequencies, the rarest first: what candidates are ranked by.
        ranked: those whose postings FTS5 ranks, within the budget.
        common: those beyond the budget; asked for newest first, and only together or to fill up.
        strings: exact strings that are in the index.
        absent_strings: exact strings that are no token of it; they may still be part of one.
        prefixes: what may be the beginning of a hash.
        notes: what was left aside, in sentences.
    """

    terms: Mapping[str, int]
    ranked: tuple[Term, ...]
    common: tuple[Term, ...]
    strings: tuple[Term, ...]
    absent_strings: tuple[Term, ...]
    prefixes: tuple[Term, ...]
    notes: tuple[str, ...]


def ask(text: str, tokenize: Tokenize) -> Question:
    """Cut a query into its terms."""
    plain = words.without_spaceless(text)
    found: dict[str, Term] = {}
    stop: dict[str, Term] = {}
    data = (plain + words.unpadded(plain)).encode("utf-8", "replace")
    for start, end, stem in tokenize(data):
        word = data[start:end].decode("utf-8", "replace")
        into = stop if word.lower() in STOP_WORDS else found
        into.setdefault(stem, Term(stem, word, f'"{word}"'))
    pairs = [_named(pair, pair) for pair in words.spaceless_pairs(text)]
    days = [_named(iso, spelled) for spelled, iso in words.dates(plain)]
    kept = [*found.values(), *pairs, *days]
    if len(kept) > LOOKUPS_MAX:  # the longest words are the likeliest to be rare
        kept = sorted(kept, key=lambda term: (-len(term.word), term.key))[:LOOKUPS_MAX]
    strings = [_named(string.casefold(), string) for string in words.exact_strings(text)[:STRINGS_MAX]]
    return Question(
        text,
        tuple(kept),
        tuple(stop.values())[:TERMS_MAX],
        tuple(strings),
        _phrases(text),
        max(0, len(found) + len(pairs) + len(days) - len(kept)),
    )


def _named(folded: str, word: str) -> Term:
    key = words.token(folded)
    return Term(key, word, f'"{key}"')


def _phrases(text: str) -> tuple[str, ...]:
    quoted = [next(filter(None, groups)) for groups in _QUOTED.findall(text)]
    whole = " ".join(text.split())
    if " " in whole and len(whole) <= STRINGS_MAX * PHRASE_WORDS_MAX:
        quoted.append(whole)
    return tuple(dict.fromkeys(phrase for phrase in quoted if phrase.strip()))[:STRINGS_MAX]


def abbreviates(word: str) -> bool:
    """Tell whether a word may be the beginning of a hash."""
    return _ABBREVIATED_HASH.match(word.lower()) is not None


def plan(question: Question, df: Mapping[str, int], postings_max: int) -> Plan:
    """Decide which terms are ranked by the index.

    Args:
        df: in how many rows each key stands; a key that is not there is taken as absent.
        postings_max: most postings that may be ranked.
    """
    notes: list[str] = []
    asked = question.stop_words if question.only_stop_words else question.words
    present = sorted((term for term in asked if df.get(term.key)), key=lambda term: (df[term.key], term.key))
    cut = question.cut + max(0, len(present) - TERMS_MAX)
    if cut:
        notes.append(f"the query has many terms: its {TERMS_MAX} rarest were searched, {cut:,} were left aside")
    present = present[:TERMS_MAX]
    ranked, spent = 0, 0
    for term in present:
        spent += df[term.key]
        if spent > postings_max:
            break
        ranked += 1
    if present[ranked:]:
        common = ", ".join(term.word for term in present[ranked:])
        if ranked:
            notes.append(f"too common to search for, these words only rank what the others find: {common}")
        else:
            notes.append(f"all words are common: of the events that hold them the newest were searched ({common})")
    strings = tuple(term for term in question.strings if df.get(term.key))
    terms = {term.key: df[term.key] for term in present}
    for term in question.stop_words if not question.only_stop_words else ():
        if df.get(term.key) and len(terms) < 2 * TERMS_MAX:
            terms[term.key] = df[term.key]
    return Plan(
        terms,
        tuple(present[:ranked]),
        tuple(present[ranked:]),
        strings,
        tuple(term for term in question.strings if not df.get(term.key)),
        tuple(
            Term(term.key, term.word, f"{term.match} *")
            for term in asked
            if not df.get(term.key) and abbreviates(term.word)
        )[:STRINGS_MAX],
        tuple(notes),
    )


def budget(rows: int, postings_max: int) -> int:
    """Give the postings that are ranked in an index of this size.

    A smaller index needs fewer for the same hits. Of the ten best without a budget, 5,000 postings
    at 100,000 rows keep 9.0 for questions (10,000: 9.7), and the first always; a query of nothing but
    the commonest words is answered by the newest rows that hold them all.
    """
    return min(postings_max, max(_POSTINGS_SMALL, rows // _ROWS_A_POSTING))
