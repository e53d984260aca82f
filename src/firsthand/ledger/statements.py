"""Decisions as they are stated: by an agent, by the user, by a model; checked against the log before they are kept.

    supersede(space, "fh:OLD", "fh:NEW", "use npm", "pnpm from now on", by="agent:shop")
    retract(space, "fh:OLD", "forget what I said about tabs", by="agent:shop")
    assert_fact(space, "package manager", "pnpm, not npm", "pnpm from now on", by="agent:shop")

The invariants: what is kept has proved its quotes, or says what it waits for; what fails
is refused with the reason and kept nowhere. The user may point at events without quoting
them; nobody else may. Stated within a session's turn, a decision takes effect with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from firsthand.errors import DecisionRefused, InvalidArgument
from firsthand.event import IdMaker
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.decisions import Decision, State, checked
from firsthand.ledger.evidence import USER, Evidence, examined
from firsthand.notes.check import Quoted
from firsthand.space import Address, Space, pointer_of
from firsthand.value import replace, value

_EFFECTS = {
    State.IN_FORCE: "in force",
    State.OPEN: "takes effect when this turn is over",
    State.PENDING: "pending: its words are looked for when this turn is over",
    State.WAITS: "waits for the user",
}


@value
class Stated:
    """What came of a statement.

    Attributes:
        decision: as it was kept.
        quoted: its quotes, where they stand, and in how many events.
        is_new: False when the same was decided before; then nothing was kept.
        faults: of a pending one, what could not be found yet.
    """

    decision: Decision
    quoted: tuple[Quoted, ...] = ()
    is_new: bool = True
    faults: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Say on one line what was decided, whether it is in force, and where its words stand."""
        decision = self.decision
        effect = _EFFECTS[decision.state] if self.is_new else f"known already: {decision.state}"
        why = f" ({decision.why}): firsthand ledger approve {decision.pointer}" if decision.state is State.WAITS else ""
        parts = [f"{decision.action} {decision.pointer}: {effect}{why}", *self.faults]
        parts += [f"{piece.pointer} holds the words{_others(piece)}" for piece in self.quoted if piece.pointer]
        return "; ".join(parts)


def _others(piece: Quoted) -> str:
    return f", the newest of {piece.events} events" if piece.events > 1 else ""


class How(TypedDict, total=False):
    """How a decision is stated.

    Attributes:
        by: ``user`` (the default), ``agent:NAME`` or ``model:NAME``; only the user may leave quotes out.
        session: in whose turn it is stated; it takes effect when that is over. Empty takes effect at once.
        open_turn: the log lacks what was said in this turn, so that a quote that is nowhere may still come.
        within: sessions in which a quote without an event is looked for; empty for all.
        reason: why; it is kept.
        keep: False checks it and writes nothing.
    """

    by: str
    session: str
    open_turn: bool
    within: Sequence[str]
    reason: str
    keep: bool


def supersede(
    space: Space, old: Address, new: Address, quote_old: str = "", quote_new: str = "", **how: Unpack[How]
) -> Stated:
    """State that what one event says holds no longer, and what a later one says does.

    Args:
        old, new: pointers; empty for an event that the quote is looked for in, newest first.
        how: see `How`.

    Raises:
        DecisionRefused: its quotes do not prove it; the message says how to mend them.
        MalformedPointer, Unresolvable: a pointer names no event of this namespace; `Erased` when it was erased.
    """
    made = Decision("", "supersede", "", _address(old), _address(new), quotes=_quotes(quote_old, quote_new))
    return _stated(space, made, how)


def retract(space: Space, target: Address, quote: str = "", **how: Unpack[How]) -> Stated:
    """State that an event, or an assertion, holds no longer; errors are those of `supersede`.

    Args:
        target: its pointer; with a range of bytes that part of it.
        quote: the words that take it back; they stand in a later event, or are the target's own.
    """
    if not target:
        raise InvalidArgument("a retraction names the event that is taken back; got no pointer. recall finds it.")
    return _stated(space, Decision("", "retract", "", _address(target), quotes=_quotes(quote)), how)


def assert_fact(space: Space, subject: str, text: str, quote: str, *, at: Address = "", **how: Unpack[How]) -> Stated:
    """State a fact that is to be kept, on words of the log; errors are those of `supersede`.

    Args:
        subject: what it is about, in a few words.
        text: the fact, in one sentence.
        quote: the words that it rests on.
        at: the event that they stand in; empty has them looked for, newest first.
    """
    if not (subject.strip() and text.strip()):
        raise InvalidArgument(f"an assertion has a subject and a text; got {subject!r:.60} and {text!r:.60}")
    subject, text = " ".join(subject.split()), " ".join(text.split())
    return _stated(space, Decision("", "assert", subject, _address(at), text=text, quotes=_quotes(quote)), how)


def _address(address: Address) -> str:
    return str(pointer_of(address)) if address else ""


def _quotes(*quotes: str) -> tuple[str, ...]:
    """Give the quotes; none where the caller left all of them out."""
    return tuple(quote.strip() for quote in quotes) if any(quotes) else ()


def _stated(space: Space, stated: Decision, how: How) -> Stated:
    """Check a statement, and keep it with the state that it has."""
    decision = replace(
        stated, by=how.get("by", USER), session=how.get("session", ""), reason=how.get("reason", "")
    )  # fmt: skip
    # 1) What is asked for must be complete: words, or a user who points.
    wanted = 2 if decision.action == "supersede" else 1
    given = [quote for quote in decision.quotes if quote]
    points = decision.by == USER and decision.action != "assert" and not given
    if len(given) < wanted and not points:
        names = "quote_old and quote_new" if wanted == 2 else "a quote"
        raise DecisionRefused(f"{decision.action} is refused: it has {names}, word for word; got {len(given)}")
    if points and not all((decision.target, decision.by_fact or decision.action == "retract")):
        raise DecisionRefused(f"{decision.action} is refused: without quotes it names its events; name them by pointer")
    # 2) The log proves it, or lacks the words of this turn.
    evidence = examined(space, decision, within=how.get("within", ()))
    pending = bool(evidence.faults) and evidence.may_come and how.get("open_turn", False) and bool(decision.session)
    if evidence.faults and not pending:
        raise DecisionRefused(f"{decision.action} is refused: {'; '.join(evidence.faults)}")
    made = _with_state(evidence, pending=pending)
    # 3) The same again changes nothing.
    log = LedgerLog(space)
    known = _same(log, made)
    if known is not None:
        return Stated(known, evidence.quoted, is_new=False)
    checked(made)
    return Stated(log.keep([made])[0] if how.get("keep", True) else made, evidence.quoted, faults=evidence.faults)


def _with_state(evidence: Evidence, *, pending: bool) -> Decision:
    """Give the decision as it is kept."""
    found = evidence.decision
    state = State.PENDING if pending else found.state
    if state is State.IN_FORCE and found.session:
        state = State.OPEN
    about = found.key or (f"event:{found.target.removeprefix('fh:').partition('@')[0]}" if found.target else "event:")
    return replace(found, id=IdMaker()(), key=about, state=state)


def _same(log: LedgerLog, made: Decision) -> Decision | None:
    """Give the decision that says the same, and counts or is going to."""
    ledger = log.at()
    current = ledger.out.get(made.target) if made.action != "assert" else None
    if current is not None and (current.action, current.by_fact) == (made.action, made.by_fact):
        return current
    for decision in reversed(log.decisions()):
        is_same = _says(decision) == _says(made) and not decision.undoes and decision.id not in ledger.undone
        if is_same and (decision.pointer in ledger.asserted or decision.state is not State.IN_FORCE):
            gone = decision.state is State.REFUSED or not ledger.stands(decision.pointer)
            return None if gone else decision
    return None


def _says(decision: Decision) -> tuple[object, ...]:
    return decision.action, decision.key, decision.text, decision.target, decision.by_fact, decision.quotes
