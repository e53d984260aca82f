"""Decides by rule which fact takes the place of which (total-recall 8.3, A.3), without a model.

    correction   it says so itself ("now", "changed to", "no longer") of the same key
    from to      it names the value that it takes the place of, and one fact alone has it
    config       a line of the same name
    slot         what is arranged of the same thing, in the same session
    assignment   the same attribute said again in the same session: another session may be of another person
    retraction   it is taken back

The invariant: only what a user said by trust decides, whatever else says; a fact never
takes the place of a later one; what was decided once and undone is not decided again;
the same facts give the same decisions, under the same ids.

It does not know what is true: where two facts of one key differ and no rule joins them,
both stand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date

from firsthand.consolidate.keys import DEEDS, Fact
from firsthand.consolidate.ledger import Action, Decision, Ledger
from firsthand.consolidate.wording import key_of, kind_of
from firsthand.event import Trust, derived_id

FROM_TO_VALUE_CHARACTERS_MIN = 2
"""A shorter value is named by many facts."""


def by_rule(window: Sequence[Fact], working: Mapping[str, Fact], ledger: Ledger | None = None) -> tuple[Decision, ...]:
    """Decide on new facts, in order.

    Args:
        window: the new facts, in order of position.
        working: the newest fact that stands, by key.
        ledger: what was decided before; None for nothing.
    """
    standing = _Standing(working.values())
    decided: list[Decision] = []
    for new in window:
        if not counts(new):
            continue
        old = _meant(new, standing)
        rule = "" if old is None or standing.is_of_several(old.key, new) else _rule(new, old)
        if old is not None and rule:
            made = decision(new, old, f"rule:{rule}", REASONS[rule], retracts=new.sort == "retraction")
            if ledger is None or (made.key, made.target, made.by_fact) not in ledger.refused:
                decided.append(made)
            if new.sort == "retraction" or old.key != new.key:
                standing.take_out(old)
        if new.sort != "retraction" and new.name:
            standing.put_in(new)
    return tuple(decided)


def named_by(facts: Iterable[Fact]) -> dict[str, str]:
    """Say by pointer of which facts the name was said elsewhere, and where: "change it to 9000" has none of its own.

    Args:
        facts: in order of position.

    Returns:
        Pointers of the facts that were named last under that key in the same session. A decision rests on them
        too: it holds the key, so that it is to be erased with the words of it.
    """
    last: dict[tuple[str, str], str] = {}
    found: dict[str, str] = {}
    for one in facts:
        place = one.session, one.key
        if " ".join(one.about.casefold().split()) in " ".join(one.text.casefold().split()):
            if one.trust is Trust.TRUSTED:
                last[place] = one.pointer
        elif place in last:
            found[one.pointer] = last[place]
    return found


def counts(fact: Fact) -> bool:
    """Say whether a fact may stand in a digest, or decide: a user said it, by trust, and it says a value."""
    return fact.trust is Trust.TRUSTED and fact.sort not in DEEDS


class _Standing:
    """The newest fact of each key, to be found by its value and by the words of its name."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._by_key: dict[str, Fact] = {}
        self._by_value: dict[str, dict[str, Fact]] = {}
        self._by_word: dict[tuple[str, str], dict[str, Fact]] = {}
        self._kinds: dict[str, set[str]] = {}
        for one in facts:
            self.put_in(one)

    def put_in(self, one: Fact) -> None:
        """Let a fact stand in the place of what stood under its key."""
        old = self._by_key.get(one.key)
        if old is not None:
            self.take_out(old)
        self._by_key[one.key] = one
        self._kinds.setdefault(one.key, set()).add(_kind(one))
        for found in self._places(one):
            found[one.key] = one

    def take_out(self, one: Fact) -> None:
        """Let a fact stand no more."""
        if self._by_key.pop(one.key, None) is not None:
            for found in self._places(one):
                found.pop(one.key, None)

    def _places(self, one: Fact) -> Iterator[dict[str, Fact]]:
        yield self._by_value.setdefault(one.value, {})
        for word in one.name.split():
            yield self._by_word.setdefault((one.session, word), {})

    def is_of_several(self, key: str, new: Fact) -> bool:
        """Say whether values of several kinds were said under a key: the make and the number, say, of one phone.

        A decision leaves one fact of its key standing, and would take what is of another kind out with the old one.
        """
        return new.sort not in {"config", "retraction"} and len(self._kinds.get(key, set()) | {_kind(new)}) > 1

    def of(self, key: str) -> Fact | None:
        """Give the fact of a key."""
        return self._by_key.get(key)

    def valued(self, value: str) -> list[Fact]:
        """Give the facts of a value."""
        return [*self._by_value.get(value, {}).values()]

    def wider(self, session: str, words: Collection[str]) -> list[Fact]:
        """Give the facts of a session whose names have these words and more."""
        found = min((self._by_word.get((session, word), {}) for word in words), key=len, default={})
        return [one for one in found.values() if set(words) < set(one.name.split())]


def _meant(new: Fact, standing: _Standing) -> Fact | None:
    """Find the fact that a new one is about; None when there is none, or it is not clear which."""
    same = standing.of(new.key)
    if same is not None and same.position <= new.position and not (new.before and new.before != same.value):
        return same
    if new.sort == "retraction" and not new.name.startswith("instead of"):
        return None  # it holds no more of this thing, whatever else has the value
    if new.before and len(new.before) >= FROM_TO_VALUE_CHARACTERS_MIN:
        every = standing.valued(new.before)
        named = [one for one in every if one.session == new.session] or every
        return named[0] if len(named) == 1 and _may_mean(new, named[0]) else None
    if new.sort != "correction" or not new.name:
        return None
    wider = [
        one
        for one in standing.wider(new.session, new.name.split())
        if one.sort in {"assignment", "correction"} and "'s" not in one.about  # "the port" is not Ann's
    ]
    return wider[0] if len(wider) == 1 and alike(new, wider[0]) else None


def _may_mean(new: Fact, old: Fact) -> bool:
    """Say whether what is said beside a value that is named as gone names the thing that has it, or nothing at all."""
    if new.sort == "retraction" and ("'s" in old.about or not {"his", "her", "their"}.isdisjoint(old.name.split())):
        return False  # what I use no more somebody else may
    if not new.name.startswith("instead of"):  # "the budget from 1,200 to 2,500" is not the rent, which is 1,200 too
        return bool({*new.name.split()} & {*old.name.split()})
    if not new.about:
        return True
    name = key_of(old.about) if old.name.startswith("instead of") else old.name
    return bool({*key_of(new.about).split()} & {*name.split()})


def _rule(new: Fact, old: Fact) -> str:
    """Name the rule by which a new fact takes the place of an old one; empty for none."""
    if new.sort == "retraction":
        return "retraction"
    if new.value == old.value or not alike(new, old) or is_same_day(new.value, old.value):
        return ""
    if new.before and new.before == old.value:
        return "from-to"
    if new.near and new.session != old.session:
        return ""
    if new.sort == "correction":
        return "correction"
    if new.sort == old.sort == "config":
        return "config"
    if new.sort == old.sort == "slot":
        return "slot" if new.session == old.session and new.changes else ""
    if new.sort == "assignment" and old.sort in {"assignment", "correction"}:
        return "assignment" if new.session == old.session and new.changes else ""
    return ""


def alike(new: Fact, old: Fact) -> bool:
    """Say whether two values are of one kind: a time does not take the place of a name, nor 5 files of 3 people."""
    return _kind(new) == _kind(old) or new.sort == "config"


def is_same_day(one: str, other: str) -> bool:
    """Say whether two dates may be one, of which only one is told with its year."""
    days = []
    for told in (one, other):
        kind, _, amount = told.partition(":")
        if kind != "date":
            return False
        day, _, unit = amount.partition(" ")
        if not unit and day.isdigit():
            told_on = date.fromordinal(int(day))
            day, unit = str(told_on.month * 100 + told_on.day), "MM-DD"
        days.append((day, unit))
    return days[0] == days[1]


def _kind(fact: Fact) -> str:
    """Name the kind of a value, and what it counts."""
    return f"{kind_of(fact.value)} {_counted(fact)}"


def _counted(fact: Fact) -> str:
    """Name what a value counts, in one spelling; empty when it counts nothing."""
    amount, _, words = fact.value.removeprefix("number:").partition(" ")
    return key_of(words) if words and amount.replace(",", "").replace(".", "").isdigit() else ""


def decision(new: Fact, old: Fact, by: str, reason: str, *, retracts: bool = False) -> Decision:
    """Make the decision that a new fact takes the place of an old one; its id is made of what it decides.

    Args:
        by: who decides.
        retracts: nothing takes its place.
    """
    action: Action = "tombstone" if retracts else "supersede"
    by_fact = "" if retracts else new.pointer
    parts = (action, old.key, old.pointer, new.pointer)
    identity = derived_id(None, b"decision", *(part.encode("utf-8", "surrogatepass") for part in parts))
    return Decision(
        identity, action, old.key, old.pointer, by_fact, reason, (new.pointer, old.pointer), by, new.position
    )


REASONS = {
    "retraction": "the user took it back",
    "from-to": "the user named the value that it takes the place of",
    "correction": "the user said that it has changed",
    "config": "the user gave the same line another value",
    "slot": "the user arranged it otherwise in the same session",
    "assignment": "the user gave the same attribute another value",
}
"""Why, by rule; without the values, which stand in the facts."""
