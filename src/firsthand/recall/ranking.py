"""Ranks the events of an index by a question, as numbers over postings; no event is read.

A passage scores, term by term, BM25 of its own occurrences or of what stands next door
(`neighbours`), and what its exchange scores as one text (`exchanges`); more where its event is called
by a name that is asked for, happened at a time that is named, or was said by a speaker who is named.
Where there are vectors, what it means is joined to that (`meaning`); where a task is given, its words
and its phase weigh (`task`). An event has the score of its best passage.

The invariant: the order depends on the log, the question, the moment that "yesterday" is
counted from and the task; not on how many hits a page has, nor on whether a row waits in the
tail or stands in the index. What was not looked at is said in `Ranking.bounded`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from firsthand.answer import Query
from firsthand.event import Kind
from firsthand.index.blocks import TIME_UNKNOWN
from firsthand.index.columns import Columns
from firsthand.index.index_rows import QUESTION_END, SAID, SHORT
from firsthand.index.postings import IndexMoment
from firsthand.moment import now
from firsthand.value import field, replace, value

from . import bands, situations, task
from .dates import spans
from .exchanges import K1, SHARE, Exchanges, around
from .meaning import NEAR_MAX, Meaning, Near, meaning
from .neighbours import Neighbourhood, Shares, distinct
from .page import Place
from .query import Deadline, Question, ask
from .terms import Strengths as TermStrengths
from .terms import Terms

POOL = 200
"""Most events of a ranking."""
CANDIDATES_MAX = 1_000
"""Passages that are scored with their neighbours: those that score best by their own words."""
CANDIDATES_AROUND = 200
"""Of the best of them, the events beside each are scored too, though they hold no word of the question."""
USERS, USERS_MAX = 12, 64
PASSAGES = 16
"""The best passages by what they hold alone."""
ALONE_B, ALONE_TOKENS = 0.3, 150.0
"""How much their length tells: little, since a long text's passages are as long as they were cut."""
_QUESTION = QUESTION_END | SHORT
_NOTHING = np.empty(0, np.int64)

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


@value
class Strengths:
    """What each part of a score is worth; 0 leaves it out. See docs/decisions/0041.

    Attributes:
        terms: of words, strings and names.
        shares: of neighbours.
        exchange: of what is said around a passage, scored as one text with it.
        date: a time that is named, beside a word as rare as the passages of that time.
        speaker: what a passage gains, as a share of its score, when the question names who said it.
        meaning: the passage that is nearest in meaning, beside the one that the words find best.
        task: the task's words and phase, where a task is given.
    """

    terms: TermStrengths = field(default_factory=TermStrengths)
    shares: Shares = field(default_factory=Shares)
    exchange: float = SHARE
    date: float = 1.0
    speaker: float = 0.8
    meaning: float = 0.5
    task: float = 1.0


@value
class Ranking:
    """The events that answer a question, and how far they do.

    Attributes:
        ranked: best first, at most `POOL`.
        users: messages of users among all that were scored, best first.
        likelihood: that one of the first ten answers, from 0 to 1.
        signals: what the likelihood is computed from, by name.
        bounded: what was not looked at, in sentences; empty when everything was.
        faults: what is broken or behind, in sentences.
        words: the question's terms, as stems, with how rare each is: what a preview is chosen by.
        situations: positions of notes that were learned in a situation like the one asked of, best first; each is
            among ``ranked``.
        passages: rows of the passages that hold most of the question, best first, whatever stands around them.
    """

    ranked: tuple[Place, ...] = ()
    users: tuple[Place, ...] = ()
    likelihood: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)
    bounded: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    words: dict[str, float] = field(default_factory=dict)
    situations: tuple[int, ...] = ()
    passages: tuple[int, ...] = ()


Texts = Callable[[Sequence[int]], Sequence[str]]
"""Gives the texts of events by their positions."""


@value(eq=False)
class _Scored:
    """The candidates, scored.

    Attributes:
        rows: passages.
        total: of each, from 0 to 1.
        parts: what the totals are made of.
        mass: what the words of the question that each holds weigh together, by rarity.
        alone: what each scores alone by BM25, whatever stands around it and nearly whatever its length.
    """

    rows: Rows
    total: Floats
    parts: dict[str, Floats]
    mass: Floats
    alone: Floats

    def sorted(self) -> _Scored:
        """Put the best first, of equal ones the newer; what has no score is left out."""
        order = np.lexsort((-self.rows, -self.total))
        order = order[self.total[order] > 0]
        parts = {name: part[order] for name, part in self.parts.items()}
        return _Scored(self.rows[order], self.total[order], parts, self.mass[order], self.alone[order])


def rank(
    moment: IndexMoment, query: Query, *, near: Near | None = None, texts: Texts | None = None, deadline: Deadline,
    strengths: Strengths | None = None,
) -> Ranking:  # fmt: skip
    """Rank the events of one read moment.

    Args:
        near: finds passages by meaning; None for words alone.
        texts: called with the best events, where there are notes with situations.
        deadline: is looked at after each term; what is not looked at by then is said.
        strengths: switch parts off, to measure what they are worth.
    """
    strengths, columns = strengths or Strengths(), moment.columns
    mask = moment.scope_mask(query.scope)
    # 1) the question's terms, and what is near to it in meaning
    question = ask(query.text, moment.stems)
    terms = Terms(moment, question, deadline, strengths.terms)
    meant = meaning(near if strengths.meaning else None, query.text, moment, mask)
    # 2) the passages that score best by their own words
    own = np.zeros(len(columns) + 1, np.float32)
    for term in terms.postings:
        own[term.rows] += term.scores
    rows = distinct(_candidates(columns, own, mask), meant.rows[:NEAR_MAX])
    # 3) with what stands around them, what else the question names, what they mean, and the task
    scored = _by_words(moment, rows, terms, question, query, strengths)
    by_words = float(scored.total.max(initial=0.0))
    scored = _with_meaning(scored, meant, columns, strengths.meaning)
    if query.conditions is not None and strengths.task:
        factor = task.factors(moment, rows, query.conditions, question, deadline, strengths.task)
        parts = {**scored.parts, "task": scored.total * (factor - 1)}
        scored = replace(scored, total=scored.total * factor, parts=parts)
    # 4) events, best first, how likely they answer, and the rules for such a situation
    scored = scored.sorted()
    ranked = _events(columns, scored, np.arange(len(scored.rows)), POOL)
    signals = _signals(by_words, scored, meant, len(columns)) if ranked else {}
    best_texts = partial(_texts_of, ranked, columns, texts)
    rules = situations.rules(moment, question, best_texts, mask, meant.situations, deadline)
    return Ranking(
        _with_rules(ranked, rules, columns), _users(columns, scored, ranked), bands.likelihood(signals), signals,
        tuple(terms.bounded), (meant.fault,) if meant.fault else (), terms.rarities,
        tuple(rule.position for rule in rules), _passages(scored),
    )  # fmt: skip


def _candidates(columns: Columns, own: Floats, mask: NDArray[np.bool_] | None) -> Rows:
    """Choose the passages that score best by their own words, the users' best, and what stands beside the very best."""
    every = np.flatnonzero(own > 0)
    rows = every if mask is None else every[mask[every]]
    best = _best(rows, own, CANDIDATES_MAX)
    users = rows[(columns.kind[rows] == Kind.USER_MESSAGE.number) & ((columns.flags[rows] & SAID) > 0)]
    first = np.searchsorted(columns.position, columns.position[_best(every, own, CANDIDATES_AROUND)])
    beside = np.concatenate((columns.before[first], columns.after[first])).astype(np.int64)
    beside = beside[(beside > 0) & (beside <= len(columns))]
    if mask is not None:
        beside = beside[mask[beside]]
    return distinct(best, _best(users, own, USERS_MAX), beside)


def _best(rows: Rows, own: Floats, most: int) -> Rows:
    """Give the rows of the highest scores; of equal ones at the edge the newer."""
    if len(rows) <= most:
        return rows
    scores = own[rows]
    edge = np.partition(scores, len(rows) - most)[len(rows) - most]
    above, at = rows[scores > edge], rows[scores == edge]
    return np.concatenate((above, at[len(at) - (most - len(above)) :]))


def _by_words(
    moment: IndexMoment, rows: Rows, terms: Terms, question: Question, query: Query, strengths: Strengths
) -> _Scored:
    """Score the candidates by words, exact strings and names, by what stands around them, and by when and by whom."""
    columns = moment.columns
    beside = around(columns, rows)
    neighbours = Neighbourhood(columns, beside, strengths.shares)
    parts = {name: np.zeros(len(rows), np.float32) for name in ("words", "exact", "name", "neighbours", "exchange")}
    mass, alone = np.zeros((2, len(rows)), np.float32)
    damping = K1 * (1 - ALONE_B + ALONE_B / ALONE_TOKENS * columns.tokens[rows])
    exchanges = Exchanges(columns, beside, strengths.exchange)
    scores, times = np.zeros((2, len(columns) + 1), np.float32)
    for term in terms.postings:
        scores[term.rows], times[term.rows] = term.scores, term.times
        by_itself, often = scores[rows], times[rows]
        parts[term.part] += by_itself
        if term.part != "name":
            parts["neighbours"] += neighbours.term(by_itself, scores) - by_itself
            parts["exchange"] += exchanges.term(times, term.weight)
            alone += term.weight * often / (often + damping)
        if term.part == "words":
            mass += np.where(by_itself > 0, terms.rarities[term.key], 0.0)
        scores[term.rows] = times[term.rows] = 0
    parts["date"] = strengths.date * _dated(columns, rows, query, terms)
    total = np.sum(list(parts.values()), axis=0)
    parts["speaker"] = strengths.speaker * total * _spoken(moment, rows, question)
    total = total + parts["speaker"]
    # Against what the question's words weigh together: half is a row of mean length that holds each of them once.
    whole = sum(terms.rarities[term.key] for term in question.leading) or 1.0
    scale = 1 / (total + whole)
    return _Scored(rows, total * scale, {name: part * scale for name, part in parts.items()}, mass, alone)


def _with_meaning(scored: _Scored, meant: Meaning, columns: Columns, strength: float) -> _Scored:
    if not len(meant.rows) or meant.cosines[0] <= 0:
        return scored
    parts = {**scored.parts, "meaning": strength * meant.weight(scored.total) * meant.of(scored.rows, len(columns))}
    whole = 1 + strength
    return replace(
        scored,
        total=(scored.total + parts["meaning"]) / whole,
        parts={name: part / whole for name, part in parts.items()},
    )


def _signals(by_words: float, scored: _Scored, meant: Meaning, rows: int) -> dict[str, float]:
    """Take what the likelihood is computed from.

    Args:
        by_words: the best score without vectors and task.
        rows: of the index.
    """
    signals = {"score": by_words, "held": bands.share_of(float(scored.mass[0]), rows)}
    if len(meant.cosines):
        signals["cosine"] = max(0.0, float(meant.cosines[0]))
    return signals


def _texts_of(ranked: Sequence[Place], columns: Columns, texts: Texts | None) -> Sequence[str]:
    """Give the texts of the best events that are no notes."""
    if texts is None:
        return ()
    places = [event.position for event in ranked if columns.kind[event.rows[0]] != Kind.NOTE.number]
    return texts(places[: situations.TEXTS])


def _passages(scored: _Scored) -> tuple[int, ...]:
    """Give the passages that score best alone.

    By its full score a passage of a long text stands behind short messages in a full exchange. That is right more
    often than not; where it is wrong, all that is asked for stands in the one passage.
    """
    return tuple(scored.rows[np.lexsort((-scored.rows, -scored.alone))[:PASSAGES]].tolist())


def _with_rules(ranked: tuple[Place, ...], rules: Sequence[situations.Rule], columns: Columns) -> tuple[Place, ...]:
    """Have the notes that situations led to among the events, last where nothing else speaks for them."""
    there = {event.position for event in ranked}
    least = ranked[-1].score if ranked else 0.0
    notes = [rule for rule in rules if rule.position not in there]
    positions, rows, scores = [rule.position for rule in notes], [(rule.row,) for rule in notes], [least] * len(notes)
    shares = [(least,)] * len(notes)
    return (*ranked, *places_of(columns, positions, rows, scores, ("situation",), shares, [0.0] * len(notes)))


def _dated(columns: Columns, rows: Rows, query: Query, terms: Terms) -> Floats:
    """Weigh that a passage lies in a time which the question names, by how rare that is."""
    weight = np.zeros(len(rows), np.float32)
    for span in spans(query.text, query.now or now()):
        inside = columns.time != TIME_UNKNOWN
        if span.since is not None:
            inside &= columns.time >= span.since
        if span.until is not None:
            inside &= columns.time < span.until
        weight = np.maximum(weight, np.where(inside[rows], terms.rarity(int(np.count_nonzero(inside))), 0.0))
    return weight.astype(np.float32)


def _spoken(moment: IndexMoment, rows: Rows, question: Question) -> NDArray[np.bool_]:
    """Say which passages are of a speaker whom the question names by any part of the name."""
    asked = {term.word.casefold() for term in question.words}
    named = [key for key, name in moment.agents.items() if asked.intersection(name.casefold().split())]
    return np.isin(moment.columns.agent[rows], named) if named else np.zeros(len(rows), bool)


def _users(columns: Columns, scored: _Scored, ranked: Sequence[Place]) -> tuple[Place, ...]:
    """Give the best messages of users, those among the events as they stand there."""
    is_user = (columns.kind[scored.rows] == Kind.USER_MESSAGE.number) & ((columns.flags[scored.rows] & SAID) > 0)
    position = columns.position[scored.rows]
    best = [*dict.fromkeys(position[is_user].tolist())][:USERS]
    known = {event.position: event for event in ranked}
    others = [at for at in best if at not in known]
    chosen = np.flatnonzero(np.isin(position, others)) if others else _NOTHING
    known |= {event.position: event for event in _events(columns, scored, chosen, USERS)}
    return tuple(known[at] for at in best)


def _events(columns: Columns, scored: _Scored, chosen: Rows, most: int) -> tuple[Place, ...]:
    """Give the events of chosen places, in their order, each once, with its passages."""
    if not len(chosen):
        return ()
    # 1) the passages by event, those of each as they are ranked, and the events by the best of each
    position = columns.position[scored.rows[chosen]]
    order = np.argsort(position, kind="stable")
    is_first = np.ones(len(order), bool)
    np.not_equal(position[order[1:]], position[order[:-1]], out=is_first[1:])
    begins = np.flatnonzero(is_first)
    best = np.argsort(order[begins])[:most]
    held = np.add.reduceat(scored.mass[chosen[order]], begins)[best]
    ends = np.append(begins[1:], len(order))[best].tolist()
    # 2) what is said of each
    rows, begins = scored.rows[chosen[order]].tolist(), begins[best]
    first = chosen[order[begins]]
    names = tuple(name for name, part in scored.parts.items() if part.any())
    shares = np.array([scored.parts[name][first] for name in names]).T.tolist() if names else [()] * len(first)
    passages = [tuple(rows[begin:end]) for begin, end in zip(begins.tolist(), ends, strict=True)]
    positions = columns.position[scored.rows[first]].tolist()
    return places_of(columns, positions, passages, scored.total[first].tolist(), names, shares, held.tolist())


def places_of(
    columns: Columns, positions: Sequence[int], rows: Sequence[tuple[int, ...]], scores: Sequence[float],
    names: tuple[str, ...], shares: Sequence[Sequence[float]], held: Sequence[float],
) -> tuple[Place, ...]:  # fmt: skip
    """Make places of events, with what the columns say of each."""
    first = columns.first_rows(positions)
    is_question = (columns.flags[first] & _QUESTION == _QUESTION) & (columns.kind[first] == Kind.USER_MESSAGE.number)
    facts = (columns.trust, columns.session, columns.size, columns.tokens)
    return tuple([
        Place(position, passages, score, names, parts, weight, trust, session, (size, tokens), asks)
        for position, passages, score, parts, weight, trust, session, size, tokens, asks in zip(
            positions, rows, scores, shares, held, *[fact[first].tolist() for fact in facts], is_question.tolist(),
            strict=True,
        )
    ])  # fmt: skip
