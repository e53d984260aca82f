"""A run as one page of HTML: the paper's tables and figures for one's own memory, and the items that failed.

What stands on it is put together here, how it looks is `templates/reclaim.html`. The
invariant: every figure stands with its interval and its n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from junitparser import Failure, JUnitXml, TestCase, TestSuite

from firsthand.printable import shown
from firsthand.value import value
from firsthand_evals import pages
from firsthand_evals.reclaim import figures, scoring
from firsthand_evals.reclaim.figures import ABOUT, HEADS, figure, pair_line, scores
from firsthand_evals.reclaim.items import Case, Item, sha256
from firsthand_evals.reclaim.requirements import Requirement
from firsthand_evals.reclaim.tables import Cell, Table
from firsthand_evals.reclaim.validators import Check

ITEMS_MAX, ITEMS_OF_A_CELL_MAX = 60, 3
TEXT_CHARACTERS_MAX = 6_000
ROWS_OPEN_MAX, PAIRS_OPEN_MAX = 24, 6
"""Of a table; a longer one is folded under its picture."""


@value
class Report:
    """All that the page shows.

    Attributes:
        names: the memories under test; other memories of the items are there to be compared with.
        cases: by the key of their items; of the failing ones the session is shown.
        about: parameters of the run, as pairs of words.
    """

    items: tuple[Item, ...]
    tables: tuple[Table, ...]
    requirements: tuple[Requirement, ...]
    checks: tuple[Check, ...]
    names: tuple[str, ...]
    cases: Mapping[str, Case]
    about: tuple[tuple[str, str], ...]


def page(report: Report) -> str:
    """Write the page."""
    failing = [item for item in report.items if item.parameters["memory"] in report.names and _fails(item)]
    unmet = [requirement for requirement in report.requirements if not requirement.held]
    whose = ", ".join(report.names)
    return pages.render(
        "reclaim.html", title=f"Reclaim evaluation of {whose}" if whose else "Reclaim evaluation",
        cards=[*_cards(report)], meanings=ABOUT, tables=[_table(table, report.names) for table in report.tables],
        requirements=len(report.requirements), met=len(report.requirements) - len(unmet), broken=unmet,
        checks=report.checks, whose=whose, failing=f"{len(failing):,}", about=report.about,
        items=[_item(item, report.cases.get(item.key)) for item in _chosen(failing)],
        items_of_a_cell_max=ITEMS_OF_A_CELL_MAX, rows_open_max=ROWS_OPEN_MAX, pairs_open_max=PAIRS_OPEN_MAX,
    )  # fmt: skip


def _cards(report: Report) -> Iterator[dict[str, Any]]:
    """Give a card for each memory under test: all of its items together."""
    for name, cell in scores(report.items, report.names).items():
        own = [requirement for requirement in report.requirements if requirement.memory == name]
        yield {
            "name": name, "share": f"{figure(cell, 'reclaim').value:.2f}", "figure": figure(cell, "reclaim"),
            "n": f"{cell.n:,}", "problems": f"{cell.problems:,}", "requirements": len(own),
            "broken": sum(not requirement.held for requirement in own),
            "lines": [
                f"new wrong values: {cell.silent}", f"stale values: {cell.attractor}", f"abstained: {cell.abstained}",
                f"cut to the budget: {cell.over} of {cell.n:,} items",
                *((f"failed: {cell.failed}",) if cell.failed.hits else ()),
                *(f"the probe says {regime.replace('_', ', ')}: {count:,}" for regime, count in cell.regimes),
            ],
        }  # fmt: skip


def _table(table: Table, names: Sequence[str]) -> dict[str, Any]:
    ordered = sorted(table.cells, key=lambda cell: cell.label("memory") not in names)  # one's own first
    mine = [pair for pair in table.pairs if any(f": {name} minus" in pair.about for name in names)]
    return {
        "name": table.name, "title": table.name.replace("_", " "), "where": table.where,
        "labels": [name.replace("_", " ") for name in table.by],
        "columns": ["n", *(HEADS[column] for column in table.columns)],
        "rows": [_row(cell, table, names) for cell in ordered], "pictures": figures.pictures(table, names),
        "pairs": [pair_line(pair) for pair in (*mine, *(it for it in table.pairs if it not in mine))],
        "remarks": table.remarks,
    }  # fmt: skip


def _row(cell: Cell, table: Table, names: Sequence[str]) -> dict[str, Any]:
    figures = [str(figure(cell, column)).partition(" ")[::2] for column in table.columns]
    return {
        "own": cell.label("memory") in names, "labels": ["" if it is None else str(it) for _, it in cell.labels],
        "figures": [(f"{cell.n:,}", ""), *figures],
    }  # fmt: skip


def _fails(item: Item) -> bool:
    return item.outcome != scoring.RECOVERED or (item.parameters.get("premise") is False and item.blast > 0)


def _chosen(failing: Sequence[Item]) -> list[Item]:
    """Choose items to show: the first ones of each memory, experiment and outcome."""
    seen: Counter[tuple[str, str, str]] = Counter()
    chosen: list[Item] = []
    for item in failing:
        place = item.parameters["memory"], item.parameters["experiment"], item.outcome
        seen[place] += 1
        if seen[place] <= ITEMS_OF_A_CELL_MAX and len(chosen) < ITEMS_MAX:
            chosen.append(item)
    return chosen


def _item(item: Item, case: Case | None) -> dict[str, Any]:
    told = item.parameters
    where = ", ".join(
        f"{name.replace('_', ' ')} {it}" for name, it in told.items()
        if name not in {"version", "experiment", "memory", "reader", "temperature"}
        and (it is False or it not in ("", None, 0))
    )  # fmt: skip
    session = () if case is None or case.hops else case.session()
    changed = bool(session) and item.session_sha256 not in ("", sha256(session))  # empty where the memory failed
    return {
        "experiment": told["experiment"], "memory": told["memory"], "where": where, "fault": item.fault,
        "came": f"{figures.SAID[item.outcome]}, gave {item.given or 'nothing'}; right is {item.answer}",
        "ask": case.problem.ask if case is not None else "", "source": case.problem.source if case is not None else (),
        "changed": changed,
        "session": () if changed else [(message["role"], _cut(message["content"])) for message in session],
        "parts": [(role, _cut(text)) for role, text in _parts(item)],
    }  # fmt: skip


def _parts(item: Item) -> Iterator[tuple[str, str]]:
    """Give what was carried, lived, asked and answered, each with what it is."""
    if item.outcome == scoring.FAILED:
        return
    over = f", of {item.written:,} that it wrote: cut" if item.over else ""
    regime = f"; the probe says {item.regime.replace('_', ', ')}" if item.regime else ""
    yield f"carried: {item.used:,} characters{over}{regime}", item.carried
    for hop in item.hops:
        yield f"a session: truth {hop['truth']}, given {hop['given']} ({hop['outcome']}); carried", str(hop["carried"])
    for pull in item.pulls:
        yield f"asked the memory: {pull['query']}", str(pull["text"])
    for turn, reply in zip(item.turns, item.replies, strict=False):
        yield "correction", turn
        yield "reply", reply


def _cut(text: str) -> str:
    return cut(text, TEXT_CHARACTERS_MAX)


FAILURE_CHARACTERS_MAX = 2_000
"""Of what was carried and replied, in a failure."""


def junit(requirements: Sequence[Requirement], checks: Sequence[Check], unfinished: str = "") -> str:
    """Write the file: a suite for each memory, and one for the checks of the evaluation itself.

    Args:
        unfinished: why the run did not come to its end; that is a failure too, or a run that asked nothing would pass.
    """
    suites = {
        f"reclaim {memory}": [_case(requirement) for requirement in requirements if requirement.memory == memory]
        for memory in dict.fromkeys(requirement.memory for requirement in requirements)
    }
    if checks:
        suites["reclaim, the evaluation itself"] = [_check(check) for check in checks]
    if unfinished:
        suites["reclaim, the run"] = [_made("reclaim.run", "the run came to its end", False, unfinished, unfinished)]
    report = JUnitXml("reclaim")
    for name, cases in suites.items():
        suite = TestSuite(shown(name))
        for case in cases:
            suite.add_testcase(case)
        report.add_testsuite(suite)
    report.update_statistics()
    return str(report.tostring(), "utf-8")


def _case(requirement: Requirement) -> TestCase:
    where = f"reclaim.{requirement.experiment}" if requirement.experiment else "reclaim"
    text = "\n\n".join((requirement.found, *(failure(item) for item in requirement.broken[:1])))
    return _made(where, requirement.name, requirement.held, f"{requirement.found} (n = {requirement.n})", text)


def _check(check: Check) -> TestCase:
    return _made("reclaim.evaluation", check.name, check.held, str(check), "\n".join(check.broken))


def _made(where: str, name: str, held: bool, message: str, text: str) -> TestCase:
    case = TestCase(shown(name), shown(where))
    if not held:
        failed = Failure(shown(message))
        failed.text = shown(text, lines=True)
        case.result = [failed]
    return case


def failure(item: Item) -> str:
    """Tell one item for a person: what was asked, carried, looked up and answered."""
    asked: Iterable[tuple[str, str]] = zip(item.turns, item.replies, strict=False)
    told = [f"{name} {it}" for name, it in item.parameters.items() if it not in ("", None) and name != "version"]
    return "\n".join(
        (
            f"for example, item {item.key}: {', '.join(told)}",
            f"right: {item.answer}; concluded wrongly: {item.attractor}",
            f"given: {item.given or 'nothing'} ({item.outcome})",
            *((f"fault: {item.fault}",) if item.fault else ()),
            f"carried, {item.used:,} characters" + (f" of {item.written:,} written" if item.over else "") + ":",
            cut(item.carried),
            *(f"asked the memory: {pull['query']}\n{cut(pull['text'])}" for pull in item.pulls),
            *(f"user: {turn}\nreply: {cut(reply)}" for turn, reply in asked),
        )
    )


def cut(text: str, characters_max: int = FAILURE_CHARACTERS_MAX) -> str:
    """Shorten a text, and say by how much."""
    if len(text) <= characters_max:
        return text
    return f"{text[:characters_max]} … {len(text) - characters_max:,} more characters"
