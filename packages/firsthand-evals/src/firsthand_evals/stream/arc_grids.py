"""What programs on grids are made of: things in a grid, which of them, and what is done with them.

    def solve(grid, color=3, fill=5): return draw(grid, [recolor(o, fill) for o in objects(grid) if o.color == color])

A grid is a list of rows of the numbers 0 to 9; 0 is empty. A thing is what hangs together
by its sides in one colour. The invariant: no function changes a grid or a thing that it is
given. Nothing but the standard library is imported here, since the sandbox runs this file
by itself, and these names are all that a program has.

Six ways to choose and seven things to do, as the paper names them (faulty-memories, ARC-AGI
Stream); the code is our own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

Grid = Sequence[Sequence[int]]
Cell = tuple[int, int]
SHIFTS = tuple((down, right) for down in range(-2, 3) for right in range(-2, 3) if (down, right) != (0, 0))
COUNTS = (1, 2, 3)
PARAMETERS = ("color", "count", "do", "fill", "down", "right")
"""What a program may take beside the grid; each is sought among what the first pair allows."""


class Thing:
    """Cells with their colours."""

    __slots__ = ("bottom", "cells", "color", "left", "right", "size", "top")

    def __init__(self, cells: dict[Cell, int], color: int) -> None:
        self.cells, self.color, self.size = cells, color, len(cells)
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        self.top, self.bottom = min(rows, default=0), max(rows, default=-1)
        self.left, self.right = min(columns, default=0), max(columns, default=-1)

    @property
    def shape(self) -> frozenset[Cell]:
        """Give the cells as they would stand in the corner."""
        return frozenset((row - self.top, column - self.left) for row, column in self.cells)


def objects(grid: Grid) -> list[Thing]:
    """Give the things in a grid, from the top, and from the left."""
    return list(_objects(tuple(map(tuple, grid))))


@lru_cache(maxsize=4_096)
def _objects(grid: tuple[tuple[int, ...], ...]) -> tuple[Thing, ...]:
    found: list[Thing] = []
    left = {(row, column): it for row, line in enumerate(grid) for column, it in enumerate(line) if it}
    while left:
        start = next(iter(left))
        color = left.pop(start)
        cells, ahead = {start: color}, [start]
        while ahead:
            for near in _around(ahead.pop()):
                if left.get(near) == color:
                    cells[near] = left.pop(near)
                    ahead.append(near)
        found.append(Thing(cells, color))
    return tuple(found)


def _around(cell: Cell) -> tuple[Cell, ...]:
    row, column = cell
    return (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)


# which of them -----------------------------------------------------------------------------------


def largest(things: Sequence[Thing], count: int) -> list[Thing]:
    """Give the largest ones."""
    return sorted(things, key=lambda one: -one.size)[:count]


def commonest(things: Sequence[Thing]) -> list[Thing]:
    """Give those of the shape that occurs most often."""
    shapes = [one.shape for one in things]
    most = Counter(shapes).most_common(1)
    return [one for one, shape in zip(things, shapes, strict=True) if shape == most[0][0]]


def inside(things: Sequence[Thing]) -> list[Thing]:
    """Give those inside the widest one."""
    if not things:
        return []
    frame = max(things, key=lambda one: (one.bottom - one.top) * (one.right - one.left))
    return [
        one for one in things
        if one is not frame and frame.top < one.top and one.bottom < frame.bottom
        and frame.left < one.left and one.right < frame.right
    ]  # fmt: skip


# what is done ------------------------------------------------------------------------------------


def keep(one: Thing) -> Thing:
    """Leave a thing as it is."""
    return one


def border(one: Thing, fill: int) -> Thing:
    """Put a border around the box of a thing."""
    rows, columns = range(one.top - 1, one.bottom + 2), range(one.left - 1, one.right + 2)
    edge = {
        (row, column): fill for row in rows for column in columns
        if row in (rows[0], rows[-1]) or column in (columns[0], columns[-1])
    }  # fmt: skip
    return Thing({**edge, **one.cells}, one.color)


def recolor(one: Thing, fill: int) -> Thing:
    """Give a thing another colour."""
    return Thing(dict.fromkeys(one.cells, fill), fill)


def translate(one: Thing, down: int, right: int) -> Thing:
    """Move a thing."""
    return Thing({(row + down, column + right): it for (row, column), it in one.cells.items()}, one.color)


def flip(one: Thing) -> Thing:
    """Mirror a thing from left to right, where it stands."""
    return Thing({(row, one.left + one.right - column): it for (row, column), it in one.cells.items()}, one.color)


def mark(one: Thing, fill: int) -> Thing:
    """Put a mark into the middle of the box of a thing."""
    middle = ((one.top + one.bottom) // 2, (one.left + one.right) // 2)
    return Thing({**one.cells, middle: fill}, one.color)


def hollow(one: Thing) -> Thing:
    """Leave of a thing its rim."""
    kept = {cell: it for cell, it in one.cells.items() if not all(near in one.cells for near in _around(cell))}
    return Thing(kept, one.color)


SKILLS: dict[str, Callable[..., Thing]] = {
    "keep": keep, "border": border, "recolor": recolor, "translate": translate, "flip": flip, "mark": mark,
    "hollow": hollow,
}  # fmt: skip
NEEDS: dict[str, tuple[str, ...]] = {
    "border": ("fill",), "recolor": ("fill",), "mark": ("fill",), "translate": ("down", "right"),
}  # fmt: skip
"""What a skill takes beside the thing."""


def doing(one: Thing, do: str, fill: int, down: int, right: int) -> Thing:
    """Do with a thing whatever is named."""
    if do == "translate":
        return translate(one, down, right)
    if do in NEEDS:
        return SKILLS[do](one, fill)
    return SKILLS[do](one)


# grids -------------------------------------------------------------------------------------------


def draw(grid: Grid, things: Iterable[Thing]) -> list[list[int]]:
    """Draw things into an empty grid of the size of this one; what stands over its edge is cut."""
    height, width = len(grid), len(grid[0])
    drawn = [[0] * width for _ in range(height)]
    for one in things:
        for (row, column), it in one.cells.items():
            if 0 <= row < height and 0 <= column < width:
                drawn[row][column] = it
    return drawn


def beside(left: Grid, right: Grid) -> list[list[int]]:
    """Set two grids of one height side by side."""
    return [[*one, *other] for one, other in zip(left, right, strict=True)]


# what parameters may be --------------------------------------------------------------------------


def tries(names: Sequence[str], given: Grid, wanted: Grid) -> Iterator[dict[str, object]]:
    """Give the parameters that one pair allows: colours are those of its grids."""
    colors = sorted({it for row in given for it in row} - {0}) if "color" in names else [None]
    counts = COUNTS if "count" in names else (None,)
    fills = sorted({it for row in wanted for it in row} - {0}) if "fill" in names else [None]
    for color in colors:
        for count in counts:
            for way in _ways(names, fills):
                found = {"color": color, "count": count, **way}
                yield {name: found[name] for name in names}


def _ways(names: Sequence[str], fills: Sequence[object]) -> Iterator[dict[str, object]]:
    """Give the rest; with ``do`` among them, each skill with what it needs and no more."""
    if "do" not in names:
        for fill in fills:
            for down, right in SHIFTS if "down" in names else ((None, None),):
                yield {"fill": fill, "down": down, "right": right}
        return
    for do in SKILLS:
        needs = NEEDS.get(do, ())
        for fill in fills if "fill" in needs else (0,):
            for down, right in SHIFTS if "down" in needs else ((0, 0),):
                yield {"do": do, "fill": fill, "down": down, "right": right}
