"""Makes the order of an answer's places out of a ranking.

    ranking -> what is quoted goes up -> identical texts are one place
            -> the user's earlier questions go down -> rules keep their places
            -> what tools and the web brought keeps to its share

The invariant: the order depends on the ranking and the events alone, never on how many
hits a page has, so pages of one question join to the whole; nothing is left out but
what says the same as another place, which names it.

It reads what events hold where they may be alike, may hold what is quoted or may ask the same, and no more of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice

from firsthand.event import Trust, to_bytes, to_text
from firsthand.value import replace, value

from .contents import Contents

QUOTED_SHARE = 0.5
"""Of what a score lacks, what it gains when its event holds what is quoted, word for word."""
WHOLE_MAX = 26
"""Places among which an event is looked for that holds the whole question as it stands."""
COMPARED_MAX = 100
"""Places among which identical texts and earlier questions are looked for, the best first."""
ECHO_SHARE = 0.6
"""Of the weight of its words and the question's together, what an earlier question shares with this one."""
ECHO_PLACES = (5, 9)
"""Where earlier questions stand at the best, counted from 0; further ones stand behind everything else."""
SITUATION_PLACES = (1, 2, 5)
"""Where notes that were learned in a situation like this one stand at the latest, counted from 0."""
PASSAGE_PLACES = (10, 11, 12, 13)
"""Where the events of the best passages stand at the latest, whatever their length and what stands around them."""
AROUND = frozenset({"neighbours", "exchange"})
"""The parts of a score that come from what stands around an event."""
SHARED_PLACES = 32
"""Places that are held to shares, the best first."""
UNTRUSTED_SHARE = 0.6
"""Of the hits so far, the most that one untrusted origin, or one session's untrusted events, have."""
FREE = 3
"""So many hits of one are always let be: a question is often about one tool's one result."""
WORTH_MIN = 0.5
"""Of the best score, what a hit of others has at the least to go before one that is over its share."""
_NEARLY = 0.999
"""Sums of the same weights, in one order and in another."""


@value
class Place:
    """An event in its place.

    Attributes:
        rows: of the index, those that matched, best first.
        score: from 0 to 1.
        names, shares: what the score is made of; they add up to it. What no event has is left out.
        held: what the words of the question weigh that it holds, those in several passages as often; of an event
            that holds a text, at least what the text's words weigh.
        trust: number of its trust.
        session: a key of the index.
        measure: bytes and words of its first passage, so that only texts alike in both are compared.
        question: a short message of the user that ends in a question mark.
        copies: positions of events with the same text.
        replaces: pointer of the event whose place it has by the ledger; empty for none.
    """

    position: int
    rows: tuple[int, ...]
    score: float
    names: tuple[str, ...]
    shares: Sequence[float]
    held: float
    trust: int
    session: int
    measure: tuple[int, float]
    question: bool = False
    copies: tuple[int, ...] = ()
    replaces: str = ""

    @property
    def parts(self) -> dict[str, float]:
        """What the score is made of, by name."""
        return dict(zip(self.names, self.shares, strict=True))

    def moved(self, name: str, by: float) -> Place:
        """Give the place with another score, and why."""
        return replace(self, score=self.score + by, names=(*self.names, name), shares=(*self.shares, by))


@value
class Asked:
    """What was asked.

    Attributes:
        words: of the question as stems, with how rare each is.
        stems: cuts a text into the stems of its words, stop words left out.
        quotations: what the question quotes.
        whole: the question as it stands, where it is long enough to be told from others.
        complete: False where not all of the words were looked up for every place, so that `Place.held` says little.
    """

    words: Mapping[str, float]
    stems: Callable[[str], Collection[str]]
    quotations: Collection[str] = ()
    whole: str = ""
    complete: bool = True

    def least(self, *texts: str) -> float:
        """Say what an event holds at least that holds one of some texts."""
        weights = (sum(self.words.get(stem, 0.0) for stem in {*self.stems(text)}) for text in texts)
        return _NEARLY * min(weights) if self.complete else 0.0


def ordered(
    places: Sequence[Place], situations: Sequence[int], passages: Sequence[int], asked: Asked, contents: Contents
) -> list[Place]:  # fmt: skip
    """Order the places of a ranking, best first.

    Args:
        situations: positions of notes that were learned in a situation like the one asked of, best first.
        passages: positions of the events of the passages that hold most of the question, best first.
    """
    places = [*places]
    if asked.quotations:
        places[:COMPARED_MAX] = _quoting(places[:COMPARED_MAX], asked.quotations, asked, contents)
    elif asked.whole:
        places[:WHOLE_MAX] = _quoting(places[:WHOLE_MAX], (asked.whole,), asked, contents)
    places.sort(key=lambda place: -place.score)  # stable: ties stay as they were ranked
    places = _without_copies(places, contents)
    places = _echoes_behind(places, asked, contents)
    places = _at_the_latest(places, situations, SITUATION_PLACES)
    places = _within_shares(places, contents)
    first = {place.position for place in places[: PASSAGE_PLACES[0]]}
    return _at_the_latest(places, [position for position in passages if position not in first], PASSAGE_PLACES)


def is_spoken(parts: Mapping[str, float]) -> bool:
    """Say whether something of the question is in an event itself, by its score's parts, and not only beside it."""
    return any(part > 0 for name, part in parts.items() if name not in AROUND)


def _quoting(
    places: Sequence[Place], quotations: Collection[str], asked: Asked, contents: Contents
) -> Iterator[Place]:  # fmt: skip
    """Raise events that hold what the question quotes, word for word; the index knows words alone."""
    least, wanted = asked.least(*quotations), [to_bytes(quotation) for quotation in quotations]
    payloads = contents.payloads([place.position for place in places if place.held >= least])
    for place in places:
        payload = payloads.get(place.position, b"")
        if any(quotation in payload for quotation in wanted):
            yield place.moved("quotation", QUOTED_SHARE * (1 - place.score))
        else:
            yield place


# identical texts --------------------------------------------------------------------------------------


def _without_copies(places: list[Place], contents: Contents) -> list[Place]:
    """Make one place of events with one text: the most trusted of them, where the best of them stood."""
    measures = Counter([place.measure for place in places[:COMPARED_MAX]])
    alike = [place for place in places[:COMPARED_MAX] if measures[place.measure] > 1 and place.measure[0]]
    payloads = contents.payloads([place.position for place in alike])
    groups: dict[bytes, list[Place]] = {}
    for place in alike:
        if place.position in payloads:
            groups.setdefault(payloads[place.position], []).append(place)
    instead: dict[int, Place | None] = {}
    for group in groups.values():
        if len(group) > 1:
            best = min(group, key=lambda place: place.trust)
            copies = tuple(place.position for place in group if place is not best)
            instead |= dict.fromkeys(copies)
            instead |= {best.position: None, group[0].position: replace(best, copies=copies)}
    if not instead:
        return places
    chosen = (instead.get(place.position, place) for place in places)
    return [place for place in chosen if place is not None]


# the user's earlier questions -------------------------------------------------------------------------


def _echoes_behind(places: list[Place], asked: Asked, contents: Contents) -> list[Place]:
    """Put questions that the user asked before in nearly these words further down: they hold no answer."""
    least = ECHO_SHARE * _NEARLY * sum(asked.words.values()) if asked.complete else 0.0
    maybe = [p for p in places[:COMPARED_MAX] if p.question and p.held >= least]
    payloads = contents.payloads([place.position for place in maybe])
    echoes = [p for p in maybe if p.position in payloads and is_echo(to_text(payloads[p.position]), asked)]
    if not echoes or len(echoes) == len(places):
        return places
    rest = [place for place in places if place not in echoes]
    for echo, best in zip(echoes, ECHO_PLACES, strict=False):
        rest.insert(max(best, places.index(echo)), echo)
    return rest + echoes[len(ECHO_PLACES) :]


def is_echo(text: str, asked: Asked) -> bool:
    """Say whether a message says little but the question itself: by the weight of the words that both have."""
    words, mean = {*asked.stems(text)}, sum(asked.words.values()) / max(1, len(asked.words))
    both = sum(weight for word, weight in asked.words.items() if word in words)
    alone = sum(mean for word in words if word not in asked.words)
    return both >= ECHO_SHARE * (sum(asked.words.values()) + alone) > 0


# places that are kept ----------------------------------------------------------------------------------


def _at_the_latest(places: list[Place], positions: Sequence[int], latest_places: Sequence[int]) -> list[Place]:
    """Move events up to the places that are kept for them; what stands above the first of these stays there."""
    there = {place.position: place for place in places}
    for position, latest in zip([at for at in positions if at in there], latest_places, strict=False):
        at = places.index(there[position])
        if at > latest:
            places.insert(latest, places.pop(at))
    return places


def _within_shares(places: list[Place], contents: Contents) -> list[Place]:
    """Hold what tools and the web brought to its share, so that nobody wins a page by number."""
    untrusted = Trust.UNTRUSTED.number
    head, behind = places[:SHARED_PLACES], places[SHARED_PLACES:]
    if all(place.trust != untrusted for place in head):
        return places
    window = [*head, *[place for place in behind if place.trust != untrusted][:SHARED_PLACES]]
    origins = contents.origins([place.position for place in window if place.trust == untrusted])
    names = [
        (f"origin {origins.get(place.position, '')}", f"session {place.session}") if place.trust == untrusted else ()
        for place in window
    ]
    order = [*islice(within_shares([place.score for place in window], names), len(head))]
    taken = {window[at].position for at in order}
    return [*(window[at] for at in order), *(place for place in places if place.position not in taken)]


def within_shares(scores: Sequence[float], names: Sequence[Collection[str]]) -> Iterator[int]:
    """Yield the numbers of hits, best first, in an order in which nobody wins by number; the first stays first.

    Nothing is left out, and what users and agents said moves at most up.

    Args:
        names: what each is counted under, as its origin and session; nothing for trusted words.
    """
    left = list(range(len(scores)))
    least = WORTH_MIN * max(scores, default=0.0)
    counts: Counter[str] = Counter()
    while left:
        most = max(FREE, int(UNTRUSTED_SHARE * (len(scores) - len(left) + 1)))
        full = {name for name, count in counts.items() if count >= most}
        following = left[0]
        if not full.isdisjoint(names[following]):
            fitting = (at for at in left if full.isdisjoint(names[at]) and scores[at] >= least)
            following = next(fitting, following)
        left.remove(following)
        counts.update(names[following])
        yield following
