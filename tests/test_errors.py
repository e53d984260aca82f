"""The error tree: what is drawn at its top is what it is."""

from __future__ import annotations

import re

from firsthand import errors
from firsthand.errors import FirsthandError


def drawn() -> dict[str, str]:
    """Read the drawing: each error with the one above it."""
    above: list[tuple[int, str]] = []
    out: dict[str, str] = {}
    for line in errors.__doc__.splitlines():
        match = re.match(r"( {4}(?:[|` ] {2})*(?:[|`]- )?)([A-Z]\w+)", line)
        if match is None:
            continue
        while above and above[-1][0] >= len(match[1]):
            above.pop()
        out[match[2]] = above[-1][1] if above else "Exception"
        above.append((len(match[1]), match[2]))
    return out


def test_the_drawing_is_the_tree():
    """Every class of the module is drawn in its docstring, below the class it derives from."""
    classes = {name: found for name, found in vars(errors).items() if isinstance(found, type)}
    assert drawn() == {name: found.__base__.__name__ for name, found in classes.items()}
    assert all(issubclass(found, FirsthandError) for found in classes.values())


def test_a_busy_store_carries_the_batch():
    """`StoreBusy` has a place for the events that waited, empty when it was no append."""
    assert errors.StoreBusy("busy").batch is None
