"""The checks that stood before anything was run: what would show that the harness, the gate or the idea is wrong.

    C0  telephone keeps (1 - p)^n          H3  rules help a reader that makes none by itself
    C1  the plain memories are as known    H4  the gate keeps its promise, and harm out
    C2  the port changes no figure         H5  the gate lets the good in, and the memory is half as long
    H1  merging all does harm              H6  without the replay of the scope harm gets through
    H2  nothing that loses beats the raw

The invariant: each can fail, and each names its figure, with its interval and n
(consolidation 3.8). What each must see is in ``faults.toml``. H7 and H8 are about models: `model_checks`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from firsthand.ledger.entries import BETWEEN, CASE, View, current
from firsthand.ledger.entry_gate import GateSettings
from firsthand.ledger.solver import Weak
from firsthand.value import replace, value
from firsthand_evals import stats
from firsthand_evals.stats import Difference, Rate, rate
from firsthand_evals.stream import arms, curves, measure
from firsthand_evals.stream.arms import MODEL_GATED, name_of
from firsthand_evals.stream.gate_trials import KNOWN, broken_promises, trials
from firsthand_evals.stream.measure import MODEL, READERS, STRONG, WEAK
from firsthand_evals.stream.regimes import AUTO, EPISODIC, FORCED, NOT_CONSOLIDATED
from firsthand_evals.stream.rules import Strong
from firsthand_evals.stream.run import Stream, broken, gate_reader, survived
from firsthand_evals.stream.world import World, schedule, world

SHUFFLES, ROUNDING = 25, 1e-9
OF_HARNESS = ("C0", "C1", "C2")
"""Checks of the evaluation itself: where one does not hold, no memory is judged."""
_THREE = "\n".join(f"{CASE}teak level {level}{BETWEEN}{3 * level + 2}" for level in (1, 4, 9))
ACCEPTED_MIN, TIMES_SHORTER_MIN = 0.9, 2.0


@value
class Check:
    """One check: what it says, whether it held, and the figure.

    Attributes:
        binding: whether one that does not hold is a failure of what is tried; else it was not replicated.
        few: whether streams, or the replies of a model that can be read, are too few to show anything either way.
    """

    name: str
    says: str
    held: bool
    found: str
    binding: bool = True
    few: bool = False

    @property
    def verdict(self) -> str:
        """Say in words what came of it."""
        if self.few:
            return stats.TOO_FEW
        if self.held:
            return "held"
        return "FAILED" if self.binding else "not replicated"

    def __str__(self) -> str:
        return f"{self.name} {self.verdict}: {self.says}. {self.found}"


def checks(streams: Sequence[Stream], episodes: int) -> tuple[Check, ...]:
    """Check a run; what wants an arm that did not run is left out.

    Args:
        episodes: of each world.
    """
    ran = {stream.arm for stream in streams}
    seeds = sorted({stream.seed for stream in streams})
    found: list[Check] = []
    for needs, made in (
        ({arms.TELEPHONE}, _telephone),
        ({arms.NO_MEMORY, arms.KEEP_ALL}, partial(_harness, seeds=seeds, episodes=episodes)),
        ({arms.THROUGH_PORT, arms.KEEP_ALL}, _through_port),
        ({arms.MERGE_ALL, arms.NO_MEMORY}, _merge_all),
        ({arms.KEEP_ALL}, _raw_is_best),
        ({arms.RULES, arms.KEEP_ALL}, _rules_help),
        (set[str](), _promises),
        ({arms.GATED, arms.KEEP_ALL}, _lets_in),
        ({arms.UNSCOPED, arms.NO_MEMORY}, _scope),
    ):
        if needs <= ran:
            found += made(streams)
    return tuple(found)


def plain(streams: Sequence[Stream], episodes: int) -> tuple[Check, ...]:
    """Check of any schedule what is of no memory under test: the plain ones, and the port, in a check each."""
    ran, seeds = {stream.arm for stream in streams}, sorted({stream.seed for stream in streams})
    made = [*_harness(streams, seeds, episodes)] if {arms.NO_MEMORY, arms.KEEP_ALL} <= ran else []
    made += _through_port(streams) if {arms.THROUGH_PORT, arms.KEEP_ALL} <= ran else ()
    whole: list[Check] = []
    for name in dict.fromkeys(check.name for check in made):
        own = [check for check in made if check.name == name]
        broken = [f"{check.says}: {check.found}" for check in own if not check.held]
        says = f"the plain memories of the schedule {streams[0].schedule} are as known"
        whole.append(Check(name, says, not broken, "; ".join(broken) or f"{len(own)} of {len(own)} hold"))
    return tuple(whole)


def harness(streams: Sequence[Stream], episodes: int) -> tuple[Check, ...]:
    """Check of a run with a model what is not about it: the plain memories, and the gate's promise."""
    seeds = sorted({stream.seed for stream in streams})
    return (*_harness(streams, seeds, episodes), *_promises(streams))


def accepted(streams: Sequence[Stream], arm: str) -> Rate:
    """Give the share of the entries proposed by an arm that the gate let in."""
    own = [stream.rates for stream in curves.of(streams, arm)]
    taken = sum(gate_rates.good_taken + gate_rates.bad_taken for gate_rates in own)
    return rate(taken, taken + sum(gate_rates.good_refused + gate_rates.bad_refused for gate_rates in own))


def _telephone(streams: Sequence[Stream]) -> Iterator[Check]:
    own = curves.of(streams, arms.TELEPHONE)
    tellings = own[0].actions["asked"]
    known = (1 - arms.LOSS) ** tellings
    found = rate(sum(stream.told[0] for stream in own), sum(one.told[1] for one in own))
    says = f"of what is told {tellings} times (1 - {arms.LOSS:g})^{tellings} = {known:.3f} is left"
    yield Check("C0", says, found.low <= known <= found.high, str(found))


def _harness(streams: Sequence[Stream], seeds: Sequence[int], episodes: int) -> Iterator[Check]:
    name = streams[0].schedule
    told = [shuffled(seed, name, episodes) for seed in seeds]
    found = rate(sum(right for right, _, _ in told), sum(n for _, n, _ in told))
    chance = sum(n * chance for _, n, chance in told) / found.n
    says = f"with answers shuffled, what is seen is answered at chance, {chance:.5f}"
    yield Check("C1", says, found.low <= chance <= found.high, f"{found.hits / found.n:.5f}, {found}")
    raw = curves.of(streams, arms.KEEP_ALL)
    whole = all(stream.end(f"seen {reader}") == 1 for stream in raw for reader in READERS)
    whole &= all(stream.end(f"rule {WEAK}") == stream.end(f"alone {WEAK}") for stream in raw)
    says = "keep all answers all that is seen, and by itself nothing that is not"
    yield Check("C1", says, whole, str(curves.end(streams, arms.KEEP_ALL, "seen weak")))
    alone = all(
        stream.end(f"seen {reader}") == _by_itself(stream.seed, name, episodes)
        for stream in curves.of(streams, arms.NO_MEMORY)
        for reader in READERS
    )
    yield Check("C1", "without memory the reader answers what it knows, and no more", alone,
                str(curves.end(streams, arms.NO_MEMORY, "seen weak")))  # fmt: skip
    plain = [stream for stream in streams if stream.arm in {arms.NO_MEMORY, arms.KEEP_ALL}]
    most = max(point[f"regressed {reader}"] for stream in plain for point in stream.points for reader in READERS)
    says = "neither forgets what it answered; an answer that a later one took the place of is no regression"
    yield Check("C1", says, most == 0, f"at most {most:.3f} after any update")
    says = "a memory that is emptied has forgotten all that its reader does not know, and keeps nothing"
    off = [fault for seed in seeds for fault in _emptied(world(seed, episodes))]
    yield Check("C1", says, not off, "; ".join(off) or f"{len(seeds)} worlds, 2 readers: each figure as it must be")
    came = {name: reader.answer("teak level 50", _THREE) for name, reader in measure.readers(world(seeds[0])).items()}
    says = "of three cases the strong reader makes a rule, and the weak one none"
    yield Check("C1", says, came == {STRONG: "152", WEAK: None}, f"of three cases of 3 * N + 2, for 50: {came}")
    yield _survival_counts()


def _survival_counts() -> Check:
    """Follow three updates by hand: a and b, then a alone, then a and c."""
    came = next(survived([frozenset("ab"), frozenset("a"), frozenset("ac")]))
    says = "of what stood in a memory, what left it is not counted as standing there"
    return Check("C1", says, (came.stood, came.n) == (2, 3), f"{came.stood} of {came.n}, where 2 of 3 is right")


def _emptied(made: World) -> Iterator[str]:
    """Name the figures that are not as they must be when a memory of everything is emptied."""
    before, asked = measure.Before(), measure.readers(made)
    full, empty = (
        measure.measured(made, view, made.episodes, "view", asked, before) for view in (View((), made.episodes), View())
    )
    for reader in READERS:
        lost = 1 - empty[f"seen {reader}"]
        if abs(empty[f"regressed {reader}"] - lost) > ROUNDING:
            yield f"regressed {reader} {empty[f'regressed {reader}']:.3f} for {lost:.3f}"
    if (full["kept"], empty["kept"]) != (1, 0):
        yield f"kept {full['kept']:.3f} before and {empty['kept']:.3f} after"


def _through_port(streams: Sequence[Stream]) -> Iterator[Check]:
    whole, through = (curves.of(streams, name) for name in (arms.KEEP_ALL, arms.THROUGH_PORT))
    other = sorted({
        figure
        for stream, beside in zip(whole, through, strict=True)
        for point, there in zip(stream.points, beside.points, strict=True)
        for figure in point if figure != "raw" and point[figure] != there[figure]
    })  # fmt: skip
    says = "a memory of somebody's own that keeps every line has each figure of keep all"
    yield Check("C2", says, not other, f"other figures: {', '.join(other) or 'none'}")


def shuffled(seed: int, name: str, episodes: int) -> tuple[int, int, float]:
    """Count what of the seen is answered right when the answers are dealt out anew: how many of n, and the chance."""
    made = world(seed, episodes)
    now = [*current(episode for update in schedule(name, made) for episode in update.new).values()]
    right = [episode.answer for episode in now]
    answers, dealer = [*right], random.Random(seed)  # noqa: S311 - repeatable on purpose
    solver = measure.readers(made)[WEAK]
    hits = 0
    for _ in range(SHUFFLES):
        dealer.shuffle(answers)
        text = View((), tuple(replace(episode, answer=it) for episode, it in zip(now, answers, strict=True))).text
        hits += sum(solver.answer(episode.case, text) == episode.answer for episode in now)
    return hits, SHUFFLES * len(now), sum(n * n for n in Counter(right).values()) / len(now) ** 2


def _by_itself(seed: int, name: str, episodes: int) -> float:
    made = world(seed, episodes)
    now = current(episode for update in schedule(name, made) for episode in update.new).values()
    known = {family.name for family in made.families if family.known}
    return sum(episode.scope in known and episode.answer == made.by_rule(episode.case) for episode in now) / len(now)


def _merge_all(streams: Sequence[Stream]) -> Iterator[Check]:
    difference = curves.difference(streams, arms.MERGE_ALL, arms.NO_MEMORY, f"p0 {WEAK}")
    says = "merge all ends below no memory on what needs none (p0)"
    yield _binding("H1", says, difference.high < 0, difference, streams)


def _raw_is_best(streams: Sequence[Stream]) -> Iterator[Check]:
    ran = {stream.arm for stream in streams}
    lossy = [arm.name for arm in arms.ARMS if arm.loses and arm.name in ran]
    better = []
    for name in lossy:
        for reader in READERS:
            difference = curves.difference(streams, name, arms.KEEP_ALL, f"seen {reader}")
            better += [f"{name}, {reader} reader: {difference}"] if difference.verdict == "better" else []
    told = "; ".join(better) or f"{len(lossy)} arms, 2 readers: none is better"
    yield Check("H2", "no arm that loses something answers more of what is seen than keep all", not better, told)


def _rules_help(streams: Sequence[Stream]) -> Iterator[Check]:
    difference = curves.difference(streams, arms.RULES, arms.KEEP_ALL, f"rule {WEAK}")
    says = "rules help a reader that makes none by itself with what was not seen"
    yield _binding("H3", says, difference.low > 0, difference, streams)


def _promises(streams: Sequence[Stream]) -> Iterator[Check]:
    gated = [stream for stream in streams if stream.gated]
    if not gated:
        return
    violations = sum(stream.violations for stream in gated)
    asked = sum(stream.actions["asked"] for stream in gated)
    says = "every entry that stands gives its own sources, and what is not shown is answered"
    yield Check(
        "H4", says, violations == 0, f"{violations} violations after {asked:,} updates of {len(gated):,} streams"
    )
    shipped = [arm.name for arm in arms.ARMS if arm.gate == GateSettings()]
    own = [stream for stream in gated if stream.arm in shipped]
    if own:
        bad = sum(stream.rates.bad_taken for stream in own)
        least = min(point[f"p0 {WEAK}"] for stream in own for point in stream.points)
        says = "the gate as it is shipped takes no wrong rule, and nothing that needs no memory is lost"
        yield Check("H4", says, bad == 0 and least == 1, f"{bad} wrong rules taken; p0 at least {least:.3f}")
    view, happened, number = broken_promises()
    counted = broken(view, happened, measure.readers(world(0))[WEAK], GateSettings().theta)
    says = "in a memory made to break the gate's promise each violation is counted"
    yield Check("H4", says, counted == number, f"{counted} of {number}")
    (arm,) = (arm for arm in arms.ARMS if arm.name == arms.GATED)
    solver = gate_reader(arm, {name: reader(dict([KNOWN]).get) for name, reader in ((STRONG, Strong), (WEAK, Weak))})
    came = [(trial.refused_by or "none", trial.came(solver) or "none") for trial in trials()]
    wrong = [f"{check} was to refuse, {other} did" for check, other in came if check != other]
    says = "each check of the gate refuses the proposal that is made for it, and a right one is taken"
    yield Check("H4", says, not wrong, "; ".join(wrong) or f"{len(came)} proposals, each as it was to be")


def _lets_in(streams: Sequence[Stream]) -> Iterator[Check]:
    share = accepted(streams, arms.GATED)
    gated, whole = (curves.end(streams, name, "characters").mean for name in (arms.GATED, arms.KEEP_ALL))
    times = whole / gated if gated else 0.0
    seen = all(stream.end(f"seen {reader}") == 1 for stream in curves.of(streams, arms.GATED) for reader in READERS)
    held = (share.share or 0.0) >= ACCEPTED_MIN and times >= TIMES_SHORTER_MIN and seen
    says = (
        f"the gate lets in {ACCEPTED_MIN:.0%} of rules plus exceptions, {TIMES_SHORTER_MIN:g} times shorter, none lost"
    )
    yield Check("H5", says, held, f"accepted {share}; {times:.1f} times shorter; all seen is answered: {seen}")


def _scope(streams: Sequence[Stream]) -> Iterator[Check]:
    difference = curves.difference(streams, arms.UNSCOPED, arms.NO_MEMORY, f"p0 {WEAK}")
    says = "without the replay of the scope over-scoped rules cost what needs no memory"
    yield _binding("H6", says, difference.high < 0, difference, streams)
    bad = sum(stream.rates.bad_taken for stream in curves.of(streams, arms.UNSCOPED))
    yield Check("H6", "... and wrong rules come in", bad > 0, f"{bad} wrong rules taken")


def _binding(name: str, says: str, held: bool, difference: Difference, streams: Sequence[Stream]) -> Check:
    """Give a check that holds when chance alone seldom does as much; of few streams chance could always do that."""
    chances = by_chance(streams)
    most = 1 - stats.LEVEL
    few = stats.least_chance(difference.clusters) * len(chances) > most or (held and chances[name] > most)
    return Check(name, says, held and not few, str(difference), few=few)


def by_chance(streams: Sequence[Stream]) -> dict[str, float]:
    """Give of H1, H3 and H6 how often chance alone would do as much, corrected for their number after Holm."""
    ran = {stream.arm for stream in streams}
    pairs = {
        "H1": (arms.MERGE_ALL, arms.NO_MEMORY, f"p0 {WEAK}"), "H3": (arms.RULES, arms.KEEP_ALL, f"rule {WEAK}"),
        "H6": (arms.UNSCOPED, arms.NO_MEMORY, f"p0 {WEAK}"),
    }  # fmt: skip
    return curves.holm({
        name: curves.chance_of(streams, one, other, figure)
        for name, (one, other, figure) in pairs.items()
        if {one, other} <= ran
    })  # fmt: skip


RULE_BELOW_MAX, LENGTH_SHARE_MAX = 0.03, 0.5
READ_MIN = 0.5
"""Of a model's replies, for a check to say anything of it."""
STREAMED, AT_ONCE = "stream-10", "static-10"
BY_MODEL_FORCED, BY_MODEL_EPISODIC, BY_MODEL_AUTO = (name_of(regime) for regime in (FORCED, EPISODIC, AUTO))


def of_model(streams: Sequence[Stream]) -> tuple[Check, ...]:
    """Check the streams of a model, of all schedules that ran; what wants an arm that did not run is left out."""
    return (*_stream_harms(streams), *_ours(streams), *_free(streams))


def _reader(streams: Sequence[Stream]) -> str:
    """Name who answers: the model, where it does."""
    return MODEL if f"p0 {MODEL}" in streams[0].points[0] else WEAK


def _apart(streams: Sequence[Stream], other: Sequence[Stream], figure: str) -> Difference:
    return stats.difference(
        {it.seed: [it.end(figure)] for it in streams}, {it.seed: [it.end(figure)] for it in other},
        resamples=curves.DIFFERENCE_RESAMPLES,
    )  # fmt: skip


def _of_schedule(streams: Sequence[Stream], schedule: str, arm: str) -> list[Stream]:
    return curves.of([stream for stream in streams if stream.schedule == schedule], arm)


def _stream_harms(streams: Sequence[Stream]) -> Iterator[Check]:
    streamed, at_once = (_of_schedule(streams, name, BY_MODEL_FORCED) for name in (STREAMED, AT_ONCE))
    if not (streamed and at_once):
        return
    reader = _reader(streamed)
    difference = _apart(streamed, at_once, f"p0 {reader}")
    says = "ten passes over a stream end below ten over everything at once, on what needs no memory (p0)"
    yield _of_difference("H7", says, difference.high < 0, difference, (*streamed, *at_once), _knows(streamed, reader))


def _ours(streams: Sequence[Stream]) -> Iterator[Check]:
    ours, forced, managed = (
        _of_schedule(streams, "stream", name) for name in (MODEL_GATED, BY_MODEL_FORCED, BY_MODEL_EPISODIC)
    )
    if not (ours and forced and managed):
        return
    reader = _reader(ours)
    alone, unseen = _apart(ours, forced, f"p0 {reader}"), _apart(ours, managed, f"rule {reader}")
    lengths = [sum(stream.end("characters") for stream in of) for of in (ours, managed)]
    share = lengths[0] / lengths[1] if lengths[1] else 1.0
    says = "the gated memory is no worse than the forced loop on p0"
    ran = (*ours, *forced, *managed)
    yield _of_difference("H8", says, alone.low >= 0, alone, ran, _knows(ours, reader))
    says = f"... within {RULE_BELOW_MAX:g} of managed episodes on rule"
    yield _of_difference("H8", says, unseen.low >= -RULE_BELOW_MAX, unseen, ran)
    says = f"... at no more than {LENGTH_SHARE_MAX:.0%} of their length"
    silent = _silent(ran)
    held = share <= LENGTH_SHARE_MAX and not silent
    yield Check("H8", says, held, f"{share:.0%}{silent}", binding=False, few=bool(silent))


def _free(streams: Sequence[Stream]) -> Iterator[Check]:
    free, forced = (_of_schedule(streams, "stream", name) for name in (BY_MODEL_AUTO, BY_MODEL_FORCED))
    if not (free and forced):
        return
    difference = _apart(free, forced, f"seen {_reader(free)}")
    says = "an agent that chooses keeps more of what was seen than one that is forced (Figure 5)"
    often = [{it.seed: [float(it.actions.get("proposed consolidate", 0))] for it in of} for of in (free, forced)]
    fewer = stats.difference(*often)
    alike = "" if fewer.verdict == "worse" else (
        f"; nothing shows that it chose: {fewer.mean:+.1f} consolidations proposed a stream beside the forced agent's, "
        "so that what it keeps is its buffer"
    )  # fmt: skip
    yield _of_difference("K7", says, difference.low > 0, difference, (*free, *forced), silent=alike)


def _knows(streams: Sequence[Stream], reader: str) -> bool:
    """Say whether the reader answers anything without memory, which a memory could take from it."""
    return any(stream.end(f"alone {reader}") > 0 for stream in streams)


def _silent(streams: Sequence[Stream]) -> str:
    """Say which memory a model did too little for to say anything of it; empty when it did enough for each.

    An unreadable reply does nothing, nor does a forced agent that never consolidates: a difference would show what the
    harness does with silence.
    """
    for arm in dict.fromkeys(stream.arm for stream in streams):
        counts = Counter[str]()
        for stream in curves.of(streams, arm):
            counts.update(stream.actions)
        asked = counts["rounds"] or counts["replies"]
        unread = sum(number for word, number in counts.items() if word.startswith("unread"))
        if asked - unread < READ_MIN * asked:
            return f"; too few readable replies, {arm}: {asked - unread:,} of {asked:,}"
        if counts[NOT_CONSOLIDATED] and not counts["accepted consolidate"]:
            return f"; {arm} consolidated in none of {asked:,} rounds, as it had to"
    return ""


def _of_difference(
    name: str, says: str, held: bool, difference: Difference, streams: Sequence[Stream], knows: bool = True,
    silent: str = "",
) -> Check:  # fmt: skip
    silent = _silent(streams) or silent
    told = "" if knows else "; the reader answers nothing without memory, so nothing can be lost"
    few = difference.few or bool(silent)
    return Check(name, says, held and knows and not few, f"{difference}{told}{silent}", binding=False, few=few)
