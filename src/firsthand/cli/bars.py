"""Draws what a prompt is made of as one line of letters, one letter a part, so that it is read without colour.

The invariant: a bar is as wide as asked; its columns are shared out by tokens, what is
left over to the largest remainders, and no part that has tokens is without a column
while there are columns enough.

Pure: it knows shares and widths, no terminal and no store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firsthand.value import value
from firsthand.window import HISTORY_PARTS

FREE = "free"
LETTERS: Mapping[str, str] = {
    "system": "S", "persona": "P", "preamble": "B", "files": "F", "skills": "K", "tool schemas": "T",
    **dict(zip(HISTORY_PARTS.values(), "uagcrspyfo", strict=True)),
    "markers": "M", "task state": "G", "cues": "C", "recall": "R", "user message": "U", "framing": ":",
    FREE: ".",
}  # fmt: skip
"""What stands for each of `window.PARTS`: capitals, and small letters for the parts of the history."""


@value
class Run:
    """Columns of one part, side by side."""

    name: str
    columns: int

    @property
    def text(self) -> str:
        """The part's letter, as often as it has columns."""
        return LETTERS[self.name] * self.columns


def runs(tokens: Sequence[tuple[str, int]], width: int) -> tuple[Run, ...]:
    """Share a width out among parts by their tokens, in the order given; parts without a column are left out."""
    held = [(name, number) for name, number in tokens if number > 0]
    total = sum(number for _, number in held)
    if not total:
        return ()
    exact = [number * width / total for _, number in held]
    columns = [int(share) for share in exact]
    by_remainder = sorted(range(len(held)), key=lambda place: (columns[place] - exact[place], place))
    for place in by_remainder[: width - sum(columns)]:
        columns[place] += 1
    for place, number in enumerate(columns if len(held) <= width else ()):
        if not number:
            columns[columns.index(max(columns))] -= 1
            columns[place] = 1
    return tuple(Run(name, number) for (name, _), number in zip(held, columns, strict=True) if number)


def gauge(number: int, most: int, width: int) -> str:
    """Draw one number beside the largest one: ``####    ``; a number over zero has a sign."""
    filled = 0 if not number or not most else max(1, round(min(1.0, number / most) * width))
    return "#" * filled + " " * (width - filled)
