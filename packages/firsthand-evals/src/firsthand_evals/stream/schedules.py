"""In which order and in what portions the episodes of a world come to a consolidator (consolidation 3.4).

    stream         in batches of eight, as they happened          batch-1       one at a time
    shuffled       in another order                                every-8       asked at each eighth batch alone
    blocked        one family after the other                      static-group  one batch a family
    interleaved    families in turn                                static-all    all at once
    rounds-3       the stream, and its updates twice again with nothing new
    stream-10, -50 the stream, and nine or 49 times more each of its batches shown once more
    static-10, -50 all at once, and nine or 49 times more all of it shown once more

The invariant: the pool is the same whatever the schedule, and a schedule's order is a
function of the world, so arms that run on one world are pairs. Of two answers to one
question the one that comes later holds, in whatever order they come.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest

from firsthand import InvalidArgument
from firsthand.ledger.entries import Episode
from firsthand.value import replace, value
from firsthand_evals.stream.world import World

BATCH = 8
EVERY = 8
ROUNDS = 3
PASSES, MANY_PASSES = 10, 50
"""Over the same updates, as often as the paper passes over them (faulty-memories, Figure 2)."""


@value
class Update:
    """One step: what comes, whether the consolidator is asked after it, and what it is shown once more."""

    new: tuple[Episode, ...]
    consolidates: bool = True
    again: tuple[Episode, ...] = ()


def schedule(name: str, world: World) -> tuple[Update, ...]:
    """Give the updates of a world by a schedule."""
    if name not in SCHEDULES:
        raise InvalidArgument(f"there is no schedule {name!r}; these are: {', '.join(SCHEDULES)}")
    return SCHEDULES[name](world)


def _stream(world: World) -> tuple[Update, ...]:
    return _in_batches(world.episodes, BATCH)


def _one_by_one(world: World) -> tuple[Update, ...]:
    return _in_batches(world.episodes, 1)


def _shuffled(world: World) -> tuple[Update, ...]:
    ordered = [*world.episodes]
    random.Random(f"order {world.seed}").shuffle(ordered)  # noqa: S311 - an order that can be had again
    return _in_batches(ordered, BATCH)


def _blocked(world: World) -> tuple[Update, ...]:
    return _in_batches([one for members in _families(world) for one in members], BATCH)


def _interleaved(world: World) -> tuple[Update, ...]:
    turns = zip_longest(*_families(world))
    return _in_batches([one for turn in turns for one in turn if one is not None], BATCH)


def _every(world: World) -> tuple[Update, ...]:
    updates = _in_batches(world.episodes, BATCH)
    last = len(updates)
    return tuple(
        replace(one, consolidates=number % EVERY == 0 or number == last) for number, one in enumerate(updates, 1)
    )


def _static_all(world: World) -> tuple[Update, ...]:
    return _in_batches(world.episodes, len(world.episodes))


def _static_group(world: World) -> tuple[Update, ...]:
    ordered = _placed(one for members in _families(world) for one in members)
    return tuple(
        Update(tuple(one for one in ordered if one.scope == family.name))
        for family in world.families
        if any(one.scope == family.name for one in ordered)
    )


def _rounds(world: World) -> tuple[Update, ...]:
    updates = _in_batches(world.episodes, BATCH)
    return (*updates, *(Update(()) for _ in range((ROUNDS - 1) * len(updates))))


def _again(first: Callable[[World], tuple[Update, ...]], passes: int) -> Callable[[World], tuple[Update, ...]]:
    """Pass over the updates of a schedule so many times."""

    def of(world: World) -> tuple[Update, ...]:
        updates = first(world)
        return (*updates, *(Update((), again=one.new) for _ in range(passes - 1) for one in updates))

    return of


def _families(world: World) -> list[list[Episode]]:
    return [[one for one in world.episodes if one.scope == family.name] for family in world.families]


def _in_batches(episodes: Sequence[Episode], size: int) -> tuple[Update, ...]:
    ordered = _placed(episodes)
    return tuple(Update(tuple(ordered[at : at + size])) for at in range(0, len(ordered), size))


def _placed(episodes: Iterable[Episode]) -> list[Episode]:
    """Give episodes the positions of the order that they come in."""
    return [replace(one, position=number) for number, one in enumerate(episodes, 1)]


SCHEDULES: Mapping[str, Callable[[World], tuple[Update, ...]]] = {
    "stream": _stream, "batch-1": _one_by_one, "shuffled": _shuffled, "blocked": _blocked,
    "interleaved": _interleaved, "every-8": _every, "static-all": _static_all, "static-group": _static_group,
    "rounds-3": _rounds, "stream-10": _again(_stream, PASSES), "static-10": _again(_static_all, PASSES),
    "stream-50": _again(_stream, MANY_PASSES), "static-50": _again(_static_all, MANY_PASSES),
}  # fmt: skip
