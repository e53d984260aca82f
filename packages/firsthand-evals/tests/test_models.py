"""models.py: what is typed, no call passes the cap, what was spent adds up, replies are recorded before they count."""

from __future__ import annotations

import contextlib
import itertools
import json
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import CapReached, InvalidArgument, ModelError, ModelUnavailable, ReplyUnknown
from firsthand.tokens import estimate
from firsthand_evals.endpoint import Reply
from firsthand_evals.models import (
    Cap,
    Estimate,
    Meter,
    Models,
    Named,
    Price,
    Promise,
    Recorded,
    Spent,
    named,
    price_of,
    taking,
)

HELLO = [{"role": "user", "content": "hello"}]
TAKES = itertools.count(1)
PROMPT = estimate('[{"role": "user", "content": "hello"}]')


class Says:
    """A model that says one thing, and counts tokens as it is told to."""

    def __init__(self, prompt: int | None = 5, said: int | None = 2, text: str = "hi there", fails=None) -> None:
        self.prompt, self.said, self.text, self.fails = prompt, said, text, fails

    def complete(self, messages, **_: object) -> Reply:
        if self.fails:
            raise self.fails
        return Reply(self.text, (), self.prompt, self.said)


def metered(model: Says, meter: Meter, price: Price | None = None) -> Recorded:
    """Give a model whose calls are counted, with a record that nobody reads again."""
    return Recorded(Path(tempfile.mkdtemp()) / "replies.jsonl", lambda: model, meter, price)


def ask(model: Recorded, times: int, max_tokens: int = 10) -> int:
    """Ask so often, each a case of its own, and count the calls that were made."""
    made = 0
    for _ in range(times):
        with taking(next(TAKES)), contextlib.suppress(CapReached):
            model.complete(HELLO, max_tokens=max_tokens)
            made += 1
    return made


def test_what_a_model_counts_is_spent_and_priced():
    """Calls, tokens and cost add up as the model told them; without its count they are estimated, and said to be."""
    meter, price = Meter(Cap()), Price(1, 5)
    assert ask(metered(Says(), meter, price), 3) == 3
    assert meter.spent == Spent(3, 0, 15, 6, 0, pytest.approx(45e-6))
    ask(metered(Says(None, None), meter, price), 1)
    assert meter.spent == Spent(4, 0, 15 + PROMPT, 6 + estimate("hi there"), 1, pytest.approx(
        (15 + PROMPT + 5 * (6 + estimate("hi there"))) / 1e6))  # fmt: skip
    assert str(Spent(2, 1, 1_500, 20, 1, 0.5)) == (
        "2 calls, 1 without a reply, 1,500 tokens of prompts and 20 of replies (1 calls estimated), 0.5000 at the "
        "given price"
    )
    assert str(Spent(1)) == "1 calls, 0 tokens of prompts and 0 of replies"


def test_a_call_that_fails_counts_as_a_call():
    """What was set aside for it is given back, its error goes on, and the cap on calls holds."""
    meter = Meter(Cap(calls=2))
    failing = metered(Says(fails=ModelUnavailable("not there")), meter)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="not there"):
            failing.complete(HELLO)
    assert meter.spent == Spent(2, 2)
    with pytest.raises(CapReached, match="the cap of 2 calls"):
        failing.complete(HELLO)


def test_a_reply_that_is_lost_may_have_to_be_paid_for():
    """Where the model may have done its work, all that the call could take is spent, so that a cap is reached."""
    meter = Meter(Cap(calls=None, cost=3.5 * (PROMPT + 50) / 1e6))
    for _ in range(3):
        with pytest.raises(ModelError, match="no reply"):
            metered(Says(fails=ModelError("no reply")), meter, Price(1, 5)).complete(HELLO, max_tokens=10)
    assert meter.spent == Spent(3, 3, 3 * PROMPT, 30, 3, pytest.approx(3 * (PROMPT + 50) / 1e6))
    assert ask(metered(Says(), meter, Price(1, 5)), 1) == 0


@pytest.mark.parametrize(("prompt", "said", "text", "spent"), [
    (0, 0, "hi there", (PROMPT, estimate("hi there"))), (1, 1, "word " * 9, (PROMPT, 10)), (5, 0, "", (5, 10)),
    (5, None, "", (5, 10)), (5, 1, "", (5, 1)), (10**9, 2, "hi there", (10**9, 2)),
])  # fmt: skip
def test_a_count_too_small_for_the_words_is_not_believed(prompt, said, text, spent):
    """A model that counts less than its words can be is estimated, by its words or at the most that it may say."""
    meter = Meter(Cap())
    assert ask(metered(Says(prompt, said, text), meter), 1) == 1
    assert meter.spent == Spent(1, 0, *spent, estimated=int(spent != (prompt, said)))


@pytest.mark.parametrize(
    ("cap", "made", "limit"),
    [
        (Cap(calls=3), 3, "3 calls"),
        (Cap(calls=0), 0, "0 calls"),
        (Cap(calls=None, tokens=PROMPT + 10 + 2 * 7), 3, "36 tokens"),
        (Cap(calls=None, cost=(PROMPT + 50 + 2 * 15) / 1e6), 3, "a cost of 9.2e-05"),
        (Cap(calls=None), 9, ""),
    ],
)
def test_the_first_call_that_could_pass_the_cap_is_not_made(cap, made, limit):
    """Each limit counts what was spent and what the next call may take at the most; afterwards nothing is asked."""
    meter = Meter(cap)
    assert ask(metered(Says(), meter, Price(1, 5)), 9) == made == meter.spent.calls
    assert meter.stopped.startswith(f"the next call could pass the cap of {limit}" if limit else "")
    assert ("run again with a higher cap" in meter.stopped) == bool(limit)
    if limit:
        with pytest.raises(CapReached):
            meter.promise(Promise(0, 0))


@given(
    calls=st.integers(0, 6), tokens=st.integers(0, 400), asked=st.lists(st.integers(1, 40), max_size=12),
    counts=st.tuples(st.integers(0, 9), st.integers(0, 1)),
)  # fmt: skip
def test_spent_never_passes_the_cap(calls, tokens, asked, counts):
    """Whatever is asked, calls and tokens stay within the cap when a model takes no more than it may."""
    meter = Meter(Cap(calls=calls, tokens=tokens))
    model = metered(Says(*counts), meter)
    for most in asked:
        ask(model, 1, most)
        assert meter.spent.calls <= calls
        assert meter.spent.prompt_tokens + meter.spent.reply_tokens <= tokens


def test_what_is_being_asked_counts_at_its_full_length():
    """A call that has not come back yet is held against calls and tokens as if it took all it may."""
    meter = Meter(Cap(calls=3, tokens=100))
    meter.promise(Promise(10, 20))
    meter.promise(Promise(10, 20))
    with pytest.raises(CapReached, match="the cap of 100 tokens"):
        meter.promise(Promise(10, 31))
    meter = Meter(Cap(calls=2))
    meter.promise(Promise(1, 1))
    meter.promise(Promise(1, 1))
    with pytest.raises(CapReached, match="the cap of 2 calls; spent are 0 calls"):
        meter.promise(Promise(1, 1))


def test_calls_at_once_are_held_to_the_cap_together():
    """Of many threads that ask at the same moment, as many calls are made as the cap has, and all are counted."""
    together = threading.Barrier(8, timeout=10)
    meter = Meter(Cap(calls=5))

    def one(_: int) -> int:
        together.wait()
        return ask(metered(Says(), meter), 3)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(8))) == 5
    assert meter.spent == Spent(5, 0, 25, 10)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Cap(calls=-1), "a cap is 0 or more; got -1 calls"),
        (lambda: Cap(cost=float("nan")), "a cap is 0 or more"),
        (lambda: Price(-1, 0), "prices of a million tokens are 0 or more; got -1 and 0"),
        (lambda: Models(Path(), cap=Cap(cost=1)), "a cap on the cost wants the price"),
        (
            lambda: price_of({"qwen": Price(1, 2)}, named("http://h/v1#llama")),
            "for qwen, and none for llama; add llama=",
        ),
    ],
)
def test_what_is_no_cap_is_refused(make, said):
    """A limit or price below nothing, and a cost without a price, are errors that say so."""
    with pytest.raises(InvalidArgument, match=said):
        make()


def test_each_model_has_its_own_price(tmp_path, monkeypatch):
    """A model by its name, any other one by the price without a name, one in this process for nothing; costs add up."""
    prices = {"": Price(1, 5), "dear": Price(100, 200)}
    typed = ("http://h/v1#dear", "http://h/v1#any", "local")
    assert [price_of(prices, named(it)) for it in typed] == [Price(100, 200), Price(1, 5), Price(0, 0)]
    assert price_of({}, named("http://h/v1#any")) is None
    monkeypatch.setattr("firsthand_evals.models.opened", lambda model, key: Says())
    models = Models(tmp_path, prices=prices)
    for it in typed:
        models.model(named(it)).complete(HELLO)
    assert models.meter.spent == Spent(3, 0, 15, 6, 0, pytest.approx((5 * 101 + 2 * 205) / 1e6))


@pytest.mark.parametrize(
    ("cap", "over"),
    [
        (Cap(calls=9), "9 calls"), (Cap(tokens=299), "299 tokens"), (Cap(cost=0.4), "a cost of 0.4"),
        (Cap(calls=10, tokens=300, cost=0.5), ""),
    ],
)  # fmt: skip
def test_a_run_estimated_over_its_cap_does_not_begin(tmp_path, cap, over):
    """Calls, tokens and cost are each held against the cap before anything is asked; a replay asks nobody and may."""
    planned = Estimate(4, 4, 100, 50, 0.2) + Estimate(6, 9, 100, 50, 0.3)
    assert planned == Estimate(10, 13, 200, 100, 0.5)
    models = Models(tmp_path, cap=cap, prices={"": Price(1, 1)})
    if over:
        with pytest.raises(InvalidArgument, match=f"estimated over the cap of {over}: about 10 calls"):
            models.allow(planned)
    else:
        models.allow(planned)
    Models(tmp_path, cap=cap, prices={"": Price(1, 1)}, replay=True).allow(planned)


@pytest.mark.parametrize(
    ("typed", "model"),
    [
        ("local", Named("SmolLM2-135M-Instruct", "local", "")),
        ("local:a/tiny.gguf", Named("tiny", "local", "a/tiny.gguf")),
        ("http://h:1/v1/chat/completions#qwen", Named("qwen", "url", "http://h:1/v1")),
    ],
)
def test_a_model_is_named_by_what_is_typed(typed, model):
    """A file in this process, or a server and its model."""
    assert named(typed) == model


@pytest.mark.parametrize("typed", ["http://h/v1", "https://user:secret@h/v1#m", "openai/gpt", ""])
def test_what_names_no_model_is_refused(typed):
    """No name, a password in an address, another provider's form: each says what was expected, and shows no secret."""
    with pytest.raises(InvalidArgument, match="a model") as refused:
        named(typed)
    assert "secret" not in str(refused.value)


class Echo:
    """A model that says the newest message, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, messages, *, tools=(), **_: object) -> Reply:
        self.asked += 1
        text = messages[-1]["content"]
        return Reply(text, (json.dumps({"words": text}),) if tools else (), 7, 3)


def user(text: str) -> list[dict]:
    return [{"role": "user", "content": text}]


def test_every_part_of_a_request_counts_and_is_asked_once(tmp_path):
    """Messages, tools, tokens, temperature and the take make different requests; each is replayed as it was."""
    echo, path = Echo(), tmp_path / "replies.jsonl"
    asked = [(user("a"), {}), (user("b"), {}), (user("a"), {"tools": [{"x": 1}]}), (user("a"), {"max_tokens": 7}),
             (user("a"), {"temperature": 0.5}), ([*user("a"), *user("a")], {})]  # fmt: skip
    first = [Recorded(path, lambda: echo).complete(messages, **options) for messages, options in asked]
    again = [Recorded(path).complete(messages, **options) for messages, options in asked]
    assert again == first
    assert first[2].calls == ('{"words": "a"}',)
    with taking(1):
        assert Recorded(path, lambda: echo).complete(user("a")) == first[0]
    assert echo.asked == len(asked) + 1
    with taking(2), pytest.raises(ReplyUnknown, match="which holds 7; ask what was asked then"):
        Recorded(path).complete(user("a"))


def test_passing_names_are_those_of_the_present_request(tmp_path):
    """Ids, marks and times may differ between runs; the reply has those of the run that asks."""
    path = tmp_path / "replies.jsonl"
    text = 'Turn 1, {time}: expand("fh:{id}..{other}")\n<<firsthand {mark}: data>>\n{id}\n<<end {mark}>> {late}'
    then = {"id": "01KC05482106YKNJA11PW31BND", "other": "01KC05482106YKNJA11PW31BNE", "mark": "ab" * 16,
            "time": "2026-11-21T06:40Z", "late": "2026-11-21 06:40:00Z"}  # fmt: skip
    now = {"id": "01KD0000000000000000000000", "other": "01KD0000000000000000000001", "mark": "cd" * 16,
           "time": "2027-01-02T23:59 to 2027-01-03T00:00", "late": "2027-01-02 23:59:00+13:00"}  # fmt: skip
    Recorded(path, Echo).complete(user(text.format(**then)), tools=[{"x": 1}])
    reply = Recorded(path).complete(user(text.format(**now)), tools=[{"x": 1}])
    assert reply.text == text.format(**now)
    assert json.loads(reply.calls[0]) == {"words": text.format(**now)}
    with pytest.raises(ReplyUnknown):  # the same two ids, one in the place of the other
        Recorded(path).complete(user(text.format(**then | {"other": then["id"]})), tools=[{"x": 1}])


@pytest.mark.parametrize("line", ["{", "[]", "7", '{"request": "x"}', '{"request": "x", "reply": {"words": "x"}}'])
def test_a_file_of_something_else_is_refused(tmp_path, line):
    """A line that is no recorded reply is named with its number."""
    path = tmp_path / "replies.jsonl"
    Recorded(path, Echo).complete(user("a"))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InvalidArgument, match=r"line 2 of .*replies\.jsonl is no recorded reply"):
        Recorded(path)


def test_a_line_that_a_kill_cut_off_is_asked_again(tmp_path):
    """A last line without its end is left out, and what is recorded next stands on a line of its own."""
    echo, path = Echo(), tmp_path / "replies.jsonl"
    recorded = Recorded(path, lambda: echo)
    whole = [recorded.complete(user(text)) for text in ("a", "b")]
    path.write_bytes(path.read_bytes()[:-7])
    assert Recorded(path).complete(user("a")) == whole[0]
    assert Recorded(path, lambda: echo).complete(user("b")) == whole[1]
    assert echo.asked == 3
    assert [Recorded(path).complete(user(text)) for text in ("a", "b")] == whole


def test_of_two_that_ask_the_same_at_once_the_first_reply_stands(tmp_path):
    """Threads that ask one request are given one reply, and the file holds it once."""
    together, numbers = threading.Barrier(2, timeout=10), itertools.count()

    class Counting:
        def complete(self, messages, **_: object) -> Reply:
            number = next(numbers)
            together.wait()
            return Reply(f"{number}")

    path = tmp_path / "replies.jsonl"
    recorded = Recorded(path, Counting)
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda _: recorded.complete(user("a")).text, range(2)))
    assert replies[0] == replies[1] == Recorded(path).complete(user("a")).text
    assert path.read_text().count('"reply"') == 1


def test_models_of_a_run_share_a_cap_and_a_folder(tmp_path, monkeypatch):
    """Each address has its own file; the cap is of all of them; a replay opens nobody."""
    monkeypatch.setattr("firsthand_evals.models.opened", lambda model, key: Echo())
    models = Models(tmp_path, cap=Cap(calls=2))
    for url in ("http://g/v1#m", "http://h/v1#m"):
        assert models.model(named(url)).complete(user(url)).text == url
    with pytest.raises(CapReached, match="the cap of 2 calls"):
        models.model(named("http://g/v1#m", temperature=1.0)).complete(user("more"))
    assert len(list((tmp_path / "replies").iterdir())) == 2
    replay = Models(tmp_path, replay=True)
    assert replay.model(named("http://h/v1#m")).complete(user("http://h/v1#m")).text == "http://h/v1#m"
    with pytest.raises(ReplyUnknown):
        replay.model(named("http://h/v1#m")).complete(user("more"))
