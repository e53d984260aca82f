r"""Looks for values in a note, each with the words that it stands with.

    "Sol costs 9 euros, Luna 15"        9 stands with Sol, 15 with Luna: "Sol: 15, Luna: 9" has neither
    "32 rows per 10 cm"                 "3.2 rows per cm" says it
    "from 9:10 to 15:10"                "six hours" says what follows from it

First each value goes to one that stands with words that it alone stands with; then what is left to what
is left, unless that stands with the words of a value that is missing itself: then the two were swapped.

The invariant: a value of a note counts once, unless the note says that it is of all ("each", "every").

It does not know which values are needed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise

from firsthand.value import value
from firsthand_evals.probe import lexicon
from firsthand_evals.probe.probe_amounts import Amount, amounts_of, equal, keys_of, named_amounts, unsaid_quantities
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value, in_base

PAIR, BETWEEN_MAX = 2, 40
"""Times of a statement that has a length, and characters between them."""
OCCURRENCES_MAX = 32
"""Places of one value in a note that are tried for it."""
EXACT_MAX = 300
"""Values up to which the best way to pair them is found; beyond, the first good one is taken."""
_compiled = cache(re.compile)
_OF_ALL = r"\b(?:each|all|every|everyone|both|any|same|apiece|either|jeweils|je|alle|chaque|tous|cada|todos)\b|@"
_PER = r"\s*(?:[^\W\d_]+ ){0,2}(?:per|/|for every|for each|every|pro|je|par|por)\s*"
_PER_ONE = r"\s*(?:[^\W\d_]+ ){0,2}?(?:per|/|a|an|each|every|pro|je|par|por)\s*(?P<unit>[^\W\d_]+)"
_RANGE = r"\s*(?:to|until|till|-|\u2013|\u2014|bis|and|through|\u2192|->|a|\u00e0)\s*"
_JOINT = r" ?[:\u2013-] ?"
_SIDES = r"\s*(?:x|\u00d7|by|\*)\s*"
_WORD = r"[^\W\d_]+"


@value
class _Wanted:
    """A value that is needed: of which fact, in which message, with which words."""

    amount: Amount
    turn: int
    own: frozenset[str]


def unheld(facts: Sequence[Statement], said: Sequence[Statement], *, by_name: bool = False) -> set[int]:
    """Give the places of facts of which a value is missing.

    Args:
        by_name: a value that stands with a name of its own must stand with it in the note, too.
    """
    wanted = _wanted(facts)
    there = [each for place, one in enumerate(said) for each in (*amounts_of(one, place), *named_amounts(one, place))]
    follow = _following(facts, said)
    wanted = [each for each in wanted if (each.amount.fact, each.amount.found) not in follow]
    owners = _owners(wanted, there, said)
    of_all = [not owners[at] and _compiled(_OF_ALL).search(said[each.fact].text.lower()) is not None
              for at, each in enumerate(there)]  # fmt: skip
    pairs = _pairs(wanted, there)
    own = [[other for other in pairs[at] if at in owners[other]] for at in range(len(wanted))]
    held = _paired(own, {}, wanted)
    missing = {at for at in range(len(wanted)) if at not in held}
    if missing:
        unowned = [any(not owners[other] for other in pairs[at]) for at in range(len(wanted))]
        misplaced = {at for at in missing if any(owners[other] and at not in owners[other] for other in pairs[at])}
        loose = [
            [] if at not in missing or (by_name and wanted[at].own) else
            [other for other in pairs[at] if not _is_anothers(at, owners[other], missing, wanted, misplaced, unowned)]
            for at in range(len(wanted))
        ]  # fmt: skip
        held = _paired(loose, held, wanted, of_all)
    gone = {each.amount.fact for at, each in enumerate(wanted) if at not in held}
    return gone | unsaid_quantities(facts, said) | _turned(facts, said)


def _turned(facts: Sequence[Statement], said: Sequence[Statement]) -> set[int]:
    """Give the places of facts with a pair of numbers that a note has only the other way round: 3:0, 0-3."""
    there = {pair for one in said for pair in _joined(one)}
    return {
        place for place, one in enumerate(facts)
        if any(pair not in there and pair[::-1] in there for pair in _joined(one))
    }  # fmt: skip


def _joined(one: Statement) -> Iterator[tuple[Fraction, Fraction]]:
    for first, second in pairwise(one.values):
        between = one.text[first.end - one.start : second.start - one.start]
        if first.kind == second.kind == "number" and _compiled(_JOINT).fullmatch(between):
            yield first.amount or Fraction(0), second.amount or Fraction(0)


def _wanted(facts: Sequence[Statement]) -> list[_Wanted]:
    amounts = _distinct([each for place, one in enumerate(facts) for each in amounts_of(one, place)], facts)
    owned = _telling(amounts)
    return [_Wanted(each, facts[each.fact].turn, owned[at]) for at, each in enumerate(amounts)]


def _distinct(amounts: list[Amount], facts: Sequence[Statement]) -> list[Amount]:
    """Take a value that is said again of the same thing once; rows of one list are things of their own."""
    kept: dict[tuple[str, Fraction | None, str], list[Amount]] = defaultdict(list)
    result = []
    for each in amounts:
        before = kept[each.found.kind, each.found.amount, "" if each.found.amount is not None else each.found.text]
        if any(one.fact != each.fact and _says_again(one, each, facts) for one in before[-OCCURRENCES_MAX:]):
            continue
        before.append(each)
        result.append(each)
    return result


def _says_again(one: Amount, other: Amount, facts: Sequence[Statement]) -> bool:
    """Say whether two equal values are one, said twice: their words are the same, or those of one are the other's."""
    first, second = facts[one.fact], facts[other.fact]
    if first.turn == second.turn and first.form == second.form and first.form in {"row", "item", "field"}:
        return False
    shared = one.words & other.words
    return bool(shared) and (len(facts[one.fact].values) == 1 or len(facts[other.fact].values) == 1 or
                             first.turn != second.turn) and (one.words <= other.words or other.words <= one.words or
                                                             first.turn != second.turn)  # fmt: skip


def _telling(amounts: Sequence[Amount]) -> list[frozenset[str]]:
    """Give of each value the words that stand with values of its kind in one fact alone."""
    own, wide = (_in_one_fact(amounts, [getattr(each, name) for each in amounts]) for name in ("words", "around"))
    return [mine or around for mine, around in zip(own, wide, strict=True)]


def _in_one_fact(amounts: Sequence[Amount], words: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    places = {(each.found.kind, each.fact, word) for each, some in zip(amounts, words, strict=True) for word in some}
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, _, word in places:
        kinds[kind][word] += 1
    return [frozenset(word for word in some if kinds[each.found.kind][word] == 1)
            for each, some in zip(amounts, words, strict=True)]  # fmt: skip


def _owners(wanted: Sequence[_Wanted], there: Sequence[Amount], said: Sequence[Statement]) -> list[frozenset[int]]:
    """Say of each value of a note which needed values it stands for, by the telling words that are nearest to it."""
    by_word: dict[tuple[str, str], set[int]] = defaultdict(set)
    for at, want in enumerate(wanted):
        for word in want.own:
            by_word[want.amount.found.kind, word].add(at)
    owners: list[frozenset[int]] = []
    for at, each in enumerate(there):
        goes_on = at > 0 and each.fact - there[at - 1].fact in {0, 1} and said[each.fact].form == "clause"
        goes_on = goes_on and said[each.fact].turn == said[there[at - 1].fact].turn
        owners.append(_owner(each, by_word, said[each.fact], owners[-1] if goes_on else frozenset()))
    return owners


def _owner(
    each: Amount, by_word: dict[tuple[str, str], set[int]], one: Statement, before: frozenset[int]
) -> frozenset[int]:
    kinds = (each.found.kind,) if each.found.kind not in {"number", "money", "duration", "percent"} else (
        "number", "money", "duration", "percent")  # fmt: skip
    near = [by_word[kind, word] for word in each.words for kind in kinds if (kind, word) in by_word]
    lead, tail = _beside(each, one)
    if not near:
        near = [by_word[kind, word] for word in lead for kind in kinds if (kind, word) in by_word][:1]
    if not near and before:
        return before
    if not near:
        near = [by_word[kind, word] for word in tail for kind in kinds if (kind, word) in by_word][:1]
    if not near:
        near = [by_word[kind, word] for word in each.around for kind in kinds if (kind, word) in by_word]
    return frozenset().union(*near)


def _beside(each: Amount, one: Statement) -> tuple[list[str], list[str]]:
    """Give the words of a statement before a value, from the nearest on, and those behind it in its part."""
    at = each.found.start - one.start
    text = one.text.lower()[:2_000]
    end = _compiled(r"[;.](?=\s|\Z)").search(text, at)
    words = list(_compiled(_WORD).finditer(text))
    before = (word.group() for word in reversed(words) if word.end() <= at)
    behind = (word.group() for word in words if at <= word.start() < (end.start() if end is not None else len(text)))
    lead, tail = ([one for word in some for one in subject_of(word)] for some in (before, behind))
    return lead, tail


def _pairs(wanted: Sequence[_Wanted], there: Sequence[Amount]) -> list[list[int]]:
    """Give for each needed value the values of a note that are equal to it, those with most words in common first."""
    by_amount: dict[Fraction | str, list[int]] = defaultdict(list)
    for at, each in enumerate(there):
        for key in keys_of(each.found):
            by_amount[key].append(at)
    result = []
    for want in wanted:
        mine = want.amount
        tried = dict.fromkeys(other for key in keys_of(mine.found) for other in by_amount[key][: OCCURRENCES_MAX * 4])
        fitting = [at for at in list(tried)[: OCCURRENCES_MAX * 4] if equal(mine.found, there[at].found)]
        fitting.sort(key=lambda at: (-len(want.own & there[at].words), mine.found.kind != there[at].found.kind,
                                     -len(mine.words & there[at].words)))  # fmt: skip
        result.append(fitting[:OCCURRENCES_MAX])
    return result


def _is_anothers(at: int, owners: frozenset[int], missing: set[int], wanted: Sequence[_Wanted], misplaced: set[int],
               unowned: Sequence[bool]) -> bool:  # fmt: skip
    """Say whether a value stands with the words of another needed value that is missing itself.

    Args:
        misplaced: needed values of which the note has the value with the words of another one.
        unowned: of each needed value, whether the note has it with no telling words at all.
    """
    return at not in owners and any(
        other in missing and wanted[other].turn == wanted[at].turn
        and wanted[other].amount.found.kind == wanted[at].amount.found.kind
        and (other in misplaced or not unowned[other])
        for other in owners
    )  # fmt: skip


def _paired(
    pairs: Sequence[Sequence[int]], held: dict[int, int], wanted: Sequence[_Wanted], of_all: Sequence[bool] = ()
) -> dict[int, int]:
    """Pair needed values with values of a note, as many as can be; each of the note's is used once."""
    used = {other: at for at, other in held.items()}
    result = dict(held)

    def placed(at: int, seen: set[int]) -> bool:
        for other in pairs[at]:
            if other in seen:
                continue
            seen.add(other)
            if other not in used or (exactly and used[other] not in held and placed(used[other], seen)):
                used[other], result[at] = at, other
                return True
        return False

    exactly = len(wanted) <= EXACT_MAX
    for at in range(len(pairs)):
        if at not in result and not placed(at, set()):
            shared = next((other for other in pairs[at] if of_all and of_all[other]), None)
            if shared is not None:
                result[at] = shared
    return result


# what says the same in other values ------------------------------------------------------------------


@value
class _Follows:
    """What follows from two values of a statement: a rate, an area, a length of time."""

    sort: str
    amount: Fraction
    dims: tuple[str, str]
    values: tuple[Value, ...]


def _following(facts: Sequence[Statement], said: Sequence[Statement]) -> set[tuple[int, Value]]:
    """Give the values of facts of which a note says what follows from them: 3.2 rows per cm, 7.2 square metres."""
    needed = [(place, each) for place, one in enumerate(facts) for each in _follows(one)]
    if not needed:
        return set()
    there = {(each.sort, each.amount, each.dims) for one in said for each in (*_follows(one), *_said_outright(one))}
    return {
        (place, found) for place, each in needed if (each.sort, each.amount, each.dims) in there
        for found in each.values
    }  # fmt: skip


def _follows(one: Statement) -> Iterator[_Follows]:
    for first, second in pairwise(one.values):
        between = one.text[first.end - one.start : second.start - one.start].lower()
        if first.amount is None or second.amount is None:
            continue
        (unit, amount), (other, divisor) = in_base(first), in_base(second)
        assert amount is not None
        assert divisor is not None
        if divisor and _compiled(_PER).fullmatch(between):
            yield _Follows("rate", amount / divisor, (unit, other or second.kind), (first, second))
        elif unit == other == "m" and _compiled(_SIDES).fullmatch(between):
            yield _Follows("area", amount * divisor, ("", ""), (first, second))
        elif first.kind == second.kind == "time" and (
            _compiled(_RANGE).fullmatch(between) or (len(between) <= BETWEEN_MAX and len(one.values) == PAIR and not (
                "," in between or ";" in between))):  # fmt: skip
            yield _Follows("length", (divisor - amount) % 1440 * 60, ("", ""), (first, second))


def _said_outright(one: Statement) -> Iterator[_Follows]:
    """Give the rates of one unit, the areas and the lengths of time that a statement has as values."""
    for found in one.values:
        unit, amount = in_base(found)
        if amount is None:
            continue
        if found.kind == "duration":
            yield _Follows("length", amount, ("", ""), (found,))
        elif unit == "m2":
            yield _Follows("area", amount, ("", ""), (found,))
        per = _compiled(_PER_ONE).match(one.text.lower(), found.end - one.start)
        if per is not None and (per["unit"] in lexicon.UNITS or per["unit"] in lexicon.DURATIONS):
            name = lexicon.UNITS.get(per["unit"], "")
            base, factor = lexicon.BASE.get(name, (name or "duration", lexicon.DURATIONS.get(per["unit"], Fraction(1))))
            yield _Follows("rate", amount / factor, (unit, base), (found,))
