"""The quality bench: it reads the sets as they are, keeps halves apart, counts as one counts by hand, and reports."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from quality import baselines, bm25, coding, counts, measures, report, sets
from quality.counts import Asked
from quality.ours import Edition
from quality.values import AGENT, USER, Event, Half, Question, Ranked, Talk

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
    first, *others = sets.READERS["locomo"](data)
    may, june = 1683554160.0, 1685700300.0
    half = first.questions[0].half
    assert first == Talk(
        "conv-1",
        (
            Event("D2:1", "I adopted a greyhound named Pixel.", "session_2", USER, "Ann", "", may),
            Event("D2:2", "Look at my kayak!", "session_2", USER, "Bo", "a red kayak on a beach", may),
            Event("D10:1", "The regatta was cancelled.", "session_10", USER, "Bo", "", june),
        ),
        (
            Question("What is Ann's dog called?", "4 single-hop", frozenset({"D2:1"}), half),
            Question("What did both plan?", "1 multi-hop", frozenset({"D2:2", "D10:1"}), half),
            Question("What is Bo's dog called?", "5 adversarial", frozenset(), half),
        ),
    )
    assert [talk.name for talk in others] == ["conv-2", "conv-3"]


def test_beam_and_longmemeval_are_read_with_their_evidence(data):
    """BEAM's evidence is messages, however nested; LongMemEval's is the sessions of a question's own conversation."""
    talk = sets.READERS["beam-100k"](data)[0]
    assert [(event.unit, event.kind) for event in talk.events] == [("0", USER), ("1", AGENT), ("2", USER)]
    evidence = {question.text: question.evidence for question in talk.questions}
    assert evidence == {"Who attended?": set(), "Which port?": {"0", "2"}, "Which month?": {"1", "2"}}
    (talk,) = sets.READERS["longmemeval"](data)
    assert [question.evidence for question in talk.questions] == [
        {"a, 2023/05/30 (Tue) 21:48", "a, 2023/05/30 (Tue) 03:52"}, {"b, 2023/05/30 (Tue) 21:48"},
    ]  # fmt: skip


def test_halves_are_of_like_size_and_decided_by_names_alone():
    """Names of an odd checksum are held back; where these are too few or too many, every second by checksum is."""
    names = [f"conv-{number}" for number in range(40)]
    assert [coding.is_held_back(name, names) for name in names] == [coding._checksum(name) % 2 == 1 for name in names]
    odd = [name for name in names if coding._checksum(name) % 2][:4]
    assert sum(coding.is_held_back(name, odd) for name in odd) == 2


def test_the_coding_questions_are_enough_and_each_is_well_formed():
    """At least 200 questions of four sets, each with a session, its own words and the indexes of its evidence."""
    asked = json.loads(sets.CODING_QUESTIONS.read_text(encoding="utf-8"))
    assert len(asked) >= 200
    assert {entry["set"] for entry in asked} == set(coding.READERS)
    assert all(entry["question"] and entry["session"] and entry["evidence"] for entry in asked)
    assert all(isinstance(index, int) and index >= 0 for entry in asked for index in entry["evidence"])


def test_a_session_of_swe_agent_is_thought_command_and_observation(tmp_path):
    """Events are numbered within their session, and a command and its observation share an id."""
    (tmp_path / "swe-agent").mkdir()
    step = {"thought": "Look.", "action": "ls", "observation": ""}
    recording = {"history": [{"role": "user", "content": "An issue."}], "trajectory": [step]}
    (tmp_path / "swe-agent" / "a__b-1.traj").write_text(json.dumps(recording))
    events = coding.sessions(tmp_path, "swe")["a__b-1"]
    assert [(one.index, one.kind, one.text, one.call) for one in events] == [
        (0, "user_message", "An issue.", ""), (1, "agent_message", "Look.", ""),
        (2, "tool_call", '{"command": "ls"}', "a__b-1-0"), (3, "tool_result", "(no output)", "a__b-1-0"),
    ]  # fmt: skip


def test_statement_pairs_are_whole():
    """Fifty pairs of different statements with a question of other words."""
    folder = sets.CODING_QUESTIONS.parent
    pairs = json.loads((folder / "statement_pairs.json").read_text(encoding="utf-8"))
    assert len({name for name, *_ in pairs}) == len(pairs) == 50
    assert all(len({old, new, question}) == 3 for _, old, new, question in pairs)


EVENTS = [Event(unit, unit * 100, "s") for unit in "abcdefghijklmnop"]


@pytest.mark.parametrize(("numbers", "evidence", "expected"), [
    ([1, 0], "a", (1.0, 1.0, 1.0, 0.5, 1.0)),
    ([3, 4, 5, 0], "ab", (0.5, 0.0, 1.0, 0.25, 0.0)),  # 250 characters hold two whole events
    ([*range(10, 0, -1)], "z", (0.0, 0.0, 0.0, 0.0, 0.0)),
])  # fmt: skip
def test_a_ranking_is_counted_as_by_hand(numbers, evidence, expected):
    """Recall among ten, any evidence among three and ten, its reciprocal rank, and any in as many characters."""
    ranked = {"theirs": Ranked(tuple(numbers)), "ours": Ranked((0,), shown=(250,))}
    asked = Asked(Question("?", "g", frozenset(evidence), Half.DEVELOPMENT), EVENTS, ranked)
    assert counts.counted(asked, "theirs", "ours") == expected


def test_an_interval_of_a_share_is_that_of_its_binomial():
    """The bootstrap interval of 40 of 100 is the binomial's, and of equal values has no width."""
    found = measures.estimate([1.0] * 40 + [0.0] * 60)
    assert (found.low, found.high) == pytest.approx((0.40 - 0.096, 0.40 + 0.096), abs=0.012)
    same = measures.estimate([0.5] * 9)
    assert (same.mean, same.low, same.high) == pytest.approx((0.5, 0.5, 0.5))


def test_the_area_counts_pairs_and_ties_half():
    """The area under the curve is the share of pairs in the right order."""
    assert measures.separation([0.9, 0.6, 0.4], [0.6, 0.3, 0.2, 0.1]) == pytest.approx((4 + 3.5 + 3) / 12)


def test_bm25_is_the_textbook_formula():
    """One term that stands twice in the shorter of two documents scores as on paper."""
    words = bm25.BM25([["cat", "cat"], ["dog"] * 4])
    idf = np.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert words.scores(["cat"]) == pytest.approx([idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 2 / 3)), 0])


@pytest.mark.parametrize(("asked", "numbers"), [
    ("datavar", [0]), ("reading of files", [1]), ("what has b_c.py", [2]), ("the", []), ("关于支付", [4]),
])  # fmt: skip
def test_the_words_of_bm25_are_those_of_our_index(asked, numbers):
    """Names are found by their parts, files by the end of a path, text without spaces by signs; stop words by none."""
    cut = bm25.stems()
    texts = ("calls summarize_datavar", "class ReadFile", "open src/a/b_c.py", "a b c of the py", "我们把支付服务迁移")
    scores = bm25.BM25([cut(text) for text in texts]).scores(cut(asked))
    assert scores.argsort()[::-1][: len(numbers)].tolist() == numbers
    assert scores.any() == bool(numbers)


def test_the_strong_baseline_knows_neighbours_speakers_and_dates():
    """A message without the words is found beside one that has them; a named speaker and a date count."""
    events = [
        Event("0", "the harbour master called", "s", speaker="Ann"), Event("1", "kill this", "s", speaker="Bo"),
        Event("2", "the harbour master called", "t", speaker="Bo"), Event("3", "lunch", "t", time=1683554160.0),
    ]  # fmt: skip
    strong = bm25.Strong(events, str.split)
    scores = strong.scores("harbour")
    assert scores[1] > 0
    assert strong.scores("what did ann say of harbour")[0] > strong.scores("what did ann say of harbour")[2]
    assert strong.scores("May")[3] > 0


def test_every_baseline_ranks_every_question():
    """All methods give at most a hundred events a question, best first, and words none without a word."""
    questions = [Question(text, "g", frozenset("a"), Half.DEVELOPMENT) for text in ("aaaa", "zebra")]

    def letters(texts):
        counted = np.array([[text.count(chr(97 + k)) + 0.01 for k in range(26)] for text in texts], np.float32)
        return counted / np.linalg.norm(counted, axis=1, keepdims=True)

    ranked = baselines.rank(EVENTS, questions, lambda text: [text[:4]], letters)
    assert set(ranked) == set(baselines.NAMES)
    assert [ranked[name][0].numbers[0] for name in baselines.NAMES] == [0] * len(baselines.NAMES)
    assert ranked[baselines.WORDS][1].numbers == ()


def test_pieces_are_whole_lines_and_lose_nothing():
    """A text's pieces joined are the text; none is longer than asked, and lines stay whole where they fit."""
    text = "".join(f"line {number} {'x' * (number % 90)}\n" for number in range(100)) + "y" * 2_500
    found = list(baselines.pieces(text))
    assert "".join(found) == text
    assert max(map(len, found)) <= baselines.PIECE_CHARACTERS
    assert found[0].endswith("\n")


def test_a_set_is_measured_in_a_process_and_reported(data, tmp_path):
    """A talk's events are found again by number, and the report shows what was counted of them."""
    talk = sets.READERS["locomo"](data)[0]
    ranked = Edition("Firsthand", Path(sys.executable)).ask(tmp_path, talk.events, talk.questions)
    assert ranked[0].numbers[0] == 0
    assert len(ranked[0].shown) == len(ranked[0].numbers)
    assert not [folder for folder in tmp_path.iterdir() if folder.name.startswith("store-")]
    words = baselines.rank(talk.events, talk.questions, lambda text: text.lower().split(), None)[baselines.WORDS]
    asked = [
        Asked(question, talk.events, {"Firsthand": ours, baselines.WORDS: theirs})
        for question, ours, theirs in zip(talk.questions, ranked, words, strict=True)
    ]
    quality = counts.quality(asked, ["Firsthand"])
    bands = {"Firsthand": counts.bands(asked, "Firsthand", [baselines.WORDS])}
    (half,) = quality
    assert quality[half]["n"] == 2
    shown = report.markdown(
        {"locomo": {"measured": "`here`", "events": 3, "stores": 1, "quality": quality, "bands": bands}}
    )
    mean = quality[half]["methods"]["Firsthand"]["recall@10"]["mean"]
    assert f"| Firsthand | {mean:.3f}".replace("0.", ".", 1) in shown
    assert sum(row["of kind"]["5 adversarial"] for row in bands["Firsthand"][half]["bands"].values()) == 1
    assert "| n unanswerable | of all such | of 5 adversarial |" in shown


def test_the_committed_report_is_made_of_the_committed_figures():
    """bench/QUALITY.md is what bench/quality.json gives."""
    figures = json.loads((BENCH / "quality.json").read_text(encoding="utf-8"))
    assert (BENCH / "QUALITY.md").read_text(encoding="utf-8") == report.markdown(figures)
