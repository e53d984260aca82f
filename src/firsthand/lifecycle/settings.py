"""What is switched on, for whom: by user, by project, by session.

Three files, the later over the earlier: ``settings.json`` in the store's folder,
``.firsthand.json`` in the project's, ``hooks/sessions/<session>.json`` in the
store's. A file that cannot be read changes nothing and is named in ``faults``: a
switch must not fail a hook, nor silently be another one than was written. A project's
file may come with a checkout: it neither opens what other agents remember nor has programs run (`USERS`).
A memory sleeps as a whole: no session's file says whether it does (`WHOLE`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from firsthand.errors import InvalidArgument
from firsthand.hashing import blake2s
from firsthand.lifecycle import small_files
from firsthand.value import fields, replace, value

PROJECT_FILE = ".firsthand.json"
USER_FILE = "settings.json"
USERS = ("across", "sleep", "consolidate")
"""Switches that open other agents' memory, or let work be done unasked; a project's file turns none of them on."""
WHOLE = ("sleep", "sleep_at", "consolidate")
"""Settings of all of an agent's memory; the file of one session does not change them."""
BYTES_MAX = 65_536
SESSIONS_FOLDER = ("hooks", "sessions")
NAME_CHARACTERS_MAX = 200
"""Of a session's name in that of its file."""


@value
class Settings:
    """The switches and sizes of what happens unasked.

    Attributes:
        agent: its name; empty takes the project's (`agent_of`).
        record: keep what happens in a session at all.
        preamble, cues, recall, actions, episodes: each of the mechanisms.
        tool_output: put a preview with a pointer in the place of a large tool result (Claude Code).
        across: recall from the sessions of other agents in the namespace too.
        inbox: take messages of other agents in the namespace.
        sleep: the memory sleeps once a day, when the daemon is idle, not before ``sleep_at`` (local time).
        consolidate: a sleep also keeps rules that pass the gate.
        hits_max: of implicit recall.
        cost: of a wrong reminder, beside a missed one; the threshold is cost / (1 + cost).
        preamble_tokens_max, cues_tokens_max: sizes.
        faults: what could not be read, a sentence each.
    """

    agent: str = ""
    record: bool = True
    preamble: bool = True
    cues: bool = True
    recall: bool = True
    actions: bool = True
    episodes: bool = True
    tool_output: bool = False
    across: bool = False
    inbox: bool = False
    sleep: bool = False
    sleep_at: str = "03:30"
    consolidate: bool = False
    hits_max: int = 3
    cost: float = 3.0
    preamble_tokens_max: int = 1_500
    cues_tokens_max: int = 80
    faults: tuple[str, ...] = ()


SWITCHES = tuple(name for name in fields(Settings) if isinstance(getattr(Settings(), name), bool))
"""The settings that are on or off."""


def load(store: Path, cwd: str = "", session: str = "") -> Settings:
    """Read the settings that hold for a session in a folder."""
    found = _over(Settings(), store / USER_FILE)
    if cwd:
        found = _of_project(found, project_of(Path(cwd)) / PROJECT_FILE)
    return _of_session(found, session_file(store, session)) if session else found


def switch(place: Path, name: str, *, on: bool) -> Settings:
    """Turn a mechanism on or off in a settings file; what else it holds stays.

    Args:
        place: one of `user_file`, `project_file` and `session_file`.

    Returns:
        What that file alone says.

    Raises:
        InvalidArgument: there is no such switch, it is not a project's to turn on or a session's to turn, or the file
            holds no JSON object.
        StoreError: it cannot be written.
    """
    if name not in SWITCHES:
        raise InvalidArgument(f"expected one of the switches {', '.join(SWITCHES)}; got {name!r}")
    if on and name in USERS and place.name == PROJECT_FILE:
        raise InvalidArgument(f"{_not_of_a_project(place, name)}; got a project's file")
    is_of_session = place.parent.parts[-2:] == SESSIONS_FOLDER and place.name != PROJECT_FILE
    if name in WHOLE and is_of_session:
        raise InvalidArgument(f"{_not_of_a_session(name)}; got the file of one session")
    data = small_files.read(place)
    try:
        told = json.loads(data) if data and data.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"expected a JSON object in {place}; got {error}. Mend or remove the file.") from error
    if not isinstance(told, dict):
        raise InvalidArgument(f"expected a JSON object in {place}; got {str(told)[:40]!r}. Mend or remove the file.")
    small_files.write(place, (json.dumps({**told, name: on}, indent=2, ensure_ascii=False) + "\n").encode())
    return _over(Settings(), place)


def user_file(store: Path) -> Path:
    """Give the file with the switches of all projects of a user."""
    return store / USER_FILE


def project_file(folder: Path) -> Path:
    """Give the file with the switches of the project that a folder belongs to."""
    return project_of(folder.absolute()) / PROJECT_FILE


def session_file(store: Path, session: str) -> Path:
    """Give the file with the switches of one session."""
    name = quote(session, safe="", errors="surrogateescape")
    if len(name) > NAME_CHARACTERS_MAX:  # no file may have it whole, and another session may begin like it
        name = f"{name[:NAME_CHARACTERS_MAX]}-{blake2s(session.encode('utf-8', 'surrogateescape')).hex()[:16]}"
    return store.joinpath(*SESSIONS_FOLDER, f"{name}.json")


def project_of(cwd: Path) -> Path:
    """Give the project's folder: the nearest one above that is under version control, else the folder itself."""
    for one in (cwd, *cwd.parents):
        if (one / ".git").exists():
            return one
    return cwd


def agent_of(cwd: str) -> str:
    """Name the agent of a folder: the project's name, and six signs that tell it from others of that name."""
    folder = project_of(Path(cwd)) if cwd else Path("unknown")
    return f"{folder.name or 'root'}-{blake2s(str(folder).encode('utf-8', 'surrogateescape')).hex()[:6]}"


def _of_project(below: Settings, place: Path) -> Settings:
    """Lay a project's settings over the user's; whoever wrote the checkout switches none of `USERS` on by it."""
    found = _over(below, place)
    theirs = [one for one in USERS if getattr(found, one) and not getattr(below, one)]
    faults = (f"{_not_of_a_project(place, one)}. It changes nothing." for one in theirs)
    return replace(found, **dict.fromkeys(theirs, False), faults=(*found.faults, *faults)) if theirs else found


def _of_session(below: Settings, place: Path) -> Settings:
    """Lay a session's settings over the others; what is of all of a memory stays as those have it."""
    found = _over(below, place)
    theirs = [one for one in WHOLE if getattr(found, one) != getattr(below, one)]
    faults = (f"{place}: {_not_of_a_session(one)}. It changes nothing." for one in theirs)
    held = {one: getattr(below, one) for one in theirs}
    return replace(found, **held, faults=(*found.faults, *faults)) if theirs else found


def _not_of_a_session(name: str) -> str:
    return (
        f"expected {name} of all of an agent's memory, from the user (firsthand switch {name.removesuffix('_at')} on) "
        "or a project (off, with --project)"
    )


def _not_of_a_project(place: Path, name: str) -> str:
    return (
        f"expected {name} to be switched on by the user, since {place} may come with a checkout: "
        f"firsthand switch {name} on{'' if name in WHOLE else ', or with --session'}"
    )


def _over(below: Settings, place: Path) -> Settings:
    """Lay the settings of a file over others; what it cannot say is named."""
    try:
        with place.open("rb") as file:
            told = json.loads(file.read(BYTES_MAX))
    except FileNotFoundError:
        return below
    except (OSError, ValueError, RecursionError) as error:
        return replace(below, faults=(*below.faults, f"{place} cannot be read: {error}. It changes nothing."))
    if not isinstance(told, dict):
        return replace(below, faults=(*below.faults, f"{place} holds no JSON object. It changes nothing."))
    changes: dict[str, Any] = {}
    faults = []
    kinds = {one: type(getattr(Settings(), one)) for one in fields(Settings) if one != "faults"}
    for name, given in told.items():
        wanted = kinds.get(name)
        if wanted is None:
            faults.append(f"{place} names {name!r}, which is no setting: {', '.join(kinds)}")
        elif not isinstance(given, (int, float) if wanted is float else wanted) or (
            wanted is not bool and isinstance(given, bool)
        ):
            faults.append(f"{place}: expected {name} as {wanted.__name__}; got {given!r:.60}")
        else:
            changes[name] = given
    return replace(below, **changes, faults=(*below.faults, *faults))
