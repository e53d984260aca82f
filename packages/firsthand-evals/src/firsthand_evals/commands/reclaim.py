"""The command ``eval reclaim``: is a memory still correctable when it went wrong, and does a correction land?

    reclaim: 6, Figure 1, Tables 8, 18
    family      memory  correction  n   brought back       stale value  ...
    arithmetic  toy     directed    24  0.00 [0.00, 0.12]  ...

A memory under test is a function ``write(messages, budget)``, an object or a class, of a
file that the user names or of an installed package; nothing else of the current folder is
imported. What it raises, or gives wrongly, costs its item and is
said; nothing that was answered is lost. What it prints goes to standard error. Exit code
1 says that a memory brought back less than ``--fail-under`` or failed in most items, that
the run did not come to its end, or that it tells nothing of a memory: a check of the
evaluation itself is broken, or the reader does not answer what it is shown whole.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path

from firsthand import InvalidArgument, __version__, environment, moment
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.value import asdict, value
from firsthand_evals import pages, registry
from firsthand_evals.commands.experiments import can_be_written, folder_kept, progress
from firsthand_evals.models import Cap, Price, named, price_of
from firsthand_evals.reclaim import (
    acceptance,
    experiments,
    figures,
    files,
    items,
    own,
    page,
    readers,
    requirements,
    run,
    tables,
    validators,
    writers,
)  # fmt: skip
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.models import Asking, plan
from firsthand_evals.reclaim.page import Report
from firsthand_evals.reclaim.readers import Reader
from firsthand_evals.reclaim.seam import Subject

CHAIN = "cascade"
TABLES_SHOWN_MAX = 2
"""Of a run; with more of them each is told in a line, and the tables are in the report."""
FAULTS_SHOWN_MAX = 3
"""Different ones of a memory; all are in the report."""
_READERS: dict[str, Callable[[], Reader]] = {
    "recomputing": readers.Recomputing, "careless": lambda: readers.Recomputing(heeds_tag=False),
    "believing": readers.Believing, "yielding": readers.Yielding,
    "guessing": readers.Guessing,
}  # fmt: skip


@value
class _Asked:
    """A run to be made: its cases, who answers, and where its items go.

    Attributes:
        names: the memories under test.
        folder: of this run's files; None keeps nothing.
    """

    cases: tuple[Case, ...]
    names: tuple[str, ...]
    reader: Reader
    folder: Path | None
    models: Models | None


def reclaim(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    can_be_written(chosen, "html", "junit")
    with redirect_stdout(sys.stderr):  # a memory under test may print, and standard output is for the answer
        asked = _asked(chosen, out)
    if chosen.estimate:
        return _estimate(asked, chosen, out)
    with nullcontext() if asked.folder is None else files.held(asked.folder):
        with redirect_stdout(sys.stderr):
            came = _run(asked, chosen, out)
        report = _report(asked, came.items, chosen)
        _show(report, out)
        _write(report, asked, came, chosen, out)
    return _verdict(report, came, chosen, out)


def _asked(chosen: argparse.Namespace, out: Output) -> _Asked:
    """Make the cases, and refuse what cannot be run before anything is asked."""
    subjects = own.memories(chosen.memory or ["firsthand"], may_recall=not chosen.no_recall)
    path = folder_kept(chosen)
    if chosen.resume and path is None:
        raise InvalidArgument("there is nothing to resume: no store, and no --out DIR that a run was kept in")
    folder = None if path is None else registry.folder_of(path, files.NAME)
    asked_of = models_of(chosen, folder)
    written = asked_of.wordings if asked_of is not None else ()
    subjects += asked_of.subjects if asked_of is not None else ()
    options = experiments.Options(
        chosen.problems, chosen.seed, chosen.repetitions, subjects, chosen.wording,
        Path(chosen.data).expanduser() if chosen.data else None, written,
        vary={"hops": tuple(dict.fromkeys(chosen.hops))} if chosen.hops else {},
    )  # fmt: skip
    names = chosen.experiment or experiments.battery(options)
    if chosen.hops and CHAIN not in names:
        raise InvalidArgument(f"--hops is of the experiment {CHAIN} alone; got {', '.join(names)}")
    changes = own.Changes(chosen.budget, tuple(chosen.source_at), tuple(chosen.corrections))
    cases = own.cases(names, options, changes)
    if folder is None:
        out.remark("nothing is kept: there is no store, and no --out DIR")
    reader = asked_of.reader if asked_of is not None else None
    tested = tuple(subject.name for subject in (*subjects, *written))
    return _Asked(cases, tested, reader or _READERS[chosen.reader or "recomputing"](), folder, asked_of)


def _run(asked: _Asked, chosen: argparse.Namespace, out: Output) -> Outcome:
    told = progress(out, "asked", "cases")
    if asked.folder is None:
        return Outcome(tuple(run.run(asked.cases, asked.reader, probe=own.regime, progress=told)), whole=True)
    if asked.models is not None:
        return ask_models(asked.models, asked.cases, asked.reader, chosen, out)
    file = files.begin(asked.folder, resume=chosen.resume)
    known = items.load(file)
    made = run.run(asked.cases, asked.reader, known=known, probe=own.regime, progress=told)
    try:
        found = tuple(items.keep(made, file))
    except KeyboardInterrupt:
        out.warn(
            f"{len(items.load(file)):,} items are kept in {shown(str(file))}; with --resume only the rest is asked"
        )
        raise
    if known:
        again = sum(one.key in known for one in found)
        out.remark(f"{again:,} of {len(found):,} items were there already")
    return Outcome(found, whole=True)


def _report(asked: _Asked, found: Sequence[Item], chosen: argparse.Namespace) -> Report:
    made = experiments.tables_of(found)
    least = chosen.fail_under if chosen.fail_under is not None else requirements.LEAST
    # Most checks know what the paper's notes come to at the paper's budgets, with all source in one place.
    as_in_paper = chosen.budget is None and not chosen.corrections and asked.reader.name == "recomputing"
    checks = validators.validate(
        found, [case.problem for case in asked.cases], as_in_paper=as_in_paper, by_rule=not asked.reader.costs
    )
    about = (
        ("memories under test", ", ".join(asked.names)), ("reader", asked.reader.name),
        ("items", f"{len(found):,}"), ("problems of each cell", str(chosen.problems)), ("seed", str(chosen.seed)),
        ("repetitions", str(chosen.repetitions)), ("wording of the sessions", str(chosen.wording)),
        ("budget", f"{chosen.budget:,} characters" if chosen.budget is not None else "as in the paper"),
        ("source at", ", ".join(chosen.source_at) or "as in the paper"),
        ("corrections", ", ".join(chosen.corrections) or "as in the paper"),
        ("sessions of a chain", ", ".join(map(str, chosen.hops)) or "as in the paper"),
        ("checks of the evaluation", "all" if as_in_paper else "those that hold at any budget, for any correction and "
         "reader"),
        ("at least", f"{least:g} of the items"), ("date", str(moment.now())[:10]), ("firsthand", __version__),
    )  # fmt: skip
    cases = {items.key(case, asked.reader): case for case in asked.cases}
    return Report(
        tuple(found), made, requirements.requirements(found, made, asked.names, least), checks, asked.names, cases,
        about, acceptance.acceptances(found, cases, asked.names),
    )  # fmt: skip


def _show(report: Report, out: Output) -> None:
    if out.as_json:
        for item in report.items:
            out.json({"item": asdict(item)})
        for table in report.tables:
            out.json({"table": tables.as_json(table)})
        for judged in report.acceptances:
            out.json({"acceptance": asdict(judged)})
        for requirement in report.requirements:
            out.json({"requirement": {**asdict(requirement), "broken": [one.key for one in requirement.broken]}})
        for check in report.checks:
            out.json({"check": asdict(check)})
        return
    for table in report.tables:
        if len(report.tables) > TABLES_SHOWN_MAX:
            out.line(f"{table.name} ({table.where}): {shown(figures.headline(table, report.names))}")
            continue
        for line in (*pages.section_lines(page.section_of(table, report.names), 2), ""):
            out.line(line)
    for name, cell in figures.scores(report.items, report.names).items():
        own = [requirement for requirement in report.requirements if requirement.memory == name]
        broken = sum(not requirement.held for requirement in own)
        out.line(f"{shown(name)}: brought back {figures.figure(cell, 'reclaim')} of n = {cell.n:,} items; stale "
                 f"values {cell.attractor}, new wrong ones {cell.silent}; {broken} of {len(own)} requirements not "
                 "met")  # fmt: skip
        for judged in report.acceptances:
            if judged.memory == name:
                out.line(f"  {judged}")
        if cell.failed.hits:
            out.warn(f"{shown(name)} failed in {cell.failed.hits:,} of {cell.n:,} items:")
        for fault in list(
            dict.fromkeys(one.fault for one in report.items if one.fault and one.parameters["memory"] == name)
        )[:FAULTS_SHOWN_MAX]:
            out.warn(shown(fault))
        if cell.over:
            out.warn(f"{shown(name)}: {cell.over:,} of {cell.n:,} texts were longer than their budget, and were cut")
    for check in report.checks:
        if not check.held:
            out.warn(f"the evaluation itself: {shown(str(check))}")


def _write(report: Report, asked: _Asked, came: Outcome, chosen: argparse.Namespace, out: Output) -> None:
    made = page.page(report)
    if asked.folder is not None:
        out_folder = asked.folder.parents[1]
        files.keep(out_folder, report.tables, asked.names, made, asked.reader.name)
        out.remark(f"kept in {shown(str(asked.folder))}; the report is {files.PAGE}")
    if chosen.html:
        Path(chosen.html).expanduser().write_text(pages.html(made), encoding="utf-8")
    if chosen.junit:
        unfinished = "" if came.whole else f"{len(came.items):,} of {len(asked.cases):,} cases have an item"
        text = page.junit(report.requirements, report.checks, unfinished)
        Path(chosen.junit).expanduser().write_text(text, encoding="utf-8")


def _verdict(report: Report, came: Outcome, chosen: argparse.Namespace, out: Output) -> int:
    untold = page.nothing_told(report)
    if untold:
        out.warn(f"nothing can be said of a memory: {shown(untold)}")
    code = DONE if came.whole and not untold else NOTHING_FOUND
    for name, cell in figures.scores(report.items, report.names).items():
        if untested := page.untested(cell):
            out.warn(f"{shown(name)} {untested}")
            code = NOTHING_FOUND
        share = cell.recovered.hits / cell.n
        if chosen.fail_under is not None and share < chosen.fail_under:
            out.warn(f"{shown(name)} brought back {share:.3f} of its items, under {chosen.fail_under:g}")
            code = NOTHING_FOUND
    return code


FAILURES_SHOWN_MAX = 3
"""Different ones, the commonest first."""


@value
class Models:
    """The models of one run.

    Attributes:
        reader: None when a deterministic one answers; ``prices``: of it and of the writer, as far as they were told.
        subjects: memories that a model writes; ``wordings``: the same by its four prompts.
    """

    asking: Asking
    reader: Reader | None
    prices: tuple[Price | None, Price | None]
    subjects: tuple[Subject, ...]
    wordings: tuple[Subject, ...]


@value
class Outcome:
    """What came of a run: its items, and whether there is one of every case."""

    items: tuple[Item, ...]
    whole: bool


def models_of(chosen: argparse.Namespace, folder: Path | None) -> Models | None:
    """Give the models that were asked for; None without any."""
    if not (chosen.model or chosen.writer):
        given = [name for name in ("price", "cost_max", "tokens_max", "replay", "estimate") if getattr(chosen, name)]
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
    prices = {name: Price(prompt, reply) for name, prompt, reply in chosen.price}
    cap = Cap(calls=chosen.calls_max, tokens=chosen.tokens_max, cost=chosen.cost_max)
    asking = Asking(folder, cap=cap, prices=prices, key=environment.model_key(), replay=chosen.replay)
    model = named(chosen.model, temperature=chosen.temperature) if chosen.model else None
    writer = named(chosen.writer) if chosen.writer else None
    written = () if writer is None else asking.writers(writer)
    wordings = () if writer is None else writers.wordings(asking.model(writer), writer.name)
    priced = (price_of(prices, model) if model else None, price_of(prices, writer) if writer else None)
    return Models(asking, None if model is None else asking.reader(model), priced, written, wordings)


def _estimate(asked: _Asked, chosen: argparse.Namespace, out: Output) -> int:
    """Tell what a run with a model will take."""
    assert asked.models is not None  # models_of looked
    planned = plan(asked.cases, asked.reader, _known(asked.models, chosen), asked.models.prices)
    if out.as_json:
        out.json({"estimate": asdict(planned)})
    else:
        out.line(f"{count(len(asked.cases), 'case')}, {asked.reader.name} answers: {planned}")
    return DONE


def _known(models: Models, chosen: argparse.Namespace) -> dict[str, Item]:
    return items.load(models.asking.folder / files.ITEMS) if chosen.resume else {}


def ask_models(
    models: Models, cases: Sequence[Case], reader: Reader, chosen: argparse.Namespace, out: Output
) -> Outcome:
    """Tell what it will take, ask, and tell what came of it."""
    planned = plan(cases, reader, _known(models, chosen), models.prices)
    out.warn(f"{count(len(cases), 'case')}, {reader.name} answers: {planned}")
    models.asking.allow(planned)
    files.begin(models.asking.folder, resume=chosen.resume)
    done = models.asking.run(cases, reader, probe=own.regime, progress=progress(out, "asked", "cases"))
    out.warn(
        f"{count(len(cases), 'case')}: {done.known:,} known, {done.made:,} made, {len(done.failed):,} failed, "
        f"{done.left:,} left; spent {done.spent}"
    )
    for error, times in Counter(failed.error for failed in done.failed).most_common(FAILURES_SHOWN_MAX):
        out.warn(f"failed: {shown(error)}" + (f" ({times:,} times)" if times > 1 else ""))
    if done.stopped:
        out.warn(f"stopped: {shown(done.stopped)}")
    if done.failed or done.left:
        out.warn("run it again with --resume: what was answered is not asked again")
    return Outcome(done.items, not done.failed and not done.left)
