"""What is open: two things that a user said of which both stand, and only one can hold.

    "The staging port is 80."     "The staging port is 81."        in two sessions: nothing says that it changed
    "I just downloaded Zotero."   "I've never used Zotero."

The sweep decides where the words say that something has changed; here is what it leaves
to the person: shown with both sides, decided by nobody.

The invariant: both facts were said by a user by trust, and neither is taken out by the
ledger; what was decided once and undone is no conflict, since the user had both stand;
at most `CONFLICTS_MAX`, those with the newest later fact.

It decides nothing, and does not know which one is true.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from firsthand.consolidate.arranged import beside
from firsthand.consolidate.keys import Fact
from firsthand.consolidate.ledger import Ledger
from firsthand.consolidate.sweep import alike, counts, is_same_day
from firsthand.event import Trust
from firsthand.value import value

CONFLICTS_MAX = 50
DENIALS_MAX = 200
"""That are compared with what was done: the newest ones."""
DEEDS_OF_A_DENIAL_MAX = 2
SHARED_WORDS_MIN = 2
COVERED_MIN = 0.45
"""Of a denial's words, by how rare they are, so much stands in the deed that it contradicts."""

NAMED_WORDS_MIN = 3
"""Of the name of what is told in passing, for two values of it to be of one thing."""
NAMED_MAX = 200
"""Of a session and with a word in common, that a longer name is compared with: the newest ones."""

MENTIONED_MIN = 0.3
"""Of the words around a new amount, by how rare they are, so much stands around the earlier one too."""
MENTIONED_WORDS_MIN = 2
MENTIONS_MAX = 200
"""Earlier amounts of a kind that a new one is compared with: the newest ones."""

Why = Literal["two values", "said to be never done", "two amounts"]


@value
class Conflict:
    """Two facts of which both stand, and only one can hold.

    Attributes:
        earlier, later: by position.
        why: what makes them one.
    """

    earlier: Fact
    later: Fact
    why: Why


def conflicts(told: Sequence[Fact], ledger: Ledger) -> tuple[Conflict, ...]:
    """Give what is open, the newest last.

    Args:
        told: all facts of a scope, in order of position.
        ledger: what is decided.
    """
    standing = [one for one in told if one.trust is Trust.TRUSTED and ledger.standing(one)]
    found = [*_of_values([one for one in standing if counts(one)], ledger), *_of_denials(standing)]
    there = {(one.earlier.event, one.later.event) for one in found}
    decisions = (*ledger.latest.values(), *ledger.replaced.values(), *ledger.tail)
    decided = {(one.target.partition("@")[0], one.by_fact.partition("@")[0]) for one in decisions}
    found += [
        one for one in _of_mentions(standing) if (one.earlier.event, one.later.event) not in there | decided
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: (one.later.position, one.earlier.position)))[-CONFLICTS_MAX:]


def _of_values(standing: Iterable[Fact], ledger: Ledger) -> Iterator[Conflict]:
    """Yield for each key its newest fact, and the newest one before it that says another value of the same kind."""
    by_key: dict[str, list[Fact]] = {}
    for one in standing:
        if one.sort != "retraction":
            by_key.setdefault(one.key, []).append(one)
    for facts in by_key.values():
        later = facts[-1]
        for earlier in reversed(facts[:-1]):
            if earlier.event != later.event and _differ(earlier, later):
                if (later.key, earlier.pointer, later.pointer) not in ledger.refused:
                    yield Conflict(earlier, later, "two values")
                break
    yield from _of_longer_names([facts[-1] for facts in by_key.values()], ledger)


def _of_longer_names(newest: Iterable[Fact], ledger: Ledger) -> Iterator[Conflict]:
    """Yield pairs of one session of which one name has the words of the other and more, where no other pair has."""
    near = sorted((one for one in newest if one.near), key=lambda one: one.position)
    at: defaultdict[tuple[str, str], deque[Fact]] = defaultdict(lambda: deque(maxlen=NAMED_MAX))
    for later in near:
        words = later.name.split()
        met = Counter(one.pointer for word in words for one in at[later.session, word])
        like = {one.pointer: one for word in words for one in at[later.session, word]
                if met[one.pointer] >= max(SHARED_WORDS_MIN, min(len(words), len(one.name.split())))}  # fmt: skip
        if len(like) == 1:
            (earlier,) = like.values()
            refused = (earlier.key, earlier.pointer, later.pointer) in ledger.refused
            if earlier.event != later.event and earlier.key != later.key and not refused and _differ(earlier, later):
                yield Conflict(earlier, later, "two values")
        for word in words:
            at[later.session, word].append(later)


def _differ(earlier: Fact, later: Fact) -> bool:
    """Say whether two facts of a key can hold no more than one of the two."""
    if earlier.value == later.value or not alike(later, earlier) or is_same_day(earlier.value, later.value):
        return False
    if later.near and not later.changes and max(map(len, (later.name.split(), earlier.name.split()))) < NAMED_WORDS_MIN:
        return False  # "a meeting on Friday" is seldom the one of last week
    if (earlier.near or later.near or "slot" in (earlier.sort, later.sort)) and earlier.session != later.session:
        return False
    return later.sort != "slot" or beside(later.text) is None


def _of_mentions(standing: Sequence[Fact]) -> Iterator[Conflict]:
    """Yield for each amount with a word of change the earlier one that has most of the words around it in common."""
    told = [one for one in standing if one.sort == "mention"]
    words = {one.pointer: frozenset(one.about.split()) for one in told}
    number = Counter(word for one in words.values() for word in one)
    at: dict[tuple[str, str], list[Fact]] = {}
    for later in told:
        place = later.session, later.key
        if later.changes:
            best, share = None, MENTIONED_MIN
            own = words[later.pointer]
            whole = sum(_rarity(number[word], len(words)) for word in own)
            for earlier in at.get(place, [])[-MENTIONS_MAX:]:
                both = own & words[earlier.pointer]
                if earlier.event == later.event or earlier.value == later.value or len(both) < MENTIONED_WORDS_MIN:
                    continue
                covered = sum(_rarity(number[word], len(words)) for word in both) / whole
                if covered >= share:
                    best, share = earlier, covered
            if best is not None:
                yield Conflict(best, later, "two amounts")
        at.setdefault(place, []).append(later)


def _rarity(number: int, of: int) -> float:
    return math.log(1 + of / (1 + number))


def _of_denials(standing: Sequence[Fact]) -> Iterator[Conflict]:
    """Yield for each denial the deed that it contradicts most, if there is one."""
    denials = [one for one in standing if one.sort == "denial"][-DENIALS_MAX:]
    deeds = [one for one in standing if one.sort == "deed"] if denials else []
    words = [frozenset(one.value.split()) for one in deeds]
    number = Counter(word for one in words for word in one)
    at: dict[str, list[int]] = {}
    for place, one in enumerate(words):
        for word in one:
            at.setdefault(word, []).append(place)
    for denial in denials:
        said = {*denial.value.split()}
        weight = {word: math.log(1 + len(deeds) / (1 + number[word])) for word in sorted(said)}
        shared: dict[int, float] = {}
        for word, rare in weight.items():
            for place in at.get(word, ()):
                shared[place] = shared.get(place, 0.0) + rare
        needed = COVERED_MIN * sum(weight.values())
        likely = [
            place for place in shared
            if shared[place] >= needed and len(words[place] & said) >= SHARED_WORDS_MIN
            and deeds[place].event != denial.event
        ]  # fmt: skip
        for place in sorted(likely, key=lambda place: (-shared[place], -place))[:DEEDS_OF_A_DENIAL_MAX]:
            earlier, later = sorted((denial, deeds[place]), key=lambda one: one.position)
            yield Conflict(earlier, later, "said to be never done")
