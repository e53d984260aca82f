"""The plan of docs/scale.md: page, script and recorded figures say the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from scale_plan import PAGE, RESULTS, ROWS, Assumed, filled, plan, plan_table  # noqa: E402 - a folder of scripts

MEASURED = {
    "body_bytes": 500.0, "heap_bytes": 700.0, "index_bytes": 250.0, "toast_bytes": 50.0, "wal_bytes": 2_000.0,
    "replica_bytes": 1_000.0, "replica_us": 200.0, "export_us": 30.0, "restore_us": 70.0, "server_us_1": 400.0,
    "client_us_1": 200.0, "server_us_64": 20.0, "client_us_64": 40.0,
}  # fmt: skip


def test_the_page_says_what_the_script_reckons():
    """Tables of docs/scale.md are those of the recorded figures and the defaults."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == filled(page, json.loads(RESULTS.read_text(encoding="utf-8")))


def test_a_plan_follows_from_its_figures():
    """Storage, log, primaries, times and cost of a small plan are those that a person reckons."""
    assumed = Assumed(
        tenants=1_000, events=1e6, years=1e9 / (365 * 86_400 * 100), peak=2, disk_tb=0.5, fill=0.5, copies=2,
        archive_days=1, active=0.1, replica_disk_tb=0.1, network_gbit=8,
    )  # fmt: skip
    figures = plan(MEASURED, assumed)
    assert {name: round(figures[name], 6) for name in ROWS} == {
        "events": 1e9, "heap_tb": 0.7, "index_tb": 0.25, "toast_tb": 0.05, "copy_tb": 1.0, "disk_tb": 2.0,
        "wal_day_tb": 0.01728, "archive_tb": 1.01728, "mean_rate": 100.0, "peak_rate": 200.0, "cores_single": 0.12,
        "cores_batched": 0.012, "primaries": 4, "tenants_each": 250.0, "rebuild_h": 0.138889, "tenant_gb": 1.0,
        "move_s": 100.0, "replicas_tb": 0.1, "replica_servers": 2, "replica_gb": 1.0, "replica_s": 200.0,
        "disk_cost": 336.0, "archive_cost": 23.39744, "core_cost": 400.0, "cost": 759.39744, "tenant_cost": 0.759397,
    }  # fmt: skip


def test_options_change_the_plan():
    """Twice the tenants on the command line are twice the storage; larger bodies leave the indexes as they are."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "scale_plan.py", "--tenants", "200000"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    measured = json.loads(RESULTS.read_text(encoding="utf-8"))["embedded"]["measured"]
    assert done.stdout == plan_table(plan(measured, Assumed(tenants=200_000))) + "\n"
    small, large = plan(MEASURED, Assumed()), plan(MEASURED, Assumed(body_bytes=1_000))
    assert plan(MEASURED, Assumed(tenants=200_000))["disk_tb"] == 2 * small["disk_tb"]
    assert (large["heap_tb"], large["index_tb"]) == (pytest.approx(2 * small["heap_tb"]), small["index_tb"])
