"""The files of agents when events are erased: what Firsthand wrote there goes, what a person wrote is named.

    episodes/*.md, preamble.md                ours: removed, and made anew from what is left
    knowledge/*.md, entities/*.md             removed where the agent wrote the erased version itself
    whatever a person wrote or changed        stays; the erasure names it when it still holds the words

The invariant: files go before the log does, so an erasure that was cut short is finished by the next one; no
file that stands as Firsthand wrote it holds the words of an erased event or of what quoted it. A file counts as
still holding them when it has a pointer of theirs, or the whole text of one of the first `STRINGS_MAX` events.

It does not decide what quotes what (`live.quoting`), and erases nothing in the log itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256

from firsthand import pointer
from firsthand.agent_space import AgentSpace, agent_names
from firsthand.agents import (
    agent_digest,
    episode_list,
    files,
    health_line,
    preamble_source,
    settings,
    side_files,
    sleep_log,
    small_files,
    validity,
)
from firsthand.context.quotes import quoting
from firsthand.errors import StoreDamaged
from firsthand.event import Event, Kind, spellings, to_text
from firsthand.ledger.effect import Effect
from firsthand.log.erase import Erasure
from firsthand.notes.sources import FILE
from firsthand.space import Space
from firsthand.unasked.volunteer import Piece
from firsthand.value import replace

STRINGS_MAX = 200
STRING_CHARACTERS_MIN = 8
"""A shorter text stands in many a file by chance."""
_WITHOUT_POINTERS = (files.PREAMBLE_FILE, files.SLEEP_FILE)
"""They may hold words of an event without its pointer: a cut line of a digest, a word whose recalls fail."""


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
    going = [event for event in (space.event(f"fh:{name}") for name in every) if not event.erased]
    strings = [*_strings(space, going)]
    for agent in with_folder:
        _withdraw(agent, going)
    log = space.log
    erasure = log.erase(space.namespace, every, reason)
    health_line.forget_words(space.path)
    needles = {form for text in strings for form in (text, *spellings(to_text(text)))}
    calls = side_files.erase(space.path, needles | {*(spellings(containing) if containing else ())})
    return replace(erasure, files=tuple(_still(with_folder, every, strings)), calls=calls)


def refresh(space: Space) -> None:
    """Write the files of agents anew as the ledger leaves them; what a person wrote or changed stays.

    Raises:
        StoreError: a file cannot be written; the decision stands, and the next one writes it.
    """
    if space.read_only:
        return
    effect = Effect(space)
    for agent in (AgentSpace(space, name) for name in agent_names(space)):
        if agent.folder.is_dir():
            files.follow(agent)
            _refresh_versions(agent, effect)
            _refresh_episodes(agent, effect)
            _refresh_pages(agent, effect)


def _refresh_versions(agent: AgentSpace, effect: Effect) -> None:
    """Put marks into what the agent itself wrote, or take them out again."""
    for version in files.versions(agent).values():
        event = agent.space.event(version.pointer)
        if event.origin != "agent" or version.deleted:
            continue
        standing = effect.text(event)
        path = agent.folder / version.file
        if not path.exists() and standing is not None:
            files.restore(agent, [version.file])
        content = small_files.read(path) if path.is_file() and not path.is_symlink() else None
        if content is None or not (_digest(content) == version.digest or files.written_by_us(agent, version.file)):
            continue
        if standing is None:
            files.remove_written(agent, version.file)
        elif content != standing.content:
            files.put(agent, version.file, standing.content or b"", ours=standing is not event)


def _refresh_episodes(agent: AgentSpace, effect: Effect) -> None:
    """Write the episodes under the names and in the words that stand, and remove the other files of ours."""
    folder = agent.folder / files.EPISODES
    if not folder.is_dir():
        return
    funnel, expected = validity.funnel(agent.space), set[str]()
    for episode in episode_list.episodes(agent):
        event = effect.text(agent.space.event(episode.pointer))
        if event is not None:
            file = episode_list.file_of(episode.name)
            expected.add(file)
            text = funnel.written([Piece(event.text, (episode.pointer,))], lambda pieces: pieces[0].words).text
            files.write_ours(agent, file, text)
    for path in sorted(folder.glob(f"*{files.SUFFIX}")):
        file = path.relative_to(agent.folder).as_posix()
        if file not in expected and files.written_by_us(agent, file):
            files.remove_written(agent, file)


def _refresh_pages(agent: AgentSpace, effect: Effect) -> None:
    if files.written_by_us(agent, files.SLEEP_FILE) and (record := sleep_log.newest_page(agent)) is not None:
        page = effect.text(record)
        words = page.text if page is not None else ""
        files.write_ours(agent, files.SLEEP_FILE, validity.funnel(agent.space).line(words))
    if files.written_by_us(agent, files.DIGEST_FILE):
        agent_digest.write_digest(agent)
    if files.written_by_us(agent, files.PREAMBLE_FILE):
        preamble_source.preamble_of(agent, tokens_max=settings.load(agent.space.path).preamble_tokens_max)


def _withdraw(agent: AgentSpace, going: Collection[Event]) -> None:
    """Remove the files that Firsthand wrote with words of what goes."""
    known = files.versions(agent)
    for event in going:
        if event.session != agent.session:
            continue
        episode = episode_list.from_event(agent, event) if event.kind is Kind.EPISODE else None
        if episode is not None:
            episode_list.remove_ours(agent, episode)
        file = event.meta.get(FILE)
        newest = known.get(file) if isinstance(file, str) else None
        if newest is not None and newest.pointer == f"fh:{event.id}" and event.origin == "agent":
            _remove_written(agent, newest)
    gone = {event.id for event in going}
    for path in [*files.standing(agent)]:
        file = path.relative_to(agent.folder).as_posix()
        named = file in _WITHOUT_POINTERS or _names_one(small_files.read(path) or b"", gone)
        if named and files.written_by_us(agent, file):
            files.remove_written(agent, file)
    for name in files.OLD_FILES:
        small_files.remove(agent.folder / name)


def _remove_written(agent: AgentSpace, version: files.Version) -> None:
    """Remove a file of knowledge that holds the version which goes, as the agent wrote it."""
    path = agent.folder / version.file
    content = small_files.read(path) if path.is_file() and not path.is_symlink() else None
    if content is not None and _digest(content) == version.digest:
        files.remove_written(agent, version.file)


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


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
