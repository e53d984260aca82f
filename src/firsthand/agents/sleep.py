"""Sleep: a pass over what came since the last one, in named steps (total-recall 2.4, 8.3, A.3).

    episodes    which sessions have no summary, or went on after it
    summaries   the episode of each
    digest      which facts and sessions came into it and left it

    sleep(space, "web")     -> Slept(finished=True, ...), its page and its record in the log

The invariant: what was in the log stays as it was; whatever ends a step, its memory is the
old or the new one, since each writes by one transaction at a time, and the next sleep does
what is left; one sleeps at a time in a store; without a model it asks none. What a limit cut
off is said, and is not lost. What others said stands in code spans that it cannot close.

It does not know when it is time to sleep: a person, or a timer of theirs, says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from firsthand import moment
from firsthand import pointer as pointer_of
from firsthand.agent_space import AgentSpace
from firsthand.agents import agent_digest, episode_writer, settings, sleep_log, validity
from firsthand.agents.episode import code
from firsthand.agents.episode_writer import QUIET_SECONDS, Closed
from firsthand.agents.sleep_log import SleepRecord
from firsthand.errors import FirsthandError, InvalidArgument, StoreReadOnly
from firsthand.moment import Moment, clock
from firsthand.printable import shown
from firsthand.space import Space
from firsthand.value import replace, value

SECONDS_MAX = 600.0
"""Of a sleep that is told no other limit."""
DONE, SKIPPED, CUT, FAILED = "done", "skipped", "cut", "failed"
LINES_MAX = 40
"""Of one step that are shown; how many more there are is said."""
WORDS_CHARACTERS_MAX = 160
_PLAIN = str.maketrans("`<>[]", "'()()")


@value
class SleepStep:
    """What came of one step.

    Attributes:
        state: ``done``; ``skipped``, since it is not wanted; ``cut`` by the time limit; ``failed``.
        why: it was not done, or not whole; empty for what is whole.
        lines: Markdown, a line each, at most `LINES_MAX`; ``left_out`` says how many more there were.
    """

    name: str
    state: str
    seconds: float = 0.0
    why: str = ""
    lines: tuple[str, ...] = ()
    left_out: int = 0


@value
class Slept:
    """What came of a sleep.

    Attributes:
        since, through: it looked at what came behind the one position, up to the other.
        finished: nothing was cut off by a limit and nothing failed.
        steps: what became of each, in order.
        page: all of it, for people; the record in the log holds it.
        pointer: of the record in the log.
        closed: episodes that were written.
        digest: the position that the digest was made as of; 0 where it was not made.
        gained, lost: lines of the digest, since the sleep before.
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
    digest: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@value(frozen=False)
class Night:
    """One sleep while it goes on: what it is to look at, and what it has found.

    Attributes:
        before: the last sleep that was finished; None for the first.
        through: the last position that it looks at.
        until: of the monotonic clock; no step, and no further summary, is begun after it.
    """

    agent: AgentSpace
    before: SleepRecord | None
    through: int
    now: Moment
    until: float
    quiet_seconds: float
    summarise: bool = True
    due: tuple[str, ...] = ()
    closed: tuple[Closed, ...] = ()
    digest: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def since(self) -> int:
        """The position behind which it looks."""
        return 0 if self.before is None else self.before.through

    @property
    def is_over(self) -> bool:
        """True when the time is up."""
        return time.monotonic() >= self.until


def sleep(
    space: Space,
    agent: AgentSpace | str,
    *,
    now: Moment | None = None,
    seconds_max: float = SECONDS_MAX,
    quiet_seconds: float = QUIET_SECONDS,
    cwd: str = "",
) -> Slept:
    """Let an agent's memory sleep over what came since the last sleep that was finished.

    Args:
        now: the time that it is taken for; None is the clock's. With it a month of days can be gone through again.
        seconds_max: after so long no further step and no further summary is begun; what is begun is finished.
        quiet_seconds: a session whose last event is younger has not ended, and gets no summary.
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
            chosen.episodes,
        )  # fmt: skip
        steps = tuple(_run(night))
        seconds, finished = time.monotonic() - begun, not any(step.state in {CUT, FAILED} for step in steps)
        page = validity.funnel(space).line("\n".join(_page(night, steps, seconds, seconds_max)) + "\n")
        pointer = sleep_log.keep(
            sleeper, page, time=night.now, since=night.since, through=night.through, digest=night.digest,
            finished=finished, steps={step.name: step.state for step in steps},
        )  # fmt: skip
        return Slept(
            sleeper.name, night.now, night.since, night.through, seconds, finished, steps, page, pointer, night.closed,
            night.digest, night.gained, night.lost,
        )  # fmt: skip


def _checked(space: Space, agent: AgentSpace | str, seconds_max: float) -> AgentSpace:
    sleeper = AgentSpace(space, agent) if isinstance(agent, str) else agent
    if not seconds_max > 0:
        raise InvalidArgument(f"a sleep takes a number of seconds above 0; got {seconds_max!r}")
    if space.read_only:
        raise StoreReadOnly(f"a sleep writes summaries; open {space.path} without read_only")
    if not any(space.events(sleeper.session, limit=1)):
        raise InvalidArgument(
            f"no agent {sleeper.name!r:.120} has anything in this store; "
            "sessions become its own by agent.enrol(SESSION)"
        )
    return sleeper


# the steps -------------------------------------------------------------------------------------------


def _run(night: Night) -> Iterator[SleepStep]:
    """Do the steps in order, and yield what came of each; one that fails stops no other."""
    for name, do in STEPS.items():
        begun = time.monotonic()
        if night.is_over:
            step = SleepStep(name, CUT, why="the time was up before it began")
        else:
            try:
                step = do(night, name)
            except FirsthandError as error:
                step = SleepStep(name, FAILED, why=_sentence(f"{type(error).__name__}: {error}"))
        yield replace(step, seconds=time.monotonic() - begun)


def _episodes(night: Night, name: str) -> SleepStep:
    """Find the sessions that have no episode, or went on after it, and are quiet."""
    if not night.summarise:
        return SleepStep(name, SKIPPED, why="episodes are switched off")
    night.due = episode_writer.due(night.agent, quiet_seconds=night.quiet_seconds, now=night.now)
    return _step(name, DONE, (_name(session) for session in night.due))


def _summaries(night: Night, name: str) -> SleepStep:
    """Write the episode of each; the newest session first."""
    if not night.summarise:
        return SleepStep(name, SKIPPED, why="episodes are switched off")
    for session in night.due:
        if night.is_over:
            break
        night.closed += (episode_writer.close(night.agent, session),)
    left = len(night.due) - len(night.closed)
    why = f"the time was up; {left:,} of {len(night.due):,} sessions are left for the next sleep" if left else ""
    return _step(name, CUT if left else DONE, map(_of_closed, night.closed), why=why)


def _of_closed(closed: Closed) -> str:
    if closed.episode is None:
        return _sentence(closed.why)
    label = f"{_name(closed.episode.name)} ({closed.episode.pointer})"
    return label + (f"; {_sentence(closed.why)}" if closed.why else "")


def _digest(night: Night, name: str) -> SleepStep:
    """Tell what came into the digest since the sleep before, and what left it; what is out is not quoted."""
    agent = night.agent
    night.digest = int(agent.space.head().partition(":")[0])
    before = agent_digest.digest_of(agent, as_of=night.before.digest).text if night.before is not None else ""
    after = agent_digest.digest_of(agent, as_of=night.digest).text
    was, now = ([line for line in text.splitlines() if line.startswith("- ")] for text in (before, after))
    night.gained = tuple(line for line in now if line not in frozenset(was))
    night.lost = tuple(line for line in was if line not in frozenset(now))
    lines = [f"new: {_of_line(line)}" for line in night.gained]
    lines += [f"gone: {pointer}" for line in night.lost for pointer in pointer_of.find(line)]
    return _step(name, DONE, lines)


def _of_line(line: str) -> str:
    """Quote a line of a digest, its pointer behind it."""
    words, sign, pointer = line.removeprefix("- ").rpartition(" (fh:")
    return f"{code(words, 2 * WORDS_CHARACTERS_MAX, pointer)}{sign}{pointer}" if sign else code(line, 200, "")


STEPS: dict[str, Callable[[Night, str], SleepStep]] = {
    "episodes": _episodes,
    "summaries": _summaries,
    "digest": _digest,
}
"""In the order in which they are done: each reads what the ones before it wrote."""


def _step(name: str, state: str, lines: Iterable[str], *, why: str = "") -> SleepStep:
    notes = tuple(lines)
    return SleepStep(name, state, 0.0, why, notes[:LINES_MAX], max(0, len(notes) - LINES_MAX))


def _name(text: str) -> str:
    return code(text, WORDS_CHARACTERS_MAX, "")


def _sentence(text: str) -> str:
    """Write a sentence of ours, which may name what others chose, so that it is one plain line."""
    return shown(" ".join(text.split())).translate(_PLAIN)


# the page --------------------------------------------------------------------------------------------

_COUNTED = {
    "episodes": ("session without an episode", "sessions without an episode", "firsthand agent episodes"),
    "summaries": ("episode", "episodes", "firsthand agent episodes"),
    "digest": ("change", "changes", "firsthand agent digest"),
}
"""What the lines of a step are, one and many, and the command that shows all of them."""


def _page(night: Night, steps: Sequence[SleepStep], seconds: float, seconds_max: float) -> Iterator[str]:
    """Lay the page of a sleep out as Markdown."""
    before = "the first sleep" if night.before is None else f"since the sleep of {clock(night.before.time)}"
    left = [f"{step.name} ({step.state})" for step in steps if step.state in {CUT, FAILED}]
    yield f"# Sleep of {code(night.agent.name, 120, '')}, {clock(night.now)}"
    yield ""
    yield f"- read: positions {night.since + 1:,} to {night.through:,}, {before}"
    yield f"- time: {seconds:.1f} of at most {seconds_max:,.0f} seconds"
    yield f"- not finished: {', '.join(left)}; the next sleep does what is left" if left else "- finished"
    for step in steps:
        yield from _section(step)


def _section(step: SleepStep) -> Iterator[str]:
    singular, many, command = _COUNTED[step.name]
    number = len(step.lines) + step.left_out
    summary = step.state if step.state == SKIPPED else f"{step.state}, {number:,} {singular if number == 1 else many}"
    yield ""
    yield f"## {step.name.capitalize()}: {summary} ({step.seconds:.1f} s)"
    if step.why:
        yield f"{step.why}." if step.state != DONE else step.why
    yield from (f"- {line}" for line in step.lines)
    if step.left_out:
        yield f"- and {step.left_out:,} more: `{command}`"
