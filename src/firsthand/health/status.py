"""Keeping a look at a memory: its line for who starts a session, and its figures at the end of the history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firsthand.agents import health_line, small_files
from firsthand.agents.health_line import LINE_CHARACTERS_MAX
from firsthand.health.report import HealthReport, Rate

HISTORY_BYTES_MAX = 1 << 19


def keep(store: Path, report: HealthReport) -> None:
    """Keep a look: the line of it, and its figures at the end of the history.

    Raises:
        StoreError: it cannot be written.
    """
    fields = {
        "time_s": report.time.microseconds / 1e6, "severity": str(report.severity),
        "line": report.line[:LINE_CHARACTERS_MAX],
        "findings": [
            [str(finding.stage), str(finding.severity), str(finding)[:LINE_CHARACTERS_MAX]]
            for finding in report.findings
        ],
    }  # fmt: skip
    small_files.write(health_line.status_file(store), json.dumps(fields).encode())
    path = health_line.history_file(store)
    row = json.dumps(_row(report)).encode()
    small_files.add_line(path, row, bytes_max=HISTORY_BYTES_MAX, over=lambda: health_line.halve(path))


def _row(report: HealthReport) -> dict[str, Any]:
    """Write a look as the history has it."""
    return {
        "time": str(report.time), "severity": str(report.severity), "namespace": report.namespace,
        "stages": sorted({str(finding.stage) for finding in report.findings if finding.severity != "note"}),
        "silent": _pair(report.silent), "figures": report.figures,
        "agents": {
            agent.agent: {
                "PC": _pair(agent.coverage), "SRR": _pair(agent.recall), "ATR": _pair(agent.ambient),
                "effective": _pair(agent.effective), "contradiction": _pair(agent.contradiction),
            }
            for agent in report.agents
        },
    }  # fmt: skip


def _pair(rate: Rate) -> list[int]:
    return [rate.hits, rate.of]
