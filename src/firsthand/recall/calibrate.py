"""Learns a store's gate: asks it questions whose truth is known, and fits what their signals are worth.

The questions are made of a sample of the store's own events (`made`); the fit is
drawn to the gate that every store begins with, as much as questions left out of it
say is best. What it takes is bounded: a sample of some hundred events, some hundred
questions, a time.

The invariant: the same log gives the same gate, unless the time runs out; all that
is written is the gate, beside the log.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import apsw

from firsthand.answer import Query, Scope
from firsthand.errors import StoreDamaged
from firsthand.event import Event
from firsthand.index import learned
from firsthand.log.read import Reader
from firsthand.space import Space
from firsthand.value import value

from .attempt import Scored, Search
from .gate import DEFAULT, Gate
from .kept_gate import NAME, is_due, lesson_of
from .logistic import Weighed, brier, calibration_error, fit, left_out
from .made import TEXT_CHARACTERS_MAX, Made, Told, make
from .reformulate import AS_ASKED
from .signals import NAMES, TOP, Signals

EVENTS_MIN = 100
QUESTIONS_MAX = 240
QUESTIONS_MIN = 60
"""Fewer say too little: the gate of the beginning stays."""
RUNS_MAX = 150
RUN_EVENTS = 5
SECONDS_MAX = 4.0
"""Of asking, as the processor counts them, so that a busy machine learns the same; the fit takes half a second more."""
SHARED_QUESTIONS = 24
"""Asked by one search, which keeps what it has read: that saves a third of the time and bounds what is kept."""
DEADLINE_MS = 10_000
"""Of so many questions together: what a slow store has not given by then is judged as it stands."""
STRENGTHS = (2.0, 6.0, 20.0, 100.0)
"""How strongly a fit may be drawn to the gate of the beginning; the last leaves it nearly as it is."""


@value
class Tried:
    """One attempt, as far as a gate is learned from it.

    Attributes:
        ranked: its rows, best first.
        signals: of it.
        keys: of the question's words, by the word as it was asked.
        fault: the stage that was broken; empty when all was well.
    """

    ranked: Sequence[Scored]
    signals: Signals
    keys: Mapping[str, str]
    fault: str = ""


Ask = Callable[[str, frozenset[int]], Tried]
"""Asks a store a text, as if it had no events at some positions."""


def keep_learned(space: Space, *, vectors: bool = False) -> Gate | None:
    """Learn the gate of a space if it is due, and keep it; None where the one at hand stays.

    Args:
        vectors: those of the space are made, so that they take part; without, one that has vectors learns nothing.

    Raises:
        StoreBusy: another writer held the store for too long.
    """
    log, namespace, near, embedder = space.log, space.namespace, space.near, space.embedder_identity
    reader = log.reader
    if space.read_only or reader.index_faults(namespace) or (near is not None and not vectors):
        return None
    head, digest = reader.head(namespace)
    key = reader.namespace_key(namespace)
    if not key or not is_due(reader.db, key, head, embedder):
        return None

    def search() -> Search:
        return Search(reader, namespace, key, head, Query("calibration", deadline_ms=DEADLINE_MS), near=near)

    seed = f"{digest.hex()} {namespace}"
    gate = calibrate(asking(search), sample(reader, namespace, head, seed), seed, position=head, embedder=embedder)
    if gate is None:
        return None

    def write(db: apsw.Connection) -> None:
        with db:
            learned.write(db, key, NAME, lesson_of(gate))

    log.exclusively(write)
    return gate


def asking(search: Callable[[], Search]) -> Ask:
    """Ask by attempts of searches, each of which answers some questions."""
    made: list[Search] = []
    count = itertools.count()

    def ask(text: str, without: frozenset[int]) -> Tried:
        if next(count) % SHARED_QUESTIONS == 0:
            made[:] = [search()]
        attempt = made[0].attempt(text, Scope(), AS_ASKED, without=without)
        keys = {term.word.casefold(): term.key for term in attempt.question.words}
        return Tried(attempt.ranked, attempt.signals, keys, attempt.fault)

    return ask


def sample(reader: Reader, namespace: str, head: int, seed: str) -> list[list[Told]]:
    """Read runs of a few consecutive events of one session, from all over a namespace."""
    chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
    step = max(RUN_EVENTS, head / RUNS_MAX)
    runs: list[list[Told]] = []
    after = 0.0
    last = 0
    while after < head and len(runs) < RUNS_MAX:
        begin = max(last, int(after + chance.random() * (step - RUN_EVENTS)))
        try:
            read = list(reader.events(namespace, after=begin, limit=RUN_EVENTS, damaged=_left_to_verify))
        except StoreDamaged:  # not one row of the page can be told from the others: `verify` names it
            last = begin + RUN_EVENTS
            after = max(after + step, last)
            continue
        if not read:
            break
        last = read[-1].position
        runs += _by_session(read)
        after = max(after + step, last)
    return runs


def _left_to_verify(_position: int, _error: Exception) -> None:
    """Leave a damaged event out: every recall and `verify` tell of it, and a sample does without."""


def _by_session(events: Sequence[Event]) -> Iterator[list[Told]]:
    run: list[Told] = []
    for event in events:
        if event.erased or not event.is_searchable:
            continue
        if run and run[-1].session != event.session:
            yield run
            run = []
        run.append(Told(event.position, event.session, event.agent, event.text[:TEXT_CHARACTERS_MAX]))
    if run:
        yield run


def calibrate(
    ask: Ask,
    runs: Sequence[Sequence[Told]],
    seed: str,
    *,
    position: int,
    embedder: str = "",
    prior: Gate = DEFAULT,
    questions_max: int = QUESTIONS_MAX,
    seconds_max: float = SECONDS_MAX,
) -> Gate | None:
    """Learn a gate; None when the store gives too few questions for one, or a stage of recall is broken.

    Args:
        position: the store's head.
        embedder: the identity of the vectors that take part; empty for none.
        prior: the gate that it is drawn to.
    """
    if sum(map(len, runs)) < EVENTS_MIN:
        return None
    rows: list[tuple[float, ...]] = []
    truths: list[bool] = []
    until = time.thread_time() + seconds_max
    for made in make(runs, seed, questions_max):
        if time.thread_time() > until:
            break
        tried = ask(made.text, made.without)
        if tried.fault:  # what is learned of a broken stage is wrong when it is mended; recall itself tells of it
            return None
        truth = truth_of(made, tried)
        if truth is not None:
            rows.append(row_of(tried.signals))
            truths.append(truth)
    if len(rows) < QUESTIONS_MIN or len(set(truths)) < 2:
        return None
    return learn(rows, truths, prior, position=position, embedder=embedder)


def learn(
    rows: Sequence[Sequence[float]],
    truths: Sequence[bool],
    prior: Gate,
    *,
    position: int,
    embedder: str = "",
    strengths: Sequence[float] = STRENGTHS,
) -> Gate:
    """Fit a gate to signals and truths, drawn to a prior as strongly as left-out rows say is best."""
    start = Weighed((prior.bias, *(prior.weights.get(name, 0.0) for name in NAMES)))
    tried = {strength: left_out(rows, truths, start, strength) for strength in strengths}
    best = min(tried, key=lambda strength: (brier(tried[strength], truths), -strength))
    weights = fit(rows, truths, start, best).weights
    return Gate(
        weights[0],
        {name: weight for name, weight in zip(NAMES, weights[1:], strict=True) if weight},
        questions=len(rows),
        position=position,
        error=calibration_error(tried[best], truths),
        brier=brier(tried[best], truths),
        embedder=embedder,
    )


def truth_of(made: Made, tried: Tried) -> bool | None:
    """Say whether an attempt found what it was asked for; None where that cannot be known.

    A string asked for as it stands is found wherever it stands. A question whose event was left out may
    have found another that says the same: it is not counted.
    """
    top = tried.ranked[:TOP]
    if made.how == "verbatim":
        return bool(made.answer) and (
            tried.signals.whole > 0 or tried.signals.strings > 0 or any(row.position == made.answer for row in top)
        )
    if made.answer:
        return any(row.position == made.answer for row in top)
    if made.how == "left out":
        own = {tried.keys[word.casefold()] for word in made.own if word.casefold() in tried.keys}
        if any(own <= set(row.match.times) for row in top):
            return None
    return False


def row_of(signals: Signals) -> tuple[float, ...]:
    """Give signals as the numbers of a row, in the order of `signals.NAMES`."""
    return tuple(float(getattr(signals, name)) for name in NAMES)
