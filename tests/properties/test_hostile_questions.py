"""No text is a question that recall cannot rank: 10,000 of them in the soak."""

from __future__ import annotations

import math
import random

import pytest

from firsthand import Memory
from firsthand.answer import Query
from firsthand.recall.query import Deadline
from firsthand.recall.ranking import rank
from stores import SOAK

QUESTIONS = 10_000 if SOAK else 150
LINES = (
    "The teal gasket of pump 7 arrived on 2024-02-29, v1.2.3, from src/parts/gasket.py.",
    "showThemeSelector() fails: expected \"dark\", got 'light' (see #4711, 8abeb7d)",
    "\u6771\u4eac\u306e\u5929\u6c17 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \U0001f389 na\u00efve caf\u00e9",
    '{"command": "grep -rn \\"a AND b\\" . | head -20"}',
    "x" * 3_000,
    "Did Ana say so last Tuesday? Two weeks ago, in May 2023.",
)  # fmt: skip
OPERATORS = (
    "AND",
    "OR NOT",
    "NEAR(a b, 3)",
    '"',
    "*",
    "^a",
    "a:b",
    "--",
    "\\",
    "%",
    "q123",
    "+",
    "=case 7",
    "{",
    "]",
    "\0",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    with Memory(tmp_path_factory.mktemp("hostile") / "store", embedder="none") as opened:
        for number in range(20):
            session = opened.session(f"proving-case-{number:03}")
            session.user(LINES[number % len(LINES)], agent="Ana")
            session.agent(LINES[(number + 1) % len(LINES)])
            session.tool_result(session.tool_call("shell", LINES[3]), LINES[(number + 2) % len(LINES)])
        opened.follow()
        yield opened
        assert opened.verify().ok


def test_any_text_is_ranked(memory):
    """Whatever a question is made of, it is ranked twice alike, each event once, with finite scores that fall."""
    chance = random.Random(7)
    with memory.index_moment() as moment:
        for _ in range(QUESTIONS):
            text = _question(chance)
            if not text.strip():
                continue
            query = Query(text)
            found = rank(moment, query, deadline=Deadline(60_000))
            assert found == rank(moment, query, deadline=Deadline(60_000))
            positions = [event.position for event in found.ranked]
            assert len(positions) == len(set(positions))
            scores = [event.score for event in found.ranked]
            assert scores == sorted(scores, reverse=True)
            assert all(0 < score < 1 and math.isfinite(score) for score in scores)
            assert 0 <= found.likelihood <= 1


def _question(chance: random.Random) -> str:
    """Make a question of pieces of what is stored, of operators of other search engines, and of any signs."""
    pieces = []
    for _ in range(chance.randrange(1, 6)):
        line = chance.choice(LINES)
        start = chance.randrange(len(line))
        pieces.append(
            chance.choice(
                (
                    line[start : start + chance.randrange(1, 40)],
                    chance.choice(OPERATORS),
                    "".join(chr(chance.randrange(1, 0x2FFF)) for _ in range(chance.randrange(1, 12))),
                    chr(chance.randrange(0xD800, 0xE000)),
                    str(chance.randrange(10**12)).zfill(chance.randrange(1, 20)),
                    " ".join(f"word{chance.randrange(10**6)}" for _ in range(chance.choice((1, 2, 5, 5, 9, 700)))),
                )
            )
        )
    return chance.choice(("", " ", "\n")).join(pieces)
