"""Sessions of the third set: a matter, its givens, and the turns in which they were said.

A given is one thing that was said and that the answer takes. The gold is `gold.verdict` of the givens that were put
into a note; `bench/probe_third_check.py` works it out again from the form of the case, with another solver. The
invariant: no verdict is read off a text.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from typing import Any

from . import second_note
from .third_tongues import LANGUAGES
from .third_words import fill


class Given(second_note.Given):
    """One thing that was said, as in the second set; its value is written in the ways of the third."""

    __slots__ = ()

    def _filled(self, template: str) -> str:
        return fill(template, self.value)


def given(key: str, label: str, number: Any, spoken: str, shown: str, told: str, *others: Any,
          slip: Given | None = None) -> Given:  # fmt: skip
    """Make a given whose words are templates."""
    return Given(key, label, number, spoken, shown, told, others, slip)


class Held(second_note.Held):
    """The session, with where each given was said; more is said around its turns than in the second set."""

    def _before(self) -> None:
        self._words = LANGUAGES[self._matter.language]
        self._chat = self._rng.sample(self._words.chat, len(self._words.chat))
        if self._matter.turns[0][0] == "tool" or self._rng.random() < 0.5:
            self._exchange(self._chat.pop())

    def _between(self) -> None:
        self.session.agent(self._words.listens)
        if self._rng.random() < 0.3 and len(self._chat) > 1:
            self._exchange(self._chat.pop())

    def _after(self) -> None:
        self.agent = self.session.agent(fill(self._matter.concluded.split("|")[0], self._matter.wrong))
        self.idle = self._exchange(self._chat.pop())

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

    def span(self, given: second_note.Given) -> tuple[str, str]:
        """Give the pointer to the words of one given, and the words; to its line where it has one to itself."""
        pointer, some = next((pointer, some) for pointer, some in self.turns if given in some)
        content, words = self.text(pointer), given.says()
        lines = content.split("\n")
        here = [at for at, line in enumerate(lines) if words in line]
        if len(lines) > 2 and len(here) == 1:
            line = lines[here[0]]
            if not any(each.says() in line for each in some if each is not given):
                return f"{pointer}@L{here[0] + 1}-{here[0] + 1}", line
        start = len(content[: content.index(words)].encode())
        return f"{pointer}@{start}-{start + len(words.encode())}", words
