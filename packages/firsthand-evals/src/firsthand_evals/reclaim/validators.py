"""Checks of the evaluation itself, over items of a deterministic reader: each can fail (reclaim-evaluation 4, B, C, G).

They hold the harness, not a memory: that a lossy note holds no source, that a padded
one helps no more, that a cliff is there and moves with the budget, that a loop without an
error makes none. The invariant: a check that finds no items to look at does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from firsthand.value import replace, value
from firsthand_evals.reclaim import policies, scoring, seam, tables
from firsthand_evals.reclaim.corrections import HANDED
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.policies import BLANK, BOTH, DENOISED, LOSSY, PADDED, SOURCE_FIRST, TAGGED
from firsthand_evals.reclaim.readers import YIELDING
from firsthand_evals.reclaim.tasks import ARITHMETIC, Problem

Problems = Mapping[str, Problem]
_HEAD_FIRST = ("head", "first")


@value
class Check:
    """One check: what must hold, over how many items, and those that break it."""

    name: str
    n: int
    broken: tuple[str, ...]

    @property
    def held(self) -> bool:
        """True when there was something to look at and nothing broke it."""
        return self.n > 0 and not self.broken

    def __str__(self) -> str:
        if self.n == 0:
            return f"{self.name}: nothing to look at"
        if self.held:
            return f"{self.name}: holds (n = {self.n})"
        return f"{self.name}: broken by {len(self.broken)} of {self.n}, such as {self.broken[0]}"


def validate(
    items: Sequence[Item], problems: Iterable[Problem], *, as_in_paper: bool = True, by_rule: bool = True
) -> tuple[Check, ...]:
    """Check what items show, as far as their experiments were run.

    Args:
        as_in_paper: False leaves out what holds of the recomputing reader at the paper's budgets and corrections alone.
        by_rule: False leaves out what a model may break.
    """
    asked = CHECKS if as_in_paper else {name: _anywhere(own, by_rule=by_rule) for name, own in CHECKS.items()}
    known = {problem.id: problem for problem in problems}
    by_name: dict[str, list[Item]] = {}
    for item in items:
        by_name.setdefault(item.parameters["experiment"], []).append(item)
    return tuple(check(own, known) for name, own in by_name.items() for check in asked.get(name, ()))


def _anywhere(
    own: Sequence[Callable[[Sequence[Item], Problems], Check]], *, by_rule: bool
) -> list[Callable[[Sequence[Item], Problems], Check]]:
    """Give the checks that hold whatever is said, at any budget: those of the notes, and of who makes nothing up."""
    return [check for check in own if check in OF_NOTES or (by_rule and check in OF_RULES)]


@value(eq=False)
class Law:
    """A check that every item must keep.

    Attributes:
        memories: whose items; empty for all. ``premise``: those with an error planted, or without; None for both.
        below_whole: of these the notes below the integrity from which every note holds the source.
    """

    name: str
    memories: Sequence[str]
    holds: Callable[[Item, Problems], bool]
    premise: bool | None = None
    below_whole: bool = False

    def __call__(self, items: Sequence[Item], problems: Problems) -> Check:
        own = [item for item in items if self._is_of(item)]
        broken = [
            f"{item.parameters['memory']} on {item.parameters['problem']}"
            for item in own if not self.holds(item, problems)
        ]  # fmt: skip
        return Check(self.name, len(own), tuple(broken))

    def _is_of(self, item: Item) -> bool:
        told = item.parameters
        return (
            (not self.memories or told["memory"] in self.memories)
            and (self.premise is None or told["premise"] == self.premise)
            and not (self.below_whole and float(told.get("integrity", policies.WALL)) >= policies.WHOLE_FROM)
        )


def _recovered(item: Item) -> bool:
    return item.outcome == scoring.RECOVERED


def _is_told(item: Item) -> bool:
    """Say whether the user told the value to a reader that takes it."""
    return (item.parameters["correction"], item.parameters["reader"]) == (HANDED, YIELDING)


def _is_whole(item: Item, problems: Problems) -> bool:
    return all(line in item.carried for line in problems[item.parameters["problem"]].source)


premise_drifts = Law("the premise leads to another answer", (), lambda item, _: item.attractor not in {"", item.answer})
lossy_holds_no_source = Law(
    "a lossy note holds no line of the source", (LOSSY, PADDED),
    lambda item, problems: not any(line in item.carried for line in problems[item.parameters["problem"]].listed),
    below_whole=True,
)  # fmt: skip
lossy_never_recovers = Law(
    "nothing is recovered without a source", (LOSSY, PADDED, BLANK),
    lambda item, _: not _recovered(item) or _is_told(item),
    below_whole=True,
)  # fmt: skip
source_first_iff_whole = Law(
    "recovered exactly when the whole source was kept", (SOURCE_FIRST, DENOISED, BOTH),
    lambda item, problems: _recovered(item) == _is_whole(item, problems),
)  # fmt: skip
conclusion_stands_beside = Law(
    "the conclusion stands beside the source", (BOTH,),
    lambda item, problems: problems[item.parameters["problem"]].shown(item.attractor) in item.carried,
)  # fmt: skip
session_holds_its_source = Law("in one session nothing is lost", (), lambda item, _: _recovered(item))
candidates_hold_the_truth = Law(
    "the candidates have the truth and determine nothing", (),
    lambda item, _: {item.answer, item.attractor} <= set(re.findall(r"\w+", item.carried)) and not _recovered(item),
)  # fmt: skip
tag_is_heard = Law(
    "a part that says so is taken for a part", (TAGGED,),
    lambda item, problems: _is_whole(item, problems) or item.outcome == scoring.ABSTAINED,
)  # fmt: skip
part_is_silent = Law(
    "a part that says nothing is taken for the whole", (SOURCE_FIRST,),
    lambda item, problems: _is_whole(item, problems) or item.silent,
)  # fmt: skip
conclusion_is_no_source = Law(
    "a conclusion alone brings nothing back", ("own_conclusion",), lambda item, _: not _recovered(item)
)
loop_makes_no_error = Law(
    "the loop makes no error of its own", (LOSSY, PADDED), lambda item, _: item.blast == 0, premise=False
)
error_spreads = Law(
    "an error spreads to every session", (LOSSY, PADDED), lambda item, _: item.blast == item.parameters["hops"],
    premise=True,
)  # fmt: skip
chain_holds_no_goods = Law(
    "a lossy chain carries no item", (LOSSY, PADDED),
    lambda item, _: not any(re.search(r"\bwe took\b", hop["carried"]) for hop in item.hops),
)  # fmt: skip


def padded_is_as_long(items: Sequence[Item], _problems: Problems) -> Check:
    """A padded note is at least as long as the source-first note beside it."""
    beside = {_place(item): item.used for item in items if item.parameters["memory"] == SOURCE_FIRST}
    own = [item for item in items if item.parameters["memory"] == PADDED and _place(item) in beside]
    broken = [f"padded on {item.parameters['problem']}" for item in own if item.used < beside[_place(item)]]
    return Check("a padded note is as long as the source-first one", len(own), tuple(broken))


def beginning_is_found_out(items: Sequence[Item], _problems: Problems) -> Check:
    """A memory of the beginning recovers sums where their source stands first, and nowhere else; of the end, never."""
    sums = [one for one in items if one.parameters["family"] == ARITHMETIC]
    cut = [one for one in sums if one.parameters["memory"] in {"head", "tail"}]
    first = [
        one.outcome for one in cut if one.parameters["memory"] == "head" and one.parameters["source_at"] == "first"
    ]
    broken = [
        f"{one.parameters['memory']} on {one.parameters['problem']}, {one.parameters['source_at']}"
        for one in cut
        if one.outcome == scoring.RECOVERED and (one.parameters["memory"], one.parameters["source_at"]) != _HEAD_FIRST
    ]
    if first.count(scoring.RECOVERED) * 2 < len(first):  # a long wording leaves less room in the budget
        broken.append("head recovers under half where the source stands first")
    return Check("keeping the beginning is found out", len(cut), tuple(broken))


def cliff_is_there(items: Sequence[Item], _problems: Problems) -> Check:
    """At every budget source-first goes from all to nothing as the source grows, and never up again."""
    shares = _shares(items, SOURCE_FIRST, "budget", "items")
    broken = [
        f"budget {budget}: {[round(share, 2) for _, share in sizes]}"
        for budget, sizes in shares.items()
        if sizes[0][1] != 1 or sizes[-1][1] != 0 or any(later[1] > one[1] for one, later in pairwise(sizes))
    ]
    return Check("the budget has a cliff", len(shares), tuple(broken))


def cliff_moves(items: Sequence[Item], _problems: Problems) -> Check:
    """A larger budget moves the cliff to a larger source."""
    shares = _shares(items, SOURCE_FIRST, "budget", "items")
    last = [max((size for size, share in shares[budget] if share == 1), default=0) for budget in sorted(shares)]
    broken = [f"{one} items, then {later}" for one, later in pairwise(last) if later <= one]
    return Check("the cliff moves with the budget", max(0, len(last) - 1), tuple(broken))


def noise_decays(items: Sequence[Item], _problems: Problems) -> Check:
    """A note in order of mention decays as decoys are added; one of what was bought does not."""
    naive = _shares(items, SOURCE_FIRST, "budget", "considered")
    denoised = _shares(items, DENOISED, "budget", "considered")
    broken = [f"naive {shares}" for shares in naive.values() if shares[0][1] != 1 or shares[-1][1] >= 0.5]
    broken += [f"denoised {shares}" for shares in denoised.values() if any(share != 1 for _, share in shares)]
    return Check("decoys crowd the source out", len(naive) + len(denoised), tuple(broken))


def figures_are_counted(items: Sequence[Item], _problems: Problems) -> Check:
    """Count a stale and a new wrong value by hand, three characters recalled for each, and three of five carried."""
    pull = {"query": "", "text": "abc", "characters": 3, "cut": False}
    made = [replace(items[0], outcome=it, pulls=(pull,), hops=()) for it in (scoring.ATTRACTOR, scoring.WRONG)]
    (cell,) = tables.cells(made, ())
    cut = seam.carry(seam.Writes(lambda _messages, budget: "x" * (budget + 2)), [], 3)
    counted = {
        "wrong": (cell.wrong.hits, 2), "stale": (cell.attractor.hits, 1), "new": (cell.silent.hits, 1),
        "recalled": (cell.pulled, 3), "carried": (cut.used, 3), "written": (cut.written, 5),
    }  # fmt: skip
    broken = tuple(f"{name} {came} in place of {right}" for name, (came, right) in counted.items() if came != right)
    return Check("the figures of a table are those of its items", len(made), broken)


OF_NOTES = (
    figures_are_counted,
    premise_drifts,
    lossy_holds_no_source,
    padded_is_as_long,
    conclusion_stands_beside,
    chain_holds_no_goods,
)
OF_RULES = (lossy_never_recovers,)
_AT_THE_WALL = (figures_are_counted, premise_drifts, lossy_holds_no_source, lossy_never_recovers)
CHECKS: dict[str, tuple[Callable[[Sequence[Item], Problems], Check], ...]] = {
    "reclaim": (*_AT_THE_WALL, padded_is_as_long, source_first_iff_whole),
    "wall": (*_AT_THE_WALL, padded_is_as_long, source_first_iff_whole),
    "window": (premise_drifts, session_holds_its_source),
    "disposition": _AT_THE_WALL,
    "both": (*_AT_THE_WALL, source_first_iff_whole, conclusion_stands_beside),
    "taxonomy": (*_AT_THE_WALL, source_first_iff_whole),
    "adversarial": (*_AT_THE_WALL, source_first_iff_whole),
    "free_guess": (premise_drifts, candidates_hold_the_truth),
    "size": (
        premise_drifts,
        lossy_never_recovers,
        padded_is_as_long,
        source_first_iff_whole,
        cliff_is_there,
        cliff_moves,
    ),
    "noise": (premise_drifts, lossy_never_recovers, source_first_iff_whole, noise_decays),
    "completeness": (premise_drifts, tag_is_heard, part_is_silent),
    "places": (premise_drifts, beginning_is_found_out),
    "cascade": (loop_makes_no_error, error_spreads, chain_holds_no_goods),
    "endogenous": (conclusion_is_no_source, source_first_iff_whole),
    "prompts": (premise_drifts,),
    "dialogues": _AT_THE_WALL,
}
"""By experiment; every one has its own."""


def _place(item: Item) -> str:
    return repr([(name, it) for name, it in sorted(item.parameters.items()) if name != "memory"])


def _shares(items: Sequence[Item], memory: str, outer: str, inner: str) -> dict[int, list[tuple[int, float]]]:
    """Give the recovered share of one memory by two parameters, the inner one in order."""
    found: dict[int, dict[int, list[bool]]] = {}
    for one in items:
        if one.parameters["memory"] == memory:
            cell = found.setdefault(one.parameters[outer], {}).setdefault(one.parameters[inner], [])
            cell.append(one.outcome == scoring.RECOVERED)
    return {
        budget: [(size, sum(own) / len(own)) for size, own in sorted(sizes.items())] for budget, sizes in found.items()
    }
