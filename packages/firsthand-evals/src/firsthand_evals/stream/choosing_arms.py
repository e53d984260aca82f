"""The memories of the environment in which an agent chooses, by regime, agent and what is read of them.

The invariant: an arm's name says its regime, its agent, the bound of its buffer and what
of its memory a reader is shown; *no memory* and *keep all* are arms of every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from firsthand.ledger.entry_gate import GateSettings
from firsthand.ledger.model_consolidator import ByModel
from firsthand_evals.stream import arms
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY, Arm, Shows
from firsthand_evals.stream.choosing import (
    ADD_ONLY,
    APPEND_HIDDEN,
    APPEND_SEEN,
    AUTO,
    EPISODES_MAX,
    EPISODIC,
    FORCED,
    PRUNE,
    REWRITE,
    Chooser,
    Policy,
    Regime,
)
from firsthand_evals.stream.choosing_model import ByModelChosen
from firsthand_evals.stream.choosing_policies import Careful, DropOldest, Eroding, Hasty, Keep, Merging
from firsthand_evals.stream.named import those_named

EPISODES_LARGE = 100
"""Cases of the buffer: the larger one of the paper."""
_READ = {"view": "", "raw": ", cases read", "entries": ", entries read"}
MODEL_GATED = "gate + model from raw"
MODEL_RAW = "model from raw"


def name_of(regime: Regime, who: str, episodes_max: int = EPISODES_MAX, shows: Shows = "view") -> str:
    """Name an arm."""
    bound = f" ({episodes_max})" if regime.keeps else ""
    return f"{regime.name}: {who}{bound}{_READ[shows]}"


def _arm(regime: Regime, policy: Policy, episodes_max: int = EPISODES_MAX, shows: Shows = "view") -> Arm:
    name = name_of(regime, "model" if isinstance(policy, ByModelChosen) else policy.name, episodes_max, shows)
    return Arm(name, lambda _: Chooser(policy, regime, episodes_max=episodes_max), shows=shows, loses=True)


_CAREFUL, _HASTY, _MERGING, _ERODING = Careful(), Hasty(), Merging(), Eroding()
_PLAIN = tuple(one for one in arms.ARMS if one.name in {NO_MEMORY, KEEP_ALL})
SCRIPTED = (
    *_PLAIN,
    _arm(EPISODIC, Keep()), _arm(EPISODIC, Keep(), EPISODES_LARGE), _arm(EPISODIC, DropOldest()),
    _arm(EPISODIC, _CAREFUL), _arm(EPISODIC, _CAREFUL, EPISODES_LARGE),
    _arm(AUTO, _CAREFUL), _arm(AUTO, _CAREFUL, EPISODES_LARGE), _arm(AUTO, _CAREFUL, shows="raw"),
    _arm(AUTO, _CAREFUL, shows="entries"),
    _arm(AUTO, _HASTY), _arm(AUTO, _MERGING), _arm(AUTO, _ERODING),
    _arm(FORCED, Keep()), _arm(FORCED, _CAREFUL), _arm(FORCED, _HASTY), _arm(FORCED, _MERGING), _arm(FORCED, _ERODING),
    _arm(REWRITE, _ERODING), _arm(APPEND_SEEN, _ERODING), _arm(PRUNE, _ERODING), _arm(APPEND_HIDDEN, _ERODING),
)  # fmt: skip
"""Agents by rule; those of *eroding* below *forced* are one agent in each regime of version 2, Table 5."""


def of_model(complete: Callable[[str], str], name: str) -> tuple[Arm, ...]:
    """Give the arms in which a model chooses."""
    one = ByModelChosen(complete, name)
    return (
        _arm(EPISODIC, one), _arm(EPISODIC, one, EPISODES_LARGE), _arm(AUTO, one), _arm(AUTO, one, EPISODES_LARGE),
        _arm(AUTO, one, shows="raw"), _arm(AUTO, one, shows="entries"), _arm(FORCED, one),
    )  # fmt: skip


def of_loop(complete: Callable[[str], str], name: str, tried_by: str) -> tuple[Arm, ...]:
    """Give the memories that a model writes, by the loop that it stands in (version 2, Table 5); ours with its gate.

    Args:
        tried_by: the reader that the gate asks.
    """
    one, writer = ByModelChosen(complete, name), ByModel(complete, name)
    loops = (_arm(regime, one) for regime in (FORCED, REWRITE, APPEND_SEEN, PRUNE, APPEND_HIDDEN, ADD_ONLY, AUTO))
    return (
        *loops, _arm(EPISODIC, one), Arm(MODEL_RAW, lambda _: writer, loses=True),
        Arm(MODEL_GATED, lambda _: writer, GateSettings(), tried_by=tried_by),
    )  # fmt: skip


def chosen(there: Sequence[Arm], names: Sequence[str]) -> tuple[Arm, ...]:
    """Give arms by name, with no memory and keep all before them; all without names.

    Raises:
        InvalidArgument: one is not there.
    """
    return those_named(there, names, (NO_MEMORY, KEEP_ALL))
