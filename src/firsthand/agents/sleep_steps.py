"""What an agent's sleep does, step by step: each is whole or not at all, and says what came of it.

    episodes       which sessions have no summary, or went on after it
    summaries      the episode of each (`closing`)
    digest         what stands, into the agent's folder (`digesting`)
    consolidation  rules that pass the gate (`consolidating`); only where it is switched on

The invariant: whatever ends a step, its memory is the old or the new one, since each
writes by one transaction or one file at a time; run again it does what is left. What
users, tools and agents said is quoted in code spans that it cannot close.

It decides nothing and writes nothing itself: that is the rooms' that it calls.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator

from firsthand import pointer as pointer_of
from firsthand.agent_space import AgentSpace
from firsthand.agents import agent_digest, episode_writer
from firsthand.agents.agent_digest import DigestWritten
from firsthand.agents.episode import code
from firsthand.agents.episode_writer import Closed
from firsthand.agents.sleep_log import SleepRecord
from firsthand.errors import FirsthandError
from firsthand.ledger.consolidation import Consolidated, consolidate_in
from firsthand.moment import Moment
from firsthand.printable import shown
from firsthand.value import replace, value

DONE, SKIPPED, CUT, FAILED = "done", "skipped", "cut", "failed"
LINES_MAX = 40
"""Of one step that are shown; how many more there are is said."""
WORDS_CHARACTERS_MAX = 160
ID_SHOWN = 10
"""Characters of an id in a command: its end."""
_PLAIN = str.maketrans("`<>[]", "'()()")


@value
class SleepStep:
    """What came of one step.

    Attributes:
        state: ``done``; ``skipped``, since it is not wanted; ``cut`` by the time limit; ``failed``.
        why: it was not done, or not whole; empty for what is whole.
        lines: Markdown, a line each, at most `LINES_MAX`; ``left_out`` says how many more there were.
        undo: commands that undo what it did.
    """

    name: str
    state: str
    seconds: float = 0.0
    why: str = ""
    lines: tuple[str, ...] = ()
    left_out: int = 0
    undo: tuple[str, ...] = ()


@value(frozen=False)
class Night:
    """One sleep while it goes on: what it is to look at, and what it has found.

    Attributes:
        before: the last sleep that was finished; None for the first.
        through: the last position that it looks at.
        until: of the monotonic clock; no step, and no further summary, is begun after it.
        digest: the position that the digest was made as of.
        gained, lost: lines of the digest, since the sleep before.
    """

    agent: AgentSpace
    before: SleepRecord | None
    through: int
    now: Moment
    until: float
    quiet_seconds: float
    summarise: bool = True
    consolidate: bool = False
    due: tuple[str, ...] = ()
    closed: tuple[Closed, ...] = ()
    digested: DigestWritten | None = None
    digest: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    consolidated: Consolidated | None = None

    @property
    def is_over(self) -> bool:
        """True when the time is up."""
        return time.monotonic() >= self.until


def run(night: Night) -> Iterator[SleepStep]:
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
    done: list[Closed] = []
    for session in night.due:
        if night.is_over:
            break
        done.append(episode_writer.close(night.agent, session))
        night.closed = tuple(done)
    left = len(night.due) - len(done)
    why = f"the time was up; {left:,} of {len(night.due):,} sessions are left for the next sleep" if left else ""
    return _step(name, CUT if left else DONE, map(_of_closed, done), why=why)


def _of_closed(closed: Closed) -> str:
    if closed.episode is None:
        return _sentence(closed.why)
    label = f"{_name(closed.episode.name)} ({closed.episode.pointer})"
    return label + (f"; {_sentence(closed.why)}" if closed.why else "")


def _digest(night: Night, name: str) -> SleepStep:
    """Make the digest, tell what came into it and what left it, and write it where it is ours."""
    agent = night.agent
    night.digest = int(agent.space.head().partition(":")[0])
    before = agent_digest.digest_of(agent, as_of=night.before.digest).text if night.before is not None else ""
    made = night.digested = agent_digest.write_digest(agent, as_of=night.digest)
    was, now = ([line for line in text.splitlines() if line.startswith("- ")] for text in (before, made.digest.text))
    there, here = frozenset(was), frozenset(now)
    night.gained = tuple(line for line in now if line not in there)
    night.lost = tuple(line for line in was if line not in here)
    lines = [f"new: {_of_line(line)}" for line in night.gained]
    lines += [
        f"gone: {pointer}" for line in night.lost for pointer in pointer_of.find(line)
    ]  # what is out is not quoted
    if made.difference:
        lines += [
            "what would stand in it:",
            *(code(change, WORDS_CHARACTERS_MAX, "") for change in _changes(made.difference)),
        ]
    return _step(name, DONE, lines, why=_sentence(" ".join(made.left_out)))


def _of_line(line: str) -> str:
    """Quote a line of a digest, its pointer behind it."""
    words, sign, pointer = line.removeprefix("- ").rpartition(" (fh:")
    return f"{code(words, 2 * WORDS_CHARACTERS_MAX, pointer)}{sign}{pointer}" if sign else code(line, 200, "")


def _changes(difference: str) -> Iterator[str]:
    """Yield the lines of a difference that say what is otherwise."""
    return (line for line in difference.splitlines()[2:] if line.startswith(("+", "-")))


def _consolidation(night: Night, name: str) -> SleepStep:
    """Keep the rules that the gate lets in."""
    if not night.consolidate:
        return SleepStep(name, SKIPPED, why="it is off until you say: firsthand agent switch consolidate on")
    agent = night.agent
    done = night.consolidated = consolidate_in(agent.space, agent.name, keep=True)
    whose = f"--agent {shlex.quote(agent.name)}"
    lines = [f"kept: {code(entry.line, WORDS_CHARACTERS_MAX, f'fh:{entry.id}')} (fh:{entry.id})" for entry in done.kept]
    lines += [f"taken out: {decision.target}" for decision in done.quarantined]
    undo = [f"firsthand ledger quarantine {entry.id[-ID_SHOWN:]} {whose}" for entry in done.kept]
    undo += [
        f"firsthand ledger quarantine {decision.target[-ID_SHOWN:]} --release {whose}" for decision in done.quarantined
    ]
    return _step(name, DONE, lines, why=_sentence(" ".join(map(str, done.report.faults))), undo=undo)


STEPS: dict[str, Callable[[Night, str], SleepStep]] = {
    "episodes": _episodes,
    "summaries": _summaries,
    "digest": _digest,
    "consolidation": _consolidation,
}
"""In the order in which they are done: each reads what the ones before it wrote."""


def _step(name: str, state: str, lines: Iterable[str], *, why: str = "", undo: Iterable[str] = ()) -> SleepStep:
    notes = tuple(lines)
    return SleepStep(name, state, 0.0, why, notes[:LINES_MAX], max(0, len(notes) - LINES_MAX), tuple(undo)[:LINES_MAX])


def _name(text: str) -> str:
    return code(text, WORDS_CHARACTERS_MAX, "")


def _sentence(text: str) -> str:
    """Write a sentence of ours, which may name what others chose, so that it is one plain line."""
    return shown(" ".join(text.split())).translate(_PLAIN)
