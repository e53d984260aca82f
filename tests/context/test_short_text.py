"""Shortening texts to tokens."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pack_windows import quarter

from firsthand.context.short_text import boundary, quote, quoted, shorten
from firsthand.event import to_bytes

POINTER = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"
LOG = "\n".join(f"line {number} of the log" for number in range(500))
texts = st.text(st.characters(), max_size=400)  # lone surrogates too
COUNTERS = {
    "quarter": quarter, "signs": len, "bytes": lambda text: len(to_bytes(text)),
    "words": lambda text: len(text.split()), "one more for the whole": lambda text: 1 + quarter(text),
}  # fmt: skip
counters = st.sampled_from(sorted(COUNTERS)).map(COUNTERS.__getitem__)


@given(texts, st.integers(-2, 300), counters, st.sampled_from(["", POINTER]), st.sampled_from([None, 10**9]))
def test_never_more_than_asked_for(text, tokens_max, count, address, size):
    """Whatever the text, the counter and the limit: the result is within it, and it is the text when that fits."""
    short = shorten(text, tokens_max, count, address, size_bytes=size)
    assert count(short) <= max(0, tokens_max) or short == ""
    if size is None and 0 < count(text) <= tokens_max and len(text) <= tokens_max * 64:
        assert short == text


@given(texts, st.integers(1, 300), counters)
def test_quoting_counts_too(text, tokens_max, count):
    """A quoted text is within its limit with the bars before its lines, and every line has one."""
    said = quoted(text, tokens_max, count)
    assert said == "" or count(said) <= tokens_max
    assert all(line.startswith("|") for line in said.split("\n") if said)


def test_head_and_tail_stand_around_what_is_left_out():
    """The cut says in lines and bytes exactly what is left out, and where it is."""
    short = shorten(LOG, 100, quarter, POINTER)
    found = re.search(r"\n\[\.\.\. (\d+) lines, ([\d,]+) bytes left out: expand\(\"(.*)\"\) \.\.\.]\n", short)
    head, tail = short[: found.start()], short[found.end() :]
    assert LOG.startswith(head)
    assert LOG.endswith(tail)
    assert found[3] == POINTER
    missing = LOG[len(head) : len(LOG) - len(tail)]
    # a line end that the cut stands for is put back by the line about it
    assert int(found[2].replace(",", "")) in {len(missing), len(missing) - 1}
    assert int(found[1]) in {missing.count("\n"), missing.count("\n") - 1}
    assert len(head) > len(tail) > 0
    assert 90 <= quarter(short) <= 100


def test_a_preview_says_that_it_is_one():
    """What is only a preview of a larger payload ends with a line that names size and pointer, within the limit."""
    assert shorten("head\ntail", 60, quarter, POINTER, size_bytes=88_412) == (
        f'head\ntail\n[a preview of 88,412 bytes: expand("{POINTER}")]'
    )
    assert quarter(shorten(LOG, 120, quarter, POINTER, size_bytes=88_412)) <= 120
    assert shorten("head", 60, quarter, POINTER, size_bytes=4) == "head"


@pytest.mark.parametrize(("tokens_max", "said"), [(0, ""), (-5, ""), (1, "lin…"), (3, "line 0 of t…")])
def test_little_room_gives_the_beginning_or_nothing(tokens_max, said):
    """Where the line about what is left out has no room, the beginning is given; where nothing has, nothing."""
    assert shorten(LOG, tokens_max, quarter) == said


SIGNS = {
    "letter with marks": "e\u0301\u0323",
    "family": "\U0001f469\u200d\U0001f469\u200d\U0001f467", "skin": "\U0001f44d\U0001f3fd",
    "flag": "\U0001f1e9\U0001f1ea", "Korean": "\u1112\u1161\u11ab", "line end": "\r\n", "surrogates": "\ud83d\ude00",
    "heart": "\u2764\ufe0f", "Devanagari": "\u0915\u093f",
}  # fmt: skip


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_no_cut_goes_through_a_sign(sign):
    """A place inside of what a reader sees as one sign is moved to its beginning; one between signs stays."""
    text = "a" + sign * 40
    for place in range(len(text) + 1):
        whole = 0 if place == 0 else 1 + (place - 1) // len(sign) * len(sign)
        assert boundary(text, place) == whole


def test_a_pile_of_marks_is_cut_somewhere():
    """A sign of thousands of marks does not make a text uncuttable, and costs no time for each of them."""
    pile = "a" + "\u0301" * 100_000
    assert 0 < len(shorten(pile, 30, quarter)) < 400
    assert unicodedata.category(pile[boundary(pile, 5_000)]) == "Mn"


def test_what_hides_is_shown_in_a_quote():
    """A quoted text has bars before its lines, and no control or hidden sign: no line of it passes for ours."""
    assert quote("found: 3 hits\nfh:x\x1b[2J\u202e\U000e0041\n\nend\ttab") == (
        "| found: 3 hits\n| fh:x\\x1b[2J\\u202e\\U000e0041\n|\n| end tab"
    )


def test_a_megabyte_costs_what_is_kept():
    """A text far over the limit is not counted as a whole, so that its cost does not grow with the counter's."""
    counted = []

    def count(text: str) -> int:
        counted.append(len(text))
        return quarter(text)

    shorten("word " * 1_000_000, 100, count, POINTER)
    assert max(counted) < 10_000
