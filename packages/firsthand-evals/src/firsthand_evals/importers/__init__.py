"""Parsers of benchmark data, which `firsthand import` asks when this distribution is installed."""

from __future__ import annotations

from firsthand.hosts.transcript import Host
from firsthand_evals.importers.agent_runs import SweAgent, Tau

HOSTS: tuple[Host, ...] = (SweAgent(), Tau())
"""In the order in which they are asked; found by the entry point of `firsthand.hosts`."""
