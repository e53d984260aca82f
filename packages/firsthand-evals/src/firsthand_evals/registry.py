"""Every experiment by its paper and table: what it needs, how it is run, and what it gave last.

An experiment is either run by ``firsthand eval`` itself or by a command in a checkout of
the repository; the latter are named here so that each table of the papers can be found
from one place. The invariant: a name is unique and what it names exists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from firsthand import FormatError, InvalidArgument, moment
from firsthand.value import value
from firsthand_evals.reclaim import experiments
from firsthand_evals.reclaim.experiments import DATA, MODEL, NOTHING

RESULTS = "results"
SUMMARY_BYTES_MAX = 16 << 20


@value
class Experiment:
    """One experiment.

    Attributes:
        paper: its short name, and ``where`` in it: sections, tables.
        about: what is asked, in a line.
        needs: ``nothing``, ``a model`` (any, by option; none by default) or ``data``.
        command: what to type.
        ours: True when `firsthand eval` runs it by its name.
    """

    name: str
    paper: str
    where: str
    about: str
    needs: str
    command: str
    ours: bool = False


def _in_checkout(name: str, paper: str, where: str, about: str, needs: str, script: str) -> Experiment:
    """Name an experiment that is a script of the repository; data are told to each in the same way."""
    command = f"python bench/{script}.py" + (" --data DATA" if needs == DATA else "")
    return Experiment(name, paper, where, about, needs, command)


def of_reclaim(name: str) -> str:
    """Give the name in the list of an experiment of the reclaim evaluation; the one of that name keeps it."""
    return name if name == _RECLAIM_ALL else f"{_RECLAIM_ALL}-{name.replace('_', '-')}"


def _reclaim(one: experiments.Experiment) -> Experiment:
    name = of_reclaim(one.name)
    more = {DATA: " --data FILE", MODEL: " --writer MODEL"}.get(one.needs, "")
    return Experiment(
        name, _RECLAIM, one.where, one.about, one.needs, f"firsthand eval reclaim --experiment {one.name}{more}",
        ours=True,
    )  # fmt: skip


_TOTAL, _PROBLEM, _RECLAIM, _RECLAIM_ALL = "total-recall", "recall-problem", "reclaim-evaluation", "reclaim"
_FAULTY = "faulty-memories"
EXPERIMENTS = (
    *(_in_checkout(*row) for row in (
        ("speed", _TOTAL, "9.1, 10.4", "every figure of the README beside its baseline", DATA, "run"),
        ("compaction", _TOTAL, "5, 9, Tables 1, 2", "what is left of exact strings after compactions",
         NOTHING, "compaction_bench"),
        ("quality", _TOTAL, "4.2, 4.3, 9, Proposition 1", "recall beside baselines and peers", DATA, "quality_bench"),
        ("cues", _PROBLEM, "7.4, 8.5", "names chosen for the message beside the newest ones", NOTHING, "cues_bench"),
        ("aliasing", _PROBLEM, "7.6, 8.4", "numbered series and near-identical names", NOTHING, "aliasing_bench"),
        ("triggers", _PROBLEM, "7.5, 8.8", "rules found by a case that shares no words with them",
         NOTHING, "triggers_bench"),
    )),
    Experiment("recall-ab", _PROBLEM, "8.6, 8.7, 8.8", "does what is pushed unasked help, by condition",
               NOTHING, "firsthand eval recall-ab", ours=True),
    *map(_reclaim, experiments.EXPERIMENTS),
    Experiment("reclaim-prevalence", _RECLAIM, "11, App. H, Table 13", "how many conversations have a compact source",
               DATA, "firsthand eval prevalence --data NAME=PATH", ours=True),
    Experiment("stream", _FAULTY, "3, 4", "what consolidation does to a memory, after every update", NOTHING,
               "firsthand eval stream", ours=True),
    Experiment("stream-own-sessions", _FAULTY, "3, 5", "what becomes of exact strings of the store's own sessions",
               NOTHING, "firsthand eval stream --pack own-sessions", ours=True),
)  # fmt: skip


def named(name: str) -> Experiment:
    """Give an experiment by its name."""
    for one in EXPERIMENTS:
        if one.name == name:
            return one
    raise InvalidArgument(
        f"there is no experiment {name!r}; these are: {', '.join(one.name for one in EXPERIMENTS)} "
        "(firsthand eval list)"
    )


def folder_of(out: Path, name: str) -> Path:
    """Give the folder in which an experiment's results are kept."""
    return out / RESULTS / name


def keep(out: Path, name: str, about: Mapping[str, object]) -> Path:
    """Keep what came of an experiment, with today's date; ``headline`` is shown in the list.

    Returns:
        The file.
    """
    folder = folder_of(out, name)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "summary.json"
    file.write_text(json.dumps({"date": str(moment.now())[:10], **about}, indent=1) + "\n", encoding="utf-8")
    return file


def last_result(out: Path, name: str) -> str:
    """Give the last result of an experiment in a line; empty when it was never run there."""
    file = folder_of(out, name) / "summary.json"
    if not file.is_file():
        return ""
    try:
        with file.open("rb") as opened:
            kept = json.loads(opened.read(SUMMARY_BYTES_MAX))
        return f"{kept['date']}: {kept['headline']}"
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{file} is no result of an experiment ({error}); delete it and run {name} again") from error
