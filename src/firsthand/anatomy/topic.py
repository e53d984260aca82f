"""What a session is about now, and when that changes, without a model (total-recall 9.6, A.4).

A topic is a profile of terms. The newest `BLOCK_EVENTS` events are compared with the
events of the topic before them: by the cosine of their terms, each weighted by how
rare it is among the session's events. Below `UNLIKE` the block is strange; when it
stays strange for `STRANGE_EVENTS` events in a row, the topic has changed to it. So one
odd message, however long, changes nothing: it is one event of a block.

The invariant: the same events in the same order give the same topics, however they
are divided among calls; what is kept is bounded, whatever the session's length.

Pure: it knows neither a store nor the window. Its words are those of letters; what a
topic means it does not know.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from firsthand.value import field, value

BLOCK_EVENTS = 6
STRANGE_EVENTS = 2
UNLIKE = 0.1
LABEL_TERMS = 3
EVENT_TERMS_MAX = 60
EVENT_CHARACTERS_MAX = 8_000  # looked at: half from the head, half from the tail
SEEN_TERMS_MAX = 4_000
TOPIC_TERMS_MAX = 400
FADE = 0.97  # of a topic's older events, for each newer one
TERM_CHARACTERS_MAX = 40

_WORD = re.compile(r"[^\W\d_][\w]*(?:[./-]\w+)*")


@value
class Topic:
    """What a session is about, and what is needed to notice a change.

    Attributes:
        label: its most distinctive terms, joined by commas; None while there are too few.
        transition: it changed in the events that were observed last.
        events: observed so far.
        seen: in how many of them a term stood; the rarest are forgotten first when there are too many.
        profile: weight of the topic's terms.
        block: terms of the newest events, oldest first.
        strange: events in a row after which the block was unlike the topic.
    """

    label: str | None = None
    transition: bool = False
    events: int = 0
    seen: Mapping[str, int] = field(default_factory=dict)
    profile: Mapping[str, float] = field(default_factory=dict)
    block: tuple[tuple[str, ...], ...] = ()
    strange: int = 0


def observe(topic: Topic, texts: Iterable[str]) -> Topic:
    """Look at the events that came since the last call, oldest first; each text is one event.

    Returns:
        The topic now; its ``transition`` is about these events only.
    """
    changed = False
    seen = dict(topic.seen)
    profile = dict(topic.profile)
    block = list(topic.block)
    events, strange = topic.events, topic.strange
    for text in texts:
        terms = terms_of(text)
        if not terms:
            continue
        events += 1
        for term in terms:
            seen[term] = seen.get(term, 0) + 1
        block.append(terms)
        if len(block) > BLOCK_EVENTS:
            profile = _with(profile, block.pop(0))
        if len(seen) > SEEN_TERMS_MAX:
            seen = _frequent(seen)
        unlike = len(block) == BLOCK_EVENTS and bool(profile) and _likeness(profile, block, seen, events) < UNLIKE
        strange = strange + 1 if unlike else 0
        if strange >= STRANGE_EVENTS:
            changed, strange, profile = True, 0, {}
    return Topic(_label(profile, block, seen, events), changed, events, seen, profile, tuple(block), strange)


def terms_of(text: str) -> tuple[str, ...]:
    """Give the terms of one event, each once, folded; the most frequent first, at most `EVENT_TERMS_MAX`."""
    if len(text) > EVENT_CHARACTERS_MAX:
        text = text[: EVENT_CHARACTERS_MAX // 2] + "\n" + text[-EVENT_CHARACTERS_MAX // 2 :]
    found = Counter(word for word in map(str.casefold, _WORD.findall(text)) if 3 <= len(word) <= TERM_CHARACTERS_MAX)
    return tuple(term for term, _ in found.most_common(EVENT_TERMS_MAX))


def _with(profile: dict[str, float], terms: tuple[str, ...]) -> dict[str, float]:
    faded = {term: weight * FADE for term, weight in profile.items()}
    for term in terms:
        faded[term] = faded.get(term, 0.0) + 1.0
    if len(faded) > TOPIC_TERMS_MAX:
        kept = sorted(faded.items(), key=lambda one: (-one[1], one[0]))[:TOPIC_TERMS_MAX]
        faded = dict(kept)
    return faded


def _frequent(seen: dict[str, int]) -> dict[str, int]:
    kept = sorted(seen.items(), key=lambda one: (-one[1], one[0]))[: SEEN_TERMS_MAX * 3 // 4]
    return dict(kept)


def _rarity(term: str, seen: Mapping[str, int], events: int) -> float:
    return math.log((events + 1) / (seen.get(term, 0) + 0.5))


def _likeness(
    profile: Mapping[str, float], block: list[tuple[str, ...]], seen: Mapping[str, int], events: int
) -> float:
    newest = Counter(term for terms in block for term in terms)
    one = {term: weight * _rarity(term, seen, events) for term, weight in profile.items()}
    other = {term: number * _rarity(term, seen, events) for term, number in newest.items()}
    norm = math.sqrt(sum(weight * weight for weight in one.values()))
    norm *= math.sqrt(sum(weight * weight for weight in other.values()))
    return sum(one[term] * other[term] for term in one.keys() & other.keys()) / norm if norm else 0.0


def _label(
    profile: Mapping[str, float], block: list[tuple[str, ...]], seen: Mapping[str, int], events: int
) -> str | None:
    weights = Counter({term: float(number) for term, number in Counter(t for terms in block for t in terms).items()})
    weights.update(profile)
    scored = {term: weight * _rarity(term, seen, events) for term, weight in weights.items() if weight > 1.0}
    best = sorted(scored.items(), key=lambda one: (-one[1], one[0]))[:LABEL_TERMS]
    return ", ".join(term for term, score in best if score > 0) or None
