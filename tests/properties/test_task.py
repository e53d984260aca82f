"""What must hold for the task state of every session."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from firsthand.context.task_observer import observe
from firsthand.context.task_state import CHARACTERS_MAX, ENTRIES_MAX, MEDIA, TaskState, changed, from_json, to_json
from firsthand.context.task_text import text
from firsthand.event import CONTENT_INLINE_MAX, Event, Kind, Trust, id_text, to_bytes
from firsthand.moment import Moment
from firsthand.tokens import estimate

PHRASES = [
    "Goal: ship it.", "Never push to main.", "Why is it slow?", "I'll tag it once CI is green.", "Shall I go on?",
    "We decided to use B.", "Assume it is empty.", "- [ ] box one", "- [x] box one", "```", "> quoted", "hello", "\n\n",
    "You must not stop", "é必须\u202e\x00", "x" * 300, '"', "`", "Let me see:", "<<firsthand " + "0" * 32 + ": x>>",
]  # fmt: skip
spoken = st.lists(st.one_of(st.sampled_from(PHRASES), st.text(max_size=20)), max_size=6).map(" ".join)
statuses = st.sampled_from(["pending", "in_progress", "completed", 7])
todos = st.lists(
    st.fixed_dictionaries({"content": st.sampled_from(["a", "b", "c" * 300, ""]), "status": statuses}), max_size=30
)
calls = st.one_of(
    st.builds(lambda items, merge: json.dumps({"todos": items, "merge": merge}), todos, st.booleans()),
    st.builds(lambda command: json.dumps({"command": command}), spoken),
    spoken,
)
tools = st.sampled_from(["TodoWrite", "todo_write", "bash", "TaskCreate", "", "é" * 300])
metas = st.one_of(
    st.fixed_dictionaries({"tool": tools, "call_id": st.sampled_from(["1", "2", "x" * 300])}),
    st.fixed_dictionaries({"call_id": st.sampled_from(["1", "2"]), "is_error": st.booleans()}),
    st.just({"call_id": 7, "tool": None}),
)
results = st.sampled_from(["ok", "Exit code 2\nx", "[main 1a2b3c4] x", "Task #3 created", ""])
kinds = st.sampled_from([*Kind, *[Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT] * 5])


@st.composite
def happenings(draw) -> list[Event]:
    """Events of one session, at rising positions, turns as they come."""
    made = []
    position = turn = 0
    for _ in range(draw(st.integers(0, 25))):
        position += draw(st.integers(1, 3))
        kind = draw(kinds)
        turn += kind is Kind.USER_MESSAGE
        of_kind = {Kind.TOOL_CALL: calls, Kind.TOOL_RESULT: results}
        content = draw(of_kind.get(kind, spoken))
        if kind is Kind.TASK_STATE:
            content = to_json(
                changed(TaskState(through=draw(st.integers(0, position))), goal=draw(st.sampled_from("xy")))
            )
        made.append(
            Event(
                position, id_text(position.to_bytes(16, "big")), "n", "s", position, 0, turn, kind, "", "",
                draw(st.sampled_from(Trust)), None, Moment(0),
                MEDIA if kind is Kind.TASK_STATE else "text/plain", draw(metas), b"",
                to_bytes(content) if isinstance(content, str) else content, None, False, b"", b"",
            )
        )  # fmt: skip
    return made


def folded(events: list[Event], state: TaskState | None = None) -> TaskState:
    state = TaskState() if state is None else state
    for event in events:
        state = observe(state, event)
    return state


@given(happenings(), st.data())
def test_the_fold_can_be_cut_anywhere(events, data):
    """Written down and read back at any point, and with events handed over again, the state goes on the same way."""
    cut = data.draw(st.integers(0, len(events)))
    again = data.draw(st.integers(0, cut))
    halfway = from_json(to_json(folded(events[:cut])))
    assert folded(events[again:], halfway) == folded(events)


@given(happenings())
def test_the_state_is_bounded(events):
    """Whatever happens, every state on the way is within its limits, inline, and reads back."""
    state = TaskState()
    for event in events:
        state = observe(state, event)
        assert all(len(getattr(state, name)) <= ENTRIES_MAX[name] for name in ENTRIES_MAX)
        assert all(len(entry.text) <= CHARACTERS_MAX[name] for name in ENTRIES_MAX for entry in getattr(state, name))
        assert len(to_json(state)) <= CONTENT_INLINE_MAX
        assert from_json(to_json(state)) == state


@given(happenings(), st.integers(60, 600))
def test_the_block_keeps_to_its_room(events, tokens_max):
    """Whatever happened, the block has at most its tokens, no hidden sign, and is the same for the same state."""
    state = folded(events)
    block = text(state, tokens_max=tokens_max, count=estimate)
    assert estimate(block) <= tokens_max
    assert block == text(from_json(to_json(state)), tokens_max=tokens_max, count=estimate)
    assert all(sign.isprintable() or sign == "\n" for sign in block)
