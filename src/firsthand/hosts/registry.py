"""All hosts, in the order in which they are asked whether a source is theirs."""

from __future__ import annotations

from firsthand.hosts.claude_code import ClaudeCode
from firsthand.hosts.codex import Codex
from firsthand.hosts.conversations import Beam, Locomo, LongMemEval
from firsthand.hosts.gemini import Gemini, GeminiFile
from firsthand.hosts.intercode import Intercode
from firsthand.hosts.irc import Irc
from firsthand.hosts.jsonl import Jsonl
from firsthand.hosts.mail import Mail, Mbox
from firsthand.hosts.pi import Pi
from firsthand.hosts.port import Host
from firsthand.hosts.swe_agent import SweAgent
from firsthand.hosts.tau import Tau
from firsthand.hosts.who_and_when import WhoAndWhen

HOSTS: tuple[Host, ...] = (
    ClaudeCode(),
    Codex(),
    Gemini(),
    GeminiFile(),
    Pi(),
    SweAgent(),
    Tau(),
    Intercode(),
    Beam(),
    Locomo(),
    LongMemEval(),
    WhoAndWhen(),
    Mbox(),
    Irc(),
    Mail(),
    Jsonl(),  # last: it takes any line with a content
)


def recognise(path: str, head: bytes) -> Host | None:
    """Give the host whose source this is; None when none knows it.

    Args:
        path: whole path of the source, with ``/``.
        head: its first `port.HEAD_BYTES`.
    """
    return next((host for host in HOSTS if host.recognises(path, head)), None)
