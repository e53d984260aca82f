"""The models of ``eval reclaim``: who answers, who writes notes, what that may cost, and what came of it.

A run with a model is always kept, since its replies are paid for: what was answered is
never asked again. Nothing is asked before its size and, with a price, its cost are told.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from firsthand import InvalidArgument, environment
from firsthand.cli.display import count, shown
from firsthand.cli.output import Output
from firsthand.llm.asked import named
from firsthand.llm.budget import Cap, Price
from firsthand.value import value
from firsthand_evals.commands.results import progress
from firsthand_evals.reclaim import files, items, own, writers
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.models import Asking, plan
from firsthand_evals.reclaim.readers import Reader
from firsthand_evals.reclaim.seam import Subject

FAILURES_SHOWN_MAX = 3
"""Different ones, the commonest first."""


@value
class Models:
    """The models of one run.

    Attributes:
        reader: None when a deterministic one answers; ``price``: None when it was not told.
        subjects: memories that a model writes; ``wordings``: the same by its four prompts.
    """

    asking: Asking
    reader: Reader | None
    price: Price | None
    subjects: tuple[Subject, ...]
    wordings: tuple[Subject, ...]


@value
class Outcome:
    """What came of a run: its items, and whether there is one of every case."""

    items: tuple[Item, ...]
    whole: bool


def models_of(chosen: argparse.Namespace, folder: Path | None) -> Models | None:
    """Give the models that were asked for; None without any.

    Raises:
        InvalidArgument: there is no folder to keep a run in, or what was typed does not fit together.
    """
    if not (chosen.model or chosen.writer):
        given = [name for name in ("price", "cost_max", "tokens_max", "replay") if getattr(chosen, name)]
        if given:
            raise InvalidArgument(
                f"--{given[0].replace('_', '-')} is of a run with a model: name one (--model, --writer)"
            )
        return None
    if folder is None:
        raise InvalidArgument(
            "a run with a model is kept, so that no reply is paid for twice: name a folder (--out DIR)"
        )
    if chosen.model and chosen.reader:
        raise InvalidArgument("one reader answers: a model (--model) or a deterministic one (--reader); got both")
    price = Price(*chosen.price) if chosen.price else None
    cap = Cap(calls=chosen.calls_max, tokens=chosen.tokens_max, cost=chosen.cost_max)
    asking = Asking(folder, cap=cap, price=price, key=environment.model_key(), replay=chosen.replay)
    reader = asking.reader(named(chosen.model, temperature=chosen.temperature)) if chosen.model else None
    if not chosen.writer:
        return Models(asking, reader, price, (), ())
    writer = named(chosen.writer)
    return Models(asking, reader, price, asking.writers(writer), writers.wordings(asking.model(writer), writer.name))


def ask(models: Models, cases: Sequence[Case], reader: Reader, chosen: argparse.Namespace, out: Output) -> Outcome:
    """Tell what it will take, ask, and tell what came of it.

    Raises:
        InvalidArgument: it would take more calls than are allowed; nothing is asked then.
    """
    known = items.load(models.asking.folder / files.ITEMS) if chosen.resume else {}
    planned = plan(cases, reader, known, models.price)
    out.warn(f"{reader.name}: {planned}")
    if planned.calls > chosen.calls_max and not chosen.replay:
        raise InvalidArgument(
            f"this run makes at least {planned.calls:,} calls and at most {chosen.calls_max:,} are allowed; take fewer "
            "problems or experiments, or allow more (--calls-max)"
        )
    files.begin(models.asking.folder, resume=chosen.resume)
    done = models.asking.run(cases, reader, probe=own.regime, progress=progress(out, "asked", "cases"))
    out.warn(
        f"{count(len(cases), 'case')}: {done.known:,} known, {done.made:,} made, {len(done.failed):,} failed, "
        f"{done.left:,} left; spent {done.spent}"
    )
    for error, times in Counter(one.error for one in done.failed).most_common(FAILURES_SHOWN_MAX):
        out.warn(f"failed: {shown(error)}" + (f" ({times:,} times)" if times > 1 else ""))
    if done.stopped:
        out.warn(f"stopped: {shown(done.stopped)}")
    if done.failed or done.left:
        out.warn("run it again with --resume: what was answered is not asked again")
    return Outcome(done.items, not done.failed and not done.left)
