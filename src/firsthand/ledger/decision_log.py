"""The ledger in the log: each decision is an event of the session ``ledger``, and nothing else is (total-recall 8.1).

    ledger_of(memory).decide("supersede", "fh:OLD", by_fact="fh:NEW", reason="moved to the new host")

The invariant: decisions are appended, never changed; the ledger of a position is the
same whenever and wherever it is read. A decision holds pointers and a reason, and none of
what they point to; with an event that it rests on it is erased, as if it had not been made.

It decides nothing: a decision is stated by a person, or made where a source is taken out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from firsthand import moment, pointer
from firsthand.errors import Erased, InvalidArgument, PointerError, Unresolvable
from firsthand.event import Draft, Event, IdMaker, Kind, Trust, texts
from firsthand.ledger.decisions import Action, Decision, Ledger, checked, fold, followers
from firsthand.log.prepare import BATCH_EVENTS_MAX
from firsthand.notes.sources import SOURCES
from firsthand.pointer import Pointer
from firsthand.space import Space
from firsthand.value import replace

SESSION = "ledger"
MEDIA = "application/vnd.firsthand.decision+json"
LINEAGE = "rule:lineage"
"""Who decides when what an entry was made after is undone."""
_UNDONE = "a decision that it was made after is undone"
DECISIONS_MAX = BATCH_EVENTS_MAX
"""Of one keeping: they come into the log all or none."""
STATED = ("supersede", "tombstone", "restore")
"""What `LedgerLog.decide` takes; the others are `Lineage`'s."""


class LedgerLog:
    """The ledger of a namespace; make one with `ledger_of`."""

    def __init__(self, space: Space) -> None:
        self.space = space

    def decisions(self, as_of: int | None = None) -> tuple[Decision, ...]:
        """Give the decisions up to a position, in order; a handle reads each event once until something is erased."""
        read_once, head = self.space.read_once, self._head()
        through, (known, checked_to) = read_once.get((SESSION, ""), (0, ((), 0)))
        if known and any(self.space.events(kind=Kind.ERASURE, after=checked_to, before=head + 1, limit=1)):
            through, known = 0, ()
        new = [*self.space.events(SESSION, kind=Kind.LEDGER, after=through)]
        known = (*known, *filter(None, map(from_event, new))) if new else known
        read_once[SESSION, ""] = (new[-1].position if new else through, (known, head))
        return known if as_of is None else tuple(decision for decision in known if decision.position <= as_of)

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

    def replaced(self) -> Mapping[int, str]:
        """Give the positions of events that are out, and the pointer of what took the place of each."""
        ledger, read_once = self.at(), self.space.read_once
        places: dict[int, str]
        _, (known, places) = read_once.get((SESSION, "replaced"), (0, (Ledger(), {})))
        if known is not ledger:
            places = dict(self._replaced(ledger))
            read_once[SESSION, "replaced"] = (ledger.through, (ledger, places))
        return places

    def _replaced(self, ledger: Ledger) -> Iterator[tuple[int, str]]:
        for name in {part.partition("@")[0]: None for part in (*ledger.out, *ledger.held)}:
            try:
                event = self.space.event(name)
            except PointerError:  # a ledger that was imported without what it is about
                continue
            if instead := ledger.replaced_by(name, event.size_bytes):
                yield event.position, instead

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
        appended = self.space.append([_draft(decision) for decision in new], session=SESSION)
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
            out = [entry for entry in self._made_since(every) if f"fh:{entry.id}" not in ledger.held]
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

    def decide(
        self, action: Action, address: str | Pointer, *, by_fact: str | Pointer = "", reason: str = "", by: str = "user"
    ) -> tuple[Decision, ...]:
        """Decide on one event: another one takes its place, it is taken back, or it holds again.

        Args:
            action: ``supersede``, ``tombstone`` or ``restore``.
            address: of the event that it is about.
            by_fact: with ``supersede``, the event that takes its place.

        Returns:
            The decision; none where the event is in that state already.

        Raises:
            InvalidArgument: it is no such action, or only one of two pointers is given, or both name one event.
            MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
        """
        if action not in STATED:
            raise InvalidArgument(f"expected one of {', '.join(STATED)}; got {action!r:.40}")
        if bool(by_fact) != (action == "supersede"):
            raise InvalidArgument(
                f"supersede takes two pointers, the old event and the new one, and {STATED[1]} and {STATED[2]} one; "
                f"got {action} with {'two' if by_fact else 'one'}"
            )
        event = event_at(self.space, address)
        new = event_at(self.space, by_fact) if by_fact else None
        if new is not None and new.id == event.id:
            raise InvalidArgument(f"an event does not take its own place; expected two events, got fh:{event.id} twice")
        name, instead = f"fh:{event.id}", f"fh:{new.id}" if new is not None else ""
        current = self.at().out.get(name)
        if current is not None and current.action == action and current.by_fact == instead:
            return ()
        if current is None and action == "restore":
            return ()
        sources = (name, instead) if instead else (name,)
        return self.keep([
            Decision(IdMaker()(), action, f"event:{event.id}", name, instead, reason, sources, by)
        ])  # fmt: skip

    def _head(self) -> int:
        return int(self.space.head().partition(":")[0])


def ledger_of(space: Space) -> LedgerLog:
    """Give the ledger of a namespace: which events are out, and what took their place."""
    return LedgerLog(space)


def event_at(space: Space, address: str | Pointer) -> Event:
    """Read the event that a pointer names.

    Raises:
        MalformedPointer, Unresolvable: it is no pointer of an event here; `Erased` when it was erased.
    """
    named = address if isinstance(address, Pointer) else pointer.parse(address)
    if named.last is not None:
        raise Unresolvable(f"expected the pointer of one event; {str(named)!r:.80} is a span. Name its events.")
    event = space.event(Pointer(named.first))
    if event.erased:
        raise Erased(f"fh:{event.id} was erased, and all that was made of it")
    return event


def _draft(decision: Decision) -> Draft:
    fields: dict[str, Any] = {
        "decision": 1, "action": decision.action, "key": decision.key, "target": decision.target,
        "by_fact": decision.by_fact, "reason": decision.reason, "by": decision.by, "through": decision.through,
        "undoes": decision.undoes,
    }  # fmt: skip
    content = json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return Draft(
        Kind.LEDGER, content, MEDIA, {SOURCES: list(decision.sources)}, origin="firsthand", trust=Trust.TRUSTED,
        time=decision.time or moment.now(), id=decision.id,
    )  # fmt: skip


def from_event(event: Event) -> Decision | None:
    """Read a decision; None for what was erased, or is another program's."""
    if event.erased or event.media != MEDIA or event.trust is not Trust.TRUSTED:  # an import decides nothing
        return None
    try:
        fields = json.loads(event.text)
        names = [fields[name] for name in ("action", "key", "target", "by_fact", "reason", "by", "undoes")]
        if fields["decision"] != 1 or not all(isinstance(name, str) for name in names):
            return None
        action, key, target, by_fact, reason, by, undoes = names
        return checked(Decision(
            event.id, action, key, target, by_fact, reason, tuple(texts(event.meta.get(SOURCES))), by,
            int(fields["through"]), undoes, event.position, event.time,
        ))  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError, InvalidArgument):
        return None  # `firsthand session append --kind ledger` takes any text
