"""Names of episodes: unique, distinctive, and file names everywhere."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from firsthand.agents.episode_names import (
    NAME_BYTES_MAX,
    NAME_CHARACTERS_MAX,
    Word,
    aliases,
    alike,
    distinctive,
    slug_of,
    topic_of,
    words_of,
)

DATE = "2026-11-21"
TEXT = st.text(min_size=1, max_size=30)
WORDS = st.lists(
    st.builds(
        lambda text, weight, place: [Word(one, weight, place) for one in words_of(text)],
        TEXT, st.floats(0, 10), st.integers(0, 50),
    ),
    max_size=12,
).map(lambda lists: [word for words in lists for word in words])  # fmt: skip


def said(*texts: str) -> list[Word]:
    return [Word(text, 10.0 - number, number) for number, text in enumerate(texts)]


def test_the_weightiest_words_in_the_order_they_stood():
    """A name is its date and the words that say most, in the order in which they were said."""
    words = [
        Word("bootstrap", 5, 2),
        Word("cold", 3, 0),
        Word("start", 3, 1),
        Word("yaml", 0.1, 3),
        Word("x1", 0.05, 4),
    ]
    assert distinctive(words, DATE, []) == "2026-11-21-cold-start-bootstrap-yaml"
    assert topic_of("2026-11-21-cold-start-bootstrap") == "cold start bootstrap"
    assert slug_of("2026-11-21-cold-start-bootstrap") == "cold-start-bootstrap"


def test_a_number_stays_with_its_word():
    """What followed a word as a number stands in the name: it is how a series is asked for."""
    words = [Word("lectio", 3, 0, "0032"), Word("mitral", 2, 1), Word("stenosis", 1, 2)]
    assert distinctive(words, DATE, []) == "2026-11-21-lectio-0032-mitral-stenosis"


def test_an_alias_is_told_apart():
    """Where the words are those of a neighbour, further words, files or outcomes are added; numbers alone do not do."""
    neighbours = [f"2026-11-{day:02}-proving-medqa-{day:03}" for day in range(1, 20)]
    words = [Word("proving", 5, 0), Word("medqa", 5, 1, "032")]
    name = distinctive(words, DATE, neighbours, telling=("splenomegaly", "test_fever.py"))
    assert name == "2026-11-21-proving-medqa-032-splenomegaly"
    assert not any(alike(name, other) for other in neighbours)


def test_without_words_it_is_a_session_with_a_number():
    """A session without a word has a name all the same, and the next one another."""
    first = distinctive([], DATE, [])
    assert first == "2026-11-21-session"
    assert distinctive([], DATE, [first]) == "2026-11-21-session-2"


def test_any_script_and_no_secret():
    """Letters of every script stay, folded and in NFC; a token never becomes part of a name."""
    assert distinctive([Word(one, 1, 0) for one in words_of("データベース")], DATE, []).endswith("データベース")
    assert words_of("Übergrößen ÉTÉ") == ("übergrössen", "été")
    assert words_of("e\u0301te\u0301") == ("été",)
    assert "akia" not in distinctive([Word("AKIAIOSFODNN7EXAMPLE", 9), Word("deploy", 1)], DATE, []).casefold()


@given(WORDS, st.lists(TEXT, max_size=8), st.lists(TEXT, max_size=4))
def test_a_name_is_unique_and_a_file_name(words, neighbours, telling):
    """Whatever is said, a name is unlike all others, short, in NFC, and made anew the same."""
    neighbours = [*neighbours, distinctive(words, DATE, neighbours, telling=telling)]
    name = distinctive(words, DATE, neighbours, telling=telling)
    assert name == distinctive(words, DATE, neighbours, telling=telling)
    fold = {unicodedata.normalize("NFKD", one).casefold() for one in neighbours}
    assert unicodedata.normalize("NFKD", name).casefold() not in fold
    assert len(name) <= NAME_CHARACTERS_MAX
    assert len(name.encode()) <= NAME_BYTES_MAX
    assert unicodedata.is_normalized("NFC", name)
    assert name.startswith(DATE)
    assert all(sign == "-" or sign.isalnum() or unicodedata.category(sign) in {"Mn", "Mc"} for sign in name)


def test_aliases_are_grouped():
    """Names that differ by a number, or by one word of many, are one group; the others are in none."""
    names = [
        "2026-01-01-lectio-0001", "2026-01-02-lectio-0002", "2026-01-03-cold-start-bootstrap",
        "2026-01-04-mail-filter-rules-spam-score", "2026-01-05-mail-filter-rules-spam-scores-score",
        "2026-01-06-date-parser",
    ]  # fmt: skip
    assert aliases(names) == (
        ("2026-01-01-lectio-0001", "2026-01-02-lectio-0002"),
        ("2026-01-04-mail-filter-rules-spam-score", "2026-01-05-mail-filter-rules-spam-scores-score"),
    )
