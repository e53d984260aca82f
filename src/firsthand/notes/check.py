r"""Checks claims against the log, without a model: what stands there, and what its arithmetic gives.

    quotes -> the events that hold them, byte for byte -> the values in them -> the work -> what the claim states

The invariants: a claim is `worked out` only when every value of its work stands, whole, in
a quote that is in the log and was said by a user, a tool or a document, its work computes,
each operand counts, and the claim states the result; a check never says more than it
checked, and each fault says how to mend it.

What it can never catch, and says so wherever it is described: quotes that do not entail the
claim, conditions ("not", "unless") around a quote, swapped names, statements that no longer
hold, true sums of the wrong values. So quotes are shown with their whole lines.
Source: reclaim-evaluation 3, 7, 12.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from typing import Literal as OneOf

from firsthand.errors import PointerError
from firsthand.event import INJECTED, Event, Kind, Trust, texts, to_text
from firsthand.formats.tool_definitions import is_own
from firsthand.index.words import exact_strings
from firsthand.notes.claim import CLAIMS, FIELDS, Claim, Proof, claims_of, counted, proofs_of
from firsthand.notes.quantity import Literal, Quantity, literals
from firsthand.notes.sources import events_named
from firsthand.notes.work import Work, WorkError, holds, read, same
from firsthand.pointer import Pointer, parse
from firsthand.space import Space
from firsthand.value import value

LOOK_EVENTS_MAX = 5_000
"""Of a session, its newest: where quotes without a pointer are looked for."""
SPAN_EVENTS_MAX = 200
EVENT_BYTES_MAX = 4_000_000
"""Of an event's content, in which quotes are looked for."""
LINE_CHARACTERS_MAX = 400
WITHIN = "within"
"""The fact in a pending claim that names the sessions in which its quotes are looked for."""
_NEAR_LINES_MAX = 2_000
_SOURCES = (Kind.USER_MESSAGE, Kind.TOOL_RESULT, Kind.SYSTEM, Kind.ATTACHMENT, Kind.DOCUMENT, Kind.OTHER)
_OWN_WORDS = (Kind.AGENT_MESSAGE, Kind.REASONING, Kind.TOOL_CALL, Kind.NOTE)
_BY = {Kind.USER_MESSAGE: "user", Kind.TOOL_RESULT: "tool"}


@value
class Quoted:
    """A quote, where it stands.

    Attributes:
        pointer: of the newest event that holds it; empty when none does.
        events: how many of those looked at hold it.
        line: its whole lines, as they stand in that event; longer ones are cut around the quote.
        start: where in `line` the quote begins.
        by: ``user``, ``tool``, ``document`` or ``agent``; what rests on an agent alone proves nothing.
    """

    quote: str
    pointer: str = ""
    events: int = 0
    line: str = ""
    start: int = 0
    by: str = ""

    def literals(self) -> Iterator[Literal]:
        """Yield the values that stand whole in the quote: a quote cut out of ``$45`` has no ``$4``."""
        for literal in literals(self.line):
            if self.start <= literal.start and literal.end <= self.start + len(self.quote):
                yield literal


@value
class Checked:
    """What a check says of a claim.

    Attributes:
        proof: on its value.
        source: ``in the note`` where each quote stands in the log, ``by pointer`` where only pointers lead to it,
            ``nowhere`` else.
        quoted: its quotes, where they stand.
        reasons: why it is no more than it is, each with how to mend it.
    """

    claim: Claim
    proof: Proof
    source: OneOf["in the note", "by pointer", "nowhere"]
    quoted: tuple[Quoted, ...] = ()
    reasons: tuple[str, ...] = ()

    def as_fact(self, within: Sequence[str]) -> dict[str, Any]:
        """Give it as it stands in a note's meta: the claim, its proof, where its quotes stand, or are to be found."""
        pointers = list(dict.fromkeys(piece.pointer for piece in self.quoted if piece.pointer))
        places = {"at": pointers} if pointers and self.source == "in the note" else {}
        waits = {WITHIN: list(within)} if self.proof is Proof.PENDING else {}
        return self.claim.as_json() | places | {"proof": str(self.proof)} | waits

    @property
    def sentence(self) -> str:
        """The verdict on one line."""
        why = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        return f"{self.proof}: {self.claim.says}{why}"


def check(
    space: Space,
    claims: Iterable[Claim],
    *,
    within: Sequence[str] = (),
    before: int | None = None,
    open_turn: bool = False,
) -> tuple[Checked, ...]:
    """Check claims against a namespace.

    Args:
        within: sessions in which quotes without a pointer are looked for, newest event first.
        before: only events before this position count.
        open_turn: the log lacks what was said in this turn, so that a quote that is nowhere may still come.
    """
    log = _Texts(space, tuple(within), before)
    return tuple(_check(claim, log, open_turn=open_turn) for claim in claims)


def recheck(space: Space, note: Event) -> tuple[Checked, ...]:
    """Check the claims that a note was written with, as the log is now: what was pending is settled by it.

    Raises:
        InvalidArgument: what its meta holds are no claims of ours.
    """
    raw = note.meta.get(CLAIMS)
    members = [member for member in raw if isinstance(member, dict)] if isinstance(raw, list) else []
    claims = claims_of([{name: field for name, field in member.items() if name in FIELDS} for member in members])
    within = tuple(dict.fromkeys(name for member in members for name in texts(member.get(WITHIN))))
    return check(space, claims, within=within or (note.session,), before=_turn_end(space, within, note))


def proofs(space: Space, note: Event) -> str:
    """Say what was found of a note's claims, such as ``1 worked out, 2 unproven``; empty for a note without claims.

    As it was when the note was written, and of what was pending then as it is now.
    """
    said = proofs_of(note.meta)
    return counted(claim.proof for claim in recheck(space, note)) if Proof.PENDING in said else said


def _turn_end(space: Space, within: Sequence[str], note: Event) -> int:
    """Give the position before which the turn of a note ends: what its claims wait for may be read in after it."""
    ends = [note.position]
    for session in within:
        for event in space.events(session, after=note.position):
            if event.kind is Kind.USER_MESSAGE and event.time and note.time and event.time > note.time:
                break
            ends.append(event.position + 1)
    return max(ends)


def _check(claim: Claim, log: _Texts, *, open_turn: bool) -> Checked:
    missing = [address for address in claim.at if not log.under(address)]
    quoted = tuple(log.quoted(quote, claim) for quote in claim.quotes)
    reasons = [f"{address} leads to nothing in this namespace; leave it out or name the event" for address in missing]
    source: OneOf["in the note", "by pointer", "nowhere"] = "in the note"
    if not quoted:
        source = "by pointer" if claim.at and not missing else "nowhere"
        reasons.append("no quote; quote word for word what it rests on")
        return Checked(claim, Proof.UNPROVEN, source, quoted, tuple(reasons))
    lost = [place for place, piece in enumerate(quoted, 1) if not piece.pointer]
    if lost:
        reasons += [
            _mend(place, quoted[place - 1].quote, log.nearest(quoted[place - 1].quote, claim)) for place in lost
        ]
        pending = open_turn and not claim.at
        return Checked(claim, Proof.PENDING if pending else Proof.UNPROVEN, "nowhere", quoted, tuple(reasons))
    reasons += [
        f"quote {place} rests only on what an agent wrote; quote the user or a tool"
        for place, piece in enumerate(quoted, 1) if piece.by == "agent"
    ]  # fmt: skip
    if claim.by and (others := {piece.by for piece in quoted} - {claim.by, "agent"}):
        reasons.append(f"{claim.by} is named, but {' and '.join(sorted(others))} said it")
    if reasons:
        return Checked(claim, Proof.UNPROVEN, source, quoted, tuple(reasons))
    proof, faults = _worked(claim, quoted) if claim.work.strip() else _cited(claim, quoted)
    return Checked(claim, proof, source, quoted, tuple(faults))


def _mend(place: int, quote: str, nearest: str) -> str:
    where = f"copy from: '{nearest}'" if nearest else "no line looked at is like it; name its event under 'at'"
    return f"quote {place}: not word for word; {where}" if len(quote) > 1 else f"quote {place} is too short"


# values ----------------------------------------------------------------------------------------------


def _cited(claim: Claim, quoted: Sequence[Quoted]) -> tuple[Proof, list[str]]:
    faults = _unquoted(claim.says, quoted, ())
    return (Proof.UNPROVEN if faults else Proof.CITED), faults


def _worked(claim: Claim, quoted: Sequence[Quoted]) -> tuple[Proof, list[str]]:
    try:
        work = read(claim.work)
    except WorkError as error:
        return Proof.UNPROVEN, [f"work: {error}"]
    faults = [
        f"work: {literal.text} stands in no quote; quote where it is said"
        for literal in work.operands if not _stands(literal, quoted)
    ]  # fmt: skip
    faults += [f"work: {text} changes nothing; leave it out" for text in work.idle]
    proof, fault = _result(claim, work)
    if proof is Proof.CONTRADICTED:
        return proof, [fault, *faults]
    faults += [fault] if fault else []
    faults += _unquoted(claim.says, quoted, tuple(side.quantity for side in work.sides))
    return (Proof.UNPROVEN, faults) if faults else (proof, [])


def _result(claim: Claim, work: Work) -> tuple[Proof, str]:
    """Compare what the work gives with what it states, and with what the claim says."""
    for left, relation, right in zip(work.sides, work.relations, work.sides[1:], strict=False):
        outcome = holds(left.quantity, relation, right.literals[0] if right.is_literal else right.quantity)
        if outcome is None:
            return Proof.UNPROVEN, f"work: {left.quantity} and {right.quantity} are of different units"
        if not outcome:
            return Proof.CONTRADICTED, f"work gives {left.quantity}, not {relation} {right.quantity}"
    stated = list(literals(claim.says))
    compared = any(relation not in {"=", "\u2248"} for relation in work.relations)
    wanted = [side.quantity for side in work.sides] if compared else [work.result]
    for quantity in wanted:
        if not any(holds(quantity, "=", literal) for literal in stated):
            return _missing(quantity, stated, work)
    if not work.computes:
        return Proof.CITED, ""
    return Proof.WORKED_OUT, ""


def _missing(quantity: Quantity, stated: Sequence[Literal], work: Work) -> tuple[Proof, str]:
    operands = [literal.quantity for literal in work.operands]
    others = [
        literal for literal in stated
        if literal.quantity.dimension == quantity.dimension and not any(same(literal.quantity, one) for one in operands)
    ]  # fmt: skip
    if quantity.dimension and len(others) == 1:
        return Proof.CONTRADICTED, f"work gives {quantity}, the claim says {others[0].text}"
    return Proof.UNPROVEN, f"the claim does not state what the work gives, {quantity}"


def _unquoted(says: str, quoted: Sequence[Quoted], results: Sequence[Quantity]) -> list[str]:
    """Name the values and exact strings of a claim that stand in no quote and were not computed."""
    faults = [
        f"{literal.text} stands in no quote; quote where it is said"
        for literal in literals(says)
        if not _stands(literal, quoted) and not any(holds(result, "=", literal) for result in results)
    ]  # fmt: skip
    whole = "\n".join(piece.quote for piece in quoted).casefold()
    values = {literal.text for literal in literals(says)}
    faults += [
        f"{string} stands in no quote; quote where it is said"
        for string in exact_strings(says)
        if string.casefold() not in whole and not any(string in text or text in string for text in values)
    ]  # fmt: skip
    return list(dict.fromkeys(faults))


def _stands(literal: Literal, quoted: Sequence[Quoted]) -> bool:
    """Say whether a value stands in a quote, with its unit; a label must be one of the quote's words."""
    wanted = literal.quantity
    for piece in quoted:
        for other in piece.literals():
            if other.text == literal.text:
                return True
            for reading in other.readings:
                if (reading.number, reading.dimension) == (wanted.number, wanted.dimension) and (
                    not wanted.label or _is_word(wanted.label, piece.quote)
                ):
                    return True
    return False


def _is_word(label: str, quote: str) -> bool:
    return any(word.startswith(label[:-1] or label) for word in re.findall(r"[^\W\d_]+", quote.casefold()))


# the log ---------------------------------------------------------------------------------------------


class _Texts:
    """The events that a check looks at, each read once."""

    def __init__(self, space: Space, within: Sequence[str], before: int | None) -> None:
        self._space, self._before, self._within = space, before, within
        self._session: list[tuple[Event, str]] | None = None
        self._pointed: dict[str, list[tuple[Event, str]]] = {}

    def under(self, address: str) -> list[tuple[Event, str]]:
        """Give the events that a pointer names; none for one that leads nowhere."""
        if address not in self._pointed:
            try:
                named = events_named(self._space, parse(address), SPAN_EVENTS_MAX)
                before = self._before if self._before is not None else self._space.position + 1
                there = (event for event in named if not event.erased and event.position < before)
                self._pointed[address] = [self._read(event) for event in there]
            except PointerError:  # the caller says so of each pointer without events
                self._pointed[address] = []
        return self._pointed[address]

    def quoted(self, quote: str, claim: Claim) -> Quoted:
        """Find a quote; an event that somebody else than an agent said comes before an agent's."""
        holding = [(event, text) for event, text in self._of(claim) if _place(quote, text) >= 0]
        if not holding:
            return Quoted(quote)
        wanted = [pair for pair in holding if _by(pair[0]) == claim.by] if claim.by else []
        event, text = (wanted or [pair for pair in holding if _by(pair[0]) != "agent"] or holding)[0]
        place = _place(quote, text)
        low = max(text.rfind("\n", 0, place) + 1, place - LINE_CHARACTERS_MAX)
        end = text.find("\n", place + len(quote))
        high = min(len(text) if end < 0 else end, place + len(quote) + LINE_CHARACTERS_MAX)
        return Quoted(quote, f"fh:{event.id}", len(holding), text[low:high], place - low, _by(event))

    def nearest(self, quote: str, claim: Claim) -> str:
        """Give the line of a source, or of a named event, that is most like a quote; empty when none is."""
        words = set(re.findall(r"\w+", quote.casefold()))
        best: list[tuple[float, str]] = []
        for event, text in self._of(claim):
            if _by(event) == "agent" and not claim.at:
                continue
            for line in text.splitlines()[:_NEAR_LINES_MAX]:
                shared = len(words.intersection(re.findall(r"\w+", line[:LINE_CHARACTERS_MAX].casefold())))
                if shared * 2 >= len(words):
                    best.append((shared, line.strip()[:LINE_CHARACTERS_MAX]))
        lines = [line for _, line in sorted(best, key=lambda pair: -pair[0])[:20]]
        return next(iter(difflib.get_close_matches(quote, lines, 1, 0.0)), "")

    def _of(self, claim: Claim) -> Iterator[tuple[Event, str]]:
        if claim.at:
            for address in claim.at:
                yield from self.under(address)
            return
        if self._session is None:
            self._session = [self._read(event) for event in self._newest() if not event.erased]
        yield from self._session

    def _newest(self) -> Iterator[Event]:
        for session in self._within:
            yield from self._space.events(session, before=self._before, limit=LOOK_EVENTS_MAX, newest_first=True)

    def _read(self, event: Event) -> tuple[Event, str]:
        if event.kind not in _SOURCES and event.kind not in _OWN_WORDS:
            return event, ""
        data = bytearray()
        for piece in self._space.stream(Pointer(event.id)):
            data += piece
            if len(data) >= EVENT_BYTES_MAX:
                break
        return event, to_text(bytes(data[:EVENT_BYTES_MAX]))


def _place(quote: str, text: str) -> int:
    """Find a quote in a text where it cuts no word and no number; -1 when it stands nowhere so."""
    place = text.find(quote)
    while place >= 0:
        end = place + len(quote)
        cut = (place > 0 and text[place - 1].isalnum() and quote[0].isalnum()) or (
            end < len(text) and text[end].isalnum() and quote[-1].isalnum()
        )
        if not cut:
            return place
        place = text.find(quote, place + 1)
    return -1


def _by(event: Event) -> str:
    """Say who said an event; what Firsthand put there, or found again, is nobody's but the agent's."""
    copied = event.meta.get(INJECTED) is True or is_own(event.meta.get("tool"))
    if event.kind in _OWN_WORDS or copied or (event.trust is Trust.AGENT and event.kind is not Kind.TOOL_RESULT):
        return "agent"
    return _BY.get(event.kind, "document")
