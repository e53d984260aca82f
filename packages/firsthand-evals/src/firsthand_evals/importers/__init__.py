"""Parsers of benchmark data, which `firsthand import` asks when this distribution is installed."""

from __future__ import annotations

from firsthand.hosts.transcript import Host
from firsthand_evals.importers.conversations import Beam, Locomo, LongMemEval
from firsthand_evals.importers.intercode import Intercode
from firsthand_evals.importers.irc import Irc
from firsthand_evals.importers.swe_agent import SweAgent
from firsthand_evals.importers.tau import Tau
from firsthand_evals.importers.who_and_when import WhoAndWhen

HOSTS: tuple[Host, ...] = (
    SweAgent(), Tau(), Intercode(), Beam(), Locomo(), LongMemEval(), WhoAndWhen(), Irc(),
)  # fmt: skip
"""In the order in which they are asked; found by the entry point of `firsthand.hosts`."""
