"""An episode as a value, and the readable file that it is: Markdown from an extract, under a bound of size.

    # 2026-11-21 cold start bootstrap
    ## Failed: 7 of 12
    - `pytest -q` failed (exit code 1); the same went well later (fh:01...) (fh:01...)

The invariant: every line that quotes an event names it by pointer and is word for word
what stands there, on one line, cut only at its end and marked by "..."; what an agent
typed stands in a code span that it cannot close, so that it poses neither as a heading
nor as a line of ours; where not everything is kept, the heading says k of n. The same
extract gives the same bytes.

Pure. It knows no store and no session but the extract.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from firsthand.moment import Moment, clock
from firsthand.printable import shown
from firsthand.unasked import secrets
from firsthand.value import value

CHARACTERS_MAX = 8_000
BYTES_MAX = 15_000  # below what an event holds inline
HEAD_CHARACTERS = 700
SHARES: Mapping[str, int] = {
    "Asked": 2_000, "Failed": 1_500, "Calls without a result": 500, "Done": 2_000, "Exact strings": 1_100,
    "How it ended": 1_000,
}  # fmt: skip
"""Characters of each section; what one does not use goes to the others, in this order."""
_TICKS = re.compile("`+")


@value
class Episode:
    """The record of one session.

    Attributes:
        name: distinctive among the agent's episodes: date and topic.
        session: of which it is the record.
        agent: whose.
        moment: when the session ended; when it was written down, if no event told a time.
        pointer: of the event that holds it.
        path: of the file, as text; the file may be absent.
        topic: the words of the name, as a query.
        terms: what the session is about, the weightiest word first.
        through: the last position that it is made from.
        verified: it was found by its own topic after it was written.
        stage: which stage was not seen to work; empty when verified.
    """

    name: str
    session: str
    agent: str
    moment: Moment
    pointer: str
    path: str
    topic: str
    terms: tuple[str, ...] = ()
    through: int = 0
    verified: bool = False
    stage: str = ""


@value
class Line:
    """One line of an episode.

    Attributes:
        text: Markdown of one line, without its bullet and its pointer.
        pointer: of the event that it comes from; empty for a count.
        order: where it stands among the lines of its section.
    """

    text: str
    pointer: str = ""
    order: int = 0


@value
class Section:
    """Lines under one heading, the most important first.

    Attributes:
        total: how many there were in the session, those that are not among the lines included.
    """

    title: str
    lines: tuple[Line, ...]
    total: int


@value
class Written:
    """The Markdown of an episode.

    Attributes:
        sources: pointers of the events that it quotes, each once, in order.
    """

    text: str
    sources: tuple[str, ...]


def quoted(text: str, characters_max: int, pointer: str) -> str:
    """Quote what a person or an agent said, on one line, without secrets."""
    return f"\u201c{_line(_masked(text, pointer), characters_max)}\u201d"


def _masked(text: str, pointer: str) -> str:
    where = f", {pointer}" if pointer else ""
    return secrets.mask(text, mark=lambda sort, _: f"[secret:{sort}{where}]")


def code(text: str, characters_max: int, pointer: str) -> str:
    """Quote what a tool was told as a code span that its own backticks do not close."""
    line = _line(_masked(text, pointer), characters_max)
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    return f"{ticks} {line} {ticks}" if longest else f"`{line}`"


def written(name: str, facts: Sequence[str], sections: Sequence[Section], *, session: str) -> Written:
    """Lay an episode out within its size.

    Args:
        facts: lines at the top: which session, when, how much, what about.
        session: whose lines the headings say how to read on in.
    """
    characters_max = CHARACTERS_MAX
    while True:
        laid = _laid_out(name, facts, sections, session, characters_max)
        if len(laid.text.encode("utf-8", "replace")) <= BYTES_MAX:
            return laid
        characters_max = characters_max * 3 // 4


def span(first: Moment | None, last: Moment | None) -> str:
    """Write when something began and ended."""
    if first is None or last is None or first == last:
        return clock(first or last)
    return f"{clock(first)} to {clock(last)}"


def _laid_out(name: str, facts: Sequence[str], sections: Sequence[Section], session: str, most: int) -> Written:
    by_section = _kept(sections, most - HEAD_CHARACTERS)
    date, _, words = name[:10], name[10:11], name[11:].replace("-", " ")
    out = [f"# {date} {words}".rstrip(), "", *(fact[:240] for fact in facts)]
    sources: dict[str, None] = {}
    left = False
    for section in sections:
        lines = by_section[section.title]
        if not lines:
            continue
        less = len(lines) < section.total
        left = left or less
        out += ["", f"## {section.title}" + (f": {len(lines):,} of {section.total:,}" if less else "")]
        for line in sorted(lines, key=lambda line: line.order):
            out.append(f"- {line.text}" + (f" ({line.pointer})" if line.pointer else ""))
            if line.pointer:
                sources[line.pointer] = None
    if left:
        out += ["", f"The rest: firsthand timeline --session {_line(session, 200)!r}"]
    return Written("\n".join(out) + "\n", tuple(sources))


def _kept(sections: Sequence[Section], spare: int) -> dict[str, list[Line]]:
    """Choose lines: each section has its share, and what is left over goes round."""
    lines: dict[str, list[Line]] = {section.title: [] for section in sections}
    waiting = {section.title: list(section.lines) for section in sections}
    scale = min(1.0, spare / sum(SHARES.values()))
    for unused in (False, True):
        for title in sorted(waiting, key=_rank):
            room = spare if unused else min(spare, int(SHARES.get(title, 600) * scale))
            for line in list(waiting[title]):
                cost = len(line.text) + len(line.pointer) + 6
                if cost <= room:
                    lines[title].append(line)
                    waiting[title].remove(line)
                    room -= cost
                    spare -= cost
    return lines


def _rank(title: str) -> int:
    return list(SHARES).index(title) if title in SHARES else len(SHARES)


def _line(text: str, characters_max: int) -> str:
    """Make one line of a text; what is cut ends in "..."."""
    flat = shown(" ".join(text[: 4 * characters_max + 400].split()))
    if len(flat) <= characters_max and len(text) <= 4 * characters_max + 400:
        return flat
    cut = flat[: characters_max - 3]
    at_word = cut.rfind(" ", characters_max // 2)
    return (cut[:at_word] if at_word > 0 else cut).rstrip() + "..."
