"""Print each room's lines of source beside its budget and the figure that it may not pass.

    python tools/rooms.py            a table
    python tools/rooms.py --record   write the figures of today into tools/rooms.json

`tests/test_tidy.py` fails when a room has more lines than its budget and than `tools/rooms.json`
says. A room's figure there falls with the code, by --record, and never rises; it reaches the
budget when the room is rebuilt.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
SOURCE = HOME / "src" / "firsthand"
RECORDED = HOME / "tools" / "rooms.json"

BUDGETS = {
    "values": 3_000, "log": 6_500, "postgres": 2_500, "index": 3_000, "space": 400, "recall": 3_000, "formats": 2_800,
    "context": 6_000, "notes": 1_200, "ledger": 2_200, "hosts": 3_200, "agents": 4_500, "health": 1_300,
    "memory": 1_000, "sync": 800, "server": 3_000, "teams": 1_500, "inspector": 2_000, "adapters": 2_000,
    "proxy": 1_500, "cli": 3_000, "evals": 12_000, "tests": 45_000, "bench": 8_000,
}  # fmt: skip
"""Lines at most. Pages and the second engine are rooms of their own; the plan had one figure for both."""

ROOMS = {
    **dict.fromkeys(
        ("errors", "environment", "value", "event", "moment", "pointer", "fence", "printable", "answer",
         "json_codec", "record", "window", "tokens"), "values"),
    **dict.fromkeys(("session", "client", "memory_verbs", "async_memory", "__init__"), "memory"),
    "agent_space": "agents", "unasked": "agents", "__main__": "cli", "storage": "memory", "telemetry": "memory",
}  # fmt: skip
"""Which room of the plan a folder or file belongs to; one that has the room's own name is not listed."""

PARTS = {"server/inspector": "inspector", "server/teams": "teams", "log/postgres": "postgres"}
"""Rooms within a room's folder."""


def room_of(path: Path) -> str:
    """Give the room that a file of the package belongs to."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return PARTS.get("/".join(parts[:2])) or ROOMS.get(parts[0], parts[0])


def lines() -> dict[str, int]:
    """Count the lines of every room."""
    counts: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        counts[room_of(path)] += _lines(path)
    evaluations = HOME / "packages" / "firsthand-evals"
    for name, folders in {
        "evals": (evaluations / "src",), "tests": (HOME / "tests", evaluations / "tests"), "bench": (HOME / "bench",),
    }.items():  # fmt: skip
        counts[name] = sum(_lines(path) for folder in folders for path in folder.rglob("*.py"))
    return {room: counts[room] for room in sorted(counts, key=[*BUDGETS].index)}


def recorded() -> dict[str, int]:
    """Give the figures that the rooms may not pass."""
    figures: dict[str, int] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return figures


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the figures of today; none rises")
    counts, before = lines(), recorded() if RECORDED.exists() else {}
    if parser.parse_args().record:
        before = {room: min(count, before.get(room, count)) for room, count in counts.items()}
        RECORDED.write_text(json.dumps(before, indent=2) + "\n", encoding="utf-8")
    print(f"{'room':<10}{'lines':>8}{'at most':>9}{'budget':>8}")
    for room, count in counts.items():
        print(f"{room:<10}{count:>8,}{before.get(room, 0):>9,}{BUDGETS[room]:>8,}")
    source = {room: count for room, count in counts.items() if room not in {"evals", "tests", "bench"}}
    print(f"{'package':<10}{sum(source.values()):>8,}{'':>9}{sum(BUDGETS[room] for room in source):>8,}")


if __name__ == "__main__":
    main()
