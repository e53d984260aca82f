"""Scores one candidate by what of the query stands in it, and brings that to a base from 0 to 1.

A row's own score is the sum of four parts:

    words   BM25 over every term whose frequency is known
    exact   exact strings of the query that stand in the content, by their rarity
    phrase  quoted phrases, or the whole query, that stand in the content
    name    numbers and exact strings of the query that stand in what the event is called

What its neighbours add is told by `neighbours`. The base is the whole score s against
what the query's words weigh together, P, as s / (s + P): so it means the same in every
store, and half of it is a row of mean length that holds each word once.

The invariant: a score depends on the query, the log and the frequencies, and not on
how the candidate was found. This module knows no storage.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from firsthand.value import value

K1, B = 1.2, 0.95
LENGTH_MIN = 50
"""Tokens; among shorter rows the length says nothing. With b near 1, and not the usual 0.75, what a person says
in a line is not drowned by the page that answers it: .518 becomes .538 recall@10 on beam, locomo stays."""
STOP_SHARE = 0.1
"""What a stop word of the query counts beside its other words."""
WEIGHTS = {"exact": 1.5, "phrase": 1.0}
"""Beside the words' own scores: a row with a string in one piece stands before one with its pieces apart."""
NAME_WEIGHT = 3.0
"""What a number or string in an event's own name weighs: more than the same one mentioned in another's text."""
WEIGHT_MIN = 1.0
"""What a string of common words weighs at least: together they are rarer than apart."""
FOLDED_SHARE = 0.5
"""What a string weighs that stands there with other capitals."""


@value
class Frequencies:
    """What is known of the whole index.

    Attributes:
        rows: in it.
        tokens_mean: a row.
        df: rows that hold each key.
    """

    rows: int
    tokens_mean: float
    df: Mapping[str, int]

    def idf(self, df: int) -> float:
        """Weigh a term by its rarity; never below zero. What the index does not know counts as in one row."""
        return _idf(self.rows, df)


@lru_cache(maxsize=4_096)  # a question has few terms, and each is weighed for every row
def _idf(rows: int, df: int) -> float:
    df = max(1, df)
    rows = max(rows, df)
    return math.log(1 + (rows - df + 0.5) / (df + 0.5))


@value
class Wanted:
    """A string that is looked for word for word.

    Attributes:
        string: as it stands in the query.
        keys: the terms it is made of; its weight is their rarity, summed.
        part: which part of the score it adds to: ``exact`` or ``phrase``; empty when it is only shown.
        opens: it may be the beginning of a longer word, as an abbreviated hash is.
        stem: the one term that it is; empty for what is no single word.
    """

    string: str
    keys: tuple[str, ...]
    part: str
    opens: bool = False
    stem: str = ""


@value
class Match:
    """What of a query stands in one row.

    Attributes:
        times: how often each of its terms does; empty for none.
        tokens: in the row.
        exact: the wanted strings that stand there character for character.
        folded: those that stand there with other capitals or spaces, or in what meta says.
        named: keys of the query's numbers and exact strings that stand in what the event is called.
        lacking: keys of the query's numbers that the row does not hold, under any spelling.
    """

    times: Mapping[str, int]
    tokens: int
    exact: tuple[Wanted, ...]
    folded: tuple[Wanted, ...]
    named: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def match(
    terms: Mapping[str, int],
    wanted: Sequence[Wanted],
    tokens: Sequence[str],
    texts: Sequence[str],
    head: str,
    around: Collection[str] = (),
    named: tuple[str, ...] = (),
) -> Match:
    """See what of a query stands in a row.

    Args:
        terms: by key.
        tokens: the row's, in any order.
        texts: the content, and it again with its escapes read.
        head: who said it and what it is about.
        around: tokens of its context: a term that only stands there counts once, and not for the length.
        named: keys that stand in what it is called.
    """
    counts: dict[str, int] = {}
    for key in filter(terms.__contains__, tokens):
        counts[key] = counts.get(key, 0) + 1
    exact, folded = [], []
    even = lower = ""
    # In ASCII alone a word's ends are the tokenizer's, and with one text its tokens are those of all that is read.
    cut_alike = len(texts) == 1 and head.isascii() and texts[0].isascii()
    for one in wanted:
        if not one.opens and any(key in terms and key not in counts for key in one.keys):
            continue  # a row without one of its words does not hold the string: no need to read it for that
        if cut_alike and one.stem and one.stem not in counts:
            continue
        if any(stands(one.string, text, opens=one.opens) for text in texts):
            exact.append(one)
            continue
        lower = lower or f"{head} {texts[-1]}".casefold()
        string = _folded(one.string)
        if " " in string:  # only such a one may stand there over a line's end
            even = even or " ".join(lower.split())
        if stands(string, even if " " in string else lower, opens=one.opens):
            folded.append(one)
    times = {key: counts.get(key, 1) for key in terms if key in counts or key in around}
    return Match(times, len(tokens), tuple(exact), tuple(folded), named)


def by_words(times: Mapping[str, int], tokens: int, frequencies: Frequencies, light: Collection[str] = ()) -> float:
    """Score a row by the words of a query it holds: BM25 (k1 1.2, b 0.95), rows under 50 tokens counted as of 50.

    Args:
        times: how often it holds each term.
        tokens: in the row.
        light: terms that weigh a tenth.
    """
    mean = max(LENGTH_MIN, frequencies.tokens_mean)
    length = K1 * (1 - B + B * max(LENGTH_MIN, tokens) / mean)
    total, rows, df = 0.0, frequencies.rows, frequencies.df
    for key, count in times.items():
        weight = _idf(rows, df.get(key, 0)) * (STOP_SHARE if key in light else 1.0)
        total += weight * count * (K1 + 1) / (count + length)
    return total


def score(found: Match, frequencies: Frequencies, light: Collection[str] = ()) -> dict[str, float]:
    """Give the parts of a row's own score."""
    # In a series everybody mentions the others: a name tells however often it is mentioned.
    by_name = NAME_WEIGHT * _by_name(found, frequencies)
    words = by_words(found.times, found.tokens, frequencies, light)
    parts = {"words": words, "exact": 0.0, "phrase": 0.0, "name": by_name}
    for share, strings in ((1.0, found.exact), (FOLDED_SHARE, found.folded)):
        for one in strings:
            if one.part:
                weight = sum(frequencies.idf(frequencies.df.get(key, 0)) for key in one.keys)
                parts[one.part] += share * WEIGHTS[one.part] * max(WEIGHT_MIN, weight)
    return parts


def _by_name(found: Match, frequencies: Frequencies) -> float:
    """Weigh what an event is called by, less what it lacks of the query's other numbers."""

    def weight(keys: Collection[str]) -> float:
        return sum(max(WEIGHT_MIN, frequencies.idf(frequencies.df.get(key, 0))) for key in keys)

    return max(0.0, weight(found.named) - weight(found.lacking))


def whole(keys: Collection[str], frequencies: Frequencies) -> float:
    """Give what the words of a query weigh together, in any order; those that no row holds count as in one."""
    return max(WEIGHT_MIN, math.fsum(frequencies.idf(frequencies.df.get(key, 0)) for key in keys))


def base(total: float, weight: float) -> float:
    """Bring a score to the range from 0 to 1, against what the query weighs."""
    return total / (total + weight)


def stands(string: str, text: str, *, opens: bool = False) -> bool:
    """Tell whether a string stands in a text, not as a piece of a longer word, or only as its beginning."""
    at = text.find(string)
    while at >= 0:
        end = at + len(string)
        inside_before = at > 0 and text[at - 1].isalnum() and string[0].isalnum() and text[at].isascii()
        inside_after = end < len(text) and text[end].isalnum() and string[-1].isalnum() and text[end].isascii()
        if not inside_before and (opens or not inside_after):
            return True
        at = text.find(string, at + 1)
    return False


@lru_cache(maxsize=256)  # a query's strings are looked for in each row
def _folded(string: str) -> str:
    return fold(string)


def fold(text: str) -> str:
    """Even out capitals and runs of space."""
    return " ".join(text.casefold().split())
