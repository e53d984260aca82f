r"""Distils messages into a source-first note under a budget, without a model.

What determines the concluded values comes first, verbatim, each piece with the
pointer of its message; then how complete that is, and where the rest is; then, only
when everything fits, what was not chosen or no longer holds, and the conclusion, unless
the source gives another value.

The invariants: the rendered note never exceeds the budget, whatever it is; every
piece of evidence is a substring of its message; a note that does not hold all that
determines what was concluded says so. Where not even that fits, the note is blank.

It does not know whether the note suffices: that is for the probe.
Source: reclaim-evaluation 3, 5.3, 7 (source first, conclusion last, k of n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from firsthand.errors import InvalidArgument, MalformedPointer
from firsthand.event import Trust
from firsthand.notes.claim import AGENT_ROLES, Claim
from firsthand.notes.correcting import equal
from firsthand.notes.determine import determine
from firsthand.notes.note import BLANK, Evidence, Note, Rest, Standing, render
from firsthand.notes.solve import recompute
from firsthand.notes.statements import Message, Statement, cut
from firsthand.pointer import parse as parse_pointer

PIECES_MAX = 2_000  # of one note
REST_POINTERS_MAX = 8  # that a note names one by one; more of them are one span, or none

_TRUST = {"user": Trust.TRUSTED, "human": Trust.TRUSTED, "system": Trust.TRUSTED} | dict.fromkeys(
    AGENT_ROLES, Trust.AGENT
)


def distill(messages: Sequence[Message], budget: int, *, count: Callable[[str], int] = len, origin: str = "") -> Note:
    """Distil messages of one session, in order, into a note whose text fits a budget.

    Args:
        budget: of the rendered note, as `count` counts it: characters, unless it counts tokens.
        origin: who writes it; the note then also says how far its words may be believed.

    Raises:
        InvalidArgument: the budget is negative, or a message has no text as its content.
    """
    if budget < 0:
        raise InvalidArgument(f"a budget is 0 or more; got {budget}")
    read = cut(messages)
    claims = determine(read.statements)
    return note_of(read.statements, claims, budget, count=count, origin=origin, unread=read.unread)


def note_of(
    said: Sequence[Statement], claims: Sequence[Claim], budget: int, *, count: Callable[[str], int] = len,
    origin: str = "", unread: Sequence[str] = (),
) -> Note:  # fmt: skip
    """Lay out what claims need as a note whose text fits a budget.

    Args:
        unread: pointers of messages of which a limit left something out: each counts as a statement that is not kept.
    """
    return _Layout(said, claims, budget, count, origin, unread).note()


class _Layout:
    """Fits one note into its budget."""

    def __init__(
        self, said: Sequence[Statement], claims: Sequence[Claim], budget: int, count: Callable[[str], int], origin: str,
        unread: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.unread = tuple(unread)
        self.said, self.claims, self.budget, self.count, self.origin = said, claims, budget, count, origin
        self.needs = list(dict.fromkeys(place for claim in claims for place in claim.needs))
        others = [("replaced", claim.replaced) for claim in claims] + [
            ("not chosen", claim.rejected) for claim in claims
        ]
        self.others: dict[int, Standing] = {}
        for standing, places in others:
            for place in places:
                if place not in self.needs:
                    self.others.setdefault(place, "replaced" if standing == "replaced" else "not chosen")

    def note(self) -> Note:
        """Give the fullest note that fits."""
        if not self.needs:
            return BLANK
        for pointed in (True, False):
            whole = self._made(self.needs[:PIECES_MAX], pointed=pointed)
            if len(self.needs) <= PIECES_MAX and self._fits(whole):
                return self._with_more(whole, pointed=pointed)
        return self._part()

    def _with_more(self, whole: Note, *, pointed: bool) -> Note:
        """Add what was not chosen or no longer holds, and the conclusion when all of it fits."""
        others = list(self.others)
        full = self._made(self.needs, others, pointed=pointed)
        if self._fits(full):
            concluded = self._made(self.needs, others, self._conclusion(), pointed=pointed)
            return concluded if self._fits(concluded) else full
        low, high = 0, len(others)
        while low < high:  # as many as fit: a note with more of them is never shorter
            middle = (low + high + 1) // 2
            fits = self._fits(self._made(self.needs, others[:middle], pointed=pointed))
            low, high = (middle, high) if fits else (low, middle - 1)
        return self._made(self.needs, others[:low], pointed=pointed) if low else whole

    def _part(self) -> Note:
        """Keep as many of the pieces as fit, the way to the rest before them."""
        for pointed in (True, False):
            empty = self._made([], pointed=pointed)
            if self._fits(empty):
                break
        else:
            return BLANK
        chosen: list[int] = []
        used = self.count(render(empty))
        turns: set[int] = set()
        for place in self.needs[:PIECES_MAX]:
            one = self.said[place]
            cost = self.count(f"\n- {one.text}") + 2 * one.text.count("\n")
            if pointed and one.pointer and one.turn not in turns:
                cost += self.count(f"\n{one.pointer}")
            if used + cost <= self.budget:
                used += cost
                turns.add(one.turn)
                chosen.append(place)
        made = self._made(chosen, pointed=pointed)
        while chosen and not self._fits(made):  # the digits of k, or a count that is no sum of its parts
            chosen.pop()
            made = self._made(chosen, pointed=pointed)
        return made if self._fits(made) else BLANK

    def _fits(self, note: Note) -> bool:
        return self.count(render(note)) <= self.budget

    def _made(self, chosen: Iterable[int], others: Iterable[int] = (), conclusion: str = "", *, pointed: bool) -> Note:
        """Make the note of some pieces, in the order of the session."""
        holding = sorted(chosen)
        evidence = [self._evidence(place, "holds", pointed=pointed) for place in holding]
        evidence += [self._evidence(place, self.others[place], pointed=pointed) for place in sorted(others)]
        shown = tuple(dict.fromkeys(one.pointer for one in evidence if one.pointer))
        kept = set(holding)
        left = [place for place in self.needs if place not in kept]
        beyond = self._beyond(left, shown) if pointed else None
        rest: Rest = "none" if not (left or self.unread) else "lost" if beyond is None else "reachable"
        trust = max((_TRUST.get(self.said[place].role, Trust.UNTRUSTED) for place in holding), default=Trust.UNTRUSTED)
        return Note(
            tuple(evidence), conclusion, len(holding), len(self.needs) + len(self.unread), rest,
            (*shown, *(beyond or ())), self.origin,
            trust if self.origin else Trust.UNTRUSTED,
        )  # fmt: skip

    def _evidence(self, place: int, standing: Standing, *, pointed: bool) -> Evidence:
        one = self.said[place]
        return Evidence(one.text, one.pointer if pointed else "", standing)

    def _beyond(self, left: Sequence[int], shown: Sequence[str]) -> tuple[str, ...] | None:
        """Give the pointers to what is left out, but for those that are shown; None when some of it has none."""
        pointers = [*(self.said[place].pointer for place in sorted(left)), *self.unread]
        if not all(pointers):
            return None
        hidden = [one for one in dict.fromkeys(pointers) if one not in shown]
        if len(hidden) > 2 and all(map(_is_whole, hidden)):
            return (f"{hidden[0]}..{hidden[-1].removeprefix('fh:')}",)
        return tuple(hidden) if len(hidden) <= REST_POINTERS_MAX else None

    def _conclusion(self) -> str:
        """Give the last words with which an agent stated what the first claim came to; empty when it did not.

        What the note's own source contradicts is not carried: a small reader says it again, though the source beside
        it gives another value (bench/RECLAIM-MODEL.md), and any reader can work it out anew.
        """
        claim = self.claims[0]
        found = recompute([self.said[place] for place in claim.needs], claim)
        if found is not None and not any(equal(found, one) for one in claim.concluded):
            return ""
        concluded = set(claim.concluded)
        stated = [
            one.text
            for one in self.said
            if one.role in AGENT_ROLES and one.asserts and any(held in concluded for held in one.values)
        ]
        return stated[-1] if stated else ""


def _is_whole(pointer: str) -> bool:
    """Say whether a pointer leads to one whole event, so that it can be the end of a span."""
    try:
        found = parse_pointer(pointer)
    except MalformedPointer:  # an address of another system: False, no span is made of it
        return False
    return found.last is None and not found.source and not found.unit
