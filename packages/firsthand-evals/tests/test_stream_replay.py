"""evals/stream/replay.py and replay_pack.py: a public record of a rewritten memory, scored from files of its layout."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import FormatError, InvalidArgument, SourceRejected
from firsthand_evals.stream import replay, replay_pack
from firsthand_evals.stream.packs import Options
from firsthand_evals.stream.replay import CUMULATIVE, EMPTY, RETRIEVED, mcnemar

STATES = [
    "Version 1.0: 12 dozen, see below\nThe first long line stands here.\nshort",
    "Version 1.1: 12 dozen and 3.75\nThe first long line stands here.\nThe second long line is new.",
    "nothing but 3.75",
]


def written(
    folder: Path, variant: str, answers: list[str], states: list[str] | None = None, model: str = "m-1"
) -> Path:
    """Write a result file as the record has it: a line a question, with its answer and what became of the memory."""
    file = folder / "results" / "SET_1" / f"{model}_{variant}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"raw_input": f"question {at}", "target": str(at), "final_answer": answer,
         "steps": [{"new_cheatsheet": states[at] if states else "(empty)"}]}
        for at, answer in enumerate(answers)
    ]  # fmt: skip
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def record(tmp_path):
    written(tmp_path, CUMULATIVE, ["0", "1 ", "x"], STATES)
    written(tmp_path, EMPTY, ["0", "y", "2"])
    return tmp_path


def test_a_stream_is_scored_from_its_files(record):
    """Answers are compared with the target, states with later states, by number and by line, word for word."""
    (found,) = replay.streams(record)
    assert (found.name, found.characters) == ("SET_1 m-1", tuple(map(len, STATES)))
    assert found.right == {EMPTY: (True, False, True), CUMULATIVE: (True, True, False)}
    assert (found.regressed.hits, found.regressed.n, found.by_chance) == (1, 2, 1.0)
    assert found.halved == (2,)
    assert [(one.updates, one.stood, one.n) for one in found.numbers.survives] == [
        (1, 1, 2),
        (5, 0, 0),
        (10, 0, 0),
        (20, 0, 0),
    ]
    assert (found.numbers.ever, found.numbers.left) == (1, 0)
    assert [(one.stood, one.n) for one in found.lines.survives][:1] == [(1, 5)]
    assert (found.lines.ever, found.lines.left) == (4, 0)
    assert replay.streams(record / "results") == (found,)


def test_numbers_and_lines_are_exact_content():
    """Two digits or more, with what stands after the point; no part of a word, and no version; lines of some length."""
    assert replay.numbers("12, 3.5 and 44.5 of x11, the 13th, 1.0, 2.25; 7; 100.") == {"12", "44.5", "100"}
    assert replay.lines("short\n  a line that is long enough \n") == {"a line that is long enough"}


def test_quarters_cover_the_stream(record):
    """Whatever the number of questions, the quarters count every right answer once."""
    (found,) = replay.streams(record)
    assert sum(found.quarters(CUMULATIVE)) == 2
    assert found.quarters(EMPTY) == (1, 0, 0, 1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_two_sided_sign_test(won, lost):
    """It is symmetric, a probability, one where both are alike, and twice the tail of a fair coin."""
    found = mcnemar(won, lost)
    assert found == mcnemar(lost, won)
    assert 0 < found <= 1
    tail = sum(comb(won + lost, at) for at in range(min(won, lost) + 1)) * 2 / 2 ** (won + lost)
    assert found == pytest.approx(min(1.0, tail))
    assert mcnemar(16, 5) == pytest.approx(0.0266, abs=1e-4)


def test_files_that_are_not_of_the_layout_are_refused(tmp_path, record):
    """No folder, no stream, no empty memory beside it, other questions, no JSON, a missing field: each says which."""
    with pytest.raises(InvalidArgument, match="--data DIR"):
        replay_pack.run(Options())
    with pytest.raises(SourceRejected, match="found 0"):
        replay.streams(tmp_path / "none")
    alone = tmp_path / "alone"
    file = written(alone, CUMULATIVE, ["0"], STATES)
    with pytest.raises(SourceRejected, match="EmptyCheatsheet"):
        replay.streams(alone)
    written(alone, EMPTY, ["0", "1"])
    with pytest.raises(FormatError, match="same questions"):
        replay.streams(alone)
    written(alone, EMPTY, ["0"])
    for text, told in (
        ("{", "should be JSON"), ("[1]", "should be an object"), ('{"steps": []}', "new_cheatsheet"),
        ('{"steps": [{"new_cheatsheet": "a"}]}', "no 'raw_input'"),
    ):  # fmt: skip
        file.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match=told):
            replay.streams(alone)


def test_the_pack_tells_what_was_found_and_checks_what_is_known(record, monkeypatch):
    """Tables, page and records have the stream; a stream whose figures were noted is compared with them."""
    written(record, RETRIEVED, ["0", "1", "2"])
    found = replay_pack.run(Options(data=record))
    assert found.sections[0].rows[1] == (
        "SET_1 m-1",
        "3",
        "2",
        "3",
        "-",
        "2",
        str(replay.streams(record)[0].regressed),
        "1.000",
    )
    assert found.sections[1].rows[1][1:6] == ("0.50", "-", "-", "-", "0 of 1")
    assert (found.headline, list(found.failed)) == ("no check was asked (1 streams of public data)", [])
    assert "| SET_1 m-1 | 3 | 2 | 3 | - | 2 | " in found.markdown()
    assert "<td>SET_1 m-1</td>" in found.html()
    noted = ((2, 2, 1), (0.5, 0.0, 0.0, 0.0), (0.2, 0.0, 0.0, 0.0), ())
    monkeypatch.setitem(replay_pack.NOTED, "SET_1 m-1", noted)
    assert replay_pack.run(Options(data=record)).failed == []
    monkeypatch.setitem(replay_pack.NOTED, "SET_1 m-1", ((2, 3, 1), *noted[1:]))
    assert replay_pack.run(Options(data=record)).failed[0].startswith("D0 FAILED")


def test_a_memory_that_keeps_its_lines_fails_the_check_of_loss(tmp_path):
    """D1 fails for a record in which everything stands after ten updates."""
    states = [STATES[0]] * 12
    written(tmp_path, CUMULATIVE, ["0"] * 12, states)
    written(tmp_path, EMPTY, ["0"] * 12)
    (told,) = replay_pack.run(Options(data=tmp_path)).failed
    assert told.startswith("D1 FAILED")
