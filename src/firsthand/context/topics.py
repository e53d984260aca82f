"""What a session is about now, and when that changes, without a model (total-recall 9.6, A.4).

The newest `BLOCK_EVENTS` events are compared with the `BEFORE_EVENTS` events before
them, as far as they are of the same topic. Of both sides only the terms count that
recur, which stand in two events or more; each weighs by how often it stands there and
by how rare it is in the session so far. When the cosine of the two is under `UNLIKE`
for `STRANGE_EVENTS` events in a row, the topic has changed. So one odd message, however
long, changes nothing: its terms do not recur, and they outweigh no others.

The invariant: the same events in the same order give the same topics, however they
are divided among calls; what is kept is bounded, whatever the session's length.

Pure: it knows neither a store nor the window, and no language but for a list of words
that name no topic.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from firsthand.value import field, value

BLOCK_EVENTS = 6
BEFORE_EVENTS = 12
BEFORE_EVENTS_MIN = 4
RECURS = 2  # events that a term stands in, to count
RECURRING_MIN = 6  # terms on each side; with fewer, nothing can be said
UNLIKE = 0.11
RARITY_MIN = 0.3  # the terms of a session's only topic stand everywhere, and are its topic all the same
STRANGE_EVENTS = 3
LABEL_TERMS = 3
EVENT_TERMS_MAX = 60
EVENT_CHARACTERS_MAX = 8_000  # looked at: half from the head, half from the tail
SEEN_TERMS_MAX = 4_000
RESUMED_EVENTS = 64  # of a session's newest, that are enough to go on from
TERM_CHARACTERS = range(3, 41)

Terms = tuple[str, ...]

_WORD = re.compile(r"[^\W\d_]\w*(?:[./-]\w+)*")
_NO_TOPIC = frozenset(
    """
    about above after again all also and any are because been before being below between both but can cannot
    could did does doing done down during each even few first for from further get got had has have having here
    how into its itself just know let like made make many may more most much must need new next not now off once
    one only other our out over own please said same see should some such sure than thank thanks that the their
    them then there these they this those through too two under until use used using very want was way well were
    what when where which while who why will with would yes you your none null true false
    """.split()  # noqa: SIM905 - words, to be read as such
)


@value
class Topic:
    """What a session is about, and what is needed to notice a change.

    Attributes:
        label: its most distinctive terms, joined by commas; None while none recurs.
        transition: it changed in the events that were observed last.
        events: observed so far; those without a term do not count.
        seen: in how many of them a term stood; the rarest are forgotten when there are too many.
        recent: terms of the newest events of this topic, oldest first.
        strange: events in a row after which the newest were unlike those before.
    """

    label: str | None = None
    transition: bool = False
    events: int = 0
    seen: Mapping[str, int] = field(default_factory=dict)
    recent: tuple[Terms, ...] = ()
    strange: int = 0


def observe(topic: Topic, texts: Iterable[str]) -> Topic:
    """Look at the events that came since the last call, oldest first; each text is one event.

    Returns:
        The topic now; its ``transition`` is about these events only.
    """
    events, strange, changed = topic.events, topic.strange, False
    seen, recent = dict(topic.seen), list(topic.recent)
    for terms in filter(None, map(terms_of, texts)):
        events += 1
        for term in terms:
            seen[term] = seen.get(term, 0) + 1
        if len(seen) > SEEN_TERMS_MAX:
            seen = _commonest(seen)
        recent = [*recent, terms][-BLOCK_EVENTS - BEFORE_EVENTS :]
        strange = strange + 1 if _is_strange(recent, seen, events) else 0
        if strange == STRANGE_EVENTS:
            changed, strange, recent = True, 0, recent[-BLOCK_EVENTS:]
    return Topic(_label(recent, seen, events), changed, events, seen, tuple(recent), strange)


def terms_of(text: str) -> Terms:
    """Give the terms of one event, folded, each once, the most frequent first; at most `EVENT_TERMS_MAX`."""
    if len(text) > EVENT_CHARACTERS_MAX:
        text = f"{text[: EVENT_CHARACTERS_MAX // 2]}\n{text[-EVENT_CHARACTERS_MAX // 2 :]}"
    words = map(str.casefold, _WORD.findall(text))
    counts = Counter(word for word in words if len(word) in TERM_CHARACTERS and word not in _NO_TOPIC)
    return tuple(term for term, _ in counts.most_common(EVENT_TERMS_MAX))


def likeness(before: Sequence[Terms], newest: Sequence[Terms], seen: Mapping[str, int], events: int) -> float | None:
    """Say how alike two runs of events are, from 0 to 1; None when too few terms recur to say it.

    Args:
        seen: in how many of the session's events each term stood.
        events: of the session.
    """
    first, other = (_weights(run, seen, events) for run in (before, newest))
    if min(len(first), len(other)) < RECURRING_MIN:
        return None
    norm = math.sqrt(math.fsum(x * x for x in first.values())) * math.sqrt(math.fsum(x * x for x in other.values()))
    return math.fsum(weight * other[term] for term, weight in first.items() if term in other) / norm


def _is_strange(recent: Sequence[Terms], seen: Mapping[str, int], events: int) -> bool:
    before, newest = recent[:-BLOCK_EVENTS], recent[-BLOCK_EVENTS:]
    if len(before) < BEFORE_EVENTS_MIN:
        return False
    alike = likeness(before, newest, seen, events)
    return alike is not None and alike < UNLIKE


def _weights(run: Sequence[Terms], seen: Mapping[str, int], events: int) -> dict[str, float]:
    counts = Counter(chain.from_iterable(run))
    # A term that was forgotten for its rarity is as rare as one that is new.
    return {
        term: count * max(RARITY_MIN, math.log((events + 1) / (seen.get(term, 0) + 0.5)))
        for term, count in counts.items()
        if count >= RECURS
    }


def _label(recent: Sequence[Terms], seen: Mapping[str, int], events: int) -> str | None:
    """Name the terms that recur most and are rarest elsewhere; None when none recurs."""
    weights = _weights(recent, seen, events)
    best = sorted(weights, key=lambda term: (-weights[term], term))[:LABEL_TERMS]
    return ", ".join(best) or None


def _commonest(seen: Mapping[str, int]) -> dict[str, int]:
    """Forget the rarest quarter of the terms, so that this is not done for every event."""
    commonest = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
    return dict(commonest[: SEEN_TERMS_MAX * 3 // 4])
