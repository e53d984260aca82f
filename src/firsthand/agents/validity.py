"""What the log and the ledger say, at the moment of showing, of an event that unasked text rests on.

    not there, erased, quarantined, retracted    nothing is shown, nor of what rests on it
    a tool's, a page's, somebody else's words    pointer and origin, unless the user approved them
    an event that is too large to look through   pointer and origin
    the user's and the agent's                   their words

A decision is the ledger's: that the user took something back is known from there, and
never from a sentence. The invariant: it is asked anew for each text; nothing is kept of
it but the ledger's own fold.
"""

from __future__ import annotations

from firsthand import pointer
from firsthand.errors import Unresolvable
from firsthand.event import Event, Trust
from firsthand.ledger.effect import Effect
from firsthand.space import Space
from firsthand.unasked import secret_library, secrets
from firsthand.unasked.volunteer import Funnel, Source, Standing

READ_BYTES_MAX = 1 << 20
"""Of an event that is searched for secrets; of a larger one only the pointer is shown."""
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
        self._effect = Effect(space)

    def __call__(self, address: str, words: str) -> Source:
        """Look an event, or both ends of a span, up."""
        place = pointer.parse(address)
        sources = [self._source(place, identity, words) for identity in (place.first, place.last) if identity]
        order = [Standing.NOTHING, Standing.POINTER, Standing.WORDS]
        return min(sources, key=lambda source: order.index(source.standing))

    def _source(self, place: pointer.Pointer, identity: str, words: str) -> Source:
        event = self._event(identity)
        if event is None or event.erased or self._effect.is_out(str(place), words):
            return GONE
        is_theirs = event.trust is Trust.UNTRUSTED and f"fh:{event.id}" not in self._effect.ledger.approved
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
