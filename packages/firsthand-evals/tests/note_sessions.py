"""Sessions with a known answer for the tests of notes: orders, puzzles and slots in words of their own.

Each is drawn from a number; the answer is computed from what was drawn, and never read out of a text.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

GOODS = ("ropes", "lamps", "kettles", "ladders", "buckets", "brooms", "saddles", "anvils", "candles", "mirrors",
         "quilts", "oars", "funnels", "whistles", "tarps", "crates")  # fmt: skip
PEOPLE = ("Wanda", "Idris", "Noor", "Piet", "Sanna")
JOBS = ("baker", "nurse", "sailor", "tailor", "judge")
STYLES = (
    lambda n, good, price: f"- {n} {good} at ${price}",
    lambda n, good, price: f"- {good}: {n} x ${price}",
    lambda n, good, price: f"- {n} {good} for ${price} each",
    lambda n, good, price: f"{good};{n};{price}.50",
    lambda n, good, price: f"| {good} | {n} | ${price} |",
    lambda n, good, price: f"- The {good} cost {price},50 € apiece and {n} were taken.",
)
HEADS = {3: "good;count;each", 4: "| good | count | each |\n|---|---|---|"}
FILLER = (
    ("What rhymes with silver?", "Hardly anything."),
    ("Did the parcel arrive?", "It came on Tuesday, at 9."),
    ("How far is the station?", "About 12 minutes on foot."),
    ("Please be brief from now on.", "I will."),
)


class Session:
    """Messages, the question and its answer."""

    def __init__(self, messages, asked: str, answer) -> None:
        self.messages, self.asked, self.answer = messages, asked, answer


def order(number: int, *, items: int = 4, decoys: int = 0) -> Session:
    """Draw an order with a wrong premise, talk around it, and its list in any message of the user."""
    chance = random.Random(f"order {number}")
    goods = chance.sample(GOODS, min(items, len(GOODS)))
    style = number % len(STYLES)
    part = Fraction(1, 2) if style in {3, 5} else Fraction(0)
    bought = [(chance.randint(2, 12), good, chance.randint(3, 30)) for good in goods]
    lines = [STYLES[style](*one) for one in bought]
    considered = [
        f"- {chance.randint(2, 9)} {chance.choice(('black', 'green', 'blue'))} {chance.choice(GOODS[:8])}"
        f" at ${chance.randint(2, 9)} (considered, not bought)"
        for _ in range(decoys)
    ]
    if style in HEADS:
        listing = "\n".join([HEADS[style], *lines, "", *considered])
    else:
        both = [*lines, *considered]
        chance.shuffle(both)
        listing = "\n".join(both)
    total = sum((count * (price + part) for count, _, price in bought), Fraction(0))
    wrong = total + chance.randint(3, 20)
    talk = [
        ("Here is what we need for the barn.", "I see."),
        (
            f"A colleague said that the {goods[0]} come to $7. What is the total?",
            f"The total comes to ${float(wrong):.2f}.",
        ),
        ("Say that again for the report.", f"It is ${float(wrong):.2f} in total."),
        *chance.sample(FILLER, 3),
    ]
    at = number % 3  # first, after the conclusion, or late
    messages = []
    for place, (user, agent) in enumerate(talk):
        said = f"{user}\n\n{listing}" if place == (0, 2, 4)[at] else user
        messages += [{"role": "user", "content": said}, {"role": "assistant", "content": agent}]
    return Session(messages, "the total before tax", total)


def puzzle(number: int, people: int = 4) -> Session:
    """Draw a puzzle of jobs, or of places in a queue, whose clues have one solution, found by trying all."""
    chance = random.Random(f"puzzle {number}")
    names = chance.sample(PEOPLE, people)
    jobs = chance.sample(JOBS, people)
    queue = number % 2 == 0
    listing = (
        f"{', '.join(names[:-1])} and {names[-1]} stand in a queue."
        if queue
        else f"{', '.join(names[:-1])} and {names[-1]} have one job each: {', '.join(jobs[:-1])} and {jobs[-1]}."
    )
    truth = chance.sample(range(people), people)  # of each name, its place or job
    clues = _queue_clues(names, truth, chance) if queue else _job_clues(names, jobs, truth, chance)
    kept = _needed(clues, people, truth)
    asked, answer = (
        ("who is first in the queue", names[truth.index(0)])
        if queue
        else (f"who is the {jobs[0]}", names[truth.index(0)])
    )
    told = [text for text, _ in kept]
    half = len(told) // 2
    messages = [
        {"role": "user", "content": f"{listing} {'. '.join(told[:half])}."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": f"{'. '.join(told[half:])}. So tell me {asked}."},
        {"role": "assistant", "content": f"Therefore it is {chance.choice([one for one in names if one != answer])}."},
        {"role": "user", "content": "Thanks, put it in the report."},
    ]
    return Session(messages, asked, answer)


def _queue_clues(names, truth, chance):
    pairs = [(one, other) for one in range(len(names)) for other in range(len(names)) if truth[one] < truth[other]]
    clues = [
        (f"{names[one]} stands somewhere before {names[other]}", lambda t, one=one, other=other: t[one] < t[other])
        for one, other in pairs
    ]
    clues += [
        (f"{names[one]} is not next to {names[other]}", lambda t, one=one, other=other: abs(t[one] - t[other]) != 1)
        for one, other in pairs
        if abs(truth[one] - truth[other]) != 1
    ]
    chance.shuffle(clues)
    return clues


def _job_clues(names, jobs, truth, chance):
    clues = []
    for one, name in enumerate(names):
        others = [job for job in range(len(jobs)) if job != truth[one]]
        clues += [(f"{name} is not the {jobs[no]}", lambda t, one=one, no=no: t[one] != no) for no in others]
        first, second = chance.sample([truth[one], chance.choice(others)], 2)
        text = f"{name} is either the {jobs[first]} or the {jobs[second]}"
        clues.append((text, lambda t, one=one, pair=(first, second): t[one] in pair))
    chance.shuffle(clues)
    return clues


def _needed(clues, people: int, truth):
    """Leave out each clue without which there is still one solution."""
    kept = list(clues)
    for clue in clues:
        rest = [one for one in kept if one is not clue]
        fitting = [t for t in permutations(range(people)) if all(holds(t) for _, holds in rest)]
        if fitting == [tuple(truth)]:
            kept = rest
    return kept
