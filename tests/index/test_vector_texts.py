"""Which texts are embedded: who said it, the beginning of each passage, nothing for what has no words."""

from __future__ import annotations

import io

from firsthand.event import INJECTED, Draft, Kind
from firsthand.index.index_rows import rows_of
from firsthand.index.passages import cut
from firsthand.index.vector_texts import PASSAGES_MAX, TEXT_CHARACTERS_MAX, texts_of
from firsthand.index.vectors import KEY_STEP


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


def test_a_situation_of_a_note_has_a_text(log):
    """Behind the passages of a note, as many as it has, each of its situations is embedded as it stands."""
    meta = {"situations": ["the  disk\nis full", "...", "pods die"]}
    for content, count in ((b"LOOK FIRST", 1), (b"rule and line\n" * 300, 3), (b"words " * 2_048 * PASSAGES_MAX, None)):
        (found,) = texts(log, Draft(Kind.NOTE, content, meta=meta))
        rows = len(list(rows_of(log.reader.event_at("default", log.reader.head("default")[0]), log.reader, str.split)))
        assert count is None or rows == count + 3
        numbers = [key // KEY_STEP for key, _ in found]
        assert [(key // KEY_STEP - rows, text) for key, text in found[-2:]] == [
            (-3, "the disk is full"), (-1, "pods die"),
        ]  # fmt: skip
        assert numbers[:-2] == list(range(min(rows - 3, PASSAGES_MAX)))


def test_a_large_payload_has_a_text_a_passage(make_log):
    """Each passage of an artifact has a text, up to the stated number of passages."""
    log = make_log(inline_max=1_000)
    content = b"".join(b"line %06d of the output\n" % number for number in range(3_000))
    (found,) = texts(log, Draft(Kind.TOOL_RESULT, io.BytesIO(content), meta={"tool": "make"}))
    passages = list(cut((content,), len(content)))
    assert [row // KEY_STEP for row, _ in found] == [passage.number for passage in passages]
    for (_, text), passage in zip(found, passages, strict=True):
        assert text.startswith("make: line")
        assert passage.data.decode().replace("\n", " ").startswith(text.removeprefix("make: ")[:TEXT_CHARACTERS_MAX])
    large = io.BytesIO(b"words " * (2_048 * (PASSAGES_MAX + 2) // 6))
    assert len(texts(log, Draft(Kind.TOOL_RESULT, large))[0]) == PASSAGES_MAX
