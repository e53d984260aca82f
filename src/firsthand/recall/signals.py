"""What an attempt shows of its own worth: bounded numbers that the gate weighs.

Each is computed from the question, the frequencies and the ranked rows alone: how
much of what was asked the best row holds, how far it stands out, whether it is the
named speaker's, what telling string is missing, and, with vectors, how near the
best is in meaning. Weight is rarity (idf), and a share is a share of the weight of
the question's words. What the rows are and how they were ranked is not looked at
again, so the same signals can be taken of any ranking.

The invariant: every signal is a finite number from 0 to 1, for any input. This
module knows no storage and judges nothing: `gate` does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from firsthand.value import fields, value

from .plan import Question, Term
from .rank import Frequencies, Match

VERSION = 1
"""A gate learned on signals of another version is not used."""

SEEN_MAX = 30
"""Rows that are looked at: the margin over the last of them says what the store has at random."""
TOP = 10
NEIGHBOUR_STEPS = 2
CLOSE_TOKENS = 12
TOKENS_MAX = 8_192
WEIGHT_HALF = 10.0
"""A best row that holds words of this weight is half way to the most that a weight can say."""
COSINES_MAX = 200


@value
class Seen:
    """A ranked row, as far as signals look at it.

    Attributes:
        base: its score before the task's factors, from 0 to 1.
        match: what of the question stands in it.
        agent, session: of its event.
    """

    position: int
    base: float
    match: Match
    agent: str = ""
    session: str = ""


@value
class Signals:
    """The signals of one attempt, each from 0 to 1; all 0 for an attempt without rows.

    Attributes:
        known: share of the question that the store knows at all.
        rarity: how rare the question's words are on average: 1 for words that stand in one row each.
        held: share that the best row holds.
        complete: it holds all of it.
        held_around: share that it holds together with ranked rows at most two events away.
        held_mean: share that the first ten hold, on average.
        said: share that one row of the named agent holds, the name aside; of anybody where none is named.
        unsaid: how much more of it a row of another agent holds.
        others: share of the first ten's score that is not the named agent's; 0 where none is named.
        weight: of what the best row holds, summed and bounded: many rare words say more than few common ones.
        rarest: the best row holds the rarest word.
        rare_two: share of the two rarest words that it holds.
        base: of the best row.
        lead, lead_tenth, lead_last: how far it stands above the second, the tenth and the last row seen.
        close: share that stands within twelve words of one place of the best row.
        long: length of the best row beside a row's mean: long rows hold much by chance.
        same_session: share of the first ten's score in the best row's session.
        whole: the best row holds the whole question as it is.
        strings: share of the exact strings and quoted phrases asked that it holds; 0 where none is asked.
        strings_missing: share of them that it lacks.
        numbers_missing, names_missing: share of the question's numbers, and of its names, that it lacks.
        cosine: of the nearest row in meaning; 0 without vectors, as the next three.
        cosine_lead: how far it stands above the tenth.
        cosine_best: of the best row.
        agreement: share of the five nearest that are among the first ten.
    """

    known: float = 0.0
    rarity: float = 0.0
    held: float = 0.0
    complete: float = 0.0
    held_around: float = 0.0
    held_mean: float = 0.0
    said: float = 0.0
    unsaid: float = 0.0
    others: float = 0.0
    weight: float = 0.0
    rarest: float = 0.0
    rare_two: float = 0.0
    base: float = 0.0
    lead: float = 0.0
    lead_tenth: float = 0.0
    lead_last: float = 0.0
    close: float = 0.0
    long: float = 0.0
    same_session: float = 0.0
    whole: float = 0.0
    strings: float = 0.0
    strings_missing: float = 0.0
    numbers_missing: float = 0.0
    names_missing: float = 0.0
    cosine: float = 0.0
    cosine_lead: float = 0.0
    cosine_best: float = 0.0
    agreement: float = 0.0


NAMES: tuple[str, ...] = fields(Signals)
NOTHING = Signals()


def signals(
    question: Question,
    frequencies: Frequencies,
    seen: Sequence[Seen],
    *,
    close: float = 0.0,
    cosines: Mapping[int, float] | None = None,
) -> Signals:
    """Take the signals of an attempt.

    Args:
        seen: its rows, best first; those after the first `SEEN_MAX` are not looked at.
        close: of the best row, by `close_in`.
        cosines: of the nearest rows by position, best first; None without vectors.
    """
    seen = seen[:SEEN_MAX]
    if not seen:
        return NOTHING
    weights = _weights(question, frequencies)
    found = {
        **_of_words(weights, frequencies, seen),
        **_of_agents(question, weights, seen),
        **_of_ranking(seen),
        **_of_strings(question, weights, seen[0].match),
        **_of_meaning(seen, cosines or {}),
        "close": close,
    }
    return Signals(**{name: min(1.0, max(0.0, number)) for name, number in found.items()})


def close_in(tokens: Sequence[str], question: Question, frequencies: Frequencies) -> float:
    """Give the share of the question that stands within twelve tokens of one place.

    Args:
        tokens: stems of a row's text, in its order; those after the first 8,192 are not looked at.
    """
    weights = _weights(question, frequencies)
    places = [(at, key) for at, key in enumerate(tokens[:TOKENS_MAX]) if key in weights]
    inside: dict[str, int] = {}
    best = mass = 0.0
    first = 0
    for at, key in places:
        if not inside.get(key):
            mass += weights[key]
        inside[key] = inside.get(key, 0) + 1
        while at - places[first][0] >= CLOSE_TOKENS:
            left = places[first][1]
            inside[left] -= 1
            if not inside[left]:
                mass -= weights[left]
            first += 1
        best = max(best, mass)
    return min(1.0, best / _sum(weights))


def _weights(question: Question, frequencies: Frequencies) -> dict[str, float]:
    """Weigh the words of a question by rarity; a question of stop words alone by those."""
    asked = question.words or question.stop_words
    return {term.key: frequencies.idf(frequencies.df.get(term.key, 0)) for term in asked}


def _sum(weights: Mapping[str, float]) -> float:
    return sum(weights.values()) or 1.0


def _share(weights: Mapping[str, float], *rows: Seen) -> float:
    """Give the share of the weight that rows hold together."""
    held = set().union(*(row.match.times for row in rows))
    return sum(weight for key, weight in weights.items() if key in held) / _sum(weights)


def _of_words(weights: Mapping[str, float], frequencies: Frequencies, seen: Sequence[Seen]) -> dict[str, float]:
    best, top = seen[0], seen[:TOP]
    around = [
        row for row in seen if row.session == best.session and abs(row.position - best.position) <= NEIGHBOUR_STEPS
    ]
    rarest = sorted(weights, key=lambda key: (-weights[key], key))[:2]
    held = [key in best.match.times for key in rarest]
    weight = _share(weights, best) * _sum(weights)
    return {
        "known": sum(one for key, one in weights.items() if frequencies.df.get(key)) / _sum(weights),
        "rarity": _sum(weights) / max(1, len(weights)) / (frequencies.idf(1) or 1.0),
        "held": _share(weights, best),
        "complete": float(all(key in best.match.times for key in weights)),
        "held_around": _share(weights, *around),
        "held_mean": sum(_share(weights, row) for row in top) / len(top),
        "weight": weight / (weight + WEIGHT_HALF),
        "rarest": float(held[0]) if held else 0.0,
        "rare_two": sum(held) / len(held) if held else 0.0,
        "long": best.match.tokens / (best.match.tokens + max(1.0, frequencies.tokens_mean)),
    }


def _of_agents(question: Question, weights: Mapping[str, float], seen: Sequence[Seen]) -> dict[str, float]:
    asked = {term.word.casefold() for term in question.words}
    named = {row.agent for row in seen if row.agent and _is_named(row.agent, asked)}
    names = {part for agent in named for part in _parts(agent)}
    body = {term.key: weights[term.key] for term in question.words if term.word.casefold() not in names}
    shares = [(_share(body, row), row) for row in seen]
    anybody = max(share for share, _ in shares)
    if not named or not body:
        return {"said": anybody, "unsaid": 0.0, "others": 0.0}
    said = max((share for share, row in shares if row.agent in named), default=0.0)
    total = sum(row.base for row in seen[:TOP])
    mine = sum(row.base for row in seen[:TOP] if row.agent in named)
    return {"said": said, "unsaid": anybody - said, "others": 1 - mine / total if total else 0.0}


def _is_named(agent: str, asked: Collection[str]) -> bool:
    """Say whether a question names an agent; it does so by any part of the name that is a word."""
    return any(part in asked for part in _parts(agent))


def _parts(agent: str) -> list[str]:
    return [part for part in agent.casefold().split() if len(part) > 1]


def _of_ranking(seen: Sequence[Seen]) -> dict[str, float]:
    best, top = seen[0], seen[:TOP]
    scores = [row.base for row in seen]

    def lead(place: int) -> float:
        return (scores[0] - scores[place]) / scores[0] if place < len(scores) and scores[0] > 0 else 1.0

    total = sum(row.base for row in top)
    same = sum(row.base for row in top if row.session == best.session)
    return {
        "base": best.base,
        "lead": lead(1),
        "lead_tenth": lead(TOP - 1),
        "lead_last": lead(SEEN_MAX - 1),
        "same_session": same / total if total else 0.0,
    }


def _of_strings(question: Question, weights: Mapping[str, float], best: Match) -> dict[str, float]:
    text = " ".join(question.text.split())
    held = {one.string for one in (*best.exact, *best.folded)}
    asked = {phrase for phrase in question.phrases if " ".join(phrase.split()) != text}
    asked |= {term.word for term in question.strings}
    share = len(asked & held) / len(asked) if asked else 0.0
    numbers = [term for term in question.words if any(map(str.isdigit, term.word))]
    opening = text.split(" ", 1)[0]
    names = [term for term in question.words if term.word[:1].isupper() and term.word != opening]
    return {
        "whole": float(any(" ".join(one.split()) == text for one in held)),
        "strings": share,
        "strings_missing": 1 - share if asked else 0.0,
        "numbers_missing": _missing(numbers, weights, best),
        "names_missing": _missing(names, weights, best),
    }


def _missing(terms: Sequence[Term], weights: Mapping[str, float], best: Match) -> float:
    total = sum(weights[term.key] for term in terms)
    return sum(weights[term.key] for term in terms if term.key not in best.times) / total if total else 0.0


def _of_meaning(seen: Sequence[Seen], cosines: Mapping[int, float]) -> dict[str, float]:
    near = list(cosines.items())[:COSINES_MAX]
    if not near:
        return {}
    top = {row.position for row in seen[:TOP]}
    tenth = near[TOP - 1][1] if len(near) >= TOP else 0.0
    return {
        "cosine": near[0][1],
        "cosine_lead": near[0][1] - tenth,
        "cosine_best": cosines.get(seen[0].position, 0.0),
        "agreement": sum(position in top for position, _ in near[:5]) / min(5, len(near)),
    }
