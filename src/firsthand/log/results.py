"""What the verbs of a log give, whichever engine keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from firsthand.errors import QueryError, StoreDamaged
from firsthand.moment import Moment
from firsthand.value import field, short_repr, value

from .loss import sentence


@value
class Appended:
    """What became of one draft.

    Attributes:
        new: False when the same event was there already.
        indexed: False when the text index did not follow; until it does, the event is found by a scan of the log.
    """

    position: int
    id: str
    new: bool
    indexed: bool = True

    @property
    def pointer(self) -> str:
        """The event's address."""
        return f"fh:{self.id}"


Damaged = Callable[[int, StoreDamaged], None]
"""Is told the position of an event that is not what was written, and what is wrong with it."""


@value
class SessionInfo:
    """One session, as lists show it.

    Attributes:
        first, last: least and greatest event time; None when no event of it has one.
        head: chain hash of its last event, hexadecimal.
    """

    name: str
    events: int
    turns: int
    first: Moment | None
    last: Moment | None
    first_position: int
    last_position: int
    head: str


@value
class Erasure:
    """What an erasure did.

    Attributes:
        erased: ids of the events whose content was destroyed now, further parts of their records included.
        already: ids that had been erased before.
        artifacts_removed: files destroyed.
        artifacts_kept: files that other events, not erased, still hold.
        pointers: of the erasure events that record it.
        calls: files of calls that hooks kept, which held words of it and were changed or removed.
        files: outside the log, written or changed by a person, which still hold words or pointers of what was erased.
        retained: in PostgreSQL, what remains of it where, and until when; empty for a store in files, and of nothing.
    """

    erased: tuple[str, ...]
    already: tuple[str, ...]
    artifacts_removed: int
    artifacts_kept: int
    pointers: tuple[str, ...]
    files: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    retained: str = ""


@value
class Problem:
    """One thing that is not as it was written.

    Attributes:
        where: ``mark``, ``event``, ``session``, ``artifact``, ``index``, ``head`` or ``database``.
        what: a sentence.
        position, id: of the event concerned; 0 and empty when it is none.
        namespace: that the position is of; empty when it is of none.
    """

    where: str
    what: str
    position: int = 0
    id: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        event = f" fh:{self.id}" if self.id else ""
        place = f" at position {self.position}" if self.position else ""
        tenant = f" of namespace {self.namespace!r}" if place and self.namespace else ""
        return f"{self.where}{event}{place}{tenant}: {self.what}"


@value
class RecordedLoss:
    """A loss that the log itself records.

    Attributes:
        position: of the event that records it.
        missing: positions; none where another history stands in their place.
    """

    namespace: str
    position: int
    missing: tuple[range, ...]

    def __str__(self) -> str:
        what = sentence(self.namespace, self.missing) if self.missing else f"namespace {self.namespace} was rolled back"
        return f"{what}; recorded at position {self.position}"


@value
class Verification:
    """What a verification saw.

    Attributes:
        events: read and found whole; erased ones count when their chain holds.
        erased: of them, those without content.
        artifacts: files read and found whole.
        head: of the namespace asked for, ``position:hash`` to keep elsewhere; derived from the events, not as stored.
        heads: by namespace: of every one that was read, from a log; of the one asked for, from `Memory.verify`.
        losses: acknowledged events that are missing, as the log records it.
        notes: what is no damage but worth knowing.
    """

    problems: tuple[Problem, ...]
    events: int
    sessions: int
    erased: int
    artifacts: int
    head: str
    notes: tuple[str, ...] = ()
    heads: Mapping[str, str] = field(default_factory=dict)
    losses: tuple[RecordedLoss, ...] = ()

    def __repr__(self) -> str:
        named = {"ok": self.ok, "events": self.events, "sessions": self.sessions, "head": self.head}
        return short_repr("Verification", {**named, "problems": self.problems} if self.problems else named)

    @property
    def ok(self) -> bool:
        """True when everything is as it was written, but for what `losses` names: that was said when it was lost."""
        return not self.problems


@value
class Backup:
    """What a backup holds.

    Attributes:
        heads: ``position:hash`` of each namespace of the copy, by its name.
        damage: what of the copy, so of the store, is not as it was written; sentences.
    """

    path: Path
    events: int
    artifacts: int
    size_bytes: int
    heads: Mapping[str, str]
    damage: tuple[str, ...] = ()


@value
class Rebuilt:
    """What a rebuild did.

    Attributes:
        events: indexed anew.
        damaged: positions of the events that were left out, since they cannot be read; `verify` says why.
    """

    events: int
    damaged: tuple[int, ...] = ()


@value
class EarlierStore:
    """A store that was at the path of another one before it, and is gone, as its mark in the state directory says."""

    path: str
    events: int
    namespaces: int

    def __str__(self) -> str:
        return (
            f"another store was at {self.path} before this one, and is gone with its {self.events:,} events in "
            f"{self.namespaces:,} namespaces; if that is as you wish: firsthand store accept-head"
        )


def parse_head(text: str) -> tuple[int, bytes]:
    """Read a head as `Verification.head` writes it.

    Raises:
        QueryError: it is not one.
    """
    position, _, digest = text.strip().partition(":")
    try:
        parsed = int(position), bytes.fromhex(digest)
    except ValueError:
        parsed = -1, b""
    if parsed[0] < 0 or len(parsed[1]) != 32:
        raise QueryError(f"a head is position:hash, such as 42:9f86d0...; got {text[:80]!r}")
    return parsed
