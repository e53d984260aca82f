"""Memory: where the rooms meet.

The only module that knows every room. Its methods are short: they name a
namespace, hand values from one room to the next, and decide nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import apsw

from firsthand import environment, event, fence, pointer
from firsthand.answer import Answer, Outcome, Query, Scope, When, moment_of
from firsthand.errors import StoreBusy
from firsthand.event import Draft, Event, Kind
from firsthand.index.learned import Learned
from firsthand.index.text import TextIndex
from firsthand.index.vectors import Vectors
from firsthand.log.append import Appended
from firsthand.log.log import TIMEOUT_MS, Log
from firsthand.log.prepare import check_name
from firsthand.log.read import SessionInfo
from firsthand.pointer import Pointer
from firsthand.session import Session
from firsthand.value import replace

if TYPE_CHECKING:
    from firsthand.agents.agent import Agent
    from firsthand.context.anatomy import Anatomy
    from firsthand.context.executors import Below, Executor
    from firsthand.context.prompt import Replay
    from firsthand.health.stats import Stats
    from firsthand.hosts.importer import ImportReport, Progress
    from firsthand.index.accelerator import Accelerator
    from firsthand.index.dense import Dense, VectorSpace
    from firsthand.index.embed.port import Embedder
    from firsthand.log.backup import Backup
    from firsthand.log.erase import Erasure
    from firsthand.log.export import Exported
    from firsthand.log.mark import EarlierStore
    from firsthand.log.rebuild import Rebuilt
    from firsthand.log.verify import Verification
    from firsthand.notes.writer import Noted
    from firsthand.recall.gate import Gate
    from firsthand.tokens import TokenCounter

FOLLOW_EVENTS = 5_000
NOTES_SESSION = "notes"
ACCELERATE_EVENTS_MIN = 50_000


class Memory:
    """The memory of one namespace in one store.

    Make one with `open`. Safe to share between threads; after a fork the child
    opens the store again by itself. Closing is not needed for durability: what
    an append has returned is on disk.
    """

    def __init__(self, log: Log, index: TextIndex, namespace: str, embedder: Embedder | None = None) -> None:
        self._log, self._index = log, index
        self.namespace = namespace
        self._dense = None if embedder is None else self._dense_of(embedder)
        self._fast: Accelerator | None = None
        self._appended, self.read_once = 0, dict[tuple[str, str], tuple[int, Any]]()  # of `Agent.sessions`, `shown`

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        read_only: bool = False,
        create: bool = True,
        timeout_ms: int = TIMEOUT_MS,
        embedder: Embedder | str | None = None,
    ) -> Memory:
        """Open a store, making it if the folder is new or empty.

        Args:
            path: the store's folder; None is ``$FIRSTHAND_STORE``, else ``~/.firsthand``.
            namespace: the tenant; None is ``$FIRSTHAND_NAMESPACE``, else ``default``.
            timeout_ms: how long a write waits for other writers, at most a day.
            embedder: finds events by their meaning too: an `Embedder`, or ``minilm``, ``static`` or
                ``endpoint:URL#model``; ``none`` for words alone; None is ``$FIRSTHAND_EMBEDDER``, else
                ``none``. Nothing is downloaded; what is not installed is said by `recall`.

        Raises:
            InvalidArgument: a flag is not True or False, the timeout no time, or the embedder none.
            NotAStore: the folder holds something else, or nothing and ``create`` is false.
            StoreNewer: a newer version wrote the store, and this one cannot read it.
            StoreReadOnly: it cannot be written here, and ``read_only`` is false.
        """
        index = TextIndex()
        named = check_name(
            environment.default_namespace() if namespace is None else namespace, "namespace", empty=False
        )
        root = Path(path) if path is not None else environment.default_store()
        meaning = _embedder(embedder)
        log = Log(
            root,
            read_only=read_only,
            create=create,
            timeout_ms=timeout_ms,
            indexes=(index,),
            followers=(Vectors(), Learned()),
            heads=environment.heads_folder(),
        )
        return cls(log, index, named, meaning)

    @property
    def path(self) -> Path:
        """The store's folder; `StoreReplaced` where it was moved or replaced since it was opened to write."""
        return self._log.folder()

    @property
    def earlier(self) -> tuple[EarlierStore, ...]:
        """The stores that were at this path and are gone, where this handle made a new one in their place."""
        return self._log.earlier

    @property
    def read_only(self) -> bool:
        """True when this handle cannot write."""
        return self._log.read_only

    def close(self) -> None:
        """Let the store go."""
        if self._dense is not None:
            self._dense.stop()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # write -------------------------------------------------------------------------------------------

    def session(self, name: str | None = None, *, agent: str = "") -> Session:
        """Give a session to append to; a name that is new begins one, None makes a name.

        Args:
            agent: whose words the session's agent messages and tool calls are.
        """
        return Session(self, name or event.IdMaker()().lower(), agent)

    def agent(self, name: str) -> Agent:
        """Give an agent: its sessions, its files, and what it is told from them unasked."""
        from firsthand.agents.agent import Agent

        return Agent(self, name)

    def append(
        self, drafts: Sequence[Draft], *, session: str, expected_position: int | None = None
    ) -> tuple[Appended, ...]:
        """Append events to a session, all or none; on return they are on disk and can be found.

        A draft with an id may be appended again: the same bytes change nothing.

        Raises:
            InvalidDraft, IdConflict, StaleExpectation: this append is refused.
            StoreBusy, StoreFull, StoreFailed, StoreReadOnly: the store cannot take it.
        """
        appended = self._log.append(
            drafts, namespace=self.namespace, session=session, expected_position=expected_position
        )
        self._appended += len(appended)
        if self._appended >= FOLLOW_EVENTS:
            self._count_in_passing()
        if self._dense is not None:
            self._dense.wake()
        return appended

    def note(
        self,
        text: str | bytes,
        *,
        sources: Iterable[str | Pointer | Appended] = (),
        situations: Sequence[str] | None = None,
        session: str = NOTES_SESSION,
        sort: str = "note",
        **fields: Any,
    ) -> Noted:
        """Append a note, rule or lesson that is found by its text and by the situations it was learned in.

        Args:
            sources: pointers of the events it rests on; erasing one of them erases the note too.
            situations: texts, at most 16 of 2,000 characters; None takes what the user said in the sources' turns.
            sort: ``note``, ``rule`` or ``lesson``.
            fields: further ones of `Draft`.

        Raises:
            MalformedPointer, Unresolvable: a source is no pointer, or is not in this namespace; `Erased` when erased.
            InvalidArgument: there is no such sort, there are too many sources, a situation is no text, or another
                argument is not what it should be.
        """
        from firsthand.notes.writer import note

        return note(self, text, session=session, sources=sources, situations=situations, sort=sort, fields=fields)

    # read --------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str | Query,
        *,
        sessions: Collection[str] = (),
        agents: Collection[str] = (),
        kinds: Collection[Kind | str] = (),
        since: When = None,
        until: When = None,
        hits_max: int = 10,
        budget_tokens_max: int = 4_000,
        skip: int = 0,
        rewrite: Callable[[str], Sequence[str]] | None = None,
    ) -> Answer:
        """Find events by their words and exact strings; an empty answer says why it is empty.

        Args:
            query: any text, or a whole `Query` (of the other arguments only ``rewrite`` is then looked at).
            kinds: members of `Kind`, or their words.
            since, until: event time, inclusive: a `Moment`, ISO 8601 text or an epoch number.
            budget_tokens_max: of all previews together.
            skip: hits to pass over, to read on.
            rewrite: gives a question in other words, for when the first answer is not sure; when it fails, a note
                says so.

        Raises:
            QueryError: a number is out of range, a time cannot be read, or a name is no name.
        """
        from firsthand.ledger.decision_log import LedgerLog
        from firsthand.recall.search import search

        if not isinstance(query, Query):
            # The scope makes tuples of what it is given, and members of words, or says what it cannot use.
            given: list[Any] = [sessions, agents, kinds]
            scope = Scope(given[0], given[1], given[2], moment_of(since), moment_of(until))
            query = Query(query, scope, hits_max=hits_max, budget_tokens_max=budget_tokens_max, skip=skip)
        answer = search(
            self._log.reader, self.namespace, query, near=self._dense, gate=self._gate(), rewrite=rewrite,
            replaced=LedgerLog(self).replaced(),
            accelerator=self._accelerator() if query.scope.everything else None,  # it knows no scope
        )  # fmt: skip
        if answer.outcome is Outcome.ABSENT and (unread := self._log.unread(self.namespace)):
            return replace(answer, outcome=Outcome.DEGRADED, notes=(*answer.notes, unread))
        return answer

    def fence(self, text: str, *, label: str = fence.LABEL) -> str:
        """Wrap recalled text for a context; an import into this store then knows it as its own, and leaves it out.

        No text closes its own fence, and what is changed inside one afterwards is data again.

        Args:
            label: what the text is, in letters, digits and spaces.
        """
        return fence.wrap(text, self._log.reader.fence_key(), label=label)

    def fenced(self, answer: Answer) -> str:
        """Write a recall's answer for an agent's context, fenced: the outcome and why, then the hits."""
        from firsthand.context import answers

        return self.fence(answers.of_recall(answer).text)

    def expand(self, address: str | Pointer | Appended) -> bytes:
        """Give the exact bytes that a pointer addresses, whole; see `stream` for what is large.

        Raises:
            MalformedPointer: it is no pointer.
            Unresolvable: nothing in this namespace answers to it; `Erased` when it was erased.
            StoreDamaged: the bytes are not what was written.
        """
        return b"".join(self.stream(address))

    def stream(self, address: str | Pointer | Appended) -> Iterator[bytes]:
        """Yield the exact bytes that a pointer addresses, in pieces of at most 1 MiB."""
        return self._log.reader.expand(self.namespace, _pointer(address))

    def event(self, address: str | Pointer | Appended) -> Event:
        """Read the event that a pointer addresses (the first one of a span)."""
        return self._log.reader.event(self.namespace, _pointer(address).first)

    def events(
        self,
        session: str | None = None,
        *,
        kind: Kind | None = None,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[Event]:
        """Yield events in order of position; ``after`` and ``before`` are exclusive positions."""
        bounds: dict[str, Any] = {"after": after, "before": before, "limit": limit, "newest_first": newest_first}
        return self._log.reader.events(self.namespace, session=session, kind=kind, **bounds)

    def open_span(self, address: str | Pointer) -> Iterator[Below]:
        """Open a span to every event below it, those of executors included, in order (total-recall 6).

        Raises:
            Unresolvable: nothing in this namespace answers to it.
            PointerError: its ends lie in different sessions, or run backwards.
        """
        from firsthand.context.executors import open_span

        return open_span(self, address)

    def unfinished(self, session: str) -> tuple[Executor, ...]:
        """Find the executors below a session, at any depth, that gave no result."""
        from firsthand.context.executors import unfinished

        return unfinished(self, session)

    def sessions(self) -> tuple[SessionInfo, ...]:
        """List the sessions of this namespace, in the order they began."""
        return self._log.reader.sessions(self.namespace)

    @property
    def identity(self) -> str:
        """The store's id, hexadecimal: a copy has the same."""
        return self._log.reader.uuid().hex()

    def head(self) -> str:
        """Give this namespace's head, ``position:hash``: kept elsewhere, it detects any later change of its past."""
        position, digest = self._log.reader.head(self.namespace)
        return f"{position}:{digest.hex()}"

    def anatomies(self, session: str | None = None, *, newest_first: bool = False) -> Iterator[Anatomy]:
        """Yield what each call was sent, part by part, in order (total-recall 9.6); None takes all sessions."""
        from firsthand.context.anatomy import from_event

        for one in self.events(session, kind=Kind.ANATOMY, newest_first=newest_first):
            if not one.erased:
                yield from_event(one)

    def anatomy(self, address: str | Pointer | Appended) -> Anatomy:
        """Read the anatomy that a pointer addresses.

        Raises:
            FormatError: the event there is no anatomy.
        """
        from firsthand.context.anatomy import from_event

        return from_event(self.event(address))

    def replay(self, address: str | Pointer | Appended, *, counter: TokenCounter | None = None) -> Replay:
        """Put the prompt of a call together again, as it was sent, from the pointer of its anatomy.

        Args:
            counter: the one that the window had; None is the estimate whose name the record holds.
        """
        from firsthand.context.replay import replay

        return replay(self, self.event(address), counter)

    def stats(self) -> Stats:
        """Measure the store: events, sessions, sizes, how far the indexes reach."""
        from firsthand.health.stats import measure

        return measure(self._log, self.namespace, self._dense)

    def vectors(self) -> tuple[VectorSpace, ...]:
        """Tell how far the vectors of this namespace reach, by embedder; empty without any."""
        from firsthand.index.dense import states

        return states(self._log, self.namespace, self._dense)

    # import and export ---------------------------------------------------------------------------------

    def import_paths(
        self,
        paths: Iterable[str | os.PathLike[str]] | None = None,
        *,
        mapping: Mapping[str, str] | None = None,
        progress: Callable[[Progress], None] | None = None,
        folder: str = "",
    ) -> ImportReport:
        """Import transcripts, mails and message files; the same file again adds nothing.

        Args:
            paths: files and folders; None looks where the known hosts keep their sessions.
            mapping: reads every file as JSON lines: which field of a line is its ``content``, ``kind``,
                ``time``, ``session``, ``agent`` or ``id``; a dot leads into an object. Another mapping
                gives other events, in sessions of their own.
            folder: the project whose settings, as the user made them, say what is kept out of the log.

        Raises:
            SourceRejected: the one file asked for cannot be imported.
            FormatError: the mapping names something else.
        """
        from firsthand.agents import settings
        from firsthand.agents.recording_rules import rules_of
        from firsthand.hosts.importer import import_paths
        from firsthand.hosts.jsonl import Fields, Jsonl
        from firsthand.hosts.log_keeper import LogKeeper

        report = import_paths(
            LogKeeper(self._log, self.namespace, rules_of(self.path, settings.load(self.path, folder))),
            paths,
            home=environment.home(),
            folders=environment.host_folders(),
            host=None if mapping is None else Jsonl(Fields.of(mapping)),
            progress=progress,
        )
        self._follow_words()
        self._learn()
        return report

    def export(self, out: BinaryIO, *, session: str | None = None, everything: bool = False) -> Exported:
        """Write this namespace (or one session, or every namespace) as JSON Lines (docs/log-format.md).

        Raises:
            StoreDamaged: an event or artifact is not what was written; `export_salvage` goes on past it.
        """
        return self._log.export(out, namespace=None if everything else self.namespace, session=session)

    def restore(self, source: BinaryIO) -> Exported:
        """Take an export in, under the namespaces that it names.

        Raises:
            FormatError: it is no export, or cut off.
            StoreDamaged: something in it is not what was written.
        """
        return self._log.restore(source)

    def backup(self, target: str | os.PathLike[str]) -> Backup:
        """Copy the whole store to a new folder while writers go on."""
        return self._log.backup(Path(target))

    # proof and privacy -----------------------------------------------------------------------------------

    def verify(
        self,
        *,
        heads: Sequence[str] = (),
        deep: bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Derive every hash and chain again, read every artifact, check the indexes against the log.

        Args:
            heads: heads of this namespace kept elsewhere (`head`), to be found again in the log as it is now.
            deep: also derive the whole text index again and compare; None does so up to 20,000 events.
            progress: called with events done and events in all.
        """
        from firsthand.health.proof import verify

        return verify(self._log, self.namespace, heads=heads, deep=deep, progress=progress)

    def erase(
        self, addresses: Iterable[str | Pointer | Appended], *, reason: str = "", containing: str = ""
    ) -> Erasure:
        """Destroy the content of events, wherever this store holds it; the chain still verifies.

        What Firsthand itself wrote that repeats their words is erased with them: receipts with topics of theirs,
        task states, answers of recall, notes and episodes that rest on them or repeat them, and its own files in
        the folders of agents; `Erasure.files` names what a person wrote there. Waiting calls of hooks that hold the
        same words, or ``containing``, go too; a server that has read the store ends in seconds.

        Raises:
            Unresolvable: one of them is not in this namespace; then nothing is erased.
        """
        from firsthand.agents.withdrawal import erase

        return erase(self, list(dict.fromkeys(self._each(addresses))), reason, containing)

    def _each(self, addresses: Iterable[str | Pointer | Appended]) -> Iterator[str]:
        """Give the id of every event that the pointers address, all those of a span."""
        reader = self._log.reader
        for one in map(_pointer, addresses):
            if one.last is None:
                yield one.first
                continue
            ends = reader.event(self.namespace, one.first), reader.event(self.namespace, one.last)
            yield from (event.id for event in reader.span(self.namespace, *ends))

    def rebuild(self, *, progress: Callable[[int, int], None] | None = None) -> Rebuilt:
        """Throw the indexes away and build them from the log; a damaged event is left out, and told.

        Vectors are thrown away too, and made anew in the background, or by `follow`.
        """
        rebuilt = self._log.rebuild(progress)
        self._follow_words()
        self._learn()
        return rebuilt

    def follow(self, *, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring everything up to date that follows the log: counts of common terms, the accelerator, vectors, the gate.

        The first two only speed recall; imports and rebuilds bring them up to date too. The gate takes some seconds.

        Args:
            progress: called with the position that the vectors reach, and the last one.

        Raises:
            ModelError: the embedder failed; what was made before that is kept.
        """
        self._follow_words()
        if self._dense is not None and not self.read_only:
            self._dense.follow(progress)
        self._learn(vectors=True)

    def _learn(self, *, vectors: bool = False) -> None:
        """Learn the gate of recall if it is due; with an embedder only when its vectors were made before."""
        if self.read_only or self._log.reader.index_faults(self.namespace) or (self._dense is not None and not vectors):
            return
        from firsthand.recall.calibrate import keep_learned

        keep_learned(self._log, self.namespace, near=self._dense, embedder=self._identity())

    def _gate(self) -> Gate:
        from firsthand.recall.kept_gate import gate_of

        reader = self._log.reader
        return gate_of(reader.db, reader.namespace_key(self.namespace), self._identity())

    def _identity(self) -> str:
        return self._dense.embedder.identity if self._dense is not None else ""

    def _follow_words(self) -> None:
        """Bring the counts and the accelerator up to date, and have vectors follow in the background."""
        if self._dense is not None:
            self._dense.wake()
        head, _ = self._log.reader.head(self.namespace)
        if self.read_only or self._log.reader.index_faults(self.namespace) or not head:
            return
        self._count()
        accelerator = self._accelerator(make=head >= ACCELERATE_EVENTS_MIN)
        while accelerator is not None and accelerator.advance(ACCELERATE_EVENTS_MIN):
            pass

    def _count(self) -> None:
        """Index what waits and count the common terms again where that is due."""
        key = self._log.namespace_key(self.namespace)

        def count(db: apsw.Connection) -> None:
            if self._log.index_files.attach(key):
                with db:
                    self._index.refresh(db, key)

        self._log.flush_indexes(self.namespace)
        self._log.exclusively(count)

    def _count_in_passing(self) -> None:
        """Count after an append that is on disk already: what only speeds recall must not make it fail."""
        self._appended = 0
        with suppress(StoreBusy):  # the store is crowded: it is tried again as many appends later
            if not self._log.reader.index_faults(self.namespace):
                self._count()

    def _dense_of(self, embedder: Embedder) -> Dense:
        import weakref

        from firsthand.index.dense import Dense

        dense = Dense(self._log, self.namespace, embedder)
        weakref.finalize(self, dense.stop)  # at the process's end too: no thread must be left in a model's code
        return dense

    def _accelerator(self, *, make: bool = False) -> Accelerator | None:
        """Give the accelerator of a large store, if there is one (or one is to be made) and it can be used."""
        key = self._log.reader.namespace_key(self.namespace)
        if self._fast is None and (make or (self._log.root / "cache" / f"tantivy-{key}").exists()):
            from firsthand.index.accelerator import available

            self._fast = self._accelerator_of(key) if available() else None
        return self._fast

    def _accelerator_of(self, key: int) -> Accelerator:
        from firsthand.index.accelerator import Accelerator
        from firsthand.recall.lexical import stems

        reader = self._log.reader
        folder = self._log.root / "cache" / f"tantivy-{key}"
        return Accelerator(folder, reader, key, stems(reader.db), read_only=self.read_only)


def _embedder(given: Embedder | str | None) -> Embedder | None:
    """Give the embedder that is meant, unasked: nothing of it is loaded."""
    given = environment.default_embedder() if given is None else given
    if given is None or given == "none":
        return None
    if isinstance(given, str):
        from firsthand.index.embed.named import named

        return named(given, environment.embedder_key())
    from firsthand.index.embed.port import accepted

    return accepted(given)


def _pointer(address: str | Pointer | Appended) -> Pointer:
    if isinstance(address, Appended):
        return Pointer(address.id)
    return address if isinstance(address, Pointer) else pointer.parse(address)
