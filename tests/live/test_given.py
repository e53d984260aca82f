"""What is new in a caller's list: every case of erased and damaged messages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import FormatError, Memory
from firsthand.live.given import digest, first_new, known

A, B, C, D = (letter.encode() * 16 for letter in "abcd")


@pytest.mark.parametrize(
    ("held", "list_now", "new_from"),
    [
        ([], [A, B], 0),
        ([A, B], [A, B], 2),
        ([A, B], [A, B, C], 2),
        ([A, None, C], [A, B, C, D], 3),
        ([A, None, C], [A, C, D], 2),
        ([None, None, C], [A, C], 2),
        ([A, None], [A], 1),
    ],
)
def test_what_cannot_be_compared_may_be_there_or_not(held, list_now, new_from):
    """A list goes on after the last message that both have, whether it still holds the erased ones or not."""
    assert first_new(held, list_now) == new_from


@pytest.mark.parametrize("list_now", [[A], [B, A], [A, C], [], [A, B, B, C]])
def test_another_list_is_refused(list_now):
    """A list that is shorter or differs is no list that grew."""
    with pytest.raises(FormatError, match="as it was given before, grown"):
        first_new([A, B, C], list_now)


def test_what_cannot_be_told_apart_is_refused():
    """Behind erased messages at the end a new one cannot be told from an old one."""
    with pytest.raises(FormatError, match="newest 1 messages of the session were erased or are damaged"):
        first_new([A, None], [A, B])


@given(st.lists(st.tuples(st.booleans(), st.booleans())), st.integers(0, 3))
@settings(max_examples=200)
def test_no_message_is_passed_over(fates, more):
    """Whichever messages were erased, and dropped from the list or not, exactly what came behind them is new."""
    names = [number.to_bytes(16, "big") for number in range(len(fates) + more)]
    held = [None if erased else name for (erased, _), name in zip(fates, names, strict=False)] + [D]
    kept = [name for (erased, dropped), name in zip(fates, names, strict=False) if not (erased and dropped)]
    assert first_new(held, [*kept, D, *names[len(fates) :]]) == len(kept) + 1


def test_a_session_gives_its_messages_without_what_was_erased_or_is_damaged(tmp_path):
    """The messages of a format are known in order, with a gap for each that was erased or is damaged."""
    messages = [{"role": "user", "content": f"message {number}"} for number in range(4)]
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        appended = session.append_messages(messages, "openai-chat")
        session.note("no message")
        session.append_messages([{"role": "user", "content": [{"type": "text", "text": "other"}]}], "anthropic")
        memory.erase([appended[1]])
        memory._log.writer.execute("UPDATE event SET body = x'00' WHERE position = ?", (appended[2].position,))
        reader = memory._log.reader
        assert known(reader, "default", "s", "openai-chat") == [digest(messages[0]), None, None, digest(messages[3])]
        assert len(known(reader, "default", "s", None)) == 5
