"""Makes the order of an answer's places out of a ranking.

    ranking -> what is quoted goes up, what the ledger replaced down -> identical texts are one place
            -> the user's earlier questions go down -> rules keep their places
            -> what tools and the web brought keeps to its share

The invariant: the order depends on the ranking and the events alone, never on how many
hits a page has, so pages of one question join to the whole; nothing is left out but
what says the same as another place, which names it.

It reads events only to compare texts and to name who brought them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from firsthand.event import Event, Kind, Trust, to_bytes
from firsthand.value import replace, value

from . import quota

REPLACED_SHARE = 0.5
"""Of a score, what the ledger's decision that an event no longer holds takes off."""
QUOTED_SHARE = 0.5
"""Of what a score lacks, what it gains when its event holds what is quoted, word for word."""
WHOLE_MAX = 26
"""Places among which an event is looked for that holds the whole question as it stands; they are read anyway."""
COMPARED_MAX = 100
"""Places among which identical texts and earlier questions are looked for, the best first."""
ECHO_SHARE = 0.6
"""Of the weight of its words and the question's together, what an earlier question shares with this one."""
ECHO_PLACES = (5, 9)
"""Where earlier questions stand at the best, counted from 0; further ones stand behind everything else."""
SITUATION_PLACES = (1, 2, 5)
"""Where notes that were learned in a situation like this one stand at the latest, counted from 0."""
AROUND = frozenset({"neighbours", "exchange"})
"""The parts of a score that come from what stands around an event."""
SHARED_PLACES = 32
"""Places that are held to shares, the best first."""


@value
class Place:
    """An event in its place.

    Attributes:
        rows: of the index, those that matched, best first.
        kind, trust, session: of the event; ``session`` is a key of the index.
        measure: bytes and words of its first passage, so that only texts alike in both are compared.
        question: a short message of the user that ends in a question mark.
        copies: positions of events with the same text.
        replaced_by: pointer of what took its place by the ledger; empty while it stands.
    """

    position: int
    rows: tuple[int, ...]
    score: float
    parts: Mapping[str, float]
    kind: Kind
    trust: Trust
    session: int
    measure: tuple[int, float]
    question: bool = False
    copies: tuple[int, ...] = ()
    replaced_by: str = ""


class Events(Protocol):
    """Reads events of one namespace, each once."""

    def load(self, positions: Iterable[int]) -> None:
        """Read events that are wanted soon, all at once."""
        ...

    def event(self, position: int) -> Event | None:
        """Give an event; None when it cannot be read."""
        ...


@value
class Asked:
    """What was asked.

    Attributes:
        words: of the question as stems, with how rare each is.
        stems: cuts a text into the stems of its words, stop words left out.
        quotations: what the question quotes.
        whole: the question as it stands, where it is long enough to be told from others.
    """

    words: Mapping[str, float]
    stems: Callable[[str], Collection[str]]
    quotations: Collection[str] = ()
    whole: str = ""


def ordered(places: Sequence[Place], situations: Sequence[int], asked: Asked, events: Events) -> list[Place]:
    """Order the places of a ranking, best first.

    Args:
        situations: positions of notes that were learned in a situation like the one asked of, best first.
    """
    if asked.quotations:
        events.load(place.position for place in places[:COMPARED_MAX])
        places = [
            *(_quoting(place, asked.quotations, events) for place in places[:COMPARED_MAX]),
            *places[COMPARED_MAX:],
        ]
    elif asked.whole:
        events.load(place.position for place in places[:WHOLE_MAX])
        places = [*(_quoting(place, (asked.whole,), events) for place in places[:WHOLE_MAX]), *places[WHOLE_MAX:]]
    places = [_lowered(place) for place in places]
    places.sort(key=lambda place: -place.score)  # stable: ties stay as they were ranked
    places = _without_copies(places, events)
    places = _echoes_behind(places, asked, events)
    places = _with_situations(places, situations)
    return _within_shares(places, events)


def is_spoken(parts: Mapping[str, float]) -> bool:
    """Say whether something of the question is in an event itself, by its score's parts, and not only beside it."""
    return any(part > 0 for name, part in parts.items() if name not in AROUND)


def _quoting(place: Place, quotations: Collection[str], events: Events) -> Place:
    """Raise an event that holds what the question quotes, word for word; the index knows words alone."""
    event = events.event(place.position)
    content = event.content if event is not None else None
    if content is None or not any(to_bytes(quotation) in content for quotation in quotations):
        return place
    gain = QUOTED_SHARE * (1 - place.score)
    return replace(place, score=place.score + gain, parts={**place.parts, "quotation": gain})


def _lowered(place: Place) -> Place:
    """Take from the score of what the ledger has replaced."""
    if not place.replaced_by:
        return place
    share = 1 - REPLACED_SHARE
    return replace(place, score=place.score * share, parts={**place.parts, "replaced": -place.score * REPLACED_SHARE})


# identical texts --------------------------------------------------------------------------------------


def _without_copies(places: Sequence[Place], events: Events) -> list[Place]:
    """Make one place of events with one text: the most trusted of them, where the best of them stood."""
    measures = Counter(place.measure for place in places[:COMPARED_MAX])
    alike = [place for place in places[:COMPARED_MAX] if measures[place.measure] > 1]
    events.load(place.position for place in alike)
    groups: dict[bytes, list[Place]] = {}
    for place in alike:
        event = events.event(place.position)
        text = (event.artifact.digest if event.artifact is not None else event.content) if event is not None else None
        if text:
            groups.setdefault(text, []).append(place)
    instead: dict[int, Place | None] = {}
    for group in groups.values():
        if len(group) > 1:
            best = min(group, key=lambda place: (bool(place.replaced_by), place.trust.number))
            copies = tuple(place.position for place in group if place is not best)
            instead |= dict.fromkeys(copies)
            instead |= {best.position: None, group[0].position: replace(best, copies=copies)}
    chosen = (instead.get(place.position, place) for place in places)
    return [place for place in chosen if place is not None]


# the user's earlier questions -------------------------------------------------------------------------


def _echoes_behind(places: list[Place], asked: Asked, events: Events) -> list[Place]:
    """Put questions that the user asked before in nearly these words further down: they hold no answer."""
    maybe = [place for place in places[:COMPARED_MAX] if place.question and not place.replaced_by]
    events.load(place.position for place in maybe)
    echoes = [place for place in maybe if is_echo(events.event(place.position), asked)]
    if not echoes or len(echoes) == len(places):
        return places
    rest = [place for place in places if place not in echoes]
    for echo, best in zip(echoes, ECHO_PLACES, strict=False):
        rest.insert(max(best, places.index(echo)), echo)
    return rest + echoes[len(ECHO_PLACES) :]


def is_echo(event: Event | None, asked: Asked) -> bool:
    """Say whether a message says little but the question itself: by the weight of the words that both have."""
    if event is None:
        return False
    words, mean = {*asked.stems(event.text)}, sum(asked.words.values()) / max(1, len(asked.words))
    both = sum(weight for word, weight in asked.words.items() if word in words)
    alone = sum(mean for word in words if word not in asked.words)
    return both >= ECHO_SHARE * (sum(asked.words.values()) + alone) > 0


# places that are kept ----------------------------------------------------------------------------------


def _with_situations(places: list[Place], situations: Sequence[int]) -> list[Place]:
    """Move notes up to the places that are kept for them; the best other hit stays first."""
    there = {place.position: place for place in places}
    for position, latest in zip([at for at in situations if at in there], SITUATION_PLACES, strict=False):
        at = places.index(there[position])
        if at > latest:
            places.insert(latest, places.pop(at))
    return places


def _within_shares(places: list[Place], events: Events) -> list[Place]:
    """Hold what tools and the web brought to its share, so that nobody wins a page by number."""
    head, behind = places[:SHARED_PLACES], places[SHARED_PLACES:]
    if not any(place.trust is Trust.UNTRUSTED for place in head):
        return places
    others = [place for place in behind if place.trust is not Trust.UNTRUSTED][:SHARED_PLACES]
    window = [*head, *others]
    events.load(place.position for place in window if place.trust is Trust.UNTRUSTED)
    order = quota.order([_holding(place, events) for place in window])[: len(head)]
    taken = {window[at].position for at in order}
    return [*(window[at] for at in order), *(place for place in places if place.position not in taken)]


def _holding(place: Place, events: Events) -> quota.Held:
    """Say what a place counts under."""
    event = events.event(place.position) if place.trust is Trust.UNTRUSTED else None
    origin = event.origin if event is not None else ""
    return quota.held(place.score, place.trust, origin, str(place.session))
