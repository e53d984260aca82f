"""Events as somebody said them, for tests of what is made of facts."""

from __future__ import annotations

from firsthand.event import Event, Kind, Trust
from firsthand.moment import Moment

AT = Moment(1_700_000_000_000_000, 0)


def said(
    position: int, text: str, *, session: str = "one", kind: Kind = Kind.USER_MESSAGE, trust=Trust.TRUSTED
) -> Event:
    """Make an event as the log would give it; its id tells its position."""
    return Event(
        position, f"{position:026d}", "default", session, position, 0, position, kind, "", "user", trust, AT, AT,
        "text/plain", {}, b"", text.encode(), None, False, b"", b"",
    )  # fmt: skip


def spoken(*texts: str, session: str = "one", first: int = 1) -> list[Event]:
    """Make user messages of one session, one a position."""
    return [said(first + number, text, session=session) for number, text in enumerate(texts)]
