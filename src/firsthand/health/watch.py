"""The look that a memory takes at itself while it runs: cheap, once an hour, oftener while something is wrong.

Left as a job by a session's start, and run by whoever runs jobs. What it finds is kept,
and the next session begins with it.
"""

from __future__ import annotations

import time
from pathlib import Path

from firsthand import moment
from firsthand.agents import health_line
from firsthand.health import canary, doctor
from firsthand.health.report import HealthReport
from firsthand.space import Space

EVERY_S = 3_600
EVERY_DEGRADED_S = 300
"""Somebody may have mended it, and must not be told for an hour that it is broken."""
CANARY_EVERY_S = 86_400


def due(store: Path, *, now_s: float | None = None) -> bool:
    """Say whether it is time for a look; one that cannot be read is due.

    Raises:
        StoreError: the folder cannot be read.
    """
    last = health_line.looked_at_s(store)
    if last is None:
        return True
    age_s = (time.time() if now_s is None else now_s) - last
    return age_s < 0 or age_s >= (EVERY_S if health_line.is_good(store) else EVERY_DEGRADED_S)


def watch(space: Space) -> HealthReport:
    """Look at a memory's stages, with a canary once a day, and keep what was found.

    Raises:
        StoreError: what is kept of canaries cannot be read.
    """
    now = moment.now()
    last = canary.last_sent(space.path)
    sent_s = 0.0 if last is None else last.microseconds / 1e6
    send = now.microseconds / 1e6 - sent_s >= CANARY_EVERY_S
    look = doctor.Look(canary=send, measures=False)
    return doctor.examine(space.path, namespace=space.namespace, look=look, now=now)
