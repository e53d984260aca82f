"""How often the model asked for what it did not have: the share of calls that used recall or expand.

The paper's agents used it in 22 % of turns (total-recall 10). A record counts what was
asked since the call before it, so the use belongs to that call, of the same session;
the newest call of a session has no successor yet and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from firsthand.context.anatomy import Anatomy
from firsthand.value import value

PAPER_PERCENT = 22.0


@value
class Use:
    """How much recall and expand were used.

    Attributes:
        calls: that have a successor in their session, so that their use is known.
        calls_using: of them, those whose answer asked for recall or expand.
        turns: that those calls belong to.
        turns_using: of them, those with such a call.
        recalls, expands: asked for in all.
    """

    calls: int = 0
    calls_using: int = 0
    turns: int = 0
    turns_using: int = 0
    recalls: int = 0
    expands: int = 0

    @property
    def turns_percent(self) -> float:
        """Share of turns, in percent; 0 without turns."""
        return round(100 * self.turns_using / self.turns, 1) if self.turns else 0.0


def use_of(anatomies: Iterable[Anatomy]) -> Use:
    """Count the use of recall and expand; records of one session come in their order, sessions may mix."""
    last: dict[str, Anatomy] = {}
    turns: dict[tuple[str, int], bool] = {}
    calls = using = recalls = expands = 0
    for one in anatomies:
        before = last.get(one.session)
        last[one.session] = one
        if before is None:
            continue
        used = one.recalls + one.expands > 0
        turn = (before.session, before.turn)
        turns[turn] = turns.get(turn, False) or used
        calls, using = calls + 1, using + used
        recalls, expands = recalls + one.recalls, expands + one.expands
    return Use(calls, using, len(turns), sum(turns.values()), recalls, expands)
