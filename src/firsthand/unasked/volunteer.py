"""The one way for text that nobody asked for: into a host's context, and into files that hosts read by themselves.

    pieces -> what the log and the ledger say of each now -> words or only pointer and origin -> no secret, no role tag
           -> laid out -> checked once more -> `Unasked`

A `Piece` carries the pointers that it rests on. The invariant: of what was erased,
quarantined or retracted nothing is passed; of what a tool, a page or somebody else said
only pointer and origin; a secret or a role tag of what is passed is a mark. What takes
text to a host takes `Unasked` and no string, and only this module makes it.

Pure: it is handed what the log says (`Lookup`), what finds secrets, and what fences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Self

from firsthand.moment import Moment, clock
from firsthand.printable import shown
from firsthand.value import replace, value

from . import role_tags, secrets

OURS = "firsthand"
FRAGMENT_CHARACTERS_MIN = 8
"""Of a secret that was cut by who chose the words: so many of its first or last signs are masked too."""
LINE_CHARACTERS_MIN = 16
"""Of a secret of several lines: a line so long is masked by itself."""


class Unasked(str):
    """Text that came through the funnel; it cannot be made of a string."""

    __slots__ = ()

    def __new__(cls, text: str, made_by: object = None) -> Self:
        """Refuse a string: `Funnel` makes it of pieces.

        Raises:
            TypeError: it is not the funnel that makes it.
        """
        if made_by is not _FUNNEL:
            raise TypeError("text that nobody asked for is made by a Funnel of pieces; got a string")
        return super().__new__(cls, text)


_FUNNEL = object()


def _unasked(text: str) -> Unasked:
    return Unasked(text, _FUNNEL)


NOTHING = _unasked("")
DEGRADED = _unasked("a message of firsthand: memory is degraded; run firsthand doctor")


def came_through(text: str) -> Unasked:
    """Give a text that came through the funnel as what it is.

    Raises:
        TypeError: it did not.
    """
    if text and not isinstance(text, Unasked):
        raise TypeError(f"expected text that came through a Funnel; got {type(text).__name__}")
    return text if isinstance(text, Unasked) else NOTHING


class Standing(StrEnum):
    """What may be passed of what rests on an event."""

    WORDS = "words"
    POINTER = "pointer"
    NOTHING = "nothing"


@value
class Source:
    """What the log and the ledger say of an event now.

    Attributes:
        standing: ``nothing`` of what was erased, quarantined, retracted, or is not there.
        origin, time: of the event, as its header has them.
        secrets: those of the whole event, since words may be cut out of the middle of one.
    """

    standing: Standing
    origin: str = ""
    time: Moment | None = None
    secrets: tuple[str, ...] = ()


Lookup = Callable[[str, str], Source]
"""Says what stands of a pointer, for words that rest on it."""


@value
class Piece:
    """A piece of text that nobody asked for.

    Attributes:
        words: verbatim, of the events that it rests on, or our own.
        pointers: of those events; none for our own words.
        facts: of events of which only a fact is told, such as that a call failed: they stand, and give no words.
        head: ours, before the words; it stays where the words do not.
        title: a part of the words that is one line.
        time: when, where no pointer tells.
        origin: who said them, as the funnel found it.
        answers: True for a result that the agent has just asked a tool for: its words are passed.
        name: of a file or an episode, by which it is asked for.
        section: where it goes, of whoever lays it out.
        withheld: True of a piece that was reduced to its pointer and origin.
    """

    words: str
    pointers: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    head: str = ""
    title: str = ""
    time: Moment | None = None
    origin: str = ""
    answers: bool = False
    name: str = ""
    section: str = ""
    withheld: bool = False


Layout = Callable[[Sequence[Piece]], str]


class Funnel:
    """Passes pieces on.

    Args:
        lookup: what the log and the ledger say now.
        fence: puts a fence with a label around a text.
        finder: what finds secrets.
    """

    def __init__(self, lookup: Lookup, fence: Callable[[str, str], str], finder: secrets.Finder = secrets.find) -> None:
        self._lookup, self._fence, self._finder = lookup, fence, finder

    def passed(self, pieces: Iterable[Piece]) -> tuple[Piece, ...]:
        """Give what may be shown of pieces, in order: cleaned, dated, reduced to a pointer, or left out."""
        return tuple(piece for piece in map(self._passed, pieces) if piece is not None)

    def _passed(self, piece: Piece) -> Piece | None:
        words = f"{piece.title}\n{piece.words}"
        sources = [self._lookup(pointer, words) for pointer in piece.pointers]
        stated = [self._lookup(pointer, words) for pointer in piece.facts]
        if any(source.standing is Standing.NOTHING for source in (*sources, *stated)):
            return None
        known = [secret for source in sources for secret in source.secrets]
        first = sources[0] if sources else Source(Standing.WORDS)
        dated = replace(
            piece, head=self._clean(piece.head, known), name=self._clean(piece.name, known),
            origin=self._clean(first.origin, known), time=piece.time or first.time,
        )  # fmt: skip
        if any(source.standing is Standing.POINTER for source in sources) and not piece.answers:
            title = dated.name or withheld(dated.time, dated.origin)
            return replace(dated, title=title, words="", withheld=True)
        return replace(dated, title=self._clean(piece.title, known), words=self._clean(piece.words, known))

    def _clean(self, words: str, known: Sequence[str]) -> str:
        if not words:
            return words
        return role_tags.plain(without_parts(secrets.mask(words, self._finder), known))

    def written(self, pieces: Iterable[Piece], layout: Layout) -> Unasked:
        """Lay out what may be shown of pieces, without a fence; nothing where nothing may."""
        passed = self.passed(pieces)
        return _unasked(self._checked(layout(passed))) if passed else NOTHING

    def sealed(self, text: Unasked, label: str) -> Unasked:
        """Put a fence around a text that came through the funnel."""
        return _unasked(self._fence(text, label)) if text else NOTHING

    def line(self, text: str) -> Unasked:
        """Pass a line of our own."""
        return self.written([Piece(text)], lambda pieces: pieces[0].words)

    def _checked(self, text: str) -> str:
        """Clean what was laid out once more: parts that are harmless alone may make a secret or a tag together."""
        return shown(role_tags.plain(secrets.mask(text, self._finder)), lines=True)


def joined(parts: Iterable[Unasked], by: str = "\n") -> Unasked:
    """Join texts that came through the funnel."""
    return _unasked(by.join(parts))


def withheld(time: Moment | None, origin: str) -> str:
    """Write what stands for words that are not passed: when, and whose they are."""
    when = f"{clock(time)}  " if time is not None else ""
    return f"{when}words of {shown(origin) or 'somebody else'}, not shown unasked"


def without_parts(words: str, known: Sequence[str]) -> str:
    """Mask secrets that are known from where words were taken, and what a cut left of them."""
    for secret in sorted(set(known), key=len, reverse=True):
        parts = [secret]
        if "\n" in secret or "\\n" in secret or len(secret) > 400:
            parts += [line.strip() for line in secret.replace("\\n", "\n").splitlines()]
        for part in parts:
            if len(part) >= LINE_CHARACTERS_MIN or part == secret:
                words = _without(words, part)
    return words


def _without(words: str, secret: str) -> str:
    mark = "[secret:part]"
    words = words.replace(secret, mark)
    size = FRAGMENT_CHARACTERS_MIN
    if len(secret) <= size:
        return words
    at = words.find(secret[:size])
    while at >= 0:
        end = at + size
        while end < len(words) and end - at < len(secret) and words[end] == secret[end - at]:
            end += 1
        words = f"{words[:at]}{mark}{words[end:]}"
        at = words.find(secret[:size], at + len(mark))
    at = words.find(secret[-size:])
    while at >= 0:
        start = at
        while start > 0 and words[start - 1] == secret[start - at - size - 1]:
            start -= 1
        words = f"{words[:start]}{mark}{words[at + size :]}"
        at = words.find(secret[-size:], start + len(mark))
    return words
