"""Pairs of events that say half without each other, among events that share their words.

Three classes, generated from a seed: two halves of one key; a symptom and the change that
caused it; a question and its reply. The query asks for what both say, in the words of one of
them. Around each pair stand distractors that hold as many words of the query.

Real pairs, from imported sessions: a tool call and its result (pi, SWE-agent, tau-bench), asked
for in words of the call; two neighbouring turns of locomo that a question names as its evidence.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SEED = 11
PAIRS_A_CLASS = 25
DISTRACTORS = 14
GAP_EVENTS_MAX = 16  # between the two of a pair


@dataclass(frozen=True, slots=True)
class Line:
    """One message; ``of`` is the number of the pair that it belongs to, or -1."""

    speaker: str
    text: str
    of: int = -1


@dataclass(frozen=True, slots=True)
class Pair:
    """What is asked, and of which class the pair is."""

    kind: str
    query: str


HALVES, CAUSES, REPLIES = "two halves of a key", "a symptom and its cause", "a question and its reply"
KINDS = (HALVES, CAUSES, REPLIES)
_FIRST = ["vault", "backup", "billing", "staging", "archive", "gateway", "printer", "ledger", "mirror", "beacon"]
_SECOND = ["signing key", "recovery passphrase", "admin token", "root password", "transfer code"]
_SERVICES = ["checkout", "search", "login", "exports", "webhooks", "uploads", "invoices", "reports", "sync", "mailer"]
_SYMPTOMS = [
    ("times out", "times out after 30 seconds"), ("is slow", "is slow, four seconds a page"),
    ("fails at night", "failed again last night"), ("returns 502", "returns 502 errors"),
    ("drops requests", "is broken: it drops every tenth request"),
]  # fmt: skip
_SETTINGS = ["POOL_SIZE", "RETRY_LIMIT", "CACHE_TTL", "MAX_WORKERS", "KEEPALIVE_MS", "QUEUE_DEPTH", "BATCH_ROWS"]
_THINGS = ["database", "branch", "region", "bucket", "library", "queue", "channel", "calendar", "printer", "template"]
_PURPOSES = ["the nightly export", "the demo on Friday", "new customers", "the mobile build", "load tests"]
_VALUES = ["Osprey", "north-2", "the blue one", "whatever Kim set up", "trunk-next", "the second from the left"]
_TALK = [
    "The {0} came up in the meeting again.", "Somebody asked me about the {0} today.", "Let us not forget the {0}.",
    "I wrote a page about the {0}, please read it.", "The {0} is on the list for next week.",
    "Who looks after the {0} when Kim is away?", "We talked about the {0} for an hour.", "The {0} needs a better name.",
    "I dreamt of the {0}.", "No news on the {0} so far.", "The {0} made it into the newsletter.",
    "A customer praised the {0}.", "The {0} is older than I thought.", "Remind me about the {0} after lunch.",
]  # fmt: skip
_OTHER = [
    "Lunch is at twelve.", "The lift is being repaired.", "I am in late tomorrow.", "Did anyone see my charger?",
    "The plants need water.", "Good work on the slides.", "It rains again.", "I booked the small room.",
]  # fmt: skip
_SPEAKERS = ["ann", "bob", "kim", "lee"]


def generated() -> tuple[list[list[Line]], list[Pair]]:
    """Make the sessions and the pairs in them."""
    chance = random.Random(SEED)
    sessions: list[list[Line]] = []
    pairs: list[Pair] = []
    for kind, make in zip(KINDS, (_halves, _causes, _replies), strict=True):
        for number in range(PAIRS_A_CLASS):
            topic, pair, first, second = make(number, len(pairs), chance)
            pairs.append(Pair(kind, pair))
            sessions.append(_session(topic, first, second, chance, together=kind == REPLIES))
    return sessions, pairs


def _session(topic: str, first: Line, second: Line, chance: random.Random, *, together: bool) -> list[Line]:
    """Put a pair among talk of the same topic, and some of others."""
    around = [Line(chance.choice(_SPEAKERS), text.format(topic)) for text in chance.sample(_TALK, DISTRACTORS)]
    around += [Line(chance.choice(_SPEAKERS), text) for text in _OTHER]
    chance.shuffle(around)
    at = chance.randrange(2, len(around) - GAP_EVENTS_MAX)
    gap = 0 if together else chance.randrange(2, GAP_EVENTS_MAX)
    return [*around[:at], first, *around[at : at + gap], second, *around[at + gap :]]


def _halves(number: int, of: int, chance: random.Random) -> tuple[str, str, Line, Line]:
    name = f"{_FIRST[number % len(_FIRST)]} {_SECOND[number // len(_FIRST)]}"
    short = name.split(" ", 1)[1]
    ways = [
        (f"First half of the {name}: {{0}}", f"{{0}} is the second half of the {short}."),
        (f"Here is part 1 of 2 of the {name}: {{0}}", f"part 2 of 2, same {short}: {{0}}"),
        (f"I keep the first half of the {name}, {{0}}.", f"And I keep the other half of that {short}: {{0}}"),
    ]
    first, second = ways[number % len(ways)]
    one, other = (f"{chance.getrandbits(48):012x}" for _ in range(2))
    return name, f"first half of the {name}", Line("ann", first.format(one), of), Line("bob", second.format(other), of)


def _causes(number: int, of: int, chance: random.Random) -> tuple[str, str, Line, Line]:
    service = _SERVICES[number % len(_SERVICES)]
    short, long = _SYMPTOMS[number // len(_SERVICES)]
    setting, low = chance.choice(_SETTINGS), chance.randrange(2, 9)
    file = f"deploy/{chance.choice(_FIRST)}-{number}.yaml"
    ways = [
        (f"I changed {setting} from {low * 10} to {low} in {file}.", f"{service} {long}; the trace ends in {file}."),
        (f"Lowered {setting} to {low}, {file} is merged.", f"{service} {long}. All I see is {setting} exceeded."),
        (f"Replaced the defaults in {file} as agreed.", f"Since this morning {service} {long}, see {file}: error."),
    ]
    cause, symptom = ways[number % len(ways)]
    return service, f"why is it that {service} {short}?", Line("kim", cause, of), Line("lee", symptom, of)


def _replies(number: int, of: int, chance: random.Random) -> tuple[str, str, Line, Line]:
    thing = f"{_THINGS[number % len(_THINGS)]}"
    purpose = _PURPOSES[number // len(_THINGS)]
    ways = [f"Which {thing} do we take for {purpose}?", f"What {thing} is it for {purpose}?"]
    value = f"{chance.choice(_VALUES)}, if nothing changed."
    return (
        thing,
        f"which {thing} for {purpose}",
        Line("ann", ways[number % 2], of),
        Line("bob", value[0].upper() + value[1:], of),
    )


def both_found(members: Sequence[Sequence[str]], ranked: Sequence[Sequence[str]], count: int) -> Iterator[float]:
    """Say of each pair whether both of its members are among the first so many hits."""
    for pair, hits in zip(members, ranked, strict=True):
        yield float(set(pair) <= set(hits[:count]))
