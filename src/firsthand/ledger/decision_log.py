"""The ledger in the log: each decision is an event of the session ``ledger``, and nothing else is (total-recall 8.1).

    ledger_of(memory).at().stands("fh:OLD")
    ledger_of(memory).undo("5GZ8K2N7", following=True)

The invariant: decisions are appended, never changed; the ledger of a position is the
same whenever and wherever it is read. With an event that it rests on a decision is erased,
as if it had not been made.

It decides nothing: a decision is stated (`statements`), or made where a source is taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.event import Event, IdMaker, Kind, texts
from firsthand.ledger.decision_events import draft_of, from_event
from firsthand.ledger.decisions import Decision, Ledger, checked, fold, followers
from firsthand.ledger.evidence import cited
from firsthand.ledger.proposals import PROPOSALS, settled
from firsthand.log.prepare import BATCH_EVENTS_MAX
from firsthand.notes.sources import SOURCES
from firsthand.pointer import Pointer
from firsthand.space import Space, pointer_of
from firsthand.value import replace

SESSION = "ledger"
LINEAGE = "rule:lineage"
"""Who decides when what an entry was made after is undone."""
_UNDONE = "a decision that it was made after is undone"
DECISIONS_MAX = BATCH_EVENTS_MAX
"""Of one keeping: they come into the log all or none."""


class LedgerLog:
    """The ledger of a namespace; make one with `ledger_of`."""

    def __init__(self, space: Space) -> None:
        self.space = space

    def decisions(self, as_of: int | None = None) -> tuple[Decision, ...]:
        """Give the decisions up to a position, in order, each as it stands there.

        A handle reads each event once until something is erased.
        """
        read_once, head = self.space.read_once, self.space.position
        through, (known, checked_to) = read_once.get((SESSION, ""), (0, ((), 0)))
        if known and any(self.space.events(kind=Kind.ERASURE, after=checked_to, before=head + 1, limit=1)):
            through, known = 0, ()
            for key in [key for key in read_once if key[0] == PROPOSALS]:
                del read_once[key]
        new = [*self.space.events(SESSION, kind=Kind.LEDGER, after=through)]
        known = (*known, *filter(None, map(from_event, new))) if new else known
        read_once[SESSION, ""] = (new[-1].position if new else through, (known, head))
        of_then = known if as_of is None else tuple(each for each in known if each.position <= as_of)
        return settled(self.space, of_then, as_of)

    def at(self, as_of: int | None = None) -> Ledger:
        """Give the ledger as of a position; None is now."""
        decisions, read_once = self.decisions(as_of), self.space.read_once
        if as_of is not None:
            return fold(decisions)
        known: tuple[Decision, ...]
        ledger: Ledger
        _, (known, ledger) = read_once.get((SESSION, "folded"), (0, ((), Ledger())))
        if known != decisions:
            ledger = fold(decisions)
            read_once[SESSION, "folded"] = (ledger.through, (decisions, ledger))
        return ledger

    def keep(self, decisions: Iterable[Decision]) -> tuple[Decision, ...]:
        """Append decisions, all or none, and give those that were not there before.

        Raises:
            InvalidArgument: one of them says nothing, or there are too many for one transaction.
        """
        there = {decision.id for decision in self.decisions()}
        new = [checked(decision) for decision in dict.fromkeys(decisions) if decision.id not in there]
        if len(new) > DECISIONS_MAX:
            raise InvalidArgument(f"at most {DECISIONS_MAX:,} decisions are kept at once; got {len(new):,}")
        if not new:
            return ()
        appended = self.space.append([draft_of(decision) for decision in new], session=SESSION)
        self.space.decided()
        return tuple(replace(decision, position=at.position) for decision, at in zip(new, appended, strict=True))

    def find(self, identity: str) -> Decision:
        """Give the decision of an id, or of the only id that begins or ends so.

        Raises:
            Unresolvable: there is none, or several.
        """
        named = identity.removeprefix("fh:").upper()
        matches = (
            [decision for decision in self.decisions() if decision.id.startswith(named) or decision.id.endswith(named)]
            if named
            else []
        )
        if len(matches) != 1:
            how_many = f"{len(matches)} begin or end so" if matches else "it has none"
            raise Unresolvable(f"expected the id of one decision of the ledger, got {identity!r:.40}: {how_many}. "
                               "`firsthand ledger list` lists them.")  # fmt: skip
        return matches[0]

    def undo(
        self, identity: str, *, following: bool = False, reason: str = "", by: str = "user"
    ) -> tuple[Decision, ...]:
        """Make a decision as if it had never been; undoing the undoing makes it stand again.

        Args:
            following: with all that followed from it: the decisions about what it put in place, and the entries
                that were made since of what is decided on. An entry that the gate lets in again comes back.

        Returns:
            The undoings, in order of what they undo, and then the entries taken out; none for what is undone already.
        """
        target = self.find(identity)
        every = followers(self.decisions(), target.id) if following else (target,)
        ledger = self.at()
        ids = IdMaker()
        made = [
            Decision(
                ids(),
                decision.action,
                decision.key,
                decision.target,
                reason=reason,
                sources=decision.sources,
                by=by,
                undoes=decision.id,
            )
            for decision in every
            if decision.id not in ledger.undone
        ]
        if following and made:
            out = [entry for entry in self._made_since(every) if f"fh:{entry.id}" not in ledger.quarantined]
            made += [
                Decision(
                    ids(), "quarantine", f"entry:{entry.id}", f"fh:{entry.id}", reason=_UNDONE,
                    sources=(f"fh:{entry.id}",), by=LINEAGE,
                )
                for entry in out
            ]  # fmt: skip
        return self.keep(made)

    def _made_since(self, undone: Sequence[Decision]) -> list[Event]:
        """Give the entries that were made after decisions, of what these put in or took out, and what came of them."""
        about = {name.partition("@")[0] for decision in undone for name in (decision.by_fact, decision.target) if name}
        after = min(decision.position for decision in undone)
        made: dict[str, Event] = {}
        for event in self.space.events(kind=Kind.ENTRY, after=after):
            stands_on = about & {name.partition("@")[0] for name in texts(event.meta.get(SOURCES))}
            if not event.erased and (stands_on or made.keys() & {*texts(event.meta.get("parents"))}):
                made[event.id] = event
        return [*made.values()]

    def restore(self, address: str | Pointer, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Decide that an event holds again, and not what took its place.

        Returns:
            The decision; none where the event is not out.

        Raises:
            MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
        """
        event = cited(self.space, address)
        ledger = self.at()
        names = [name for name in (str(pointer_of(address)), f"fh:{event.id}", *ledger.parts.get(f"fh:{event.id}", ()))
                 if name in ledger.out]  # fmt: skip
        ids = IdMaker()
        return self.keep(
            Decision(ids(), "restore", f"event:{event.id}", name, "", reason, (f"fh:{event.id}",), by)
            for name in dict.fromkeys(names)
        )


def ledger_of(space: Space) -> LedgerLog:
    """Give the ledger of a namespace: which events are out, and what took their place."""
    return LedgerLog(space)
