"""The quality bench: it reads the sets as they are, counts as one counts by hand, and shows what was measured."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from firsthand import Kind, Memory, moment
from quality import baselines, hops, measures, ours, report, sets, whole
from quality.bm25 import BM25
from quality.ours import Attempts
from quality.values import Half, Question, Said, Talk

BENCH = Path(__file__).parents[1] / "bench"

# a generated data set in the sets' shapes ----------------------------------------------------------------


def turn(dia_id: str, speaker: str, text: str, **more: str) -> dict:
    return {"dia_id": dia_id, "speaker": speaker, "text": text, **more}


LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_10": [turn("D10:1", "Bo", "The regatta was cancelled.")],
            "session_10_date_time": "10:05 am on 2 June, 2023",
            "session_2": [
                turn("D2:1", "Ann", "I adopted a greyhound named Pixel."),
                turn("D2:2", "Bo", "Look at my kayak!", blip_caption="a red kayak on a beach"),
            ],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_3_date_time": "1:00 pm on 9 May, 2023",
        },
        "qa": [
            {"question": "What is Ann's dog called?", "category": 4, "evidence": ["D2:1"], "answer": "Pixel"},
            {"question": "What did both plan?", "category": 1, "evidence": ["D2:2; D10:1"], "answer": "a regatta"},
            {
                "question": "What is Bo's dog called?",
                "category": 5,
                "evidence": ["D2:1"],
                "adversarial_answer": "Pixel",
            },
            {"question": "Is there any?", "category": 3, "evidence": ["D9:1"], "answer": "no"},
        ],
    },
    {
        "sample_id": "conv-2",
        "conversation": {
            "session_1": [
                turn("D1:1", "Cy", "My viola lesson moved to Thursday."),
                turn("D1:2", "Di", "I repainted the greenhouse."),
            ],
            "session_1_date_time": "12:30 am on 1 January, 2023",
        },
        "qa": [{"question": "When is the viola lesson?", "category": 2, "evidence": ["D1:1"], "answer": "Thursday"}],
    },
    {
        "sample_id": "conv-3",
        "conversation": {
            "session_1": [turn("D1:1", "Eve", "My ferry leaves at six.")],
            "session_1_date_time": "9:00 am on 3 March, 2023",
        },
        "qa": [{"question": "When does the ferry leave?", "category": 4, "evidence": ["D1:1"], "answer": "six"}],
    },
]
BEAM_CHAT = [
    {
        "batch_number": 1,
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "Plan the launch."},
                {"role": "assistant", "id": 1, "content": "Launch in April."},
            ],
            [{"role": "user", "id": 2, "content": "Use port 8443."}],
        ],
    }
]
BEAM_QUESTIONS = {
    "abstention": [{"question": "Who attended?"}],
    "knowledge_update": [
        {"question": "Which port?", "source_chat_ids": {"original_info": [0], "updated_info": [2, 77]}},
        {"question": "Which month?", "source_chat_ids": [1, [2]]},
        {"question": "No sources here?", "source_chat_ids": []},
    ],
}
LONGMEMEVAL = {
    "data": [
        {
            "id": "a",
            "question_type": "temporal-reasoning",
            "conversation": [
                {"role": "user", "content": "I bought plugs.", "date": "2023/05/30 (Tue) 21:48"},
                {"role": "assistant", "content": "Well done.", "date": "2023/05/30 (Tue) 03:52"},
            ],
            "questions": [{"id": "q1", "question": "What did I buy?", "answer": "plugs"}],
        },
        {
            "id": "b",
            "question_type": "multi-session",
            "conversation": [{"role": "user", "content": "Hello.", "date": "2023/05/30 (Tue) 21:48"}],
            "questions": [{"id": "q1", "question": "What did I say?", "answer": "Hello"}],
        },
    ]
}


@pytest.fixture
def data(tmp_path):
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "some.json").write_text(json.dumps(LOCOMO))
    (tmp_path / "longmemeval").mkdir()
    (tmp_path / "longmemeval" / "some.json").write_text(json.dumps(LONGMEMEVAL))
    for number in ("1", "2"):
        folder = tmp_path / "beam-100k" / number
        (folder / "probing_questions").mkdir(parents=True)
        (folder / "chat.json").write_text(json.dumps(BEAM_CHAT))
        (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(BEAM_QUESTIONS))
    return tmp_path


def test_locomo_is_read_turn_by_turn(data):
    """A turn is an event with speaker, caption and time; evidence that is no turn is left out, category 5 has none."""
    first, second, third = sets.READERS["locomo"](data)
    may, june = moment.parse("2023-05-08T13:56:00Z"), moment.parse("2023-06-02T10:05:00Z")
    assert first == Talk(
        "conv-1",
        (
            Said("D2:1", "I adopted a greyhound named Pixel.", "session_2", "Ann", "", may),
            Said("D2:2", "Look at my kayak!", "session_2", "Bo", "a red kayak on a beach", may),
            Said("D10:1", "The regatta was cancelled.", "session_10", "Bo", "", june),
        ),
        (
            Question("What is Ann's dog called?", "4 single-hop", frozenset({"D2:1"})),
            Question("What did both plan?", "1 multi-hop", frozenset({"D2:2", "D10:1"})),
            Question("What is Bo's dog called?", "5 adversarial"),
        ),
        Half.TUNED,
    )
    assert third.half is Half.TUNED
    assert (second.half, second.said[0].time) == (Half.HELD_OUT, moment.parse("2023-01-01T00:30:00Z"))
    assert first.said[1].plain == "Bo: Look at my kayak! [shares image: a red kayak on a beach]"


def test_beam_is_read_message_by_message(data):
    """A message is an event at the last anchor before it; sources come as a list or as lists by name."""
    first, second = sets.READERS["beam-100k"](data)
    march = moment.parse("2024-03-15T00:00:00Z")
    assert first == Talk(
        "beam-100k-1",
        (
            Said("0", "Plan the launch.", "batch-1", time=march),
            Said("1", "Launch in April.", "batch-1", time=march, user=False),
            Said("2", "Use port 8443.", "batch-1", time=march),
        ),
        (
            Question("Who attended?", "abstention"),
            Question("Which port?", "knowledge_update", frozenset({"0", "2"})),
            Question("Which month?", "knowledge_update", frozenset({"1", "2"})),
        ),
        Half.TUNED,
    )
    assert second == replace(first, name="beam-100k-2", half=Half.HELD_OUT)


def test_longmemeval_is_one_talk_whose_units_are_sessions(data):
    """All conversations share one store, and a question's evidence is the sessions of its own conversation."""
    (talk,) = sets.READERS["longmemeval"](data)
    units = ["a, 2023/05/30 (Tue) 21:48", "a, 2023/05/30 (Tue) 03:52", "b, 2023/05/30 (Tue) 21:48"]
    assert [(one.unit, one.session, one.user) for one in talk.said] == [
        (units[0], units[0], True),
        (units[1], units[1], False),
        (units[2], units[2], True),
    ]
    assert talk.questions == (
        Question("What did I buy?", "temporal-reasoning", frozenset(units[:2])),
        Question("What did I say?", "multi-session", frozenset(units[2:])),
    )


# measures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("units", "evidence", "expected"),
    [
        ("abcdefghij", "a", (1, 1, 1, 1, 1)),
        ("xyzabcdefg", "abz", (1, 1, 1 / 3, 1, 1)),
        ("xyzwuabcde", "aq", (0, 0.5, 1 / 6, 1, 0)),
        ("xyzwvutsrqa", "a", (0, 0, 0, 0, 0)),
        ("ssasb", "sab", (1, 1, 1, 1, 1)),
        ("", "a", (0, 0, 0, 0, 0)),
    ],
)
def test_a_ranking_is_counted_as_by_hand(units, evidence, expected):
    """recall@5, recall@10, MRR@10, any and all are those of hand-counted rankings; an eleventh hit is not seen."""
    assert measures.counted(tuple(units), frozenset(evidence)) == pytest.approx(expected)


def test_an_interval_of_a_share_is_that_of_its_binomial():
    """The interval of 30 in 100 lies where the normal approximation has it, and the same values give the same one."""
    row = [1.0] * 30 + [0.0] * 70
    found = measures.estimate(row)
    spread = 1.96 * math.sqrt(0.3 * 0.7 / 100)
    assert (found.mean, found.count) == (0.3, 100)
    assert (found.low, found.high) == pytest.approx((0.3 - spread, 0.3 + spread), abs=0.015)
    assert measures.estimate(row) == found


def test_a_difference_is_paired():
    """Methods that differ by the same amount on every question differ surely, however the questions differ."""
    theirs = [number % 7 / 10 for number in range(50)]
    better = measures.difference([one + 0.1 for one in theirs], theirs)
    assert (better.low, better.mean, better.high) == pytest.approx((0.1, 0.1, 0.1))
    assert better.detectable
    assert not measures.difference(theirs, theirs).detectable


def test_bm25_is_the_textbook_formula():
    """Scores are those worked out by hand: idf = ln(1 + 1.5/2.5); tf parts 2.2/2.2 and 4.4/3.65 at mean length 2."""
    index = BM25([["a", "b"], ["a", "a", "c"], ["d"]])
    idf = math.log(1.6)
    assert index.scores(["a"]) == pytest.approx([idf, idf * 4.4 / 3.65, 0])
    assert index.scores(["a", "a", "unknown"]) == pytest.approx([2 * idf, 2 * idf * 4.4 / 3.65, 0])


def test_thresholds_and_areas_are_those_counted_by_hand():
    """The area counts pairs, ties half; a false share allows so many negatives and no more; Youden's J is the best."""
    positive, negative = [0.9, 0.6, 0.4], [0.6, 0.3, 0.2, 0.1]
    assert measures.separation(positive, negative) == pytest.approx((4 + 3.5 + 3) / 12)
    assert measures.at_false_share(positive, negative, 0.0) == pytest.approx(1 / 3)
    assert measures.at_false_share(positive, negative, 0.25) == 1
    assert measures.best_threshold(positive, negative) == 0.4
    assert [measures.false_share_at(positive, negative, share) for share in (0, 1 / 3, 2 / 3, 1)] == [0, 0, 0.25, 0.25]


def test_proposition_one_is_measured_as_stated():
    """p, the bound [1 - (1 - p)^2]^K, both attempts together and their dependence are those counted by hand."""
    questions = [
        Question("one", "g", frozenset("a")),
        Question("two", "g", frozenset("bc")),
        Question("three", "g", frozenset("d")),
    ]
    attempts = [
        Attempts(tuple("ax"), tuple("yz"), tuple("ax"), 2),  # found at once
        Attempts(tuple("bx"), tuple("cz"), tuple("bxc"), 2),  # complete in two
        Attempts(tuple("d"), (), tuple("d"), 1),  # no second attempt was made: not counted
    ]
    found = hops.proposition(questions, attempts)
    p = 2 / 3
    assert {key: found[key] for key in ("questions", "with a second attempt", "events", "p")} == {
        "questions": 3, "with a second attempt": 2, "events": 3, "p": pytest.approx(p),
    }  # fmt: skip
    two = 1 - (1 - p) ** 2
    means = [found[key].mean for key in ("bound", "one attempt", "two attempts", "one of twice the hits")]
    assert means == pytest.approx([(two + two**2) / 2, 0.5, 1.0, 1.0])
    assert found["second misses"] == pytest.approx(2 / 3)
    assert found["second misses what the first missed"] == 0


# the whole -------------------------------------------------------------------------------------------


def letters(texts):
    """Embed a text as its counts of letters: a small embedder that is one."""
    counts = np.array([[text.lower().count(chr(97 + k)) + 0.01 for k in range(26)] for text in texts], np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture
def setting(tmp_path):
    return whole.Setting(
        tmp_path,
        letters,
        lambda text: text.lower().replace("?", "").split(),
        ours.configurations([ours.PLAIN], tmp_path),
        None,
    )


@pytest.fixture
def measured(data, setting):
    return whole.measure("locomo", sets.READERS["locomo"](data), setting)


def test_ours_is_asked_through_the_public_interface(data, tmp_path):
    """A talk's events are found again by number, with their speaker and caption, and the hits' units are theirs."""
    talk = sets.READERS["locomo"](data)[0]
    asked = (Question("beach", "g", frozenset({"D2:2"})), Question("zzyzx qwrt", "g"))
    told = ours.told(ours.configurations([ours.PLAIN], tmp_path)[0], tmp_path / "store", talk, asked)
    assert told.ranked[0].numbers[0] == 1
    assert told.ranked[0].units(talk.said)[0] == "D2:2"
    assert (told.ranked[1].numbers, told.ranked[1].outcome) == ((), "absent")
    assert [(one.first[0], one.wide[0]) for one in told.attempts] == [("D2:2", "D2:2")]
    with Memory.open(tmp_path / "store") as memory:
        assert [(one.agent, one.time, one.kind) for one in memory.events("session_10")] == [
            ("Bo", talk.said[2].time, Kind.USER_MESSAGE)
        ]


def test_a_set_is_measured_whole(measured):
    """Every method is asked the same questions: those of each talk and those of the other, and found is counted."""
    assert (measured["events"], measured["talks"]) == (6, {"tuned": 2, "held out": 1})
    assert measured["quality"]["n"] == {"all": 4, "tuned": 3, "held out": 1}
    assert list(measured["quality"]["methods"]) == [*whole.BASELINES, ours.PLAIN]
    words = measured["quality"]["methods"][baselines.WORDS]["held out"]["recall@10"]
    assert words == {"mean": 1.0, "low": 1.0, "high": 1.0, "count": 1}
    mine = measured["sureness"][ours.PLAIN]
    assert {kind: mine[kind]["n"] for kind in ("5 adversarial", "foreign")} == {"5 adversarial": 1, "foreign": 4}
    assert json.loads(json.dumps(measured)) == measured


def test_the_report_shows_the_figures_of_its_json_and_no_others(measured):
    """Another figure in the JSON is another figure in the report, in the method's row."""
    whole_report = {"targets": [], "sets": {"locomo": measured | {"measured": "by a test."}}}
    before = report.markdown(whole_report)
    changed = json.loads(json.dumps(whole_report))
    shown = changed["sets"]["locomo"]["quality"]["methods"][baselines.WORDS]["all"]["MRR@10"]
    shown |= {"mean": 0.123, "low": 0.101, "high": 0.145}
    after = report.markdown(changed)
    different = [(a, b) for a, b in zip(before.splitlines(), after.splitlines(), strict=True) if a != b]
    assert len(different) == 1
    assert different[0][1].startswith(f"| {baselines.WORDS} |")
    assert ".123 [.101, .145]" in different[0][1]


def test_targets_are_judged_on_the_held_out_talks():
    """The target is met or not by the held-out difference, whatever all talks say."""
    spread = {"low": 0.0, "high": 0.2, "count": 3}
    rows = {
        part: {"recall@10": spread | {"mean": mean}}
        for part, mean in (("all", 0.2), ("tuned", 0.3), ("held out", 0.06))
    }
    differences = {ours.PLAIN: {baselines.WORDS: rows}}
    (one,) = report.targets({"locomo": {"quality": {"differences": differences, "methods": {}}}})
    assert (one["wanted"], one["held out"]["mean"]) == (0.07, 0.06)
    assert "| NO |" in report.markdown({"targets": [one], "sets": {}})


def test_the_committed_report_is_made_of_the_committed_figures():
    """QUALITY.md is what the report makes of quality.json."""
    figures = json.loads((BENCH / "quality.json").read_text(encoding="utf-8"))
    assert (BENCH / "QUALITY.md").read_text(encoding="utf-8") == report.markdown(figures)
