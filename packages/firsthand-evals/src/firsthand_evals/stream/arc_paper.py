"""The paper's own settings on tasks on grids: what is run beside the arms, and what the paper says of each.

The invariant: a setting names its figure, and theirs stands beside ours; where the loss is
scripted the shape alone can be compared, and that is said. Sources: faulty-memories, Figures
2, 4, 10, 11 and 18, D.5, as third-party notes give them (consolidation 1.1).
"""

from __future__ import annotations

from typing import Literal

from firsthand.value import value
from firsthand_evals.stream.arc_arms import ARMS, BUFFER, FROZEN, GATED, Arm
from firsthand_evals.stream.arms import KEEP_ALL, MERGE_ALL, NO_MEMORY

Pool = Literal["world", "problems", "narrow"]
FIGURE_2, FIGURE_4, FIGURE_11, FIGURE_10 = "Figure 2, D.5", "Figure 4", "Figure 11", "Figures 10, 18"
ABOUT = {
    FIGURE_2: "19 problems of six families, each solved without memory; solved after the last update",
    FIGURE_4: "six at a time, of any family or of one",
    FIGURE_11: "one family, the same colours in every task, one at a time; variants have other colours",
    FIGURE_10: "family after family, one at a time; block: what is solved of a family after its last update",
}


@value
class Setting:
    """One arm by one schedule.

    Attributes:
        figure: of the paper.
        pool: which tasks come.
        theirs: the paper's figure for it; empty when it gives none.
    """

    figure: str
    arm: Arm
    schedule: str
    pool: Pool = "world"
    theirs: str = ""

    @property
    def name(self) -> str:
        """Name it in tables."""
        return f"{self.arm.name}, {'narrow' if self.pool == 'narrow' else self.schedule}"


def settings() -> tuple[Setting, ...]:
    """Give all settings, in the order of the tables."""
    named = {one.name: one for one in ARMS}
    second = (
        (NO_MEMORY, "stream", "1.000"), (KEEP_ALL, "stream", ""),
        (BUFFER, "static-all", ""), (BUFFER, "static-10", ".947"), (BUFFER, "static-50", ".947"),
        (BUFFER, "static-group", ""), (BUFFER, "stream", ".737"), (BUFFER, "rounds-10", ".526"),
        (MERGE_ALL, "stream", "0 of 10, one entry (D.5)"), (GATED, "stream", ""), (GATED, "rounds-10", ""),
    )  # fmt: skip
    narrowed = (*(named[name] for name in (NO_MEMORY, KEEP_ALL)), FROZEN, named[GATED])
    return (
        *(Setting(FIGURE_2, named[arm], schedule, "problems", theirs) for arm, schedule, theirs in second),
        *(Setting(FIGURE_4, named[BUFFER], name) for name in ("mixed", "homogeneous")),
        *(Setting(FIGURE_11, arm, "stream", "narrow", ".80 against .55" if arm is FROZEN else "") for arm in narrowed),
        *(Setting(FIGURE_10, named[arm], name) for arm in (BUFFER, KEEP_ALL) for name in ("blocked", "fresh")),
    )  # fmt: skip
