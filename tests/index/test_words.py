"""What of an event is indexed."""

from __future__ import annotations

import time

import pytest

from firsthand.event import Artifact, Event, Kind, Trust
from firsthand.index import words
from firsthand.index.index_rows import rows_of
from firsthand.moment import Moment


def event(content: bytes | None, kind: Kind = Kind.TOOL_RESULT, media: str = "text/plain", **fields) -> Event:
    values = {"agent": "", "meta": {}, "artifact": None, "session": "s", "time": None} | fields
    return Event(
        1, "0" * 26, "default", values["session"], 0, 0, 1, kind, values["agent"], "tool:bash", Trust.UNTRUSTED,
        values["time"], Moment(0), media, values["meta"], b"", content, values["artifact"], erased=False,
        commitment=b"", chain=b"",
    )  # fmt: skip


def tokens(*strings: str) -> set[str]:
    return {words.token(string) for string in strings}


@pytest.mark.parametrize(
    ("text", "strings"),
    [
        ("see src/app/main.py.", {"src/app/main.py", "app/main.py", "main.py"}),
        ("at main.py:12:5", {"main.py:12:5", "main.py"}),
        (r"C:\Users\bob.txt", {"c:/users/bob.txt", "users/bob.txt", "bob.txt"}),
        ("user_name, well-known", {"user_name", "well-known"}),
        ("1,234.56 and v1.2.3", {"1,234.56", "v1.2.3"}),
        ("mail ann@example.com!", {"ann@example.com", "example.com"}),
        ("550e8400-e29b-41d4-a716-446655440000", {"550e8400-e29b-41d4-a716-446655440000"}),
        ("std::vector", {"std::vector"}),
        ("plain words only", set()),
    ],
)
def test_exact_strings_are_wholes_their_pieces_and_the_ends_of_paths(text, strings):
    """Each kind of exact string becomes one token of its own, folded, and so do the ends of a path."""
    assert set(words.of_text(text).exact) == tokens(*strings)


def of_event(one: Event) -> words.Words:
    """Give the words of an event's only passage."""
    read = words.reading(one.content, one.media, one.kind)
    return words.of_text(read(one.content), words.header(one))


def test_what_a_query_holds_is_found_in_what_a_document_holds():
    """A string that stands alone in a query names a token of every document that holds it whole."""
    for string in ["src/a/b.py", "b.py", "a.b.c", "x-1", "ann@example.com", "10.0.0.1:80", "FOO_BAR", "1,234.5"]:
        (found,) = words.exact_strings(f"({string}).")
        assert found == string
        assert words.token(found.casefold()) in words.of_text(f"before {string}, after").exact


def test_camel_case_names_give_their_parts():
    """The parts of a camel-case name are words, beside the whole."""
    assert words.of_text("call getUserName now").text == "call getUserName now\nget User Name"


def test_scripts_without_spaces_become_pairs_and_leave_the_text():
    """Han, Kana, Thai and Hangul are indexed as pairs and single signs; other words stay."""
    found = words.of_text("go 東京都 now")
    assert found.text == "go   now"
    assert set(found.exact) == tokens("東京", "京都", "東", "京", "都")
    assert words.spaceless_pairs("東京都と 水") == ["東京", "京都", "都と", "水"]
    assert words.without_spaceless("a ไทย b") == "a   b"


def test_composed_and_decomposed_letters_are_the_same():
    """NFC and NFD spellings give the same words and the same exact strings."""
    assert words.of_text("caf\u00e9/menu.txt") == words.of_text("cafe\u0301/menu.txt")


def test_the_speaker_and_what_meta_names_are_words_too():
    """The agent and the fields of meta that say what it is about stand before the text."""
    one = event(b"hello", agent="Ann", meta={"subject": "Gas meter", "model": "x", "to": ["bob", 3]})
    assert of_event(one).text == "Ann Gas meter bob\nhello"


def test_json_is_read_with_its_escapes():
    """A tool call's escapes are read, so words beside a line break are words."""
    one = event(rb'{"cmd": "ls\nsrc \u00e9 \ud83d\ude00 \"q\""}', Kind.TOOL_CALL, "application/json")
    assert of_event(one).text == '{  "ls\nsrc \u00e9 \U0001f600 "q""}'


def test_a_path_in_plain_text_keeps_its_backslashes():
    """Text that is no JSON is not unescaped."""
    assert of_event(event(rb"C:\new\table")).text == r"C:\new\table"


@pytest.mark.parametrize(("data", "media"), [(b"\x89PNG", "image/png"), (b"a\0b", "application/octet-stream")])
def test_what_is_no_text_is_indexed_by_its_meta_only(data, media):
    """A picture gives no words but those of its meta."""
    assert of_event(event(data, media=media, meta={"caption": "a cat"})) == words.Words("a cat\n", [])


def test_text_of_an_unknown_media_type_is_text():
    """A media type that says nothing leaves the decision to the bytes, also when a sign is cut in two."""
    assert words.reading("é".encode() * 2048 + b"\xc3", "application/x-y", Kind.OTHER)(b"abc") == "abc"
    assert words.reading(b"\xff\xfe\x01", "application/x-y", Kind.OTHER)(b"abc") == ""


def test_lone_surrogates_and_invalid_bytes_do_no_harm():
    """What is not Unicode text becomes a question mark or U+FFFD and stays searchable around it."""
    assert words.of_text("a \ud800 b").text == "a ? b"
    assert of_event(event(b"ok \xff fine")).text == "ok \ufffd fine"


HOSTILE = [
    "a" * 400_000, "a/" * 200_000, "aA" * 200_000, "a-" * 200_000, ":" * 400_000, "a." * 3 + "/" * 400_000,
    "\\" * 400_000, "a b_" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_takes_more_than_linear_time(hostile):
    """Texts made against the patterns are cut in time linear in their length."""
    began = time.process_time()
    words.of_text(hostile)
    words.unescape(hostile)
    assert time.process_time() - began < 4.0


def test_a_long_run_gives_pieces_of_bounded_length():
    """A run of more than 256 signs is cut, so no exact string is longer than that."""
    long = "a-" * 1_000
    assert max(map(len, words.exact_strings(long))) <= words.STRING_CHARACTERS_MAX


def test_an_artifact_has_a_header_like_any_event():
    """The header does not depend on where the payload is kept."""
    kept = event(None, agent="Ann", artifact=Artifact(b"0" * 32, 9, b""))
    assert words.header(kept) == words.header(event(b"", agent="Ann")) == "Ann"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("proving-medqa-031", "31"), ("file_007.txt and case 07", "7 7"), ("0031 of 0031", "31"),
        ("lectio 0100", "100"),
        ("2026-03-05 09:05 03/05/2026", ""), ("10.0.03.17 v1.02", ""), ("0x0012ab 007abc", ""), ("0 00 100 a0", ""),
    ],
)  # fmt: skip
def test_leading_zeros_are_left_off_numbers_alone(text, numbers):
    """A number with leading zeros is indexed without them too; dates, addresses and hashes are left as they are."""
    found = words.of_text(text).text
    assert found.removeprefix(text).split() == list(dict.fromkeys(numbers.split()))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on 8 May 2023", [("8 May 2023", "2023-05-08")]),
        ("May 8, 2023 and the 3rd of sept. 2021",
         [("May 8, 2023", "2023-05-08"), ("3rd of sept. 2021", "2021-09-03")]),
        ("in December 2022?", [("December 2022", "2022-12")]),
        ("12 May 2023 and May 12 2023", [("12 May 2023", "2023-05-12")]),
        ("may I come at 2", []),
        ("May 20234", []),
        ("dismay 2023", []),
    ],
)  # fmt: skip
def test_days_and_months_of_a_query_are_read(text, found):
    """A day or month with its year, in words, is read once as ISO 8601; the modal verb and other words are none."""
    assert words.dates(text) == found


def test_an_event_is_indexed_by_its_session_and_its_day():
    """Context holds the last name of the session, names as exact strings, and day and month by the event's clock."""
    named = event(b"x", session="claude/home/proving-medqa-031", time=Moment(0, -60))
    assert words.context(named).split() == [
        "proving-medqa-031", "31", words.token("claude/home/proving-medqa-031"), words.token("proving-medqa-031"),
        words.token("1969-12-31"), words.token("1969-12"),
    ]  # fmt: skip
    (row,) = rows_of(named, None, str.split)
    assert row.tokens == 1
    assert row.counts.keys() >= {"x", *words.context(named).split()}
    unique = "claude:550e8400-e29b-41d4-a716-446655440000"
    assert words.context(event(b"x", session=unique)).split() == ["claude:", words.token(unique)]
    assert words.context(event(b"x", time=Moment(-62_135_596_800_000_000, -60))) == "s "


def test_situations_are_those_of_a_note_alone():
    """Only a note has situations, as far as they are text, and within the limits."""
    meta = {"situations": ["one", 2, "x" * 3_000, *["more"] * 20]}
    found = words.situations(event(b"x", kind=Kind.NOTE, meta=meta))
    assert [len(one) for one in found] == [3, 2_000, *[4] * 14]
    assert words.situations(event(b"x", meta=meta)) == words.situations(event(b"x", kind=Kind.NOTE)) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("medqa-031 lectio0032 x007", "\n31 32 7"),
        ("877d6a7f0dd7484cd6646114ede37c01", ""),
        ("a1b01 2024-05-01 10.0.03.4", ""),
    ],
)
def test_the_end_of_a_hash_is_no_number(text, found):
    """A number loses its zeros where a word or nothing stands before it, and not inside a run of both sorts."""
    assert words.unpadded(text) == found
