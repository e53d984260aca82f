"""Memory: where the rooms meet.

A `Memory` is a `Space` with the verbs of the rooms above it. Its methods are short:
they hand values from one room to the next, and decide nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Unpack

from firsthand import event
from firsthand.agents.agent import Agent
from firsthand.agents.transcripts import import_paths
from firsthand.agents.withdrawal import erase, refresh
from firsthand.answer import Answer, Query, When
from firsthand.context import answers
from firsthand.context.anatomy import Anatomy, from_event
from firsthand.context.executors import Below, Executor, open_span, unfinished
from firsthand.context.replay import Replay, replay
from firsthand.event import Kind
from firsthand.hosts.import_report import ImportReport, Progress
from firsthand.index.verification import verify
from firsthand.ledger import statements
from firsthand.ledger.facts import Fact, facts_standing
from firsthand.ledger.ledger_recall import recall
from firsthand.ledger.statements import How, Stated
from firsthand.log.export import Exported
from firsthand.log.restore import restore
from firsthand.log.results import Appended, Backup, Erasure, Rebuilt, Verification
from firsthand.notes.check import Checked, check, recheck
from firsthand.notes.claim import Claim, claims_of
from firsthand.notes.correction import CorrectionCheck, check_correction
from firsthand.notes.coverage import Coverage, coverage, of_summary
from firsthand.notes.writer import Noted, note
from firsthand.pointer import Pointer
from firsthand.recall.search import query_of
from firsthand.session import Session
from firsthand.space import Address, Space, pointer_of
from firsthand.telemetry import traced
from firsthand.tokens import TokenCounter

NOTES_SESSION = "notes"
AGENT = "agent"
"""Who states a decision through the API, where nobody is named."""


class Memory(Space):
    """The memory of one namespace in one store: a `Space` with recall, sessions, agents, notes and proof.

    Safe to share between threads; after a fork the child
    opens the store again by itself. Closing is not needed for durability: what
    an append has returned is on disk.
    """

    # write -------------------------------------------------------------------------------------------

    append = traced(Space.append)

    def session(self, name: str | None = None, *, agent: str = "") -> Session:
        """Give a session to append to; a name that is new begins one, None makes a name.

        Args:
            agent: whose words the session's agent messages and tool calls are.
        """
        return Session(self, name or event.IdMaker()().lower(), agent)

    def agent(self, name: str) -> Agent:
        """Give an agent: its sessions, its files, and what it is told from them unasked."""
        return Agent(self, name)

    @traced
    def note(
        self,
        text: str | bytes,
        *,
        sources: Iterable[Address] = (),
        situations: Sequence[str] | None = None,
        session: str = NOTES_SESSION,
        sort: str = "note",
        claims: Iterable[Claim | Mapping[str, Any]] = (),
        within: Sequence[str] = (),
        **fields: Any,
    ) -> Noted:
        """Append a note, rule or lesson that is found by its text and by the situations it was learned in.

        Its claims are checked against the log first (see `check`); nothing is refused for being unproven, but what
        the check said is kept with the note and given back, with how to mend it.

        Args:
            sources: pointers of the events it rests on; erasing one of them erases the note too.
            claims: what the note says, one thing each, with quotes, as `Claim` or in its shape in JSON; the events
                that they quote are sources, too.
            within: sessions in which quotes without a pointer are looked for; empty for that of the note.
            situations: texts, at most 16 of 2,000 characters; None takes what the user said in the sources' turns.
            sort: ``note``, ``rule`` or ``lesson``.
            fields: further ones of `Draft`.

        Raises:
            MalformedPointer, Unresolvable: a source is no pointer, or is not in this namespace; `Erased` when erased.
            InvalidArgument: there is no such sort, there are too many sources, a situation is no text, or another
                argument is not what it should be.
        """
        return note(
            self, text, session=session, sources=sources, situations=situations, sort=sort, fields=fields,
            claims=claims, within=within,
        )  # fmt: skip

    def check(
        self, claims: Iterable[Claim | Mapping[str, Any]] | Address, *, within: Sequence[str] = ()
    ) -> tuple[Checked, ...]:
        """Check claims against the log, without a model: what stands there, and what its arithmetic gives.

        It cannot catch quotes that do not entail the claim, conditions around a quote, swapped names, statements that
        no longer hold, or true sums of the wrong values.

        Args:
            claims: claims, or the pointer of a note whose claims are checked again.
            within: sessions in which quotes without a pointer are looked for, newest event first.

        Raises:
            InvalidArgument: a claim is none; the message says which, and what is expected.
            Unresolvable: there is no such note.
        """
        if isinstance(claims, (str, Pointer, Appended)):
            return recheck(self, self.event(claims))
        return check(self, claims_of(claims), within=within)

    def check_correction(self, correction: str, *, note: Address | None = None) -> CorrectionCheck:
        """Show what a correction would change: claims of notes, their evidence, and their work with its values.

        It decides nothing: a value that stands in the work is taken for what was wrong, and where none does each
        operand of the same unit is tried.

        Args:
            correction: in any words, such as ``the stapler cost $15, not $12.50``.
            note: pointer of the note whose claims are meant; None looks for it.

        Raises:
            Unresolvable: there is no such note.
            InvalidArgument: the claims that it was written with are none of ours.
        """
        return check_correction(self, correction, lambda query: recall(self, query), note)

    def coverage(self, text: str | Address, source: Address | None = None) -> Coverage:
        """Count which values of a source a text lacks: numbers, dates, exact strings, quoted names. It is no verdict.

        Args:
            text: any text; or, without ``source``, the pointer of a host's summary, which stands for the events of
                its session since the summary before it.
            source: pointer of an event or a span.

        Raises:
            MalformedPointer, Unresolvable: a pointer leads to no event here.
            InvalidArgument: the event that is named alone is no summary.
        """
        return of_summary(self, text) if source is None else coverage(self, str(text), source)

    # decide ------------------------------------------------------------------------------------------

    @traced
    def supersede(self, old: Address, new: Address, quote_old: str, quote_new: str, **how: Unpack[How]) -> Stated:
        """State that what one event says holds no longer, and what a later one says does; the log must prove it.

        What a user said is taken out only by what a user said later, else the decision waits for `firsthand ledger
        approve`. Nothing in the log changes, and `firsthand ledger undo` takes it back.

        Args:
            old, new: pointers; empty for an event that the quote is looked for in, newest first.
            quote_old, quote_new: words of the two events, byte for byte. ``by="user"`` may leave both empty.
            how: ``by`` (``user``, ``agent:NAME`` or ``model:NAME``); ``session``, in whose turn it is stated, with
                which it takes effect (none: at once); ``open_turn=True`` where the log lacks what was said in it;
                ``within``, the sessions in which a quote without an event is looked for (none: all); ``reason``;
                ``keep=False`` to check and write nothing.

        Raises:
            DecisionRefused: the quotes do not prove it; the message says how to mend them.
            MalformedPointer, Unresolvable: a pointer names no event of this namespace; `Erased` when erased.
        """
        return statements.supersede(self, old, new, quote_old, quote_new, **_by(how))

    @traced
    def retract(self, target: Address, quote: str, **how: Unpack[How]) -> Stated:
        """State that an event, or an assertion, holds no longer; the quote takes it back.

        Arguments and errors are those of `supersede`.
        """
        return statements.retract(self, target, quote, **_by(how))

    @traced
    def assert_fact(self, subject: str, text: str, quote: str, *, at: Address = "", **how: Unpack[How]) -> Stated:
        """State a fact that is to be kept, on words of the log; `facts` gives those that stand.

        Args:
            at: the event that the quote stands in; empty has it looked for, newest first.
            how: as for `supersede`, as are its errors.
        """
        return statements.assert_fact(self, subject, text, quote, at=at, **_by(how))

    def facts(self, *, as_of: int | None = None) -> Iterator[Fact]:
        """Yield the facts that somebody asserted and that stand, the newest first, as of a position."""
        return facts_standing(self, as_of=as_of)

    def decided(self) -> None:
        """Write the files of agents anew as the ledger leaves them."""
        refresh(self)

    # read --------------------------------------------------------------------------------------------

    @traced
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
            rewrite: gives a question in other words, for when it is not likely that the first answer answers; when it
                fails, a note says so.

        Raises:
            QueryError: a number is out of range, a time cannot be read, or a name is no name.
        """
        asked = query_of(
            query, sessions=sessions, agents=agents, kinds=kinds, since=since, until=until, hits_max=hits_max,
            budget_tokens_max=budget_tokens_max, skip=skip,
        )  # fmt: skip
        return recall(self, asked, rewrite=rewrite, waiting=True)

    def fenced(self, answer: Answer) -> str:
        """Write a recall's answer for an agent's context, fenced: the outcome and why, then the hits."""
        return self.fence(answers.of_recall(answer).text)

    def open_span(self, address: str | Pointer) -> Iterator[Below]:
        """Open a span to every event below it, those of executors included, in order (total-recall 6).

        Raises:
            Unresolvable: nothing in this namespace answers to it.
            PointerError: its ends lie in different sessions, or run backwards.
        """
        return open_span(self, address)

    def unfinished(self, session: str) -> tuple[Executor, ...]:
        """Find the executors below a session, at any depth, that gave no result."""
        return unfinished(self, session)

    def anatomies(self, session: str | None = None, *, newest_first: bool = False) -> Iterator[Anatomy]:
        """Yield what each call was sent, part by part, in order (total-recall 9.6); None takes all sessions."""
        for call in self.events(session, kind=Kind.ANATOMY, newest_first=newest_first):
            if not call.erased:
                yield from_event(call)

    def anatomy(self, address: Address) -> Anatomy:
        """Read the anatomy that a pointer addresses.

        Raises:
            FormatError: the event there is no anatomy.
        """
        return from_event(self.event(address))

    def replay(self, address: Address, *, counter: TokenCounter | None = None) -> Replay:
        """Put the prompt of a call together again, as it was sent, from the pointer of its anatomy.

        Args:
            counter: the one that the window had; None is the estimate whose name the record holds.
        """
        return replay(self, self.event(address), counter)

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
        return import_paths(self, paths, mapping=mapping, progress=progress, folder=folder)

    def export(self, out: BinaryIO, *, session: str | None = None, everything: bool = False) -> Exported:
        """Write this namespace (or one session, or every namespace) as JSON Lines (docs/log-format.md).

        Raises:
            StoreDamaged: an event or artifact is not what was written; `export_salvage` goes on past it.
        """
        return self.log.export(out, namespace=None if everything else self.namespace, session=session)

    def restore(self, source: BinaryIO) -> Exported:
        """Take an export in, under the namespaces that it names.

        Raises:
            FormatError: it is no export, or cut off.
            StoreDamaged: something in it is not what was written.
        """
        return restore(self.log, source)

    def backup(self, target: str | os.PathLike[str]) -> Backup:
        """Copy the whole store to a new folder while writers go on."""
        return self.log.backup(Path(target))

    # proof and privacy -----------------------------------------------------------------------------------

    def verify(
        self,
        *,
        heads: Sequence[str] = (),
        deep: bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Derive every hash and chain of the store again, read every artifact, check the indexes against the log.

        The whole store is read; of heads, only this namespace's own is given.

        Args:
            heads: heads of this namespace kept elsewhere (`head`), to be found again in the log as it is now.
            deep: also derive the whole text index again and compare; None does so up to 20,000 events.
            progress: called with events done and events in all.
        """
        return verify(self.log, self.namespace, heads=heads, deep=deep, progress=progress)

    @traced
    def erase(self, addresses: Iterable[Address], *, reason: str = "", containing: str = "") -> Erasure:
        """Destroy the content of events, wherever this store holds it; the chain still verifies.

        What Firsthand itself wrote that repeats their words is erased with them: receipts with topics of theirs,
        task states, answers of recall, notes and episodes that rest on them or repeat them, and its own files in
        the folders of agents; `Erasure.files` names what a person wrote there. Waiting calls of hooks that hold the
        same words, or ``containing``, go too; a server that has read the store begins
        anew in seconds.

        Raises:
            Unresolvable: one of them is not in this namespace; then nothing is erased.
        """
        return erase(self, list(dict.fromkeys(self._each(addresses))), reason, containing)

    def _each(self, addresses: Iterable[Address]) -> Iterator[str]:
        """Give the id of every event that the pointers address, all those of a span."""
        reader = self.log.reader
        for address in map(pointer_of, addresses):
            if address.last is None:
                yield address.first
                continue
            ends = reader.event(self.namespace, address.first), reader.event(self.namespace, address.last)
            yield from (event.id for event in reader.span(self.namespace, *ends))

    def rebuild(self, *, progress: Callable[[int, int], None] | None = None) -> Rebuilt:
        """Throw the indexes away and build them from the log; a damaged event is left out, and told.

        Vectors are thrown away too, and made anew in the background, or by `follow`.
        """
        rebuilt = self.log.rebuild(progress)
        self.wake()
        return rebuilt


def _by(how: How) -> How:
    return {"by": AGENT, **how}
