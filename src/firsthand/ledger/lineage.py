"""What was made of what: taking a source out with all that came of it, and letting in what waits for the user.

    quarantine("fh:...")   an event, or an entry, and every note, episode and entry that stands on it, at any depth
    release("fh:...")      that one alone is let in again
    approve("fh:...")      the user lets in a note or a decision that stands on what a tool or the web said
    waiting()              what stands on such text, and waits

All of it are decisions of the ledger: recorded with who and why, of any position, and each
can be undone. The invariant: nothing leaves the log, and its pointer opens it; what
is out is no hit, and gives no digest line, no entry, no rule and no episode of a preamble; what
waits does not either.

It does not know what is right: a person says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firsthand.errors import InvalidArgument
from firsthand.event import Event, IdMaker, Kind, Trust
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.decisions import REASON_CHARACTERS_MAX, Decision, State
from firsthand.ledger.evidence import cited
from firsthand.ledger.facts import facts_standing
from firsthand.notes.sources import FILE, resting_on
from firsthand.notes.writer import SORT, SORTS
from firsthand.pointer import Pointer
from firsthand.space import Space
from firsthand.value import value

MADE_OF = {Kind.NOTE: "note", Kind.EPISODE: "episode", Kind.ENTRY: "entry"}
"""Kinds that are made of other events, and how their keys in the ledger begin."""
WAITING_MAX = 1_000


@value
class Waiting:
    """What stands on what a tool or the web said, or is no user's to decide, and is not approved.

    Attributes:
        sort: ``rule``, ``lesson``, ``file``, or the action of a decision.
        text: what it says, or why it waits.
    """

    pointer: str
    sort: str
    text: str
    position: int


class Lineage:
    """What was made of what in a namespace; make one with `lineage_of`."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.ledger = LedgerLog(space)

    def came_of(self, address: str | Pointer) -> tuple[Event, ...]:
        """Give what was made of an event, at any depth: notes, episodes and entries, in order.

        Raises:
            MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
        """
        return tuple(resting_on(self.space, [cited(self.space, address)], [*MADE_OF]))

    def quarantine(self, address: str | Pointer, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Take an event out with all that was made of it.

        Returns:
            The decisions that are new; each can be undone.

        Raises:
            MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
        """
        event = cited(self.space, address)
        quarantines = self.ledger.at().quarantined
        going = [event for event in (event, *self.came_of(address)) if f"fh:{event.id}" not in quarantines]
        return self._decide("quarantine", going, reason, by)

    def release(self, address: str | Pointer, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Let one event in again that was quarantined; what was made of it stays out.

        Raises:
            MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
        """
        event = cited(self.space, address)
        return self._decide("release", [event] if f"fh:{event.id}" in self.ledger.at().quarantined else [], reason, by)

    def approve(self, address: str | Pointer, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Let in a note or a decision that stands on what a tool or the web said; undoing the decision takes it back.

        Raises:
            MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
            InvalidArgument: the event is none that could wait for it.
        """
        event = cited(self.space, address)
        if not self._could_wait(event):
            raise InvalidArgument(
                f"what waits is approved: a rule, a lesson, a decision; fh:{event.id} is a {event.kind} of "
                f"trust {event.trust}. `firsthand ledger waiting` lists what waits."
            )
        known = f"fh:{event.id}" in self.ledger.at().approved
        return self._decide("approve", [] if known else [event], reason, by)

    def waiting(self) -> tuple[Waiting, ...]:
        """Give what waits for the user, the newest last: at most `WAITING_MAX`."""
        ledger = self.ledger.at()
        waiting = []
        for event in filter(self._could_wait, self.space.events(kind=Kind.NOTE)):
            name = f"fh:{event.id}"
            if name not in ledger.approved and ledger.stands(name):
                waiting.append(Waiting(name, str(event.meta.get(SORT, FILE)), event.text, event.position))
        waiting += [
            Waiting(decision.pointer, decision.action, f"{decision.why}: {decision.quotes[0]}", decision.position)
            for decision in self.ledger.decisions()
            if decision.state is State.WAITS
            and decision.id not in ledger.undone
            and decision.pointer not in ledger.approved
        ]
        waiting += [
            Waiting(fact.decision, "assert", f"{fact.subject}: {fact.text}", fact.position)
            for fact in facts_standing(self.space) if not fact.volunteered
        ]  # fmt: skip
        return tuple(sorted(waiting, key=lambda event: event.position)[-WAITING_MAX:])

    def _could_wait(self, event: Event) -> bool:
        if event.kind is Kind.LEDGER:
            decision = next((each for each in self.ledger.decisions() if each.id == event.id), None)
            return decision is not None and (decision.state is State.WAITS or decision.action == "assert")
        return event.kind is Kind.NOTE and is_unapproved_rule(event)

    def _decide(self, action: Any, events: Sequence[Event], reason: str, by: str) -> tuple[Decision, ...]:
        if len(reason) > REASON_CHARACTERS_MAX:
            raise InvalidArgument(f"a reason has at most {REASON_CHARACTERS_MAX} characters; got {len(reason):,}")
        ids = IdMaker()
        return self.ledger.keep(
            Decision(
                ids(), action, f"{MADE_OF.get(event.kind, 'event')}:{event.id}", f"fh:{event.id}", reason=reason,
                sources=(f"fh:{event.id}",), by=by,
            )
            for event in events
        )  # fmt: skip


def is_unapproved_rule(event: Event) -> bool:
    """Say whether a note is a rule or a lesson that no user wrote, or a version of a file on a tool's words."""
    is_rule = event.meta.get(SORT) in SORTS[1:] and event.trust is not Trust.TRUSTED
    is_file = event.meta.get(FILE) is not None and event.trust is Trust.UNTRUSTED
    return (is_rule or is_file) and not event.erased


def lineage_of(space: Space) -> Lineage:
    """Give what was made of what in a namespace."""
    return Lineage(space)
