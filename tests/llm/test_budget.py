"""No call passes the cap, and what was spent adds up."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import CapReached, InvalidArgument, ModelUnavailable
from firsthand.llm import Reply
from firsthand.llm.budget import Cap, Meter, Metered, Price, Spent
from firsthand.tokens import estimate

HELLO = [{"role": "user", "content": "hello"}]
PROMPT = estimate('[{"role": "user", "content": "hello"}]')


class Says:
    """A model that says one thing, and counts tokens as it is told to."""

    def __init__(self, prompt: int | None = 5, said: int | None = 2, *, fails: bool = False) -> None:
        self.prompt, self.said, self.fails = prompt, said, fails

    def complete(self, messages, **_: object) -> Reply:
        if self.fails:
            raise ModelUnavailable("not there")
        return Reply("hi there", {"role": "assistant", "content": "hi there"}, (), self.prompt, self.said, 0.0)


def ask(metered: Metered, times: int, max_tokens: int = 10) -> int:
    """Ask so often, and count the calls that were made."""
    made = 0
    for _ in range(times):
        try:
            metered.complete(HELLO, max_tokens=max_tokens)
        except CapReached:
            continue
        made += 1
    return made


def test_what_a_model_counts_is_spent_and_priced():
    """Calls, tokens and cost add up as the model told them; without its count they are estimated, and said to be."""
    meter = Meter(Cap(), Price(1, 5))
    assert ask(Metered(Says(), meter), 3) == 3
    assert meter.spent == Spent(3, 0, 15, 6, 0, pytest.approx(45e-6))
    ask(Metered(Says(None, None), meter), 1)
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
    failing = Metered(Says(fails=True), meter)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="not there"):
            failing.complete(HELLO)
    assert meter.spent == Spent(2, 2)
    with pytest.raises(CapReached, match="the cap of 2 calls"):
        failing.complete(HELLO)


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
    meter = Meter(cap, Price(1, 5))
    assert ask(Metered(Says(), meter), 9) == made == meter.spent.calls
    assert meter.stopped.startswith(f"the next call could pass the cap of {limit}" if limit else "")
    assert ("run again with a higher cap" in meter.stopped) == bool(limit)
    if limit:
        with pytest.raises(CapReached):
            meter.promise(0, 0)


@given(
    calls=st.integers(0, 6), tokens=st.integers(0, 400), asked=st.lists(st.integers(1, 40), max_size=12),
    counts=st.tuples(st.integers(0, 9), st.integers(0, 1)),
)  # fmt: skip
def test_spent_never_passes_the_cap(calls, tokens, asked, counts):
    """Whatever is asked, calls and tokens stay within the cap when a model takes no more than it may."""
    meter = Meter(Cap(calls=calls, tokens=tokens))
    metered = Metered(Says(*counts), meter)
    for most in asked:
        ask(metered, 1, most)
        assert meter.spent.calls <= calls
        assert meter.spent.prompt_tokens + meter.spent.reply_tokens <= tokens


def test_what_is_being_asked_counts_at_its_full_length():
    """A call that has not come back yet is held against calls and tokens as if it took all it may."""
    meter = Meter(Cap(calls=3, tokens=100))
    meter.promise(10, 20)
    meter.promise(10, 20)
    with pytest.raises(CapReached, match="the cap of 100 tokens"):
        meter.promise(10, 31)
    meter = Meter(Cap(calls=2))
    meter.promise(1, 1)
    meter.promise(1, 1)
    with pytest.raises(CapReached, match="the cap of 2 calls; spent are 0 calls"):
        meter.promise(1, 1)


def test_calls_at_once_are_held_to_the_cap_together():
    """Of many threads that ask at the same moment, as many calls are made as the cap has, and all are counted."""
    together = threading.Barrier(8, timeout=10)
    meter = Meter(Cap(calls=5))

    def one(_: int) -> int:
        together.wait()
        return ask(Metered(Says(), meter), 3)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(8))) == 5
    assert meter.spent == Spent(5, 0, 25, 10)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Cap(calls=-1), "a cap is 0 or more; got -1 calls"),
        (lambda: Cap(cost=float("nan")), "a cap is 0 or more"),
        (lambda: Price(-1, 0), "prices of a million tokens are 0 or more; got -1 and 0"),
        (lambda: Meter(Cap(cost=1)), "a cap on the cost wants the price"),
    ],
)
def test_what_is_no_cap_is_refused(make, said):
    """A limit or price below nothing, and a cost without a price, are errors that say so."""
    with pytest.raises(InvalidArgument, match=said):
        make()
