"""The one place where environment variables are read."""

from __future__ import annotations

import os
from pathlib import Path

HOST_VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "GEMINI_CLI_HOME")


def default_store() -> Path:
    """Give the store that is used when none is named: ``$FIRSTHAND_STORE``, else ``~/.firsthand``."""
    named = os.environ.get("FIRSTHAND_STORE", "")
    return Path(named).expanduser() if named else home() / ".firsthand"


def default_namespace() -> str:
    """Give the namespace that is used when none is named: ``$FIRSTHAND_NAMESPACE``, else ``default``."""
    return os.environ.get("FIRSTHAND_NAMESPACE", "") or "default"


def default_embedder() -> str | None:
    """Give the word of the embedder that is used when none is named: ``$FIRSTHAND_EMBEDDER``; None without one."""
    return os.environ.get("FIRSTHAND_EMBEDDER") or None


def embedder_key() -> str | None:
    """Give the key for an embedder behind an endpoint: ``$FIRSTHAND_EMBEDDER_KEY``; None without one."""
    return os.environ.get("FIRSTHAND_EMBEDDER_KEY") or None


def home() -> Path:
    """Give the user's home folder."""
    return Path("~").expanduser()


def host_folders() -> dict[str, Path]:
    """Give the folders that hosts' own variables name, by variable; those that are not set are left out."""
    named = {variable: os.environ.get(variable, "") for variable in HOST_VARIABLES}
    return {variable: Path(folder).expanduser() for variable, folder in named.items() if folder}


def plain_output() -> bool:
    """Say whether the user asked for output without colour (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def for_commands(**settings: str) -> dict[str, str]:
    """Give the environment for a command to run in: this one, with some settings of its own."""
    return {**os.environ, **settings}
