"""Recorded replies: found again, refused with the difference, kept in lines of JSON."""

from __future__ import annotations

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from llm_contract import SAY, TOOL, ModelSuite

from firsthand.errors import InvalidArgument, ReplyUnknown
from firsthand.llm import OpenAICompatible, Recorded, Reply, ToolCall


class Echo:
    """A model that says the newest message, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, messages, *, tools=(), max_tokens=256, temperature=0.0, stop=()) -> Reply:
        self.asked += 1
        text = messages[-1]["content"]
        call = ToolCall("c1", "look_up", json.dumps({"words": text}))
        return Reply(text, {"role": "assistant", "content": text}, (call,) if tools else (), 7, 3, 0.25)


def user(text: str) -> list[dict]:
    return [{"role": "user", "content": text}]


class TestRecorded(ModelSuite):
    @pytest.fixture
    def model(self, tmp_path, chat_server):
        with OpenAICompatible(chat_server.url, "tiny") as asked:
            yield Recorded(tmp_path / "replies.jsonl", asked)

    def test_it_asks_a_request_once(self, tmp_path):
        """The second time, and in another process, the reply is read and equals the first, seconds included."""
        echo, path = Echo(), tmp_path / "replies.jsonl"
        first = Recorded(path, echo).complete(user("hello"), tools=[TOOL])
        assert Recorded(path, echo).complete(user("hello"), tools=[TOOL]) == first
        assert Recorded(path).complete(user("hello"), tools=[TOOL]) == first
        assert echo.asked == 1
        assert first.tool_calls == (ToolCall("c1", "look_up", '{"words": "hello"}'),)

    def test_every_part_of_a_request_counts(self, tmp_path):
        """Messages, tools, tokens, temperature and stops make different requests; the order of keys does not."""
        echo = Echo()
        recorded = Recorded(tmp_path / "replies.jsonl", echo)
        asked = [
            (user("a"), {}), (user("b"), {}), (user("a"), {"tools": [TOOL]}), (user("a"), {"max_tokens": 7}),
            (user("a"), {"temperature": 0.5}), (user("a"), {"stop": ["x"]}), ([*user("a"), *user("a")], {}),
        ]  # fmt: skip
        for messages, options in [*asked, *asked, ([{"content": "a", "role": "user"}], {})]:
            recorded.complete(messages, **options)
        assert echo.asked == len(asked)

    def test_passing_names_are_those_of_the_present_request(self, tmp_path):
        """Ids, marks and times may differ between runs; the reply has those of the run that asks."""
        path = tmp_path / "replies.jsonl"
        said = 'Turn 1, {time}: expand("fh:{id}..{other}")\n<<firsthand {mark}: data>>\n{id}\n<<end {mark}>>'
        then = {"id": "01KC05482106YKNJA11PW31BND", "other": "01KC05482106YKNJA11PW31BNE", "mark": "ab" * 16,
                "time": "2026-11-21T06:40"}  # fmt: skip
        now = {"id": "01KD0000000000000000000000", "other": "01KD0000000000000000000001", "mark": "cd" * 16,
               "time": "2027-01-02T23:59 to 2027-01-03T00:00"}  # fmt: skip
        for tools in ((), (TOOL,)):
            Recorded(path, Echo()).complete(user(said.format(**then)), tools=tools)
            reply = Recorded(path).complete(user(said.format(**now)), tools=tools)
            assert reply.text == said.format(**now)
        assert json.loads(reply.tool_calls[0].arguments) == {"words": said.format(**now)}
        with pytest.raises(ReplyUnknown):  # the same two ids, one in the place of the other
            Recorded(path).complete(user(said.format(**then | {"other": then["id"]})))

    def test_which_times_are_equal_does_not_matter(self, tmp_path):
        """Two times that were the same when a reply was recorded may differ when it is asked for again."""
        path, said = tmp_path / "replies.jsonl", "{}, then {}, in words"
        Recorded(path, Echo()).complete(user(said.format("2026-11-21 06:40:00Z", "2026-11-21 06:40:01Z")))
        Recorded(path, Echo()).complete(user(said.format("2026-11-21 06:40:01Z", "2026-11-21 06:40:01Z")))
        now = said.format("2027-01-01 23:59:59Z", "2027-01-02 00:00:00Z")
        assert Recorded(path).complete(user(now)).text == now

    def test_what_looks_like_a_number_of_ours_stays(self, tmp_path):
        """A message that holds the form of a numbered name is told apart from the name, and comes back as it was."""
        echo, path = Echo(), tmp_path / "replies.jsonl"
        for text in ("fh:01KC05482106YKNJA11PW31BND", "fh:{{id 1}}", "fh:{{id 2}} 01KC05482106YKNJA11PW31BND"):
            assert Recorded(path, echo).complete(user(text)).text == text
            assert Recorded(path).complete(user(text)).text == text
        assert echo.asked == 3

    def test_an_unknown_request_is_refused_with_what_differs(self, tmp_path):
        """The error names the field, the message and the place where the nearest recorded request is another."""
        path = tmp_path / "replies.jsonl"
        recorded = Recorded(path, Echo())
        recorded.complete([*user("first"), *user("the port is 1 and no other one")])
        recorded.complete([*user("unlike"), *user("it"), *user("is")], max_tokens=9)
        replay = Recorded(path)
        for asked, options, said in [
            ([*user("first"), *user("the port is 2 and no other one")], {},
             'messages[1] at character 25: recorded \'tent": "the port is 1 and no other one", "role": "user"}\''),
            ([*user("first")], {}, "messages: recorded 2, asked 1, the first 1 alike"),
            ([*user("first"), *user("the port is 1 and no other one")], {"max_tokens": 7},
             "the nearest one differs in max_tokens: recorded 256, asked 7; record"),
            ([*user("first"), *user("the port is 1 and no other one")], {"tools": [TOOL]},
             "tools: recorded 0, asked 1, the first 0 alike"),
        ]:  # fmt: skip
            with pytest.raises(ReplyUnknown) as told:
                replay.complete(asked, **options)
            assert said in str(told.value)
            assert str(path) in str(told.value)

    def test_an_empty_file_says_so(self, tmp_path):
        """A file with no reply refuses everything, and one that is not there is refused at once."""
        path = tmp_path / "replies.jsonl"
        with pytest.raises(InvalidArgument, match="is not there"):
            Recorded(path)
        path.touch()
        with pytest.raises(ReplyUnknown, match="it holds none"):
            Recorded(path).complete(SAY)

    @pytest.mark.parametrize(
        "line", ["{", "[]", "7", '{"request": {}}', '{"request": {}, "reply": {"text": "x"}}', '{"part": "x"}']
    )
    def test_a_file_of_something_else_is_refused(self, tmp_path, line):
        """A line that is no recorded reply is named with its number."""
        path = tmp_path / "replies.jsonl"
        Recorded(path, Echo()).complete(user("a"))
        path.write_text(path.read_text() + line + "\n")
        with pytest.raises(InvalidArgument, match=r"line 3 of .*replies\.jsonl is no recorded reply"):
            Recorded(path)

    def test_messages_are_kept_once(self, tmp_path):
        """A message that many requests share stands in the file once."""
        path = tmp_path / "replies.jsonl"
        recorded = Recorded(path, Echo())
        messages = user("begin")
        for number in range(5):
            messages += user(f"message {number}")
            recorded.complete(messages)
        assert [path.read_text().count(f"message {number}") for number in range(4)] == [3, 3, 3, 3]  # part, reply twice


def test_a_line_that_a_kill_cut_off_is_asked_again(tmp_path):
    """A last line without its end is left out, and what is recorded next stands on a line of its own."""
    echo, path = Echo(), tmp_path / "replies.jsonl"
    recorded = Recorded(path, echo)
    whole = [recorded.complete(user(text)) for text in ("a", "b")]
    kept = path.read_bytes()
    path.write_bytes(kept[:-7])
    assert Recorded(path).complete(user("a")) == whole[0]
    assert path.read_bytes() == kept[:-7]
    assert Recorded(path, echo).complete(user("b")) == whole[1]
    assert echo.asked == 3
    assert [Recorded(path).complete(user(text)) for text in ("a", "b")] == whole


def test_of_two_that_ask_the_same_at_once_the_first_reply_stands(tmp_path):
    """Threads that ask one request are given one reply, and the file holds it once."""
    together = threading.Barrier(2, timeout=10)

    class Counting:
        def __init__(self) -> None:
            self.numbers = itertools.count()

        def complete(self, messages, **_: object) -> Reply:
            number = next(self.numbers)
            together.wait()
            return Reply(f"{number}", {"role": "assistant", "content": f"{number}"}, (), 1, 1, 0.0)

    path = tmp_path / "replies.jsonl"
    recorded = Recorded(path, Counting())
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda _: recorded.complete(user("a")).text, range(2)))
    assert said[0] == said[1] == Recorded(path).complete(user("a")).text
    assert path.read_text().count('"reply"') == 1


@pytest.mark.parametrize("zone", ["Z", "+13:00", "-03:30"])
def test_a_recording_is_of_no_time_zone(tmp_path, zone):
    """What was recorded where clocks show UTC is replayed where they show another zone."""
    path = tmp_path / "replies.jsonl"
    Recorded(path, Echo()).complete(user("fh:1  2026-11-22 00:01:26Z  note, from 2026-11-22T00:01Z"))
    asked = user(f"fh:1  2027-01-02 13:04:55{zone}  note, from 2027-01-02T13:04{zone}")
    assert Recorded(path).complete(asked).text.startswith("fh:1  2027-01-02 13:04:55")
