"""The hosts whose hooks Firsthand answers, by name; each one's module is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from firsthand.errors import InvalidArgument
from firsthand.hosts.hook import HookHost

_MODULES = {
    "claude-code": "hook_claude",
    "codex": "hook_codex",
    "gemini": "hook_gemini",
    "cursor": "hook_cursor",
    "vscode": "hook_vscode",
    "copilot": "hook_copilot",
}
HOST_NAMES = tuple(_MODULES)


def named(host: str) -> HookHost:
    """Give a host by its name.

    Raises:
        InvalidArgument: no host has this name.
    """
    if host not in _MODULES:
        raise InvalidArgument(f"expected one of the hosts {', '.join(HOST_NAMES)}; got {host!r:.60}")
    hook_host: HookHost = import_module(f"firsthand.hosts.{_MODULES[host]}").HOST
    return hook_host
