"""Write the README's table of figures from what `make bench` measured: ``python tools/fill_figures.py``.

The rows that have a target, and the best known peer of each that has one, come from
``bench/results.json``; nothing is typed by hand. `tests/test_bench.py` checks that
README and results agree.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

from table import HEADINGS, cells, from_values  # noqa: E402 - bench is a folder of scripts

BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"


def table(results: dict[str, dict[str, object]]) -> str:
    """Write the rows that have a target, and those where a peer of the same figure is better."""
    out = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    said = set()
    for measured in results.values():
        said.add(f"{measured['date']}, {str(measured['machine']).partition(', load')[0]}")
        rows = from_values(measured["rows"])  # type: ignore[arg-type]
        promised = {row.figure for row in rows if row.target is not None}
        out += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in cells(row)) + " |"
            for row in rows
            if row.target is not None or (row.figure in promised and row.peer_is_better)
        ]
    head = "`make bench` measured, each figure beside its baseline in the same run:"
    tail = f"Measured {'; '.join(sorted(said))}. Notes to each row: [bench/RESULTS.md](bench/RESULTS.md)."
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
