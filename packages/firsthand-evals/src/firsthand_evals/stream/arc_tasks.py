"""Tasks on grids: six ways to choose times seven things to do, made by seed, each with one program that explains it.

    families   detect_color_property  detect_largest_objects_select  detect_key_marker_rule
               group_by_shape_then_select  detect_inside_frame_relation  compose_horizontal
    skills     keep  border  recolor  translate  flip  mark  hollow

The names are those of the paper's stream (faulty-memories, ARC-AGI Stream); generators and
programs are our own, and nothing of ARC is in here. The invariants: the same seed gives the
same task; of all 42 programs with all their parameters exactly one gives the five pairs of
a task, which is tried and not assumed: what two explain is made again. What is not chosen
is not drawn. It knows no memory.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from firsthand.value import value
from firsthand_evals.stream.arc_grids import (
    COUNTS,
    NEEDS,
    SHIFTS,
    SKILLS,
    Cell,
    Grid,
    Thing,
    beside,
    commonest,
    doing,
    draw,
    inside,
    largest,
    objects,
)

PAIRS, TESTS = 5, 2
SIDE_MIN, SIDE_MAX = 13, 16
ATTEMPTS_MAX = 400
"""At one task, and at placing one thing."""
COLOR, LARGEST, MARKER, SHAPE, FRAME, COMPOSE = FAMILIES = (
    "detect_color_property", "detect_largest_objects_select", "detect_key_marker_rule", "group_by_shape_then_select",
    "detect_inside_frame_relation", "compose_horizontal",
)  # fmt: skip
MORE_CELLS_MAX, BOX_SIDE = 5, 4
"""Of a shape: cells beside a block of nine, and the side of the box that it fits into."""
ALL = "every thing"
"""What is left of a choice when nothing is left of it."""
ANY = "any skill"
CHOICES = {
    COLOR: "[o for o in objects(grid) if o.color == color]",
    LARGEST: "largest(objects(grid), count)",
    MARKER: "[o for o in objects(grid) if o.color == grid[0][0] and o.size > 1]",
    SHAPE: "commonest(objects(grid))",
    FRAME: "inside(objects(grid))",
    COMPOSE: "objects(grid)",
    ALL: "objects(grid)",
}
CHOICE_NEEDS = {COLOR: ("color",), LARGEST: ("count",)}
_BLOCK = frozenset((row, column) for row in range(3) for column in range(3))
Parameters = dict[str, Any]


@value
class Program:
    """A program by its two halves.

    Attributes:
        choice: a family, or ``ALL``.
        skill: one of the seven, or ``ANY``: then it takes the skill as a parameter.
        fixed: parameters that stand in it as numbers, by name; the others are sought.
    """

    choice: str
    skill: str
    fixed: tuple[tuple[str, int], ...] = ()

    def text(self, given: Parameters | None = None) -> str:
        """Write it as Python; ``given`` stand as what the parameters are when nobody says.

        A program of a solved task has them all, one that is to be adapted has none.
        """
        skill_needs = ("do", "fill", "down", "right") if self.skill == ANY else NEEDS.get(self.skill, ())
        needs = (*CHOICE_NEEDS.get(self.choice, ()), *skill_needs)
        held = dict(self.fixed)
        taken = "".join(f", {name}" + (f"={given[name]!r}" if given else "") for name in needs if name not in held)
        choice = CHOICES[self.choice]
        called = f"doing(o, {', '.join(skill_needs)})" if self.skill == ANY else f"{self.skill}{_called(skill_needs)}"
        for name, number in held.items():
            choice = choice.replace(f"== {name}", f"== {number}").replace(f", {name})", f", {number})")
            called = called.replace(f", {name}", f", {number}")
        drawn = f"draw(grid, [{called} for o in {choice}])" if called != "keep(o)" else f"draw(grid, {choice})"
        whole = f"beside({drawn}, grid)" if self.choice == COMPOSE else drawn
        return f"def solve(grid{taken}): return {whole}"


def _called(needs: Sequence[str]) -> str:
    return f"({', '.join(('o', *needs))})"


@value
class Explained:
    """A program with all its parameters: what explains a task."""

    family: str
    skill: str
    parameters: tuple[tuple[str, int], ...]

    @property
    def program(self) -> Program:
        """Give it without its parameters."""
        return Program(self.family, self.skill)

    @property
    def text(self) -> str:
        """Write it as Python, as it solves its task."""
        return self.program.text(dict(self.parameters))


@value(eq=False)
class Task:
    """A task: pairs, grids that are held out, and what explains both.

    Attributes:
        grids: as ARC writes it: ``train`` and ``test``, lists of ``input`` and ``output``.
    """

    name: str
    truth: Explained
    grids: dict[str, Any]

    @property
    def digest(self) -> str:
        """Give the digest of what is right for the held-out grids, as the sandbox gives it of what a program makes."""
        made = [pair["output"] for pair in self.grids["test"]]
        return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:16]


def task(name: str, family: str, skill: str, seed: str, *, given: Parameters | None = None) -> Task:
    """Make a task.

    Args:
        given: parameters that it has, by name; the others are drawn.
    """
    for attempt in range(ATTEMPTS_MAX):
        chance = random.Random(f"{seed} {family} {skill} {attempt}")  # noqa: S311 - a task that can be made again
        truth = _truth(chance, family, skill, given or {})
        if _is_keep(truth):
            continue
        pairs = [_pair(chance, truth) for _ in range(PAIRS + TESTS)]
        if [*explanations(pairs[:PAIRS])] == [truth]:
            return Task(name, truth, {"train": pairs[:PAIRS], "test": pairs[PAIRS:]})
    raise AssertionError(f"no task of {family}, {skill} that one program alone explains in {ATTEMPTS_MAX} attempts")


def _truth(chance: random.Random, family: str, skill: str, given: Parameters) -> Explained:
    down, right = chance.choice(SHIFTS)
    drawn = {"color": chance.randint(1, 9), "count": chance.choice(COUNTS[:2]), "fill": chance.randint(1, 9),
             "down": down, "right": right, **given}  # fmt: skip
    needs = (*CHOICE_NEEDS.get(family, ()), *NEEDS.get(skill, ()))
    return Explained(family, skill, tuple((name, drawn[name]) for name in needs))


# what explains a task ----------------------------------------------------------------------------


def explanations(pairs: Sequence[dict[str, Any]]) -> Iterator[Explained]:
    """Give every one of the 42 programs, with its parameters, that gives all pairs; all of them are tried."""
    first = pairs[0]
    for family, chosen, parameters in _choices(first["input"]):
        if not chosen:  # it would draw nothing, and every task draws something
            continue
        for skill, more in _ways(first["output"]):
            one = Explained(family, skill, tuple({**parameters, **more}.items()))
            if _is_keep(one):
                continue
            if _made(first["input"], family, chosen, skill, more) == first["output"] and all(
                applied(one, pair["input"]) == pair["output"] for pair in pairs[1:]
            ):
                yield one


def _is_keep(one: Explained) -> bool:
    """Say whether a program only gives things of one colour that colour: that is ``keep`` by another name."""
    held = dict(one.parameters)
    return one.skill in ("recolor", "mark") and "color" in held and held["color"] == held["fill"]


def applied(one: Explained, grid: Grid) -> list[list[int]]:
    """Give what a program makes of a grid."""
    parameters = dict(one.parameters)
    return _made(grid, one.family, chosen_of(one.family, grid, parameters), one.skill, parameters)


def chosen_of(family: str, grid: Grid, parameters: Parameters) -> list[Thing]:
    """Give the things that a family chooses."""
    found = objects(grid)
    if family == COLOR:
        return [one for one in found if one.color == parameters["color"]]
    if family == LARGEST:
        return largest(found, parameters["count"])
    if family == MARKER:
        return [one for one in found if one.color == grid[0][0] and one.size > 1]
    if family == SHAPE:
        return commonest(found)
    return inside(found) if family == FRAME else found


def _made(grid: Grid, family: str, chosen: Sequence[Thing], skill: str, parameters: Parameters) -> list[list[int]]:
    fill, down, right = (parameters.get(name, 0) for name in ("fill", "down", "right"))
    drawn = draw(grid, [doing(one, skill, fill, down, right) for one in chosen])
    return beside(drawn, grid) if family == COMPOSE else drawn


def _choices(grid: Grid) -> Iterator[tuple[str, list[Thing], Parameters]]:
    for color in range(1, 10):
        yield COLOR, chosen_of(COLOR, grid, {"color": color}), {"color": color}
    for count in COUNTS:
        yield LARGEST, chosen_of(LARGEST, grid, {"count": count}), {"count": count}
    for family in (MARKER, SHAPE, FRAME, COMPOSE):
        yield family, chosen_of(family, grid, {}), {}


def _ways(wanted: Grid) -> Iterator[tuple[str, Parameters]]:
    fills = {it for row in wanted for it in row} - {0}
    for skill in SKILLS:
        needs = NEEDS.get(skill, ())
        if "fill" in needs:
            yield from ((skill, {"fill": fill}) for fill in sorted(fills))
        elif "down" in needs:
            yield from ((skill, {"down": down, "right": right}) for down, right in SHIFTS)
        else:
            yield skill, {}


# grids that a family is shown on -----------------------------------------------------------------


def _pair(chance: random.Random, truth: Explained) -> dict[str, Any]:
    """Make a grid on which a program has something to do."""
    while True:
        grid = _Grid(chance)
        if _MAKERS[truth.family](grid, dict(truth.parameters)):
            return {"input": grid.rows, "output": applied(truth, grid.rows)}


class _Grid:
    """A grid in the making: things are put where nothing is near."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.height, self.width = chance.randint(SIDE_MIN, SIDE_MAX), chance.randint(SIDE_MIN, SIDE_MAX)
        self.rows = [[0] * self.width for _ in range(self.height)]

    def put(self, shape: frozenset[Cell], color: int, box: tuple[int, int, int, int] | None = None) -> bool:
        """Put a shape into a box (top, left, bottom, right; the whole grid by default), one cell away from others."""
        top, left, bottom, right = box or (0, 0, self.height - 1, self.width - 1)
        tall, wide = max(row for row, _ in shape), max(column for _, column in shape)
        places = [(row, column) for row in range(top, bottom - tall + 1) for column in range(left, right - wide + 1)]
        self.chance.shuffle(places)
        for row, column in places:
            if self._is_free(row, column, tall, wide):
                for down, over in shape:
                    self.rows[row + down][column + over] = color
                return True
        return False

    def _is_free(self, top: int, left: int, tall: int, wide: int) -> bool:
        return not any(
            self.rows[row][column]
            for row in range(max(0, top - 1), min(self.height, top + tall + 2))
            for column in range(max(0, left - 1), min(self.width, left + wide + 2))
        )

    def other(self, *colors: int) -> int:
        """Draw a colour that is none of these."""
        return self.chance.choice([one for one in range(1, 10) if one not in colors])

    def blobs(self, number: int) -> list[frozenset[Cell]]:
        """Give shapes, each of another size."""
        shapes = _shapes()
        return [self.chance.choice(shapes[size]) for size in self.chance.sample([*shapes], number)]


@cache
def _shapes() -> dict[int, list[frozenset[Cell]]]:
    """Give by size the shapes that have an inside, fit into a small box, and are not their own mirror image."""
    found: dict[int, set[frozenset[Cell]]] = {len(_BLOCK): {_BLOCK}}
    for size in range(len(_BLOCK), len(_BLOCK) + MORE_CELLS_MAX):
        found[size + 1] = {
            grown for shape in found[size] for row, column in shape
            for by in ((0, 1), (0, -1), (1, 0), (-1, 0))
            if len(grown := _placed({*shape, (row + by[0], column + by[1])})) == size + 1
            and max(max(cell) for cell in grown) < BOX_SIDE
        }  # fmt: skip
    return {
        size: sorted((one for one in shapes if one != _mirrored(one)), key=sorted)
        for size, shapes in found.items() if size > len(_BLOCK)
    }  # fmt: skip


def _placed(cells: set[Cell]) -> frozenset[Cell]:
    top, left = min(row for row, _ in cells), min(column for _, column in cells)
    return frozenset((row - top, column - left) for row, column in cells)


def _mirrored(shape: frozenset[Cell]) -> frozenset[Cell]:
    wide = max(column for _, column in shape)
    return frozenset((row, wide - column) for row, column in shape)


def _colored(grid: _Grid, parameters: Parameters) -> bool:
    color, shapes = parameters["color"], grid.blobs(grid.chance.randint(3, 4))
    wanted = grid.chance.randint(1, len(shapes) - 2)
    colors = [color if at < wanted else grid.other(color) for at in range(len(shapes))]
    return all(map(grid.put, shapes, colors))


def _sized(grid: _Grid, parameters: Parameters) -> bool:
    shapes = grid.blobs(grid.chance.randint(parameters["count"] + 1, parameters["count"] + 2))
    return all(grid.put(shape, grid.other()) for shape in shapes)


def _marked(grid: _Grid, parameters: Parameters) -> bool:  # noqa: ARG001 - one shape for all makers
    color = grid.other()
    grid.rows[0][0] = color
    shapes = grid.blobs(grid.chance.randint(3, 4))
    wanted = grid.chance.randint(1, len(shapes) - 2)
    return all(grid.put(shape, color if at < wanted else grid.other(color)) for at, shape in enumerate(shapes))


def _shaped(grid: _Grid, parameters: Parameters) -> bool:  # noqa: ARG001 - one shape for all makers
    twice, *others = grid.blobs(grid.chance.randint(2, 3))
    return all(grid.put(shape, grid.other()) for shape in (twice, twice, *others))


def _framed(grid: _Grid, parameters: Parameters) -> bool:  # noqa: ARG001 - one shape for all makers
    tall, wide = grid.chance.randint(6, 7), grid.chance.randint(6, 9)
    frame = frozenset((row, column) for row in range(tall + 1) for column in range(wide + 1)
                      if row in (0, tall) or column in (0, wide))  # fmt: skip
    if not grid.put(frame, grid.other()):
        return False
    row, column = next((row, column) for row, line in enumerate(grid.rows) for column, it in enumerate(line) if it)
    within, *outside = grid.blobs(grid.chance.randint(2, 3))
    return grid.put(within, grid.other(), (row + 2, column + 2, row + tall - 2, column + wide - 2)) and all(
        grid.put(shape, grid.other()) for shape in outside
    )


def _several(grid: _Grid, parameters: Parameters) -> bool:  # noqa: ARG001 - one shape for all makers
    return all(grid.put(shape, grid.other()) for shape in grid.blobs(grid.chance.randint(2, 3)))


_MAKERS: dict[str, Callable[[_Grid, Parameters], bool]] = {
    COLOR: _colored, LARGEST: _sized, MARKER: _marked, SHAPE: _shaped, FRAME: _framed, COMPOSE: _several,
}  # fmt: skip
