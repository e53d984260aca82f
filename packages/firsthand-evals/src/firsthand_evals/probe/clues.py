r"""Reads the clues of a constraint puzzle, and tries all arrangements: who sits where, who is what.

    Ines, Ben and Ana are the cook, driver and clerk, one job each.
    Ben is not the cook. Ana sits directly to the left of Ines. The driver is Ines or Ben.

People have a place in one order and one value of each set of names (jobs, colours).
The invariant: an answer is given when every arrangement that all clues allow gives
the same one; at most `TRIES_MAX` arrangements are tried, and beyond there is none.

It does not know who said a clue, nor which sentence is no clue: `determine` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import permutations, product
from typing import Literal

from firsthand.value import value
from firsthand_evals.probe.lexicon import UNITS_OF_NUMBERS

PEOPLE_MAX = 7  # 5,040 arrangements of one set
TRIES_MAX = 400_000
SETS_MAX = 3

_compiled = cache(re.compile)
_NAME = r"[A-Z\u00c0-\u00de][a-z\u00df-\u00ff]+"
_NO_NAMES = frozenset(
    """the a an she he it they we you i who which what when where there then so now if either neither both one two three
    four five six seven eight nine ten each every no not all some and or but somebody someone everybody nobody seat
    house position place first second third fourth fifth sixth last monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december clue clues also only
    from to of in on at for please here is are was were does do did this that these those yes ok thanks according
    given tell note people exactly immediately directly kept rest answer puzzle five rules rule next between""".split()  # noqa: SIM905 - quoted words are harder to read
)
_NAMES_LISTED = rf"({_NAME}(?:, {_NAME})*,? (?:and|&|or) {_NAME}|{_NAME}(?:, {_NAME})+)"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_PLACE = (
    rf"\b(?:(?:seat|position|place|house|chair|slot|spot|number|rank|day|floor|lane|desk)s? (?:no\.? ?"
    rf"|number |#)?(\d|{'|'.join(list(UNITS_OF_NUMBERS)[1:9])})\b"
    rf"|({'|'.join(_ORDINALS)})\b(?! of )|\b(\d)(?:st|nd|rd|th)\b|\b(last|leftmost|rightmost|far left"
    rf"|far right|left end|right end|middle"
    r"|cent(?:er|re)|either end|an end|one end|ends|(?<!in )front|back)\b)"
)
_LEFT = r"left of|before|ahead of|in front of|above|over|earlier than|prior to|precedes?|sooner than|north of"
_RIGHT = r"right of|after|behind|below|under|later than|follows?|succeeds|south of"
_BESIDE = r"next to|beside|adjacent to|alongside|neighbou?rs?|side by side with"
_EACH_OTHER = (
    r"\b(?:next to each other|side by side|(?:are|be) (?:not )?neighbou?rs|adjacent(?: to each other)?"
    r"|beside each other)\b"
)
_DIRECT = (
    r"\b(?:directly|immediately|right (?=next|before|after|behind|in front|above|below)|just|exactly one|straight)\b"
)
_MORE = {
    "older": "old", "taller": "tall", "faster": "fast", "heavier": "heavy", "richer": "rich", "bigger": "big",
    "larger": "big",
    "higher": "high", "longer": "long", "warmer": "warm", "stronger": "strong", "younger": "-old", "shorter": "-tall",
    "slower": "-fast", "lighter": "-heavy", "poorer": "-rich", "smaller": "-big", "lower": "-high", "colder": "-warm",
    "weaker": "-strong",
}  # fmt: skip
_MOST = {
    "oldest": "old", "tallest": "tall", "fastest": "fast", "heaviest": "heavy", "richest": "rich", "biggest": "big",
    "largest": "big", "highest": "high", "longest": "long", "strongest": "strong", "youngest": "-old",
    "shortest": "-tall", "slowest": "-fast", "lightest": "-heavy", "poorest": "-rich", "smallest": "-big",
    "lowest": "-high",
}  # fmt: skip
_NOT = r"\b(?:not|never|neither|nor|cannot|no one|isn't|doesn't|didn't|aren't|wasn't|won't|don't|can't)\b"
_VERB = (
    r"(?:is|are|was|works as|work as|wears?|wore|has|have|owns?|drives?|drove|likes?|loves?|plays?|drinks?|eats?|chose"
    r"|picked|got|keeps?|speaks?|took|takes|leads|studies|paints?|prefers?|carries|bought)"
)
_HAS_OF = rf"\b{_VERB}\s(?:not\s|n't\s)?(?:either\s)?(?:the|an?)?\s?([a-z][a-z-]{{2,}})"
_LISTED = (
    r"(?:: ?|\bare (?:the |an? )?|\b(?:as|between|among|of|in) (?:the )?)((?:(?:the "
    r"|an? )?[a-z-]{3,}, )+(?:and |or )?(?:the |an? )?[a-z-]{3,}(?: (?:and|or) (?:the |an? )?[a-z-]{3,})?"
    r"|(?:the |an? )?[a-z-]{3,} and (?:the |an? )?[a-z-]{3,})"
)
_NO_VALUES = frozenset(
    """the one each left right next not either neither directly immediately somewhere first second third last middle end
    line row seat seats sits sit stands stand before after job role jobs roles colour colours color order counted from
    people person somewhere between behind ahead who that and or also only older younger taller shorter faster slower
    than more less least most in on at with for his her their same different exactly place position front back going
    """.split()  # noqa: SIM905 - as above
)


@value
class Clue:
    """One constraint.

    Attributes:
        form: ``order`` (left before right), ``beside``, ``has`` (a person, places or values).
        left, right: people, or values that stand for whoever has them.
        direct: with nobody between. negative: the clue says that it is not so.
        places: places from 0; negative ones count from the end; ``half`` stands for the middle.
    """

    form: Literal["order", "beside", "has"]
    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    direct: bool = False
    negative: bool = False
    places: tuple[int | str, ...] = ()


@value
class Puzzle:
    """Who and what there is: people, and the sets of which each has one value."""

    people: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...] = ()


def puzzle_of(texts: Sequence[str]) -> Puzzle:
    """Find the people and the sets of values that texts speak of."""
    people = _people(texts)
    values: list[tuple[str, ...]] = []
    loose: dict[str, int] = {}
    for text in texts:
        low = _lowered(text, people)
        for listed in _compiled(_LISTED).findall(low):
            words = tuple(
                dict.fromkeys(_compiled(r"[a-z-]{3,}").findall(_compiled(r"\b(?:the|and|or|an)\b").sub(" ", listed)))
            )
            if len(words) >= 2 and not set(words) & _NO_VALUES and not any(set(words) & set(one) for one in values):
                values.append(words)
        for word in _compiled(_HAS_OF).findall(low):
            if word not in _NO_VALUES:
                loose[word] = loose.get(word, 0) + 1
    sets = [one for one in values if 2 <= len(one) <= PEOPLE_MAX and len(one) <= len(people)][:SETS_MAX]
    known = {word for one in sets for word in one}
    left = tuple(word for word in loose if word not in known)
    if not sets and 2 <= len(left) <= len(people):
        sets = [left]
    return Puzzle(tuple(people), tuple(_full(one, len(people)) for one in sets))


def _people(texts: Sequence[str]) -> dict[str, int]:
    """Find the names of people: those that are listed together; where none are, those that several texts speak of."""
    listed: dict[str, int] = {}
    spoken: dict[str, int] = {}
    for text in texts:
        names = [name for name in _compiled(rf"\b{_NAME}\b").findall(text) if name.lower() not in _NO_NAMES]
        for name in dict.fromkeys(names):
            spoken[name] = spoken.get(name, 0) + 1
        together = [name for one in _compiled(_NAMES_LISTED).findall(text) for name in _compiled(_NAME).findall(one)]
        together = [name for name in together if name.lower() not in _NO_NAMES]
        if len(together) > 2:
            listed |= dict.fromkeys(together, 1)
    if any(spoken.get(name, 0) > 1 for name in listed):
        return listed
    return {name: number for name, number in spoken.items() if number > 1}


def _full(words: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Fill a set that was not listed whole with values that nobody speaks of."""
    return (*words, *(f"#{number}" for number in range(size - len(words))))


def _lowered(text: str, people: dict[str, int]) -> str:
    """Write a text small, but for the names of people."""
    parts = _compiled(rf"(\b{_NAME}\b)").split(text)
    return "".join(part if part in people else part.lower() for part in parts)


def may_be_clue(text: str) -> bool:
    """Say whether a sentence names somebody, and so may be a clue or say who there is."""
    return _compiled(rf"\b{_NAME}\b").search(text) is not None


def clue_of(text: str, puzzle: Puzzle) -> Clue | None:
    """Read the clue of a sentence; None when it is none."""
    low = _lowered(text.replace("\u2019", "'"), dict.fromkeys(puzzle.people, 1)).rstrip(" .;!")
    people = _mentioned(low, puzzle.people)
    values = [one for words in puzzle.sets for one in _mentioned(low, words)]
    values.sort(key=low.find)
    negative = _compiled(_NOT).search(low) is not None
    both = sorted([*people, *values], key=low.find)
    if len(both) < 1 or len(people) + len(values) > 6:
        return None
    relation = _relation(low, both, negative=negative) if len(both) == 2 else None
    if relation is not None:
        return relation
    places = _places(low)
    if places and len(people) >= 1 and not values:
        return Clue("has", tuple(people), places=places, negative=negative)
    if places and values and not people:
        return Clue("has", tuple(values), places=places, negative=negative)
    if people and values and (len(people) == 1 or len(values) == 1):
        return Clue("has", tuple(people), tuple(values), negative=negative)
    return None


def is_listing(text: str, puzzle: Puzzle) -> bool:
    """Say whether a sentence says who or what there is, rather than how they are arranged."""
    names = [name for name in puzzle.people if name in text]
    return len(puzzle.people) >= 2 and len(names) == len(puzzle.people) and clue_of(text, puzzle) is None


def _mentioned(low: str, words: Sequence[str]) -> list[str]:
    found = [word for word in words if _compiled(rf"\b{re.escape(word)}(?:s|'s)?\b").search(low)]
    return sorted(found, key=low.find)


def _relation(low: str, both: Sequence[str], *, negative: bool) -> Clue | None:
    one, other = both
    between = low[low.find(one) + len(one) : low.find(other, low.find(one) + len(one))]
    behind = low[low.rfind(other) + len(other) :]
    direct = _compiled(_DIRECT).search(between) is not None
    said = between
    if _compiled(_EACH_OTHER).search(behind) and between.strip() in {"and", "und", "&", "or", ", and"}:
        return Clue("beside", (one,), (other,), negative=negative)
    if _compiled(_BESIDE).search(said):
        side = _compiled(r"\b(?:on|to) (?:the|his|her|their|its) (left|right)").search(behind)
        if side is not None:  # "Ana sits right next to Ben, on the right side"
            pair = (one, other) if side[1] == "left" else (other, one)
            return Clue("order", pair[:1], pair[1:], direct=True, negative=negative)
        return Clue("beside", (one,), (other,), negative=negative)
    for pattern, turned in ((rf"\b(?:{_LEFT})\b", False), (rf"\b(?:{_RIGHT})\b", True)):
        if _compiled(pattern).search(said):
            pair = (other, one) if turned else (one, other)
            return Clue("order", pair[:1], pair[1:], direct=direct, negative=negative)
    word = _compiled(rf"\b({'|'.join(_MORE)})\b[\w ]{{0,12}} than\b").search(said)
    if word is not None:
        less = _MORE[word[1]].startswith("-")
        less = less != (_compiled(r"\bless\b").search(said) is not None)
        pair = (other, one) if less else (one, other)
        return Clue("order", pair[:1], pair[1:], negative=negative)
    return None


def _places(low: str) -> tuple[int | str, ...]:
    """Give the places that a text names, from 0; from the end, negative."""
    found: list[int | str] = []
    for number, ordinal, digit, word in _compiled(_PLACE).findall(low):
        if number or digit:
            told = number or digit
            found.append((int(told) if told.isdecimal() else UNITS_OF_NUMBERS[told]) - 1)
        elif ordinal:
            found.append(_ORDINALS.index(ordinal))
        elif word in {"last", "rightmost", "far right", "right end", "back"}:
            found.append(-1)
        elif word in {"middle", "center", "centre"}:
            found.append("middle")
        elif word in {"either end", "an end", "one end", "ends"}:
            found += [0, -1]
        else:
            found.append(0)
    return tuple(dict.fromkeys(found))


# solving -------------------------------------------------------------------------------------------


def answers(puzzle: Puzzle, clues: Sequence[Clue], asked: str) -> frozenset[str]:
    """Give every answer that some arrangement gives, which all clues allow; empty when there is none, or no question.

    Returns:
        one answer when the clues determine it.
    """
    size = len(puzzle.people)
    wanted = _wanted(asked, puzzle)
    if wanted is None or not 2 <= size <= PEOPLE_MAX:
        return frozenset()
    ordered = wanted.places != () or any(clue.form != "has" or clue.places for clue in clues)
    if not clues:
        return frozenset()
    axes = _axes(puzzle, clues, ordered=ordered)
    tries = 1
    for axis in axes:
        tries *= max(len(axis), 1)
    if tries > TRIES_MAX:
        return frozenset()
    mixed = [clue for clue in clues if len(_touched(clue, puzzle)) > 1]
    found: set[str] = set()
    for chosen in product(*axes):
        if all(_holds(clue, puzzle, chosen) for clue in mixed):
            found |= _told(wanted, puzzle, chosen)
            if len(found) > 1:
                break
    return frozenset(found)


def _axes(puzzle: Puzzle, clues: Sequence[Clue], *, ordered: bool) -> list[list[dict[str, str]]]:
    """Give, of the order and of each set, the arrangements that the clues about it alone allow."""
    size = len(puzzle.people)
    axes = []
    for number in range(len(puzzle.sets) + 1):
        own = [clue for clue in clues if _touched(clue, puzzle) == {number}]
        words = [str(place) for place in range(size)] if number == 0 else list(puzzle.sets[number - 1])
        if number == 0 and not ordered:
            axes.append([dict(zip(puzzle.people, words, strict=True))])
            continue
        fitting = []
        for arrangement in permutations(words):
            chosen = dict(zip(puzzle.people, arrangement, strict=True))
            every: list[dict[str, str]] = [{} for _ in range(len(puzzle.sets) + 1)]
            every[number] = chosen
            if all(_holds(clue, puzzle, tuple(every)) for clue in own):
                fitting.append(chosen)
        axes.append(fitting)
    return axes


def _touched(clue: Clue, puzzle: Puzzle) -> set[int]:
    """Name the order (0) and the sets (from 1) that a clue speaks of."""
    touched = {0} if clue.form != "has" or clue.places else set()
    for word in (*clue.left, *clue.right):
        touched |= {number for number, words in enumerate(puzzle.sets, 1) if word in words}
    return touched


def _holds(clue: Clue, puzzle: Puzzle, chosen: Sequence[dict[str, str]]) -> bool:
    if clue.form == "has":
        return _has(clue, puzzle, chosen) != clue.negative
    left, right = (int(chosen[0][_who(word, puzzle, chosen)]) for word in (clue.left[0], clue.right[0]))
    if clue.form == "beside":
        return (abs(left - right) == 1) != clue.negative
    return (right - left == 1 if clue.direct else right > left) != clue.negative


def _has(clue: Clue, puzzle: Puzzle, chosen: Sequence[dict[str, str]]) -> bool:
    """Say whether one of those named has one of the places or values named."""
    size = len(puzzle.people)
    places = {str(place % size) if isinstance(place, int) else str((size - 1) // 2) for place in clue.places}
    for word in clue.left:
        who = _who(word, puzzle, chosen)
        if clue.places and chosen[0][who] in places:
            return True
        if any(who == _who(value, puzzle, chosen) for value in clue.right):
            return True
    return False


def _who(word: str, puzzle: Puzzle, chosen: Sequence[dict[str, str]]) -> str:
    if word in puzzle.people:
        return word
    for number, words in enumerate(puzzle.sets, 1):
        if word in words:
            return next(who for who, has in chosen[number].items() if has == word)
    return word


def _wanted(asked: str, puzzle: Puzzle) -> Clue | None:
    """Read what is asked for as a clue with one side open: a place, a value, or a person."""
    low = _lowered(asked, dict.fromkeys(puzzle.people, 1))
    values = [one for words in puzzle.sets for one in _mentioned(low, words)]
    if values:
        return Clue("has", (), tuple(values[:1]))
    most = _compiled(rf"\b({'|'.join(_MOST)})\b").search(low)
    if most is not None:
        return Clue("has", (), places=(-1 if _MOST[most[1]].startswith("-") else 0,))
    places = _places(low)
    if places:
        return Clue("has", (), places=places[:1])
    people = _mentioned(low, puzzle.people)
    return Clue("has", tuple(people[:1])) if people else None


def _told(wanted: Clue, puzzle: Puzzle, chosen: Sequence[dict[str, str]]) -> set[str]:
    if wanted.right:
        return {_who(wanted.right[0], puzzle, chosen)}
    if wanted.places:
        size = len(puzzle.people)
        place = wanted.places[0]
        at = str(place % size) if isinstance(place, int) else str((size - 1) // 2)
        return {who for who, has in chosen[0].items() if has == at}
    who = wanted.left[0]
    return {chosen[number][who] for number in range(1, len(chosen))} or {str(int(chosen[0][who]) + 1)}
