"""The receipt of a compaction."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.context.markers import apply
from firsthand.context.plan import plan
from firsthand.context.receipt import (
    ENTRIES_MAX,
    MISSED_MAX,
    Left,
    Receipt,
    Reflection,
    Rest,
    from_json,
    make,
    ranges,
    spans,
    to_json,
)
from firsthand.context.receipt_topics import Question
from firsthand.errors import FormatError
from firsthand.moment import Moment
from firsthand.value import replace
from firsthand.window import Budget, Departure, Hint, Marker, Plan, Window
from windows import count, made_id, made_window, rare

MISSED = Question(made_id(4), "9fceb02d0ae5")


def compacted(letters: str = "sua uacr ua ua u", low: int = 5_000, **options: object) -> tuple[Window, Plan, Receipt]:
    window = made_window(letters)
    budget = Budget(10 * low, low=0.1, high=0.1)
    planned = plan(window, budget)
    after = apply(window, planned, rare, count=count)
    return after, planned, make(planned, after, budget, **options)


def test_it_says_what_left_and_what_the_window_is_now():
    """Everything of one compaction stands in its receipt."""
    after, planned, receipt = compacted(low=7_000)
    assert receipt == Receipt(
        cycle=1,
        budget=Budget(70_000, low=0.1, high=0.1),
        overhead_tokens=0,
        tokens_before=12_000,
        tokens_after=6_000 + after.markers_tokens,
        tokens_target=7_000,
        left=(Left(f"fh:{made_id(2)}..{made_id(7)}", 1, 2, 6, 6_000, planned.leaves[0].reason),),
        markers=after.markers,
        kept=((1, 1), (8, 12)),
        through=12,
    )


def test_people_and_agents_can_read_it():
    """The text says the sizes, every span with its pointer and reason, what is over, and what was asked."""
    after, planned, receipt = compacted(
        low=2_000, unproven=[made_id(9)], reflection=Reflection(3, 2, 3, (MISSED,), 0.01)
    )
    one = planned.leaves[0]
    assert receipt.text == (
        f"Compaction 1: 12,000 tokens became {after.tokens:,} (target 2,000 of 20,000). Nothing is lost: every pointer "
        "opens to the exact bytes.\n"
        f"- fh:{made_id(2)}..{made_id(11)}: turns 1-4, 10 events, 10,000 tokens. {one.reason}.\n"
        f"{after.tokens - 2_000} tokens over the target: 2 items cannot leave, the largest are fh:{made_id(1)}, "
        f"fh:{made_id(12)}.\n"
        f"1 items stay since the log does not prove that it has them: fh:{made_id(9)}.\n"
        "Asked for 3 exact strings of what left: 2 recalled, 3 expanded; missed: '9fceb02d0ae5' of "
        f"fh:{made_id(4)}."
    )


def test_what_is_sent_beside_the_window_counts_before_and_after():
    """The overhead is part of both sizes, so that their difference is what the compaction saved."""
    window = made_window("ua ua u")
    made = plan(window, Budget(10_000, hot_turns=1), overhead_tokens=5_000)
    after = apply(window, made, rare, count=count)
    receipt = make(made, after, Budget(10_000, hot_turns=1), overhead_tokens=5_000)
    assert (receipt.tokens_before, receipt.tokens_after, receipt.overhead_tokens) == (
        10_000,
        after.tokens + 5_000,
        5_000,
    )


def test_long_lists_are_cut_and_the_rest_is_counted():
    """At most 200 entries of each list stand in a receipt; what is beyond them is summed, and the text says so."""
    window = made_window("ux" * 300, tokens=[10 + number for number in range(600)])
    leaves = tuple(Departure((item,), "for a test") for item in window.items if item.position % 2)
    staying = tuple(item for item in window.items if not item.position % 2)
    planned = Plan(leaves, window.tokens, 0, 1, staying)
    earlier = spans(Plan((Departure(window.items[:1], "before"),), 0, 0, 0))
    after = apply(window, planned, rare, count=count)
    receipt = make(planned, after, Budget(100), earlier=earlier)
    assert (len(receipt.left), receipt.left[0].reason, receipt.left[1].reason) == (ENTRIES_MAX, "before", "for a test")
    over = [departure.items[0].tokens for departure in leaves[ENTRIES_MAX - 1 :]]
    assert receipt.left_rest == Rest(101, 101, sum(over))
    assert receipt.excess == tuple(item.id for item in staying[::-1][:ENTRIES_MAX])
    assert receipt.excess_rest == Rest(100, 100, sum(item.tokens for item in staying[:100]))
    assert "- 281 more spans: 281 events" in receipt.text
    assert "300 items cannot leave" in receipt.text
    assert from_json(to_json(receipt)) == receipt


def test_reflections_add_up_over_a_session():
    """The totals are those before it and this one; what was missed last is kept, at most twenty."""
    earlier = Reflection(10, 9, 10, (MISSED,) * MISSED_MAX, 1.0)
    now = Reflection(2, 1, 2, (Question(made_id(5), "new"),), 0.5)
    _, _, receipt = compacted(reflection=now, totals=earlier)
    assert receipt.reflection == now
    assert receipt.totals == Reflection(12, 10, 12, (MISSED,) * (MISSED_MAX - 1) + now.missed, 1.5)
    assert compacted(totals=earlier)[2].totals == earlier


def test_kept_ranges_name_positions_of_items_only():
    """A position that is another session's, or that left, is in no range; every item's is."""
    items = [
        replace(item, position=at) for item, at in zip(made_window("uauaua").items, (1, 2, 5, 6, 7, 9), strict=True)
    ]
    assert ranges(items) == ((1, 2), (5, 7), (9, 9))
    assert ranges([]) == ()


def test_accesses_of_what_stays_are_kept():
    """How items were used is part of the window, and so of its receipt."""
    window = made_window("ua u")
    items = (window.items[0], window.items[1], replace(window.items[2], accesses=(9, 4)))
    receipt = make(Plan((), 0, 0, 0), replace(window, items=items), Budget(100))
    assert receipt.accesses == {3: (9, 4)}
    assert from_json(to_json(receipt)).accesses == {3: (9, 4)}


moments = st.none() | st.builds(Moment, st.integers(-(10**15), 10**15), st.integers(-1_000, 1_000))
numbers = st.integers(0, 10**12)
words = st.text(st.characters(codec="utf-8"), max_size=12)
hints = st.builds(Hint, words, numbers, st.floats(0, 1e6))
markers = st.builds(
    Marker, words, words, numbers, numbers, numbers, numbers, moments, moments, numbers, numbers, numbers,
    st.lists(hints, max_size=3).map(tuple), numbers, numbers,
)  # fmt: skip
missed = st.lists(st.builds(Question, words, words), max_size=2).map(tuple)
reflections = st.builds(Reflection, numbers, numbers, numbers, missed, st.floats(0, 1e6))
receipts = st.builds(
    Receipt, numbers, st.builds(Budget, st.integers(1, 10**6), low=st.floats(0.01, 0.9)), numbers, numbers, numbers,
    numbers, st.lists(st.builds(Left, words, numbers, numbers, numbers, numbers, words), max_size=3).map(tuple),
    st.builds(Rest, numbers, numbers, numbers), st.lists(words, max_size=3).map(tuple),
    st.builds(Rest, numbers, numbers, numbers), st.lists(words, max_size=3).map(tuple), st.none() | reflections,
    reflections, st.lists(markers, max_size=3).map(tuple),
    st.lists(st.tuples(numbers, numbers).map(lambda pair: (min(pair), max(pair))), max_size=3).map(tuple),
    st.dictionaries(numbers, st.lists(numbers, max_size=2).map(tuple), max_size=3), numbers,
)  # fmt: skip


@given(receipts)
def test_json_gives_back_the_very_receipt(receipt):
    """Reading is the exact inverse of writing."""
    assert from_json(to_json(receipt)) == receipt


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"{}", b'{"receipt":2}', b'{"receipt":1}', b"\xff\xfe", b"[" * 100_000, b'{"receipt":1,"cycle":'],
)
def test_what_is_no_receipt_is_refused(data):
    """Other bytes are an error that says what was expected and shows what came."""
    with pytest.raises(FormatError, match="expected a receipt"):
        from_json(data)


FIELDS = sorted(json.loads(to_json(compacted()[2])))


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("wrong", ["text", None, -1.5, True, [[]], [None], {"a": 1}])
def test_a_receipt_with_a_wrong_field_is_refused(name, wrong):
    """Each field of another type is refused, not taken over."""
    read = json.loads(to_json(compacted(unproven=[made_id(3)])[2]))
    if (name, wrong) == ("reflection", None):
        return
    with pytest.raises(FormatError, match="expected a receipt"):
        from_json(json.dumps(read | {name: wrong}).encode())
