"""What the log and the ledger say, at the moment of showing, of an event that unasked text rests on.

    not there, erased, quarantined, retracted    nothing is shown
    a tool's, a page's, somebody else's words    pointer and origin, unless the user approved them
    an event that is too large to look through   pointer and origin
    the user's and the agent's                   their words

A decision is the ledger's: that the user took something back is known from there, and
never from a sentence. The invariant: it is asked anew for each text; nothing is kept of
it but the ledger's own fold.
"""

from __future__ import annotations

import re

from firsthand import pointer
from firsthand.errors import Unresolvable
from firsthand.event import Event, Trust
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.decisions import Ledger
from firsthand.space import Space
from firsthand.unasked import secret_library, secrets
from firsthand.unasked.volunteer import Funnel, Source, Standing

READ_BYTES_MAX = 1 << 20
"""Of an event that is searched for secrets; of a larger one only the pointer is shown."""
RUN_WORDS = 4
"""So many words in a row that are out and about to be shown are the same statement."""
GONE = Source(Standing.NOTHING)


def funnel(space: Space) -> Funnel:
    """Make the funnel of a memory, as its log and ledger are now."""
    finder = secret_library.ready(space.path / secret_library.RULES_FOLDER)
    lookup = Lookup(space, finder)
    return Funnel(lookup, lambda text, label: space.fence(text, label=label), finder)


class Lookup:
    """Says what stands of a pointer; a text asks for each event once."""

    def __init__(self, space: Space, finder: secrets.Finder) -> None:
        self._space, self._finder = space, finder
        self._events: dict[str, Event | None] = {}
        self._secrets: dict[str, tuple[str, ...]] = {}
        self._ledger: Ledger | None = None

    def __call__(self, address: str, words: str) -> Source:
        """Look an event, or both ends of a span, up."""
        place = pointer.parse(address)
        sources = [self._source(place, identity, words) for identity in (place.first, place.last) if identity]
        order = [Standing.NOTHING, Standing.POINTER, Standing.WORDS]
        return min(sources, key=lambda source: order.index(source.standing))

    def _source(self, place: pointer.Pointer, identity: str, words: str) -> Source:
        event = self._event(identity)
        if event is None or event.erased or self._is_out(event, place, words):
            return GONE
        ledger = self._decided()
        is_theirs = event.trust is Trust.UNTRUSTED and f"fh:{event.id}" not in ledger.approved
        is_large = event.size_bytes > READ_BYTES_MAX
        standing = Standing.POINTER if is_theirs or is_large else Standing.WORDS
        known = () if standing is Standing.POINTER else self._secrets_of(event)
        return Source(standing, event.agent or event.origin, event.time, known)

    def _event(self, identity: str) -> Event | None:
        if identity not in self._events:
            try:
                self._events[identity] = self._space.event(f"fh:{identity}")
            except Unresolvable:
                self._events[identity] = None
        return self._events[identity]

    def _secrets_of(self, event: Event) -> tuple[str, ...]:
        if event.id not in self._secrets:
            text = event.text
            self._secrets[event.id] = tuple(text[secret.start : secret.end] for secret in self._finder(text))
        return self._secrets[event.id]

    # the ledger ----------------------------------------------------------------------------------------

    def _decided(self) -> Ledger:
        if self._ledger is None:
            self._ledger = LedgerLog(self._space).at()
        return self._ledger

    def _is_out(self, event: Event, place: pointer.Pointer, words: str) -> bool:
        """Say whether a decision takes out the event, or the part of it that is about to be shown."""
        ledger, whole = self._decided(), f"fh:{event.id}"
        if not ledger.stands(whole):
            return True
        parts = (part for part in ledger.parts.get(whole, ()) if not ledger.stands(part))
        return any(self._concerns(part, event, place, words) for part in parts)

    def _concerns(self, target: str, event: Event, place: pointer.Pointer, words: str) -> bool:
        """Say whether what is out is all of the event, or bytes of it that the words hold."""
        out = pointer.parse(target)
        if out.unit != "bytes":
            return True
        if place.unit == "bytes":
            return place.start < out.end and out.start < place.end
        content = event.content or b""
        return _share_words(content[out.start : out.end].decode("utf-8", "replace"), words)


def _share_words(first: str, other: str) -> bool:
    """Say whether two texts have a run of `RUN_WORDS` words in common, or all of the shorter one."""
    ours, theirs = (re.findall(r"\w+", text.casefold()) for text in (first, other))
    size = min(RUN_WORDS, len(ours), len(theirs))
    runs = [{tuple(words[at : at + size]) for at in range(len(words) - size + 1)} for words in (ours, theirs)]
    return size > 0 and not runs[0].isdisjoint(runs[1])
