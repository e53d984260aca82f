"""Summaries that hosts write: judged once, behind the hook, counted by doctor, and gone with what was erased."""

from __future__ import annotations

import pytest

from firsthand import Kind, Memory, run_due
from firsthand.health import summaries
from firsthand.health.doctor import Look, examine
from firsthand.health.finding import Severity, Stage
from firsthand.health.summaries import Judged
from firsthand.lifecycle import jobs
from firsthand.lifecycle.agent import agents
from lifecycle.hosts_made import Claude

ASKED = "We bought 7 notebooks at $4 and 9 pens at $2. What is the total?"
HELD, LOST, MADE_UP = "7 notebooks at $4, 9 pens at $2: the total was $46.", "The total was $46.", "The total was $71."


@pytest.fixture
def memory(tmp_path):
    """A memory, verified when the test ends."""
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        yield opened
        assert opened.verify().ok


def compacted(memory: Memory, *texts: str) -> list[str]:
    """Live a session that asks for a total and is compacted into these texts; give their pointers."""
    session = memory.session("s", agent="x")
    session.user(ASKED)
    session.agent("The total is $46.")
    return [session.append(Kind.SUMMARY, text).pointer for text in texts]


def test_a_summary_is_judged_by_itself_and_by_what_it_replaced(memory):
    """What holds its source is correctable; what dropped it is silent by itself, and the session bears it out."""
    held, lost = compacted(memory, HELD, LOST)
    assert summaries.judge(memory, "s") == (
        Judged(held, "s", "default", "correctable", "correctable", whole=True),
        Judged(lost, "s", "default", "uncorrectable_silent", "reachable", whole=True),
    )
    assert summaries.figure(memory) == "1 correctable, 1 uncorrectable_silent"
    (note,) = summaries.findings(memory)
    assert (note.stage, note.severity) == (Stage.EPISODES, Severity.NOTE)
    assert note.what == (f"1 of 2 summaries by hosts conclude what nothing in them bears out, the newest {lost} in s")


def test_a_summary_is_judged_once(memory, tmp_path):
    """A second job finds nothing to judge; without the file, and behind a torn line, it is judged again."""
    compacted(memory, LOST)
    first = summaries.judge(memory, "s")
    assert summaries.judge(memory, "s") == ()
    assert summaries.judge(memory, "elsewhere") == ()
    file = tmp_path / "store" / "health" / "summaries.jsonl"
    file.write_bytes(file.read_bytes()[:-9])
    assert summaries.kept(memory.path) == ()
    assert summaries.judge(memory, "s") == first == summaries.kept(memory.path)


def test_a_summary_that_two_jobs_judged_counts_once(memory, tmp_path):
    """Two processes may judge the same summary at the same time; the figures have it once all the same."""
    compacted(memory, LOST)
    summaries.judge(memory, "s")
    file = tmp_path / "store" / "health" / "summaries.jsonl"
    file.write_bytes(file.read_bytes() * 2)
    assert len(summaries.kept(memory.path)) == 2
    assert summaries.figure(memory) == "1 uncorrectable_silent"
    assert summaries.findings(memory)[0].what.startswith("1 of 1 summaries")


def test_what_keeps_a_summary_from_being_judged_keeps_no_session_open(memory, tmp_path):
    """Where the verdict cannot be kept the job says so and comes again, but the session was closed before."""
    claude = Claude(memory, tmp_path)
    claude.fire("SessionStart", source="startup")
    run_due(memory, now_ms=10**15)  # what it left to catch up would close the session too
    claude.prompt(ASKED)
    claude.says("The total is $46.")
    claude.line("user", isCompactSummary=True, message={"role": "user", "content": LOST})
    claude.fire("SessionEnd", reason="other")
    (tmp_path / "store" / "health" / "summaries.jsonl").mkdir(parents=True)
    failed = [one.job.kind for one in run_due(memory, now_ms=10**15) if one.why]
    assert jobs.CLOSE in failed
    (agent,) = agents(memory)
    assert [(one.session, one.verified) for one in agent.episodes()] == [(claude.session, True)]


def test_a_long_session_is_read_up_to_a_bound_that_is_told(memory, monkeypatch):
    """Of a session over the bound the newest part is read: the verdict is not of all of it, and says so."""
    (lost,) = compacted(memory, MADE_UP)
    monkeypatch.setattr(summaries, "CHARACTERS_MAX", 30)
    assert summaries.judge(memory, "s") == (
        Judged(lost, "s", "default", "uncorrectable_silent", "uncorrectable_silent", whole=False),
    )
    assert "the session before them" not in summaries.findings(memory)[0].what


def test_what_neither_the_summary_nor_its_session_bears_out_is_told_apart(memory):
    """A total that nothing in the session could have given is silent in both ways."""
    session = memory.session("s", agent="x")
    session.user("Please tidy the shed.")
    session.append(Kind.SUMMARY, MADE_UP)
    assert {(one.alone, one.behind) for one in summaries.judge(memory, "s")} == {("uncorrectable_silent",) * 2}
    assert summaries.findings(memory)[0].what.endswith("of 1 the session before them does not bear it out either")


def test_an_erased_summary_is_counted_no_more(memory, tmp_path):
    """Erasure takes a summary out of the figures; the file holds no word of it."""
    (lost,) = compacted(memory, LOST)
    summaries.judge(memory, "s")
    assert b"total" not in (tmp_path / "store" / "health" / "summaries.jsonl").read_bytes()
    memory.erase([lost], reason="asked")
    assert (summaries.figure(memory), summaries.findings(memory)) == ("", [])
    assert summaries.kept(memory.path) != ()


def test_the_job_behind_a_compaction_judges_and_doctor_tells(memory, tmp_path):
    """The hooks around a compaction judge nothing; the job that reads the transcript does, and doctor notes it."""
    claude = Claude(memory, tmp_path)
    claude.fire("SessionStart", source="startup")
    claude.prompt(ASKED)
    claude.says("The total is $46.")
    claude.line("user", isCompactSummary=True, message={"role": "user", "content": LOST})
    claude.fire("PostCompact", trigger="auto", compact_summary=LOST)
    claude.fire("SessionStart", source="compact")
    assert summaries.kept(memory.path) == ()
    assert [one.why for one in run_due(memory, now_ms=10**15) if one.why] == []
    (judged,) = summaries.kept(memory.path)
    assert (judged.session, judged.alone, judged.behind) == (claude.session, "uncorrectable_silent", "reachable")
    report = examine(memory.path, namespace="default", look=Look(canary=False, keep=False, measures=False))
    assert report.figures["summaries by hosts"] == "1 uncorrectable_silent"
    assert [one.severity for one in report.findings if judged.pointer in one.what] == [Severity.NOTE]
