"""What the log in SQLite asks of an index that its writer keeps.

The log does not know its indexes. `space` hands it those that lie in files of their own, behind three verbs, and
those that lie in its file, behind two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import apsw

from firsthand.log.engine import Entry
from firsthand.log.payload import ContentReader


class FollowingIndex(Protocol):
    """What follows the log in its own time and lies in its file: erased along with it, dropped to be rebuilt.

    Both run inside an open write transaction on ``db`` and neither begins or ends one.
    """

    name: str

    def forget(self, db: apsw.Connection, entries: Sequence[Entry]) -> None:
        """Remove events; they still have their content when this is called."""
        ...

    def reset(self, db: apsw.Connection) -> None:
        """Begin anew, empty, whatever state the index is in."""
        ...


class TransactionIndex(Protocol):
    """An index in the index file of a namespace, which the log's writer brings up to date behind its commits.

    That file is attached to ``db`` (`index_files.schema_of`). All may be called again for the same events and
    then change nothing. An ``apsw.Error`` that leaves them is undone by the log up to the state before the call;
    the events are there all the same, and the index is marked as not reaching beyond the position before them.
    """

    name: str

    def begin(self, db: apsw.Connection, namespace_key: int) -> None:
        """Begin a namespace's index anew, empty; inside a transaction."""
        ...

    def apply(self, db: apsw.Connection, entries: Sequence[Entry], contents: ContentReader) -> None:
        """Add events of one namespace, in order of position; inside a transaction."""
        ...

    def purge(self, db: apsw.Connection, namespace_key: int) -> None:
        """Take out the events that the log has erased, and leave no trace of them; called outside a transaction."""
        ...
