"""Entries of derived memory: what they are made of, and what a reader sees (consolidation 3.1, 4).

    case: birch level 7 => 23            an episode, word for word
    rule: birch level N => 3 * N + 2     an entry, made of several

An entry names the raw episodes that it was made of, and never an earlier entry; which
entries it takes the place of is its lineage. It is not edited: what is changed is a new
version. An episode that an entry covers stays in the log, and is shown when it goes.

The invariants: one line each, whatever the text, and no line begins with what a text
brought; an entry's id is a function of what it says, of its sources and of its parents,
so that none can come of itself. Whether an entry is right is a matter of `entry_gate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from firsthand import printable
from firsthand.event import derived_id, to_bytes
from firsthand.value import field, replace, value

BETWEEN = " => "
CASE, RULE = "case: ", "rule: "


@value
class Episode:
    """One raw thing that a user said, with what was asked and what was right.

    Attributes:
        pointer: of the bytes that say it.
        scope: the family it belongs to.
        position: its place in the log; of two with one question the later one holds.
    """

    pointer: str
    scope: str
    case: str
    answer: str
    position: int = 0

    @property
    def question(self) -> str:
        """What it answers, for telling whether two answer the same."""
        return " ".join(self.case.casefold().split())

    @property
    def digest(self) -> str:
        """Hash of what it says."""
        return sha256(b"\0".join(map(to_bytes, (self.scope, self.case, self.answer)))).hexdigest()

    @property
    def line(self) -> str:
        """Give it as the one line that a reader sees."""
        case, answer = (printable.shown(text).replace("=>", "=\\>") for text in (self.case, self.answer))
        return f"{CASE}{case}{BETWEEN}{answer}"


@value
class Entry:
    """One line of derived memory.

    Attributes:
        id: 26 characters, made of all the rest but ``report``.
        sources: pointers of the raw episodes that it stands on.
        scope: the family that it is about.
        version: 1, or one more than the newest of its parents.
        parents: ids of the entries that it takes the place of.
        created_by: who wrote it.
        basis: hash over its sources and what they said when it was made.
        report: hash of the gate's report that let it in; empty before.
    """

    id: str
    text: str
    sources: tuple[str, ...]
    scope: str = ""
    version: int = 1
    parents: tuple[str, ...] = ()
    created_by: str = ""
    basis: str = ""
    report: str = ""

    @property
    def line(self) -> str:
        """Give it as the one line that a reader sees."""
        return RULE + printable.shown(self.text)


@value
class Written:
    """What a writer of entries wrote: a text, the pointers that it made it of, and their family, where it says so."""

    text: str
    sources: tuple[str, ...]
    scope: str = ""


@value
class View:
    """What a reader sees: entries, and the raw episodes that none covers.

    Attributes:
        entries: those that stand, in the order they came.
        raw: in order of position.
        demoted: what is not shown: by pointer of the raw episode, the id of the entry that covers it (empty for none).
    """

    entries: tuple[Entry, ...] = ()
    raw: tuple[Episode, ...] = ()
    demoted: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Give it as a reader reads it, a line for each."""
        return "\n".join([*(entry.line for entry in self.entries), *(episode.line for episode in self.raw)])


def entry(written: Written, episodes: Mapping[str, Episode], *, by: str, parents: Iterable[Entry] = ()) -> Entry:
    """Make an entry of what was written, with the id, version and basis that follow from it.

    Args:
        episodes: by pointer; a source that is not among them is named all the same, and the gate refuses it.
    """
    above = {parent.id: parent.version for parent in parents}
    made = Entry("", written.text, (), written.scope, 1 + max(above.values(), default=0), tuple(above), by)
    return with_sources(made, written.sources, episodes)


def with_sources(before: Entry, sources: Iterable[str], episodes: Mapping[str, Episode]) -> Entry:
    """Give an entry that stands on other sources; its id is another one."""
    sources = tuple(dict.fromkeys(sources))
    made = replace(before, sources=sources, basis=basis_of(sources, episodes))
    return replace(made, id=identity_of(made))


def identity_of(entry: Entry) -> str:
    """Give the id that an entry has by what it says and where it comes from."""
    named = (entry.text, entry.sources, entry.scope, entry.version, entry.parents, entry.created_by, entry.basis)
    return derived_id(None, b"entry 1", to_bytes(repr(named)))


def basis_of(sources: Iterable[str], episodes: Mapping[str, Episode]) -> str:
    """Hash what sources say; a source that is not there counts by its name alone."""
    digests = sorted((source, episodes[source].digest if source in episodes else "") for source in sources)
    return sha256(to_bytes(repr(digests))).hexdigest()


def current(episodes: Iterable[Episode]) -> dict[str, Episode]:
    """Give of each question the episode that holds, the latest, by question."""
    return {episode.question: episode for episode in sorted(episodes, key=lambda episode: episode.position)}


def versions(
    written: Iterable[Written], standing: Sequence[Entry], episodes: Iterable[Episode], *, by: str
) -> tuple[Entry, ...]:
    """Make entries of what was written by somebody who was shown none of those that stand.

    What is of the scope of one that stands, or stands on one of its sources, is its new version; what says the same
    as it did is left out.
    """
    known = {episode.pointer: episode for episode in episodes}
    entries = []
    for writing in written:
        sources = set(writing.sources)
        scopes = [known[name].scope for name in writing.sources if name in known]
        scope = writing.scope or next(iter(scopes), "")
        parents = [other for other in standing if other.scope == scope or not sources.isdisjoint(other.sources)]
        if [(other.text, other.scope) for other in parents] != [(writing.text, scope)]:
            entries.append(entry(replace(writing, scope=scope), known, by=by, parents=parents))
    return tuple(entries)
