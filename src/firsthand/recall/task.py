"""What a task makes of a score (total-recall 4.1): its words, and what its phase asks for.

    score = base * phase * task_relevance

    task_relevance  the share of the task's words, weighed by rarity, that the passage holds, beside the best one
    phase           its kind serves what is done now: outputs and changes when debugging, talk when planning

The invariant: each factor is from ``1 - strength`` to 1, so none hides an event; without a goal, an open
loop or a known phase it is 1. It knows no storage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from firsthand.answer import Conditions
from firsthand.event import Kind
from firsthand.index.index_rows import QUESTION_END
from firsthand.index.postings import IndexMoment

from .query import Deadline, Question, ask

TERMS_MAX = 24
RELEVANCE, PHASE = 0.3, 0.2
"""How far a factor may lower a score; those that helped or did no harm (docs/recall.md)."""

_PHASES: Mapping[str, tuple[str, ...]] = {
    "explore": ("explor", "read", "understand", "research", "investigat", "search", "look", "learn", "analy"),
    "plan": ("plan", "design", "decid", "choos", "propos", "discuss", "scop"),
    "implement": ("implement", "build", "add", "creat", "refactor", "chang", "cod", "migrat", "updat", "instal"),
    "debug": ("debug", "fix", "bug", "error", "fail", "crash", "diagnos", "repair", "troubleshoot", "broken"),
    "verify": ("verif", "test", "check", "review", "validat", "measur", "confirm", "deploy", "releas"),
    "write": ("writ", "document", "draft", "report", "summar", "explain", "answer"),
}
# What is not named serves wholly. While something is worked on, what was done and what came of it holds more of what
# is needed next than talk about it; for a plan or a text it is the other way about.
_SERVES: Mapping[str, Mapping[str, float]] = {
    "explore": {"statement": 0.5, "question": 0.4},
    "plan": {"output": 0.5, "change": 0.5},
    "implement": {"statement": 0.4, "question": 0.4},
    "debug": {"statement": 0.5, "question": 0.4},
    "verify": {"statement": 0.5, "question": 0.4},
    "write": {"change": 0.6, "output": 0.6},
}

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


def factors(
    moment: IndexMoment, rows: Rows, conditions: Conditions, question: Question, deadline: Deadline, strength: float
) -> Floats:
    """Give what the task makes of each row's score, as a factor.

    Args:
        strength: how far the factors count: 0 leaves them out.
    """
    relevance = _relevance(moment, rows, conditions, question, deadline)
    phase = _phase(moment, rows, conditions)
    return ((1 - strength * RELEVANCE * (1 - relevance)) * (1 - strength * PHASE * (1 - phase))).astype(np.float32)


def phases(text: str) -> tuple[str, ...]:
    """Read which of the known phases a task's phase names; none for what is not known."""
    words = re.findall(r"[a-z]+", text.lower()[:200])
    return tuple(name for name, opens in _PHASES.items() if any(word.startswith(opens) for word in words))


def _relevance(
    moment: IndexMoment, rows: Rows, conditions: Conditions, question: Question, deadline: Deadline
) -> Floats:
    """Weigh what each row holds of the task's words, against the best of them; 1 where no row holds any."""
    if not len(rows):
        return np.ones(0, np.float32)
    asked = {term.key for term in (*question.words, *question.light)}
    goal = ask(" ".join((conditions.goal, *conditions.open_loops)), moment.stems)
    counts = {term.key: moment.frequency(term.key) for term in goal.words if term.key not in asked}
    rarest = sorted((key for key in counts if counts[key]), key=lambda key: (counts[key], key))[:TERMS_MAX]
    columns = moment.columns
    mass = np.zeros(len(rows), np.float32)
    holds = np.zeros(len(columns) + 1, bool)
    for key in rarest:
        if deadline():
            break
        holders, _ = moment.postings(key)
        holds[holders] = True
        mass += math.log(1 + len(columns) / counts[key]) * holds[rows]
        holds[holders] = False
    # A long row holds more words of anything: half of its length over the mean is taken off.
    tokens = columns.tokens[rows]
    mass /= 0.5 + 0.5 * tokens / max(1.0, float(tokens.mean()))
    best = float(mass.max())
    return mass / best if best > 0 else np.ones(len(rows), np.float32)


def _phase(moment: IndexMoment, rows: Rows, conditions: Conditions) -> Floats:
    """Say how far each row's kind serves the phase; 1 where the phase is not known, or one of several is served."""
    named = phases(conditions.phase)
    columns = moment.columns
    serves = np.ones(len(rows), np.float32)
    if not named:
        return serves
    kinds, asks = columns.kind[rows], (columns.flags[rows] & QUESTION_END) > 0
    is_message = np.isin(kinds, (Kind.USER_MESSAGE.number, Kind.AGENT_MESSAGE.number))
    roles = {
        "output": kinds == Kind.TOOL_RESULT.number,
        "change": kinds == Kind.TOOL_CALL.number,
        "question": is_message & asks,
        "statement": is_message & ~asks,
    }
    for name, chosen in roles.items():
        serves[chosen] = max(_SERVES[phase].get(name, 1.0) for phase in named)
    return serves
