"""What leaves together: the units of eviction of a window, and what must stay (total-recall 5.1, 8.4).

A turn is a unit and leaves whole. The newest turn, and a turn larger than the
low-water mark, is cut into steps: an agent's message with its reasoning and calls,
and the results of these, wherever they stand.

The invariant: the parts of one message, and a tool call and its results, are either
all in one unit or all stay. What is protected (system, persona, the newest user
message, the newest steps) is in no unit.

This module does not know what has to leave, or in which order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from firsthand.event import Kind
from firsthand.value import value
from firsthand.window import ACCESSES_KEPT, Budget, Item

STEPS_KEPT = 2  # the newest steps, which never leave

# Table A of the paper gives the first five. Of the others: reasoning has done its work when its message is
# written, and providers drop it from closed turns themselves; an attachment is large and opens by its pointer, but
# somebody chose to give it; a summary stands for much that is not there otherwise; what is not understood cannot be
# missed by a reader who does not understand it either.
WEIGHTS = {
    Kind.TOOL_RESULT: 1.0,
    Kind.TOOL_CALL: 0.8,
    Kind.AGENT_MESSAGE: 0.5,
    Kind.USER_MESSAGE: 0.5,
    Kind.REASONING: 0.9,
    Kind.ATTACHMENT: 0.6,
    Kind.SUMMARY: 0.4,
    Kind.OTHER: 0.7,
    Kind.SYSTEM: 0.0,
    Kind.PERSONA: 0.0,
}
SHORTENED_WEIGHT = 0.3  # an artifact reference: already a pointer, little to gain
_WEIGHT = {kind: WEIGHTS.get(kind, 0.0) for kind in Kind}
_BY_AGENT = {kind: kind in {Kind.AGENT_MESSAGE, Kind.REASONING, Kind.TOOL_CALL} for kind in Kind}
_USER, _CALL, _RESULT = Kind.USER_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT
_SYSTEM, _PERSONA = Kind.SYSTEM, Kind.PERSONA


@value
class Unit:
    """What leaves as one.

    Attributes:
        indexes: of its items in the window, ascending.
        tokens: of these items.
        priority: weight times distance; what has the largest leaves first.
        hot: it has an item of the newest turns, and leaves only when the others do not suffice.
        step: it is a step, not a whole turn.
    """

    indexes: Sequence[int]
    tokens: int
    priority: float
    hot: bool
    step: bool


def units(items: Sequence[Item], budget: Budget, *, now: int, unproven: Collection[str] = ()) -> list[Unit]:
    """Divide what may leave into units, in the order in which their turns and steps began.

    Args:
        now: the session's present position, from which distances are measured.
        unproven: ids of items that stay, since the log does not prove that it has them.
    """
    if not items:
        return []
    cut = _Cut(items, budget)
    pinned = _pinned(items, cut, unproven)
    first = pinned.find(0)
    if first < 0:
        return []
    return _weighed(items, cut, pinned, now, max(now - items[first].position, 1))


def _weighed(items: Sequence[Item], cut: _Cut, pinned: bytearray, now: int, extent: int) -> list[Unit]:
    """Add up the items of each unit, and weigh it.

    Its weight is the mean of its items' weights, by tokens. Its distance is the least of its items':
    LRU-K with K = 2, so the way back to the second latest access; an item with fewer accesses is
    farther away than any with two, by the way back to its latest one or to where it came in. Distances
    are measured within the window, so the same window further on in a session leaves in the same order.
    """
    roots, groups = cut.joined(pinned), cut.groups
    indexes: list[list[int]] = [[] for _ in roots]
    tokens, weighed = [0] * len(roots), [0.0] * len(roots)
    used: dict[int, int] = {}  # by unit, the latest access that counts
    for index, item in enumerate(items):
        if pinned[index]:
            continue
        root = roots[groups[index]]
        indexes[root].append(index)
        size = item.tokens
        tokens[root] += size
        weighed[root] += size * (SHORTENED_WEIGHT if item.shortened else _WEIGHT[item.kind])
        accesses = item.accesses
        if accesses:
            counts = accesses[ACCESSES_KEPT - 1] if len(accesses) >= ACCESSES_KEPT else accesses[0] - extent
            used[root] = max(used.get(root, counts), counts)
    hot = {root for group, root in enumerate(roots) if cut.turns[group] in cut.hot}
    steps = {root for group, root in enumerate(roots) if cut.turns[group] in cut.cut}
    weighed_units = []
    for root, inside in enumerate(indexes):
        if inside:
            weight = weighed[root] / tokens[root] if tokens[root] else 0.0
            came = items[inside[-1]].position - extent  # the newest item's: any access is later than its coming in
            distance = now - (max(came, used[root]) if root in used else came)
            weighed_units.append(Unit(inside, tokens[root], weight * max(distance, 0), root in hot, root in steps))
    return weighed_units


class _Cut:
    """One reading of the items: a group number for each, and what must not be parted.

    Attributes:
        groups: turn or step of each item, as a number.
        turns: the turn of each group.
        links: indexes of items that stay together although their groups may differ.
        cut: turns that are cut into steps.
        hot: the newest turns.
        newest_user: index of the newest turn's user message, or -1.
        tail: index from which on everything stays: the newest steps.
        fixed: indexes of what tells the model who it is and what it must do.
    """

    def __init__(self, items: Sequence[Item], budget: Budget) -> None:
        newest = items[-1].turn
        sizes: dict[int, int] = {}
        for item in items:
            turn = item.turn
            sizes[turn] = sizes.get(turn, 0) + item.tokens
        low = budget.low_tokens
        self.cut = {newest} | {turn for turn, size in sizes.items() if size > low}
        self.hot = _newest_turns(items, budget.hot_turns)
        self.groups: list[int] = []
        self.turns: list[int] = []
        self.links: list[tuple[int, int]] = []
        self.fixed: list[int] = []
        self.newest_user = -1
        self._read(items, newest)

    def _read(self, items: Sequence[Item], newest: int) -> None:
        groups, links, cut, turns = self.groups, self.links, self.cut, self.turns
        whole: dict[int, int] = {}  # group of each turn that is not cut, and the latest step of each that is
        by_agent: dict[int, bool] = {}  # whether the latest message of a cut turn was the agent's, by its first part
        calls: dict[str, int] = {}
        orphans: list[int] = []
        agent_steps: list[int] = []  # where the newest turn's steps begin
        other_steps: list[int] = []
        for index, item in enumerate(items):
            turn, kind = item.turn, item.kind
            call = -1
            if kind is _RESULT:
                call = calls.get(item.call_id, -1)
                if call >= 0:
                    links.append((call, index))
                else:
                    orphans.append(index)
            elif kind is _CALL and item.call_id:
                calls[item.call_id] = index
            elif kind is _SYSTEM or kind is _PERSONA:
                self.fixed.append(index)
            group = whole.get(turn, -1)
            if turn not in cut:
                if group < 0:
                    group = whole[turn] = len(turns)
                    turns.append(turn)
            elif call >= 0 and items[call].turn == turn:
                group = groups[call]
                by_agent[turn] = by_agent.get(turn, False) and item.part > 0
            elif group < 0 or (not item.part and not (_BY_AGENT[kind] and by_agent[turn])):
                group = whole[turn] = len(turns)
                turns.append(turn)
                by_agent[turn] = _BY_AGENT[kind]
                if turn == newest and kind is not _USER:
                    (agent_steps if _BY_AGENT[kind] else other_steps).append(index)
            if item.part and index:
                links.append((index - 1, index))
            if kind is _USER and turn == newest:
                self.newest_user = index
            groups.append(group)
        starts = agent_steps or other_steps
        self.tail = starts[-STEPS_KEPT] if len(starts) >= STEPS_KEPT else max(self.newest_user, 0)
        if len(starts) < STEPS_KEPT and self.newest_user < 0:
            self.tail = starts[0] if starts else len(items) - 1
        _pair_early_results(items, orphans, links)

    def joined(self, pinned: bytearray) -> list[int]:
        """Give for each group the one that it is joined with, by links between items that may leave."""
        groups = self.groups
        roots = list(range(len(self.turns)))

        def root(group: int) -> int:
            while roots[group] != group:
                roots[group] = roots[roots[group]]
                group = roots[group]
            return group

        for member, other in self.links:
            if groups[member] != groups[other] and not pinned[member]:
                first, second = root(groups[member]), root(groups[other])
                roots[max(first, second)] = min(first, second)
        return [root(group) for group in roots]


def _newest_turns(items: Sequence[Item], count: int) -> set[int]:
    turns: set[int] = set()
    for item in reversed(items):
        if item.turn not in turns:
            if len(turns) == count:
                break
            turns.add(item.turn)
    return turns


def _pair_early_results(items: Sequence[Item], orphans: list[int], links: list[tuple[int, int]]) -> None:
    """Link a result that was logged before its call with the first such call that has no other result."""
    if not orphans:
        return
    answered = {call for call, _ in links}
    waiting: dict[str, int] = {}
    for index, item in enumerate(items):
        if item.kind is _CALL and item.call_id and index not in answered:
            waiting.setdefault(item.call_id, index)
    for index in orphans:
        call = waiting.get(items[index].call_id, -1)
        if call > index:
            links.append((index, call))


def _pinned(items: Sequence[Item], cut: _Cut, unproven: Collection[str]) -> bytearray:
    """Mark the items that stay: 1 for each."""
    pinned = bytearray(len(items))
    tail = cut.tail
    pinned[tail:] = b"\1" * (len(items) - tail)
    if cut.newest_user >= 0:
        pinned[cut.newest_user] = 1
    for index in cut.fixed:
        pinned[index] = 1
    if unproven:
        for index, item in enumerate(items):
            if item.id in unproven:
                pinned[index] = 1
    if any(pinned[first] != pinned[other] for first, other in cut.links):
        _pin_linked(pinned, cut.links)
    return pinned


def _pin_linked(pinned: bytearray, links: list[tuple[int, int]]) -> None:
    """Let what is linked to an item that stays stay too."""
    beside: dict[int, list[int]] = {}
    for first, other in links:
        beside.setdefault(first, []).append(other)
        beside.setdefault(other, []).append(first)
    waiting = [index for index in beside if pinned[index]]
    while waiting:
        for index in beside[waiting.pop()]:
            if not pinned[index]:
                pinned[index] = 1
                waiting.append(index)
