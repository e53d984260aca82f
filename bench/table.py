"""The figures of a bench run as rows, and how they are shown.

A row without a baseline cannot be made: a number alone says more of the machine
than of the program. This module measures nothing and knows no engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

HEADINGS = ("figure", "ours", "baseline", "ratio", "target", "met?")


class Bound(StrEnum):
    """What a target bounds."""

    RATIO_MAX = "ratio at most"
    RATIO_MIN = "ratio at least"
    OURS_MAX = "ours at most"
    OURS_MIN = "ours more than"
    OVER_MAX = "at most over the baseline"


@dataclass(frozen=True, slots=True)
class Target:
    """One promise: a bound and its number, in the row's unit unless it bounds the ratio."""

    bound: Bound
    number: float


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside its baseline.

    Attributes:
        figure: what is measured.
        ours, baseline: the two numbers, in ``unit``.
        baseline_name: what the baseline is.
        less_is_better: which way the comparison goes.
        target: what was promised; None for a row that is shown for honesty.
        note: what a reader must know to read the number.

    Raises:
        ValueError: the baseline is not above zero, so that there is no ratio.
    """

    figure: str
    ours: float
    baseline: float
    unit: str
    baseline_name: str
    less_is_better: bool
    target: Target | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if not self.baseline > 0:
            raise ValueError(f"{self.figure}: a baseline is a number above zero; got {self.baseline!r}")

    @property
    def ratio(self) -> float:
        """Ours over the baseline."""
        return self.ours / self.baseline

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        number = self.target.number
        match self.target.bound:
            case Bound.RATIO_MAX:
                return self.ratio <= number
            case Bound.RATIO_MIN:
                return self.ratio >= number
            case Bound.OURS_MAX:
                return self.ours <= number
            case Bound.OURS_MIN:
                return self.ours > number
            case Bound.OVER_MAX:
                return self.ours - self.baseline <= number

    @property
    def peer_is_better(self) -> bool:
        """Whether the baseline has the better number."""
        return self.ours > self.baseline if self.less_is_better else self.ours < self.baseline


def cells(row: Row) -> tuple[str, str, str, str, str, str]:
    """Write a row as the six cells of the table."""
    return (
        row.figure,
        _amount(row.ours, row.unit),
        f"{_amount(row.baseline, row.unit)} ({row.baseline_name})",
        f"{_number(row.ratio)} x",
        _target(row),
        _verdict(row),
    )


def as_text(rows: Sequence[Row]) -> str:
    """Write rows as columns for a terminal."""
    lines = [HEADINGS, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    shown = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    rule = "-+-".join("-" * width for width in widths)
    return "\n".join([shown[0], rule, *shown[1:]])


def as_markdown(rows: Sequence[Row]) -> str:
    """Write rows as a Markdown table, notes below it by number."""
    out = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    notes: list[str] = []
    for row in rows:
        figure, *rest = (cell.replace("|", "\\|") for cell in cells(row))
        if row.note:
            if row.note not in notes:
                notes.append(row.note)
            figure += f" [{notes.index(row.note) + 1}]"
        out.append("| " + " | ".join([figure, *rest]) + " |")
    out.extend(["", *(f"{number}. {note}" for number, note in enumerate(notes, 1))] if notes else [])
    return "\n".join(out)


def as_values(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Write rows as JSON values; ratio and verdict stand beside the numbers they come from."""
    return [asdict(row) | {"ratio": row.ratio, "met": row.met, "peer_is_better": row.peer_is_better} for row in rows]


def from_values(values: Sequence[dict[str, Any]]) -> list[Row]:
    """Read rows back from `as_values`."""
    rows = []
    for value in values:
        fields = {k: v for k, v in value.items() if k not in {"ratio", "met", "peer_is_better", "target"}}
        target = value["target"]
        rows.append(Row(**fields, target=target and Target(Bound(target["bound"]), target["number"])))
    return rows


def _amount(number: float, unit: str) -> str:
    return f"{_number(number)} {unit}".rstrip()


def _number(number: float) -> str:
    """Write three figures; thousands get commas."""
    size = abs(number)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 or size == 0 else 3
    return f"{number:,.{digits}f}"


def _target(row: Row) -> str:
    if row.target is None:
        return "-"
    amount = _number(row.target.number)
    match row.target.bound:
        case Bound.RATIO_MAX:
            return f"<= {amount} x"
        case Bound.RATIO_MIN:
            return f">= {amount} x"
        case Bound.OURS_MAX:
            return f"<= {amount} {row.unit}"
        case Bound.OURS_MIN:
            return f"> {amount} {row.unit}"
        case Bound.OVER_MAX:
            return f"<= baseline + {amount} {row.unit}"


def _verdict(row: Row) -> str:
    if row.met is not None:
        return "yes" if row.met else "NO"
    return "baseline is better" if row.peer_is_better else "ours is better"
