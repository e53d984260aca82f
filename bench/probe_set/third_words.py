"""Further ways to write one value, beside those of `second_words`: versions, lists, dates with points, times.

The invariant: every way says the same value, whole; none rounds.

Who works on the probe does not read this file, nor those beside it whose names begin with `third`.
"""

from __future__ import annotations

from fractions import Fraction

from .second_words import Spelled


class Put(Spelled):
    """A value that a template writes as it likes: `{v.n}`, `{v.dotted}`, `{v.ver}`."""

    @property
    def dotted(self) -> str:
        """09.03.2026."""
        return f"{self.day:%d.%m.%Y}"

    @property
    def ver(self) -> str:
        """A version of several numbers."""
        return ".".join(map(str, self.items))

    @property
    def vers(self) -> str:
        """Several versions."""
        return ", ".join(Put(each).ver for each in self.items)

    @property
    def all(self) -> str:
        """The members of a list."""
        return ", ".join(map(str, self.items))

    @property
    def bar(self) -> str:
        """The members of a list with bars between."""
        return " / ".join(map(str, self.items))

    @property
    def items(self) -> tuple[object, ...]:
        """The value as a list."""
        if not isinstance(self.value, tuple):
            raise TypeError(f"{self.value!r} is no list")
        return self.value

    @property
    def hundredth(self) -> str:
        """A hundredth of the value: centimetres in metres."""
        return Spelled(Fraction(self.n) / 100).n

    @property
    def stamp(self) -> str:
        """Seconds of the day as 14:05:09."""
        return f"{self.whole // 3600:02d}:{self.whole // 60 % 60:02d}:{self.whole % 60:02d}"


def fill(template: str, value: object) -> str:
    """Put a value into a template."""
    return template.format(v=Put(value))
