"""What is shown can never drive a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.cli.display import columns, cut, matcher, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x07", "\\x1b]8;;http://evil\\x07link\\x1b]8;;\\x07"),
        ("\x1b]52;c;cm0gLXJm\x07", "\\x1b]52;c;cm0gLXJm\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("a\rb", "a\\rb"),
        ("a\tb\nc", "a\\tb\\nc"),
        ("\u202eevil\u202c", "\\u202eevil\\u202c"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("pass\u200bword", "pass\\u200bword"),
        ("\ufeffx", "\\ufeffx"),
        ("x\U000e0041", "x\\U000e0041"),
        ("a\u3164b", "a\\u3164b"),
        ("a\u200db", "a\\u200db"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("\ud800", "\\ud800"),
        ("line\u2028end", "line\\u2028end"),
        ("\x00\x7f", "\\x00\\x7f"),
    ],
)
def test_what_could_drive_a_terminal_is_shown_as_an_escape(text, expected):
    """Controls, escape sequences, direction marks, hidden and blank signs appear as visible escapes."""
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "héllo wörld",
        "日本語テキスト",
        "ไทย",
        "👩\u200d🔧",
        "❤\ufe0f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "tiếng Việt",
        "₿ € ½",
    ],
)
def test_text_of_the_world_is_shown_as_it_is(text):
    """Letters, ideographs, emoji and the joiners that they need are left alone."""
    assert shown(text) == text


def test_a_pile_of_combining_marks_is_cut():
    """Ten thousand marks on a letter cover no line: all but the first few are written out."""
    assert shown("e" + "\u0301" * 10_000) == "e" + "\u0301" * 4 + "\\u0301" * 9_996


@given(st.text())
def test_nothing_shown_is_a_control_or_a_hidden_sign(text):
    """Whatever the text, what is shown holds no control, no surrogate, no private and no line separator."""
    assert {unicodedata.category(sign) for sign in shown(text)} & {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"} == set()
    assert {sign for sign in shown(text) if unicodedata.category(sign) == "Cf"} <= {"\u200c", "\u200d"}


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0xFFFF)), st.integers(1, 40))
def test_a_cut_text_fits(text, width):
    """A text that is cut to a width takes no more columns, and one that fits is left alone."""
    safe = shown(text)
    assert columns(cut(safe, width)) <= width
    assert (cut(safe, width) == safe) == (columns(safe) <= width)


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_marking_loses_nothing(text, query, exact):
    """What is marked in a text is put back as it stood, whatever was asked."""
    assert matcher(query, exact).sub(lambda match: match[0], text) == text
