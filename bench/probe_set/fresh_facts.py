"""Fresh kinds that are looked up or inferred: leagues, brackets, families, timetables, settings, duties, lockers.

Who works on the probe does not read this file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, permutations
from random import Random
from typing import Any

from .fresh_note import Told, Worked, clue, lines, rows
from .gold import Clue, Lookup, Puzzle, Slot

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday")
COLOURS = ("red", "blue", "green", "grey")


def league(rng: Random) -> Told:
    """A team's points from its results: three for a win, one for a draw."""
    team, *rivals = rng.sample(("Harbour", "Valley", "Castle", "Mill", "Quarry", "Forest"), 5)
    facts = [Slot(rival, (rng.randint(0, 4), rng.randint(0, 4))) for rival in rivals[:3]]
    others = [Slot(f"{rivals[3]} v {rivals[0]}", (rng.randint(0, 4), rng.randint(0, 4)))]

    def points(at: Mapping[str, Any]) -> int:
        return sum(3 if a > b else 1 if a == b else 0 for a, b in (at[f.name] for f in facts))

    def match(fact: Slot) -> str:
        return fact.name.replace(" v ", " - ") if " v " in fact.name else f"{team} - {fact.name}"

    asked = Worked(facts, points)
    one = facts[1]
    swapped = (3, 0) if one.value[0] <= one.value[1] else (0, 2)
    said = "\n".join(f"{match(f)} {f.value[0]}:{f.value[1]}" for f in (*facts, *others))
    return Told(
        f"the points of {team} so far (3 for a win, 1 for a draw)", asked, facts,
        [("tool", f"results\n{said}", (*facts, *others))],
        [lines(lambda f: f"{match(f)} ended {f.value[0]}-{f.value[1]}", ", "),
         rows("match score", lambda f: (match(f), f"{f.value[0]}:{f.value[1]}"))],
        lambda v: f"{team} has {v} points.", points({f.name: f.value for f in facts}) + 2,
        (1, Slot(one.name, swapped)), others,
    )  # fmt: skip


def final(rng: Random) -> Told:
    """Who met whom in the final: both semi-finals are needed."""
    a, b, c, d = rng.sample(("Ravi", "Jun", "Noa", "Petra", "Sami", "Ulla"), 4)
    facts = [
        Slot("first semi-final", (a, b, rng.randint(10, 19))), Slot("second semi-final", (c, d, rng.randint(8, 18))),
    ]  # fmt: skip
    asked = Worked(facts, lambda at: frozenset(winner for winner, _, _ in at.values()))
    return Told(
        "who play each other in the final", asked, facts,
        [("user", f"Semi-finals of the table tennis: {a} beat {b} 21-{facts[0].value[2]}.", facts[:1]),
         ("user", f"And {d} lost to {c}, {facts[1].value[2]}-21. Who play the final?", facts[1:])],
        [lines(lambda f: f"{f.name}: {f.value[0]} d. {f.value[1]} 21-{f.value[2]}"),
         lines(lambda f: f"{f.value[1]} went out against {f.value[0]} in the {f.name}", "; ")],
        lambda v: f"The final is {' against '.join(sorted(v))}.", frozenset((a, d)),
        (1, Slot("second semi-final", (d, c, facts[1].value[2]))),
    )  # fmt: skip


def family(rng: Random) -> Told:
    """Somebody's grandparent, over one who is parent and child."""
    old, middle, young, aunt = rng.sample(("Agnes", "Bruno", "Celia", "Dario", "Elif", "Fritz"), 4)
    facts = [Slot(young, middle), Slot(middle, old)]
    asked = Worked(facts, lambda at: at.get(at[young]))
    ways: list[Callable[[Slot], str]] = [
        lambda f: f"{f.name} is a child of {f.value}", lambda f: f"{f.value} is a parent of {f.name}",
    ]  # fmt: skip
    return Told(
        f"the grandparent of {young} whom we talked about", asked, facts,
        [("user", (f"{old} raised {middle} alone, {middle} being the only child. {young} is {middle}'s child. "
                  f"{aunt} is a friend of the house. Who is {young}'s grandparent?"), facts)],
        [lines(ways[0], ", "), lines(ways[1], "\n- ", "- "), lines(lambda f: f"{f.value} -> {f.name}", "\n",
                                                                   "parent -> child\n")],
        lambda v: f"{young}'s grandparent is {v}.", aunt, (1, Slot(middle, aunt)),
    )  # fmt: skip


def lesson(rng: Random) -> Told:
    """One cell of a school timetable."""
    subjects = rng.sample(("biology", "Latin", "music", "history", "PE", "chemistry", "art"), 4)
    day, period = rng.choice(("Tue", "Thu")), rng.randint(2, 5)
    name = f"{day} {period}"
    facts = [Slot(name, subjects[0])]
    others = [Slot(f"{day} {period + 1}", subjects[1]), Slot(f"Wed {period}", subjects[2])]
    one, below, beside, last = subjects
    table = f"class 7b | {day} | Wed\n{period} | {one} | {beside}\n{period + 1} | {below} | {last}"
    long = {"Tue": "Tuesday", "Thu": "Thursday", "Wed": "Wednesday"}
    return Told(
        f"what 7b has in period {period} on {long[day]}", Lookup(facts, name), facts,
        [("tool", table, (*facts, *others))],
        [lines(lambda f: f"{long[f.name[:3]]}, period {f.name[4:]}: {f.value}"),
         lambda fs: json.dumps({"7b": {f.name: f.value for f in fs}}),
         lines(lambda f: f"7b has {f.value} on {long[f.name[:3]]} in period {f.name[4:]}", "; ")],
        lambda v: f"In period {period} on {long[day]} 7b has {v}.", subjects[1], (0, Slot(name, subjects[3])), others,
    )  # fmt: skip


def setting(rng: Random) -> Told:
    """A key of a file of settings, which another section has too."""
    one, other = rng.sample(("db", "cache", "mailer", "proxy"), 2)
    a, b, c = rng.sample(range(5, 95), 3)
    facts, others = [Slot(one, a)], [Slot(other, b)]
    return Told(
        f"the timeout in section {one}", Lookup(facts, one), facts,
        [("tool", f"[{other}]\nhost = h1\ntimeout = {b}\n\n[{one}]\nhost = h2\ntimeout = {a}\n", (*facts, *others))],
        [lines(lambda f: f"[{f.name}]\ntimeout = {f.value}"), lines(lambda f: f"{f.name}.timeout={f.value}"),
         lambda fs: json.dumps({f.name: {"timeout": f.value} for f in fs})],
        lambda v: f"The timeout in section {one} is {v}.", b, (0, Slot(one, c)), others,
    )  # fmt: skip


def minutes(rng: Random) -> Told:
    """Who took over a task in a meeting."""
    tasks = rng.sample(("the poster", "the catering", "the permit", "the stage"), 3)
    people = rng.sample(("Hanna", "Igor", "Joris", "Kaya", "Lotte"), 4)
    facts = [Slot(tasks[0], people[0])]
    others = [Slot(task, who) for task, who in zip(tasks[1:], people[1:3], strict=True)]
    spoken = [f"{f.name.capitalize()} goes to {f.value}." for f in (*others, *facts)]
    rng.shuffle(spoken)
    return Told(
        f"who takes care of {tasks[0]}", Lookup(facts, tasks[0]), facts,
        [("user", "Minutes, 4 May. " + " ".join(spoken) + f" Who takes care of {tasks[0]}?", (*facts, *others))],
        [lines(lambda f: f"[ ] {f.name} (@{f.value})"), rows("task owner", lambda f: (f.name, f.value)),
         lines(lambda f: f"{f.value} does {f.name}", "; ")],
        lambda v: f"{v} takes care of {tasks[0]}.", people[3], (0, Slot(tasks[0], people[3])), others,
    )  # fmt: skip


def coldest(rng: Random) -> Told:
    """Which of several stations was the coldest, below zero and above."""
    degrees = rng.sample(range(-14, 8), 4)
    facts = [
        Slot(name, number)
        for name, number in zip(rng.sample(("Sonnblick", "Davos", "Vaasa", "Umeå", "Røros"), 4), degrees, strict=True)
    ]
    asked = Worked(facts, lambda at: min(at, key=lambda name: at[name]))
    low, second = sorted(facts, key=lambda f: f.value)[:2]
    place = facts.index(second)
    return Told(
        "the coldest of the four stations", asked, facts,
        [("tool", "\n".join(f"{f.name:10} {f.value:+d}C" for f in facts), facts)],
        [lines(lambda f: f"{f.name} {f.value} °C", ", "), rows("station t/°C", lambda f: (f.name, f.value)),
         lines(lambda f: f"{f.name}: " + (f"minus {-f.value}" if f.value < 0 else f"{f.value}") + " degrees")],
        lambda v: f"It was coldest at {v}.", second.name, (place, Slot(second.name, low.value - 2)),
    )  # fmt: skip


def both_days(rng: Random) -> Told:
    """Who is on two lists."""
    people = rng.sample(("Ute", "Vito", "Xenia", "Yara", "Zeno", "Ben", "Cleo", "Dag"), 6)
    facts = [Slot("Saturday", frozenset(people[:4])), Slot("Sunday", frozenset(people[2:]))]
    asked = Worked(facts, lambda at: at["Saturday"] & at["Sunday"])

    def names(fact: Slot) -> str:
        return ", ".join(sorted(fact.value))

    return Told(
        "who came on both days", asked, facts,
        [("user", f"On Saturday there were {names(facts[0])}.", facts[:1]),
         ("user", f"On Sunday it was {names(facts[1])}. Who came on both days?", facts[1:])],
        [lines(lambda f: f"{f.name}: {names(f)}"), lines(lambda f: f"present on {f.name}: {names(f)}", ". ", end="."),
         lambda fs: json.dumps({f.name: sorted(f.value) for f in fs})],
        lambda v: f"{' and '.join(sorted(v))} came on both days.", frozenset(people[1:3]),
        (1, Slot("Sunday", frozenset((people[1], *people[3:])))),
    )  # fmt: skip


def above(rng: Random) -> Told:
    """How many samples lie above a limit, which is needed as much as they are."""
    limit = rng.randint(40, 60)
    low, high = rng.sample(range(limit - 25, limit), 2), rng.sample(range(limit + 1, limit + 25), 2)
    numbers = [*low, *high]
    rng.shuffle(numbers)
    facts = [Slot("limit", limit)] + [Slot(f"S{place}", number) for place, number in enumerate(numbers, 1)]
    asked = Worked(facts, lambda at: sum(at[f.name] > at["limit"] for f in facts))
    slip = next(place for place, fact in enumerate(facts) if place and fact.value > limit)

    def words(fact: Slot) -> str:
        return f"{fact.name} {fact.value} µg/l"

    return Told(
        "how many samples exceed the limit", asked, facts,
        [("user", f"The limit is {limit} µg/l.", facts[:1]),
         ("tool", "sample,ug_per_l\n" + "\n".join(f"{f.name},{f.value}" for f in facts[1:]), facts[1:])],
        [lines(words), lines(words, " | "), lambda fs: json.dumps({f.name: f.value for f in fs})],
        lambda v: f"{v} samples exceed the limit.", 3, (slip, Slot(facts[slip].name, limit - 4)),
    )  # fmt: skip


def tracking(rng: Random) -> Told:
    """A number of a parcel, letter by letter."""
    right = f"{rng.choice(('RB', 'LX', 'CP'))}{rng.randint(10**8, 10**9 - 1)}{rng.choice(('DE', 'FI', 'PT'))}"
    place = rng.randint(3, 8)
    wrong = right[:place] + str((int(right[place]) + 3) % 10) + right[place + 1 :]
    facts = [Slot("parcel", right)]
    return Told(
        "the tracking number of the parcel", Lookup(facts, "parcel"), facts,
        [("tool", f"label printed\nconsignment: {right}\nweight_g: 840", facts)],
        [lines(lambda f: f"consignment: {f.value}"), lines(lambda f: f"tracking no. {f.value}, 840 g"),
         lambda fs: json.dumps({"consignment": next(f.value for f in fs)})],
        lambda v: f"The tracking number is {v}.", wrong, (0, Slot("parcel", wrong)),
    )  # fmt: skip


def solved(rng: Random, things: Sequence[str], true_clues: Callable[[dict[str, str], Sequence[str]], list[Clue]],
           people: Sequence[str]) -> tuple[Puzzle, list[Clue], str, str]:  # fmt: skip
    """Draw a puzzle with three or four clues, each of them needed; give the person asked for and a wrong thing."""
    while True:
        at = dict(zip(people, rng.sample(things, len(people)), strict=True))
        who, left = rng.choice(list(people)), true_clues(at, people)
        rng.shuffle(left)
        for each in list(left):
            fewer = [one for one in left if one is not each]
            if len(asking(fewer, people, things, who).answers(fewer)) == 1:
                left = fewer
        if 3 <= len(left) <= 4:
            return (
                asking(left, people, things, who),
                left,
                who,
                rng.choice([thing for thing in things if thing != at[who]]),
            )


def asking(clues: Sequence[Clue], people: Sequence[str], things: Sequence[str], who: str) -> Puzzle:
    """Ask for one person's thing."""
    return Puzzle(clues, people, things, lambda order: order[who])


def slipped(facts: Sequence[Clue], question: Puzzle, turned: Callable[[Clue], Clue]) -> tuple[int, Clue]:
    """Turn the first clue whose opposite leaves another answer, or several."""
    for place, fact in enumerate(facts):
        other = turned(fact)
        if not question.right([*facts[:place], other, *facts[place + 1 :]]):
            return place, other
    raise ValueError("no clue of the puzzle matters")


def duties(rng: Random) -> Told:
    """Who is on duty on which day: before, the day after, not on."""
    people = rng.sample(("Mila", "Otto", "Pia", "Quim", "Rea"), 4)

    def on(who: str, day: str) -> Clue:
        return clue(f"{who} is not on duty on {day}", lambda at: at[who] != day)

    def before(one: str, two: str) -> Clue:
        return clue(f"{one} is on duty earlier in the week than {two}",
                    lambda at: DAYS.index(at[one]) < DAYS.index(at[two]))  # fmt: skip

    def following(one: str, two: str) -> Clue:
        return clue(f"{two} is on duty the day after {one}",
                    lambda at: DAYS.index(at[one]) + 1 == DAYS.index(at[two]))  # fmt: skip

    def true_clues(at: dict[str, str], who: Sequence[str]) -> list[Clue]:
        found = [on(one, day) for one in who for day in DAYS]
        for one, two in permutations(who, 2):
            found += [before(one, two), following(one, two)]
        return [each for each in found if each.holds(at)]

    def turned(fact: Clue) -> Clue:
        words = fact.name.split()
        if words[2] == "not":
            return clue(f"{words[0]} is on duty on {words[-1]}", lambda at: at[words[0]] == words[-1])
        return before(words[-1], words[0]) if "earlier" in words else following(words[0], words[-1])

    def again(fact: Clue) -> str:
        words = fact.name.split()
        if "earlier" in words:
            return f"{words[-1]}'s duty comes later in the week than {words[0]}'s"
        if "after" in words:
            return f"{words[-1]}'s duty is one day ahead of {words[0]}'s"
        return f"{words[-1]} is {'not ' if 'not' in words else ''}{words[0]}'s day"

    question, facts, who, wrong = solved(rng, DAYS, true_clues, people)
    return Told(
        f"the day on which {who} is on duty", question, facts,
        [("user", f"{', '.join(sorted(people))} have one duty each, Monday to Thursday. "
                  + " ".join(f"{f.name}." for f in facts) + f" When is {who} on duty?", facts)],
        [lines(lambda f: f"* {f.name}", head=f"duties Mon-Thu, one each for {', '.join(sorted(people))}\n"),
         lines(again, ". ", f"Monday to Thursday, {', '.join(sorted(people))}, one day each. ", ".")],
        lambda v: f"{who} is on duty on {v}.", wrong, slipped(facts, question, turned),
    )  # fmt: skip


def lockers(rng: Random) -> Told:
    """Whose locker has which colour, by exclusion alone."""
    people = rng.sample(("Hana", "Ivo", "Jytte", "Karim", "Lou"), 4)

    def neither(who: str, one: str, two: str) -> Clue:
        return clue(f"{who}'s locker is neither {one} nor {two}", lambda at: at[who] not in (one, two))

    def either(who: str, one: str, two: str) -> Clue:
        return clue(f"{who}'s locker is {one} or {two}", lambda at: at[who] in (one, two))

    def true_clues(at: dict[str, str], who: Sequence[str]) -> list[Clue]:
        found = []
        for one in who:
            for pair in pairwise(rng.sample(COLOURS, 4)):
                found += [neither(one, *pair), either(one, *pair)]
        return [each for each in found if each.holds(at)]

    def turned(fact: Clue) -> Clue:
        words = fact.name.split()
        who = words[0].removesuffix("'s")
        return either(who, words[-3], words[-1]) if "neither" in words else neither(who, words[-3], words[-1])

    def again(fact: Clue) -> str:
        words = fact.name.split()
        who, one, two = words[0].removesuffix("'s"), words[-3], words[-1]
        return f"{who}: not {one}, not {two}" if "neither" in words else f"{who}: {one}/{two}"

    question, facts, who, wrong = solved(rng, COLOURS, true_clues, people)
    return Told(
        f"the colour of {who}'s locker", question, facts,
        [("user", f"Four lockers (red, blue, green, grey) for {', '.join(sorted(people))}. "
                  + " ".join(f"{f.name}." for f in facts) + f" Which colour has {who}'s?", facts)],
        [lines(lambda f: f.name, "; ", f"Lockers red/blue/green/grey, of {', '.join(sorted(people))}: "),
         lines(again, head=f"lockers (one each: red, blue, green, grey; {', '.join(sorted(people))})\n")],
        lambda v: f"{who}'s locker is {v}.", wrong, slipped(facts, question, turned),
    )  # fmt: skip


KINDS: dict[str, Callable[[Random], Told]] = {
    "league": league, "final": final, "family": family, "lesson": lesson, "setting": setting, "minutes": minutes,
    "coldest": coldest, "both_days": both_days, "above": above, "tracking": tracking, "duties": duties,
    "lockers": lockers,
}  # fmt: skip
