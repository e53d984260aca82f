"""Cases of recall made from a seed: what is only in the memory, rules in other words, and what needs no memory.

A world is one agent's past: a dozen sessions of ordinary work in which facts are told,
printed and changed, rules are learned from failures, and tempting things are said; and
the cases that ask about it. The invariant: a world is a function of its seed and of the time at which it is asked
(the clock decides nothing but the dates: what watches over hooks would say that the
last one fired long ago, were the past not a recent one); every
value that a case asks for, or must not be answered with, stands nowhere else in it.

It knows no store and no reader.
"""

from __future__ import annotations

import random
import tomllib
import uuid
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from firsthand import Moment
from firsthand.moment import MICROSECONDS
from firsthand.value import value

SESSIONS = 12
TURNS_OF_OTHER_WORK = 10  # of each session; three or four events a turn
CASES_A_SORT = 4
"""Of each sort in one world."""
_DAY = 86_400 * MICROSECONDS
_MINUTE = 60 * MICROSECONDS


class Sort(StrEnum):
    """What a case is there for (recall-problem 8.7: system knowledge, a procedure, and where recall does not help)."""

    EXPERIENCE = "experience"
    PROCEDURE = "procedure"
    NEEDLESS = "needless"


@value
class Turn:
    """One request and what came of it; ``command`` is empty when no tool was used."""

    asked: str
    command: str = ""
    output: str = ""
    failed: bool = False
    reply: str = "Done."


@value
class Past:
    """One session of the past."""

    name: str
    begun: Moment
    turns: tuple[Turn, ...]


@value
class Lesson:
    """A note that the agent wrote when a session was over.

    Attributes:
        text: what it says.
        session: the one it was learned in.
        sources: texts of the user's messages that it rests on.
        sort: ``rule`` or ``note``.
    """

    text: str
    session: str
    sources: tuple[str, ...]
    sort: str = "rule"


@value
class Case:
    """One thing to ask.

    Attributes:
        name: unique in all worlds.
        variant: how it is asked, or what the memory holds of it.
        asked: the prompt in phrasings of its own; a repetition takes the next one.
        wanted: which sort of value answers it.
        right: that value.
        other: values that the memory holds for the same thing and that are not current.
        tempting: values of something else that sounds alike.
        ideal: what a perfect push would show; empty where it would be silent.
        belief: what a reader who was told nothing answers; empty for no idea.
    """

    name: str
    sort: Sort
    variant: str
    asked: tuple[str, ...]
    wanted: str
    right: str
    other: tuple[str, ...] = ()
    tempting: tuple[str, ...] = ()
    ideal: str = ""
    belief: str = ""


@value
class World:
    """One agent's past and what is asked about it at a time, the day after its last session."""

    seed: int
    project: str
    now: Moment
    sessions: tuple[Past, ...]
    lessons: tuple[Lesson, ...]
    cases: tuple[Case, ...]


def world(seed: int, now: Moment) -> World:
    """Make the world of a seed; the same seed gives the same one, dated before the same time."""
    return _Maker(seed, now).world()


class _Maker:
    """Puts a world together; each value is drawn once."""

    def __init__(self, seed: int, now: Moment) -> None:
        self.now = now
        self.seed, self.chance = seed, random.Random(f"recall-ab {seed}")  # noqa: S311 - repeatable on purpose
        self.used: set[str] = set()
        self.turns: list[list[tuple[Turn, ...]]] = [[] for _ in range(SESSIONS)]
        self.lessons: list[tuple[int, Lesson]] = []
        self.cases: list[Case] = []
        self.components = self.chance.sample(COMPONENTS, len(COMPONENTS))

    def world(self) -> World:
        names = [str(uuid.UUID(int=self.chance.getrandbits(128), version=4)) for _ in range(SESSIONS)]
        self._experience()
        self._procedures()
        self._needless()
        sessions = []
        for number, name in enumerate(names):
            units = self.turns[number] + [(self._work(),) for _ in range(TURNS_OF_OTHER_WORK)]
            self.chance.shuffle(units)  # what belongs together stays together
            back = (2 * (SESSIONS - number) - 1) * _DAY + self.chance.randrange(300) * _MINUTE
            sessions.append(
                Past(name, Moment(self.now.microseconds - back), tuple(turn for unit in units for turn in unit))
            )
        lessons = [Lesson(lesson.text, names[at], lesson.sources, lesson.sort) for at, lesson in self.lessons]
        project = f"{self.components[0]}-{self.seed}"
        return World(self.seed, project, self.now, tuple(sessions), tuple(lessons), tuple(self.cases))

    def _experience(self) -> None:
        kinds = self.chance.sample(FACTS, 8)
        for number, (variant, fact) in enumerate(
            zip(("told", "printed", "changed", "other words"), kinds, strict=False)
        ):
            component, found = self.components[number], self._value(fact.wanted)
            early, late = sorted(self.chance.sample(range(SESSIONS), 2))
            said = fact.told.format(c=component, v=found)
            old: tuple[str, ...] = ()
            if variant == "printed":
                self.turns[early].append((self._printing(fact, component, found),))
                said = fact.printed.format(c=component, v=found)
            elif variant == "changed":
                old = (self._value(fact.wanted),)
                self.turns[early].append((Turn(fact.told.format(c=component, v=old[0]), reply="Noted."),))
                said = fact.moved.format(c=component, v=found)
                self.turns[late].append((Turn(said, reply="Noted, that is the current one."),))
            else:
                self.turns[early].append((Turn(said, reply="Noted."),))
            asked = fact.other if variant == "other words" else tuple(one.format(c=component) for one in fact.asked)
            self._case(Sort.EXPERIENCE, variant, asked, fact.wanted, found, other=old, ideal=said,
                       belief=fact.belief if self.chance.random() < 0.5 else "")  # fmt: skip
        for fact in kinds[4:]:  # what nobody asks for: values of the same sorts
            told = fact.told.format(c=self.chance.choice(self.components[8:]), v=self._value(fact.wanted))
            self.turns[self.chance.randrange(SESSIONS)].append((Turn(told, reply="Noted."),))

    def _procedures(self) -> None:
        rules = self.chance.sample(RULES, CASES_A_SORT + 2)
        for number, rule in enumerate(rules):
            step = self._value(NAME)
            text = rule.text.format(v=step)
            at = self.chance.randrange(SESSIONS)
            correction = f"That went wrong. For the next time: {text}"
            self.turns[at].append((
                Turn(rule.learned, f"./run {self._word()}", f"error: aborted after {self._value(NUMBER)} ms",
                     failed=True, reply="It was stopped by an error."),
                Turn(correction, reply="Understood."),
            ))  # fmt: skip
            self.lessons.append((at, Lesson(text, "", (rule.learned, correction))))
            if number < CASES_A_SORT:
                variant, asked = ("retold", rule.again) if number % 2 else ("other words", rule.other)
                self._case(Sort.PROCEDURE, variant, asked, NAME, step, ideal=text, belief=rule.belief)

    def _needless(self) -> None:
        variants = ("nothing held", "same held", "tempting fact", "tempting rule")
        for variant, known in zip(variants, self.chance.sample(COMMON, CASES_A_SORT), strict=True):
            at = self.chance.randrange(SESSIONS)
            component = self.chance.choice(self.components[4:8])
            tempting: tuple[str, ...] = ()
            if variant == "same held":
                self.turns[at].append((Turn(known.said, reply="Yes."),))
            elif variant != "nothing held":
                tempting = (self._value(NUMBER),)
                said = known.tempting.format(c=component, v=tempting[0])
                self.turns[at].append((Turn(said, reply="Noted."),))
                if variant == "tempting rule":
                    self.lessons.append((at, Lesson(said, "", (said,))))
            self._case(Sort.NEEDLESS, variant, known.asked, NUMBER, known.right, tempting=tempting,
                       ideal=known.said if variant == "same held" else "", belief=known.right)  # fmt: skip

    def _case(
        self, sort: Sort, variant: str, asked: Sequence[str], wanted: str, right: str, *, other: tuple[str, ...] = (),
        tempting: tuple[str, ...] = (), ideal: str = "", belief: str = "",
    ) -> None:  # fmt: skip
        name = f"{self.seed}/{sort}/{variant}"
        name += f"/{sum(case.name.startswith(name) for case in self.cases) + 1}"
        self.cases.append(Case(name, sort, variant, tuple(asked), wanted, right, other, tempting, ideal, belief))

    def _value(self, wanted: str) -> str:
        """Draw a value that stands nowhere else in this world."""
        while True:
            found = self._draw(wanted)
            if found not in self.used:
                self.used.add(found)
                return found

    def _draw(self, wanted: str) -> str:
        if wanted == NUMBER:
            return str(self.chance.randrange(1_001, 9_999))
        if wanted == HASH:
            return f"{self.chance.getrandbits(40):010x}"
        if wanted == PATH:
            return f"/srv/{self._word()}/{self._word()}-{self.chance.randrange(100, 999)}.dat"
        return f"{self._word()}-{self._word()}-{self.chance.randrange(10, 99)}"

    def _word(self) -> str:
        pairs = [self.chance.choice("bdfgklmnprstvz") + self.chance.choice("aeiou") for _ in range(3)]
        return "".join(pairs)

    def _printing(self, fact: Fact, component: str, found: str) -> Turn:
        lines = [f"{self._word()}: ok" for _ in range(5)]
        lines.insert(self.chance.randrange(6), fact.printed.format(c=component, v=found))
        return Turn(
            f"Show me the state of {component}.", f"./state {component}", "\n".join(lines), reply="There it is."
        )

    def _work(self) -> Turn:
        """Make a turn of other work, about other components."""
        component, word = self.chance.choice(self.components[8:]), self._word()
        number, path = self._value(NUMBER), self._value(PATH)
        rows = "\n".join(
            f"{self._word()} {self.chance.choice(('ok', 'slow', 'skipped'))} {self.chance.randrange(100, 999)} ms"
            for _ in range(self.chance.randrange(4, 12))
        )
        return self.chance.choice(
            (
                Turn(f"Rename the helper {word} in {component}.", f"sed -i s/{word}/{self._word()}/ {path}", "",
                     reply=f"I renamed it; {number} lines of {path} changed."),
                Turn(f"Run the tests of {component}.", f"pytest {component}", f"{rows}\n{number} passed",
                     reply=f"All {number} tests of {component} pass."),
                Turn(f"What does {path} hold?", f"head {path}", rows, reply=f"A table of {component}, {number} rows."),
                Turn(f"Count the open tickets of {component}.", f"tickets --of {component}", number,
                     reply=f"There are {number}."),
                Turn(f"Draft a note on the {word} layout of {component}.",
                     reply=f"The {word} layout of {component} has a header, a table and a footer."),
                Turn(f"Add a button to the {word} form of {component}.", f"edit {path}", "saved",
                     reply=f"The {word} form of {component} has a button now; see {path}."),
            )
        )  # fmt: skip


def worlds(count: int, seed: int, now: Moment) -> tuple[World, ...]:
    """Make some worlds from seeds that follow each other."""
    return tuple(world(seed + number, now) for number in range(count))


def beliefs(made: Sequence[World]) -> dict[str, str]:
    """Give what a reader believes who was told nothing, by the prompt."""
    return {asked: case.belief for one in made for case in one.cases for asked in case.asked if case.belief}


NUMBER, PATH, HASH, NAME = "number", "path", "hash", "name"
"""Sorts of value that a case asks for."""


@value
class Fact:
    """One thing of a system that only its own people know.

    Attributes:
        wanted: which sort of value it has.
        told: what somebody says; ``printed``: what a command prints instead.
        moved: what is said when the value has changed.
        asked: a question in three phrasings; ``other``: in other words, without the component.
        topic: words that tie the other words to what was told.
        belief: what a reader who was told nothing takes for true; empty for no idea.
    """

    wanted: str
    told: str
    printed: str
    moved: str
    asked: tuple[str, ...]
    other: tuple[str, ...]
    topic: str
    belief: str = ""


@value
class Rule:
    """A procedure that was learned from a failure.

    Attributes:
        text: speaks of none of the situations.
        learned: the request it was learned in.
        again: a like request, told by another person in partly the same words; ``other``: in none of them.
        topic: words that tie a request to the text.
        belief: the step that a reader takes who was told no rule.
    """

    text: str
    learned: str
    again: tuple[str, ...]
    other: tuple[str, ...]
    topic: str
    belief: str


@value
class Common:
    """What every reader knows, and what a memory may hold that looks like it.

    Attributes:
        asked: a question in three phrasings.
        right: its answer.
        said: the same, as somebody says it.
        tempting: something of the user's own system that shares its words and has another value.
    """

    asked: tuple[str, ...]
    right: str
    said: str
    tempting: str


def _rows(name: str) -> list[dict[str, Any]]:
    """Read the rows of a kind, with lists as tuples."""
    return [{field: tuple(it) if isinstance(it, list) else it for field, it in row.items()} for row in _DATA[name]]


_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("facts.toml").read_text(encoding="utf-8"))
COMPONENTS: tuple[str, ...] = tuple(_DATA["components"])
FACTS = tuple(Fact(**row) for row in _rows("facts"))
RULES = tuple(Rule(**row) for row in _rows("rules"))
COMMON = tuple(Common(**row) for row in _rows("common"))


def topics() -> tuple[frozenset[str], ...]:
    """Give the sets of words that a reader of English ties to each other."""
    return tuple(frozenset(topic.split()) for topic in (*(it.topic for it in FACTS), *(it.topic for it in RULES)))
