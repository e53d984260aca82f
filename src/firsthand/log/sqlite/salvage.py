"""A store out of the pages of its database, whatever SQLite says of them.

The tables are known by the shape of their records (`schema`), so neither the first page
nor the schema is needed; names are also taken from the indexes that repeat them. Where
two tables have records of one shape, the chain hash of an event decides which name it
was written with.

The invariant: what is given of an event is what its commitment and its chain hash were
derived from; the chain hash cannot be checked where the event before it in its session
is gone. Only reads; knows no SQL.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from firsthand.errors import InvalidDraft, StoreDamaged
from firsthand.event import Kind, decode_body, genesis, id_bytes, link
from firsthand.log.rows import POSITION_MAX, body_of, check_event_types, erased_by, header_of
from firsthand.value import value

from .pages import Pages, Record

_EVENT_COLUMNS, _SESSION_COLUMNS = 19, 10
_DAMAGED = (ArithmeticError, LookupError, UnicodeError, TypeError, ValueError, struct.error)
"""What deriving a hash raises where a field holds what it cannot be."""
_FACTS = {"uuid": bytes, "created": int, "fence_key": bytes}


@value
class Names:
    """The names that an event was written with."""

    namespace: str
    session: str
    agent: str
    origin: str


@value
class Height:
    """How far a namespace reached, as its own row says.

    Attributes:
        shared: positions up to here were counted over all namespaces (`schema`).
    """

    position: int
    head: bytes
    shared: int


class Salvage:
    """Every event of a store whose pages can be read.

    Args:
        file: the database.
        behind: also take what its WAL has behind a damaged frame, which SQLite does not show.

    Attributes:
        facts: what the store says of itself, as far as it can be read.
        rows: the events' rows in the order of `rows.STORED`, by key; none of them is checked.
        heights: of the namespaces, by key.
        erased: namespace and id of what whole erasures name; no row has its content, though its page may be older.
    """

    def __init__(self, file: Path, *, behind: bool = True) -> None:
        self.facts: dict[str, Any] = {}
        self.rows: dict[int, tuple[Any, ...]] = {}
        self.heights: dict[int, Height] = {}
        self._named: dict[int, str] = {}
        self._places: dict[int, tuple[str, str]] = {}  # session to the names of its namespace and of itself
        self._namespaces: defaultdict[int, set[str]] = defaultdict(set)
        self._sessions: defaultdict[int, set[tuple[int, str]]] = defaultdict(set)
        self._texts: defaultdict[int, set[str]] = defaultdict(set)
        self._collisions: list[tuple[int, tuple[Any, ...]]] = []
        self._keys: dict[tuple[bytes, int], int] = {}  # id and namespace to the key, as the index of ids has it
        pages = Pages(file, behind=behind)
        for record in pages.records():
            if record.key is None:
                self._take_indexed(record.values)
            else:
                self._take(record, record.key)
        self._part()
        self._by_place: defaultdict[tuple[int, int], list[tuple[Any, ...]]] = defaultdict(list)
        for row in self.rows.values():
            self._by_place[row[3], row[4]].append(row)
        self._suspects: list[bytes] = []  # chain hashes of events that are damaged
        self._missing: dict[int, int] = {}  # namespace to the first position that no row is there for
        for namespace, first, _ in self.gaps():
            self._missing.setdefault(namespace, first)
        self._place()
        self.erased: set[tuple[int, bytes]] = set()
        self._erase()

    def _take(self, record: Record, key: int) -> None:
        """Take a row of a table."""
        match record.values:
            case (None, bytes(identifier), *_) if len(record.values) == _EVENT_COLUMNS and len(identifier) == 16:
                row = (key & POSITION_MAX, *record.values[1:])
                lengths = [len(column) if isinstance(column, bytes) else 0 for column in (row[15], row[16])]
                if lengths == [32, 32]:
                    self._put(key, row)
            case (None, int(namespace), str(name), *_) if len(record.values) == _SESSION_COLUMNS:
                self._sessions[key].add((namespace, name))
            case (None, str(name), int(position), bytes(head), int(shared)):
                self._namespaces[key].add(name)
                height = Height(position, head, shared)
                if key not in self.heights or self.heights[key].position < position:
                    self.heights[key], self._named[key] = height, name
            case (None, str(text)):  # a name, or a namespace that has no event yet
                self._texts[key].add(text)
                self._namespaces[key].add(text)

    def _put(self, key: int, row: tuple[Any, ...]) -> None:
        """Take an event's row; of two that claim one key and are not the same event, one has a damaged key."""
        there = self.rows.get(key)
        if there is not None and there[1] != row[1]:
            self._collisions.append((key, row))
        elif there is None or row[17] is None:  # what was destroyed does not come back from an older page
            self.rows[key] = row

    def _part(self) -> None:
        """Give events that claim one key the keys that the index of ids has for them."""
        for key, row in self._collisions:
            there = self.rows[key]
            for other in (row, there):
                indexed = self._keys.get((other[1], other[2]), key)
                if indexed != key and indexed not in self.rows:
                    self.rows[indexed] = (indexed & POSITION_MAX, *other[1:])
                    self.rows[key] = there if other is row else row

    def _take_indexed(self, values: tuple[Any, ...]) -> None:
        """Take a row of an index that repeats a name, or of a table without keys."""
        match values:
            case (str(name), fact) if isinstance(fact, _FACTS.get(name, ())):
                self.facts[name] = fact
            case (str(text), int(key)):
                self._texts[key].add(text)
                self._namespaces[key].add(text)
            case (bytes(identifier), int(namespace), int(key)):
                self._keys[identifier, namespace] = key
            case (int(namespace), str(name), int(key)):
                self._sessions[key].add((namespace, name))

    def names_of(self, key: int) -> Names:
        """Check an event and give its names; those of a namespace in order of position.

        Raises:
            StoreDamaged: it is not what was written.
        """
        row = self.rows[key]
        self._suspects.append(row[15])
        try:
            check_event_types(row)
            body_of(row)
            names = next((names for names in self._candidates(row) if self._links(row, names)), None)
        except _DAMAGED as error:
            raise StoreDamaged(f"a field is not what was written ({error})") from error
        if names is None:
            raise StoreDamaged("its header, or a name that it was written with, is not what was written")
        self._suspects.pop()
        return names

    def _links(self, row: tuple[Any, ...], names: Names) -> bool:
        """Say whether an event hangs on the one before it in its session; true when that is gone."""
        before = self._by_place[row[3], row[4] - 1]
        if row[4] != 0 and not before and row[0] > self._missing.get(row[2], row[0]):
            return True
        # The one before may be damaged in its chain hash, or in its place so that it is not found by that.
        derived = [chain for earlier in before for chain in self._derived(earlier)]
        header = header_of(row, names.agent, names.origin)
        chains = [*self._previous(row, names), *derived, *self._suspects]
        return any(link(chain, header, row[16]) == row[15] for chain in chains)

    def _previous(self, row: tuple[Any, ...], names: Names) -> list[bytes]:
        """Give the chain hashes that an event may hang on, as they are stored."""
        if row[4] == 0:
            return [genesis(names.namespace, names.session)]
        return [before[15] for before in self._by_place[row[3], row[4] - 1]]

    def _derived(self, row: tuple[Any, ...]) -> list[bytes]:
        """Derive the chain hash that an event should have; empty where its header cannot be one.

        For the event behind it, in case the hash itself is what is damaged of this one.
        """
        try:
            return [
                link(chain, header_of(row, names.agent, names.origin), row[16])
                for names in self._candidates(row)
                for chain in self._previous(row, names)
            ]
        except _DAMAGED:
            return []

    def _candidates(self, row: tuple[Any, ...]) -> Iterator[Names]:
        """Yield the names that an event may have been written with."""
        place = self._places.get(row[3])
        places = self._possible(row[3], row[2]) if place is None else [place]
        for (namespace, session), agent, origin in product(
            places, sorted(self._texts[row[9]]), sorted(self._texts[row[10]])
        ):
            yield Names(namespace, session, agent, origin)

    def _possible(self, session: int, namespace: int) -> Iterator[tuple[str, str]]:
        """Yield the names that a session and its namespace may have."""
        known = self._named.get(namespace)
        for key, name in sorted(self._sessions[session]):
            if key == namespace:
                for tenant in sorted(self._namespaces[key]) if known is None else [known]:
                    yield tenant, name

    def _place(self) -> None:
        """Settle the names of sessions and namespaces: the first event of a session is chained to both."""
        for row in self.rows.values():
            if row[4] != 0 or not isinstance(row[2], int):
                continue
            try:
                names = next((names for names in self._candidates(row) if self._links(row, names)), None)
            except _DAMAGED:
                continue  # a damaged event, which `names_of` refuses
            if names is not None:
                self._places[row[3]] = names.namespace, names.session
                self._named[row[2]] = names.namespace

    def _erase(self) -> None:
        for key, row in self.rows.items():
            try:
                if row[7] == Kind.ERASURE.number and self.names_of(key) and (body := body_of(row)) is not None:
                    self.erased |= {(row[2], id_bytes(name)) for name in erased_by(decode_body(body).payload)}
            except (StoreDamaged, InvalidDraft):
                continue  # nobody believes it
        for key in [key for key, row in self.rows.items() if (row[2], row[1]) in self.erased]:
            self.rows[key] = (*self.rows[key][:17], None, None)

    def names(self) -> list[str]:
        """Give the names of the namespaces that are known."""
        return sorted(self._named.values())

    def name(self, namespace: int) -> str:
        """Give the name of a namespace; empty when it is not known."""
        return self._named.get(namespace, "")

    def ids(self, namespace: int) -> Iterator[tuple[bytes, int]]:
        """Yield the ids of a namespace's events that their index can still tell, with their keys."""
        return ((identifier, key) for (identifier, tenant), key in self._keys.items() if tenant == namespace)

    def gaps(self) -> Iterator[tuple[int, int, int]]:
        """Yield namespace, first and last position of each run of positions that no row is there for."""
        ends = {namespace: height.position for namespace, height in self.heights.items()}
        for key in self.rows:
            ends.setdefault((key >> 40) + 1, 0)
        for namespace in sorted(ends):
            height, expected = self.heights.get(namespace), 1
            positions = [key & POSITION_MAX for key in sorted(self.rows) if (key >> 40) + 1 == namespace]
            shared = 0 if height is None else height.shared
            for position in [*positions, ends[namespace] + 1]:
                first = max(expected, shared + 1)
                if first < position:
                    yield namespace, first, position - 1
                expected = max(expected, position + 1)
