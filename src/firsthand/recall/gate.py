"""The gate of a recall: how sure its answer is, learned from questions whose truth was known.

A confidence is the chance that one of the first ten hits is the event asked for: a
logistic function of the signals, whose weights were fitted on questions made of
the store itself (`calibrate`), or, while a store has none, on several data sets
(`DEFAULT`). It is a calibrated gate where the paper has a similarity threshold
(total-recall 4.3, 11; recall-problem 8.7 puts it at a cosine of .35).

The invariant: a confidence lies strictly between 0 and 1 for an attempt that found
anything, is 0 for one that found nothing, and nothing but signals moves it. This
module knows no storage, and not how weights are found.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from firsthand.errors import StoreDamaged
from firsthand.value import field, value

from .default_gate import BIAS, ERROR, QUESTIONS, WEIGHTS
from .signals import NAMES, NOTHING, VERSION, Signals

GROWTH = 1.5
"""A gate is old when the store has grown by half since."""


@value
class Gate:
    """What an attempt's signals are worth.

    Attributes:
        bias: the log-odds where every signal is 0.
        weights: what each signal adds to them, by name; those left out add nothing.
        questions: how many it was learned on.
        position: the store's head then; 0 for one learned elsewhere.
        error: its expected calibration error, on questions that were left out when it was fitted.
        brier: its mean squared error on them.
        embedder: the identity of the vectors that took part; empty for none.
        version: of the signals.
        note: what else is to be said of it; never kept.
    """

    bias: float
    weights: Mapping[str, float] = field(default_factory=dict)
    questions: int = 0
    position: int = 0
    error: float = 0.0
    brier: float = 0.0
    embedder: str = ""
    version: int = VERSION
    note: str = ""

    def confidence(self, signals: Signals) -> float:
        """Give the chance that the attempt answers."""
        if signals == NOTHING:
            return 0.0
        odds = self.bias + sum(weight * getattr(signals, name) for name, weight in self.weights.items())
        least = 1 / (self.questions + 2)  # nobody is surer than the number of questions allows
        return min(1 - least, max(least, sigmoid(odds)))

    def is_old(self, head: int) -> bool:
        """Say whether the store has grown by half since it was learned."""
        return head >= self.position * GROWTH

    def sentence(self, head: int) -> str:
        """Say what a confidence rests on.

        Args:
            head: the store's last position now.
        """
        error = f"calibration error {self.error:.2f}".replace("0.", ".")
        note = f"; {self.note}" if self.note else ""
        if not self.position:
            return f"learned on {self.questions:,} questions of other stores, none of this one; {error} there{note}"
        old = f"; old, the store is at {head:,} now: run 'firsthand store follow'" if self.is_old(head) else ""
        made = f"learned on {self.questions:,} questions made of this store at position {self.position:,}"
        return f"{made}; {error}{old}{note}"

    def to_json(self) -> str:
        """Write it as JSON."""
        return json.dumps(
            {
                "bias": self.bias,
                "weights": dict(self.weights),
                "questions": self.questions,
                "position": self.position,
                "error": self.error,
                "brier": self.brier,
                "embedder": self.embedder,
                "version": self.version,
            }
        )


def from_json(text: str) -> Gate:
    """Read what `Gate.to_json` wrote.

    Raises:
        StoreDamaged: it is something else.
    """
    try:
        gate = Gate(**json.loads(text))
        wrong = _wrong(gate)
    except (ValueError, TypeError, AttributeError) as error:
        wrong = str(error)
    if wrong:
        raise StoreDamaged(
            f"the gate learned on this store cannot be read ({wrong}): 'firsthand store follow' learns it anew"
        )
    return gate


def _wrong(gate: Gate) -> str:
    """Say what is wrong with a gate that was read; empty for nothing."""
    if not all(isinstance(one, float) and math.isfinite(one) for one in (gate.bias, gate.error, gate.brier)):
        return "a number of it is none"
    if not all(isinstance(one, float) and math.isfinite(one) for one in gate.weights.values()):
        return "a weight of it is no number"
    if not all(isinstance(one, int) and one >= 0 for one in (gate.questions, gate.position, gate.version)):
        return "a count of it is none"
    unknown = sorted(set(gate.weights) - set(NAMES)) if gate.version == VERSION else ()
    return f"there are no signals {', '.join(unknown)}" if unknown else ""


def sigmoid(odds: float) -> float:
    """Turn log-odds into a chance."""
    if odds >= 0:
        return 1 / (1 + math.exp(-min(odds, 700.0)))
    grown = math.exp(max(odds, -700.0))
    return grown / (1 + grown)


DEFAULT = Gate(BIAS, WEIGHTS, questions=QUESTIONS, error=ERROR)
"""What a store begins with: fitted by ``bench/gate_fit.py`` (commit d36c38b) on questions of several data sets."""
