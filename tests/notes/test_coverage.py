"""What a summary lacks of its source is counted over all of it, and named with the pointer that it can be read at."""

from __future__ import annotations

import pytest

from firsthand import Draft, InvalidArgument, Kind, Memory, Trust

SAID = (
    (Kind.USER_MESSAGE, Trust.TRUSTED, 'Ship "Zanzibar Blue" to /srv/blue by 2026-03-02, at most $58.50, 3 retries.'),
    (Kind.TOOL_RESULT, Trust.UNTRUSTED, "retry-policy 2.14.3 waits 1.5 h; \u041f\u043e\u0440\u0442 8443"),
    (Kind.AGENT_MESSAGE, Trust.AGENT, "I set the port to 9999 and wrote /tmp/own-words.txt."),
)  # fmt: skip


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "store", embedder="none") as opened:
        opened.append([Draft(kind, text.encode(), trust=trust) for kind, trust, text in SAID], session="s")
        yield opened
        assert opened.verify().problems == ()


def summary(memory: Memory, text: str, session: str = "s") -> str:
    return memory.append([Draft(Kind.SUMMARY, text.encode(), trust=Trust.AGENT)], session=session)[0].pointer


def test_values_that_a_text_lacks_are_named_and_all_are_counted(memory):
    """Numbers, dates, paths, versions and quoted names of users and tools count, in any language; an agent's do not."""
    first, last = (event.pointer for event in memory.events("s") if event.kind is not Kind.AGENT_MESSAGE)
    span = f"{first}..{last.removeprefix('fh:')}"
    counted = memory.coverage("Zanzibar Blue goes to /srv/blue by 2026-03-02 for 58.50 USD.", span)
    assert counted.missing == ("3 retries", "1.5 h", "8443", "retry-policy", "2.14.3")
    assert (counted.of, counted.pointer) == (9, span)
    assert counted.sentence.startswith("4 of 9 source values are in it; not in it: 3 retries, 1.5 h")
    assert memory.coverage("\n".join(text for *_, text in SAID), span).missing == ()


def test_a_value_counts_however_it_is_spelled(memory):
    """Equal amounts in other words of the same unit are there, and other amounts are not."""
    pointer = next(memory.events("s", kind=Kind.TOOL_RESULT)).pointer
    assert "1.5 h" not in memory.coverage("it waits 90 min", pointer).missing
    assert "1.5 h" in memory.coverage("it waits 1.5 s", pointer).missing


def test_a_hosts_summary_is_held_against_what_it_took_the_place_of(memory):
    """The span of a summary begins behind the summary before it; what stands before that counts no more."""
    one = summary(memory, "Ship Zanzibar Blue to /srv/blue")
    assert memory.coverage(one).of == 9
    memory.session("s").user("Use port 7001 now.")
    two = summary(memory, "port 7001")
    assert (memory.coverage(two).of, memory.coverage(two).missing) == (1, ())


def test_what_stands_for_nothing_is_refused(memory):
    """An event that is no summary, or one with nothing before it, is refused with what was expected."""
    with pytest.raises(InvalidArgument, match="expected a host's summary"):
        memory.coverage(next(memory.events("s")).pointer)
    with pytest.raises(InvalidArgument, match="took the place of nothing"):
        memory.coverage(summary(memory, "nothing", "empty"))
