"""The paper's experiments as data: what each varies, beside which memories, and how its items are counted.

`cases` makes the questions, `run.run` asks them and `tables` counts the answers. The
invariant: within one experiment the memories differ in nothing but what they keep, the
problems, corrections and budgets are the same for all; the name of an experiment is that
of its cases and of its table, and what it needs is refused when it is missing, before
anything is asked.

A memory of one's own (`seam.subject`) stands beside the paper's in every experiment of
a memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument
from firsthand.value import field, fields, replace, value
from firsthand_evals.reclaim import cascade, multiwoz, policies, tables, tasks
from firsthand_evals.reclaim.corrections import ADVERSARIAL, DIRECTED, FALSE_LOCUS, GENERIC, KINDS
from firsthand_evals.reclaim.drift import DEPTHS, PLACES
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.policies import (
    BLANK,
    BOTH,
    CANDIDATES,
    DENOISED,
    LOSSY,
    PADDED,
    SOURCE_FIRST,
    TAGGED,
    WALL,
)  # fmt: skip
from firsthand_evals.reclaim.readers import Slipping
from firsthand_evals.reclaim.seam import Messages, Subject
from firsthand_evals.reclaim.tables import Cell, Compared, Table, recovered, wrong
from firsthand_evals.reclaim.tasks import Problem

N = 24
"""Problems a cell, as the paper has at least."""
NOTHING, MODEL, DATA = "nothing", "a model", "data"
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32)
CONSIDERED = (0, 2, 4, 6, 8, 12, 16, 24, 32)
ENDOGENOUS_ITEMS = 10
_OF_A_CASE = frozenset(fields(Case))
_ENDS = ("reclaim", "attractor", "silent", "abstained")


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
Problems = Callable[[Options, Point], Sequence[Problem]]


@value(eq=False)
class Experiment:
    """One experiment of the paper.

    Attributes:
        where: sections and tables of reclaim-evaluation; ``about``: what is asked, in a line.
        problems: gives those of a point of the sweep.
        notes: gives the memories that stand beside one's own.
        by, columns: what the cells of its table are split by, and the figures that it is about.
        vary: the values of each parameter that is swept; one that is no field of a case is told apart in ``extra``.
        pairs: sweeps that go together, in place of ``vary``.
        corrections: what is said.
        same: further fields of every case.
        compared: differences that stand under the table.
        counts: whether an item counts; ``remark``: a sentence under the table.
        needs: ``nothing``, ``a model`` or ``data``.
        of_a_memory: True when a memory of one's own is asked too.
    """

    name: str
    where: str
    about: str
    problems: Problems
    notes: Callable[[Options, Point], Sequence[Subject]]
    by: tuple[str, ...]
    columns: tuple[str, ...]
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    points: tuple[Point, ...] = ()
    corrections: tuple[str, ...] = (DIRECTED,)
    same: Mapping[str, Any] = field(default_factory=dict)
    compared: tuple[Compared, ...] = ()
    counts: Callable[[Item], bool] = lambda _: True
    remark: Callable[[Sequence[Item], Sequence[Cell]], str] = lambda _items, _cells: ""
    needs: str = NOTHING
    of_a_memory: bool = True


# problems and memories -----------------------------------------------------------------------------


def _sums(options: Options, _: Point) -> Sequence[Problem]:
    return tasks.arithmetic(options.n, options.seed)


def _puzzles(options: Options, _: Point) -> Sequence[Problem]:
    return tasks.logic(options.n, options.seed)


def _both_families(options: Options, point: Point) -> Sequence[Problem]:
    return (*_sums(options, point), *_puzzles(options, point))


def _ledger(options: Options, point: Point) -> Sequence[Problem]:
    return tasks.ledger(options.n, point.get("items", ENDOGENOUS_ITEMS), options.seed)


def _noisy(options: Options, point: Point) -> Sequence[Problem]:
    return tasks.noisy(options.n, point["considered"], options.seed)


def _chained(options: Options, point: Point) -> Sequence[Problem]:
    """Give ledgers of as many items as sessions; of one session the second of two items is left out."""
    whole = tasks.ledger(options.n, max(2, point["hops"]), options.seed)
    return [tasks.shortened(problem, point["hops"]) for problem in whole]


def _real(options: Options, _: Point) -> Sequence[Problem]:
    if options.data is None:
        raise InvalidArgument("the experiment 'dialogues' reads MultiWOZ 2.1; name its file (--data FILE)")
    return multiwoz.problems(options.data, options.n, options.seed)


def _notes(*names: str) -> Callable[[Options, Point], Sequence[Subject]]:
    return lambda _, point: [policies.policy(name, point.get("integrity", WALL)) for name in names]


def _chain_notes(_options: Options, _: Point) -> Sequence[Subject]:
    return [cascade.policy(name) for name in (LOSSY, PADDED, SOURCE_FIRST, TAGGED)]


def _ends_of_a_session(_options: Options, _: Point) -> Sequence[Subject]:
    return (policies.head(), policies.tail())


def _source_and_conclusion(_options: Options, _: Point) -> Sequence[Subject]:
    return (policies.policy(SOURCE_FIRST), policies.own_conclusion())


def _writers(options: Options, _: Point) -> Sequence[Subject]:
    if len(options.writers) < 2:
        raise InvalidArgument("the experiment 'prompts' compares at least two writers of a model; got fewer")
    return options.writers


# remarks -------------------------------------------------------------------------------------------


def _left_out(items: Sequence[Item], cells: Sequence[Cell]) -> str:
    left = len(items) - sum(cell.n for cell in cells)
    return f"{left} of {len(items)} items are left out: their session did not go wrong, or the memory failed"


def _spread(_: Sequence[Item], cells: Sequence[Cell]) -> str:
    shares = sorted(cell.recovered.share or 0.0 for cell in cells)
    return f"spread {shares[-1] - shares[0]:.2f} over {len(cells)} wordings, n = {cells[0].n} each"


# the experiments -----------------------------------------------------------------------------------

EXPERIMENTS = (
    Experiment(
        "reclaim", "6, Figure 1, Tables 8, 18", "is the memory correctable at the wall",
        _both_families, _notes(LOSSY, PADDED, SOURCE_FIRST, BLANK), ("family", "memory", "correction"),
        ("reclaim", "attractor", "silent", "abstained", "used", "pulls"), corrections=(DIRECTED, GENERIC),
        compared=(Compared("", LOSSY, recovered, "recovered", ("family", "correction")),),
    ),
    Experiment(
        "wall", "5, Figure 1, Tables 5, 6, 7", "the wall, the padded control and the fix, by integrity",
        _both_families, _notes(LOSSY, PADDED, SOURCE_FIRST), ("family", "memory", "integrity"), _ENDS,
        vary={"integrity": policies.INTEGRITIES}, of_a_memory=False,
        compared=tuple(Compared(name, LOSSY, recovered, "recovered", ("family", "integrity"))
                       for name in (SOURCE_FIRST, PADDED)),
    ),
    Experiment(
        "window", "5.1, Table 2", "a correction in the same session, by depth and distance",
        _sums, _notes(BLANK), ("depth", "filler", "correction"), ("reclaim", "attractor", "abstained"),
        points=(*({"depth": depth, "filler": 0} for depth in DEPTHS),
                *({"depth": max(DEPTHS), "filler": distance} for distance in (4, 8, 16))),
        corrections=(GENERIC, DIRECTED), same={"budget": None}, of_a_memory=False,
    ),
    Experiment(
        "disposition", "5.2, App. I, Tables 3, 17", "a lossy memory beside an empty one",
        _sums, _notes(LOSSY, BLANK), ("reader", "memory"), ("wrong", "abstained", "attractor", "of_wrong_attractor"),
        compared=(Compared(LOSSY, BLANK, wrong, "commits to a wrong value", ("reader",)),),
    ),
    Experiment(
        "both", "5.3", "the conclusion beside the source",
        _both_families, _notes(SOURCE_FIRST, BOTH, LOSSY), ("family", "memory"), ("reclaim", "attractor", "abstained"),
        compared=(Compared(SOURCE_FIRST, BOTH, recovered, "recovered", ("family",)),), of_a_memory=False,
    ),
    Experiment(
        "taxonomy", "5.4, Tables 4, 18, 19", "every way of correcting",
        _sums, _notes(LOSSY, SOURCE_FIRST), ("correction", "memory"), _ENDS, corrections=KINDS,
    ),
    Experiment(
        "adversarial", "App. J, Table 19", "corrections that mislead",
        _both_families, _notes(LOSSY, SOURCE_FIRST), ("family", "correction", "memory"), _ENDS,
        corrections=(FALSE_LOCUS, *ADVERSARIAL),
    ),
    Experiment(
        "free_guess", "App. D, Table 16", "what guessing among the candidates comes to",
        _puzzles, _notes(CANDIDATES), ("correction",), _ENDS, corrections=(GENERIC, DIRECTED), of_a_memory=False,
    ),
    Experiment(
        "size", "7, App. B, Figure 2, Table 14", "a source that outgrows the budget",
        _ledger, _notes(SOURCE_FIRST, PADDED), ("memory", "budget", "items"),
        ("reclaim", "silent", "abstained", "used", "pulls", "pulled"), vary={"budget": (300, 600), "items": SIZES},
    ),
    Experiment(
        "noise", "7, App. C, Figure 3, Table 15", "a source among what was considered; locating",
        _noisy, _notes(SOURCE_FIRST, DENOISED, PADDED), ("memory", "considered"),
        ("reclaim", "silent", "abstained", "used", "pulls", "pulled"), vary={"considered": CONSIDERED},
        same={"budget": 420},
    ),
    Experiment(
        "completeness", "7, Table 11", "saying how much was kept",
        _ledger, _notes(SOURCE_FIRST, TAGGED), ("memory", "budget", "items"),
        ("reclaim", "silent", "abstained", "pulls"), vary={"budget": (300, 600), "items": (24, 32)},
        compared=(Compared(TAGGED, SOURCE_FIRST, tables.silent, "silently wrong"),),
    ),
    Experiment(
        "places", "beside the paper", "a source that stands anywhere in the session",
        _both_families, _ends_of_a_session, ("family", "memory", "source_at"),
        ("reclaim", "silent", "abstained", "pulls"), vary={"source_at": PLACES},
        same={"depth": 8, "filler": 8, "budget": 300},
    ),
    Experiment(
        "cascade", "9, App. G, Table 12", "memory that feeds memory, and its control",
        _chained, _chain_notes, ("memory", "hops", "premise"),
        ("blast", "blast_abstained", "reclaim", "silent", "used", "pulls", "pulled"),
        vary={"hops": cascade.HOPS, "premise": (True, False)}, same={"budget": cascade.BUDGET_CHARACTERS},
        remark=lambda _items, _cells: "premise False is the control: no error is planted, and none should appear",
    ),
    Experiment(
        "endogenous", "11", "errors that the agent makes by itself",
        _ledger, _source_and_conclusion, ("memory",), ("reclaim", "attractor", "abstained"),
        same={"depth": 1, "premise": False}, counts=lambda item: item.attractor not in {"", item.answer},
        remark=_left_out,
    ),
    Experiment(
        "prompts", "11", "the wording of a writer's prompt", _sums, _writers, ("memory",),
        ("reclaim", "silent", "abstained"), remark=_spread, needs=MODEL, of_a_memory=False,
    ),
    Experiment(
        "dialogues", "8, App. E, Tables 9, 10", "times of real dialogues",
        _real, _notes(LOSSY, PADDED, SOURCE_FIRST, BLANK), ("memory", "exact"),
        ("reclaim", "wrong", "attractor", "abstained"), needs=DATA,
        compared=(Compared(SOURCE_FIRST, LOSSY, recovered, "recovered"),
                  Compared(LOSSY, BLANK, wrong, "commits to a wrong time")),
    ),
)  # fmt: skip


def named(name: str) -> Experiment:
    """Give an experiment by its name."""
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    names = ", ".join(experiment.name for experiment in EXPERIMENTS)
    raise InvalidArgument(f"there is no reclaim experiment {name!r}; these are: {names}")


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
    counted = [item for item in items if experiment.counts(item)]
    cells = tables.cells(counted, experiment.by) if counted else ()
    pairs = [pair for compared in experiment.compared for pair in compared.pairs(counted)]
    remark = experiment.remark(items, cells)
    return Table(
        experiment.name, experiment.where, experiment.by, experiment.columns, cells, tuple(pairs),
        (remark,) if remark else (),
    )  # fmt: skip


def _cases(experiment: Experiment, options: Options) -> Iterator[Case]:
    swept = {name: options.vary.get(name, values) for name, values in experiment.vary.items()}
    points = experiment.points or [dict(zip(swept, point, strict=True)) for point in product(*swept.values())]
    said = {"say": options.say, "said_by": options.said_by} if experiment.name == "endogenous" else {}
    beside = options.subjects if experiment.of_a_memory else ()
    subjects = [[*experiment.notes(options, point), *beside] for point in points]
    problems = [experiment.problems(options, point) for point in points]
    for number in range(len(subjects[0])):
        for at, point in enumerate(points):
            subject = subjects[at][number]
            for problem, correction, repetition in product(
                problems[at], experiment.corrections, range(options.repetitions)
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
