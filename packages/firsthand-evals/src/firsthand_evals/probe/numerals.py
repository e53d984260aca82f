r"""Reads numbers: digits with separators, words of five languages, Chinese numerals.

The invariant: each function looks from one place on and no further than a dozen
words or `DIGITS_MAX` digits; what makes no number gives None, never a guess.

It does not know what a number measures: that is for `values`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

from firsthand.value import value
from firsthand_evals.probe import lexicon

DIGITS_MAX = 40  # a longer number is an identifier
WORDS_MAX = 12  # no number that people write out is longer
SPACES = "\u00a0\u202f\u2009"

_compiled = cache(re.compile)


@value
class Amount:
    """A number that stands in the text, before it is known what it measures."""

    amount: Fraction
    start: int
    end: int
    spelled: bool = False


def interpreted(run: str, start: int, *, thousands_dot: bool) -> Amount | None:
    """Read digits with separators; when they make no single number, the first of them alone."""
    if len(run) > DIGITS_MAX:
        return None
    for pattern, read_as in _SPELLINGS:
        match = _compiled(pattern).fullmatch(run)
        if match is not None:
            amount = read_as(run, thousands_dot)
            return Amount(Fraction(amount), start, start + len(run))
    first = _compiled(r"\d+").match(run)
    assert first is not None  # it begins with a digit
    return Amount(Fraction(first.group()), start, start + first.end())


def _one_separator(run: str, thousands_dot: bool) -> str:
    """Read a number with one separator, of decimals or of thousands."""
    separator = "," if "," in run else "."
    whole, part = run.split(separator)
    three = len(part) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0"
    if three and (separator == "," or thousands_dot):
        return whole + part
    return f"{whole}.{part}"


_GAP = rf"[ '{SPACES}]"
_SPELLINGS: tuple[tuple[str, Callable[[str, bool], str]], ...] = (
    (r"\d+", lambda run, _: run),
    (r"\d+[.,]\d+", _one_separator),
    (r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", lambda run, _: run.replace(",", "")),
    (r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?", lambda run, _: run.replace(",", "")),  # as written in India
    (r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", lambda run, _: run.replace(".", "").replace(",", ".")),
    (rf"\d{{1,3}}(?:{_GAP}\d{{3}})+(?:[.,]\d+)?", lambda run, _: re.sub(_GAP, "", run).replace(",", ".")),
)


def year(written: str) -> int:
    """Read a year of two or four digits."""
    return int(written) + (2000 if len(written) == 2 else 0)


def is_number_word(word: str) -> bool:
    """Say whether a word is, or begins, a number."""
    return (
        word in lexicon.UNITS_OF_NUMBERS or word in lexicon.TENS or word in lexicon.SCALES or _german(word) is not None
    )


def small(word: str) -> int | None:
    """Read a number below a hundred, in digits or as a word; None when it is none."""
    if word.isdecimal():
        return int(word)
    found = spelled(word, 0)
    return int(found.amount) if found is not None and found.end == len(word) else None


def spelled(low: str, start: int) -> Amount | None:
    """Read a number in words from a place on; None when none stands there."""
    total, current, end, at = 0, 0, start, start
    parts = 0
    for word, stop in _words(low, at):
        ones, tens = lexicon.UNITS_OF_NUMBERS.get(word), lexicon.TENS.get(word)
        whole = _german(word) if ones is None and tens is None else None
        if word in {"and", "y", "et", "e"} and parts:
            continue
        if ones is not None and (
            not parts
            or (not current and total)  # two thousand "and six"
            or (current % 100 >= 20 and current % 10 == 0 and ones < 10)
            or (current and current % 100 == 0)
        ):
            current += ones
        elif ones is not None and current in {60, 80} and 10 <= ones < 20:
            current += ones  # as written in France
        elif tens is not None and current == 4 and word in {"vingt", "vingts"}:
            current = 80
        elif (tens or whole) and (not parts or current % 100 == 0):
            current += tens or whole or 0
        elif word in lexicon.SCALES and (current or (not parts and word not in {"k", "bn", "mio"})):
            scale = lexicon.SCALES[word]
            if scale >= 1000:
                total, current = total + max(current, 1) * scale, 0
            else:
                current = max(current, 1) * scale
        elif ones == 0 and not parts:
            pass
        else:
            break
        parts, end = parts + 1, stop
    if not parts:
        return None
    half = _compiled(r" and a half\b").match(low, end)
    amount = Fraction(total + current) + (Fraction(1, 2) if half else 0)
    return Amount(amount, start, half.end() if half else end, spelled=True)


def _words(low: str, start: int) -> Iterator[tuple[str, int]]:
    """Give the words that follow each other with a space or a hyphen between them, and where each ends."""
    for _ in range(WORDS_MAX):
        match = _compiled(r"[^\W\d_]+").match(low, start)
        if match is None:
            return
        yield match.group(), match.end()
        start = match.end() + 1
        if low[match.end() : start] not in {" ", "-"}:
            return


@cache
def _german_pattern() -> re.Pattern[str]:
    ones = "|".join(sorted(lexicon.GERMAN_UNITS, key=len, reverse=True))
    tens = "|".join(lexicon.GERMAN_TENS)
    return re.compile(rf"(?:({ones})?hundert(?:und)?)?(?:({ones})und({tens})|({ones})|({tens}))?")


def _german(word: str) -> int | None:
    """Read a number that German, Italian or Dutch writes as one word; None when it is none."""
    if word in lexicon.JOINED_NUMBERS:
        return lexicon.JOINED_NUMBERS[word]
    if len(word) < 8 or not ("und" in word or "hundert" in word):
        return None
    match = _german_pattern().fullmatch(word)
    if match is None:
        return None
    hundreds = (lexicon.GERMAN_UNITS[match[1]] if match[1] else 1) * 100 if "hundert" in word else 0
    ones = lexicon.GERMAN_UNITS.get(match[2] or match[4] or "", 0)
    return hundreds + ones + lexicon.GERMAN_TENS.get(match[3] or match[5] or "", 0)


def chinese(numerals: str) -> int:
    """Read Chinese numerals: twenty-three as two-ten-three, 2026 digit by digit."""
    numerals = numerals[:DIGITS_MAX]
    if not any(sign in lexicon.CHINESE_SCALES for sign in numerals):
        return int("".join(str(lexicon.CHINESE_DIGITS[sign]) for sign in numerals))
    total, section, digit = 0, 0, 0
    for sign in numerals:
        if sign in lexicon.CHINESE_DIGITS:
            digit = lexicon.CHINESE_DIGITS[sign]
        elif lexicon.CHINESE_SCALES[sign] >= 10**4:
            total, section, digit = total + max(section + digit, 1) * lexicon.CHINESE_SCALES[sign], 0, 0
        else:
            section, digit = section + max(digit, 1) * lexicon.CHINESE_SCALES[sign], 0
    return total + section + digit
