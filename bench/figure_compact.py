"""One compaction, planned and applied, and what its markers cost after thousands of them."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import cycle, islice

from firsthand.context.marker_hints import terms
from firsthand.context.markers import apply
from firsthand.context.plan import plan
from firsthand.context.receipt import make, to_json
from firsthand.event import Kind, id_text
from firsthand.moment import Moment
from firsthand.tokens import estimate
from firsthand.window import MARKER_TOKENS_MAX, Budget, Item, Window
from setting import SEED, Setting
from table import Bound, Row, Target
from timing import median, say

PAPER_MS = {100: 0.20, 200: 0.48}  # total-recall 10.4, on a machine it does not name
TARGET_MS = {100: 0.2, 200: 0.5}
WINDOWS = 400  # of each size, every one with other texts
LARGE = (2_000, 20_000)
LINEAR_RATIO_MAX = 1.5
COMPACTIONS = (10, 100, 1_000, 10_000)
TEXTS = 4_000
# A turn of an agent at work: two calls with their results, and words around them.
TURN = (
    Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT,
    Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.AGENT_MESSAGE,
)  # fmt: skip


def measure(setting: Setting) -> list[Row]:
    """Time plan and apply on windows of real texts, and count what the markers of long sessions cost."""
    source = Source(list(setting.texts(setting.scaled(TEXTS, at_least=500))))
    rows = [_row(setting, source, size) for size in PAPER_MS]
    rows.append(_linear(source))
    rows.append(_receipt(source))
    counts = COMPACTIONS[:-1] if setting.quick else COMPACTIONS
    for done, window, each in _long_session(source, counts):
        most = (done + 1).bit_length() - 1
        note = (
            "A session of real texts whose window of about 100 events is compacted again and again; runs between "
            "which something stays leave a marker each at first. The baseline keeps every marker that was ever made."
        )
        label = f"after {done:,} compactions"
        rows.append(
            Row(f"markers {label}", len(window.markers), done, "", "one a compaction", True,
                Target(Bound.OURS_MAX, most + 1), note)
        )  # fmt: skip
        rows.append(
            Row(f"marker tokens {label}", window.markers_tokens, each, "tokens", "all markers", True,
                Target(Bound.OURS_MAX, (most + 1) * MARKER_TOKENS_MAX), note)
        )  # fmt: skip
    return rows


class Source:
    """Makes items of real texts: their tokens and terms are found once, as a session does when an event comes in."""

    def __init__(self, texts: Sequence[str]) -> None:
        found = [(estimate(text), terms(text)) for text in texts]
        held = Counter(term for _, some in found for term in some)
        self._shares = {term: count / len(texts) for term, count in held.items()}
        order = random.Random(SEED)
        order.shuffle(found)
        self._endless = cycle(found)
        self._position = 0

    def items(self, count: int) -> list[Item]:
        """Make the session's next items."""
        made = []
        for tokens, some in islice(self._endless, count):
            at = self._position
            self._position = at + 1
            kind = TURN[at % len(TURN)]
            call = f"call-{at - at % len(TURN) // 4}" if kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) else ""
            if kind is Kind.TOOL_RESULT:
                call = made[-1].call_id if made else ""
            time_then = Moment(1_700_000_000_000_000 + at * 1_000_000)
            made.append(
                Item(id_text((at + 1).to_bytes(16, "big")), at + 1, at // len(TURN), kind, tokens, time_then,
                     call_id=call, terms=some)
            )  # fmt: skip
        return made

    def frequency(self, some: Collection[str]) -> Mapping[str, float]:
        """Say how common terms are among the texts."""
        return {term: self._shares[term] for term in some}


def _row(setting: Setting, source: Source, size: int) -> Row:
    taken = []
    for _ in range(setting.scaled(WINDOWS, at_least=50)):
        window, budget = _full(source, size)
        # The least of three for each window: what the machine does beside takes longer than a compaction.
        taken.append(
            min(_seconds(lambda window=window, budget=budget: _compact(window, budget, source)) for _ in range(3))
        )
    say(f"compact: windows of {size} events")
    note = (
        "Real texts in turns of eight events; from just above the high-water mark down to the low one; processor time, "
        "the least of three for each window; how common terms are comes from memory. The baseline is what the paper "
        "says of its TypeScript."
    )
    target = Target(Bound.OURS_MAX, TARGET_MS[size])
    return Row(
        f"plan and apply, {size} events, p50",
        median(taken) * 1e3,
        PAPER_MS[size],
        "ms",
        "the paper",
        True,
        target,
        note,
    )


def _linear(source: Source) -> Row:
    each = []
    for size in LARGE:
        windows = [_full(source, size) for _ in range(3)]
        taken = [
            _seconds(lambda window=window, budget=budget: _compact(window, budget, source))
            for window, budget in windows * 3
        ]
        each.append(min(taken) / size * 1e6)
        say(f"compact: windows of {size:,} events")
    small, large = each
    return Row(
        f"plan and apply per event, window of {LARGE[1]:,}", large, small, "us", f"window of {LARGE[0]:,}", True,
        Target(Bound.RATIO_MAX, LINEAR_RATIO_MAX), "Processor time, the least of nine: it is linear in the window.",
    )  # fmt: skip


def _receipt(source: Source) -> Row:
    window, budget = _full(source, 333)  # so that about 200 events stay
    made = plan(window, budget)
    after = apply(window, made, source.frequency, count=estimate)
    size = len(to_json(make(made, after, budget)))
    shown = sum(item.tokens for item in after.items) * 4
    note = f"{len(after.items)} events stay; four bytes a token for the baseline."
    return Row("receipt of a compaction", size / 1e3, shown / 1e3, "kB", "the window's text", True, None, note)


def _long_session(source: Source, counts: Sequence[int]) -> list[tuple[int, Window, int]]:
    window, budget = _full(source, 160)
    found = []
    each = 0
    for done in range(1, max(counts) + 1):
        while window.tokens <= budget.high_tokens:
            items = (*window.items, *source.items(len(TURN)))
            window = Window(items, window.markers, window.cycle, items[-1].position, window.markers_tokens)
        before = {marker.first for marker in window.markers}
        window = _compact(window, budget, source)
        fresh = [marker for marker in window.markers if marker.first not in before] or window.markers[-1:]
        each += fresh[-1].text_tokens  # what a marker of this compaction costs where none is ever merged
        if done in counts:
            say(f"compact: {done:,} compactions, {len(window.markers)} markers, {window.markers_tokens:,} tokens")
            found.append((done, window, each))
    return found


def _full(source: Source, size: int) -> tuple[Window, Budget]:
    """Make a window of so many events, and a budget that it is just too large for."""
    items = tuple(source.items(size))
    window = Window(items, through=items[-1].position)
    return window, Budget(int(window.tokens / 0.91))


def _compact(window: Window, budget: Budget, source: Source) -> Window:
    return apply(window, plan(window, budget), source.frequency, count=estimate)


def _seconds(call: Callable[[], object]) -> float:
    """Time a call by the processor: it computes only, and waits for nothing but its turn."""
    before = time.process_time()
    call()
    return time.process_time() - before
