"""The pages that there are, by the name that stands in their address."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firsthand.server.inspector import call_pages, event_pages, session_pages
from firsthand.server.inspector.page import Asked, Page, Place

Made = Callable[[Place, Asked], Page]

PAGES: Mapping[str, Made] = {
    "sessions": session_pages.sessions,
    "session": session_pages.session,
    "turn": session_pages.turn_rows,
    "calls": call_pages.calls,
    "sent": call_pages.sent,
    "recall": event_pages.recall,
    "event": event_pages.event,
}
"""What is read."""

ACTIONS: Mapping[str, Made] = {}
"""What a form changes."""
