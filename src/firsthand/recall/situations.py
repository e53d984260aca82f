"""Finds notes by the situations they were learned in, as a list of its own (recall-problem 7.5, 8.8, 11.7).

A case and the rule for it share few words, and other cases share many: among all events a rule
never comes first. So notes compete with notes alone, each as one document made of its situations,
and a place among the hits is kept for a good one (`page`). The words of the events that answer best
otherwise are asked with the question's: they tell the same kind of case in other words.

The invariant: what is found depends on the log and the question alone. It costs nothing where no note has situations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.index.index_rows import SITUATION
from firsthand.index.postings import IndexMoment
from firsthand.value import value

from .query import Deadline, Question
from .stop_words import STOP_WORDS

STRENGTH_MIN = 0.05
"""The least share of what is asked that a note's situations tell, by rarity; docs/decisions/0017-triggers.md."""
SHARED_MIN = 3
"""Words of the question that they hold, or two that are half of them, or all: one word of many is no situation."""
RULES_MAX = 3
TEXTS = 10
TEXT_CHARACTERS_MAX = 2_000
TEXT_TERMS_MAX = 40
TEXT_SHARE = 0.5
"""What the words of the best events weigh, beside the question's."""
COMMON_SHARE = 0.05
"""A word in more than so many of the rows tells no situation; it is not looked up."""
COSINE_MIN = 0.4
"""A situation so near in meaning is like the one asked of, though it is told in other words."""
COSINE_SHARE = 0.5
"""What meaning weighs beside words where notes are put in order."""
K1, B = 1.2, 0.75

Floats = NDArray[np.float64]


@value
class Rule:
    """A note whose situations tell what is asked.

    Attributes:
        row: its first passage.
        strength: the share of it that they tell, from 0 to 1.
    """

    position: int
    row: int
    strength: float


def rules(
    moment: IndexMoment, question: Question, texts: Callable[[], Sequence[str]], mask: NDArray[np.bool_] | None,
    cosines: Mapping[int, float], deadline: Deadline,
) -> tuple[Rule, ...]:  # fmt: skip
    """Give the notes that a place is kept for, best first, at most `RULES_MAX`.

    Args:
        texts: gives those of the events that answer best otherwise, best first; called where there are notes.
        mask: the rows in scope; None for all.
        cosines: of notes, by position, that of their situation which is nearest in meaning.
    """
    columns = moment.columns
    of_situations = (columns.flags & SITUATION).astype(bool)
    if not of_situations.any():
        return ()
    if mask is not None:
        of_situations &= mask
    rows = np.flatnonzero(of_situations)
    asked = [term.key for term in (*question.words, *question.strings)]
    if not len(rows) or not (asked or cosines):
        return ()
    notes, note_of = np.unique(columns.position[rows], return_inverse=True)
    tokens = np.bincount(note_of, columns.tokens[rows])
    length = K1 * (1 - B + B * tokens / max(1.0, float(tokens.mean())))
    total, own, shared = np.zeros(len(notes)), np.zeros(len(notes)), np.zeros(len(notes), np.int64)
    most = 0.0
    for key, share in _weights(moment, asked, texts()).items():
        if deadline():
            break
        times, count = _times(moment, key, of_situations, rows, note_of, len(notes))
        holding = int(np.count_nonzero(times))
        rarity = math.log(1 + (len(notes) - holding + 0.5) / (holding + 0.5))
        weight = share * rarity * _telling(len(columns), count)
        score = weight * times / (times + length)
        total += score
        if key in asked:
            own += score
            shared += times > 0
            most += weight
    strength = own / most if most else own
    enough = (shared >= SHARED_MIN) | (shared == len(asked)) | ((shared == 2) & (len(asked) <= 4))
    near = np.array([cosines.get(position, 0.0) for position in notes.tolist()])
    good = (enough & (strength >= STRENGTH_MIN)) | (near >= COSINE_MIN)
    worth = _beside_best(total) + COSINE_SHARE * _beside_best(near)
    chosen = [at for at in np.lexsort((-notes, -worth)).tolist() if good[at]]
    first = np.searchsorted(columns.position, notes)
    return tuple(Rule(int(notes[at]), int(first[at]), float(strength[at])) for at in chosen[:RULES_MAX])


def _weights(moment: IndexMoment, asked: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    """Weigh the question's own terms, and those that the best events add to them."""
    weight_of: dict[str, float] = {}
    for place, text in enumerate(texts[:TEXTS]):
        stems = moment.stems(text[:TEXT_CHARACTERS_MAX])
        for key, times in Counter(stems).items():
            weight_of[key] = weight_of.get(key, 0.0) + times / len(stems) / (1 + place / TEXTS)
    for key in moment.stems(" ".join(STOP_WORDS)):
        weight_of.pop(key, None)
    rows = len(moment.columns)
    heavy = sorted(weight_of, key=lambda key: (-weight_of[key], key))[:TEXT_TERMS_MAX]
    heavy = [key for key in heavy if moment.frequency(key) <= max(1_000, COMMON_SHARE * rows)]
    weight_of = {key: weight_of[key] * _telling(rows, moment.frequency(key)) for key in heavy}
    if not weight_of:
        return dict.fromkeys(asked, 1.0)
    weights = dict.fromkeys(asked, 1 - TEXT_SHARE)
    most = max(weight_of.values()) or 1.0
    for key, weight in weight_of.items():
        weights[key] = weights.get(key, 0.0) + TEXT_SHARE * weight / most
    return weights


def _times(
    moment: IndexMoment, key: str, of_situations: NDArray[np.bool_], rows: NDArray[np.int64],
    note_of: NDArray[np.int64], notes: int,
) -> tuple[Floats, int]:  # fmt: skip
    """Say how often a term stands in the situations of each note, and how many rows of the index hold it."""
    holders, times = moment.postings(key)
    chosen = of_situations[holders]
    at = note_of[np.searchsorted(rows, holders[chosen])]
    counted: Floats = np.bincount(at, times[chosen], minlength=notes).astype(np.float64)
    return counted, len(holders)


def _beside_best(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores


def _telling(rows: int, count: int) -> float:
    """Say how telling a term is in the whole store, from 0 (in every row) to 1 (in one)."""
    rows = max(2, rows)
    return max(0.0, min(1.0, math.log(rows / max(1, count)) / math.log(rows)))
