"""What a compaction will take out of a window, and why (total-recall 5.1, 9.4, A.2).

    above the high-water mark -> units by priority, largest first, down to the low-water mark
                              -> back again each unit that can stay, the most valuable first
                              -> runs of neighbours, one departure each

The invariant: nothing leaves below the high-water mark unless it is asked for; no
single unit of a plan could stay and the target still be met, unless it would need a
further marker larger than itself; with room for the markers, what is left meets the
target, or `Plan.excess` names all that is left.

Pure: a plan does nothing. It does not know whether the log has what leaves; who
carries it out must ask the log first, and plan again with what is `unproven`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter

from firsthand.context.eviction_units import Unit, units
from firsthand.errors import InvalidArgument
from firsthand.event import Kind
from firsthand.value import replace
from firsthand.window import MARKER_TOKENS_MAX, Budget, Departure, Item, Marker, Plan, Window

LEFT = "no longer in the caller's list"


def plan(
    window: Window,
    budget: Budget,
    *,
    overhead_tokens: int = 0,
    now: int | None = None,
    forced: bool = False,
    gone: Collection[str] = (),
    unproven: Collection[str] = (),
) -> Plan:
    """Say what leaves a window so that it meets its budget again.

    Closed turns leave before those of the newest ``budget.hot_turns``: these only when the others do
    not suffice, oldest first, and the newest turn's steps last.

    Args:
        overhead_tokens: of what is sent beside the window: system text, tool schemas, task state.
        now: the session's present position; None takes the last one that the window has seen.
        forced: begin below the high-water mark too.
        gone: ids of what the caller's list no longer has, which leaves in any case.
        unproven: ids that stay, since the log does not prove that it has them.

    Raises:
        InvalidArgument: overhead_tokens is negative.
    """
    if overhead_tokens < 0:
        raise InvalidArgument(f"overhead_tokens is a number of tokens from 0; got {overhead_tokens!r}")
    before = window.tokens + overhead_tokens
    left = [item for item in window.items if item.id in gone and item.id not in unproven]
    rest = _without(window, left) if left else window
    tokens, target, items = rest.tokens + overhead_tokens, budget.low_tokens, rest.items
    if tokens <= budget.high_tokens and not forced:
        return Plan(_departures(window.items, left, [], budget), before, tokens, 0)
    if not items:
        return Plan(_departures(window.items, left, [], budget), before, tokens, target)
    last = max(window.through, items[-1].position)
    candidates = units(items, budget, now=last if now is None else now, unproven=unproven)
    choice = _Choice(rest, tokens)
    chosen = _least(choice, _in_order(candidates), target)
    left += [item for item, leaves in zip(items, choice.leaving, strict=False) if leaves]
    inside = [(unit, [items[index] for index in unit.indexes]) for unit in chosen]
    excess = () if choice.tokens <= target else tuple(_staying(items, choice.leaving))
    return Plan(_departures(window.items, left, inside, budget), before, choice.tokens, target, excess)


def _without(window: Window, left: Sequence[Item]) -> Window:
    """Give the window without what the caller left, with room for its markers."""
    names = {item.id for item in left}
    space = room(window.markers, len(_runs(window.items, names)), window.markers_tokens)
    return replace(
        window, items=tuple(item for item in window.items if item.id not in names), markers_tokens=space
    )  # fmt: skip


def room(markers: Sequence[Marker], departures: int, markers_tokens: int) -> int:
    """Give the most tokens that the markers can have after so many departures.

    Each departure adds one marker at most; and since levels strictly decrease after merging, there are
    no more markers than the spans that they were made of have binary digits.
    """
    if not departures:
        return markers_tokens
    spans = sum(1 << marker.level for marker in markers) + departures
    most = (spans + 1).bit_length() - 1
    return min(markers_tokens + departures * MARKER_TOKENS_MAX, most * MARKER_TOKENS_MAX)


class _Choice:
    """What is chosen to leave, and the tokens that would be sent then.

    Attributes:
        leaving: 1 for each item that leaves, with one place more that stays 0.
        tokens: of all that would be sent, with room for the markers.
    """

    def __init__(self, window: Window, tokens: int) -> None:
        self._markers, self._markers_tokens = window.markers, window.markers_tokens
        self.leaving = bytearray(len(window.items) + 1)
        self._runs = 0
        self._rest = tokens - window.markers_tokens
        self._rooms = {0: window.markers_tokens}
        self.tokens = tokens

    def take(self, unit: Unit) -> None:
        """Let a unit leave."""
        self._runs += self._runs_of(unit, 1)
        self._rest -= unit.tokens
        self.tokens = self._rest + self._room(self._runs)

    def tokens_with(self, unit: Unit) -> int:
        """Give the tokens that would be sent if a unit that leaves stayed."""
        return self._rest + unit.tokens + self._room(self._runs - self._runs_of(unit))

    def put_back(self, unit: Unit) -> None:
        """Let a unit stay after all."""
        self._runs -= self._runs_of(unit, 0)
        self._rest += unit.tokens
        self.tokens = self._rest + self._room(self._runs)

    def _runs_of(self, unit: Unit, mark: int | None = None) -> int:
        """Count the runs that there are with a unit beyond those without it, and mark its items if asked to."""
        leaving = self.leaving
        runs = 0
        for start, stop in _stretches(unit.indexes):
            runs += 1 - leaving[start - 1] - leaving[stop]  # before the first is the last place, where nothing leaves
            if mark is not None:
                leaving[start:stop] = bytes((mark,)) * (stop - start)
        return runs

    def _room(self, runs: int) -> int:
        space = self._rooms.get(runs)
        if space is None:
            space = self._rooms[runs] = room(self._markers, runs, self._markers_tokens)
        return space


def _stretches(indexes: Sequence[int]) -> list[tuple[int, int]]:
    """Give where unbroken stretches of indexes begin and where they end."""
    first, last = indexes[0], indexes[-1]
    if last - first + 1 == len(indexes):
        return [(first, last + 1)]
    ends = [at + 1 for at in range(len(indexes) - 1) if indexes[at + 1] != indexes[at] + 1]
    return [
        (indexes[start], indexes[stop - 1] + 1) for start, stop in zip([0, *ends], [*ends, len(indexes)], strict=True)
    ]


def _in_order(candidates: list[Unit]) -> list[Unit]:
    """Put units in the order of leaving: by priority, then the hot ones by age."""
    closed = [unit for unit in candidates if not unit.hot]
    closed.sort(key=lambda unit: -unit.priority)  # stable: of equal ones the oldest first
    return closed + [unit for unit in candidates if unit.hot]


def _least(choice: _Choice, order: list[Unit], target: int) -> list[Unit]:
    """Choose units until the target is met, and put back each that can stay; return what leaves."""
    chosen = []
    for unit in order:
        if choice.tokens <= target:
            break
        choice.take(unit)
        chosen.append(unit)
    again = True
    while again:  # a unit that stays can save a marker, so that one refused before can stay too
        again = False
        leaving = []
        for unit in reversed(chosen):
            tokens = choice.tokens_with(unit)
            costs = tokens - choice.tokens  # its own tokens, and room for the marker of a run that it would part
            if tokens > max(choice.tokens, target) or costs > 2 * unit.tokens:
                leaving.append(unit)
            else:
                again = again or tokens < choice.tokens
                choice.put_back(unit)
        chosen = leaving[::-1]
    return chosen


def _staying(items: Sequence[Item], leaving: bytearray) -> list[Item]:
    return [item for index, item in enumerate(items) if not leaving[index]]


# departures ----------------------------------------------------------------------------------------


def _departures(
    items: Sequence[Item], left: Sequence[Item], chosen: Sequence[tuple[Unit, Sequence[Item]]], budget: Budget
) -> tuple[Departure, ...]:
    unit_of = {item.id: unit for unit, members in chosen for item in members}
    departures = []
    for run in _runs(items, {item.id for item in left}):
        inside = {id(unit_of[item.id]): unit_of[item.id] for item in run if item.id in unit_of}
        departures.append(Departure(tuple(run), _reason(run, list(inside.values()), budget) if inside else LEFT))
    return tuple(departures)


def _runs(items: Sequence[Item], left: Collection[str]) -> list[list[Item]]:
    """Give what leaves as runs of neighbours, in order of the log, whatever place an item has in the window."""
    runs: list[list[Item]] = []
    stays = True
    for item in sorted(items, key=attrgetter("position")):
        if item.id not in left:
            stays = True
        elif stays:
            runs.append([item])
            stays = False
        else:
            runs[-1].append(item)
    return runs


def _reason(run: Sequence[Item], inside: list[Unit], budget: Budget) -> str:
    """Say in a sentence why a run leaves."""
    by_kind: dict[Kind, int] = {}
    used = 0
    for item in run:
        kind = item.kind
        by_kind[kind] = by_kind.get(kind, 0) + item.tokens
        if item.accesses:
            used += 1
    most = max(by_kind, key=by_kind.__getitem__)
    share = "all" if len(by_kind) == 1 else "mostly" if 2 * by_kind[most] >= sum(by_kind.values()) else "not least"
    step = any(unit.step for unit in inside)
    if any(unit.hot for unit in inside):
        which = f"{'steps of ' if step else ''}the newest {budget.hot_turns} turns, since older ones did not suffice"
    elif step:
        which = "steps of a turn larger than the low-water mark"
    else:
        which = f"closed turns before the newest {budget.hot_turns}"
    again = f"{used:,} of {len(run):,} were used again" if used else "none was used again"
    return f"{which}; {share} {most.replace('_', ' ')}s; {again}"
