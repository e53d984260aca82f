"""Sessions of the third set: a matter, its givens, and the turns in which they were said.

A given is one thing that was said and that the answer takes. The gold is `gold.verdict` of the givens that were put
into a note; `bench/probe_third_check.py` works it out again from the form of the case, with another solver. The
invariant: no verdict is read off a text.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from string import Formatter
from typing import Any

from firsthand.value import replace, value

from .case import Case, Session
from .gold import missing, verdict
from .second_note import Formed, Matter, Noted, slots
from .second_solver import Form
from .third_forms import Row
from .third_tongues import LANGUAGES
from .third_words import fill


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
        return fill(rng.choice(choices.split("|")), self.value)

    def slipped(self) -> Given:
        """Give it with the value that a careless writer has."""
        return self.slip or replace(self, value=self.others[0])

    def says(self) -> str:
        """Give the session's words."""
        return fill(self.spoken, self.value)


def given(key: str, label: str, number: Any, spoken: str, shown: str, told: str, *others: Any,
          slip: Given | None = None) -> Given:  # fmt: skip
    """Make a given whose words are templates."""
    return Given(key, label, number, spoken, shown, told, others, slip)


class Held:
    """The session, with where each given was said."""

    def __init__(self, rng: Random, matter: Matter) -> None:
        self._matter, self.session, self._words = matter, Session(rng), LANGUAGES[matter.language]
        self._said = {one.key: one for one in (*matter.givens, *matter.extras)}
        self.turns: list[tuple[str, Sequence[Any]]] = []
        chat = rng.sample(self._words.chat, len(self._words.chat))
        if matter.turns[0][0] == "tool" or rng.random() < 0.5:
            self._exchange(chat.pop())
        for place, (role, text) in enumerate(matter.turns):
            if place and role == "user" == matter.turns[place - 1][0]:
                self.session.agent(self._words.listens)
                if rng.random() < 0.3 and len(chat) > 1:
                    self._exchange(chat.pop())
            keys = [name for _, name, _, _ in Formatter().parse(text) if name]
            spoken = text.format(**{name: self._said[name].says() for name in keys})
            self.turns.append((self.session.say(role, spoken), [self._said[name] for name in keys]))
        self.agent = self.session.agent(fill(matter.concluded.split("|")[0], matter.wrong))
        self.idle = self._exchange(chat.pop())

    def _exchange(self, pair: tuple[str, str]) -> str:
        pointer = self.session.user(pair[0])
        self.session.agent(pair[1])
        return pointer

    @property
    def sources(self) -> str:
        """The pointers of all turns of the matter."""
        return " ".join(pointer for pointer, _ in self.turns)

    def stretch(self) -> tuple[str, str]:
        """Give a pointer to the session from the first turn of the matter to the last, and what it leads to."""
        first, last = self.turns[0][0], self.turns[-1][0]
        if first == last:
            return first, self.text(first)
        at = [each["pointer"] for each in self.session.messages]
        inside = self.session.messages[at.index(first) : at.index(last) + 1]
        return f"{first}..{last.removeprefix('fh:')}", "\n".join(
            f"{each['role']}: {each['content']}" for each in inside
        )

    def text(self, pointer: str) -> str:
        """Give what a message says."""
        return next(each["content"] for each in self.session.messages if each["pointer"] == pointer)

    def span(self, one: Given) -> tuple[str, str]:
        """Give the pointer to the words of one given, and the words; to its line where it has one to itself."""
        pointer, some = next((pointer, some) for pointer, some in self.turns if one in some)
        content, words = self.text(pointer), one.says()
        lines = content.split("\n")
        here = [at for at, line in enumerate(lines) if words in line]
        if len(lines) > 2 and len(here) == 1:
            line = lines[here[0]]
            if not any(each.says() in line for each in some if each is not one):
                return f"{pointer}@L{here[0] + 1}-{here[0] + 1}", line
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
            lacks = {one.key for one in note.stated if one == matter.unmarked}
        named = tuple(one.label if one.label.lower() in session else one.says()
                      for one in (*matter.givens, *([matter.unmarked] if matter.unmarked else []))
                      if one.key in lacks)  # fmt: skip
        made = Case(f"{kind}-{number:02d}", kind, tuple(self.session.messages), note.text,
                    {**self.session.expands(), **note.expand}, matter.claim, regime, named)  # fmt: skip
        return Formed(made, Form(
            matter.formula,
            {one.key: one.value for one in matter.givens},
            {one.key: one.value for one in note.stated},
            {one.key: one.value for one in note.behind},
            {one.key: one.others for one in matter.givens},
            matter.answer, note.admits, note.concludes, matter.space, matter.single,
        ))  # fmt: skip
