"""Gathering the drafts of a message."""

from __future__ import annotations

import pytest

from firsthand.event import Kind
from firsthand.formats.parts import AGENT, OPEN_CALLS_MAX, USER, Parts, file_of, remember


def test_a_users_words_begin_the_record_unless_it_answers_calls():
    """The log counts a turn where a record begins with a user message; a call's result is not torn from its turn."""
    parts = Parts(b"", {})
    parts.other(USER, {"type": "odd"})
    parts.say(USER, "hi")
    parts.say(USER, "there")
    assert [draft.kind for draft in parts.done(USER)] == [Kind.USER_MESSAGE, Kind.OTHER, Kind.USER_MESSAGE]
    parts.result("c", "out")
    parts.drafts.reverse()
    assert parts.done(USER)[0].kind == Kind.TOOL_RESULT


def test_a_message_without_blocks_is_one_empty_event():
    """There is always a first event, to carry the envelope."""
    (draft,) = Parts(b"{}", {}).done(AGENT)
    assert (draft.kind, draft.content) == (Kind.AGENT_MESSAGE, b"")


def test_open_calls_are_bounded_and_the_oldest_goes_first():
    """Over the limit the call made longest ago is forgotten; a repeated one is young again."""
    calls: dict[str, str] = {}
    for number in range(OPEN_CALLS_MAX):
        remember(calls, str(number), "t")
    remember(calls, "0", "t")
    remember(calls, "new", "t")
    assert len(calls) == OPEN_CALLS_MAX
    assert "1" not in calls
    assert "0" in calls


@pytest.mark.parametrize(
    ("block", "content", "media"),
    [
        ({"type": "input_image", "image_url": "data:image/gif;base64,aGk="}, b"hi", "image/gif"),
        ({"type": "image_url", "image_url": {"url": "https://x"}}, b"https://x", "text/uri-list"),
        ({"type": "input_file", "file_data": "aGk=", "filename": "a"}, b"hi", "application/octet-stream"),
        ({"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk="}}, b"hi", "application/pdf"),
        ({"type": "container_upload", "file_id": "f"}, b"f", "text/plain"),
        ({"type": "image", "data": "aGk=", "mimeType": "image/png"}, b"hi", "image/png"),
        ({"type": "audio", "data": "aGk=", "format": "mp3"}, b"hi", "audio/mp3"),
        ({"type": "document", "source": {"type": "text", "data": "hi"}}, b"hi", "text/plain"),
    ],
)
def test_a_file_is_found_in_the_block_of_any_provider(block, content, media):
    """Bytes inline, as data URI, by address or by id."""
    found = file_of(block)
    assert found is not None
    assert (found.content, found.media) == (content, media)


@pytest.mark.parametrize("block", [None, "x", {}, {"type": "text"}, {"type": "image"}, {"type": "file", "file": 3}])
def test_a_block_without_a_file_gives_none(block):
    """Nothing is made up."""
    assert file_of(block) is None
