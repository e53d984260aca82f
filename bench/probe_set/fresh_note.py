"""Sessions and notes of the fresh kinds: fifteen ways for a note to end, none of them worded as the older kinds are.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from firsthand.value import value

from .case import Case, Drawn, Session, case, dice, new_id
from .gold import Clue, Fact, Lookup, Puzzle, Slot

EACH = 15
Writer = Callable[[Sequence[Any]], str]

CHAT = (
    ("Morning. Coffee first.", "Take your time."), ("Which fonts go with Garamond?", "Gill Sans is a classic pair."),
    ("Give me a synonym of brisk.", "Lively."), ("The neighbour's dog barks again.", "That sounds tiring."),
    ("Translate 'threshold' into Italian.", "Soglia."), ("Can lichens grow on glass?", "Some of them do."),
    ("I changed my desk around.", "A new view helps."), ("Please answer without emojis.", "Understood."),
)  # fmt: skip
ASIDE = (
    "Prefers replies without emojis.", "The user drinks coffee in the morning.", "Likes old typefaces.",
    "The neighbour has a loud dog.", "Desk was moved to the window.",
)  # fmt: skip
CUT = (
    "[{k} of {n} entries retained, {m} lost]", "Caveat: a partial copy, {m} of {n} entries did not make it in here.",
    "(fragment; what followed is gone)", "Not everything was written down, so ask again before you rely on this.",
    "Beware: entries are missing here.",
)  # fmt: skip
ONWARD = (
    "Remainder under {p}", "{m} more to be read at {p}.", "Shortened. Unabridged: {p}",
    "What this leaves out can be opened at {p}.",
)  # fmt: skip
BASED = ("{c} Basis: {p}", "{c}\nevidence: {p}", "{c} [{p}]", "{c} Derived from {p}.")
POINTED = ("Asked about: {q}. Figures in {p}", "Look at {p} for {q}.", "{q} -> {p}")
UNFOUNDED = (
    "{c} The entries behind this were not preserved.", "{c} (Basis lost when the context was compacted.)",
    "{c} I no longer have the data that led to it.",
)  # fmt: skip
WHOLE = ("Nothing was left out.", "{{all}}/{{all}} entries retained.", "These are all {{all}} entries.", "[complete]")
"""What a note says that is whole, or that falsely says so."""
HEDGES = ("Probably: {c}", "{c} (from memory, may be off)", "If I recall correctly: {c}", "{c} Roughly, at least.")


@value
class Worked:
    """The question for what is worked out of several named values, all of which it takes.

    Attributes:
        work: takes the values by name.
    """

    truth: Sequence[Fact]
    work: Callable[[Mapping[str, Any]], object]

    def answer(self, facts: Sequence[Fact]) -> object:
        """Work it out of these facts; None while one that it takes is not among them."""
        known = {fact.name: fact.value for fact in facts if isinstance(fact, Slot)}
        return None if any(fact.name not in known for fact in self.truth) else self.work(known)

    def right(self, facts: Sequence[Fact]) -> bool:
        """Whether these facts give the true answer."""
        return self.answer(facts) == self.answer(self.truth)


@value
class Told:
    """What a session is about.

    Attributes:
        facts: all that the answer takes; each of them is needed.
        turns: role, text and facts of each message that states some of them, in order.
        writers: ways to write any of the facts into a note.
        says: the sentence that concludes a value; wrong: the value that the agent concludes.
        swapped: one of the facts as a careless note has it, in the place of the fact of the same place.
        others: facts of the session that the answer does not take.
    """

    claim: str
    question: Worked | Lookup | Puzzle
    facts: Sequence[Fact]
    turns: Sequence[tuple[str, str, Sequence[Fact]]]
    writers: Sequence[Writer]
    says: Callable[[Any], str]
    wrong: object
    swapped: tuple[int, Fact]
    others: Sequence[Fact] = ()

    @property
    def true(self) -> object:
        """The answer; of a puzzle the one that is left."""
        if isinstance(self.question, Puzzle):
            return next(iter(self.question.answers(self.facts)))
        return self.question.answer(self.facts)


def lines(render: Callable[[Any], str], link: str = "\n", head: str = "", end: str = "") -> Writer:
    """Write one piece for each fact."""
    return lambda facts: head + link.join(render(fact) for fact in facts) + end


def rows(titles: str, cells: Callable[[Any], Sequence[object]]) -> Writer:
    """Write a table in Markdown; the titles are parted by spaces."""
    head = titles.split()
    return lambda facts: "\n".join(
        "|" + "|".join(map(str, row)) + "|" for row in (head, ["---"] * len(head), *(cells(fact) for fact in facts))
    )


def noted(kind: str, number: int, tell: Callable[[Random], Told]) -> Case:
    """Hold the session and write the note in one of fifteen ways."""
    rng = dice("fresh " + kind, number)
    told, session = tell(rng), Session(rng)
    before, after = (list(part) for part in (rng.sample(CHAT[:4], rng.randrange(3)), rng.sample(CHAT[4:], 1)))
    for asked, answered in before:
        session.user(asked)
        session.agent(answered)
    if told.turns[0][0] == "tool":
        session.user(f"I need {told.claim}, can you look?")
    places = []
    for place, (role, text, _) in enumerate(told.turns):
        if place and role == "user" and told.turns[place - 1][0] == "user":
            session.agent(rng.choice(("Go on.", "Yes?", "And then?")))
        places.append(session.say(role, text))
    computed = not isinstance(told.question, Lookup)
    says = told.says(told.true if computed and rng.random() < 0.25 else told.wrong)
    session.agent(told.says(told.wrong))
    idle = [session.user(asked) for asked, answered in after]
    session.agent(after[0][1])
    return case(kind, number, session, told.claim, told.question, ended(rng, told, number % EACH, says, places, idle))


def ended(rng: Random, told: Told, way: int, says: str, places: Sequence[str], idle: Sequence[str]) -> Drawn:
    """Write the note and say which facts it holds."""
    facts, both = list(told.facts), [*told.facts, *told.others]
    gone = rng.choice(facts)
    kept = [fact for fact in both if fact is not gone] if rng.random() < 0.5 else [f for f in facts if f is not gone]
    place, swapped = told.swapped
    slipped = [*facts[:place], swapped, *facts[place + 1 :]]
    write = rng.choice(list(told.writers))
    spoken = [fact for _, _, some in told.turns for fact in some]
    words = {"p": " ".join(places), "q": told.claim, "c": says, "k": len(kept), "n": len(kept) + 1, "m": 1}

    def then(text: str, choices: Sequence[str], before: bool = False) -> str:
        more = rng.choice(list(choices)).format(**words)
        return f"{more}\n{text}" if before else f"{text}\n{more}"

    def alone(choices: Sequence[str]) -> str:
        return rng.choice(list(choices)).format(**words)

    def bare() -> Drawn:
        """Keep one fact too few; of a single fact nothing, so that only the conclusion stands."""
        return Drawn(f"{write(kept)}\n{says}" if kept else says, kept, concludes=True)

    short = write(kept) if kept else says
    concludes = not kept
    return [
        lambda: Drawn(write(facts), facts),
        bare,
        lambda: Drawn(then(short, ONWARD), kept, spoken, admits=True, concludes=concludes),
        lambda: Drawn(then(short, CUT, before=rng.random() < 0.5), kept, admits=True, concludes=concludes),
        lambda: Drawn(f"{says}\n{write(rng.sample(both, len(both)))}", both, concludes=True),
        lambda: Drawn(f"{rng.choice(ASIDE)} {rng.choice((says, alone(HEDGES)))}", [], concludes=True),
        lambda: Drawn(alone(BASED), [], spoken, concludes=True),
        lambda: Drawn(" ".join(rng.sample(ASIDE, 2)), []),
        lambda: Drawn(short, kept, concludes=concludes),
        lambda: Drawn(write(slipped), slipped),
        lambda: Drawn(alone(UNFOUNDED), [], admits=True, concludes=True),
        lambda: Drawn(alone(POINTED), [], spoken, admits=True),
        lambda: Drawn(f"{says} [{rng.choice((idle[0], 'fh:' + new_id(rng)))}]", [], concludes=True),
        lambda: Drawn(then(write(facts), WHOLE).replace("{all}", str(len(facts))), facts)
        if rng.random() < 0.4 else Drawn(then(short, WHOLE).replace("{all}", str(len(kept) + 1)), kept,
                                         concludes=concludes),
        lambda: Drawn(f"{rng.choice(ASIDE)}\n\n{write(both)}\n\n{rng.choice(ASIDE)}", both),
    ][way]()  # fmt: skip


def clue(words: str, holds: Callable[[Mapping[str, Any]], bool]) -> Clue:
    """Make a condition whose name is its words."""
    return Clue(words, holds)
