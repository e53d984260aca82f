r"""Reads the values of a statement with the words that each stands with, and says which are equal.

    "Sol costs 9 euros, Luna 15"   9 stands with Sol, 15 with Luna
    1 kg and 1000 g, 65 % and 0.65, 1:02.4 and 62.4 are equal; -4 and 4 are not

The invariant: two values are equal only when one number says both, in units that one of them may leave out.

It does not know which values are needed, nor how they are paired.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import pairwise

from firsthand.value import replace, value
from firsthand_evals.probe import lexicon
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value, in_base, read, same

LISTED_MAX, LISTED_WORDS_MAX = 24, 3
"""Things that a number counts which stand behind it, and words of one."""
_compiled = cache(re.compile)
_SEPARATOR = r"[,;\n()|]+|[.!?](?=\s|\Z)|\s(?:and|und|et|y|then|but)\s"
PARTS = {
    "half": Fraction(1, 2), "third": Fraction(1, 3), "quarter": Fraction(1, 4), "fifth": Fraction(1, 5),
    "sixth": Fraction(1, 6), "eighth": Fraction(1, 8), "tenth": Fraction(1, 10),
    "double": Fraction(2), "twice": Fraction(2), "triple": Fraction(3), "thrice": Fraction(3),
}  # fmt: skip
QUANTITY = (
    r"(?:(?<!\bof )\b(?:an?|one|two|three|four|\d+)[ -](?=\w)|\b(?=half|double|twice|triple|thrice|\w+s? of\b))"
    rf"({'|'.join(PARTS)})s?\b"
)
_NAMED = r"(?<![\w./-])[^\W\d_]+(?:_[^\W_]+)+(?![\w-]|[\"'`]?\s?[:=])|(?<=`)[^`\n]{1,80}(?=`)"
"""A name of a program's: with an underscore within it, or in backquotes; none that names what stands behind it."""
_SIXTEEN = r"0[xX][0-9a-fA-F]{1,16}"
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
_RECURRING = (
    rf"\b(?:({'|'.join(_ORDINALS)})|(\d)(?:st|nd|rd|th))(?=(?: ones?\b| (?:{'|'.join(lexicon.WEEKDAYS_SHORT)}"
    rf"|mondays?|tuesdays?"
    r"|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)\b))"
)
_MARKED = r"(?<!\w)[^\W\d_]*\d+[^\W\d_]\w*|(?<!\w)[^\W\d_]+\d\w*"
_RATE = r"an? [^\W\d_]+"
_DURATION_UNITS = (Fraction(1), Fraction(60), Fraction(3600), Fraction(86400), Fraction(1, 1000))
_TAKES = (
    r"(?:\A\W*|\b(?:in|for|within|takes?|took|of|lasts?|lasted|about|only|just|is|was|were|another|after|before|by|than"
    r"|needs?|every|half)\s+)\Z"
)
_MINOR = r"(?:\b|\d)(?:cents?|ct|c|centimes?|c\u00e9ntimos?)\Z"
_SIGNS = frozenset("-\u2212\u2013+")
_LISTED_BEHIND = r"\s+(?:[^\W\d_]+\s+){0,6}?[^\W\d_]+\s*([(:,])\s*([^()\n.:;]{3,200})"
_OF_KNOWN = (
    r"\b(?:all|all of the|all the|the other|alle|tous les|toutes les|los|las|tutti e|tutte e|todos os|alle"
    r"|wszystkie)\s\Z"
)
_SLASHES = r"\d\d?/\d\d?/\d{2,4}"
_LIST_SIGN = r"\s*(?:,\s*(?:and\s+|or\s+)?|/|\band\b|\bor\b)\s*"
_COUNTS_A_LIST = r"\s+(?:[^\W\d_]+\s+){0,2}[^\W\d_]+\s*:"


@value
class Amount:
    """A value with the words that it stands with.

    Attributes:
        around: all words of its statement and of what stands above that.
    """

    found: Value
    words: frozenset[str]
    fact: int
    around: frozenset[str] = frozenset()


def with_tokens(one: Statement) -> Statement:
    """Take each word with a digit that is no value for an exact string: 500G."""
    if not any(sign.isdigit() or sign in "_`" for sign in one.text) and not _compiled(_RECURRING).search(
        one.text.lower()
    ):
        return one
    spans = [(found.start - one.start, found.end - one.start) for found in one.values + one.denied]
    tokens = _recurrences(one)
    spans += [(found.start - one.start, found.end - one.start) for found in tokens]
    tokens += [
        Value("word", None, "", match.group(), one.start + match.start(), one.start + match.end())
        for match in _compiled(rf"{_MARKED}|{_NAMED}").finditer(one.text)
        if not any(low < match.end() and match.start() < high for low, high in spans)
    ]
    return replace(one, values=tuple(sorted((*one.values, *tokens), key=lambda found: found.start))) if tokens else one


def _recurrences(one: Statement) -> list[Value]:
    """Give the ordinals that say which weekday of a month is meant: the third Thursday, every 2nd Thu."""
    return [
        Value("number", Fraction(_ORDINALS.get(match[1], match[2] and int(match[2]))), "th", match.group(),
              one.start + match.start(), one.start + match.end())
        for match in _compiled(_RECURRING).finditer(one.text.lower())
    ]  # fmt: skip


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
        words = subject_of(one.text[low:high]) - numbers - unit_words()
        columns = subject_of(" ".join(cell.name for cell in one.cells if found in cell.values).replace("_", " "))
        above = subject_of(" ".join(one.path).replace("_", " "))
        own = words if words and one.form != "row" else (words or loose) | columns
        result.append(Amount(found, own, place, one.subject | columns | above))
    return result


def named_amounts(one: Statement, place: int) -> list[Amount]:
    """Give the values that stand in the names above a statement or of its cells: {"run 4": 37.9}."""
    names = " ".join(dict.fromkeys((*one.path, *(cell.name for cell in one.cells)))).replace("_", " ")
    if not any(sign.isdigit() for sign in names) and not any(found.kind == "date" for found in read(names)):
        return []
    held = with_tokens(Statement(names, one.turn, 0, len(names), values=read(names)))
    words = one.subject | subject_of(names)
    return [Amount(replace(found, start=one.start, end=one.start), words, place, words) for found in held.values]


@cache
def unit_words() -> frozenset[str]:
    """Give the words that say what a value is measured in: they tell none from another."""
    tables = (lexicon.UNITS, lexicon.DURATIONS, lexicon.MONTHS_LONG, lexicon.CURRENCY_WORDS, lexicon.MINOR_WORDS)
    names = frozenset(name for table in tables for name in table)
    return frozenset().union(*(subject_of(name) for name in names))


def _pieces(one: Statement, cuts: Sequence[int]) -> Iterator[str]:
    """Give the parts of a statement in which no value stands."""
    for low, high in pairwise(sorted(cuts)):
        if not any(low <= found.start - one.start < high for found in one.values):
            yield one.text[low:high]


def _is_no_amount(one: Statement, found: Value, before: Sequence[Amount]) -> bool:
    """Say whether a value only counts a list that follows, or is the one of a rate: "23 euros an hour", "one litre"."""
    if found.amount is None:
        return False
    at = found.start - one.start
    listed = _compiled(_LISTED_BEHIND).match(one.text[at + len(found.text) :]) if found.kind == "number" else None
    if listed is not None and found.amount > 1 and _lists_so_many(listed[2], found.amount, loose=listed[1] == ","):
        return True
    if found.kind == "number" and _compiled(_OF_KNOWN).search(one.text[max(0, at - 16) : at].lower()):
        return True
    if any(sign.isdigit() for sign in found.text):
        return False
    rate = _compiled(_RATE).fullmatch(found.text.lower()) is not None
    if rate and any(each.found.end + 1 == found.start for each in before):
        return True
    if rate and found.kind == "duration" and not _compiled(_TAKES).search(one.text[:at].lower()):
        return True
    if found.amount == 1 and len(one.values) > 1 and found.kind in {"number", "money"}:
        return True
    return found.kind == "number" and _compiled(_COUNTS_A_LIST).match(one.text[at + len(found.text) :]) is not None


def _lists_so_many(text: str, number: Fraction, *, loose: bool) -> bool:
    """Say whether a text begins with a list of so many short things, or is one.

    Args:
        loose: no more than a comma stands before it.
    """
    signs = list(_compiled(_LIST_SIGN).finditer(text))
    if len(signs) + 1 == number and not loose:
        return True
    if not 2 < number <= min(len(signs) + 1, LISTED_MAX) or "and" not in signs[int(number) - 2].group():
        return False
    starts = [0, *(sign.end() for sign in signs)]
    ends = [*(sign.start() for sign in signs), len(text)]
    things = [text[low:high] for low, high in zip(starts, ends, strict=True)][: int(number)]
    return all(len(one.split()) <= LISTED_WORDS_MAX and not any(sign.isdigit() for sign in one) for one in things)


def unsaid_quantities(facts: Sequence[Statement], said: Sequence[Statement]) -> set[int]:
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


def measures_alike(one: Value, other: Value) -> bool:
    """Say whether two values are not of two currencies, nor one money and the other a length or a weight."""
    if one.kind == other.kind == "money" and one.unit and other.unit and one.unit != other.unit:
        return False
    families = {lexicon.BASE.get(each.unit, (each.unit,))[0] for each in (one, other)} - {"", "th"}
    if one.kind == other.kind == "number" and len(families) > 1:
        return False
    measured = any(each.kind == "number" and each.unit in {*lexicon.BASE, "m", "g", "l", "m2"} for each in (one, other))
    return not ({one.kind, other.kind} == {"money", "number"} and measured)


def equal(one: Value, other: Value) -> bool:
    """Say whether two values are equal, whatever unit one of them leaves out."""
    if same(one, other):
        return True
    if one.kind == other.kind == "date":
        return _is_that_day(one, other) or _is_that_day(other, one)
    if {one.kind, other.kind} == {"time", "duration"}:
        return _is_that_long(one, other) or _is_that_long(other, one)
    if {one.kind, other.kind} == {"word", "time"}:
        return _is_that_time(one, other) or _is_that_time(other, one)
    if {one.kind, other.kind} == {"date", "number"}:
        return _is_written_as(one, other) or _is_written_as(other, one)
    if {one.kind, other.kind} == {"word", "number"} and any(
        _compiled(_SIXTEEN).fullmatch(each.text) for each in (one, other)
    ):
        return _in_sixteen(one) == _in_sixteen(other)
    if {one.kind, other.kind} == {"word", "number"}:
        return _is_its_port(one, other) or _is_its_port(other, one)
    if {one.kind, other.kind} == {"time", "number"}:
        return _is_on_the_hour(one, other) or _is_on_the_hour(other, one)
    if one.amount is None or other.amount is None or {one.kind, other.kind} & {"time", "date", "word"}:
        return False
    if one.kind == other.kind == "money" and any(_compiled(_MINOR).search(each.text.lower()) for each in (one, other)):
        return one.amount == other.amount
    plain = [each for each in (one, other) if each.kind == "number" and not each.unit]
    if plain and (_written(one) == _written(other) or _in_some_unit(one, other) or _in_some_unit(other, one)):
        return True
    signed = [each.text[:1] in _SIGNS or each.text[:6].lower() == "minus " for each in (one, other)]
    return (
        signed == [False, True]
        and one.kind == other.kind
        and one.unit == other.unit
        and abs(other.amount) == one.amount
    )


def _is_that_long(time: Value, length: Value) -> bool:
    """Say whether what is written like a time is a length of time: 7:06 is 426 seconds, or 426 minutes."""
    if time.kind != "time" or time.amount is None or length.amount is None or length.unit:
        return False
    return length.amount in {time.amount, time.amount * 60}


def _is_that_time(word: Value, time: Value) -> bool:
    """Say whether four digits are a time: 0552."""
    digits = _compiled(r"([01]\d|2[0-3])([0-5]\d)").fullmatch(word.text)
    return digits is not None and time.amount == int(digits[1]) * 60 + int(digits[2])


def _is_written_as(day: Value, number: Value) -> bool:
    """Say whether a number is a whole date, written without signs: 20260702."""
    dotted = _compiled(r"(\d\d?)\.(\d\d?)\.?").fullmatch(number.text)
    if day.kind == "date" and dotted is not None and day.unit in {"", "MM-DD"} and day.amount is not None:
        written = int(dotted[2]) * 100 + int(dotted[1])
        if day.unit:
            return day.amount == written
        whole = date.fromordinal(int(day.amount))
        return whole.month * 100 + whole.day == written
    if day.kind != "date" or day.unit or day.amount is None or number.amount is None or len(number.text) != 8:
        return False
    return date.fromordinal(int(day.amount)).strftime("%Y%m%d") == number.text


def _in_sixteen(one: Value) -> Fraction | None:
    return Fraction(int(one.text, 16)) if one.amount is None else one.amount


def _is_that_day(whole: Value, other: Value) -> bool:
    """Say whether a whole date is the day that another one names without its year, or with its month behind."""
    if (
        not whole.unit
        and not other.unit
        and whole.amount
        and other.amount
        and _compiled(_SLASHES).fullmatch(other.text)
    ):
        day = date.fromordinal(int(other.amount))
        return day.day <= 12 and date(day.year, day.day, day.month).toordinal() == whole.amount
    if whole.unit or whole.amount is None or other.unit != "MM-DD":
        return False
    day = date.fromordinal(int(whole.amount))
    return day.month * 100 + day.day == other.amount


def _is_its_port(word: Value, number: Value) -> bool:
    """Say whether a number is the port at the end of an address."""
    return word.kind == "word" and number.text.isdecimal() and word.text.endswith(f":{number.text}")


def _is_on_the_hour(time: Value, number: Value) -> bool:
    """Say whether a bare number may be the hour of a time: 9 to 16, 9:00 to 16:00."""
    if time.kind != "time" or time.amount is None or number.amount is None or number.unit:
        return False
    return number.amount * 60 == time.amount


def _in_some_unit(plain: Value, other: Value) -> bool:
    """Say whether a number without a unit may be another value in some unit: 62.4 for 1:02.4, .65 for 65 %."""
    if plain.kind != "number" or plain.unit or plain.amount is None or other.amount is None:
        return False
    if other.kind == "duration":
        return not other.unit and any(plain.amount * unit == other.amount for unit in _DURATION_UNITS)
    if other.kind == "percent":
        return plain.amount * 100 == other.amount and 0 < plain.amount < 1
    unit, amount = in_base(other)
    if unit == "B":
        return plain.amount == amount
    return other.kind == "money" and plain.amount in {other.amount, other.amount * 100}


def keys_of(found: Value) -> list[Fraction | str]:
    """Give what a value may be found by: what it comes to, and its number as written."""
    if found.amount is None:
        port = found.text.rpartition(":")[2]
        sixteen = [Fraction(int(found.text, 16))] if _compiled(_SIXTEEN).fullmatch(found.text) else []
        clock = _compiled(r"([01]\d|2[0-3])([0-5]\d)").fullmatch(found.text)
        sixteen += [] if clock is None else [Fraction(int(clock[1]) * 60 + int(clock[2]))]
        return [found.text.casefold(), *sixteen, *([Fraction(port)] if ":" in found.text and port.isdecimal() else [])]
    dotted = _compiled(r"(\d\d?)\.(\d\d?)\.?").fullmatch(found.text) if found.kind == "number" else None
    if dotted is not None:
        return list(dict.fromkeys((found.amount, _written(found), Fraction(int(dotted[2]) * 100 + int(dotted[1])))))
    amount = found.amount * lexicon.BASE[found.unit][1] if found.unit in lexicon.BASE else found.amount
    if found.kind == "date" and not found.unit:
        day = date.fromordinal(int(found.amount))
        swapped = [Fraction(date(day.year, day.day, day.month).toordinal())] if day.day <= 12 else []
        return [found.amount, Fraction(day.month * 100 + day.day), Fraction(day.strftime("%Y%m%d")), *swapped]
    others: tuple[Fraction, ...] = (found.amount * 60,) if found.kind == "number" and found.amount <= 24 else ()
    if found.kind == "duration" and not found.unit:
        others = tuple(found.amount / unit for unit in _DURATION_UNITS)
    elif found.kind == "time":
        others = (found.amount * 60,)
    elif found.kind in {"percent", "money"}:
        others = (found.amount / 100, found.amount * 100)
    return list(dict.fromkeys((amount, found.amount, _written(found), abs(found.amount), *others)))


def _written(found: Value) -> Fraction:
    """Give the number that a value is written with: 34 of "34 minutes"."""
    match = _compiled(r"-?\d+(?:\.\d+)?").fullmatch(
        _compiled(r"[^\d.-]").sub("", found.text.replace(",", "")).rstrip(".-").lstrip(".")
    )
    if match is None or found.kind in {"time", "date"}:
        return found.amount if found.amount is not None else Fraction(0)
    return Fraction(match.group())
