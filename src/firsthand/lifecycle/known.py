"""What the hooks know of a session from one call to the next: whose it is, how it is recorded, what was told.

A small file a session, disposable: without it the agent is found again by the
folder, and a fault is told once more. The invariant: a session stays the agent's
with whom it began, also when it changes its folder.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from firsthand.lifecycle import small_files
from firsthand.value import value

KNOWN_MAX = 5_000
TOLD_MAX = 32


@value
class Known:
    """What is known of one session.

    Attributes:
        agent: whose it is; empty while nothing is known.
        payloads: True when it is recorded from what the hooks are told, since it has no transcript.
        told: faults that the user was told of, by their first words.
    """

    agent: str = ""
    payloads: bool = False
    told: tuple[str, ...] = ()


def known(store: Path, namespace: str, session: str) -> Known:
    """Read what is known of a session; nothing where the file says nothing that can be understood."""
    data = small_files.read(_path(store, namespace, session))
    if data is None:
        return Known()
    try:
        told = json.loads(data)
        return Known(str(told["agent"]), told["payloads"] is True, tuple(map(str, told["told"]))[:TOLD_MAX])
    except (ValueError, KeyError, TypeError, RecursionError):  # another version's
        return Known()


def keep(store: Path, namespace: str, session: str, one: Known) -> None:
    """Write what is known of a session.

    Raises:
        StoreError: it cannot be written.
    """
    told = {"session": session, "agent": one.agent, "payloads": one.payloads, "told": list(one.told[:TOLD_MAX])}
    small_files.write(_path(store, namespace, session), json.dumps(told).encode())


def prune(store: Path) -> int:
    """Forget the sessions that were not heard of for longest, of more than `KNOWN_MAX`; say how many."""
    folder = store / "hooks" / "known"
    found = small_files.names(folder, ".json", 1_000_000)
    if len(found) <= KNOWN_MAX:
        return 0
    with small_files.ours(f"look at {folder}"):
        oldest = sorted(found, key=lambda name: (folder / name).stat().st_mtime_ns)
    for name in oldest[: len(found) - KNOWN_MAX]:
        small_files.remove(folder / name)
    return len(found) - KNOWN_MAX


def _path(store: Path, namespace: str, session: str) -> Path:
    key = f"{namespace}\0{session}".encode("utf-8", "surrogatepass")
    return store / "hooks" / "known" / f"{hashlib.blake2s(key, digest_size=12).hexdigest()}.json"
