"""What a task and the other candidates make of a hit's score (total-recall 4.1).

    score = base * premise * phase * (1 - superseded) * task_relevance

    premise         what the row says stands with what the task takes as given
    phase           its kind serves what is done now: outputs and changes when debugging, decisions when planning
    superseded      a newer candidate of the same session or agent gives what is asked for another value, or
                    the ledger says that another fact took the place of the one that is asked for
    task_relevance  the share of the task's words, weighed by rarity, that the row holds, beside the best candidate

The invariant: each factor is in [0, 1]. Without a task, premise, phase and task
relevance are 1; without a newer value superseded is 0. Each is evidence and no
proof, so a factor of the score never falls under ``1 - strength`` of it: none hides
an event. Identical repetitions are not judged here but by `mmr`.

It knows no storage: what it looks at of a row is handed to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from firsthand.answer import Conditions
from firsthand.event import Kind
from firsthand.formats import commands
from firsthand.value import field, fields, value

from .mmr import rarity
from .slots import Slot, names, slots

PARTS = ("base", "premise", "phase", "superseded", "task_relevance")
CANDIDATES_MAX = 16
"""Of the best by base, which are compared with each other; those behind them are judged by the task alone."""
TASK_TERMS_MAX = 200
TELLING_CHARACTERS = 1_200  # of a message, to see whether it asks, decides or rules
SUPERSEDES = "supersedes"
"""The fact in a note's meta that names, by pointer, what it takes the place of."""

NEWER, NEWER_SETTING, NEWER_CHANGED = 0.5, 0.7, 0.9
"""How far an older value is superseded by a newer one: plainly said, a line of settings, said as a change."""

_PHASES: Mapping[str, tuple[str, ...]] = {
    "explore": ("explor", "read", "understand", "research", "investigat", "search", "look", "learn", "analy"),
    "plan": ("plan", "design", "decid", "choos", "propos", "discuss", "scop"),
    "implement": ("implement", "build", "add", "creat", "refactor", "chang", "cod", "migrat", "updat", "instal"),
    "debug": ("debug", "fix", "bug", "error", "fail", "crash", "diagnos", "repair", "troubleshoot", "broken"),
    "verify": ("verif", "test", "check", "review", "validat", "measur", "confirm", "deploy", "releas"),
    "write": ("writ", "document", "draft", "report", "summar", "explain", "answer"),
}
# What is not named serves wholly. While something is worked on, what was done and what came of it holds more of what
# is needed next than talk about it; for a plan or a text it is the other way about (docs/decisions/0018-score.md).
_SERVES: Mapping[str, Mapping[str, float]] = {
    "explore": {"statement": 0.5, "question": 0.4},
    "plan": {"output": 0.5, "change": 0.5, "failure": 0.6},
    "implement": {"statement": 0.4, "question": 0.4},
    "debug": {"statement": 0.5, "question": 0.4},
    "verify": {"statement": 0.5, "question": 0.4},
    "write": {"change": 0.6, "output": 0.6, "failure": 0.5},
}


@value
class Strengths:
    """How far each factor may lower a score: 0 switches it off, 1 lets it hide an event.

    The defaults are those that helped or did no harm (docs/decisions/0018-score.md).
    """

    premise: float = 0.6
    phase: float = 0.2
    superseded: float = 0.1
    task_relevance: float = 0.3
    ledger: float = 0.5

    def __post_init__(self) -> None:
        for name in fields(self):
            assert 0.0 <= getattr(self, name) <= 1.0, f"a strength is from 0 to 1; {name} is {getattr(self, name)!r}"


STRENGTHS = Strengths()
NO_STRENGTHS = Strengths(0.0, 0.0, 0.0, 0.0, 0.0)


@value
class Candidate:
    """What of a row the factors look at.

    Attributes:
        terms: stems of the row.
        text: its beginning, or the passage that matches.
        meta: of the event.
    """

    position: int
    kind: Kind
    session: str
    agent: str
    pointer: str
    terms: Collection[str]
    text: str
    meta: Mapping[str, Any] = field(default_factory=dict)


@value
class Task:
    """Conditions, read once for all candidates of a recall.

    Attributes:
        terms: stems of goal, open loops and key events, without those of the query.
        premises: the slots of what is taken as given.
        premise_words: the words of their names.
        phases: those of the known phases that its phase names.
        key_events: pointers of events.
    """

    terms: frozenset[str] = frozenset()
    premises: tuple[Slot, ...] = ()
    premise_words: frozenset[str] = frozenset()
    phases: tuple[str, ...] = ()
    key_events: frozenset[str] = frozenset()


@value
class Factors:
    """The factors of one candidate's score, as they count in it."""

    premise: float = 1.0
    phase: float = 1.0
    superseded: float = 0.0
    task_relevance: float = 1.0

    def total(self, base: float) -> float:
        """Give the score."""
        return base * self.premise * self.phase * (1.0 - self.superseded) * self.task_relevance

    def parts(self, base: float) -> dict[str, float]:
        """Give the parts of the score by name, in the order of the formula."""
        return dict(zip(PARTS, (base, self.premise, self.phase, self.superseded, self.task_relevance), strict=True))


NEUTRAL = Factors()


def task_of(conditions: Conditions | None, stems: Callable[[str], Collection[str]], asked: Collection[str]) -> Task:
    """Read conditions; None, or empty ones, give a task that leaves every score as it is.

    Args:
        stems: cuts a text as the index does.
        asked: stems of the query, which count in the base already.
    """
    if conditions is None:
        return Task()
    said = " ".join((conditions.goal, *conditions.open_loops))
    terms = dict.fromkeys(term for term in stems(said) if len(term) > 2)
    premises = tuple(slot for line in conditions.premises for slot in slots(line, names(line)))
    return Task(
        frozenset(list(terms)[:TASK_TERMS_MAX]) - frozenset(asked),
        premises,
        frozenset(word for slot in premises for word in slot.name),
        phases(conditions.phase),
        frozenset(conditions.key_events),
    )


def factors(
    candidates: Sequence[Candidate],
    task: Task,
    asked: Collection[str],
    strengths: Strengths = STRENGTHS,
    replaced: Collection[int] = (),
) -> list[Factors]:
    """Judge candidates, best first; only the first `CANDIDATES_MAX` are compared with each other.

    Args:
        asked: the query's words, as it spells them.
        replaced: positions of candidates whose fact the ledger has put another in the place of.
    """
    relevances = task_relevances(candidates, task)
    judged = candidates[:CANDIDATES_MAX]
    old = superseded(judged, asked) if strengths.superseded else [0.0] * len(judged)
    old += [0.0] * (len(candidates) - len(judged))
    return [
        Factors(
            1.0 - strengths.premise * (1.0 - premise(one, task)),
            1.0 - strengths.phase * (1.0 - phase(one, task)),
            max(strengths.superseded * gone, strengths.ledger * (one.position in replaced)),
            1.0 - strengths.task_relevance * (1.0 - relevance),
        )
        for one, gone, relevance in zip(candidates, old, relevances, strict=True)
    ]


# premise ----------------------------------------------------------------------------------------------


def premise(one: Candidate, task: Task) -> float:
    """Say how far what a row says stands with the task's premises: 1 when nothing speaks against, 0 when all does."""
    if not task.premises:
        return 1.0
    with_it, against = 0, 0
    for slot in slots(one.text, task.premise_words):
        for given in task.premises:
            if slot.name == given.name:
                if _agree(slot.value, given.value):
                    with_it += 1
                else:
                    against += 1
    return 1.0 - against / (with_it + against) if against else 1.0


def _agree(one: str, other: str) -> bool:
    """Say whether two values are the same, or one of them says the other and more."""
    return one == other or f" {one} ".find(f" {other} ") >= 0 or f" {other} ".find(f" {one} ") >= 0


# phase ------------------------------------------------------------------------------------------------


def phases(said: str) -> tuple[str, ...]:
    """Read which of the known phases a task's phase names; none for what is not known."""
    found = re.findall(r"[a-z]+", said.lower()[:200])
    return tuple(name for name, opens in _PHASES.items() if any(word.startswith(opens) for word in found))


def phase(one: Candidate, task: Task) -> float:
    """Say how far a row's kind serves the phase; 1 where the phase is not known, or one of several is served."""
    if not task.phases:
        return 1.0
    shown = kind_shown(one)
    return max(_SERVES[name].get(shown, 1.0) for name in task.phases)


def kind_shown(one: Candidate) -> str:
    """Say what a row shows: a failure, an output, a change, a question, a statement, or other."""
    match one.kind:
        case Kind.TOOL_RESULT:
            return "failure" if commands.failure(one.meta, one.text, "") is not None else "output"
        case Kind.TOOL_CALL:
            return "change"
        case Kind.USER_MESSAGE | Kind.AGENT_MESSAGE:
            return "question" if one.text.rstrip()[-1:] in {"?", "\uff1f"} else "statement"
        case _:
            return "other"


# superseded -------------------------------------------------------------------------------------------


def superseded(candidates: Sequence[Candidate], asked: Collection[str]) -> list[float]:
    """Say of each candidate how far newer ones take the place of what it says of what is asked.

    Newer is a greater position. A newer candidate speaks for the same session, or the same agent,
    and gives the same slot another value; a task state gives way to the next one of its session; a
    note that names another as superseded takes its whole place.
    """
    named = {
        pointer
        for one in candidates
        if isinstance(one.meta.get(SUPERSEDES), list)
        for pointer in one.meta[SUPERSEDES]
        if pointer != one.pointer
    }
    # What a call is given is no fact: the next call's path does not take the place of this one's.
    said = [slots(one.text, asked) if asked and one.kind is not Kind.TOOL_CALL else () for one in candidates]
    holders: dict[frozenset[str], list[int]] = {}
    for number, found in enumerate(said):
        for name in {slot.name for slot in found}:
            holders.setdefault(name, []).append(number)
    states = [one for one in candidates if one.kind is Kind.TASK_STATE]
    out = []
    for number, one in enumerate(candidates):
        if one.pointer in named:
            out.append(1.0)
        elif one.kind is Kind.TASK_STATE:
            newer = any(other.position > one.position and other.session == one.session for other in states)
            out.append(NEWER_SETTING if newer else 0.0)
        else:
            shares = [
                _gone(one, slot, [(candidates[at], said[at]) for at in holders[slot.name]]) for slot in said[number]
            ]
            out.append(max(shares, default=0.0))
    return out


def _gone(one: Candidate, slot: Slot, holders: Sequence[tuple[Candidate, Sequence[Slot]]]) -> float:
    """Say how far newer candidates that hold the slot's name change its value."""
    gone = 0.0
    for other, said in holders:
        if other.position <= one.position or not _one_voice(one, other):
            continue
        for newer in said:
            if newer.name == slot.name:
                if _agree(newer.value, slot.value):
                    return 0.0  # said again later: it stands
                share = NEWER_CHANGED if newer.changed else NEWER_SETTING if newer.setting else NEWER
                gone = max(gone, share)
    return gone


def _one_voice(one: Candidate, other: Candidate) -> bool:
    return one.session == other.session or (one.agent != "" and one.agent == other.agent)


# task relevance ----------------------------------------------------------------------------------------


def task_relevances(candidates: Sequence[Candidate], task: Task) -> list[float]:
    """Weigh what each row holds of the task's words by rarity among the candidates, against the best of them.

    An event that the task names as a key event is wholly relevant; where no row holds anything
    of the task, all are.
    """
    if not task.terms and not task.key_events:
        return [1.0] * len(candidates)
    held = [task.terms.intersection(one.terms) for one in candidates]
    weights = rarity(held)
    # A long row holds more words of anything: half of its length over the mean is taken off.
    mean = max(1.0, sum(len(one.terms) for one in candidates) / max(1, len(candidates)))
    masses = [
        sum(weights[term] for term in terms) / (0.5 + 0.5 * len(one.terms) / mean)
        for one, terms in zip(candidates, held, strict=True)
    ]
    best = max(masses, default=0.0)
    if best <= 0.0 and not any(one.pointer in task.key_events for one in candidates):
        return [1.0] * len(candidates)
    return [
        1.0 if one.pointer in task.key_events else mass / best if best else 0.0
        for one, mass in zip(candidates, masses, strict=True)
    ]
