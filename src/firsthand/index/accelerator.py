"""A tantivy copy of one namespace's text index, for large stores: the same rows, found faster.

It follows the log in batches, by whoever gets its lock, into a folder below the
store's ``cache``. A header names the store, the position it reaches and the chain
hash there; what does not fit the log is discarded.

The invariant: `Accelerator.ranked` gives the very rows, in the very order, that
FTS5 gives, or nothing. tantivy only proposes: it rounds lengths down and weighs
terms a little higher, so its score is an upper bound of FTS5's. Its proposals are
scored again by FTS5's formula, and are used only when no row left out could have
come before them. So its absence, its lag and its damage change speed, never answers.

tantivy trusts its files: of damaged ones it gives other rows, panics, or asks for so
much memory that the process ends. So the header keeps a checksum of each: a file that
was touched since, and every file before an advance, is read against it first.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import apsw

from firsthand.errors import StoreDamaged, StoreFailed
from firsthand.log.disk import FILE_MODE, make_private, open_private
from firsthand.log.port import Entry
from firsthand.log.read import Reader
from firsthand.log.rows import key_of
from firsthand.value import asdict, field, value

from . import words
from .passages import ROW_STEP, TRIGGER_ROWS, Passage, cut, row_of
from .text import VERSION as TEXT_VERSION
from .text import IndexSize, size_of

FORMAT = f"2-{TEXT_VERSION}"
BATCH_EVENTS = 2_000
HEAP_BYTES = 64_000_000
PROPOSALS_MIN, PROPOSALS_MAX = 128, 8_192
TAIL_EVENTS_MAX = 20_000
"""Further behind than this it is not asked: ranking its tail would cost more than it saves."""
_K1, _B, _IDF_MIN = 1.2, 0.75, 1e-6  # as FTS5 has them
_FLOAT32 = 1 + 1e-5  # tantivy adds in single precision
_PIECE_BYTES = 1 << 20
_HEADER, _MARK, _LOCK, _INDEX = "header.json", "advancing", "lock", "index"


@value
class Header:
    """What an accelerator is a copy of.

    Attributes:
        store: uuid of the store, hexadecimal.
        position: the last position it has looked at.
        chain: chain hash of the event there, hexadecimal.
        rows, tokens: in it.
        files: its files by name: size in bytes, time of last change in ns, CRC-32.
    """

    format: str
    store: str
    namespace: int
    position: int
    chain: str
    rows: int
    tokens: int
    files: dict[str, list[int]] = field(default_factory=dict)


class AskedTerm(Protocol):
    """A term as a plan names it."""

    @property
    def key(self) -> str: ...

    @property
    def match(self) -> str: ...


def available() -> bool:
    """Say whether the optional library is installed (``pip install 'firsthand[tantivy]'``), without importing it."""
    return find_spec("tantivy") is not None


class Accelerator:
    """The accelerator of one namespace.

    Args:
        folder: its own folder; made on the first advance, may be deleted at any time.
        stems: the text index's tokenizer, from text to stems.
        read_only: leave a damaged copy where it is.

    Attributes:
        fault: why it gave nothing the last time it was asked; empty when it answered.
    """

    def __init__(
        self,
        folder: Path,
        reader: Reader,
        namespace: int,
        stems: Callable[[str], list[str]],
        *,
        read_only: bool = False,
    ) -> None:
        self._read_only = read_only
        self._folder, self._reader, self._namespace, self._stems = folder, reader, namespace, stems
        self._opened: tuple[Header, Any, Any] | None = None
        self.fault = ""

    # following -------------------------------------------------------------------------------------

    def advance(self, events_max: int) -> int:
        """Take in the next events of the log; give how many were looked at, 0 when there are none.

        A damaged event is passed over: no answer could show it, and `verify` names it.

        Another process that is at it already is left to it. A copy that is damaged is discarded, and begun anew.

        Raises:
            StoreFailed: tantivy could not write; what was there is discarded.
        """
        with self._locked(wait=False) as mine:
            if not mine:
                return 0
            try:
                with contextlib.suppress(_Damaged), _telling_panics():
                    return self._advance(events_max)
                self._delete()
                with _telling_panics():
                    return self._advance(events_max)
            except (OSError, ValueError) as error:
                self._delete()
                raise StoreFailed(
                    f"{self._folder}: tantivy could not write ({error}); the copy was discarded, answers come from "
                    "the text index alone. Free space, or uninstall tantivy."
                ) from error

    def discard(self) -> None:
        """Delete the copy, as an erasure must; it is made again by the next advance.

        Waits for an advance that is under way: it may have read what was erased since.
        """
        if self._folder.exists():
            with self._locked(wait=True):
                self._delete()

    def reach(self) -> int | None:
        """Say up to which position the copy goes; None without one that is of this log."""
        header = self._read_header()
        return header.position if header is not None and self._fits(header) else None

    @contextlib.contextmanager
    def _locked(self, *, wait: bool) -> Iterator[bool]:
        make_private(self._folder)
        with os.fdopen(open_private(self._folder / _LOCK, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def _advance(self, events_max: int) -> int:
        header = self._read_header()
        if header is None or not self._fits(header) or (self._folder / _MARK).exists():
            self._delete()
            header = Header(FORMAT, self._store(), self._namespace, 0, "", 0, 0)
        self._check_files(header, every=True)
        (self._folder / _MARK).touch()  # a writer that dies leaves it, and the next one begins anew
        writer = None
        looked_at, rows, tokens, position = 0, header.rows, header.tokens, header.position
        while looked_at < events_max:
            read = self._reader.entries(self._namespace, position, min(BATCH_EVENTS, events_max - looked_at))
            if read.through == position:
                break
            writer = writer or self._index().writer(heap_size=HEAP_BYTES, num_threads=1)
            for entry in read.entries:
                # Of a payload that is damaged in its middle, the passages before that are kept.
                with contextlib.suppress(StoreDamaged):
                    for length, document in self._documents(entry):
                        writer.add_document(document)
                        rows, tokens = rows + 1, tokens + length
            looked_at += len(read.entries) + len(read.damaged)
            position = read.through
        if writer is not None:
            writer.commit()
            writer.wait_merging_threads()
            chain = self._chain(position) or ""
            self._write_header(
                Header(FORMAT, header.store, self._namespace, position, chain, rows, tokens, self._files())
            )
        (self._folder / _MARK).unlink()
        return looked_at

    def _delete(self) -> None:
        self._opened = None
        with contextlib.suppress(FileNotFoundError):
            (self._folder / _HEADER).unlink()

        shutil.rmtree(self._folder / _INDEX, ignore_errors=True)

    def _documents(self, entry: Entry) -> Iterator[tuple[int, Any]]:
        """Give the index rows of one event, as `text` has them."""
        import tantivy

        event = entry.event
        if not event.is_searchable:
            yield 0, tantivy.Document(words="", row=event.position)
            return
        head, around, read = words.header(event), words.context(event), None
        inline = [Passage(0, 0, event.content or b"")]
        for passage in inline if event.artifact is None else cut(self._reader.pieces(event)):
            read = read or words.reading(passage.data, event.media, event.kind)
            found = words.of_text(read(passage.data), head, around)
            tokens = self._stems(found.text) + self._stems(found.exact)
            row = row_of(event.position, passage.number)
            yield len(tokens), tantivy.Document(words=" ".join(tokens), row=row)

    # answering -------------------------------------------------------------------------------------

    def ranked(self, terms: Sequence[AskedTerm], limit: int) -> list[int] | None:
        """Give the best rows for any of the terms, as FTS5 would; None where that cannot be shown."""
        judged = self._read_header()
        try:
            with _telling_panics():
                rows, self.fault = self._ranked(terms, limit)
        except (OSError, ValueError) as error:
            rows, self.fault = None, f"{self._folder}: it cannot be read ({error}); {self._give_up(judged)}"
        return rows

    def _give_up(self, judged: Header | None) -> str:
        """Discard a copy that cannot be read, unless another process has it or has made another one since."""
        self._opened = None
        if self._read_only:
            return "it stays, since the store is opened for reading"
        try:
            with self._locked(wait=False) as mine:
                if not mine or self._read_header() != judged:
                    return "another process is at it"
                self._delete()
        except OSError as error:
            return f"it cannot be discarded either ({error}); delete the folder"
        return "it was discarded, and is made again by the next advance"

    def _ranked(self, terms: Sequence[AskedTerm], limit: int) -> tuple[list[int] | None, str]:
        opened = self._open()
        if opened is None:
            return None, "there is no copy that fits the log"
        header, searcher, schema = opened
        db = self._reader.indexed(self._namespace)
        newest = db.execute(f"SELECT max(id) FROM text_{self._namespace}_docsize WHERE id < {ROW_STEP}").get  # noqa: S608
        if int(newest or 0) - header.position > TAIL_EVENTS_MAX:
            return None, f"it reaches position {header.position:,}, the text index {newest:,}"
        scorer = _Scorer(db, self._namespace, [term.key for term in terms])
        ceiling = scorer.ceiling(header, searcher)
        tail = self._tail(db, terms, header.position, limit) if int(newest or 0) > header.position else []
        query = _any_of(schema, scorer.keys)
        proposals = max(PROPOSALS_MIN, 2 * limit)
        while proposals <= PROPOSALS_MAX:
            found = searcher.search(query, proposals, count=False).hits
            documents = [searcher.doc(place).to_dict() for _, place in found]
            scored = [(scorer.score(document["words"][0].split()), document["row"][0]) for document in documents]
            merged = sorted([*scored, *tail], key=lambda one: (one[0], one[1]))[:limit]
            if len(found) < proposals:
                return [row for _, row in merged], ""
            if len(merged) == limit and -merged[-1][0] > found[-1][0] * ceiling * _FLOAT32:
                return [row for _, row in merged], ""
            proposals *= 4
        return None, "too many rows score alike"

    def _tail(
        self, db: apsw.Connection, terms: Sequence[AskedTerm], position: int, limit: int
    ) -> list[tuple[float, int]]:
        """Have FTS5 rank what is not in the copy yet."""
        match = " OR ".join(term.match for term in terms)
        table = f"text_{self._namespace}"
        found: list[Any] = []
        for low, high in ((position + 1, ROW_STEP), (ROW_STEP, TRIGGER_ROWS)):
            found += db.execute(
                f"SELECT rank, rowid FROM {table} WHERE {table} MATCH ? AND rowid >= ? AND rowid < ? "  # noqa: S608
                f"AND (rowid & {ROW_STEP - 1}) > ? ORDER BY rank LIMIT ?",
                (match, low, high, position, limit),
            ).fetchall()
        return found

    # files -----------------------------------------------------------------------------------------

    def _open(self) -> tuple[Header, Any, Any] | None:
        header = self._read_header()
        if header is None or not self._fits(header):
            self._opened = None
            return None
        if self._opened is None or self._opened[0] != header:
            self._check_files(header, every=False)
            index = self._index()
            index.reload()
            searcher = index.searcher()
            if searcher.num_docs != header.rows:  # between a commit and its header
                return None
            self._opened = header, searcher, index.schema
        return self._opened

    def _index(self) -> Any:
        import tantivy

        folder = self._folder / _INDEX
        make_private(folder)
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("words", stored=True, tokenizer_name="whitespace", index_option="freq")
        builder.add_unsigned_field("row", stored=True)
        return tantivy.Index(builder.build(), path=str(folder))

    def _read_header(self) -> Header | None:
        """Read what the copy says of itself; None when it says nothing that can be believed."""
        if not (self._folder / _HEADER).is_file():  # none, or a pipe that would be waited for
            return None
        try:
            facts = json.loads((self._folder / _HEADER).read_bytes())
            checksum = facts.pop("checksum")
            return Header(**facts) if checksum == _checksum(facts) else None
        except FileNotFoundError:
            return None
        except (
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
        ):  # torn or of another shape: as good as none, and rewritten by the next advance
            return None

    def _write_header(self, header: Header) -> None:
        draft = self._folder / f"{_HEADER}.new"
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
            facts = asdict(header)
            json.dump(facts | {"checksum": _checksum(facts)}, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._folder / _HEADER)

    def _files(self) -> dict[str, list[int]]:
        """Take down what each file is now."""
        found: dict[str, list[int]] = {}
        for path in sorted((self._folder / _INDEX).iterdir()):
            path.chmod(FILE_MODE)  # tantivy leaves that to the umask
            if path.suffix != ".lock":
                facts = path.stat()
                found[path.name] = [facts.st_size, facts.st_mtime_ns, _crc_of(path)]
        return found

    def _check_files(self, header: Header, *, every: bool) -> None:
        """Check the files against the header: all of them, or those that were touched since.

        Raises:
            _Damaged: one is not what was written.
        """
        for name, (size, changed, crc) in header.files.items():
            path = self._folder / _INDEX / name
            try:
                facts = path.stat()
                whole = facts.st_size == size and ((facts.st_mtime_ns == changed and not every) or _crc_of(path) == crc)
            except FileNotFoundError:
                whole = False
            if not whole:
                raise _Damaged(f"{name} is not what was written")

    def _fits(self, header: Header) -> bool:
        return (
            header.format == FORMAT
            and header.namespace == self._namespace
            and header.store == self._store()
            and header.chain == self._chain(header.position)
        )

    def _store(self) -> str:
        uuid: Any = self._reader.db.execute("SELECT value FROM store WHERE key = 'uuid'").get
        return bytes(uuid).hex()

    def _chain(self, position: int) -> str | None:
        sql = "SELECT chain FROM event WHERE key = ?"
        chain: Any = self._reader.db.execute(sql, (key_of(self._namespace, position),)).get
        return None if chain is None else bytes(chain).hex()


class _Damaged(ValueError):
    """The copy cannot be used: a file is not what was written, or tantivy panicked over it."""


@contextlib.contextmanager
def _telling_panics() -> Iterator[None]:
    """Make a panic of tantivy's Rust, which is no `Exception`, an error that says so."""
    try:
        yield
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":
            raise
        raise _Damaged(f"tantivy panicked: {error}") from error


def _crc_of(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            crc = zlib.crc32(piece, crc)
    return crc


def _checksum(facts: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(facts, sort_keys=True).encode())


class _Scorer:
    """FTS5's own score of a row, from the frequencies of this moment."""

    def __init__(self, db: apsw.Connection, namespace: int, keys: Sequence[str]) -> None:
        self.keys = list(dict.fromkeys(keys))
        self._size: IndexSize = size_of(db, namespace)
        sql = f"SELECT doc FROM text_{namespace}_terms WHERE term = ?"  # noqa: S608 - a number
        self._idf = {key: _idf(self._size.rows, int(db.execute(sql, (key,)).get or 0)) for key in self.keys}

    def score(self, tokens: Sequence[str]) -> float:
        """Score a row by its tokens; lower is better, as FTS5 has it."""
        norm = _K1 * (1.0 - _B + _B * float(len(tokens)) / self._size.tokens_mean)
        total = 0.0
        for key, idf in self._idf.items():
            times = float(tokens.count(key))
            total += idf * ((times * (_K1 + 1.0)) / (times + norm))
        return -1.0 * total

    def ceiling(self, header: Header, searcher: Any) -> float:
        """Say by how much a score of now can exceed the copy's upper bound, which is of its own moment."""
        most = 1.0
        for key, idf in self._idf.items():
            there = searcher.doc_freq("words", key)
            known = math.log(1 + (header.rows - there + 0.5) / (there + 0.5))
            most = max(most, idf / known) if known > 0 else math.inf
        mean = header.tokens / header.rows if header.rows else 1.0
        return most * max(1.0, self._size.tokens_mean / mean)


def _idf(rows: int, holding: int) -> float:
    if holding > rows:
        return _IDF_MIN
    weight = math.log((0.5 + rows - holding) / (0.5 + holding))
    return weight if weight > 0.0 else _IDF_MIN


def _any_of(schema: Any, keys: Sequence[str]) -> Any:
    import tantivy

    occur = tantivy.Occur.Should
    return tantivy.Query.boolean_query([(occur, tantivy.Query.term_query(schema, "words", key)) for key in keys])
