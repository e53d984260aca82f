"""Write the README's table of figures from what `make bench` measured: ``python tools/fill_figures.py``.

Eight rows, by their figures' names, come from ``bench/results.json`` with whether their targets
are met; nothing is typed by hand, and all others stand in ``bench/RESULTS.md``.
`tests/test_bench.py` checks that README and results agree.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from table import HEADINGS, cells, from_values  # noqa: E402 - bench is a folder of scripts

SHOWN = (
    "durable append, about 250 B, p50",
    "import of 100,000 events with the index",
    "recall at 100,000, all classes, p50",
    "recall at 1,000,000, all classes, p50",
    "disk at 100,000 events",
    "window: request in a session of 100,000 events, p95",
    "hook at 100,000 events, p95, warm daemon",
    "50 hooks at the same moment, the slowest",
)
"""What a newcomer asks first; one row each."""
BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"


def table(results: dict[str, dict[str, object]]) -> str:
    """Write the chosen rows, each with its target."""
    rows, days, machines = {}, set(), set()
    for measurement in results.values():
        for row in from_values(measurement["rows"]):  # type: ignore[arg-type]
            if row.figure in SHOWN and row.target is not None and row.figure not in rows:
                rows[row.figure] = row
                days.add(str(measurement["date"]))
                machines.add(str(measurement["machine"]).partition(", load")[0])
    out = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    out += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells(rows[figure])) + " |"
            for figure in SHOWN if figure in rows]  # fmt: skip
    head = "`make bench` measured, each figure beside its baseline in the same run:"
    measured = f"{' and '.join(sorted(days))}, {'; '.join(sorted(machines))}"
    tail = f"Measured {measured}. All rows: [bench/RESULTS.md](bench/RESULTS.md)."
    return "\n".join([head, "", *out, "", tail])


def filled(readme: str, results: dict[str, dict[str, object]]) -> str:
    """Put the table between the README's marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise SystemExit(f"expected {BEGIN} and {END} in README.md; put them back where the table stands")
    return f"{before}{BEGIN}\n{table(results)}\n{END}{after}"


def main() -> None:
    readme = ROOT / "README.md"
    results = json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))
    readme.write_text(filled(readme.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
