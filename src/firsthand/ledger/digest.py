"""The digest: the bounded, regenerated list of the facts that were asserted and stand (total-recall 8.5).

    # What stands
    ## Facts: 2 of 40
    - 2026-11-21 package manager: pnpm, not npm | "From now on it is pnpm" (fh:01...)
    - 38 more: digest/facts.md
    ## Sessions: 1 of 1
    - 2026-11-21 cold start bootstrap (fh:01...)

The invariant: a pure function of its arguments, the same bytes for the same ones in
any order; one line each, at most `lines_max` lines in all; what does not fit is the
oldest of its section, or of a section that has its share, and stands in a file that the
digest links, and is never dropped; whatever a fact says, it makes no line and no heading
of its own.

It does not know where the facts come from, nor what stands in the file now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from firsthand.errors import InvalidArgument
from firsthand.printable import shown
from firsthand.value import field, value

LINES_MAX = 120
LINES_MIN = 12
"""Headings, and a link for each section of what did not fit."""
LINE_CHARACTERS_MAX, QUOTE_CHARACTERS_MAX = 200, 160
FILE_LINES_MAX = 2_000
"""Of one linked file; what is more stands in the next one."""
SECTION_SHARE = 0.5
"""Of the lines, the most that one section has while others have something to say."""
FOLDER = "digest"
TITLE = "# What stands"
Section = Literal["facts", "sessions"]
_TITLES: tuple[tuple[Section, str], ...] = (("facts", "Facts"), ("sessions", "Sessions"))


@value
class Item:
    """What has one line.

    Attributes:
        text: with its date in front.
        pointer: of what it is known by: the assertion, the episode.
        position: of that event.
        quote: words that it rests on, shown with it.
        source: pointer of the event that says them.
    """

    section: Section
    text: str
    pointer: str
    position: int
    quote: str = ""
    source: str = ""

    @property
    def rank(self) -> tuple[int, str]:
        """What sorts the newest first."""
        return -self.position, self.pointer

    @property
    def line(self) -> str:
        """The one line, with its pointer; what is cut off ends in "..."."""
        rests = f' | "{_plain(self.quote, QUOTE_CHARACTERS_MAX)}"' if self.quote else ""
        return f"- {_plain(self.text, LINE_CHARACTERS_MAX)}{rests} ({self.source or self.pointer})"


def _plain(text: str, most: int) -> str:
    plain = " ".join((text if text.isascii() and text.isprintable() else shown(text)).split())
    return plain if len(plain) <= most else plain[: most - 3].rstrip() + "..."


@value
class Demotion:
    """What stands in a linked file, for want of lines."""

    pointer: str
    file: str


@value
class Digest:
    """A digest and the files that it links.

    Attributes:
        text: at most as many lines as were allowed.
        details: text by name of file, below the folder that the digest stands in.
        demoted: what stands there and not in the text, the newest first.
        facts, sessions: how many lines there are of each in all.
    """

    text: str
    details: dict[str, str] = field(default_factory=dict)
    demoted: tuple[Demotion, ...] = ()
    facts: int = 0
    sessions: int = 0


def digest(items: Iterable[Item], lines_max: int = LINES_MAX) -> Digest:
    """Lay out what was asserted and what the sessions were called.

    Args:
        items: those that stand, in any order.
        lines_max: of the text.

    Raises:
        InvalidArgument: fewer lines than the headings and links take.
    """
    if lines_max < LINES_MIN:
        raise InvalidArgument(f"a digest has at least {LINES_MIN} lines, for its headings and links; got {lines_max}")
    ranked = sorted(items, key=lambda item: item.rank)
    sections = [(name, title) for name, title in _TITLES if any(item.section == name for item in ranked)]
    free = lines_max - 1 - len(sections)
    if len(ranked) > free:
        free -= len(sections)  # a link in each
    chosen = _shared(ranked, max(free, 0))
    demoted = [item for item in ranked if item.pointer not in chosen]
    details, file_of = _details(demoted)
    lines = [TITLE]
    for name, title in sections:
        lines += _section(name, title, [item for item in ranked if item.pointer in chosen], demoted, details)
    sessions = sum(item.section == "sessions" for item in ranked)
    moved = tuple(Demotion(item.pointer, file_of[item.pointer]) for item in demoted)
    return Digest("\n".join(lines) + "\n", details, moved, len(ranked) - sessions, sessions)


def _shared(ranked: Sequence[Item], free: int) -> frozenset[str]:
    """Choose what has a line: the newest, but of one section no more than its share while others have something."""
    most, counts = int(SECTION_SHARE * free), Counter[str]()
    first: list[Item] = []
    over: list[Item] = []
    for item in ranked:
        counts[item.section] += 1
        (over if counts[item.section] > most else first).append(item)
    return frozenset(item.pointer for item in [*first, *over][:free])


def _section(
    name: Section, title: str, chosen: Sequence[Item], demoted: Sequence[Item], details: Iterable[str]
) -> list[str]:
    own = [item.line for item in chosen if item.section == name]
    more = sum(item.section == name for item in demoted)
    lines = [f"## {title}: {len(own)} of {len(own) + more}", *own]
    if more:
        files = [file for file in details if file.startswith(f"{FOLDER}/{name}")]
        lines.append(f"- {more} more: {files[0]}{f' to {files[-1]}' if len(files) > 1 else ''}")
    return lines


def _details(demoted: Sequence[Item]) -> tuple[dict[str, str], dict[str, str]]:
    """Lay out the linked files, and say in which one each item stands."""
    details: dict[str, str] = {}
    file_of: dict[str, str] = {}
    for name, title in _TITLES:
        items = [item for item in demoted if item.section == name]
        for start in range(0, len(items), FILE_LINES_MAX):
            part = items[start : start + FILE_LINES_MAX]
            file = f"{FOLDER}/{name}{f'-{start // FILE_LINES_MAX + 1}' if start else ''}.md"
            heading = f"# {title} that the digest has no line for: {len(part)} of {len(items)}"
            details[file] = "\n".join([heading, *(item.line for item in part)]) + "\n"
            file_of |= dict.fromkeys((item.pointer for item in part), file)
    return details, file_of
