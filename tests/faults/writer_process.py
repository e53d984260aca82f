"""A writer as a process of its own: appends until told to stop, and says on standard output what was acknowledged.

Each line: the id, the seconds of the monotonic clock, the length of the content.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from pathlib import Path

from firsthand.event import Draft, Kind
from stores import open_log


def content_of(name: str, number: int, size: int) -> bytes:
    """Make the content that a reader of the lines can make again."""
    return random.Random(f"{name} {number}").randbytes(size)


def write(log, name: str, seconds: float, events: int, size: int) -> None:
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        drafts = [Draft(Kind.NOTE, content_of(name, number + k, size)) for k in range(events)]
        appended = log.append(drafts, namespace="default", session=name)
        now = time.monotonic()
        lines = [f"{one.id} {now} {name} {number + k}\n" for k, one in enumerate(appended)]
        os.write(1, "".join(lines).encode())  # one call a batch: a kill leaves whole lines
        number += events


def main() -> None:
    root, name, seconds, events, size, threads = sys.argv[1:]
    log = open_log(Path(root))
    os.write(1, b"ready\n")
    sys.stdin.readline()
    running = [
        threading.Thread(target=write, args=(log, f"{name}-{k}", float(seconds), int(events), int(size)))
        for k in range(int(threads))
    ]
    for one in running:
        one.start()
    for one in running:
        one.join()
    log.close()


if __name__ == "__main__":
    main()
