"""Laws of compaction, for sessions of any shape: appends, accesses, budgets and compactions in any order."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.context.eviction_units import STEPS_KEPT, units
from firsthand.context.markers import apply
from firsthand.context.plan import plan, room
from firsthand.context.receipt import from_json, make, to_json
from firsthand.event import Kind
from firsthand.moment import Moment
from firsthand.value import replace
from firsthand.window import MARKER_TOKENS_MAX, Budget, Item, Plan, Window
from windows import count, made_id, rare

KINDS = (
    [Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT] * 4
    + [Kind.REASONING, Kind.SYSTEM, Kind.PERSONA, Kind.SUMMARY, Kind.ATTACHMENT, Kind.OTHER]
)  # fmt: skip

appended = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from((1, 10, 100, 100, 1_000, 5_000)),
    st.integers(0, 5),  # which call id; they are used again and again, and results come late, or early, or never
    st.booleans(),  # a further part of the message before
    st.integers(-(10**12), 10**12),  # the clock: anything
    st.integers(1, 4),  # positions on: other sessions stand between
)
steps = st.lists(
    st.lists(appended, min_size=1, max_size=30) | st.tuples(st.just("used"), st.integers(0, 40)) | st.just("forced"),
    min_size=1,
    max_size=14,
)
budgets = st.builds(
    Budget, st.integers(1, 20_000), high=st.floats(0.6, 1), low=st.floats(0.05, 0.6),
    hot_turns=st.integers(1, 4),
)  # fmt: skip


class Session:
    """What was appended to a session, its window, and what ever left it."""

    def __init__(self) -> None:
        self.window = Window()
        self.all: list[Item] = []
        self.gone: set[int] = set()

    def append(self, kind: Kind, tokens: int, call: int, part: bool, clock: int, on: int) -> None:
        last = self.all[-1] if self.all else None
        user = kind is Kind.USER_MESSAGE
        item = Item(
            made_id((last.position if last else 0) + on), (last.position if last else 0) + on,
            (last.turn if last else 0) + user, kind, tokens, Moment(clock) if clock % 3 else None,
            last.part + 1 if part and last else 0,
            call_id=f"call_{call}" if kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) and call else "",
            terms=(f"term{clock % 7}", f"word{tokens}"),
        )  # fmt: skip
        self.all.append(item)
        self.window = replace(self.window, items=(*self.window.items, item), through=item.position)

    def use(self, number: int) -> None:
        items = list(self.window.items)
        if items:
            at = number % len(items)
            items[at] = replace(items[at], accesses=(self.window.through, *items[at].accesses)[:2])
            self.window = replace(self.window, items=tuple(items))

    def compact(self, budget: Budget, *, forced: bool = False) -> Plan:
        made = plan(self.window, budget, forced=forced)
        self.window = apply(self.window, made, rare, count=count)
        self.gone |= {item.position for departure in made.leaves for item in departure.items}
        return made


def played(script: Sequence[object], budget: Budget):
    """Play a script, and yield the session before each plan with the plan and the session after it."""
    session = Session()
    for step in script:
        if isinstance(step, list):
            for one in step:
                session.append(*one)
        elif isinstance(step, tuple):
            session.use(step[1])
        before = session.window
        made = session.compact(budget, forced=step == "forced")
        yield before, made, session


def messages(items: Sequence[Item]) -> list[set[int]]:
    """Positions of what may not be parted: the parts of a message; a call with the results that came after it."""
    found: list[set[int]] = []
    calls: dict[str, int] = {}
    for item in items:
        if item.part and found:
            found[-1].add(item.position)
        else:
            found.append({item.position})
        if item.kind is Kind.TOOL_CALL and item.call_id:
            calls[item.call_id] = item.position
        elif item.kind is Kind.TOOL_RESULT and item.call_id in calls:
            found.insert(0, {item.position, calls[item.call_id]})
    return found


@settings(max_examples=150, deadline=None)
@given(steps, budgets)
def test_what_may_not_be_parted_leaves_together(script, budget):
    """Of a message, and of a call and its results, all that the window holds leaves, or nothing does."""
    for before, made, _ in played(script, budget):
        gone = {item.position for departure in made.leaves for item in departure.items}
        for group in messages(before.items):
            assert group <= gone or not group & gone


@settings(max_examples=150, deadline=None)
@given(steps, budgets)
def test_markers_tile_what_left(script, budget):
    """Everything that left lies in the range of exactly one marker, and the rest of each range is counted as kept."""
    for _, _, session in played(script, budget):
        window = session.window
        for marker in window.markers:
            inside = [item for item in session.all if marker.first_position <= item.position <= marker.last_position]
            left = [item for item in inside if item.position in session.gone]
            assert (marker.first, marker.last) == (left[0].id, left[-1].id)
            assert marker.events == len(left)
            assert marker.tokens == sum(item.tokens for item in left)
            assert marker.kept == len(inside) - len(left)
            assert {marker.first_turn, marker.last_turn} == {left[0].turn, left[-1].turn}
            times = [item.time.microseconds for item in left if item.time is not None]
            assert marker.start == (Moment(min(times)) if times else None)
            assert marker.end == (Moment(max(times)) if times else None)
        assert sum(marker.events for marker in window.markers) == len(session.gone)
        levels = [marker.level for marker in window.markers]
        assert levels == sorted(set(levels), reverse=True)
        assert [item.id for item in window.items] == [
            item.id for item in session.all if item.position not in session.gone
        ]


@settings(max_examples=150, deadline=None)
@given(steps, budgets)
def test_the_window_meets_its_target_or_says_why_not(script, budget):
    """Below the mark nothing leaves; above it the target is met, markers included, or all that stays is named."""
    for before, made, session in played(script, budget):
        window = session.window
        assert window.markers_tokens == sum(count(marker.text) for marker in window.markers)
        assert all(marker.text_tokens <= MARKER_TOKENS_MAX for marker in window.markers)
        assert window.tokens <= made.tokens_after
        if made.tokens_target == 0:
            assert made.leaves == ()
            assert before.tokens <= budget.high_tokens
        elif made.excess:
            assert made.excess == window.items
        else:
            assert window.tokens <= made.tokens_after <= budget.low_tokens


@settings(max_examples=150, deadline=None)
@given(steps, budgets)
def test_nothing_left_that_could_have_stayed(script, budget):
    """No single unit could be put back with the target still met, unless for a marker larger than itself."""
    for before, made, _ in played(script, budget):
        gone = {item.position for departure in made.leaves for item in departure.items}
        for unit in units(before.items, budget, now=before.through):
            inside = {before.items[index].position for index in unit.indexes}
            assert inside <= gone or not inside & gone
            if inside & gone:
                flags = [item.position in gone - inside for item in before.items]
                runs = sum(here and not back for here, back in zip(flags, [False, *flags], strict=False))
                items = sum(item.tokens for item in before.items if item.position not in gone - inside)
                tokens = items + room(before.markers, runs, before.markers_tokens)
                assert tokens > budget.low_tokens or tokens - made.tokens_after > 2 * unit.tokens


@settings(max_examples=150, deadline=None)
@given(steps, budgets)
def test_what_is_protected_never_leaves(script, budget):
    """System, persona, the newest user message and the newest steps stay; whose a message is, its first part says."""
    for before, made, _ in played(script, budget):
        gone = {item.position for departure in made.leaves for item in departure.items}
        if not before.items:
            continue
        newest = [item for item in before.items if item.turn == before.items[-1].turn]
        users = [item for item in newest if item.kind is Kind.USER_MESSAGE]
        agents = {Kind.AGENT_MESSAGE, Kind.REASONING, Kind.TOOL_CALL}
        stay = {item.position for item in before.items if item.kind in (Kind.SYSTEM, Kind.PERSONA)}
        stay |= {item.position for item in users[-1:]} | {before.items[-1].position}
        heads = [item for item in newest if not item.part]
        runs = [
            here.position
            for back, here in zip([None, *heads], heads, strict=False)
            if here.kind in agents and (back is None or back.kind not in agents)
        ]
        stay |= {item.position for item in newest if runs and item.position >= runs[-STEPS_KEPT:][0]}
        assert not stay & gone


@settings(max_examples=150, deadline=None)
@given(steps, budgets)
def test_a_receipt_and_the_items_at_its_positions_give_back_the_window(script, budget):
    """From what stands in the receipt, and the session's items made anew, the window after it is made again."""
    for _, made, session in played(script, budget):
        window = session.window
        receipt = from_json(to_json(make(made, window, budget)))
        places = [place for first, last in receipt.kept for place in range(first, last + 1)]
        by_place = {item.position: item for item in session.all}
        items = tuple(replace(by_place[place], accesses=receipt.accesses.get(place, ())) for place in places)
        tokens = sum(marker.text_tokens for marker in receipt.markers)
        assert Window(items, receipt.markers, receipt.cycle, receipt.through, tokens) == window
