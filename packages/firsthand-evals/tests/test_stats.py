"""evals/stats.py: intervals against published values, laws of resampling, and the words for what is not there."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand_evals import stats

VALUES = st.lists(st.floats(-5, 5), min_size=1, max_size=4)
CLUSTERS = st.dictionaries(st.integers(0, 50), VALUES, min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_is_as_published(hits, n, low, high):
    """The interval of a share is the one in Newcombe's table of Wilson's method."""
    found = stats.rate(hits, n)
    assert (found.hits, found.n) == (hits, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_a_rate_of_nothing_says_so():
    """Without items there is no share, the interval is the whole range, and the words say that none was asked."""
    found = stats.rate(0, 0)
    assert (found.share, found.low, found.high, str(found)) == (None, 0.0, 1.0, "none asked (n = 0)")


def test_zeros_are_told_by_the_rule_of_three():
    """Nothing seen in n items is said with 3 / n beside it, never as a bare zero."""
    assert stats.none_seen(100) == 0.03
    assert stats.none_seen(2) == 1.0
    assert str(stats.rate(0, 96)) == "0 of 96 (at most 0.031)"
    assert str(stats.rate(1, 4)) == "0.250 [0.046, 0.699] (1 of 4)"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: stats.rate(3, 2),
        lambda: stats.rate(-1, 2),
        lambda: stats.none_seen(0),
        lambda: stats.mean({}),
        lambda: stats.mean({"a": []}),
        lambda: stats.mean({"a": [1.0]}, resamples=0),
        lambda: stats.difference({"a": [1.0]}, {"b": [1.0]}),
        lambda: stats.difference({"a": [1.0]}, {"a": [1.0, 2.0]}),
    ],
)
def test_what_cannot_be_counted_is_refused(wrong):
    """Impossible counts, empty clusters and unpaired items raise instead of giving a figure."""
    with pytest.raises(InvalidArgument):
        wrong()


def test_the_mean_has_the_width_of_the_normal_law():
    """Of 400 independent items the interval is that of 1.96 standard errors, within a tenth."""
    chance = random.Random(5)
    values = {number: [chance.gauss(2.0, 1.0)] for number in range(400)}
    found = stats.mean(values)
    assert (found.clusters, found.n) == (400, 400)
    assert found.mean == pytest.approx(2.0, abs=0.15)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 / 20, rel=0.1)


def test_repetitions_of_a_case_do_not_narrow_the_interval():
    """Ten equal repetitions of each case give the interval of one: the case is the unit."""
    chance = random.Random(6)
    once = {number: [float(chance.random() < 0.4)] for number in range(40)}
    often = {number: items * 10 for number, items in once.items()}
    one, ten = stats.mean(once), stats.mean(often)
    assert (ten.mean, ten.low, ten.high) == pytest.approx((one.mean, one.low, one.high))
    assert (ten.clusters, ten.n) == (40, 400)


def test_the_paper_s_null_result_is_not_called_a_difference():
    """The scores of recall-problem 8.7, case 3, give its mean difference, and words that fit the interval."""
    without = dict(enumerate([[0.78], [0.33], [0.44], [0.44], [0.44]]))
    with_it = dict(enumerate([[0.44], [0.22], [0.33], [0.33], [0.33]]))
    found = stats.difference(with_it, without)
    assert found.mean == pytest.approx(-0.156)
    assert found.verdict == "worse"  # paired, every run is lower; the paper's own interval is unpaired
    assert stats.difference({1: [1.0], 2: [0.0]}, {1: [0.0], 2: [1.0]}).verdict == "no difference detectable"
    leaning = stats.difference({1: [1.0], 2: [0.0], 3: [0.0]}, {1: [0.0], 2: [0.0], 3: [0.0]})
    assert (leaning.mean, leaning.verdict) == (pytest.approx(1 / 3), "no difference detectable")
    assert stats.difference({1: [1.0], 2: [0.5]}, {1: [1.0], 2: [0.5]}).verdict == "too few"


@pytest.mark.parametrize(("clusters", "verdict"), [(2, "too few"), (4, "too few"), (5, "better")])
def test_clusters_that_all_differ_alike_must_be_many_enough(clusters, verdict):
    """So few that they often lean one way by chance are too few, however alike they are."""
    up, down = ({at: [worth] for at in range(clusters)} for worth in (1.0, 0.0))
    assert stats.difference(up, down).verdict == verdict


@pytest.mark.parametrize("clusters", [2, 3, 5, 10, 19, 20])
def test_noise_is_seldom_called_a_difference(clusters):
    """Of 600 made comparisons without a difference at most some 5 in 100 are called better or worse, at any size."""
    chance = random.Random(8)
    called = 0
    for _ in range(600):
        noise = {at: [chance.gauss(0, 1)] for at in range(clusters)}
        called += stats.difference(noise, {at: [0.0] for at in noise}, resamples=300).verdict in {"better", "worse"}
    assert called / 600 <= 0.08


def test_the_interval_of_few_clusters_is_students():
    """Five means of 1 to 5 have the interval of Student's t, 3 +- 2.776 * sqrt(2.5 / 5)."""
    found = stats.mean({at: [float(at)] * 2 for at in range(1, 6)})
    assert (found.mean, found.low, found.high) == pytest.approx((3.0, 1.037, 4.963), abs=1e-3)
    shares = stats.mean({1: [0.0], 2: [1.0]})
    assert (shares.low, shares.high) == (0.0, 1.0)


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0.0, 0.3), (1.0, 0.7, 1.0), (0.5, 0.35, 0.65)])
def test_shares_that_are_all_alike_have_an_interval(share, low, high):
    """Of ten equal clusters at most three may be otherwise, so that no share stands as if it were certain."""
    found = stats.mean({at: [share] for at in range(10)})
    assert (found.mean, found.low, found.high) == pytest.approx((share, low, high))


@pytest.mark.parametrize("clusters", [2, 5, 10])
def test_the_interval_of_few_shares_near_one_covers_as_often_as_it_says(clusters):
    """Of clusters of four items that are right 95 times in 100, the interval holds that share as often."""
    chance, inside = random.Random(9), 0
    for _ in range(300):
        found = stats.mean({at: [float(chance.random() < 0.95) for _ in range(4)] for at in range(clusters)})
        inside += found.low <= 0.95 <= found.high
    assert inside / 300 >= 0.93


def test_the_interval_covers_as_often_as_it_says():
    """In 300 made experiments of 60 clusters the true mean lies inside about 95 times in 100."""
    chance = random.Random(7)
    inside = 0
    for seed in range(300):
        clusters = {}
        for number in range(60):
            own = chance.gauss(0, 1)  # items of a cluster are alike
            clusters[number] = [own + chance.gauss(0, 0.3) for _ in range(3)]
        found = stats.mean(clusters, resamples=300, seed=seed)
        inside += found.low <= 0 <= found.high
    assert 0.90 <= inside / 300 <= 0.98


@given(CLUSTERS, st.randoms())
def test_the_order_of_clusters_changes_nothing(clusters, chance):
    """The same clusters in another order give the same figures, and the mean is in its interval."""
    names = list(clusters)
    chance.shuffle(names)
    found = stats.mean(clusters, resamples=50)
    assert found == stats.mean({name: clusters[name] for name in names}, resamples=50)
    assert found.low <= found.mean <= found.high


@given(CLUSTERS)
def test_a_difference_to_itself_is_none(clusters):
    """What is compared with itself differs by nothing, in words too; of few clusters it is too few."""
    found = stats.difference(clusters, clusters, resamples=20)
    verdict = "no difference" if len(clusters) >= stats.ALIKE_MIN else "too few"
    assert (found.mean, found.low, found.high, found.verdict) == (0.0, 0.0, 0.0, verdict)


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (stats.rate(1, 1), "1 of 1, too few"),
        (stats.rate(0, 1), "0 of 1, too few"),
        (stats.mean({"a": [0.5, 1.0]}), "0.750, too few (1 case, 2 items)"),
        (stats.difference({"a": [1.0]}, {"a": [0.0]}), "+1.000, too few (1 case, 1 pair)"),
    ],
)
def test_of_one_nothing_is_said_but_that_it_is_too_few(figure, words):
    """One item, or one cluster whatever is in it, has neither an interval nor a verdict."""
    assert str(figure) == words
