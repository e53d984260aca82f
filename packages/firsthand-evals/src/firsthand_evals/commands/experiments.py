"""The command ``eval``: the list of experiments, and the run of one by its name.

    reclaim-size  reclaim-evaluation 7, App. B, Figure 2, Table 14: a source that outgrows the budget
        needs nothing; firsthand eval reclaim --experiment size
        last 2026-11-21: firsthand 1.00 (n = 624)

What is a command of ours is run as if it had been typed. What is a script of the
repository is run in the checkout that this package was installed from, never in the
current folder, which may be a stranger's; as a process of its own: its words go where
ours go, and its last line and exit code are kept as its last result.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

import firsthand_evals
from firsthand import InvalidArgument, environment, moment
from firsthand.cli.display import shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.value import asdict, fields
from firsthand_evals import cases, delivery, faults, models, pages, readers, recall_ab, registry
from firsthand_evals.delivery import CONDITIONS, Condition
from firsthand_evals.pages import Page
from firsthand_evals.readers import Reader
from firsthand_evals.recall_ab import Cell
from firsthand_evals.reclaim.experiments import DATA
from firsthand_evals.registry import Experiment
from firsthand_evals.stream import evaluation
from firsthand_evals.stream.options import Options

HEADLINE_CHARACTERS_MAX = 300


def list_(chosen: argparse.Namespace, out: Output) -> int:
    """Run ``eval list``."""
    if chosen.faults:
        return _faults(out)
    path = folder_kept(chosen)
    if chosen.out is not None and not (path is not None and path.is_dir()):
        raise InvalidArgument(f"--out is the folder that results were kept in; {chosen.out!r} is none")
    for experiment in registry.EXPERIMENTS:
        last = registry.last_result(path, experiment.name) if path is not None else ""
        if out.as_json:
            out.json({**asdict(experiment), "ours": experiment.ours, "last": last})
            continue
        out.line(f"{out.style(experiment.name, 'name')}  {experiment.paper} {experiment.where}: {experiment.about}")
        out.line(f"    needs {experiment.needs}; takes {experiment.takes}; {experiment.command}")
        if last:
            out.line(f"    last {shown(last)}")
    return DONE


def _faults(out: Output) -> int:
    """Tell what each experiment must see, and by which check."""
    for number, fault in enumerate(every := faults.faults()):
        if out.as_json:
            out.json(asdict(fault))
            continue
        if not number or every[number - 1].experiment != fault.experiment:
            out.line(out.style(fault.experiment, "name"))
        out.line(f"    {fault.breaks}: {fault.check.rstrip(': ')}")
    return DONE


def run(chosen: argparse.Namespace, out: Output) -> int:
    """Run ``eval run NAME``: the exit code is that of the experiment."""
    experiment = registry.named(chosen.name)
    return _ours(experiment, chosen) if experiment.ours else _script(experiment, chosen, out)


def _ours(experiment: Experiment, chosen: argparse.Namespace) -> int:
    from firsthand.cli.arguments import parser  # noqa: PLC0415 - it is made when it is needed again

    words = experiment.command.partition(" --data")[0].split()[1:]
    before = [part for name in ("store", "namespace") if (it := getattr(chosen, name)) for part in (f"--{name}", it)]
    kept = ["--out", chosen.out] if chosen.out is not None else []
    typed = [*before, *words, *kept, *chosen.rest]
    again = parser(typed).parse_args(typed)
    again.json, again.quiet = again.json or chosen.json, again.quiet or chosen.quiet
    module, _, name = again.command_at.partition(":")
    command = getattr(import_module(module), name)
    code: int = command(again, Output(as_json=again.json, quiet=again.quiet))
    return code


def _script(experiment: Experiment, chosen: argparse.Namespace, out: Output) -> int:
    script = experiment.command.split()[1]
    checkout = _checkout(script)
    if checkout is None:
        raise InvalidArgument(
            f"{experiment.name} is the script {script} of the repository, and this package was not installed from a "
            f"checkout; clone it, and there: pip install -e . && {experiment.command}"
        )
    if experiment.needs == DATA and "--data" not in chosen.rest:
        raise InvalidArgument(f"{experiment.name} reads data that are not ours to hand on; name them: "
                              f"firsthand eval run {experiment.name} --data DATA ({experiment.command})")  # fmt: skip
    started, last = time.monotonic(), ""
    words = [sys.executable, script, *chosen.rest]
    with subprocess.Popen(words, cwd=checkout, stdout=subprocess.PIPE, text=True, errors="backslashreplace") as process:
        assert process.stdout is not None  # it is a pipe
        for line in process.stdout:
            last = line.strip() or last
            (out.remark if out.as_json else out.line)(shown(line.rstrip("\n")))
    seconds = time.monotonic() - started
    headline = f"{last[:HEADLINE_CHARACTERS_MAX]} (exit code {process.returncode}, {seconds:.0f} s)"
    if out.as_json:
        out.json({"name": experiment.name, "exit_code": process.returncode, "seconds": seconds, "last": last})
    _keep(chosen, out, experiment.name, {"headline": headline})
    if process.returncode:
        out.warn(
            f"{experiment.name} ended with exit code {process.returncode}; what went wrong stands above. What a script "
            "imports beside Firsthand, when that is missing: bench/requirements*.txt of the checkout"
        )
    return NOTHING_FOUND if process.returncode else DONE


def _keep(chosen: argparse.Namespace, out: Output, name: str, about: Mapping[str, object]) -> None:
    """Keep what came of an experiment, where there is a place for it."""
    folder = folder_kept(chosen)
    if folder is None:
        out.remark("the result is not kept: there is no store, and no --out DIR")
        return
    registry.keep(folder, name, about)
    out.remark(f"kept in {shown(str(registry.folder_of(folder, name)))}")


def _checkout(script: str) -> Path | None:
    """Give the folder of the checkout that this package stands in, if it has a script; None for none."""
    around = Path(firsthand_evals.__file__).resolve().parents[4]
    return around if (around / script).is_file() else None


def folder_kept(chosen: argparse.Namespace) -> Path | None:
    """Give the folder that results are kept in; None without one: an evaluation makes no store."""
    if chosen.out is not None:
        return Path(chosen.out).expanduser()
    store = Path(chosen.store).expanduser() if chosen.store else environment.default_store()
    if not (store / "firsthand.db").is_file():
        return None
    os.umask(0o077)  # what is in a store is its owner's alone
    return store


def can_be_written(chosen: argparse.Namespace, *names: str) -> None:
    """Refuse files, and a folder of results, that could not be written at the end, before anything is asked.

    Args:
        names: options that name a file.
    """
    given = {name: getattr(chosen, name) for name in names if getattr(chosen, name) is not None}
    places = {name: Path(told).expanduser() for name, told in given.items()}
    for name, place in places.items():
        folder = place.parent
        if not given[name] or place.is_dir():
            raise InvalidArgument(f"--{name} names a file; got {given[name]!r}, which is none")
        if not folder.is_dir():
            raise InvalidArgument(f"--{name} {given[name]}: the folder {folder} is not there; make it first")
        if not os.access(place if place.exists() else folder, os.W_OK):
            raise InvalidArgument(f"--{name} {given[name]} cannot be written here; name a file that can")
    if len({place.resolve() for place in places.values()}) < len(places):
        raise InvalidArgument(f"{', '.join(f'--{name}' for name in places)} want a file each; got the same one twice")
    if getattr(chosen, "out", None) is not None:
        folder = Path(chosen.out).expanduser()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidArgument(
                f"--out {chosen.out}: expected a folder or a place for one; {error.strerror}. Name another one."
            ) from error
        if not os.access(folder, os.W_OK):
            raise InvalidArgument(f"--out {chosen.out} cannot be written here; name a folder that can")


def progress(out: Output, about: str, noun: str = "prompts") -> Callable[[int, int], None]:
    """Give what is called with how many are done of how many."""

    def told(done: int, whole: int) -> None:
        out.progress(lambda: f"{about} {done:,} of {whole:,} {noun}", last=done == whole)

    return told


def stream_(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    can_be_written(chosen, "html", "markdown")
    path = folder_kept(chosen)
    typed = {name: getattr(chosen, name) for name in fields(Options) if hasattr(chosen, name)}
    with contextlib.redirect_stdout(sys.stderr):  # a memory under test may print, and standard output is for the answer
        report = evaluation.run(Options(
            **{name: it for name, it in typed.items() if it not in (None, [], False)}, folder=path,
            key=environment.model_key(), tell=out.warn, progress=partial(progress, out),
        ))  # fmt: skip
    show(report.records, report.page, out)
    if chosen.estimate:
        return DONE
    if chosen.markdown is not None:
        write(chosen.markdown, pages.markdown(report.page), out)
    if chosen.html is not None:
        write(chosen.html, pages.html(report.page), out)
    _keep(chosen, out, "stream", {"headline": report.headline, **report.kept})
    for told in report.failed:
        out.warn(told)
    return NOTHING_FOUND if report.failed else DONE


def write(file: str, text: str, out: Output) -> None:
    """Write a report into a file that the user named."""
    path = Path(file).expanduser()
    path.write_text(text, encoding="utf-8")
    out.remark(f"written to {shown(str(path))}")


def recall_ab_(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    can_be_written(chosen, "html")
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
    names = ("worlds", "cases", "repetitions", "seed")
    page = recall_ab.page(
        table, [("reader", reader.name), *((name, str(getattr(chosen, name) or "all")) for name in names)]
    )
    records = [*({"item": asdict(item)} for item in items), *({"cell": recall_ab.as_json(cell)} for cell in table)]
    show(records, page, out)
    kept_in = folder_kept(chosen)
    if kept_in is not None:
        recall_ab.keep(registry.folder_of(kept_in, "recall-ab"), items, page)
    if chosen.html is not None:
        write(chosen.html, pages.html(page), out)
    _keep(chosen, out, "recall-ab", {
        "reader": reader.name, "seed": chosen.seed, "worlds": chosen.worlds, "cases": chosen.cases,
        "repetitions": chosen.repetitions, "headline": f"{reader.name}: {recall_ab.headline(table)}",
        "cells": [recall_ab.as_json(cell) for cell in table],
    })  # fmt: skip
    broken = [] if reader.costs else [says for says, held in recall_ab.checks(table).items() if not held]
    for says in broken:
        out.warn(f"the evaluation itself does not hold: {says}")
    return NOTHING_FOUND if broken else _verdict(table, out)


def show(records: Iterable[Mapping[str, object]], page: Page, out: Output) -> None:
    """Print what came of a run: its records as JSON, or the page in short."""
    if out.as_json:
        for record in records:
            out.json(record)
        return
    for line in pages.lines(page):
        out.line(line)


def _verdict(table: Sequence[Cell], out: Output) -> int:
    worse = recall_ab.harmful(table)
    for cell in worse:
        out.warn(f"{cell.condition} makes answers worse where {cell.sort}: {cell.right_to_none}")
    return NOTHING_FOUND if worse else DONE


def _conditions(names: Sequence[str]) -> tuple[Condition, ...]:
    known = {condition.name: condition for condition in CONDITIONS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise InvalidArgument(f"there is no condition {wrong[0]!r}; these are: {', '.join(known)}")
    return tuple(condition for condition in CONDITIONS if not names or condition.name in {recall_ab.BASELINE, *names})


def _reader(model: str | None, beliefs: dict[str, str]) -> Reader:
    if model is None:
        return readers.Scripted(beliefs)
    chosen = models.named(model)
    return readers.Asked(
        models.opened(chosen, environment.model_key()), chosen.name, repeats=chosen.served == models.LOCAL
    )
