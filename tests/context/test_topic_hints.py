"""Hints are distinctive, and come from all along a range however often it was merged."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping

from firsthand.context.topic_hints import ASKED_TERMS_MAX, Span, hints_of
from firsthand.value import replace
from firsthand.window import HINTS_MAX, Hint, Marker
from windows import made_id, made_items, merge, rare


def span(terms: list[tuple[str, ...]], begin: int = 1, hints: tuple[Hint, ...] = ()) -> Span:
    """A span of which one run of items with these terms leaves."""
    items = made_items("o" * len(terms), begin=begin)
    run = [replace(item, terms=one) for item, one in zip(items, terms, strict=True)]
    return Span(min([begin, *(hint.position for hint in hints)]), run[-1].position, [run], hints)


def words(hints: tuple[Hint, ...]) -> list[str]:
    return [hint.term for hint in hints]


def eighths(marker: Marker) -> set[int]:
    """The eighths of a marker's range that have a hint."""
    width = marker.last_position - marker.first_position + 1
    return {(hint.position - marker.first_position) * 8 // width for hint in marker.hints}


def compacted(sizes: list[int]) -> tuple[Marker, ...]:
    """The markers after one compaction after the other, of so many events each, with topics of their own."""
    markers: tuple[Marker, ...] = ()
    begin = 1
    for size in sizes:
        (hints,) = hints_of([span([(f"topic{begin + at}", "deploy") for at in range(size)], begin)], rare)
        last = begin + size - 1
        fresh = Marker(made_id(begin), made_id(last), begin, last, 1, 1, None, None, size, size, hints=hints)
        markers = merge([*markers, fresh])
        begin += size
    return markers


def test_after_a_hundred_merges_each_eighth_of_every_range_has_its_hint():
    """Merging keeps hints from all along the range, not the five oldest."""
    markers = compacted([16] * 128)
    assert [marker.events for marker in markers] == [2_048]
    assert eighths(markers[0]) == set(range(8))
    for marker in compacted([16] * 100):
        assert eighths(marker) == set(range(8))


def test_spans_of_unequal_size_leave_no_half_of_a_range_without_hints():
    """With compactions between 2 and 200 events, at most two eighths are empty, and never two neighbours."""
    chance = random.Random(11)
    for _ in range(20):
        for marker in compacted([chance.choice((2, 9, 30, 200)) for _ in range(100)]):
            empty = set(range(8)) - eighths(marker)
            assert len(empty) <= 2
            assert all(one + 1 not in empty for one in empty)


def test_what_is_common_in_the_store_is_no_hint():
    """A term that a fifth of all events hold tells nothing apart; of the others the rarer one is taken."""
    shares = {"deploy": 0.5, "certificate": 0.01, "rollback": 0.0001}
    (hints,) = hints_of([span([("deploy", "certificate", "rollback")] * 2)], lambda _: shares)
    assert words(hints) == ["rollback", "certificate"]
    assert hints[0].score > hints[1].score
    assert hints_of([span([("deploy",)])], lambda _: shares) == [()]


def test_the_store_is_asked_once_for_a_bounded_shortlist():
    """However much leaves, one question of bounded size goes to the store."""
    asked: list[Collection[str]] = []

    def frequency(terms: Collection[str]) -> Mapping[str, float]:
        asked.append(terms)
        return rare(terms)

    many = [span([(f"a{at}x{n}", f"b{at}x{n}") for n in range(300)], at * 1_000 + 1) for at in range(20)]
    hints = hints_of(many, frequency)
    assert len(asked) == 1
    assert ASKED_TERMS_MAX // 2 < len(asked[0]) <= ASKED_TERMS_MAX
    assert [len(one) for one in hints] == [HINTS_MAX] * 20
