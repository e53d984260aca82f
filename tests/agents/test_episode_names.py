"""Names of episodes: unique, of the words of the first request, and file names everywhere."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from firsthand.agents.episode_names import (
    NAME_BYTES_MAX,
    NAME_CHARACTERS_MAX,
    aliases,
    name_of,
    slug_of,
    topic_of,
    words_of,
)

DATE = "2026-11-21"


def test_the_first_words_that_others_have_not_in_their_order():
    """A name is its date and words of the request in its order, without stop words and folders; new ones first."""
    request = "Please automate the cold start of src/boot/scheduler.py with a yaml manifest, case 0032"
    assert name_of(DATE, request, []) == "2026-11-21-please-automate-cold-start-scheduler-py"
    taken = ["2026-11-19-please-look-at-case", "2026-11-20-please-mend-yaml-py-start"]
    assert name_of(DATE, request, taken) == "2026-11-21-automate-cold-start-scheduler-manifest-0032"
    assert topic_of("2026-11-21-cold-start-bootstrap") == "cold start bootstrap"
    assert slug_of("2026-11-21-cold-start-bootstrap") == "cold-start-bootstrap"


def test_without_words_it_is_a_session_and_a_taken_name_gets_a_number():
    """A session in which nothing was asked has a name all the same, and the next one another."""
    assert name_of(DATE, "", []) == "2026-11-21-session"
    assert name_of(DATE, "", ["2026-11-21-session", "2026-11-21-session-2"]) == "2026-11-21-session-3"


def test_any_script_and_no_secret():
    """Letters of every script stay, folded and in NFC; a token never becomes part of a name."""
    assert name_of(DATE, "データベース", []).endswith("データベース")
    assert words_of("Übergrößen ÉTÉ e\u0301te\u0301") == ("übergrössen", "été", "été")
    assert "akia" not in name_of(DATE, "deploy with AKIAIOSFODNN7EXAMPLE please", []).casefold()


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=30), max_size=8))
def test_a_name_is_unique_and_a_file_name(request, taken):
    """Whatever is asked, a name is none that is taken, short, in NFC, and made anew the same."""
    taken = [*taken, name_of(DATE, request, taken)]
    name = name_of(DATE, request, taken)
    assert name == name_of(DATE, request, taken)
    fold = {unicodedata.normalize("NFKD", other).casefold() for other in taken}
    assert unicodedata.normalize("NFKD", name).casefold() not in fold
    assert len(name) <= NAME_CHARACTERS_MAX
    assert len(name.encode()) <= NAME_BYTES_MAX
    assert unicodedata.is_normalized("NFC", name)
    assert name.startswith(DATE)
    assert all(sign == "-" or sign.isalnum() or unicodedata.category(sign) in {"Mn", "Mc"} for sign in name)


def test_aliases_are_grouped():
    """Names that differ by a number alone are one group; the others are in none."""
    names = ["2026-01-01-lectio-0001", "2026-01-02-lectio-0002", "2026-01-03-cold-start", "2026-01-06-date-parser"]
    assert aliases(names) == (("2026-01-01-lectio-0001", "2026-01-02-lectio-0002"),)
