"""The ledger in the log: each decision is an event of the session ``ledger``, and nothing else is (total-recall 8.1).

The invariant: decisions are appended, never changed; the ledger of a position is the
same whenever and wherever it is read. A decision holds pointers, a key and a reason,
and no value; with an event that it rests on it is erased, as if it had not been made.
A decision that is there already is not made twice.

It decides nothing: what is decided comes from the sweep, or from a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args

from firsthand import moment
from firsthand.consolidate.ledger import Action, Decision, Ledger, checked, fold, followers
from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.event import Draft, Event, IdMaker, Kind, Trust, texts
from firsthand.log.prepare import BATCH_EVENTS_MAX
from firsthand.noting import SOURCES
from firsthand.value import replace

if TYPE_CHECKING:
    from firsthand.consolidate.keys import Fact
    from firsthand.memory import Memory

SESSION = "ledger"
MEDIA = "application/vnd.firsthand.decision+json"
DECISIONS_MAX = BATCH_EVENTS_MAX
"""Of one keeping: they come into the log all or none."""


class LedgerLog:
    """The ledger of a namespace; make one with `ledger_of`."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def decisions(self, as_of: int | None = None) -> tuple[Decision, ...]:
        """Give the decisions up to a position, in order; a handle reads each event once until something is erased."""
        kept = self.memory.read_once
        through, known = kept.get((SESSION, ""), (0, ()))
        if known and any(self.memory.events(kind=Kind.ERASURE, after=through, limit=1)):
            through, known = 0, ()
        new = [*self.memory.events(SESSION, kind=Kind.LEDGER, after=through)]
        if new:
            known = (*known, *filter(None, map(from_event, new)))
            kept[SESSION, ""] = (new[-1].position, known)
        return known if as_of is None else tuple(one for one in known if one.position <= as_of)

    def at(self, as_of: int | None = None) -> Ledger:
        """Give the ledger as of a position; None is now."""
        return fold(self.decisions(as_of))

    def keep(self, decisions: Iterable[Decision]) -> tuple[Decision, ...]:
        """Append decisions, all or none, and give those that were not there before.

        Raises:
            InvalidArgument: one of them says nothing, or there are too many for one transaction.
        """
        there = {one.id for one in self.decisions()}
        new = [checked(one) for one in dict.fromkeys(decisions) if one.id not in there]
        if len(new) > DECISIONS_MAX:
            raise InvalidArgument(
                f"at most {DECISIONS_MAX:,} decisions are kept at once; got {len(new):,}. Sweep a shorter time first."
            )
        if not new:
            return ()
        appended = self.memory.append([_draft(one) for one in new], session=SESSION)
        return tuple(replace(one, position=at.position) for one, at in zip(new, appended, strict=True))

    def find(self, identity: str) -> Decision:
        """Give the decision of an id, or of the only id that begins or ends so.

        Raises:
            Unresolvable: there is none, or several.
        """
        named = identity.removeprefix("fh:").upper()
        found = [one for one in self.decisions() if one.id.startswith(named) or one.id.endswith(named)] if named else []
        if len(found) != 1:
            told = f"{len(found)} begin or end so" if found else "it has none"
            raise Unresolvable(f"expected the id of one decision of the ledger, got {identity!r:.40}: {told}. "
                               "`firsthand ledger` lists them.")  # fmt: skip
        return found[0]

    def undo(
        self, identity: str, *, following: bool = False, reason: str = "", by: str = "user"
    ) -> tuple[Decision, ...]:
        """Make a decision as if it had never been; undoing the undoing makes it stand again.

        Args:
            following: with all that followed from it: the decisions about the fact that it put in.

        Returns:
            The undoings, in order of what they undo; none for what is undone already.
        """
        target = self.find(identity)
        every = followers(self.decisions(), target.id) if following else (target,)
        ledger = self.at()
        ids = IdMaker()
        made = [
            Decision(ids(), one.action, one.key, one.target, reason=reason, sources=one.sources, by=by, undoes=one.id)
            for one in every
            if one.id not in ledger.undone
        ]
        return self.keep(made)

    def decide(self, action: Action, fact: Fact, *, reason: str = "", by: str = "user") -> Decision:
        """Decide on one fact: that it stands and no other one of its key, or that it does not.

        Raises:
            InvalidArgument: it is no such action.
        """
        if action == "supersede" or action not in get_args(Action):
            raise InvalidArgument(f"a fact is restored, tombstoned, quarantined or released; got {action!r:.40}")
        through = max(fact.position, self._head())
        made = Decision(
            IdMaker()(), action, fact.key, fact.pointer, reason=reason, sources=(fact.pointer,), by=by, through=through
        )
        return self.keep([made])[0]

    def _head(self) -> int:
        return int(self.memory.head().partition(":")[0])


def ledger_of(memory: Memory) -> LedgerLog:
    """Give the ledger of a namespace: which fact takes the place of which."""
    return LedgerLog(memory)


def _draft(one: Decision) -> Draft:
    told: dict[str, Any] = {
        "decision": 1, "action": one.action, "key": one.key, "target": one.target, "by_fact": one.by_fact,
        "reason": one.reason, "by": one.by, "through": one.through, "undoes": one.undoes,
    }  # fmt: skip
    content = json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return Draft(
        Kind.LEDGER, content, MEDIA, {SOURCES: list(one.sources)}, origin="firsthand", trust=Trust.TRUSTED,
        time=one.time or moment.now(), id=one.id,
    )  # fmt: skip


def from_event(event: Event) -> Decision | None:
    """Read a decision; None for what was erased, or is another program's."""
    if event.erased or event.media != MEDIA:
        return None
    try:
        told = json.loads(event.text)
        names = [told[name] for name in ("action", "key", "target", "by_fact", "reason", "by", "undoes")]
        if told["decision"] != 1 or not all(isinstance(one, str) for one in names):
            return None
        action, key, target, by_fact, reason, by, undoes = names
        return checked(Decision(
            event.id, action, key, target, by_fact, reason, tuple(texts(event.meta.get(SOURCES))), by,
            int(told["through"]), undoes, event.position, event.time,
        ))  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError, InvalidArgument):
        return None  # `firsthand append --kind ledger` takes any text
