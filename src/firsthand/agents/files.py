"""The files of an agent that people read and edit: followed into the log, and written anew from it.

    knowledge/*.md   entities/*.md   rubric.md      a person's (or `learn`'s); every edit becomes an event

Each version is a note in the agent's own session with the exact bytes; its meta names
the file and the version that it takes the place of, so recall puts the newest first.
A deletion is an event too. The invariant: no edit is overwritten before it is in the
log; what is in the log can be restored; what cannot be followed is told, and why.

A file counts as deleted only when it stood there at the last following
(`.followed.json`, disposable): a folder that is lost is no deletion.

It does not know what is in the files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from firsthand import event, moment, pointer
from firsthand.agent_space import AgentSpace
from firsthand.agents import small_files
from firsthand.agents.authors import author_of
from firsthand.errors import IdConflict, InvalidArgument, StoreBusy, Unresolvable
from firsthand.event import Draft, Kind, Trust
from firsthand.moment import Moment
from firsthand.notes.sources import FILE, SOURCES
from firsthand.notes.writer import SOURCES_MAX
from firsthand.value import value

KNOWLEDGE, ENTITIES, RUBRIC_FILE = "knowledge", "entities", "rubric.md"
FOLDERS = (KNOWLEDGE, ENTITIES)
"""Those whose every file is followed."""
SUFFIX = ".md"
BYTES_MAX = 1_000_000
"""Of one file; a larger one is told and not followed."""
FILES_MAX = 10_000
"""Of one agent."""
DEPTH_MAX = 4
"""Folders below `knowledge`."""
NAME_BYTES_MAX = 240
WAIT_S = 5.0
"""So long whoever writes a piece of knowledge waits for another one."""
TOLD_MAX = 50
"""Sentences on what was not followed; how many more there are is said."""
DIGEST, DELETED = "sha256", "deleted"
SUPERSEDES = "supersedes"
"""Facts in a version's meta beside its file: the hash of its bytes, that it is gone, what it takes the place of."""
STATE_FILE, LOCK_FILE = ".followed.json", ".lock"
"""What serves us in the folder; all of it can be deleted at any time."""
GENERATED_FILE = ".written.json"
"""Of versions that wrote pages here: the hashes of what they wrote, by file."""
_BACKUPS = ("~", ".swp", ".tmp")


@value
class Version:
    """The newest version of one file, as the log has it.

    Attributes:
        file: its name below the agent's folder, with slashes.
        text: its beginning.
        deleted: True when the file was deleted then.
        earlier: pointers of the versions before it, the newest first.
    """

    file: str
    pointer: str
    text: str
    digest: str
    moment: Moment | None
    position: int
    deleted: bool = False
    earlier: tuple[str, ...] = ()
    trust: Trust = Trust.TRUSTED

    @property
    def stem(self) -> str:
        """The name that the index of knowledge shows: without folder of its kind and suffix."""
        return stem_of(self.file)


@value
class FileChange:
    """What following a file came to.

    Attributes:
        what: ``new``, ``changed`` or ``deleted``.
        pointer: of the version; empty where nothing was recorded.
        time_s: when the file was changed, in seconds since 1970; of a deleted one when its folder was.
    """

    file: str
    what: str
    pointer: str = ""
    time_s: float = 0.0


@value
class Followed:
    """What following an agent's folder did.

    Attributes:
        files: how many files stand there and are in the log.
        left_out: sentences on what is there and was not followed.
    """

    changes: tuple[FileChange, ...]
    files: int
    left_out: tuple[str, ...]


def versions(agent: AgentSpace) -> dict[str, Version]:
    """Read the newest version of each file from the log, by file; the one changed last comes last."""
    by_file: dict[str, Version] = {}
    for note in agent.own(Kind.NOTE):
        file = note.meta.get(FILE)
        if not isinstance(file, str) or note.erased or not is_followed(file):
            continue
        before = by_file.pop(file, None)
        earlier = (before.pointer, *before.earlier) if before is not None else ()
        digest, deleted = note.meta.get(DIGEST), note.meta.get(DELETED) is True
        by_file[file] = Version(
            file, f"fh:{note.id}", note.text, digest if isinstance(digest, str) else "", note.time, note.position,
            deleted, earlier, note.trust,
        )  # fmt: skip
    return by_file


def outdated(agent: AgentSpace) -> frozenset[str]:
    """Name the pointers of versions that another one took the place of, or that were deleted."""
    known = versions(agent).values()
    return frozenset(
        p for version in known for p in (*version.earlier, *((version.pointer,) if version.deleted else ()))
    )


def stem_of(file: str) -> str:
    """Give the name that a file is shown by: without the folder of its kind and the suffix."""
    return file.partition("/")[2].removesuffix(SUFFIX) or file


def is_followed(file: str) -> bool:
    """Say whether a name is one that this module follows: no path out of the folder, nothing hidden."""
    parts = file.split("/")
    if not file.endswith(SUFFIX) or len(file.encode("utf-8", "replace")) > NAME_BYTES_MAX or len(parts) > DEPTH_MAX + 2:
        return False
    if any(not part or part.startswith(".") or "\0" in part or "\\" in part for part in parts):
        return False
    return parts[0] in FOLDERS if len(parts) > 1 else file == RUBRIC_FILE


# from the folder into the log ---------------------------------------------------------------------------


def follow(agent: AgentSpace, *, record: bool = True) -> Followed:
    """Take what a person edited in the agent's folder into the log.

    Files whose size, time and inode are those of the last time are not read again.

    Args:
        record: False only says what would be taken in, and changes nothing.

    Raises:
        StoreError: the folder cannot be read, or the log cannot be written.
    """
    if record:
        drop_generated(agent)
    left_out: list[str] = []
    with small_files.ours(f"look through {agent.folder}"):
        present = dict(_scan(agent.folder, left_out))
    before = small_files.table(agent.folder / STATE_FILE)
    moved = [file for file, signs in present.items() if before.get(file) != signs]
    gone = [file for file in before if file not in present and is_followed(file)]
    known = versions(agent) if moved or gone else {}
    state = {file: signs for file, signs in before.items() if file in present}
    changes: list[FileChange] = []
    for file in moved:
        content = _read(agent.folder, file, left_out)
        if content is not None:
            state[file] = present[file]
            change = _take(agent, file, content, known.get(file), present[file][1] / 1e9, record=record)
            changes += [change] if change is not None else []
    for file in gone:
        if file in known and not known[file].deleted:
            changes.append(_delete(agent, known[file], record=record))
    if record and state != before and not agent.space.read_only:
        small_files.put_table(agent.folder / STATE_FILE, state)
    named = left_out[:TOLD_MAX]
    named += [f"{len(left_out) - TOLD_MAX:,} more files were not followed"] if len(left_out) > TOLD_MAX else []
    return Followed(tuple(changes), len(state), tuple(named))


def learn(agent: AgentSpace, file: str, text: str | bytes) -> FileChange | None:
    """Write a piece of knowledge into the log and the agent's folder; None when it says what it said before.

    Args:
        file: ``knowledge/NAME.md``, ``entities/NAME.md`` or ``rubric.md``; a bare name is knowledge.

    Raises:
        InvalidArgument: the name or the text cannot be a file's.
        StoreBusy: another process is writing files of the agent.
    """
    named = file if "/" in file or file == RUBRIC_FILE else f"{KNOWLEDGE}/{file}"
    named = named if named.endswith(SUFFIX) else named + SUFFIX
    content = event.to_bytes(text) if isinstance(text, str) else text
    why = _unfit(content)
    if not is_followed(named) or why:
        raise InvalidArgument(
            f"expected a name such as knowledge/retry-policy.md, and a text of at most {BYTES_MAX:,} bytes in UTF-8; "
            f"got {file!r:.80}, {len(content):,} bytes{': it ' + why if why else ''}"
        )
    with small_files.alone(agent.folder / LOCK_FILE, wait_s=WAIT_S) as alone:
        if not alone:  # the file must not say what an older version said
            raise StoreBusy(f"another process writes files of agent {agent.name}; learn {named} again in a moment")
        follow(agent)  # an edit that stands there is in the log before it is overwritten
        now_s = moment.now().microseconds / 1e6
        change = _take(agent, named, content, versions(agent).get(named), now_s, by_user=False)
        _put(agent, named, content)
    return change


def restore(agent: AgentSpace, files: Collection[str] = ()) -> tuple[str, ...]:
    """Write files anew from the log that are not in the folder; what stands there stays.

    Args:
        files: only these, and also when they were deleted; none takes all that were not.

    Returns:
        The files that were written.

    Raises:
        Unresolvable: one of ``files`` has no version in the log.
    """
    known = versions(agent)
    for file in files:
        if file not in known:
            raise Unresolvable(f"the log has no version of {file!r} of agent {agent.name!r}; it has {len(known)} files")
    done = []
    for version in [known[file] for file in files] or [each for each in known.values() if not each.deleted]:
        address = next(iter(version.earlier), "") if version.deleted else version.pointer
        if os.path.lexists(agent.folder / version.file) or not address:
            continue
        content = agent.space.expand(address)
        if version.deleted:
            _take(agent, version.file, content, version, moment.now().microseconds / 1e6)  # it is a new version
        _put(agent, version.file, content)
        done.append(version.file)
    return tuple(done)


def remove(agent: AgentSpace, version: Version) -> bool:
    """Remove a file that stands as its version says, so that it does not count as deleted; False for another's.

    Raises:
        StoreError: it cannot be read or removed.
    """
    path = agent.folder / version.file
    if not path.is_file() or path.is_symlink() or _hash(small_files.read(path) or b"") != version.digest:
        return False
    small_files.remove(path)
    state = small_files.table(agent.folder / STATE_FILE)
    if state.pop(version.file, None) is not None:
        small_files.put_table(agent.folder / STATE_FILE, state)
    return True


def standing(agent: AgentSpace) -> Iterator[Path]:
    """Yield the plain Markdown files of an agent's folder, whoever wrote them, as far as they can be read whole."""
    for path in sorted(agent.folder.rglob(f"*{SUFFIX}")):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= small_files.BYTES_MAX:
            yield path


def drop_generated(agent: AgentSpace) -> None:
    """Remove the pages that earlier versions of Firsthand wrote here and nobody changed: each is a command now.

    Raises:
        StoreError: one cannot be removed.
    """
    written = small_files.table(agent.folder / GENERATED_FILE)
    for file, hashes in written.items():
        path = agent.folder / file
        plain = not Path(file).is_absolute() and ".." not in Path(file).parts and path.is_file()
        if plain and not is_followed(file) and _hash(small_files.read(path) or b"") in hashes:
            small_files.remove(path)
    for name in (GENERATED_FILE, "inbox.jsonl", ".names.json"):
        small_files.remove(agent.folder / name)


# events ----------------------------------------------------------------------------------------------------


def _take(
    agent: AgentSpace, file: str, content: bytes, before: Version | None, time_s: float, *, by_user: bool = True,
    record: bool = True,
) -> FileChange | None:  # fmt: skip
    """Append a version, unless the log's newest one has the same bytes."""
    digest, what = _hash(content), "new"
    if before is not None and not before.deleted:
        what = "changed"
        if before.digest == digest:
            return None
    if not record:
        return FileChange(file, what, time_s=time_s)
    author = author_of(agent, file, content, before.position if before is not None else 0, by_user=by_user)
    meta: dict[str, Any] = {FILE: file, DIGEST: digest, **_supersedes(before)}
    named = pointer.find(event.to_text(content)) if file == RUBRIC_FILE or author.origin == "agent" else []
    if named:
        meta[SOURCES] = list(dict.fromkeys(named))[:SOURCES_MAX]  # it quotes them: erasing one erases it too
    elif author.sources:
        meta[SOURCES] = list(author.sources)
    at = moment.parse(time_s)
    return FileChange(file, what, _append(agent, meta, content, at, author.origin, author.trust, before), time_s)


def _delete(agent: AgentSpace, before: Version, *, record: bool) -> FileChange:
    folder = next(parent for parent in (agent.folder / before.file).parents if parent.is_dir())
    meta = {FILE: before.file, DELETED: True, **_supersedes(before)}
    sentence = f"{before.file} was deleted.".encode()
    pointer = _append(agent, meta, sentence, None, "user", Trust.TRUSTED, before) if record else ""
    return FileChange(before.file, "deleted", pointer, folder.stat().st_mtime)


def _append(
    agent: AgentSpace, meta: Mapping[str, Any], content: bytes, at: Moment | None, origin: str, trust: Trust,
    before: Version | None,
) -> str:  # fmt: skip
    """Append a version under an id made of what it is: two who follow at once append it once."""
    key = (meta[FILE], str(meta.get(DIGEST, DELETED)), before.pointer if before is not None else "")
    identity = event.derived_id(None, b"file", agent.name.encode(), *(part.encode() for part in key))
    draft = Draft(
        Kind.NOTE, content, "text/markdown", meta, agent=agent.name, origin=origin, trust=trust, time=at, id=identity
    )
    try:
        agent.space.append([draft], session=agent.session)
    except IdConflict:  # somebody else followed the same edit, and saw another time of change
        assert agent.space.event(identity).meta.get(FILE) == meta[FILE], "an id is made of the file's name"
    return f"fh:{identity}"


def _supersedes(before: Version | None) -> dict[str, list[str]]:
    return {} if before is None else {SUPERSEDES: [before.pointer]}


# the folder ------------------------------------------------------------------------------------------------


def _put(agent: AgentSpace, file: str, content: bytes) -> None:
    """Write a file whose version is in the log, so that it counts as followed."""
    path = agent.folder / file
    small_files.write(path, content)
    state = small_files.table(agent.folder / STATE_FILE)
    small_files.put_table(agent.folder / STATE_FILE, state | {file: _signs(path.lstat())})


def _scan(folder: Path, left_out: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the files to follow with their signs, in order of their names; what else is there is told."""
    number = 0
    for path, status in _walk(folder / KNOWLEDGE, folder / ENTITIES, folder / RUBRIC_FILE):
        file = path.relative_to(folder).as_posix()
        why = _no_file(file, status)
        number += not why
        if not why and number > FILES_MAX:
            why = f"is over the {FILES_MAX:,} files that are followed"
        if why:
            left_out.append(f"{file.encode('utf-8', 'backslashreplace').decode()} {why}")
        else:
            yield file, _signs(status)


def _walk(*paths: Path, depth: int = 0) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield what stands at some paths and below, without what is hidden and editors' backups; follow no link."""
    for path in paths:
        try:
            status = path.lstat()
        except FileNotFoundError:  # not made yet, or gone since its folder was read
            continue
        if stat.S_ISDIR(status.st_mode) and depth <= DEPTH_MAX:
            inner = (each for each in sorted(path.iterdir()) if not each.name.startswith("."))
            yield from _walk(*(each for each in inner if not each.name.endswith(_BACKUPS)), depth=depth + 1)
        else:
            yield path, status


def _no_file(file: str, status: os.stat_result) -> str:
    """Say why something in the folder is not followed; empty when it is."""
    if stat.S_ISLNK(status.st_mode):
        return "is a link; links are not followed"
    if stat.S_ISDIR(status.st_mode):
        return f"lies more than {DEPTH_MAX} folders deep"
    if not stat.S_ISREG(status.st_mode):
        return "is no plain file"
    if not file.endswith(SUFFIX):
        return f"does not end in {SUFFIX}"
    if any("\ud800" <= sign <= "\udfff" for sign in file):
        return "has a name that is no UTF-8"
    if not is_followed(file):
        return f"has a name of more than {NAME_BYTES_MAX} bytes, or one that is none elsewhere"
    return f"has {status.st_size:,} bytes; at most {BYTES_MAX:,} are followed" if status.st_size > BYTES_MAX else ""


def _read(folder: Path, file: str, left_out: list[str]) -> bytes | None:
    """Read a file; None, and told, when its bytes are no text or it cannot be read."""
    try:
        content = small_files.beginning(folder / file, BYTES_MAX + 1, follow=False) or b""
    except OSError as error:
        left_out.append(f"{file} cannot be read: {error.strerror}")
        return None
    why = _unfit(content)
    if why:
        left_out.append(f"{file} {why}")
    return None if why else content


def _unfit(content: bytes) -> str:
    """Say why bytes cannot be a file's text; empty when they can."""
    if len(content) > BYTES_MAX:
        return f"has more than {BYTES_MAX:,} bytes"
    if b"\0" in content:
        return "is binary"
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return f"is no UTF-8 at byte {error.start:,}"
    return ""


def _signs(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
