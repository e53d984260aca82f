"""What a run of recall-ab found, for people and for machines: lines of a table, and files.

It computes nothing: every figure is taken from the cells.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firsthand.value import asdict
from firsthand_evals import recall_ab
from firsthand_evals.recall_ab import AtCost, Cell, Item
from firsthand_evals.stats import Difference, Rate

_HEAD = (
    "condition", "right", "against none", "contradicts", "tempted", "no value", "pushed", "useful", "tokens",
)  # fmt: skip
_ABOUT = {
    "experience": "the answer stands only in the memory",
    "procedure": "a rule learned in other words",
    "needless": "recall should not help: the reader knows the answer",
}
FOOT = (
    "right, contradicts: mean over items with 95 % intervals, resampled by case (5,000 times).",
    "contradicts: a value is given, and the memory holds another one. pushed: anything stood before the prompt.",
    "useful: of the messages to which implicit recall showed something, those where it held the value asked for.",
)


def lines(cells: Sequence[Cell], costs: Sequence[AtCost] = ()) -> list[str]:
    """Write the table, a block for each sort of case, and what a more careful gate would have come to."""
    told: list[str] = []
    for sort in dict.fromkeys(cell.sort for cell in cells):
        own = [cell for cell in cells if cell.sort == sort]
        n = own[0].right
        told += ["", f"{sort}: {_ABOUT.get(sort, '')} ({n.clusters} cases, {n.n} items a condition)"]
        rows = [_HEAD, *(_row(cell) for cell in own)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        told += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    told += ["", "recall alone, had a wrong reminder cost more beside a missed one:"] if costs else []
    told += [
        f"  {one.sort}, cost {one.cost:g} (from confidence {one.cost / (1 + one.cost):.2f} on): shown to "
        f"{_rate(one.pushed)} prompts, right {_difference(one.right_to_none)}"
        for one in costs
    ]
    return [*told[1:], "", *FOOT]


def keep(folder: Path, items: Sequence[Item], cells: Sequence[Cell], about: dict[str, Any]) -> None:
    """Write every item, the figures and the table into a folder; a run before is replaced."""
    costs = recall_ab.at_costs(items)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(item)) + "\n" for item in items)
    (folder / "table.txt").write_text("\n".join(lines(cells, costs)) + "\n", encoding="utf-8")
    summary = {**about, "cells": [recall_ab.as_json(cell) for cell in cells], "costs": [asdict(one) for one in costs]}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


def headline(cells: Sequence[Cell]) -> str:
    """Say the run in one line: what all pushes together did to each sort."""
    every = [cell for cell in cells if cell.condition == "all"]
    return "; ".join(f"{cell.sort} {cell.right.mean:.2f} ({_difference(cell.right_to_none)})" for cell in every)


def _row(cell: Cell) -> tuple[str, ...]:
    return (
        cell.condition,
        f"{cell.right.mean:.2f} [{cell.right.low:.2f}, {cell.right.high:.2f}]",
        _difference(cell.right_to_none),
        f"{cell.contradicts.mean:.2f}" + (f" {_difference(cell.contradicts_to_none)}" if _changed(cell) else ""),
        _rate(cell.tempted),
        _rate(cell.silent),
        _rate(cell.pushed),
        _rate(cell.useful),
        f"{cell.tokens:.0f}",
    )


def _changed(cell: Cell) -> bool:
    """Say whether there is a difference in contradictions that is worth its room."""
    difference = cell.contradicts_to_none
    return difference is not None and (difference.low > 0 or difference.high < 0)


def _difference(one: Difference | None) -> str:
    if one is None:
        return ""
    signs = f"{one.mean:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"
    return f"{signs} no difference detectable" if one.low <= 0 <= one.high else signs


def _rate(one: Rate) -> str:
    return f"{one.hits}/{one.n}"
