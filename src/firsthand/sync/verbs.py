"""What a server answers to a store that syncs with it: seven verbs, each of one namespace.

heads -> where sessions end        links -> chain hashes of single events, to find where two histories part
pull  -> tails                     push, artifact <- tails, and large payloads piece by piece
erasures -> ids that erasures name     erase <- what was erased on the other side of a fork, or quotes it
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from firsthand.agents.withdrawal import erasable
from firsthand.context.quotes import quoting
from firsthand.errors import InvalidArgument, StoreBusy, StoreDamaged, StoreFull
from firsthand.event import Artifact, Kind
from firsthand.log.disk import open_locked
from firsthand.log.prepare import check_name
from firsthand.log.rows import erased_by
from firsthand.memory import Memory
from firsthand.value import asdict

from . import tails

ITEMS_MAX = 1_000
PIECE_BYTES_MAX = 4 << 20
PARTS_MAX = 8
"""Payloads that are on their way into a namespace together: a sync sends one at a time."""
PART_S = 3_600.0
"""After so long without a piece, a payload that was cut off is begun anew."""


def heads(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    """Give where every session ends; only that nothing came, where the namespace's head is still the one named."""
    engine = tails.engine_of(memory)
    head = head_of(memory)
    is_same = asked.get("head") == head
    if not is_same:
        _sweep(memory.path, PART_S)
        if engine is not memory.log:  # PostgreSQL: payloads of an earlier sync whose events never came
            engine.artifacts.sweep(engine.namespace_key(memory.namespace))
    sessions = () if is_same else tails.places(memory).items()
    return {
        "store": engine.reader.uuid().hex(), "namespace": memory.namespace, "head": head, "same": is_same,
        "sessions": [[name, place.length, place.head] for name, place in sessions],
    }  # fmt: skip


def links(memory: Memory, asked: dict[str, Any]) -> list[str]:
    """Give the chain hashes of events by session and sequence; empty for one that is not there."""
    return [tails.chain_at(memory, session, sequence) for session, sequence in _pairs(asked["at"])]


def pull(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    """Give the events of sessions, each from a sequence on, as many as fit; and how many sessions are whole by that."""
    events: list[dict[str, Any]] = []
    size = done = 0
    pairs = _pairs(asked["sessions"])
    for pair in pairs:
        for fields, weight in tails.read(memory, [pair]):
            if events and (len(events) >= tails.EVENTS_MAX or size + weight > tails.BYTES_MAX):
                return {"events": events, "done": done}
            events.append(fields)
            size += weight
        done += 1
    return {"events": events, "done": done}


def push(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    """Take tails in, link by link; say of each session what became of it, and the heads before and after."""
    before, events = head_of(memory), _list(asked["events"], tails.EVENTS_MAX)
    outcomes = tails.take(memory, events)
    if any(fields.get("kind") == Kind.ERASURE for fields in events):
        _sweep(memory.path, 0.0)  # a payload on its way may be of what was erased: it is sent anew, or never
    return {"outcomes": [asdict(outcome) for outcome in outcomes], "before": before, "after": head_of(memory)}


def artifact(memory: Memory, asked: dict[str, Any]) -> dict[str, int]:
    """Take the next piece of a large payload, and say how much of it is here; all of it once it is kept."""
    log, size, offset = memory.log, asked["size"], asked.get("offset", 0)
    try:
        digest, piece = bytes.fromhex(asked["digest"]), base64.b64decode(asked.get("bytes", ""), validate=True)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"artifact takes a digest in hexadecimal and bytes in base64; {error}") from error
    if not (isinstance(size, int) and isinstance(offset, int)) or len(digest) != 32 or len(piece) > PIECE_BYTES_MAX:
        raise InvalidArgument(f"artifact takes a SHA-256, a size, and at most {PIECE_BYTES_MAX:,} bytes from an offset")
    key = log.namespace_key(memory.namespace)
    most = log.artifacts.bytes_max
    if not 0 <= size <= most:
        raise InvalidArgument(f"a payload has at most {most:,} bytes here; got a size of {size:,}")
    part = _part(memory.path, memory.namespace, digest)
    swept = part.with_suffix(".swept")
    if not swept.exists():  # it goes as parts do: once an hour, what came a day ago and no event holds makes room
        swept.touch(mode=0o600)
        log.prune(["payloads"])
    with os.fdopen(open_locked(part, fcntl.LOCK_EX), "r+b") as file:  # of several machines that send it, one at a time
        if log.artifacts.present(key, digest):
            part.unlink(missing_ok=True)
            return {"have": size}
        here = file.seek(0, os.SEEK_END)
        if not here and sum(1 for each in part.parent.iterdir() if each.stat().st_size) >= PARTS_MAX:
            raise StoreBusy(f"expected at most {PARTS_MAX} payloads on their way at once; end one, or wait an hour")
        if piece and here == offset and offset + len(piece) <= size:
            if _size_of(part.parent.glob(f"{part.stem}.*")) + len(piece) > most:
                raise StoreFull(
                    f"payloads on their way to this namespace may have {most:,} bytes together; sync again "
                    "when they have arrived, or in an hour, when what was cut off is gone"
                )
            file.write(piece)
            here += len(piece)
        if here < size:
            return {"have": here}
        file.seek(0)
        stored: Artifact = log.artifacts.put(key, file)
        part.unlink(missing_ok=True)
    if (stored.digest, stored.size_bytes) != (digest, size):
        raise StoreDamaged(
            f"artifact {asked['digest']} is not what was written: its pieces hash otherwise; send it anew"
        )
    return {"have": size}


def erasures(memory: Memory, asked: dict[str, Any]) -> dict[str, list[str]]:
    """Name what the erasures in sessions destroyed, each from a sequence on; or what repeats the words of events."""
    if "quoting" in asked:
        here = [name for name in map(str, _list(asked["quoting"])) if erasable(memory, name)]
        return {"ids": quoting(memory, here)}
    return {"ids": [name for pair in _pairs(asked.get("sessions")) for name in erased_from(memory, *pair)]}


def erase(memory: Memory, asked: dict[str, Any]) -> dict[str, int]:
    """Erase what was erased elsewhere, as far as it is here."""
    return {"erased": erase_here(memory, map(str, _list(asked["ids"])), str(asked.get("reason", "")))}


def erase_here(memory: Memory, names: Iterable[str], reason: str) -> int:
    """Erase events that are here with their content, and what quotes them; give how many."""
    here = [f"fh:{name}" for name in dict.fromkeys(names) if erasable(memory, name)]
    return len(memory.erase(here, reason=reason).erased) if here else 0


def erased_from(memory: Memory, session: str, sequence: int) -> Iterable[str]:
    """Name what the erasures of a session destroyed, from a sequence on."""
    for event in memory.log.reader.events(memory.namespace, session=session, kind=Kind.ERASURE):
        if event.sequence >= sequence:
            yield from erased_by(event.content or b"")


def head_of(memory: Memory) -> str:
    """Give the head of the namespace in the engine."""
    position, digest = tails.engine_of(memory).reader.head(memory.namespace)
    return f"{position}:{digest.hex()}"


def _part(root: Path, namespace: str, digest: bytes) -> Path:
    """Give the file that a payload is put together in."""
    _sweep(root, PART_S)
    return root / "cache" / "sync" / f"{hashlib.sha256(namespace.encode()).hexdigest()}.{digest.hex()}"


def _size_of(paths: Iterable[Path]) -> int:
    """Add up the sizes of files; one that went meanwhile has none."""
    size = 0
    for path in paths:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def _sweep(root: Path, older_than_s: float) -> None:
    """Remove the parts of payloads to which nothing came for so long."""
    folder = root / "cache" / "sync"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.iterdir():
        if time.time() - path.stat().st_mtime >= older_than_s:
            path.unlink(missing_ok=True)


def _list(items: Any, most: int = ITEMS_MAX) -> list[Any]:
    if not isinstance(items, list) or len(items) > most:
        raise InvalidArgument(f"expected a list of at most {most:,}; got {type(items).__name__}")
    return items


def _pairs(items: Any) -> list[tuple[str, int]]:
    """Read pairs of a session and a sequence."""
    pairs = []
    for item in _list(items):
        match item:
            case [str(session), int(sequence)] if 0 <= sequence < 1 << 62 and sequence is not True:
                pairs.append((check_name(session, "session", empty=False), int(sequence)))
            case _:
                raise InvalidArgument(f"expected pairs of a session and a sequence; got {item!r:.80}")
    return pairs


Verb = tuple[Callable[[Memory, dict[str, Any]], Any], tuple[str, ...]]
VERBS: Mapping[str, Verb] = {
    "sync/heads": (heads, ("head",)),
    "sync/links": (links, ("at*",)),
    "sync/pull": (pull, ("sessions*",)),
    "sync/push": (push, ("events*",)),
    "sync/artifact": (artifact, ("digest*", "size*", "offset", "bytes")),
    "sync/erasures": (erasures, ("sessions", "quoting")),
    "sync/erase": (erase, ("ids*", "reason")),
}
"""Of each one: what answers, and what it takes; what it must have ends in ``*``."""
