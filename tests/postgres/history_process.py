"""A process that writes, polls and reads, and records when each operation began, when it ended, and what it gave.

    python history_process.py DSN NAME OPERATIONS FAULT FILE

Threads share one handle. FAULT is the name of a fault that is planted in it first (see `history_faults`), or `none`.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from typing import Any

import history_faults

from firsthand.errors import AppendError, Unresolvable
from firsthand.event import Draft, IdMaker, Kind
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.reader import number_of

NAMESPACE, SESSIONS, WRITERS = "shop", ("s0", "s1", "s2"), 3


class Recorder:
    """One process's operations, as lines of JSON."""

    def __init__(self, path: str) -> None:
        self._out, self._lock = open(path, "w", encoding="utf-8"), threading.Lock()  # noqa: SIM115, PTH123 - for the process

    def record(self, kind: str, begun: int, **about: Any) -> None:
        """Write down an operation that has just ended."""
        line = json.dumps({"kind": kind, "begun": begun, "ended": time.monotonic_ns(), **about})
        with self._lock:
            self._out.write(f"{line}\n")

    def close(self) -> None:
        self._out.close()


class History:
    """The threads of one process, and what they know of each other."""

    def __init__(self, log: PostgresLog, name: str, operations: int, recorder: Recorder) -> None:
        self._log, self._name, self._left, self._recorder = log, name, threading.Semaphore(operations), recorder
        self._begun: list[tuple[str, list[Draft]]] = []  # batches that somebody has begun to append, with their session
        self._last: dict[str, int] = {}  # where this process saw each session end
        self._ended = threading.Event()

    def run(self) -> None:
        """Run all threads to their end."""
        writers = [threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)]
        others = [threading.Thread(target=self._poll), threading.Thread(target=self._read)]
        for thread in (*writers, *others):
            thread.start()
        for thread in writers:
            thread.join()
        self._ended.set()
        for thread in others:
            thread.join()

    def _write(self, number: int) -> None:
        chance, make_id, count = random.Random(f"{self._name} {number}"), IdMaker(), 0
        while self._left.acquire(blocking=False):
            pick = chance.random()
            if pick < 0.2 and self._begun:  # again what somebody has begun, perhaps at this moment
                session, drafts = chance.choice(self._begun[-20:])
                self._append(session, drafts, None)
                continue
            session = chance.choice(SESSIONS)
            if pick < 0.24 and self._begun:
                session, drafts = chance.choice(self._begun)
                self._append(session, [Draft(Kind.NOTE, b"other bytes", id=drafts[0].id)], None)
                continue
            texts = [f"{self._name}.{number}-{count + k}" for k in range(chance.randint(1, 2))]
            count += len(texts)
            drafts = [Draft(Kind.NOTE, text.encode(), id=make_id()) for text in texts]
            self._begun.append((session, drafts))
            expected = self._last.get(session, 0) if pick > 0.7 else None
            self._append(session, drafts, expected)

    def _append(self, session: str, drafts: list[Draft], expected: int | None) -> None:
        about = {
            "session": session, "ids": [draft.id for draft in drafts], "expected": expected,
            "texts": [draft.content.decode() for draft in drafts],
        }  # fmt: skip
        begun = time.monotonic_ns()
        try:
            appended = self._log.append(drafts, namespace=NAMESPACE, session=session, expected_position=expected)
        except AppendError as error:
            self._recorder.record("append", begun, error=type(error).__name__, **about)
            return
        positions, new = [each.position for each in appended], [each.new for each in appended]
        self._recorder.record("append", begun, positions=positions, new=new, **about)
        self._last[session] = max(self._last.get(session, 0), positions[-1])

    def _poll(self) -> None:
        chance, after, key = random.Random(f"{self._name} poll"), 0, number_of(NAMESPACE)
        while True:
            last_time = self._ended.is_set()
            limit, begun = chance.randint(3, 60), time.monotonic_ns()
            read = self._log.reader.entries(key, after, limit)
            got = [(entry.event.position, entry.event.id) for entry in read.entries]
            self._recorder.record("poll", begun, after=after, through=read.through, limit=limit, got=got)
            after = read.through
            if last_time and not got:
                return

    def _read(self) -> None:
        chance = random.Random(f"{self._name} read")
        while not self._ended.is_set():
            begun = time.monotonic_ns()
            position, head = self._log.reader.head(NAMESPACE)
            self._recorder.record("head", begun, position=position, head=head.hex())
            if self._begun:
                _, drafts = chance.choice(self._begun)
                begun = time.monotonic_ns()
                try:
                    at = self._log.reader.event(NAMESPACE, str(drafts[0].id)).position
                except Unresolvable:
                    at = 0
                self._recorder.record("event", begun, id=drafts[0].id, position=at)


def main() -> None:
    dsn, name, operations, fault, path = sys.argv[1:]
    history_faults.CODE.get(fault, lambda: None)()
    log, recorder = PostgresLog(dsn), Recorder(path)
    print("ready", flush=True)
    sys.stdin.readline()
    History(log, name, int(operations), recorder).run()
    recorder.close()
    log.close()


if __name__ == "__main__":
    main()
