"""evals/stream/arc_grids.py: what programs on grids are made of."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand_evals.stream import arc_grids
from firsthand_evals.stream.arc_grids import SKILLS, beside, commonest, draw, inside, largest, objects, tries

GRIDS = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=6)
)


def grid(text: str) -> list[list[int]]:
    return [[int(it) for it in row] for row in text.replace(".", "0").split()]


@settings(max_examples=60, deadline=None)
@given(GRIDS)
def test_things_make_up_the_grid(rows):
    """Drawing all things of a grid gives the grid, each cell is of one thing, and no thing has two colours."""
    found = objects(rows)
    assert draw(rows, found) == rows
    cells = [cell for one in found for cell in one.cells]
    assert len(cells) == len(set(cells)) == sum(it != 0 for row in rows for it in row)
    assert all(set(one.cells.values()) == {one.color} for one in found)


def test_things_hang_together_by_their_sides():
    """Corners do not join, colours part, and the order is from the top and the left."""
    found = objects(grid("11. .12 ..2"))
    assert [(one.color, one.size, one.top, one.left, one.bottom, one.right) for one in found] == [
        (1, 3, 0, 0, 1, 1),
        (2, 2, 1, 2, 2, 2),
    ]
    assert [one.size for one in objects(grid("1. .1"))] == [1, 1]


def test_what_is_chosen():
    """The largest, those of the commonest shape wherever they stand, and what a frame is around."""
    rows = grid("11.2. ...2. 33333 3...3 3.1.3 3...3 33333")
    assert [one.size for one in largest(objects(rows), 2)] == [16, 2]
    assert [one.color for one in inside(objects(rows))] == [1]
    assert [(one.color, one.top) for one in commonest(objects(grid("1.22 1... ..33 444.")))] == [(2, 0), (3, 2)]
    assert (largest([], 1), commonest([]), inside([])) == ([], [], [])


def test_what_is_done():
    """Each skill gives the picture that its name says; what stands over the edge is cut."""
    rows = grid("..... .11.. .111. .111. .....")
    (one,) = objects(rows)
    made = {name: draw(rows, [SKILLS[name](one, *more)]) for name, more in (
        ("keep", ()), ("border", (5,)), ("recolor", (5,)), ("translate", (-1, 1)), ("flip", ()), ("mark", (5,)),
        ("hollow", ()),
    )}  # fmt: skip
    assert made == {
        "keep": rows,
        "border": grid("55555 51105 51115 51115 55555"),
        "recolor": grid("..... .55.. .555. .555. ....."),
        "translate": grid("..11. ..111 ..111 ..... ....."),
        "flip": grid("..... ..11. .111. .111. ....."),
        "mark": grid("..... .11.. .151. .111. ....."),
        "hollow": grid("..... .11.. .1.1. .111. ....."),
    }
    assert draw(rows, [SKILLS["translate"](one, 3, 3)]) == grid("..... ..... ..... ..... ....1")
    assert draw(rows, [SKILLS["translate"](one, -2, -2)]) == grid("11... 11... ..... ..... .....")
    assert beside(grid("1 2"), grid("3 4")) == grid("13 24")
    assert one.cells == objects(rows)[0].cells, "a thing is never changed"


def test_tries_are_what_the_first_pair_allows():
    """Colours are those of its grids; a skill that is a parameter brings what it needs and no more."""
    given_, wanted = grid("12"), grid("50")
    assert [*tries(("color", "fill"), given_, wanted)] == [{"color": 1, "fill": 5}, {"color": 2, "fill": 5}]
    assert [*tries(("count",), given_, wanted)] == [{"count": 1}, {"count": 2}, {"count": 3}]
    assert len([*tries(("down", "right"), given_, wanted)]) == 24
    ways = [*tries(("do", "fill", "down", "right"), given_, wanted)]
    assert len(ways) == 3 + 3 + 24
    assert {one["do"] for one in ways} == set(SKILLS)


def test_nothing_but_the_standard_library_is_imported():
    """The sandbox runs this file by itself, so it imports nothing of ours."""
    tree = ast.parse(Path(arc_grids.__file__).read_text(encoding="utf-8"))
    found = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    assert found == {"__future__", "collections", "collections.abc", "functools"}
