"""Checks of the evaluation itself, over items of a deterministic reader: each can fail (reclaim-evaluation 4, B, C, G).

They hold the harness, not a memory: that a lossy note holds no source, that a padded
one helps no more, that a cliff is there and moves with the budget, that a loop without an
error makes none. The invariant: a check that finds no items to look at does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from firsthand.value import value
from firsthand_evals.reclaim import policies, scoring
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.policies import BLANK, BOTH, DENOISED, LOSSY, PADDED, SOURCE_FIRST, TAGGED
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


def validate(items: Sequence[Item], problems: Iterable[Problem]) -> tuple[Check, ...]:
    """Check what items of the recomputing reader show, as far as their experiments were run."""
    known = {problem.id: problem for problem in problems}
    by_name: dict[str, list[Item]] = {}
    for item in items:
        by_name.setdefault(item.parameters["experiment"], []).append(item)
    return tuple(check(own, known) for name, own in by_name.items() for check in CHECKS.get(name, ()))


def premise_drifts(items: Sequence[Item], _problems: Problems) -> Check:
    """The wrong conclusion is not the truth."""
    return _check("the premise leads to another answer", items, lambda one: one.attractor not in {"", one.answer})


def lossy_holds_no_source(items: Sequence[Item], problems: Problems) -> Check:
    """A lossy note below .5 and a padded one hold no line of the source."""
    own = [
        one for one in items if one.parameters["memory"] in {LOSSY, PADDED} and _integrity(one) < policies.WHOLE_FROM
    ]
    return _check(
        "a lossy note holds no line of the source", own,
        lambda one: not any(line in one.carried for line in problems[one.parameters["problem"]].listed),
    )  # fmt: skip


def lossy_never_recovers(items: Sequence[Item], _problems: Problems) -> Check:
    """Neither a lossy note below .5 nor a padded or blank one is recovered from."""
    own = [
        one for one in items
        if one.parameters["memory"] in {LOSSY, PADDED, BLANK} and _integrity(one) < policies.WHOLE_FROM
    ]  # fmt: skip
    return _check("nothing is recovered without a source", own, lambda one: one.outcome != scoring.RECOVERED)


def padded_is_as_long(items: Sequence[Item], _problems: Problems) -> Check:
    """A padded note is at least as long as the source-first note beside it."""
    beside = {_place(one): one.used for one in items if one.parameters["memory"] == SOURCE_FIRST}
    own = [one for one in items if one.parameters["memory"] == PADDED and _place(one) in beside]
    return _check("a padded note is as long as the source-first one", own, lambda one: one.used >= beside[_place(one)])


def source_first_iff_whole(items: Sequence[Item], problems: Problems) -> Check:
    """A source-first note is recovered from exactly when every line of the source is in it."""
    own = [one for one in items if one.parameters["memory"] in {SOURCE_FIRST, DENOISED, BOTH}]
    return _check(
        "recovered exactly when the whole source was kept", own,
        lambda one: (one.outcome == scoring.RECOVERED) == _is_whole(one, problems),
    )  # fmt: skip


def conclusion_stands_beside(items: Sequence[Item], problems: Problems) -> Check:
    """A note of source and conclusion has the wrong conclusion too, or nothing is set beside the source."""
    own = [one for one in items if one.parameters["memory"] == BOTH]
    return _check(
        "the conclusion stands beside the source", own,
        lambda one: problems[one.parameters["problem"]].shown(one.attractor) in one.carried,
    )  # fmt: skip


def session_holds_its_source(items: Sequence[Item], _problems: Problems) -> Check:
    """In the session itself, whatever its depth and distance, the source is there to be had."""
    own = [one for one in items if one.parameters["budget"] is None]
    return _check("in one session nothing is lost", own, lambda one: one.outcome == scoring.RECOVERED)


def candidates_hold_the_truth(items: Sequence[Item], _problems: Problems) -> Check:
    """What a guess is drawn from has the truth, and does not say which it is."""
    return _check(
        "the candidates have the truth and determine nothing", items,
        lambda one: {one.answer, one.attractor} <= set(re.findall(r"\w+", one.carried))
        and one.outcome != scoring.RECOVERED,
    )  # fmt: skip


def tag_is_heard(items: Sequence[Item], problems: Problems) -> Check:
    """Past the cliff a note that says how much it kept gives no value."""
    own = [one for one in items if one.parameters["memory"] == TAGGED and not _is_whole(one, problems)]
    return _check("a part that says so is taken for a part", own, lambda one: one.outcome == scoring.ABSTAINED)


def part_is_silent(items: Sequence[Item], problems: Problems) -> Check:
    """Past the cliff a note that does not say how much it kept gives a new wrong value: that is what the tag is for."""
    own = [one for one in items if one.parameters["memory"] == SOURCE_FIRST and not _is_whole(one, problems)]
    return _check("a part that says nothing is taken for the whole", own, lambda one: one.silent)


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


def conclusion_is_no_source(items: Sequence[Item], _problems: Problems) -> Check:
    """What an agent concluded by itself, rightly or wrongly, brings nothing back alone."""
    own = [one for one in items if one.parameters["memory"] == "own_conclusion"]
    return _check("a conclusion alone brings nothing back", own, lambda one: one.outcome != scoring.RECOVERED)


def wordings_are_asked_alike(items: Sequence[Item], _problems: Problems) -> Check:
    """Every wording of a prompt is asked the same problems."""
    asked: dict[str, set[str]] = {}
    for one in items:
        asked.setdefault(one.parameters["memory"], set()).add(one.parameters["problem"])
    whole = set().union(*asked.values())
    broken = tuple(f"{name} lacks {len(whole - own)}" for name, own in asked.items() if own != whole)
    return Check("every wording is asked the same problems", len(asked), broken)


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


def loop_makes_no_error(items: Sequence[Item], _problems: Problems) -> Check:
    """Without an error planted, no session of a lossy or padded chain is answered wrongly."""
    own = [one for one in items if one.parameters["memory"] in {LOSSY, PADDED} and not one.parameters["premise"]]
    return _check("the loop makes no error of its own", own, lambda one: one.blast == 0)


def error_spreads(items: Sequence[Item], _problems: Problems) -> Check:
    """With an error planted, every session of a lossy chain is answered wrongly."""
    own = [one for one in items if one.parameters["memory"] in {LOSSY, PADDED} and one.parameters["premise"]]
    return _check("an error spreads to every session", own, lambda one: one.blast == one.parameters["hops"])


def chain_holds_no_goods(items: Sequence[Item], _problems: Problems) -> Check:
    """What a lossy chain carries names nothing that was bought."""
    goods = re.compile(r"\bwe took\b")
    own = [one for one in items if one.parameters["memory"] in {LOSSY, PADDED}]
    return _check(
        "a lossy chain carries no item", own, lambda one: not any(goods.search(hop["carried"]) for hop in one.hops)
    )


_AT_THE_WALL = (premise_drifts, lossy_holds_no_source, lossy_never_recovers)
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
    "prompts": (premise_drifts, wordings_are_asked_alike),
    "dialogues": _AT_THE_WALL,
}
"""By experiment; every one has its own."""


def _check(name: str, items: Sequence[Item], holds: Callable[[Item], bool]) -> Check:
    broken = [f"{one.parameters['memory']} on {one.parameters['problem']}" for one in items if not holds(one)]
    return Check(name, len(items), tuple(broken))


def _is_whole(item: Item, problems: Problems) -> bool:
    return all(line in item.carried for line in problems[item.parameters["problem"]].source)


def _integrity(item: Item) -> float:
    return float(item.parameters.get("integrity", policies.WALL))


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
