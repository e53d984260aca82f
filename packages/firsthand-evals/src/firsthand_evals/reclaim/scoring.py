r"""What a reply commits to: the value on its answer line, judged strictly and without a model.

Only the last line ``ANSWER: ...`` counts; the prose around it, and a hedge in brackets
behind the value, do not (reclaim-evaluation 5.2). The invariant: of every reply exactly
one outcome is true, and only a value that equals the truth is ``recovered``.

Decided, case by case:

- markup is seen through: ``**ANSWER**: 46``, a full-width colon, ``<46>``, ``\boxed{46}``, ``\$46``, quotes;
- so are currencies, ``about`` and ``~``, words (``forty-six``), digits of any script, ``1,234.50`` and ``1.234,50``;
- of an equation the side behind the last ``=`` counts: ``28 + 18 = 46`` is 46; ``46, not 55`` is 46;
- numbers are equal exactly: 46.4 is not 46, and ``4,6`` is 4.6;
- two different values (``46 or 55``, ``Ana or Ben``) commit to none: ``malformed``, never ``recovered``;
- ``$46 (unverified)`` commits to 46, and is marked as hedged;
- a line that begins by declining (``unknown``, ``cannot``, ``it depends``) abstains, whatever stands behind;
- a name that is no option, no answer line, or nothing readable on it is ``malformed``: it is not counted as
  abstained, since a careless reply is not a careful one;
- an empty answer line is continued by the next line that is not empty.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction

from firsthand.value import value
from firsthand_evals.reclaim.tasks import NUMBER, TIME, WORD, Problem

RECOVERED, ATTRACTOR, WRONG, ABSTAINED, MALFORMED = "recovered", "attractor", "wrong", "abstained", "malformed"
FAILED = "failed"
"""No reply was scored, since the memory under test failed."""
OUTCOMES = (RECOVERED, ATTRACTOR, WRONG, ABSTAINED, MALFORMED, FAILED)
EMITTED = (RECOVERED, ATTRACTOR, WRONG)
REPLY_CHARACTERS_MAX = 100_000
"""Of a reply; what stands before its last so many is not looked at."""
NUMBER_CHARACTERS_MAX, NUMBER_WORDS_MAX = 100, 40
"""Of one number: longer digits are none, and further words are not read."""
DECLINED = "unknown"

_LINE = re.compile(r"\banswer\b[^\w\n:\uff1a=]{0,8}[:\uff1a=][^\S\n]*([^\n]*)(?:\n\s*([^\n]+))?", re.IGNORECASE)
_DECLINES = re.compile(
    r"(?:i\s+|it\s+|we\s+|this\s+|that\s+)?(?:unknown|cannot|can't|can not|could not|couldn't|do not know|don't know|"
    r"not\s+(?:known|sure|possible|enough|determin\w+|certain|available|given|stated|verif\w+|in\s+memory)|"
    r"depends|undetermined|indeterminate|insufficient|unverifi\w+|unable|am\s+(?:not|unable)|is\s+(?:not|unknown)|"
    r"n/?a\b|none\b|no\s+answer|nothing|\?+|-+$)",
    re.IGNORECASE,
)  # fmt: skip
_HEDGE = re.compile(
    r"unverif|uncertain|not sure|unsure|hypothet|assum|if the|tentativ|cannot|can't|unconfirmed|perhaps|maybe",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_NOT = re.compile(
    r"(?:,\s*|\s)?\b(?:(?:and not|not|instead of|rather than)\b\s+[^\s,;.]*\d[^\s,;]*|(?:and not|not)\s+[^\W\d]\w*)",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"(?<![\w.,])-?\d+(?:[.,'\u00a0\u202f]\d+)*(?!\w)|(?<![\w.,])-?\d+(?:[.,]\d+)*(?=[a-z]{1,3}\b)", re.IGNORECASE
)
_TIMES = re.compile(
    r"\b(\d{1,2})(?:[:.](\d{2}))?\s*([ap])\.?m\b|\b(\d{1,2})[:.](\d{2})\b|\b(noon|midnight)\b", re.IGNORECASE
)
_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}


@value
class Scored:
    """What came of a reply.

    Attributes:
        outcome: ``recovered``, ``attractor`` (the wrong conclusion that was carried), ``wrong`` (another value),
            ``abstained`` or ``malformed``.
        value: what it commits to, in the writing of `Problem.answer`; empty for none.
        hedged: True when the line doubts the value that it gives.
    """

    outcome: str
    value: str
    hedged: bool = False


def score(reply: str, problem: Problem) -> Scored:
    """Judge a reply by its answer line."""
    line = answer_line(reply)
    if line is None:
        return Scored(MALFORMED, "")
    if _DECLINES.match(_plain(line)):
        return Scored(ABSTAINED, "")
    found = values(line, problem.kind, problem.options)
    if len(found) != 1:
        return Scored(MALFORMED, "")
    given, hedged = found[0], _HEDGE.search(line) is not None
    if given == problem.answer:
        return Scored(RECOVERED, given, hedged)
    return Scored(ATTRACTOR if given == problem.attractor else WRONG, given, hedged)


def answer_line(reply: str) -> str | None:
    """Give what stands behind the last ``ANSWER:``; None without one."""
    matches = list(_LINE.finditer(reply[-REPLY_CHARACTERS_MAX:]))
    if not matches:
        return None
    here, below = matches[-1].groups()
    return here if here.strip(" \t*_`") else (below or "")


def values(line: str, kind: str, options: tuple[str, ...] = ()) -> list[str]:
    """Give the different values that a line commits to, in the writing of `Problem.answer`."""
    plain = _plain(line)
    for text in (_NOT.sub(" ", _BRACKETS.sub(" ", plain)), plain):  # what stands in brackets alone counts after all
        found = list(dict.fromkeys(_values(text, kind, options)))
        if found:
            return found
    return []


def _values(text: str, kind: str, options: tuple[str, ...]) -> Iterator[str]:
    if kind == WORD:
        for option in options:
            if re.search(rf"(?<!\w){re.escape(option)}(?!\w)", text, re.IGNORECASE):
                yield option
    elif kind == TIME:
        yield from map(_clock, _TIMES.finditer(text))
    else:
        assert kind == NUMBER
        yield from map(written, _numbers(text.rsplit("=", 1)[-1]))


def written(amount: Fraction) -> str:
    """Write an amount as `Problem.answer` does: whole, or with two digits when these are exact."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{float(amount):.2f}" if (amount * 100).denominator == 1 else str(float(amount))


def _plain(line: str) -> str:
    """Take off markup, and write digits of other scripts as ASCII."""
    digits = "".join(
        str(unicodedata.decimal(one)) if not one.isascii() and unicodedata.decimal(one, None) is not None else one
        for one in line
    )
    bare = re.sub(r"\\boxed\s*\{([^{}]*)\}", r" \1 ", digits)
    bare = re.sub(r"\\text\w*\s*\{([^{}]*)\}", r" \1 ", bare)
    return re.sub(r"(?<!\w)'|'(?!\w)|[*_`\"\u201c\u201d\u2018<>\\{}]", "", bare.replace("\u2019", "'")).strip(" \t.~:")


def _numbers(text: str) -> Iterator[Fraction]:
    bare = re.sub(r"^\s*\d+[.)]\s+(?=\D*\d)", "", text)  # the number of a list's line
    seen = False
    for match in _DIGITS.finditer(re.sub(r"[$€£¥₹]|\b(?:USD|EUR|GBP|kr|Rs)\b\.?", " ", bare)):
        seen = True
        if len(match[0]) <= NUMBER_CHARACTERS_MAX:
            yield amount(match[0])
    if not seen:
        spelled = _spelled(bare.lower())
        if spelled is not None:
            yield spelled


def amount(digits: str) -> Fraction:
    """Read digits with separators: the last of ``.`` and ``,`` parts the decimals, unless it groups by three."""
    bare = re.sub(r"['\u00a0\u202f]", "", digits)
    if "," in bare and "." in bare:
        bare = bare.replace(",", "") if bare.rfind(".") > bare.rfind(",") else bare.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"-?\d{1,3}(,\d{3})+", bare) or bare.count(",") > 1:
        bare = bare.replace(",", "")
    elif bare.count(".") > 1:
        bare = bare.replace(".", "")
    return Fraction(bare.replace(",", "."))


def _spelled(text: str) -> Fraction | None:
    """Read a number in English words; None when there is none."""
    whole, part, seen = 0, 0, False
    words = [word for word in re.findall(r"[a-z]+", text) if word in _SMALL or word in _SCALES]
    for word in words[:NUMBER_WORDS_MAX]:
        if word in _SMALL:
            part, seen = part + _SMALL[word], True
        elif seen:
            part *= _SCALES[word]
            if word != "hundred":
                whole, part = whole + part, 0
    return Fraction(whole + part) if seen else None


def _clock(match: re.Match[str]) -> str:
    if match[6]:
        return "12:00" if match[6].lower() == "noon" else "00:00"
    hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
    if match[3]:
        hour = hour % 12 + 12 * (match[3].lower() == "p")
    return f"{hour:02d}:{minute:02d}"
