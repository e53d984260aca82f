"""The memories that a model writes: by choice, by force, with cases alone, and as ours with and without its gate.

The invariant: an arm's name says its regime and the bound of its buffer; *no memory* and
*keep all* are arms of every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from firsthand.ledger.entry_gate import GateSettings
from firsthand.ledger.model_consolidator import ByModel
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY, Arm
from firsthand_evals.stream.model_agent import ModelAgent
from firsthand_evals.stream.named import those_named
from firsthand_evals.stream.regimes import EPISODES_MAX, REGIMES, Chooser, Regime

MODEL_GATED = "gate + model from raw"
MODEL_RAW = "model from raw"


def name_of(regime: Regime) -> str:
    """Name the arm of a regime."""
    return f"{regime.name}: model" + (f" ({EPISODES_MAX})" if regime.keeps else "")


def arms_of(complete: Callable[[str], str], name: str, tried_by: str) -> tuple[Arm, ...]:
    """Give the memories that a model writes, in each regime; ours with its gate.

    Args:
        tried_by: the reader that the gate asks.
    """
    agent, writer = ModelAgent(complete, name), ByModel(complete, name)
    return (
        *(_arm(regime, agent) for regime in REGIMES),
        Arm(MODEL_RAW, lambda _: writer, loses=True),
        Arm(MODEL_GATED, lambda _: writer, GateSettings(), tried_by=tried_by),
    )


def chosen(there: Sequence[Arm], names: Sequence[str]) -> tuple[Arm, ...]:
    """Give arms by name, with no memory and keep all before them; all without names.

    Raises:
        InvalidArgument: one is not there.
    """
    return those_named(there, names, (NO_MEMORY, KEEP_ALL))


def _arm(regime: Regime, agent: ModelAgent) -> Arm:
    return Arm(name_of(regime), lambda _: Chooser(agent, regime), loses=True)
