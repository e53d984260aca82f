"""Fit the gate that a store begins with, on real questions and on such as stores make of themselves.

    python bench/gate_fit.py --data DATA --model MODEL --kept FOLDER [--write]

Prints the constants, and with ``--write`` writes them to ``src/firsthand/recall/default_gate.py``. The calibration
error is that of talks left out of the fit, real questions only.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from firsthand.recall import logistic
from firsthand.recall.logistic import Weighed
from firsthand.recall.signals import NAMES
from gate_rows import REAL, Row, rows
from quality.encoder import Vectors

TARGET = Path(__file__).parents[1] / "src" / "firsthand" / "recall" / "default_gate.py"
STRENGTH = 3.0
FLAT = Weighed((0.0,) * (len(NAMES) + 1))
HEAD = '''"""The weights of the gate that a store begins with.

Written by ``python bench/gate_fit.py --write``; not edited by hand.
"""

from __future__ import annotations

'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    found = rows(chosen.data, chosen.kept, Vectors(chosen.kept / "vectors", chosen.model))
    text = HEAD + constants(found)
    if chosen.write:
        TARGET.write_text(text, encoding="utf-8")
    print(text)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what both commands of the gate take."""
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="folder with model.onnx and tokenizer.json")
    parser.add_argument("--kept", type=Path, required=True, help="folder that keeps rows and vectors for the next run")


def fitted(listed: Sequence[Row], prior: Weighed = FLAT, strength: float = STRENGTH) -> Weighed:
    """Fit weights to rows; those of real questions count like the made ones."""
    return logistic.fit([row["signals"] for row in listed], [row["truth"] for row in listed], prior, strength)


def constants(found: Sequence[Row]) -> str:
    """Write the fit of all rows as Python."""
    weights = fitted(found).weights
    chances, truths = [], []
    for talk in sorted({row["talk"] for row in found}):
        weighed = fitted([row for row in found if row["talk"] != talk])
        real = [row for row in found if row["talk"] == talk and row["kind"] == REAL]
        chances += [weighed.chance(row["signals"]) for row in real]
        truths += [row["truth"] for row in real]
    lines = [f'    "{name}": {weight:.3f},' for name, weight in zip(NAMES, weights[1:], strict=True) if weight]
    error = logistic.calibration_error(chances, truths)
    listed = "\n".join(lines)
    return f"BIAS = {weights[0]:.3f}\nWEIGHTS = {{\n{listed}\n}}\nQUESTIONS = {len(found)}\nERROR = {error:.3f}\n"


if __name__ == "__main__":
    main()
