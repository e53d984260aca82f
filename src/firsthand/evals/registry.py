"""Every experiment by its paper and table: what it needs, how it is run, and what it gave last.

An experiment is either run by ``firsthand eval`` itself or by a command in a checkout of
the repository; the latter are named here so that each table of the papers can be found
from one place. The invariant: a name is unique and what it names exists.
"""

from __future__ import annotations

import json
from pathlib import Path

from firsthand.errors import FormatError, InvalidArgument
from firsthand.value import value

RESULTS = "results"
SUMMARY_BYTES_MAX = 16 << 20
NOTHING, MODEL, DATA = "nothing", "a model", "data"


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


_TOTAL, _PROBLEM, _RECLAIM = "total-recall", "recall-problem", "reclaim-evaluation"
EXPERIMENTS = (
    Experiment("recall-ab", _PROBLEM, "8.6, 8.7, 8.8", "does what is pushed unasked help, by condition",
               NOTHING, "firsthand eval recall-ab", ours=True),
    *(_in_checkout(*row) for row in (
        ("aliasing", _PROBLEM, "7.6, 8.4", "numbered series and near-identical names", NOTHING, "aliasing_bench"),
        ("triggers", _PROBLEM, "7.5, 8.8", "rules found by a case that shares no words with them",
         NOTHING, "triggers_bench"),
        ("gate", _TOTAL, "4.3, 11", "what the confidence of recall is worth", DATA, "gate_bench"),
        ("ladder", _TOTAL, "4.2, 11", "what asking again in other words finds", DATA, "ladder_bench"),
        ("ablation", _TOTAL, "4, 9", "what each part of a score is worth", DATA, "ablation"),
        ("compaction", _TOTAL, "5, 9", "what is left of exact strings after compactions", NOTHING, "compaction_bench"),
        ("quality", _TOTAL, "9", "recall beside baselines and peers", DATA, "quality_bench"),
        ("tool-calls", _TOTAL, "7", "whether a small model calls recall at all", MODEL, "tool_calls"),
        ("topic-changes", _TOTAL, "9", "whether a change of topic is seen", DATA, "topic_changes"),
        ("probe-readers", _RECLAIM, "6, 12", "the probe beside a reader, on real notes", DATA, "probe_readers"),
        ("probe", _RECLAIM, "4, 12", "whether the probe names what cannot be corrected", NOTHING, "probe_bench"),
    )),
)  # fmt: skip


def named(name: str) -> Experiment:
    """Give an experiment by its name.

    Raises:
        InvalidArgument: there is none.
    """
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


def last_result(out: Path, name: str) -> str:
    """Give the last result of an experiment in a line; empty when it was never run there.

    Raises:
        FormatError: what is kept there is no result.
    """
    file = folder_of(out, name) / "summary.json"
    if not file.is_file():
        return ""
    try:
        with file.open("rb") as opened:
            kept = json.loads(opened.read(SUMMARY_BYTES_MAX))
        return f"{kept['date']}: {kept['headline']}"
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{file} is no result of an experiment ({error}); delete it and run {name} again") from error
