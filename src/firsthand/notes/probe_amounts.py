r"""Looks for values in a note, each with the words that it stands with.

    "Sol costs 9 euros, Luna 15"   9 stands with Sol, 15 with Luna: "Sol: 15, Luna: 9" has neither

The invariant: a value of a note counts once; it does not count for a value of which it says
that it is another one's, by a word that stands with that alone.

It does not know which values are needed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise

from firsthand.notes import lexicon
from firsthand.notes.statements import Statement, subject_of
from firsthand.notes.values import Value, same
from firsthand.value import replace, value

OCCURRENCES_MAX = 32
"""Places of one value in a note that are tried for it."""
_compiled = cache(re.compile)
_SEPARATOR = r"[,;\n()|]+|[.!?](?=\s|\Z)|\s(?:and|und|et|y|then|but)\s"
PARTS = {
    "half": Fraction(1, 2), "third": Fraction(1, 3), "quarter": Fraction(1, 4), "fifth": Fraction(1, 5),
    "sixth": Fraction(1, 6), "eighth": Fraction(1, 8), "tenth": Fraction(1, 10),
    "double": Fraction(2), "twice": Fraction(2), "triple": Fraction(3), "thrice": Fraction(3),
}  # fmt: skip
QUANTITY = (
    r"(?:\b(?:an?|one|two|three|four|\d+)[ -](?=\w)|\b(?=half|double|twice|triple|thrice|\w+s? of\b))"
    rf"({'|'.join(PARTS)})s?\b"
)
_MARKED = r"(?<!\w)[^\W\d_]*\d+[^\W\d_]\w*|(?<!\w)[^\W\d_]+\d\w*"
_RATE = r"an? [^\W\d_]+"
_SIGNS = frozenset("-\u2212\u2013+")
_COUNTS_A_LIST = r"\s+(?:[^\W\d_]+\s+){0,2}[^\W\d_]+\s*:"


@value
class Amount:
    """A value with the words that it stands with."""

    found: Value
    words: frozenset[str]
    fact: int


def with_tokens(one: Statement) -> Statement:
    """Take each word with a digit that is no value for an exact string: 500G."""
    if not any(sign.isdigit() for sign in one.text):
        return one
    spans = [(found.start - one.start, found.end - one.start) for found in one.values + one.denied]
    tokens = [
        Value("word", None, "", match.group(), one.start + match.start(), one.start + match.end())
        for match in _compiled(_MARKED).finditer(one.text)
        if not any(low < match.end() and match.start() < high for low, high in spans)
    ]
    return replace(one, values=tuple(sorted((*one.values, *tokens), key=lambda found: found.start))) if tokens else one


def amounts_of(one: Statement, place: int) -> list[Amount]:
    """Give the values of a statement with the words next to each: those of its part of the sentence."""
    cuts = [0, *(match.end() for match in _compiled(_SEPARATOR).finditer(one.text)), len(one.text)]
    result: list[Amount] = []
    numbers = subject_of(" ".join(found.text for found in one.values))
    loose = subject_of(" ".join(part for part in _pieces(one, cuts)))
    for found in one.values:
        at = found.start - one.start
        if _is_no_amount(one, found, result):
            continue
        inside = [cut for cut in cuts if not at < cut < at + len(found.text)]
        low = max((cut for cut in inside if cut <= at), default=0)
        high = min((cut for cut in inside if cut >= at + len(found.text)), default=len(one.text))
        words = subject_of(one.text[low:high]) - numbers
        columns = (cell.name for cell in one.cells if found in cell.values)
        above = subject_of(" ".join((*one.path, *columns)).replace("_", " "))
        result.append(Amount(found, (words or loose) | above, place))
    return result


def _pieces(one: Statement, cuts: Sequence[int]) -> Iterator[str]:
    """Give the parts of a statement in which no value stands."""
    for low, high in pairwise(sorted(cuts)):
        if not any(low <= found.start - one.start < high for found in one.values):
            yield one.text[low:high]


def _is_no_amount(one: Statement, found: Value, before: Sequence[Amount]) -> bool:
    """Say whether a value only counts a list that follows, or is the one of a rate: "23 euros an hour", "one litre"."""
    if any(sign.isdigit() for sign in found.text) or found.amount is None:
        return False
    at = found.start - one.start
    rate = _compiled(_RATE).fullmatch(found.text.lower()) is not None
    if rate and any(each.found.end + 1 == found.start for each in before):
        return True
    if found.amount == 1 and len(one.values) > 1 and found.kind in {"number", "money"}:
        return True
    return found.kind == "number" and _compiled(_COUNTS_A_LIST).match(one.text[at + len(found.text) :]) is not None


def unheld(facts: Sequence[Statement], said: Sequence[Statement]) -> set[int]:
    """Give the places of facts of which a value is missing: each value in a note counts once."""
    wanted = _distinct([each for place, one in enumerate(facts) for each in amounts_of(one, place)])
    there = [each for place, one in enumerate(said) for each in amounts_of(one, place)]
    own, said_with = _telling(wanted), _telling(there)
    owners: dict[tuple[str, str], set[int]] = defaultdict(set)
    for at, each in enumerate(wanted):
        for word in own[at]:
            owners[each.found.kind, word].add(at)
    by_amount: dict[Fraction | str, list[int]] = defaultdict(list)
    for at, each in enumerate(there):
        for key in _keys(each.found):
            by_amount[key].append(at)
    pairs = []
    for at, each in enumerate(wanted):
        tried = dict.fromkeys(other for key in _keys(each.found) for other in by_amount[key])
        for other in list(tried)[:OCCURRENCES_MAX]:
            if not equal(each.found, there[other].found):
                continue
            mine = len(own[at] & there[other].words)
            theirs = any(
                at not in others and not any(_stands_beside(wanted[one].found, there, other) for one in others)
                for word in said_with[other]
                if (others := owners.get((each.found.kind, word)))
            )
            if mine or not theirs:
                alike = each.found.kind == there[other].found.kind
                pairs.append((-mine, not alike, -len(each.words & there[other].words), at, other))
    held: set[int] = set()
    used: set[int] = set()
    for *_, at, other in sorted(pairs):
        if at not in held and other not in used:
            held.add(at)
            used.add(other)
    return {each.fact for at, each in enumerate(wanted) if at not in held} | _unsaid_quantities(facts, said)


def _telling(amounts: Sequence[Amount]) -> list[frozenset[str]]:
    """Give of each value the words that stand with values of its kind in one place alone."""
    places = {(each.found.kind, each.fact, word) for each in amounts for word in each.words}
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, _, word in places:
        kinds[kind][word] += 1
    return [frozenset(word for word in each.words if kinds[each.found.kind][word] == 1) for each in amounts]


def _stands_beside(found: Value, there: Sequence[Amount], other: int) -> bool:
    """Say whether a value stands in the same part of a note as another one."""
    low, high = max(other - 3, 0), other + 4
    return any(
        at != other and each.fact == there[other].fact and each.words == there[other].words and equal(found, each.found)
        for at, each in enumerate(there[low:high], low)
    )


def _distinct(amounts: list[Amount]) -> list[Amount]:
    """Take a value that is said again of the same thing once."""
    kept: dict[tuple[str, Fraction | None, str], list[Amount]] = defaultdict(list)
    result = []
    for each in amounts:
        before = kept[each.found.kind, each.found.amount, "" if each.found.amount is not None else each.found.text]
        if any(one.fact != each.fact and one.words & each.words for one in before):
            continue
        before.append(each)
        result.append(each)
    return result


def _unsaid_quantities(facts: Sequence[Statement], said: Sequence[Statement]) -> set[int]:
    """Give the places of facts with a word for a quantity of which there are fewer among statements."""
    words = [_quantity_words(one) for one in facts]
    if not any(words):
        return set()
    there = _quantities(said)
    short = Counter(part for some in words for part in some) - there
    return {place for place, some in enumerate(words) if any(part in short for part in some)}


def _quantity_words(one: Statement) -> list[Fraction]:
    """Give the quantities of a statement that are no values."""
    inside = [(found.start - one.start, found.end - one.start) for found in one.values]
    return [
        PARTS[match.group(1)] for match in _compiled(QUANTITY).finditer(one.text.lower())
        if not any(low < match.end() and match.start(1) < high for low, high in inside)
    ]  # fmt: skip


def _quantities(said: Iterable[Statement]) -> Counter[Fraction]:
    """Count the words for quantities that are no values, and the values that say the same: a quarter, 25 %."""
    found: Counter[Fraction] = Counter()
    for one in said:
        found.update(_quantity_words(one))
        for each in one.values:
            if each.amount is not None and each.kind in {"number", "percent"}:
                written = _written(each) / 100 if each.kind == "percent" else each.amount
                found[written] += each.text.lower() not in PARTS
    return found


def equal(one: Value, other: Value) -> bool:
    """Say whether two values are equal, whatever unit one of them leaves out."""
    if same(one, other):
        return True
    if one.amount is None or other.amount is None or {one.kind, other.kind} & {"time", "date", "word"}:
        return False
    plain = [each for each in (one, other) if each.kind == "number" and not each.unit]
    if plain and _written(one) == _written(other):
        return True
    signed = [each.text[:1] in _SIGNS for each in (one, other)]
    return (
        signed == [False, True]
        and one.kind == other.kind
        and one.unit == other.unit
        and abs(other.amount) == one.amount
    )


def _keys(found: Value) -> list[Fraction | str]:
    """Give what a value may be found by: what it comes to, and its number as written."""
    if found.amount is None:
        return [found.text.casefold()]
    amount = found.amount * lexicon.BASE[found.unit][1] if found.unit in lexicon.BASE else found.amount
    return list(dict.fromkeys((amount, found.amount, _written(found), abs(found.amount))))


def _written(found: Value) -> Fraction:
    """Give the number that a value is written with: 34 of "34 minutes"."""
    match = _compiled(r"-?\d+(?:\.\d+)?").fullmatch(
        _compiled(r"[^\d.-]").sub("", found.text.replace(",", "")).rstrip(".-").lstrip(".")
    )
    if match is None or found.kind in {"time", "date"}:
        return found.amount if found.amount is not None else Fraction(0)
    return Fraction(match.group())
