"""What a client has seen of a server's namespace: the heads of its sessions, kept outside both.

    line 1: the server's uuid, the namespace's heads there and here, what is still to be erased
    line 2: each session's length and head there; read only where something is new

The invariant: the file is whole, old or new; what a server acknowledged is compared with it at every later sync, so
that a server which was put back, replaced or changed is noticed, however whole its own chains are.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

from firsthand import environment
from firsthand.errors import StoreFailed
from firsthand.log.disk import Disk
from firsthand.value import field, value

from .tails import Place

FOLDER = "sync"


@value(frozen=False)
class Seen:
    """A server's namespace as it was last seen.

    Attributes:
        server: uuid of its store; empty before the first sync.
        theirs, ours: heads of the namespace there and here when nothing was left to do; empty when something was.
        had: how many sessions both had then.
        forks: sessions here that hold what the server has in another one, by their names, so are never pushed.
        here, there: ids of events that are still to be erased, since they quote what was.
        sessions: the line that says where each session ended there.
    """

    server: str = ""
    theirs: str = ""
    ours: str = ""
    had: int = 0
    forks: dict[str, str] = field(default_factory=dict)
    here: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    sessions: str = "{}"

    def places(self) -> dict[str, Place]:
        """Read where each session ended there."""
        return {name: Place(int(length), str(head)) for name, (length, head) in json.loads(self.sessions).items()}

    def keep(self, places: dict[str, Place]) -> None:
        """Note where each session ends there."""
        self.sessions = json.dumps({name: (place.length, place.head) for name, place in places.items()})


class SeenFile:
    """The file of one server, namespace and store."""

    def __init__(self, address: str, namespace: str, store: str) -> None:
        folder = environment.state_folder()
        if folder is None:
            raise StoreFailed("a sync keeps the heads it has seen, and this user has no home: set XDG_STATE_HOME")
        name = sha256(repr((address, namespace, store)).encode()).hexdigest()[:32]
        self.path: Path = folder / FOLDER / f"{name}.json"

    def load(self) -> Seen:
        """Read it.

        Raises:
            StoreFailed: it cannot be read, or is none of ours.
        """
        try:
            first, second = self.path.read_text(encoding="utf-8").splitlines()
            return Seen(**json.loads(first), sessions=second)
        except FileNotFoundError:
            return Seen()
        except (OSError, ValueError, TypeError) as error:
            raise StoreFailed(
                f"expected the heads that were seen in {self.path}; {error}. Removed, it begins anew, and a loss on "
                "the server goes unnoticed this once"
            ) from error

    def save(self, seen: Seen) -> None:
        """Write it, whole or not at all.

        Raises:
            StoreFailed: it cannot be written.
        """
        header = {
            "server": seen.server, "theirs": seen.theirs, "ours": seen.ours, "had": seen.had, "forks": seen.forks,
            "here": seen.here, "there": seen.there,
        }  # fmt: skip
        part = self.path.with_suffix(f".{os.getpid()}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with part.open("w", encoding="utf-8") as file:
                file.write(f"{json.dumps(header)}\n{seen.sessions}\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
            Disk().sync_folder(self.path.parent)
        except OSError as error:
            raise StoreFailed(f"the heads that were seen cannot be kept: {self.path}: {error.strerror}") from error
