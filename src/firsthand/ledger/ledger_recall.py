"""Recall after the decisions of the ledger: a hit that no longer holds names what took its place."""

from __future__ import annotations

from firsthand.answer import Answer, Query
from firsthand.ledger.decision_log import LedgerLog
from firsthand.recall import search
from firsthand.recall.hits import Layout
from firsthand.recall.search import Rewrite
from firsthand.space import Space


def recall(space: Space, query: Query, *, rewrite: Rewrite | None = None, layout: Layout | None = None) -> Answer:
    """Answer a query from a space; the arguments are those of `firsthand.recall.search.recall`."""
    return search.recall(space, query, rewrite=rewrite, replaced=LedgerLog(space).replaced(), layout=layout)
