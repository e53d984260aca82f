"""When it is time to sleep: a job an agent, left by its hooks where sleep is switched on, gone when it has slept.

The invariant: a job that was left stays until a sleep was finished, so that one which
did not happen is seen (`health.around`); it is begun at most every `AGAIN_S`, and by
the daemon alone, in a process of its own: no hook waits for it.

It starts nothing: that is the door's.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from firsthand.agent_space import AgentSpace
from firsthand.agents import jobs, settings, small_files
from firsthand.agents.jobs import Job
from firsthand.errors import InvalidArgument
from firsthand.moment import Moment
from firsthand.value import asdict, replace

AGAIN_S = 3_600.0
"""After a sleep was begun that was not finished, so long until the next try."""


def next_at(text: str, now: Moment) -> Moment:
    """Give the next moment at which the clock that read ``now`` shows a time of day.

    A clock that reads as this machine's is put forward and back as this machine's is: of a time that comes twice the
    first one counts, and one that is skipped is as much later as was skipped.

    Raises:
        InvalidArgument: it is no time of day, or none follows: the clock shows the first or the last day there is.
    """
    try:
        at = datetime.strptime(text.encode("ascii").decode(), "%H:%M")  # noqa: DTZ007 - of whatever zone the clock has
    except ValueError as error:
        raise InvalidArgument(f"expected a time of day such as 03:30; got {text!r:.40}") from error
    try:
        second, zone = now.microseconds // 1_000_000, timezone(timedelta(minutes=now.offset_minutes))
        day = datetime.fromtimestamp(second)  # noqa: DTZ006 - without a zone it follows this machine's, changes and all
        is_ours = day.astimezone().utcoffset() == zone.utcoffset(None)
        day = (day if is_ours else datetime.fromtimestamp(second, zone)).replace(
            hour=at.hour, minute=at.minute, second=0, microsecond=0, fold=0
        )
        while (due := int(day.timestamp())) <= second:
            day += timedelta(days=1)
        offset = datetime.fromtimestamp(due, UTC).astimezone(None if is_ours else zone).utcoffset() or timedelta()
        return Moment(due * 1_000_000, int(offset.total_seconds()) // 60)
    except (OverflowError, ValueError) as error:
        raise InvalidArgument(f"expected a clock with a day before and behind it; it shows {now}: set it") from error


def leave_sleep(store: Path, namespace: str, agent: str, cwd: str, at: str, now: Moment) -> bool:
    """Leave the next sleep of an agent to do; False when one waits already.

    Raises:
        InvalidArgument: ``at`` is no time of day.
        StoreError: it cannot be written.
    """
    return jobs.leave(store, Job(jobs.SLEEP, namespace, agent, cwd=cwd, after_ms=next_at(at, now).milliseconds))


def sleeps_waiting(store: Path, namespace: str) -> tuple[Job, ...]:
    """Give the sleeps that are to be done in a namespace, the one that is due first; those switched off since go.

    One that was begun and not finished is due again `AGAIN_S` after that.

    Raises:
        StoreError: the list cannot be read or written.
    """
    waiting = []
    for job in jobs.pending(store):
        if job.kind != jobs.SLEEP or job.namespace != namespace:
            continue
        if settings.load(store, job.cwd).sleep:
            waiting.append(replace(job, after_ms=max(job.after_ms, _again_ms(store, job))))
        else:
            small_files.remove(_file(store, job))
    return tuple(sorted(waiting, key=lambda job: (job.after_ms, job.agent)))


def begin_sleep(store: Path, job: Job) -> bool:
    """Note that a sleep is begun, which stays to be done until one is finished; False when it was done meanwhile.

    Raises:
        StoreError: it cannot be written.
    """
    left = jobs.read(_file(store, job))
    if left is None:
        return False
    small_files.put_table(_file(store, job), asdict(replace(left, tries=left.tries + 1)))
    return True


def settle(agent: AgentSpace) -> None:
    """Take the job of an agent that has slept away, if there is one.

    Raises:
        StoreError: it cannot be removed.
    """
    small_files.remove(_file(agent.space.path, Job(jobs.SLEEP, agent.space.namespace, agent.name)))


def _file(store: Path, job: Job) -> Path:
    return jobs.folder(store) / f"{job.name}{jobs.WAITS}"


def _again_ms(store: Path, job: Job) -> int:
    """Say when a sleep that was begun may be begun again: its file was written then; 0 for one that was not."""
    if not job.tries:
        return 0
    try:
        written_s = _file(store, job).stat().st_mtime
    except FileNotFoundError:  # it was finished meanwhile, and whoever begins it finds that
        return 0
    return 0 if written_s > time.time() + AGAIN_S else int((written_s + AGAIN_S) * 1000)  # 0: the clock was put back
