"""The ledger: which fact takes the place of which, as a fold over decisions (total-recall 8.1, 9.5).

A decision says what becomes of the facts of one logical key. The latest one in force
of a key says which of its facts stand; a decision that is undone is as if it had never
been made, and undoing the undoing makes it stand again. A fact that is said after the
decision of its key stands until the next one. A rule that knows one session alone takes
out what it names and nothing else: what other sessions say under that key may be of
another thing (`OF_A_SESSION`).

The invariant: the ledger is a function of the decisions up to a position, and of
nothing else; the facts themselves are never touched. What is kept of the past beside
the latest decision of each key is a tail of at most `TAIL_MAX`; the log has them all.

It knows no log: decisions come in as values, in order of position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeVar, get_args

from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.moment import Moment
from firsthand.value import field, value

Action = Literal["supersede", "tombstone", "restore", "quarantine", "release", "approve"]
ACTIONS: tuple[Action, ...] = get_args(Action)
OF_A_SESSION = frozenset({"rule:slot", "rule:assignment"})
"""Who decides on what one session says: of a booking, of an attribute; the next session's may be another one's."""
OF_A_SENTENCE = tuple(f"mention {kind}" for kind in ("number", "money", "percent", "duration"))
"""How the keys begin of amounts in stories: of any two of a kind; a decision on one says nothing of the others."""
TAIL_MAX = 256
"""Decisions that a ledger keeps beside the latest one of each key, the newest ones."""
REASON_CHARACTERS_MAX = 300
KEY_CHARACTERS_MAX = 200
SOURCES_MAX = 64


class Known(Protocol):
    """What the ledger needs of a fact."""

    @property
    def key(self) -> str: ...
    @property
    def pointer(self) -> str: ...
    @property
    def position(self) -> int: ...


Fact_ = TypeVar("Fact_", bound=Known)


@value
class Decision:
    """One row of the ledger.

    Attributes:
        id: 26 characters; of a decision by rule made of what it decides, so that a second sweep makes the same one.
        action: ``supersede``: of the key stands ``by_fact``, and nothing else up to ``through``; ``tombstone``: nothing
            does; ``restore``: ``target`` does, and nothing else. ``quarantine`` takes ``target`` out whatever its
            key says, ``release`` lets it in again; ``approve`` lets in what stands on untrusted text: a note, an entry.
        key: the logical key of the fact.
        target: pointer of the fact that it is about: of the bytes that say it, or of an entry.
        by_fact: pointer of what takes its place; empty for none.
        reason: why, without the values of the facts.
        sources: pointers that it rests on.
        by: ``rule:NAME``, ``user`` or ``model:NAME``.
        through: facts of the key up to this position are decided on; what is said later is not.
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


Move = tuple[str, str, str]
"""Key, pointer of what left and pointer of what took its place."""


@value
class Ledger:
    """The decisions in force, as of a position.

    Attributes:
        through: the position of the last decision that it knows.
        latest: the decision in force, by key.
        replaced: decisions in force that take out one fact alone, by key and by its pointer: of rules that know one
            session, and on amounts in stories.
        held: the quarantine in force, by pointer.
        approved: what the user let in although it stands on untrusted text, by pointer.
        undone: by id of a decision that is not in force, the id of the one that undid it.
        refused: what was decided once and undone; the sweep does not decide it again.
        tail: the newest decisions, in order.
        decisions: how many there were in all.
    """

    through: int = 0
    latest: Mapping[str, Decision] = field(default_factory=dict)
    held: Mapping[str, Decision] = field(default_factory=dict)
    undone: Mapping[str, str] = field(default_factory=dict)
    refused: frozenset[Move] = frozenset()
    tail: tuple[Decision, ...] = ()
    decisions: int = 0
    approved: Mapping[str, Decision] = field(default_factory=dict)
    replaced: Mapping[tuple[str, str], Decision] = field(default_factory=dict)

    def standing(self, fact: Known) -> bool:
        """Say whether a fact stands: no decision takes it out."""
        return self.taken_out_by(fact) is None

    def taken_out_by(self, fact: Known) -> Decision | None:
        """Give the decision that takes a fact out; None when it stands."""
        held = self.held.get(fact.pointer) or self.held.get(fact.pointer.partition("@")[0])
        if held is not None:
            return held
        latest = self.latest.get(fact.key)
        replaced = self.replaced.get((fact.key, fact.pointer))
        says = latest is not None and fact.position <= latest.through
        if replaced is not None and not (latest is not None and says and latest.position > replaced.position):
            return replaced
        if latest is None or not says:
            return None
        stands = {"supersede": latest.by_fact, "restore": latest.target}.get(latest.action, "")
        return None if fact.pointer == stands else latest


@value
class LedgerChange:
    """What is different of one key, or of one pointer that was quarantined or approved, between two positions."""

    key: str
    before: Decision | None
    after: Decision | None


def fold(decisions: Iterable[Decision], as_of: int | None = None) -> Ledger:
    """Give the ledger that decisions lead to.

    Args:
        decisions: in order of position.
        as_of: a position; what was decided behind it does not count. None takes all.
    """
    known = [one for one in decisions if as_of is None or one.position <= as_of]
    undone = _undone(known)
    latest: dict[str, Decision] = {}
    held: dict[str, Decision] = {}
    approved: dict[str, Decision] = {}
    replaced: dict[tuple[str, str], Decision] = {}
    for one in known:
        if one.undoes or one.id in undone:
            continue
        if one.action == "quarantine":
            held[one.target] = one
        elif one.action == "release":
            held.pop(one.target, None)
        elif one.action == "approve":
            approved[one.target] = one
        elif _name(one.key).startswith(OF_A_SENTENCE) and one.action == "restore":
            replaced.pop((one.key, one.target), None)
        elif _name(one.key).startswith(OF_A_SENTENCE) or (one.action == "supersede" and one.by in OF_A_SESSION):
            replaced[one.key, one.target] = one
        else:
            latest[one.key] = one
    refused = frozenset((one.key, one.target, one.by_fact) for one in known if one.id in undone and not one.undoes)
    last = known[-1].position if known else 0
    return Ledger(last, latest, held, undone, refused, tuple(known[-TAIL_MAX:]), len(known), approved, replaced)


def _name(key: str) -> str:
    """Give the words of a key, without its scope."""
    return key.rpartition("/")[2]


def _undone(known: Sequence[Decision]) -> dict[str, str]:
    """Say which decisions are undone, and by which: the last word first, since an undoing can be undone itself."""
    undone: dict[str, str] = {}
    for one in reversed(known):
        if one.undoes and one.id not in undone:
            undone.setdefault(one.undoes, one.id)
    return undone


def followers(decisions: Sequence[Decision], identity: str) -> tuple[Decision, ...]:
    """Give a decision and all that followed from it, in order: those about the fact that it put in.

    Raises:
        Unresolvable: there is no such decision.
    """
    begun = next((one for one in decisions if one.id == identity), None)
    if begun is None:
        raise Unresolvable(f"the ledger has no decision {identity!r:.40}; `firsthand ledger list` shows those it has")
    found = [begun]
    put_in = {(begun.key, begun.by_fact)} if begun.by_fact else set()
    for one in decisions[decisions.index(begun) + 1 :]:
        if not one.undoes and ((one.key, one.target) in put_in or put_in & {(one.key, name) for name in one.sources}):
            found.append(one)
            if one.by_fact:
                put_in.add((one.key, one.by_fact))
    return tuple(found)


def ledger_difference(one: Ledger, other: Ledger) -> tuple[LedgerChange, ...]:
    """Give what is decided otherwise in another ledger, in order of keys."""
    found = []
    for before, after in ((one.latest, other.latest), (one.held, other.held), (one.approved, other.approved)):
        for key in sorted({*before, *after}):
            was, now = before.get(key), after.get(key)
            if (was and was.id) != (now and now.id):
                found.append(LedgerChange(key, was, now))
    for place in sorted({*one.replaced, *other.replaced}):
        was, now = one.replaced.get(place), other.replaced.get(place)
        if (was and was.id) != (now and now.id):
            found.append(LedgerChange(place[0], was, now))
    return tuple(found)


def surviving(facts: Iterable[Fact_], ledger: Ledger) -> tuple[Fact_, ...]:
    """Give the facts that stand, in order of position."""
    return tuple(sorted((one for one in facts if ledger.standing(one)), key=lambda one: one.position))


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
