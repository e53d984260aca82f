r"""The note: derived text that stands on its evidence, with the way back to its source.

    2 of 4 statements kept; the rest is at fh:01J8....
    fh:01J8...
    - 7 notebooks at $4
    - 9 pens at $2
    - not chosen: 3 rulers at $1
    Concluded: the total is $46

The invariants: evidence is verbatim; what was considered and not chosen, or was
replaced later, is marked as such and never counted; `kept` is the number of pieces
that hold. `parse` is the inverse of `render`: every line of a piece stands behind a
mark of its own, so no text can look like the frame around it.

It does not know whether the evidence suffices: that is for the probe.
Source: reclaim-evaluation 3.1, 7.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from firsthand.errors import InvalidArgument
from firsthand.event import Trust
from firsthand.pointer import find
from firsthand.value import value

Standing = Literal["holds", "replaced", "not chosen"]
Rest = Literal["none", "reachable", "lost"]

_compiled = cache(re.compile)
_STANDINGS: tuple[Standing, ...] = ("holds", "replaced", "not chosen")
_HEAD = (
    r"(?P<kept>\d{1,9}) of (?P<of>\d{1,9}) statements kept"
    r"(?:; the rest (?P<rest>is at|was not kept)(?P<where>(?: fh:[^\s]+)*))?\."
    r"(?: From (?P<origin>[^\n]*) \((?P<trust>trusted|agent|untrusted)\)\.)?\Z"
)
_CONCLUDED = "Concluded: "
_MORE = "  "  # before each further line of a piece


@value
class Evidence:
    """One piece of the source.

    Attributes:
        text: verbatim.
        pointer: of the message that it stands in; empty when that has none.
        standing: ``replaced`` when something said later stands in its place; ``not chosen`` when it was considered.
    """

    text: str
    pointer: str = ""
    standing: Standing = "holds"


@value
class Note:
    """A source-first note.

    Attributes:
        evidence: what holds first.
        conclusion: what was concluded, verbatim; empty unless everything fits.
        kept, of: how many of the determining statements stand in it, and how many there are.
        rest: ``none`` when nothing is left out; ``reachable`` through `sources`; ``lost`` when nothing leads to it.
        sources: pointers of all that the note stands on: those of the evidence first, then those of the rest.
        origin: who wrote it, empty when it is not said; trust: how far its words may be believed as instructions.

    Raises:
        InvalidArgument: the fields contradict each other; the message says which.
    """

    evidence: tuple[Evidence, ...] = ()
    conclusion: str = ""
    kept: int = 0
    of: int = 0
    rest: Rest = "none"
    sources: tuple[str, ...] = ()
    origin: str = ""
    trust: Trust = Trust.UNTRUSTED

    @property
    def text(self) -> str:
        """The note as `render` writes it."""
        return render(self)

    @staticmethod
    def read(text: str) -> Note | None:
        """Read a note out of its text; None for a text that is no note of ours."""
        return parse(text)

    def __post_init__(self) -> None:
        holding = sum(piece.standing == "holds" for piece in self.evidence)
        pointers = tuple(dict.fromkeys(piece.pointer for piece in self.evidence if piece.pointer))
        if self.kept != holding or not 0 <= self.kept <= self.of:
            raise InvalidArgument(f"{holding} pieces hold of {self.of}; the note says {self.kept} of {self.of}")
        if (self.rest == "none") != (self.kept == self.of):
            raise InvalidArgument(f"{self.kept} of {self.of} kept and the rest {self.rest!r} contradict each other")
        if self.sources[: len(pointers)] != pointers:
            raise InvalidArgument(f"sources begin with the pointers of the evidence, {pointers}; got {self.sources}")
        if self.rest == "reachable" and not self.sources:
            raise InvalidArgument("the rest is reachable through pointers; there are none")
        if self.rest != "reachable" and len(self.sources) > len(pointers):
            raise InvalidArgument(
                f"the rest is {self.rest!r}, yet pointers lead to it: {self.sources[len(pointers) :]}"
            )
        if any("\n" in source or find(source) != [source] for source in self.sources):
            raise InvalidArgument(f"a source is a pointer such as fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY; got {self.sources}")
        if "\n" in self.origin or not all(piece.text for piece in self.evidence):
            raise InvalidArgument("an origin is one line, and a piece of evidence has a text")


BLANK = Note()
"""What stands in a note that has room for nothing."""


def render(note: Note) -> str:
    """Write a note as text; a blank one is empty."""
    if note == BLANK:
        return ""
    lines = [_head(note)]
    pointer = ""
    for piece in note.evidence:
        if piece.pointer != pointer:
            lines.append(piece.pointer or "fh:")
            pointer = piece.pointer
        marked = piece.standing != "holds" or piece.text.startswith(tuple(f"{name}: " for name in _STANDINGS))
        lines.append(_indented(f"- {piece.standing}: {piece.text}" if marked else f"- {piece.text}"))
    if note.conclusion:
        lines.append(_indented(_CONCLUDED + note.conclusion))
    return "\n".join(lines)


def parse(text: str) -> Note | None:
    """Read a note that `render` wrote; None for any other text."""
    if not text:
        return BLANK
    lines = text.split("\n")
    head = _compiled(_HEAD).match(lines[0])
    blocks = _blocks(lines[1:])
    if head is None or blocks is None:
        return None
    evidence: list[Evidence] = []
    pointer, conclusion = "", ""
    for block in blocks:
        if conclusion:
            return None
        if block.startswith("fh:"):
            pointer = block.removesuffix("fh:") if block == "fh:" else block
        elif block.startswith("- "):
            evidence.append(_evidence(block[2:], pointer))
        elif block.startswith(_CONCLUDED):
            conclusion = block.removeprefix(_CONCLUDED)
        else:
            return None
    try:
        made = _note(head, tuple(evidence), conclusion)
    except InvalidArgument:  # a text in the form of a note whose parts contradict each other is none: None says so
        return None
    return made if render(made) == text else None


def _note(head: re.Match[str], evidence: tuple[Evidence, ...], conclusion: str) -> Note:
    rest: Rest = "none" if head["rest"] is None else "reachable" if head["rest"] == "is at" else "lost"
    pointers = [piece.pointer for piece in evidence if piece.pointer]
    sources = tuple(dict.fromkeys([*pointers, *(head["where"] or "").split()]))
    trust = Trust(head["trust"]) if head["trust"] else Trust.UNTRUSTED
    return Note(evidence, conclusion, int(head["kept"]), int(head["of"]), rest, sources, head["origin"] or "", trust)


def _head(note: Note) -> str:
    pointers = {piece.pointer for piece in note.evidence}
    beyond = [source for source in note.sources if source not in pointers] or note.sources
    rest = {"none": "", "lost": "; the rest was not kept", "reachable": f"; the rest is at {' '.join(beyond)}"}[
        note.rest
    ]
    origin = f" From {note.origin} ({note.trust})." if note.origin else ""
    return f"{note.kept} of {note.of} statements kept{rest}.{origin}"


def _indented(text: str) -> str:
    return text.replace("\n", f"\n{_MORE}")


def _blocks(lines: list[str]) -> list[str] | None:
    """Join the lines of each piece; None when a further line stands before the first piece."""
    blocks: list[str] = []
    for line in lines:
        if not line.startswith(_MORE):
            blocks.append(line)
        elif blocks:
            blocks[-1] += "\n" + line.removeprefix(_MORE)
        else:
            return None
    return blocks


def _evidence(text: str, pointer: str) -> Evidence:
    for standing in _STANDINGS:
        if text.startswith(f"{standing}: "):
            return Evidence(text.removeprefix(f"{standing}: "), pointer, standing)
    return Evidence(text, pointer)
