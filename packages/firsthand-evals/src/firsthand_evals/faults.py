"""The faults that each experiment must see: what is broken, in what it evaluates or in itself, and what is red then.

They stand in ``faults.toml`` beside each experiment: the function that is broken, the words of it that are replaced,
and by what. The invariant: an experiment whose checks hold with one of its faults planted is blind to it, and a test
plants each.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from firsthand.value import value


@value
class Fault:
    """One fault.

    Attributes:
        experiment: of the list; ``check``: how what must fail begins.
        breaks: what is wrong then, in a sentence.
        at: ``module:function``; ``was``, ``becomes``: a part of its source, and what stands there instead.
    """

    experiment: str
    breaks: str
    check: str
    at: str
    was: str
    becomes: str


def faults() -> tuple[Fault, ...]:
    """Give all faults, by experiment."""
    files = sorted(Path(__file__).parent.rglob("faults.toml"))
    tables = (tomllib.loads(file.read_text(encoding="utf-8")) for file in files)
    return tuple(Fault(name, **row) for table in tables for name, rows in table.items() for row in rows)
