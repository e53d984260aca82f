"""What of recall may be tuned on a store, within which bounds, and which values are in force (recall-problem 11, 8).

    decision, decision, undo of the first ...  ->  the values in force

The invariant: the values in force are a function of the decisions, read newest first; a
decision that is undone is as if it had never been made, and one that names no parameter,
or a value outside of its bounds, is none. What is not decided has its default. A shift of
the gate holds only for the gate that it was measured with.

It knows no storage, and not how a decision comes about.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from firsthand.errors import StoreDamaged
from firsthand.moment import Moment
from firsthand.value import field, replace, value

from .factors import STRENGTHS, Strengths
from .gate import Gate
from .mmr import LAMBDA

GATE, ORDER, SUPERSEDED, AROUND = "gate_shift", "mmr_lambda", "superseded", "neighbours"


@value
class Parameter:
    """One value of recall that may be tuned.

    Attributes:
        low, high: no decision leaves these bounds, whatever was measured.
        step: how far one decision moves it at most.
        about: what it does, for people.
    """

    name: str
    default: float
    low: float
    high: float
    step: float
    about: str


PARAMETERS = (
    Parameter(GATE, 0.0, -1.0, 1.0, 0.5, "log-odds added to each confidence: above 0 more answers count as found"),
    Parameter(
        ORDER, LAMBDA, 0.5, 1.0, 0.1, "1 orders by score alone, less puts what repeats a better hit further down"
    ),
    Parameter(SUPERSEDED, STRENGTHS.superseded, 0.0, 0.5, 0.1, "how far a newer value lowers the older one"),
    Parameter(AROUND, 1.0, 0.5, 2.0, 0.25, "what the events around a hit add to its score, beside the usual"),
)
"""Few, and each one that a replay of a store's own questions can judge. What needs a task to be seen (premise, phase,
task relevance) and what shows names and not answers (cues) cannot be judged so, and is not tuned."""
_BY_NAME = {one.name: one for one in PARAMETERS}


@value
class Tuned:
    """The values of recall that are in force on a store.

    Attributes:
        basis: of the gate that the shift was measured with, see `basis_of`; empty for none.
        by: the decision behind each value that is not the default, as a pointer by name.
        note: what else is to be said of them; never kept.
    """

    gate_shift: float = 0.0
    mmr_lambda: float = LAMBDA
    superseded: float = STRENGTHS.superseded
    neighbours: float = 1.0
    basis: str = ""
    by: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def get(self, name: str) -> float:
        """Give one value by its name."""
        found: float = getattr(self, name)
        return found

    @property
    def changed(self) -> dict[str, float]:
        """The values that are not the default, by name."""
        return {one.name: self.get(one.name) for one in PARAMETERS if self.get(one.name) != one.default}

    def strengths(self, given: Strengths) -> Strengths:
        """Lay the tuned strength over the usual ones; others than the usual ones were chosen by the caller."""
        same = given is not STRENGTHS or self.superseded == given.superseded
        return given if same else replace(given, superseded=self.superseded)

    def gate(self, gate: Gate) -> Gate:
        """Move a gate, if the shift was measured with it; say so in its sentence."""
        if not self.gate_shift:
            return gate
        if self.basis != basis_of(gate):
            return replace(gate, note=_joined(gate.note, self._not_used))
        said = f"moved by {self.gate_shift:+g} log-odds by {self.by.get(GATE, 'a decision')}"
        return replace(gate, bias=gate.bias + self.gate_shift, note=_joined(gate.note, said))

    def in_use(self, gate: Gate) -> Tuned:
        """Give what is used with a gate: a shift that was measured with another one is not, and the note says so."""
        if not self.gate_shift or self.basis == basis_of(gate):
            return self
        return replace(self, gate_shift=0.0, basis="", note=_joined(self.note, self._not_used))

    @property
    def _not_used(self) -> str:
        return f"a shift of the gate by {self.gate_shift:+g} is not used: it was measured with another gate"

    def sentences(self) -> tuple[str, ...]:
        """Say what is in force that is not the default, a sentence each."""
        return tuple(
            f"{name} is {now:g} (default {_BY_NAME[name].default:g}) by {self.by.get(name, 'a caller')}"
            for name, now in self.changed.items()
        )

    def to_json(self) -> str:
        """Write it as JSON."""
        told = {one.name: self.get(one.name) for one in PARAMETERS}
        return json.dumps({**told, "basis": self.basis, "by": dict(self.by)})


UNTUNED = Tuned()


@value
class TuningDecision:
    """One decision on one value, or the undoing of one.

    Attributes:
        id: of its event; the same decision is made once.
        before, after: the value in force before it, and from then on.
        by: who decides: ``rule:review``, or ``user``.
        basis: for a shift of the gate, of which gate.
        undoes: id of the decision that is as if it had never been made; empty for none.
        figures: what was measured, by name; numbers and short words.
        sources: pointers of the recalls that it rests on.
    """

    id: str
    name: str
    before: float
    after: float
    reason: str = ""
    by: str = "user"
    basis: str = ""
    undoes: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    position: int = 0
    time: Moment | None = None


def parameter(name: str) -> Parameter | None:
    """Give a parameter by its name; None when there is none of it."""
    return _BY_NAME.get(name)


def stands_in_bounds(one: TuningDecision) -> bool:
    """Say whether a decision is one: of a known parameter, to a value within its bounds."""
    known = _BY_NAME.get(one.name)
    return known is not None and math.isfinite(one.after) and known.low <= one.after <= known.high


def fold(newest_first: Iterable[TuningDecision]) -> Tuned:
    """Give the values in force; nothing is read behind the decisions that settle them all."""
    undone: set[str] = set()
    found: dict[str, TuningDecision] = {}
    for one in newest_first:
        if one.id in undone:
            continue
        if one.undoes:
            undone.add(one.undoes)
        elif one.name not in found and stands_in_bounds(one):
            found[one.name] = one
            if len(found) == len(PARAMETERS):
                break
    values: dict[str, Any] = {name: one.after for name, one in found.items()}
    by = {name: f"fh:{one.id}" for name, one in found.items() if one.after != _BY_NAME[name].default}
    return Tuned(**values, basis=found[GATE].basis if GATE in found else "", by=by)


def undone_by(decisions: Iterable[TuningDecision]) -> dict[str, str]:
    """Give the decisions that are undone, each with the undoing; given in order."""
    undone: dict[str, str] = {}
    for one in reversed([*decisions]):
        if one.id not in undone and one.undoes:
            undone[one.undoes] = one.id
    return undone


def basis_of(gate: Gate) -> str:
    """Name a gate, so that one learned anew is told from it."""
    return f"{gate.version}:{gate.position}:{gate.embedder}"


def tuned_from_json(text: str) -> Tuned:
    """Read what `Tuned.to_json` wrote.

    Raises:
        StoreDamaged: it is something else.
    """
    try:
        one = Tuned(**json.loads(text))
        within = all(p.low <= one.get(p.name) <= p.high for p in PARAMETERS)
        whole = within and isinstance(one.basis, str) and isinstance(one.by, dict)
    except (ValueError, TypeError) as error:
        raise StoreDamaged(f"the tuned values kept cannot be read ({error}): 'firsthand follow' makes them") from error
    if not whole:
        raise StoreDamaged("the tuned values kept are not what was written: 'firsthand follow' makes them anew")
    return one


def _joined(note: str, more: str) -> str:
    return f"{note}; {more}" if note else more
