"""Every error that Firsthand raises, as one tree.

Each message says what was expected, what came, and what to do next.
Foreign errors (SQLite, the operating system) are translated in one place per
room; nothing outside this tree leaves a public call, except ``TypeError`` and
``KeyboardInterrupt``.

    FirsthandError
    |- StoreError               the store as a whole
    |  |- NotAStore             the folder is not a store, or holds something else
    |  |- StoreNewer            written by a newer version than this one knows
    |  |- StoreOlder            of an older version, opened for reading: it must be opened for writing once
    |  |- StoreReadOnly         a write to a store that cannot be written
    |  |- StoreBusy             another writer held the store past the timeout
    |  |  `- StoreMoved         ... or the namespace is on another primary
    |  |- StoreFull             no space, quota or file size limit reached
    |  |- StoreFailed           the disk refused a write or a sync: the handle stops acknowledging
    |  |  `- StoreReplaced      ... because its files were removed or replaced while it was open
    |  |- StoreDamaged          bytes on disk are not what was written
    |  |- KeyMissing            content is encrypted, and its key is not to be had here
    |  |- StoreClosed           use after close
    |  `- ServerFailed          a server does not answer, or not as one of ours (`firsthand.Client`)
    |- AppendError              one append; the store is unchanged
    |  |- InvalidDraft          a field is of the wrong type, or over its limit
    |  |- IdConflict            the id is there already with other bytes
    |  `- StaleExpectation      the session grew since the writer looked
    |- PointerError             an address
    |  |- MalformedPointer      the text is not a pointer
    |  `- Unresolvable          the pointer is well formed, but its bytes are not to be had
    |     `- Erased             ... because they were erased
    |- QueryError               a recall that cannot be asked this way
    |- InvalidArgument          a store that cannot be opened this way
    |- DecisionRefused          a decision of the ledger whose quotes do not prove it
    |- SourceRejected           a file or folder that cannot be imported
    |- FormatError              messages or an export that are not of the format named
    |- MemoryFault              a memory under test raised, or gave what it should not (`firsthand_evals.reclaim`)
    `- ModelError               a language model was asked and gave no reply
       |- ModelUnavailable      it could not be reached, or answered that it is busy or broken
       |- ModelRefused          it answered that it does not take this request
       |- ReplyUnknown          no reply was recorded for this request
       `- CapReached            the next call could pass what a run may spend
"""

from __future__ import annotations


class FirsthandError(Exception):
    """Base of every error that Firsthand raises."""


class StoreError(FirsthandError):
    """The store as a whole cannot do what was asked."""


class NotAStore(StoreError):
    """The folder is not a Firsthand store."""


class StoreNewer(StoreError):
    """The store was written by a newer version; it is never rewritten by an older one."""


class StoreOlder(StoreError):
    """The store is of an older version and is opened for reading; opening it for writing brings it up to date."""


class StoreReadOnly(StoreError):
    """A write was asked of a store that is opened, or can only be opened, for reading."""


class StoreBusy(StoreError):
    """Another writer held the store for longer than the timeout.

    Attributes:
        batch: the events of an append that waited in vain, with their ids: appending them
            again is no second append. None when it was no append.
    """

    batch: object = None


class StoreMoved(StoreBusy):
    """The namespace is on another primary of PostgreSQL, or on its way to this one; nothing of this write was kept.

    Attributes:
        primary: the one that has it, as ``host:port/database``; empty where that is this one in a moment.
    """

    primary: str = ""


class StoreFull(StoreError):
    """The disk, a quota or a file size limit is full; nothing of this write was kept."""

    wait_s: float = 0.0  # after which a limit of a day begins anew


class StoreFailed(StoreError):
    """The disk refused a write or a sync; the handle takes no more writes until reopened."""


class StoreReplaced(StoreFailed):
    """A file under an open store was removed, or another one put in its place; the handle takes no more writes."""


class StoreDamaged(StoreError):
    """Bytes on disk are not the bytes that were written."""


class KeyMissing(StoreError):
    """The content of a store is encrypted, and the key is not to be had where it is looked for."""


class StoreClosed(StoreError):
    """The store was closed before this call."""


class ServerFailed(StoreError):
    """A server could not be reached, refused the token, or gave an answer that is none of this protocol."""

    status: int = 0  # of HTTP, where there was an answer


class AppendError(FirsthandError):
    """An append was refused; the store is unchanged."""


class InvalidDraft(AppendError):
    """A field of the draft has the wrong type or is over its limit."""


class IdConflict(AppendError):
    """The id is in the log already, with other bytes."""


class StaleExpectation(AppendError):
    """The session's last position is not the one the writer expected; read again and retry."""


class PointerError(FirsthandError):
    """An address does not lead to bytes."""


class MalformedPointer(PointerError):
    """The text is not a pointer."""


class Unresolvable(PointerError):
    """The pointer is well formed, but nothing in this namespace answers to it."""


class Erased(Unresolvable):
    """The event is there, its content was erased."""


class QueryError(FirsthandError):
    """The query cannot be asked this way."""


class InvalidArgument(FirsthandError):
    """An argument of opening a store is of another type, or out of its range."""


class DecisionRefused(FirsthandError):
    """The quotes of a stated decision do not stand where it says, or in the wrong order; nothing was kept."""


class SourceRejected(FirsthandError):
    """A file or folder cannot be imported."""


class FormatError(FirsthandError):
    """Messages, or an export, are not of the format named."""


class MemoryFault(FirsthandError):
    """A memory under test raised, gave no text, or wrote more than it may."""


class ModelError(FirsthandError):
    """A language model was asked and gave no reply."""


class ModelUnavailable(ModelError):
    """The model could not be reached or loaded, or answered that it is busy or broken."""


class ModelRefused(ModelError):
    """The model answered that it does not take this request; asking again changes nothing."""


class ReplyUnknown(ModelError):
    """No reply was recorded for this request."""


class CapReached(ModelError):
    """The next call could pass what a run may spend; it was not made."""
