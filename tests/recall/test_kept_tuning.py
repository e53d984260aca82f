"""How a recall reads the tuned values in force: in one look-up without any, from the log where nothing else holds."""

from __future__ import annotations

import pytest

from firsthand.event import Draft, Kind, Trust
from firsthand.recall.kept_tuning import MEDIA, SESSION, from_event, in_force, keep_tuned, to_json, tuned_of
from firsthand.recall.tuning import ORDER, UNTUNED, TuningDecision
from stores import assert_whole, open_log


@pytest.fixture
def log(tmp_path):
    """An open log with one message; it must verify when the test ends, unless the test damaged it."""
    opened = open_log(tmp_path / "store")
    opened.append([Draft(Kind.USER_MESSAGE, b"hello", trust=Trust.TRUSTED)], namespace="default", session="s")
    yield opened
    opened.close()


def decide(log, *afters: float) -> list[int]:
    """Append decisions on one value; give their positions."""
    drafts = [
        Draft(
            Kind.TUNING,
            to_json(TuningDecision("", ORDER, 0.8, after)).encode(),
            MEDIA,
            origin="firsthand",
            trust=Trust.TRUSTED,
        )
        for after in afters
    ]
    return [one.position for one in log.append(drafts, namespace="default", session=SESSION)]


def statements(log, read) -> list[str]:
    """Give the statements that a reading runs."""
    ran: list[str] = []
    log.reader.db.exec_trace = lambda _, sql, __: ran.append(sql) or True
    try:
        read()
    finally:
        log.reader.db.exec_trace = None
    return ran


def test_a_store_without_a_decision_pays_one_look_up(log):
    """Where nothing was decided one statement is run, and the defaults are given as they are."""
    log.reader.namespace_key("default")
    ran = statements(log, lambda: tuned_of(log.reader, "default"))
    assert len(ran) == 1
    assert tuned_of(log.reader, "default") is UNTUNED
    assert tuned_of(log.reader, "nobody") is UNTUNED
    assert in_force(log.reader, "default") is None
    keep_tuned(log, "default")
    keep_tuned(log, "nobody")
    assert log.reader.db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'learned'").get == 0
    assert_whole(log)


def test_kept_values_cost_as_many_statements_however_many_decisions_there_are(log):
    """What is kept is read alike behind one decision and behind many; no event is read for it."""
    decide(log, 0.9)
    keep_tuned(log, "default")
    few = statements(log, lambda: tuned_of(log.reader, "default"))
    decide(log, *([0.9, 1.0] * 40))
    keep_tuned(log, "default")
    many = statements(log, lambda: tuned_of(log.reader, "default"))
    assert many == few
    assert len(few) <= 3
    assert tuned_of(log.reader, "default").mmr_lambda == 1.0
    assert_whole(log)


def test_a_damaged_decision_is_passed_over_and_told(log):
    """A decision whose bytes are not what was written decides nothing, and no recall is lost by it."""
    first, second = decide(log, 0.9, 1.0)
    log.exclusively(lambda db: db.execute("UPDATE event SET body = x'00' WHERE position = ?", (second,)).fetchall())
    now = tuned_of(log.reader, "default")
    assert (now.mmr_lambda, now.note) == (0.9, "decisions at 1 positions cannot be read: run 'firsthand verify'")
    keep_tuned(log, "default")  # what cannot be read whole is not kept
    assert tuned_of(log.reader, "default").note
    assert [one.position for one in log.verify().problems if one.position] == [second]
    assert first < second


def test_a_decision_is_read_as_it_was_written(log):
    """Figures and words come back; an event of another kind or media is none."""
    one = TuningDecision("", ORDER, 0.8, 0.9, "better", "rule:review", "1:0:", "", {"gain": 0.25})
    content = to_json(one).encode()
    told = [(Kind.TUNING, MEDIA), (Kind.TUNING, ""), (Kind.NOTE, MEDIA)]
    drafts = [Draft(kind, content, media, trust=Trust.TRUSTED) for kind, media in told]
    log.append(drafts, namespace="default", session=SESSION)
    read = [from_event(event) for event in log.reader.events("default", session=SESSION)]
    assert read[1:] == [None, None]
    assert (read[0].name, read[0].before, read[0].after, read[0].reason, read[0].by, read[0].basis) == (
        ORDER, 0.8, 0.9, "better", "rule:review", "1:0:",
    )  # fmt: skip
    assert dict(read[0].figures) == {"gain": 0.25}
    assert_whole(log)
