"""What is new in a caller's list: every case of erased and damaged messages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import FormatError, Memory
from firsthand.context.new_messages import Given, digest, first_new, known

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
@settings(max_examples=100)
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
        assert memory.position >= appended[2].position  # a replica has it once it was read
        sql = "UPDATE event SET body = x'00' WHERE key = ?"
        memory.log.exclusively(lambda db: db.execute(sql, (appended[2].position,)).fetchall())
        reader = memory.log.reader
        assert known(reader, "default", "s", "openai-chat") == [digest(messages[0]), None, None, digest(messages[3])]
        assert len(known(reader, "default", "s", None)) == 5


def test_a_list_that_grows_is_compared_without_reading_its_texts(monkeypatch):
    """Of a list that was given before only what is new is digested, however long it is."""
    digested = []
    monkeypatch.setattr(
        "firsthand.context.new_messages.digest", lambda message: digested.append(message) or digest(message)
    )
    messages = [{"role": "user", "content": "x" * 1_000} for _ in range(50)]
    held = Given([])
    for size in (10, 20, 50, 50):
        new = held.first_new(messages[:size])
        held.took(messages[:size], new)
    assert (new, len(digested)) == (50, 10)


def test_a_message_changed_in_its_place_is_seen():
    """A list whose earlier message was changed is refused, also when it is the very same object."""
    message = {"role": "user", "content": [{"type": "text", "text": "one"}]}
    held = Given([])
    held.took([message], held.first_new([message]))
    message["content"][0]["text"] = "two"
    with pytest.raises(FormatError, match="differs from message 0 on"):
        held.first_new([message])


def test_the_same_message_in_another_form_is_the_same():
    """A message whose parts come as a tuple, or whose keys in another order, is the one that was given."""
    answer = {"role": "assistant", "content": "y"}
    held = Given([])
    held.took([{"role": "user", "content": ["x"]}], 0)
    assert held.first_new([{"role": "user", "content": ("x",)}, answer]) == 1
    assert held.first_new([{"content": ["x"], "role": "user"}, answer]) == 1
