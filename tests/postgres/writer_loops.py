"""Writers as processes, what they said was acknowledged, and what must hold of the log in the end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acknowledging_writer import NAMESPACES

from firsthand.errors import StoreBusy
from firsthand.log.postgres.log import PostgresLog
from stores import SOAK

HERE = Path(__file__).parent
LOOP_S = 3_600 if SOAK else 300


@dataclass(frozen=True)
class Acknowledged:
    """One line of a writer."""

    namespace: str
    id: str
    position: int
    text: str


class Process:
    """A program of this folder as a process, and the lines that it has said so far."""

    def __init__(self, program: str, *arguments: object, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, HERE / program, *map(str, arguments)], stdout=subprocess.PIPE,
            env=os.environ | environment,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        self.lines: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line)

    def kill(self) -> None:
        """End it as nothing else could."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()

    def acknowledged(self) -> list[Acknowledged]:
        """Give what a writer said."""
        words = [line.decode().split() for line in self.lines if line.endswith(b"\n")]
        return [Acknowledged(space, name, int(position), text) for space, name, position, text in words]


def writer(where: str, name: str, threads: int = 4, fault: str = "none", **environment: str) -> Process:
    """Start a writer, with a fault of `kill_faults` planted in it."""
    return Process("acknowledging_writer.py", where, name, threads, fault, **environment)


@contextmanager
def heads_watched(dsn: str) -> Iterator[list[tuple[str, int, bytes]]]:
    """Read the heads of all namespaces again and again, and give them in the order in which they were read."""
    seen: list[tuple[str, int, bytes]] = []
    ended = threading.Event()

    def watch() -> None:
        log = None
        while not ended.wait(0.02):
            try:
                log = log or PostgresLog(dsn)
                seen.extend((namespace, *log.reader.head(namespace)) for namespace in NAMESPACES)
            except StoreBusy:  # the server was killed
                continue
        if log is not None:
            log.close()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def violations(log: Any, said: list[Acknowledged], heads: Sequence[tuple[str, int, bytes]] = ()) -> list[str]:
    """Name each acknowledged event that is lost, what is there twice, and heads that did not only grow."""
    violated = [] if len({each.id for each in said}) == len(said) else ["twice: an id was acknowledged twice"]
    for namespace in NAMESPACES:
        events = list(log.reader.events(namespace))
        if [event.position for event in events] != list(range(1, len(events) + 1)):
            violated.append("order: positions do not run 1, 2, 3")
        counts = Counter(event.text for event in events)
        violated += [f"twice: {text} is there {count} times" for text, count in counts.items() if count > 1]
        stored = {event.id: (event.position, event.text) for event in events}
        violated += [
            f"lost: {each}, {stored.get(each.id)} is there" for each in said
            if each.namespace == namespace and stored.get(each.id) != (each.position, each.text)
        ]  # fmt: skip
        grown = [(position, head) for name, position, head in heads if name == namespace]
        if [position for position, _ in grown] != sorted(position for position, _ in grown):
            violated.append("head: one went back")
        kept = [f"{position}:{head.hex()}" for position, head in dict.fromkeys(grown) if position]
        violated += [f"verify: {problem}" for problem in log.verify(namespace=namespace, heads=kept).problems]
    return violated


def go_on(writers: list[Process], events: int, until: float) -> bool:
    """Say whether fewer events than so many were acknowledged yet; where it can go on no more, end the writers."""
    count = sum(len(each.lines) for each in writers)
    late, alone = time.monotonic() >= until, any(each.process.poll() is not None for each in writers)
    if late or alone:
        ended(writers)
    assert not late, f"only {count} events in {LOOP_S} s"
    assert not alone, "a writer ended by itself"
    return count < events


def ended(writers: list[Process]) -> list[Acknowledged]:
    """End writers, and give all that they said."""
    for each in writers:
        each.kill()
    return [line for each in writers for line in each.acknowledged()]
