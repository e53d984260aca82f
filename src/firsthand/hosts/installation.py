"""Which hosts on this machine run hooks of ours, at which events, by which command.

Read from the settings files of the hosts, whose places it knows from `host_table`. The
invariant: a file that cannot be read, or that Firsthand would not change, is told as such; it
is not taken for one without hooks.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which
from typing import Any

from firsthand.errors import FormatError
from firsthand.hosts import jsonc
from firsthand.hosts.codex_trust import Held, held
from firsthand.hosts.host_table import HOSTS, HostProgram, host_program
from firsthand.hosts.registration import EARLIER, hooks_of_ours
from firsthand.value import value

FILE_BYTES_MAX = 16 * 1024 * 1024
_TRUSTING, _TRUST_FILE = "codex", "config.toml"
"""The host that holds hooks back until they are trusted, and where it keeps which are."""
PLUGIN, PLUGIN_NAME = "plugin", "firsthand@firsthand"
"""Hooks that come with a plugin of Claude Code; what ours is called there."""
_PLUGINS_FILE = "plugins/installed_plugins.json"


@value
class Installed:
    """What one settings file tells one host of ours.

    Attributes:
        host: its name.
        where: the settings file.
        scope: ``user``, ``project`` or `PLUGIN`.
        events: the host's own names of the events at which ours run, sorted; empty: not installed here.
        command: what runs; several that differ are joined by ``; ``.
        current: every event that this version wants is there, by one command of this version whose program exists.
        fault: why the file could not be read; empty when it could, or is not there.
        held: the events whose hook the host holds back until its user trusts it.
    """

    host: str
    where: Path
    scope: str
    events: tuple[str, ...] = ()
    command: str = ""
    current: bool = False
    fault: str = ""
    held: Held = Held()

    @property
    def waits(self) -> str:
        """What the host waits for before it runs our hooks, in a few words; empty when it runs all of them."""
        counts = {
            "never trusted": self.held.untrusted,
            "changed since they were trusted": self.held.changed,
            "switched off": self.held.off,
        }
        return "; ".join(f"{why}: {', '.join(events)}" for why, events in counts.items() if events)

    @property
    def mend(self) -> str:
        """What to type to have it installed anew."""
        if self.scope == PLUGIN:
            return f"claude plugin update {PLUGIN_NAME}, with firsthand on PATH"
        if self.scope == "user":
            return f"firsthand install {self.host}"
        folders = len(Path(host_program(self.host).project).parts)
        return f"firsthand install {self.host} --project {shlex.quote(str(self.where.parents[folders - 1]))}"


def installed(
    home: Path, project: Path | None = None, folders: Mapping[str, Path] | None = None
) -> tuple[Installed, ...]:
    """Tell of every host's settings file of the user, and of a project's, that is there, and of plugins with our hooks.

    Args:
        home: the user's.
        project: its folder.
        folders: those that the hosts' own variables name (`environment.host_folders`).
    """
    trust = host_program(_TRUSTING).home_folder(home, folders) / _TRUST_FILE
    places = [_look(*place, trust) for place in _places(home, project, folders or {}) if place[1].exists()]
    return (*places, *_of_plugins(home, project, folders or {}))


def read_settings(path: Path) -> bytes | None:
    """Read a settings file of a host, which may be a link to one; None when there is none.

    Raises:
        OSError: it cannot be read, or is a device or a pipe, which is never waited for.
        FormatError: it has more than `FILE_BYTES_MAX`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        data = file.read(FILE_BYTES_MAX + 1)
    if len(data) > FILE_BYTES_MAX:
        raise FormatError(f"expected settings of at most {FILE_BYTES_MAX:,} bytes in {path}; it has more")
    return data


def _places(home: Path, project: Path | None, folders: Mapping[str, Path]) -> Iterator[tuple[HostProgram, Path, str]]:
    for program in HOSTS.values():
        of_user = program.hooks_file(home, None, folders)
        if of_user is not None:
            yield program, of_user, "user"
        if project is not None:
            yield program, project / program.project, "project"


def _of_plugins(home: Path, project: Path | None, folders: Mapping[str, Path]) -> Iterator[Installed]:
    """Look into the plugins of Claude Code that are switched on; its list of them was seen with version 2.1.330."""
    program = host_program("claude-code")
    folder = program.home_folder(home, folders)
    path = folder / _PLUGINS_FILE
    if not path.exists():
        return
    switches = [folder / "settings.json"]
    if project is not None:
        switches += [project / ".claude" / name for name in ("settings.json", "settings.local.json")]
    try:
        listed = _json(path).get("plugins")
        chosen = [_json(switch).get("enabledPlugins") for switch in switches if switch.exists()]
    except (OSError, ValueError, FormatError) as error:
        yield Installed(program.host, path, PLUGIN, fault=f"{path} or settings beside it cannot be read: {error}")
        return
    on: dict[str, Any] = {}
    for plugin in chosen:
        on |= plugin if isinstance(plugin, dict) else {}
    for name, places in listed.items() if isinstance(listed, dict) else ():
        for place in places if isinstance(places, list) and on.get(name) is True else ():
            where = Path(str(place.get("installPath"))) / "hooks" / "hooks.json" if isinstance(place, dict) else path
            hooks = _look(program, where, PLUGIN)
            if hooks.events or name == PLUGIN_NAME:
                yield hooks


def _json(path: Path) -> dict[str, Any]:
    return jsonc.plain(_text(path))


def _look(program: HostProgram, where: Path, scope: str, trust: Path | None = None) -> Installed:
    try:
        content = _text(where)
        hooks = hooks_of_ours(content)
        waiting = Held()
        if program.host == _TRUSTING and trust is not None:
            paths = {str(where), str(where.resolve())}
            waiting = held(paths, content, _text(trust) if trust.exists() else "")
    except (OSError, ValueError, FormatError) as error:
        return Installed(program.host, where, scope, fault=f"{where} cannot be read: {error}")
    current = (
        set(hooks.events) >= {line.event for line in program.lines}
        and len(hooks.commands) == 1
        and _runs(hooks.commands[0])
    )
    return Installed(program.host, where, scope, hooks.events, "; ".join(hooks.commands), current, held=waiting)


def _text(path: Path) -> str:
    data = read_settings(path)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, "it is not there")
    return data.decode("utf-8-sig")


def _runs(command: str) -> bool:
    """Say whether a command is as this version writes it and its program is there; false for what no shell can read."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return bool(words) and not EARLIER.search(command) and which(words[0]) is not None
