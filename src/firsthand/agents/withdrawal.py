"""The files of agents when events are erased: what the agent wrote there goes, what a person wrote is named.

    knowledge/*.md, entities/*.md             removed where the agent wrote the erased version itself
    whatever a person wrote or changed        stays; the erasure names it when it still holds the words

The invariant: files go before the log does, so an erasure that was cut short is finished by the next one; no
file that stands as an agent wrote it holds the words of an erased event or of what quoted it. A file counts as
still holding them when it has a pointer of theirs, or the whole text of one of the first `STRINGS_MAX` events.

It does not decide what quotes what (`live.quoting`), and erases nothing in the log itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from firsthand import pointer
from firsthand.agent_space import AgentSpace, agent_names
from firsthand.agents import files, health_line, side_files, small_files
from firsthand.context.quotes import quoting
from firsthand.errors import InvalidDraft, PointerError, StoreDamaged
from firsthand.event import Event, Kind, spellings, to_text
from firsthand.ledger.effect import Effect
from firsthand.log.results import Erasure
from firsthand.notes.sources import FILE
from firsthand.space import Space
from firsthand.value import replace

STRINGS_MAX = 200
STRING_CHARACTERS_MIN = 8
"""A shorter text stands in many a file by chance."""


def erase(space: Space, wanted: Sequence[str], reason: str, containing: str = "") -> Erasure:
    """Erase events with what quotes them: in the log, in the folders of agents, and in the files of hooks.

    Args:
        containing: a text to take out of the files of hooks too, also where no event holds it.

    Raises:
        StoreError: a file cannot be removed or the log cannot be written; then nothing is erased in the log.
    """
    agents = (AgentSpace(space, name) for name in agent_names(space))
    with_folder = [agent for agent in agents if agent.folder.is_dir()]
    for agent in with_folder:
        if any(_names_one(small_files.read(path) or b"", wanted) for path in files.standing(agent)):
            files.follow(agent)  # what a person did there since is a version, and goes with the others
    every = list(dict.fromkeys([*wanted, *quoting(space, wanted)]))
    return _erased(space, with_folder, every, containing, lambda: space.log.erase(space.namespace, every, reason))


def follow_erasure(space: Space, wanted: Iterable[str], destroy: Callable[[], object]) -> None:
    """Take out of this store's files what an erasure of another store destroys here.

    What quotes it is the caller's to erase, later: each erasure of this store's own is an event in a session.

    Args:
        destroy: appends that erasure, which destroys what it names in the log.
    """
    here = [event.id for name in dict.fromkeys(wanted) if (event := erasable(space, name)) is not None]
    with_folder = [agent for agent in (AgentSpace(space, name) for name in agent_names(space)) if agent.folder.is_dir()]

    def log_erasure() -> Erasure:
        destroy()
        return Erasure((), (), 0, 0, ())

    _erased(space, with_folder, here, "", log_erasure)


def erasable(space: Space, name: str) -> Event | None:
    """Give an event by its id, where it is here with content that may be destroyed."""
    try:
        event = space.event(f"fh:{name}")
    except (PointerError, InvalidDraft):  # another store's erasure may name what never came here
        return None
    return None if event.erased or event.kind in {Kind.ERASURE, Kind.LOSS} else event


def _erased(
    space: Space,
    with_folder: Sequence[AgentSpace],
    every: Sequence[str],
    containing: str,
    log_erasure: Callable[[], Erasure],
) -> Erasure:
    """Erase events in the files first, and then in the log."""
    going = [event for event in (space.event(f"fh:{name}") for name in every) if not event.erased]
    strings = [*_strings(space, going)]
    for agent in with_folder:
        _withdraw(agent, going)
    erasure = log_erasure()
    health_line.forget_words(space.path)
    needles = {form for text in strings for form in (text, *spellings(to_text(text)))}
    calls = side_files.erase(space.path, needles | {*(spellings(containing) if containing else ())})
    if every or calls:  # events that were erased before too: what erased them may have died before it said so
        side_files.mark_erased(space.path)
    return replace(erasure, files=tuple(_still(with_folder, every, strings)), calls=calls)


def refresh(space: Space) -> None:
    """Take files that an agent wrote out of its folder while the ledger takes out what they say, and bring them back.

    What a person wrote or changed stays.

    Raises:
        StoreError: a file cannot be written; the decision stands, and the next one writes it.
    """
    if space.read_only:
        return
    effect = Effect(space)
    for agent in (AgentSpace(space, name) for name in agent_names(space)):
        if not agent.folder.is_dir():
            continue
        files.follow(agent)
        for version in files.versions(agent).values():
            event = agent.space.event(version.pointer)
            if event.origin != "agent" or version.deleted:
                continue
            if effect.text(event) is not event:
                files.remove(agent, version)
            else:
                files.restore(agent, [version.file])


def _withdraw(agent: AgentSpace, going: Collection[Event]) -> None:
    """Remove the files that the agent wrote with words of what goes."""
    files.drop_generated(agent)
    known = files.versions(agent)
    for event in going:
        file = event.meta.get(FILE) if event.session == agent.session else None
        newest = known.get(file) if isinstance(file, str) else None
        if newest is not None and newest.pointer == f"fh:{event.id}" and event.origin == "agent":
            files.remove(agent, newest)


def _strings(space: Space, going: Iterable[Event]) -> Iterator[bytes]:
    """Give the texts by which a person's file is known to hold what goes."""
    number = 0
    for event in going:
        if number >= STRINGS_MAX:
            return
        if event.size_bytes > files.BYTES_MAX or event.kind is Kind.EPISODE:
            continue
        with suppress(StoreDamaged):  # what does not come back can be looked for nowhere
            text = space.expand(f"fh:{event.id}").strip()
            if len(text) >= STRING_CHARACTERS_MIN:
                number += 1
                yield text


def _still(with_folder: Iterable[AgentSpace], every: Iterable[str], strings: Collection[bytes]) -> Iterator[str]:
    """Name the files that still hold words or pointers of what was erased."""
    gone = frozenset(every)
    for agent in with_folder:
        for path in files.standing(agent):
            content = small_files.read(path) or b""
            if _names_one(content, gone) or any(string in content for string in strings):
                yield str(path)


def _names_one(content: bytes, gone: Collection[str]) -> bool:
    """Say whether a text has a pointer of one of the events."""
    for address in map(pointer.parse, pointer.find(content.decode("utf-8", "replace"))):
        if address.first in gone or address.last in gone:
            return True
    return False
