"""Space: one namespace of an open store, its log and what follows the log.

Opens and closes the log, the text index and the vectors of one namespace together. Every
room above takes a `Space`; `firsthand.memory.Memory` is one too. The invariant: what
`append` has returned is on disk, and `expand` gives the exact bytes of what a pointer addresses.

It knows the log and the indexes, and nothing of recall, windows, notes or agents.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from firsthand import environment, fence, pointer
from firsthand.answer import kind_of
from firsthand.errors import InvalidArgument, StoreBusy
from firsthand.event import Draft, Event, Kind
from firsthand.index.text import TextIndex
from firsthand.index.tokenizer import Tokenize, stems, tokenizer
from firsthand.index.vectors import Vectors
from firsthand.log.engine import TIMEOUT_MS
from firsthand.log.prepare import check_name
from firsthand.log.results import Appended, EarlierStore, SessionInfo
from firsthand.log.sqlite.census import Census
from firsthand.log.sqlite.local import LocalLog
from firsthand.log.sqlite.log import Log
from firsthand.pointer import Pointer
from firsthand.value import cut

if TYPE_CHECKING:
    from firsthand.index.dense import Dense, VectorSpace
    from firsthand.index.embed.port import Embedder
    from firsthand.index.postings import IndexCache, IndexMoment
    from firsthand.index.stats import Stats

Address = str | Pointer | Appended
"""What names an event, a span or a part of one: a pointer, its text, or what an append gave."""


class Opener(Protocol):
    """What opens the logs of many namespaces for a server, such as `firsthand.log.postgres.replicas.Replicas`."""

    def open_log(self, namespace: str, **options: Any) -> Any:
        """Open a namespace's log."""
        ...


class Space:
    """One namespace of one open store.

    Safe to share between threads; after a fork the child
    opens the store again by itself. Closing is not needed for durability: what
    an append has returned is on disk.

    Attributes:
        log: the store's log, with every namespace.
        text_index: the text index, of every namespace.
        near: what finds events by meaning; None without an embedder.
        read_once: what a handle has read of the log and need not read again, by who reads it and for what, with
            the position that it reaches.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Opener | None = None,
        *,
        namespace: str | None = None,
        read_only: bool = False,
        create: bool = True,
        timeout_ms: int = TIMEOUT_MS,
        embedder: Embedder | str | None = None,
    ) -> None:
        """Open a store, making it if the folder is new or empty.

        Args:
            path: the store's folder, or the address of one in PostgreSQL (``postgresql://...``); None is
                ``$FIRSTHAND_STORE``, else ``~/.firsthand``.
            namespace: the tenant; None is ``$FIRSTHAND_NAMESPACE``, else ``default``.
            read_only: take no writes; the store must be there.
            create: make a store that is not there.
            timeout_ms: how long a write waits for other writers, at most a day.
            embedder: finds events by their meaning too: an `Embedder`, or ``minilm``, ``static`` or
                ``endpoint:URL#model``; ``none`` for words alone; None is ``$FIRSTHAND_EMBEDDER``, else
                ``none``. Nothing is downloaded; what is not installed is said by `recall`.

        Raises:
            InvalidArgument: the path names no folder, a flag is not True or False, the timeout is no time, or the
                embedder is none.
            InvalidDraft: the namespace is no name.
            NotAStore: the folder holds something else, or nothing and ``create`` is false.
            StoreNewer: a newer version wrote the store, and this one cannot read it.
            StoreReadOnly: it cannot be written here, and ``read_only`` is false.
        """
        name = environment.default_namespace() if namespace is None else namespace
        self.namespace = check_name(name, "namespace", empty=False)
        self.text_index = TextIndex()
        meaning = _embedder(embedder)
        self.log = self._opened(
            environment.default_store() if path is None else path,
            read_only=read_only, create=create, timeout_ms=timeout_ms, indexes=(self.text_index,),
            followers=(Vectors(),),
        )  # fmt: skip
        self.near: Dense | None = None
        if meaning is not None:
            from firsthand.index.dense import Dense  # noqa: PLC0415 - as in `_embedder`

            self.near = Dense(self.log, self.namespace, meaning)
            weakref.finalize(self, self.near.stop)  # at the process's end too: no thread stays in a model's code
        self.read_once = dict[tuple[str, str], tuple[int, Any]]()
        self._index_cache: IndexCache | None = None

    def _opened(self, path: object, **options: Any) -> LocalLog:
        """Open the log that a path or an address names."""
        if hasattr(path, "open_log"):  # of a server's `Replicas`: one pool of connections for all tenants
            shared: LocalLog = path.open_log(self.namespace, **options)
            return shared
        root = _folder(path)
        if not (root / environment.ADDRESS_FILE).is_file():
            return Log(root, heads=environment.heads_folder(), **options)
        try:
            from firsthand.log.postgres.replicas import open_at  # noqa: PLC0415 - an extra
        except ImportError as error:
            command = environment.extra_command("postgres")
            raise InvalidArgument(f"a store in PostgreSQL needs the extra postgres: {command}") from error

        replicas = environment.replicas_folder(), environment.replicas_bytes_max()
        return open_at(root, self.namespace, *replicas, **options)

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """Open a store, as calling the class does."""
        return cls(path, **options)

    def __repr__(self) -> str:
        name, mode = cut(repr(self.namespace), 24), ", read_only=True" if self.read_only else ""
        return f"{type(self).__name__}({cut(repr(str(self.log.root)), 60)}, namespace={name}{mode})"

    @property
    def path(self) -> Path:
        """The store's folder; `StoreReplaced` where it was moved or replaced since it was opened to write."""
        return self.log.folder()

    @property
    def earlier(self) -> tuple[EarlierStore, ...]:
        """The stores that were at this path and are gone, where this handle made a new one in their place."""
        return self.log.earlier

    @property
    def read_only(self) -> bool:
        """True when this handle cannot write."""
        return self.log.read_only

    def close(self) -> None:
        """Let the store go."""
        if self.near is not None:
            self.near.stop()
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # write -------------------------------------------------------------------------------------------

    def append(
        self, drafts: Sequence[Draft], *, session: str, expected_position: int | None = None
    ) -> tuple[Appended, ...]:
        """Append events to a session, all or none; on return they are on disk and can be found.

        A draft with an id may be appended again: the same bytes change nothing.

        Raises:
            InvalidDraft, IdConflict, StaleExpectation: this append is refused.
            StoreBusy, StoreFull, StoreFailed, StoreReadOnly: the store cannot take it.
        """
        appended = self.log.append(
            drafts, namespace=self.namespace, session=session, expected_position=expected_position
        )
        self.wake()
        return appended

    def decided(self) -> None:
        """Bring up to the ledger what was written for people and hosts; called when a decision takes effect."""

    # read --------------------------------------------------------------------------------------------

    def expand(self, address: Address) -> bytes:
        """Give the exact bytes that a pointer addresses, whole; see `stream` for what is large.

        Raises:
            MalformedPointer: it is no pointer.
            Unresolvable: nothing in this namespace answers to it; `Erased` when it was erased.
            StoreDamaged: the bytes are not what was written.
        """
        return b"".join(self.stream(address))

    def stream(self, address: Address) -> Iterator[bytes]:
        """Yield the exact bytes that a pointer addresses, in pieces of at most 1 MiB."""
        return self.log.reader.expand(self.namespace, pointer_of(address))

    def event(self, address: Address) -> Event:
        """Read the event that a pointer addresses (the first one of a span)."""
        return self.log.reader.event(self.namespace, pointer_of(address).first)

    def events(
        self,
        session: str | None = None,
        *,
        kind: Kind | str | None = None,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[Event]:
        """Yield events in order of position; ``after`` and ``before`` are exclusive positions.

        Raises:
            QueryError: the kind is none.
            InvalidDraft: no session can have that name.
        """
        if session is not None:
            check_name(session, "session")
        bounds: dict[str, Any] = {"after": after, "before": before, "limit": limit, "newest_first": newest_first}
        of_kind = None if kind is None else kind_of(kind)
        return self.log.reader.events(self.namespace, session=session, kind=of_kind, **bounds)

    def sessions(self) -> tuple[SessionInfo, ...]:
        """List the sessions of this namespace, in the order they began."""
        return self.log.reader.sessions(self.namespace)

    @property
    def identity(self) -> str:
        """The store's id, hexadecimal: a copy has the same."""
        return self.log.reader.uuid().hex()

    @property
    def position(self) -> int:
        """The position of this namespace's newest event; 0 before the first one."""
        return self.log.reader.head(self.namespace)[0]

    def head(self) -> str:
        """Give this namespace's head, ``position:hash``: kept elsewhere, it detects any later change of its past."""
        position, digest = self.log.reader.head(self.namespace)
        return f"{position}:{digest.hex()}"

    def fence(self, text: str, *, label: str = fence.LABEL) -> str:
        """Wrap recalled text for a context; an import into this store then knows it as its own, and leaves it out.

        No text closes its own fence, and what is changed inside one afterwards is data again.

        Args:
            label: what the text is, in letters, digits and spaces.
        """
        return fence.wrap(text, self.log.reader.fence_key(), label=label)

    def stats(self) -> Stats:
        """Measure the store: events, sessions, sizes, how far the indexes reach."""
        from firsthand.index.stats import measure  # noqa: PLC0415 - as in `_embedder`

        return measure(self.log, self.namespace, self.near)

    @contextmanager
    def index_moment(self) -> Iterator[IndexMoment]:
        """Read the text index as of one moment, for the length of a block: its columns and postings, as arrays."""
        from firsthand.index.postings import IndexCache, open_moment  # noqa: PLC0415 - numpy

        if self._index_cache is None:
            self._index_cache = IndexCache()
        with (
            self.log.answering() as behind,
            open_moment(self.log.reader, self.namespace, self._index_cache) as moment,
        ):
            moment.doubt(behind)
            yield moment

    def tokenizer(self) -> Tokenize:
        """Give the tokenizer of the text index: from UTF-8 to the places of its words and their stems."""
        return tokenizer(self.log.reader.db)

    def stemmer(self) -> Callable[[str], list[str]]:
        """Give the tokenizer of the text index: from a text to its stems."""
        return stems(self.log.reader.db)

    def census(self) -> Census:
        """Count over this namespace's events by their headers."""
        return Census(self.log.reader, self.namespace)

    # what follows the log ------------------------------------------------------------------------------

    def vectors(self) -> tuple[VectorSpace, ...]:
        """Tell how far the vectors of this namespace reach, by embedder; empty without any."""
        from firsthand.index.dense import states  # noqa: PLC0415 - as in `_embedder`

        return states(self.log, self.namespace, self.near)

    def follow(self, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring everything up to date that follows the log: the text index and, with an embedder, vectors.

        Args:
            progress: called with the position that the vectors reach, and the last one.

        Raises:
            ModelError: the embedder failed; what was made before that is kept.
        """
        if self.read_only:
            return
        self.log.flush_indexes(self.namespace)
        if self.near is not None:
            self.near.follow(progress)

    def wake(self) -> None:
        """Have vectors follow in the background, where an embedder is named."""
        if self.near is not None:
            self.near.wake()


def pointer_of(address: Address) -> Pointer:
    """Read what names an event as a pointer.

    Raises:
        MalformedPointer: it is no pointer.
    """
    if isinstance(address, Appended):
        return Pointer(address.id)
    return address if isinstance(address, Pointer) else pointer.parse(address)


def outage(path: str | os.PathLike[str] | None, refusal: StoreBusy) -> Opener:
    """Give what opens this machine's replica of a store whose server cannot be reached, to recall from what it has.

    Raises:
        StoreBusy: the refusal, where the store is at no address; opening raises it where there is no replica.
    """
    root = _folder(environment.default_store() if path is None else path)
    if not (root / environment.ADDRESS_FILE).is_file():
        raise refusal
    from firsthand.log.postgres.outage import Outage  # noqa: PLC0415 - an extra

    return Outage(root, environment.replicas_folder(), refusal)


def _folder(path: object) -> Path:
    """Read where a store is to be.

    Raises:
        InvalidArgument: that is no path.
    """
    if isinstance(path, (str, os.PathLike)) and isinstance(text := os.fspath(path), str) and text and "\0" not in text:
        return environment.store_path(text) if isinstance(path, str) else Path(text)
    raise InvalidArgument(
        f"a store is a folder: expected its path, such as Memory('notes'), or None for the usual one; got {path!r:.80}"
    )


def _embedder(embedder: Embedder | str | None) -> Embedder | None:
    """Give the embedder that is meant; nothing of it is loaded."""
    embedder = environment.default_embedder() if embedder is None else embedder
    if embedder is None or embedder == "none":
        return None
    from firsthand.index.embed.named import named  # noqa: PLC0415 - a process without vectors starts sooner
    from firsthand.index.embed.port import accepted  # noqa: PLC0415

    return named(embedder, environment.embedder_key()) if isinstance(embedder, str) else accepted(embedder)
