"""The ledger: which events are out, what took their place, and what was asserted, as a fold over decisions.

A decision is about one event, named by its pointer: another one takes its place, it is
taken back, it holds again, a fact is asserted on its words; or it is quarantined, released
or approved. Of two decisions about one event the later one counts; a decision that is
undone is as if it had never been made, and undoing the undoing makes it stand again.

The invariant: the ledger is a function of the decisions up to a position, and of
nothing else; the events themselves are never touched.

It knows no log: decisions come in as values, with what the log says of their state.
Source: total-recall 8.1, 9.5.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal, get_args

from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.moment import Moment
from firsthand.value import field, value

Action = Literal["supersede", "retract", "restore", "quarantine", "release", "approve", "assert"]
ACTIONS: tuple[Action, ...] = get_args(Action)
REASON_CHARACTERS_MAX = 300
KEY_CHARACTERS_MAX = 200
TEXT_CHARACTERS_MAX = 1_000
SOURCES_MAX = 64


class State(StrEnum):
    """How far a decision has come; only what is in force counts."""

    IN_FORCE = "in force"
    OPEN = "open"  # it takes effect when the turn in which it was stated is over
    PENDING = "pending"  # ... and it quotes what is not in the log yet
    WAITS = "waits"  # for the user's approval
    REFUSED = "refused"  # the turn is over, and its quotes stand nowhere


@value
class Decision:
    """One row of the ledger.

    Attributes:
        id: 26 characters.
        action: ``supersede``: ``by_fact`` takes the place of ``target``; ``retract``: ``target`` is taken back;
            ``restore``: ``target`` holds again, and what took its place does not; ``assert``: ``text`` is said of
            ``key``, on words of ``target``. ``quarantine`` takes ``target`` out whatever else is decided, ``release``
            lets it in again; ``approve`` lets in what stands on untrusted text, or a decision that waits.
        key: which kind of event it is about, and its id; of an assertion its subject.
        target: pointer of what it is about; empty while a quote of it is still to come.
        by_fact: pointer of what takes its place; empty for none.
        reason: why.
        sources: pointers that it rests on.
        by: ``user``, ``agent:NAME``, ``model:NAME`` or ``rule:NAME``.
        through: of the first edition: up to where facts of the key were decided on.
        undoes: id of a decision that this one makes as if it had never been; then nothing else counts.
        text: what is asserted.
        quotes: words of the events cited, byte for byte: of ``target``, then of ``by_fact``; of a retraction those
            that take it back.
        session: in whose turn it was stated, with which it takes effect; empty for at once.
        state: how far it has come, as the log says at the position that it was read for.
        why: what it waits for, or was refused for.
        position: of its own event in the log; 0 before it is there.
        since: the position from which it counts; 0 for its own.
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
    text: str = ""
    quotes: tuple[str, ...] = ()
    session: str = ""
    state: State = State.IN_FORCE
    why: str = ""
    since: int = 0

    @property
    def pointer(self) -> str:
        """The pointer of its own event."""
        return f"fh:{self.id}"


@value
class Ledger:
    """The decisions in force, as of a position.

    Attributes:
        through: the position of the last decision that it knows.
        out: the decision that takes an event, or a part of one, out, by its pointer; quarantines are not among them.
        quarantined: the quarantine in force, by pointer.
        approved: what the user let in although it stands on untrusted text, by pointer.
        asserted: the assertions in force, by their own pointer, in the order in which they took effect.
        undone: by id of a decision that is not in force, the id of the one that undid it.
        parts: of events with parts that are out, the pointers of these parts, by pointer of the event.
        decisions: how many there were in all.
    """

    through: int = 0
    out: Mapping[str, Decision] = field(default_factory=dict)
    quarantined: Mapping[str, Decision] = field(default_factory=dict)
    undone: Mapping[str, str] = field(default_factory=dict)
    approved: Mapping[str, Decision] = field(default_factory=dict)
    asserted: Mapping[str, Decision] = field(default_factory=dict)
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decisions: int = 0

    def stands(self, pointer: str) -> bool:
        """Say whether an event, or a part of one, stands: no decision takes it out."""
        return self.taken_out_by(pointer) is None

    def taken_out_by(self, pointer: str) -> Decision | None:
        """Give the decision that takes out an event, or a part of it, alone or with its event; None when it stands."""
        whole = _whole(pointer)
        names = [pointer, whole, *(part for part in self.parts.get(whole, ()) if _overlap(part, pointer))]
        by = (decisions.get(name) for decisions in (self.quarantined, self.out) for name in names)
        return next((decision for decision in by if decision is not None), None)


def fold(decisions: Iterable[Decision], as_of: int | None = None) -> Ledger:
    """Give the ledger that decisions lead to.

    Args:
        decisions: in order of position.
        as_of: a position; what was decided behind it does not count. None takes all.
    """
    known = [decision for decision in decisions if as_of is None or decision.position <= as_of]
    undone = undone_by(known)
    valid = [decision for decision in known if not decision.undoes and decision.id not in undone]
    out: dict[str, Decision] = {}
    quarantines: dict[str, Decision] = {}
    approved = {decision.target: decision for decision in valid if decision.action == "approve"}
    asserted: dict[str, Decision] = {}
    for decision in _in_force(valid, approved, as_of):
        target = decision.target
        match decision.action:
            case "quarantine":
                quarantines[target] = decision
            case "release":
                quarantines.pop(target, None)
            case "approve":
                pass
            case "restore":
                _restore(out, decision)
            case "supersede":
                out[target] = decision
                out.pop(decision.by_fact, None)
            case "retract":
                out[target] = decision
            case "assert":
                asserted[decision.pointer] = decision
    parts: dict[str, tuple[str, ...]] = {}
    for pointer in {**out, **quarantines}:
        if "@" in pointer:
            parts[_whole(pointer)] = (*parts.get(_whole(pointer), ()), pointer)
    through = known[-1].position if known else 0
    return Ledger(through, out, quarantines, undone, approved, asserted, parts, len(known))


def _in_force(valid: Sequence[Decision], approved: Mapping[str, Decision], as_of: int | None) -> list[Decision]:
    """Give the decisions that count, in the order in which they took effect."""
    effective = []
    for decision in valid:
        approval = approved.get(decision.pointer)
        if decision.state is State.IN_FORCE and (as_of is None or decision.since <= as_of):
            effective.append((decision.since or decision.position, decision))
        elif decision.state is State.WAITS and approval is not None:
            effective.append((approval.position, decision))
    return [decision for _, decision in sorted(effective, key=lambda pair: (pair[0], pair[1].position))]


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


def _whole(pointer: str) -> str:
    return pointer.partition("@")[0]


def _range(pointer: str) -> tuple[int, int]:
    start, _, end = pointer.partition("@")[2].partition("-")
    return (int(start), int(end)) if end.isdigit() and start.isdigit() else (0, 0)


def _overlap(part: str, other: str) -> bool:
    first, second = _range(part), _range(other)
    return max(first[0], second[0]) < min(first[1], second[1])


def undone_by(known: Sequence[Decision]) -> dict[str, str]:
    """Say which decisions are undone, and by which: the last word first, since an undoing can be undone itself."""
    undone: dict[str, str] = {}
    for decision in reversed(known):
        if decision.undoes and decision.id not in undone:
            undone.setdefault(decision.undoes, decision.id)
    return undone


def followers(decisions: Sequence[Decision], identity: str) -> tuple[Decision, ...]:
    """Give a decision and all that followed from it, in order: those about it, and about what it put in place.

    Raises:
        Unresolvable: there is no such decision.
    """
    first = next((decision for decision in decisions if decision.id == identity), None)
    if first is None:
        raise Unresolvable(f"the ledger has no decision {identity!r:.40}; `firsthand ledger list` shows those it has")
    following = [first]
    put_in = {first.by_fact, first.pointer} - {""}
    for decision in decisions[decisions.index(first) + 1 :]:
        if not decision.undoes and put_in & {decision.target, decision.by_fact, *decision.sources}:
            following.append(decision)
            put_in |= {decision.by_fact, decision.pointer} - {""}
    return tuple(following)


def checked(decision: Decision, actions: Collection[str] = ACTIONS) -> Decision:
    """Give a decision that can stand in the ledger.

    Raises:
        InvalidArgument: it says nothing, or too much.
    """
    wrong = ""
    may_come = bool(decision.undoes) or decision.state is State.PENDING
    if decision.action not in actions:
        wrong = f"its action is one of {', '.join(actions)}; got {decision.action!r:.40}"
    elif not may_come and not (decision.key and decision.target):
        wrong = f"it has a key and a target; got {decision.key!r:.60} and {decision.target!r:.60}"
    elif decision.action == "supersede" and not may_come and not decision.by_fact:
        wrong = f"it names what takes the place of {decision.target}; got nothing"
    elif decision.action == "assert" and not decision.undoes and not (decision.text.strip() and decision.quotes):
        wrong = f"an assertion has a text and a quote; got {decision.text!r:.60} and {decision.quotes!r:.60}"
    elif len(decision.text) > TEXT_CHARACTERS_MAX or any(len(each) > TEXT_CHARACTERS_MAX for each in decision.quotes):
        wrong = f"a text and a quote have at most {TEXT_CHARACTERS_MAX:,} characters; give fewer words, once each"
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
