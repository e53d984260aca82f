"""Collections of conversations: LoCoMo, BEAM, LongMemEval, and IRC logs."""

from __future__ import annotations

import json

import pytest
from host_suite import HostSuite
from readings import drafts, read, told

from firsthand.event import Trust
from firsthand.moment import parse
from firsthand_evals.importers.conversations import Beam, Irc, Locomo, LongMemEval, anchor_time, dated, spoken_time

LOCOMO = [
    {
        "qa": [{"question": "the question", "answer": "the answer", "evidence": ["D1:2"], "category": 1}],
        "conversation": {
            "speaker_a": "Ada", "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "Hey Bob é"},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Look", "img_url": ["u"], "blip_caption": "a red door",
                 "query": "door"},
            ],
            "session_2_date_time": "12:05 am on 1 June, 2023",
            "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "Back"}],
        },
        "session_summary": {"session_1_summary": "the summary"},
        "sample_id": f"conv-{number}",
    }
    for number in (1, 2)
]  # fmt: skip
BEAM = [
    {"batch_number": 1, "time_anchor": None, "turns": [
        [{"role": "user", "id": 0, "content": "plan it"}, {"role": "assistant", "id": 1, "content": "ok"}],
        [{"role": "user", "id": 2, "time_anchor": "March-15-2024", "index": "1,1", "content": "again"}],
    ]},
    {"batch_number": 2, "turns": [[{"role": "assistant", "id": 3, "content": "done"}]]},
]  # fmt: skip
BEAM = [{"batch_number": b["batch_number"], "turns": b["turns"], "time_anchor": None} for b in BEAM]
LONG = {"source": "x", "data": [
    {"id": "q-1", "question_type": "t", "conversation": [
        {"role": "user", "content": "breakfast?", "date": "2023/05/30 (Tue) 21:48"},
        {"role": "assistant", "content": "oats", "date": "2023/05/30 (Tue) 21:48"},
    ], "questions": [{"question": "the question", "answer": "the answer"}]},
]}  # fmt: skip
IRC = b"""=== ada [~ada@host]  has joined #x
[23:58] <ada> does anybody know port 8080?
[23:59]  * bob shrugs \xe9
=== bob is now known as bob_
[00:01] <ada> never mind

[00:02] odd line
"""


def dump(value: object) -> bytes:
    return json.dumps(value).encode()


def test_locomo_gives_each_conversation_as_a_session_with_speakers_and_times():
    """A line is its exact text; who said it is the agent; a shared picture is told by its caption."""
    data = dump(LOCOMO)
    found = read(Locomo(), "/x/l.json", data)
    assert [r.record.session for r in found] == ["conv-1"] * 3 + ["conv-2"] * 3
    assert b"the summary" in found[2].record.raw  # what follows a conversation stays with it
    assert b"conv-1" not in found[3].record.raw
    made = drafts(Locomo(), "/x/l.json", data)[:4]
    assert [(d.kind, d.agent, d.content, d.meta["dia_id"], str(d.time)) for d in made] == [
        ("user_message", "Ada", "Hey Bob é".encode(), "D1:1", "2023-05-08T13:56:00.000Z"),
        ("user_message", "Bob", b"Look", "D1:2", "2023-05-08T13:56:00.000Z"),
        ("attachment", "Bob", b"a red door", "D1:2", "2023-05-08T13:56:00.000Z"),
        ("user_message", "Ada", b"Back", "D2:1", "2023-06-01T00:05:00.000Z"),
    ]
    assert made[2].meta == {"dia_id": "D1:2", "query": "door", "img_url": ["u"], "described": True}
    assert {d.trust for d in made} == {Trust.UNTRUSTED}


@pytest.mark.parametrize(("host", "path", "value"), [(Locomo(), "l.json", LOCOMO), (LongMemEval(), "e.json", LONG)])
def test_questions_answers_and_summaries_are_in_no_content(host, path, value):
    """What a collection asks about a conversation is no part of it, and is not found in its place."""
    made = drafts(host, path, dump(value))
    assert not any(words in d.content for d in made for words in (b"the question", b"the answer", b"the summary"))


def test_beam_is_one_session_named_by_its_folders():
    """Messages in order; the last time anchor dates what follows it."""
    path = "/data/beam-100k/3/chat.json"
    made = drafts(Beam(), path, dump(BEAM))
    assert [(d.kind, d.content, d.meta["chat_id"], d.time) for d in made] == [
        ("user_message", b"plan it", 0, None),
        ("agent_message", b"ok", 1, None),
        ("user_message", b"again", 2, parse("2024-03-15")),
        ("agent_message", b"done", 3, parse("2024-03-15")),
    ]
    assert Beam().session(path, b"") == "beam-100k/3"


def test_longmemeval_gives_each_item_as_a_session():
    """Messages with their date; the session is the item's id."""
    (first, second) = read(LongMemEval(), "e.json", dump(LONG))
    assert told(first.record.drafts + second.record.drafts) == [
        ("user_message", b"breakfast?"),
        ("agent_message", b"oats"),
    ]
    assert first.record.session == second.record.session == "q-1"
    assert first.record.drafts[0].time == parse("2023-05-30T21:48")


def test_an_irc_log_names_its_speakers_and_passes_midnight():
    """Nick, words and time of each line; notices and odd lines are kept whole; bytes outside of UTF-8 too."""
    path = "/x/2011-05-29_19.ascii.txt"
    made = drafts(Irc(), path, IRC)
    assert [(d.kind, d.agent, d.content, d.time and str(d.time)) for d in made] == [
        ("session", "", b"=== ada [~ada@host]  has joined #x", None),
        ("user_message", "ada", b"does anybody know port 8080?", "2011-05-29T23:58:00.000Z"),
        ("user_message", "bob", "bob shrugs é".encode(), "2011-05-29T23:59:00.000Z"),
        ("session", "", b"=== bob is now known as bob_", "2011-05-29T23:59:00.000Z"),
        ("user_message", "ada", b"never mind", "2011-05-30T00:01:00.000Z"),
        ("other", "", b"[00:02] odd line", "2011-05-30T00:01:00.000Z"),
    ]
    assert made[2].meta == {"action": True}
    assert Irc().session(path, b"") == "2011-05-29_19"


def test_the_last_line_of_a_log_is_torn_until_it_ends():
    """Half a line is left for the next time, and kept when no more will come."""
    cut = IRC[:-3]
    assert [reading.torn for reading in read(Irc(), "/x/c.log", cut)][-2:] == [False, True]
    assert not read(Irc(), "/x/c.log", cut, final=True)[-1].torn


def test_a_log_without_a_day_in_its_name_has_no_times():
    """A clock without a day is no time."""
    assert {d.time for d in drafts(Irc(), "/x/channel.log", IRC)} == {None}


def test_an_irc_log_is_read_on_with_the_day_it_had_reached():
    """Resumed after midnight, the next line lies on the next day; earlier states are not changed by reading on."""
    path = "/x/2011-05-29.log"
    found = read(Irc(), path, IRC)
    states = [json.dumps(reading.state, sort_keys=True) for reading in Irc().read([IRC], Irc_source(path))]
    assert states == [json.dumps(reading.state, sort_keys=True) for reading in found]
    half = found[4]
    rest = IRC[half.offset_bytes + len(half.record.raw) :] + b"[00:03] <ada> bye\n"
    resumed = Irc_source(path, half.offset_bytes + len(half.record.raw), half.state)
    assert str(list(Irc().read([rest], resumed))[-1].record.drafts[0].time) == "2011-05-30T00:03:00.000Z"


def Irc_source(path: str, offset: int = 0, state=None):  # noqa: N802
    from firsthand.hosts.transcript import Source

    return Source(path, IRC, offset, state or {})


@pytest.mark.parametrize(
    ("read_as", "told_as", "moment"),
    [
        (spoken_time, "1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
        (spoken_time, "12:00 am on 29 February, 2024", "2024-02-29"),
        (spoken_time, "12:30 pm on 1 June, 2023", "2023-06-01T12:30"), (anchor_time, "March-15-2024", "2024-03-15"),
        (dated, "2023/05/30 (Tue) 21:48", "2023-05-30T21:48"),
    ],
)  # fmt: skip
def test_times_are_read_as_they_are_told(read_as, told_as, moment):
    """Each collection's way to write a time is read exactly."""
    assert read_as(told_as) == parse(moment)
    assert parse(moment) is not None


@pytest.mark.parametrize(
    "told_as", ["", "yesterday", "13:56 on 8 May, 2023", "1:56 pm on 30 Mai, 2023", "Foo-15-2024", "x"]
)
def test_what_is_no_time_is_none(told_as):
    """A time that cannot be read is unknown, not guessed."""
    assert [read_as(told_as) for read_as in (spoken_time, anchor_time, dated)] == [None, None, None]


@pytest.mark.parametrize(
    ("host", "value"),
    [
        (Locomo(), [{"qa": 1, "conversation": {"session_1": [3, {"text": None}], "x": "y"}}, 5]),
        (Beam(), [{"batch_number": 1, "turns": [[4], 5, [{"content": 3}]]}, 6]),
        (LongMemEval(), {"data": [{"id": 4, "conversation": [3]}, 7]}),
    ],
)
def test_values_of_the_wrong_type_are_kept_and_raise_nothing(host, value):
    """A field of another type than expected costs its meaning, never its bytes."""
    for reading in read(host, "x.json", dump(value)):
        assert reading.record.drafts


class TestLocomo(HostSuite):
    host, path, sample, session = Locomo(), "/x/l.json", dump(LOCOMO), "l"


class TestBeam(HostSuite):
    host, path, sample, session = Beam(), "/data/beam-100k/3/chat.json", dump(BEAM), "beam-100k/3"


class TestLongMemEval(HostSuite):
    host, path, sample, session = LongMemEval(), "/x/e.json", dump(LONG), "e"


class TestIrc(HostSuite):
    host, path, sample, session = Irc(), "/x/2011-05-29_19.ascii.txt", IRC, "2011-05-29_19"
