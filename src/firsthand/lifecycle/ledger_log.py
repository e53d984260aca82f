"""The ledger in the log: each decision is an event of the session ``ledger``, and nothing else is (total-recall 8.1).

The invariant: decisions are appended, never changed; the ledger of a position is the
same whenever and wherever it is read. A decision holds pointers, a key and a reason,
and no value; with an event that it rests on it is erased, as if it had not been made.
A decision that is there already is not made twice.

It decides nothing: what is decided comes from the sweep, or from a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, get_args

from firsthand import moment
from firsthand.consolidate.ledger import Action, Decision, Ledger, checked, fold, followers
from firsthand.consolidate.sweep import named_by
from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.event import Draft, Event, IdMaker, Kind, Trust, texts
from firsthand.index.facts import LEDGER_SESSION as SESSION
from firsthand.lifecycle import facts_kept
from firsthand.log.prepare import BATCH_EVENTS_MAX
from firsthand.noting import SOURCES
from firsthand.value import replace

if TYPE_CHECKING:
    from firsthand.consolidate.keys import Fact
    from firsthand.memory import Memory

MEDIA = "application/vnd.firsthand.decision+json"
LINEAGE = "rule:lineage"
"""Who decides when what an entry was made after is undone."""
_UNDONE = "a decision that it was made after is undone"
DECISIONS_MAX = BATCH_EVENTS_MAX
"""Of one keeping: they come into the log all or none."""


class LedgerLog:
    """The ledger of a namespace; make one with `ledger_of`."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def decisions(self, as_of: int | None = None) -> tuple[Decision, ...]:
        """Give the decisions up to a position, in order; a handle reads each event once until something is erased."""
        kept, head = self.memory.read_once, self._head()
        through, (known, seen) = kept.get((SESSION, ""), (0, ((), 0)))
        if known and any(self.memory.events(kind=Kind.ERASURE, after=seen, before=head + 1, limit=1)):
            through, known = 0, ()
        if not known:
            known = facts_kept.decisions(self.memory)
            through = known[-1].position if known else 0
        new = [*self.memory.events(SESSION, kind=Kind.LEDGER, after=through)]
        known = (*known, *filter(None, map(from_event, new)))
        kept[SESSION, ""] = (new[-1].position if new else through, (known, head))
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
        before = self.at()  # first this, then whether recall has it: what comes in between is then in the difference
        was_followed = facts_kept.is_followed(self.memory)
        appended = self.memory.append([_draft(one) for one in new], session=SESSION)
        facts_kept.follow_ledger(self.memory, before if was_followed else None, self.at)
        facts_kept.keep_decisions(self.memory, self.decisions())
        return tuple(replace(one, position=at.position) for one, at in zip(new, appended, strict=True))

    def followed(self) -> None:
        """Have recall tell of what is in force now, unless it does already; nothing where nothing may be written."""
        if not self.memory.read_only and not facts_kept.is_followed(self.memory):
            facts_kept.follow_ledger(self.memory, None, self.at)
            facts_kept.keep_decisions(self.memory, self.decisions())

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
            following: with all that followed from it: the decisions about the fact that it put in, and the entries
                that were made since of what is decided on. An entry that the gate lets in again comes back.

        Returns:
            The undoings, in order of what they undo, and then the entries taken out; none for what is undone already.
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
        if following and made:
            out = [one for one in self._made_since(every) if f"fh:{one.id}" not in ledger.held]
            made += [
                Decision(
                    ids(), "quarantine", f"entry:{one.id}", f"fh:{one.id}", reason=_UNDONE,
                    sources=(f"fh:{one.id}",), by=LINEAGE,
                )
                for one in out
            ]  # fmt: skip
        return self.keep(made)

    def _made_since(self, undone: Sequence[Decision]) -> list[Event]:
        """Give the entries that were made after decisions, of what these put in or took out, and what came of them."""
        about = {name for one in undone for name in (one.by_fact, one.target) if name}
        after = min(one.position for one in undone)
        made: dict[str, Event] = {}
        for event in self.memory.events(kind=Kind.ENTRY, after=after):
            stands_on = about & {*texts(event.meta.get(SOURCES))}
            if not event.erased and (stands_on or made.keys() & {*texts(event.meta.get("parents"))}):
                made[event.id] = event
        return [*made.values()]

    def decide(self, action: Action, fact: Fact, *, reason: str = "", by: str = "user") -> Decision:
        """Decide on one fact: that it stands and no other one of its key, or that it does not.

        Raises:
            InvalidArgument: it is no such action.
        """
        if action == "supersede" or action not in get_args(Action):
            raise InvalidArgument(f"a fact is restored, tombstoned, quarantined or released; got {action!r:.40}")
        through = max(fact.position, self._head())
        name = named_by(facts_kept.facts(self.memory, fact.position)).get(fact.pointer)  # the key has its words
        sources = (fact.pointer, name) if name else (fact.pointer,)
        made = Decision(
            IdMaker()(), action, fact.key, fact.pointer, reason=reason, sources=sources, by=by, through=through
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
    if event.erased or event.media != MEDIA or event.trust is not Trust.TRUSTED:  # an import decides nothing
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
