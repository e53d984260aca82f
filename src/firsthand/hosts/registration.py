"""What of ours stands in a host's settings: hooks, the MCP server, and leave for its tools to run unasked.

Each function takes the text of a settings file and gives it with something of ours in it, or without.
The invariants: what is not ours keeps its bytes; a text of another shape than the host documents is
refused and never guessed at; changing a text twice is changing it once.

Ours is what runs `LAUNCHER` or ``firsthand hook``, wherever it stands, what earlier versions wrote (`EARLIER`), and
the server called `SERVER`.

Pure. It reads no file and knows no folder of the user's.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.errors import FormatError
from firsthand.hosts import jsonc
from firsthand.hosts.host_table import BY_SHELL, FLAT, HookLine, HostProgram
from firsthand.value import value

SERVER = "firsthand"
READ_TOOLS = ("recall", "expand", "timeline", "health")
"""The tools of the server that write nothing."""
LAUNCHER = "firsthand-hook"  # in the user's state folder
EARLIER = re.compile(r"firsthand[\\/]+(?:doors|server)[\\/]+hook_client\.py")
_OURS = re.compile(rf"{EARLIER.pattern}|[\\/]{LAUNCHER}[\"']?(?=\s)|\bfirsthand(\.exe)?[\"']?\s+hook\s")
_TABLES = re.compile(
    rf"(?:(?<=\n)\r?\n)?^\[mcp_servers\.{SERVER}(?:\.[^\]\n]*)?\][^\n]*(?:\n(?!\s*(?:\[|#|\r?$))[^\n]*)*(?:\n|\Z)",
    re.MULTILINE,
)
_LEAVE = tuple(f"mcp__{SERVER}__{tool}" for tool in READ_TOOLS)


@value
class OurHooks:
    """The hooks of ours in a settings file: the host's names of their events, and the different commands, sorted."""

    events: tuple[str, ...]
    commands: tuple[str, ...]


# hooks ---------------------------------------------------------------------------------------------


def with_hooks(text: str, program: HostProgram, command: Sequence[str], *, waits: bool = False) -> str:
    """Put our hooks in, and those of an older install in their place.

    Args:
        text: the file's; empty for one that is not there.
        command: program and arguments that the host is to run.
        waits: let the host wait for every hook, so that each can answer.

    Raises:
        FormatError: the text is no JSON object, or holds hooks in another shape.
    """
    wanted = {line.event: _entry(program, line, command, waits=waits) for line in program.lines}
    text = _without_hooks(text, wanted)
    if program.version and "version" not in jsonc.plain(text):
        text = jsonc.put(text, ("version",), program.version)
    hooks = _hooks(text)
    for event, entry in wanted.items():
        if entry not in hooks.get(event, []):
            text = jsonc.push(text, ("hooks", event), entry)
    return text


def without_hooks(text: str) -> str:
    """Take every hook of ours out; empty when nothing else is in the text.

    Raises:
        FormatError: the text is no JSON object, or holds hooks in another shape.
    """
    left = _without_hooks(text, {})
    return left if left == text else _or_empty(left, {"version"})


def _without_hooks(text: str, wanted: Mapping[str, Any]) -> str:
    """Take our hooks out but for the wanted ones; one that is to be another is replaced where it stands."""
    for event, groups in _hooks(text).items():
        entry = wanted.get(event)
        for number in reversed(range(len(groups))):
            handlers = _handlers(groups[number])
            ours = [place for place, handler in enumerate(handlers) if is_ours(handler)]
            is_first = not any(is_ours(handler) for group in groups[:number] for handler in _handlers(group))
            if not ours:
                continue
            if len(ours) == len(handlers) and entry is not None and is_first:
                text = jsonc.put(text, ("hooks", event, number), entry)
            elif len(ours) == len(handlers):
                text = jsonc.drop(text, ("hooks", event, number))
            else:
                for place in reversed(ours):
                    text = jsonc.drop(text, ("hooks", event, number, "hooks", place))
    return text


def hooks_of_ours(text: str) -> OurHooks:
    """Say at which events a settings file runs a hook of ours, and by which commands.

    Raises:
        FormatError: the text is no JSON object, or holds hooks in another shape.
    """
    ours = [
        (event, command_of(handler))
        for event, groups in _hooks(text).items()
        for group in groups
        for handler in _handlers(group)
        if is_ours(handler)
    ]
    return OurHooks(tuple(sorted({event for event, _ in ours})), tuple(sorted({command for _, command in ours})))


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


def _entry(program: HostProgram, line: HookLine, command: Sequence[str], *, waits: bool) -> dict[str, Any]:
    """Make what stands in an event's list for our hook."""
    quoted = shlex.join(command)
    if program.shape == BY_SHELL:
        powershell = "& " + " ".join("'" + word.replace("'", "''") + "'" for word in command)
        return {"type": "command", "bash": quoted, "powershell": powershell, "timeoutSec": line.seconds}
    if program.shape == FLAT:
        return {"type": "command", "command": quoted, "timeout": line.seconds}
    handler: dict[str, Any] = {"type": "command", "command": quoted}
    if program.exec_form:
        handler |= {"command": command[0], "args": list(command[1:])}
    handler["timeout"] = line.seconds * 1000 if program.milliseconds else line.seconds
    if program.exec_form and line.aside and not waits:
        handler["async"] = True
    return ({"matcher": line.matcher} if line.matcher else {}) | {"hooks": [handler]}


def _handlers(group: Any) -> list[Any]:
    """Give the hooks of one entry of an event's list: those of a group, or the entry itself."""
    if isinstance(group, dict) and isinstance(group.get("hooks"), list):
        return list(group["hooks"])
    return [group]


def _hooks(text: str) -> dict[str, list[Any]]:
    hooks = jsonc.plain(text).get("hooks", {})
    if not isinstance(hooks, dict):
        raise FormatError(f"expected hooks as a JSON object; got {type(hooks).__name__}. Nothing was changed")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise FormatError(
                f"expected the hooks of {event} as a list; got {type(groups).__name__}. Nothing was changed"
            )
    return hooks


# the MCP server and its tools ------------------------------------------------------------------------


def with_server(text: str, program: HostProgram, command: Sequence[str], *, allow: bool = False) -> str:
    """Put the MCP server in, or renew it; a leave that its entry has is kept.

    Raises:
        FormatError: the text is none of the host's format, or holds servers in another shape.
    """
    if program.server.key == "mcp_servers":
        return _with_table(text, command, allow=allow)
    servers = jsonc.plain(text).get(program.server.key, {})
    if not isinstance(servers, dict):
        raise FormatError(
            f"expected {program.server.key} as a JSON object; got {type(servers).__name__}. Nothing was changed"
        )
    before = servers.get(SERVER)
    allowed = {name: it for name, it in before.items() if name in program.server.allowed} if before else {}
    entry = {**program.server.members, "command": command[0], "args": list(command[1:])}
    entry |= program.server.allowed if allow else allowed
    return jsonc.put(text, (program.server.key, SERVER), entry)


def without_server(text: str, program: HostProgram) -> str:
    """Take the MCP server out; empty when nothing else is in the text.

    Raises:
        FormatError: the text is none of the host's format.
    """
    if program.server.key == "mcp_servers":
        return _without_table(text)
    servers = jsonc.plain(text).get(program.server.key)
    if not isinstance(servers, dict) or SERVER not in servers:
        return text
    return _or_empty(jsonc.drop(text, (program.server.key, SERVER)))


def server_of_ours(text: str, program: HostProgram) -> Mapping[str, Any] | None:
    """Give the entry of our server; None where there is none.

    Raises:
        FormatError: the text is none of the host's format.
    """
    if program.server.key == "mcp_servers":
        return _table(text)
    servers = jsonc.plain(text).get(program.server.key)
    entry = servers.get(SERVER) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def with_leave(text: str) -> str:
    """Let Claude Code run the tools that write nothing without asking each time.

    Raises:
        FormatError: the text is no JSON object, or holds permissions in another shape.
    """
    listed = _leave(text)
    if listed is None:
        raise FormatError('expected permissions as {"allow": [...]}; got another shape. Nothing was changed')
    for rule in _LEAVE:
        if rule not in listed:
            text = jsonc.push(text, ("permissions", "allow"), rule)
    return text


def without_leave(text: str) -> str:
    """Take that out again; empty when nothing else is in the text. Permissions of another shape hold nothing of it."""
    listed = _leave(text) or []
    for number in reversed(range(len(listed))):
        if listed[number] in _LEAVE:
            text = jsonc.drop(text, ("permissions", "allow", number))
    return _or_empty(text) if any(rule in _LEAVE for rule in listed) else text


def _leave(text: str) -> list[Any] | None:
    """Give the rules of what runs unasked; None where they are in another shape."""
    permissions = jsonc.plain(text).get("permissions", {})
    listed = permissions.get("allow", []) if isinstance(permissions, dict) else None
    return listed if isinstance(listed, list) else None


def _with_table(text: str, command: Sequence[str], *, allow: bool) -> str:
    """Put the server's tables at the end of a file in TOML, after a blank line."""
    before = _table(text)
    allow = allow or (before is not None and "tools" in before)
    line_end = "\r\n" if "\r\n" in text else "\n"
    tables = [f"[mcp_servers.{SERVER}]", f"command = {_quoted(command[0])}"]
    tables.append(f"args = [{', '.join(map(_quoted, command[1:]))}]")
    for tool in READ_TOOLS if allow else ():
        tables += ["", f"[mcp_servers.{SERVER}.tools.{tool}]", 'approval_mode = "approve"']
    wanted = line_end.join(tables)
    if before is not None and before == _toml(wanted)["mcp_servers"][SERVER]:
        return text
    text = _without_table(text)
    torn = bool(text) and not text.endswith("\n")  # it ends as it began: a removal gives the same bytes
    after = text + (line_end * (1 + torn) if text else "") + wanted + ("" if torn else line_end)
    _toml(after)
    return after


def _without_table(text: str) -> str:
    if _table(text) is None:
        return text
    after = _TABLES.sub("", text)
    if text and not text.endswith("\n") and after.endswith("\n"):
        after = after.removesuffix("\n").removesuffix("\r")
    wanted = _toml(text)
    del wanted["mcp_servers"][SERVER]
    if _toml(after) not in (wanted, {name: it for name, it in wanted.items() if it or name != "mcp_servers"}):
        raise FormatError(
            f"expected the tables [mcp_servers.{SERVER}] in a form that can be taken out; got another. Nothing was "
            f"changed: codex mcp remove {SERVER}"
        )
    return after


def _table(text: str) -> Mapping[str, Any] | None:
    servers = _toml(text).get("mcp_servers", {})
    table = servers.get(SERVER) if isinstance(servers, dict) else None
    return table if isinstance(table, dict) else None


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)  # which is a basic string of TOML too


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FormatError(
            f"expected TOML in which [mcp_servers.{SERVER}] can stand; got {error!s:.120}. Nothing was changed"
        ) from error


def _or_empty(text: str, ours: frozenset[str] | set[str] = frozenset()) -> str:
    """Give nothing for a text that has no word left but what an install writes."""
    members = jsonc.read(text)
    return text if members.comments or set(jsonc.plain(text)) - ours else ""
