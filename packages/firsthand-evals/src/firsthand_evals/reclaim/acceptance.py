"""What a check is worth before an answer is used: how much it lets through, and how much of that is wrong.

    the probe  reads what was carried, and says whether a correction can land
    check      reads the answer as a claim, with what the reader stood on as quotes and its sum as work

The invariant: a judge never sees the truth; coverage and risk are of the same items, and the risk of taking all of
them stands beside. `check` is asked of a store that holds what was said in the session and nothing else. It says that
words stand there and that arithmetic is right; that nothing is missing it cannot say (docs/notes.md).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firsthand import Memory
from firsthand.value import value
from firsthand_evals import stats
from firsthand_evals.reclaim import ours, reading, scoring
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.tasks import NUMBER, Problem
from firsthand_evals.stats import Rate

ITEMS_MAX = 100
"""Of a memory, spread over all of its items: each wants a session in a store."""
QUOTES_MAX, QUOTE_CHARACTERS_MAX = 16, 4_000
PROBE, CHECK = "the probe", "check"
LETS_THROUGH = {PROBE: ("correctable", "reachable"), CHECK: ("worked out", "cited")}


@value
class Acceptance:
    """One judge of one memory's items.

    Attributes:
        coverage: of the items that it judges, the share that it lets through.
        risk: of those that it lets through, the share that is wrong; ``taken`` the same of all that it judges.
    """

    memory: str
    judge: str
    coverage: Rate
    risk: Rate
    taken: Rate

    def __str__(self) -> str:
        return f"{self.judge} lets {self.coverage} through, and {self.risk} of these are wrong; of all {self.taken} are"


def acceptances(items: Sequence[Item], cases: Mapping[str, Case], names: Sequence[str]) -> tuple[Acceptance, ...]:
    """Judge the items of each memory of ``names``, with their cases by key; a judge of no item is left out."""
    found: list[Acceptance] = []
    for name in names:
        own = [item for item in items if item.parameters["memory"] == name]
        probed = [(item.regime, item.outcome == scoring.RECOVERED) for item in own if item.regime]
        emitted = [item for item in own if item.emitted and item.key in cases and not cases[item.key].hops]
        checked = _checked(emitted[:: -(-len(emitted) // ITEMS_MAX) or 1], cases)
        found += [_counted(name, judge, it) for judge, it in ((PROBE, probed), (CHECK, checked)) if it]
    return tuple(found)


def _counted(memory: str, judge: str, judged: Sequence[tuple[str, bool]]) -> Acceptance:
    through = [right for said, right in judged if said in LETS_THROUGH[judge]]
    wrong = sum(not right for _, right in judged)
    return Acceptance(
        memory, judge, stats.rate(len(through), len(judged)), stats.rate(len(through) - sum(through), len(through)),
        stats.rate(wrong, len(judged)),
    )  # fmt: skip


def _checked(items: Iterable[Item], cases: Mapping[str, Case]) -> list[tuple[str, bool]]:
    """Check the answers of items against their sessions: the proof, and whether the answer is right."""
    judged: list[tuple[str, bool]] = []
    with tempfile.TemporaryDirectory(prefix="firsthand-check-") as folder, Memory(folder) as store:
        for item in items:
            case = cases[item.key]
            said = ours.said(case.session())
            store.session(item.key).append_messages(said, "openai-chat")
            texts = [one["content"] for one in said if one["role"] == "user"]
            (checked,) = store.check([claim(item, case.problem, texts)], within=[item.key])
            judged.append((str(checked.proof), item.outcome == scoring.RECOVERED))
    return judged


def claim(item: Item, problem: Problem, said: Sequence[str]) -> dict[str, Any]:
    """Write an answer as a claim: what it says, the messages that hold what the reader had before it, and its sum."""
    evidence = reading.joined([item.carried, *(pull["text"] for pull in item.pulls)])
    bought = reading.items(evidence) if problem.kind == NUMBER else {}
    work = " + ".join(f"{count} * {problem.unit}{scoring.written(price)}" for count, price in bought.values())
    value_ = problem.shown(item.given)
    quotes = [text for text in said if any(piece in text for piece in _pieces(evidence, bought))]
    return {
        "says": f"{problem.ask} is {value_}", "work": f"{work} = {value_}" if work else "",
        "quotes": [text[:QUOTE_CHARACTERS_MAX] for text in quotes[:QUOTES_MAX]],
    }  # fmt: skip


def _pieces(evidence: str, bought: Mapping[str, object]) -> list[str]:
    """Give the statements that an answer stands on: of a sum those with an item, else all."""
    return [piece for piece in reading.segments(evidence) if not bought or reading.items(piece)]
