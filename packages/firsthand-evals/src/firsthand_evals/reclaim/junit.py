"""Requirements as JUnit XML, which continuous integration shows: a test case for each, a failure with its item.

The invariant: what a memory wrote reaches the file escaped, and no sign that XML forbids
stands in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from firsthand.printable import shown
from firsthand.value import value
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
    suites = [
        _Suite(f"reclaim {memory}", tuple(_case(one) for one in requirements if one.memory == memory))
        for memory in dict.fromkeys(one.memory for one in requirements)
    ]
    suites += [_Suite("reclaim, the evaluation itself", tuple(_check(one) for one in checks))] if checks else []
    if unfinished:
        head = f"<testcase classname={_attribute('reclaim.run')} name={_attribute('the run came to its end')}"
        told = f"{head}><failure message={_attribute(unfinished)}>{_text(unfinished)}</failure></testcase>"
        suites.append(_Suite("reclaim, the run", (_Case(told, held=False),)))
    tests, failures = sum(len(one.cases) for one in suites), sum(one.failures for one in suites)
    body = "\n".join(str(one) for one in suites)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name="reclaim" tests="{tests}" failures="{failures}" errors="0">\n{body}\n</testsuites>\n'
    )


@value
class _Case:
    """A test case as XML, and whether it holds."""

    text: str
    held: bool


@value
class _Suite:
    name: str
    cases: tuple[_Case, ...]

    @property
    def failures(self) -> int:
        return sum(not one.held for one in self.cases)

    def __str__(self) -> str:
        head = f'tests="{len(self.cases)}" failures="{self.failures}" errors="0" skipped="0"'
        body = "\n".join(one.text for one in self.cases)
        return f"<testsuite name={_attribute(self.name)} {head}>\n{body}\n</testsuite>"


def _case(requirement: Requirement) -> _Case:
    where = f"reclaim.{requirement.experiment}" if requirement.experiment else "reclaim"
    head = f"<testcase classname={_attribute(where)} name={_attribute(requirement.name)}"
    if requirement.held:
        return _Case(f"{head}/>", held=True)
    told = _text("\n\n".join((requirement.found, *(failure(one) for one in requirement.broken[:1]))))
    message = _attribute(f"{requirement.found} (n = {requirement.n})")
    return _Case(f"{head}><failure message={message}>{told}</failure></testcase>", held=False)


def _check(check: Check) -> _Case:
    head = f"<testcase classname={_attribute('reclaim.evaluation')} name={_attribute(check.name)}"
    if check.held:
        return _Case(f"{head}/>", held=True)
    told = _text("\n".join(check.broken))
    return _Case(f"{head}><failure message={_attribute(str(check))}>{told}</failure></testcase>", held=False)


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


def _attribute(text: str) -> str:
    return quoteattr(shown(text))


def _text(text: str) -> str:
    return escape(shown(text, lines=True))
