"""The keys of sealed bodies, kept outside the database: for each namespace a tree that can forget single leaves.

    root -> two children each, by hash -> a leaf for each event and each payload -> its data key

To forget a leaf, the nodes above it are replaced by their other children along the way. Every other key can be
derived as before, that one never again: so a copy of the database, however old, holds nothing of an erased event
that can be read, and everything of the others. Wrapped keys that lie in the database could not do that: a backup
keeps them, and the key that unwraps them is needed for the others.

The invariant: what was forgotten is in no file here; nothing else is ever lacking. A newer tree is for what is
written from then on; earlier ones stay for what was written under them. It knows nothing of what is sealed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Hashable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from firsthand.errors import InvalidArgument, KeyMissing, StoreFailed

KEY_BYTES, TREE_BYTES = 32, 4
CACHE_NODES_MAX = 1_024
MARK = "firsthand-store"
"""The file of a folder of keys that says whose it is: a folder without it may be an empty place to mount one."""
COMMAND_TIMEOUT_S = 30
COMMAND_FRESH_S = 30
"""What a command printed is asked for again after so long: other machines' erasures are forgotten here then."""


class KeyTree:
    """One tree: numbered as a heap, the root 1 and the children of n 2n and 2n + 1.

    Args:
        nodes: from which every key that is not forgotten can be derived.
    """

    def __init__(self, identity: bytes, nodes: dict[int, bytes]) -> None:
        self.identity, self.nodes = identity, nodes
        self._cache: dict[int, bytes] = {}

    def key(self, leaf: int) -> bytes | None:
        """Derive the data key of a leaf; None where it was forgotten."""
        number, below, cache = leaf, list[int](), self._cache
        while (node := self.nodes.get(number) or cache.get(number)) is None:
            below.append(number)
            number >>= 1
            if not number:
                return None
        if len(cache) > CACHE_NODES_MAX:
            self._cache = cache = {}
        for child in reversed(below):
            node = cache[child] = _child(node, child)
        return hashlib.sha256(node + b"\2").digest()

    def forget(self, leaf: int) -> None:
        """Make a leaf's key one that cannot be derived."""
        above = leaf
        while above and above not in self.nodes:
            above >>= 1
        if not above:
            return
        node, self._cache = self.nodes.pop(above), {}
        for depth in reversed(range(leaf.bit_length() - above.bit_length())):
            child = leaf >> depth
            self.nodes[child ^ 1], node = _child(node, child ^ 1), _child(node, child)


def _child(node: bytes, number: int) -> bytes:
    return hashlib.sha256(node + (b"\1" if number & 1 else b"\0")).digest()


class KeyRing:
    """The trees of one namespace, the one to write with last.

    Args:
        lossy: earlier trees were given up, and what was sealed with them reads as erased.

    Attributes:
        later: trees of its home that were looked for after it was read, to read with; None where they are not there.
    """

    def __init__(self, name: str, trees: list[KeyTree], *, lossy: bool = False) -> None:
        self.name, self.trees, self.lossy = name, trees, lossy
        self.later: dict[bytes, KeyTree | None] = {}

    def tree(self, identity: bytes) -> KeyTree | None:
        """Give the tree that something was sealed with; None where it is not here."""
        return next((tree for tree in self.trees if tree.identity == identity), None) or self.later.get(identity)

    def learn(self, newer: KeyRing) -> bool:
        """Take over the trees of the same ring as it was read later, to read with; say whether there are more."""
        trees = [tree for tree in newer.trees if self.tree(tree.identity) is None]
        self.later |= {tree.identity: tree for tree in trees}
        return bool(trees)

    def renew(self) -> None:
        """Begin a new tree, for what is written from now on."""
        self.trees.append(KeyTree(os.urandom(TREE_BYTES), {1: os.urandom(KEY_BYTES)}))

    def encode(self) -> bytes:
        """Write the ring as its home keeps it."""
        trees = [
            {"id": tree.identity.hex(), "nodes": {f"{number:x}": node.hex() for number, node in tree.nodes.items()}}
            for tree in self.trees
        ]
        fields = {"firsthand_keys": 1, "namespace": self.name, "trees": trees} | ({"lossy": True} if self.lossy else {})
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def decode(cls, content: bytes, where: str) -> KeyRing:
        """Read what `encode` wrote.

        Raises:
            KeyMissing: it is something else.
        """
        try:
            fields = json.loads(content)
            trees = [
                KeyTree(
                    bytes.fromhex(tree["id"]),
                    {int(number, 16): bytes.fromhex(node) for number, node in tree["nodes"].items()},
                )
                for tree in fields["trees"]
            ]
            version, name, lossy = fields["firsthand_keys"], str(fields["namespace"]), bool(fields.get("lossy"))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise KeyMissing(f"expected keys of Firsthand in {where}; got something else ({error})") from error
        sizes = {len(node) for tree in trees for node in tree.nodes.values()}
        if version != 1 or not trees or sizes - {KEY_BYTES}:
            raise KeyMissing(f"expected keys of Firsthand, version 1, in {where}; got version {version!r}")
        return cls(name, trees, lossy=lossy)


class KeyHome(Protocol):
    """Keeps the rings of namespaces, by their number; whoever changes one holds a lock in the database."""

    def where(self, namespace: int) -> str:
        """Say where a ring is looked for."""
        ...

    def unmarked(self) -> str:
        """Say that the home does not show that it is this store's; empty where it does, or has no mark to show."""
        ...

    def mark(self) -> None:
        """Have the home show whose it is."""
        ...

    def stamp(self, namespace: int) -> Hashable:
        """Give what changes when the ring does; None where there is no ring."""
        ...

    def read(self, namespace: int) -> bytes | None:
        """Give a ring as it was written; None where there is none."""
        ...

    def write(self, namespace: int, content: bytes) -> None:
        """Keep a ring in place of the one before; on return it is durable, and the earlier one is gone.

        Raises:
            StoreFailed: it could not be kept.
        """
        ...


class KeyFolder:
    """A folder of a store with a file for each namespace, which its owner alone can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def where(self, namespace: int) -> str:
        """Say where a ring is looked for."""
        return str(self._file(namespace))

    def unmarked(self) -> str:
        """Say that the folder or its mark is missing, or the mark another store's; empty where all is well."""
        try:
            content = (self._folder / MARK).read_text(errors="replace").strip()
        except OSError as error:
            return f"expected the folder {self._folder} with the file {MARK} in it; got: {error.strerror}"
        if content == self._folder.name:
            return ""
        return f"expected {self._folder.name} in {self._folder / MARK}; got {content[:80]!r}"

    def mark(self) -> None:
        """Make the folder, and in it the file that holds the store's identity."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside = self._folder / f"{MARK}.{os.getpid()}.{threading.get_ident()}"
            with beside.open("wb") as out:
                _put(out, self._folder.name.encode() + b"\n")
            beside.replace(self._folder / MARK)  # whole at once, for whoever looks meanwhile
        except OSError as error:
            raise StoreFailed(f"the folder of keys {self._folder} could not be made: {error.strerror}") from error

    def stamp(self, namespace: int) -> Hashable:
        """Give what changes when the file does; None where there is no file."""
        try:
            status = self._file(namespace).stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeyMissing(f"the key {self._file(namespace)} cannot be read: {error.strerror}") from error
        return status.st_ino, status.st_mtime_ns, status.st_size

    def read(self, namespace: int) -> bytes | None:
        """Give the file's bytes; None where there is none. One that others can read is refused."""
        file = self._file(namespace)
        try:
            with file.open("rb") as source:
                if os.fstat(source.fileno()).st_mode & 0o077:
                    raise KeyMissing(f"the key {file} can be read by others than its owner; run: chmod 600 {file}")
                return source.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeyMissing(f"the key {file} cannot be read: {error.strerror}") from error

    def write(self, namespace: int, content: bytes) -> None:
        """Write the file anew beside the old one, put it in its place, and overwrite the old one's bytes."""
        file = self._file(namespace)
        beside = file.with_suffix(f".{os.getpid()}.new")
        try:
            self._wipe(namespace)
            with file.open("r+b") if file.exists() else nullcontext() as old:
                with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as made:
                    _put(made, content)
                beside.replace(file)
                folder = os.open(self._folder, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
                if old is not None:
                    _put(old, bytes(os.fstat(old.fileno()).st_size))
        except OSError as error:
            with suppress(OSError):  # the next write tries again
                self._wipe(namespace)
            raise StoreFailed(f"the key {file} could not be written: {error.strerror}") from error

    def _wipe(self, namespace: int) -> None:
        """Overwrite and remove what writers left that were cut short: no later erasure would forget anything in it."""
        for left in self._folder.glob(f"{namespace:016x}.*.new"):
            with left.open("r+b") as out:
                _put(out, bytes(os.fstat(out.fileno()).st_size))
            left.unlink()

    def _file(self, namespace: int) -> Path:
        return self._folder / f"{namespace:016x}.json"


def _put(out: BinaryIO, content: bytes) -> None:
    out.write(content)
    out.flush()
    os.fsync(out.fileno())


class KeyCommand:
    """A program that keeps rings elsewhere.

    ``PROGRAM read STORE NUMBER`` prints a ring, or nothing where there is none; ``PROGRAM write STORE NUMBER`` takes
    one from its standard input, and exits 0 once it is kept and the earlier one is gone.
    """

    def __init__(self, command: str, store: str) -> None:
        self._command, self._store = shlex.split(command), store

    def where(self, namespace: int) -> str:
        """Say what is run to look for a ring."""
        return f"the output of: {shlex.join(self._command)} read {self._store} {namespace:016x}"

    def unmarked(self) -> str:
        """Say nothing: the program knows its own place."""
        return ""

    def mark(self) -> None:
        """Do nothing."""

    def stamp(self, namespace: int) -> Hashable:  # noqa: ARG002 - of every ring alike
        """Give what changes now and then."""
        return int(time.monotonic() / COMMAND_FRESH_S)

    def read(self, namespace: int) -> bytes | None:
        """Give what the program prints; None where that is nothing."""
        return self._run("read", namespace, b"", KeyMissing) or None

    def write(self, namespace: int, content: bytes) -> None:
        """Hand a ring to the program."""
        self._run("write", namespace, content, StoreFailed)

    def _run(self, verb: str, namespace: int, content: bytes, refusal: type[KeyMissing | StoreFailed]) -> bytes:
        command = [*self._command, verb, self._store, f"{namespace:016x}"]
        try:
            done = subprocess.run(
                command, input=content, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise refusal(f"expected {shlex.join(command)} to {verb} a key; it failed: {error}") from error
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise refusal(f"{shlex.join(command)} exited with {done.returncode}: {''.join(last)[:200]}")
        return done.stdout


def key_home(spec: str, store: str) -> KeyHome | None:
    """Give the home of a store's keys that a text names: a folder, or ``command:PROGRAM ...``; None for an empty one.

    Args:
        store: its identity, so that stores that share a home share no key.

    Raises:
        InvalidArgument: it names a program, but none.
    """
    if not spec.startswith("command:"):
        return KeyFolder(Path(spec).absolute() / store) if spec else None
    if not spec[8:].strip():
        raise InvalidArgument("expected FIRSTHAND_KEYS to be a folder, or command:PROGRAM ...; got no program")
    return KeyCommand(spec[8:], store)
