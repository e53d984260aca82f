r"""Distils messages into a note of what was said, under a budget, without reading what any of it means.

Statements of users and tools, verbatim, each with the pointer of its message; how many of
how many there are, and where the rest is. Where not all fit, those that hold a figure or an
exact string come first, in the order in which they were said.

The invariants: the rendered note never exceeds the budget, whatever it is; every piece of
evidence is a substring of its message; a note that leaves a statement out says so. Where not
even that fits, the note is blank. What an agent said is no source, and is not carried.

It does not know what is concluded, nor whether the note suffices for it.
Source: reclaim-evaluation 3, 5.3, 7 (source first, k of n).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from firsthand.errors import InvalidArgument, MalformedPointer
from firsthand.event import Trust
from firsthand.notes.note import BLANK, Evidence, Note, Rest, render
from firsthand.pointer import parse as parse_pointer
from firsthand.value import value

AGENT_ROLES = frozenset({"assistant", "agent", "ai", "model"})
STATEMENTS_MAX = 2_000  # of one note; each further one counts as left out
REST_POINTERS_MAX = 8  # that a note names one by one; more of them are one span, or none

_TRUST = {"user": Trust.TRUSTED, "human": Trust.TRUSTED, "system": Trust.TRUSTED}
_compiled = cache(re.compile)
_ENDS = r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+"  # of a statement: a sign that ends one, or a line
_ASKS = ("?", "\uff1f")
_EXACT = r"\d|[A-Za-z]\w*[_/@:#][\w/]|`|\"[^\"\n]+\""  # a figure, or a string that is written in one way alone


@value
class _Statement:
    """One statement; ``turn`` is the place of its message."""

    text: str
    role: str
    pointer: str
    turn: int

    @property
    def is_exact(self) -> bool:
        """True when it holds a figure or an exact string."""
        return _compiled(_EXACT).search(self.text) is not None


def distill(
    messages: Sequence[Mapping[str, Any]], budget: int, *, count: Callable[[str], int] = len, origin: str = ""
) -> Note:  # fmt: skip
    """Distil messages of one session, in order, into a note whose text fits a budget.

    Args:
        messages: each with ``role`` and ``content``, a text; ``pointer`` where it has one.
        budget: of the rendered note, as `count` counts it: characters, unless it counts tokens.
        origin: who writes it; the note then also says how far its words may be believed.

    Raises:
        InvalidArgument: the budget is negative, or a message has no text as its content.
    """
    if budget < 0:
        raise InvalidArgument(f"a budget is 0 or more; got {budget}")
    statements = [statement for at, message in enumerate(messages) for statement in _statements(at, message)]
    return _Layout(statements, budget, count, origin).note() if statements else BLANK


def _statements(turn: int, message: Mapping[str, Any]) -> Iterator[_Statement]:
    """Yield what a user or a tool states in a message: all but questions without a figure or an exact string."""
    role, content, pointer = str(message.get("role", "")), message.get("content"), str(message.get("pointer") or "")
    if not isinstance(content, str):
        raise InvalidArgument(f"a message has a text as its content; message {turn + 1} has {type(content).__name__}")
    if role.lower() in AGENT_ROLES:
        return
    for piece in _compiled(_ENDS).split(content):
        statement = _Statement(piece.strip(), role, pointer, turn)
        if statement.text and (statement.is_exact or not statement.text.endswith(_ASKS)):
            yield statement


class _Layout:
    """Fits one note into its budget."""

    def __init__(
        self, statements: Sequence[_Statement], budget: int, count: Callable[[str], int], origin: str
    ) -> None:  # fmt: skip
        self.statements, self.budget, self.count, self.origin = statements, budget, count, origin

    def note(self) -> Note:
        """Give the fullest note that fits: with pointers, else without."""
        every = range(min(len(self.statements), STATEMENTS_MAX))
        for pointed in (True, False):
            whole = self._made(every, pointed=pointed)
            if self._fits(whole):
                return whole
        for pointed in (True, False):
            if self._fits(self._made((), pointed=pointed)):
                return self._part(pointed=pointed)
        return BLANK

    def _part(self, *, pointed: bool) -> Note:
        """Keep as many statements as fit, those with a figure or an exact string first."""
        chosen: list[int] = []
        used = self.count(render(self._made((), pointed=pointed)))
        turns: set[int] = set()
        order = sorted(range(len(self.statements)), key=lambda at: not self.statements[at].is_exact)
        for at in order[:STATEMENTS_MAX]:
            statement = self.statements[at]
            cost = self.count(f"\n- {statement.text}")
            if pointed and statement.pointer and statement.turn not in turns:
                cost += self.count(f"\n{statement.pointer}")
            if used + cost <= self.budget:
                used += cost
                turns.add(statement.turn)
                chosen.append(at)
        made = self._made(chosen, pointed=pointed)
        while chosen and not self._fits(made):  # the digits of k, or a count that is no sum of its parts
            chosen.pop()
            made = self._made(chosen, pointed=pointed)
        return made if self._fits(made) else BLANK

    def _fits(self, note: Note) -> bool:
        return self.count(render(note)) <= self.budget

    def _made(self, chosen: Sequence[int], *, pointed: bool) -> Note:
        """Make the note of some statements, in the order of the session."""
        places = sorted(chosen)
        evidence = tuple(self._evidence(self.statements[at], pointed=pointed) for at in places)
        pointers = tuple(dict.fromkeys(piece.pointer for piece in evidence if piece.pointer))
        there = set(places)
        left = [statement for at, statement in enumerate(self.statements) if at not in there]
        beyond = _beyond(left, pointers) if pointed else None
        rest: Rest = "none" if not left else "lost" if beyond is None else "reachable"
        trust = max((_trust(self.statements[at]) for at in places), default=Trust.UNTRUSTED)
        return Note(
            evidence, "", len(places), len(self.statements), rest, (*pointers, *(beyond or ())), self.origin,
            trust if self.origin else Trust.UNTRUSTED,
        )  # fmt: skip

    @staticmethod
    def _evidence(statement: _Statement, *, pointed: bool) -> Evidence:
        return Evidence(statement.text, statement.pointer if pointed else "")


def _beyond(left: Sequence[_Statement], evidence_pointers: Sequence[str]) -> tuple[str, ...] | None:
    """Give the pointers to what is left out, but for those that are shown; None when some of it has none.

    A message of which a part is kept is shown and left out: then one span reaches from the first to the last of all.
    """
    pointers = [*dict.fromkeys(statement.pointer for statement in left)]
    if not all(pointers):
        return None
    hidden = [pointer for pointer in pointers if pointer not in evidence_pointers]
    if not hidden or (len(hidden) == len(pointers) <= 2):
        return tuple(hidden)
    if all(map(_is_whole, pointers)):
        return (f"{pointers[0]}..{pointers[-1].removeprefix('fh:')}",)
    return tuple(hidden) if len(hidden) == len(pointers) <= REST_POINTERS_MAX else None


def _trust(statement: _Statement) -> Trust:
    return _TRUST.get(statement.role, Trust.UNTRUSTED)


def _is_whole(pointer: str) -> bool:
    """Say whether a pointer leads to one whole event, so that it can be the end of a span."""
    try:
        address = parse_pointer(pointer)
    except MalformedPointer:  # an address of another system: False, no span is made of it
        return False
    return address.last is None and not address.source and not address.unit
