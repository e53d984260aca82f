"""The proof of an erasure.

Whole source records go, since what stands around one content may hold words
of the others. Strings drawn from the content beforehand are recalled afterwards and lead to
no erased event, the pointers expand to nothing, and the chain still verifies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from firsthand import environment
from firsthand.answer import Query
from firsthand.errors import Erased
from firsthand.event import Event, Kind
from firsthand.index.verification import verify
from firsthand.ledger.ledger_recall import recall
from firsthand.log.sqlite.log import Log
from firsthand.log.sqlite.mend import Lack
from firsthand.space import Space
from firsthand.value import value

STRINGS_MAX = 12
_STRING = re.compile(r"[^\s\"'<>(){}\[\],;]{4,80}")
_READ_BYTES = 1 << 20  # of an event, to draw strings from


def accept_head(store: str | Path | None = None, namespace: str | None = None) -> tuple[Lack, ...]:
    """Take a store as it is for what it acknowledged, as after a backup was restored on purpose.

    Of a store in PostgreSQL it is one namespace's replica that was begun anew, and nobody tells of it any more.

    Returns what it lacks of that; those positions are used again. Stores that were at its path before are forgotten.

    Raises:
        NotAStore, StoreReadOnly: there is no store to write to.
    """
    root = Path(store) if store is not None else environment.default_store()
    if (root / environment.ADDRESS_FILE).is_file():
        with Space(root, namespace=namespace, embedder="none") as space:
            return space.log.accept_head()
    log = Log(root, create=False, heads=environment.heads_folder(), mend=False)
    try:
        return log.accept_head()
    finally:
        log.close()


# an erasure -----------------------------------------------------------------------------------------


@value
class Proof:
    """What was looked for after an erasure.

    Attributes:
        strings: drawn from the content before it went.
        leads: those of them that still led to an erased event; none, if all is well.
        elsewhere: pointers of events that were not erased and hold one of the strings.
        expands: pointers of erased events that still expand; none, if all is well.
        scanned: events that still hold the text asked for.
        calls: files of calls that hooks kept and that still hold the text asked for.
        chain: True when the store verifies.
    """

    strings: int
    leads: tuple[str, ...]
    elsewhere: tuple[str, ...]
    expands: tuple[str, ...]
    scanned: tuple[str, ...]
    calls: tuple[str, ...]
    chain: bool

    @property
    def ok(self) -> bool:
        """True when nothing is left and the chain holds."""
        return not (self.leads or self.expands or self.scanned or self.calls) and self.chain


def whole_records(space: Space, events: Iterable[Event]) -> list[Event]:
    """Give the events of all source records that some events were cut from, those erased before left out."""
    whole: dict[int, Event] = {}
    for event in events:
        if event.position not in whole:
            whole |= {part.position: part for part in _record(space, event)}
    return [event for _, event in sorted(whole.items()) if not event.erased]


def _record(space: Space, event: Event) -> Iterator[Event]:
    yield event
    before = space.events(event.session, before=event.position, newest_first=True, limit=event.part)
    first = event
    for first in before if event.part else ():
        yield first
    part = event.part
    for later in space.events(event.session, after=event.position) if first.envelope or event.part else ():
        if later.part != part + 1:
            return
        part = later.part
        yield later


def drawn(space: Space, events: Sequence[Event]) -> list[str]:
    """Draw strings from the content that is to go: the longest, from all of it."""
    strings: dict[str, None] = {}
    for event in events:
        data = bytearray()
        for piece in space.stream(event.pointer):
            data += piece
            if len(data) >= _READ_BYTES:
                break
        words = set(_STRING.findall(data.decode("utf-8", "ignore")))
        longest = sorted(words, key=lambda string: (-len(string), string))
        strings |= dict.fromkeys(longest[: max(1, STRINGS_MAX // len(events))])
        if len(strings) >= STRINGS_MAX:
            break
    return list(strings)


def proof_of(
    space: Space,
    erased: Iterable[str],
    strings: Sequence[str],
    *,
    scanned: tuple[str, ...] = (),
    calls: tuple[str, ...] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Proof:
    """Look for what must not be there any more.

    Args:
        erased: ids of the erased events.
        scanned, calls: what a scan of everything for a text has found.
    """
    gone = {f"fh:{identifier}" for identifier in erased}
    leads: list[str] = []
    elsewhere: dict[str, None] = {}
    for string in strings:
        for hit in recall(space, Query(string, hits_max=100)):
            if hit.pointer in gone:
                leads.append(hit.pointer)
            elif string in hit.exact and hit.kind is not Kind.ERASURE:
                elsewhere[hit.pointer] = None
    expands = tuple(address for address in sorted(gone) if not _is_erased(space, address))
    verified = verify(space.log, space.namespace, progress=progress)
    return Proof(len(strings), tuple(leads), tuple(elsewhere), expands, scanned, calls, verified.ok)


def _is_erased(space: Space, address: str) -> bool:
    """Say whether a pointer is known as erased, and gives not one byte."""
    try:
        next(iter(space.stream(address)), None)
    except Erased:
        return True
    return False
