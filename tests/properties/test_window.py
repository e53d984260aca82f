"""What must hold for a live window, whatever was appended to its session, in which order, and under which budget."""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_every_prompt import NATIVE

from firsthand import Kind, Memory
from firsthand.context.session_window import SessionWindow
from firsthand.errors import FormatError
from firsthand.formats.check import faults
from firsthand.window import HISTORY, Budget
from stores import SOAK, quick_folder

LONG = "every word of this is one more to pay for, and /srv/app/file.py:17 too. "
WORDS = st.sampled_from(["", " ", "\0", "\ud800", "never touch main", "a", LONG, LONG * 6, LONG * 40, "日" * 300])
CALL = st.sampled_from([f"call_{number}" for number in range(6)])  # so few that some are used twice
APPENDED = st.one_of(
    st.tuples(st.just("user"), WORDS),
    st.tuples(st.just("agent"), WORDS),
    st.tuples(st.just("reasoning"), WORDS),
    st.tuples(st.just("system"), WORDS),
    st.tuples(st.just("call"), CALL),
    st.tuples(st.just("result"), CALL, WORDS),
    st.tuples(st.just("calls"), st.integers(1, 12), WORDS),
    st.tuples(st.just("turns"), st.integers(1, 8), WORDS),
    st.tuples(st.just("turns"), st.integers(1, 8), WORDS),
    st.tuples(
        st.just("kind"),
        st.sampled_from(sorted(set(Kind) - {Kind.ERASURE, Kind.LOSS, Kind.RECEIPT, Kind.ANATOMY})),
        WORDS,
    ),
)
DONE = st.one_of(
    st.tuples(st.just("request")),
    st.tuples(st.just("compact")),
    st.tuples(st.just("cite"), st.integers(0, 30)),
    st.tuples(st.just("expand"), st.integers(0, 30)),
    st.tuples(st.just("erase"), st.integers(0, 30)),
    st.tuples(st.just("given"), st.sampled_from(["preamble", "files", "cues"]), WORDS),
    st.tuples(st.just("goal"), st.sampled_from(["ship it", LONG, "never \0 \ud800"])),
)
SHARES = st.sampled_from([0.05, 0.2, 0.5, 0.8, 1.0])
BUDGETS = st.builds(
    lambda tokens, marks, hot, item: Budget(tokens, max(marks), min(marks), hot, item),
    st.sampled_from([1, 200, 600, 1_200, 1_500, 3_000, 5_000]),
    st.tuples(SHARES, SHARES),
    st.integers(1, 4),
    SHARES,
)
SETTINGS = settings(
    max_examples=600 if SOAK else 30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def sessions(draw):
    """Draw a format, a budget, and what is done in a session: appends of all kinds, messages, accesses, requests."""
    name = draw(st.sampled_from(sorted(NATIVE)))
    message = st.tuples(st.just("message"), NATIVE[name])
    actions = draw(st.lists(st.one_of(APPENDED, APPENDED, message, DONE), min_size=1, max_size=25))
    return name, draw(BUDGETS), draw(st.booleans()), [*actions, ("request",)]


class Run:
    """One session that is acted on, and what must hold for its window."""

    def __init__(self, memory: Memory, name: str, budget: Budget, *, pull: bool) -> None:
        self.memory, self.format, self.budget, self.pull = memory, name, budget, pull
        self.session = memory.session("s")
        self.window = self.opened()
        self.numbers = itertools.count()

    def opened(self) -> SessionWindow:
        return self.session.window(self.budget, format=self.format, pull=self.pull)

    def act(self, action: tuple) -> None:
        verb, *rest = action
        getattr(self, f"do_{verb}")(*rest)

    def do_user(self, words):
        self.session.user(words)

    def do_agent(self, words):
        self.session.agent(words)

    def do_reasoning(self, words):
        self.session.reasoning(words)

    def do_system(self, words):
        self.session.system(words)

    def do_call(self, call_id):
        self.session.append(Kind.TOOL_CALL, '{"q": 1}', meta={"tool": "bash", "call_id": call_id})

    def do_result(self, call_id, words):
        self.session.append(Kind.TOOL_RESULT, words, meta={"tool": "bash", "call_id": call_id})

    def do_calls(self, count, words):
        ids = [f"many_{next(self.numbers)}" for _ in range(count)]
        for call_id in ids:
            self.do_call(call_id)
        for call_id in reversed(ids):
            self.do_result(call_id, words)

    def do_turns(self, count, words):
        for _ in range(count):
            self.do_user(f"question {next(self.numbers)}")
            self.do_calls(1, words)
            self.do_agent("answered")

    def do_kind(self, kind, words):
        if kind is not Kind.TASK_STATE:  # its content has a form of its own: `do_goal` appends it
            self.session.append(kind, words)

    def do_message(self, message):
        self.window.add(message)

    def do_cite(self, number):
        if found := self.history():
            self.session.agent(f"as fh:{found[number % len(found)].id} says")

    def do_expand(self, number):
        if found := self.history():
            address = f"fh:{found[number % len(found)].id}"
            self.session.append(Kind.TOOL_CALL, f'{{"pointer": "{address}"}}', meta={"tool": "expand", "call_id": "e"})

    def do_erase(self, number):
        if found := self.history():
            self.memory.erase([f"fh:{found[number % len(found)].id}"], reason="asked for")

    def do_given(self, part, words):
        self.request(contributions={part: words})

    def do_goal(self, words):
        self.window.set_task(goal=words)

    def do_compact(self):
        self.window.compact()

    def do_request(self):
        self.request()

    def request(self, **given):
        """Ask for a request; it is valid, within its budget or says what exceeds it, and can be replayed."""
        try:
            request = self.window.request(**given)
        except FormatError as error:
            if "expected at least one message" not in str(error):
                raise
            return  # nothing says anything yet: there is no prompt to send
        assert faults(request.body, self.format) == ()
        # What no plan can let leave: the tools, the system prompt and what is said at the end of a call.
        assert request.tokens <= self.budget.tokens_max or request.excess or not self.history()
        *_, recorded = self.memory.anatomies("s")
        again = self.memory.replay(recorded.pointer)
        assert again.same, again.note

    def history(self):
        """Give the session's events that stand in a window, or did."""
        found = [event for event in self.session.events() if event.kind in HISTORY and not event.meta.get("part")]
        return [event for event in found if not event.erased]

    def check(self) -> None:
        """Check the window against the log."""
        state = self.window.state
        shown = {item.id: item for item in state.items}
        events = self.history()
        self.check_markers(state, shown, events)
        self.check_pairs(shown, events)
        for event in events:
            if event.id not in shown:
                assert self.memory.expand(f"fh:{event.id}") == event.content
        again = self.opened()
        assert again.state == state
        assert again.task == self.window.task

    def check_markers(self, state, shown, events) -> None:
        """What left is covered by one marker each, in order, without overlap; the counts are those of the log."""
        for before, after in itertools.pairwise(state.markers):
            assert before.last_position < after.first_position
        for event in events:
            covering = [m for m in state.markers if m.first_position <= event.position <= m.last_position]
            assert len(covering) == 1 or (event.id in shown and not covering)
        everything = [one for one in self.session.events() if one.kind in HISTORY and not one.meta.get("part")]
        for marker in state.markers:
            inside = [one for one in everything if marker.first_position <= one.position <= marker.last_position]
            stay = sum(one.id in shown for one in inside)
            lost = sum(one.erased for one in inside)  # before it left or after: a marker counts what left
            assert len(inside) - stay - lost <= marker.events <= len(inside) - stay
            assert (inside[0].id, inside[-1].id) == (marker.first, marker.last)

    def check_pairs(self, shown, events) -> None:
        """Of a call and its result, both or none stand in the window."""
        ids: dict[str, list] = {}
        for event in events:
            if event.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) and event.meta.get("call_id"):
                ids.setdefault(str(event.meta["call_id"]), []).append(event)
        for pair in ids.values():
            if [one.kind for one in pair] == [Kind.TOOL_CALL, Kind.TOOL_RESULT]:
                assert len({one.id in shown for one in pair}) == 1


@SETTINGS
@given(sessions())
def test_a_window_is_a_cache_over_the_log(drawn):
    """Requests are valid, and within budget or say why not; what left has one marker; a new handle has the same window.

    What left expands to its bytes, of a call and its result both stand there or none, and every request can be
    composed again from the log as it was sent.
    """
    name, budget, pull, actions = drawn
    with quick_folder() as folder, Memory.open(Path(folder) / "store") as memory:
        run = Run(memory, name, budget, pull=pull)
        for action in actions:
            run.act(action)
            run.check()
        assert memory.verify(deep=True).ok


def test_accesses_outlive_a_compaction(tmp_path):
    """What was cited and stays is known as cited to a handle that begins at the receipt."""
    with Memory.open(tmp_path / "store") as memory:
        run = Run(memory, "openai-chat", Budget(1_500), pull=False)
        run.do_turns(12, LONG * 6)
        run.do_cite(len(run.history()) - 2)
        run.do_request()
        run.check()
        assert run.window.state.cycle > 0
        assert any(item.accesses for item in run.opened().state.items)
