"""Windows for tests: made of turns, and any at all."""

from __future__ import annotations

from hypothesis import strategies as st

from firsthand.event import Kind, id_text
from firsthand.moment import Moment
from firsthand.window import HISTORY, Hint, Item, Marker, Window


def quarter(text: str) -> int:
    """Count a token for each four signs begun: figures of tests do not hang on the estimate."""
    return (len(text) + 3) // 4


def name(position: int) -> str:
    """Give the id of the event at a position."""
    return id_text(position.to_bytes(16, "big"))


def item(position: int, turn: int, kind: Kind, tokens: int, *, call: str = "", part: int = 0) -> Item:
    return Item(name(position), position, turn, kind, tokens, call_id=call, part=part)


def marker(first: int, last: int, *, hints: int = 4, turn: int = 1) -> Marker:
    """Give the marker of the events between two positions."""
    said = tuple(Hint(f"topic-{first + number}", first + number, 1.0) for number in range(hints))
    return Marker(
        name(first), name(last), first, last, turn, turn + 1, Moment(first), Moment(last), last - first + 1, 1_000,
        hints=said,
    )  # fmt: skip


def conversation(turns: int, *, steps: int = 2, result: int = 300, start: int = 1) -> Window:
    """Give a window of turns: a question, then steps of words, call and result, then an answer."""
    items: list[Item] = []

    def add(turn: int, kind: Kind, tokens: int, call: str = "") -> None:
        items.append(item(start + len(items), turn, kind, tokens, call=call))

    for turn in range(1, turns + 1):
        add(turn, Kind.USER_MESSAGE, 40)
        for step in range(steps):
            add(turn, Kind.AGENT_MESSAGE, 20)
            add(turn, Kind.TOOL_CALL, 25, f"c{turn}-{step}")
            add(turn, Kind.TOOL_RESULT, result, f"c{turn}-{step}")
        add(turn, Kind.AGENT_MESSAGE, 50)
    return Window(tuple(items))


@st.composite
def windows(draw, items_max: int = 20) -> Window:
    """Make any window: items of all kinds, orphans, late results, ids used again, markers among them."""
    items: list[Item] = []
    markers: list[Marker] = []
    position = turn = 0
    for _ in range(draw(st.integers(0, items_max))):
        position += draw(st.integers(1, 3))
        if draw(st.integers(0, 9)) == 0:
            markers.append(marker(position, position + 5, hints=draw(st.integers(0, 8))))
            position += 6
        kind = draw(st.sampled_from(sorted(HISTORY)))
        turn += kind is Kind.USER_MESSAGE
        call = draw(st.sampled_from(["a", "b", "c", "d"])) if kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) else ""
        tokens = draw(st.one_of(st.integers(1, 60), st.integers(1, 5_000)))
        part = draw(st.sampled_from([0, 0, 1])) if items else 0
        items.append(item(position, turn, kind, tokens, call=call, part=part))
    return Window(tuple(items), tuple(markers))
