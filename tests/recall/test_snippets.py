"""The passages that are shown of an event."""

from __future__ import annotations

import json
import random
import re

import pytest

from firsthand.event import Kind
from firsthand.recall.snippets import GAP, Mark, Range, part, plain, read, windows
from firsthand.recall.snippets import cut as cut_at
from firsthand.tokens import estimate

LOG = [f"2026-03-{day:02} 10:{minute:02} INFO worker-{day} took {minute * 37} ms" for day in range(1, 29)
       for minute in range(0, 60, 7)]  # fmt: skip


def finder(*words: str, weight: float = 5.0):
    """Give what finds words in a text, all of one weight."""

    def marks(data: bytes) -> list[Mark]:
        places = [(found.span(), word) for word in words for found in re.finditer(re.escape(word.encode()), data)]
        return [Mark(start, end, word, weight) for (start, end), word in sorted(places)]

    return marks


def cut(readings, marks, tokens_max, count):
    """Cut a snippet at all places where words stand together."""
    return cut_at(readings, windows(readings, marks), tokens_max, count)


def test_the_place_where_the_words_stand_together_is_shown():
    """Words that stand apart many times lose against the one line that holds them all."""
    lines = [*LOG]
    lines[20:20] = ["the pool is full"] * 3
    lines[90:90] = ["connection reset"] * 3
    lines[170:170] = ["connection refused: pool of 20 exhausted"]
    text = "\n".join(lines).encode()
    snippet = cut([plain(text)], finder("connection", "pool", "exhausted"), 80, estimate)
    assert "connection refused: pool of 20 exhausted" in snippet.text
    assert snippet.tokens <= 80


@pytest.mark.parametrize("tokens", [60, 150, 600])
def test_lines_of_a_log_stay_whole(tokens):
    """Every line that is shown of a log is a line of it, from its first sign to its last."""
    snippet = cut([plain("\n".join(LOG).encode())], finder("worker-14", "10:28"), tokens, estimate)
    assert "2026-03-14 10:28" in snippet.text
    assert {line for run in snippet.text.split(GAP) for line in run.split("\n")} <= {*LOG}


def test_hunks_of_a_diff_stay_whole():
    """A changed line of a diff is shown with its sign and in full."""
    diff = "".join(f"-old value {number} = {number}\n+new value {number} = {number + 1}\n" for number in range(200))
    snippet = cut([plain(diff.encode())], finder("new value 120"), 60, estimate)
    assert "+new value 120 = 121" in snippet.text.split("\n")
    assert all(re.fullmatch(r"[-+](old|new) value \d+ = \d+", line) for line in snippet.text.split("\n"))


def test_a_quotation_is_shown_whole():
    """A string that weighs more than any words is in the preview from end to end, though a line holds far more."""
    quotation = "Error: listen EADDRINUSE: address already in use :::8443"
    text = f"{'so it went on and on. ' * 80}{quotation} {'and after that nothing else. ' * 80}".encode()
    snippet = cut([plain(text)], finder(quotation, weight=100.0), 40, estimate)
    assert quotation in snippet.text
    assert snippet.tokens <= 40


def test_a_tool_call_is_shown_as_its_values():
    """Of a call's JSON the values are shown, escapes read; the range is that of the JSON that they stand in."""
    call = {"path": "app/db.py", "new": 'POOL = 20  # "large"\nTIMEOUT = 5\n', "count": 3}
    content = json.dumps(call).encode()
    snippet = cut([read(content, Kind.TOOL_CALL)], finder("POOL"), 400, estimate)
    assert snippet.text == 'path: app/db.py\nnew: POOL = 20  # "large"\nTIMEOUT = 5\n\ncount: 3'
    small = cut([read(content, Kind.TOOL_CALL)], finder("TIMEOUT"), 12, estimate)
    (shown,) = small.ranges
    assert "TIMEOUT = 5" in small.text
    assert b"TIMEOUT = 5" in content[shown.start : shown.end]
    assert read(b'{"cut off', Kind.TOOL_CALL).data == b'{"cut off'


def test_a_stretch_of_a_large_call_has_its_escapes_read():
    """A piece from the middle of a call's JSON shows its line ends as such, and its range is that of the piece."""
    content = json.dumps({"text": "\n".join(LOG)}).encode()
    piece = content[1_000:3_000]
    snippet = cut([part(piece, 1_000, Kind.TOOL_CALL)], finder("worker-2"), 60, estimate)
    (shown,) = snippet.ranges
    assert "\\n" not in snippet.text
    assert json.loads(b'"' + content[shown.start : shown.end] + b'"') == snippet.text


def test_what_is_shown_is_what_the_ranges_hold():
    """For any text and any budget the ranges hold exactly the bytes shown, in order, and the tokens are kept."""
    chance = random.Random(4)
    words = ["alpha", "beta", "gämma", "δ", "\n", "\n\n", "x" * 90, "東京", "port 8443", ". "]
    for _ in range(150):
        data = " ".join(chance.choices(words, k=chance.randrange(1, 600))).encode()
        half = len(data) // 2
        while data[half : half + 1] and data[half] & 0xC0 == 0x80:
            half += 1
        readings = [plain(data)] if chance.random() < 0.5 else [plain(data[half:], half), plain(data[:half])]
        tokens = chance.randrange(1, 300)
        snippet = cut(readings, finder("port 8443", "gämma"), tokens, estimate)
        runs = [data[shown.start : shown.end].decode() for shown in snippet.ranges]
        assert GAP.join(runs) == snippet.text
        assert [*snippet.ranges] == sorted(snippet.ranges, key=lambda shown: shown.start)
        assert estimate(snippet.text) <= max(tokens, 2)
        assert snippet.text or not data


def test_the_tokens_are_used():
    """Where there is text enough the tokens are used, but for less than a sentence or a line."""
    prose = ("The meeting on the budget was long. " * 9 + "\n") * 40
    for text in (prose, "\n".join(LOG)):
        for tokens in (100, 300, 900):
            snippet = cut([plain(text.encode())], finder("budget", "worker-9"), tokens, estimate)
            assert tokens - 45 <= snippet.tokens <= tokens


def test_several_places_are_shown_where_they_add_words():
    """What is asked in two far places of a content is shown in two runs, with a gap told between them."""
    lines = [*LOG]
    lines[10], lines[200] = "the image is python:3.11-slim", "the port of the service is 8443"
    snippet = cut([plain("\n".join(lines).encode())], finder("image", "port of"), 200, estimate)
    assert lines[10] in snippet.text
    assert lines[200] in snippet.text
    assert GAP in snippet.text
    assert len(snippet.ranges) == 2


def test_words_are_looked_for_where_the_index_says():
    """Of a long content only the ranges that matched are looked at, the best first."""
    text = "\n".join(LOG)
    at = text.index("2026-03-20 10:00")
    snippet = cut([plain(text.encode(), 0, [Range(at, at + 200)])], finder("INFO"), 40, estimate)
    assert "2026-03-20 10:00" in snippet.text
