"""What somebody asserted, and stands: each fact with the words of the log that it rests on.

The invariant: a fact stands as long as its assertion is in force and the words that it
quotes stand; it is volunteered only where a user wrote these words, or approved it.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.errors import PointerError
from firsthand.event import Event, to_text
from firsthand.ledger.effect import Effect
from firsthand.ledger.evidence import cited, is_users
from firsthand.moment import Moment
from firsthand.pointer import Pointer, parse
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
    effect = Effect(space, as_of)
    ledger = effect.ledger
    for decision in reversed([*ledger.asserted.values()]):
        if not (ledger.stands(decision.pointer) and ledger.stands(decision.target)):
            continue
        try:
            event = cited(space, decision.target)
        except PointerError:  # erased, or imported without what it rests on
            continue
        standing = effect.text(event)
        if standing is None or effect.is_out(decision.target, f"{decision.quotes[0]}\n{decision.text}"):
            continue
        yield Fact(
            decision.key, decision.text, decision.quotes[0], decision.target, decision.pointer,
            event.time or event.ingested, decision.by, is_users(space, event) or decision.pointer in ledger.approved,
            _line(standing, parse(decision.target), decision.quotes[0]), decision.position,
        )  # fmt: skip


def _line(event: Event, place: Pointer, quote: str) -> str:
    """Give the lines as they are shown: the quote alone where they are too long to hold it."""
    content = event.content or b""
    lines = content[place.start : place.end] if place.unit == "bytes" else content
    text = to_text(lines[:LINE_BYTES_MAX])
    return text.strip() if quote in text else quote
