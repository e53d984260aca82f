r"""Reads what a text says as values: numbers, money, times, dates, percentages, durations, exact strings.

    read("7 notebooks at $4, ready by quarter past nine")
    -> number 7, money 4 USD, time 555

Digits of any script, words for numbers, separators of thousands and decimals,
currencies before and behind, days and months of four languages.

The invariants: a value's text is what stands between its two places; values are in
order and do not overlap; amounts are exact fractions; the time taken grows with the
length of the text alone, of which at most `CHARACTERS_MAX` are read.

It does not know what a value is a value of: that is for `statements`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import Literal

from firsthand.value import replace, value
from firsthand_evals.probe import lexicon, times
from firsthand_evals.probe.numerals import SPACES, Amount, chinese, interpreted, is_number_word, spelled

CHARACTERS_MAX = 2_000_000  # of one text; what stands behind them is not read
GROUPS_MAX = 12  # separated groups of digits that are looked at together

Kind = Literal["number", "money", "time", "date", "percent", "duration", "word"]


@value
class Value:
    """One value as a text says it.

    Attributes:
        kind: what it measures; ``word`` is an exact string: a path, a version, an identifier.
        amount: exact. Money in its main unit, a time in minutes of its day, a date as its ordinal, a duration in
            seconds; None for an exact string. A date without a year is ``month * 100 + day``.
        unit: of a number as written in one spelling (``kg``); of money its currency; of a date ``MM-DD``, ``YYYY-MM``,
            ``weekday`` or ``relative`` when it is not a whole one; of a duration ``month`` when its seconds vary.
        text: verbatim.
        start, end: its place, in characters.
    """

    kind: Kind
    amount: Fraction | None
    unit: str
    text: str
    start: int
    end: int


def read(text: str) -> tuple[Value, ...]:
    """Give the values of a text, in order."""
    if not isinstance(text, str):
        raise TypeError(f"values are read out of a text; got {type(text).__name__}")
    return _Reader(text[:CHARACTERS_MAX]).read()


def same(one: Value, other: Value) -> bool:
    """Say whether two values are equal: 1 kg and 1000 g are, $4 and 4 of an unnamed currency are, 4 and $4 are not."""
    if one.kind != other.kind:
        return False
    if one.amount is None or other.amount is None:
        return _bare(one.text) == _bare(other.text)
    if one.kind == "money" and "" in {one.unit, other.unit}:
        return one.amount == other.amount
    return in_base(one) == in_base(other)


def _bare(text: str) -> str:
    """Give an exact string for comparing: a telephone number without its gaps, another one in small letters."""
    return re.sub(r"[ /()-]", "", text) if text.startswith("+") else re.sub(r"\Av(?=\d)", "", text.casefold())


def in_base(one: Value) -> tuple[str, Fraction | None]:
    """Give a value's unit and amount in the unit of its family: 1 kg as 1000 g."""
    if one.amount is None or one.unit not in lexicon.BASE:
        return one.unit, one.amount
    unit, factor = lexicon.BASE[one.unit]
    return unit, one.amount * factor


def folded(text: str) -> str:
    """Write a text in small letters, digits and signs of ASCII, each sign in its place."""
    if text.isascii():
        return text.lower()
    small = text.lower()
    if len(small) != len(text):
        small = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    return small.translate(_table())


# the reader ----------------------------------------------------------------------------------------

_compiled = cache(re.compile)
_SIGNS = "".join(map(re.escape, lexicon.CURRENCY_SIGNS))
_FAR = "\u3400-\u9fff\u3040-\u30ff"  # signs that are words by themselves
_TOKEN = rf"\d+|[{times.NUMERALS}]+|[{_FAR}]|[^\W\d_{_FAR}]+(?:'[^\W\d_]+)?|[^\w\s]"
_MARKS = "\u0300-\u036f\u0900-\u0e7f"  # what stands in words of India and Thailand and is no letter to `re`
_TOKEN_MARKED = rf"\d+|(?:[^\W\d_{_FAR}]|[{_MARKS}])+|[{times.NUMERALS}]+|[{_FAR}]|[^\w\s]"
_NUMBER = rf"\d+(?:[.,'{SPACES}]\d+){{0,{GROUPS_MAX}}}"
_CODES = "|".join(sorted(lexicon.CURRENCY_CODES))
_SPACED = (
    r"\d{1,3}(?: \d{3}){1,4}(?:,\d\d?)?"
    rf"(?=\s?(?:\u20ac|z\u0142|\u20bd|\u0440\u0443\u0431|(?:kr|{_CODES})\b))"
)
_DIGITS = frozenset("0123456789")
_LIKE_MONEY = "usd|eur|gbp|chf|inr|rs|kr|us|jpy|cad|aud|x|no|nr"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_EXACT = (
    r"https?://[^\s<>\"'`)\]}]+"
    r"|(?<![\w.+-])[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)+"
    rf"|(?<![\w.]){_OCTET}(?:\.{_OCTET}){{3}}(?::\d{{1,5}})?(?!\w|[.,]\d)"
    r"|(?<![\w/\\.~@-])(?!\d{1,4}/\d{1,2}/\d{1,4}(?!\d))(?:~|[a-z]:|[\w.@-]*)(?:[/\\][\w.@-]+){2,}"
    r"|(?<![\w.-])[\w-]+\.(?:py|js|ts|tsx|md|json|jsonl|toml|ya?ml|txt|csv|c|h|go|rs|java|sh|sql|html|css"
    r"|log|cfg|ini)\b"
    r"|(?<!\w)#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3})(?!\w)"
    r"|(?<!\w)0x[0-9a-f]{1,16}(?!\w)"
    r"|(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?!\w)"
    r"|(?<![\w.,-])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,64}(?!\w)"
    r"|(?<![\w.,/])v?(?!\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)(?!\d))(?!\d{1,3}(?:\.\d{3})+(?!\d))\d+\.\d+\.\d+(?:[.-]\w+)*"
    r"|(?<![\w.,])v\d+(?:\.\d+)+(?!\w)"
    rf"|(?<![\w-])(?!(?:{_LIKE_MONEY})\d+(?:[.,]\d+)*(?!\w))(?!(?:[cmk]?m"
    rf"|ft)[23]\b)[a-z_][^\W\d]*(?:-[^\W\d]+)*-?\d\w*(?:[-.]\w+)*"
    r"|(?<![\w.,-])\d+[a-z_]{2,}\d\w*(?:-\w+)*"
    r"|\+\d{1,3}(?:[ /-]?\(?\d{2,}\)?){2,6}(?!\w)"
)
_DEGREES = r"\s?(?:\u00b0\s?[CF]?|[Dd]egrees?(?: [Cc]elsius| [Ff]ahrenheit| [CF]\b| centigrade)?|C(?!\w))(?!\w)"
_SQUARED = (
    r"\s?(?:(?P<short>km|cm|mm|m|ft|in|mi)(?P<power>\u00b2|\u00b3|\^?[23])(?![\w])"
    r"|(?:sq(?:uare)?\.?|(?P<cube>cubic))[ -]?(?P<word>m|metres?|meters?|cm|centimet(?:re|er)s?|km|kilomet(?:re|er)s?"
    r"|f(?:ee|oo)?t|miles?|inch(?:es)?)\b"
    r"|(?P<other>(?:m\u00e8tres?|metros?|metri|meters?) (?:carr\u00e9s?|cuadrados?|quadrados?|quadrat[oi])"
    r"|quadratmeter|qm"
    r"|vierkante meters?|\u043a\u0432\. ?\u043c|\u5e73\u65b9?\u7c73|\u5e73\u65b9\u30e1\u30fc\u30c8\u30eb)\b)"
)
_SIDES = r"\s?(?:x|\u00d7|by)\s?\d+(?:[.,]\d+)?(?:\s?(?:x|\u00d7|by)\s?\d+(?:[.,]\d+)?)?\s?(?P<unit>[a-z]+)\b"
_PER = frozenset({"per", "por", "pour"})
_PERCENT = r"(?:per cento?|por ciento|por cento|pour cents?)\b"
_UNITS_OF_ANY = (
    lexicon.UNITS, lexicon.DURATIONS, lexicon.MONTHS_LONG, lexicon.CURRENCY_WORDS, lexicon.MINOR_WORDS,
    lexicon.PERCENT_WORDS,
)  # fmt: skip
_NEGATIVE = frozenset({"minus", "negative"})
_LARGE = {"M": 10**6, "G": 10**9, "T": 10**12}
"""Scales that are written large and attached: 1.2G."""
_LENGTHS = frozenset({"m", "cm", "mm", "km", "in", "ft", "px"})
_AN_HOUR = r"(half|quarter of)? ?an? (hour|minute|dozen|kilo|litre|liter)\b( and a half\b)?"
_NOT_ONE_AFTER = frozenset(
    ["of", "day", "could", "that", "who", "is", "or", "another", "thing", "by", "can", "has", "was", "at"]
)
_NOT_ONE_BEFORE = frozenset(
    ["that", "this", "the", "which", "no", "any", "every", "each", "some", "another", "first", "last"]
)


@cache
def _table() -> dict[int, str]:
    digits = {zero + number: str(number) for zero in lexicon.ZEROS for number in range(10)}
    return digits | {ord(sign): other for sign, other in lexicon.SIGNS_LIKE.items()}


class _Reader:
    """Goes through a text once; each recogniser looks from one place on, at most a few words far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.whole = folded(text)
        self.exact = [one for one in _compiled(_EXACT).finditer(self.whole) if not one.group().isalpha()]
        self.low = self._masked()
        self.comma_decimals = _compiled(r"\d,\d\d?(?!\d)").search(self.low) is not None
        self.found: list[Value] = []

    def read(self) -> tuple[Value, ...]:
        done = 0
        marked = not self.low.isascii() and _compiled(f"[{_MARKS}]").search(self.low) is not None
        for token in _compiled(_TOKEN_MARKED if marked else _TOKEN).finditer(self.low):
            start = token.start()
            if start < done:
                continue
            found = self._at(start, token.group())
            if found is not None:
                done = found.end
                self._take(found)
        return self._with_exact()

    def _masked(self) -> str:
        """Blank out the exact strings, each sign in its place, so that no number is read in them."""
        parts, at = [], 0
        for one in self.exact:
            parts += [self.whole[at : one.start()], "_" * (one.end() - one.start())]
            at = one.end()
        return "".join([*parts, self.whole[at:]])

    def _with_exact(self) -> tuple[Value, ...]:
        if not self.exact:
            return tuple(self.found)
        strings = []
        for one in self.exact:
            start, end = one.span()
            end -= len(one.group()) - len(one.group().rstrip(".,;:!?"))
            strings.append(Value("word", None, "", self.text[start:end], start, end))
        return tuple(sorted([*self.found, *strings], key=lambda one: one.start))

    def _take(self, found: Value) -> None:
        """Add a value, or add it to the one before it: two hours and ten minutes are one duration."""
        if self.found and found.amount is not None:
            last = self.found[-1]
            between = self.low[last.end : found.start]
            joined = between.strip() in {"", "and", "und", "et", "y", "&"} and len(between) < 6
            hours = last.kind == found.kind == "duration" and last.unit == found.unit
            hours = hours and found.amount < lexicon.DURATIONS.get(last.text.split()[-1].lower(), found.amount + 1)
            joined = joined or (between == " " and last.unit == "ft" and found.unit in {"", "in"})
            family = {lexicon.BASE.get(each.unit, (each.unit,))[0] for each in (last, found)}
            parts = last.kind == found.kind == "number" and len(family) == 1 and "" not in family and joined
            parts = parts and last.unit != found.unit and between.strip() in {"", "and"}
            if parts or (last.unit == "ft" and joined and found.kind == "number" and found.amount < 12):
                whole = self._together(last, found)
                if whole is not None:
                    self.found[-1] = whole
                    return
            cents = last.kind == found.kind == "money" and found.amount < 1 and last.unit == found.unit
            cents = cents and last.amount is not None and last.amount.denominator == 1 and found.text[-1:].isalpha()
            if joined and (hours or cents) and last.amount is not None and found.amount < last.amount:
                self.found[-1] = replace(
                    last, amount=last.amount + found.amount, text=self.text[last.start : found.end], end=found.end
                )
                return
        self.found.append(found)

    def _together(self, last: Value, found: Value) -> Value | None:
        """Add two parts of one length or weight: 6 ft 1, 2 kg 300 g; None where the second is no smaller part."""
        assert last.amount is not None
        assert found.amount is not None
        unit = found.unit or "in"
        share = (
            found.amount
            * lexicon.BASE.get(unit, ("", Fraction(1)))[1]
            / lexicon.BASE.get(last.unit, ("", Fraction(1)))[1]
        )
        if not 0 < share < 1 or last.amount.denominator != 1:
            return None
        return replace(last, amount=last.amount + share, text=self.text[last.start : found.end], end=found.end)

    def _made(self, kind: Kind, amount: Fraction | int, unit: str, start: int, end: int) -> Value:
        return Value(kind, Fraction(amount), unit, self.text[start:end], start, end)

    def _told(self, start: int, told: times.Told | None) -> Value | None:
        """Give a date or a time that was read as a value; None when none was."""
        return None if told is None else self._made(told.kind, told.amount, told.unit, start, told.end)

    # what stands at a place -------------------------------------------------------------------------

    def _at(self, start: int, word: str) -> Value | None:
        """Read the value that begins at a word, if one does."""
        first = word[0]
        if first in _DIGITS:
            return self._at_digit(start)
        if first in lexicon.CURRENCY_SIGNS:
            return self._after_sign(start, start + 1, lexicon.CURRENCY_SIGNS[first])
        if first in {"-", "+"}:
            return self._signed(start, negative=first == "-")
        if first == ".":
            return self._of_point(start)
        far = lexicon.FAR_WEEKDAYS.get(self.low[start : start + 2]) or lexicon.FAR_WEEKDAYS.get(
            self.low[start : start + 3]
        )
        if far is not None:
            stop = start + (2 if self.low[start : start + 2] in lexicon.FAR_WEEKDAYS else 3)
            stop += self.low[stop : stop + 1] == "\u65e5" and self.low[stop - 1] == "\u66dc"
            return self._made("date", far, "weekday", start, stop)
        if first in lexicon.CHINESE_DIGITS or first in lexicon.CHINESE_SCALES:
            return self._far(start, word)
        if first in lexicon.FRACTIONS:
            return self._measured(Amount(lexicon.FRACTIONS[first], start, start + 1))
        return self._at_word(start, word) if first.isalpha() else None

    def _at_word(self, start: int, token: str) -> Value | None:
        end = start + len(token)
        if self.low[end : end + 1] == "$" and token in lexicon.DOLLARS:
            return self._after_sign(start, end + 1, lexicon.DOLLARS[token])
        if token in lexicon.CURRENCY_CODES or token in lexicon.CURRENCY_WORDS:
            unit = token.upper() if token in lexicon.CURRENCY_CODES else lexicon.CURRENCY_WORDS[token]
            return self._after_sign(start, end + (self.low[end : end + 1] == "."), unit)
        if token in lexicon.MONTHS:
            return self._told(start, times.month_at(self.low, start))
        if self.low[end : end + 6] == "-feira" and f"{token}-feira" in lexicon.WEEKDAYS:
            return self._made("date", lexicon.WEEKDAYS[f"{token}-feira"], "weekday", start, end + 6)
        if token in lexicon.WEEKDAYS:
            return self._made("date", lexicon.WEEKDAYS[token], "weekday", start, end)
        if token in lexicon.WEEKDAYS_SHORT and self.text[start].isupper():
            return self._made("date", lexicon.WEEKDAYS_SHORT[token], "weekday", start, end)
        if token in lexicon.BESIDE_OTHERS and _compiled(lexicon.BESIDE_OTHERS[token][1]).search(self.low):
            return self._measured(Amount(Fraction(lexicon.BESIDE_OTHERS[token][0]), start, end, spelled=True))
        if token in lexicon.DAYS_FROM_NOW:
            return self._made("date", lexicon.DAYS_FROM_NOW[token], "relative", start, end)
        if token in lexicon.TIMES_NAMED:
            return self._made("time", lexicon.TIMES_NAMED[token], "", start, end)
        if token in _NEGATIVE:
            return self._below_zero(start, token)
        if token in {"half", "quarter", "an", "a", "halb", "viertel", "kurz"} or is_number_word(token):
            past = times.past_at(self.low, start)
            return self._told(start, past) or self._an_hour(start) or self._spelled(start, token)
        return None

    def _at_digit(self, start: int) -> Value | None:
        before = self.low[start - 1 : start]
        if before.isalpha() and before != "x" and not self._may_stand_before(start):
            return None
        told = times.date_at(self.low, start) or times.time_at(self.low, start) or times.past_at(self.low, start)
        if told is not None:
            return self._told(start, told)
        number = self._literal(start)
        return None if number is None else self._measured(self._scaled(number))

    def _may_stand_before(self, start: int) -> bool:
        """Say whether the letter before a digit is no part of an identifier: a currency, the T of 2026-03-03T12."""
        before = self.low[max(0, start - 8) : start]
        return _compiled(rf".*(?:\b(?:{_LIKE_MONEY})|\dt|[{_FAR}]|[{_MARKS}])\Z").match(before) is not None

    # numbers ----------------------------------------------------------------------------------------

    def _of_point(self, start: int) -> Value | None:
        """Read a number that begins with its decimal point: ".8 kg"."""
        before = self.low[start - 1 : start] if start else ""
        match = _compiled(r"\.\d{1,9}(?![\d.])").match(self.low, start)
        if match is None or before.isalnum() or before in {")", "]", ".", "/", "_"}:
            return None
        return self._measured(Amount(Fraction(f"0{match.group()}"), start, match.end()))

    def _below_zero(self, start: int, word: str) -> Value | None:
        """Read a number whose sign is a word: "minus ten"; behind another number it is an operation."""
        at = start + len(word) + 1
        if self.low[at - 1 : at] != " " or _compiled(r"\d[^\W\d_%]{0,3} \Z").search(
            self.low[max(0, start - 8) : start]
        ):
            return None
        following = _compiled(rf"\d+|[{times.NUMERALS}]+|[^\W\d_]+").match(self.low, at)
        found = self._at(at, following.group()) if following is not None else None
        if found is None or found.amount is None or found.kind not in {"number", "money", "percent"}:
            return None
        led = _compiled(r"(?:\A|[:(=|]|\b(?:at|is|was|of|to|about|from|and|with|had)) *\Z").search(
            self.low[:start][-16:]
        )
        if not found.unit.startswith("deg") and led is None:
            return None
        return replace(found, amount=-found.amount, start=start, text=self.text[start : found.end])

    def _an_hour(self, start: int) -> Value | None:
        match = _compiled(_AN_HOUR).match(self.low, start)
        if match is None:
            return None
        amount = {None: Fraction(1), "half": Fraction(1, 2), "quarter of": Fraction(1, 4)}[match[1]]
        amount += Fraction(1, 2) if match[3] else 0
        if match[2] in lexicon.DURATIONS:
            return self._made("duration", amount * lexicon.DURATIONS[match[2]], "", start, match.end())
        if match[2] == "dozen":
            return self._made("number", amount * 12, "", start, match.end())
        return self._made("number", amount, lexicon.UNITS[match[2]], start, match.end())

    def _literal(self, start: int) -> Amount | None:
        in_list = _compiled(r"\d[,.]\Z").search(self.low[max(0, start - 2) : start]) is not None
        match = _compiled(_SPACED).match(self.low, start) or _compiled(_NUMBER).match(self.low, start)
        match = _compiled(r"\d+").match(self.low, start) if in_list else match  # 1,2,3 are three numbers
        assert match is not None  # the caller saw a digit
        money = _compiled(rf"\s?(?:[{_SIGNS}]|(?:euros?|{_CODES})\b)").match(self.low, match.end()) is not None
        money = money or self.low[max(0, start - 2) : start].strip()[-1:] in lexicon.CURRENCY_SIGNS
        return interpreted(match.group(), start, thousands_dot=money or self.comma_decimals)

    def _scaled(self, number: Amount) -> Amount:
        """Take in what stands behind a number and multiplies it: a fraction, a thousand, a million."""
        sign = self.low[number.end : number.end + 1]
        if sign in lexicon.FRACTIONS:
            number = replace(number, amount=number.amount + lexicon.FRACTIONS[sign], end=number.end + 1)
        part = _compiled(r"(?: and)? (\d)/(\d\d?)(?![\d/])|/(\d\d?)(?![\d/])").match(self.low, number.end)
        if part is not None and number.amount.denominator == 1 and not number.spelled:
            below = int(part[2] or part[3])
            if part[1] and below > int(part[1]):
                return replace(number, amount=number.amount + Fraction(int(part[1]), below), end=part.end())
            if part[3] and below > number.amount > 0 and below in {2, 3, 4, 5, 8, 16}:
                return replace(number, amount=number.amount / below, end=part.end())
        word = _compiled(r"\s([^\W\d_]+)\b").match(self.low, number.end)
        if word is not None and word[1] in lexicon.SCALES and word[1] not in {"mil", "mille"}:
            return replace(number, amount=number.amount * lexicon.SCALES[word[1]], end=word.end())
        far = self.low[number.end : number.end + 1]
        if far in lexicon.CHINESE_SCALES:
            return replace(number, amount=number.amount * lexicon.CHINESE_SCALES[far], end=number.end + 1)
        return number

    def _spelled(self, start: int, word: str) -> Value | None:
        if not is_number_word(word) or (word == "one" and not self._counts(start)) or self._is_name(start, word):
            return None
        number = spelled(self.low, start)
        return None if number is None else self._measured(number)

    def _is_name(self, start: int, word: str) -> bool:
        """Say whether a word for a number begins a name: Nine Lanterns; not where a unit stands behind it."""
        if not self.text[start].isupper() or word not in lexicon.ENGLISH_NUMBERS:
            return False
        behind = _compiled(r"[ -]([^\W\d_]+)").match(self.text, start + len(word))
        if behind is None or not behind[1][0].isupper() or behind[1].isupper():
            return False
        low = behind[1].lower()
        return not (is_number_word(low) or low in _PER or any(low in words for words in _UNITS_OF_ANY))

    def _counts(self, start: int) -> bool:
        """Say whether "one" counts something where it stands, rather than names it."""
        after = _compiled(r"\s([a-z]+)").match(self.low, start + 3)
        before = times.word_before(self.low, start)
        return after is not None and after[1] not in _NOT_ONE_AFTER and before not in _NOT_ONE_BEFORE

    def _far(self, start: int, token: str) -> Value | None:
        after = self.low[start + len(token) : start + len(token) + 1]
        if len(token) == 1 and (token in lexicon.CHINESE_SCALES or after not in lexicon.CHINESE_COUNTED):
            return None
        timed = times.far_time_at(self.low, start)
        if timed is not None:
            return self._told(start, timed)
        return self._measured(Amount(Fraction(chinese(token)), start, start + len(token)))

    def _signed(self, start: int, *, negative: bool) -> Value | None:
        before = self.low[start - 1 : start]
        after = self.low[start + 1 : start + 2]
        if (
            before.isalnum()
            or before in {")", "]", "-", "+", "_", "%"}
            or not (after in _DIGITS or after in lexicon.CURRENCY_SIGNS)
        ):
            return None
        if after in _DIGITS:
            found = self._at_digit(start + 1)
        else:
            found = self._after_sign(start + 1, start + 2, lexicon.CURRENCY_SIGNS[after])
        if found is None or found.amount is None or found.kind in {"date", "time"}:
            return None
        amount = -found.amount if negative else found.amount
        return replace(found, amount=amount, start=start, text=self.text[start : found.end])

    def _after_sign(self, start: int, end: int, unit: str) -> Value | None:
        """Read money whose currency stands before it."""
        gap = _compiled(r"\s?(-?)").match(self.low, end)
        assert gap is not None  # it matches nothing at all, too
        at = gap.end()
        if self.low[at : at + 1] not in _DIGITS:
            return None
        number = self._literal(at)
        if number is None:
            return None
        number = self._scaled(number)
        tail = _compiled(r"(k|m|bn|mn)\b").match(self.low, number.end)
        amount, stop = number.amount, number.end
        if tail is not None:
            amount, stop = amount * lexicon.ATTACHED_SCALES[tail[1]], tail.end()
        code = _compiled(r"\s?(usd|cad|aud|nzd|sgd|hkd|mxn)\b").match(self.low, stop) if unit == "USD" else None
        if code is not None:
            unit, stop = code[1].upper(), code.end()
        return self._made("money", -amount if gap[1] else amount, unit, start, stop)

    def _measured(self, number: Amount) -> Value:
        """Read what a number measures by what stands behind it."""
        start, end, amount = number.start, number.end, number.amount
        minutes = _compiled(r"\s?(?:min|m|sec|s)").match(self.low, end) if end - start == 2 else None
        if not number.spelled and end - start > 1 and minutes is None and self._is_code(number):
            return Value("word", None, "", self.text[start:end], start, end)
        sign = _compiled(rf"(%)(?!\d)|\s?([{_SIGNS}\u00a2%])(?![\s]?\d)|\s?([{_SIGNS}])(\d\d)(?!\d)").match(
            self.low, end
        )
        if sign is not None:
            mark = sign[1] or sign[2] or sign[3]
            if mark == "%":
                return self._made("percent", amount, "", start, sign.end())
            if mark == "\u00a2":
                return self._made("money", amount / 100, "USD", start, sign.end())
            amount += Fraction(int(sign[4] or 0), 100)
            return self._made("money", amount, lexicon.CURRENCY_SIGNS[mark], start, sign.end())
        special = self._of_degrees_or_area(number)
        if special is not None:
            return special
        word = _compiled(rf"([\s-]?)([{_FAR}]|(?:[^\W\d_{_FAR}]|[{_MARKS}])+)(?![\d])\.?").match(self.low, end)
        if word is None:
            return self._made("number", amount, "", start, end)
        return self._worded(number, word[2], word.end(2), attached=not word[1])

    def _of_degrees_or_area(self, number: Amount) -> Value | None:
        """Read a number of degrees, of an area or a volume, and the first side of "300 x 240 cm"."""
        start, end, amount = number.start, number.end, number.amount
        tall = _compiled(r"'\s?(\d{1,2})(?:\"|''|(?=[\s,.;)]|\Z))").match(self.low, end)
        if tall is not None and amount.denominator == 1 and amount < 10 and int(tall[1]) < 12:
            return self._made("number", amount + Fraction(int(tall[1]), 12), "ft", start, tall.end())
        degrees = _compiled(_DEGREES).match(self.text, end)
        if degrees is not None:
            unit = "deg F" if "F" in degrees.group() or "fahrenheit" in degrees.group().lower() else "deg"
            return self._made("number", amount, unit, start, degrees.end())
        squared = _compiled(_SQUARED).match(self.low, end)
        if squared is not None:
            length = "m" if squared["other"] else lexicon.UNITS.get(squared["word"] or squared["short"], "")
            power = "3" if squared["cube"] or squared["power"] in {"\u00b3", "3", "^3"} else "2"
            if f"{length}{power}" in lexicon.BASE or f"{length}{power}" in {"m2", "m3"}:
                return self._made("number", amount, f"{length}{power}", start, squared.end())
        sides = _compiled(_SIDES).match(self.low, end)
        if sides is not None and lexicon.UNITS.get(sides["unit"]) in _LENGTHS:
            return self._made("number", amount, lexicon.UNITS[sides["unit"]], start, end)
        return None

    def _worded(self, number: Amount, word: str, stop: int, *, attached: bool) -> Value:
        """Read what a number measures when a word stands behind it."""
        start, end, amount = number.start, number.end, number.amount
        large = _LARGE.get(self.text[end : end + 1]) if attached and len(word) == 1 and not number.spelled else None
        if large is not None:
            return self._made("number", amount * large, "", start, stop)
        if word in lexicon.ATTACHED_SCALES and attached and not number.spelled and word != "m":
            return self._made("number", amount * lexicon.ATTACHED_SCALES[word], "", start, stop)
        percent = _compiled(_PERCENT).match(self.low, stop - len(word)) if word in _PER else None
        if word in lexicon.PERCENT_WORDS or percent is not None:
            return self._made("percent", amount, "", start, stop if percent is None else percent.end())
        if word in lexicon.CURRENCY_CODES and (len(word) == 3 and word not in {"all", "try"}):
            return self._made("money", amount, word.upper(), start, stop)
        if word in {"pound", "pounds"} and self.low[stop : stop + 4] == " of ":
            return self._made("number", amount, "lb", start, stop)
        if word in lexicon.CURRENCY_WORDS:
            return self._made("money", amount, lexicon.CURRENCY_WORDS[word], start, stop)
        if word in lexicon.MINOR_WORDS and (attached or len(word) > 1):
            return self._made("money", amount / 100, lexicon.MINOR_WORDS[word] or self._currency(), start, stop)
        if word in lexicon.DURATIONS and (attached or len(word) > 1 or word in {"h", "s", "\u5929"}):
            return self._made("duration", amount * lexicon.DURATIONS[word], "", start, stop)
        if word in lexicon.MONTHS_LONG:
            return self._made("duration", amount * lexicon.MONTHS_LONG[word], "month", start, stop)
        if word == "in" and not number.spelled and _compiled(r"\s*(?:[.,;)\]|]|\Z|\n)").match(self.low, stop):
            return self._made("number", amount, "in", start, stop)
        if word == "t" and self.low[stop : stop + 1] in {"-", "'"}:
            return self._made("number", amount, "", start, end)  # 7 T-shirts
        large = word in {"w", "v"} and self.text[stop - 1].isupper() and not number.spelled
        if word in lexicon.UNITS and (attached or large or word not in lexicon.ATTACHED_ONLY):
            return self._made("number", amount, lexicon.UNITS[word], start, stop)
        ordinal = attached and word in {"st", "nd", "rd", "th"}
        return self._made("number", amount, "th" if ordinal else "", start, stop if ordinal else end)

    def _is_code(self, number: Amount) -> bool:
        """Say whether digits name something rather than count it: a telephone number, a postcode."""
        digits = self.low[number.start : number.end]
        return (
            digits.isdecimal()
            and (digits[0] == "0" or len(digits) > 10)
            and self.low[number.start - 1 : number.start] != "-"
        )

    def _currency(self) -> str:
        """Give the currency that the text spoke of so far; dollars when it named none."""
        return next((one.unit for one in reversed(self.found) if one.kind == "money" and one.unit), "USD")
