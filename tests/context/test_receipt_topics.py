"""Exact strings drawn from what left."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.context.receipt_topics import STRING_CHARACTERS_MAX, Question, questions


def drawn(*texts: str, count: int = 10) -> list[tuple[str, str]]:
    return [(one.id, one.string) for one in questions([(str(n), text) for n, text in enumerate(texts)], count)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is in", "9fceb02d0ae598e95dc970b74767f19372d61af8"),
        ("wrote /srv/data/reports/q3.csv to disk", "/srv/data/reports/q3.csv"),
        ("it ended with ERR_4051 again", "ERR_4051"),
        (r"it reads C:\Users\kim\notes.txt now", r"C:\Users\kim\notes.txt"),
        ("raised ConnectionResetError twice", "ConnectionResetError"),
        ("took 1,234.5 ms at most", "1,234.5 ms"),
        ("set max_retry_count to it", "max_retry_count"),
        ("it is at packages/agent/src/main.ts now", "packages/agent/src/main.ts"),
        ("id 1b4e28ba-2fa1-11d2-883f-0016d3cca427 it is", "1b4e28ba-2fa1-11d2-883f-0016d3cca427"),
        ("it says 'don't touch it' there", "don't touch it"),
        ("listen = amqps://broker-7.internal:48213", "amqps://broker-7.internal:48213"),
        ("see <https://docs.example.org/queue?page=2#limits>.", "https://docs.example.org/queue?page=2#limits"),
        ("it answers at db-1.internal:5433 now", "db-1.internal:5433"),
        ("he said 'the blue one on the left' and went", "the blue one on the left"),
    ],
)
def test_each_sort_of_exact_string_is_drawn(text, expected):
    """Hashes, addresses, paths, error codes, numbers with units, identifiers and quoted words are drawn whole."""
    assert drawn(text) == [("0", expected)]


def test_a_text_without_an_exact_string_gives_none():
    """Nothing is made up where there is nothing to ask for."""
    assert (
        drawn(
            "well, that's fine, and I don't mind", "", "yes", "12 34", "lines 1560-1600", r"a\n\nb cancelled.\n\nThen"
        )
        == []
    )


def test_questions_come_from_all_along_what_left():
    """With more texts than questions, each stretch of them gives one."""
    texts = [f"wrote /srv/data/part{number}.csv" for number in range(100)]
    assert sorted(int(one) // 20 for one, _ in drawn(*texts, count=5)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("unit", ["a", "a/", "A1", "_", "aB", "数", "' ", "1,", "/a", '"', "0-"])
def test_a_megabyte_takes_bounded_time(unit):
    """However a text is made, it is looked through in the time that a few thousand characters take."""
    began = time.process_time()
    questions([("x", unit * (1_000_000 // len(unit)))], 3)
    assert time.process_time() - began < 0.5


@given(st.lists(st.text(max_size=200) | st.text("ab1-_./' \"\n", max_size=20_000 // 100)), st.integers(0, 8))
def test_every_string_stands_in_its_text(texts, count):
    """For any texts: at most so many questions, none twice, each an exact part of its text on one line."""
    given_texts = [(str(number), text) for number, text in enumerate(texts)]
    asked = questions(given_texts, count)
    assert len(asked) <= count
    assert len({one.string for one in asked}) == len(asked)
    for one in asked:
        assert isinstance(one, Question)
        assert one.string in texts[int(one.id)]
        assert len(one.string) <= STRING_CHARACTERS_MAX
        assert one.string.isprintable()
    assert questions(given_texts, count) == asked


def test_a_long_text_gives_no_string_that_a_cut_went_through():
    """What is drawn from head, middle or tail is a whole string of the text."""
    text = " ".join(f"/srv/data/{number:08d}/file.csv" for number in range(3_000))
    ((_, string),) = drawn(text)
    assert string in text.split()
