"""The page of a sleep: what was found, decided and written, what was left, and how each of it is undone.

The invariant: a page says of every step what became of it and why; what others said
stands in code spans, on one line, so that it poses neither as a heading nor as a line
of ours.

Pure but for the values it is given: it knows no store.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from firsthand.agents.episode import code
from firsthand.agents.sleep_steps import CUT, DONE, FAILED, SKIPPED, Night, SleepStep
from firsthand.environment import NAMESPACE
from firsthand.moment import clock

_HEADS = {
    "episodes": ("session without an episode", "sessions without an episode"),
    "summaries": ("episode", "episodes"),
    "digest": ("change", "changes"),
    "consolidation": ("change", "changes"),
}
_MORE = {"digest": "firsthand agent digest", "episodes": "firsthand agent episodes",
         "summaries": "firsthand agent episodes", "consolidation": "firsthand ledger entries"}  # fmt: skip


def page(night: Night, steps: Sequence[SleepStep], *, seconds: float, seconds_max: float) -> str:
    """Lay the page of a sleep out as Markdown.

    Args:
        seconds: that it took, of at most ``seconds_max``.
    """
    return "\n".join(_page(night, steps, seconds, seconds_max)) + "\n"


def _page(night: Night, steps: Sequence[SleepStep], seconds: float, seconds_max: float) -> Iterator[str]:
    since = 0 if night.before is None else night.before.through
    before = "the first sleep" if night.before is None else f"since the sleep of {clock(night.before.time)}"
    yield f"# Sleep of {code(night.agent.name, 120, '')}, {clock(night.now)}"
    yield ""
    yield f"- read: positions {since + 1:,} to {night.through:,}, {before}"
    yield f"- time: {seconds:.1f} of at most {seconds_max:,.0f} seconds"
    yield f"- {_result(steps)}"
    for step in steps:
        yield from _section(step)
    namespace = night.agent.space.namespace
    where = "" if namespace == NAMESPACE else f" --namespace {shlex.quote(namespace)}"
    commands = [f"{command}{where}" for step in steps for command in step.undo]
    if commands:
        yield from ("", "## Undone by", *(f"- {_command(command)}" for command in commands))


def _command(text: str) -> str:
    """Write a command as a code span that no name in it closes."""
    ticks = "`"
    while ticks in text:
        ticks += "`"
    return f"{ticks} {text} {ticks}" if len(ticks) > 1 else f"`{text}`"


def _result(steps: Sequence[SleepStep]) -> str:
    left = [f"{step.name} ({step.state})" for step in steps if step.state in {CUT, FAILED}]
    if left:
        return f"not finished: {', '.join(left)}; the next sleep does what is left"
    return "finished"


def _section(step: SleepStep) -> Iterator[str]:
    singular, many = _HEADS[step.name]
    number = len(step.lines) + step.left_out
    summary = step.state if step.state == SKIPPED else f"{step.state}, {number:,} {singular if number == 1 else many}"
    yield ""
    yield f"## {step.name.capitalize()}: {summary} ({step.seconds:.1f} s)"
    if step.why:
        yield f"{step.why}." if step.state != DONE else step.why
    yield from (f"- {line}" for line in step.lines)
    if step.left_out:
        where = f": `{_MORE[step.name]}`" if step.name in _MORE else ""
        yield f"- and {step.left_out:,} more{where}"
