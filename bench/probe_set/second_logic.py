"""Kinds of the second set that are inferred: books on a shelf, pets, switches, common hours, steps of a job.

Every set of clues is made least: without any one of them another answer is possible, too.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from random import Random
from typing import Any

from firsthand.value import replace

from .second_note import Given, Matter, satisfied, space_work
from .second_solver import Space

Clue = tuple[Any, ...]
Words = Callable[[Clue], tuple[str, str]]
STEPS = ("step one", "step two", "step three", "step four")
TRIES_MAX = 400


def least(rng: Random, space: Space, hidden: Mapping[str, Any], pool: Sequence[Clue], sizes: range) -> list[Clue]:
    """Draw clues that hold and leave one answer, each of them needed."""
    work, true = space_work(space), [clue for clue in pool if satisfied(clue, hidden, space.things)]
    answer = hidden[space.asked] if space.asked in space.people else next(w for w in hidden if hidden[w] == space.asked)
    for _ in range(TRIES_MAX):
        left = rng.sample(true, min(len(true), 14))
        if work(dict(enumerate(left))) != answer:
            continue
        for clue in list(left):
            fewer = [each for each in left if each is not clue]
            if work(dict(enumerate(fewer))) == answer:
                left = fewer
        if len(left) in sizes:
            return left
    raise ValueError("no least set of clues was found; draw from a larger pool")


def turned(rng: Random, space: Space, clues: Sequence[Clue], at: int, pool: Sequence[Clue]) -> Clue:
    """Give a clue in the place of one, its opposite if there is one, with which the answer is another or open."""
    work = space_work(space)
    right = work(dict(enumerate(clues)))
    same = [each for each in pool if each[0] == clues[at][0] and each not in clues]
    opposite = [each for each in pool if each[1:] == clues[at][1:] and each not in clues]
    for other in [*opposite, *rng.sample(same, len(same))]:
        found = work(dict(enumerate([*clues[:at], other, *clues[at + 1 :]])))
        if found not in {right, frozenset()}:
            return other
    raise ValueError("no turned clue matters")


def givens(rng: Random, space: Space, clues: Sequence[Clue], pool: Sequence[Clue], words: Words) -> list[Given]:
    """Make a given of each clue: in the session's words, and turned round in notes."""
    made = []
    for at, clue in enumerate(clues):
        other = turned(rng, space, clues, at, pool)
        slip = in_words(at, other, words, ())
        made.append(replace(in_words(at, clue, words, (other,)), slip=slip))
    return made


def in_words(at: int, clue: Clue, words: Words, others: Sequence[Clue]) -> Given:
    """Make a given of one clue."""
    said, note = words(clue)
    return Given(f"clue{at}", f"clue {at + 1}", clue, said, note, note, others)


def shelf(rng: Random) -> Matter:
    """Five books from left to right."""
    books = rng.sample(("the atlas", "the novel", "the diary", "the almanac", "the hymnal", "the grammar"), 5)
    places = ("first", "second", "third", "fourth", "fifth")
    hidden = dict(zip(books, rng.sample(places, 5), strict=True))
    space = Space(tuple(books), places, rng.choice(("first", "third", "fifth")))
    pairs = list(permutations(books, 2))
    pool = [(sort, a, b) for sort in ("before", "beside", "apart") for a, b in pairs if sort == "before" or a < b]

    def words(clue: Clue) -> tuple[str, str]:
        sort, a, b = clue
        return {
            "before": (f"{a} stands somewhere left of {b}",
            f"{b} stands somewhere right of {a}|{a} is to the left of {b}"),
            "beside": (f"{a} touches {b}",
            f"{a} and {b} are neighbours|{b} stands right beside {a}, on one side or the other"),
            "apart": (f"{a} does not touch {b}", f"{a} and {b} are no neighbours|{b} is not next to {a}"),
        }[sort]  # fmt: skip

    clues = least(rng, space, hidden, pool, range(3, 6))
    return logic(rng, space, clues, pool, words, f"the book that stands {space.asked} from the left",
                 f"Five books stand on a shelf: {', '.join(sorted(books))}.", f"The {space.asked} book is {{v.n}}.",
                 "turns dashes minutes docstring")  # fmt: skip


def pets(rng: Random) -> Matter:
    """Who has which pet."""
    people = rng.sample(("Ansgar", "Beate", "Cyril", "Dunja", "Emre"), 4)
    animals = ("a parrot", "a tortoise", "a ferret", "a goldfish")
    hidden = dict(zip(people, rng.sample(animals, 4), strict=True))
    space = Space(tuple(people), animals, rng.choice(people))
    pool: list[Clue] = [("not", who, pet) for who in people for pet in animals]
    pool += [("either", who, a, b) for who in people for a, b in permutations(animals, 2) if a < b]

    def words(clue: Clue) -> tuple[str, str]:
        sort, who, *pets_ = clue
        if sort == "not":
            return (
                f"{who} does not have {pets_[0]}",
                f"{pets_[0]} is not what {who} has|{who} has some pet other than {pets_[0]}",
            )
        a, b = pets_
        return f"{who} has either {a} or {b}", f"{who}'s pet is {b} or else {a}|{a} or {b}: {who} has one of these two"

    clues = least(rng, space, hidden, pool, range(3, 5))
    return logic(rng, space, clues, pool, words, f"the pet of {space.asked}",
                 f"{', '.join(sorted(people))} have one pet each: {', '.join(animals)}.",
                 f"{space.asked} has {{v.n}}.", "email turns dashes slashes")  # fmt: skip


def valves(rng: Random) -> Matter:
    """Whether a valve is open, from ifs."""
    names = ("valve P", "valve Q", "valve R", "valve S")
    hidden = {name: rng.random() < 0.5 for name in names}
    space = Space(names, (True, False), names[rng.randrange(4)])
    pool: list[Clue] = [
        ("if", a, x, b, y) for a, b in permutations(names, 2) for x in (True, False) for y in (True, False)
    ]
    pool += [(sort, a, b) for sort in ("same", "differ") for a, b in permutations(names, 2) if a < b]
    pool += [("is", name, state) for name in names if name != space.asked for state in (True, False)]

    def state(is_open: bool) -> str:
        return "open" if is_open else "shut"

    def words(clue: Clue) -> tuple[str, str]:
        match clue:
            case ("if", a, x, b, y):
                return (f"if {a} is {state(x)}, {b} is {state(y)}",
                        (f"{a} {state(x)} implies {b} {state(y)}|{b} is {state(y)} whenever {a} is "
                        f"{state(x)}"))  # fmt: skip
            case ("is", a, x):
                return f"{a} is {state(x)}", f"the position of {a} is {state(x)}|{a} was found {state(x)}"
            case ("same", a, b):
                return f"{a} and {b} are in the same position", f"{a} and {b} are both open or both shut"
            case (_, a, b):
                return f"{a} and {b} are in different positions", f"exactly one of {a} and {b} is open"
        raise ValueError(f"no words for {clue!r}")

    clues = least(rng, space, hidden, pool, range(3, 5))
    asked = space.asked
    matter = logic(rng, space, clues, pool, words, f"whether {asked} is open or shut",
                   "There are four valves, P, Q, R and S, each open or shut.", "{v.n}",
                   "turns minutes dashes email")  # fmt: skip
    return stated(matter, lambda is_open: f"{asked[0].upper()}{asked[1:]} is {state(is_open)}.", (True, False))


def logic(rng: Random, space: Space, clues: Sequence[Clue], pool: Sequence[Clue], words: Words, claim: str,
          topic: str, concluded: str, forms: str) -> Matter:  # fmt: skip
    """Make a matter of clues, told in two turns."""
    return inferred(rng, space, givens(rng, space, clues, pool, words), claim, topic, concluded, forms, lambda said: [
        ("user", f"{topic} I know this: {said[0]}."), ("user", f"Besides, {said[1]}. Please work out {claim}."),
    ])  # fmt: skip


def inferred(rng: Random, space: Space, made: Sequence[Given], claim: str, topic: str, concluded: str, forms: str,
             turns: Callable[[Sequence[str]], Sequence[tuple[str, str]]]) -> Matter:  # fmt: skip
    """Make a matter of clues; `turns` tells them, in two halves."""
    work = space_work(space)
    right = work({each.key: each.value for each in made})
    wrong = rng.choice(
        [each for each in (space.things if space.asked in space.people else space.people) if each != right]
    )
    half = len(made) // 2
    said = ["; ".join("{" + each.key + "}" for each in part) for part in (made[:half], made[half:])]
    return Matter(claim, topic, made, "", work, turns(said), concluded, wrong, forms, alike=True, space=space)


def stated(matter: Matter, says: Callable[[Any], str], answers: Sequence[Any]) -> Matter:
    """Put the sentence of the wrong answer in the place of a template, where an answer is no text."""
    wrong = next(each for each in answers if each != matter.answer)
    return replace(matter, concluded=says(wrong))


def hours(rng: Random) -> Matter:
    """The one hour at which three people are free."""
    people = rng.sample(("Gitte", "Hamid", "Inga", "Jorge", "Kim"), 3)
    slots = ("9 am", "10 am", "11 am", "1 pm", "2 pm", "3 pm", "4 pm")
    common = rng.choice(slots)
    rest = rng.sample([slot for slot in slots if slot != common], 6)
    # each pair shares one more hour, so that all three are needed
    free = [frozenset({common, rest[0], rest[1], rest[3]}), frozenset({common, rest[0], rest[2], rest[4]}),
            frozenset({common, rest[1], rest[2], rest[5]})]  # fmt: skip
    made = []
    for at, who in enumerate(people):
        mine = free[at]
        other = (mine - {common}) | {rest[2 - at]}  # what the other two share besides: another hour fits then
        made.append(listed(at, who, mine, slots, (other, mine | {rest[0], rest[1], rest[2]})))

    def work(at: Mapping[str, Any]) -> Any:
        shared = frozenset.intersection(*(at[f"free{place}"] for place in range(3)))
        return next(iter(shared)) if len(shared) == 1 else None

    wrong = next(slot for slot in rest[:3] if slot != common)
    return Matter(
        f"the hour at which {', '.join(people[:2])} and {people[2]} are all free", "Three people look for an hour.",
        made,
        "once([sorted(free0), sorted(free1), sorted(free2)])", work,
        [("user", "{free0}."), ("tool", "calendar: {free1}"), ("user", "{free2}. When can all three meet?")],
        "They can all meet at {v.n}.", wrong, "yaml pipes turns dashes columns email",
    )  # fmt: skip


def listed(at: int, who: str, mine: frozenset[str], slots: Sequence[str], others: Sequence[frozenset[str]]) -> Given:
    """Name the hours of one person in their order."""
    ordered = [slot for slot in slots if slot in mine]
    text = ", ".join(ordered)
    slip = listed(at, who, others[0], slots, ()) if others else None
    return Given(f"free{at}", f"{who} is free", mine, f"{who} is free at {text}", f"{text}|{' / '.join(ordered)}",
                 f"{who} could meet at {text}|{who} has time at {' or '.join(ordered)}", others, slip)  # fmt: skip


def in_order(rng: Random, space: Space, hidden: Mapping[str, Any], sizes: range) -> tuple[list[Clue], list[Clue]]:
    """Give all that could be said of what comes before what, and the least of it that leaves one answer."""
    pool: list[Clue] = [("before", a, b) for a, b in permutations(space.people, 2)]
    return pool, least(rng, space, hidden, pool, sizes)


def steps(rng: Random) -> Matter:
    """The last step of a job, from what comes before what."""
    jobs = rng.sample(("sanding", "priming", "wiring", "glazing", "hanging the doors", "laying the floor"), 4)
    hidden = dict(zip(jobs, rng.sample(STEPS, 4), strict=True))
    space = Space(tuple(jobs), STEPS, rng.choice(("step one", "step four")))
    pool, clues = in_order(rng, space, hidden, range(3, 4))

    def words(clue: Clue) -> tuple[str, str]:
        _, a, b = clue
        return f"{a} has to be done before {b}", f"{b} must wait for {a}|{b} comes later than {a}"

    which = "first" if space.asked == "step one" else "last"
    return logic(rng, space, clues, pool, words, f"which job comes {which}",
                 f"Four jobs are done one after the other: {', '.join(sorted(jobs))}.",
                 f"The {which} job is {{v.n}}.", "minutes slashes turns email docstring")  # fmt: skip


KINDS = {"shelf": shelf, "pets": pets, "valves": valves, "hours": hours, "steps": steps}
