"""The port for anybody's memory under the stream: a class with two verbs, or three.

    class Mine:
        def update(self, episodes): ...     # a list of lines such as "birch level 7 => 23", the newest last
        def view(self): ...                 # the text that a reader is shown
        def ask(self, question): ...        # optional: text for one question, or the bare answer to it

The invariant: a memory sees the episodes of an update and the questions, and no more; each
stream has a memory of its own; whatever goes wrong in its code names the verb and the update.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from firsthand import InvalidArgument
from firsthand.errors import MemoryFault
from firsthand.ledger.entries import BETWEEN, CASE, RULE, Entry, Episode
from firsthand.ledger.solver import ANY, PLACE
from firsthand.value import value
from firsthand_evals.reclaim import seam

TEXT_CHARACTERS_MAX = 1_000_000
"""Of a view, or of what is answered to a question; more is an error of the memory."""
STRANGE_ASKED = 4
"""Episodes of other streams that a memory is asked for after its first update."""
EXPECTED = {
    "update": "update(episodes) takes a list of lines and returns when they are in the memory",
    "view": f"view() gives the text that a reader is shown, a str of at most {TEXT_CHARACTERS_MAX:,} characters",
    "ask": "ask(question) gives text for the question, or the bare answer to it, as a str; empty for nothing",
}
_FRONT = re.compile(r"^(?:[-\u2022]\s+|\d+[.)]\s+)?(?:[A-Za-z][A-Za-z ]{0,19}:\s+){0,2}")
"""What writers of lists and of dialogues put before a line: a bullet, a number, who says it."""


class Port:
    """A memory under test on its way through one stream; one that cannot be asked (``asks``) has its view read."""

    def __init__(self, name: str, make: Any, seed: int) -> None:
        self.name, self._seed, self._updates = name, seed, 0
        with seam.blamed(name, "could not be made"):
            self._memory = make()
        missing = [verb for verb in ("update", "view") if not callable(getattr(self._memory, verb, None))]
        if missing:
            raise InvalidArgument(
                f"a memory under the stream has update(episodes) and view(); {name} has no {missing[0]}() "
                "(see docs/stream.md)"
            )
        self.asks = callable(getattr(self._memory, "ask", None))

    def update(self, episodes: Sequence[Episode]) -> PortView:
        """Tell the memory what has happened; give what a reader is shown now.

        Raises:
            MemoryFault: the memory raised, or gave something else than text.
        """
        self._updates += 1
        self._called("update", [line_of(episode) for episode in episodes])
        return PortView(readable(self._text("view")), self)

    def ask(self, question: str) -> str:
        """Give what the memory says to a question, as a reader reads it."""
        answer = self._text("ask", question).strip()
        is_bare = answer and "\n" not in answer and BETWEEN not in answer
        return f"{CASE}{question}{BETWEEN}{answer}" if is_bare else readable(answer)

    def knows_none_of(self, text: str, strange: Sequence[Episode]) -> None:
        """Refuse a memory that shows, or answers by, what another stream alone was told.

        Args:
            text: of its view; strange: episodes that it cannot know, of which the newest few are asked for, too.

        Raises:
            MemoryFault: it shares what it keeps with the memory of another stream.
        """
        lines = {*text.split("\n")}
        asked = strange[-STRANGE_ASKED:] if self.asks else ()
        known = [episode for episode in strange if episode.line in lines]
        known += (episode for episode in asked if episode.line in self.ask(episode.case).split("\n"))
        if known:
            raise MemoryFault(
                f"{self.name} at update {self._updates} of stream {self._seed} knows {line_of(known[0])!r}, which "
                "another stream alone was told: each stream has a memory of its own, so keep nothing in the class, the "
                "module or a place that all of them share"
            )

    def close(self) -> None:
        """Close the memory, if it can be closed."""
        if callable(getattr(self._memory, "close", None)):
            self._called("close")

    def _called(self, verb: str, *arguments: object) -> object:
        expected = f" (expected: {EXPECTED[verb]})" if verb in EXPECTED else ""
        with seam.blamed(self.name, f"raised in {verb}() at update {self._updates} of stream {self._seed}{expected}"):
            result: object = getattr(self._memory, verb)(*arguments)
        if callable(getattr(result, "__await__", None)):
            raise self._fault(verb, result)
        return result

    def _text(self, verb: str, *arguments: object) -> str:
        text = self._called(verb, *arguments)
        if not isinstance(text, str):
            raise self._fault(verb, text)
        if len(text) > TEXT_CHARACTERS_MAX:
            raise MemoryFault(f"{self._at(verb)} {len(text):,} characters; expected: {EXPECTED[verb]}")
        return str.__str__(text)

    def _at(self, verb: str) -> str:
        return f"{self.name}.{verb}() at update {self._updates} of stream {self._seed} gave"

    def _fault(self, verb: str, thing: object) -> MemoryFault:
        return MemoryFault(f"{self._at(verb)} {seam.described(thing)}; expected: {EXPECTED[verb]}")


@value(eq=False)
class PortView:
    """What a memory under test shows after an update; it has no entries and no episodes that we know of."""

    text: str
    port: Port
    entries: tuple[Entry, ...] = ()
    raw: tuple[Episode, ...] = ()


def load(address: str) -> Any:
    """Load a class of memories by its address, as `seam.named` takes it.

    Raises:
        InvalidArgument: there is none, or it cannot be made without arguments.
    """
    thing = seam.named(address)
    if not seam.takes(thing, 0):
        raise InvalidArgument(
            f"each stream has a memory of its own: expected a class, or a function that makes one without arguments; "
            f"{address} is {thing!r:.120}"
        )
    return thing


def line_of(episode: Episode) -> str:
    """Give an episode as a memory under test is told it."""
    return episode.line.removeprefix(CASE)


def readable(text: str) -> str:
    """Put the sign of a case or a rule before each line that has a question and an answer; other lines stay."""
    return "\n".join(map(_readable, text.split("\n")))


def _readable(line: str) -> str:
    if BETWEEN not in line or line.startswith((CASE, RULE)):
        return line
    asked, _, answer = (part.strip(" `") for part in line.rpartition(BETWEEN))
    asked = _FRONT.sub("", asked, count=1).lstrip("`")
    return f"{RULE if {ANY, PLACE} & {*asked.split()} else CASE}{asked}{BETWEEN}{answer}"
