"""How one row is scored."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.recall.rank import (
    FOLDED_SHARE,
    LENGTH_MIN,
    NAME_WEIGHT,
    WEIGHT_MIN,
    WEIGHTS,
    Frequencies,
    Match,
    Wanted,
    match,
    score,
    stands,
    whole,
)

FREQUENCIES = Frequencies(rows=100, tokens_mean=10.0, df={"crow": 1, "the": 90})


def test_bm25_is_as_published():
    """One term, twice in a row of mean length, scores idf * tf * (k1 + 1) / (tf + k1)."""
    found = Match({"crow": 2}, 10, (), ())
    idf = math.log(1 + (100 - 1 + 0.5) / 1.5)
    by_words = pytest.approx(idf * 2 * 2.2 / (2 + 1.2))
    assert score(found, FREQUENCIES) == {"words": by_words, "exact": 0.0, "phrase": 0.0, "name": 0.0}


def test_rarer_more_often_and_shorter_score_higher():
    """A rarer term, more of it, and a shorter row each raise the score; short rows are all of one length."""

    def total(times, tokens):
        return sum(score(Match(times, tokens, (), ()), FREQUENCIES).values())

    assert total({"crow": 1}, 10) > total({"the": 1}, 10) > 0
    assert total({"crow": 2}, 10) > total({"crow": 1}, 10)
    assert total({"crow": 1}, 60) > total({"crow": 1}, 200)
    assert total({"crow": 1}, 5) == total({"crow": 1}, LENGTH_MIN)


def test_strings_and_phrases_add_their_rarity():
    """What stands there character for character adds its weight, with other capitals half of it."""
    phrase, string = Wanted("the crow", ("the", "crow"), "phrase"), Wanted("a/crow", ("q1",), "exact")
    shown = Wanted("X1", (), "")
    whole = score(Match({}, 10, (phrase, string, shown), ()), FREQUENCIES)
    half = score(Match({}, 10, (), (phrase, string, shown)), FREQUENCIES)
    assert whole["phrase"] == pytest.approx(WEIGHTS["phrase"] * (FREQUENCIES.idf(90) + FREQUENCIES.idf(1)))
    assert whole["exact"] == pytest.approx(WEIGHTS["exact"] * FREQUENCIES.idf(1))
    common = Wanted("the the", ("the",), "phrase")
    assert score(Match({}, 10, (common,), ()), FREQUENCIES)["phrase"] == WEIGHTS["phrase"] * WEIGHT_MIN
    assert half == {name: pytest.approx(FOLDED_SHARE * value) for name, value in whole.items()}


def test_a_match_is_decided_on_the_bytes():
    """Strings are exact, folded or absent; the head counts as folded only; terms count what is asked for."""
    wanted = [Wanted(s, (), "exact") for s in ("Crow X", "crow x", "CROW  X", "ann", "heron")]
    found = match({"crow": 0, "swan": 0}, wanted, ["crow", "x", "crow"], ["the Crow X\nflies"], "Ann Lee")
    assert found.times == {"crow": 2}
    assert found.tokens == 3
    assert [one.string for one in found.exact] == ["Crow X"]
    assert [one.string for one in found.folded] == ["crow x", "CROW  X", "ann"]


def test_context_finds_and_does_not_lengthen():
    """A term that stands in the context alone counts once; one in the text keeps its own count; the length stays."""
    found = match({"crow": 0, "march": 0}, [], ["crow", "crow"], ["crow crow"], "", {"crow", "march"}, ("crow",))
    assert found == Match({"crow": 2, "march": 1}, 2, (), (), ("crow",))


def test_an_own_name_outweighs_a_mention():
    """A number an event is called by counts for more than the same number, said often, in another's text."""
    own, mention = (
        Match({"crow": 1}, 10, (), (), ("crow",)),
        Match({"crow": 50}, 10, (Wanted("crow", ("crow",), "exact"),), ()),
    )
    assert score(own, FREQUENCIES)["name"] == pytest.approx(NAME_WEIGHT * FREQUENCIES.idf(1))
    assert sum(score(own, FREQUENCIES).values()) > sum(score(mention, FREQUENCIES).values())


@pytest.mark.parametrize(
    ("string", "text", "expected"),
    [
        ("12", "3126", False), ("31", "3126", False), ("12", "3126 12", True), ("a/b", "a/bc", False),
        ("a/b", "xa/b", False), ("a/b", "x/a/b.", True),
     ("東京", "大東京都", True)],
)  # fmt: skip
def test_a_string_stands_only_as_a_whole(string, text, expected):
    """A number does not stand in a longer number; signs of scripts without spaces stand anywhere."""
    assert stands(string, text) is expected


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(1, 100), min_size=2), st.randoms())
def test_what_a_query_weighs_does_not_depend_on_the_order_of_its_words(df, chance):
    """A set goes through its words in another order in every process; the weight is the same to the last bit."""
    frequencies = Frequencies(100, 10.0, df)
    keys = list(df)
    chance.shuffle(keys)
    assert whole(keys, frequencies) == whole(list(df), frequencies)


def test_a_stop_word_counts_a_tenth():
    """What stands beside the words of a query as a stop word weighs a tenth of what it would as one of them."""
    found = Match({"the": 2}, 60, (), ())
    plain, light = score(found, FREQUENCIES)["words"], score(found, FREQUENCIES, {"the"})["words"]
    assert light == pytest.approx(plain / 10)
