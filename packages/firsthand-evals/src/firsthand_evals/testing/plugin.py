"""The pytest plugin: the fixture ``reclaim``, and two options for it.

It is loaded in every pytest run of everybody who has Firsthand installed. The invariant:
it imports nothing of Firsthand before a test asks for the fixture, and hooks into
nothing but the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from firsthand_evals.testing.asserting import Reclaim


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, under a heading of their own."""
    group = parser.getgroup("firsthand", "firsthand, for tests with the fixture reclaim")
    group.addoption(
        "--reclaim-problems", type=int, metavar="N",
        help="problems of each sort, in place of what the tests say: more of them at night",
    )  # fmt: skip
    group.addoption("--reclaim-seed", type=int, metavar="N", help="that problems are made from, in place of theirs")


@pytest.fixture
def reclaim(request: pytest.FixtureRequest) -> Reclaim:
    """Assert that a memory is correctable, lossless, never wrong in silence; figures go into the JUnit report.

    Its methods are the assertions of ``firsthand_evals.testing``; ``--reclaim-problems`` and ``--reclaim-seed`` count.
    """
    from firsthand_evals.testing.asserting import Reclaim  # noqa: PLC0415 - a run without such tests does not pay for it

    option = request.config.getoption
    return Reclaim(
        problems=option("--reclaim-problems"), seed=option("--reclaim-seed"),
        kept=request.node.user_properties,
    )  # fmt: skip
