"""Sleep: a pass over what came since the last one, in named steps (total-recall 2.4, 8.3, A.3).

    sleep(memory, "web")     -> Slept(finished=True, ...), and sleep.md in the agent's folder

The invariant: what was in the log stays as it was; a sleep that is ended at any point
leaves of each step the state before it or behind it, and the next one does what is
left; one sleeps at a time in a store; without a model it asks none. What a limit cut
off is said, and is not lost.

It does not know when it is time to sleep (`sleeping_jobs`), nor what the steps do
(`sleeping_steps`).
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence

from firsthand import moment
from firsthand.agent_space import AgentSpace
from firsthand.agents import files, settings, sleep_jobs, sleep_log, small_files, validity
from firsthand.agents.agent_digest import DigestWritten
from firsthand.agents.episode import code
from firsthand.agents.episode_writer import QUIET_SECONDS, Closed
from firsthand.agents.sleep_steps import CUT, DONE, FAILED, SKIPPED, Night, SleepStep, run
from firsthand.environment import NAMESPACE
from firsthand.errors import InvalidArgument, StoreReadOnly
from firsthand.ledger.consolidation import Consolidated
from firsthand.moment import Moment, clock
from firsthand.space import Space
from firsthand.value import value

SECONDS_MAX = 600.0
"""Of a sleep that is told no other limit."""


@value
class Slept:
    """What came of a sleep.

    Attributes:
        since, through: it looked at what came behind the one position, up to the other.
        finished: nothing was cut off by a limit and nothing failed.
        steps: what became of each, in order.
        page: all of it, for people; ``sleep.md`` in the agent's folder says the same.
        pointer: of the record in the log.
        closed: episodes that were written.
        digested, consolidated: what came of these steps; None where they did not come to an end.
        digest: the position that the digest was made as of; 0 where it was not made.
        gained, lost: lines of the digest, since the sleep before.
        left_out: sentences on what of the page was not written.
    """

    agent: str
    time: Moment
    since: int
    through: int
    seconds: float
    finished: bool
    steps: tuple[SleepStep, ...]
    page: str
    pointer: str
    closed: tuple[Closed, ...] = ()
    digested: DigestWritten | None = None
    consolidated: Consolidated | None = None
    digest: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def sleep(
    space: Space,
    agent: AgentSpace | str,
    *,
    now: Moment | None = None,
    seconds_max: float = SECONDS_MAX,
    quiet_seconds: float = QUIET_SECONDS,
    consolidate: bool | None = None,
    cwd: str = "",
) -> Slept:
    """Let an agent's memory sleep over what came since the last sleep that was finished.

    Args:
        now: the time that it is taken for; None is the clock's. With it a month of days can be gone through again.
        seconds_max: after so long no further step and no further summary is begun; what is begun is finished.
        quiet_seconds: a session whose last event is younger has not ended, and gets no summary.
        consolidate: also keep rules that pass the gate; None asks the agent's settings, where it is off by default.
        cwd: the project's folder whose settings count.

    Raises:
        InvalidArgument: there is no such agent, or a limit is no number of seconds.
        StoreBusy: somebody sleeps in this store already, who is named.
        StoreReadOnly: the memory was opened to read.
        StoreError: the store cannot take the record of the sleep.
    """
    sleeper = _checked(space, agent, seconds_max)
    chosen = settings.load(space.path, cwd)
    begun = time.monotonic()
    with sleep_log.alone(sleeper):
        night = Night(
            sleeper, next((each for each in sleep_log.sleeps(sleeper) if each.finished), None),
            int(space.head().partition(":")[0]), now or moment.now(), begun + seconds_max, quiet_seconds,
            chosen.episodes, chosen.consolidate if consolidate is None else consolidate,
        )  # fmt: skip
        steps = tuple(run(night))
        return _ended(night, steps, time.monotonic() - begun, seconds_max)


def _checked(space: Space, agent: AgentSpace | str, seconds_max: float) -> AgentSpace:
    sleeper = AgentSpace(space, agent) if isinstance(agent, str) else agent
    if not seconds_max > 0:
        raise InvalidArgument(f"a sleep takes a number of seconds above 0; got {seconds_max!r}")
    if space.read_only:
        raise StoreReadOnly(f"a sleep writes summaries and a digest; open {space.path} without read_only")
    if not any(space.events(sleeper.session, limit=1)):
        raise InvalidArgument(
            f"no agent {sleeper.name!r:.120} has anything in this store; "
            "sessions become its own by agent.enrol(SESSION)"
        )
    return sleeper


def _ended(night: Night, steps: tuple[SleepStep, ...], seconds: float, seconds_max: float) -> Slept:
    """Write the page and then the record: who reads the record finds the page."""
    agent = night.agent
    finished = not any(step.state in {CUT, FAILED} for step in steps)
    text = page(night, steps, seconds=seconds, seconds_max=seconds_max)
    page_text = validity.funnel(agent.space).line(text)
    written = files.write_ours(agent, files.SLEEP_FILE, page_text)
    since = 0 if night.before is None else night.before.through
    pointer = sleep_log.keep(
        agent, page_text, time=night.now, since=since, through=night.through, digest=night.digest, finished=finished,
        steps={step.name: step.state for step in steps},
    )  # fmt: skip
    if finished:
        sleep_jobs.settle(agent)
    return Slept(
        agent.name, night.now, since, night.through, seconds, finished, steps, text, pointer, night.closed,
        night.digested, night.consolidated, night.digest, night.gained, night.lost,
        (written.why,) if written.why else (),
    )  # fmt: skip


def last_page(agent: AgentSpace) -> str | None:
    """Give the page of the last sleep as it stands in the agent's folder; None when there is none.

    Raises:
        StoreError: it cannot be read.
    """
    data = small_files.read(agent.folder / files.SLEEP_FILE)
    return None if data is None else data.decode("utf-8", "replace")


# the page: what others said stands in code spans, on one line ------------------------------------------------

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
