"""Every experiment by its paper and table: what it needs, how it is run, and what it gave last.

An experiment is either run by ``firsthand eval`` itself or by a command in a checkout of
the repository; the latter are named here so that each table of the papers can be found
from one place. The invariant: a name is unique and what it names exists.
"""

from __future__ import annotations

import json
import tomllib
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
        takes: processor time on one core of a small machine, such as ``8 s``; what the data or the model takes is said.
        command: what to type.
    """

    name: str
    paper: str
    where: str
    about: str
    command: str
    takes: str
    needs: str = NOTHING

    @property
    def ours(self) -> bool:
        """True when `firsthand eval` runs it by its name."""
        return self.command.startswith("firsthand ")


def of_reclaim(name: str) -> str:
    """Give the name in the list of an experiment of the reclaim evaluation; the one of that name keeps it."""
    return name if name == "reclaim" else f"reclaim-{name.replace('_', '-')}"


def _reclaim(experiment: experiments.Experiment) -> Experiment:
    more = {DATA: " --data FILE", MODEL: " --writer MODEL"}.get(experiment.needs, "")
    command = f"firsthand eval reclaim --experiment {experiment.name}{more}"
    about, name = (experiment.where, experiment.about, command, experiment.takes), of_reclaim(experiment.name)
    return Experiment(name, "reclaim-evaluation", *about, experiment.needs)


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
EXPERIMENTS = (*(Experiment(**row) for row in _DATA["experiment"]), *map(_reclaim, experiments.EXPERIMENTS))


def named(name: str) -> Experiment:
    """Give an experiment by its name."""
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    if name not in known:
        raise InvalidArgument(f"there is no experiment {name!r}; these are: {', '.join(known)} (firsthand eval list)")
    return known[name]


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
