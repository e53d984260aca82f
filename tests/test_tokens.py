"""The estimates of tokens: what they promise for every text, for real text, and of their tables."""

from __future__ import annotations

import time

import pytest
from counter_suite import CounterSuite
from hypothesis import given
from hypothesis import strategies as st

from firsthand.tokens import CLAUDE, OPENAI, estimate, identity

ESTIMATES = (estimate, OPENAI, CLAUDE)
LETTERS, SIGNS = "abcdefghijklmnopqrstuvwxyz", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

# Runs, pairs and common letters are what may be counted otherwise together than apart.
PARTS = st.one_of(
    st.text(),
    st.text(alphabet="abing \nthyouUAB09,.é日", max_size=40),
    st.lists(
        st.sampled_from(("the", "you", "ing", "and", " ", "  " * 4, "\n", "ABCD", "..", "x1", "é")), max_size=30
    ).map("".join),
)


class TestAny(CounterSuite):
    @pytest.fixture
    def counter(self):
        return estimate


class TestOpenAI(CounterSuite):
    @pytest.fixture
    def counter(self):
        return OPENAI


class TestClaude(CounterSuite):
    @pytest.fixture
    def counter(self):
        return CLAUDE


@given(PARTS, PARTS)
def test_parts_that_fit_apart_fit_together(one, other):
    """The whole of two texts counts at most what they count apart, for every family."""
    for count in ESTIMATES:
        assert count(one + other) <= count(one) + count(other)


@given(PARTS)
def test_every_text_counts(text):
    """A text that is not empty counts at least 1 and at most 4 for each of its bytes; an empty one counts 0."""
    for count in ESTIMATES:
        assert bool(text) <= count(text) <= 4 * len(text.encode("utf-8", "surrogatepass")) + 4 * bool(text)


# Counted with the exact tokenizers of each family, by `bench/token_estimates.py`: the largest count of any.
PROSE = (
    "The committee met on Tuesday to discuss the proposal. Several members asked why the earlier plan had failed, "
    "and the chair explained that nobody had checked the figures before they were printed."
)
CODE = (
    "def merge(left: list[int], right: list[int]) -> list[int]:\n    out = []\n    while left and right:\n"
    "        out.append(left.pop(0) if left[0] <= right[0] else right.pop(0))\n    return out + left + right\n"
)
JSON = '{"id": "c1f0-77aa", "items": [{"sku": 4410239, "title": "Winter coat"}, {"sku": 99}], "ok": true}\n' * 3
CYRILLIC = "Первая строка говорит: погода; вторая говорит, что было вчера; третья молчит. " * 2
CHINESE = "今天的会议讨论了下个月的计划,大家都同意先完成测试,然后再发布新版本。" * 3
TRUE = {
    "prose": PROSE,
    "code": CODE,
    "json": JSON,
    "cyrillic": CYRILLIC,
    "chinese": CHINESE,
    "hex": "3f7a9c0e1b2d4f6a8c9e0f1a2b3c4d5e" * 4,
    "base64": "c29tZSBieXRlcyB0aGF0IG5vYm9keSByZWFkcyBhbmQgdGhhdCBhcmUganVzdCBoZXJlIHRvIGJlIGNvdW50ZWQ=" * 2,
    "digits": "31415926535897932384626433832795028841971693993751" * 3,
    "emoji": "🙂🚀🎉🔥🌍" * 9,
    "spaces": "\n".join(" " * (4 * (k % 5)) + f"x{k} = {k}" for k in range(30)),
}
WRITTEN = ("prose", "code", "cyrillic", "chinese", "spaces")
LARGEST = {
    "any model": {
        "prose": 35,
        "code": 70,
        "json": 159,
        "cyrillic": 115,
        "chinese": 177,
        "hex": 129,
        "base64": 154,
        "digits": 151,
        "emoji": 180,
        "spaces": 249,
    },
    "GPT": {
        "prose": 35,
        "code": 58,
        "json": 123,
        "cyrillic": 76,
        "chinese": 99,
        "hex": 128,
        "base64": 119,
        "digits": 50,
        "emoji": 126,
        "spaces": 203,
    },
    "Claude 4.7 and later": {
        "prose": 57,
        "code": 76,
        "json": 167,
        "cyrillic": 63,
        "chinese": 108,
        "hex": 128,
        "base64": 166,
        "digits": 50,
        "emoji": 135,
        "spaces": 233,
    },
}


@pytest.mark.parametrize("kind", TRUE)
@pytest.mark.parametrize("count", ESTIMATES, ids=identity)
def test_not_under_the_truth(count, kind):
    """What people write is under the truth by 5 % at most, a few signs as programs make them by 12 %."""
    least = 0.95 if kind in WRITTEN else 0.88
    assert count(TRUE[kind]) >= least * LARGEST[count.family][kind]


@pytest.mark.parametrize("kind", [*WRITTEN, "json"])
@pytest.mark.parametrize("count", ESTIMATES, ids=identity)
def test_not_uselessly_over(count, kind):
    """Of what people and programs write, an estimate is at most 2.3 times the largest true count of its family."""
    assert count(TRUE[kind]) <= 2.3 * LARGEST[count.family][kind]


def test_what_is_no_class_is_named_by_where_it_was_defined():
    """A function, and an object that says nothing of itself, are named by module and name."""

    class Silent:
        def __call__(self, text: str) -> int:
            return len(text)

    assert identity(test_it_is_fast) == "test_tokens.test_it_is_fast"
    assert identity(Silent()).endswith("Silent")


def test_it_is_fast():
    """A million characters are counted in well under a second: it runs for every event."""
    began = time.process_time()
    assert estimate("word and more, " * 70_000) > 200_000
    assert time.process_time() - began < 1
