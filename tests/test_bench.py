"""The bench's table and its timing: what a figure claims must follow from its two numbers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from table import Bound, Row, Target, as_markdown, as_text, as_values, cells, from_values
from timing import interleave, median, percentile


def row(ours: float, baseline: float, target: Target | None = None, *, less: bool = True, note: str = "") -> Row:
    return Row("append", ours, baseline, "ms", "bare insert", less, target, note)


@pytest.mark.parametrize(
    ("target", "kept", "broken"),
    [
        (Target(Bound.RATIO_MAX, 1.5), (3.0, 2.0), (3.1, 2.0)),
        (Target(Bound.RATIO_MIN, 0.8), (1.6, 2.0), (1.5, 2.0)),
        (Target(Bound.OURS_MAX, 10.0), (10.0, 1.0), (10.1, 99.0)),
        (Target(Bound.OURS_MIN, 0.0), (1.0, 9.0), (0.0, 9.0)),
        (Target(Bound.OVER_MAX, 50.0), (61.0, 11.0), (62.0, 11.0)),
    ],
)
def test_target_at_its_edge(target: Target, kept: tuple[float, float], broken: tuple[float, float]) -> None:
    """A target is met up to its bound and missed just beyond it."""
    assert (row(*kept, target).met, row(*broken, target).met) == (True, False)


def test_without_target_the_peer_is_named() -> None:
    """A row without a target is neither met nor missed, and says which side has the better number."""
    shown = [(one.met, cells(one)[-1]) for one in (row(2, 1), row(1, 2), row(2, 1, less=False), row(1, 2, less=False))]
    worse, better = (None, "baseline is better"), (None, "ours is better")
    assert shown == [worse, better, better, worse]


def test_no_figure_without_its_baseline() -> None:
    """A row cannot be made without a baseline above zero."""
    with pytest.raises(ValueError, match="append: a baseline is a number above zero; got 0"):
        row(1.0, 0)


def test_cells() -> None:
    """The six cells show three figures of each number, its unit, and the target in words."""
    assert cells(row(1234.5, 0.25, Target(Bound.OVER_MAX, 50))) == (
        "append",
        "1,234 ms",
        "0.250 ms (bare insert)",
        "4,938 x",
        "<= baseline + 50.0 ms",
        "NO",
    )


def test_text_table_stands_in_columns() -> None:
    """In a terminal every separator of a column stands under the one above it."""
    lines = as_text([row(1, 2), row(123_456, 2, Target(Bound.RATIO_MAX, 1))]).splitlines()
    at = [[i for i, sign in enumerate(line) if sign in "|+"] for line in lines]
    assert len(lines) == 4
    assert [len(columns) for columns in at] == [5] * 4
    assert at == [at[0]] * 4


def test_markdown_shares_notes() -> None:
    """Rows with the same note point to it by the same number, and it is written once."""
    text = as_markdown([row(1, 2, note="warm"), row(1, 2), row(3, 2, note="warm"), row(3, 2, note="cold | dark")])
    assert text.splitlines() == [
        "| figure | ours | baseline | ratio | target | met? |",
        "|---|---|---|---|---|---|",
        "| append [1] | 1.00 ms | 2.00 ms (bare insert) | 0.500 x | - | ours is better |",
        "| append | 1.00 ms | 2.00 ms (bare insert) | 0.500 x | - | ours is better |",
        "| append [1] | 3.00 ms | 2.00 ms (bare insert) | 1.50 x | - | baseline is better |",
        "| append [2] | 3.00 ms | 2.00 ms (bare insert) | 1.50 x | - | baseline is better |",
        "",
        "1. warm",
        "2. cold | dark",
    ]


def test_values_round_trip() -> None:
    """Rows written as JSON are read back equal, with ratio and verdict beside their numbers."""
    rows = [row(3, 2, Target(Bound.RATIO_MAX, 1.5), note="n"), row(1, 2)]
    values = json.loads(json.dumps(as_values(rows)))
    assert from_values(values) == rows
    assert [(v["ratio"], v["met"], v["peer_is_better"]) for v in values] == [(1.5, True, True), (0.5, None, False)]


def test_interleave_takes_turns() -> None:
    """Each subject gets every item in order, block by block, and another subject begins each block."""
    calls: list[tuple[str, int]] = []
    subjects = {name: lambda item, name=name: calls.append((name, item)) for name in ("a", "b")}
    seconds = interleave(subjects, [1, 2, 3], block=2)
    assert calls == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3), ("a", 3)]
    assert {name: len(taken) for name, taken in seconds.items()} == {"a": 3, "b": 3}


def test_percentile_by_nearest_rank() -> None:
    """A percentile is one of the values; none of no values is an error, not a zero."""
    values = [float(n) for n in range(100, 0, -1)]
    assert (percentile(values, 0.0), median(values), percentile(values, 0.99), percentile(values, 1.0)) == (
        1,
        51,
        100,
        100,
    )
    with pytest.raises(ValueError, match="at least one value"):
        percentile([], 0.5)
