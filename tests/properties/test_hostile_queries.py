"""Random and hostile queries: each gives a typed answer within its time (DESIGN 2.5); ten thousand in `make soak`."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import islice

import pytest

from firsthand import Answer, Band, Draft, Kind, Memory, Moment, Outcome, Query, Scope
from firsthand.event import to_text
from stores import SOAK

QUERIES = 2_000 if SOAK else 100  # of each class
EVENTS = 300
DEADLINE_MS = 200
OVER_MS = 2_000  # what may be added by a machine that does other things, at the worst
CHARACTERS_MAX = 100_000

OPERATORS = (
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR/3",
    "*",
    "^",
    '"',
    "'",
    ":",
    "-",
    "+",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "%",
    "_",
)
PATTERNS = (
    "(a+)+$",
    ".*.*.*x",
    "[[:alpha:]]",
    "\\",
    "\\x00",
    "$(rm)",
    "'; DROP TABLE event; --",
    "%s%n",
    "{{7*7}}",
    "../../..",
)
SCRIPTS = (
    "日本語の質問",
    "Привет мир",
    "שלום עולם",
    "مرحبا",
    "ไทย",
    "ខ្មែរ",
    "🙂👩‍👩‍👧",
    "ﬁ",
    "İ",
    "ß",
    "e\u0301",
    "\u202e",
    "\u200b",
    "\ufeff",
    "\U0010ffff",
)
LINES = (
    "The teal gasket of pump 7 arrived on 2024-02-29, v1.2.3, from src/parts/gasket.py.",
    "showThemeSelector() fails: expected \"dark\", got 'light' (see #4711, 8abeb7d)",
    "\u6771\u4eac\u306e\u5929\u6c17 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \U0001f389 na\u00efve caf\u00e9",
    '{"command": "grep -rn \\"a AND b\\" . | head -20"}',
    "Did Ana say so last Tuesday? Two weeks ago, in May 2023.",
)  # fmt: skip
WORDS = (
    "when", "did", "the", "deploy", "fail", "error", "port", "8443", "10.0.3.17", "src/app/main.py", "yesterday",
    "before", "what", "rules", "apply", "and", "why", "who", "last", "Tuesday",
)  # fmt: skip


def random_signs(chance: random.Random) -> str:
    """Any signs at all, lone surrogates and controls too."""
    return "".join(
        chr(chance.choice((chance.randrange(128), chance.randrange(0x3000), chance.randrange(0x110000))))
        for _ in range(chance.randrange(1, 60))
    )


def operators(chance: random.Random) -> str:
    """Operators and patterns of query languages, between words."""
    return " ".join(chance.choice(chance.choice((OPERATORS, PATTERNS, WORDS))) for _ in range(chance.randrange(1, 25)))


def mixed_scripts(chance: random.Random) -> str:
    """Scripts, marks and joints glued together or apart."""
    return chance.choice(("", " ", "\n")).join(
        chance.choice(chance.choice((SCRIPTS, WORDS))) for _ in range(chance.randrange(1, 20))
    )


def very_long(chance: random.Random) -> str:
    """One sign over and over, one long word, many words, many distinct words; a few of them of 100 kB."""
    size = CHARACTERS_MAX if chance.random() < 0.004 else chance.randrange(1, 600)
    shape = chance.randrange(4)
    if shape == 0:
        return chance.choice(("a", " ", '"', "\\", "(", "-", "。", "\0")) * size
    if shape == 1:
        return "".join(chance.choice("ab/._-") for _ in range(size))
    words = WORDS if shape == 2 else [f"w{chance.randrange(10**6):x}" for _ in range(size // 7 + 1)]
    return " ".join(chance.choice(words) for _ in range(size // 6 + 1))[:CHARACTERS_MAX]


def pieces(chance: random.Random) -> str:
    """Pieces of what is stored, numbers with and without zeros, lone surrogates, and nothing at all."""
    made = [""]
    for _ in range(chance.randrange(6)):
        line = chance.choice(LINES)
        start = chance.randrange(len(line))
        number = str(chance.randrange(10**12)).zfill(chance.randrange(1, 20))
        made.append(chance.choice((line[start : start + chance.randrange(1, 40)], number, "\ud800", "\0", "\u202e")))
    return chance.choice(("", " ", "\n")).join(made)


MAKERS = (random_signs, operators, mixed_scripts, very_long, pieces)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """A small store of the sort of text that the queries are near to."""
    chance = random.Random(5)
    drafts = [
        Draft(
            chance.choice((Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT)),
            chance.choice((operators, mixed_scripts, pieces))(chance).encode("utf-8", "surrogatepass"),
            agent=chance.choice(("", "ada", "bo")),
            time=Moment(1_700_000_000_000_000 + number * 3_600_000_000),
        )
        for number in range(EVENTS)
    ]
    with Memory.open(tmp_path_factory.mktemp("hostile") / "store") as opened:
        for at in range(0, EVENTS, 100):
            opened.append(drafts[at : at + 100], session=f"session-{at}")
        opened.follow()
        yield opened
        assert opened.verify().problems == ()


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_whatever_is_asked_the_answer_has_a_type_a_reason_and_comes_in_time(
    memory: Memory, make: Callable[[random.Random], str]
):
    """No query raises or runs over its deadline; an answer's type, hits, likelihood and band agree with each other."""
    chance = random.Random(make.__name__)
    for number in range(QUERIES):
        text = make(chance)
        scope = Scope() if number % 5 else Scope(sessions=("session-100",))
        query = Query(
            text, scope, hits_max=chance.choice((1, 3, 10)), deadline_ms=DEADLINE_MS, now=Moment(1_700_900_000_000_000)
        )
        started = time.perf_counter()
        answer = memory.recall(query)
        taken_ms = (time.perf_counter() - started) * 1000
        assert taken_ms < DEADLINE_MS + OVER_MS, f"{taken_ms:.0f} ms for {text[:80]!r}"
        assert_answer(answer)
        again = memory.recall(query)
        if not answer.truncated and not again.truncated:
            assert order(again) == order(answer), text[:80]


def test_a_rebuilt_index_gives_the_same_answers(memory: Memory):
    """What is derived is disposable: after a rebuild each query has the hits, the order and the scores of before."""
    chance = random.Random(11)
    queries = [
        Query(make(chance), deadline_ms=60_000, now=Moment(1_700_900_000_000_000))
        for make in MAKERS
        for _ in range(QUERIES // 10)
    ]
    before = [order(memory.recall(query)) for query in queries]
    memory.rebuild()
    assert [order(memory.recall(query)) for query in queries] == before
    assert sum(map(bool, before)) > len(before) / 3


def order(answer: Answer) -> list[tuple[str, float]]:
    """Give the pointers of an answer's hits with their scores."""
    return [(hit.pointer, round(hit.score, 6)) for hit in answer.hits]


def assert_answer(answer: Answer) -> None:
    """Assert what holds of every answer of a whole store."""
    assert answer.truncated or not answer.query.text.strip() or answer.outcome is not Outcome.DEGRADED
    assert len(answer.hits) <= answer.query.hits_max
    assert not answer.hits or answer.outcome in {Outcome.FOUND, Outcome.DEGRADED}
    assert answer.hits or answer.outcome is not Outcome.FOUND
    assert 0 <= answer.likelihood <= 1
    assert answer.hits or answer.band is Band.UNLIKELY
    assert all(0 <= hit.score <= 1 for hit in answer.hits)  # and no NaN among them
    assert len({hit.pointer for hit in answer.hits}) == len(answer.hits)


def test_a_query_made_of_an_event_finds_that_event(memory: Memory):
    """The store answers: what it does not find above is not missed for want of an index."""
    for event in islice(memory.events(), 0, EVENTS, 30):
        text = to_text(event.content or b"").strip()
        if len(text) > 40:
            assert event.position in {hit.position for hit in memory.recall(text, hits_max=10)}
