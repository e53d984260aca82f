"""Faults that loops of kills have to find, planted in a process: each loses an event, or has it there twice.

python kill_faults.py FAULT ARGUMENT...    runs `firsthand ARGUMENT...` with one
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import history_faults

from firsthand.cli.cli import main
from firsthand.log.postgres import replica_folder
from firsthand.log.results import Appended
from firsthand.log.sqlite.log import Log
from firsthand.log.verbs import AppendVerbs
from firsthand.value import replace

LATE_S = 0.02


def answer_before_the_append() -> None:
    """Say where events will be in a store of files, and append them some time later."""
    submit, turn = Log._submit, threading.Lock()

    def early(self: Any, batches: Any) -> tuple[Appended, ...]:
        turn.acquire()
        names = [event.name for batch in batches for event in batch.events]
        position = self.reader.head(batches[0].namespace)[0]

        def late() -> None:
            time.sleep(LATE_S)
            submit(self, batches)
            turn.release()

        threading.Thread(target=late).start()
        return tuple(Appended(position + number, name, new=True) for number, name in enumerate(names, 1))

    Log._submit = early


def ids_are_ignored() -> None:
    """Give each event that comes an id of the log's own, and answer some time later."""
    append = AppendVerbs.append

    def anew(self: Any, drafts: Sequence[Any], **where: Any) -> tuple[Appended, ...]:
        appended = append(self, [replace(draft, id=None) for draft in drafts], **where)
        time.sleep(LATE_S)
        return appended

    AppendVerbs.append = anew


def _taken(rows: Callable[[list[Any]], list[Any]]) -> Callable[[], None]:
    """Take other rows into a replica than those that the engine gave, as if they were new there."""

    def plant() -> None:
        prepared, take = replica_folder.prepared, replica_folder.ReplicaFolder._take
        replica_folder.prepared = lambda row: replace(prepared(row), restored=None)
        replica_folder.ReplicaFolder._take = lambda self, stored: take(self, rows(list(stored)))

    return plant


FAULTS: dict[str, Callable[[], None]] = {
    "none": lambda: None,
    "acknowledge before the commit": history_faults.acknowledge_before_the_commit,
    "answer before the append": answer_before_the_append,
    "ids are ignored": ids_are_ignored,
    "an event is left out": _taken(lambda rows: rows[:-1]),
    "an event is taken twice": _taken(lambda rows: [*rows, (rows[-1][0], os.urandom(16), *rows[-1][2:])]),
}

if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    sys.exit(main())
