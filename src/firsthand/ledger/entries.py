"""Entries of derived memory: what they are made of, what is proposed, and what a reader sees (consolidation 3.1, 4).

    case: birch level 7 => 23            an episode, word for word
    rule: birch level N => 3 * N + 2     an entry, made of several

An entry names the raw episodes that it was made of, and never an earlier entry; which
entries it takes the place of is its lineage. Entries are not edited: what is changed is
a new version. An episode that is demoted is no longer in the default view; it stays in
the log, and comes back when its entry goes.

The invariants: one line each, whatever the text, and no line begins with what a text
brought; an entry's id is a function of what it says and of where it comes from; no
entry is among its own ancestors.

It knows no log, and does not know whether an entry is right: that is `gate`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal

from firsthand import printable
from firsthand.errors import InvalidArgument
from firsthand.event import Trust, derived_id, to_bytes
from firsthand.value import field, replace, value

TEXT_CHARACTERS_MAX = 400
"""Of an entry."""
SCOPE_CHARACTERS_MAX = 200
SOURCES_MAX = 2_000
BETWEEN = " => "
CASE, RULE = "case: ", "rule: "
Action = Literal["retain", "delete", "add", "merge", "split"]
Writes = Literal["versions", "beside", "anew"]


@value
class Episode:
    """One raw thing that happened, with what was asked and what was right.

    Attributes:
        pointer: of the bytes that say it.
        scope: the family it belongs to; empty when nobody said.
        case: what was asked, in words.
        answer: what was right, and is asked for again when an entry is tried.
        position: its place in the log; of two with one case the later one holds.
        origin: where its words come from.
        trust: how far they may be believed.
        ours: Firsthand's own output, or what it put before an agent: never evidence.
    """

    pointer: str
    scope: str
    case: str
    answer: str
    position: int = 0
    origin: str = "user"
    trust: Trust = Trust.TRUSTED
    ours: bool = False

    @property
    def question(self) -> str:
        """What it answers, for telling whether two answer the same."""
        return " ".join(self.case.casefold().split())

    @property
    def counts(self) -> bool:
        """Say whether it is evidence by itself: a user said it by trust, and Firsthand did not."""
        return not self.ours and self.trust is not Trust.UNTRUSTED

    @property
    def digest(self) -> str:
        """Hash of what it says."""
        return sha256(b"\0".join(map(to_bytes, (self.scope, self.case, self.answer)))).hexdigest()

    @property
    def line(self) -> str:
        """Give it as the one line that a reader sees."""
        return f"{CASE}{_without_sign(self.case)}{BETWEEN}{_without_sign(self.answer)}"


@value
class Entry:
    """One line of derived memory.

    Attributes:
        id: 26 characters, made of all the rest but ``report``.
        text: what it says; its ``line`` is what is shown.
        sources: pointers of the raw episodes that it stands on.
        scope: what it says that it is about.
        version: 1, or one more than the newest of its parents.
        parents: ids of the entries that it takes the place of.
        created_by: the consolidator.
        basis: hash over its sources and what they said when it was made.
        trust: that of its least trusted source.
        report: hash of the gate's report that let it in; empty before.
        solver: who answered from it when it was tried; another one may read nothing in it.
    """

    id: str
    text: str
    sources: tuple[str, ...]
    scope: str = ""
    version: int = 1
    parents: tuple[str, ...] = ()
    created_by: str = ""
    basis: str = ""
    trust: Trust = Trust.TRUSTED
    report: str = ""
    solver: str = ""

    @property
    def line(self) -> str:
        """Give it as the one line that a reader sees."""
        return RULE + escaped(self.text)


@value
class Written:
    """What a consolidator wrote: a text, and the pointers that it made it of."""

    text: str
    sources: tuple[str, ...]
    scope: str = ""


@value
class Fault:
    """A reply that brought nothing: ``kind`` in a word or two, and what was expected and came, as a sentence."""

    kind: str
    says: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.says}"


@value
class Operation:
    """One step of a proposal.

    Attributes:
        action: ``retain`` keeps the entries of ``targets``; ``delete`` takes ``targets`` (entries, or raw episodes by
            pointer) out of the default view; ``add`` brings ``entry``; ``merge`` brings it in place of ``targets``;
            ``split`` does, and others come in place of the same ``targets``.
    """

    action: Action
    entry: Entry | None = None
    targets: tuple[str, ...] = ()


@value
class Proposal:
    """What a consolidator would do; nothing is done by it.

    Attributes:
        by: its name.
        saw: ids of the earlier entries that it was shown; the gate takes nothing from one that saw any.
        faults: what could not be read of it; there are no operations of that.
    """

    operations: tuple[Operation, ...] = ()
    by: str = ""
    saw: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def hash(self) -> str:
        """Hash of what is proposed and by whom."""
        steps = [
            (operation.action, operation.entry.id if operation.entry else "", operation.targets)
            for operation in self.operations
        ]
        return sha256(to_bytes(repr((self.by, self.saw, [str(fault) for fault in self.faults], steps)))).hexdigest()

    @property
    def written(self) -> tuple[Entry, ...]:
        """Give the entries that it brings."""
        return tuple(operation.entry for operation in self.operations if operation.entry is not None)


@value
class View:
    """What a reader sees by default: entries, and the raw episodes that are not demoted.

    Attributes:
        entries: those that stand, in the order they came.
        raw: in order of position; what is no evidence stands here and not in the text.
        demoted: what is not shown: by pointer of the raw episode, the id of the entry that covers it (empty for none).
    """

    entries: tuple[Entry, ...] = ()
    raw: tuple[Episode, ...] = ()
    demoted: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Give it as a reader reads it, a line for each; nothing that a tool or the web said, nor our own output."""
        return "\n".join(
            [*(entry.line for entry in self.entries), *(episode.line for episode in self.raw if episode.counts)]
        )

    def with_raw(self, new: Iterable[Episode]) -> View:
        """Add episodes that have happened since."""
        return replace(self, raw=tuple(sorted((*self.raw, *new), key=lambda episode: episode.position)))


def escaped(text: str) -> str:
    r"""Give a text as one line: line ends and what is not seen stand there as ``\n`` and the like."""
    return printable.shown(text)


def _without_sign(text: str) -> str:
    """Give a case or an answer as part of a line, which it cannot cut in two."""
    return escaped(text).replace("=>", "=\\>")


def entry(
    written: Written, episodes: Mapping[str, Episode], *, by: str, parents: Sequence[Entry] = (), report: str = ""
) -> Entry:
    """Make an entry of what was written, with the id, version, basis and trust that follow from it.

    Args:
        episodes: by pointer; a source that is not among them is named all the same, and the gate refuses it.
    """
    above = tuple(dict.fromkeys(parent.id for parent in parents))
    version = 1 + max((parent.version for parent in parents), default=0)
    made = Entry("", written.text, (), written.scope, version, above, by, report=report)
    return with_sources(made, written.sources, episodes)


def with_sources(before: Entry, sources: Iterable[str], episodes: Mapping[str, Episode]) -> Entry:
    """Give an entry that stands on other sources; its id is another one."""
    sources = tuple(dict.fromkeys(sources))
    basis = basis_of(sources, episodes)
    trust = max((episodes[name].trust for name in sources if name in episodes), default=Trust.UNTRUSTED)
    made = replace(before, sources=sources, basis=basis, trust=trust)
    return replace(made, id=identity_of(made))


def identity_of(unnamed: Entry) -> str:
    """Give the id that an entry has by what it says and where it comes from."""
    named = repr(
        (
            unnamed.text,
            unnamed.sources,
            unnamed.scope,
            unnamed.version,
            unnamed.parents,
            unnamed.created_by,
            unnamed.basis,
        )
    )
    return derived_id(None, b"entry 1", to_bytes(named))


def basis_of(sources: Iterable[str], episodes: Mapping[str, Episode]) -> str:
    """Hash what sources say; a source that is not there counts by its name alone."""
    digests = sorted((source, episodes[source].digest if source in episodes else "") for source in sources)
    return sha256(to_bytes(repr(digests))).hexdigest()


def current(episodes: Iterable[Episode]) -> dict[str, Episode]:
    """Give of each question the episode that holds: the latest that is evidence, else the latest, by question."""
    return {
        episode.question: episode
        for episode in sorted(episodes, key=lambda episode: (episode.counts, episode.position))
    }


# lineage -----------------------------------------------------------------------------------------


def descendants(entries: Iterable[Entry], identity: str) -> tuple[Entry, ...]:
    """Give the entries that came of one, at any depth, without it.

    Raises:
        InvalidArgument: the lineage goes round in a circle.
    """
    known = [*entries]
    check_lineage(known)
    below = {identity}
    grew = True
    while grew:
        children = {entry.id for entry in known if below & set(entry.parents)} - below
        grew = bool(children)
        below |= children
    return tuple(entry for entry in known if entry.id in below and entry.id != identity)


def check_lineage(entries: Iterable[Entry]) -> None:
    """Hold a lineage to be one: no entry is among its own ancestors.

    Raises:
        InvalidArgument: one is; the message names it.
    """
    above = {entry.id: entry.parents for entry in entries}
    done: set[str] = set()
    for start, parents in above.items():
        way: dict[str, Iterator[str]] = {start: iter(parents)} if start not in done else {}
        while way:
            here = next(reversed(way))
            step = next((parent for parent in way[here] if parent not in done), None)
            if step is None:
                done.add(here)
                del way[here]
            elif step in way:
                raise InvalidArgument(
                    f"an entry has ancestors, and is none of its own; entry {step} comes of itself by "
                    f"{' <- '.join([*way])}. Nothing is made of such a lineage."
                )
            elif step in above:
                way[step] = iter(above[step])
            else:
                done.add(step)


# proposals ---------------------------------------------------------------------------------------


def settled(
    writings: Sequence[Written], demoted: Iterable[str], view: View, episodes: Sequence[Episode], *,
    by: str, saw: Sequence[str] = (), writes: Writes = "versions",
) -> Proposal:  # fmt: skip
    """Make a proposal of what was written, without asking the writer which earlier entries there are.

    What is about the scope of an entry that stands, or stands on one of its sources, takes its place: one for one is
    a new version, one for several a merge, several for one a split. What says the same as before is retained.

    Args:
        demoted: pointers of raw episodes that need not be shown any more.
        saw: ids of the entries that the writer was shown.
        writes: ``versions`` as told above; ``beside`` leaves every earlier entry standing; ``anew`` is the whole memory
            written again, so that an entry which is not in it goes.
    """
    known = {episode.pointer: episode for episode in episodes}
    standing = {entry.id: entry for entry in view.entries}
    standing_for = () if writes == "beside" else view.entries
    takes = {place: _taken(writing, standing_for) for place, writing in enumerate(writings)}
    shared = [name for names in takes.values() for name in names]
    operations: list[Operation] = []
    retained: set[str] = set()
    for place, writing in enumerate(writings):
        parents = [standing[name] for name in takes[place]]
        same = next((other for other in parents if _says_the_same(writing, other)), None)
        if same is not None and len(parents) == 1 and shared.count(same.id) == 1:
            retained.add(same.id)
            operations.append(Operation("retain", None, (same.id,)))
            continue
        made = entry(writing, known, by=by, parents=parents)
        is_split = any(shared.count(name) > 1 for name in takes[place])
        action: Action = "split" if is_split else "merge" if parents else "add"
        operations.append(Operation(action, made, tuple(takes[place])))
    gone = [name for name in standing if writes == "anew" and name not in retained and name not in shared]
    leaving = [*gone, *dict.fromkeys(pointer for pointer in demoted if pointer in known)]
    operations += [Operation("delete", None, tuple(leaving))] if leaving else []
    return Proposal(tuple(operations), by, tuple(saw))


def _taken(written: Written, entries: Iterable[Entry]) -> tuple[str, ...]:
    """Name the standing entries that something written is about again."""
    sources = set(written.sources)
    return tuple(
        entry.id
        for entry in entries
        if (entry.scope and entry.scope == written.scope) or not sources.isdisjoint(entry.sources)
    )


def _says_the_same(written: Written, other: Entry) -> bool:
    return written.text == other.text and written.scope == other.scope


def applied(
    view: View,
    proposal: Proposal,
    episodes: Iterable[Episode],
    *,
    takes: Callable[[Entry], Entry | None] = lambda entry: entry,
    stays: Collection[str] = (),
) -> View:
    """Give the view that a proposal leads to; with no gate, all of it is taken.

    Args:
        episodes: all raw ones so far.
        takes: gives the entry that is taken for one that is proposed; None leaves it out, and what it was to take the
            place of stands.
        stays: pointers of raw episodes that are shown whatever is proposed.
    """
    entries = dict.fromkeys(view.entries)
    gone: set[str] = set()
    covered: dict[str, str] = {}
    leaving: list[str] = []
    for operation in proposal.operations:
        taken = takes(operation.entry) if operation.entry is not None else None
        if taken is not None:
            entries[taken] = None
            gone |= set(operation.targets)
            covered |= dict.fromkeys(taken.sources, taken.id)
        elif operation.action == "delete":
            leaving += operation.targets
    gone |= set(leaving)
    standing = tuple(entry for entry in entries if entry.id not in gone)
    own = {name: entry.id for entry in standing for name in entry.sources} | covered
    demoted = {name: own.get(name, was) for name, was in view.demoted.items()}
    demoted |= {name: own.get(name, "") for name in leaving if name.startswith("fh:")}
    return shown(standing, episodes, {name: by for name, by in demoted.items() if name not in stays})


def shown(entries: Iterable[Entry], episodes: Iterable[Episode], demoted: Mapping[str, str]) -> View:
    """Give the view of entries and of the raw episodes that are not demoted."""
    raw = sorted(
        (episode for episode in episodes if episode.pointer not in demoted), key=lambda episode: episode.position
    )
    return View(tuple(entries), tuple(raw), dict(demoted))
