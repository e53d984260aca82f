"""Does it help? The same prompts with and without what is pushed, by condition (recall-problem 8.6 to 8.8).

Each case is asked in each condition, some times over in other phrasings. The invariant:
every figure comes from items that are kept whole (what was pushed, what was answered,
what it was worth), and is compared with the condition ``none`` case by case.

It knows no store: what is pushed is given to it, as is the reader.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from firsthand import InvalidArgument
from firsthand.tokens import estimate
from firsthand.value import asdict, value
from firsthand_evals import readers, stats
from firsthand_evals.cases import Case, Sort, World
from firsthand_evals.delivery import CONDITIONS, Condition, Push, Pushed
from firsthand_evals.readers import Reader, Reading
from firsthand_evals.stats import Difference, Mean, Rate

REPETITIONS = 3
REPETITIONS_MAX = 100
CALLS_MAX = 2_000
"""Of a reader that costs; more must be asked for."""
BASELINE = "none"
COSTS = (3.0, 6.0, 9.0, 19.0)
"""Of a wrong reminder beside a missed one (`Settings.cost`); at c a reminder wants the confidence c / (1 + c)."""


@value
class Item:
    """One prompt, what stood before it, what was answered, and what that is worth."""

    case: str
    sort: str
    variant: str
    condition: str
    repetition: int
    prompt: str
    prompt_sha256: str
    start: str
    message: str
    hits: int
    needed: int
    confidence: float
    tokens_start: int
    tokens_message: int
    answer: str
    right: bool
    contradicts: bool
    stale: bool
    tempted: bool
    silent: bool
    fault: str

    @property
    def pushed(self) -> bool:
        """True when anything at all stood before the prompt."""
        return bool(self.start or self.message)


@value
class Cell:
    """One condition on one sort of case.

    Attributes:
        right, contradicts: means over items; ``right_to_none``, ``contradicts_to_none``: paired, by case.
        stale, tempted, silent, pushed: rates of items.
        precision: of the hits that implicit recall showed, those that hold the value asked for (a hit that stands
            there as the other half of one counts as a miss).
        useful: of the messages to which implicit recall showed something, those where one hit holds that value.
        tokens: pushed, start and message together, of an item on average.
    """

    sort: str
    condition: str
    right: Mean
    right_to_none: Difference | None
    contradicts: Mean
    contradicts_to_none: Difference | None
    stale: Rate
    tempted: Rate
    silent: Rate
    pushed: Rate
    precision: Rate
    useful: Rate
    tokens: float


@value
class AtCost:
    """What implicit recall alone would have come to under a higher cost: below its threshold nothing is shown.

    Attributes:
        right_to_none: paired, by case; ``pushed``: prompts to which something is still shown.
    """

    sort: str
    cost: float
    right_to_none: Difference
    pushed: Rate


@value
class Planned:
    """What a run will ask of its reader: at most so many calls, with about so many tokens."""

    calls: int
    tokens: int


@value
class _Prompt:
    """One prompt with what stands before it, not asked yet."""

    case: Case
    condition: Condition
    repetition: int
    pushed: Pushed

    @property
    def reading(self) -> Reading:
        """Give what the reader gets."""
        return Reading(self.pushed.text, self.case.asked[self.repetition % len(self.case.asked)], self.case.wanted)


def prepare(
    worlds: Sequence[World],
    push: Push,
    *,
    conditions: Sequence[Condition] = CONDITIONS,
    repetitions: int = REPETITIONS,
    cases_max: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[_Prompt, ...]:
    """Let everything be pushed; nothing is asked yet.

    Args:
        cases_max: of each sort, spread over the variants; None takes all.
        progress: called with prompts done and prompts in all.

    Raises:
        InvalidArgument: a number is out of its range.
    """
    if not 1 <= repetitions <= REPETITIONS_MAX:
        raise InvalidArgument(f"repetitions are a whole number from 1 to {REPETITIONS_MAX}; got {repetitions}")
    chosen = _chosen(worlds, cases_max)
    whole = len(chosen) * len(conditions) * repetitions
    made: list[_Prompt] = []
    for world, case in chosen:
        for condition in conditions:
            for repetition in range(repetitions):
                made.append(_Prompt(case, condition, repetition, push(world, case, condition, repetition)))
                if progress is not None:
                    progress(len(made), whole)
    return tuple(made)


def plan(prompts: Sequence[_Prompt], reader: Reader) -> Planned:
    """Say what asking will take."""
    sent = [json.dumps(readers.messages(one.reading)) for one in prompts]
    asked = set(sent) if reader.repeats else sent
    return Planned(len(asked), sum(estimate(one) + readers.REPLY_TOKENS_MAX for one in asked))


def run(
    prompts: Sequence[_Prompt],
    reader: Reader,
    *,
    calls_max: int = CALLS_MAX,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Item]:
    """Ask the reader, and yield what came of each prompt.

    A reader that repeats itself is asked once for equal prompts.

    Raises:
        InvalidArgument: a reader that costs would be asked more than ``calls_max`` times; nothing is asked then.
        ModelError: the model gave no reply.
    """
    planned = plan(prompts, reader)
    if reader.costs and planned.calls > calls_max:
        raise InvalidArgument(
            f"this run asks {reader.name} {planned.calls:,} times and at most {calls_max:,} are allowed; "
            "take fewer cases, conditions or repetitions, or allow more calls"
        )
    known: dict[Reading, str] = {}
    for number, one in enumerate(prompts, 1):
        reading = one.reading
        said = known.get(reading) if reader.repeats else None
        if said is None:
            said = known[reading] = reader.answer(reading)
        yield _item(one, said)
        if progress is not None:
            progress(number, len(prompts))


def cells(items: Iterable[Item]) -> tuple[Cell, ...]:
    """Count items by sort and condition, in the order in which they come.

    Raises:
        InvalidArgument: there is no item.
    """
    found: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        found[item.sort, item.condition].append(item)
    if not found:
        raise InvalidArgument("a table wants at least one item; got none")
    return tuple(_cell(sort, name, own, found.get((sort, BASELINE))) for (sort, name), own in found.items())


def at_costs(items: Sequence[Item], costs: Sequence[float] = COSTS) -> tuple[AtCost, ...]:
    """Say what a more careful gate would have won and lost; empty unless both `none` and `recall` were asked."""
    found: list[AtCost] = []
    for sort in dict.fromkeys(item.sort for item in items):
        without = {(one.case, one.repetition): one for one in items if (one.sort, one.condition) == (sort, BASELINE)}
        own = [one for one in items if (one.sort, one.condition) == (sort, "recall")]
        if not without or not own:
            continue
        for cost in costs:
            kept = [one.confidence >= cost / (1 + cost) for one in own]
            made = [one if keep else without[one.case, one.repetition] for one, keep in zip(own, kept, strict=True)]
            changed = stats.difference(_by_case(made, "right"), _by_case(tuple(without.values()), "right"))
            found.append(AtCost(sort, cost, changed, stats.rate(sum(kept), len(kept))))
    return tuple(found)


def harmful(table: Sequence[Cell]) -> tuple[Cell, ...]:
    """Give where a push made answers worse than none, beyond doubt; the condition ``ideal`` is no push."""
    return tuple(
        cell
        for cell in table
        if cell.condition != "ideal" and cell.right_to_none is not None and cell.right_to_none.verdict == "worse"
    )


def _chosen(worlds: Sequence[World], cases_max: int | None) -> list[tuple[World, Case]]:
    """Take cases of each sort from one world after the other, so that few of them are of all variants."""
    if cases_max is None:
        return [(world, case) for world in worlds for case in world.cases]
    chosen = []
    for sort in Sort:
        lists = [[(world, case) for case in world.cases if case.sort is sort] for world in worlds]
        turned = [own[number % len(own) :] + own[: number % len(own)] for number, own in enumerate(lists)]
        dealt = [pair for row in zip(*turned, strict=True) for pair in row]
        chosen += dealt[:cases_max]
    return chosen


def _item(one: _Prompt, said: str) -> Item:
    case, pushed, reading = one.case, one.pushed, one.reading
    sent = json.dumps(readers.messages(reading), sort_keys=True).encode()
    return Item(
        case.name, str(case.sort), case.variant, one.condition.name, one.repetition, reading.prompt,
        hashlib.sha256(sent).hexdigest(), pushed.start, pushed.message, len(pushed.hits), pushed.needed,
        pushed.confidence,
        pushed.tokens_start, pushed.tokens_message, said,
        **asdict(readers.score(case, said)), fault=pushed.fault,
    )  # fmt: skip


def _cell(sort: str, condition: str, own: Sequence[Item], without: Sequence[Item] | None) -> Cell:
    right, wrong = _by_case(own, "right"), _by_case(own, "contradicts")
    compared = without is not None and condition != BASELINE

    def of_items(name: str) -> Rate:
        return stats.rate(sum(bool(getattr(one, name)) for one in own), len(own))

    return Cell(
        sort,
        condition,
        right=stats.mean(right),
        right_to_none=stats.difference(right, _by_case(without or (), "right")) if compared else None,
        contradicts=stats.mean(wrong),
        contradicts_to_none=stats.difference(wrong, _by_case(without or (), "contradicts")) if compared else None,
        stale=of_items("stale"),
        tempted=of_items("tempted"),
        silent=of_items("silent"),
        pushed=of_items("pushed"),
        precision=stats.rate(sum(one.needed for one in own), sum(one.hits for one in own)),
        useful=stats.rate(sum(one.needed > 0 for one in own), sum(one.hits > 0 for one in own)),
        tokens=sum(one.tokens_start + one.tokens_message for one in own) / len(own),
    )


def _by_case(items: Sequence[Item], name: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for item in sorted(items, key=lambda one: one.repetition):
        found[item.case].append(float(getattr(item, name)))
    return found


def as_json(cell: Cell) -> dict[str, Any]:
    """Give a cell as JSON values, each figure with its n."""
    plain = asdict(cell)
    for name in ("right_to_none", "contradicts_to_none"):
        difference: Difference | None = getattr(cell, name)
        if difference is not None:
            plain[name] = {**plain[name], "verdict": difference.verdict}
    return plain
