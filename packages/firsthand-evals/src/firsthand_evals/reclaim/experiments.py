"""The experiments by name: what each asks, which table of the paper it answers, what it needs.

The invariant: a name here is the name of its cases (`Case.experiment`) and of its table
(`tables.TABLES`), and what it needs is refused when it is not given, before anything is
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from firsthand import InvalidArgument
from firsthand.value import replace, value
from firsthand_evals.reclaim import sweeps
from firsthand_evals.reclaim.cascade import HOPS
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.readers import Slipping
from firsthand_evals.reclaim.seam import Messages, Subject

N = 24
"""Problems a cell, as the paper has at least."""
NOTHING, MODEL, DATA = "nothing", "a model", "data"


@value
class Options:
    """What an experiment is made with.

    Attributes:
        n: problems of each family; ``seed`` they are made from; ``repetitions`` of each case.
        subjects: memories beside the paper's own.
        hops: lengths of the chains of `cascade`.
        wording: of the sessions, see `drift.dialogue`.
        data: a file of real dialogues.
        writers: memories that differ in the wording of their prompt.
        say: the agent of the first session, where it goes wrong by itself, and its name.
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
    hops: tuple[int, ...] = HOPS


@value
class Experiment:
    """One experiment of the paper.

    Attributes:
        where: sections and tables of reclaim-evaluation; ``about``: what is asked, in a line.
        needs: ``nothing``, ``a model`` or ``data``.
        of_a_memory: True when a memory of one's own is asked too.
    """

    name: str
    where: str
    about: str
    make: Callable[[Options], tuple[Case, ...]]
    needs: str = NOTHING
    of_a_memory: bool = True


def _dialogues(given: Options) -> tuple[Case, ...]:
    if given.data is None:
        raise InvalidArgument("the experiment 'dialogues' reads MultiWOZ 2.1; name its file (--data FILE)")
    return sweeps.dialogues(given.data, given.n, given.seed, subjects=given.subjects, repetitions=given.repetitions)


def _prompts(given: Options) -> tuple[Case, ...]:
    if len(given.writers) < 2:
        raise InvalidArgument("the experiment 'prompts' compares at least two writers of a model; got fewer")
    return sweeps.prompts(given.n, given.writers, given.seed, repetitions=given.repetitions)


def _endogenous(given: Options) -> tuple[Case, ...]:
    return sweeps.endogenous(
        given.n, given.say, given.said_by, given.seed, subjects=given.subjects, repetitions=given.repetitions
    )


def _chain(given: Options) -> tuple[Case, ...]:
    return sweeps.chain(given.n, given.seed, subjects=given.subjects, hops=given.hops, repetitions=given.repetitions)


def _of_a_memory(make: Callable[..., tuple[Case, ...]]) -> Callable[[Options], tuple[Case, ...]]:
    return lambda given: make(given.n, given.seed, subjects=given.subjects, repetitions=given.repetitions)


def _alone(make: Callable[..., tuple[Case, ...]]) -> Callable[[Options], tuple[Case, ...]]:
    return lambda given: make(given.n, given.seed, repetitions=given.repetitions)


EXPERIMENTS = (
    Experiment("reclaim", "6, Figure 1, Tables 8, 18", "is the memory correctable at the wall",
               _of_a_memory(sweeps.reclaim)),
    Experiment("wall", "5, Figure 1, Tables 5, 6, 7", "the wall, the padded control and the fix, by integrity",
               _alone(sweeps.wall), of_a_memory=False),
    Experiment("window", "5.1, Table 2", "a correction in the same session, by depth and distance",
               _alone(sweeps.window), of_a_memory=False),
    Experiment("disposition", "5.2, App. I, Tables 3, 17", "a lossy memory beside an empty one",
               _of_a_memory(sweeps.disposition)),
    Experiment("both", "5.3", "the conclusion beside the source", _alone(sweeps.both), of_a_memory=False),
    Experiment("taxonomy", "5.4, Tables 4, 18, 19", "every way of correcting", _of_a_memory(sweeps.taxonomy)),
    Experiment("adversarial", "App. J, Table 19", "corrections that mislead", _of_a_memory(sweeps.adversarial)),
    Experiment("free_guess", "App. D, Table 16", "what guessing among the candidates comes to",
               _alone(sweeps.free_guess), of_a_memory=False),
    Experiment("size", "7, App. B, Figure 2, Table 14", "a source that outgrows the budget", _of_a_memory(sweeps.size)),
    Experiment("noise", "7, App. C, Figure 3, Table 15", "a source among what was considered; locating",
               _of_a_memory(sweeps.noise)),
    Experiment("completeness", "7, Table 11", "saying how much was kept", _of_a_memory(sweeps.completeness)),
    Experiment("places", "beside the paper", "a source that stands anywhere in the session",
               _of_a_memory(sweeps.places)),
    Experiment("cascade", "9, App. G, Table 12", "memory that feeds memory, and its control",
               _chain),
    Experiment("endogenous", "11", "errors that the agent makes by itself", _endogenous),
    Experiment("prompts", "11", "the wording of a writer's prompt", _prompts, MODEL, of_a_memory=False),
    Experiment("dialogues", "8, App. E, Tables 9, 10", "times of real dialogues", _dialogues, DATA),
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
        f"there is no reclaim experiment {name!r}; these are: {', '.join(one.name for one in EXPERIMENTS)}"
    )


def cases(names: Sequence[str], given: Options) -> tuple[Case, ...]:
    """Make the cases of experiments.

    Raises:
        InvalidArgument: there is no such experiment, or what it needs was not given.
    """
    chosen = [named(name) for name in dict.fromkeys(names)]
    return tuple(replace(case, wording=given.wording) for one in chosen for case in one.make(given))


def battery(given: Options) -> tuple[str, ...]:
    """Name the experiments that a memory of one's own is asked, with what was given."""
    have = {NOTHING} | ({DATA} if given.data is not None else set())
    return tuple(one.name for one in EXPERIMENTS if one.of_a_memory and one.needs in have)
