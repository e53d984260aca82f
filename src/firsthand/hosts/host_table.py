"""The hosts that Firsthand can be installed to, and all in which they differ, as data.

A `HostProgram` says where a host keeps its settings, in which shape it holds hooks, at which of its
events ours run, and where it names MCP servers. What is written there is made in `registration`.

Pure. It opens no file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firsthand.errors import InvalidArgument
from firsthand.value import field, value

NESTED, FLAT, BY_SHELL = "nested", "flat", "by shell"


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
class ServerPlace:
    """Where a host names MCP servers.

    Attributes:
        user: the file below the host's folder of the user.
        key: of the table of servers in it.
        members: what an entry holds beside program and arguments.
        allowed: what it holds besides once the tools may run unasked, where the entry itself says so.
        project: the file below a project's folder; empty: not known.
    """

    user: str
    key: str
    members: Mapping[str, Any] = field(default_factory=dict)
    allowed: Mapping[str, Any] = field(default_factory=dict)
    project: str = ""


@value
class HostProgram:
    """How one host is told of hooks and MCP servers.

    Attributes:
        host: its name.
        title: its name for people.
        programs: what it is started by.
        shape: of its hooks: `NESTED` (an event's groups with a matcher and hooks each), `FLAT` (an event's hooks)
            or `BY_SHELL` (flat, with a command a shell).
        lines: the events at which ours run.
        project: the file of hooks below a project's folder.
        user: the same below the host's own folder of the user; empty: the host has none of its own.
        folder: that folder's name below the user's home.
        server: where it names MCP servers.
        variable: the environment variable that names that folder instead.
        exec_form: the program and its arguments stand apart, and no shell reads them.
        milliseconds: the host counts timeouts so.
        version: of the file, where the host wants one.
        steps, project_steps: what is left to the user after an install for the user, or for a project.
    """

    host: str
    title: str
    programs: tuple[str, ...]
    shape: str
    lines: tuple[HookLine, ...]
    project: str
    user: str
    folder: str
    server: ServerPlace
    variable: str = ""
    exec_form: bool = False
    milliseconds: bool = False
    version: int = 0
    steps: tuple[str, ...] = ()
    project_steps: tuple[str, ...] = ()

    def home_folder(self, home: Path, folders: Mapping[str, Path] | None = None) -> Path:
        """Give the folder of the user's in which it keeps its own; it is there when the host was ever used."""
        return (folders or {}).get(self.variable) or home / self.folder

    def hooks_file(self, home: Path, project: Path | None, folders: Mapping[str, Path] | None = None) -> Path | None:
        """Give the file in which it is told of hooks; None: it has none of the user's."""
        if project is not None:
            return project / self.project
        return self.home_folder(home, folders) / self.user if self.user else None

    def server_file(self, home: Path, project: Path | None, folders: Mapping[str, Path] | None = None) -> Path | None:
        """Give the file in which it names MCP servers; None: it has none of a project's."""
        if project is not None:
            return project / self.server.project if self.server.project else None
        if self.host == "claude-code" and self.variable not in (folders or {}):
            return home / self.server.user  # beside its folder, unless a variable names that
        return self.home_folder(home, folders) / self.server.user


def _lines(text: str) -> tuple[HookLine, ...]:
    """Read events, each with its seconds."""
    pairs = (pair.split() for pair in text.split(", "))
    return tuple(HookLine(event, int(seconds)) for event, seconds in pairs)


_CODE_FOLDER = "Library/Application Support/Code/User" if sys.platform == "darwin" else ".config/Code/User"
_TRUST = "open Codex, type /hooks and trust those of firsthand: until then, and once they change, none runs"
_STDIO = {"type": "stdio"}

HOSTS: Mapping[str, HostProgram] = {
    program.host: program
    for program in (
        # The command holds paths of this machine, so a project's file is the one that is not shared.
        HostProgram(
            "claude-code", "Claude Code", ("claude",), NESTED,
            (
                HookLine("SessionStart", 10, "startup|resume|clear|compact|fork"),
                HookLine("UserPromptSubmit", 5),
                HookLine("PreToolUse", 5, "Bash|Edit|Write|MultiEdit|NotebookEdit"),
                HookLine("PostToolUse", 10, "*", aside=True),
                HookLine("PostToolUseFailure", 5, "*"),
                HookLine("PreCompact", 10),
                HookLine("PostCompact", 10),
                HookLine("SubagentStart", 5),
                HookLine("SubagentStop", 10, aside=True),
                HookLine("Stop", 10, aside=True),
                HookLine("SessionEnd", 5),
            ),
            ".claude/settings.local.json", "settings.json", ".claude",
            ServerPlace(".claude.json", "mcpServers", _STDIO, project=".mcp.json"),
            variable="CLAUDE_CONFIG_DIR", exec_form=True,
            project_steps=(".mcp.json names this machine's Python: keep it out of version control",),
        ),
        HostProgram(
            "codex", "Codex", ("codex",), NESTED,
            _lines(
                "SessionStart 10, UserPromptSubmit 5, PreToolUse 5, PostToolUse 5, PreCompact 10, PostCompact 10, "
                "SubagentStart 5, SubagentStop 10, Stop 10, SessionEnd 3"
            ),
            ".codex/hooks.json", "hooks.json", ".codex", ServerPlace("config.toml", "mcp_servers"),
            variable="CODEX_HOME",
            steps=(_TRUST,),
            project_steps=(_TRUST,),
        ),
        HostProgram(
            "gemini", "Gemini CLI", ("gemini",), NESTED,
            _lines("SessionStart 10, BeforeAgent 5, AfterTool 5, PreCompress 10, AfterAgent 10, SessionEnd 5"),
            ".gemini/settings.json", "settings.json", ".gemini",
            ServerPlace(
                "settings.json", "mcpServers", allowed={"trust": True}, project=".gemini/settings.json",
            ),
            milliseconds=True,
            project_steps=("trust the folder in Gemini CLI: it runs a project's hooks in trusted folders only",),
        ),
        HostProgram(
            "cursor", "Cursor", ("cursor", "cursor-agent"), FLAT,
            _lines(
                "sessionStart 10, beforeSubmitPrompt 5, preToolUse 5, postToolUse 5, postToolUseFailure 5, "
                "preCompact 10, subagentStop 10, afterAgentResponse 10, stop 10, sessionEnd 5"
            ),
            ".cursor/hooks.json", "hooks.json", ".cursor",
            ServerPlace("mcp.json", "mcpServers", project=".cursor/mcp.json"),
            version=1,
            steps=("for a rule that tells the agent of its memory: firsthand install cursor --project DIR",),
        ),
        HostProgram(
            "vscode", "VS Code", ("code",), FLAT,
            _lines(
                "SessionStart 10, UserPromptSubmit 5, PreToolUse 5, PostToolUse 5, PreCompact 10, SubagentStart 5, "
                "SubagentStop 10, Stop 10"
            ),
            ".github/hooks/firsthand.json", "", _CODE_FOLDER,
            ServerPlace("mcp.json", "servers", _STDIO, project=".vscode/mcp.json"),
            steps=("VS Code runs the hooks of Claude Code's settings: firsthand install claude-code",),
            project_steps=("VS Code runs Claude Code's hooks too: with both installed, each runs twice",),
        ),
        HostProgram(
            "copilot", "Copilot CLI", ("copilot",), BY_SHELL,
            _lines(
                "SessionStart 10, UserPromptSubmit 5, PostToolUse 5, PostToolUseFailure 5, PreCompact 10, "
                "SubagentStart 5, SubagentStop 10, Stop 10, SessionEnd 5"
            ),
            ".github/hooks/firsthand-copilot.json", "hooks/firsthand.json", ".copilot",
            ServerPlace("mcp-config.json", "mcpServers", {"type": "local", "tools": ["*"]}),
            version=1,
            project_steps=("trust the folder in Copilot CLI: it runs a project's hooks in trusted folders only",),
        ),
    )
}  # fmt: skip


def host_program(host: str) -> HostProgram:
    """Give a host by its name.

    Raises:
        InvalidArgument: no host has this name.
    """
    if host not in HOSTS:
        raise InvalidArgument(f"expected one of the hosts {', '.join(HOSTS)}; got {host!r:.60}")
    return HOSTS[host]
