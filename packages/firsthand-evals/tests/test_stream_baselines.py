"""Consolidators that do harm: each loses what its name says, and with the same seed the same."""

from __future__ import annotations

from consolidate_worlds import LINES, episodes, knows
from firsthand.ledger.consolidators import Consolidator, propose
from firsthand.ledger.entries import View, applied, current
from firsthand.ledger.solver import Weak
from firsthand_evals.stream.baselines import (
    LOST,
    FullRewrite,
    Telephone,
)

EPISODES = episodes()
WEAK = Weak(knows)


def after(consolidator: Consolidator, batches: int = 1) -> View:
    view, known = View(), []
    size = len(EPISODES) // batches
    for start in range(0, size * batches, size):
        known += EPISODES[start : start + size]
        view = view.with_raw(EPISODES[start : start + size])
        view = applied(view, propose(consolidator, view, known), known)
    return view


def wrong(view: View, family: str) -> int:
    """Count the questions of a family that a solver answers otherwise than it was told."""
    asked = [one for one in current(EPISODES).values() if one.scope == family]
    return sum(WEAK.answer(one.case, view.text) != one.answer for one in asked)


def test_telephone_loses_at_every_telling():
    """Without loss every answer stays; with certain loss none; the same seed loses the same, line by line."""
    assert [wrong(after(Telephone(0)), family) for family in LINES] == [0, 0]
    assert [wrong(after(Telephone(1)), family) for family in LINES] == [12, 12]
    once, again, other = (after(Telephone(0.3, seed), 4).text for seed in (1, 1, 2))
    assert once == again
    assert once != other
    assert 0 < once.count(LOST) < len(EPISODES)
    assert after(Telephone(0.3, 1), 9).text.count(LOST) > after(Telephone(0.3, 1), 1).text.count(LOST)


def test_full_rewrite_stays_within_its_lines():
    """It keeps a line a family, none of the raw ones, and loses what follows no rule."""
    view = after(FullRewrite(2), 4)
    assert (len(view.entries), view.raw) == (2, ())
    assert min(wrong(after(FullRewrite(), 4), family) for family in LINES) >= 2
