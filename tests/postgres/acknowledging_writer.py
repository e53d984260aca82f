"""A writer as a process of its own: appends until it is ended, and says on standard output what was acknowledged.

    python acknowledging_writer.py DSN-OR-ADDRESS NAME THREADS FAULT

Each line: namespace, id, position, text. An append whose fate is not known is made again with the same ids until it
is acknowledged, whatever happens to the server. FAULT is one of `kill_faults`.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from kill_faults import FAULTS

from firsthand import Client
from firsthand.errors import ServerFailed, StoreBusy
from firsthand.event import Draft, IdMaker, Kind
from firsthand.log.postgres.log import PostgresLog

NAMESPACES = ("left", "right")
GIVE_UP_S = 120.0
Append = Callable[[Sequence[Draft], str, str], Any]


def write(append: Append, name: str) -> None:
    """Append batches of one to three events, to two namespaces and to a session that others write too."""
    chance, make_id, number = random.Random(name), IdMaker(), 0
    while True:
        texts = [f"{name}-{number + k}" for k in range(chance.randint(1, 3))]
        number += len(texts)
        drafts = [Draft(Kind.NOTE, text.encode(), id=make_id()) for text in texts]
        namespace, session = chance.choice(NAMESPACES), chance.choice((name, "shared"))
        appended = until_acknowledged(append, drafts, namespace, session)
        lines = [f"{namespace} {one.id} {one.position} {text}\n" for one, text in zip(appended, texts, strict=True)]
        os.write(1, "".join(lines).encode())  # one call a batch: a kill leaves whole lines


def until_acknowledged(append: Append, drafts: Sequence[Draft], namespace: str, session: str) -> Any:
    """Append the same drafts until they are acknowledged."""
    end = time.monotonic() + GIVE_UP_S
    while True:
        try:
            return append(drafts, namespace, session)
        except (StoreBusy, ServerFailed):
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def way_to(where: str) -> Append:
    """Give how to append there: to PostgreSQL itself, or by a client of a server."""
    if where.startswith("http"):
        clients = {namespace: Client(where, namespace=namespace, timeout_s=5) for namespace in NAMESPACES}
        return lambda drafts, namespace, session: clients[namespace].append(drafts, session=session)
    log = PostgresLog(where)
    return lambda drafts, namespace, session: log.append(drafts, namespace=namespace, session=session)


def main() -> None:
    where, name, threads, fault = sys.argv[1:]
    FAULTS[fault]()
    append = way_to(where)
    os.write(1, b"ready\n")
    for number in range(int(threads)):
        threading.Thread(target=write, args=(append, f"{name}.{number}")).start()


if __name__ == "__main__":
    main()
