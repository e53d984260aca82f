"""What a store holds and how large it is, measured on the spot."""

from __future__ import annotations

from firsthand.index.dense import Dense, VectorSpace, states
from firsthand.index.reach import reach
from firsthand.index.text import NAME
from firsthand.log.sqlite.local import LocalLog
from firsthand.log.sqlite.read import Reader
from firsthand.log.sqlite.schema import DATABASE_FILE
from firsthand.value import value


@value
class Stats:
    """A store in numbers; sizes in bytes.

    Attributes:
        events, sessions, erased, kinds: of this namespace.
        events_in_store: of all namespaces.
        content_bytes: what the events of this namespace keep in the database, compressed.
        wal_bytes: written and safe, not yet moved into the database file; large when a reader stays open for long.
        index_faults: the indexes that do not follow, and why.
        vectors: how far they reach, by embedder; empty without any. The store holds two while another
            embedder's are made.
        vector_fault: why they do not follow in the background; empty while they do, or are not to.
    """

    path: str
    namespace: str
    events: int
    sessions: int
    erased: int
    kinds: dict[str, int]
    events_in_store: int
    content_bytes: int
    database_bytes: int
    wal_bytes: int
    artifacts: int
    artifact_bytes: int
    index_faults: dict[str, str]
    head: str
    vectors: tuple[VectorSpace, ...]
    vector_fault: str


def measure(log: LocalLog, namespace: str, dense: Dense | None = None) -> Stats:
    """Measure a store and one namespace of it; costs one pass over the namespace's rows."""
    reader, db = log.reader, log.reader.db
    key = reader.namespace_key(namespace)
    kinds, erased, content = reader.census(namespace)
    files = [path for path in (log.root / "artifacts").rglob("*.zst") if path.is_file()]
    head, digest = reader.head(namespace)
    sessions = db.execute("SELECT count(*) FROM session WHERE namespace = ?", (key,)).get
    wal = log.root / f"{DATABASE_FILE}-wal"
    return Stats(
        str(log.root), namespace, sum(kinds.values()), int(str(sessions)), erased, kinds,
        reader.events_in_store(), content,
        (log.root / DATABASE_FILE).stat().st_size, wal.stat().st_size if wal.exists() else 0,
        len(files), sum(path.stat().st_size for path in files),
        _faults(reader, namespace, key, head),
        f"{head}:{digest.hex()}", states(log, namespace, dense), dense.fault if dense is not None else "",
    )  # fmt: skip


def _faults(reader: Reader, namespace: str, key: int, head: int) -> dict[str, str]:
    """Name the indexes that do not follow; one of another version is not asked, however far it reaches."""
    stopped = reader.index_faults(namespace).items()
    faults = {name: f"{fault}, beyond position {position}" for name, (position, fault) in stopped}
    if not faults and (fault := reach(reader, key, head).fault):
        faults[NAME] = f"{fault}; run 'firsthand store rebuild'"
    return faults
