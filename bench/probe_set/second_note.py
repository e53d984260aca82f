"""Sessions and notes of the second set: a matter, its givens, and sixteen ways for a note to end, four a regime.

A given is one thing that was said and that the answer takes. A note states some of them in one of the forms of
`second_forms`. The gold is `gold.verdict` of the givens that were put into the note; `second_check` works it
out again from the form of the case, with another solver. The invariant: no verdict is read off a text.

Who works on the probe does not read this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations, product
from random import Random
from string import Formatter
from typing import Any

from firsthand.value import field, replace, value

from .case import Case, Session, dice, new_id
from .gold import Fact, Lookup, Slot, missing, verdict
from .second_forms import CLOSE, FORMS, KEYED, OPEN, Row, bare
from .second_phrases import LANGUAGES, Phrases
from .second_solver import Form, Space
from .second_words import fill

EACH = 16


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
class Given:
    """One thing that was said.

    Attributes:
        key: its name in the formula; label: its name in the session and in notes.
        spoken: how the session says it.
        shown: its value in a note, equivalents parted by "|"; told: whole sentences, the same way.
        others: further values that it might have had; the first is the slip of a careless writer.
        slip: the slip in words of its own, where templates do not do.
    """

    key: str
    label: str
    value: Any
    spoken: str
    shown: str
    told: str
    others: Sequence[Any] = ()
    slip: Any = None

    def row(self, rng: Random) -> Row:
        """Write it down, in one of the ways there are."""
        return Row(self.label, self._one(rng, self.shown), self._one(rng, self.told))

    def _one(self, rng: Random, choices: str) -> str:
        return self._filled(rng.choice(choices.split("|")))

    def _filled(self, template: str) -> str:
        """Put the value into a template, in the ways to write one that a set has."""
        return fill(template, self.value)

    def slipped(self) -> Given:
        """Give it with the value that a careless writer has."""
        return self.slip or replace(self, value=self.others[0])

    def says(self) -> str:
        """Give the session's words."""
        return self._filled(self.spoken)


@value
class Matter:
    """What a session is about.

    Attributes:
        topic: says what was asked and no value.
        givens: all that the answer takes, each needed; extras: what else was said; unmarked: a thing that was
            not chosen, as a row that looks chosen.
        turns: role and text, with {key} where a given is spoken.
        concluded: the sentence with the value; wrong: what the agent concludes.
        alike: the givens are of one sort, so that some of them look like all.
        forms: names of the forms that suit it.
        space: where the givens are clues.
    """

    claim: str
    topic: str
    givens: Sequence[Given]
    formula: str
    work: Callable[[Mapping[str, Any]], Any]
    turns: Sequence[tuple[str, str]]
    concluded: str
    wrong: Any
    forms: str
    extras: Sequence[Given] = ()
    unmarked: Given | None = None
    alike: bool = False
    single: bool = False
    language: str = "en"
    space: Space | None = None

    @property
    def question(self) -> Worked | Lookup:
        """What is asked, as the gold takes it."""
        truth = slots(self.givens)
        return Lookup(truth, self.givens[0].key) if self.single else Worked(truth, self.work)

    @property
    def answer(self) -> Any:
        """The true one."""
        return self.question.answer(slots(self.givens))


@value
class Formed:
    """A case and what it is made of."""

    case: Case
    form: Form


@value
class Noted:
    """A note in the making, with what was put into it; `expand` is what further pointers lead to."""

    text: str
    stated: Sequence[Given] = ()
    behind: Sequence[Given] = ()
    admits: bool = False
    concludes: bool = False
    expand: Mapping[str, str] = field(default_factory=dict)


def slots(givens: Sequence[Given]) -> list[Fact]:
    """Give them as the gold takes them."""
    return [Slot(given.key, given.value) for given in givens]


def noted(kind: str, number: int, make: Callable[[Random], Matter]) -> Formed:
    """Hold the session and write the note in one of sixteen ways."""
    rng = dice("second " + kind, number)
    matter = make(rng)
    held = Held(rng, matter)
    return held.formed(kind, number, Writer(rng, matter, held).ways()[number % EACH]())


class Held:
    """The session, with where each given was said; a later set says otherwise what is said around its turns."""

    agent: str
    idle: str

    def __init__(self, rng: Random, matter: Matter) -> None:
        self._rng, self._matter, self.session = rng, matter, Session(rng)
        self._said = {given.key: given for given in (*matter.givens, *matter.extras)}
        self.turns: list[tuple[str, Sequence[Given]]] = []
        self._before()
        for place, (role, text) in enumerate(matter.turns):
            if place and role == "user" == matter.turns[place - 1][0]:
                self._between()
            keys = [name for _, name, _, _ in Formatter().parse(text) if name]
            spoken = text.format(**{name: self._said[name].says() for name in keys})
            self.turns.append((self.session.say(role, spoken), [self._said[name] for name in keys]))
        self._after()

    def _before(self) -> None:
        """Say perhaps something before the matter."""
        before, self._parting = self._rng.sample(LANGUAGES[self._matter.language].chat, 2)
        if self._matter.turns[0][0] == "tool" or self._rng.random() < 0.6:
            self._exchange(before)

    def _between(self) -> None:
        """Let the agent speak between two turns of the user."""
        self.session.agent({"en": "I am listening.", "fr": "J'écoute.", "es": "Dime.", "ja": "はい。",
                            "ru": "Слушаю."}[self._matter.language])  # fmt: skip

    def _after(self) -> None:
        """Say the conclusion, and something of no use."""
        self.agent = self.session.agent(fill(self._matter.concluded, self._matter.wrong))
        self.idle = self._exchange(self._parting)

    def _exchange(self, pair: tuple[str, str]) -> str:
        pointer = self.session.user(pair[0])
        self.session.agent(pair[1])
        return pointer

    @property
    def sources(self) -> str:
        """The pointers of all turns that say something needed."""
        return " ".join(pointer for pointer, some in self.turns if any(one in self._matter.givens for one in some))

    def text(self, pointer: str) -> str:
        """Give what a message says."""
        return next(each["content"] for each in self.session.messages if each["pointer"] == pointer)

    def span(self, given: Given) -> tuple[str, str]:
        """Give the pointer to the words of one given, and the words."""
        pointer = next(pointer for pointer, some in self.turns if given in some)
        content, words = self.text(pointer), given.says()
        start = len(content[: content.index(words)].encode())
        return f"{pointer}@{start}-{start + len(words.encode())}", words

    def formed(self, kind: str, number: int, note: Noted) -> Formed:
        """Put the case together and compute its verdict."""
        matter, question = self._matter, self._matter.question
        stated, behind = slots(note.stated), slots(note.behind)
        regime = verdict(question, stated, behind, admits=note.admits, concludes=note.concludes)
        session = " ".join(each["content"] for each in self.session.messages).lower()
        lacks = set(missing(question, stated, behind)) if regime.startswith("uncorrectable") else set()
        if regime.startswith("uncorrectable") and not lacks:  # all stands there, beside what does not belong to it
            lacks = {given.key for given in note.stated if given == matter.unmarked}
        named = tuple(given.label if given.label.lower() in session else given.says()
                      for given in (*matter.givens, *([matter.unmarked] if matter.unmarked else []))
                      if given.key in lacks)  # fmt: skip
        made = Case(f"{kind}-{number:02d}", kind, tuple(self.session.messages), note.text,
                    {**self.session.expands(), **note.expand}, matter.claim, regime, named)  # fmt: skip
        return Formed(made, Form(
            matter.formula,
            {given.key: given.value for given in matter.givens},
            {given.key: given.value for given in note.stated},
            {given.key: given.value for given in note.behind},
            {given.key: given.others for given in matter.givens},
            matter.answer, note.admits, note.concludes, matter.space, matter.single,
        ))  # fmt: skip


class Writer:
    """Writes the note; each way says what it put in."""

    def __init__(self, rng: Random, matter: Matter, held: Held) -> None:
        self._rng, self._matter, self._held = rng, matter, held
        self._words: Phrases = LANGUAGES[matter.language]
        self._all, self._extras = list(matter.givens), list(matter.extras)
        self._gone = rng.choice(self._all)
        self._kept = self._extras if matter.single else [one for one in self._all if one is not self._gone]
        self._form = rng.choice(matter.forms.split())
        value_ = matter.answer if not matter.single and rng.random() < 0.2 else matter.wrong
        self._concluded = fill(matter.concluded, value_)

    def ways(self) -> list[Callable[[], Noted]]:
        """Name the ways, four of each regime; what a way comes to is computed all the same."""
        return [
            self._whole, self._rest, self._tagged, self._part,
            self._beside, self._based, self._topic, self._alone,
            self._verbatim, self._pointed, self._unfounded, self._slip,
            self._affirmed, self._span, self._gap, self._cut_or_false,
        ]  # fmt: skip

    def _write(self, givens: Sequence[Given], form: str = "") -> str:
        return bare(self._write_marked(givens, form))

    def _write_marked(self, givens: Sequence[Given], form: str = "") -> str:
        return FORMS[form or self._form]([given.row(self._rng) for given in givens], self._matter.topic)

    def _say(self, choices: Sequence[str], **more: object) -> str:
        n = len(self._all) + (len(self._extras) if self._matter.single else 0)
        return self._rng.choice(list(choices)).format(
            **{"k": n - 1, "n": n, "m": 1, "c": self._concluded, "t": self._matter.topic, "p": self._held.sources}
            | {"x": self._gone.label} | more
        )  # fmt: skip

    def _around(self, text: str, more: str) -> str:
        return f"{text}\n\n{more}" if self._rng.random() < 0.7 else f"{more}\n\n{text}"

    # correctable

    def _whole(self) -> Noted:
        return Noted(self._write(self._all), self._all)

    def _beside(self) -> Noted:
        """Write the extras among the givens, and the conclusion before or after."""
        both = self._rng.sample([*self._all, *self._extras], len(self._all) + len(self._extras))
        more = self._concluded if not self._matter.single else self._say(self._words.aside)
        return Noted(self._around(self._write(both), more), both, concludes=not self._matter.single)

    def _verbatim(self) -> Noted:
        """Copy the turns that say something needed."""
        said = [(pointer, some) for pointer, some in self._held.turns if any(one in self._all for one in some)]
        role = {each["pointer"]: each["role"] for each in self._held.session.messages}
        text = "\n".join(
            (self._words.tool if role[pointer] == "tool" else self._words.user) + self._held.text(pointer)
            for pointer, _ in said
        )
        return Noted(text, [one for _, some in said for one in some])

    def _affirmed(self) -> Noted:
        """Say truly that all is there, or cite what leads nowhere beside what is whole."""
        if self._matter.single or self._rng.random() < 0.4:
            return Noted(self._around(self._write(self._all), self._say(self._words.aside)), self._all)
        return Noted(self._around(self._write(self._all), self._say(self._words.false)), self._all)

    # reachable

    def _rest(self) -> Noted:
        text = f"{self._write(self._kept)}\n{self._say(self._words.rest)}"
        return Noted(text, self._kept, self._spoken(), admits=True)

    def _based(self) -> Noted:
        return Noted(self._say(self._words.based), [], self._spoken(), concludes=True)

    def _pointed(self) -> Noted:
        """Name the topic and the source, sometimes by way of an earlier note."""
        if self._rng.random() < 0.5:
            return Noted(self._say(self._words.pointed), [], self._spoken(), admits=True)
        memo = "fh:" + new_id(self._rng)
        earlier = self._words.earlier.format(c=fill(self._matter.concluded, self._matter.wrong), p=self._held.sources)
        text = self._say(self._words.pointed, p=memo)
        return Noted(text, [], self._spoken(), admits=True, expand={memo: earlier})

    def _span(self) -> Noted:
        """Point to the words of the one thing that is missing."""
        pointer, words = self._held.span(self._gone)
        expand = {pointer: words}
        if self._matter.single:
            return Noted(self._say(self._words.based, p=pointer), [], [self._gone], concludes=True, expand=expand)
        if self._matter.space is not None:
            text = f"{self._write(self._kept)}\n{self._say(self._words.rest, p=pointer)}"
        else:
            text = f"{self._write(self._kept)}\n{self._say(self._words.part, p=pointer)}"
        return Noted(text, self._kept, [self._gone], admits=True, expand=expand)

    def _spoken(self) -> list[Given]:
        return [one for _, some in self._held.turns if any(each in self._all for each in some) for one in some]

    # loud

    def _tagged(self) -> Noted:
        return Noted(self._around(self._write(self._kept), self._say(self._words.honest)), self._kept, admits=True)

    def _topic(self) -> Noted:
        """Say what it was about and nothing of it."""
        more = f" {self._say(self._words.aside)}" if self._rng.random() < 0.6 else ""
        return Noted(self._matter.topic + more)

    def _unfounded(self) -> Noted:
        return Noted(self._say(self._words.unfounded), admits=True, concludes=True)

    def _gap(self) -> Noted:
        """Leave a gap that is seen where a value stood."""
        form = self._form if self._form in KEYED else self._rng.choice(("asked", "ticket", "outline", "pipes"))
        if self._matter.space is not None:
            return Noted(self._around(self._say(self._words.honest), self._write(self._kept)), self._kept, admits=True)
        gap = self._say(self._words.gap)
        rows = [one.row(self._rng) for one in [*self._all, *self._extras]]
        shown = [replace(row, shown=gap) if row.label == self._gone.label else row for row in rows]
        kept = [one for one in [*self._all, *self._extras] if one is not self._gone]
        return Noted(bare(FORMS[form](shown, self._matter.topic)), kept, admits=True)

    # silent

    def _part(self) -> Noted:
        """Write a part as if it were the whole; where one sees that it is none, with the conclusion."""
        if self._matter.alike:
            return Noted(self._write(self._kept), self._kept)
        return Noted(self._around(self._write(self._kept), self._concluded), self._kept, concludes=True)

    def _alone(self) -> Noted:
        """Keep the conclusion alone, perhaps hedged, perhaps with a pointer that leads to nothing of use."""
        pointer = self._rng.choice((self._held.agent, self._held.idle, "fh:" + new_id(self._rng)))
        way = self._rng.randrange(3)
        text = (self._say(self._words.based, p=pointer), self._say(self._words.hedge),
                f"{self._say(self._words.aside)} {self._concluded}")[way]  # fmt: skip
        return Noted(text, concludes=True)

    def _slip(self) -> Noted:
        """Get one value wrong, or write among the rest what was not chosen."""
        if self._matter.unmarked is not None and self._rng.random() < 0.5:
            rows = [*self._all, self._matter.unmarked]
            return Noted(self._write(self._rng.sample(rows, len(rows))), rows)
        rows = [one.slipped() if one is self._gone else one for one in self._all]
        return Noted(self._write(rows), rows, concludes=self._matter.single)

    def _cut_or_false(self) -> Noted:
        """Say falsely that all is there, or break off in the middle, or cite a part that does not do."""
        way = self._rng.randrange(2 if self._matter.single else 3)
        if way == 0:
            return self._cut()
        if way == 1:
            text = self._around(self._write(self._kept), self._say(self._words.false))
            if not self._matter.alike:
                text = f"{self._concluded}\n{text}"
            return Noted(text, self._kept, concludes=not self._matter.alike)
        other = self._rng.choice(self._kept)
        pointer, words = self._held.span(other)
        text = self._say(self._words.based, p=pointer)
        return Noted(text, [], [other], concludes=True, expand={pointer: words})

    def _cut(self) -> Noted:
        """Break off within a value or before it, at any place but before the first."""
        rows = [*self._extras, *self._all] if self._matter.single else self._all
        marked = self._write_marked(rows, "" if self._form not in {"object", "log"} else "asked")
        values = list(re.finditer(f"{OPEN}([^{CLOSE}]*){CLOSE}", marked))
        victim = len(self._extras) if self._matter.single else self._rng.randrange(1, len(values))
        at, text = values[victim].start(1), values[victim][1]
        none = len(text) // 2 if self._matter.space is not None else 2
        first = next((place for place, sign in enumerate(text) if sign.isdigit()), none)
        digits = re.match(r"\w+", text[first:])
        inside = first + (1 if digits and len(digits[0]) > 2 and (self._matter.single or self._rng.random() < 0.4)
                          else 0)  # fmt: skip
        kept = rows[:victim]
        ends = not self._matter.alike
        note = bare(marked[: at + inside])
        return Noted(f"{self._concluded}\n{note}" if ends else note, kept, concludes=ends)


def space_work(space: Space) -> Callable[[Mapping[str, Any]], Any]:
    """Work clues out by trying every arrangement; several answers are given as what they are, a set."""
    switches = set(space.things) == {True, False}
    orders = (product((True, False), repeat=len(space.people)) if switches else permutations(space.things))  # fmt: skip
    tried = [dict(zip(space.people, order, strict=True)) for order in orders]

    def work(at: Mapping[str, Any]) -> Any:
        clues = list(at.values())
        left = {
            each[space.asked] if space.asked in space.people
            else next(who for who, thing in each.items() if thing == space.asked)
            for each in tried if all(satisfied(clue, each, space.things) for clue in clues)
        }  # fmt: skip
        return next(iter(left)) if len(left) == 1 else frozenset(left)

    return work


def satisfied(clue: tuple[Any, ...], at: Mapping[str, Any], things: Sequence[Any]) -> bool:
    """Whether an arrangement satisfies a clue."""
    name, one, *rest = clue
    place = {thing: number for number, thing in enumerate(things)}
    tests: dict[str, Callable[[], bool]] = {
        "is": lambda: at[one] == rest[0],
        "not": lambda: at[one] != rest[0],
        "either": lambda: at[one] in rest,
        "before": lambda: place[at[one]] < place[at[rest[0]]],
        "beside": lambda: place[at[one]] - place[at[rest[0]]] in {1, -1},
        "apart": lambda: place[at[one]] - place[at[rest[0]]] not in {1, -1},
        "if": lambda: not (at[one] == rest[0] and at[rest[1]] != rest[2]),
        "same": lambda: at[one] == at[rest[0]],
        "differ": lambda: at[one] != at[rest[0]],
    }
    return bool(tests[name]())
