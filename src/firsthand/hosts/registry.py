"""All hosts, in the order in which they are asked whether a source is theirs.

Those of the package know coding agents, mails and lines of JSON. Other distributions add
parsers by an entry point; they are looked for when no coding agent knows a source.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from firsthand.hosts.claude_code import ClaudeCode
from firsthand.hosts.codex import Codex
from firsthand.hosts.gemini import Gemini, GeminiFile
from firsthand.hosts.jsonl import Jsonl
from firsthand.hosts.mail import Mail, Mbox
from firsthand.hosts.pi import Pi
from firsthand.hosts.transcript import Host

GROUP = "firsthand.hosts"
"""Of entry points: each names a tuple of hosts."""
_AGENTS: tuple[Host, ...] = (ClaudeCode(), Codex(), Gemini(), GeminiFile(), Pi())
_OTHERS: tuple[Host, ...] = (Mbox(), Mail(), Jsonl())  # last: it takes any line with a content
HOSTS: tuple[Host, ...] = (*_AGENTS, *_OTHERS)


def recognise(path: str, head: bytes) -> Host | None:
    """Give the host that knows a source by its path, with ``/``, and its first `port.HEAD_BYTES`; None for none."""

    def first(hosts: Iterable[Host]) -> Host | None:
        return next((host for host in hosts if host.recognises(path, head)), None)

    return first(_AGENTS) or first(installed()) or first(_OTHERS)


@cache
def installed() -> tuple[Host, ...]:
    """Give the hosts of other distributions that are installed, such as firsthand-evals."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, and only an import asks

    return tuple(host for point in entry_points(group=GROUP) for host in point.load())
