"""Kinds about constraints with one answer: who sits where, who does what.

Every puzzle is solved by trying all assignments when it is made. Beside the clues that
are needed it has at least one that is not, so that a note may drop a clue and lose nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from random import Random

from firsthand.value import value

from .case import Case, Drawn, Session, case, dice
from .gold import Clue, Puzzle
from .shopping import TAGS, small_talk
from .writing import listed

PEOPLE = ("Ana", "Ben", "Cleo", "Dov", "Esra", "Finn", "Gita", "Hugo", "Ines", "Jonas")
JOBS = ("manager", "cook", "driver", "cashier", "gardener", "librarian")


@value
class Worded:
    """A clue with the ways to say it; each says the same."""

    clue: Clue
    wordings: tuple[str, ...]


@value
class Riddle:
    """A puzzle with its clues in words.

    Attributes:
        needed: without any one of them, the answer is open; spare: each may be missing alone.
        domain: the sentence that says who and what there is.
        wrong: an answer that is not the one.
    """

    question: Puzzle
    clues: tuple[Worded, ...]
    needed: tuple[Worded, ...]
    spare: tuple[Worded, ...]
    domain: str
    claim: str
    wrong: str
    conclusion: Callable[[str], str]


def seat_clues(people: Sequence[str], truth: Mapping[str, object]) -> list[Worded]:
    """Give every true clue about seats in a row."""
    found: list[Worded] = []

    def add(holds: Callable[[Mapping[str, object]], bool], *wordings: str) -> None:
        if holds(truth):
            found.append(Worded(Clue(wordings[0], holds), wordings))

    for a in people:
        for seat in range(1, len(people) + 1):
            add(lambda at, a=a, seat=seat: at[a] != seat,
                f"{a} is not in seat {seat}", f"Seat {seat} is not {a}'s",
                f"{a} does not sit in seat {seat}")  # fmt: skip
        for b in people:
            if a == b:
                continue
            add(lambda at, a=a, b=b: at[a] < at[b],
                f"{a} sits somewhere to the left of {b}", f"{b} sits to the right of {a}",
                f"{a} is left of {b}")  # fmt: skip
            add(lambda at, a=a, b=b: at[a] + 1 == at[b],
                f"{a} sits directly to the left of {b}", f"{b} is immediately to the right of {a}",
                f"{b} sits right next to {a}, on the right side")  # fmt: skip
            if a < b:
                add(lambda at, a=a, b=b: abs(at[a] - at[b]) == 1,
                    f"{a} and {b} sit next to each other", f"{b} is a neighbour of {a}")  # fmt: skip
                add(lambda at, a=a, b=b: abs(at[a] - at[b]) != 1,
                    f"{a} and {b} do not sit next to each other", f"{b} is not a neighbour of {a}")  # fmt: skip
    return found


def job_clues(people: Sequence[str], jobs: Sequence[str], truth: Mapping[str, object]) -> list[Worded]:
    """Give every true clue about who may have which job, none of which names a person's job outright."""
    found: list[Worded] = []

    def add(holds: Callable[[Mapping[str, object]], bool], *wordings: str) -> None:
        if holds(truth):
            found.append(Worded(Clue(wordings[0], holds), wordings))

    for a in people:
        for job in jobs:
            add(lambda at, a=a, job=job: at[a] != job,
                f"{a} is not the {job}", f"The {job} is not {a}", f"{a} does not work as the {job}")  # fmt: skip
            for other in jobs:
                if job < other:
                    add(lambda at, a=a, job=job, other=other: at[a] in {job, other},
                        f"{a} is either the {job} or the {other}", f"{a} is the {job} or else the {other}")  # fmt: skip
        for b in people:
            if a < b:
                for job in jobs:
                    add(lambda at, a=a, b=b, job=job: job in {at[a], at[b]},
                        f"The {job} is {a} or {b}", f"Either {a} or {b} is the {job}")  # fmt: skip
    return found


def riddle(rng: Random, *, seats: bool) -> Riddle:
    """Draw a puzzle with exactly one answer to what is asked."""
    while True:
        people = rng.sample(PEOPLE, 4)
        things: list[object] = [1, 2, 3, 4] if seats else list(rng.sample(JOBS, 4))
        truth = dict(zip(people, rng.choice(list(permutations(things))), strict=True))
        thing = rng.choice(things)

        def asked(at: Mapping[str, object], thing: object = thing) -> object:
            return next(who for who, has in at.items() if has == thing)

        pool = seat_clues(people, truth) if seats else job_clues(people, [str(job) for job in things], truth)
        made = chosen(rng, pool, Puzzle((), people, things, asked))
        if made is None:
            continue
        clues, needed, spare = made
        question = Puzzle(tuple(worded.clue for worded in clues), people, things, asked)
        wrong = rng.choice([who for who in people if who != asked(truth)])
        if seats:
            domain = f"{listed(people)} sit in seats 1 to 4, counted from left to right."
            return Riddle(question, clues, needed, spare, domain, f"who sits in seat {thing}", wrong,
                          lambda who, thing=thing: f"{who} sits in seat {thing}")  # fmt: skip
        domain = f"{listed(people)} are the {listed([str(job) for job in things])}, one job each."
        return Riddle(question, clues, needed, spare, domain, f"who the {thing} is", wrong,
                      lambda who, thing=thing: f"the {thing} is {who}")  # fmt: skip


def chosen(
    rng: Random, pool: Sequence[Worded], puzzle: Puzzle
) -> tuple[tuple[Worded, ...], tuple[Worded, ...], tuple[Worded, ...]] | None:
    """Choose clues that leave one answer, some of them needed and at least one not; None when chance gave no such."""
    clues: list[Worded] = []
    for worded in rng.sample(pool, len(pool)):
        before = puzzle.answers([each.clue for each in clues])
        if len(before) == 1:
            break
        if len(puzzle.answers([each.clue for each in (*clues, worded)])) < len(before) or rng.random() < 0.15:
            clues.append(worded)
    if not 3 <= len(clues) <= 6:
        return None

    def needs(worded: Worded) -> bool:
        return len(puzzle.answers([each.clue for each in clues if each is not worded])) > 1

    clues.append(rng.choice([worded for worded in pool if worded not in clues]))
    rng.shuffle(clues)
    needed = tuple(each for each in clues if needs(each))
    spare = tuple(each for each in clues if not needs(each))
    return (tuple(clues), needed, spare) if needed and spare else None


def told(rng: Random, held: Riddle) -> tuple[Session, str]:
    """Hold the session: the clues, a wrong premise, a wrong conclusion."""
    session = Session(rng)
    small_talk(session, rng, rng.randrange(3))
    clues = " ".join(f"{each.wordings[0]}." for each in held.clues)
    source = session.user(
        f"{held.domain} {clues} Somebody told me that {held.conclusion(held.wrong)}. So tell me {held.claim}."
    )
    session.agent(f"Then {held.conclusion(held.wrong)}.")
    small_talk(session, rng, rng.randrange(3))
    session.user("Say it again in a few words.")
    session.agent(
        f"{held.conclusion(held.wrong).capitalize() if held.wrong[0].islower() else held.conclusion(held.wrong)}."
    )
    return session, source


def logic(kind: str, number: int, *, seats: bool) -> Case:
    """Keep all clues, all that matter, or not all of them."""
    rng = dice(kind, number)
    held = riddle(rng, seats=seats)
    session, source = told(rng, held)
    way = number % 6
    dropped = {0: (), 1: (rng.choice(held.spare),)}.get(way, (rng.choice(held.needed),))
    kept = [each for each in held.clues if each not in dropped]
    rng.shuffle(kept)
    text = held.domain + "\n" + "\n".join(f"- {rng.choice(each.wordings)}" for each in kept)
    n, k = len(held.clues), len(kept)
    if way == 3:
        text += "\n" + rng.choice(TAGS).replace("item", "clue").replace("lines", "clues").format(k=k, n=n)
    if way == 4:
        text += f"\n[kept {k} of {n} clues; the rest: {source}]"
    if way == 5:
        text = f"Of {listed(list(held.question.people))}, {held.conclusion(held.wrong)}."
        kept = []
    behind = [each.clue for each in held.clues] if way == 4 else []
    drawn = Drawn(text, [each.clue for each in kept], behind, admits=way in {3, 4}, concludes=way == 5)
    return case(kind, number, session, held.claim, held.question, drawn)


def paraphrase(number: int) -> Case:
    """Say each clue in other words; sometimes one of them comes out the wrong way round."""
    rng = dice("paraphrase", number)
    seats = number % 3 != 2
    held = riddle(rng, seats=seats)
    session, source = told(rng, held)
    way = number % 4
    clues, texts = [], []
    turned = rng.choice(held.needed) if way >= 2 else None
    for each in held.clues:
        text, clue = rng.choice(each.wordings[1:]), each.clue
        if each is turned:
            text, clue = reversed_clue(each)
        texts.append(text)
        clues.append(clue)
    note = rng.choice(("{d} {t}.", "{d} It was said: {t}.")).format(d=held.domain, t="; ".join(texts))
    if way == 3:
        note += f" In the user's own words: {source}"
    drawn = Drawn(note, clues, [each.clue for each in held.clues] if way == 3 else ())
    return case("paraphrase", number, session, held.claim, held.question, drawn)


def reversed_clue(worded: Worded) -> tuple[str, Clue]:
    """Turn a clue into its opposite, in words and in fact."""
    text = worded.wordings[0]
    for yes, no in (
        (" is not ", " is "), (" do not sit ", " sit "), (" sits somewhere to the left of ", " sits to the right of "),
        (" sits directly to the left of ", " sits immediately to the right of "), (" sit next ", " do not sit next "),
        (" is either ", " is neither "), (" is ", " is not "),
    ):  # fmt: skip
        if yes in text:
            turned = text.replace(yes, no, 1)
            break
    else:
        raise ValueError(f"no opposite is known of {text!r}: add one")
    if " or " in turned:
        turned = turned.replace(" or ", " nor ").replace("is not ", "is neither ")
    holds = worded.clue.holds
    if "immediately to the right" in turned:
        a, b = text.split(" sits directly to the left of ")
        return turned, Clue(worded.clue.name, lambda at: at[b] + 1 == at[a])
    return turned, Clue(worded.clue.name, lambda at: not holds(at))


KINDS = {
    "logic_seats": lambda number: logic("logic_seats", number, seats=True),
    "logic_jobs": lambda number: logic("logic_jobs", number, seats=False),
    "paraphrase": paraphrase,
}
