"""A plan for a store in PostgreSQL, reckoned from what `make bench-postgres` measured: ``python tools/scale_plan.py``.

    python tools/scale_plan.py --tenants 1000 --events 50000      another plan
    python tools/scale_plan.py --write                            docs/scale.md anew, with the plan of the defaults

Measured are bytes and processor time of an event (bench/postgres.json); prices, disks, cores and how events come over
time are assumptions, each an option. `tests/test_scale_plan.py` holds page, script and recorded figures together.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from table import as_markdown, from_values  # noqa: E402 - bench is a folder of scripts

PAGE, RESULTS = ROOT / "docs" / "scale.md", ROOT / "bench" / "postgres.json"
MARKS = {name: (f"<!-- {name}:begin -->", f"<!-- {name}:end -->") for name in ("measured", "plan", "assumed")}
TB, DAY_S, YEAR_S = 1e12, 86_400, 365 * 86_400


@dataclass(frozen=True, slots=True)
class Assumed:
    """What is not measured. The comments are the help."""

    tenants: float = 100_000  # tenants
    events: float = 1_000_000  # events of each
    years: float = 1.0  # over which they were written
    peak: float = 10.0  # busiest hour over the mean
    body_bytes: float = 0.0  # mean bytes of an event; 0 takes the measured ones
    disk_tb: float = 2.0  # disk of a primary, TB
    fill: float = 0.7  # share of it that may be used
    copies: float = 2.0  # of each primary: itself and its standbys
    archive_days: float = 7.0  # kept of the write-ahead log
    active: float = 0.02  # share of tenants with a replica
    replica_disk_tb: float = 2.0  # disk of a server for replicas, TB
    network_gbit: float = 10.0  # between machines
    disk_price: float = 80.0  # of a TB a month
    archive_price: float = 23.0  # of a TB in an object store a month
    core_price: float = 25.0  # of a core a month


def plan(measured: dict[str, float], assumed: Assumed) -> dict[str, float]:
    """Reckon a plan; every figure follows from the measured ones and the assumptions."""
    events = assumed.tenants * assumed.events
    body = assumed.body_bytes / measured["body_bytes"] if assumed.body_bytes else 1.0
    heap, wal = measured["heap_bytes"] * body, measured["wal_bytes"] * body
    each = heap + measured["index_bytes"] + measured["toast_bytes"] * body
    mean = events / (assumed.years * YEAR_S)
    peak = mean * assumed.peak
    primaries = math.ceil(events * each / (assumed.disk_tb * TB * assumed.fill))
    tenants = assumed.tenants / primaries
    replicas = assumed.active * events * measured["replica_bytes"] * body
    copying = assumed.network_gbit * 1e9 / 8 * assumed.fill
    cores = peak * (measured["server_us_1"] + measured["client_us_1"]) / 1e6
    out = {
        "events": events,
        "heap_tb": events * heap / TB,
        "index_tb": events * measured["index_bytes"] / TB,
        "toast_tb": events * measured["toast_bytes"] * body / TB,
        "copy_tb": events * each / TB,
        "disk_tb": events * each * assumed.copies / TB,
        "wal_day_tb": mean * DAY_S * wal / TB,
        "archive_tb": events * each / TB + assumed.archive_days * mean * DAY_S * wal / TB,
        "mean_rate": mean,
        "peak_rate": peak,
        "cores_single": cores,
        "cores_batched": peak * (measured["server_us_64"] + measured["client_us_64"]) / 1e6,
        "primaries": primaries,
        "tenants_each": tenants,
        "share_each": 1 / primaries,
        "rebuild_h": events * each / primaries / copying / 3_600,
        "tenant_gb": assumed.events * each / 1e9,
        "move_s": assumed.events * (measured["export_us"] + measured["restore_us"]) / 1e6,
        "replicas_tb": replicas / TB,
        "replica_servers": math.ceil(replicas / (assumed.replica_disk_tb * TB * assumed.fill)),
        "replica_gb": assumed.events * measured["replica_bytes"] * body / 1e9,
        "replica_s": assumed.events * measured["replica_us"] / 1e6,
    }
    out["disk_cost"] = (out["disk_tb"] / assumed.fill + out["replicas_tb"] / assumed.fill) * assumed.disk_price
    out["archive_cost"] = out["archive_tb"] * assumed.archive_price
    out["core_cost"] = max(2 * assumed.copies * primaries, cores * assumed.copies) * assumed.core_price
    out["cost"] = out["disk_cost"] + out["archive_cost"] + out["core_cost"]
    out["tenant_cost"] = out["cost"] / assumed.tenants
    return out


ROWS = {
    "events": ("events", "", "assumed"),
    "heap_tb": ("rows of events and sessions", "TB", "measured"),
    "index_tb": ("their indexes", "TB", "measured"),
    "toast_tb": ("bodies out of line (TOAST)", "TB", "measured"),
    "copy_tb": ("one copy of it all", "TB", "measured"),
    "disk_tb": ("primaries and standbys", "TB", "measured, copies assumed"),
    "wal_day_tb": ("write-ahead log a day", "TB", "measured, evenly over the years"),
    "archive_tb": ("archive: a base backup and the log since", "TB", "measured, uncompressed"),
    "mean_rate": ("appends, mean", "/s", "assumed"),
    "peak_rate": ("appends, busiest hour", "/s", "assumed"),
    "cores_single": ("cores at that hour, an event an append (PostgreSQL and writers)", "cores", "measured"),
    "cores_batched": ("cores at that hour, 64 events an append", "cores", "measured"),
    "primaries": ("primaries", "", "estimate: by disk alone"),
    "tenants_each": ("tenants on each, which a failure of it concerns", "", "estimate"),
    "rebuild_h": ("a standby made anew over the network", "h", "estimate: the network's speed"),
    "tenant_gb": ("one tenant", "GB", "measured"),
    "move_s": ("moving a tenant: export and restore", "s of processor", "measured"),
    "replicas_tb": ("replicas of active tenants", "TB", "measured, share assumed"),
    "replica_servers": ("servers, by replicas' disk", "", "estimate"),
    "replica_gb": ("one replica", "GB", "measured"),
    "replica_s": ("making it anew from nothing", "s of processor", "measured at 20,000 events"),
    "disk_cost": ("disks a month", "USD", "estimate"),
    "archive_cost": ("archive a month", "USD", "estimate"),
    "core_cost": ("cores a month, at least two a machine", "USD", "estimate"),
    "cost": ("all of it a month", "USD", "estimate"),
    "tenant_cost": ("a tenant a month", "USD", "estimate"),
}
"""Each figure's name on the page, its unit, and where it comes from."""


def plan_table(figures: dict[str, float]) -> str:
    """Write a plan as a table."""
    lines = ["| figure | | from |", "|---|---:|---|"]
    lines += [f"| {name} | {_amount(figures[key])} {unit}".rstrip() + f" | {source} |"
              for key, (name, unit, source) in ROWS.items()]  # fmt: skip
    return "\n".join(lines)


def assumed_table(assumed: Assumed) -> str:
    """Write the assumptions with their options."""
    lines = ["| option | | |", "|---|---:|---|"]
    return "\n".join(lines + [f"| `--{name.replace('_', '-')}` | {_amount(getattr(assumed, name))} | {text} |"
                              for name, text in _helps().items()])  # fmt: skip


def measured_table(results: dict[str, Any]) -> str:
    """Write what was measured on each PostgreSQL, beside its baselines."""
    out = []
    for result in results.values():
        rows = [row for figure in result["figures"].values() for row in from_values(figure["rows"])]
        days = sorted({figure["date"] for figure in result["figures"].values()})
        machines = sorted({figure["machine"].partition(", load")[0] for figure in result["figures"].values()})
        out += [
            f"PostgreSQL {result['version']}, {' and '.join(days)}, {'; '.join(machines)}:",
            as_markdown(rows).rstrip(),
        ]
        values = ", ".join(f"{name} {_amount(number)}" for name, number in sorted(result["measured"].items()))
        out.append(f"For the plan: {values}.")
    return "\n\n".join(out)


def filled(page: str, results: dict[str, Any]) -> str:
    """Put the tables between the page's marks."""
    assumed = Assumed()
    parts = {
        "measured": measured_table(results),
        "plan": plan_table(plan(results["embedded"]["measured"], assumed)),
        "assumed": assumed_table(assumed),
    }
    for name, text in parts.items():
        begin, end = MARKS[name]
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        if not after:
            raise SystemExit(f"expected {begin} and {end} in docs/scale.md; put them back where the table stands")
        page = f"{before}{begin}\n{text}\n{end}{after}"
    return page


def _helps() -> dict[str, str]:
    """Read what each assumption is from the comment behind it."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    names = [field.name for field in fields(Assumed)]
    return {name: next(line.partition("#")[2].strip() for line in lines if line.startswith(f"    {name}: float"))
            for name in names}  # fmt: skip


def _amount(number: float) -> str:
    size = abs(number)
    digits = 0 if size >= 100 or number == int(number) else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{number:,.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/scale.md anew, with the defaults")
    for name, text in _helps().items():
        default = getattr(Assumed(), name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default, help=f"{text} ({default:g})")
    options = vars(parser.parse_args())
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    if options.pop("write"):
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
        return
    print(plan_table(plan(results["embedded"]["measured"], Assumed(**options))))


if __name__ == "__main__":
    main()
