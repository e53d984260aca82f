"""Sleep: a pass over what came since the last one, in named steps (total-recall 2.4, 8.3, A.3).

    episodes    that of each session that has none, or went on after it
    digest      which facts came into it and left it

    sleep(space, "web")     -> Slept(finished=True, ...), its page and its record in the log

The invariant: what was in the log stays as it was; whatever ends a step, its memory is the
old or the new one, since each writes by one transaction at a time, and the next sleep does
what is left; one sleeps at a time in a store; without a model it asks none. What a limit cut
off is said, and is not lost. What others said stands in code spans that it cannot close.

It does not know when it is time to sleep: a person, or a timer of theirs, says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from firsthand import moment
from firsthand import pointer as pointer_of
from firsthand.agent_space import AgentSpace
from firsthand.agents import agent_digest, episode_writer, settings, sleep_log, small_files, validity
from firsthand.agents.episode import code
from firsthand.agents.episode_writer import QUIET_SECONDS, Closed
from firsthand.agents.sleep_log import SleepRecord
from firsthand.errors import FirsthandError, InvalidArgument, StoreBusy, StoreReadOnly
from firsthand.moment import Moment, clock
from firsthand.printable import shown
from firsthand.space import Space
from firsthand.value import replace, value

SECONDS_MAX = 600.0
"""Of a sleep that is told no other limit."""
FOLDER = "sleep"
DONE, SKIPPED, CUT, FAILED = "done", "skipped", "cut", "failed"
LINES_MAX = 40
"""Of one step that the page shows; how many more there are is said."""
WORDS_CHARACTERS_MAX = 160
_PLAIN = str.maketrans("`<>[]", "'()()")


@value
class SleepStep:
    """What came of one step.

    Attributes:
        state: ``done``; ``skipped``, since it is not wanted; ``cut`` by the time limit; ``failed``.
        why: it was not done, or not whole; empty for what is whole.
        lines: Markdown, a line each.
    """

    name: str
    state: str
    seconds: float = 0.0
    why: str = ""
    lines: tuple[str, ...] = ()


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
        until: of the monotonic clock; no step, and no further episode, is begun after it.
        wants_episodes: False where the settings have them switched off.
    """

    agent: AgentSpace
    before: SleepRecord | None
    now: Moment
    until: float
    quiet_seconds: float
    wants_episodes: bool
    closed: tuple[Closed, ...] = ()
    digest: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


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
        seconds_max: after so long no further step and no further episode is begun; what is begun is finished.
        quiet_seconds: a session whose last event is younger has not ended, and gets no episode.
        cwd: the project's folder whose settings count.

    Raises:
        InvalidArgument: there is no such agent, or a limit is no number of seconds.
        StoreBusy: somebody sleeps in this store already.
        StoreReadOnly: the memory was opened to read.
        StoreError: the store cannot take the record of the sleep.
    """
    sleeper = _checked(space, agent, seconds_max)
    chosen = settings.load(space.path, cwd)
    begun = time.monotonic()
    with small_files.alone(space.path / FOLDER / "lock") as alone:
        if not alone:
            raise StoreBusy("another process sleeps in this store; try again when that is done")
        before = next((each for each in sleep_log.sleeps(sleeper) if each.finished), None)
        since, through = 0 if before is None else before.through, int(space.head().partition(":")[0])
        night = Night(sleeper, before, now or moment.now(), begun + seconds_max, quiet_seconds, chosen.episodes)
        steps = tuple(_run(night))
        seconds, finished = time.monotonic() - begun, not any(step.state in {CUT, FAILED} for step in steps)
        read = f"positions {since + 1:,} to {through:,}"
        text = "\n".join(_page(night, steps, read, f"{seconds:.1f} of at most {seconds_max:,.0f} seconds"))
        page = validity.funnel(space).line(f"{text}\n")
        pointer = sleep_log.keep(
            sleeper, page, time=night.now, since=since, through=through, digest=night.digest,
            finished=finished, steps={step.name: step.state for step in steps},
        )  # fmt: skip
        return Slept(
            sleeper.name, night.now, since, through, seconds, finished, steps, page, pointer, night.closed,
            night.digest, night.gained, night.lost,
        )  # fmt: skip


def _checked(space: Space, agent: AgentSpace | str, seconds_max: float) -> AgentSpace:
    sleeper = AgentSpace(space, agent) if isinstance(agent, str) else agent
    if not seconds_max > 0:
        raise InvalidArgument(f"a sleep takes a number of seconds above 0; got {seconds_max!r}")
    if space.read_only:
        raise StoreReadOnly(f"a sleep writes episodes; open {space.path} without read_only")
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
        if begun >= night.until:
            step = SleepStep(name, CUT, why="the time was up before it began")
        else:
            try:
                step = do(night, name)
            except FirsthandError as error:
                step = SleepStep(name, FAILED, why=_sentence(f"{type(error).__name__}: {error}"))
        yield replace(step, seconds=time.monotonic() - begun)


def _episodes(night: Night, name: str) -> SleepStep:
    """Write the episodes of the sessions that are quiet and have none, or went on after it; the newest first."""
    if not night.wants_episodes:
        return SleepStep(name, SKIPPED, why="episodes are switched off")
    caught_up = episode_writer.catch_up(
        night.agent, quiet_seconds=night.quiet_seconds, deadline_seconds=night.until - time.monotonic(), now=night.now
    )
    night.closed, left = caught_up.closed, caught_up.left
    of = left + len(night.closed)
    why = f"the time was up; {left:,} of {of:,} sessions are left for the next sleep" if left else ""
    return SleepStep(name, CUT if left else DONE, 0.0, why, tuple(map(_of_closed, night.closed)))


def _of_closed(closed: Closed) -> str:
    if closed.episode is None:
        return _sentence(closed.why)
    label = f"{code(closed.episode.name, WORDS_CHARACTERS_MAX, '')} ({closed.episode.pointer})"
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
    return SleepStep(name, DONE, lines=tuple(lines))


def _of_line(line: str) -> str:
    """Quote a line of a digest, its pointer behind it."""
    words, sign, pointer = line.removeprefix("- ").rpartition(" (fh:")
    return f"{code(words, 2 * WORDS_CHARACTERS_MAX, pointer)}{sign}{pointer}" if sign else code(line, 200, "")


STEPS: dict[str, Callable[[Night, str], SleepStep]] = {"episodes": _episodes, "digest": _digest}
"""In the order in which they are done."""


def _sentence(text: str) -> str:
    """Write a sentence of ours, which may name what others chose, so that it is one plain line."""
    return shown(" ".join(text.split())).translate(_PLAIN)


# the page --------------------------------------------------------------------------------------------

_COUNTED = {
    "episodes": ("episode", "episodes", "firsthand agent episodes"),
    "digest": ("change", "changes", "firsthand agent digest"),
}
"""What the lines of a step are, one and many, and the command that shows all of them."""


def _page(night: Night, steps: Sequence[SleepStep], read: str, took: str) -> Iterator[str]:
    """Lay the page of a sleep out as Markdown."""
    before = "the first sleep" if night.before is None else f"since the sleep of {clock(night.before.time)}"
    left = [f"{step.name} ({step.state})" for step in steps if step.state in {CUT, FAILED}]
    yield f"# Sleep of {code(night.agent.name, 120, '')}, {clock(night.now)}"
    yield ""
    yield f"- read: {read}, {before}"
    yield f"- time: {took}"
    yield f"- not finished: {', '.join(left)}; the next sleep does what is left" if left else "- finished"
    for step in steps:
        yield from _section(step)


def _section(step: SleepStep) -> Iterator[str]:
    singular, many, command = _COUNTED[step.name]
    number = len(step.lines)
    summary = step.state if step.state == SKIPPED else f"{step.state}, {number:,} {singular if number == 1 else many}"
    yield ""
    yield f"## {step.name.capitalize()}: {summary} ({step.seconds:.1f} s)"
    if step.why:
        yield f"{step.why}." if step.state != DONE else step.why
    yield from (f"- {line}" for line in step.lines[:LINES_MAX])
    if number > LINES_MAX:
        yield f"- and {number - LINES_MAX:,} more: `{command}`"
