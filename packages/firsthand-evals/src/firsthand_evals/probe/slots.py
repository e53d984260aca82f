r"""Finds the statement that gives the value of a named thing: a time, a date, a port, a price.

    "the port of images"        {"images": {"port": 8818}}
    "the time of the table"     "I need a table for 4. It must be 9:30 pm."

The invariant: what a user or a tool says stands above what an agent says; of equals
the one that shares more words with what is asked for, and then the later one. A
statement that shares no word gives nothing, unless it goes on from one that does.

It does not know whether the value is right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from firsthand.value import value
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value

NEAR_MAX = 256  # statements that are looked at closely for one question
WORDS_MIN = 4  # of a question: half of so many of its words must be said where its answer is taken from

_compiled = cache(re.compile)
_WORDS_OF_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(?:times?|o'clock|when|hour at|uhrzeit|heure|hora|leave ?at|arrive ?by|book time)\b", ("time", "date")),
    (r"\b(?:dates?|days?|when|datum|weekday)\b", ("date", "time")),
    (r"\b(?:how long|duration|timeout|nights|stay)\b", ("duration", "number")),
    (r"\b(?:how much|prices?|costs?|fare|fee|budget|salary|rent|money)\b", ("money", "number")),
    (r"\b(?:percent\w*|rate|share)\b", ("percent", "number")),
    (
        r"\b(?:how many|number of|count of|people|guests|ports?|replicas|size|seats)\b",
        ("number", "duration", "money", "word"),
    ),
    (r"\b(?:path|file|folder|url|e-?mail|version|reference|id|code|address|name of the file)\b", ("word", "number")),
)
_ASKING = frozenset(
    """time date day what when who which that the asked user said much many long value number right correct should
    wanted want please tell know wrong think recheck check corrected""".split()  # noqa: SIM905 - so many quoted words are harder to read
)
_BY_AGENT = r"\b[Tt]he (?:agent|assistant|model|bot) (?:said|wrote|answered|put|claimed|told|gave)\b"
ANY = ("number", "money", "time", "date", "percent", "duration", "word")


@value
class Slot:
    """A value and the places of the statements that give it."""

    value: Value
    places: tuple[int, ...]


def kinds_of(what: str) -> tuple[str, ...]:
    """Name the kinds of value that words ask for, the likeliest first."""
    low = what.lower()
    return next((kinds for pattern, kinds in _WORDS_OF_KINDS if _compiled(pattern).search(low)), ANY)


Index = dict[str, list[int]]


def index_of(statements: Sequence[Statement]) -> Index:
    """Say at which places each word stands: in a statement, above it, or in the one that it may go on from."""
    index: Index = {}
    for place, one in enumerate(statements):
        if not one.values:
            continue
        words = _words(one)
        if place and _goes_on(statements, place):
            words |= statements[place - 1].subject
        for word in words:
            index.setdefault(word, []).append(place)
    return index


def find(
    statements: Sequence[Statement],
    what: str,
    *,
    agents: bool = True,
    beside: int | None = None,
    index: Index | None = None,
) -> Slot | None:
    """Find the value of what is asked for; None when no statement gives it.

    Args:
        agents: take what an agent says where nobody else says anything.
        beside: the place of the question itself, which is no answer.
        index: of these statements, when it is at hand.
    """
    wanted = frozenset(subject_of(what)) - _ASKING
    kinds = kinds_of(what)
    best: tuple[tuple[int, ...], Slot] | None = None
    at = index_of(statements) if index is None else index
    near = _near(at, wanted) if wanted else range(len(statements))
    for place in near:
        one = statements[place]
        if not one.values or not one.polarity or one.form == "header" or one.role == "system" or place == beside:
            continue
        own = one.form != "question" and one.asserts not in {"claim", "confirmation", "conclusion", "total"}
        own = own and _compiled(_BY_AGENT).search(one.text) is None
        said = _is_said(one)
        if not (agents or (said and own)):
            continue
        found = _best_value(one, wanted, kinds)
        shared, places = _shared(statements, place, wanted)
        if found is None or (wanted and not shared) or (not agents and shared * 2 < min(len(wanted), WORDS_MIN)):
            continue
        rank = (int(own), int(said), shared + found[0], -kinds.index(found[1].kind), place)
        if best is None or rank > best[0]:
            best = (rank, Slot(found[1], places))
    return None if best is None else best[1]


def _near(index: Index, wanted: frozenset[str]) -> list[int]:
    """Give the places that share the most words with what is asked for, of equals the latest."""
    shared = Counter(place for word in wanted for place in index.get(word, ()))
    if len(shared) <= NEAR_MAX:
        return sorted(shared)
    return sorted(sorted(shared, key=lambda place: (shared[place], place))[-NEAR_MAX:])


def _is_said(one: Statement) -> bool:
    """Say whether a statement comes from somebody other than the agent."""
    return one.role not in {"assistant", "agent", "ai", "model"}


def _words(one: Statement) -> frozenset[str]:
    return one.subject | subject_of(" ".join((*one.path, *(cell.name for cell in one.cells))).replace("_", " "))


def _goes_on(statements: Sequence[Statement], place: int) -> bool:
    """Say whether the statement before one is of the same message, and may name what this one is about."""
    before = statements[place - 1]
    return before.turn == statements[place].turn and before.form not in {"row", "question"}


def _shared(statements: Sequence[Statement], place: int, wanted: frozenset[str]) -> tuple[int, tuple[int, ...]]:
    """Count the words that a statement shares with what is asked for, and name it with what it goes on from."""
    words = _words(statements[place])
    shared = len(words & wanted)
    if place and _goes_on(statements, place):
        told = len(statements[place - 1].subject & wanted)
        if told and not (shared and words):
            return shared + told, (place - 1, place)
    return shared, (place,)


def _by_nearness(one: Statement, wanted: frozenset[str]) -> list[tuple[int, Value]]:
    """Give each value of a sentence with how many of the wanted words stand next to it; those behind it count twice."""
    found = []
    for number, held in enumerate(one.values):
        begin = one.values[number - 1].end if number else one.start
        end = one.values[number + 1].start if number + 1 < len(one.values) else one.end
        before = one.text[begin - one.start : held.start - one.start]
        behind = one.text[held.end - one.start : end - one.start]
        found.append((2 * len(subject_of(behind) & wanted) + len(subject_of(before) & wanted), held))
    return found


def _best_value(one: Statement, wanted: frozenset[str], kinds: Sequence[str]) -> tuple[int, Value] | None:
    """Give the value of a statement that is meant, with how many words its cell shares; None when it has none."""
    best: tuple[tuple[int, int, int], Value] | None = None
    cells = one.cells if any(cell.values for cell in one.cells) else ()
    named = [(len(subject_of(cell.name.replace("_", " ")) & wanted), held) for cell in cells for held in cell.values]
    for order, (shared, found) in enumerate(named or _by_nearness(one, wanted)):
        if found.kind not in kinds:
            continue
        rank = (shared, -kinds.index(found.kind), -order)
        if best is None or rank > best[0]:
            best = (rank, found)
    return None if best is None else (best[0][0], best[1])
