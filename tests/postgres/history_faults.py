"""Faults that a history has to show, each planted in a writer's process (`CODE`) or in the store (`SQL`)."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from firsthand.errors import StoreBusy
from firsthand.log.engine import Entries
from firsthand.log.postgres import committer, tenant
from firsthand.log.postgres.connection import enter
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.reader import Reader

EARLY_S = 0.01


def acknowledge_before_the_commit() -> None:
    """Settle the tickets when they are written, and commit some time later."""

    def commit(self: Any, group: Any) -> None:
        try:
            write(self, group)
        except StoreBusy as error:
            for ticket in group:
                ticket.settle(error)

    def write(self: Any, group: Any) -> None:
        key, name = group[0].namespace, group[0].batches[0].namespace
        names = {batch.session for ticket in group for batch in ticket.batches}
        with contextlib.ExitStack() as stack:
            db = stack.enter_context(self._connections.use())
            stack.enter_context(db.transaction())
            enter(db, key)
            row = db.execute("SELECT at, hash FROM hold_1(%s)", (key,)).fetchone() or (0, bytes(32))
            known = tenant.Tenant(key, name, *row)
            tenant.read_sessions(tenant.ask_sessions(db, key, names), known, names)
            with db.pipeline() as pipeline:
                ids = tenant.known_ids(db, pipeline, self._seal, key, group)
            work = tenant.Work(known, self._clock(), ids, self._seal)
            for ticket in group:
                work.take(ticket)
            if not tenant.is_written(work.write(db)):
                raise StoreBusy("another one made the namespace")
            later = stack.pop_all()
        for ticket, outcome in work.outcomes:
            ticket.settle(outcome)
        threading.Timer(EARLY_S, end, (later,)).start()

    def end(later: contextlib.ExitStack) -> None:
        with contextlib.suppress(StoreBusy):
            later.close()

    committer.Committer._commit = commit


def known_ids_are_not_looked_up() -> None:
    """Judge every ticket as if nothing of it were there."""
    committer.known_ids = lambda *_: {}


def expectations_are_not_checked() -> None:
    """Append wherever the session ends."""
    append = PostgresLog.append

    def unchecked(self: Any, drafts: Any, *, expected_position: int | None = None, **where: Any) -> Any:
        return append(self, drafts, **where)

    PostgresLog.append = unchecked


def a_poll_skips() -> None:
    """Leave out an event now and then, as a reader of a sequence's numbers does."""
    entries = Reader.entries

    def skipping(self: Any, *where: Any) -> Entries:
        read = entries(self, *where)
        left_out = random.random() < 0.05 and len(read.entries) > 1
        return Entries(read.entries[1:], read.damaged, read.through) if left_out else read

    Reader.entries = skipping


def a_head_is_kept() -> None:
    """Give the head that was read up to 20 ms ago."""
    head, kept = Reader.head, {}

    def stale(self: Any, namespace: str) -> tuple[int, bytes]:
        read_at, value = kept.get(namespace, (0.0, None))
        if value is None or time.monotonic() - read_at > 0.02:
            value = head(self, namespace)
            kept[namespace] = time.monotonic(), value
        return value

    Reader.head = stale


CODE: dict[str, Callable[[], None]] = {
    "acknowledge before the commit": acknowledge_before_the_commit,
    "known ids are not looked up": known_ids_are_not_looked_up,
    "expectations are not checked": expectations_are_not_checked,
    "a poll skips": a_poll_skips,
    "a head is kept": a_head_is_kept,
}


def _without_compare(source: str) -> str:
    """Write `append` so that it takes the next positions, whatever head its events were hashed onto."""
    start, end = source.index("  UPDATE namespace SET position"), source.index("  IF NOT FOUND THEN")
    anywhere = (
        "  UPDATE namespace SET position = namespace.position + count, head = new_head\n"
        "    WHERE namespace.namespace = of_namespace RETURNING namespace.position - count INTO old_position;\n"
    )
    return source[:start] + anywhere + source[end:]


SQL: dict[str, Callable[[Any], None]] = {
    "the head is not compared": lambda db: _rewrite(db, _without_compare),
    "known ids are not looked up": lambda db: db.execute(
        "ALTER TABLE firsthand.event DROP CONSTRAINT event_namespace_id_key"
    ),
}


def _rewrite(db: Any, change: Callable[[str], str]) -> None:
    """Change the functions that append."""
    sources = db.execute(
        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE 'append%' "
        "AND pronamespace = 'firsthand'::regnamespace"
    ).fetchall()
    assert sources
    for (source,) in sources:
        db.execute(change(source))
