"""Questions made of a store's own events, with their truth: what a gate is learned on.

A question that has an answer is a few words of one sentence of an event, mostly
its commoner ones, with words around them that are of a neighbour, of any event or
of no event at all: agents ask in other words than those that stand there; or it is a
string of the event as it stands there, and nothing else. One that
has none is the same with the event left out, words of events far apart, a question
with its telling word exchanged for another of the same class (the speaker, a name,
a number, a path), or one whose words the store mostly does not have.

The invariant: the same runs, seed and count give the same questions. This module
knows no storage and no ranking.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

from firsthand.value import value

from .stop_words import STOP_WORDS

TEXT_CHARACTERS_MAX = 4_000
WORD_CHARACTERS_MAX = 60
ANCHOR_WORDS_MIN = 5
"""An event of fewer telling words is not asked for: nothing would tell it from others."""
TRIES = 3
"""As many times the questions wanted are tried at most; some events give none of a kind."""

SHARES = {"own": 0.41, "verbatim": 0.12, "left out": 0.14, "mixed": 0.08, "swapped": 0.18, "strange": 0.07}
"""How many of each: a little more than half have an answer."""
UNKNOWN_SHARE, NEIGHBOUR_SHARE = 0.25, 0.30
"""Of the words put around: made up, and taken from a neighbour; the others are taken from any event."""
STRANGE_SHARE = 0.65
NAMED_SHARE = 0.7
STRING_SHARE, WORD_SHARE = 0.4, 0.2
"""Of the questions taken verbatim: an identifier or number, one word; the others are a run of words."""
CHANGED_SHARE, QUOTED_SHARE = 0.2, 0.3
COMMONNESS = 0.5
"""The power of a word's count by which it is drawn: askers remember common words before rare ones."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019./\\_:@#-]+[^\W_]+)*")
_SENTENCE = re.compile(r"[.!?]+\s+|\n+")
_JOINTS = re.compile(r"[./\\_:@#]")
_CONTRACTED = re.compile(r"['\u2019](?:s|t|re|ll|ve|d|m)\Z", re.IGNORECASE)
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sha".split()  # noqa: SIM905
_NAMED_FORMS = (
    "What did {agent} say about {words}?",
    "When did {agent} {words}?",
    "How did {agent} {words}?",
    "Did {agent} mention {words}?",
    "What {words} does {agent} have?",
    "Why was {agent} {words}?",
)
_FORMS = ("{words}", "What was {words}?", "when did we {words}", "How was {words} done?", "which {words}", "{words} ?")
_ROLES = frozenset({"user", "assistant", "agent", "tool", "system"})


@value
class Told:
    """An event, as far as questions are made of it."""

    position: int
    session: str
    agent: str
    text: str


@value
class Made:
    """A question whose truth is known.

    Attributes:
        answer: the position that must be found; 0 when nothing may be.
        own: its words that are of the event it was made of.
        without: positions that are to be left out when it is asked.
        how: what made it: a key of `SHARES`.
    """

    text: str
    answer: int
    own: frozenset[str]
    without: frozenset[int]
    how: str


def make(runs: Sequence[Sequence[Told]], seed: str, count: int) -> tuple[Made, ...]:
    """Make questions of runs of consecutive events; fewer than asked for where the runs give no more."""
    maker = _Maker(runs, random.Random(seed))  # noqa: S311 - a sample, not a secret
    found: list[Made] = []
    for number in range(count * TRIES if maker.anchors else 0):
        one = maker.next(number)
        if one is not None and one.text not in {other.text for other in found}:
            found.append(one)
        if len(found) == count:
            break
    return tuple(found)


@value
class _Anchor:
    event: Told
    words: tuple[str, ...]
    run: tuple[Told, ...]


class _Maker:
    """Makes one question after the other."""

    def __init__(self, runs: Sequence[Sequence[Told]], chance: random.Random) -> None:
        self._chance = chance
        events = {told.position: told for run in runs for told in run}
        self._words = {told.position: telling(told.text) for told in events.values()}
        self._counts = Counter(word.casefold() for words in self._words.values() for word in set(words))
        self._pool = [word for words in self._words.values() for word in dict.fromkeys(words)]
        self._classes: dict[str, list[str]] = {}
        for word in sorted(set(self._pool)):
            self._classes.setdefault(class_of(word), []).append(word)
        self._agents = sorted({one.agent for one in events.values() if one.agent and one.agent not in _ROLES})
        anchors: dict[int, _Anchor] = {}
        for run in runs:
            for told in run:
                words = self._words[told.position]
                if len(set(words)) >= ANCHOR_WORDS_MIN:
                    anchors.setdefault(told.position, _Anchor(told, tuple(words), tuple(run)))
        self.anchors = list(anchors.values())
        chance.shuffle(self.anchors)

    def next(self, number: int) -> Made | None:
        """Make a question of the next anchor; None where its kind cannot be made of it."""
        anchor = self.anchors[number % len(self.anchors)]
        how = self._chance.choices(list(SHARES), list(SHARES.values()))[0]
        words, own = self._words_of(anchor)
        agent = anchor.event.agent if anchor.event.agent in self._agents else ""
        agent = agent if self._chance.random() < NAMED_SHARE else ""
        answer, without = 0, frozenset[int]()
        match how:
            case "own":
                answer = anchor.event.position
            case "left out":
                alone = self._chance.random() < 0.4
                without = frozenset({anchor.event.position} if alone else {told.position for told in anchor.run})
            case "mixed":
                words = self._mixed(anchor)
            case "swapped":
                swapped = self._swapped(anchor, words, own, agent)
                if swapped is None:
                    return None
                words, agent = swapped
            case "verbatim":
                text, stands = self._verbatim(anchor)
                return Made(text, anchor.event.position if stands else 0, frozenset(own), without, how)
            case _:
                words = [self._made_up() if self._chance.random() < STRANGE_SHARE else word for word in words]
        return Made(self._put(words, agent), answer, frozenset(own), without, how)

    def _words_of(self, anchor: _Anchor) -> tuple[list[str], list[str]]:
        """Choose the words of a question: those of the event, in its order, with others among them."""
        chance = self._chance
        sentences = [telling(one) for one in _SENTENCE.split(anchor.event.text)]
        sentences = [one for one in sentences if len(set(one)) >= ANCHOR_WORDS_MIN - 1] or [list(anchor.words)]
        sentence = chance.choice(sentences)
        length = chance.randint(3, 9)
        share = max(2, round(length * chance.uniform(0.35, 1.0)))
        own = self._draw(sentence, share)
        if len(own) < share:
            own += self._draw([word for word in anchor.words if word not in own], share - len(own))
        words = list(dict.fromkeys([*(word for word in sentence if word in own), *own]))
        around = [word for told in anchor.run if told != anchor.event for word in self._words[told.position]]
        for _ in range(length - len(own)):
            drawn = chance.random()
            if drawn < UNKNOWN_SHARE:
                word = self._made_up()
            elif drawn < UNKNOWN_SHARE + NEIGHBOUR_SHARE and around:
                word = chance.choice(around)
            else:
                word = chance.choice(self._pool)
            words.insert(chance.randint(0, len(words)), word)
        return words, own

    def _verbatim(self, anchor: _Anchor) -> tuple[str, bool]:
        """Take a string as it stands there, or change it into one that stands nowhere; say whether it does."""
        chance = self._chance
        told = sorted({word for word in anchor.words if class_of(word) in {"identifier", "number"} and len(word) > 3})
        drawn = chance.random()
        if told and drawn < STRING_SHARE:
            text = chance.choice(told)
        elif drawn < STRING_SHARE + WORD_SHARE:
            text = chance.choice(anchor.words)
        else:
            every = anchor.event.text[:TEXT_CHARACTERS_MAX].replace('"', "").split()
            begin = chance.randrange(max(1, len(every) - 5))
            text = " ".join(every[begin : begin + chance.randint(2, 8)])
        if chance.random() < CHANGED_SHARE:
            return f"{self._made_up()}{text}", False
        return (f'"{text}"' if chance.random() < QUOTED_SHARE else text), True

    def _mixed(self, anchor: _Anchor) -> list[str]:
        chance = self._chance
        words = self._draw(anchor.words, chance.randint(1, 2))
        for most in (3, 2):
            words += self._draw(chance.choice(self.anchors).words, chance.randint(1, most))
        chance.shuffle(words)
        return words

    def _swapped(
        self, anchor: _Anchor, words: Sequence[str], own: Sequence[str], agent: str
    ) -> tuple[list[str], str] | None:
        """Exchange the speaker, or one telling word, for another that the store knows; None without one."""
        others = [one for one in self._agents if one != anchor.event.agent]
        if agent and others and self._chance.random() < 0.75:
            return list(words), self._chance.choice(others)
        told = [word for word in own if class_of(word)]
        if not told:
            return None
        word = self._chance.choice(told)
        same = [one for one in self._classes[class_of(word)] if one not in anchor.words]
        if not same:
            return None
        other = self._chance.choice(same)
        return [other if one == word else one for one in words], agent

    def _draw(self, words: Sequence[str], count: int) -> list[str]:
        left, drawn = list(dict.fromkeys(words)), list[str]()
        while left and len(drawn) < count:
            weights = [self._counts[word.casefold()] ** COMMONNESS for word in left]
            drawn.append(left.pop(self._chance.choices(range(len(left)), weights)[0]))
        return drawn

    def _made_up(self) -> str:
        return "".join(self._chance.choices(_SYLLABLES, k=3))

    def _put(self, words: Sequence[str], agent: str) -> str:
        said = " ".join(word if class_of(word) else word.lower() for word in words)
        return self._chance.choice(_NAMED_FORMS if agent else _FORMS).format(agent=agent, words=said)


def telling(text: str) -> list[str]:
    """List the words of a text that may tell what it is about, in its order."""
    return [
        word
        for word in _WORD.findall(text[:TEXT_CHARACTERS_MAX])
        if (len(word) > 2 or word.isdigit())
        and len(word) <= WORD_CHARACTERS_MAX
        and word.lower() not in STOP_WORDS
        and not _CONTRACTED.search(word)
    ]


def class_of(word: str) -> str:
    """Name the class in which a word can be exchanged for another; empty for a plain word."""
    if word.isdigit():
        return "number"
    if any(map(str.isdigit, word)) or _JOINTS.search(word):
        return "identifier"
    return "name" if word[:1].isupper() else ""
