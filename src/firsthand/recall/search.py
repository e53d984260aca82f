"""Recall: from a query to an answer that says how sure it is.

    attempt -> gate -> below it: further attempts in other words -> one ranking
            -> what repeats a better hit goes down -> what belongs with a hit comes up -> a page

Nothing found says why, and what is found is `weak` where the gate does not pass it.

The invariant: an answer depends on the log, the query, the frequencies and the gate; an
accelerator, its absence or its lag never change it. Pages of one query join to the whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from firsthand.answer import Answer, Hit, Outcome, Query, Scope, When, moment_of
from firsthand.event import Event, Kind, Trust
from firsthand.index.passages import row_of
from firsthand.log.read import Reader
from firsthand.moment import now
from firsthand.space import Space
from firsthand.value import replace, value

from . import complement, hits, ladder, mmr, quota
from .around import SessionAround
from .attempt import BLOCK_ROWS, Attempt, Scored, Search, no_match
from .candidates import Ranker
from .complement import PARTNERS_MAX, Place
from .evidence import Row
from .factors import NEUTRAL, STRENGTHS, Strengths
from .gate import DEFAULT, Gate
from .kept_gate import gate_of
from .ladder import Climbed
from .near import Near
from .plan import POSTINGS_INTERACTIVE
from .reformulate import AS_ASKED
from .triggers import reserve

Rewrite = Callable[[str], Sequence[str]]
"""Gives a question in other words."""


@value
class _Sure:
    """Where an answer stands against the gate."""

    confidence: float
    outcome: Outcome


def query_of(
    query: str | Query,
    *,
    sessions: Collection[str] = (),
    agents: Collection[str] = (),
    kinds: Collection[Kind | str] = (),
    since: When = None,
    until: When = None,
    hits_max: int = 10,
    budget_tokens_max: int = 4_000,
    skip: int = 0,
) -> Query:
    """Make a query of a text and the arguments of `firsthand.Memory.recall`; a whole `Query` is given back.

    Raises:
        QueryError: a number is out of range, a time cannot be read, or a name is no name.
    """
    if isinstance(query, Query):
        return query
    # The scope makes tuples of what it is given, and members of words, or says what it cannot use.
    names: list[Any] = [sessions, agents, kinds]
    scope = Scope(names[0], names[1], names[2], moment_of(since), moment_of(until))
    return Query(query, scope, hits_max=hits_max, budget_tokens_max=budget_tokens_max, skip=skip)


def recall(
    space: Space,
    query: Query,
    *,
    rewrite: Rewrite | None = None,
    replaced: Mapping[int, str] = MappingProxyType({}),
) -> Answer:
    """Answer a query with all that a space has: its indexes, its vectors and the gate learned on it.

    Args:
        rewrite: gives the question in other words when the attempts so far do not pass the gate.
        replaced: positions of events that no longer hold, with the pointer of what took the place of each.
    """
    reader, namespace = space.log.reader, space.namespace
    answer = search(
        reader, namespace, query, near=space.near, rewrite=rewrite, replaced=replaced,
        gate=gate_of(reader.db, reader.namespace_key(namespace), space.embedder_identity),
        accelerator=space.accelerator() if query.scope.everything else None,  # it knows no scope
    )  # fmt: skip
    if answer.outcome is Outcome.ABSENT and (unread := space.log.unread(namespace)):
        return replace(answer, outcome=Outcome.DEGRADED, notes=(*answer.notes, unread))
    return answer


def search(
    reader: Reader,
    namespace: str,
    query: Query,
    *,
    postings_max: int = POSTINGS_INTERACTIVE,
    accelerator: Ranker | None = None,
    near: Near | None = None,
    gate: Gate | None = None,
    rewrite: Rewrite | None = None,
    strengths: Strengths = STRENGTHS,
    partners_max: int = PARTNERS_MAX,
    neighbours: bool = True,
    without: Collection[int] = (),
    replaced: Mapping[int, str] = MappingProxyType({}),
) -> Answer:
    """Answer a query from one namespace.

    Args:
        near: finds rows by meaning; None for words alone.
        gate: learned on this store; None for the one that comes with the package.
        rewrite: gives the question in other words when the attempts so far do not pass the gate.
        strengths, partners_max, neighbours: switch parts off, to measure what they are worth.
        without: positions that are taken as not there, to measure what is said without them.
        replaced: positions of events that no longer hold, with the pointer of what took the place of each.

    Raises:
        StoreError: the log itself cannot be read.
    """
    head, _ = reader.head(namespace)
    key = reader.namespace_key(namespace)
    gate = gate or DEFAULT
    if key == 0:
        return _nothing(query, gate, head, f"nothing was ever written to namespace {namespace!r}")
    if not query.text.strip():
        return _nothing(query, gate, head, "the query is empty")
    one = Search(
        reader, namespace, key, head, query, postings_max=postings_max, accelerator=accelerator, near=near,
        strengths=strengths, around=1.0 if neighbours else 0.0, without=without, replaced=replaced,
    )  # fmt: skip
    return _Answering(one, gate, rewrite, partners_max).answer()


def _nothing(query: Query, gate: Gate, head: int, note: str) -> Answer:
    return Answer(
        query, Outcome.ABSENT, (), notes=(note,), through=head, threshold=query.threshold, gate=gate.sentence(head)
    )


class _Answering:
    """One query, from its first attempt to its answer."""

    def __init__(self, search: Search, gate: Gate, rewrite: Rewrite | None, partners_max: int) -> None:
        self._search, self._query = search, search.query
        self._gate, self._rewrite, self._partners_max = gate, rewrite, partners_max
        self._around = SessionAround(search.reader, search.namespace, search.query.scope, search.head)
        self._notes: list[str] = []

    def answer(self) -> Answer:
        search, query = self._search, self._query
        # 1) as asked, and in other words while the gate does not pass it
        begun = time.thread_time()
        first = search.attempt(query.text, query.scope, AS_ASKED)
        climbed = ladder.climb(
            first, search, self._confidence(first), query, first_ms=(time.thread_time() - begun) * 1000,
            now=query.now or now(), triggers=bool(first.triggers), rewrite=self._rewrite,
        )  # fmt: skip
        # 2) one order of all
        ranked = self._ordered(climbed)
        places = self._placed(ranked)
        # 3) the page
        page = places[query.skip : query.skip + min(query.hits_max, hits.fit(query.budget_tokens_max))]
        shown = self._shown(page, {one.position: one for one in ranked})
        made = hits.make(shown, first.frequencies, search.tokenize, query.budget_tokens_max)
        return self._said(climbed, made, len(places))

    def _confidence(self, first: Attempt) -> Callable[[Attempt], float]:
        """Judge every attempt by the question as it was asked: fewer words are held by more."""

        def confidence(attempt: Attempt) -> float:
            if attempt is first or attempt.how in ladder.ON_THEIR_OWN:
                return self._gate.confidence(attempt.signals)
            return self._gate.confidence(self._search.judged(attempt, first.question, first.frequencies))

        return confidence

    # the order -------------------------------------------------------------------------------------

    def _ordered(self, climbed: Climbed) -> list[Scored]:
        """Make one ranking of all attempts, what repeats a better hit further down; alike on every page."""
        first = climbed.tries[0].attempt
        if len(climbed.tries) == 1:
            ranked = list(first.ranked)
        else:
            # The depth of an attempt depends on the page: only so many of each are joined as all pages have.
            tries = [replace(one, attempt=replace(one.attempt, ranked=one.attempt.ranked[:BLOCK_ROWS]))
                     for one in climbed.tries]  # fmt: skip
            ranked = list(ladder.merge(tries))
            joined = {one.position for one in ranked}
            ranked += [one for one in first.ranked[BLOCK_ROWS:] if one.position not in joined]
        terms = [self._terms(one) for one in ranked[: mmr.POOL_MAX]]
        terms += [()] * (len(ranked) - len(terms))
        totals = [one.total for one in ranked]
        order = [ranked[at] for at in mmr.order(totals, terms, self._query.mmr_lambda, mmr.POOL_MAX)]
        order = self._within_quota(order)
        # A rule is said in other words than a case of it: a place is kept for what its situations tell.
        kept = reserve([one.position for one in order], [each.position for each in first.triggers])
        known = {one.position: one for one in order}
        return [known[position] for position in kept]

    def _within_quota(self, ranked: list[Scored]) -> list[Scored]:
        """Hold what tools and the web brought to its share; where it fills the pool, others are looked for apart."""
        pool = ranked[:BLOCK_ROWS]
        held = [self._held(one) for one in pool]
        scope = self._query.scope
        if len(pool) == BLOCK_ROWS and scope.trust_max is None and set.intersection(*(set(one.names) for one in held)):
            known = {one.position for one in ranked}
            found = self._search.attempt(self._query.text, replace(scope, trust_max=Trust.AGENT), AS_ASKED).ranked
            others = [one for one in found if one.position not in known][: mmr.POOL_MAX]
            pool = sorted([*pool, *others], key=lambda one: -one.total)
            held = [self._held(one) for one in pool]
            ranked = [*pool, *ranked[BLOCK_ROWS:]]
        return [*(pool[at] for at in quota.order(held)), *ranked[len(pool) :]]

    def _held(self, one: Scored) -> quota.Held:
        event = self._search.event(one.position)
        return quota.held(one.total, event.trust, event.origin, event.session) if event else quota.Held(one.total)

    def _terms(self, one: Scored) -> tuple[str, ...]:
        row = self._search.row(one.row)
        return self._search.evidence.tokens(row) if row is not None else ()

    def _placed(self, ranked: Sequence[Scored]) -> list[Place]:
        """Put what belongs with a hit directly behind it."""
        events = [event for one in ranked[: complement.HITS_MAX] if (event := self._search.event(one.position))]
        known = {event.position for event in events}
        rest = [one.position for one in ranked if one.position not in known]
        return complement.together(events, rest, self._around, self._partners_max)

    def _shown(self, page: Sequence[Place], ranked: dict[int, Scored]) -> list[hits.Shown]:
        search = self._search
        shown: list[hits.Shown] = []
        for place in page:
            one, partner = ranked.get(place.position), place.partner
            of = search.event(partner.of) if partner is not None else None
            companion_of = f"fh:{of.id}" if of is not None else ""
            instead = search.replaced.get(place.position, "")
            row = search.row(one.row if one is not None else row_of(place.position, 0))
            if row is None:
                continue
            if one is not None:
                shown.append(hits.Shown(row, one.match, one.total, one.parts, one.found_by, companion_of, instead))
            elif partner is not None:
                one_more = _companion(row, partner.why, search.evidence.tokens(row), companion_of)
                shown.append(replace(one_more, replaced_by=instead))
        return shown

    # the answer ------------------------------------------------------------------------------------

    def _said(self, climbed: Climbed, made: list[Hit], places: int) -> Answer:
        search, query = self._search, self._query
        attempts = [one.attempt for one in climbed.tries]
        notes = [note for attempt in attempts for note in attempt.notes]
        sure = self._sure(climbed, bool(made), places, notes)
        if not made and places:
            notes.append(f"there are {places:,} hits; none after the {query.skip:,} that were skipped")
        truncated = any(one.truncated for one in attempts)
        if search.deadline.passed:
            truncated = True
            notes.append(f"the search stopped at its deadline of {query.deadline_ms:,} ms")
        damaged = [*search.evidence.damaged, *self._around.damaged]
        notes += [*climbed.notes, *damaged]
        outcome = sure.outcome
        if outcome is Outcome.ABSENT and (damaged or truncated):  # what could not be read may have matched
            outcome = Outcome.DEGRADED
        return Answer(
            query, outcome, tuple(made), more=places > query.skip + len(made), truncated=truncated,
            notes=tuple(dict.fromkeys(notes)), through=search.head, confidence=sure.confidence,
            threshold=query.threshold, gate=self._gate.sentence(search.head), hops=climbed.hops,
        )  # fmt: skip

    def _sure(self, climbed: Climbed, found: bool, places: int, notes: list[str]) -> _Sure:
        """Say of which type the answer is; a fault that hides nothing from the log still makes it degraded."""
        confidence = climbed.best.confidence if places else 0.0
        passed = confidence >= self._query.threshold
        outcome = (Outcome.FOUND if passed else Outcome.WEAK) if found else Outcome.ABSENT
        faults = [one.attempt.fault for one in climbed.tries if one.attempt.fault]
        if not places and not self._query.scope.everything and not faults:
            outcome = self._outside(notes) or outcome
        return _Sure(confidence, Outcome.DEGRADED if faults else outcome)

    def _outside(self, notes: list[str]) -> Outcome | None:
        """Look outside the scope for what is not in it."""
        found = self._search.attempt(self._query.text, Scope(), AS_ASKED).ranked
        event: Event | None = self._search.event(found[0].position) if found else None
        if event is None:
            return None
        notes.append(
            f"nothing in the scope asked for; outside it at least {len(found):,} events match, the best is "
            f"fh:{event.id} in session {event.session!r}" + (f" at {event.time}" if event.time else "")
        )
        return Outcome.FILTERED


def _companion(row: Row, why: str, tokens: Sequence[str], companion_of: str) -> hits.Shown:
    """Show an event that was found by its partner alone: it has no score of its own."""
    return hits.Shown(row, no_match(tokens), 0.0, NEUTRAL.parts(0.0), {why: 1.0}, companion_of)
