"""When it is time to sleep: left by hooks where it is switched on, done once, missed when it did not happen."""

from __future__ import annotations

import json
import os
import time

import pytest
from hosts_made import Claude

from firsthand import InvalidArgument, Moment, moment
from firsthand.agents import jobs
from firsthand.agents.sleep import sleep
from firsthand.agents.sleep_jobs import AGAIN_S, begin_sleep, leave_sleep, next_at, sleeps_waiting
from firsthand.health.job_runner import run_due
from firsthand.health.surroundings import SLEEP_OVERDUE_S, Around, work

NOW = Moment(1_790_000_000_000_000)  # 2026-09-21T13:33:20Z
LATER_MS = 4_000_000_000_000


@pytest.fixture
def switched(memory, monkeypatch, tmp_path):
    """A memory whose user has switched sleep on."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (memory.path / "settings.json").write_text(json.dumps({"sleep": True, "sleep_at": "03:30"}))
    return memory


@pytest.fixture
def zone(monkeypatch):
    """Set this machine's clock to a zone, for a test."""

    def set_to(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_to
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("now", "at", "due"),
    [
        ("2026-03-28T12:00:00+01:00", "03:30", "2026-03-29T03:30:00.000+02:00"),  # an hour shorter
        ("2026-03-28T12:00:00+01:00", "02:30", "2026-03-29T03:30:00.000+02:00"),  # which that night has not
        ("2026-03-29T12:00:00+02:00", "02:30", "2026-03-30T02:30:00.000+02:00"),
        ("2026-10-24T12:00:00+02:00", "03:30", "2026-10-25T03:30:00.000+01:00"),  # an hour longer
        ("2026-10-24T12:00:00+02:00", "02:30", "2026-10-25T02:30:00.000+02:00"),  # which comes twice: the first
        ("2026-10-25T02:45:00+02:00", "02:30", "2026-10-26T02:30:00.000+01:00"),  # not once more the same night
        ("2026-10-25T02:15:00+01:00", "02:30", "2026-10-26T02:30:00.000+01:00"),
        ("2026-10-24T12:00:00+09:00", "03:30", "2026-10-25T03:30:00.000+09:00"),  # another clock than this machine's
    ],
)
def test_clocks_that_are_put_forward_or_back_move_no_sleep(zone, now, at, due):
    """The next time of day is what the machine's clock will show then, also over the night when it is changed."""
    zone("CET-1CEST,M3.5.0,M10.5.0/3")
    assert str(next_at(at, moment.parse(now))) == due


@pytest.mark.parametrize("text", ["", "3", "24:00", "12:60", "03:30:00", "-1:00", "\u0663:30"])
def test_what_is_no_time_of_day_is_refused(text):
    """The message says what was expected."""
    with pytest.raises(InvalidArgument, match="expected a time of day such as 03:30"):
        next_at(text, NOW)


@pytest.mark.parametrize(
    ("microseconds", "offset"), [(-62_135_596_800_000_000, -1_439), (253_402_300_799_999_999, 1_439)]
)
def test_a_clock_at_the_end_of_all_days_is_refused(microseconds, offset):
    """Where no next time of day can be told, that is said, and no other error is raised."""
    with pytest.raises(InvalidArgument, match="expected a clock with a day before and behind it"):
        next_at("03:30", Moment(microseconds, offset))


def test_hooks_leave_a_sleep_where_it_is_switched_on(switched, tmp_path):
    """A session's hooks leave one job for the next night, and none after the switch is off."""
    claude = Claude(switched, tmp_path, 1)
    claude.fire("SessionStart", source="startup")
    claude.prompt("The staging port is 8080.")
    claude.fire("SessionEnd", reason="other")
    (job,) = sleeps_waiting(switched.path, "default")
    assert str(Moment(job.after_ms * 1000))[11:16] == "03:30"
    assert (job.cwd, job.tries) == (str(claude.cwd), 0)
    assert sleeps_waiting(switched.path, "other") == ()
    (switched.path / "settings.json").write_text("{}")
    assert sleeps_waiting(switched.path, "default") == ()
    assert [one.kind for one in jobs.pending(switched.path) if one.kind == jobs.SLEEP] == []


def test_nothing_is_left_without_the_switch(memory, tmp_path):
    """By default no session leaves a sleep."""
    Claude(memory, tmp_path, 1).fire("SessionStart", source="startup")
    assert [one for one in jobs.pending(memory.path) if one.kind == jobs.SLEEP] == []


def test_a_sleep_is_no_job_of_those_that_run_in_turn(switched, agent):
    """Who does jobs passes it over and is not woken by it; a sleep that was finished takes it away."""
    agent.enrol("one")
    switched.session("one").user("The port is 80.", time=NOW)
    assert leave_sleep(switched.path, "default", "shop", "", "03:30", NOW)
    assert not leave_sleep(switched.path, "default", "shop", "", "03:30", NOW)  # one waits already
    assert jobs.next_due_ms(switched.path, "default") is None
    assert run_due(switched, now_ms=LATER_MS) == ()
    assert len(sleeps_waiting(switched.path, "default")) == 1
    assert not sleep(switched, agent, seconds_max=1e-9).finished
    assert len(sleeps_waiting(switched.path, "default")) == 1
    assert sleep(switched, agent).finished
    assert sleeps_waiting(switched.path, "default") == ()


def test_a_sleep_that_was_begun_and_not_finished_is_due_again_later(switched):
    """It stays to be done, an hour after it was begun; one that was done meanwhile is not begun."""
    leave_sleep(switched.path, "default", "shop", "", "03:30", NOW)
    (job,) = sleeps_waiting(switched.path, "default")
    assert begin_sleep(switched.path, job)
    (file,) = jobs.folder(switched.path).glob("*sleep*")
    begun = int(time.time())
    os.utime(file, (begun, begun))
    (again,) = sleeps_waiting(switched.path, "default")
    assert (again.tries, again.after_ms) == (1, max(job.after_ms, (begun + int(AGAIN_S)) * 1000))
    os.utime(file, (LATER_MS / 1000, LATER_MS / 1000))  # the clock was decades ahead when it was begun
    assert sleeps_waiting(switched.path, "default")[0].after_ms == job.after_ms
    file.unlink()
    assert not begin_sleep(switched.path, job)


def test_doctor_names_a_sleep_that_did_not_happen(switched):
    """A day after it was due it is found, with what to type; before that a machine that was off is no fault."""
    leave_sleep(switched.path, "default", "my shop", "", "03:30", NOW)
    due = next_at("03:30", NOW).microseconds
    late = Moment(due + int(SLEEP_OVERDUE_S - 60) * 1_000_000)
    assert [*work(Around(switched.path, late))] == []
    (found,) = work(Around(switched.path, Moment(due + int(SLEEP_OVERDUE_S) * 1_000_000)))
    assert (found.severity.value, found.agent, found.mend) == (
        "degraded",
        "my shop",
        "firsthand agent sleep --agent 'my shop'",
    )
    assert found.what == "a sleep was due 1 day ago and is not done; nothing was idle enough"
