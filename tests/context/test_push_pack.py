"""The layout of the push pack."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pack_windows import conversation, item, marker, name, quarter, windows

from firsthand.context.pack_units import OUTSIDE
from firsthand.context.push_pack import SECTION_SHARES, TOKENS_MAX, Missing, Section, layout
from firsthand.errors import InvalidArgument
from firsthand.event import Kind
from firsthand.value import replace
from firsthand.window import CUES, PREAMBLE, RECALL, TASK, Window

ALL = [Section(TASK, 300, "fh:TASK"), Section(PREAMBLE, 900), Section(CUES, 90), Section(RECALL, 700)]
sections = st.lists(
    st.builds(Section, st.sampled_from(sorted(SECTION_SHARES)), st.integers(0, 3_000), st.sampled_from(["", "fh:S"])),
    unique_by=lambda one: one.name, max_size=4,
)  # fmt: skip


def laid_out(window, given_sections, tokens_max):
    """Lay a pack out; None where the budget is too small for the newest turn, which the error says."""
    try:
        return layout(window, given_sections, tokens_max=tokens_max, count=quarter)
    except InvalidArgument as error:
        assert "the newest turn" in str(error)  # noqa: PT017 - also raised or not, as the example has it
        return None


@given(windows(), sections, st.integers(1, 4_000))
def test_a_pack_is_within_its_budget_and_holds_the_newest(window, given_sections, tokens_max):
    """For all windows: at most the tokens asked for, nobody has more than it has, the newest turn is in."""
    made = laid_out(window, given_sections, tokens_max)
    if made is None:
        assert tokens_max < 1_000
        return
    assert made.tokens <= tokens_max
    told = quarter(made.notice) if made.notice else 0
    markers = sum(quarter(one.text) for one in made.markers)
    tail = sum(one.tokens for one in made.tail)
    assert made.tokens == sum(one.tokens for one in made.sections) + markers + tail + told
    assert all(0 < one.tokens <= one.section.tokens for one in made.sections)
    assert all(one.tokens_max >= 1 for one in made.tail)
    history = [one for one in window.items if one.kind not in OUTSIDE]
    shown = {one.item.id for one in made.tail}
    if history:
        assert history[-1].id in shown or history[-1].call_id or history[-1].part
        users = [one for one in history if one.kind is Kind.USER_MESSAGE]
        assert not users or shown & {one.id for one in users[-1:]} or users[-1].part
        assert max(one.item.position for one in made.tail) >= min(one.position for one in history)


@given(windows(), sections, st.integers(200, 4_000))
def test_everything_is_shown_or_counted(window, given_sections, tokens_max):
    """What the window and the sections hold is in the pack, or in what is missing with its number and tokens."""
    made = laid_out(window, given_sections, tokens_max)
    if made is None:
        return
    history = [one for one in window.items if one.kind not in OUTSIDE]
    shown = {one.item.id for one in made.tail}
    events = [one for one in made.missing if "event" in one.what]
    assert sum(one.count for one in events) == len(history) - len(shown)
    assert sum(one.tokens for one in events) == sum(one.tokens for one in history if one.id not in shown)
    assert {one.section.name for one in made.sections} | {one.what for one in made.missing} >= {
        one.name for one in given_sections if one.tokens
    }
    assert bool(window.markers) == bool(made.markers or any(one.what == "marker" for one in made.missing))
    assert all(f"{one.tokens:,} tokens" in made.notice and one.pointer in made.notice for one in made.missing)
    assert (made.notice == "") == (made.missing == ())
    for one in made.cut:
        assert one.tokens > 0


@given(windows(), sections, st.integers(200, 4_000))
def test_calls_and_results_stay_together(window, given_sections, tokens_max):
    """A shown result has its call before it when the window has it, and a shown call all its results."""
    made = laid_out(window, given_sections, tokens_max)
    if made is None:
        return
    shown = {one.item.id for one in made.tail}
    for call, results in paired(window):
        assert len({one.id in shown for one in (call, *results)}) == 1


def paired(window):
    """Pair calls with their results as a reader would, where each id names one call."""
    for call_id in {one.call_id for one in window.items if one.call_id}:
        calls = [one for one in window.items if one.call_id == call_id and one.kind is Kind.TOOL_CALL]
        results = [one for one in window.items if one.call_id == call_id and one.kind is Kind.TOOL_RESULT]
        if len(calls) == 1:
            yield calls[0], results


@given(windows(), sections, st.integers(1, 4_000))
def test_the_same_window_gives_the_same_pack(window, given_sections, tokens_max):
    """A layout is a function of its arguments; the order in which sections are named does not matter."""
    one, other = (laid_out(window, named, tokens_max) for named in (given_sections, given_sections[::-1]))
    assert one == other


@given(windows(), sections)
def test_with_room_for_all_nothing_is_missing_or_cut(window, given_sections):
    """When everything fits, everything is shown whole, whatever the shares are."""
    history = [one for one in window.items if one.kind not in OUTSIDE]
    needed = sum(one.tokens for one in history) + sum(one.tokens for one in given_sections)
    needed += sum(quarter(one.text) for one in window.markers)
    made = layout(window, given_sections, tokens_max=max(1, needed), count=quarter)
    assert (made.missing, made.cut, made.notice, made.tokens) == ((), (), "", needed)
    assert [one.item for one in made.tail] == history
    assert made.markers == window.markers


def test_the_newest_turns_are_there_and_not_the_oldest():
    """A long session shows its end: the tail runs without a gap up to the newest event (the paper's code did not)."""
    window = conversation(200)
    made = layout(window, count=quarter)
    positions = [one.item.position for one in made.tail]
    assert positions == [*range(positions[0], window.items[-1].position + 1)]
    assert made.tail[-1].item == window.items[-1]
    assert 1_500 < made.tokens <= TOKENS_MAX
    assert made.missing == (
        Missing("earlier event", len(window.items) - len(positions),
                sum(one.tokens for one in window.items[: -len(positions)]),
                f"fh:{name(1)}..{name(positions[0] - 1)}"),
    )  # fmt: skip
    assert made.notice == f"[Not in this pack: {made.missing[0].text}]"


def test_the_tail_has_no_gap():
    """The first step that has no room ends the tail: older ones do not stand there as if nothing were between."""
    calls = [item(200 + number, 4, Kind.TOOL_CALL, 400, call=f"c{number}") for number in range(6)]
    results = [item(210 + number, 4, Kind.TOOL_RESULT, 400, call=f"c{number}") for number in range(6)]
    window = Window((
        *conversation(3, result=10).items, item(199, 4, Kind.USER_MESSAGE, 10), *calls, *results,
        item(220, 4, Kind.AGENT_MESSAGE, 10), item(221, 5, Kind.USER_MESSAGE, 10), item(222, 5, Kind.AGENT_MESSAGE, 10),
    ))  # fmt: skip
    made = layout(window, count=quarter)
    assert [one.item.position for one in made.tail] == [220, 221, 222]
    assert made.missing[0].count == len(window.items) - 3


def test_a_large_newest_turn_is_cut_and_stays():
    """A question and a result of 100,000 tokens each are both in, cut; the call stands with its result."""
    window = Window((
        *conversation(3).items, item(50, 9, Kind.USER_MESSAGE, 100_000), item(51, 9, Kind.TOOL_CALL, 20, call="x"),
        item(52, 9, Kind.TOOL_RESULT, 100_000, call="x"),
    ))  # fmt: skip
    made = layout(window, ALL, count=quarter)
    assert [one.item.position for one in made.tail[-3:]] == [50, 51, 52]
    assert made.tail[-2].tokens == 20
    assert all(one.tokens >= 300 for one in (made.tail[-1], made.tail[-3]))
    assert [one.pointer for one in made.cut if one.pointer.startswith("fh:0")] == [f"fh:{name(50)}", f"fh:{name(52)}"]


def test_ten_thousand_parallel_calls():
    """Of a step with 10,000 calls the newest pairs are shown, the others counted, and the question is there."""
    calls = [item(10 + number, 1, Kind.TOOL_CALL, 20, call=f"c{number}") for number in range(10_000)]
    results = [item(20_000 + number, 1, Kind.TOOL_RESULT, 90, call=f"c{number}") for number in range(10_000)]
    window = Window((item(1, 1, Kind.USER_MESSAGE, 40), *calls, *results))
    made = layout(window, count=quarter)
    shown = [one.item for one in made.tail]
    assert shown[0].kind is Kind.USER_MESSAGE
    kept = {one.call_id for one in shown if one.kind is Kind.TOOL_CALL}
    assert kept == {one.call_id for one in shown if one.kind is Kind.TOOL_RESULT}
    assert kept == {f"c{number}" for number in range(10_000 - len(kept), 10_000)}
    assert 1_700 < made.tokens <= TOKENS_MAX
    assert [one.what for one in made.missing] == ["event of the newest turn"]


def test_a_call_id_used_for_every_call():
    """A harness that gives every call the same id loses nothing by it: each call stands with its own result."""
    items = [
        item(2 * number + kind, number // 2 + 1, [Kind.TOOL_CALL, Kind.TOOL_RESULT][kind], 30, call="call_0")
        for number in range(1, 200) for kind in (0, 1)
    ]  # fmt: skip
    made = layout(Window(tuple(items)))
    kinds = [one.item.kind for one in made.tail]
    assert kinds == [Kind.TOOL_CALL, Kind.TOOL_RESULT] * (len(kinds) // 2)
    assert len(kinds) > 20


def test_markers_never_eat_the_pack():
    """However many markers there are, they have their share, and what they open stays open, as one range."""
    window = conversation(30, start=10_001)
    for number in (1, 5, 20, 1_000):
        markers = tuple(marker(10 * place + 1, 10 * place + 8, turn=place) for place in range(number))
        made = layout(replace(window, markers=markers), ALL, count=quarter)
        assert sum(quarter(one.text) for one in made.markers) <= 0.15 * TOKENS_MAX
        assert (made.markers[0].first, made.markers[-1].last) == (markers[0].first, markers[-1].last)
        assert sum(one.events for one in made.markers) == sum(one.events for one in markers)
        assert made.markers[-1].last == markers[-1].last
        assert made.tail[-1].item == window.items[-1]
        assert not any(one.what == "marker" for one in made.missing)


@pytest.mark.parametrize("tokens_max", [0, -1, True, 2.5, "2000", None, 10**12])
def test_what_is_no_budget_is_refused(tokens_max):
    """A budget is a number of tokens."""
    with pytest.raises(InvalidArgument, match="tokens_max is a whole number from 1"):
        layout(conversation(2), tokens_max=tokens_max, count=quarter)


def test_a_budget_too_small_for_the_newest_turn_says_how_much_is_needed():
    """The error names what is enough, and that much is enough."""
    window = conversation(50)
    with pytest.raises(InvalidArgument, match=r"takes at least \d+ tokens") as caught:
        layout(window, ALL, tokens_max=8, count=quarter)
    needed = int(str(caught.value).split("at least ")[1].split()[0])
    assert layout(window, ALL, tokens_max=needed + 60, count=quarter).tokens <= needed + 60


@pytest.mark.parametrize("wrong", [[Section("history", 5)], [Section(TASK, 5), Section(TASK, 6)]])
def test_what_is_no_section_is_refused(wrong):
    """A section has one of the names, once."""
    with pytest.raises(InvalidArgument, match="the sections of a pack are"):
        layout(Window(), wrong)


def test_an_empty_window_gives_an_empty_pack():
    """Nothing is no error, and system and persona, which the caller sends, are no part of a pack."""
    assert layout(Window()).tokens == 0
    window = Window((item(1, 0, Kind.SYSTEM, 500), item(2, 0, Kind.PERSONA, 500)))
    assert (layout(window).tokens, layout(window).missing) == (0, ())
