"""Maximal marginal relevance over term sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firsthand.recall.mmr import POOL_MAX, TERMS_MAX, WEIGHT_MAX, order, rarity

ROWS = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=6, unique=True), max_size=40)


@given(ROWS, st.floats(0.5, 1.0), st.integers(1, 50), st.randoms(use_true_random=False))
def test_an_order_leaves_nothing_out(rows, mmr_lambda, count, random):
    """Every hit comes once, the first stays first, and those behind the pool keep their places."""
    totals = sorted((random.random() for _ in rows), reverse=True)
    found = order(totals, rows, mmr_lambda, count)
    assert sorted(found) == list(range(len(rows)))
    assert found[:1] == [0][: len(rows)]
    assert found[POOL_MAX:] == list(range(POOL_MAX, len(rows)))


@given(ROWS)
def test_with_lambda_1_the_scores_decide(rows):
    """Lambda 1 leaves the order as it is."""
    totals = [1.0 - number / 100 for number in range(len(rows))]
    assert order(totals, rows, 1.0, 10) == list(range(len(rows)))


def test_a_repetition_goes_behind_what_is_new():
    """A row that says what the first says comes after a slightly worse one that says something else."""
    rows = [["deploy", "port", "open"], ["deploy", "port", "open"], ["deploy", "host", "name"]]
    assert order([0.9, 0.88, 0.8], rows, 0.7, 3) == [0, 2, 1]
    assert order([0.9, 0.88, 0.8], rows, 1.0, 3) == [0, 1, 2]


def test_a_much_better_repetition_stays():
    """What is new and far worse does not go before what repeats and is good."""
    rows = [["deploy", "port"], ["deploy", "port"], ["lunch"]]
    assert order([0.9, 0.88, 0.1], rows, 0.7, 3) == [0, 1, 2]


def test_only_those_that_are_chosen_move():
    """What is behind the number asked for keeps its order."""
    rows = [["a"], ["a"], ["a"], ["b"], ["a"]]
    assert order([0.9, 0.89, 0.88, 0.87, 0.86], rows, 0.5, 2) == [0, 3, 1, 2, 4]


def test_the_nearest_of_those_before_counts():
    """What repeats the first stays a repetition, though it is less like the second."""
    rows = [["a", "b"], ["b", "c", "d"], ["a", "b"], ["e", "f"]]
    assert order([0.9, 0.85, 0.84, 0.6], rows, 0.5, 4) == [0, 1, 3, 2]


def test_what_is_behind_the_pool_stays():
    """Rows beyond the limit of the pool keep their order behind it."""
    rows = [["same"]] * (POOL_MAX + 5)
    totals = [1.0 - number / 100 for number in range(len(rows))]
    assert order(totals, rows, 0.5, POOL_MAX) == list(range(len(rows)))


def test_equal_scores_keep_their_order():
    """Where nothing speaks for either, the one that came first comes first."""
    assert order([0.5] * 4, [["a"], ["b"], ["c"], ["d"]], 0.5, 4) == [0, 1, 2, 3]
    assert order([0.0] * 4, [["a"]] * 4, 0.5, 4) == [0, 1, 2, 3]


def test_a_rare_term_weighs_more():
    """A term in every row weighs 1; each halving of the rows adds 1, up to the limit."""
    rows = [["all", "half"], ["all", "half"], ["all"], ["all", "one"]]
    assert rarity(rows) == {"all": 1, "half": 2, "one": 3}
    assert max(rarity([[str(number)] for number in range(64)]).values()) == WEIGHT_MAX


def test_likeness_counts_rare_terms_more():
    """Two rows that share a rare term are more alike than two that share a common one."""
    others = [["x", str(number)] for number in range(6)]
    rows = [["x", "rare"], ["rare"], ["x"], *others]
    assert order([0.9, 0.8, 0.8] + [0.1] * 6, rows, 0.5, 3)[1:3] == [2, 1]


def test_only_the_beginning_of_a_row_is_compared():
    """Rows that begin alike are alike, whatever their further terms; so a long row costs no more than another."""
    same = [f"t{number}" for number in range(TERMS_MAX)]
    rows = [same, [*same, *"abcdefgh" * 40], ["x", "y"]]
    assert (
        order([0.9, 0.88, 0.8], rows, 0.5, 3) == order([0.9, 0.88, 0.8], [same, same, ["x", "y"]], 0.5, 3) == [0, 2, 1]
    )
    told_late = [[*same, "a", "b"], [*same[::-1], "a", "b"], [*(f"u{number}" for number in range(TERMS_MAX)), "a", "b"]]
    bare = [row[:TERMS_MAX] for row in told_late]
    assert order([0.9, 0.6, 0.5], told_late, 0.5, 3) == order([0.9, 0.6, 0.5], bare, 0.5, 3)
