"""The paper's experiments, read from ``experiments.toml``: cases of what each varies, and tables of its items.

`cases` makes the questions, `run.run` asks them and `tables` counts the answers. The
invariant: within one experiment the memories differ in nothing but what they keep, the
problems, corrections and budgets are the same for all; the name of an experiment is that
of its cases and of its table, and what it needs is refused when it is missing, before
anything is asked.

A memory of one's own (`seam.subject`) stands beside the paper's in every experiment of
a memory.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument
from firsthand.value import field, fields, replace, value
from firsthand_evals.reclaim import cascade, multiwoz, policies, tables, tasks
from firsthand_evals.reclaim.corrections import DIRECTED
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.readers import Slipping
from firsthand_evals.reclaim.seam import Messages, Subject
from firsthand_evals.reclaim.tables import Compared, Table
from firsthand_evals.reclaim.tasks import Problem

N = 24
"""Problems a cell, as the paper has at least."""
NOTHING, MODEL, DATA = "nothing", "a model", "data"
ENDOGENOUS_ITEMS = 10
_OF_A_CASE = frozenset(fields(Case))


@value
class Options:
    """What an experiment is made with.

    Attributes:
        n: problems of each family; ``seed`` they are made from; ``repetitions`` of each case.
        subjects: memories beside the paper's own.
        wording: of the sessions, see `drift.dialogue`.
        data: a file of real dialogues.
        writers: memories that differ in the wording of their prompt.
        say: the agent of the first session, where it goes wrong by itself, and its name.
        vary: in place of what an experiment sweeps, by parameter, such as ``hops``.
    """

    n: int = N
    seed: int = 0
    repetitions: int = 1
    subjects: tuple[Subject, ...] = ()
    wording: int = 0
    data: Path | None = None
    writers: tuple[Subject, ...] = ()
    say: Callable[[Messages], str] = Slipping().answer
    said_by: str = Slipping.name
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)


Point = Mapping[str, Any]
"""One place of a sweep: a value for each parameter that is varied."""


@value(eq=False)
class Experiment:
    """One experiment of the paper; see ``experiments.toml``.

    Attributes:
        where: sections and tables of reclaim-evaluation; ``about``: what is asked, in a line; ``takes``: how long.
        by, columns: what the cells of its table are split by, and the figures that it is about.
        vary: the values of each parameter that is swept; one that is no field of a case is told apart in ``extra``.
        compared: differences that stand under the table; ``remark``: a sentence there.
        needs: ``nothing``, ``a model`` or ``data``.
        of_a_memory: True when a memory of one's own is asked too.
    """

    name: str
    where: str
    about: str
    takes: str
    problems: str
    notes: Sequence[str]
    by: tuple[str, ...]
    columns: tuple[str, ...]
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    points: Sequence[Point] = ()
    corrections: Sequence[str] = (DIRECTED,)
    same: Mapping[str, Any] = field(default_factory=dict)
    compared: Sequence[Compared] = ()
    remark: str = ""
    needs: str = NOTHING
    of_a_memory: bool = True


def _read(row: dict[str, Any]) -> Experiment:
    compared = tuple(
        Compared(memory, other, WORTH[worth], about, tuple(by))
        for memory, other, worth, about, by in row.get("compared", ())
    )
    same = {name: None if isinstance(it, str) else it for name, it in row.get("same", {}).items()}  # no budget at all
    frozen = {name: tuple(row[name]) for name in ("by", "columns")}
    return Experiment(**row | frozen | {"compared": compared, "same": same})


WORTH = {"recovered": tables.recovered, "wrong": tables.wrong, "silent": tables.silent}
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
EXPERIMENTS = tuple(map(_read, _DATA["experiment"]))


def problems(experiment: Experiment, options: Options, point: Point) -> Sequence[Problem]:
    """Give the problems of a point of a sweep; a chain of one session has two items, and leaves the second out."""
    n, seed = options.n, options.seed
    match experiment.problems:
        case "ledger":
            return tasks.ledger(n, point.get("items", ENDOGENOUS_ITEMS), seed)
        case "noisy":
            return tasks.noisy(n, point["considered"], seed)
        case "chained":
            hops = point["hops"]
            return [tasks.shortened(problem, hops) for problem in tasks.ledger(n, max(2, hops), seed)]
        case "real":
            if options.data is None:
                raise InvalidArgument("the experiment 'dialogues' reads MultiWOZ 2.1; name its file (--data FILE)")
            return multiwoz.problems(options.data, n, seed)
    sums = tasks.arithmetic(n, seed) if experiment.problems != "puzzles" else ()
    return (*sums, *(tasks.logic(n, seed) if experiment.problems != "sums" else ()))


def notes(experiment: Experiment, options: Options, point: Point) -> list[Subject]:
    """Give the memories that stand beside those under test."""
    if experiment.name == "prompts":
        if len(options.writers) < 2:
            raise InvalidArgument("the experiment 'prompts' compares at least two writers of a model; got fewer")
        return [*options.writers]
    if experiment.name == "cascade":
        return [cascade.policy(name) for name in experiment.notes]
    plain = {"head": policies.head, "tail": policies.tail, "own_conclusion": policies.own_conclusion}
    integrity = point.get("integrity", policies.WALL)
    return [plain[name]() if name in plain else policies.policy(name, integrity) for name in experiment.notes]


def named(name: str) -> Experiment:
    """Give an experiment by its name."""
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    if name not in known:
        raise InvalidArgument(f"there is no reclaim experiment {name!r}; these are: {', '.join(known)}")
    return known[name]


def battery(options: Options) -> tuple[str, ...]:
    """Name the experiments that a memory of one's own is asked, with what was given."""
    have = {NOTHING} | ({DATA} if options.data is not None else set())
    return tuple(experiment.name for experiment in EXPERIMENTS if experiment.of_a_memory and experiment.needs in have)


def cases(names: Sequence[str], options: Options) -> tuple[Case, ...]:
    """Make the cases of experiments."""
    chosen = [named(name) for name in dict.fromkeys(names)]
    return tuple(case for experiment in chosen for case in _cases(experiment, options))


def sweep(name: str, n: int, seed: int = 0, **more: Any) -> tuple[Case, ...]:
    """Make the cases of one experiment; ``more`` are fields of `Options`, or values of what it varies."""
    chosen = {name: it for name, it in more.items() if name in fields(Options)}
    return cases([name], Options(n, seed, **chosen, vary={key: it for key, it in more.items() if key not in chosen}))


def tables_of(items: Iterable[Item]) -> tuple[Table, ...]:
    """Make the table of every experiment that items are of, a reader at a time, in the order in which they come."""
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    for item in items:
        name = item.parameters["experiment"]
        groups[name, "" if name == "disposition" else item.parameters["reader"]].append(item)
    return tuple(_table(known[name], group) for (name, _), group in groups.items() if name in known)


def _table(experiment: Experiment, items: Sequence[Item]) -> Table:
    counted = [item for item in items if experiment.name != "endogenous" or item.attractor not in {"", item.answer}]
    cells = tables.cells(counted, experiment.by) if counted else ()
    unread = "malformed" if any(cell.malformed.hits for cell in cells) else ""  # a row of zeros would hide them
    columns = tuple(filter(None, (*experiment.columns, unread)))
    pairs = [pair for compared in experiment.compared for pair in compared.pairs(counted)]
    remark = experiment.remark
    if experiment.name == "endogenous":
        left = len(items) - len(counted)
        remark = f"{left} of {len(items)} items are left out: their session did not go wrong, or the memory failed"
    if experiment.name == "prompts":
        shares = sorted(cell.recovered.share or 0.0 for cell in cells)
        remark = f"spread {shares[-1] - shares[0]:.2f} over {len(cells)} wordings, n = {cells[0].n} each"
    return Table(
        experiment.name, experiment.where, experiment.by, columns, cells, tuple(pairs),
        (remark,) if remark else (),
    )  # fmt: skip


def _cases(experiment: Experiment, options: Options) -> Iterator[Case]:
    swept = {name: options.vary.get(name, values) for name, values in experiment.vary.items()}
    points = experiment.points or [dict(zip(swept, point, strict=True)) for point in product(*swept.values())]
    said = {"say": options.say, "said_by": options.said_by} if experiment.name == "endogenous" else {}
    beside = options.subjects if experiment.of_a_memory else ()
    subjects = [[*notes(experiment, options, point), *beside] for point in points]
    asked = [problems(experiment, options, point) for point in points]
    for number in range(len(subjects[0])):
        for at, point in enumerate(points):
            subject = subjects[at][number]
            for problem, correction, repetition in product(
                asked[at], experiment.corrections, range(options.repetitions)
            ):
                yield replace(
                    Case(experiment.name, subject, problem, correction, repetition=repetition, wording=options.wording,
                         extra=_extra(experiment, problem, point)),
                    **experiment.same, **{name: it for name, it in point.items() if name in _OF_A_CASE}, **said,
                )  # fmt: skip


def _extra(experiment: Experiment, problem: Problem, point: Point) -> tuple[tuple[str, Any], ...]:
    """Give the parameters of a case that are no field of it."""
    if experiment.name == "dialogues":
        return ("slot", problem.ask), ("exact", int(problem.ask == multiwoz.EXACT))
    return tuple((name, it) for name, it in point.items() if name not in _OF_A_CASE)
