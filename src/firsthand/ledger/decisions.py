"""The ledger: which events are out and what took their place, as a fold over decisions (total-recall 8.1, 9.5).

A decision is about one event, named by its pointer: another one takes its place, it is
taken back, it holds again; or it is quarantined, released or approved. Of two decisions
about one event the later one counts; a decision that is undone is as if it had never been
made, and undoing the undoing makes it stand again. A decision of the first edition may be
about a sentence, a part of an event: it is in force for that part.

The invariant: the ledger is a function of the decisions up to a position, and of
nothing else; the events themselves are never touched.

It knows no log: decisions come in as values, in order of position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, get_args

from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.moment import Moment
from firsthand.value import field, value

Action = Literal["supersede", "tombstone", "restore", "quarantine", "release", "approve"]
ACTIONS: tuple[Action, ...] = get_args(Action)
REASON_CHARACTERS_MAX = 300
KEY_CHARACTERS_MAX = 200
SOURCES_MAX = 64


@value
class Decision:
    """One row of the ledger.

    Attributes:
        id: 26 characters.
        action: ``supersede``: ``by_fact`` takes the place of ``target``; ``tombstone``: ``target`` is taken back;
            ``restore``: ``target`` holds again, and what took its place does not. ``quarantine`` takes ``target`` out
            whatever else is decided, ``release`` lets it in again; ``approve`` lets in what stands on untrusted text:
            a note, an entry.
        key: which kind of event it is about, and its id; of the first edition, the words of what a fact was about.
        target: pointer of what it is about.
        by_fact: pointer of what takes its place; empty for none.
        reason: why.
        sources: pointers that it rests on.
        by: ``user``, ``rule:NAME`` or ``model:NAME``.
        through: of the first edition: up to where facts of the key were decided on.
        undoes: id of a decision that this one makes as if it had never been; then nothing else counts.
        position: of its own event in the log; 0 before it is there.
    """

    id: str
    action: Action
    key: str
    target: str
    by_fact: str = ""
    reason: str = ""
    sources: tuple[str, ...] = ()
    by: str = "user"
    through: int = 0
    undoes: str = ""
    position: int = 0
    time: Moment | None = None


@value
class Ledger:
    """The decisions in force, as of a position.

    Attributes:
        through: the position of the last decision that it knows.
        out: the decision that takes an event, or a part of one, out, by its pointer; quarantines are not among them.
        held: the quarantine in force, by pointer.
        approved: what the user let in although it stands on untrusted text, by pointer.
        undone: by id of a decision that is not in force, the id of the one that undid it.
        parts: of events with parts that are out, the pointers of these parts, by pointer of the event.
        decisions: how many there were in all.
    """

    through: int = 0
    out: Mapping[str, Decision] = field(default_factory=dict)
    held: Mapping[str, Decision] = field(default_factory=dict)
    undone: Mapping[str, str] = field(default_factory=dict)
    approved: Mapping[str, Decision] = field(default_factory=dict)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decisions: int = 0

    def stands(self, pointer: str) -> bool:
        """Say whether an event, or a part of one, stands: no decision takes it out."""
        return self.taken_out_by(pointer) is None

    def taken_out_by(self, pointer: str) -> Decision | None:
        """Give the decision that takes out an event, or a part of it, alone or with its event; None when it stands."""
        whole = _whole(pointer)
        return self.held.get(pointer) or self.held.get(whole) or self.out.get(pointer) or self.out.get(whole)

    def replaced_by(self, event: str, size_bytes: int) -> str:
        """Give the pointer of what took an event's place; of the decision where nothing did; empty while it stands.

        An event of which only parts are out stands, unless one of them is half of its bytes or more.
        """
        decision = self.taken_out_by(event)
        for part in self.parts.get(event, ()) if decision is None else ():
            by = self.taken_out_by(part)
            if by is not None and 2 * _part_bytes(part) >= size_bytes and _whole(_instead(by)) != event:
                decision = by
        return "" if decision is None else _instead(decision)


@value
class LedgerChange:
    """What is decided otherwise of one pointer between two positions."""

    pointer: str
    before: Decision | None
    after: Decision | None


def fold(decisions: Iterable[Decision], as_of: int | None = None) -> Ledger:
    """Give the ledger that decisions lead to.

    Args:
        decisions: in order of position.
        as_of: a position; what was decided behind it does not count. None takes all.
    """
    known = [decision for decision in decisions if as_of is None or decision.position <= as_of]
    undone = _undone(known)
    out: dict[str, Decision] = {}
    quarantines: dict[str, Decision] = {}
    approved: dict[str, Decision] = {}
    for decision in known:
        target = decision.target
        if decision.undoes or decision.id in undone:
            continue
        match decision.action:
            case "quarantine":
                quarantines[target] = decision
            case "release":
                quarantines.pop(target, None)
            case "approve":
                approved[target] = decision
            case "restore":
                _restore(out, decision)
            case "supersede":
                out[target] = decision
                out.pop(decision.by_fact, None)
            case "tombstone":
                out[target] = decision
    parts: dict[str, tuple[str, ...]] = {}
    for pointer in {**out, **quarantines}:
        if "@" in pointer:
            parts[_whole(pointer)] = (*parts.get(_whole(pointer), ()), pointer)
    return Ledger(known[-1].position if known else 0, out, quarantines, undone, approved, parts, len(known))


def _restore(out: dict[str, Decision], decision: Decision) -> None:
    """Let an event hold again; what stands in its place now, at the end of the chain, holds no more."""
    was, passed = out.pop(decision.target, None), {decision.target}
    last = ""
    while was is not None and was.by_fact and was.by_fact not in passed:
        last = was.by_fact
        passed.add(last)
        was = out.get(last)
    if last and last not in out:
        out[last] = decision


def _instead(decision: Decision) -> str:
    """Give the pointer of what holds instead of what a decision takes out: the decision's own where nothing does."""
    name = decision.target if decision.action == "restore" else decision.by_fact
    return name or f"fh:{decision.id}"


def _whole(pointer: str) -> str:
    return pointer.partition("@")[0]


def _part_bytes(pointer: str) -> int:
    start, _, end = pointer.partition("@")[2].partition("-")
    return int(end) - int(start) if end.isdigit() and start.isdigit() else 0


def _undone(known: Sequence[Decision]) -> dict[str, str]:
    """Say which decisions are undone, and by which: the last word first, since an undoing can be undone itself."""
    undone: dict[str, str] = {}
    for decision in reversed(known):
        if decision.undoes and decision.id not in undone:
            undone.setdefault(decision.undoes, decision.id)
    return undone


def followers(decisions: Sequence[Decision], identity: str) -> tuple[Decision, ...]:
    """Give a decision and all that followed from it, in order: those about what it put in place.

    Raises:
        Unresolvable: there is no such decision.
    """
    first = next((decision for decision in decisions if decision.id == identity), None)
    if first is None:
        raise Unresolvable(f"the ledger has no decision {identity!r:.40}; `firsthand ledger list` shows those it has")
    following = [first]
    put_in = {first.by_fact} - {""}
    for decision in decisions[decisions.index(first) + 1 :]:
        if not decision.undoes and put_in & {decision.target, *decision.sources}:
            following.append(decision)
            put_in |= {decision.by_fact} - {""}
    return tuple(following)


def ledger_difference(before: Ledger, after: Ledger) -> tuple[LedgerChange, ...]:
    """Give what is decided otherwise in another ledger, in order of pointers."""
    changes = []
    for was, now in ((before.out, after.out), (before.held, after.held), (before.approved, after.approved)):
        for pointer in sorted({*was, *now}):
            old, new = was.get(pointer), now.get(pointer)
            if (old and old.id) != (new and new.id):
                changes.append(LedgerChange(pointer, old, new))
    return tuple(changes)


def checked(decision: Decision, actions: Collection[str] = ACTIONS) -> Decision:
    """Give a decision that can stand in the ledger.

    Raises:
        InvalidArgument: it says nothing, or too much.
    """
    wrong = ""
    if decision.action not in actions:
        wrong = f"its action is one of {', '.join(actions)}; got {decision.action!r:.40}"
    elif not decision.undoes and not (decision.key and decision.target):
        wrong = f"it has a key and a target; got {decision.key!r:.60} and {decision.target!r:.60}"
    elif decision.action == "supersede" and not decision.undoes and not decision.by_fact:
        wrong = f"it names what takes the place of {decision.target}; got nothing"
    elif len(decision.key) > KEY_CHARACTERS_MAX or len(decision.reason) > REASON_CHARACTERS_MAX:
        wrong = (
            f"its key has at most {KEY_CHARACTERS_MAX} characters and its reason {REASON_CHARACTERS_MAX}; got "
            f"{len(decision.key)} and {len(decision.reason)}"
        )
    elif len(decision.sources) > SOURCES_MAX:
        wrong = f"it has at most {SOURCES_MAX} sources; got {len(decision.sources)}"
    if wrong:
        raise InvalidArgument(f"a decision of the ledger cannot be kept: {wrong}")
    return decision
