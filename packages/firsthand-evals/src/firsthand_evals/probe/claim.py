"""What a session asked for or concluded, and the places of the statements that it stands on.

The invariant: places are of one list of statements, and `needs`, `rejected` and
`replaced` have none in common.

It does not know how a claim is found (`determine`), nor its answer (`solve`).
"""

from __future__ import annotations

from typing import Literal

from firsthand.value import value
from firsthand_evals.probe.values import Value

How = Literal[
    "constraints", "sum of products", "average", "subtotal", "span", "assignment", "lookup", "told", "unknown"
]
AGENT_ROLES = frozenset({"assistant", "agent", "ai", "model"})
TOOL_ROLES = frozenset({"tool", "function"})


@value
class Claim:
    """One thing that a session asked for or concluded.

    Attributes:
        what: the words for it.
        how: how it is worked out of what it needs; ``told`` when an agent is the only one who said it.
        concluded: the values that an agent gave for it.
        needs: places of the statements that determine it.
        restates: places of statements of the agent that only say it again.
        rejected: places of what was considered and not chosen.
        replaced: places of what no longer holds.
    """

    what: str
    how: How
    concluded: tuple[Value, ...] = ()
    needs: tuple[int, ...] = ()
    restates: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
