"""Kinds of which the dev half has nothing: other subjects, other wordings, other arithmetic. For the report alone.

A probe that was tuned on one half of a kind has seen the other half's templates. What it
makes of a kind that it never met is measured here and printed apart.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import pairwise
from random import Random

from firsthand.value import value

from .case import Case, Drawn, Session, case, dice, new_id
from .gold import Clue, Fact, Factor, Line, Lookup, Puzzle, Question, Slot, Sum

EACH = 12

CHAT = (
    ("Good morning!", "Good morning. What is on today?"), ("Sorry, the phone rang.", "No hurry."),
    ("Speak German from tomorrow on.", "Gern, ab morgen."), ("Did my parcel of 3 kg arrive?", "I cannot see that."),
    ("What is a palindrome?", "A word that reads the same both ways, such as level."),
    ("Put 20 minutes on the timer.", "It runs."),
)  # fmt: skip
GAPS = (
    "(incomplete: {k} of {n} figures)", "Careful, only {k} of the {n} statements are in here.",
    "{k}/{n} noted, the remainder was dropped.",
)  # fmt: skip
ELSEWHERE = ("What else belongs to it: {p}", "Incomplete; continue reading at {p}", "{k} of {n} here, all of it in {p}")


@value
class Least:
    """The question for the name of the smallest of several amounts."""

    truth: Sequence[Fact]

    def answer(self, facts: Iterable[Fact]) -> str | None:
        """Give the name; None while one of the amounts is not there."""
        known = {fact.name: fact.amount for fact in facts if isinstance(fact, Line)}
        if any(fact.name not in known for fact in self.truth):
            return None
        return min(known, key=lambda name: known[name])

    def right(self, facts: Iterable[Fact]) -> bool:
        """Whether these facts give the true answer."""
        return self.answer(facts) == self.answer(self.truth)


@value
class Told:
    """A session's facts, each with the words that a note has for it.

    Attributes:
        statements: what a note says of each fact.
        said: the user's message, or the tool's; role: who.
        wrong: the conclusion that the agent drew, as a sentence.
    """

    claim: str
    question: Question | Least
    statements: Sequence[tuple[Fact, str]]
    said: str
    wrong: str
    role: str = "user"
    link: str = ". "


def noted(kind: str, number: int, rng: Random, told: Told) -> Case:
    """Hold the session and write the note in one of eight ways."""
    session = Session(rng)
    for asked, answered in rng.sample(CHAT, rng.randrange(1, 3)):
        session.user(asked)
        session.agent(answered)
    if told.role == "tool":
        session.user(f"Please find out: {told.claim}?")
    source = session.say(told.role, told.said)
    session.agent(told.wrong)
    session.user("Thank you.")
    session.agent("You are welcome.")
    whole = list(told.statements)
    dropped = rng.randrange(len(whole))
    some = [each for place, each in enumerate(whole) if place != dropped]
    facts = [fact for fact, _ in told.statements]
    numbers = {"k": len(some), "n": len(whole)}

    def text(statements: Sequence[tuple[Fact, str]]) -> str:
        return told.link.join(words for _, words in statements)

    kept = [fact for fact, _ in some]
    drawn = [
        Drawn(text(whole), facts),
        Drawn(f"{text(some)}{told.link}{told.wrong}", kept, concludes=True),
        Drawn(f"{text(some)}\n{rng.choice(GAPS).format(**numbers)}", kept, admits=True),
        Drawn(f"{text(some)}\n{rng.choice(ELSEWHERE).format(**numbers, p=source)}", kept, facts, admits=True),
        Drawn(told.wrong, [], concludes=True),
        Drawn(f"{told.wrong} But: {text(whole)}", facts, concludes=True),
        Drawn(f"{told.wrong} (fh:{new_id(rng)})", [], concludes=True),
        Drawn(f"{told.wrong} How this came about was not recorded.", [], admits=True, concludes=True),
        Drawn(f"{told.wrong} ({source})", [], facts, concludes=True),
        Drawn("We talked about several things; nothing of it is written down here.", [], admits=True),
        Drawn(text(rng.sample(whole, len(whole))), facts),
        Drawn(f"{text(some)}{told.link}{told.wrong}", kept, concludes=True),
    ][number % 12]
    return case(kind, number, session, told.claim, told.question, drawn)


def wages(rng: Random) -> Told:
    """Hours times wages."""
    lines = [
        Line(name, Fraction(rng.randint(5, 38)), Fraction(rng.randint(13, 31)) + Fraction(rng.choice((0, 50)), 100))
        for name in rng.sample(("Ida", "Ole", "Per", "Runa", "Siv"), 3)
    ]
    said = " ".join(f"{a.name} worked {int(a.count)} hours for {float(a.price):.2f} euros an hour." for a in lines)
    sum_of = sum((a.amount for a in lines), Fraction(0)) + 40
    return Told("the wages of this week", Sum(lines),
                [(a, f"{a.name}: {int(a.count)} h à {float(a.price):.2f} €") for a in lines],
                said + " What do I pay them this week?", f"The wages are {float(sum_of):.2f} €.",
                link="; ")  # fmt: skip


def recipe(rng: Random) -> Told:
    """An amount for some people, wanted for others."""
    grams, four, ten = Fraction(rng.randint(20, 60) * 10), rng.choice((2, 4)), rng.choice((6, 10, 12))
    amount, base = Line("flour", Fraction(1), grams), Factor("for", Fraction(1, four))
    wanted = Factor("wanted", Fraction(ten))
    return Told(f"the flour for the {ten} guests" if rng.random() < 0.5 else "how much flour the guests need",
                Sum([amount, base, wanted]),
                [(amount, f"The dough takes {int(grams)} g of flour"), (base, f"The recipe is for {four} people"),
                 (wanted, f"{ten} guests will come")],
                f"My recipe is for {four} people and takes {int(grams)} g of flour. {ten} guests come. How much flour?",
                f"You need {int(grams * ten / four) + 100} g of flour.")  # fmt: skip


def race(rng: Random) -> Told:
    """Who finished before whom."""
    names = rng.sample(("Abby", "Boris", "Carla", "Deniz", "Eva", "Falk"), 4)
    pairs = list(pairwise(names))

    def before(one: str, two: str) -> Clue:
        return Clue(f"{one} finished before {two}", lambda at: at[one] < at[two])

    clues = [before(*pair) for pair in pairs]
    first = rng.random() < 0.5
    asked = 1 if first else 4
    question = Puzzle(clues, names, (1, 2, 3, 4), lambda at: next(who for who in names if at[who] == asked))
    words = [rng.choice((f"{one} finished before {two}", f"{two} came in after {one}")) for one, two in pairs]
    order = rng.sample(range(3), 3)
    wrong = rng.choice(names[1:-1])
    claim = "who won the race" if first else "who came in last"
    return Told(claim, question, [(clues[place], words[place]) for place in order],
                f"{', '.join(sorted(names))} ran. " + " ".join(f"{clues[place].name}." for place in order),
                f"{wrong} won the race." if first else f"{wrong} came in last.")  # fmt: skip


def invoice(rng: Random) -> Told:
    """A German session, commas for decimals."""
    lines = [
        Line(name, Fraction(rng.randint(2, 14)), Fraction(rng.randint(3, 29)) + Fraction(rng.choice((20, 50, 90)), 100))
        for name in rng.sample(("Schrauben", "Dübel", "Bretter", "Leisten", "Winkel"), 3)
    ]
    wrong = f"{float(sum((a.amount for a in lines), Fraction(10))):.2f}".replace(".", ",")
    pieces = [f"{int(a.count)} {a.name} zu je {float(a.price):.2f} €".replace(".", ",") for a in lines]
    return Told("die Summe der Rechnung", Sum(lines), list(zip(lines, pieces, strict=True)),
                f"Auf der Rechnung stehen {pieces[0]}, {pieces[1]} und {pieces[2]}. Wie hoch ist die Summe?",
                f"Die Summe beträgt {wrong} €.", link="\n")  # fmt: skip


def distance(rng: Random) -> Told:
    """The difference of two readings."""
    begin = rng.randint(11_000, 90_000)
    driven = rng.randint(120, 900)
    one, two = Line("start", Fraction(-1), Fraction(begin)), Line("end", Fraction(1), Fraction(begin + driven))
    return Told("the distance driven", Sum([one, two]),
                [(one, f"Odometer at departure: {begin:,} km"), (two, f"odometer on return: {begin + driven} km")],
                f"When we left it showed {begin:,} km, when we came back {begin + driven:,} km. How far was it?",
                f"You drove {driven + 10} km.", link="; ")  # fmt: skip


def budget(rng: Random) -> Told:
    """What is left of an income."""
    income = Line("income", Fraction(1), Fraction(rng.randint(18, 40) * 100))
    costs = [
        Line(name, Fraction(-1), Fraction(rng.randint(5, 60) * 10))
        for name in rng.sample(("rent", "food", "insurance", "the gym", "trains"), 3)
    ]
    left = sum((a.amount for a in (income, *costs)), Fraction(0))
    spent = ", ".join(f"{a.name} {int(a.price)}" for a in costs)
    return Told("what is left at the end of the month", Sum([income, *costs]),
                [(income, f"Income {int(income.price)} a month")]
                + [(a, f"{a.name} takes {int(a.price)}") for a in costs],
                f"I get {int(income.price)} a month and spend: {spent}. What is left?",
                f"{int(left) - 90} is left at the end of the month.", link=", ")  # fmt: skip


def share(rng: Random) -> Told:
    """A share in per cent of a number."""
    guests, percent = rng.randint(4, 30) * 20, rng.choice((15, 35, 45, 60))
    whole, part = Line("guests", Fraction(1), Fraction(guests)), Factor("share", Fraction(percent, 100))
    return Told("how many guests eat vegetarian", Sum([whole, part]),
                [(whole, f"{guests} guests are invited"), (part, f"{percent} percent of them eat vegetarian")],
                f"There are {guests} guests, and {percent} % of them are vegetarians. How many is that?",
                f"{guests * percent // 100 + 6} guests eat vegetarian.")  # fmt: skip


def arrival(rng: Random) -> Told:
    """A departure, a ride, a wait and another ride."""
    start = rng.randrange(6 * 60, 15 * 60, 5)
    parts = [Line("departure", Fraction(1), Fraction(start))] + [
        Line(name, Fraction(1), Fraction(minutes))
        for name, minutes in (("train", rng.randint(20, 95)), ("wait", rng.randint(6, 30)), ("bus", rng.randint(9, 40)))
    ]
    end = sum((a.amount for a in parts), Fraction(0)) + 10
    ride, wait, bus = (int(a.price) for a in parts[1:])
    left = f"{start // 60}:{start % 60:02d}"
    return Told("the time of arrival", Sum(parts),
                [(parts[0], f"departs {left}"), (parts[1], f"train {ride} min"), (parts[2], f"change takes {wait} min"),
                 (parts[3], f"bus {bus} min")],
                f"The train leaves at {left} and takes {ride} minutes, then I wait {wait} minutes and the bus takes "
                f"{bus} minutes. When am I there?",
                f"You arrive at {int(end) // 60}:{int(end) % 60:02d}.", link=", ")  # fmt: skip


def stock(rng: Random) -> Told:
    """What a log of movements comes to."""
    moves = [Line("start", Fraction(1), Fraction(rng.randint(40, 90)))] + [
        Line(f"{day:02d}.06.", Fraction(1), Fraction(rng.choice((-1, 1)) * rng.randint(3, 12)))
        for day in sorted(rng.sample(range(1, 28), 3))
    ]
    end = sum((a.amount for a in moves), Fraction(0))
    rows = [f"stock on 1 June: {int(moves[0].price)}"] + [f"{a.name} {int(a.price):+d}" for a in moves[1:]]
    return Told("the stock of valves at the end of June", Sum(moves), list(zip(moves, rows, strict=True)),
                "valves\n" + "\n".join(rows), f"At the end of June there are {int(end) + 4} valves.",
                "tool", "\n")  # fmt: skip


def cheapest(rng: Random) -> Told:
    """Which offer is the cheapest."""
    prices = rng.sample(range(210, 590), 4)
    offers = [
        Line(name, Fraction(1), Fraction(price))
        for name, price in zip(rng.sample(("Nordwind", "Kestrel", "Alba", "Mistral", "Tern"), 4), prices, strict=True)
    ]
    second = sorted(offers, key=lambda a: a.amount)[1].name
    return Told("which offer is the cheapest", Least(offers), [(a, f"{a.name} asks {int(a.price)} €") for a in offers],
                "The offers: " + ", ".join(f"{a.name} {int(a.price)} €" for a in offers) + ". Which is the cheapest?",
                f"The cheapest offer is {second}.")  # fmt: skip


def deadline(rng: Random) -> Told:
    """A date that follows from another one and a number of days."""
    begin, days = date(2026, 1, 5) + timedelta(days=rng.randrange(300)), rng.choice((10, 14, 30, 45))
    one, two = Line("letter", Fraction(1), Fraction(begin.toordinal())), Line("days", Fraction(1), Fraction(days))
    wrong = begin + timedelta(days=days + 2)
    return Told("the last day for an objection", Sum([one, two]),
                [(one, f"The letter arrived on {begin:%d %B %Y}"), (two, f"an objection is possible for {days} days")],
                f"The letter came on {begin:%B %d, %Y}. I can object within {days} days after that. Until when?",
                f"The last day is {wrong:%d %B %Y}.", link="; ")  # fmt: skip


def path(rng: Random) -> Told:
    """An exact string that a tool gave, in which the agent slipped."""
    name = "".join(rng.choice("abcdefghkmnprstuvwxyz") for _ in range(5))
    right = f"/srv/{name}/releases/{rng.randint(100, 999)}/run.sh"
    slot = Slot("script", right)
    wrong = right.replace(name, name[::-1])
    return Told("the path of the script that was started", Lookup([slot], "script"),
                [(slot, f"started: {right}")], f"$ ps -ef | grep run\nroot 4711 1 {right}",
                f"The script that runs is {wrong}.", "tool", "\n")  # fmt: skip


KINDS: dict[str, Callable[[Random], Told]] = {
    "wages": wages, "recipe": recipe, "race": race, "invoice": invoice, "distance": distance, "budget": budget,
    "share": share, "arrival": arrival, "stock": stock, "cheapest": cheapest, "deadline": deadline, "path": path,
}  # fmt: skip


@cache
def unseen() -> tuple[Case, ...]:
    """Make the cases of the kinds that nobody tunes on."""
    made = []
    for kind, tell in KINDS.items():
        for number in range(EACH):
            rng = dice("unseen " + kind, number)
            made.append(noted(kind, number, rng, tell(rng)))
    return tuple(made)
