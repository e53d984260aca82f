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
from functools import partial
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument
from firsthand.tokens import estimate
from firsthand.value import asdict, value
from firsthand_evals import pages, readers, stats
from firsthand_evals.cases import Case, Sort, World
from firsthand_evals.delivery import CONDITIONS, Condition, Push, Pushed
from firsthand_evals.pages import Judged, Page, Section, Table
from firsthand_evals.pictures import Figure, Picture, Series, dots
from firsthand_evals.readers import Reader, Reading
from firsthand_evals.stats import Difference, Mean, Rate

REPETITIONS = 3
REPETITIONS_MAX = 100
CALLS_MAX = 2_000
"""Of a reader that costs; more must be asked for."""
BASELINE = "none"


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
    worlds: Sequence[World], push: Push, *, conditions: Sequence[Condition] = CONDITIONS,
    repetitions: int = REPETITIONS, cases_max: int | None = None, progress: Callable[[int, int], None] | None = None,
) -> tuple[_Prompt, ...]:  # fmt: skip
    """Let everything be pushed; nothing is asked yet.

    Args:
        cases_max: of each sort, spread over the variants; None takes all.
        progress: called with prompts done and prompts in all.
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
    sent = [json.dumps(readers.messages(prompt.reading)) for prompt in prompts]
    asked = set(sent) if reader.repeats else sent
    return Planned(len(asked), sum(estimate(one) + readers.REPLY_TOKENS_MAX for one in asked))


def run(
    prompts: Sequence[_Prompt], reader: Reader, *, calls_max: int = CALLS_MAX,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Item]:  # fmt: skip
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
    for number, prompt in enumerate(prompts, 1):
        reading = prompt.reading
        said = known.get(reading) if reader.repeats else None
        if said is None:
            said = known[reading] = reader.answer(reading)
        yield _item(prompt, said)
        if progress is not None:
            progress(number, len(prompts))


def cells(items: Iterable[Item]) -> tuple[Cell, ...]:
    """Count items by sort and condition, in the order in which they come."""
    found: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        found[item.sort, item.condition].append(item)
    if not found:
        raise InvalidArgument("a table wants at least one item; got none")
    return tuple(_cell(sort, name, own, found.get((sort, BASELINE))) for (sort, name), own in found.items())


def harmful(table: Sequence[Cell]) -> tuple[Cell, ...]:
    """Give where a push made answers worse than none, beyond doubt; the condition ``ideal`` is no push."""
    return tuple(
        cell
        for cell in table
        if cell.condition != "ideal" and cell.right_to_none is not None and cell.right_to_none.verdict == "worse"
    )


def checks(table: Sequence[Cell]) -> dict[str, bool]:
    """Give what must hold of a run with the scripted reader, as far as its conditions ran, and whether it does."""
    cell = {(one.sort, one.condition): one for one in table}

    def right(condition: str, *sorts: Sort) -> list[float]:
        return [cell[sort, condition].right.mean for sort in sorts if (sort, condition) in cell]

    pushed = [one.pushed.hits for one in table if one.condition == BASELINE]
    alone = right(BASELINE, Sort.EXPERIENCE, Sort.NEEDLESS)
    return {
        "nothing is pushed in the condition none": not any(pushed),
        "without a push the reader answers what needs no memory, and nothing else": alone == [0.0, 1.0],
        "the right content makes it right": set(right("ideal", Sort.EXPERIENCE, Sort.PROCEDURE)) <= {1.0},
        "all pushes together answer some of what stands only in the memory": 0.0 not in right("all", Sort.EXPERIENCE),
    }


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


def _item(prompt: _Prompt, said: str) -> Item:
    case, pushed, reading = prompt.case, prompt.pushed, prompt.reading
    sent = json.dumps(readers.messages(reading), sort_keys=True).encode()
    return Item(
        case.name, str(case.sort), case.variant, prompt.condition.name, prompt.repetition, reading.prompt,
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
        sort, condition, right=stats.mean(right),
        right_to_none=stats.difference(right, _by_case(without or (), "right")) if compared else None,
        contradicts=stats.mean(wrong),
        contradicts_to_none=stats.difference(wrong, _by_case(without or (), "contradicts")) if compared else None,
        stale=of_items("stale"), tempted=of_items("tempted"), silent=of_items("silent"), pushed=of_items("pushed"),
        precision=stats.rate(sum(one.needed for one in own), sum(one.hits for one in own)),
        useful=stats.rate(sum(one.needed > 0 for one in own), sum(one.hits > 0 for one in own)),
        tokens=sum(one.tokens_start + one.tokens_message for one in own) / len(own),
    )  # fmt: skip


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


_HEAD = (
    "condition", "right", "against none", "contradicts", "tempted", "no value", "pushed", "useful", "tokens",
)  # fmt: skip
_ABOUT = {
    "experience": "the answer stands only in the memory", "procedure": "a rule learned in other words",
    "needless": "recall should not help: the reader knows the answer",
}  # fmt: skip
MEANINGS = (
    ("right, contradicts", "mean over items with 95 % intervals, resampled by case (5,000 times)"),
    ("contradicts", "a value is given, and the memory holds another one"),
    ("pushed", "anything stood before the prompt"),
    ("useful", "of the messages to which implicit recall showed something, those where it held the value asked for"),
)
_PAPER = "paper, 8.7: one case of each, 5 runs: too few"
_ANCHORS = (
    ("experience: none", 0.6), ("experience: ideal", 1.0), ("procedure: none", 0.644), ("procedure: ideal", 0.889),
    ("needless: none", 0.489), ("needless: ideal", 0.333),
)  # fmt: skip
"""Scores of the paper's three cases without recall and with the right content: its third is the null result."""


def page(cells: Sequence[Cell], about: Sequence[tuple[str, str]]) -> Page:
    """Make the report; ``about`` is what was run."""
    rows = {f"{cell.sort}: {cell.condition}": cell for cell in cells}
    series = [Series(name, tuple((row, Figure.of(getattr(cell, name))) for row, cell in rows.items()))
              for name in ("right", "contradicts")]  # fmt: skip
    paper = tuple((row, Figure(score)) for row, score in _ANCHORS if row in rows)
    series += [Series(_PAPER, paper, paper=True)] if paper else []
    drawn = partial(dots, "right answers by sort of case and condition", "share of answers", series)
    sections = [
        Section(sort, about=f"{_ABOUT.get(sort, '')}; n = {block[0].right.n} items of {block[0].right.clusters} cases",
                tables=[Table(_HEAD, [_row(cell) for cell in block])])
        for sort in dict.fromkeys(cell.sort for cell in cells)
        if (block := [cell for cell in cells if cell.sort == sort])
    ]  # fmt: skip
    checks = [Judged(f"{cell.condition} makes answers worse where {cell.sort}: {cell.right_to_none}", held=False)
              for cell in harmful(cells)]  # fmt: skip
    caption = "95 % intervals, by case; the paper's score is the share of its criteria that an answer met"
    return Page("Does what is pushed unasked help?", verdict(cells), Picture(drawn, caption), sections, checks,
                MEANINGS, about)  # fmt: skip


_DOES = {
    "better": "helps with", "worse": "harms", "no difference": "makes no difference that could be detected for",
    "no difference detectable": "makes no difference that could be detected for",
    stats.TOO_FEW: "was tried on too few cases to tell of",
}  # fmt: skip


def verdict(cells: Sequence[Cell]) -> str:
    """Say in a sentence what the fullest push does to each sort."""
    compared = [cell for cell in cells if cell.right_to_none is not None and cell.condition != "ideal"]
    if not compared or any(cell.right.few for cell in compared):
        return "Too few to tell whether pushing helps: fewer than two cases of a sort, or no condition but none."
    last = compared[-1].condition
    told: dict[str, list[str]] = defaultdict(list)
    for cell in compared:
        difference = cell.right_to_none
        if cell.condition == last and difference is not None:
            sides = f"{cell.sort} ({cell.right.mean - difference.mean:.2f} to {cell.right.mean:.2f})"
            told[_DOES[difference.verdict]].append(sides)
    does = ", ".join(f"{does} {' and '.join(told[does])}" for does in dict.fromkeys(_DOES.values()) if told[does])
    return f"{'Pushing everything' if last == 'all' else f'Pushing {last}'} {does}."


def keep(folder: Path, items: Sequence[Item], page: Page) -> None:
    """Write every item and the report into a folder; a run before is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(item)) + "\n" for item in items)
    (folder / "report.html").write_text(pages.html(page), encoding="utf-8")


def headline(cells: Sequence[Cell]) -> str:
    """Say the run in one line: what all pushes together did to each sort."""
    every = [cell for cell in cells if cell.condition == "all"]
    return "; ".join(f"{cell.sort} {cell.right.mean:.2f} ({_difference(cell.right_to_none)})" for cell in every)


def _row(cell: Cell) -> tuple[str, ...]:
    return (
        cell.condition, cell.right.interval(2),
        _difference(cell.right_to_none),
        f"{cell.contradicts.mean:.2f}" + (f" {_difference(cell.contradicts_to_none)}" if _changed(cell) else ""),
        _rate(cell.tempted), _rate(cell.silent), _rate(cell.pushed), _rate(cell.useful), f"{cell.tokens:.0f}",
    )  # fmt: skip


def _changed(cell: Cell) -> bool:
    """Say whether there is a difference in contradictions that is worth its room."""
    difference = cell.contradicts_to_none
    return difference is not None and (difference.low > 0 or difference.high < 0)


def _difference(difference: Difference | None) -> str:
    if difference is None:
        return ""
    return difference.told("no difference detectable" if difference.low <= 0 <= difference.high else "", 2)


def _rate(rate: Rate) -> str:
    return f"{rate.hits}/{rate.n}"
