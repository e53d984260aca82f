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

import time

from firsthand import moment
from firsthand.agent_space import AgentSpace
from firsthand.agents import files, settings, sleep_jobs, sleep_log, small_files, validity
from firsthand.agents.agent_digest import DigestWritten
from firsthand.agents.episode_writer import QUIET_SECONDS, Closed
from firsthand.agents.sleep_page import page
from firsthand.agents.sleep_steps import CUT, FAILED, Night, SleepStep, run
from firsthand.errors import InvalidArgument, StoreReadOnly
from firsthand.ledger.consolidation import Consolidated
from firsthand.moment import Moment
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
