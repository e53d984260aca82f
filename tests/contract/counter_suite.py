"""What every counter of tokens must hold to, as a suite that a counter's test inherits."""

from __future__ import annotations

import pytest

from firsthand.tokens import TokenCounter, identity

ODD = ("\ud800", "a\udc00b", "\x00", "\x00\x1b[2J", "\ufffe\U0010ffff", "e\u0301" * 50, "\r\n\u2028\x85")
LIKE_SPECIAL = ("<|endoftext|>", "<|im_start|>user<|im_end|>", "<s>[INST] [/INST]</s>", "<pad><unk><bos>")


class CounterSuite:
    """Inherit it, name the class ``Test...`` and give the counter as a fixture of that name."""

    @pytest.fixture
    def counter(self) -> TokenCounter:
        raise AssertionError("a counter's test gives the counter")

    def test_no_text_is_no_tokens(self, counter):
        """The empty text has no tokens, and every other has at least one."""
        assert counter("") == 0
        assert all(counter(sign) >= 1 for sign in ("a", " ", "\n", "0", "é", "日", "🙂", "\x00"))

    @pytest.mark.parametrize("text", [*ODD, *LIKE_SPECIAL])
    def test_odd_text_is_counted_as_text(self, counter, text):
        """Control signs, lone surrogates and what looks like a special token raise nothing and count as text."""
        assert type(counter(text)) is int
        assert counter(text) >= 1

    @pytest.mark.parametrize("text", LIKE_SPECIAL)
    def test_a_special_token_is_no_shortcut(self, counter, text):
        """What looks like a special token costs what its signs cost, not one."""
        assert counter(text) > 1
        assert counter(text) >= counter(text[:-1])

    @pytest.mark.parametrize("sign", [" ", "\n", "a", "-", "日"])
    def test_a_long_run_ends(self, counter, sign):
        """A run of 300,000 of one sign is counted, and longer ones count no less."""
        assert 0 < counter(sign * 150_000) <= counter(sign * 300_000)

    def test_the_same_text_counts_the_same(self, counter):
        """A count depends on nothing but the text."""
        text = "def f(x):\n    return {'a': 0x1F}  # größer 東京\n" * 20
        assert len({counter(text) for _ in range(3)}) == 1

    def test_it_says_what_it_is(self, counter):
        """Its identity is a short line that another counter does not have."""
        assert 3 <= len(identity(counter)) <= 100
        assert "\n" not in identity(counter)
        assert identity(counter) != identity(len)
