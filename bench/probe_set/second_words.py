"""Ways to write one value: digits of several scripts, words, dates, times of the day, durations.

The invariant: every way says the same value, whole; none rounds.

Who works on the probe does not read this file, nor those beside it whose names begin with `second`.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
MONTHS = (
    "January February March April May June July August September October November December"
).split()  # fmt: skip
SCRIPTS = {
    "arab": "٠١٢٣٤٥٦٧٨٩", "deva": "०१२३४५६७८९", "full": "０１２３４５６７８９", "thai": "๐๑๒๓๔๕๖๗๘๙",
    "bengali": "০১২৩৪৫৬৭৮৯",
}  # fmt: skip


def words(number: int) -> str:
    """Write a whole number below ten thousand in English words."""
    if number < 0:
        return "minus " + words(-number)
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")
    if number < 1000:
        rest = f" and {words(number % 100)}" if number % 100 else ""
        return f"{ONES[number // 100]} hundred{rest}"
    rest = number % 1000
    return words(number // 1000) + " thousand" + (f"{' and ' if rest < 100 else ' '}{words(rest)}" if rest else "")


class Spelled:
    """A value that a template writes as it likes: `{v.n}`, `{v.w}`, `{v.iso}`."""

    def __init__(self, value: object) -> None:
        self.value = value

    @property
    def n(self) -> str:
        """The plain number with a point, or the text itself."""
        if isinstance(self.value, Fraction):
            return f"{float(self.value):.4f}".rstrip("0").rstrip(".")
        return str(self.value)

    @property
    def whole(self) -> int:
        """The value as a whole number."""
        number = Fraction(str(self.n))
        if number.denominator != 1:
            raise ValueError(f"{number} is no whole number; write it in another way")
        return int(number)

    @property
    def lost(self) -> str:
        """Without its sign: how many left."""
        return str(abs(self.whole))

    @property
    def price(self) -> str:
        """With two decimals and a comma."""
        return self.two.replace(".", ",")

    @property
    def w(self) -> str:
        """In English words."""
        return words(self.whole)

    @property
    def two(self) -> str:
        """With two decimals."""
        return f"{float(Fraction(self.n)):.2f}"

    @property
    def comma(self) -> str:
        """The plain number with a decimal comma."""
        return self.n.replace(".", ",")

    @property
    def k(self) -> str:
        """With commas between thousands."""
        return f"{self.whole:,}"

    @property
    def apostrophe(self) -> str:
        """With apostrophes between thousands, as in Switzerland."""
        return f"{self.whole:,}".replace(",", "'")

    @property
    def thousandfold(self) -> str:
        """A thousand times the value: kilograms in grams, metres in millimetres."""
        return Spelled(Fraction(self.n) * 1000).n

    @property
    def hundredfold(self) -> str:
        """A hundred times the value: metres in centimetres, euros in cents."""
        return Spelled(Fraction(self.n) * 100).n

    @property
    def thousandth(self) -> str:
        """A thousandth of the value: grams in kilograms."""
        return Spelled(Fraction(self.n) / 1000).n

    @property
    def day(self) -> date:
        """The value as a date."""
        if not isinstance(self.value, date):
            raise TypeError(f"{self.value!r} is no date")
        return self.value

    @property
    def iso(self) -> str:
        """2026-03-09."""
        return self.day.isoformat()

    @property
    def long(self) -> str:
        """9 March 2026."""
        return f"{self.day.day} {MONTHS[self.day.month - 1]} {self.day.year}"

    @property
    def us(self) -> str:
        """March 9, 2026."""
        return f"{MONTHS[self.day.month - 1]} {self.day.day}, {self.day.year}"

    @property
    def short(self) -> str:
        """Mon 09-Mar-26."""
        return f"{self.day:%a %d-}{MONTHS[self.day.month - 1][:3]}{self.day:-%y}"

    @property
    def clock(self) -> str:
        """Minutes of the day as 14:05."""
        return f"{self.whole // 60 % 24:02d}:{self.whole % 60:02d}"

    @property
    def ampm(self) -> str:
        """Minutes of the day as 2:05 pm."""
        hour, minute = divmod(self.whole % 1440, 60)
        return f"{(hour + 11) % 12 + 1}:{minute:02d} {'am' if hour < 12 else 'pm'}"

    @property
    def hm(self) -> str:
        """Minutes as 3h25."""
        return f"{self.whole // 60}h{self.whole % 60:02d}"

    @property
    def ms(self) -> str:
        """Seconds as 3:05."""
        return f"{self.whole // 60}:{self.whole % 60:02d}"

    @property
    def minsec(self) -> str:
        """Seconds as 3 min 5 s."""
        return f"{self.whole // 60} min {self.whole % 60} s"

    def __getattr__(self, name: str) -> str:
        """Write the digits in another script."""
        if name not in SCRIPTS:
            raise AttributeError(f"no way {name!r} to write a value")
        return self.n.translate({ord("0") + at: digit for at, digit in enumerate(SCRIPTS[name])})


def fill(template: str, value: object) -> str:
    """Put a value into a template."""
    return template.format(v=Spelled(value))
