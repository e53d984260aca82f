"""Which hosts on this machine run hooks of ours, at which events, by which command.

Read from the settings files of the hosts, whose places it knows from
`hosts.hook_settings`. The invariant: a file that cannot be read, or that Firsthand
would not change, is told as such; it is not taken for one without hooks.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from firsthand.errors import FormatError
from firsthand.hosts.hook_settings import SETTINGS, HookSettings, Told, settings_of, told_of_ours
from firsthand.value import value

FILE_BYTES_MAX = 16 * 1024 * 1024
NOT_READ = Told((), ())


@value
class Installed:
    """What one settings file tells one host of ours.

    Attributes:
        host: its name.
        where: the settings file.
        scope: ``user`` or ``project``.
        events: the host's own names of the events at which ours run, sorted; empty: not installed here.
        command: what runs; several that differ are joined by ``; ``.
        current: every event that this version wants is there, by one command whose program and script exist.
        fault: why the file could not be read; empty when it could, or is not there.
    """

    host: str
    where: Path
    scope: str
    events: tuple[str, ...] = ()
    command: str = ""
    current: bool = False
    fault: str = ""


def installed(
    home: Path, project: Path | None = None, folders: Mapping[str, Path] | None = None
) -> tuple[Installed, ...]:
    """Tell of every host's settings file of the user, and of a project's, that is there.

    Args:
        home: the user's.
        project: its folder.
        folders: those that the hosts' own variables name (`environment.host_folders`).
    """
    return tuple(_look(*place) for place in _places(home, project, folders or {}) if place[1].exists())


def settings_file(
    host: str, home: Path, project: Path | None = None, folders: Mapping[str, Path] | None = None
) -> Path | None:
    """Give the file in which a host is told of hooks, of the user or of a project; None: it has none of the user's.

    Raises:
        InvalidArgument: no host has this name.
    """
    settings = settings_of(host)
    if project is not None:
        return project / settings.project
    return host_folder(host, home, folders) / settings.user if settings.user else None


def host_folder(host: str, home: Path, folders: Mapping[str, Path] | None = None) -> Path:
    """Give the folder of the user's in which a host keeps its own; it is there when the host was ever used.

    Raises:
        InvalidArgument: no host has this name.
    """
    settings = settings_of(host)
    return (folders or {}).get(settings.variable) or home / settings.folder


def _places(home: Path, project: Path | None, folders: Mapping[str, Path]) -> Iterator[tuple[HookSettings, Path, str]]:
    for settings in SETTINGS.values():
        of_user = settings_file(settings.host, home, None, folders)
        if of_user is not None:
            yield settings, of_user, "user"
        if project is not None:
            yield settings, project / settings.project, "project"


def _look(settings: HookSettings, where: Path, scope: str) -> Installed:
    try:
        with where.open("rb") as file:
            told = told_of_ours(file.read(FILE_BYTES_MAX).decode("utf-8-sig"))
    except (OSError, ValueError, FormatError) as error:
        return Installed(settings.host, where, scope, fault=f"{where} cannot be read: {error}")
    current = (
        set(told.events) >= {line.event for line in settings.lines}
        and len(told.commands) == 1
        and _runs(told.commands[0])
    )
    return Installed(settings.host, where, scope, told.events, "; ".join(told.commands), current)


def _runs(command: str) -> bool:
    """Say whether the program of a command and its script are there; false for what no shell could read."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    paths = [Path(word) for number, word in enumerate(words) if number == 0 or word.endswith("hook_client.py")]
    return bool(paths) and all(path.exists() or path.name == str(path) for path in paths)
