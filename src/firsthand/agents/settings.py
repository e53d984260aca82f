"""What is switched on, for whom: by user and by project.

The later goes over the earlier:

    settings.json in the store's folder           the user's, for all projects
    .firsthand.json in the project's folder       whoever wrote the checkout: turns things off, no more
    "projects" in settings.json, a table by path  the user's, for a folder and all below it

A file that cannot be read changes nothing and is named in ``faults``: a switch must not
fail a hook, nor silently be another one than was written. The invariant: a project's
file is a stranger's. It names nobody, switches nothing on and the recording not off, and
no word of it stands in a fault, since a model may be told of that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from hashlib import blake2s
from pathlib import Path
from typing import Any

from firsthand.agents import small_files
from firsthand.answer import Band
from firsthand.errors import InvalidArgument
from firsthand.value import fields, replace, value

PROJECT_FILE = ".firsthand.json"
USER_FILE = "settings.json"
PROJECTS = "projects"
"""In the user's file: settings by the folder that they hold in."""
PROJECT_BYTES_MAX = 65_536
AGENT_BYTES_MAX = 200
"""Of a project's name in that of its agent."""


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
        hits_max: of implicit recall.
        band: how likely an answer of implicit recall has to be to be shown: ``likely``, ``possible`` or ``unlikely``.
        preamble_tokens_max, cues_tokens_max: sizes.
        tools: the hosts that have Firsthand's tools (its MCP server); to others none is named unasked.
        redact: replace a secret by its sort and a keyed hash before it is written.
        ignore_projects, ignore_paths, ignore_tools: patterns (``*``, ``?``) of what is not recorded.
        pause_word: a prompt that begins with it is off the record; empty for none.
        disk_budget_mb: from here on `doctor` and `store size` warn; 0 for no budget. Nothing is removed by itself.
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
    hits_max: int = 3
    band: Band = Band.LIKELY
    preamble_tokens_max: int = 1_500
    cues_tokens_max: int = 80
    redact: bool = False
    ignore_projects: tuple[str, ...] = ()
    ignore_paths: tuple[str, ...] = ()
    ignore_tools: tuple[str, ...] = ()
    pause_word: str = ""
    tools: tuple[str, ...] = ()
    disk_budget_mb: int = 10_000
    faults: tuple[str, ...] = ()


SWITCHES = tuple(name for name in fields(Settings) if isinstance(getattr(Settings(), name), bool))
"""The settings that are on or off."""
THEIRS = tuple(name for name in SWITCHES if name not in {"record", "redact"})
"""What a project's file may turn off."""


def load(store: Path, cwd: str = "") -> Settings:
    """Read the settings that hold in a folder."""
    place = user_file(store)
    members, faults = _object(place)
    tables = members.pop(PROJECTS, {})
    chosen = _over(replace(Settings(), faults=faults), place, members)
    if cwd:
        chosen = _of_project(chosen, project_of(Path(cwd)) / PROJECT_FILE, place)
        chosen = _of_tables(chosen, place, tables, cwd)
        folder = str(project_of(Path(os.path.realpath(cwd))))
        if any(fnmatchcase(folder, pattern) for pattern in chosen.ignore_projects):
            chosen = replace(chosen, record=False)
    return chosen


def switch(place: Path, name: str, *, on: bool, project: Path | None = None) -> None:
    """Turn a mechanism on or off in a settings file of the user; what else it holds stays.

    Args:
        place: a `user_file`.
        project: for the project that this folder belongs to.

    Raises:
        InvalidArgument: there is no such switch, or the file holds no JSON object, or no table of projects.
        StoreError: it cannot be written.
    """
    if name not in SWITCHES:
        raise InvalidArgument(f"expected one of the switches {', '.join(SWITCHES)}; got {name!r}")
    members = table = _members(place)
    if project is not None:
        tables = members.setdefault(PROJECTS, {})
        table = tables.setdefault(_key(project), {}) if isinstance(tables, dict) else []
        if not isinstance(table, dict):
            raise InvalidArgument(
                f'expected "{PROJECTS}" in {USER_FILE} as {{"/folder": {{"recall": false}}}}; mend it'
            )
    table[name] = on
    _write(place, members)


def set_tools(place: Path, host: str, *, on: bool) -> None:
    """Say in a user's file whether a host has Firsthand's tools; what else it holds stays.

    Raises:
        InvalidArgument: the file holds no JSON object.
        StoreError: it cannot be written.
    """
    members = _members(place)
    before = members.get("tools", [])
    hosts = {*before} if isinstance(before, list) else set()
    after = sorted(hosts | {host} if on else hosts - {host})
    if after == before:
        return
    members = {**members, "tools": after}
    if not after:
        del members["tools"]
    if members:
        _write(place, members)
    else:
        small_files.remove(place)


def user_file(store: Path) -> Path:
    """Give the file with the user's switches, for all projects and by project."""
    return store / USER_FILE


def project_of(cwd: Path) -> Path:
    """Give the project's folder: the nearest one above that is under version control, else the folder itself."""
    return next((folder for folder in (cwd, *cwd.parents) if os.path.lexists(folder / ".git")), cwd)


def agent_of(cwd: str) -> str:
    """Name the agent of a folder: the project's name, and six signs that tell it from others of that name."""
    folder = project_of(Path(cwd)) if cwd else Path("unknown")
    name = os.fsdecode(os.fsencode(folder.name)[:AGENT_BYTES_MAX])  # a folder of the agent's gets a name like it
    return f"{name or 'root'}-{blake2s(str(folder).encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def _members(place: Path) -> dict[str, Any]:
    """Read a settings file of the user's, to change it."""
    data = small_files.read(place)
    try:
        members = json.loads(data) if data and data.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"expected a JSON object in {place}; got {error}. Mend or remove the file.") from error
    if not isinstance(members, dict):
        raise InvalidArgument(f"expected a JSON object in {place}; got {str(members)[:40]!r}. Mend or remove the file.")
    return members


def _write(place: Path, members: Mapping[str, Any]) -> None:
    small_files.write(place, (json.dumps(members, indent=2, ensure_ascii=False) + "\n").encode())


def _of_project(below: Settings, place: Path, mine: Path) -> Settings:
    """Let a project's file turn things off; what else stands in it changes nothing, and is counted."""
    members, faults = _object(place, theirs=True)
    off = [name for name in THEIRS if members.get(name) is False]
    strange = len(members) - len(off)
    if strange:
        why = (
            f"{place} may come with a checkout, so it only turns things off ({', '.join(THEIRS)}): {strange} of "
            f'{len(members)} entries change nothing. What you want of them stands in {mine}, under "{PROJECTS}" and '
            "the folder: firsthand agent switch NAME on --project ."
        )
        faults = (*faults, why)
    return replace(below, **dict.fromkeys(off, False), faults=(*below.faults, *faults))


def _of_tables(below: Settings, place: Path, tables: Any, cwd: str) -> Settings:
    """Lay over others what the user chose for folders, the nearest last."""
    if not isinstance(tables, dict):
        return replace(below, faults=(*below.faults, f'{place}: expected "{PROJECTS}" as a table by folder'))
    here = Path(os.path.realpath(cwd)) if tables else Path()
    chosen = below
    for folder in (*reversed(here.parents), here):
        table = tables.get(str(folder), {})
        if isinstance(table, dict):
            chosen = _over(chosen, place, table)
        else:
            chosen = replace(chosen, faults=(*chosen.faults, f"{place}: expected an object for {folder}"))
    return chosen


def _key(project: Path) -> str:
    """Name a project as the user's table does; a link to a folder is that folder."""
    return str(project_of(Path(os.path.realpath(project))))


def _object(place: Path, *, theirs: bool = False) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a settings file, and say why it cannot be read; of a stranger's nothing is repeated."""
    most = PROJECT_BYTES_MAX if theirs else small_files.BYTES_MAX
    try:
        data = small_files.beginning(place, most + 1, follow=False)
        members = {} if data is None else json.loads(data) if len(data) <= most else None
    except OSError as error:
        return {}, (f"{place} cannot be read: {error.strerror}. It changes nothing.",)
    except (ValueError, RecursionError) as error:
        why = "it is no JSON" if theirs else str(error)
        return {}, (f"{place} cannot be read: {why}. It changes nothing.",)
    if not isinstance(members, dict):
        return {}, (f"{place} holds no JSON object of at most {most:,} bytes. It changes nothing.",)
    return members, ()


def _over(below: Settings, place: Path, members: Mapping[str, Any]) -> Settings:
    """Lay what a file of the user's says over other settings; what it cannot say is named."""
    changes: dict[str, Any] = {}
    faults = []
    kinds = {name: type(getattr(Settings(), name)) for name in fields(Settings) if name != "faults"}
    for name, setting in members.items():
        wanted = kinds.get(name)
        if wanted is None:
            faults.append(f"{place} names {name!r}, which is no setting: {', '.join(kinds)}")
        elif wanted is tuple and isinstance(setting, list) and all(isinstance(item, str) for item in setting):
            changes[name] = tuple(setting)
        elif wanted is Band and setting in [*Band]:
            changes[name] = Band(setting)
        elif wanted is Band:
            faults.append(f"{place}: expected {name} as one of {', '.join(Band)}; got {setting!r:.60}")
        elif not isinstance(setting, wanted) or (wanted is not bool and isinstance(setting, bool)):
            faults.append(f"{place}: expected {name} as {wanted.__name__}; got {setting!r:.60}")
        else:
            changes[name] = setting
    return replace(below, **changes, faults=(*below.faults, *faults))
