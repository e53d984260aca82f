r"""Finds which statements determine what a session concluded: the line items of a sum, the clues of a puzzle, a slot.

    "What is the total before tax?" ... "The total comes to $55."
    -> a claim: concluded $55, needs the line items, rejected the things that were not bought

The invariant: what a claim needs was said by somebody or stands in a tool's result;
what an agent concluded, confirmed or repeated is never among it, unless nobody else
said anything about it.

It does not know the answer (`solve` does), nor how much of it fits (`distill` does).
Source: reclaim-evaluation 3, 6, 11 (what is to be kept is known before the correction is).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property

from firsthand.value import replace
from firsthand_evals.probe import facts, slots
from firsthand_evals.probe.claim import AGENT_ROLES, TOOL_ROLES, Claim, How
from firsthand_evals.probe.clues import Clue, Puzzle, clue_of, is_listing, may_be_clue, puzzle_of
from firsthand_evals.probe.facts import Basket, Fact
from firsthand_evals.probe.spoken import spoken
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value

__all__ = ["AGENT_ROLES", "Claim", "Known", "claim_of", "determine", "is_said"]

CLAIMS_MAX = 64  # of one call: the newest questions and conclusions
CLUES_MAX = 400  # statements that are looked at as clues
CLUE_CHARACTERS_MAX = 300  # of one


_compiled = cache(re.compile)
_ASKS = (
    r"\b(?:what|which|who|whose|when|where|how (?:much|many|long)|give me|tell me|calculate|compute"
    r"|work out|add up|sum up"
    r"|find out|wie viel|wer|wann|combien|qui|cu\u00e1nto|qui\u00e9n)\b|\u591a\u5c11|\u8c01|\u5408\u8ba1"
)
_WHO = (
    r"\b(?:who|whose|which (?:person|seat|one|colou?r|role|job|place|house)|what (?:role|job|colou?r"
    r"|position)|where does|where is|wer|qui|qui\u00e9n)\b|\u8c01"
)
_SUM = (
    r"\b(?:totals?|sums?|in all|altogether|together|how much (?:is|was|did|do|does|are|will|would)|overall"
    r"|amount|bill|paid|pay|owe|spent|spend"
    r"|cost in|costs?\b(?! of)|grand|gesamt|insgesamt|zusammen|combien|cu\u00e1nto|in dollars|in euros?)\b|\u591a\u5c11"
    r"|\u5408\u8ba1|\u603b"
)
_SUBTOTAL = (
    r"\b(?:sub ?-?totals?|line totals?|price|cost|amount) (?:of|for) (?:the )?|\bhow much (?:are|is|were"
    r"|was|did|do) the "
)
_AVERAGE = r"\b(?:average|mean|durchschnitt|moyenne|promedio)\b"
_LEAVES = r"\b(?:leave|leaving|left|check ?-?out|return|ends?|due|expire\w*|deadline|finish\w*|until|back)\b"


def determine(statements: Sequence[Statement]) -> tuple[Claim, ...]:
    """Find the claims of a session, the ones that are worked out of several statements first."""
    return Known(statements).claims()


def claim_of(statements: Sequence[Statement], what: str) -> Claim:
    """Give the claim that words ask for, with what it needs of these statements."""
    return Known(statements).asked(what)


def is_said(one: Statement) -> bool:
    """Say whether a statement comes from somebody other than the agent, and is more than a conclusion."""
    return one.role not in AGENT_ROLES and one.role != "system"


class Known:
    """What all claims of one list of statements share."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = statements
        said = facts.facts(statements)
        own = [fact for fact in said if is_said(statements[fact.place])]
        self.facts: Sequence[Fact] = own
        if not any(fact.sort in {"line", "amount", "price"} for fact in own):
            lines = [fact for fact in said if fact.sort == "line"]  # nobody but an agent listed anything
            self.facts = said if len(lines) > 1 else own
        self.basket: Basket = facts.basket(self.facts, statements)
        self.clue_places = self._clue_places()
        self.puzzle: Puzzle = puzzle_of([statements[place].text for place in self.clue_places])
        self.clues: dict[int, Clue] = {
            place: clue
            for place in self.clue_places
            if (clue := clue_of(statements[place].text, self.puzzle)) is not None
        }

    def _clue_places(self) -> list[int]:
        """Give the places of what may be a clue: prose with a name, by others than the agent; the newest ones."""
        found = [
            place
            for place, one in enumerate(self.statements)
            if one.form not in {"question", "header", "heading", "row"}
            and not one.asserts
            and is_said(one)
            and len(one.text) <= CLUE_CHARACTERS_MAX
            and may_be_clue(one.text)
            and not _compiled(_ASKS).search(one.text.lower())
        ]
        return found[-CLUES_MAX:]

    # claims -----------------------------------------------------------------------------------------

    def claims(self) -> tuple[Claim, ...]:
        """Give the claims: what was asked, what an agent concluded unasked, what was set, looked up and told."""
        found: dict[tuple[str, tuple[int, ...]], Claim] = {}
        for place in self._questions()[-CLAIMS_MAX:]:
            self._take(found, self.asked(self.statements[place].text, beside=place), self._answers(place))
        for one in self.statements:
            if one.role in AGENT_ROLES and one.asserts and one.values and len(found) < CLAIMS_MAX:
                worked_out = self.worked_out(one.text)
                if worked_out is not None:
                    self._take(found, worked_out, one.values)
        taken = {place for claim in found.values() if claim.how in _WORKED_OUT for place in _all(claim)}
        for claim in spoken(self.statements, taken | set(self.clues)):
            self._take(found, claim, claim.concluded)
        order = {how: rank for rank, how in enumerate(_ORDER)}
        kept = sorted(found.values(), key=lambda claim: order[claim.how])
        return _standing(kept) or self._unknown()

    def _take(self, found: dict[tuple[str, tuple[int, ...]], Claim], claim: Claim, concluded: Iterable[Value]) -> None:
        """Add a claim, or what was concluded to the one that needs the same."""
        if not claim.needs:
            return
        key = (claim.how, claim.needs)
        known = found.get(key, claim)
        values = tuple(dict.fromkeys((*known.concluded, *concluded)))
        found[key] = replace(known, concluded=values)

    def _questions(self) -> list[int]:
        return [
            place
            for place, one in enumerate(self.statements)
            if one.role not in AGENT_ROLES
            and one.role not in {"tool", "system"}
            and (one.form == "question" or _compiled(_ASKS).search(one.text.lower()))
        ]

    def _answers(self, place: int) -> tuple[Value, ...]:
        """Give the values of the agent's message behind a question."""
        turn = self.statements[place].turn
        behind = [one for one in self.statements[place + 1 :][:64] if one.role in AGENT_ROLES and one.turn > turn]
        return tuple(value for one in behind if one.turn == behind[0].turn for value in one.values)

    def asked(self, what: str, *, beside: int | None = None) -> Claim:
        """Give the claim that words ask for; where they stand themselves, they are no answer."""
        claim = self.worked_out(what)
        if claim is not None:
            return claim
        slot = slots.find(self.statements, what, agents=False, beside=beside, index=self.index)
        if slot is None:
            return Claim(what, "unknown")
        tools = all(self.statements[place].role in TOOL_ROLES for place in slot.places)
        return Claim(what, "lookup" if tools else "assignment", needs=slot.places)

    def worked_out(self, what: str) -> Claim | None:
        """Give the claim that words ask for, when it is worked out of several statements; else None."""
        low = what.lower()
        who = _compiled(_WHO).search(low) is not None or any(name in what for name in self.puzzle.people)
        if who and self.clues and len(self.puzzle.people) >= 2:
            return self._puzzled(what)
        if _compiled(_AVERAGE).search(low) and self.basket.lines:
            return self._summed(what, "average")
        if _compiled(_SUBTOTAL).search(low) and self.line_of(what) is not None:
            return self._of_line(what)
        if _compiled(_SUM).search(low) and self.summable:
            return self._summed(what, "sum of products")
        if _compiled(_LEAVES).search(low) and (span := self.span()) is not None:
            return Claim(what, "span", needs=span)
        return None

    @cached_property
    def index(self) -> slots.Index:
        """Where each word stands."""
        return slots.index_of(self.statements)

    @cached_property
    def summable(self) -> bool:
        """Whether there is anything to add up."""
        counted = self.basket.counted
        return any(line.price is not None for line in counted) or len(counted) > 1

    def _summed(self, what: str, how: How) -> Claim:
        needs, rejected, replaced = self._summands
        return Claim(what, how, needs=needs, rejected=rejected, replaced=replaced)

    @cached_property
    def _summands(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The places of what a sum needs, of what was not chosen, and of what no longer holds."""
        needs = {place for line in self.basket.counted or self.basket.lines for place in line.places}
        needs |= {fact.place for fact in self.basket.modifiers if self.statements[fact.place].form != "question"}
        needs |= {self._headers[place] for place in needs if place in self._headers}
        replaced = tuple(place for place in self.basket.replaced if place not in needs)
        rejected = tuple(place for place in self.basket.rejected if place not in needs)
        return tuple(sorted(needs)), rejected, replaced

    @cached_property
    def _headers(self) -> dict[int, int]:
        """Of each row that stands below a row of names, the place of that."""
        headers: dict[int, int] = {}
        header = -1
        for place, one in enumerate(self.statements):
            if one.form == "header":
                header = place
            elif one.form != "row" or (header >= 0 and self.statements[header].turn != one.turn):
                header = -1
            elif header >= 0:
                headers[place] = header
        return headers

    def line_of(self, what: str) -> facts.Line | None:
        """Give the line that words name; None when they name none."""
        words = facts.named(what) - subject_of("subtotal total price cost amount line")
        named = [line for line in self.basket.lines if line.name and line.name & words]
        return max(named, key=lambda line: len(line.name & words), default=None)

    def _of_line(self, what: str) -> Claim:
        line = self.line_of(what)
        return Claim(what, "subtotal", needs=line.places if line is not None else ())

    def _puzzled(self, what: str) -> Claim:
        listings = [place for place in self.clue_places if is_listing(self.statements[place].text, self.puzzle)]
        return Claim(what, "constraints", needs=tuple(sorted({*self.clues, *listings})))

    def span(self) -> tuple[int, ...] | None:
        """Give the places of one whole date and one duration, None when there are not these two."""
        dates = [place for place, one in enumerate(self.statements) if _has(one, "date", "") and is_said(one)]
        spans = [place for place, one in enumerate(self.statements) if _has(one, "duration", "") and is_said(one)]
        if not dates or not spans:
            return None
        return tuple(sorted({dates[-1], spans[-1]}))

    def _unknown(self) -> tuple[Claim, ...]:
        """Give one claim over all that was said with values, when nothing was asked or concluded."""
        said = [
            place for place, one in enumerate(self.statements)
            if one.values and one.polarity and is_said(one) and one.form != "question" and one.asserts != "claim"
        ]  # fmt: skip
        return (Claim("", "unknown", needs=tuple(said)),) if said else ()


_ORDER: tuple[How, ...] = (
    "constraints", "sum of products", "average", "subtotal", "span", "assignment", "lookup", "told", "unknown",
)  # fmt: skip
_WORKED_OUT = frozenset(_ORDER[:5])


def _all(claim: Claim) -> tuple[int, ...]:
    return (*claim.needs, *claim.rejected, *claim.replaced)


def _standing(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Take what no longer holds out of what others need: the last word stands."""
    gone = {place for claim in claims for place in claim.replaced}
    kept = [replace(claim, needs=tuple(place for place in claim.needs if place not in gone)) for claim in claims]
    return tuple(claim for claim in kept if claim.needs)


def _has(one: Statement, kind: str, unit: str) -> bool:
    return not one.asserts and any(value.kind == kind and value.unit == unit for value in one.values)
