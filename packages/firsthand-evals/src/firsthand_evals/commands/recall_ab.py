"""The command ``eval recall-ab``: the same prompts with and without what is pushed unasked.

    experience: the answer stands only in the memory (32 cases, 96 items a condition)
    condition  right              against none         ...
    none       0.00 [0.00, 0.00]
    all        0.74 [0.60, 0.87]  +0.74 [+0.60, +0.87]

Exit code 1 says that a push made answers worse than none, beyond doubt. The store of
the user is not read; only the results are kept in its folder, or where ``--out`` says.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from firsthand import InvalidArgument, environment, moment
from firsthand.cli.display import shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.value import asdict
from firsthand_evals import cases, delivery, models, readers, recall_ab, registry
from firsthand_evals.commands.results import folder_kept, progress
from firsthand_evals.delivery import CONDITIONS, Condition
from firsthand_evals.readers import Reader
from firsthand_evals.recall_ab import Cell, Item


def recall_ab_(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    made = cases.worlds(chosen.worlds, chosen.seed, moment.now())
    reader = _reader(chosen.model, cases.beliefs(made))
    conditions = _conditions(chosen.condition)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firsthand-eval-")))
        out.remark(f"living {len(made)} pasts of {cases.SESSIONS} sessions through hooks")
        push = stack.enter_context(delivery.hooks(made, folder))
        prompts = recall_ab.prepare(
            made, push, conditions=conditions, repetitions=chosen.repetitions, cases_max=chosen.cases,
            progress=progress(out, "pushed before"),
        )  # fmt: skip
    planned = recall_ab.plan(prompts, reader)
    if reader.costs:
        out.warn(f"{reader.name}: at most {planned.calls:,} calls, about {planned.tokens:,} tokens")
    items = list(
        recall_ab.run(prompts, reader, calls_max=chosen.calls_max, progress=progress(out, f"{reader.name} asked"))
    )
    table = recall_ab.cells(items)
    _show(items, table, out)
    _keep(chosen, out, reader, items, table)
    return _verdict(table, out)


def _show(items: Sequence[Item], table: Sequence[Cell], out: Output) -> None:
    if out.as_json:
        for item in items:
            out.json({"item": asdict(item)})
        for cell in table:
            out.json({"cell": recall_ab.as_json(cell)})
        return
    for line in recall_ab.lines(table):
        out.line(line)


def _keep(
    chosen: argparse.Namespace, out: Output, reader: Reader, items: Sequence[Item], table: Sequence[Cell]
) -> None:
    kept = folder_kept(chosen)
    if kept is None:
        out.remark("nothing is kept: there is no store, and no --out DIR")
        return
    folder = registry.folder_of(kept, "recall-ab")
    about = {
        "date": str(moment.now())[:10], "reader": reader.name, "seed": chosen.seed, "worlds": chosen.worlds,
        "cases": chosen.cases, "repetitions": chosen.repetitions,
        "headline": f"{reader.name}: {recall_ab.headline(table)}",
    }  # fmt: skip
    recall_ab.keep(folder, items, table, about)
    out.remark(f"kept in {shown(str(folder))}")


def _verdict(table: Sequence[Cell], out: Output) -> int:
    worse = recall_ab.harmful(table)
    for cell in worse:
        out.warn(f"{cell.condition} makes answers worse where {cell.sort}: {cell.right_to_none}")
    return NOTHING_FOUND if worse else DONE


def _conditions(names: Sequence[str]) -> tuple[Condition, ...]:
    known = {one.name: one for one in CONDITIONS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise InvalidArgument(f"there is no condition {wrong[0]!r}; these are: {', '.join(known)}")
    return tuple(one for one in CONDITIONS if not names or one.name in {recall_ab.BASELINE, *names})


def _reader(model: str | None, beliefs: dict[str, str]) -> Reader:
    if model is None:
        return readers.Scripted(beliefs)
    chosen = models.named(model)
    return readers.Asked(
        models.opened(chosen, environment.model_key()), chosen.name, repeats=chosen.served == models.LOCAL
    )
