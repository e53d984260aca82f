r"""Reads what sentences say of things that a session lists, in a form that is the same for other words.

    "Four jobs are done: glazing, sanding, wiring."   the things
    "wiring has to be done before sanding"            before(wiring, sanding)
    "Sanding must wait for wiring."                   before(wiring, sanding)
    "valve Q is open whenever valve S is shut"        not shut(S) or open(Q), as "if S is shut, Q is open"

The invariant: two sentences have the same form only when each follows from the other, as far as the words
here go; a sentence that is not understood has none.

It does not know an answer (`clues` does), nor what a thing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from firsthand.value import value
from firsthand_evals.probe.direction import directions

THINGS_MAX = 40
"""Things that are told apart; a longer list is no puzzle."""
CHARACTERS_MAX = 300
"""Of a sentence that is read as a relation."""
MENTIONS_MAX = 4_096
"""Patterns of names that are kept: a process that lives long reads sessions without end."""
_compiled = cache(re.compile)
_ITEM = (
    r"(?:(?:an?|the|der|die|das|le|la|el|una?|un)\s)?[^\W\d_]+(?:[ -](?!and |or |und |et |y |have |has |are |is "
    r"|run |ran |sit )[^\W\d_]+){0,3}"
)
_LIST = rf"{_ITEM}(?:,\s(?:and\s|or\s)?{_ITEM})+(?:,?\s(?:and|or|&|und|oder|et|ou|y|o|e)\s{_ITEM})?"
_ARTICLE = r"\A(?:an?|the|der|die|das|le|la|el|una?|un)\s"
_NOT = (
    r"\b(?:not|never|no|neither|nor|cannot|without|other than|except|anything but|nicht|kein\w*|pas|non|n\u00e3o"
    r"|niet|geen)\b"
    r"|n['\u2019]t\b"
)
_BESIDE = (
    r"\b(?:touch(?:es|ing)?|next to|beside|adjacent|neighbou?rs?|neighbou?ring|side by side|right by|borders?"
    r"|adjoins?|abuts?"
    r"|neben|nachbarn?|\u00e0 c\u00f4t\u00e9|junto|accanto|naast)\b"
)
_SAME = (
    r"\b(?:same|alike|equal|identical|both (?:\w+ )?or both|either both|agree|match(?:es)?|together or not at all"
    r"|as much as)\b"
)
_DIFFER = (
    r"\b(?:different|differs?|opposite|exactly one of|just one of|only one of|one of the two|unlike|contrary|disagree"
    r"|never both|not the same|not alike)\b"
)
_BEFORE_IF = (
    r"\b(?:if|whenever|when|as long as|provided(?: that)?|in case|once|wenn|falls|si|se|als|je\u015bli"
    r"|\u0435\u0441\u043b\u0438)\b"
)
_BEHIND_IF = r"\b(?:implies|implied|means|requires|entails|forces|makes|only if|leads to|so that|hence|then)\b"
_STATES = (
    ("open", "shut|closed?"), ("on", "off"), ("up", "down"), ("in", "out"), ("true", "false"), ("lit", "dark|unlit"),
    ("present", "absent|missing"), ("running", "stopped"), ("full", "empty"), ("locked", "unlocked"), ("yes", "no"),
    ("active", "inactive"), ("enabled", "disabled"), ("connected", "disconnected"), ("comes?|attends?", "stays? away"),
)  # fmt: skip
_ARROW = r"\s*(?:->|\u2192|=>|>|\u203a|,? then )\s*"
_DIRECT = r"\b(?:directly|immediately|right (?=before|after|behind|next|in front)|just (?=before|after)|straight)\b"

Relation = tuple[str, tuple[object, ...], bool]
"""Its name, whom it holds of, and whether the sentence denies it."""


@value
class Things:
    """What a session lists, and in which of its lists each stands."""

    lists: tuple[tuple[str, ...], ...]

    @property
    def all(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(name for one in self.lists for name in one)


def things_of(scenes: Iterable[str], sentences: Sequence[str]) -> Things:
    """Find the things that texts list, each of which some sentence speaks of."""
    told = " \n ".join(sentences)
    found: list[tuple[str, ...]] = []
    for scene in scenes:
        for match in _compiled(_LIST).finditer(scene[:CHARACTERS_MAX]):
            parts = _compiled(r",?\s(?:and|or|&|und|oder|et|ou|y|o|e)\s|,\s(?:and\s|or\s)?").split(match.group())
            names = [name for part in parts if (name := _known(_compiled(_ARTICLE).sub("", part.strip()), told))]
            if len(names) > 1 and len(names) <= THINGS_MAX:
                found.append(tuple(dict.fromkeys(names)))
    return Things(tuple(dict.fromkeys(found)))


def _known(item: str, told: str) -> str:
    """Shorten an item to what sentences call it; empty where none does."""
    words = item.split()
    for end in range(len(words), 0, -1):
        name = " ".join(words[:end])
        if _mention(name).search(told) is not None:
            return name
    return ""


@lru_cache(maxsize=MENTIONS_MAX)
def _mention(name: str) -> re.Pattern[str]:
    flags = 0 if len(name) == 1 else re.IGNORECASE
    return re.compile(rf"(?<![\w]){re.escape(name)}(?:'s|s)?(?![\w])", flags)


def relations(text: str, things: Things) -> frozenset[Relation]:
    """Give what a sentence says of things; empty where it is not understood."""
    if len(text) > CHARACTERS_MAX or not things.lists:
        return frozenset()
    lead, colon, rest = text.partition(": ")
    if colon and not any(_mention(name).search(lead) for name in things.all):
        text = rest
    found = sorted(
        (match.start(), match.end(), name) for name in things.all for match in [_mention(name).search(text)] if match
    )
    found = [one for at, one in enumerate(found) if not at or one[0] >= found[at - 1][1]]
    names = [name for _, _, name in found]
    gaps = [text[found[at][1] : found[at + 1][0]] for at in range(len(found) - 1)]
    if len(names) > 1 and all(_compiled(_ARROW).fullmatch(gap) for gap in gaps):
        return frozenset(
            relation for at in range(len(names)) for other in range(at + 1, len(names))
            for relation in _ordered("order", names[at], names[other], direct=other == at + 1)
        )  # fmt: skip
    return _has(text, names, things) or _of_two(text, found) or _of_one(text, found)


def _ordered(axis: str, first: str, second: str, *, direct: bool, negative: bool = False) -> list[Relation]:
    """Give an order; what stands directly before stands before, too."""
    plain: Relation = (axis, (first, second), negative)
    return [plain, (f"{axis} directly", (first, second), negative)] if direct and not negative else [plain]


def _has(text: str, names: Sequence[str], things: Things) -> frozenset[Relation]:
    """Read what one thing of a list has of another list: either a goldfish or a tortoise."""
    if len(things.lists) < 2:
        return frozenset()
    sorts = [frozenset(name for name in dict.fromkeys(names) if name in one) for one in things.lists]
    some = [one for one in sorts if one]
    if len(some) != 2 or min(map(len, some)) != 1:
        return frozenset()
    who, what = some if len(some[0]) == 1 else (some[1], some[0])
    negative = _compiled(_NOT).search(text.lower()) is not None
    if len(what) == 1 == len(who):
        return frozenset({("has", (frozenset(who | what),), negative)})
    if negative:  # neither of them
        return frozenset(("has", (frozenset(who | {one}),), True) for one in what)
    return frozenset({("has", (frozenset(who), frozenset(what)), False)})


def _of_two(text: str, found: Sequence[tuple[int, int, str]]) -> frozenset[Relation]:
    names = list(dict.fromkeys(name for _, _, name in found))
    if len(names) != 2:
        return frozenset()
    low = text.lower()
    pair = frozenset(names)
    negative = _compiled(_NOT).search(low) is not None
    if _compiled(_DIFFER).search(low):
        return frozenset({("same", (pair,), True)})
    if _compiled(_SAME).search(low):
        return frozenset({("same", (pair,), negative)})
    clause = _conditional(low, found[:2])
    if clause:
        return frozenset({("or", (clause,), False)})
    turned = directions(text, [text[low_:high] for low_, high, _ in found[:2]])
    if _compiled(_BESIDE).search(low) and "side" not in turned:
        return frozenset({("beside", (pair,), negative)})
    made: list[Relation] = []
    direct = _compiled(_DIRECT).search(low) is not None
    for axis, way in turned.items():
        first, second = names if way > 0 else reversed(names)
        made += _ordered(
            "order" if axis in {"order", "side"} else axis, first, second, direct=direct, negative=negative
        )
    return frozenset(made)


def _conditional(low: str, found: Sequence[tuple[int, int, str]]) -> frozenset[tuple[str, str, bool]]:
    """Read "if A is shut, B is open" as a choice: A is open, or B is."""
    before = _compiled(_BEFORE_IF).search(low)
    behind = _compiled(_BEHIND_IF).search(low, found[0][1], found[1][0]) or (
        _compiled(r"\bonly if\b").search(low, found[0][1], found[1][0])
    )
    if before is None and behind is None:
        return frozenset()
    ends = [*(start for start, _, _ in found[1:]), len(low)]
    states = [_state(low[end:stop]) for (_, end, _), stop in zip(found, ends, strict=True)]
    if None in states:
        return frozenset()
    ante = 0 if behind is not None and (before is None or before.start() > found[0][0]) else (
        0 if before is not None and before.start() < found[0][0] else 1)  # fmt: skip
    result = set()
    for at, state in enumerate(states):
        assert state is not None
        axis, holds = state
        result.add((found[at][2], axis, holds != (at == ante)))
    return frozenset(result)


def _state(behind: str) -> tuple[str, bool] | None:
    """Find in what state a thing is said to be, by the words behind it; a state that is denied is the other one."""
    best: tuple[int, str, bool] | None = None
    for yes, no in _STATES:
        for words, holds in ((yes, True), (no, False)):
            match = _compiled(rf"\b(?:{words})\b").search(behind)
            if match is not None and (best is None or match.start() < best[0]):
                best = (match.start(), yes, holds)
    if best is None:
        return None
    denied = _compiled(_NOT).search(behind[: best[0]]) is not None
    return best[1], best[2] != denied


def _of_one(text: str, found: Sequence[tuple[int, int, str]]) -> frozenset[Relation]:
    """Read in what state one thing is."""
    if len({name for _, _, name in found}) != 1 or len(text.split()) > 12:
        return frozenset()
    state = _state(text.lower()[found[0][1] :])
    if state is None or _compiled(rf"{_BEFORE_IF}|\bor\b|\bwhether\b").search(text.lower()):
        return frozenset()
    return frozenset({("or", (frozenset({(found[0][2], state[0], state[1])}),), False)})
