"""The settings in which hosts are told of their hooks: where they are, what is written, what of it is ours.

A host's `HookSettings` says where its file is, in which of the three shapes it
holds hooks, and at which events ours run. `with_hooks` and `without_hooks` change
the text of such a file. The invariants: what is not ours stays, in its order; a
text that is no plain JSON, or holds hooks in a shape of its own, is refused and
never guessed at; changing a text twice is changing it once, byte for byte.

Ours is what runs `LAUNCHER` or ``firsthand hook``, wherever it stands, and what earlier versions wrote (`EARLIER`).

Pure. It reads no file and knows no folder of the user's.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firsthand.errors import FormatError, InvalidArgument
from firsthand.value import value

NESTED, FLAT, BY_SHELL = "nested", "flat", "by shell"
LAUNCHER = "firsthand-hook"  # in the user's state folder
EARLIER = re.compile(r"firsthand[\\/]+(?:doors|server)[\\/]+hook_client\.py")
_OURS = re.compile(rf"{EARLIER.pattern}|[\\/]{LAUNCHER}[\"']?(?=\s)|\bfirsthand(\.exe)?[\"']?\s+hook\s")


@value
class HookLine:
    """One event at which a hook of ours runs.

    Attributes:
        event: the host's own name.
        seconds: after which the host gives up.
        matcher: which tools, or sources, as the host's own pattern; empty: all.
        aside: the host need not wait for it, where it can.
    """

    event: str
    seconds: int
    matcher: str = ""
    aside: bool = False


@value
class HookSettings:
    """How one host is told of its hooks.

    Attributes:
        host: its name.
        shape: `NESTED` (an event's groups with a matcher and hooks each), `FLAT` (an event's hooks) or
            `BY_SHELL` (flat, with a command a shell).
        lines: the events at which ours run.
        project: the file below a project's folder.
        user: the file below the host's own folder of the user; empty: the host has none of its own.
        folder: that folder's name below the user's home.
        variable: the environment variable that names that folder instead.
        exec_form: the program and its arguments stand apart, and no shell reads them.
        milliseconds: the host counts timeouts so.
        version: of the file, where the host wants one.
    """

    host: str
    shape: str
    lines: tuple[HookLine, ...]
    project: str
    user: str
    folder: str
    variable: str = ""
    exec_form: bool = False
    milliseconds: bool = False
    version: int = 0


@value
class Told:
    """What a settings file tells a host of ours.

    Attributes:
        events: the host's names of the events, sorted.
        commands: the different ones, each as one text.
    """

    events: tuple[str, ...]
    commands: tuple[str, ...]


_CHANGING_TOOLS = "Bash|Edit|Write|MultiEdit|NotebookEdit"

_CLAUDE = (
    HookLine("SessionStart", 10, "startup|resume|clear|compact|fork"),
    HookLine("UserPromptSubmit", 5),
    HookLine("PreToolUse", 5, _CHANGING_TOOLS),
    HookLine("PostToolUse", 10, "*", aside=True),
    HookLine("PostToolUseFailure", 5, "*"),
    HookLine("PreCompact", 10),
    HookLine("PostCompact", 10),
    HookLine("SubagentStart", 5),
    HookLine("SubagentStop", 10, aside=True),
    HookLine("Stop", 10, aside=True),
    HookLine("SessionEnd", 5),
)


def _lines(text: str) -> tuple[HookLine, ...]:
    """Read events, each with its seconds."""
    pairs = (pair.split() for pair in text.split(", "))
    return tuple(HookLine(event, int(seconds)) for event, seconds in pairs)


_CODEX = _lines(
    "SessionStart 10, UserPromptSubmit 5, PreToolUse 5, PostToolUse 5, PreCompact 10, PostCompact 10, "
    "SubagentStart 5, SubagentStop 10, Stop 10, SessionEnd 3"
)
_GEMINI = _lines("SessionStart 10, BeforeAgent 5, AfterTool 5, PreCompress 10, AfterAgent 10, SessionEnd 5")
_CURSOR = _lines(
    "sessionStart 10, beforeSubmitPrompt 5, preToolUse 5, postToolUse 5, postToolUseFailure 5, "
    "preCompact 10, subagentStop 10, afterAgentResponse 10, stop 10, sessionEnd 5"
)
_VSCODE = _lines(
    "SessionStart 10, UserPromptSubmit 5, PreToolUse 5, PostToolUse 5, PreCompact 10, SubagentStart 5, "
    "SubagentStop 10, Stop 10"
)
_COPILOT = _lines(
    "SessionStart 10, UserPromptSubmit 5, PostToolUse 5, PostToolUseFailure 5, PreCompact 10, "
    "SubagentStart 5, SubagentStop 10, Stop 10, SessionEnd 5"
)

SETTINGS: Mapping[str, HookSettings] = {
    settings.host: settings
    for settings in (
        # The command holds paths of this machine, so a project's file is the one that is not shared.
        HookSettings(
            "claude-code", NESTED, _CLAUDE, ".claude/settings.local.json", "settings.json", ".claude",
            "CLAUDE_CONFIG_DIR", exec_form=True,
        ),
        HookSettings("codex", NESTED, _CODEX, ".codex/hooks.json", "hooks.json", ".codex", "CODEX_HOME"),
        HookSettings(
            "gemini", NESTED, _GEMINI, ".gemini/settings.json", "settings.json", ".gemini", milliseconds=True,
        ),
        HookSettings("cursor", FLAT, _CURSOR, ".cursor/hooks.json", "hooks.json", ".cursor", version=1),
        HookSettings("vscode", FLAT, _VSCODE, ".github/hooks/firsthand.json", "", ".vscode"),
        HookSettings(
            "copilot", BY_SHELL, _COPILOT, ".github/hooks/firsthand-copilot.json", "hooks/firsthand.json", ".copilot",
            version=1,
        ),
    )
}  # fmt: skip


def settings_of(host: str) -> HookSettings:
    """Give a host's settings.

    Raises:
        InvalidArgument: no host has this name.
    """
    if host not in SETTINGS:
        raise InvalidArgument(f"expected one of the hosts {', '.join(SETTINGS)}; got {host!r:.60}")
    return SETTINGS[host]


def with_hooks(content: str, settings: HookSettings, command: Sequence[str], *, waits: bool = False) -> str:
    """Give the file's content with our hooks in it, and those of an older install replaced.

    Args:
        content: as it is; empty for a file that is not there.
        command: program and arguments that the host is to run.
        waits: let the host wait for every hook, so that each can answer.

    Raises:
        FormatError: the content is no plain JSON object, or holds hooks in another shape.
    """
    members = read_object(content)
    before = json.dumps(members)
    wanted = {line.event: _entry(settings, line, command, waits=waits) for line in settings.lines}
    if settings.version:
        members.setdefault("version", settings.version)
    hooks = _hooks(members)
    for event in [*hooks, *(event for event in wanted if event not in hooks)]:
        listed = _listed(hooks, event)
        place = next((at for at, group in enumerate(listed) if any(map(is_ours, _handlers(group)))), len(listed))
        rest = list(_others(listed))
        if event in wanted:
            rest.insert(place, wanted[event])
        if rest or not listed:
            hooks[event] = rest
        else:
            del hooks[event]
    members["hooks"] = hooks
    return content if json.dumps(members) == before else as_file(members, content)


def without_hooks(content: str) -> str:
    """Give the file's content without any hook of ours; empty when nothing else is in it.

    Raises:
        FormatError: the content is no plain JSON object, or holds hooks in another shape.
    """
    settings = read_object(content)
    hooks = _hooks(settings)
    if not any(is_ours(handler) for listed in hooks.values() for group in listed for handler in _handlers(group)):
        return content
    for event in list(hooks):
        hooks[event] = list(_others(_listed(hooks, event)))
        if not hooks[event]:
            del hooks[event]
    if not hooks:
        del settings["hooks"]
    return as_file(settings, content) if set(settings) - {"version"} else ""


def with_server(content: str, name: str, command: Sequence[str]) -> str:
    """Give the content of a file of MCP servers with one more, or that one renewed.

    Raises:
        FormatError: the content is no plain JSON object, or holds servers in another shape.
    """
    settings = read_object(content)
    before = json.dumps(settings)
    servers = settings.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise FormatError(f"expected mcpServers as a JSON object; got {type(servers).__name__}. Nothing was changed")
    servers[name] = {"command": command[0], "args": list(command[1:])}
    return content if json.dumps(settings) == before else as_file(settings, content)


def without_server(content: str, name: str) -> str:
    """Give the content of a file of MCP servers without one of them; empty when nothing else is in it.

    Raises:
        FormatError: the content is no plain JSON object.
    """
    settings = read_object(content)
    servers = settings.get("mcpServers")
    if not isinstance(servers, dict) or name not in servers:
        return content
    del servers[name]
    if not servers:
        del settings["mcpServers"]
    return as_file(settings, content) if settings else ""


def with_members(content: str, members: Mapping[str, Any]) -> str:
    """Give the content of a file of settings with some members set.

    Raises:
        FormatError: the content is no plain JSON object.
    """
    settings = read_object(content)
    after = {**settings, **members}
    return content if after == settings else as_file(after, content)


def told_of_ours(content: str) -> Told:
    """Tell at which events a settings file runs a hook of ours, and by which commands.

    Raises:
        FormatError: the content is no plain JSON object, or holds hooks in another shape.
    """
    ours = [
        (event, command_of(handler))
        for event, listed in _hooks(read_object(content)).items()
        for group in listed
        for handler in _handlers(group)
        if is_ours(handler)
    ]
    return Told(tuple(sorted({event for event, _ in ours})), tuple(sorted({command for _, command in ours})))


def is_ours(handler: Any) -> bool:
    """Say whether a hook of a settings file runs Firsthand."""
    return _OURS.search(command_of(handler)) is not None


def command_of(handler: Any) -> str:
    """Give a hook's command line as one text; empty for a hook that runs none."""
    if not isinstance(handler, dict):
        return ""
    program = next((handler[name] for name in ("command", "bash") if isinstance(handler.get(name), str)), "")
    arguments = handler.get("args")
    return shlex.join([program, *map(str, arguments)]) if isinstance(arguments, list) and program else program


# shapes --------------------------------------------------------------------------------------------


def _entry(settings: HookSettings, line: HookLine, command: Sequence[str], *, waits: bool) -> dict[str, Any]:
    """Make what stands in an event's list for our hook."""
    quoted = shlex.join(command)
    if settings.shape == BY_SHELL:
        return {"type": "command", "bash": quoted, "powershell": _powershell(command), "timeoutSec": line.seconds}
    if settings.shape == FLAT:
        return {"type": "command", "command": quoted, "timeout": line.seconds}
    handler: dict[str, Any] = {"type": "command", "command": quoted}
    if settings.exec_form:
        handler |= {"command": command[0], "args": list(command[1:])}
    handler["timeout"] = line.seconds * 1000 if settings.milliseconds else line.seconds
    if settings.exec_form and line.aside and not waits:
        handler["async"] = True
    return ({"matcher": line.matcher} if line.matcher else {}) | {"hooks": [handler]}


def _powershell(command: Sequence[str]) -> str:
    quoted = ("'" + word.replace("'", "''") + "'" for word in command)
    return "& " + " ".join(quoted)


def _handlers(group: Any) -> list[Any]:
    """Give the hooks of one entry of an event's list: those of a group, or the entry itself."""
    if isinstance(group, dict) and isinstance(group.get("hooks"), list):
        return list(group["hooks"])
    return [group]


def _others(listed: Sequence[Any]) -> Iterator[Any]:
    """Yield an event's entries without ours; a group that holds others too keeps those."""
    for group in listed:
        handlers = _handlers(group)
        rest = [handler for handler in handlers if not is_ours(handler)]
        if len(rest) == len(handlers):
            yield group
        elif rest:
            yield group | {"hooks": rest}


def _hooks(settings: Mapping[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise FormatError(f"expected hooks as a JSON object; got {type(hooks).__name__}. Nothing was changed")
    for event in hooks:
        _listed(hooks, event)
    return hooks


def _listed(hooks: Mapping[str, Any], event: str) -> list[Any]:
    listed = hooks.get(event, [])
    if not isinstance(listed, list):
        raise FormatError(f"expected the hooks of {event} as a list; got {type(listed).__name__}. Nothing was changed")
    return listed


# JSON ----------------------------------------------------------------------------------------------


def read_object(content: str) -> dict[str, Any]:
    """Read a settings file.

    Raises:
        FormatError: it is no JSON object, holds comments, or a name twice, of which one would be lost.
    """
    if not content.strip():
        return {}
    try:
        settings = json.loads(content.removeprefix("\ufeff"), object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"expected plain JSON; got {error!s:.120}. A file with comments or trailing commas is not changed by "
            "firsthand, since they would be lost: take them out, or add by hand what --dry-run shows"
        ) from error
    if not isinstance(settings, dict):
        raise FormatError(f"expected a JSON object; got {type(settings).__name__}. Nothing was changed")
    return settings


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r:.60} stands twice")
    return made


def as_file(settings: Mapping[str, Any], like: str) -> str:
    """Write JSON in the manner of another text: its indentation, its line ends, its last line end."""
    match = re.search(r"\n([ \t]+)\S", like)
    indent: int | str = match[1] if match else 2
    new = json.dumps(settings, indent=indent, ensure_ascii=False)
    try:
        new.encode()
    except UnicodeEncodeError:  # an escaped lone surrogate was there: it has no other spelling
        new = json.dumps(settings, indent=indent)
    new += "\n" if like.endswith("\n") or not like.strip() else ""
    return new.replace("\n", "\r\n") if "\r\n" in like else new
