"""Events as the log gives them, for the benches of reconciliation."""

from __future__ import annotations

from firsthand import Event, Kind, Moment, Trust

AT = Moment(1_700_000_000_000_000, 0)


def said(position: int, text: str, session: str, kind: Kind = Kind.USER_MESSAGE, trust: Trust = Trust.TRUSTED) -> Event:
    """Make an event as the log gives it."""
    return Event(position, f"{position:026d}", "default", session, position, 0, 0, kind, "", "user", trust, AT, AT,
                 "text/plain", {}, b"", text.encode(), None, False, b"", b"")  # fmt: skip
