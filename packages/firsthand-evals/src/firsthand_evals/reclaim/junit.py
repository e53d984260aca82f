"""Requirements as JUnit XML, which continuous integration shows: a test case for each, a failure with its item.

The invariant: what a memory wrote reaches the file escaped, and no sign that XML forbids
stands in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from junitparser import Failure, JUnitXml, TestCase, TestSuite

from firsthand.printable import shown
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.requirements import Requirement
from firsthand_evals.reclaim.validators import Check

TEXT_CHARACTERS_MAX = 2_000
"""Of what was carried and replied, in a failure."""


def junit(requirements: Sequence[Requirement], checks: Sequence[Check], unfinished: str = "") -> str:
    """Write the file: a suite for each memory, and one for the checks of the evaluation itself.

    Args:
        unfinished: why the run did not come to its end; that is a failure too, or a run that asked nothing would pass.
    """
    suites = {
        f"reclaim {memory}": [_case(one) for one in requirements if one.memory == memory]
        for memory in dict.fromkeys(one.memory for one in requirements)
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


def cut(text: str, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """Shorten a text, and say by how much."""
    if len(text) <= characters_max:
        return text
    return f"{text[:characters_max]} … {len(text) - characters_max:,} more characters"
