"""Open memories of a store: one for each namespace, shared by its sessions, which the last of them closes.

The invariant: a store that was open here is never made anew where it is gone, and a handle that takes no more is
handed out to nobody. It does not know what its users do.
"""

from __future__ import annotations

import os
import threading

from firsthand import Memory


class Handles:
    """The handles of one store; safe to share between threads.

    Args:
        store: an open memory, which stays open; or as for `Memory`.
    """

    def __init__(self, store: Memory | str | os.PathLike[str] | None) -> None:
        self.store, self.was_open = store, False
        self._lock = threading.Lock()
        self._open: dict[tuple[str, bool], Memory] = {}
        self._users: dict[int, int] = {}  # of each handle, by its identity

    def take(self, namespace: str, *, read_only: bool = False) -> Memory:
        """Give the memory of a namespace, opened if nobody has it.

        Raises:
            StoreError: it cannot be opened.
        """
        if isinstance(self.store, Memory):
            return self.store
        with self._lock:
            memory = self._open.get((namespace, read_only))
            if memory is None:
                create = not (read_only or self.was_open)
                memory = Memory(self.store, namespace=namespace, read_only=read_only, create=create)
                self._open[namespace, read_only], self.was_open = memory, True
            self._users[id(memory)] = self._users.get(id(memory), 0) + 1
            return memory

    def give_back(self, memory: Memory, *, is_broken: bool = False) -> None:
        """Let a memory go, and close it behind its last user; nobody is given a broken one again."""
        if memory is self.store:
            return
        with self._lock:
            self._users[id(memory)] -= 1
            if is_last := not self._users[id(memory)]:
                del self._users[id(memory)]
            if is_last or is_broken:
                self._open = {key: each for key, each in self._open.items() if each is not memory}
        if is_last:
            memory.close()
