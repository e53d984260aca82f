"""What opens behind a marker of many turns: where each turn is, what was asked, which files were named."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import Kind, Memory
from firsthand.context.span_contents import CONTENTS_EVENTS_MAX, Part, of_contents
from firsthand.context.tools import Pull, PullLimits
from firsthand.formats.tool_definitions import EXPAND, RECALL, Call
from firsthand.tokens import estimate

TURNS = 40
PARTS = re.compile(r"^(fh:\S+)  turns? ([0-9,]+)(?:-([0-9,]+))?  ", re.MULTILINE)


@pytest.fixture
def long_session(tmp_path):
    """Forty turns of one session, each with a question, a call that names a file, and a long result."""
    with Memory(tmp_path / "store") as memory:
        session = memory.session("deploy")
        for number in range(TURNS):
            session.user(f"Please mend relay {number} of the pump, since it stops")
            session.tool_call("edit", {"file_path": f"src/relay_{number}.py", "text": "x"})
            session.tool_result("edit", f"relay {number} is mended\n" * 60)
            session.append(Kind.RECEIPT, "{}")
        yield memory, [event for event in memory.events("deploy") if event.kind is not Kind.RECEIPT]
        assert not memory.verify().problems


def opened(memory, pointer, tokens=1_200):
    limits = PullLimits(tokens=tokens * 100, answer_tokens=tokens, expand=1_000, recall=1_000)
    answer = Pull(memory, "deploy", limits).answer(Call("c", EXPAND, {"pointer": pointer}))
    assert estimate(answer.text) <= tokens
    return answer.text


def test_a_span_of_many_turns_opens_to_its_contents(long_session):
    """Lines name turns without a gap, what the user asked, and files; each line opens, down to every event."""
    memory, events = long_session
    text = opened(memory, f"fh:{events[0].id}..{events[-1].id}")
    assert f"{3 * TURNS} events of session deploy in {TURNS} turns" in text
    lines = [(int(first), int(last or first), pointer) for pointer, first, last in PARTS.findall(text)]
    assert [turn for first, last, _ in lines for turn in range(first, last + 1)] == [*range(1, TURNS + 1)]
    assert 4 <= len(lines) < TURNS
    assert "| Please mend relay 0 of the pump" in text
    assert "src/relay_0.py" in text
    assert f"named most by the agent: src/relay_{TURNS - 1}.py, src/relay_{TURNS - 2}.py" in text
    seen, todo = [], [pointer for _, _, pointer in lines]
    while todo:
        inside = opened(memory, todo.pop(0))
        deeper = [pointer for pointer, _, _ in PARTS.findall(inside)]
        todo = deeper + todo
        seen += [] if deeper else re.findall(r"^fh:(\w{26})  20", inside, re.MULTILINE)
    assert seen == [event.id for event in events]


def test_a_line_of_contents_bounds_a_recall(long_session):
    """What a line names can be handed to recall as within, which then finds nothing elsewhere."""
    memory, events = long_session
    [(pointer, _, last), *_] = PARTS.findall(opened(memory, f"fh:{events[0].id}..{events[-1].id}"))
    answer = Pull(memory, "deploy").answer(Call("c", RECALL, {"query": "relay of the pump", "within": pointer}))
    inside = {event.id for event in events if event.turn <= int(last)}
    assert answer.pointers
    assert {name.removeprefix("fh:") for name in answer.pointers} <= inside


parts = st.lists(
    st.tuples(st.integers(1, 50), st.lists(st.text(max_size=9), max_size=3), st.lists(st.text(min_size=1), max_size=6)),
    min_size=1, max_size=40,
)  # fmt: skip


@given(parts, st.integers(60, 900))
def test_contents_cover_a_span_in_any_room(drawn, tokens_max):
    """Whatever was said, lines stay within the tokens, in order, and cover each turn once or say nothing."""
    made = [
        Part(f"{number:026}", f"{number:026}", number, number, None, events, tuple(asked), tuple(files))
        for number, (events, asked, files) in enumerate(drawn, 1)
    ]
    text = of_contents("fh:A..B", "s", made, last=made[-1].last, tokens_max=tokens_max, count=estimate).text
    assert estimate(text) <= tokens_max
    ranges = [(int(first), int(last or first)) for _, first, last in PARTS.findall(text)]
    assert [turn for first, last in ranges for turn in range(first, last + 1)] in (
        [],
        [part.first_turn for part in made],
    )


def test_contents_of_a_very_long_span_say_where_to_read_on():
    """Parts that end before the span does are followed by the pointer of the rest; those of a whole span are not."""
    made = [Part("0" * 26, "9" * 26, 1, 1, None, CONTENTS_EVENTS_MAX + 1)]
    text = of_contents("fh:A..B", "s", made, last="1" * 26, tokens_max=500, count=estimate).text
    assert f'to read on: expand("fh:{"9" * 26}..{"1" * 26}")' in text
    assert "read on" not in of_contents("fh:A..B", "s", made, last="9" * 26, tokens_max=500, count=estimate).text
