"""Statements: what one piece of text says, cut out of prose, lists, tables, JSON, YAML and fields."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand_evals.probe.forms import JSON_TRIES
from firsthand_evals.probe.statements import SENTENCE_CHARACTERS_MAX, cut, statements, stem


def said(text: str, role: str = "user"):
    return statements([{"role": role, "content": text}])


def texts(text: str) -> list[str]:
    return [one.text for one in said(text)]


def chosen(text: str) -> list[tuple[str, bool]]:
    return [(one.text, one.polarity) for one in said(text) if one.values]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We bought 7 notebooks at $4, 9 pens at $2 and 3 rulers at $1.",
            ["We bought 7 notebooks at $4", "9 pens at $2", "3 rulers at $1."],
        ),
        ("Counts: pens 2, pads 3. Each: pens $4, pads $5.", ["Counts: pens 2", "pads 3.", "Each: pens $4", "pads $5."]),
        ("painting 1.75 h, cleaning 45 min and packing 2 h", ["painting 1.75 h", "cleaning 45 min", "packing 2 h"]),
        ("Drei Stühle zu je 40 Euro und ein Tisch zu 95 Euro.", ["Drei Stühle zu je 40 Euro", "ein Tisch zu 95 Euro."]),
        ("两支笔\uff0c每支五元", ["两支笔\uff0c每支五元"]),
        ("Book a table for 4 people, on Friday, at 12:45.", ["Book a table for 4 people, on Friday, at 12:45."]),
        ("There were 7 buckets, and each cost $16.", ["There were 7 buckets, and each cost $16."]),
        ("It weighs 1500 g. I think so.", ["It weighs 1500 g.", "I think so."]),
        ("See e.g. page 4. Then stop.", ["See e.g. page 4.", "Then stop."]),
        ("9 pens at $2, 7 pads at $4, in all $46.", ["9 pens at $2", "7 pads at $4", "in all $46."]),
    ],
)
def test_prose_is_cut_where_its_parts_stand_by_themselves(text, expected):
    """A list in a sentence falls into its entries; a sentence whose parts need each other stays whole."""
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        (
            "| each | item | qty |\n| --- | --- | --- |\n| $4 | pens | 7 |",
            [("each", "$4"), ("item", "pens"), ("qty", "7")],
        ),
        ("item;qty;each\npens;7;4", [("item", "pens"), ("qty", "7"), ("each", "4")]),
        ("item,qty,each\npens,7,4.50", [("item", "pens"), ("qty", "7"), ("each", "4.50")]),
        ("folder      size\nmail        32 MB", [("folder", "mail"), ("size", "32 MB")]),
        ('{"items": [{"item": "pens", "qty": 7}]}', [("item", "pens"), ("qty", "7")]),
        ('Order: {"items": [{"item": "pens", "qty": 7}]}', [("item", "pens"), ("qty", "7")]),
        ("- item: pens\n  qty: 7", [("item", "pens"), ("qty", "7")]),
    ],
)
def test_a_row_keeps_the_names_of_its_columns(text, cells):
    """A row of a table, of CSV, of aligned columns, a record of JSON or YAML knows its cells by name."""
    row = said(text)[-1]
    assert (row.form, [(cell.name, cell.text) for cell in row.cells]) == ("row", cells)


def test_a_leaf_of_json_keeps_its_path():
    """A record of JSON stands below its keys, pretty-printed or not, and so does a block of YAML."""
    for text in (
        '{"services": {"images": {"port": 8818, "replicas": 5}, "search": {"port": 4226, "replicas": 1}}}',
        '{\n  "services": {\n    "images": {\n      "port": 8818,\n      "replicas": 5\n    }\n  }\n}',
        "services:\n  images:\n    port: 8818\n    replicas: 5\n",
    ):
        row = next(one for one in said(text) if one.form == "row")
        assert (row.path, [cell.name for cell in row.cells]) == (("services", "images"), ["port", "replicas"])


def test_a_field_has_its_name_and_value():
    """`name: value`, `NAME=value` and an export are fields; a sentence with a colon is none."""
    for text, name in (("port: 8443", "port"), ("export PORT=8443", "PORT"), ("timeout = 30s", "timeout")):
        one = said(text)[0]
        assert (one.form, one.cells[0].name, len(one.values)) == ("field", name, 1)
    assert said("Here is what I think: it was Tuesday. They came at 9 pm.")[0].form == "sentence"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 lamps at $4 (considered, not bought); 2 pens at $1 (bought)", [False, True]),
        ("We did not buy: 3 lamps at $4, 2 pens at $1", [False, False]),
        ("We bought 7 pads at $4, 2 pens at $1, but not the 5 lamps at $9", [True, True, False]),
        ("Considered, not bought:\n- 3 lamps at $4\n\nBought:\n- 2 pens at $1", [False, True]),
        ("| item | qty | bought |\n| --- | --- | --- |\n| lamps | 3 | no |\n| pens | 2 | yes |", [False, True]),
        ("No lamps were bought, although they were offered at $8.", [False]),
        ("✗ 3 lamps at $4\n✓ 2 pens at $1", [False, True]),
        ("没买\uff1a三盏灯", [False]),
        ("The order was 4 lamps at $8", [True]),
    ],
)
def test_what_was_considered_and_not_chosen_is_marked(text, expected):
    """A statement's polarity is false where it, its heading, its lead or its row says that it was not chosen."""
    assert [polarity for _, polarity in chosen(text)] == expected


@pytest.mark.parametrize(
    ("text", "holds", "denied"),
    [
        ("port is now 8443, not 8080", ["8443"], ["8080"]),
        ("It was 7 batteries, not 8.", ["7"], ["8"]),
        ("Not 8 batteries: 7.", ["7"], ["8"]),
        ("changed from 4 to 6", ["6"], ["4"]),
        ("4 -> 6", ["6"], ["4"]),
        ("~~9~~ 7 tiles", ["7"], ["9"]),
        ("12 posters instead of 8", ["12"], ["8"]),
    ],
)
def test_a_denied_value_is_no_value(text, holds, denied):
    """What is denied, or was replaced in the same breath, stands apart from what is affirmed."""
    one = said(text)[0]
    assert ([held.text for held in one.values], [no.text for no in one.denied]) == (holds, denied)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The total comes to $46.", "total"),
        ("7 * 4 = 28", "total"),
        ("Therefore Ana is the cook.", "conclusion"),
        ("Your table is booked for 19:15.", "confirmation"),
        ("A note says that the pens come to $27.", "claim"),
        ("Somebody told me that Ana is the cook.", "claim"),
        ("The gardener insists that Ana is the cook.", "claim"),
        ("According to the sign, the port is 9000.", "claim"),
        ('{"total_before_tax": 299}', "total"),
        ("7 notebooks at $4", ""),
        ("Ana is not the cook.", ""),
    ],
)
def test_what_a_statement_does_is_named(text, kind):
    """Summing up, concluding, confirming and citing hearsay are told apart from just saying."""
    assert said(text)[-1].asserts == kind


def test_what_is_given_with_a_message_is_given_with_its_statements():
    """Role, turn and pointer come from the message; a message without content has no statement."""
    messages = [{"role": "assistant", "content": None}, {"role": "tool", "content": "port: 1", "pointer": "fh:X"}]
    assert [(one.role, one.turn, one.pointer) for one in statements(messages)] == [("tool", 1, "fh:X")]


def test_content_that_is_no_text_is_refused():
    """A message of several parts is refused with what to do."""
    with pytest.raises(InvalidArgument, match=r"message 0: its content is text.*cut part by part; got list"):
        statements([{"role": "user", "content": [{"type": "text"}]}])


@given(st.text(max_size=400))
def test_every_statement_stands_where_it_says(text):
    """For any text: statements are verbatim, in order, not empty, of bounded length, with their values inside them."""
    end = 0
    for one in said(text):
        assert text[one.start : one.end] == one.text
        assert one.start >= end
        assert one.text.strip()
        assert one.form != "sentence" or len(one.text) <= SENTENCE_CHARACTERS_MAX
        assert all(one.start <= held.start and held.end <= one.end for held in (*one.values, *one.denied))
        assert all(text[held.start : held.end] == held.text for held in (*one.values, *one.denied))
        end = one.end


_LINES = st.lists(
    st.sampled_from(
        [
            "| a | 1 |",
            "|---|---|",
            "- 7 pens at $4",
            "a: 1",
            "  b: 2",
            "{",
            '{"a": 1}',
            "[1, 2]",
            "a,1,2",
            "# T",
            "",
            "x;y;1",
            "no end",
            "Considered:",
            "- k: v1",
            "    q: 3",
            "}",
            "```",
            "a  1",
            "not 7 but 9 pens, 2 pads and 3 cups",
        ]
    ),
    max_size=14,
)


@given(_LINES)
def test_forms_mixed_in_any_way_stay_verbatim(lines):
    """Whatever forms follow each other, no piece is lost, doubled or misplaced."""
    text = "\n".join(lines)
    places = [(one.start, one.end) for one in said(text)]
    assert all(text[one.start : one.end] == one.text for one in said(text))
    assert all(before[1] <= after[0] for before, after in pairwise(places))


@pytest.mark.parametrize(
    "piece",
    ["{", '{"a":\n', "a,1\n", "k:\n", "- a: 1\n", "| a ", "(", "1 a and ", ", ", "a  1\n", "x: y. Z\n", ".", "?!"],
)
def test_the_time_taken_grows_with_the_length_alone(piece):
    """Four times the text takes about four times the time, for forms that begin and never end."""

    def seconds(length: int) -> float:
        long = (piece * length)[:length]
        start = time.process_time()
        said(long)
        return time.process_time() - start

    seconds(1_000)
    best = min(seconds(40_000) for _ in range(3))  # of several: another test's garbage may be collected in one
    assert best < 12 * max(min(seconds(10_000) for _ in range(3)), 0.004)


def test_a_long_list_in_one_string_takes_time_by_its_length():
    """Four times the entries of one string of JSON take about four times the time."""

    def seconds(entries: int) -> float:
        text = '{"bought": "' + "3 pens at $2, " * entries + '"}'
        start = time.process_time()
        assert len(said(text)) == entries
        return time.process_time() - start

    seconds(100)
    best = min(seconds(4_000) for _ in range(3))  # of several: another test's garbage may be collected in one
    assert best < 12 * max(min(seconds(1_000) for _ in range(3)), 0.004)


def test_json_is_tried_a_bounded_number_of_times():
    """After `JSON_TRIES` openings that lead nowhere, a brace is a sign like others; what stands behind is still cut."""
    assert texts("{ no\n" * (JSON_TRIES + 2) + "port: 8443")[-1] == "port: 8443"


def test_words_are_looked_up_in_one_spelling():
    """Singular and plural, British and American, booked and booking are one word."""
    assert len({stem(word) for word in ("colour", "colours", "color")}) == 1
    assert len({stem(word) for word in ("booked", "booking", "book", "books")}) == 1
    assert [stem(word) for word in ("batteries", "brushes", "glass", "bus")] == ["battery", "brush", "glass", "bus"]


def test_what_is_beyond_a_limit_of_a_message_is_named():
    """Of a dense message the first statements are given, and its pointer is named; of others nothing is."""
    dense = {"role": "tool", "content": "a: 1\n" * 50, "pointer": "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"}
    short = {"role": "user", "content": "We bought 7 pads."}
    found = cut([short, dense], most=10)
    assert len([one for one in found.statements if one.turn == 1]) == 10
    assert found.unread == ("fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY",)
    assert cut([short, dense], most=100).unread == ()
    assert cut([dense], values_most=5).unread == ("fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY",)


def test_a_day_of_a_date_ends_no_sentence():
    """The point of an ordinal before a month ends no sentence; any other does."""
    assert [one.text for one in statements([{"role": "user", "content": "Es ist am 9. März. Danach nicht."}])] == [
        "Es ist am 9. März.", "Danach nicht.",
    ]  # fmt: skip
