"""Changes of recall's values, tried on a store's own questions: proposed on one half, decided on the other.

    questions  ->  half by their words  ->  proposals on the tuning half  ->  taken or refused on the held-out half

What is measured of a question:

    order   nDCG of what was asked for, among the first ten hits
    worth   what the outcome brings: found and right +1, found and wrong -cost, else 0; the mean of the question
            as it stands and of the same one with what it asks for left out, where nothing may be found

The invariant: no proposal sees the held-out half; a change is taken only if its own measure
is better there on what users asked, at the lower end of a paired bootstrap too (one-sided
95 %), the other measure and the mined questions are not worse, no more answers are led by
text of a tool or page that is not what was asked for, and it is not slower by more than
`SLOWER_MAX`. With too few questions nothing is proposed. The same figures give the same
decision.

Pure: who asks is `lifecycle.recall_bench`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from firsthand.hashing import blake2s
from firsthand.recall.gate import sigmoid
from firsthand.recall.tuning import GATE, PARAMETERS, Parameter, Tuned
from firsthand.value import replace, value

HITS = 10
COST = 3.0
"""Of a false memory beside a second look: the default of `Query.cost`."""
REAL_MIN = 20
"""Questions that users asked, of each half, without which nothing is tuned."""
PROPOSED_MAX = 4
CHANGES_MAX = 2
"""A night at most."""
OTHER_WORSE_MAX = 0.01
"""So much the other measure, and the mined questions, may be worse in the mean, and not surely."""
SLOWER_MAX = 0.25
RESAMPLES, SEED, LEVEL = 2_000, 20_261_121, 0.05
ORDER, WORTH = "order", "worth"
TUNING, HELD_OUT = "tuning", "held out"


@value
class Question:
    """One question of the benchmark.

    Attributes:
        before: the position before which the answer must stand; 0 for all.
        session: the one whose own words are left out; empty for none.
        right: positions of what it asks for.
        strings: exact strings of the answer; another event that holds one of them is right too.
        unasked: asked as implicit recall asks, once.
        real: asked by the user; else mined from the store, with a byte range for an answer.
        pointer: of the recall, or of the byte range.
        known: pointers that it rests on.
    """

    text: str
    before: int
    session: str
    right: tuple[int, ...]
    strings: tuple[str, ...] = ()
    unasked: bool = False
    real: bool = True
    pointer: str = ""
    known: tuple[str, ...] = ()

    @property
    def half(self) -> str:
        """Which half it belongs to: by its words alone, so that one asked twice is never in both."""
        words = " ".join(sorted(set(self.text.casefold().split())))
        return (TUNING, HELD_OUT)[blake2s(words.encode("utf-8", "surrogatepass"))[0] & 1]


@value
class Seen:
    """What came of asking once.

    Attributes:
        places: of what is right among the hits, from 1.
        wanted: how many events are right.
        found: the answer passed the gate.
        right: one of the hits that would be shown is right.
        led: it passed, and its first hit is untrusted and not right.
        unsure: whether a right one was left out cannot be told; it does not count.
    """

    places: tuple[int, ...] = ()
    wanted: int = 1
    confidence: float = 0.0
    found: bool = False
    right: bool = False
    led: bool = False
    seconds: float = 0.0
    unsure: bool = False


@value
class Pair:
    """A question as it stands, and with what it asks for left out; a mined one is only asked as it stands."""

    question: Question
    seen: Seen
    without: Seen | None = None


@value
class Change:
    """A value and what it would become."""

    name: str
    before: float
    after: float


@value
class Interval:
    """A mean difference of pairs, and the lower and upper end of its 90 % interval (each end one-sided 95 %)."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}] (n = {self.n})"


@value
class Trial:
    """A change tried on the held-out half.

    Attributes:
        own, other: differences of its own measure and of the other one, on what users asked.
        mined: difference of the order of mined questions.
        led_before, led_after: answers led by untrusted text that is not what was asked for.
        slower: share of time that it takes more.
        refused: why it is not taken; empty when it is.
    """

    change: Change
    measure: str
    own: Interval
    other: Interval
    mined: Interval
    led_before: int
    led_after: int
    slower: float
    refused: str = ""

    @property
    def taken(self) -> bool:
        """True when it is."""
        return not self.refused

    def figures(self) -> dict[str, Any]:
        """Give what is kept of it with the decision."""
        return {
            "measure": self.measure, "gain": _short(self.own.mean), "low": _short(self.own.low),
            "high": _short(self.own.high), "n": self.own.n, "other": _short(self.other.mean),
            "other_low": _short(self.other.low), "mined": _short(self.mined.mean), "led_before": self.led_before,
            "led_after": self.led_after, "slower": _short(self.slower),
        }  # fmt: skip


def _short(number: float) -> float:
    return round(number, 4)


# measures -------------------------------------------------------------------------------------------


def order(pair: Pair) -> float:
    """Give nDCG of what was asked for, from 0 to 1."""
    gained = sum(1 / math.log2(1 + place) for place in pair.seen.places[: pair.seen.wanted])
    best = sum(1 / math.log2(2 + number) for number in range(min(HITS, pair.seen.wanted)))
    return min(1.0, gained / best)


def worth(pair: Pair, shift: float = 0.0) -> float:
    """Give what the outcome of a question brings, from -`COST` to 1; `shift` moves its confidences first."""
    told = _brings(pair.seen, shift)
    if pair.without is None or pair.without.unsure:
        return told
    return (told + _brings(pair.without, shift)) / 2


def _brings(seen: Seen, shift: float) -> float:
    found = seen.found if not shift else moved(seen.confidence, shift) >= COST / (1 + COST)
    return 0.0 if not found else 1.0 if seen.right else -COST


def moved(confidence: float, shift: float) -> float:
    """Move a confidence by log-odds; one of 0 or 1 stays."""
    if not 0.0 < confidence < 1.0:
        return confidence
    return sigmoid(math.log(confidence / (1 - confidence)) + shift)


def difference(before: Sequence[float], after: Sequence[float]) -> Interval:
    """Give the mean difference of pairs with its interval by resampling the pairs; the same figures, the same ends."""
    gaps = [new - old for old, new in zip(before, after, strict=True)]
    if not gaps:
        return Interval(0.0, 0.0, 0.0, 0)
    if not any(gaps):
        return Interval(0.0, 0.0, 0.0, len(gaps))
    chance = random.Random(SEED)  # noqa: S311 - a resampling, not a secret
    means = sorted(fmean(chance.choices(gaps, k=len(gaps))) for _ in range(RESAMPLES))
    ends = int(LEVEL * RESAMPLES), int((1 - LEVEL) * RESAMPLES) - 1
    return Interval(fmean(gaps), means[ends[0]], means[ends[1]], len(gaps))


# proposals ------------------------------------------------------------------------------------------


def too_few(questions: Sequence[Question]) -> str:
    """Say that there are too few questions to tune anything by; empty when there are enough."""
    for half in (TUNING, HELD_OUT):
        real = sum(one.real and one.half == half for one in questions)
        if real < REAL_MIN:
            return f"too few questions of users whose answer is known: {real} in the {half} half, of {REAL_MIN} needed"
    return ""


def neighbours_of(now: Tuned) -> tuple[Change, ...]:
    """Give the changes of the order that one step reaches, in the order of the parameters."""
    found = []
    for one in PARAMETERS:
        if one.name != GATE:
            found += [Change(one.name, now.get(one.name), after) for after in steps(one, now.get(one.name))]
    return tuple(found)


def steps(one: Parameter, at: float) -> tuple[float, ...]:
    """Give the values one step below and above, within the bounds."""
    found = (round(max(one.low, at - one.step), 6), round(min(one.high, at + one.step), 6))
    return tuple(after for after in found if after != at)


def shift_of(pairs: Sequence[Pair], now: Tuned) -> tuple[Change, Interval] | None:
    """Propose a shift of the gate by the confidences of the tuning half; None where none is better there."""
    known = next(one for one in PARAMETERS if one.name == GATE)
    at = now.gate_shift
    ways = {round(min(known.high, max(known.low, at + share * known.step)), 6) for share in (-1, -0.5, 0.5, 1)} - {at}
    base = [worth(one) for one in pairs]
    tried = {after: difference(base, [worth(one, after - at) for one in pairs]) for after in ways}
    good = {after: one for after, one in tried.items() if promises(one)}
    if not good:
        return None
    best = max(good, key=lambda after: (good[after].mean, -abs(after), after))
    return Change(GATE, at, best), good[best]


def promises(gain: Interval) -> bool:
    """Say whether a difference is a gain, and not a loss at its lower end."""
    return gain.mean > 0.0 and gain.low >= 0.0


def with_change(now: Tuned, change: Change, basis: str) -> Tuned:
    """Give the values with one of them changed."""
    fields: dict[str, Any] = {change.name: change.after}
    if change.name == GATE:
        fields["basis"] = basis
    return replace(now, **fields)


# decisions ------------------------------------------------------------------------------------------


def tried(change: Change, before: Sequence[Pair], after: Sequence[Pair]) -> Trial:
    """Decide on a change by the held-out half, asked before and after it."""
    real = [(old, new) for old, new in zip(before, after, strict=True) if old.question.real]
    mined = [(old, new) for old, new in zip(before, after, strict=True) if not old.question.real]
    by_order = difference([order(old) for old, _ in real], [order(new) for _, new in real])
    by_worth = difference([worth(old) for old, _ in real], [worth(new) for _, new in real])
    on_mined = difference([order(old) for old, _ in mined], [order(new) for _, new in mined])
    measure, own, other = (WORTH, by_worth, by_order) if change.name == GATE else (ORDER, by_order, by_worth)
    led = [sum(seen.led for one in pairs for seen in _asked(one)) for pairs in (before, after)]
    took = [sum(seen.seconds for one in pairs for seen in _asked(one)) for pairs in (before, after)]
    slower = took[1] / took[0] - 1 if took[0] > 0.0 else 0.0
    trial = Trial(change, measure, own, other, on_mined, led[0], led[1], slower)
    return replace(trial, refused=_refused(trial))


def _asked(pair: Pair) -> tuple[Seen, ...]:
    return (pair.seen,) if pair.without is None else (pair.seen, pair.without)


def _refused(trial: Trial) -> str:
    """Say why a change is not taken; empty when it is."""
    if trial.own.mean <= 0.0:
        return f"it brings nothing on questions held out: {trial.measure} {trial.own}"
    if trial.own.low <= 0.0:
        return f"it may as well be chance on questions held out: {trial.measure} {trial.own}"
    for name, one in (("the other measure", trial.other), ("the order of mined questions", trial.mined)):
        if one.mean < -OTHER_WORSE_MAX or one.high < 0.0:
            return f"{name} is worse: {one}"
    if trial.led_after > trial.led_before:
        return (
            f"more answers would be led by text of tools or pages that is not what was asked for: "
            f"{trial.led_before} to {trial.led_after}"
        )
    if trial.slower > SLOWER_MAX:
        return f"it is slower by {trial.slower:.0%}; at most {SLOWER_MAX:.0%} is taken"
    return ""
