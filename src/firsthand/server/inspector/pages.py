"""The pages that there are, by the name that stands in their address."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firsthand.server.inspector import call_pages, decision_pages, event_pages, health_pages, session_pages
from firsthand.server.inspector.page import Asked, Page, Place

Made = Callable[[Place, Asked], Page]

PAGES: Mapping[str, Made] = {
    "sessions": session_pages.sessions,
    "session": session_pages.session,
    "turn": session_pages.turn_rows,
    "calls": call_pages.calls,
    "sent": call_pages.sent,
    "compared": call_pages.compared,
    "recall": event_pages.recall,
    "event": event_pages.event,
    "source": event_pages.source,
    "volunteered": decision_pages.volunteered,
    "ledger": decision_pages.ledger,
    "health": health_pages.health,
    "erase": health_pages.erase,
}
"""What is read."""

ACTIONS: Mapping[str, Made] = {
    "erase": health_pages.erase_now,
    "verify": health_pages.verify,
    "undo": decision_pages.undo,
    "approve": decision_pages.approve,
    "switch": decision_pages.switch,
    "not-again": decision_pages.not_again,
}
"""What a form changes, or takes long to look at."""

TAKEN: Mapping[str, frozenset[str]] = {
    "erase": frozenset({"pointers", "session", "words", "reason", "count"}),
    "verify": frozenset(),
    "undo": frozenset({"decision", "following", "reason"}),
    "approve": frozenset({"target", "reason"}),
    "switch": frozenset({"on", "agent"}),
    "not-again": frozenset({"pointer"}),
}
"""What each form has, so that another one does nothing."""
