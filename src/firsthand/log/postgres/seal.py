"""Bodies and pieces of payloads as they lie in a store whose content is encrypted.

    3 | tree 4 | leaf 11 | nonce 12 | AES-256-GCM(salt 16 + stored body), or of a piece

Each is bound to its place: an event's to namespace, id and position, a piece's to namespace, digest and number.
What is hashed stays the plain bytes, so commitments, chains and heads are those of a plain store, and so is an
export. Salts are sealed too: with one, a short body could be guessed from its commitment.

The invariant: two things are never sealed with one key and one nonce, since each event and each payload has a key of
its own and every nonce is drawn anew. A body whose key was forgotten reads as erased.
"""

from __future__ import annotations

import os
import secrets
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import psycopg

from firsthand.environment import extra_command
from firsthand.errors import InvalidArgument, KeyMissing, StoreDamaged, StoreError
from firsthand.event import SALT_BYTES, id_text
from firsthand.log.rows import POSITION_MAX

from .connection import Connections, check_place, enter
from .keys import COMMAND_TIMEOUT_S, TREE_BYTES, KeyHome, KeyRing, KeyTree

SEALED = 3
"""The codec byte of what is sealed; 0 to 2 are those of `log.compression`."""
_LEAF_BYTES, _NONCE_BYTES = 11, 12
HEADER_BYTES = 1 + TREE_BYTES + _LEAF_BYTES
_EVENTS, _PAYLOADS, _PAYLOAD_BITS = 2 << POSITION_MAX.bit_length(), 3 << 80, 80
_KEY_LOCK = 0x46_48_4B_59
HOME_S = 3 * COMMAND_TIMEOUT_S
"""What a change of keys takes at most: they are read, perhaps once more, and written."""
RINGS_KEPT = 1_000
"""Of so many namespaces keys are kept at hand, beside those that something is being sealed with."""
_NO_HOME = (
    "the content of this store is encrypted, and no keys are named; set FIRSTHAND_KEYS to their folder, or to "
    "command:PROGRAM that prints them"
)
_BEGUN = "SELECT FROM namespace WHERE namespace = %s AND (position > 0 OR moved IS NOT NULL)"


class Seal:
    """What seals and opens the content of one store.

    Args:
        on: the store's content is encrypted; else everything passes as it is.
        home: where keys are; None reads nothing that is sealed, and writes nothing.
    """

    def __init__(self, connections: Connections, home: KeyHome | None, *, on: bool) -> None:
        self._connections, self._home, self.on = connections, home, on
        self._rings: dict[int, tuple[Any, KeyRing]] = {}  # the one that was read last stands last
        self._looks = threading.local()
        self.release()
        if on:
            _cipher()

    def release(self) -> None:
        """Forget what threads hold: after a fork they stayed in the parent."""
        self._in_use, self._guard = Counter[int](), threading.Lock()

    # seal -----------------------------------------------------------------------------------------

    def body(self, namespace: int, position: int, identifier: bytes, salt: bytes, stored: bytes) -> bytes:
        """Seal the body of an event that takes a position.

        Raises:
            KeyMissing: the namespace's key is not to be had.
        """
        ring = self._at_hand(namespace)
        if ring.trees[-1].key(_EVENTS | position) is None:  # the database was taken back to before an erasure
            ring = self.renew(namespace, _EVENTS | position)
        bound = _bound_event(namespace, identifier, position)
        return self._encrypted(ring.trees[-1], _EVENTS | position, salt + stored, bound)

    @contextmanager
    def leaf(self, namespace: int) -> Iterator[int]:
        """Draw the leaf of a payload, and have the keys at hand that its pieces are sealed with; see `at_hand`."""
        with self.at_hand(namespace):
            yield _PAYLOADS | secrets.randbits(_PAYLOAD_BITS)

    def piece(self, namespace: int, digest: bytes, number: int, leaf: int, content: bytes) -> bytes:
        """Seal a piece of a payload, under the payload's leaf; as it is where nothing is encrypted."""
        if not self.on:
            return content
        tree = self._at_hand(namespace).trees[-1]
        return self._encrypted(tree, leaf, content, _bound_piece(namespace, digest, number))

    def _encrypted(self, tree: KeyTree, leaf: int, content: bytes, bound: bytes) -> bytes:
        key = tree.key(leaf)
        assert key is not None
        header = bytes((SEALED,)) + tree.identity + leaf.to_bytes(_LEAF_BYTES, "big")
        nonce = os.urandom(_NONCE_BYTES)
        return header + nonce + bytes(_cipher()(key).encrypt(nonce, content, header + bound))

    # opening -----------------------------------------------------------------------------------------

    def opened(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give an event's row (`reader.STORED`) with salt and stored body, or without either where it is erased.

        One that is not what was sealed, or not of this event, gets a body that its commitment does not fit.

        Raises:
            KeyMissing: its key is not to be had.
        """
        body = row[18]
        if not body or body[0] != SEALED:
            return row
        ring = self._ring(row[2])
        return (*row[:17], *self.opened_body(row[2], row[0], row[1], body, ring), *row[19:])

    def opened_body(
        self, namespace: int, position: int, identifier: bytes, body: bytes, ring: KeyRing | None = None
    ) -> tuple[bytes, bytes] | tuple[None, None]:
        """Give the salt and the stored body of an event; neither where its key was forgotten.

        Args:
            ring: the namespace's; None is the one at hand.
        """
        try:
            bound = _bound_event(namespace, identifier, position)
            at_hand = ring or self._at_hand(namespace)
            what = f"event fh:{id_text(identifier)}"
            plain = self._open(at_hand, namespace, body, bound, what, asks=ring is not None)
        except StoreDamaged:
            return bytes(SALT_BYTES), bytes(1)  # whoever checks the commitment says where it stands, and what to do
        return (None, None) if plain is None else (plain[:SALT_BYTES], plain[SALT_BYTES:])

    def open_piece(self, namespace: int, digest: bytes, number: int, content: bytes) -> bytes | None:
        """Give a piece of a payload; None where its key was forgotten."""
        if not content or content[0] != SEALED:
            return content
        ring, bound = self._ring(namespace), _bound_piece(namespace, digest, number)
        return self._open(ring, namespace, content, bound, f"artifact {digest.hex()}, piece {number}")

    def _open(
        self, ring: KeyRing, namespace: int, content: bytes, bound: bytes, what: str, *, asks: bool = True
    ) -> bytes | None:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra

        header, nonce = content[:HEADER_BYTES], content[HEADER_BYTES : HEADER_BYTES + _NONCE_BYTES]
        identity = header[1 : 1 + TREE_BYTES]
        tree = ring.tree(identity)
        if tree is None and asks and identity not in ring.later:  # begun elsewhere, since the ring was read
            self.look_again(namespace, ring)
            tree = ring.later.setdefault(identity, None)
        if tree is None and ring.lossy:
            return None
        if tree is None:
            raise self._missing(namespace, f"key {identity.hex()}, which {what} is sealed with,")
        key = tree.key(int.from_bytes(header[1 + TREE_BYTES :], "big"))
        if key is None:
            return None
        try:
            return bytes(_cipher()(key).decrypt(nonce, content[HEADER_BYTES + _NONCE_BYTES :], header + bound))
        except (InvalidTag, ValueError) as error:
            raise StoreDamaged(f"{what}: what is sealed is not what was written; restore it from a backup") from error

    # keys --------------------------------------------------------------------------------------------

    def begin(self, namespace: int, name: str) -> None:
        """Have a namespace's key at hand before an append holds anything; made where it has neither key nor events.

        Raises:
            KeyMissing: the store holds events, and the folder of keys is not the one that they were sealed by.
        """
        if not self.on or self._home is None:
            return
        with suppress(KeyMissing):
            self._ring(namespace)
            return
        with self._changing(namespace) as db:
            if db.execute(_BEGUN, (namespace,)).fetchone() is None and self._home.read(namespace) is None:
                if self._home.unmarked():
                    self._check_home(db)
                    self._home.mark()
                ring = KeyRing(name, [])
                ring.renew()
                self._keep(db, namespace, ring)

    @contextmanager
    def at_hand(self, namespace: int) -> Iterator[None]:
        """Have a namespace's keys at hand for the length of a block: no transaction in it waits for a home.

        Raises:
            KeyMissing: they are not to be had.
        """
        if not self.on:
            yield
            return
        with self._guard:
            self._in_use[namespace] += 1
        try:
            self._ring(namespace)
            yield
        finally:
            with self._guard:
                self._in_use[namespace] -= 1
                if not self._in_use[namespace]:
                    del self._in_use[namespace]

    @contextmanager
    def at_one_look(self, namespace: int) -> Iterator[None]:
        """Ask a namespace's home once for all that this thread opens in a block, also where it has no key."""
        if not self.on:
            yield
            return
        try:
            self._looks.answer = namespace, self._ring(namespace)
        except KeyMissing as error:
            self._looks.answer = namespace, str(error)
        try:
            yield
        finally:
            del self._looks.answer

    def lacking(self, namespace: int | None = None) -> str:
        """Say why a namespace's key cannot be read, or new ones could not be made here; empty where they can.

        Args:
            namespace: None asks for the home of all keys alone.
        """
        if not self.on:
            return ""
        if self._home is None:
            return _NO_HOME
        try:
            if namespace is not None:
                with self._connections.reading(namespace) as db:
                    is_begun = db.execute(_BEGUN, (namespace,)).fetchone() is not None
                if is_begun:
                    self._ring(namespace)
            if self._home.unmarked():
                with self._connections.use() as db:
                    self._check_home(db)
        except KeyMissing as error:
            return str(error)
        return ""

    def _check_home(self, db: psycopg.Connection) -> None:
        """Raise where the store holds events and the home has no mark, so that their keys lie in another one.

        Events are looked for first: whoever else begins this store now writes the mark before its first event.
        """
        assert self._home is not None
        is_used = db.execute("SELECT pg_relation_size('event') > 0").fetchone() == (True,)  # of every namespace
        if is_used and (unmarked := self._home.unmarked()):
            raise KeyMissing(
                f"{unmarked}. The store holds encrypted events already, so no key is made: mount or restore the folder "
                "of its keys. Where that is the right one and lacks the mark alone, write the folder's name into it"
            )

    def renew(self, namespace: int, leaf: int = 1, *, lost: str = "") -> KeyRing:
        """Begin a new tree, unless what is written with has the key of a leaf; give the ring.

        Args:
            lost: the namespace's name, where earlier keys are given up: what they sealed reads as erased.
        """
        with self._changing(namespace) as db:
            if lost and self._home is not None and (unmarked := self._home.unmarked()):
                raise KeyMissing(unmarked)
            is_gone = lost and self._home is not None and self._home.read(namespace) is None
            ring = KeyRing(lost, []) if is_gone else self._ring(namespace, anew=True)
            ring.lossy |= bool(lost)
            if leaf == 1 or ring.trees[-1].key(leaf) is None:
                ring.renew()
                self._keep(db, namespace, ring)
        return ring

    def forget(self, namespace: int) -> str:
        """Forget the keys of what was erased, also by an erasure that was cut short; give why not, else nothing."""
        if not self.on:
            return ""
        try:
            with self._changing(namespace) as db:
                rows = db.execute("SELECT key FROM forgotten WHERE namespace = %s", (namespace,)).fetchall()
                if rows:
                    ring = self._ring(namespace, anew=True)
                    for (header,) in rows:
                        if (tree := ring.tree(header[1 : 1 + TREE_BYTES])) is not None:
                            tree.forget(int.from_bytes(header[1 + TREE_BYTES :], "big"))
                    self._keep(db, namespace, ring)
                    db.execute("SELECT forget_1(%s, %s)", (namespace, [header for (header,) in rows]))
        except StoreError as error:
            return str(error)
        return ""

    @contextmanager
    def _changing(self, namespace: int) -> Iterator[psycopg.Connection]:
        """Let nobody else change a namespace's keys for the length of a block, in which their home may take its time.

        Raises:
            StoreMoved: another primary has the namespace, and with it the lock.
        """
        with self._connections.use() as db, db.transaction():
            enter(db, namespace)
            db.execute(f"SET LOCAL idle_in_transaction_session_timeout = {HOME_S * 1_000}")
            db.execute("SELECT pg_advisory_xact_lock(%s)", (namespace ^ _KEY_LOCK,))
            check_place(db, namespace)
            yield db

    def _keep(self, db: psycopg.Connection, namespace: int, ring: KeyRing) -> None:
        assert self._home is not None
        db.execute("SELECT 1")  # fails where this process was stopped for so long that the lock is another's
        self._home.write(namespace, ring.encode())
        self._remember(namespace, self._home.stamp(namespace), ring)

    def _ring(self, namespace: int, *, anew: bool = False) -> KeyRing:
        """Give a namespace's ring as its home has it; `anew`, one that nobody else has."""
        look: tuple[int, KeyRing | str] | None = getattr(self._looks, "answer", None)
        if look is not None and look[0] == namespace and not anew:
            if isinstance(look[1], str):
                raise KeyMissing(look[1])
            return look[1]
        home = self._home
        if home is None:
            raise KeyMissing(_NO_HOME)
        stamp = home.stamp(namespace)
        known = self._rings.get(namespace)
        if known is not None and known[0] == stamp and not anew:
            return known[1]
        content = home.read(namespace)
        if content is None:
            self._rings.pop(namespace, None)
            raise self._missing(namespace, "the key")
        ring = KeyRing.decode(content, home.where(namespace))
        if not anew:
            self._remember(namespace, stamp, ring)
        return ring

    def look_again(self, namespace: int, ring: KeyRing | None = None) -> bool:
        """Ask a home for trees that a ring, or the one at hand, has not got; say whether there are any."""
        try:
            return (ring or self._at_hand(namespace)).learn(self._ring(namespace, anew=True))
        except KeyMissing as error:
            if getattr(self._looks, "answer", None) is not None:  # who looks once asks no more
                self._looks.answer = namespace, str(error)
            raise

    def _remember(self, namespace: int, stamp: Any, ring: KeyRing) -> None:
        """Keep a ring at hand, and let the oldest go that nothing is being sealed with."""
        with self._guard:
            self._rings.pop(namespace, None)
            self._rings[namespace] = stamp, ring
            if len(self._rings) > RINGS_KEPT:
                oldest = next((key for key in self._rings if not self._in_use[key]), namespace)
                self._rings.pop(oldest)

    def _at_hand(self, namespace: int) -> KeyRing:
        """Give a namespace's ring as it was read last, within `at_hand`; where its key is gone since, none."""
        known = self._rings.get(namespace)
        if known is None:
            raise self._missing(namespace, "the key")
        return known[1]

    def _missing(self, namespace: int, what: str) -> KeyMissing:
        where = self._home.where(namespace) if self._home is not None else "FIRSTHAND_KEYS"
        return KeyMissing(f"expected {what} of namespace {namespace:016x} in {where}, and it is not there")


def _bound_event(namespace: int, identifier: bytes, position: int) -> bytes:
    return struct.pack(">BQ16sQ", 0, namespace, identifier, position)


def _bound_piece(namespace: int, digest: bytes, number: int) -> bytes:
    return struct.pack(">BQ32sq", 1, namespace, digest, number)


@cache
def _cipher() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InvalidArgument(
            f"the content of this store is encrypted, which needs the extra encrypt: {extra_command('encrypt')}"
        ) from error
    return AESGCM
