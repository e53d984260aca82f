"""The kept status: one line for whoever starts a session, and a bounded history."""

from __future__ import annotations

import pytest

from firsthand.agents import health_line
from firsthand.health import doctor
from firsthand.health.report import Finding, HealthReport, Rate, Severity, Stage, in_order
from firsthand.moment import Moment

NOW_S = 1_800_000_000
STOPPED = Finding(
    Stage.INDEX, Severity.BROKEN, "the text index stopped at position 812 of 900", "firsthand store rebuild"
)
CLOCK = Finding(Stage.STORE, Severity.DEGRADED, "the clock runs behind", "set it")
NOTE = Finding(Stage.HOOKS, Severity.NOTE, "none are installed", "firsthand install HOST")


def report(*findings: Finding) -> HealthReport:
    at = Moment(NOW_S * 1_000_000)
    return HealthReport("s", "default", at, in_order([*findings]), silent=Rate(1, 4))


@pytest.mark.parametrize("kept", [False, True])
def test_nothing_is_said_while_nothing_is_wrong(tmp_path, kept):
    """Without a status, and with one that has but notes, the line is empty."""
    if kept:
        doctor.keep(tmp_path, report(NOTE))
    assert health_line.line(tmp_path, now_s=NOW_S + 60) == ""


def test_the_worst_is_told_with_what_to_type(tmp_path):
    """The line names the stage, what was seen, the command, how much more there is, and how old it is."""
    doctor.keep(tmp_path, report(NOTE, CLOCK, STOPPED))
    assert health_line.line(tmp_path, now_s=NOW_S + 7_300) == (
        "memory is broken: index: the text index stopped at position 812 of 900 (firsthand store rebuild)"
        "; and 1 more: firsthand doctor (as of 2 hours ago)"
    )


def test_an_old_status_is_not_good_news(tmp_path):
    """A status of more than a week says how old it is, though nothing was wrong then."""
    doctor.keep(tmp_path, report())
    assert (
        health_line.line(tmp_path, now_s=NOW_S + 8 * 86_400)
        == "memory was last looked at 8 days ago (firsthand doctor)"
    )


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"line": 1, "time_s": 2}', b'{"line": ""}', b"\xff"])
def test_a_status_that_is_none_is_said(tmp_path, data):
    """A file that is torn or another thing is told, not taken for health."""
    (tmp_path / "health").mkdir()
    (tmp_path / "health" / "status.json").write_bytes(data)
    assert "is not what was written (firsthand doctor)" in health_line.line(tmp_path)
    assert doctor.due(tmp_path)


def test_looks_are_kept_in_order_and_bounded(tmp_path, monkeypatch):
    """The history has a line a look, oldest first; the older half goes when it is full; a torn line hides no other."""
    monkeypatch.setattr(doctor, "HISTORY_BYTES_MAX", 2_000)
    for _ in range(30):
        doctor.keep(tmp_path, report(STOPPED))
    path = tmp_path / "health" / "history.jsonl"
    assert path.stat().st_size <= 2_000
    with path.open("ab") as file:
        file.write(b'{"time": "20')
    rows = health_line.looks(tmp_path)
    assert 1 < len(rows) < 30
    assert rows[-1] == {
        "time": str(Moment(NOW_S * 1_000_000)), "severity": "broken", "namespace": "default", "stages": ["index"],
        "silent": [1, 4], "figures": {}, "agents": {},
    }  # fmt: skip


def test_a_look_is_due_hourly_and_oftener_while_something_is_wrong(tmp_path):
    """After a good look the next is due in an hour, after a bad one in five minutes, and when the clock went back."""
    assert doctor.due(tmp_path)
    doctor.keep(tmp_path, report())
    assert [doctor.due(tmp_path, now_s=NOW_S + age) for age in (-5, 400, 3_700)] == [True, False, True]
    doctor.keep(tmp_path, report(STOPPED))
    assert [doctor.due(tmp_path, now_s=NOW_S + age) for age in (200, 400)] == [False, True]
