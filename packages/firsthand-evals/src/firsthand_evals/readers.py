"""Who answers the cases: a scripted reader that follows stated rules, or a language model.

A reader gets what stands before a prompt, the prompt, and which sort of value is
wanted; it gives words. Scoring is here too, since it must read both kinds of answer
alike. The invariant: a reader never sees the right answer, the condition or the case.

The scripted reader can go wrong in every condition, and that is what it is for: it
shows what a push does to a reader that believes what it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from firsthand.value import value
from firsthand_evals.cases import HASH, NAME, NUMBER, PATH, Case, topics
from firsthand_evals.endpoint import Model

TRUST_WORDS_MIN = 2
"""Of the question that a line must share for the scripted reader to take its value."""
TOPIC_WORDS = 2
"""What a shared topic counts, in words."""
REPLY_TOKENS_MAX = 40
NO_ANSWER = "I do not know."
SYSTEM = "You help with the work on a system. Answer in one short line."

_SHAPES = {
    NUMBER: re.compile(r"(?<![\w./-])\d+(?:,\d{3})*(?![\w/-]|[.,]\d)"),
    PATH: re.compile(r"(?<![\w:/])/[\w.-]+(?:/[\w.-]+)*\w"), HASH: re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{10}\b"),
    NAME: re.compile(r"\b[a-z]+(?:-[a-z]+)+-\d+\b"),
}  # fmt: skip
_ASK = {
    NUMBER: "Answer with the number alone.", PATH: "Answer with the path alone.", HASH: "Answer with the hash alone.",
    NAME: "Answer with the name alone.",
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_POINTER = re.compile(r"fh:[0-9A-Za-z]+(?:[@.][\w.-]*)?")
_COMMON_WORDS = frozenset(
    """
    a an and are at be before being by can do does did for from get give has have her here him his how i in is it
    its just let me might must my no not now of off on one or our out shall so that the their them there these
    they this those through to up us want was we what when where which while who will with would you your
    """.split()  # noqa: SIM905 - so many quoted words are harder to read
)


@value
class Reading:
    """What a reader has before it."""

    before: str
    prompt: str
    wanted: str


class Reader(Protocol):
    """Answers a prompt.

    Attributes:
        name: for the report.
        repeats: True when the same reading gets the same answer, so that it need be asked once.
        costs: True when asking is paid for or slow, so that it is counted and capped.
    """

    name: str
    repeats: bool
    costs: bool

    def answer(self, reading: Reading) -> str: ...


class Scripted:
    """Answer by rule, without a model: from the lines before the prompt, else from what it believes.

    1. Of the lines before the prompt that hold a value of the wanted sort, it takes the one that shares most
       words with the prompt; a topic that both speak of counts as `TOPIC_WORDS`. Of equals it takes the one with
       the newest date, then the last one.
    2. A line that shares fewer than `TRUST_WORDS_MIN` is passed over. Any other is believed, even where the
       reader knows better: that is how it is distracted.
    3. Without such a line it says what it believes, right or wrong; without a belief that it does not know.
    """

    name = "scripted"
    repeats = True
    costs = False

    def __init__(self, beliefs: Mapping[str, str], topics: Sequence[frozenset[str]] = topics()) -> None:
        self._beliefs, self._topics = dict(beliefs), tuple(topics)

    def answer(self, reading: Reading) -> str:
        asked, dated = words(reading.prompt), ""
        best: tuple[int, str, int] = (TRUST_WORDS_MIN, "", -1)
        found = ""
        for number, line in enumerate(reading.before.splitlines()):
            day = _DATE.search(line)
            dated = day[0] if day else dated
            bare = _POINTER.sub(" ", _DATE.sub(" ", line))
            held = values(bare, reading.wanted)
            rank = (self._shared(asked, words(bare)), dated, number)
            if held and rank > best:
                best, found = rank, held[-1]
        return found or self._beliefs.get(reading.prompt) or NO_ANSWER

    def _shared(self, one: frozenset[str], other: frozenset[str]) -> int:
        return len(one & other) + TOPIC_WORDS * sum(bool(one & topic and other & topic) for topic in self._topics)


class Asked:
    """Let a language model answer, at temperature 0.

    Args:
        repeats: True for a model that gives the same reply to the same messages.
    """

    costs = True

    def __init__(self, model: Model, name: str, *, repeats: bool = False) -> None:
        self.name, self.repeats, self._model = name, repeats, model

    def answer(self, reading: Reading) -> str:
        return self._model.complete(messages(reading), max_tokens=REPLY_TOKENS_MAX).text.strip()


def messages(reading: Reading) -> list[dict[str, str]]:
    """Give what a model is sent: what was pushed stands before the prompt, as a host puts it."""
    parts = [one for one in (reading.before.strip(), f"{reading.prompt} {_ASK[reading.wanted]}") if one]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}]


def values(text: str, wanted: str) -> list[str]:
    """Give the values of a sort that stand in a text, in order: numbers without commas, names in lower case."""
    said = text.lower() if wanted in {NAME, HASH} else text  # a model writes a name with capitals
    return [one.replace(",", "") for one in _SHAPES[wanted].findall(said)]


def words(text: str) -> frozenset[str]:
    """Give the words of a text that say something."""
    return frozenset(_WORD.findall(text.lower())) - _COMMON_WORDS


@value
class Score:
    """What an answer is worth.

    Attributes:
        right: the right value stands in it, and none that is wrong for the case.
        contradicts: it gives a value, and the memory holds another one for the same thing.
        stale: that value is one which the memory holds as no longer current.
        tempted: it gives the value of something else that sounds alike.
        silent: it gives no value at all.
    """

    right: bool
    contradicts: bool
    stale: bool
    tempted: bool
    silent: bool


def score(case: Case, answer: str) -> Score:
    """Judge an answer by the values that stand in it."""
    said = set(values(answer, case.wanted))
    stale, tempted = bool(said & set(case.other)), bool(said & set(case.tempting))
    right = case.right in said and not stale and not tempted
    held = bool(case.ideal)
    return Score(right, held and bool(said) and not right, stale, tempted, not said)
