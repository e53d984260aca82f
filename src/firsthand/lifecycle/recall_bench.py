"""Asks a store its own questions with other values of recall, as a user was answered: the benchmark of the review.

The invariant: asking changes nothing; a question sees what stood before it was asked, and
not the session it was asked in; what is right is told by position, or by the bytes of the
hit. When the time is over nothing half done is given.

It decides nothing: that is `consolidate.trials`.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from firsthand.answer import Answer, Hit, Outcome, Query, Scope
from firsthand.consolidate.mined import mine
from firsthand.consolidate.recalls import Judged
from firsthand.consolidate.trials import COST, HITS, Pair, Question, Seen
from firsthand.errors import PointerError
from firsthand.event import Trust
from firsthand.recall.calibrate import sample
from firsthand.recall.search import search
from firsthand.recall.tuning import Tuned
from firsthand.value import value

if TYPE_CHECKING:
    from firsthand.memory import Memory
    from firsthand.recall.gate import Gate

MINED_MAX = 60
OF_SESSION_MAX = 20
OF_EVENT_MAX = 3
"""Questions of one session, and about one event: nothing wins by number."""
REAL_MAX = 200
SHOWN_UNASKED = 3
ATTEMPTS_ASKED = 3
DEADLINE_MS = 10_000
TEXT_CHARACTERS_MAX = 16_384


@value
class Compared:
    """The same questions asked with two sets of values, one after the other each."""

    before: tuple[Pair, ...]
    after: tuple[Pair, ...]


class Bench:
    """Asks questions of one namespace.

    Args:
        gate: the one in force, not moved.
        deadline: `time.monotonic` seconds after which no question is begun.
    """

    def __init__(self, memory: Memory, gate: Gate, deadline: float) -> None:
        self._memory, self._gate, self._deadline = memory, gate, deadline

    @property
    def over(self) -> bool:
        """True when the time is."""
        return time.monotonic() > self._deadline

    def pairs(self, questions: Sequence[Question], tuned: Tuned, *, twins: bool) -> tuple[Pair, ...] | None:
        """Ask each question; None when the time was over before all were asked.

        Args:
            twins: ask those of users also with what they ask for left out.
        """
        found = []
        for one in questions:
            if self.over:
                return None
            found.append(self._pair(one, tuned, twins=twins))
        return tuple(found)

    def compared(self, questions: Sequence[Question], before: Tuned, after: Tuned) -> Compared | None:
        """Ask each question with both sets of values in turn; None when the time was over before all were asked."""
        sets: tuple[list[Pair], list[Pair]] = ([], [])
        for number, one in enumerate(questions):
            if self.over:
                return None
            for which in (0, 1) if number % 2 else (1, 0):  # neither profits always from what the other has read
                sets[which].append(self._pair(one, (before, after)[which], twins=True))
        return Compared(tuple(sets[0]), tuple(sets[1]))

    def _pair(self, one: Question, tuned: Tuned, *, twins: bool) -> Pair:
        without = self._ask(one, tuned, one.right) if twins and one.real else None
        return Pair(one, self._ask(one, tuned, ()), without)

    def _ask(self, one: Question, tuned: Tuned, without: Collection[int]) -> Seen:
        memory = self._memory
        sessions = (one.session, f"{one.session}/agent-*") if one.session else ()
        scope = Scope(before_position=one.before or None, without_sessions=sessions)
        query = Query(
            one.text, scope, hits_max=HITS, deadline_ms=DEADLINE_MS, cost=COST,
            attempts_max=1 if one.unasked else ATTEMPTS_ASKED,
        )  # fmt: skip
        begun = time.thread_time()
        answer = search(
            memory._log.reader, memory.namespace, query,  # noqa: SLF001 - Memory and what acts on it are one room
            near=memory._dense, gate=self._gate, tuned=tuned, without=without,  # noqa: SLF001 - the same
        )  # fmt: skip
        seconds = time.thread_time() - begun
        return self._seen(one, answer, seconds, left_out=bool(without))

    def _seen(self, one: Question, answer: Answer, seconds: float, *, left_out: bool) -> Seen:
        own = [hit for hit in answer.hits if not hit.companion_of]
        right = [place for place, hit in enumerate(own, 1) if hit.position in one.right or self._holds(hit, one)]
        shown = SHOWN_UNASKED if one.unasked else HITS
        found = answer.outcome is Outcome.FOUND
        led = found and own[0].trust is Trust.UNTRUSTED and 1 not in right
        return Seen(
            tuple(right), max(1, len(one.right)), answer.confidence, found,
            not left_out and any(place <= shown for place in right), led, seconds, unsure=left_out and bool(right),
        )  # fmt: skip

    def _holds(self, hit: Hit, one: Question) -> bool:
        """Say whether a hit's own bytes hold a string of the answer; what is erased since holds nothing."""
        if not one.strings:
            return False
        try:
            text = self._memory.event(hit.pointer).text[:TEXT_CHARACTERS_MAX].casefold()
        except PointerError:
            return False
        return any(string in text for string in one.strings)


def questions_of(memory: Memory, judged: Sequence[Judged]) -> tuple[Question, ...]:
    """Make questions of recalls whose answer is known, the newest first; only those in the user's own words.

    What is right was said by the user or an agent: text of tools and pages is never what a gate is moved for.
    """
    found: dict[str, Question] = {}
    sessions: dict[str, int] = {}
    events: dict[int, int] = {}
    for one in sorted(judged, key=lambda one: -one.recalled.position):
        told = one.recalled
        words = " ".join(sorted(set(told.asked.casefold().split())))
        if not told.users or one.corrected or not one.right or words in found:
            continue
        right = _right(memory, one.right)
        if not right or sessions.get(told.session, 0) >= OF_SESSION_MAX or any(
            events.get(at, 0) >= OF_EVENT_MAX for at in right
        ):  # fmt: skip
            continue
        sessions[told.session] = sessions.get(told.session, 0) + 1
        for at in right:
            events[at] = events.get(at, 0) + 1
        found[words] = Question(
            told.asked, told.position, told.session, right, one.strings, unasked=told.unasked, pointer=told.pointer,
            known=(told.pointer, *one.right),
        )  # fmt: skip
        if len(found) == REAL_MAX:
            break
    return tuple(found.values())


def _right(memory: Memory, addresses: Sequence[str]) -> tuple[int, ...]:
    found = []
    for address in addresses:
        try:
            event = memory.event(address)
        except PointerError:  # of another namespace, or gone
            continue
        if event.trust <= Trust.AGENT and event.is_searchable and not event.erased:
            found.append(event.position)
    return tuple(found)


def mined_of(memory: Memory) -> tuple[Question, ...]:
    """Make questions of a sample of the store's own events."""
    reader = memory._log.reader  # noqa: SLF001 - Memory and what acts on it are one room
    runs = sample(reader, memory.namespace, reader.head()[0], f"review {memory.namespace}")
    positions = [told.position for run in runs for told in run]
    return mine(reader.events_at(memory.namespace, positions), MINED_MAX)
