"""The audit log: what was administered, refused, erased, exported and, if asked for, read, in the log itself.

Each is an event of one session of the namespace `grants.AUDIT`, chained as any other, so that verify proves it. It
names the principal, the act and the namespace, and never a question, a content, a key or what a stranger sent.

The invariant: an act that cannot be recorded is not done. Refusals are bounded: the first of a principal in a minute
is recorded at once, and the others as a number when the minute is over; a server that is killed loses that number.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg

from firsthand.errors import FirsthandError
from firsthand.event import Draft, Kind, Trust
from firsthand.log.postgres.log import PostgresLog
from firsthand.server.teams.grants import AUDIT

SESSION = "audit"
MINUTE_S = 60.0
Also = Callable[[psycopg.Connection], Any]
PRINCIPALS_MAX = 1_000
"""Of whom refusals are told apart in a minute; those of further ones are counted together."""


class Audit:
    """Records what is done through one server, or by its owner."""

    def __init__(self, log: PostgresLog, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock = log, clock
        self._lock = threading.Lock()
        self._begun, self._refusals = clock(), dict[str, Counter[str]]()

    def act(self, principal: str, act: str, also: Also | None = None, **facts: Any) -> None:
        """Record an act, on disk when this returns.

        Args:
            also: done in the same transaction: both are there, or neither.
        """
        content = json.dumps({"act": act, "principal": principal, **facts}, ensure_ascii=False).encode()
        draft = Draft(Kind.OTHER, content, "application/json", origin="firsthand", trust=Trust.TRUSTED)
        if also is None:
            self._log.append([draft], namespace=AUDIT, session=SESSION)
        else:
            self._log.append_with(also, draft, namespace=AUDIT, session=SESSION)

    def refusal(self, principal: str, route: str, reason: str) -> None:
        """Record a refusal, or count it.

        Args:
            principal: empty for a stranger.
        """
        with suppress(FirsthandError):  # they stay counted
            self.flush()
        with self._lock:
            name = self._counted_as(principal)
            first = name not in self._refusals
            counts = self._refusals.setdefault(name, Counter())
            counts[f"{route}: {reason}"] += not first
        if first:
            self.act(name, "refused", route=route, reason=reason)

    def flush(self, *, now: bool = False) -> None:
        """Record what was counted, when its minute is over."""
        with self._lock:
            if not now and self._clock() - self._begun < MINUTE_S:
                return
            refusals, self._refusals, self._begun = self._refusals, {}, self._clock()
        try:
            for name, counts in [*refusals.items()]:
                if counts.total():
                    self.act(name, "refused", count=counts.total(), reasons=dict(counts.most_common(10)))
                del refusals[name]
        finally:
            with self._lock:  # what was not written is counted on
                for name, counts in refusals.items():
                    self._refusals.setdefault(self._counted_as(name), Counter()).update(counts)

    def _counted_as(self, principal: str) -> str:
        return principal if principal in self._refusals or len(self._refusals) < PRINCIPALS_MAX else "..."
