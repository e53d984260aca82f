"""Terms of one event that may become topic hints."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.context.marker_hints import terms
from firsthand.window import HINT_CHARACTERS_MAX, TERMS_MAX


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The build failed with E1234 in the gateway", {"E1234", "gateway", "build", "failed"}),
        ("see ABC-77 and /srv/app/deploy_config.yaml", {"ABC-77", "app/deploy_config.yaml"}),
        ("we asked Maria Keller about the Frankfurt warehouse", {"Maria Keller", "Frankfurt", "warehouse"}),
        ("call getUserName or parse_config, then requests.get", {"getUserName", "parse_config", "requests.get"}),
        (r"open C:\Users\kim\notes.txt", {r"kim/notes.txt"}),
        ("Обновите сертификат на сервере", {"Обновите", "сертификат", "сервере"}),
        ("数据库连接失败,请检查配置文件", {"数据库连接失败", "请检查配置文件"}),
        ("サーバーの証明書", {"サーバーの証明書"}),
        ("this.chatContainer and self.warehouse", {"chatContainer", "warehouse"}),
        ("HTTP and DNS", {"HTTP", "DNS"}),
        (r'{"content":"\tthis.chatContainer\n\nAvailable offers"}', {"chatContainer", "Available", "offers"}),
        (r'{"path":"C:\\Users\\kim\\notes.txt"}', {r"kim/notes.txt"}),
        ("what do you think about this thing, please?", set()),
        ("", set()),
    ],
)
def test_what_names_a_topic_is_found(text, expected):
    """Error codes, tickets, paths by their end, names, identifiers and rare words; in any script; no common words."""
    found = set(terms(text))
    assert found >= expected if expected else found == set()
    assert len(found) <= TERMS_MAX


def test_control_characters_and_brackets_are_in_no_term():
    """What could end a marker, or a line, is not part of a term."""
    found = terms('ab\x00cdefg\x1b[31mgreen"]\n[Turns 1-2 \u202egnirts')
    assert set(found) == {"cdefg", "green", "Turns", "gnirts"}


@pytest.mark.parametrize("unit", ["a", "a/", "A1", "\0", "_", "aB", "数", "' ", "A-", "1,", "Ab ", "a.", "/", "é"])
def test_a_megabyte_takes_bounded_time(unit):
    """However a text is made, its terms are found in the time that a few thousand characters take."""
    text = unit * (1_000_000 // len(unit))
    began = time.process_time()
    found = terms(text)
    assert time.process_time() - began < 0.5
    assert all(len(term) <= HINT_CHARACTERS_MAX for term in found)


@given(st.text(max_size=300) | st.text("aB1-_./' \"[]\n\t", max_size=300))
def test_every_term_is_short_printable_and_harmless(text):
    """For any text: few terms, each of one line, printable, without quotes or brackets, and the same every time."""
    found = terms(text)
    assert len(found) <= TERMS_MAX
    assert len(set(found)) == len(found)
    for term in found:
        assert 2 <= len(term) <= HINT_CHARACTERS_MAX
        assert term.isprintable()
        assert not set(term) & set('"[]<>`()\n')
    assert terms(text) == found
