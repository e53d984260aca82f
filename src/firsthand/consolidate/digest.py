"""The digest: the bounded, regenerated list of what stands (total-recall 8.5).

    # What stands
    ## Facts: 2 of 40
    - The staging port is now 8443. (fh:01...@0-31)
    - 38 more: digest/facts.md
    ## Sessions: 1 of 1
    - 2026-11-21 cold start bootstrap (fh:01...)

The invariant: a pure function of its arguments, the same bytes for the same ones in
any order; one line each, at most `lines_max` lines in all; what does not fit is of the
lowest importance, or of a session that has its share, and stands in a file that the
digest links, and is never dropped;
whatever a fact says, it makes no line and no heading of its own.

It does not know where the facts come from, nor what stands in the file now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from firsthand.consolidate.keys import Fact
from firsthand.errors import InvalidArgument
from firsthand.printable import shown
from firsthand.value import field, value

LINES_MAX = 120
LINES_MIN = 12
"""Headings, and a link for each sort of what did not fit."""
LINE_CHARACTERS_MAX = 200
FILE_LINES_MAX = 2_000
"""Of one linked file; what is more stands in the next one."""
SESSION_SHARE = 0.5
"""Of the lines, the most that one session's facts have while other sessions have something to say."""
FOLDER = "digest"
TITLE = "# What stands"
_SECTIONS = (("facts", "Facts"), ("settings", "Settings"), ("arrangements", "Arrangements"), ("sessions", "Sessions"))
_SECTION_OF = {"config": "settings", "slot": "arrangements"}


@value
class Summary:
    """One session in a line.

    Attributes:
        text: what it is called.
        pointer: of its episode.
        position: of its episode.
    """

    text: str
    pointer: str
    position: int
    importance: float = 0.5


@value
class Demotion:
    """What stands in a linked file, for want of lines."""

    pointer: str
    file: str
    importance: float


@value
class Digest:
    """A digest and the files that it links.

    Attributes:
        text: at most as many lines as were allowed.
        details: text by name of file, below the folder that the digest stands in.
        demoted: what stands there and not in the text, the most important first.
        facts, sessions: how many lines there are of each in all.
    """

    text: str
    details: dict[str, str] = field(default_factory=dict)
    demoted: tuple[Demotion, ...] = ()
    facts: int = 0
    sessions: int = 0


@value
class _Entry:
    section: str
    line: str
    rank: tuple[float, int, str]
    pointer: str
    session: str = ""


def digest(facts: Iterable[Fact], sessions: Iterable[Summary] = (), lines_max: int = LINES_MAX) -> Digest:
    """Lay out the facts that stand and what the sessions were called.

    Args:
        facts: those that stand (`ledger.surviving`), in any order.
        lines_max: of the text.

    Raises:
        InvalidArgument: fewer lines than the headings and links take.
    """
    if lines_max < LINES_MIN:
        raise InvalidArgument(f"a digest has at least {LINES_MIN} lines, for its headings and links; got {lines_max}")
    told = [_entry(one) for one in _by_sentence(facts)]
    named = [_Entry("sessions", _line(one.text, one.pointer), (-one.importance, -one.position, one.pointer),
                    one.pointer) for one in sessions]  # fmt: skip
    entries = sorted((*told, *named), key=lambda one: one.rank)
    sections = [one for one in _SECTIONS if any(entry.section == one[0] for entry in entries)]
    free = lines_max - 1 - len(sections)
    if len(entries) > free:
        free -= len(sections)  # a link in each
    kept, demoted = _shared(entries, max(free, 0))
    details, file_of = _details(demoted)
    lines = [TITLE]
    for name, title in sections:
        lines += _section(name, title, kept, demoted, details)
    moved = tuple(Demotion(one.pointer, file_of[one.pointer], -one.rank[0]) for one in demoted)
    return Digest("\n".join(lines) + "\n", details, moved, len(told), len(named))


def _shared(entries: Sequence[_Entry], free: int) -> tuple[list[_Entry], list[_Entry]]:
    """Choose what has a line: by rank, but of one session no more than its share while others have something."""
    most, counts = int(SESSION_SHARE * free), Counter[str]()
    first: list[_Entry] = []
    over: list[_Entry] = []
    for one in entries:
        counts[one.session] += 1
        (over if one.session and counts[one.session] > most else first).append(one)
    chosen = {one.pointer for one in [*first, *over][:free]}
    kept = [one for one in entries if one.pointer in chosen]
    return kept, [one for one in entries if one.pointer not in chosen]


def _section(
    name: str, title: str, kept: Sequence[_Entry], demoted: Sequence[_Entry], details: Iterable[str]
) -> list[str]:
    shown_ = sorted((one for one in kept if one.section == name), key=lambda one: one.rank)
    more = sum(one.section == name for one in demoted)
    lines = [f"## {title}: {len(shown_)} of {len(shown_) + more}", *(one.line for one in shown_)]
    if more:
        files = [file for file in details if file.startswith(f"{FOLDER}/{name}")]
        lines.append(f"- {more} more: {files[0]}{f' to {files[-1]}' if len(files) > 1 else ''}")
    return lines


def _details(demoted: Sequence[_Entry]) -> tuple[dict[str, str], dict[str, str]]:
    """Lay out the linked files, and say in which one each entry stands."""
    details: dict[str, str] = {}
    file_of: dict[str, str] = {}
    for name, title in _SECTIONS:
        entries = [one for one in demoted if one.section == name]
        for number in range(0, len(entries), FILE_LINES_MAX):
            part = entries[number : number + FILE_LINES_MAX]
            file = f"{FOLDER}/{name}{f'-{number // FILE_LINES_MAX + 1}' if number else ''}.md"
            told = f"# {title} that the digest has no line for: {len(part)} of {len(entries)}"
            details[file] = "\n".join([told, *(one.line for one in part)]) + "\n"
            file_of |= dict.fromkeys((one.pointer for one in part), file)
    return details, file_of


def _by_sentence(facts: Iterable[Fact]) -> Iterator[tuple[Fact, ...]]:
    """Yield the facts that one sentence says, the most important first: they are one line."""
    found: dict[str, list[Fact]] = {}
    for one in sorted(facts, key=lambda one: (-one.importance, one.key)):
        found.setdefault(one.pointer, []).append(one)
    yield from map(tuple, found.values())


def _entry(facts: tuple[Fact, ...]) -> _Entry:
    first = facts[0]
    said = _said(first) if len(facts) == 1 else first.text
    rank = (-first.importance, -first.position, first.pointer)
    return _Entry(_SECTION_OF.get(first.sort, "facts"), _line(said, first.pointer), rank, first.pointer, first.session)


def _said(one: Fact) -> str:
    """Say a fact in its own words, and what it is about where these do not."""
    names = one.about and one.about.casefold() not in one.text.casefold()
    return f"{one.about}: {one.text}" if names else one.text


def _line(text: str, pointer: str) -> str:
    """Write one entry on one line, with its pointer; what is cut off ends in "..."."""
    plain = " ".join((text if text.isascii() and text.isprintable() else shown(text)).split())
    if len(plain) > LINE_CHARACTERS_MAX:
        plain = plain[: LINE_CHARACTERS_MAX - 3].rstrip() + "..."
    return f"- {plain} ({pointer})"
