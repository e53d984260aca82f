"""Scores one candidate: BM25 over all terms of the query, and what stands in it word for word.

The score is the sum of four parts, each shown in the hit:

    words   BM25 (k1 1.2, b 0.75) over every term whose frequency is known
    exact   exact strings of the query that stand in the content, by their rarity
    phrase  quoted phrases, or the whole query, that stand in the content
    name    numbers and exact strings of the query that stand in what the event is called

The invariant: a score depends on the query, the content and the frequencies, and
not on how the candidate was found. This module knows no storage.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from firsthand.value import value

K1, B = 1.2, 0.75
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
        df = max(1, df)
        rows = max(self.rows, df)
        return math.log(1 + (rows - df + 0.5) / (df + 0.5))


@value
class Wanted:
    """A string that is looked for word for word.

    Attributes:
        string: as it stands in the query.
        keys: the terms it is made of; its weight is their rarity, summed.
        part: which part of the score it adds to: ``exact`` or ``phrase``; empty when it is only shown.
        opens: it may be the beginning of a longer word, as an abbreviated hash is.
    """

    string: str
    keys: tuple[str, ...]
    part: str
    opens: bool = False


@value
class Match:
    """What of a query stands in one row.

    Attributes:
        times: how often each of its terms does; empty for none.
        tokens: in the row.
        exact: the wanted strings that stand there character for character.
        folded: those that stand there with other capitals or spaces, or in what meta says.
        named: keys of the query's numbers and exact strings that stand in what the event is called.
    """

    times: Mapping[str, int]
    tokens: int
    exact: tuple[Wanted, ...]
    folded: tuple[Wanted, ...]
    named: tuple[str, ...] = ()


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
    counts = Counter(tokens)
    exact, folded = [], []
    even = ""
    for one in wanted:
        if not one.opens and any(key in terms and key not in counts for key in one.keys):
            continue  # a row without one of its words does not hold the string: no need to read it for that
        if any(stands(one.string, text, opens=one.opens) for text in texts):
            exact.append(one)
            continue
        even = even or fold(f"{head} {texts[-1]}")
        if stands(fold(one.string), even, opens=one.opens):
            folded.append(one)
    times = {key: counts[key] or 1 for key in terms if key in counts or key in around}
    return Match(times, len(tokens), tuple(exact), tuple(folded), named)


def score(found: Match, frequencies: Frequencies) -> dict[str, float]:
    """Give the parts of a row's score."""
    length = K1 * (1 - B + B * found.tokens / frequencies.tokens_mean)
    by_words = 0.0
    for key, times in found.times.items():
        by_words += frequencies.idf(frequencies.df.get(key, 0)) * times * (K1 + 1) / (times + length)
    by_name = NAME_WEIGHT * sum(frequencies.idf(frequencies.df.get(key, 0)) for key in found.named)
    parts = {"words": by_words, "exact": 0.0, "phrase": 0.0, "name": by_name}
    for share, strings in ((1.0, found.exact), (FOLDED_SHARE, found.folded)):
        for one in strings:
            if one.part:
                weight = sum(frequencies.idf(frequencies.df.get(key, 0)) for key in one.keys)
                parts[one.part] += share * WEIGHTS[one.part] * max(WEIGHT_MIN, weight)
    return parts


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


def fold(text: str) -> str:
    """Even out capitals and runs of space."""
    return " ".join(text.casefold().split())
