"""The paper's experiments as cases: which memory is asked what, at which budget, how large, how noisy, how often.

Each function gives cases; `run.run` asks them and `tables` counts what came of them. The
invariant: within one experiment the memories differ in nothing but what they keep: the
same problems, corrections and budgets for all of them.

A memory of one's own (`seam.subject`) stands beside the paper's in every experiment that
takes ``subjects``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from firsthand_evals.reclaim import cascade, multiwoz, policies, tasks
from firsthand_evals.reclaim.corrections import ADVERSARIAL, DIRECTED, FALSE_LOCUS, GENERIC, KINDS
from firsthand_evals.reclaim.drift import DEPTHS, PLACES
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.policies import (
    BLANK,
    BOTH,
    CANDIDATES,
    DENOISED,
    INTEGRITIES,
    LOSSY,
    PADDED,
    SOURCE_FIRST,
    TAGGED,
    policy,
)  # fmt: skip
from firsthand_evals.reclaim.seam import Messages, Subject

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32)
SIZE_BUDGETS = (300, 600)
CONSIDERED = (0, 2, 4, 6, 8, 12, 16, 24, 32)
NOISE_BUDGET = 420
PLACES_BUDGET = 300
DISTANCES = (0, 4, 8, 16)
REPETITIONS = 1

Say = Callable[[Messages], str]


def wall(n: int, seed: int = 0, *, repetitions: int = REPETITIONS) -> tuple[Case, ...]:
    """Vary the integrity of lossy, padded and source-first notes, in both families (Tables 5, 6, 7)."""
    return tuple(
        Case("wall", policy(name, integrity), problem, repetition=repetition, extra=(("integrity", integrity),))
        for name in (LOSSY, PADDED, SOURCE_FIRST)
        for integrity in INTEGRITIES
        for problem in (*tasks.arithmetic(n, seed), *tasks.logic(n, seed))
        for repetition in range(repetitions)
    )


def reclaim(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), repetitions: int = REPETITIONS
) -> tuple[Case, ...]:
    """Ask memories at the wall, in both families, under a directed and a generic correction (Tables 8, 18)."""
    return tuple(
        Case("reclaim", subject, problem, kind, repetition=repetition)
        for subject in (*_policies(LOSSY, PADDED, SOURCE_FIRST, BLANK), *subjects)
        for problem in (*tasks.arithmetic(n, seed), *tasks.logic(n, seed))
        for kind in (DIRECTED, GENERIC)
        for repetition in range(repetitions)
    )


def disposition(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), repetitions: int = REPETITIONS
) -> tuple[Case, ...]:
    """Set a lossy memory beside an empty one: which makes a reader emit a wrong value (Tables 3, 17)."""
    return tuple(
        Case("disposition", subject, problem, repetition=repetition)
        for subject in (*_policies(LOSSY, BLANK), *subjects)
        for problem in tasks.arithmetic(n, seed)
        for repetition in range(repetitions)
    )


def taxonomy(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), repetitions: int = REPETITIONS
) -> tuple[Case, ...]:
    """Correct in every way there is, at the wall (5.4, Tables 4, 18, 19)."""
    return tuple(
        Case("taxonomy", subject, problem, kind, repetition=repetition)
        for subject in (*_policies(LOSSY, SOURCE_FIRST), *subjects)
        for problem in tasks.arithmetic(n, seed)
        for kind in KINDS
        for repetition in range(repetitions)
    )


def adversarial(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), repetitions: int = REPETITIONS
) -> tuple[Case, ...]:
    """Mislead with a false locus, a value insisted on, and false working, in both families (App. J, Table 19)."""
    return tuple(
        Case("adversarial", subject, problem, kind, repetition=repetition)
        for subject in (*_policies(LOSSY, SOURCE_FIRST), *subjects)
        for problem in (*tasks.arithmetic(n, seed), *tasks.logic(n, seed))
        for kind in (FALSE_LOCUS, *ADVERSARIAL)
        for repetition in range(repetitions)
    )


def both(n: int, seed: int = 0, *, repetitions: int = REPETITIONS) -> tuple[Case, ...]:
    """Keep the conclusion beside the source, or not (5.3)."""
    return tuple(
        Case("both", subject, problem, repetition=repetition)
        for subject in _policies(SOURCE_FIRST, BOTH, LOSSY)
        for problem in (*tasks.arithmetic(n, seed), *tasks.logic(n, seed))
        for repetition in range(repetitions)
    )


def window(
    n: int, seed: int = 0, *, repetitions: int = REPETITIONS, say: Say | None = None, said_by: str = ""
) -> tuple[Case, ...]:
    """Correct in the same session, by depth of commitment and by distance: nothing is lost there (Table 2)."""
    ways = [*((depth, 0) for depth in DEPTHS), *((max(DEPTHS), distance) for distance in DISTANCES if distance)]
    return tuple(
        Case("window", policy(BLANK), problem, kind, depth, filler, budget=None, repetition=repetition, say=say,
             said_by=said_by)
        for problem in tasks.arithmetic(n, seed)
        for depth, filler in ways
        for kind in (GENERIC, DIRECTED)
        for repetition in range(repetitions)
    )  # fmt: skip


def size(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), sizes: Sequence[int] = SIZES,
    budgets: Sequence[int] = SIZE_BUDGETS, repetitions: int = REPETITIONS,
) -> tuple[Case, ...]:  # fmt: skip
    """Let the source outgrow the budget (7, App. B, Figure 2, Table 14)."""
    return tuple(
        Case("size", subject, problem, budget=budget, repetition=repetition, extra=(("items", items),))
        for subject in (*_policies(SOURCE_FIRST, PADDED), *subjects)
        for budget in budgets
        for items in sizes
        for problem in tasks.ledger(n, items, seed)
        for repetition in range(repetitions)
    )


def completeness(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), sizes: Sequence[int] = (24, 32),
    budgets: Sequence[int] = SIZE_BUDGETS, repetitions: int = REPETITIONS,
) -> tuple[Case, ...]:  # fmt: skip
    """Say how much was kept, where not all was (7, Table 11)."""
    return tuple(
        Case("completeness", subject, problem, budget=budget, repetition=repetition, extra=(("items", items),))
        for subject in (*_policies(SOURCE_FIRST, TAGGED), *subjects)
        for budget in budgets
        for items in sizes
        for problem in tasks.ledger(n, items, seed)
        for repetition in range(repetitions)
    )


def noise(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), considered: Sequence[int] = CONSIDERED,
    budget: int = NOISE_BUDGET, repetitions: int = REPETITIONS,
) -> tuple[Case, ...]:  # fmt: skip
    """Crowd the source out with what was considered and not bought (7, App. C, Figure 3, Table 15; locating)."""
    return tuple(
        Case("noise", subject, problem, budget=budget, repetition=repetition, extra=(("considered", decoys),))
        for subject in (*_policies(SOURCE_FIRST, DENOISED, PADDED), *subjects)
        for decoys in considered
        for problem in tasks.noisy(n, decoys, seed)
        for repetition in range(repetitions)
    )


def places(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), repetitions: int = REPETITIONS
) -> tuple[Case, ...]:
    """Let the source stand anywhere in the session; a memory that keeps the beginning is then found out."""
    return tuple(
        Case(
            "places", subject, problem, depth=8, filler=8, source_at=place, budget=PLACES_BUDGET, repetition=repetition
        )
        for subject in (head(), tail(), *subjects)
        for place in PLACES
        for problem in (*tasks.arithmetic(n, seed), *tasks.logic(n, seed))
        for repetition in range(repetitions)
    )


def chain(
    n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), hops: Sequence[int] = cascade.HOPS,
    budget: int = cascade.BUDGET_CHARACTERS, repetitions: int = REPETITIONS,
) -> tuple[Case, ...]:  # fmt: skip
    """Let memory feed memory, with an error at the start and, as a control, without one (9, App. G, Table 12).

    A chain of one session has a ledger of two items of which the second is left out.
    """
    names = (LOSSY, PADDED, SOURCE_FIRST, TAGGED)
    return tuple(
        Case("cascade", subject, tasks.shortened(problem, length), budget=budget, premise=premise, hops=length,
             repetition=repetition)
        for subject in (*map(cascade.policy, names), *subjects)
        for length in hops
        for problem in tasks.ledger(n, max(2, length), seed)
        for premise in (True, False)
        for repetition in range(repetitions)
    )  # fmt: skip


def free_guess(n: int, seed: int = 0, *, repetitions: int = REPETITIONS) -> tuple[Case, ...]:
    """Give the candidates and nothing else: what guessing comes to (App. D, Table 16)."""
    return tuple(
        Case("free_guess", policy(CANDIDATES), problem, kind, repetition=repetition)
        for problem in tasks.logic(n, seed)
        for kind in (GENERIC, DIRECTED)
        for repetition in range(repetitions)
    )


def dialogues(
    file: Path, n: int, seed: int = 0, *, subjects: Sequence[Subject] = (), repetitions: int = REPETITIONS
) -> tuple[Case, ...]:
    """Ask for times of real dialogues (8, App. E, Tables 9, 10)."""
    found = multiwoz.problems(file, n, seed)
    return tuple(
        Case("dialogues", subject, problem, repetition=repetition,
             extra=(("slot", problem.ask), ("exact", int(problem.ask == multiwoz.EXACT))))
        for subject in (*_policies(LOSSY, PADDED, SOURCE_FIRST, BLANK), *subjects)
        for problem in found
        for repetition in range(repetitions)
    )  # fmt: skip


def endogenous(
    n: int, say: Say, said_by: str, seed: int = 0, *, subjects: Sequence[Subject] = (), items: int = 10,
    repetitions: int = REPETITIONS,
) -> tuple[Case, ...]:  # fmt: skip
    """Let the agent of the first session go wrong by itself, over many items and without a wrong note (11).

    An item counts only where it did go wrong (`tables.endogenous`).

    Args:
        say: the agent, such as the ``answer`` of a reader; ``said_by`` is its name.
    """
    return tuple(
        Case("endogenous", subject, problem, depth=1, premise=False, repetition=repetition, say=say, said_by=said_by)
        for subject in (*_policies(SOURCE_FIRST), own_conclusion(), *subjects)
        for problem in tasks.ledger(n, items, seed)
        for repetition in range(repetitions)
    )


def prompts(n: int, writers: Sequence[Subject], seed: int = 0, *, repetitions: int = REPETITIONS) -> tuple[Case, ...]:
    """Set writers that differ in the wording of their prompt beside each other (11, prompt sensitivity)."""
    return tuple(
        Case("prompts", subject, problem, repetition=repetition)
        for subject in writers
        for problem in tasks.arithmetic(n, seed)
        for repetition in range(repetitions)
    )


# memories that need no problem to be written -------------------------------------------------------


def head() -> Subject:
    """Give the memory that keeps the beginning of a session."""
    return Subject("head", lambda: _Cut(first=True))


def tail() -> Subject:
    """Give the memory that keeps the end of a session."""
    return Subject("tail", lambda: _Cut(first=False))


def own_conclusion() -> Subject:
    """Give the memory that keeps what the assistant concluded, whatever that was."""
    return Subject("own_conclusion", _Concluded)


class _Cut:
    def __init__(self, *, first: bool) -> None:
        self._first = first

    def write(self, messages: Messages, budget: int) -> str:
        text = "\n".join(f"{one['role']}: {one['content']}" for one in messages if one["role"] != "system")
        return text[:budget] if self._first else text[max(0, len(text) - budget) :]


class _Concluded:
    def write(self, messages: Messages, budget: int) -> str:
        said = [one["content"] for one in messages if one["role"] == "assistant" and "ANSWER:" in one["content"]]
        value = said[-1].rsplit("ANSWER:", 1)[-1].strip() if said else "nothing"
        return f"{policies.HEAD} you concluded that the answer is {value}."[:budget]


def _policies(*names: str) -> tuple[Subject, ...]:
    return tuple(policy(name) for name in names)
