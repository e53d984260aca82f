"""A little solver of its own, with which the gold of the second set is worked out a second time.

It takes a case's form: a formula in words of its own and the values by name, or clues as tuples. It shares no
code with what made the cases. What a note does not say may be anything that the session might have said
instead; each such world is worked out, and the answers of all of them are given.

Who works on the probe does not read this file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

from firsthand.value import value

WORLDS_MAX = 5_000


@value
class Space:
    """Where clues hold: `things` are given to `people`, one each, or `people` are on or off."""

    people: Sequence[str]
    things: Sequence[Any]
    asked: Any


@value
class Form:
    """What a case is made of, without its texts.

    Attributes:
        formula: how the answer follows from the names; empty for clues.
        truth, stated, behind: values by name: of the session, in the note, behind its pointers.
        others: further values that each name might have had.
        answer: the true one.
    """

    formula: str
    truth: Mapping[str, Any]
    stated: Mapping[str, Any]
    behind: Mapping[str, Any]
    others: Mapping[str, Sequence[Any]]
    answer: Any
    admits: bool
    concludes: bool
    space: Space | None = None
    single: bool = False


def months(day: date, number: int) -> date:
    """Go on by whole months; a day that the month has not becomes its last one."""
    at = day.year * 12 + day.month - 1 + int(number)
    for last in range(day.day, 27, -1):
        try:
            return date(at // 12, at % 12 + 1, last)
        except ValueError:
            continue
    return date(at // 12, at % 12 + 1, day.day)


def after(day: date, number: int) -> date:
    """Go on by days."""
    return date.fromordinal(day.toordinal() + int(number))


def once(sets: Sequence[Any]) -> Any:
    """Give what all sets hold, when it is one thing; None otherwise."""
    shared = [one for one in sets[0] if all(one in each for each in sets)]
    return shared[0] if len(shared) == 1 else None


WORDS: dict[str, Callable[..., Any]] = {
    "ceil": ceil, "months": months, "after": after, "min": min, "max": max, "sum": sum, "once": once, "len": len,
    "sorted": sorted, "F": Fraction, "abs": abs, "frozenset": frozenset,
}  # fmt: skip


def worked(formula: str, values: Mapping[str, Any]) -> Any:
    """Work a formula out; `rows` are the values whose names begin so, `names` their names in order of value."""
    rows = {name: each for name, each in values.items() if name.startswith("row")}
    exact = {name: Fraction(each) if isinstance(each, int) and not isinstance(each, bool) else each
             for name, each in values.items()}  # fmt: skip
    tree = ast.parse(formula, mode="eval")
    allowed = {**WORDS, **exact, "rows": list(rows.values()), "ranked": sorted(rows, key=lambda name: rows[name])}
    return eval(compile(tree, formula, "eval"), {"__builtins__": {}, **allowed})


def answers(form: Form, known: Mapping[str, Any]) -> set[Any]:
    """Give the answer of every world that agrees with what is known."""
    if form.space is not None:
        return {read(form.space, at) for at in arranged(form.space, list(known.values()))}
    open_ = [name for name in form.truth if name not in known]
    choices = [(form.truth[name], *form.others[name]) for name in open_]
    found = set()
    for place, chosen in enumerate(product(*choices)):
        if place >= WORLDS_MAX:
            break
        found.add(worked(form.formula, {**dict(zip(open_, chosen, strict=True)), **known}))
    return found


def proof(form: Form) -> str:
    """Say which regime the form alone gives.

    Raises:
        ValueError: if nothing is missing and no other value stands there, and the answer is still another.
    """
    truth = {form.answer}
    here = answers(form, form.stated)
    if here == truth and not _open(form, form.stated):
        return "correctable"
    joined = {**form.stated, **form.behind}
    there = answers(form, joined)
    if there == truth and not _open(form, joined):
        return "reachable"
    for found in (here, there):
        if not (len(found) >= 2 or (found and found != truth) or not found):
            raise ValueError("what is said to be missing does not matter: one answer, the true one, is left")
    shown = bool(set(form.stated) & set(form.truth)) if form.single else bool(form.stated)
    return "uncorrectable_silent" if not form.admits and (form.concludes or shown) else "uncorrectable_loud"


def _open(form: Form, known: Mapping[str, Any]) -> bool:
    return form.space is None and any(name not in known for name in form.truth)


# clues ----------------------------------------------------------------------------------------------------


def arranged(space: Space, clues: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """Give everybody a thing in turn and turn back where a clue is broken."""
    switches = set(space.things) == {True, False}

    def deeper(at: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if len(at) == len(space.people):
            if all(holds(clue, at, space) for clue in clues):
                yield dict(at)
            return
        who = space.people[len(at)]
        for thing in space.things:
            if switches or thing not in at.values():
                at[who] = thing
                yield from deeper(at)
                del at[who]

    return deeper({})


def read(space: Space, at: Mapping[str, Any]) -> Any:
    """Read what is asked off an arrangement: whose thing, or who has a thing."""
    if space.asked in space.people:
        return at[space.asked]
    return next(who for who in space.people if at[who] == space.asked)


def holds(clue: tuple[Any, ...], at: Mapping[str, Any], space: Space) -> bool:
    """Whether a clue holds; things have the order in which the space names them."""
    order = {thing: place for place, thing in enumerate(space.things)}
    match clue:
        case ("is", who, thing):
            return bool(at[who] == thing)
        case ("not", who, thing):
            return bool(at[who] != thing)
        case ("either", who, one, two):
            return at[who] in {one, two}
        case ("before", one, two):
            return order[at[one]] < order[at[two]]
        case ("beside", one, two):
            return abs(order[at[one]] - order[at[two]]) == 1
        case ("apart", one, two):
            return abs(order[at[one]] - order[at[two]]) != 1
        case ("if", one, first, two, second):
            return at[one] != first or at[two] == second
        case ("same", one, two):
            return bool(at[one] == at[two])
        case ("differ", one, two):
            return bool(at[one] != at[two])
    raise ValueError(f"no such clue: {clue!r}")
