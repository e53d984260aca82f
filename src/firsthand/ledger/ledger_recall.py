"""Recall after the decisions of the ledger: what is out is left out and said, what replaced it stands in its place."""

from __future__ import annotations

from firsthand.answer import Answer, Hit, Query
from firsthand.event import Kind
from firsthand.ledger.effect import Effect
from firsthand.notes.check import proofs
from firsthand.recall import search
from firsthand.recall.contents import Ruling
from firsthand.recall.hits import Layout
from firsthand.recall.search import Rewrite
from firsthand.space import Space
from firsthand.storage import waiting_calls
from firsthand.value import replace


def recall(
    space: Space,
    query: Query,
    *,
    rewrite: Rewrite | None = None,
    layout: Layout | None = None,
    waiting: bool = False,
) -> Answer:
    """Answer a query from a space, with what a check says of notes; see `firsthand.recall.search.recall`.

    Args:
        waiting: say of calls of hooks that are not in the log yet, so that nothing is absent for what they hold.
    """
    with space.log.answering():
        effect, doubt = Effect(space), waiting_calls(space) if waiting else ""
        ruling = Ruling(effect.text, effect.out()) if effect.decided else None
        answer = search.recall(space, query, rewrite=rewrite, ruling=ruling, layout=layout, doubt=doubt)
        if not any(hit.kind is Kind.NOTE for hit in answer.hits):
            return answer
        return replace(answer, hits=tuple(_marked(space, hit) for hit in answer.hits))


def _marked(space: Space, hit: Hit) -> Hit:
    """Give a hit of a note with what a check says of its claims."""
    claims = proofs(space, space.event(hit.pointer)) if hit.kind is Kind.NOTE else ""
    return replace(hit, claims=claims) if claims else hit
