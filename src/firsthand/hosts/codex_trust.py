"""Which of our hooks Codex will not run, since its user has not trusted them, or not as they are now.

Contract: Codex 0.169.0. It keeps under ``hooks.state`` of its ``config.toml``, for
each hook by file, event and place, the digest of the hook that was trusted; one
that is missing, or of a hook that was changed since, holds the hook back without a
word. The digest is made of the event's name, the matcher and the handler with its
defaults filled in.

Pure. It knows no file, and not whether a session was begun past all trust
(``--dangerously-bypass-hook-trust``).
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Collection, Mapping
from typing import Any

from firsthand.errors import FormatError
from firsthand.hosts import jsonc
from firsthand.hosts.registration import is_ours
from firsthand.value import value

SECONDS_DEFAULT = 600
_HUMP = re.compile(r"(?<!^)(?=[A-Z])")


@value
class Held:
    """The events whose hook of ours is held back, by the host's own names, in the order of the file.

    Attributes:
        untrusted: nobody has trusted it.
        changed: it was trusted, and is another one now.
        off: its user has switched it off.
    """

    untrusted: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


def held(paths: Collection[str], settings: str, configuration: str) -> Held:
    """Say which hooks of ours in a settings file Codex holds back.

    Args:
        paths: those that the settings file goes by.
        settings: its content.
        configuration: the content of the user's ``config.toml``; empty for none.

    Raises:
        FormatError: one of the two is not in its format.
    """
    states = _states(configuration)
    by_reason: dict[str, list[str]] = {"untrusted": [], "changed": [], "off": []}
    hooks = jsonc.plain(settings).get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            for place, handler in enumerate(_handlers(group)):
                if is_ours(handler):
                    label = _HUMP.sub("_", event).lower()
                    trusts = [states.get(f"{path}:{label}:{number}:{place}") for path in paths]
                    why = _why([trust for trust in trusts if isinstance(trust, dict)], _digest(label, group, handler))
                    by_reason.get(why, []).append(event)
    return Held(*(tuple(by_reason[name]) for name in ("untrusted", "changed", "off")))


def _why(states: list[dict[str, Any]], digest: str) -> str:
    """Name what holds a hook back; empty when nothing does."""
    if any(state.get("enabled") is False for state in states):
        return "off"
    trusted = [state["trusted_hash"] for state in states if isinstance(state.get("trusted_hash"), str)]
    if not trusted:
        return "untrusted"
    return "" if digest in trusted else "changed"


def _digest(label: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    """Give the digest of a hook as Codex makes it: of its parts as JSON, sorted, defaults filled in."""
    normal = {
        "type": "command",
        "command": handler.get("command"),
        "timeout": max(1, handler.get("timeout", SECONDS_DEFAULT)),
        "async": handler.get("async", False),
    }
    if "statusMessage" in handler:
        normal["statusMessage"] = handler["statusMessage"]
    hook = {"event_name": label, "hooks": [normal]} | ({"matcher": group["matcher"]} if "matcher" in group else {})
    plain = json.dumps(hook, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _handlers(group: Any) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _states(configuration: str) -> Mapping[str, Any]:
    try:
        settings = tomllib.loads(configuration)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FormatError(f"expected Codex' configuration in TOML; got {error!s:.120}") from error
    hooks = settings.get("hooks")
    states = hooks.get("state") if isinstance(hooks, dict) else None
    return states if isinstance(states, dict) else {}
