"""Sessions about a sum, and the four usual ways in which a note of them ends.

A session states its lines once, in some turn and some format; a wrong subtotal is
planted, the agent concludes with it, and later turns use the wrong total again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

from firsthand.value import value

from .case import Drawn, Session
from .gold import Fact, Line
from .writing import WRITERS, money, plain, total

Render = Callable[[Sequence[Line]], str]

CLAIM = "the total before tax"
ENDINGS = ("whole", "short", "tagged", "pointed")

SMALL_TALK = (
    ("Is the shop open on Sunday?", "It opens at 10 on Sundays and closes at 4."),
    ("How long is the walk from the station?", "About 12 minutes, past the church."),
    ("Which bus goes there?", "Line 7, every 20 minutes."),
    ("Do they wrap presents?", "Yes, and they do not charge for it."),
    ("Can you keep it short from now on?", "I will."),
    ("My sister says thanks for the tip of last week.", "Glad that it helped."),
    ("Remind me to water the plants later.", "I will, at the end."),
    ("What was the name of the café next door?", "I do not know; you did not say."),
    ("Can we park there?", "There are 40 places behind the house, at 3 dollars an hour."),
    ("How is the weather going to be?", "Dry, about 18 degrees."),
    ("Does the lift work again?", "Since Tuesday, yes."),
    ("Who keeps the key?", "The caretaker, room 214."),
)
OPENINGS = (
    "I am doing the accounts of our little office.{gap}{source}{gap}{premise}What is the total before tax?",
    "Here is what was ordered for the school fair.\n{source}\n{premise}Please give me the total before tax.",
    "{premise}The list is:\n{source}\nHow much is that in all, before tax?",
)
HEADS = ("", "", "Shopping for the office.\n", "Notes of an earlier session:\n", "Order: ", "From the user's list. ")
TAGS = (
    "Kept {k} of {n} items.",
    "({k} of {n} lines are here; the others did not fit.)",
    "[kept {k}/{n}; the rest was not kept]",
    "Incomplete: only {k} out of {n} items fit into this note.",
)
RESTS = (
    "[kept {k} of {n}; the rest: {p}]",
    "The full list of {n} items stands in {p}.",
    "({k} of {n} items; see {p} for the others)",
    "More items: {p}",
)


@value
class Shop:
    """A session about a sum, with what is true of it.

    Attributes:
        source: pointer of the message that states all of it.
        locus: the line whose subtotal is wrong from the start; wrong: that subtotal.
        concluded: the wrong total that the agent committed to.
    """

    session: Session
    lines: Sequence[Line]
    source: str
    locus: Line
    wrong: Fraction
    concluded: Fraction


def small_talk(session: Session, rng: Random, turns: int) -> None:
    """Add turns that are about something else."""
    said = {message["content"] for message in session.messages}
    for asked, answered in rng.sample([each for each in SMALL_TALK if each[0] not in said], turns):
        session.user(asked)
        session.agent(answered)


def shop(
    rng: Random, lines: Sequence[Line], *, source: str = "", sign: str = "$", facts: str = "", ask: str = ""
) -> Shop:
    """Hold a session in which a wrong subtotal leads to a wrong total.

    Args:
        source: the text that states the lines; drawn when empty.
        facts: what else the user says beside the lines.
        ask: the question, when it is not for the total.
    """
    session = Session(rng)
    small_talk(session, rng, rng.randrange(3))
    text = source or WRITERS[rng.choice(("prose", "bullets", "markdown", "prose"))](lines, rng)
    locus = rng.choice(list(lines))
    wrong = locus.amount + rng.choice((3, 6, 9, 10))
    premise = f"A note says that the {locus.name} come to {money(wrong, sign)}. "
    gap = "\n" if "\n" in text else " "
    opening = rng.choice(OPENINGS).format(gap=gap, source=text + (gap + facts if facts else ""), premise=premise)
    pointer = session.user(opening + (" " + ask if ask else ""))
    concluded = total(lines) - locus.amount + wrong
    session.agent(rng.choice((
        f"With {money(wrong, sign)} for the {locus.name}, the total is {money(concluded, sign)}.",
        f"The total comes to {money(concluded, sign)}.",
        f"That makes {money(concluded, sign)} in all.",
    )))  # fmt: skip
    session.user("And with 8 % tax on top?")
    session.agent(f"{money(concluded, sign)} plus 8 % is {sign}{float(concluded * Fraction(108, 100)):.2f}.")
    small_talk(session, rng, rng.randrange(3))
    if rng.random() < 0.5:
        session.user("Say the total again, please.")
        session.agent(f"It is {money(concluded, sign)}.")
    return Shop(session, tuple(lines), pointer, locus, wrong, concluded)


def ended(rng: Random, held: Shop, ending: str, render: Render, *, sign: str = "$", truth: Sequence[Fact] = (),
          conclude: bool | None = None) -> Drawn:  # fmt: skip
    """Write a note of a session in one of four ways: the whole, short, short and tagged, short and pointed.

    Args:
        render: gives the text of lines.
        truth: all facts of the session, when there are others than its lines.
        conclude: whether the note gives the wrong total too; sometimes, when not said.
    """
    lines = list(held.lines)
    concludes = rng.random() < 0.3 if conclude is None else conclude
    kept = lines if ending == "whole" else without(rng, lines, 1 if len(lines) < 4 else rng.choice((1, 1, 2)))
    head, text = rng.choice(HEADS), render(kept)
    text = (head.rstrip() + "\n" if head and "\n" in text else head) + text
    if concludes:
        text += f"\nThe total was {money(held.concluded, sign)}."
    others = [fact for fact in truth if fact not in lines]
    if ending == "tagged":
        text += "\n" + rng.choice(TAGS).format(k=len(kept), n=len(lines))
    if ending == "pointed":
        text += "\n" + rng.choice(RESTS).format(k=len(kept), n=len(lines), p=held.source)
    behind = [*lines, *others] if ending == "pointed" else []
    return Drawn(text, [*kept, *others], behind, ending in {"tagged", "pointed"}, concludes)


def without(rng: Random, lines: Sequence[Line], n: int) -> list[Line]:
    """Drop some lines, wherever they stand."""
    dropped = rng.sample(range(len(lines)), n)
    return [line for place, line in enumerate(lines) if place not in dropped]


def calculation(lines: Sequence[Line]) -> str:
    """Show the sum as it is added up."""
    return " + ".join(f"{plain(line.count)}*{plain(line.price)}" for line in lines)
