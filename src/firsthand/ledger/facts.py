"""What somebody asserted, and stands: each fact with the words of the log that it rests on.

The invariant: a fact stands as long as its assertion is in force and the words that it
quotes stand; it is volunteered only where a user wrote these words, or approved it.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.errors import PointerError
from firsthand.event import to_text
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.evidence import cited, is_users
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.value import value

LINE_BYTES_MAX = 2_000


@value
class Fact:
    """A thing that somebody asserted.

    Attributes:
        subject: what it is about.
        text: what is asserted, in the words of who asserted it.
        quote: words of the event, byte for byte.
        pointer: of the event that the quote stands in, or of the lines of it.
        decision: pointer of the assertion.
        time: when these words were said; None where nobody knows.
        by: ``user``, ``agent:NAME`` or ``model:NAME``: who asserted it.
        volunteered: a user wrote the words, or approved the assertion.
        line: the whole lines that the quote stands in, to be shown with it; cut at `LINE_BYTES_MAX`.
        position: of the assertion.
    """

    subject: str
    text: str
    quote: str
    pointer: str
    decision: str
    time: Moment | None = None
    by: str = "user"
    volunteered: bool = False
    line: str = ""
    position: int = 0


def facts_standing(space: Space, *, as_of: int | None = None) -> Iterator[Fact]:
    """Yield what is asserted and stands, the newest first: nothing superseded, retracted, quarantined or pending."""
    ledger = LedgerLog(space).at(as_of)
    for decision in reversed([*ledger.asserted.values()]):
        if not (ledger.stands(decision.pointer) and ledger.stands(decision.target)):
            continue
        try:
            event = cited(space, decision.target)
        except PointerError:  # erased, or imported without what it rests on
            continue
        size = min(event.size_bytes, LINE_BYTES_MAX)
        content = event.content or b""
        line = space.expand(decision.target) if "@" in decision.target else content[:size]
        quote = decision.quotes[0]
        yield Fact(
            decision.key, decision.text, quote, decision.target, decision.pointer, event.time or event.ingested,
            decision.by, is_users(space, event) or decision.pointer in ledger.approved,
            _line(to_text(line[:LINE_BYTES_MAX]), quote), decision.position,
        )  # fmt: skip


def _line(text: str, quote: str) -> str:
    """Give the lines as they are shown: the quote alone where they are too long to hold it."""
    return text.strip() if quote in text else quote
