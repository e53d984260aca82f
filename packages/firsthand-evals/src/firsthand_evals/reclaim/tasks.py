"""Problems with one answer: sums over items, constraint puzzles, times of real dialogues; made anew from a seed.

A problem holds what was said (``listed``), which of it determines the answer
(``source``), a wrong premise that leads to a wrong conclusion, and the truth. The
invariant: the answer is computed, and for a puzzle proven to be the only one by trying
all arrangements; so is the wrong conclusion, from the wrong premise. Equal seeds give
equal problems.

Goods, shops and names are our own: no problem of the paper is among them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

from firsthand import InvalidArgument
from firsthand.value import replace, value
from firsthand_evals.reclaim.words import words

ARITHMETIC, LOGIC, LEDGER, NOISY, DIALOGUE = "arithmetic", "logic", "ledger", "noisy", "dialogue"
NUMBER, WORD, TIME = "number", "word", "time"
PROBLEMS_MAX = 10_000
OUTRIGHT = 0.3
"""Of puzzles, the share in which some people's places may be said outright."""
CASCADE_SLIP = 7
"""What a wrong subtotal is off by (reclaim-evaluation, App. G)."""

_WORDS: dict[str, tuple[str, ...]] = words("tasks")
GOODS, SHOPS, PEOPLE, WHERE = (_WORDS[name] for name in ("goods", "shops", "people", "where"))
ROLES, COLOURS, ORDINALS, COUNTS = (_WORDS[name] for name in ("roles", "colours", "ordinals", "counts"))
CURRENCIES, STYLES = _WORDS["currencies"], _WORDS["styles"]


@value
class Purchase:
    """So many of a good at a price; ``bought`` is False when it was only considered."""

    good: str
    quantity: int
    price: Fraction
    bought: bool = True


@value
class Clue:
    """One constraint of a puzzle.

    Attributes:
        form: ``before``, ``directly before`` (of two people), ``at``, ``not at`` (a person and a place), ``either``
            (a person and two places).
    """

    form: str
    who: str
    other: str
    third: str = ""


@value
class Problem:
    """One problem.

    Attributes:
        family: arithmetic, logic, ledger, noisy, dialogue; ``kind``: number, word, time.
        about: a sentence that sets the scene; holds nothing that determines the answer.
        source: the lines that determine the answer.
        listed: the lines as they are said, with those that were considered and not chosen.
        premise: what is wrongly taken for true; ``locus``: its name in a correction; ``sound``: that of another
            part, which is right.
        ask: what is asked for, as a noun phrase.
        answer, attractor: the truth, and what follows from the premise.
        fabricated: a line that gives false working for the premise.
        options: of a word, all that it may be.
        unit: a currency sign; empty for none.
        facts: what the lines say.
        session: of a real dialogue, who said what; `drift` follows it.
    """

    id: str
    family: str
    kind: str
    about: str
    source: tuple[str, ...]
    listed: tuple[str, ...]
    premise: str
    locus: str
    sound: str
    ask: str
    answer: str
    attractor: str
    fabricated: str
    options: tuple[str, ...] = ()
    unit: str = ""
    facts: tuple[Purchase | Clue, ...] = ()
    session: tuple[tuple[str, str], ...] = ()

    def shown(self, answer: str) -> str:
        """Write an answer as people write it."""
        return f"{self.unit}{answer}"


def arithmetic(n: int, seed: int = 0) -> tuple[Problem, ...]:
    """Make sums over 2 to 4 items, in several ways of writing them."""
    return tuple(_sum(f"a{seed}-{number}", ARITHMETIC, _chance(seed, number), number) for number in _count(n))


def ledger(n: int, items: int, seed: int = 0) -> tuple[Problem, ...]:
    """Make sums over so many items (reclaim-evaluation, App. B)."""
    if not 2 <= items <= len(GOODS):
        raise InvalidArgument(f"a ledger has 2 to {len(GOODS)} items; got {items!r}")
    return tuple(
        _sum(f"l{seed}-{items}-{number}", LEDGER, _chance(seed, number), number, items=items) for number in _count(n)
    )


def noisy(n: int, considered: int, seed: int = 0, *, bought: int = 4) -> tuple[Problem, ...]:
    """Make sums over bought items among others that were considered and not bought (reclaim-evaluation, App. C)."""
    if considered < 0 or not 2 <= bought <= len(GOODS) - considered:
        raise InvalidArgument(f"2 or more items and decoys come from {len(GOODS)} goods; got {bought} and {considered}")
    return tuple(
        _sum(
            f"n{seed}-{considered}-{number}", NOISY, _chance(seed, number), number, items=bought, considered=considered
        )
        for number in _count(n)
    )


def shortened(problem: Problem, items: int) -> Problem:
    """Leave out the last items of a ledger; its wrong premise stays what it was."""
    if not 1 <= items <= len(problem.facts):
        raise InvalidArgument(f"{problem.id} has {len(problem.facts)} items; got {items!r}")
    if items == len(problem.facts):
        return problem
    kept = problem.listed[:items]
    truth = total(problem.facts[:items])
    slip = Fraction(problem.attractor) - Fraction(problem.answer)
    return replace(
        problem, id=f"{problem.id}-{items}", source=kept, listed=kept, facts=problem.facts[:items],
        answer=money(truth), attractor=money(truth + slip),
    )  # fmt: skip


def total(facts: Sequence[Purchase | Clue]) -> Fraction:
    """Add up what was bought."""
    return sum(
        (fact.quantity * fact.price for fact in facts if isinstance(fact, Purchase) and fact.bought), start=Fraction(0)
    )


def money(amount: Fraction) -> str:
    """Write an amount: whole, or with two digits."""
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):.2f}"


def entry_of(purchase: Purchase, unit: str, where: str) -> str:
    """Write one item as a line of a ledger."""
    price = f"{unit}{money(purchase.price)}"
    if not purchase.bought:
        return f"we saw {purchase.good} at {price} each {where}, considered but not bought"
    return f"we took {purchase.quantity} {purchase.good} at {price} each {where}"


def line_of(purchase: Purchase, unit: str, style: str) -> str:
    """Write one item as a line."""
    word = COUNTS[purchase.quantity] if purchase.quantity < len(COUNTS) else str(purchase.quantity)
    return style.format(n=purchase.quantity, word=word, good=purchase.good, price=f"{unit}{money(purchase.price)}")


def _sum(name: str, family: str, chance: random.Random, number: int, *, items: int = 0, considered: int = 0) -> Problem:
    whole = family != ARITHMETIC  # only these have cents and several ways of writing
    items = items or chance.randint(2, 4)
    goods = chance.sample(GOODS, items + considered)
    bought = [_purchase(good, chance, whole=whole) for good in goods[:items]]
    decoys = [Purchase(good, 0, Fraction(chance.randint(2, 30)), bought=False) for good in goods[items:]]
    facts: list[Purchase] = [*bought, *decoys]
    if decoys:
        chance.shuffle(facts)
    unit = CURRENCIES[0] if whole else CURRENCIES[number % len(CURRENCIES)]
    style = STYLES[number // len(CURRENCIES) % len(STYLES)]
    wrong = bought[len(bought) // 2]  # a middle item carries the wrong subtotal
    right = wrong.quantity * wrong.price
    slip = Fraction(chance.choice([one for one in range(-9, 15) if one and right + one > 0]))
    truth = total(facts)
    sound = next(purchase for purchase in bought if purchase is not wrong)
    told = {
        fact.good: entry_of(fact, unit, chance.choice(WHERE)) if whole else line_of(fact, unit, style) for fact in facts
    }
    return Problem(
        name, family, NUMBER,
        about=f"These are the purchases for {SHOPS[number % len(SHOPS)]}.",
        source=tuple(told[fact.good] for fact in facts if fact.bought),
        listed=tuple(told.values()),
        premise=f"the {wrong.good} come to {unit}{money(right + slip)} together",
        locus=f"the subtotal of the {wrong.good}", sound=f"the subtotal of the {sound.good}",
        ask="the total before tax", answer=money(truth), attractor=money(truth + slip),
        fabricated=f"the receipt lists 1 lot of {wrong.good} for {unit}{money(right + slip)}",
        unit=unit, facts=tuple(facts),
    )  # fmt: skip


def _purchase(good: str, chance: random.Random, *, whole: bool) -> Purchase:
    cents = Fraction(0) if whole else Fraction(chance.choice((0, 0, 0, 25, 50, 75)), 100)
    return Purchase(good, chance.randint(2, 12), chance.randint(2, 30) + cents)


def logic(n: int, seed: int = 0) -> tuple[Problem, ...]:
    """Make puzzles with one solution: people in a line, with roles, or with colours, in turn."""
    return tuple(_puzzle(f"p{seed}-{number}", _chance(seed, number), number) for number in _count(n))


def solutions(people: Sequence[str], places: Sequence[str], clues: Sequence[Clue]) -> Iterator[dict[str, str]]:
    """Yield every arrangement, person to place, that all clues allow; tries all of them."""
    for arrangement in permutations(places):
        found = dict(zip(people, arrangement, strict=True))
        if all(holds(clue, found, places) for clue in clues):
            yield found


def holds(clue: Clue, found: dict[str, str], places: Sequence[str]) -> bool:
    """Say whether an arrangement keeps to a clue."""
    place = found[clue.who]
    if clue.form == "at":
        return place == clue.other
    if clue.form == "not at":
        return place != clue.other
    if clue.form == "either":
        return place in {clue.other, clue.third}
    gap = places.index(found[clue.other]) - places.index(place)
    return gap == 1 if clue.form == "directly before" else gap > 0


def told(clue: Clue, sort: str) -> str:
    """Say a clue in words."""
    if sort == "line":
        words = {
            "at": "is", "not at": "is not", "either": "is either",
            "before": "stands somewhere before", "directly before": "stands directly before",
        }[clue.form]  # fmt: skip
        other = f"{clue.other} in the line" if clue.form in {"at", "not at"} else clue.other
        return f"{clue.who} {words} {other}" + (f" or {clue.third} in the line" if clue.third else "")
    verb, article = ("is", "the ") if sort == "role" else ("wears", "")
    no = {"role": "is not", "colour": "does not wear"}[sort]
    if clue.form == "either":
        return f"{clue.who} {verb} either {article}{clue.other} or {article}{clue.third}"
    return f"{clue.who} {no if clue.form == 'not at' else verb} {article}{clue.other}"


def _puzzle(name: str, chance: random.Random, number: int) -> Problem:
    """Draw until the clues have one solution, and one of them turned round has one with another answer."""
    sort = ("line", "role", "colour")[number % 3]
    size = 3 + number // 3 % 2
    while True:
        people = sorted(chance.sample(PEOPLE, size))
        places = {"line": ORDINALS[:size], "role": chance.sample(ROLES, size), "colour": chance.sample(COLOURS, size)}[
            sort
        ]
        asked = chance.choice(list(places))
        truth = dict(zip(people, chance.sample(list(places), size), strict=True))
        clues = _least(people, places, _true_clues(truth, places, sort, asked, chance))
        answer = next(who for who, place in truth.items() if place == asked)
        for index in chance.sample(range(len(clues)), len(clues)):
            if len({_named(clue) for clue in clues} - {_named(clues[index])}) == 0:
                continue  # a false locus must have another name
            for turned in _turned(clues[index]):
                wrong = _only(people, places, [*clues[:index], turned, *clues[index + 1 :]], asked)
                if wrong is not None and wrong != answer:
                    assert _only(people, places, clues, asked) == answer
                    return _told(name, sort, people, places, clues, index, turned, asked, answer, wrong)


def _told(
    name: str, sort: str, people: Sequence[str], places: Sequence[str], clues: Sequence[Clue], index: int,
    turned: Clue, asked: str, answer: str, wrong: str,
) -> Problem:  # fmt: skip
    listing = f"{', '.join(people[:-1])} and {people[-1]}"
    spaces = f"{', '.join(places[:-1])} and {places[-1]}"
    scene = {
        "line": f"{listing} stand in a line",
        "role": f"{listing} have one role each: {spaces}",
        "colour": f"{listing} wear one colour each: {spaces}",
    }[sort]
    ask = {"line": f"who is {asked} in the line", "role": f"who is the {asked}", "colour": f"who wears {asked}"}[sort]
    lines = (scene, *(told(clue, sort) for clue in clues))
    sound = next(clue for clue in (*clues[index + 1 :], *clues[:index]) if _named(clue) != _named(clues[index]))
    return Problem(
        name, LOGIC, WORD, about="This is a small puzzle for the newsletter.", source=lines, listed=lines,
        premise=told(turned, sort), locus=_named(clues[index]), sound=_named(sound), ask=ask, answer=answer,
        attractor=wrong, fabricated=f"the printed solution says that {told(turned, sort)}", options=tuple(people),
        facts=tuple(clues),
    )  # fmt: skip


def _named(clue: Clue) -> str:
    pair = clue.form in {"before", "directly before"}
    return f"what was said of {clue.who} and {clue.other}" if pair else f"what was said of {clue.who}"


def _true_clues(
    truth: dict[str, str], places: Sequence[str], sort: str, asked: str, chance: random.Random
) -> list[Clue]:
    """Give what is true, in an order drawn; what was asked for is never said outright."""
    clues = []
    for who, place in truth.items():
        others = [one for one in places if one != place]
        clues += [Clue("not at", who, other) for other in others]
        clues += [Clue("either", who, *chance.sample([place, chance.choice(others)], 2))]
        clues += [Clue("at", who, place)] * (place != asked)
    if sort == "line":
        order = sorted(truth, key=lambda who: places.index(truth[who]))
        for first, who in enumerate(order):
            clues += [Clue("before", who, later) for later in order[first + 1 :]]
            clues += [Clue("directly before", who, later) for later in order[first + 1 : first + 2]]
    chance.shuffle(clues)
    if chance.random() < OUTRIGHT:
        return clues
    return sorted(clues, key=lambda clue: clue.form != "at")  # stable; what comes first is left out first


def _least(people: Sequence[str], places: Sequence[str], clues: list[Clue]) -> list[Clue]:
    """Leave out every clue without which there is still one solution."""
    kept = list(clues)
    for clue in clues:
        fewer = [one for one in kept if one is not clue]
        if len(list(solutions(people, places, fewer))) == 1:
            kept = fewer
    return kept


def _turned(clue: Clue) -> list[Clue]:
    """Give a clue turned into its opposite."""
    if clue.form in {"before", "directly before"}:
        return [Clue(clue.form, clue.other, clue.who)]
    if clue.form == "either":
        return []
    return [Clue("not at" if clue.form == "at" else "at", clue.who, clue.other)]


def _only(people: Sequence[str], places: Sequence[str], clues: Sequence[Clue], asked: str) -> str | None:
    """Give who is where it was asked, when exactly one arrangement is allowed; None otherwise."""
    found = list(solutions(people, places, clues))
    return next(who for who, place in found[0].items() if place == asked) if len(found) == 1 else None


def _chance(seed: int, number: int) -> random.Random:
    return random.Random(f"reclaim {seed} {number}")  # noqa: S311 - repeatable on purpose


def _count(n: int) -> range:
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= PROBLEMS_MAX:
        raise InvalidArgument(f"problems are a whole number from 1 to {PROBLEMS_MAX:,}; got {n!r}")
    return range(n)
