"""Several primaries of one store, and which one has a namespace: by its bucket, or by its own name.

    {"primaries": {"a": "postgresql://application@a.example/store", "b": "postgresql://application@b.example/store"},
     "buckets": {"0-2047": "a", "2048-4095": "b"},
     "namespaces": {"acme": "b"}}

A namespace's bucket is the first 12 bits of its number. The address of such a store is
``postgresql:///?primaries=/etc/firsthand/primaries.json``; every server has the same file. One that is behind a move
learns of it from the primary that it asks, which refuses and names the other.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from psycopg import pq
from psycopg.conninfo import make_conninfo

from firsthand.errors import InvalidArgument, StoreMoved

from .log import PostgresLog
from .reader import number_of

BUCKETS = 4096
COMING_S = 10.0
"""A namespace that is on its way to a primary is waited for so long."""


def label_of(dsn: str) -> str:
    """Name a primary by its address, without who connects and how: ``host:port/database``.

    What the address leaves to a service file or to the environment is as libpq reads it.
    """
    # Of no such mode, so that libpq fills in the options and asks no server: names may be slow to resolve.
    connection = pq.PGconn.connect_start(make_conninfo(dsn, sslmode="none").encode())
    try:
        parts = {option.keyword.decode(): (option.val or b"").decode() for option in connection.info}
    finally:
        connection.finish()
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    return f"{host}:{parts.get('port') or 5432}/{parts.get('dbname') or parts.get('user') or ''}"


class Primaries:
    """The file that says which primary has a namespace.

    Raises:
        InvalidArgument: it is not of its form, or leaves a bucket without a primary.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._fields = json.loads(file.read_text(encoding="utf-8"))
            self.dsns: dict[str, str] = {str(name): str(dsn) for name, dsn in self._fields["primaries"].items()}
            self._names: dict[str, str] = dict(self._fields.get("namespaces", {}))
            self._buckets = [(_range(text), name) for text, name in self._fields["buckets"].items()]
        except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:
            raise InvalidArgument(
                f"expected a JSON file with primaries and buckets (docs/scale.md) in {file}: {error}"
            ) from error
        covered = sorted(bucket for span, _ in self._buckets for bucket in span)
        if covered != [*range(BUCKETS)]:
            raise InvalidArgument(f"expected each bucket from 0 to {BUCKETS - 1} once in {file}")
        for name in (*self._names.values(), *(name for _, name in self._buckets)):
            if name not in self.dsns:
                raise InvalidArgument(f"{file} names no primary {name!r}")

    def dsn(self, namespace: str) -> str:
        """Give the address of the primary that has a namespace."""
        name = self._names.get(namespace)
        if name is None:
            bucket = number_of(namespace) >> 51
            name = next(name for span, name in self._buckets if bucket in span)
        return self.dsns[name]

    def name_of(self, label: str) -> str:
        """Give the name of the primary of a label.

        Raises:
            InvalidArgument: the file names none of it.
        """
        labels = {label_of(dsn): name for name, dsn in self.dsns.items()}
        if label not in labels:
            raise InvalidArgument(
                f"expected a primary of {self.file}, spelled as there: {', '.join(labels)}; got {label}. Servers that "
                "read the file would not find the namespace there"
            )
        return labels[label]

    def assign(self, namespace: str, name: str) -> None:
        """Write into the file that a namespace is on the primary of a name."""
        self._names[namespace] = name
        new = self.file.with_name(f"{self.file.name}.new")
        new.touch(mode=self.file.stat().st_mode & 0o777)
        new.write_text(json.dumps({**self._fields, "namespaces": self._names}, indent=1) + "\n", encoding="utf-8")
        new.replace(self.file)


class Engines:
    """The primaries of a store, each opened when it is first asked for.

    Args:
        address: of one, or of a file of several.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address) if "://" in address else None
        file = parse_qs(parts.query).get("primaries", [""])[0] if parts is not None else ""
        self._primaries = Primaries(Path(file)) if file else None
        self._lock, self._opened = threading.Lock(), dict[str, PostgresLog]()
        self.first = self._open(next(iter(self._primaries.dsns.values())) if self._primaries else address)

    def of(self, namespace: str) -> PostgresLog:
        """Give the primary that has a namespace."""
        return self._open(self._primaries.dsn(namespace)) if self._primaries is not None else self.first

    def after(self, error: StoreMoved, until: float) -> PostgresLog | None:
        """Give the primary that a namespace has moved to; None where it is the one that was asked, in a moment.

        Args:
            until: a moment of the monotonic clock, up to which it is waited for.

        Raises:
            StoreMoved: it is unknown here, or did not come in time.
        """
        if time.monotonic() > until:
            raise error
        if not error.primary:
            time.sleep(0.02)
            return None
        if self._primaries is not None:
            for dsn in self._primaries.dsns.values():
                if label_of(dsn) == error.primary:
                    return self._open(dsn)
        raise error

    def close(self) -> None:
        """Let all connections go."""
        for log in self._opened.values():
            log.close()

    def _open(self, dsn: str) -> PostgresLog:
        with self._lock:
            if dsn not in self._opened:
                self._opened[dsn] = PostgresLog(dsn)
            return self._opened[dsn]


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)
