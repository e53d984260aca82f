"""The files of an agent that people read and edit: followed into the log, and written anew from it.

    knowledge/*.md   entities/*.md   rubric.md      a person's (or `learn`'s); every edit becomes an event
    preamble.md   digest.md   sleep.md   episodes/*.md   digest/*.md
                                                    written by us; what a person made of one is kept and left alone

Each version is a note in the agent's own session with the exact bytes; its meta names
the file and the version that it takes the place of, so recall puts the newest first.
A deletion is an event too. The invariant: no edit is overwritten before it is in the
log; what is in the log can be restored; what cannot be followed is told, and why; what we
wrote is never taken for a person's, whoever writes beside us or dies in between.

A file counts as deleted only when it stood there at the last following
(`.followed.json`, disposable): a folder that is lost is no deletion.

It does not know what is in the files.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from firsthand import event, moment, pointer
from firsthand.agent_space import AgentSpace
from firsthand.agents import small_files
from firsthand.agents.authors import author_of
from firsthand.errors import IdConflict, InvalidArgument, StoreBusy, Unresolvable
from firsthand.event import Draft, Kind, Trust
from firsthand.log.disk import make_private
from firsthand.moment import Moment
from firsthand.notes.sources import FILE, SOURCES
from firsthand.notes.writer import SOURCES_MAX
from firsthand.unasked.volunteer import Unasked
from firsthand.value import value

KNOWLEDGE, ENTITIES, EPISODES = "knowledge", "entities", "episodes"
RUBRIC_FILE, PREAMBLE_FILE = "rubric.md", "preamble.md"
OLD_FILES = ("inbox.jsonl", ".names.json")
"""Of the first edition; an erasure removes them."""
DIGEST_FOLDER, DIGEST_FILE, SLEEP_FILE = "digest", "digest.md", "sleep.md"
_FILES = (RUBRIC_FILE, PREAMBLE_FILE, DIGEST_FILE, SLEEP_FILE)
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
LOCK_WAIT_S = 0.2
"""So long a session's start waits while another process writes an agent's files."""
LEARN_WAIT_S = 5.0
"""So long whoever writes a piece of knowledge does."""
TOLD_MAX = 50
"""Sentences on what was not followed; how many more there are is said."""
DIGEST, DELETED = "sha256", "deleted"
SUPERSEDES = "supersedes"
"""Facts in a version's meta beside its file: the hash of its bytes, that it is gone, what it takes the place of."""
STATE_FILE = ".followed.json"
WRITTEN_FILE = ".written.json"
LOCK_FILE = ".lock"
"""What serves us in the folder; all of it can be deleted at any time."""


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
    """One file that was followed: ``new``, ``changed`` or ``deleted``."""

    file: str
    what: str
    pointer: str


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


@value
class Unfollowed:
    """In what a folder is not what the log has of it.

    Attributes:
        edited: files whose bytes are not in the log, and when each was changed, in seconds since 1970.
        deleted: files that are gone, and of which the log does not know it.
        left_out: sentences on what is there and cannot be followed.
    """

    edited: tuple[tuple[str, float], ...]
    deleted: tuple[str, ...]
    left_out: tuple[str, ...]


@value
class Written:
    """What came of writing a file of ours.

    Attributes:
        written: False when a person's own version stands there.
        why: then a sentence that says so.
    """

    file: str
    written: bool
    why: str = ""


@value
class _Found:
    """A regular file in the folder."""

    file: str
    path: Path
    signs: tuple[int, int, int]  # size, time of change, inode: the same ones, the same file


@value
class _Seen:
    """The folder beside what it was at the last following."""

    present: Mapping[str, _Found]
    state: dict[str, list[Any]]
    moved: tuple[_Found, ...]
    gone: tuple[str, ...]


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


def follow(agent: AgentSpace) -> Followed:
    """Take what a person edited in the agent's folder into the log.

    Files whose size, time and inode are those of the last time are not read again.
    """
    left_out: list[str] = []
    seen = _look(agent, left_out)
    changes: list[FileChange] = []
    state = {file: signs for file, signs in seen.state.items() if file in seen.present}
    if seen.moved or seen.gone:
        known = versions(agent)
        for file_there in seen.moved:
            content = _read(file_there, left_out)
            if content is None:
                continue
            state[file_there.file] = list(file_there.signs)
            if _is_ours(agent, file_there.file, content):  # the marks of what the ledger takes out are no version
                continue
            change = _take(agent, file_there.file, content, known.get(file_there.file), _changed_at(file_there))
            changes += [change] if change is not None else []
        for file in seen.gone:
            if file in known and not known[file].deleted:
                changes.append(_delete(agent, known[file]))
    if state != seen.state and not agent.space.read_only:
        _write_state(agent.folder / STATE_FILE, state)
    named = left_out[:TOLD_MAX]
    named += [f"{len(left_out) - TOLD_MAX:,} more files were not followed"] if len(left_out) > TOLD_MAX else []
    return Followed(tuple(changes), len(state), tuple(named))


def learn(agent: AgentSpace, file: str, text: str | bytes, *, by_user: bool = False) -> FileChange | None:
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
    with small_files.alone(agent.folder / LOCK_FILE, wait_s=LEARN_WAIT_S) as alone:
        if not alone:  # the file must not say what an older version said
            raise StoreBusy(f"another process writes files of agent {agent.name}; learn {named} again in a moment")
        follow(agent)  # an edit that stands there is in the log before it is overwritten
        change = _take(agent, named, content, versions(agent).get(named), moment.now(), by_user=by_user)
        put(agent, named, content)
    return change


def put(agent: AgentSpace, file: str, content: bytes, *, ours: bool = False) -> None:
    """Write a followed file so that it counts as followed: its version is in the log, or it has marks of ours."""
    path = agent.folder / file
    if ours:
        _write_state(agent.folder / WRITTEN_FILE, _read_state(agent.folder / WRITTEN_FILE) | {file: [_hash(content)]})
    _write(agent.folder, path, content)
    state = _read_state(agent.folder / STATE_FILE)
    state[file] = list(_signs(path.lstat()))
    _write_state(agent.folder / STATE_FILE, state)


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
    wanted = (
        [known[file] for file in files] if files else [version for version in known.values() if not version.deleted]
    )
    state = _read_state(agent.folder / STATE_FILE)
    done = []
    for version in wanted:
        path = agent.folder / version.file
        address = next(iter(version.earlier), "") if version.deleted else version.pointer
        if os.path.lexists(path) or not address:
            continue
        _write(agent.folder, path, agent.space.expand(address))
        state.pop(version.file, None)  # it is followed anew: a deleted file that is back is a new version
        done.append(version.file)
    if done:
        _write_state(agent.folder / STATE_FILE, state)
        follow(agent)
    return tuple(done)


def unfollowed(agent: AgentSpace) -> Unfollowed:
    """Say in what an agent's folder is not what the log has of it; changes neither.

    Raises:
        StoreFailed: the folder cannot be read.
    """
    left_out: list[str] = []
    seen = _look(agent, left_out)
    known = versions(agent) if seen.moved or seen.gone else {}
    edited = []
    for file_there in seen.moved:
        content, before = _read(file_there, left_out), known.get(file_there.file)
        if content is not None and (before is None or before.digest != _hash(content)):
            edited.append((file_there.file, file_there.signs[1] / 1e9))
    deleted = tuple(file for file in seen.gone if file in known and not known[file].deleted)
    return Unfollowed(tuple(edited), deleted, tuple(left_out))


def standing(agent: AgentSpace) -> Iterator[Path]:
    """Yield the plain Markdown files of an agent's folder, followed ones and ours, as far as they can be read whole."""
    for name in (*FOLDERS, EPISODES, DIGEST_FOLDER, *_FILES):
        for path, status in _walk(agent.folder / name, 0, []):
            fits = stat.S_ISREG(status.st_mode) and status.st_size <= small_files.BYTES_MAX
            if fits and path.suffix == SUFFIX:
                yield path


def written_by_us(agent: AgentSpace, file: str) -> bool | None:
    """Say whether a generated file stands as it was last written; None when it does not stand there.

    Raises:
        StoreError: it cannot be read.
    """
    path = agent.folder / file
    if not os.path.lexists(path):
        return None
    content = _standing(path)
    return content is not None and _is_ours(agent, file, content)


# files of ours -------------------------------------------------------------------------------------------


def write_ours(agent: AgentSpace, file: str, text: Unasked) -> Written:
    """Write a file that is generated, unless a person has changed it: then theirs goes into the log, and stays.

    To have it generated again, its file is deleted. While another process writes one nothing is written.
    """
    with small_files.alone(agent.folder / LOCK_FILE, wait_s=LOCK_WAIT_S) as alone:
        if alone:
            return _write_ours(agent, file, event.to_bytes(text))
    why = f"another process writes files of {agent.name}; {agent.folder / file} is written the next time"
    return Written(file, written=False, why=why)


def _write_ours(agent: AgentSpace, file: str, content: bytes) -> Written:
    path = agent.folder / file
    stands = os.path.lexists(path)
    theirs = _standing(path) if stands else None
    if stands:
        if theirs == content:
            return Written(file, written=True)
        if theirs is None or not _is_ours(agent, file, theirs):
            if theirs is not None and not _unfit(theirs):
                _keep_theirs(agent, file, theirs)
            return Written(
                file, written=False, why=f"{path} was changed by hand and stays so; delete it to have it anew"
            )
    # What is about to stand there is known as ours before it does: a crash between the two makes it nobody else's.
    ours = _read_state(agent.folder / WRITTEN_FILE)
    ours[file] = [*ours.get(file, [])[-1:], _hash(content)]
    _write_state(agent.folder / WRITTEN_FILE, ours)
    if _write(agent.folder, path, content, lambda: (_standing(path) if os.path.lexists(path) else None) == theirs):
        return Written(file, written=True)
    return _write_ours(agent, file, content)  # a person saved theirs in this very moment


def remove_written(agent: AgentSpace, file: str) -> None:
    """Remove a file, and that it was ever written or followed: its name may say what was erased.

    Raises:
        StoreError: it cannot be removed.
    """
    small_files.remove(agent.folder / file)
    for state_file in (WRITTEN_FILE, STATE_FILE):
        state = _read_state(agent.folder / state_file)
        if state.pop(file, None) is not None:
            _write_state(agent.folder / state_file, state)


def _standing(path: Path) -> bytes | None:
    """Read what stands in the place of a generated file, no further than such a one goes; None for a link or folder."""
    with small_files.ours(f"read {path}"):
        return small_files.beginning(path, BYTES_MAX + 1) if stat.S_ISREG(path.lstat().st_mode) else None


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()


def _is_ours(agent: AgentSpace, file: str, content: bytes) -> bool:
    return _hash(content) in _read_state(agent.folder / WRITTEN_FILE).get(file, [])


def _keep_theirs(agent: AgentSpace, file: str, content: bytes) -> None:
    digest = _hash(content)
    identity = event.derived_id(None, b"edited", agent.name.encode(), file.encode(), digest.encode())
    meta = {"edited": file, DIGEST: digest}
    # A person edited it, and it still says what tools and other agents said: it is believed no further than those.
    draft = Draft(Kind.NOTE, content, "text/markdown", meta, origin="user", trust=Trust.UNTRUSTED, id=identity)
    agent.space.append([draft], session=agent.session)


# events ----------------------------------------------------------------------------------------------------


def _take(
    agent: AgentSpace, file: str, content: bytes, before: Version | None, at: Moment | None, *, by_user: bool = True
) -> FileChange | None:
    """Append a version, unless the log's newest one has the same bytes."""
    digest = _hash(content)
    if before is not None and not before.deleted and before.digest == digest:
        return None
    author = author_of(agent, file, content, before.position if before is not None else 0, by_user=by_user)
    what = "changed" if before is not None and not before.deleted else "new"
    meta: dict[str, Any] = {FILE: file, DIGEST: digest, **_supersedes(before)}
    named = pointer.find(event.to_text(content)) if file == RUBRIC_FILE or author.origin == "agent" else []
    if named:
        meta[SOURCES] = list(dict.fromkeys(named))[:SOURCES_MAX]  # it quotes them: erasing one erases it too
    elif author.sources:
        meta[SOURCES] = list(author.sources)
    return FileChange(file, what, _append(agent, meta, content, at, author.origin, author.trust, before))


def _delete(agent: AgentSpace, before: Version) -> FileChange:
    meta = {FILE: before.file, DELETED: True, **_supersedes(before)}
    sentence = f"{before.file} was deleted.".encode()
    return FileChange(before.file, "deleted", _append(agent, meta, sentence, None, "user", Trust.TRUSTED, before))


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


def _look(agent: AgentSpace, left_out: list[str]) -> _Seen:
    """Compare the folder with what was seen at the last following."""
    with small_files.ours(f"look through {agent.folder}"):
        present = {file_there.file: file_there for file_there in _scan(agent.folder, left_out)}
    state = _read_state(agent.folder / STATE_FILE)
    moved = tuple(file_there for file_there in present.values() if state.get(file_there.file) != list(file_there.signs))
    gone = tuple(file for file in state if file not in present and is_followed(file))
    return _Seen(present, state, moved, gone)


def _scan(folder: Path, left_out: list[str]) -> Iterator[_Found]:
    """Yield the files to follow, in order of their names; what is there and is none of them is told."""
    number = 0
    for name in (*FOLDERS, RUBRIC_FILE):
        for path, status in _walk(folder / name, 0, left_out):
            file = path.relative_to(folder).as_posix()
            why = _no_file(file, status)
            number += not why
            if not why and number > FILES_MAX:
                why = f"is over the {FILES_MAX:,} files that are followed"
            if why:
                left_out.append(f"{file.encode('utf-8', 'backslashreplace').decode()} {why}")
            else:
                yield _Found(file, path, _signs(status))


def _walk(path: Path, depth: int, left_out: list[str]) -> Iterator[tuple[Path, os.stat_result]]:
    try:
        status = path.lstat()
    except FileNotFoundError:  # not made yet, or gone since its folder was read
        return
    if not stat.S_ISDIR(status.st_mode):
        if depth or path.name in _FILES or stat.S_ISLNK(status.st_mode):
            yield path, status
        return
    if depth > DEPTH_MAX:
        left_out.append(f"{path.name} lies more than {DEPTH_MAX} folders deep")
        return
    for inner in sorted(path.iterdir()):
        if not inner.name.startswith(".") and not inner.name.endswith(("~", ".swp", ".tmp")):
            yield from _walk(inner, depth + 1, left_out)


def _no_file(file: str, status: os.stat_result) -> str:
    """Say why something in the folder is not followed; empty when it is."""
    if stat.S_ISLNK(status.st_mode):
        return "is a link; links are not followed"
    if not stat.S_ISREG(status.st_mode):
        return "is no plain file"
    if not file.endswith(SUFFIX):
        return f"does not end in {SUFFIX}"
    if any("\ud800" <= sign <= "\udfff" for sign in file):
        return "has a name that is no UTF-8"
    if not is_followed(file):
        return f"has a name of more than {NAME_BYTES_MAX} bytes, or one that is none elsewhere"
    return f"has {status.st_size:,} bytes; at most {BYTES_MAX:,} are followed" if status.st_size > BYTES_MAX else ""


def _read(file_there: _Found, left_out: list[str]) -> bytes | None:
    """Read a file; None, and told, when its bytes are no text or it cannot be read."""
    try:
        handle = os.open(file_there.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        left_out.append(f"{file_there.file} cannot be read: {error.strerror}")
        return None
    why = _unfit(content)
    if why:
        left_out.append(f"{file_there.file} {why}")
        return None
    return content


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


def _signs(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino


def _changed_at(file_there: _Found) -> Moment | None:
    return moment.parse(file_there.signs[1] / 1e9)


def _write(folder: Path, path: Path, content: bytes, still: Callable[[], bool] = lambda: True) -> bool:
    """Write a file whole or not at all, and nowhere but in the folder."""
    with small_files.ours(f"write {path}"):
        make_private(path.parent)
        inside = path.parent.resolve().is_relative_to(folder.resolve())
    if not inside:
        raise InvalidArgument(f"{path} leads out of the agent's folder by a link; put a plain folder in its place")
    return small_files.write(path, content, still=still)


def _read_state(path: Path) -> dict[str, list[Any]]:
    """Read what was seen last; empty when it was lost, and then all files are read again."""
    try:
        state = json.loads(small_files.beginning(path, BYTES_MAX) or b"")
    except (OSError, ValueError):  # lost or torn: it only saves work, and says what was there
        state = {}
    return {k: v for k, v in state.items() if isinstance(v, list)} if isinstance(state, dict) else {}


def _write_state(path: Path, state: Mapping[str, Any]) -> None:
    _write(path.parent, path, json.dumps(state, sort_keys=True).encode())
