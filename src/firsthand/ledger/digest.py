"""The digest: the bounded list of the facts that were asserted and stand (total-recall 8.5).

    # What stands
    ## Facts: 2 of 40
    - 2026-11-21 package manager: pnpm, not npm | "From now on it is pnpm" (fh:01...)
    - 38 more: firsthand ledger facts

The invariant: a pure function of its arguments, the same bytes for the same ones in
any order; one line each, at most `lines_max` lines in all; what does not fit is the
oldest, is counted, and is named by the command that lists it; whatever a fact says, it
makes no line and no heading of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from firsthand.errors import InvalidArgument
from firsthand.printable import shown
from firsthand.value import value

LINES_MAX, LINES_MIN = 120, 12
LINE_CHARACTERS_MAX, QUOTE_CHARACTERS_MAX = 200, 160
TITLE = "# What stands"


@value
class Item:
    """A fact that has one line.

    Attributes:
        text: with its date in front.
        pointer: of the assertion; position: of that event.
        quote: words that it rests on, shown with it; source: pointer of the event that says them.
    """

    text: str
    pointer: str
    position: int
    quote: str = ""
    source: str = ""

    @property
    def line(self) -> str:
        """The one line, with its pointer; what is cut off ends in "..."."""
        rests = f' | "{_plain(self.quote, QUOTE_CHARACTERS_MAX)}"' if self.quote else ""
        return f"- {_plain(self.text, LINE_CHARACTERS_MAX)}{rests} ({self.source or self.pointer})"


@value
class Digest:
    """A digest: its text, how many facts stand in all, and the pointers of those that it has no line for."""

    text: str
    facts: int = 0
    left_out: tuple[str, ...] = ()


def digest(items: Iterable[Item], lines_max: int = LINES_MAX) -> Digest:
    """Lay out the facts that stand, in whatever order they come.

    Raises:
        InvalidArgument: fewer lines than `LINES_MIN`.
    """
    if lines_max < LINES_MIN:
        raise InvalidArgument(f"a digest has at least {LINES_MIN} lines, for its headings; got {lines_max}")
    ranked = sorted(items, key=lambda item: (-item.position, item.pointer))
    free = lines_max - 2
    chosen = ranked if len(ranked) <= free else ranked[: free - 1]
    left_out = tuple(item.pointer for item in ranked[len(chosen) :])
    heading = [f"## Facts: {len(chosen)} of {len(ranked)}"] if ranked else []
    more = [f"- {len(left_out)} more: firsthand ledger facts"] if left_out else []
    text = "\n".join([TITLE, *heading, *(item.line for item in chosen), *more]) + "\n"
    return Digest(text, len(ranked), left_out)


def _plain(text: str, most: int) -> str:
    plain = " ".join((text if text.isascii() and text.isprintable() else shown(text)).split())
    return plain if len(plain) <= most else plain[: most - 3].rstrip() + "..."
