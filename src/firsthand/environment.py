"""The one place where environment variables are read."""

from __future__ import annotations

import os
from pathlib import Path


def default_store() -> Path:
    """Give the store that is used when none is named: ``$FIRSTHAND_STORE``, else ``~/.firsthand``."""
    named = os.environ.get("FIRSTHAND_STORE", "")
    return Path(named).expanduser() if named else home() / ".firsthand"


def default_namespace() -> str:
    """Give the namespace that is used when none is named: ``$FIRSTHAND_NAMESPACE``, else ``default``."""
    return os.environ.get("FIRSTHAND_NAMESPACE", "") or "default"


def home() -> Path:
    """Give the user's home folder."""
    return Path("~").expanduser()


def host_folder(variable: str) -> Path | None:
    """Give the folder that a host's own variable names (``CLAUDE_CONFIG_DIR``, ``CODEX_HOME``); None if unset."""
    named = os.environ.get(variable, "")
    return Path(named).expanduser() if named else None


def plain_output() -> bool:
    """Say whether the user asked for output without colour (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
