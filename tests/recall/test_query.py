"""How a question is cut into terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.index import words
from firsthand.recall.query import LEADING_MAX, LIGHT_MAX, STRINGS_MAX, ask


def stems(text):
    return [word.rstrip("s").lower() for word in text.split()]


def keys(terms):
    return [term.key for term in terms]


def test_words_and_stop_words_are_told_apart():
    """Common words lead only where there is nothing else."""
    question = ask("What did the gaskets cost?", stems)
    assert keys(question.words) == ["gasket", "cost"]
    assert keys(question.light) == ["what", "did", "the"]
    assert question.leading == question.words
    assert ask("who did it", stems).leading == ask("who did it", stems).light


def test_a_word_in_camel_case_has_parts():
    """A word in camel case is asked for whole and by its parts; one without humps has none."""
    question = ask("showThemeSelector parseHTTPRequest gasket NATO", stems)
    assert keys(question.words) == ["showthemeselector", "parsehttprequest", "gasket", "nato"]
    assert keys(question.parts) == ["show", "theme", "selector", "parse", "http", "request"]
    assert not set(keys(question.parts)) & set(keys(question.words))


def test_exact_strings_are_named_as_in_the_index():
    """A path, a version and an address are one token each, as the index has them."""
    question = ask("is src/Main.py at v1.2.3 on 10.0.0.1?", stems)
    assert keys(question.strings) == [words.token(text) for text in ("src/main.py", "v1.2.3", "10.0.0.1")]


def test_numbers_are_asked_without_their_zeros_too():
    """A number with leading zeros is asked for both ways."""
    assert {"007", "7"} <= set(keys(ask("case 007", stems).words))


@pytest.mark.parametrize("text", ["\u6771\u4eac\u306e\u5929\u6c17", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35"])
def test_scripts_without_spaces_are_cut_into_pairs(text):
    """Signs of scripts without spaces are asked for in pairs, as the index has them."""
    assert keys(ask(text, stems).words) == [words.token(pair) for pair in words.spaceless_pairs(text)]


@given(st.text(max_size=400))
def test_any_text_is_cut(text):
    """No text raises, and no term is twice among the words."""
    question = ask(text, stems)
    assert len(set(keys(question.words))) == len(question.words) <= LEADING_MAX
    assert len(question.strings) <= STRINGS_MAX
    assert len(question.light) <= LIGHT_MAX


def test_a_long_question_says_what_was_cut():
    """Of a question of thousands of words the longest are asked for, and how many were not is counted."""
    question = ask(" ".join(f"word{number}" for number in range(2_000)), stems)
    assert len(question.words) == LEADING_MAX
    assert question.cut == 2_000 - LEADING_MAX
