"""Asks again in other words when the first attempt is not good enough (total-recall 4.2, 4.3, 11).

The first attempt is climbed from: wording after wording, in the order in which they
are likeliest to help, until one attempt passes the gate, the attempts are used up, or
the time is. The surest attempt decides how sure the answer is and leads the ranking; what
the others found beside it follows.

The invariant: no two attempts ask the same; never more than the query allows; what any
attempt ranked is in the merged ranking, each event once. This module knows no store:
attempts, texts and frequencies come from `Searching`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from firsthand.answer import Hop, Query, Scope
from firsthand.errors import FirsthandError, ModelError
from firsthand.event import Event
from firsthand.moment import Moment
from firsthand.value import replace, value

from . import reformulate
from .attempt import Attempt, Scored
from .reformulate import AS_ASKED, FEEDBACK_ROWS, First, Seen, Weighed, Wording
from .when import read

TIMES_FIRST_MAX = 5.0
"""The whole ladder takes at most so many times what its first attempt took, in processor time."""
FLOOR_MS = 40.0
"""... and may always take this long: a first attempt of a millisecond is no measure."""
ROWS_SEEN_MAX = 50
"""Of the first attempt's rows so many are looked at for their times."""
REWRITES_MAX = 4
REWRITE_CHARACTERS_MAX = 4_000

RELIANCE = {
    AS_ASKED: 1.0,
    reformulate.STRINGS: 0.75,
    reformulate.TIME: 1.1,
    reformulate.ANCHOR: 0.75,
    reformulate.REWRITTEN: 0.8,
    reformulate.QUESTION: 1.1,
    reformulate.PART: 0.6,
    reformulate.RULES: 0.75,
    reformulate.KEY_TERMS: 0.65,
    reformulate.FEEDBACK: 0.65,
}
"""How far the gate's word is taken for each kind of attempt, as measured (docs/decisions/0016-ladder.md): hits that
were found by fewer words, or by words taken from hits, fit the question better than they answer it; and the surest
of several guesses is likelier to be surer than right."""
PLACES = (8, 9)
"""Places, counted from 0, at which the best new hit of an attempt that asks for a part of the question stands at the
latest: what one question of a message finds is never first for the whole message."""
_PARTIAL = frozenset({reformulate.STRINGS, reformulate.PART})
ON_THEIR_OWN = frozenset({reformulate.QUESTION})
"""Attempts that are judged by their own words: what is said beside a question is not asked."""


class Searching(Protocol):
    """What the ladder climbs on; events that were read once are not read again."""

    def attempt(self, text: str, scope: Scope, how: str) -> Attempt:
        """Search once."""
        ...

    def event(self, position: int) -> Event | None:
        """Give an event; None when it cannot be read."""
        ...

    def text(self, one: Scored) -> str:
        """Give the words of a ranked row."""
        ...

    def weigh(self, text: str) -> Weighed:
        """Cut a text into terms and look up how common they are."""
        ...


@value
class Try:
    """One attempt, and how sure it is that one of its hits answers the question.

    Attributes:
        confidence: 0 to 1, after the correction for what kind it is.
    """

    attempt: Attempt
    confidence: float


@value
class Climbed:
    """What came of asking, once or again.

    Attributes:
        hops: the attempts as the answer shows them, in order.
        tries: the same, as they can be merged.
        best: the one that leads the ranking: see `leader`.
        notes: why the ladder ended early, and what failed.
    """

    hops: tuple[Hop, ...]
    tries: tuple[Try, ...]
    best: Try
    notes: tuple[str, ...]


def climb(
    first: Attempt,
    search: Searching,
    confidence: Callable[[Attempt], float],
    query: Query,
    *,
    first_ms: float,
    now: Moment,
    triggers: bool = False,
    rewrite: Callable[[str], Sequence[str]] | None = None,
    clock: Callable[[], float] = time.thread_time,
) -> Climbed:
    """Ask again until an attempt passes the gate, or may no more.

    Args:
        confidence: that an attempt answers the question as it was asked, by the gate; `ON_THEIR_OWN` are judged by
            their own words.
        first_ms: what the first attempt took by the same clock; the whole ladder takes at most `TIMES_FIRST_MAX`
            times that.
        now: what time words are counted from.
        triggers: the store holds rules that are found by situations.
        rewrite: gives a question in other words; what it takes does not count, and when it fails a note says so.
        clock: seconds of work: a machine that is busy with other things ends no ladder.
    """
    ladder = _Ladder(search, confidence, query)
    ladder.add(first)
    if not ladder.done and not first.fault:  # behind a broken index every attempt would read the log itself
        seen = _seen(first, search, query, now, triggers=triggers)
        left_ms = max(FLOOR_MS, (TIMES_FIRST_MAX - 1.0) * first_ms)
        rewriting = _Rewriting(rewrite, clock) if rewrite is not None else None
        begun = clock()
        for wording in reformulate.wordings(seen, search.weigh, rewriting):
            waited = rewriting.seconds if rewriting is not None else 0.0
            if (clock() - begun - waited) * 1000 + min(first_ms, left_ms) > left_ms:
                ladder.notes.append(f"asked {len(ladder.tries)} times; no time was left to ask in other words")
                break
            ladder.ask(wording)
            if ladder.done:
                break
        ladder.notes += rewriting.notes if rewriting is not None else ()
    return Climbed(tuple(ladder.hops), tuple(ladder.tries), leader(ladder.tries), tuple(ladder.notes))


class _Ladder:
    """The attempts of one recall so far."""

    def __init__(self, search: Searching, confidence: Callable[[Attempt], float], query: Query) -> None:
        self._search, self._confidence, self._query = search, confidence, query
        self._asked: set[tuple[frozenset[str], Scope]] = set()
        self.tries: list[Try] = []
        self.hops: list[Hop] = []
        self.notes: list[str] = []

    @property
    def done(self) -> bool:
        return self.hops[-1].passed or len(self.hops) >= self._query.attempts_max

    def ask(self, wording: Wording) -> None:
        """Make an attempt, unless one asked the same before."""
        if _same(wording.text, wording.scope) not in self._asked:
            self.add(self._search.attempt(wording.text, wording.scope, wording.how))

    def add(self, attempt: Attempt) -> None:
        self._asked.add(_same(attempt.text, attempt.scope))
        sure = min(1.0, self._confidence(attempt) * RELIANCE[attempt.how])
        self.tries.append(Try(attempt, sure))
        passed = bool(attempt.ranked) and sure >= self._query.threshold
        words = attempt.text + _narrower(attempt.scope, self._query.scope)
        self.hops.append(Hop(attempt.how, words, tuple(self._pointers(attempt)), sure, passed))

    def _pointers(self, attempt: Attempt) -> Iterator[str]:
        for one in attempt.ranked[: self._query.hits_max]:
            event = self._search.event(one.position)
            if event is not None:
                yield f"fh:{event.id}"


def _same(text: str, scope: Scope) -> tuple[frozenset[str], Scope]:
    """Name what an attempt asks: its words in any order and with any capitals, and where it looks."""
    return frozenset(text.casefold().split()), scope


def _narrower(scope: Scope, asked: Scope) -> str:
    """Say in words where an attempt looks that was not asked for."""
    said = []
    if scope.since != asked.since or scope.until != asked.until:
        said.append(f"{scope.since or ''} to {scope.until or ''}".strip())
    if scope.after_position != asked.after_position:
        said.append(f"after position {scope.after_position:,}")
    if scope.before_position != asked.before_position:
        said.append(f"before position {scope.before_position:,}")
    if scope.kinds != asked.kinds:
        said.append("kinds " + ", ".join(kind for kind in scope.kinds))
    return f" ({'; '.join(said)})" if said else ""


def _seen(first: Attempt, search: Searching, query: Query, now: Moment, *, triggers: bool) -> First:
    """Gather what the wordings are made of; every event of it was read by the first attempt."""
    rows = []
    for one in first.ranked[:ROWS_SEEN_MAX]:
        event = search.event(one.position)
        rows.append(Seen(one.position, one.base, event.time if event is not None else None, frozenset(one.match.times)))
    texts = tuple(search.text(one) for one in first.ranked[:FEEDBACK_ROWS])
    times = read(reformulate.asked(query.text), now)
    return First(first.question, first.frequencies, query.scope, tuple(rows), texts, times, triggers)


class _Rewriting:
    """Calls the caller's own function for other words, once."""

    def __init__(self, function: Callable[[str], Sequence[str]], clock: Callable[[], float]) -> None:
        self._function, self._clock = function, clock
        self.seconds = 0.0
        self.notes: tuple[str, ...] = ()

    def __call__(self, text: str) -> list[str]:
        begun = self._clock()
        try:
            given = _called(self._function, text)
        except FirsthandError as error:
            self.notes = (f"the question was not rewritten: {error}",)
            return []
        finally:
            self.seconds = self._clock() - begun
        return [one[:REWRITE_CHARACTERS_MAX] for one in given[:REWRITES_MAX] if one.strip()]


def _called(function: Callable[[str], Sequence[str]], text: str) -> list[str]:
    """Call a function that may do anything.

    Raises:
        ModelError: it failed, or gave something else than texts.
    """
    try:
        given = function(text)
    except FirsthandError:
        raise
    except Exception as error:
        raise ModelError(f"the function given as rewrite failed: {type(error).__name__}: {error}") from error
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise ModelError(f"the function given as rewrite gives a list of texts; got {str(given)[:80]!r}")
    return list(given)


# one ranking ----------------------------------------------------------------------------------------


def leader(tries: Sequence[Try]) -> Try:
    """Give the surest attempt, of equals the earliest; for a message of several questions the one that asked all."""
    if any(one.attempt.how == reformulate.PART for one in tries):
        return tries[0]
    return max(tries, key=lambda one: one.confidence)


def merge(tries: Sequence[Try]) -> tuple[Scored, ...]:
    """Make one ranking of several attempts: the surest one's order, then what the others found beside it.

    Joining the scores or the ranks was measured and is worse: where the first attempt is right it is diluted by
    others that are not. No hit counts more than those before it.
    """
    best = leader(tries)
    others = [one for one in tries if one is not best]
    order = list(best.attempt.ranked)
    held = {one.position for one in order}
    kept: list[Scored] = []
    for other in others:
        new = [_named(one, other.attempt.how) for one in other.attempt.ranked if one.position not in held]
        held |= {one.position for one in new}
        kept += new[:1] if other.attempt.how in _PARTIAL else ()
        order += new
    for place, one in zip(PLACES, kept, strict=False):
        if order.index(one) > place:
            order.remove(one)
            order.insert(place, one)
    return tuple(_falling(order))


def _named(one: Scored, how: str) -> Scored:
    """Say of a hit that other words than the question's have found it."""
    return one if how == AS_ASKED else replace(one, found_by=one.found_by | {how: one.base})


def _falling(order: Sequence[Scored]) -> Iterator[Scored]:
    """Bring scores down to those of the hits before them: those of several attempts are of no common scale."""
    least = 1.0
    for one in order:
        if one.total > least:
            base = one.base * least / one.total
            one = replace(one, base=base, parts=one.parts | {"base": base}, total=least)  # noqa: PLW2901 - the same hit
        least = one.total
        yield one
