"""What became of a recall: found, unused, weak, absent or missed, told by the work that followed it (total-recall 3.2).

    recall  ->  what was shown  ->  the agent's next work of that turn, the user's next words
                 found    it was opened, cited, or an exact string of it was used that nothing else had brought
                 missed   it was not shown, and what followed proves that it was there
                 unused, weak, absent   what the answer said of itself, where there is no such sign

The invariant: what Firsthand put into a context is no sign of use: only what an agent or a
user wrote is, and no string that the session held before. No verdict without its sign.

Pure: it judges what it is handed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from functools import cache

from firsthand.moment import Moment
from firsthand.recall.complement import names
from firsthand.recall.made import telling
from firsthand.value import field, value

TEXT_CHARACTERS = 6_000
"""Of one event, its first: so much is read for exact strings."""
PATTERNS_MAX = 3
PATTERN_RECALLS_MIN = 4
"""Fewer recalls with a word in common are no pattern."""
_Z = 1.6449  # of a one-sided 95 %
_NUMBER = r"(?<![\w.])\d[\d.,:/-]*\d(?!\w)"
_DIGITS_MIN = 3
SHARED_MIN = 2
"""Telling words that what an agent wrote has in common with a question; one is enough where the user says it."""
_compiled = cache(re.compile)


class Verdict(StrEnum):
    """What became of a recall."""

    FOUND = "found"  # it was shown, and used
    UNUSED = "unused"  # it was shown, and there is no sign of use
    WEAK = "weak"  # below the gate, and there is no sign that it was needed
    ABSENT = "absent"  # nothing came, and there is no sign that there was anything
    MISSED = "missed"  # it was not shown, and what followed proves that it was there


@value
class Recalled:
    """One recall as the log has it.

    Attributes:
        pointer: of the user's message, or of the call.
        asked: its words.
        unasked: True for implicit recall: the message was the query.
        users: True when the words are the user's, and not a model's or a page's.
        outcome: what the answer said of itself; empty when nothing was shown and the log does not say why.
        shown: pointers that were put before the agent.
    """

    pointer: str
    position: int
    session: str
    turn: int
    asked: str
    unasked: bool
    users: bool
    outcome: str = ""
    shown: tuple[str, ...] = ()
    time: Moment | None = None


@value
class Work:
    """What followed a recall in its turn.

    Attributes:
        named: pointers that were opened or cited.
        strings: exact strings that the agent wrote and the session did not hold before.
        said: exact strings of the user's next message that the session did not hold before.
        corrected: True when the user said next that something was wrong.
    """

    named: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()
    corrected: bool = False


@value
class Judged:
    """A recall and what became of it.

    Attributes:
        right: pointers of what was asked for, as what followed shows; empty where there is no sign.
        strings: the exact strings that show it, those of `right`.
        sign: the sign in a sentence; empty for none.
    """

    recalled: Recalled
    verdict: Verdict
    right: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    sign: str = ""
    corrected: bool = False


@value
class Pattern:
    """A word whose recalls fail more often than the others: "questions about X are under-retrieved"."""

    word: str
    failed: int
    recalls: int

    def __str__(self) -> str:
        return f"recalls about {self.word!r} fail: {self.failed} of {self.recalls}"


@value
class Counts:
    """How many recalls became what, and of how many the user corrected what followed."""

    verdicts: Mapping[str, int] = field(default_factory=dict)
    unasked: int = 0
    corrected: int = 0

    @property
    def recalls(self) -> int:
        """How many there were."""
        return sum(self.verdicts.values())


def strings_of(text: str) -> frozenset[str]:
    """Give the exact strings of a text: names of things, and numbers of three digits and more, in small letters."""
    text = text[:TEXT_CHARACTERS]
    numbers = (one.casefold() for one in _compiled(_NUMBER).findall(text))
    return names(text) | {one for one in numbers if sum(map(str.isdigit, one)) >= _DIGITS_MIN}


def judge(recalled: Recalled, shown: Mapping[str, str], work: Work) -> Judged:
    """Judge a recall by what was shown and what followed; `missed` says of one without use whether it was missed.

    Args:
        shown: texts of what was put before the agent, by pointer.
    """
    asked = strings_of(recalled.asked)
    used: dict[str, frozenset[str]] = {}
    for pointer, text in shown.items():
        held = (work.strings & strings_of(text)) - asked
        if pointer in work.named or held:
            used[pointer] = held
    if used:
        strings = sorted(frozenset().union(*used.values()))
        how = f"its {strings[0]!r:.60} was used" if strings else "it was opened or cited"
        return Judged(recalled, Verdict.FOUND, tuple(used), tuple(strings), how, work.corrected)
    verdicts = {"found": Verdict.UNUSED, "weak": Verdict.WEAK}
    verdict = verdicts.get(recalled.outcome, Verdict.UNUSED if shown else Verdict.ABSENT)
    return Judged(recalled, verdict, corrected=work.corrected)


def missed(one: Judged, right: Collection[str], strings: Collection[str], sign: str) -> Judged:
    """Judge a recall anew: what followed proves that something else was there."""
    return Judged(one.recalled, Verdict.MISSED, tuple(right), tuple(strings), sign, one.corrected)


def is_about(asked: str, text: str, shared_min: int = SHARED_MIN) -> bool:
    """Say whether a text shares enough telling words with what was asked to be about the same."""
    words = {word.casefold() for word in telling(asked) if len(word) > 3}
    held = {word.casefold() for word in telling(text)}
    return len(words & held) >= min(shared_min, max(1, len(words)))


def are_users_words(asked: str, said: str) -> bool:
    """Say whether at least half of a query's telling words stand in what the user said."""
    words = {word.casefold() for word in telling(asked)}
    return bool(words) and 2 * len(words & {word.casefold() for word in telling(said)}) >= len(words)


def count(judged: Sequence[Judged]) -> Counts:
    """Count the verdicts."""
    told = Counter(one.verdict.value for one in judged)
    return Counts(
        {one.value: told[one.value] for one in Verdict},
        sum(one.recalled.unasked for one in judged),
        sum(one.corrected for one in judged),
    )


def patterns(judged: Sequence[Judged]) -> tuple[Pattern, ...]:
    """Find words whose recalls fail surely more often than all do (Wilson's lower bound, one-sided 95 %)."""
    failed = {Verdict.MISSED, Verdict.WEAK, Verdict.ABSENT}
    distinct = {" ".join(sorted(one.recalled.asked.casefold().split())): one for one in judged}.values()
    share = sum(one.verdict in failed for one in distinct) / max(1, len(distinct))
    of: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for one in distinct:
        words = {word.casefold() for word in telling(one.recalled.asked) if len(word) > 3}
        of.update(words)
        bad.update(words if one.verdict in failed else ())
    found = [
        Pattern(word, bad[word], times)
        for word, times in of.items()
        if times >= PATTERN_RECALLS_MIN and lower(bad[word], times) > share
    ]
    return tuple(sorted(found, key=lambda one: (-one.failed, one.word))[:PATTERNS_MAX])


def lower(hits: int, of: int) -> float:
    """Give the lower end of Wilson's interval of a share, one-sided 95 %."""
    if not of:
        return 0.0
    share, square = hits / of, _Z * _Z
    centre = share + square / (2 * of)
    spread = _Z * math.sqrt((share * (1 - share) + square / (4 * of)) / of)
    return max(0.0, (centre - spread) / (1 + square / of))
