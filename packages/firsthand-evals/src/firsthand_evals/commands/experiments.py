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
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import firsthand_evals
from firsthand import InvalidArgument
from firsthand.cli.display import shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.value import asdict
from firsthand_evals import registry
from firsthand_evals.commands.results import folder_kept
from firsthand_evals.reclaim.experiments import DATA
from firsthand_evals.registry import Experiment

HEADLINE_CHARACTERS_MAX = 300


def list_(chosen: argparse.Namespace, out: Output) -> int:
    """Run ``eval list``."""
    kept = folder_kept(chosen)
    if chosen.out is not None and not (kept is not None and kept.is_dir()):
        raise InvalidArgument(f"--out is the folder that results were kept in; {chosen.out!r} is none")
    for one in registry.EXPERIMENTS:
        last = registry.last_result(kept, one.name) if kept is not None else ""
        if out.as_json:
            out.json({**asdict(one), "last": last})
            continue
        out.line(f"{out.style(one.name, 'name')}  {one.paper} {one.where}: {one.about}")
        out.line(f"    needs {one.needs}; {one.command}")
        if last:
            out.line(f"    last {shown(last)}")
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
    _keep(experiment, chosen, out, headline)
    if process.returncode:
        out.warn(
            f"{experiment.name} ended with exit code {process.returncode}; what went wrong stands above. What a script "
            "imports beside Firsthand, when that is missing: bench/requirements*.txt of the checkout"
        )
    return NOTHING_FOUND if process.returncode else DONE


def _keep(experiment: Experiment, chosen: argparse.Namespace, out: Output, headline: str) -> None:
    kept = folder_kept(chosen)
    if kept is None:
        out.remark("the result is not kept: there is no store, and no --out DIR before the name")
        return
    registry.keep(kept, experiment.name, {"headline": headline})
    out.remark(f"kept in {shown(str(registry.folder_of(kept, experiment.name)))}")


def _checkout(script: str) -> Path | None:
    """Give the folder of the checkout that this package stands in, if it has a script; None for none."""
    around = Path(firsthand_evals.__file__).resolve().parents[4]
    return around if (around / script).is_file() else None
