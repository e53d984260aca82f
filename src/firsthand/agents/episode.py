"""An episode as a value, and the readable file that it is: Markdown from sections of lines, under a bound of size.

    # 2026-11-21 cold start bootstrap
    ## Failed: 7 of 12
    - `pytest -q`, exit code 1 (fh:01...)

The invariant: every line that quotes an event names it by pointer and is word for word what stands there, on one line;
where not everything is in it, the heading says k of n. The same sections give the same bytes. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firsthand.agents import quotation
from firsthand.moment import Moment
from firsthand.unasked import secrets
from firsthand.value import value

CHARACTERS_MAX = 8_000
BYTES_MAX = 15_000  # below what an event holds inline
HEAD_CHARACTERS = 400
SHARES: Mapping[str, int] = {
    "Said": 3_000, "Failed": 1_200, "Calls without a result": 500, "Commits": 800, "Changed": 1_200,
    "Exact strings": 900,
}  # fmt: skip
"""Characters of each section; what one does not use goes to the others, in this order."""


@value
class Episode:
    """The record of one session.

    Attributes:
        name: distinctive among the agent's episodes: date and topic.
        session: of which it is the record.
        agent: whose.
        moment: when the session ended; when it was written down, if no event told a time.
        pointer: of the event that holds it.
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
    topic: str
    terms: tuple[str, ...] = ()
    through: int = 0
    verified: bool = False
    stage: str = ""


@value
class Line:
    """One line of an episode: Markdown without its bullet, and the pointer of the event that it comes from."""

    text: str
    pointer: str = ""
    order: int = 0


@value
class Section:
    """Lines under one heading, the most important first; ``total`` is how many there were in the session."""

    title: str
    lines: tuple[Line, ...]
    total: int


@value
class Written:
    """The Markdown of an episode, and pointers of the events that it quotes."""

    text: str
    sources: tuple[str, ...]


def quoted(text: str, characters_max: int, pointer: str) -> str:
    """Quote what a person or an agent said, on one line, without secrets."""
    return quotation.quoted(masked(text, pointer), characters_max)


def code(text: str, characters_max: int, pointer: str) -> str:
    """Quote what a tool was told as a code span, without secrets."""
    return quotation.code(masked(text, pointer), characters_max)


def masked(text: str, pointer: str) -> str:
    """Put a mark with the pointer of its event in the place of each secret."""
    where = f", {pointer}" if pointer else ""
    return secrets.mask(text, mark=lambda sort, _: f"[secret:{sort}{where}]")


def written(name: str, head: str, sections: Sequence[Section]) -> Written:
    """Lay an episode out within its size; ``head`` is the line at the top: when, and how much."""
    characters_max = CHARACTERS_MAX
    while True:
        layout = _layout(name, head, sections, characters_max)
        if len(layout.text.encode("utf-8", "replace")) <= BYTES_MAX:
            return layout
        characters_max = characters_max * 3 // 4


def _layout(name: str, head: str, sections: Sequence[Section], most: int) -> Written:
    by_section = _within(sections, most - HEAD_CHARACTERS)
    out = [f"# {name[:10]} {name[11:].replace('-', ' ')}".rstrip(), "", head]
    sources: dict[str, None] = {}
    for section in sections:
        lines = by_section[section.title]
        if not lines:
            continue
        less = f": {len(lines):,} of {section.total:,}" if len(lines) < section.total else ""
        out += ["", f"## {section.title}{less}"]
        for line in sorted(lines, key=lambda line: line.order):
            out.append(f"- {line.text}" + (f" ({line.pointer})" if line.pointer else ""))
            sources |= {line.pointer: None} if line.pointer else {}
    return Written("\n".join(out) + "\n", tuple(sources))


def _within(sections: Sequence[Section], spare: int) -> dict[str, list[Line]]:
    """Choose lines: each section has its share, and what is left over goes round."""
    lines: dict[str, list[Line]] = {section.title: [] for section in sections}
    waiting = {section.title: list(section.lines) for section in sections}
    scale = min(1.0, spare / sum(SHARES.values()))
    for unused in (False, True):
        for title in sorted(waiting, key=list(SHARES).index):
            room = spare if unused else min(spare, int(SHARES[title] * scale))
            for line in list(waiting[title]):
                cost = len(line.text) + len(line.pointer) + 6
                if cost <= room:
                    lines[title].append(line)
                    waiting[title].remove(line)
                    room -= cost
                    spare -= cost
    return lines
