"""What the hooks know of a session from one call to the next: whose it is, how it is recorded, what was told.

A small file a session: without it the agent is found again by the folder, a fault is
told once more, and a transcript that comes late is followed beside what hooks told. The
invariant: a session stays the agent's with whom it began, also when it changes its folder.
"""

from __future__ import annotations

from hashlib import blake2s
from pathlib import Path

from firsthand.agents import small_files
from firsthand.value import value

KNOWN_MAX = 5_000
TOLD_MAX = 32
"""Faults, the newest: an older one is told again."""


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
    fields = small_files.table(_path(store, namespace, session))
    try:
        return Known(str(fields["agent"]), fields["payloads"] is True, tuple(map(str, fields["told"]))[-TOLD_MAX:])
    except (KeyError, TypeError):  # there is none, or another version's
        return Known()


def keep(store: Path, namespace: str, session: str, knowledge: Known) -> None:
    """Write what is known of a session; how it is recorded is not unsaid by a hook that read the file before.

    Raises:
        StoreError: it cannot be written.
    """
    payloads = knowledge.payloads or known(store, namespace, session).payloads
    fields = {
        "session": session, "agent": knowledge.agent, "payloads": payloads,
        "told": knowledge.told[-TOLD_MAX:],
    }  # fmt: skip
    small_files.put_table(_path(store, namespace, session), fields)


def forget_told(store: Path) -> None:
    """Forget the beginnings of faults that sessions were told of; such a fault is told once more.

    Raises:
        StoreError: a file cannot be read or written.
    """
    folder = store / "hooks" / "known"
    for name in small_files.names(folder, ".json", 1_000_000):
        fields = small_files.table(folder / name)
        if not isinstance(fields.get("told"), list):  # another version's: nothing is known of it
            small_files.remove(folder / name)
        elif fields["told"]:
            small_files.put_table(folder / name, {**fields, "told": []})


def prune(store: Path) -> int:
    """Forget the sessions that were not heard of for longest, of more than `KNOWN_MAX`; say how many."""
    folder = store / "hooks" / "known"
    files = small_files.names(folder, ".json", 1_000_000)
    if len(files) <= KNOWN_MAX:
        return 0
    with small_files.ours(f"look at {folder}"):
        oldest = sorted(files, key=lambda name: (folder / name).stat().st_mtime_ns)
    for name in oldest[: len(files) - KNOWN_MAX]:
        small_files.remove(folder / name)
    return len(files) - KNOWN_MAX


def _path(store: Path, namespace: str, session: str) -> Path:
    key = f"{namespace}\0{session}".encode("utf-8", "surrogatepass")
    return store / "hooks" / "known" / f"{blake2s(key, digest_size=12).hexdigest()}.json"
