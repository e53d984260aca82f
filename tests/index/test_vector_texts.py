"""Which texts are embedded: who said it, the beginning of each passage, nothing for what has no words."""

from __future__ import annotations

import io

from firsthand.event import INJECTED, Draft, Kind
from firsthand.index.passages import ROW_STEP
from firsthand.index.vector_texts import PASSAGES_MAX, TEXT_CHARACTERS_MAX, texts_of


def texts(log, *drafts: Draft) -> list[list[tuple[int, str]]]:
    """Append events; give the rows of each, with rows counted from its own position."""
    appended = log.append(list(drafts), namespace="default", session="s")
    events = [log.reader.event("default", one.id) for one in appended]
    return [[(row - event.position, text) for row, text in texts_of(event, log.reader)] for event in events]


def test_a_text_begins_with_who_said_it(log):
    """The speaker stands before the text and what goes with it behind; a tool's result begins with the tool."""
    assert texts(
        log,
        Draft(Kind.USER_MESSAGE, b"look  at\nthis", agent="Ann", meta={"caption": "a red boat"}),
        Draft(Kind.TOOL_RESULT, b"3 passed", meta={"tool": "pytest", "call_id": "c1"}),
        Draft(Kind.USER_MESSAGE, b"plain"),
    ) == [[(0, "Ann: look at this [a red boat]")], [(0, "pytest: 3 passed")], [(0, "plain")]]


def test_what_has_no_words_has_no_text(log):
    """No vector is made for bytes that are no text, for signs without a letter, and for what only repeats others."""
    assert texts(
        log,
        Draft(Kind.USER_MESSAGE, b""),
        Draft(Kind.USER_MESSAGE, b" ... \n ---"),
        Draft(Kind.USER_MESSAGE, b"\x89PNG\x00\x01abc", "image/png"),
        Draft(Kind.USER_MESSAGE, b"said by Firsthand", meta={INJECTED: True}),
        Draft(Kind.USER_MESSAGE, "日本".encode()),
    ) == [[], [], [], [], [(0, "日本")]]


def test_a_large_payload_has_a_text_a_passage(make_log):
    """Each passage of an artifact has the text of its beginning, up to the stated number of passages."""
    log = make_log(inline_max=1_000)
    content = b"".join(b"line %06d of the output\n" % number for number in range(3_000))
    (found,) = texts(log, Draft(Kind.TOOL_RESULT, io.BytesIO(content), meta={"tool": "make"}))
    assert [row // ROW_STEP for row, _ in found] == list(range(-(-len(content) // 16_384)))
    assert found[0][1].startswith("make: line 000000 of the output line 000001")
    assert {len(text) for _, text in found[:-1]} <= set(range(TEXT_CHARACTERS_MAX, TEXT_CHARACTERS_MAX + 7))
    large = io.BytesIO(b"words " * (16_384 * (PASSAGES_MAX + 2) // 6))
    assert len(texts(log, Draft(Kind.TOOL_RESULT, large))[0]) == PASSAGES_MAX
