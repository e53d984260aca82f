"""What must hold for every ladder, whatever is asked."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.answer import Query, Scope
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log.log import Log
from firsthand.moment import Moment
from firsthand.recall.attempt import Search
from firsthand.recall.ladder import climb, merge

WORDS = (
    "boat", "invoice", "deploy", "harbour", "Ann", "src/app/main.py", '"exit code 3"', "in March 2023", "before",
    "the deploy", "and what", "who paints?", "yesterday", "7f3a9c1", "東京", "é", "AND", "NEAR(", '"', "*", ".", "031",
)  # fmt: skip
NOW = Moment(1_684_000_000_000_000)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A store of forty events over some months."""
    opened = Log(tmp_path_factory.mktemp("ladder") / "store", indexes=(TextIndex(),))
    drafts = [
        Draft(
            Kind.USER_MESSAGE if n % 5 else Kind.NOTE,
            " ".join(WORDS[(n * k + n) % len(WORDS)] for k in range(1, 6)).encode(),
            time=Moment(NOW.microseconds - n * 300_000 * 1_000_000) if n % 3 else None,
        )
        for n in range(40)
    ]
    opened.append(drafts, namespace="default", session="s")
    yield opened
    opened.close()


queries = st.builds(
    lambda words, most, hits: Query(words, attempts_max=most, hits_max=hits),
    st.one_of(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), st.text(min_size=1, max_size=40)
    ),
    st.integers(1, 8),
    st.integers(1, 20),
)
confidences = st.lists(st.floats(0, 0.74), min_size=8, max_size=8)


def climbed(log, query, confidences):
    given_out = iter(confidences)
    search = Search(log.reader, "default", log.reader.namespace_key("default"), log.reader.head("default")[0], query)
    first = search.attempt(query.text, Scope(), "as asked")
    rewrite = lambda text: [text, "boat harbour", ""]  # noqa: E731
    return climb(
        first,
        search,
        lambda attempt: next(given_out),
        query,
        first_ms=60_000.0,
        now=NOW,
        triggers=True,
        rewrite=rewrite,
    )


@settings(deadline=None, max_examples=60)
@given(queries, confidences)
def test_attempts_differ_and_are_as_many_as_allowed(log, query, confidences):
    """No two hops ask the same words in the same scope, and there are at most `attempts_max`."""
    found = climbed(log, query, confidences)
    assert 1 <= len(found.hops) == len(found.tries) <= query.attempts_max
    asked = [(frozenset(one.attempt.text.casefold().split()), one.attempt.scope) for one in found.tries]
    assert len(set(asked)) == len(asked)
    assert found.best in found.tries
    assert found.best is found.tries[0] or found.best.confidence == max(hop.confidence for hop in found.hops)


@settings(deadline=None, max_examples=60)
@given(queries, confidences)
def test_nothing_that_was_found_is_lost(log, query, confidences):
    """The joined ranking holds what every attempt ranked, each event once, the surest attempt's order kept."""
    found = climbed(log, query, confidences)
    merged = [one.position for one in merge(found.tries)]
    each = [[row.position for row in one.attempt.ranked] for one in found.tries]
    assert sorted(merged) == sorted(set().union(*each))
    best = [row.position for row in found.best.attempt.ranked]
    assert [position for position in merged if position in best] == best
    assert merged[:8] == (best + [position for position in merged if position not in best])[:8]


@settings(deadline=None, max_examples=60)
@given(queries, confidences)
def test_scores_fall_and_stay_in_their_range(log, query, confidences):
    """Every score of a joined ranking lies between 0 and that of the hit before it."""
    totals = [one.total for one in merge(climbed(log, query, confidences).tries)]
    assert totals == sorted(totals, reverse=True)
    assert all(0.0 <= one <= 1.0 for one in totals)


@pytest.mark.parametrize(
    "hostile",
    [
        "before the deploy and what " * 2_000,
        "who paints? " * 5_000,
        '"exit code 3" src/app/main.py ' * 2_000,
        "in March 2023 and May " * 2_500,
        "東京" * 20_000,
        "a" * 60_000,
        ", and " * 10_000,
        "\0\u202e*" * 20_000,
    ],
)
def test_a_huge_message_climbs_in_time(log, hostile):
    """60 kB of words that begin every kind of attempt are asked in all of them within two seconds."""
    begun = time.process_time()
    found = climbed(log, Query(hostile, attempts_max=8), [0.1] * 8)
    assert time.process_time() - begun < 2.0
    assert len(found.hops) >= 1
